//! Values that belong to the thread or the context that asks: `threading.local`, `contextvars.ContextVar`.
//!
//! What one holds is asked for anew wherever a guard or new code follows the path to it.

use crate::cpython::facts;
use pyo3::prelude::*;
use pyo3::types::*;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PerThread {
    /// It has attributes, in a dict for each thread.
    Local,
    /// It has one value.
    Variable,
}

/// What of the kind the values of a class are, if it is the one of C.
pub(crate) fn per_thread(class: &Bound<'_, PyType>) -> Option<PerThread> {
    if facts::is_class_of_context_variables(class) {
        return Some(PerThread::Variable);
    }
    // A class of the program may have any name.
    if !facts::is_named_below(class, "_thread._local") {
        return None;
    }
    facts::imported_value(class.py(), "_thread", "_local")?.is(class).then_some(PerThread::Local)
}

/// What it holds here and now: the dict of attributes, or the value; `None`: there is no value, or this is neither.
pub(crate) fn held<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    match per_thread(&value.get_type())? {
        PerThread::Local => value.getattr("__dict__").ok(),
        PerThread::Variable => value.call_method0("get").ok(),
    }
}
