//! What an entry is made of: its memory, and what runs when it is called.

use std::any::Any;
use std::sync::Arc;

use pyo3::ffi::{self, PyObject};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

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
    /// method. `stands_for`: the entry lies in its receiver, in the place of an attribute of the class. `None`: only what finds this very
    /// entry can stand for it.
    fn maker<'py>(&self, _py: Python<'py>, _stands_for: bool) -> Option<(Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>)> {
        None
    }
    /// The entry stands in `receiver` for its class's attribute `name`, and the class has another one now, or the receiver another
    /// class: what is to be called with the same arguments.
    fn replaced<'py>(&self, receiver: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        attribute_of_class(receiver, name)
    }
    fn as_any(&self) -> &dyn Any;
}

/// What the class of `receiver` has under a name, bound to it.
pub fn attribute_of_class<'py>(
    receiver: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    let class = receiver.get_type();
    class.getattr(name)?.call_method1(intern!(receiver.py(), "__get__"), (receiver, class))
}

/// What an entry is made of.
pub struct EntryParts {
    pub func: Py<PyAny>,
    pub self_obj: Option<Py<PyAny>>,
    /// The attribute of the receiver's class for which the entry stands.
    pub stands_for: Option<Py<PyString>>,
    pub body: Arc<dyn EntryBody>,
}

#[repr(C)]
pub(super) struct EntryObject {
    pub(super) ob_base: PyObject,
    pub(super) vectorcall: Option<ffi::vectorcallfunc>,
    pub(super) func: *mut PyObject,
    pub(super) self_obj: *mut PyObject,
    /// A string, or NULL.
    pub(super) stands_for: *mut PyObject,
    pub(super) dict: *mut PyObject,
    pub(super) weaklist: *mut PyObject,
    pub(super) body: Option<Arc<dyn EntryBody>>,
}
