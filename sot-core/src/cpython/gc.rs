//! Garbage collection of objects that hold Rust values: visiting, dropping, freeing.

use std::ffi::{c_int, c_void};

use pyo3::ffi;
use pyo3::prelude::*;

use super::trampoline::trampoline;

/// Passes references to the collector's visit function until it asks to stop.
pub(super) struct Visitor {
    visit: ffi::visitproc,
    arg: *mut c_void,
    result: c_int,
}

impl Visitor {
    /// # Safety
    /// `visit` and `arg` are those of a running `tp_traverse` of `this`.
    pub(super) unsafe fn new(this: *mut ffi::PyObject, visit: ffi::visitproc, arg: *mut c_void) -> Self {
        let mut visitor = Visitor { visit, arg, result: 0 };
        if cfg!(Py_3_9) {
            // From 3.9 an instance of a heap type visits its type.
            // SAFETY: `this` is the object being traversed.
            visitor.raw(unsafe { ffi::Py_TYPE(this) }.cast());
        }
        visitor
    }

    /// Visits one object; NULL is ignored.
    pub(super) fn raw(&mut self, object: *mut ffi::PyObject) {
        if self.result == 0 && !object.is_null() {
            // SAFETY: by the contract of `new`; the object is held by the traversed one.
            self.result = unsafe { (self.visit)(object, self.arg) };
        }
    }

    /// Lets a body show its references. A panic ends the visit: what was not shown counts as
    /// referenced from outside, so it is kept alive.
    pub(super) fn visit_body(&mut self, body: impl FnOnce(&mut dyn FnMut(&Py<PyAny>))) {
        let _ = trampoline(|| body(&mut |object| self.raw(object.as_ptr())));
    }

    pub(super) fn finish(self) -> c_int {
        self.result
    }
}

/// Drops a value that holds references, keeping the current exception, so that `Py` values are
/// released now and not when pyo3 next attaches.
pub(super) fn drop_attached<T: ?Sized>(value: Option<Box<T>>, before: impl FnOnce(&T)) {
    let Some(value) = value else { return };
    let _ = trampoline(move || {
        Python::try_attach(move |py| {
            let pending = PyErr::take(py);
            before(&value);
            drop(value);
            if let Some(pending) = pending {
                pending.restore(py);
            }
        })
    });
}

/// Frees an object of a heap type and releases the type.
///
/// # Safety
/// The last thing done with `this`; its fields are dropped.
pub(super) unsafe fn free(this: *mut ffi::PyObject) {
    // SAFETY: heap types own a reference from each instance and have a `tp_free`.
    unsafe {
        let ty = ffi::Py_TYPE(this);
        if let Some(free) = (*ty).tp_free {
            free(this.cast());
        }
        ffi::Py_DECREF(ty.cast());
    }
}
