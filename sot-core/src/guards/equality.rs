//! Equality of constants, without user code.

use crate::executor::is_constant_type;
use pyo3::prelude::*;
use pyo3::types::PyFloat;

/// Whether `value` has the exact type of `expected` and equals it. Types whose `==` could run user code are compared
/// by identity.
pub(super) fn equals(value: &Bound<'_, PyAny>, expected: &Bound<'_, PyAny>) -> bool {
    if value.is(expected) {
        return true;
    }
    if let (Ok(a), Ok(b)) = (value.cast_exact::<PyFloat>(), expected.cast_exact::<PyFloat>()) {
        // By bits: a NaN is itself, and 0.0 is not -0.0.
        return a.value().to_bits() == b.value().to_bits();
    }
    let ty = value.get_type();
    ty.is(expected.get_type())
        && is_constant_type(&ty)
        && !value.is_instance_of::<pyo3::types::PyFrozenSet>()
        && value.eq(expected).unwrap_or(false)
}
