//! Whether a program could see when an object dies.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyAnyMethods, PyDict, PyList, PyTuple};

use super::instance_dict;

/// Objects that are looked at, one inside the other, before the answer is no.
const LOOKS: usize = 64;

/// Whether the death of an object, or of what it alone may hold, runs code or clears a weak reference: it has a
/// finalizer, or somebody refers to it weakly.
pub fn death_is_seen(object: &Bound<'_, PyAny>) -> bool {
    let mut queue = vec![object.clone()];
    let mut next = 0;
    while let Some(object) = queue.get(next).cloned() {
        next += 1;
        if has_finalizer(&object) || is_weakly_referenced(&object) {
            return true;
        }
        let room = LOOKS.saturating_sub(queue.len());
        if let Ok(list) = object.cast_exact::<PyList>() {
            queue.extend(list.iter().take(room));
        } else if let Ok(tuple) = object.cast::<PyTuple>() {
            queue.extend(tuple.iter().take(room));
        } else if let Ok(dict) = object.cast::<PyDict>() {
            queue.extend(dict.iter().map(|(_, value)| value).take(room));
        } else if room > 0 && is_builtin_iterator(&object) {
            queue.extend(referents(&object).take(room));
        } else if room > 0
            && super::is_heap_type(&object.get_type())
            && !super::is_function(&object)
            && let Some(dict) = instance_dict(&object)
        {
            queue.extend(dict.iter().map(|(_, value)| value).take(room));
        }
    }
    false
}

/// An iterator of C: what it runs over (a generator below `enumerate`) may die with it.
fn is_builtin_iterator(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the type of a live object.
    let iterates = unsafe { (*ffi::Py_TYPE(object.as_ptr())).tp_iternext.is_some() };
    iterates && !super::is_heap_type(&object.get_type())
}

fn referents<'py>(object: &Bound<'py, PyAny>) -> impl Iterator<Item = Bound<'py, PyAny>> + use<'py> {
    let held = object.py().import("gc").and_then(|gc| gc.call_method1("get_referents", (object,)));
    held.and_then(|held| Ok(held.cast_into::<PyList>()?)).into_iter().flat_map(|held| held.into_iter())
}

fn has_finalizer(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the type of a live object.
    unsafe {
        let ty = ffi::Py_TYPE(object.as_ptr());
        (*ty).tp_finalize.is_some() || (*ty).tp_del.is_some()
    }
}

fn is_weakly_referenced(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the type of a live object.
    if unsafe { (*ffi::Py_TYPE(object.as_ptr())).tp_weaklistoffset } == 0 {
        return false;
    }
    static COUNT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    let count = COUNT
        .get_or_try_init(py, || py.import("_weakref").and_then(|m| m.getattr("getweakrefcount")).map(Bound::unbind));
    count.and_then(|count| count.bind(py).call1((object,))).is_ok_and(|n| n.is_truthy().unwrap_or(false))
}
