//! Garbage collection: visiting, dropping and freeing of objects that hold Rust values; and times without it.

use std::ffi::{c_int, c_void};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyTuple};

use super::trampoline::trampoline;

/// Whether the collector looks at a tuple, which it need not while that holds nothing of the kind.
pub(super) fn is_tracked(tuple: &Bound<'_, PyTuple>) -> bool {
    // SAFETY: a live object of a kind that always has the collector's head before it.
    #[cfg(Py_3_9)]
    let tracked = unsafe { ffi::PyObject_GC_IsTracked(tuple.as_ptr()) } != 0;
    // SAFETY: as above; the head is two words, and the first one leads to the next object while this one is looked at.
    #[cfg(not(Py_3_9))]
    let tracked = unsafe { *tuple.as_ptr().cast::<usize>().sub(2) } != 0;
    tracked
}

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
/// released now and not when pyo3 next attaches: also while the interpreter ends, when pyo3 refuses to attach by itself and what
/// is left to it would stay for ever.
///
/// # Safety
/// Called by CPython, with the thread attached.
pub(super) unsafe fn drop_attached<T: ?Sized>(value: Option<Box<T>>, before: impl FnOnce(&T)) {
    let Some(value) = value else { return };
    let drop_it = |py: Python<'_>| {
        let pending = PyErr::take(py);
        before(&value);
        drop(value);
        if let Some(pending) = pending {
            pending.restore(py);
        }
    };
    // SAFETY: by contract the thread is attached already.
    let _ = trampoline(move || unsafe { Python::attach_unchecked(drop_it) });
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

/// Visits what a function and its code hold, where they have no other owner than the visitor and each other. The
/// collector does not look into code objects: a cycle through their constants would never be found.
pub fn visit_owned_function(function: &Py<PyAny>, code: &Py<PyCode>, visit: &mut dyn FnMut(&Py<PyAny>)) {
    visit(function);
    // SAFETY: both objects are alive; `Py` is a transparent non-null pointer.
    unsafe {
        // One reference is the visitor's, one the function's. A running frame holds another one.
        if ffi::Py_REFCNT(function.as_ptr()) == 1 && ffi::Py_REFCNT(code.as_ptr()) == 2 {
            let code = code.as_ptr().cast::<super::layout::Code>();
            visit(&*(&raw const (*code).co_consts).cast::<Py<PyAny>>());
        }
    }
}

/// Turns the collector on again, also when unwinding.
struct Resume<'py>(Option<Bound<'py, PyAny>>);

impl Drop for Resume<'_> {
    fn drop(&mut self) {
        if let Some(module) = self.0.take() {
            // `gc.enable` cannot fail.
            let _ = module.call_method0("enable");
        }
    }
}

/// Runs `f` without collections: finalizers and callbacks of the user's program must not run in the middle of it.
pub fn without_collection<R>(py: Python<'_>, f: impl FnOnce() -> R) -> R {
    let module = crate::cpython::module(py, "gc").map(Bound::into_any).ok();
    let on = module.filter(|m| m.call_method0("isenabled").is_ok_and(|on| on.is_truthy().unwrap_or(false)));
    if let Some(module) = &on {
        let _ = module.call_method0("disable");
    }
    let _resume = Resume(on);
    f()
}
