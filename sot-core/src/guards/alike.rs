//! Objects that are made anew, by the same code, as another one: what a guard knows such an object by.
//!
//! A class statement, or a call that makes a class, gives another class each time it runs. A guard of such a class must
//! neither name nor hold it: it says what the class is like. That is its form: how its instances are laid out, what C code runs
//! for them, its name. Its metaclass, its MRO and what was read off it have guards of their own, on paths below the class.
//!
//! The same goes for the fields of named tuples. Code that is compiled anew, and sets of names, are held, and compared part by part.

use crate::cpython::facts::{self, ClassForm};
use crate::probe;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyFrozenSet, PyString, PyTuple, PyType};

/// Stands for an object in a check. The program never meets it.
#[pyclass(frozen, module = "sot")]
struct Alike(Like);

enum Like {
    Class(ClassForm),
    /// A field of named tuples, by its place.
    Field(usize),
}

/// What stands for an object in a check; itself, if it may be held.
pub(super) fn pattern(object: Bound<'_, PyAny>) -> Py<PyAny> {
    let like = match object.cast::<PyType>() {
        Ok(class) => Some(Like::Class(facts::class_form(class))),
        Err(_) => probe::place_of_field(&object).map(Like::Field),
    };
    match like.and_then(|like| Bound::new(object.py(), Alike(like)).ok()) {
        Some(alike) => alike.into_any().unbind(),
        None => object.unbind(),
    }
}

/// Whether a value is like the object that was met.
pub(super) fn is_alike(value: &Bound<'_, PyAny>, pattern: &Bound<'_, PyAny>) -> bool {
    let Ok(alike) = pattern.cast_exact::<Alike>() else {
        return value.is(pattern) || is_same_code(value, pattern) || are_same_names(value, pattern);
    };
    match &alike.get().0 {
        Like::Class(form) => {
            value.cast::<PyType>().is_ok_and(|class| !facts::finds_names_by_code(class) && form.is_of(class))
        }
        Like::Field(place) => probe::place_of_field(value) == Some(*place),
    }
}

/// Whether two code objects were compiled of the same text.
fn is_same_code(value: &Bound<'_, PyAny>, known: &Bound<'_, PyAny>) -> bool {
    /// What comparing code objects leaves out, by version.
    const PARTS: &[&str] =
        &["co_filename", "co_qualname", "co_flags", "co_lnotab", "co_linetable", "co_exceptiontable"];
    if value.cast_exact::<PyCode>().is_err() || known.cast_exact::<PyCode>().is_err() {
        return false;
    }
    let part = |code: &Bound<'_, PyAny>, name: &str| -> Option<Py<PyAny>> {
        // One of these is there for old tools alone, and says so.
        let read = !(name == "co_lnotab" && code.py().version_info() >= (3, 10));
        read.then(|| code.getattr(name).ok().map(Bound::unbind)).flatten()
    };
    let equal = |name: &&str| match (part(value, name), part(known, name)) {
        (Some(a), Some(b)) => a.bind(value.py()).eq(b.bind(value.py())).unwrap_or(false),
        (None, None) => true,
        _ => false,
    };
    value.eq(known).unwrap_or(false) && PARTS.iter().all(equal) && have_same_code(value, known)
}

/// Whether two frozen sets have the same members, which are texts.
fn are_same_names(value: &Bound<'_, PyAny>, known: &Bound<'_, PyAny>) -> bool {
    let (Ok(set), Ok(of)) = (value.cast_exact::<PyFrozenSet>(), known.cast_exact::<PyFrozenSet>()) else {
        return false;
    };
    set.len() == of.len()
        && set.iter().all(|item| item.is_exact_instance_of::<PyString>())
        && value.eq(known).unwrap_or(false)
}

/// The same of code objects among the constants.
fn have_same_code(value: &Bound<'_, PyAny>, known: &Bound<'_, PyAny>) -> bool {
    let (Ok(value), Ok(known)) = (value.getattr("co_consts"), known.getattr("co_consts")) else { return false };
    let (Ok(value), Ok(known)) = (value.cast_into::<PyTuple>(), known.cast_into::<PyTuple>()) else { return false };
    let is_code = |constant: &Bound<'_, PyAny>| constant.cast_exact::<PyCode>().is_ok();
    value.iter().zip(known.iter()).all(|(a, b)| !is_code(&a) || is_same_code(&a, &b))
}
