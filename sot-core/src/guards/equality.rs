//! Equality of constants, without user code.

use crate::numpy;
use crate::objects::is_constant_type;
use pyo3::prelude::*;
use pyo3::types::*;

/// Whether `value` has the exact type of `expected` and equals it. Types whose `==` could run user code are compared
/// by identity.
pub(super) fn equals(value: &Bound<'_, PyAny>, expected: &Bound<'_, PyAny>) -> bool {
    if value.is(expected) {
        return true;
    }
    let ty = value.get_type();
    if !ty.is(expected.get_type()) {
        return false;
    }
    if !is_constant_type(&ty) {
        return numpy::is_scalar_type(&ty) && numpy::same_scalars(value, expected);
    }
    if let (Ok(a), Ok(b)) = (value.cast_exact::<PyFloat>(), expected.cast_exact::<PyFloat>()) {
        // By bits: a NaN is itself, and 0.0 is not -0.0.
        return a.value().to_bits() == b.value().to_bits();
    }
    if let (Ok(a), Ok(b)) = (value.cast_exact::<PyComplex>(), expected.cast_exact::<PyComplex>()) {
        return a.real().to_bits() == b.real().to_bits() && a.imag().to_bits() == b.imag().to_bits();
    }
    if value.is_exact_instance_of::<PyRange>() {
        // Ranges of the same numbers are equal, but say what they were made of; an old Python keeps even its type.
        return ["start", "stop", "step"].iter().all(|part| match (value.getattr(*part), expected.getattr(*part)) {
            (Ok(a), Ok(b)) => equals(&a, &b),
            _ => false,
        });
    }
    if value.is_exact_instance_of::<PyFrozenSet>() || value.is_exact_instance_of::<PyCode>() {
        // What is equal in them may differ in type, or in its source.
        return false;
    }
    value.eq(expected).unwrap_or(false)
}
