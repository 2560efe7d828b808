//! Equality of constants, without user code.

use crate::executor::is_constant_type;
use pyo3::prelude::*;

/// Whether `value` has the exact type of `expected` and equals it. Types whose `==` could run user code are compared
/// by identity.
pub(super) fn equals(value: &Bound<'_, PyAny>, expected: &Bound<'_, PyAny>) -> bool {
    if value.is(expected) {
        return true;
    }
    let ty = value.get_type();
    ty.is(expected.get_type())
        && is_constant_type(&ty)
        && !value.is_instance_of::<pyo3::types::PyFrozenSet>()
        && value.eq(expected).unwrap_or(false)
        && same_zero(value, expected)
}

/// `0.0 == -0.0`, but they are not the same constant.
fn same_zero(value: &Bound<'_, PyAny>, expected: &Bound<'_, PyAny>) -> bool {
    match (value.cast::<pyo3::types::PyFloat>(), expected.cast::<pyo3::types::PyFloat>()) {
        (Ok(a), Ok(b)) => a.value().is_sign_negative() == b.value().is_sign_negative(),
        _ => true,
    }
}
