//! `sot.Entry`: the native callable that stands for a Python function.
//!
//! Calling it binds the arguments to slots and passes them to an [`EntryBody`]; no Python frame and no
//! hook is involved. Arguments that do not bind, a cleared entry and a panicking body all mean: call
//! the original function with the original arguments. Two types share one layout: `sot.Entry` binds
//! as a method like a function does, `sot.BoundEntry` carries its receiver and does not bind again.
//! The call itself is in `entry_call`; how an entry poses as the function it wraps (attributes, pickling) is in
//! `entry_attributes`.

use std::ffi::{c_int, c_ulong, c_void};
use std::mem::offset_of;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

use super::capi;
use super::entry_attributes;
use super::entry_call::vectorcall;
use super::entry_object::EntryObject;
pub use super::entry_object::{EntryBody, EntryParts, attribute_of_class};
use super::gc::{self, Visitor};
use super::heap_type::{HeapType, METHOD_DESCRIPTOR, guarded_slot, guarded_vectorcall, slot};

static ENTRY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static BOUND_ENTRY: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The type object `sot.Entry`.
pub fn entry_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let ty = ENTRY.get_or_try_init(py, || {
        let binds = slot(ffi::Py_tp_descr_get, guarded_slot!(descrgetfunc, descr_get));
        make_type(py, c"sot.Entry", METHOD_DESCRIPTOR, Some(binds))
    })?;
    Ok(ty.bind(py))
}

/// The type object `sot.BoundEntry`.
pub fn bound_entry_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let ty = BOUND_ENTRY.get_or_try_init(py, || make_type(py, c"sot.BoundEntry", 0, None))?;
    Ok(ty.bind(py))
}

fn make_type(
    py: Python<'_>,
    name: &'static std::ffi::CStr,
    extra_flags: c_ulong,
    extra_slot: Option<ffi::PyType_Slot>,
) -> PyResult<Py<PyType>> {
    let mut slots = vec![
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_traverse, traverse as *mut c_void),
        slot(ffi::Py_tp_clear, clear as *mut c_void),
        slot(ffi::Py_tp_call, capi::PyVectorcall_Call as *mut c_void),
    ];
    slots.extend(extra_slot);
    slots.extend(entry_attributes::slots());
    HeapType {
        name,
        size: size_of::<EntryObject>(),
        extra_flags,
        vectorcall: offset_of!(EntryObject, vectorcall),
        weaklist: offset_of!(EntryObject, weaklist),
        dict: offset_of!(EntryObject, dict),
        slots,
        getset: entry_attributes::getset(),
        methods: entry_attributes::methods(extra_flags & METHOD_DESCRIPTOR != 0),
    }
    .create(py)
}

/// Makes the entry of `func`, which must be a Python function; with `self_obj` every call gets it as
/// slot 0. `stands_for`: the attribute of its class in whose place the entry lies in the receiver: the function serves as long as
/// the class has it there.
pub fn new_entry(
    py: Python<'_>,
    func: &Bound<'_, PyAny>,
    self_obj: Option<&Bound<'_, PyAny>>,
    stands_for: Option<&Bound<'_, PyString>>,
    body: Arc<dyn EntryBody>,
) -> PyResult<Py<PyAny>> {
    // SAFETY: a type check reads the object only.
    if unsafe { ffi::PyFunction_Check(func.as_ptr()) } == 0 {
        return Err(PyTypeError::new_err(format!(
            "sot: an entry needs a Python function, not {}",
            func.get_type().name()?
        )));
    }
    let ty = match self_obj {
        Some(_) => bound_entry_type(py)?,
        None => entry_type(py)?,
    };
    let function = guarded_vectorcall!(vectorcall);
    // SAFETY: the allocation is zeroed and as large as `EntryObject`; it is untracked while written.
    unsafe {
        let raw = ffi::PyType_GenericAlloc(ty.as_type_ptr(), 0);
        let object = Bound::from_owned_ptr_or_err(py, raw)?;
        let this = raw.cast::<EntryObject>();
        ffi::PyObject_GC_UnTrack(raw.cast());
        (&raw mut (*this).body).write(Some(body));
        (*this).func = func.clone().into_ptr();
        (*this).self_obj = self_obj.map_or(std::ptr::null_mut(), |obj| obj.clone().into_ptr());
        (*this).stands_for = stands_for.map_or(std::ptr::null_mut(), |name| name.clone().into_ptr());
        (*this).vectorcall = Some(function);
        ffi::PyObject_GC_Track(raw.cast());
        Ok(object.unbind())
    }
}

