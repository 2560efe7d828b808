//! What an entry is made of: its memory, and what runs when it is called.

use std::any::Any;
use std::sync::Arc;

use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;

use super::slots::Slots;

/// What an entry does with bound arguments.
pub trait EntryBody: Send + Sync + 'static {
    /// `func` is the wrapped function, `slots` its argument slots with the receiver first if there is
    /// one; all are bound. An error is raised to the caller as it is.
    fn enter<'py>(&self, py: Python<'py>, func: &Bound<'py, PyAny>, slots: Slots<'_>) -> PyResult<Bound<'py, PyAny>>;
    /// Visits each reference held exactly once. Must not block, allocate objects or run Python. Only
    /// called while the entry is the sole owner of the body.
    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>));
    /// Drops the references that could close a cycle. Only called while the entry is the sole owner.
    fn clear(&self) {}
    /// How an equal entry is made elsewhere: a callable that pickles by name, and its arguments behind the function or
    /// method. `None`: only what finds this very entry can stand for it.
    fn maker<'py>(&self, _py: Python<'py>) -> Option<(Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>)> {
        None
    }
    fn as_any(&self) -> &dyn Any;
}

/// What an entry is made of.
pub struct EntryParts {
    pub func: Py<PyAny>,
    pub self_obj: Option<Py<PyAny>>,
    pub body: Arc<dyn EntryBody>,
}

#[repr(C)]
pub(super) struct EntryObject {
    pub(super) ob_base: PyObject,
    pub(super) vectorcall: Option<ffi::vectorcallfunc>,
    pub(super) func: *mut PyObject,
    pub(super) self_obj: *mut PyObject,
    pub(super) dict: *mut PyObject,
    pub(super) weaklist: *mut PyObject,
    pub(super) body: Option<Arc<dyn EntryBody>>,
}
