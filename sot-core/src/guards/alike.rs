//! Classes that are made anew, by the same code, as another one: what a guard knows such a class by.
//!
//! A class statement, or a call that makes a class, gives another class each time it runs. A guard of such a class must
//! neither name nor hold it: it says what the class is like. That is its form: how its instances are laid out, what C code runs
//! for them, its name, its metaclass `type`. Its MRO and what was read off it have guards of their own, on paths below
//! the class.

use crate::cpython::facts::{self, ClassForm};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Stands for a class in a check. The program never meets it.
#[pyclass(frozen, module = "sot")]
struct Alike(ClassForm);

/// What stands for a class in a check; the class itself, if nothing can.
pub(super) fn pattern(class: Bound<'_, PyAny>) -> Py<PyAny> {
    let form = class.cast::<PyType>().ok().map(facts::class_form);
    match form.and_then(|form| Bound::new(class.py(), Alike(form)).ok()) {
        Some(alike) => alike.into_any().unbind(),
        None => class.unbind(),
    }
}

/// Whether a value is a class like the one that was met.
pub(super) fn is_alike(value: &Bound<'_, PyAny>, pattern: &Bound<'_, PyAny>) -> bool {
    let (Ok(alike), Ok(class)) = (pattern.cast_exact::<Alike>(), value.cast::<PyType>()) else { return false };
    value.get_type().is(value.py().get_type::<PyType>())
        && !facts::finds_names_by_code(class)
        && alike.get().0.is_of(class)
}