/// The raw object if `obj` is an entry.
pub(super) fn as_entry(obj: &Bound<'_, PyAny>) -> Option<*mut EntryObject> {
    let ty: *mut PyObject = obj.get_type_ptr().cast();
    let is = |lock: &PyOnceLock<Py<PyType>>| lock.get(obj.py()).is_some_and(|t| t.as_ptr() == ty);
    (is(&ENTRY) || is(&BOUND_ENTRY)).then(|| obj.as_ptr().cast())
}

/// The parts of an entry; `None` for any other object or a cleared one.
pub fn entry_parts(obj: &Bound<'_, PyAny>) -> Option<EntryParts> {
    let this = as_entry(obj)?;
    // SAFETY: the exact type was checked and `obj` keeps it alive.
    unsafe {
        let py = obj.py();
        Some(EntryParts {
            func: Bound::from_borrowed_ptr_or_opt(py, (*this).func)?.unbind(),
            self_obj: Bound::from_borrowed_ptr_or_opt(py, (*this).self_obj).map(Bound::unbind),
            stands_for: Bound::from_borrowed_ptr_or_opt(py, (*this).stands_for)
                .and_then(|name| name.cast_into().ok().map(Bound::unbind)),
            body: (*this).body.clone()?,
        })
    }
}

/// # Safety
/// Called by CPython as `tp_descr_get`.
unsafe fn descr_get(
    py: Python<'_>,
    this: *mut PyObject,
    obj: *mut PyObject,
    _ty: *mut PyObject,
) -> PyResult<*mut PyObject> {
    // SAFETY: `this` is an entry, `obj` NULL, None or the receiver.
    unsafe {
        if obj.is_null() || obj == ffi::Py_None() {
            ffi::Py_INCREF(this);
            return Ok(this);
        }
        Bound::from_owned_ptr_or_err(py, capi::PyMethod_New(this, obj)).map(Bound::into_ptr)
    }
}

unsafe extern "C" fn traverse(this: *mut PyObject, visit: ffi::visitproc, arg: *mut c_void) -> c_int {
    // SAFETY: called by the collector with one of our objects.
    unsafe {
        let mut visitor = Visitor::new(this, visit, arg);
        let this = this.cast::<EntryObject>();
        visitor.raw((*this).func);
        visitor.raw((*this).self_obj);
        visitor.raw((*this).dict);
        // A shared body would be counted once per owner and make live objects look dead.
        if let Some(body) = &(*this).body
            && Arc::strong_count(body) == 1
            && Arc::weak_count(body) == 0
        {
            visitor.visit_body(|see| body.traverse(see));
        }
        visitor.finish()
    }
}

unsafe extern "C" fn clear(this: *mut PyObject) -> c_int {
    // SAFETY: called by the collector or by `dealloc`: nothing else uses the fields now. Each field is
    // emptied before its reference is released, since that may run code.
    unsafe {
        let this = this.cast::<EntryObject>();
        let body = (*this).body.take().map(Box::new);
        gc::drop_attached(body, |body| {
            if Arc::strong_count(body) == 1 {
                body.clear();
            }
        });
        let (func, receiver) = (&raw mut (*this).func, &raw mut (*this).self_obj);
        for field in [func, receiver, &raw mut (*this).stands_for, &raw mut (*this).dict] {
            let object = field.replace(std::ptr::null_mut());
            ffi::Py_XDECREF(object);
        }
    }
    0
}

unsafe extern "C" fn dealloc(this: *mut PyObject) {
    // SAFETY: the reference count is zero; fields are dropped once, then the memory is returned.
    unsafe {
        ffi::PyObject_GC_UnTrack(this.cast());
        if !(*this.cast::<EntryObject>()).weaklist.is_null() {
            ffi::PyObject_ClearWeakRefs(this);
        }
        clear(this);
        gc::free(this);
    }
}
