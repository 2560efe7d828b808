//! Comparing with an object that the program could see die: a guard must not keep it alive.
//!
//! That is one that was given in a slot, also where it is a key of a container: what lies below constant objects is guarded by its place, if its death could be seen.
//! The weak reference is one that the program finds in `weakref.getweakrefs`, beside its own: only an object that has a
//! finalizer, and no weak reference of the program without a callback, has one more than in plain Python.

use crate::cpython::facts;
use crate::cpython::holders::Holders;
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};

/// Stands for an object in a check of identity. The program never meets it.
#[pyclass(frozen, module = "sot")]
struct Mortal(Py<PyWeakrefReference>);

/// What a check of identity holds for an object: itself, or what stands for it.
pub(super) fn expected(object: Bound<'_, PyAny>) -> Py<PyAny> {
    let mortal = || Bound::new(object.py(), Mortal(PyWeakrefReference::new(&object).ok()?.unbind())).ok();
    match facts::own_death_is_seen(&object).then(mortal).flatten() {
        Some(mortal) => mortal.into_any().unbind(),
        None => object.unbind(),
    }
}

/// Whether a value is the object that a check was made for.
pub(super) fn is(value: &Bound<'_, PyAny>, expected: &Py<PyAny>) -> bool {
    value.is(expected) || is_mortal(value, expected)
}

/// The object that a check of identity holds, or the key of one; what stands for it, if it has died, which is in no container.
pub(super) fn object_of<'py>(expected: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    let alive = || expected.cast_exact::<Mortal>().ok()?.get().0.bind(expected.py()).upgrade();
    alive().unwrap_or_else(|| expected.clone())
}

/// Whether a check of identity holds something in the place of its object.
pub(super) fn holds_mortal(py: Python<'_>, expected: &Py<PyAny>) -> bool {
    expected.bind(py).cast_exact::<Mortal>().is_ok()
}

/// Whether the object of a check of identity has died, or is held by caches alone, where its holders are known.
pub(super) fn is_lost(py: Python<'_>, expected: &Py<PyAny>, holders: Option<&Holders>) -> bool {
    let alone_hold = |address| holders.is_some_and(|holders| holders.alone_hold(address));
    match expected.bind(py).cast_exact::<Mortal>() {
        // What stands for it is held by nobody else; the object itself may be, by a graph.
        Ok(mortal) => {
            let object = mortal.get().0.bind(py).upgrade().map(|object| object.as_ptr() as usize);
            object.is_none_or(alone_hold)
        }
        Err(_) => alone_hold(expected.as_ptr() as usize),
    }
}

#[cold]
fn is_mortal(value: &Bound<'_, PyAny>, expected: &Py<PyAny>) -> bool {
    let Ok(mortal) = expected.bind(value.py()).cast_exact::<Mortal>() else { return false };
    mortal.get().0.bind(value.py()).upgrade().is_some_and(|object| object.is(value))
}
