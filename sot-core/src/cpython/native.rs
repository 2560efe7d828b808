//! `sot.NativeFunction`: a Python callable whose body is Rust, called through vectorcall.
//!
//! Graph callables, continuation requests and helpers are made of it. Positional arguments only; a
//! keyword is a `TypeError`. A panic in the body becomes a `SystemError`. The object takes part in
//! garbage collection through [`NativeBody::traverse`]; when it is cleared, its body is dropped.

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::mem::offset_of;

use pyo3::exceptions::{PySystemError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

use super::capi;
use super::gc::{self, Visitor};
use super::heap_type::{HeapType, guarded_slot, guarded_vectorcall, slot};
use super::slots::Slots;
use super::thread;
use super::trampoline::trampoline;

/// The Rust side of a native function.
pub trait NativeBody: Send + Sync + 'static {
    /// Slots are the positional arguments; all are bound.
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>>;
    /// `__name__`.
    fn name(&self) -> &str;
    /// Visits each reference held exactly once. Must not block, allocate objects or run Python.
    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>));
    /// Called once before the body is dropped by the garbage collector.
    fn clear(&self) {}
    fn as_any(&self) -> &dyn Any;
}

#[repr(C)]
struct NativeObject {
    ob_base: ffi::PyObject,
    vectorcall: Option<ffi::vectorcallfunc>,
    weaklist: *mut ffi::PyObject,
    body: Option<Box<dyn NativeBody>>,
}

static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The type object `sot.NativeFunction`.
pub fn native_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let ty = TYPE.get_or_try_init(py, || {
        HeapType {
            name: c"sot.NativeFunction",
            size: size_of::<NativeObject>(),
            extra_flags: 0,
            vectorcall: offset_of!(NativeObject, vectorcall),
            weaklist: offset_of!(NativeObject, weaklist),
            dict: 0,
            slots: vec![
                slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
                slot(ffi::Py_tp_traverse, traverse as *mut c_void),
                slot(ffi::Py_tp_clear, clear as *mut c_void),
                slot(ffi::Py_tp_call, capi::PyVectorcall_Call as *mut c_void),
                slot(ffi::Py_tp_repr, guarded_slot!(reprfunc, repr)),
                slot(ffi::Py_tp_getattro, guarded_slot!(getattrofunc, getattro)),
            ],
            getset: Vec::new(),
            methods: Vec::new(),
        }
        .create(py)
    })?;
    Ok(ty.bind(py))
}

/// Makes a native function.
pub fn new_native(py: Python<'_>, body: Box<dyn NativeBody>) -> PyResult<Py<PyAny>> {
    let ty = native_type(py)?.as_type_ptr();
    let function = guarded_vectorcall!(vectorcall);
    // SAFETY: the allocation is zeroed and as large as `NativeObject`; it is untracked while written.
    unsafe {
        let raw = ffi::PyType_GenericAlloc(ty, 0);
        let object = Bound::from_owned_ptr_or_err(py, raw)?;
        let this = raw.cast::<NativeObject>();
        ffi::PyObject_GC_UnTrack(raw.cast());
        (&raw mut (*this).body).write(Some(body));
        (*this).vectorcall = Some(function);
        ffi::PyObject_GC_Track(raw.cast());
        Ok(object.unbind())
    }
}

/// The body of a native function; `None` for any other object or a cleared one.
#[inline]
pub fn body_of<'a>(obj: &'a Bound<'_, PyAny>) -> Option<&'a dyn NativeBody> {
    let ty = TYPE.get(obj.py())?;
    if obj.get_type_ptr() != ty.as_ptr().cast() {
        return None;
    }
    // SAFETY: the exact type was checked; the body is replaced only when the object is unreachable,
    // and `obj` is a reference to it.
    unsafe { (*obj.as_ptr().cast::<NativeObject>()).body.as_deref() }
}

/// # Safety
/// Called by CPython with a `NativeFunction` and a vectorcall argument array.
unsafe fn vectorcall(
    py: Python<'_>,
    this: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: isize,
    kwnames: *mut ffi::PyObject,
) -> PyResult<*mut ffi::PyObject> {
    // SAFETY: the caller holds `this`, `args` and `kwnames` for the time of the call.
    let (body, slots) = unsafe {
        let body = (*this.cast::<NativeObject>()).body.as_deref();
        let body = body.ok_or_else(|| PySystemError::new_err("sot: function was cleared"))?;
        if !kwnames.is_null() && ffi::PyTuple_GET_SIZE(kwnames) > 0 {
            return Err(PyTypeError::new_err(format!("{}() takes no keyword arguments", body.name())));
        }
        let count = nargsf as usize & !capi::ARGUMENTS_OFFSET;
        (body, Slots::from_raw(args, count))
    };
    thread::absorbing_unless_raised(py, || match trampoline(|| body.call(py, slots)) {
        Ok(result) => result.map(Bound::into_ptr),
        Err(panic) => Err(panic.into_error(py, &format!("{}()", body.name()))),
    })
}

/// # Safety
/// Called by CPython with a `NativeFunction`.
unsafe fn repr(py: Python<'_>, this: *mut ffi::PyObject) -> PyResult<*mut ffi::PyObject> {
    // SAFETY: the type was checked by CPython.
    let name = unsafe { name_of(this) };
    Ok(PyString::new(py, &format!("<sot.NativeFunction {name}>")).into_any().into_ptr())
}

/// # Safety
/// Called by CPython with a `NativeFunction` and a string.
unsafe fn getattro(py: Python<'_>, this: *mut ffi::PyObject, name: *mut ffi::PyObject) -> PyResult<*mut ffi::PyObject> {
    // SAFETY: both are valid objects held by the caller.
    unsafe {
        let wanted = Bound::from_borrowed_ptr(py, name).cast_into::<PyString>()?;
        if wanted == "__name__" || wanted == "__qualname__" {
            return Ok(PyString::new(py, name_of(this)).into_any().into_ptr());
        }
        let value = ffi::PyObject_GenericGetAttr(this, name);
        Bound::from_owned_ptr_or_err(py, value).map(Bound::into_ptr)
    }
}

/// # Safety
/// `this` is a `NativeFunction` that outlives the result.
unsafe fn name_of<'a>(this: *mut ffi::PyObject) -> &'a str {
    // SAFETY: by contract.
    let body = unsafe { (*this.cast::<NativeObject>()).body.as_deref() };
    body.map_or("?", |body| body.name())
}

unsafe extern "C" fn traverse(this: *mut ffi::PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: called by the collector with one of our objects.
    unsafe {
        let mut visitor = Visitor::new(this, visit, arg);
        if let Some(body) = (*this.cast::<NativeObject>()).body.as_deref() {
            visitor.visit_body(|see| body.traverse(see));
        }
        visitor.finish()
    }
}

unsafe extern "C" fn clear(this: *mut ffi::PyObject) -> c_int {
    // SAFETY: called by the collector with one of our objects, or by `dealloc`.
    unsafe {
        let body = (*this.cast::<NativeObject>()).body.take();
        gc::drop_attached(body, |body| body.clear());
    }
    0
}

unsafe extern "C" fn dealloc(this: *mut ffi::PyObject) {
    // SAFETY: the reference count is zero; fields are dropped once, then the memory is returned.
    unsafe {
        ffi::PyObject_GC_UnTrack(this.cast());
        if !(*this.cast::<NativeObject>()).weaklist.is_null() {
            ffi::PyObject_ClearWeakRefs(this);
        }
        let body = (*this.cast::<NativeObject>()).body.take();
        gc::drop_attached(body, |_| ());
        gc::free(this);
    }
}
