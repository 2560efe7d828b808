//! How an entry poses as the function it wraps.
//!
//! Reading: the entry's own `__dict__`, then its type (calling, binding), then the function. The few
//! names that a type object always answers itself (`__doc__`, `__module__`) come from the function
//! first. Writing: names that define the function (`__code__`, `__defaults__`, ...) go to it, all
//! others to the entry's `__dict__`.
//!
//! `__class__` is what it is for the function or method, so that `isinstance` and with it `inspect.isfunction` and
//! `inspect.ismethod` see what they would see in eager. `type` tells the truth.
//!
//! Like a function, an entry is its own copy. It pickles by name where the name finds it, otherwise as what makes it of
//! its function, and that by name; a bound entry is made again of the method of the receiver's copy.

use std::ffi::{c_int, c_void};

use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use super::capi;
use super::entry_object::EntryObject;
use super::facts;
use super::heap_type::{guarded_slot, slot};

/// Read from the entry's `__dict__` or the function, never from the type.
const FUNCTION_FIRST: [&str; 2] = ["__module__", "__set_name__"];
/// Names under which a class statement makes something else of a function.
const IMPLICIT: [(&str, &str); 3] =
    [("__new__", "staticmethod"), ("__init_subclass__", "classmethod"), ("__class_getitem__", "classmethod")];
/// Written to the function.
const FUNCTION_OWNED: [&str; 5] = ["__code__", "__defaults__", "__kwdefaults__", "__annotations__", "__type_params__"];

pub(super) fn slots() -> Vec<ffi::PyType_Slot> {
    vec![
        slot(ffi::Py_tp_getattro, guarded_slot!(getattrofunc, getattro)),
        slot(ffi::Py_tp_setattro, guarded_slot!(setattrofunc, setattro)),
        slot(ffi::Py_tp_repr, guarded_slot!(reprfunc, repr)),
    ]
}

pub(super) fn getset() -> Vec<ffi::PyGetSetDef> {
    vec![
        ffi::PyGetSetDef {
            name: c"__dict__".as_ptr(),
            get: Some(ffi::PyObject_GenericGetDict),
            set: Some(ffi::PyObject_GenericSetDict),
            doc: std::ptr::null(),
            closure: std::ptr::null_mut(),
        },
        // `object.__getattribute__` shall find it as well: `pydoc` asks that.
        ffi::PyGetSetDef {
            name: c"__doc__".as_ptr(),
            get: Some(doc),
            set: Some(set_doc),
            doc: std::ptr::null(),
            closure: std::ptr::null_mut(),
        },
        ffi::PyGetSetDef {
            name: c"__class__".as_ptr(),
            get: Some(class),
            set: None,
            doc: std::ptr::null(),
            closure: std::ptr::null_mut(),
        },
    ]
}

/// `__doc__`: the entry's own, or the function's.
///
/// # Safety
/// Called by CPython with an entry.
unsafe extern "C" fn doc(this: *mut PyObject, _closure: *mut c_void) -> *mut PyObject {
    // SAFETY: by contract; a borrowed reference becomes an own one before anything runs.
    unsafe {
        let this = this.cast::<EntryObject>();
        let dict = (*this).dict;
        let mut found = match dict.is_null() {
            true => std::ptr::null_mut(),
            false => ffi::PyDict_GetItemString(dict, c"__doc__".as_ptr()),
        };
        if found.is_null() && !(*this).func.is_null() {
            return ffi::PyObject_GetAttrString((*this).func, c"__doc__".as_ptr());
        }
        if found.is_null() {
            found = ffi::Py_None();
        }
        ffi::Py_INCREF(found);
        found
    }
}

/// # Safety
/// Called by CPython with an entry; `value` is NULL to delete, which for a function is to set None.
unsafe extern "C" fn set_doc(this: *mut PyObject, value: *mut PyObject, _closure: *mut c_void) -> c_int {
    // SAFETY: by contract.
    unsafe {
        let dict = ffi::PyObject_GenericGetDict(this, std::ptr::null_mut());
        if dict.is_null() {
            return -1;
        }
        let value = if value.is_null() { ffi::Py_None() } else { value };
        let status = ffi::PyDict_SetItemString(dict, c"__doc__".as_ptr(), value);
        ffi::Py_DECREF(dict);
        status
    }
}

/// The type that the entry poses as.
///
/// # Safety
/// Called by CPython with an entry.
unsafe extern "C" fn class(this: *mut PyObject, _closure: *mut c_void) -> *mut PyObject {
    // SAFETY: by contract; the types live for ever.
    unsafe {
        let bound = !(*this.cast::<EntryObject>()).self_obj.is_null();
        let class: *mut PyObject = match bound {
            true => (&raw mut capi::PyMethod_Type).cast(),
            false => (&raw mut ffi::PyFunction_Type).cast(),
        };
        ffi::Py_INCREF(class);
        class
    }
}

/// `is_own_copy`: of an entry that is not bound.
pub(super) fn methods(is_own_copy: bool) -> Vec<ffi::PyMethodDef> {
    let mut methods = pickling();
    if is_own_copy {
        let copy = pyo3::impl_::trampoline::get_trampoline_function!(noargs, copy);
        let deepcopy = pyo3::impl_::trampoline::get_trampoline_function!(binaryfunc, deepcopy);
        let set_name = pyo3::impl_::trampoline::get_trampoline_function!(binaryfunc, set_name);
        methods.push(method(c"__set_name__", ffi::PyMethodDefPointer { PyCFunction: set_name }, ffi::METH_VARARGS));
        methods.push(method(c"__copy__", ffi::PyMethodDefPointer { PyCFunction: copy }, ffi::METH_NOARGS));
        methods.push(method(c"__deepcopy__", ffi::PyMethodDefPointer { PyCFunction: deepcopy }, ffi::METH_O));
    }
    methods
}

fn pickling() -> Vec<ffi::PyMethodDef> {
    let noargs = pyo3::impl_::trampoline::get_trampoline_function!(noargs, reduce);
    let onearg = pyo3::impl_::trampoline::get_trampoline_function!(binaryfunc, reduce_ex);
    vec![
        method(c"__reduce__", ffi::PyMethodDefPointer { PyCFunction: noargs }, ffi::METH_NOARGS),
        method(c"__reduce_ex__", ffi::PyMethodDefPointer { PyCFunction: onearg }, ffi::METH_O),
    ]
}

fn method(name: &'static std::ffi::CStr, function: ffi::PyMethodDefPointer, flags: c_int) -> ffi::PyMethodDef {
    ffi::PyMethodDef { ml_name: name.as_ptr(), ml_meth: function, ml_flags: flags, ml_doc: std::ptr::null() }
}

/// The wrapped function.
///
/// # Safety
/// `this` is an entry.
unsafe fn function<'py>(py: Python<'py>, this: *mut PyObject) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: by contract.
    unsafe { Bound::from_borrowed_ptr_or_opt(py, (*this.cast::<EntryObject>()).func) }
        .ok_or_else(|| PyTypeError::new_err("sot: this entry was cleared"))
}

/// What calling the entry stands for: the function, or the method bound to the entry's receiver.
///
/// # Safety
/// `this` is an entry.
unsafe fn wrapped<'py>(py: Python<'py>, this: *mut PyObject) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: by contract.
    unsafe {
        let function = function(py, this)?;
        let receiver = (*this.cast::<EntryObject>()).self_obj;
        if receiver.is_null() {
            return Ok(function);
        }
        Bound::from_owned_ptr_or_err(py, capi::PyMethod_New(function.as_ptr(), receiver))
    }
}

/// # Safety
/// Called by CPython as `tp_getattro`.
unsafe fn getattro(py: Python<'_>, this: *mut PyObject, name: *mut PyObject) -> PyResult<*mut PyObject> {
    // SAFETY: both are valid objects held by the caller.
    unsafe {
        let name = Bound::from_borrowed_ptr(py, name).cast_into::<PyString>()?;
        if FUNCTION_FIRST.iter().any(|special| name == *special) {
            let dict = (*this.cast::<EntryObject>()).dict;
            if !dict.is_null() {
                let own = ffi::PyDict_GetItemWithError(dict, name.as_ptr());
                if let Some(own) = Bound::from_borrowed_ptr_or_opt(py, own) {
                    return Ok(own.into_ptr());
                }
            }
            return function(py, this)?.getattr(name).map(Bound::into_ptr);
        }
        let found = ffi::PyObject_GenericGetAttr(this, name.as_ptr());
        match Bound::from_owned_ptr_or_err(py, found) {
            Ok(value) => Ok(value.into_ptr()),
            Err(error) if error.is_instance_of::<PyAttributeError>(py) => {
                if name == "__wrapped__" {
                    return wrapped(py, this).map(Bound::into_ptr);
                }
                // A bound entry answers these as a bound method does, a plain one as a function: not at all.
                if name == "__self__" || name == "__func__" {
                    return wrapped(py, this)?.getattr(name).map(Bound::into_ptr);
                }
                function(py, this)?.getattr(name).map(Bound::into_ptr)
            }
            Err(error) => Err(error),
        }
    }
}

/// # Safety
/// Called by CPython as `tp_setattro`; `value` is NULL to delete.
unsafe fn setattro(py: Python<'_>, this: *mut PyObject, name: *mut PyObject, value: *mut PyObject) -> PyResult<c_int> {
    // SAFETY: all are valid objects held by the caller.
    unsafe {
        let wanted = Bound::from_borrowed_ptr(py, name).cast_into::<PyString>()?;
        let owner = match FUNCTION_OWNED.iter().any(|special| wanted == *special) {
            true => function(py, this)?.into_ptr(),
            false => {
                ffi::Py_INCREF(this);
                this
            }
        };
        let status = match owner == this {
            true => ffi::PyObject_GenericSetAttr(owner, name, value),
            false => ffi::PyObject_SetAttr(owner, name, value),
        };
        ffi::Py_DECREF(owner);
        if status != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(0)
    }
}

/// # Safety
/// Called by CPython as `tp_repr`.
unsafe fn repr(py: Python<'_>, this: *mut PyObject) -> PyResult<*mut PyObject> {
    // SAFETY: `this` is an entry.
    let name = unsafe { qualified_name(py, this) }?;
    Ok(PyString::new(py, &format!("<sot.Entry {name}>")).into_any().into_ptr())
}

/// # Safety
/// `this` is an entry.
unsafe fn qualified_name<'py>(py: Python<'py>, this: *mut PyObject) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: by contract.
    unsafe { Bound::from_borrowed_ptr(py, this) }.getattr("__qualname__")
}

/// # Safety
/// Called by CPython as a method without arguments.
unsafe fn copy(_py: Python<'_>, this: *mut PyObject) -> PyResult<*mut PyObject> {
    // SAFETY: the caller holds it.
    unsafe { ffi::Py_INCREF(this) };
    Ok(this)
}

/// # Safety
/// Called by CPython as a method with one argument, the memo.
unsafe fn deepcopy(py: Python<'_>, this: *mut PyObject, _memo: *mut PyObject) -> PyResult<*mut PyObject> {
    // SAFETY: passed on.
    unsafe { copy(py, this) }
}

/// What a new class makes of a function under a name, it makes of the entry, too: before anybody sees the class.
///
/// # Safety
/// Called by CPython as a method, with a tuple.
unsafe fn set_name(py: Python<'_>, this: *mut PyObject, args: *mut PyObject) -> PyResult<*mut PyObject> {
    // SAFETY: the caller holds both.
    let (entry, args) = unsafe { (Bound::from_borrowed_ptr(py, this), Bound::from_borrowed_ptr(py, args)) };
    let (owner, name): (Bound<'_, PyAny>, Bound<'_, PyAny>) = args.extract()?;
    let wrapper = IMPLICIT.iter().find(|(implicit, _)| name.cast::<PyString>().is_ok_and(|name| name == *implicit));
    if let (Some((_, wrapper)), Some(names)) = (wrapper, facts::class_dict(&owner))
        && names.get_item(&name)?.is_some_and(|value| value.is(&entry))
    {
        let wrapped = super::module(py, "builtins")?.getattr(*wrapper)?.call1((entry,))?;
        names.set_item(&name, wrapped)?;
        // SAFETY: what has a dict of a class is one.
        unsafe { ffi::PyType_Modified(owner.as_ptr().cast()) };
    }
    Ok(py.None().into_ptr())
}

/// What a module has under an object's qualified name.
fn found_by_name<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let module = object.getattr("__module__").ok()?;
    let name: String = object.getattr("__qualname__").ok()?.extract().ok()?;
    let modules = crate::cpython::module(object.py(), "sys").ok()?.getattr("modules").ok()?;
    name.split('.').try_fold(modules.get_item(module).ok()?, |at, part| at.getattr(part).ok())
}

/// # Safety
/// Called by CPython as a method without arguments.
unsafe fn reduce(py: Python<'_>, this: *mut PyObject) -> PyResult<*mut PyObject> {
    // SAFETY: `this` is an entry.
    unsafe {
        let receiver = (*this.cast::<EntryObject>()).self_obj;
        let stands_for = !(*this.cast::<EntryObject>()).stands_for.is_null();
        let maker = (*this.cast::<EntryObject>()).body.as_ref().and_then(|body| body.maker(py, stands_for));
        let entry = Bound::from_borrowed_ptr(py, this);
        let by_name = receiver.is_null() && found_by_name(&entry).is_some_and(|found| found.is(&entry));
        if let Some((maker, rest)) = maker
            && !by_name
        {
            let mut args = vec![wrapped(py, this)?];
            args.extend(rest);
            let args = PyTuple::new(py, args)?.into_any();
            return Ok(PyTuple::new(py, [maker, args])?.into_any().into_ptr());
        }
        let Some(receiver) = Bound::from_borrowed_ptr_or_opt(py, receiver) else {
            return qualified_name(py, this).map(Bound::into_ptr);
        };
        let getattr = crate::cpython::module(py, "builtins")?.getattr("getattr")?;
        let name = function(py, this)?.getattr("__name__")?;
        let args = PyTuple::new(py, [receiver, name])?.into_any();
        Ok(PyTuple::new(py, [getattr, args])?.into_any().into_ptr())
    }
}

/// # Safety
/// Called by CPython as a method with one argument, the pickle protocol.
unsafe fn reduce_ex(py: Python<'_>, this: *mut PyObject, _protocol: *mut PyObject) -> PyResult<*mut PyObject> {
    // SAFETY: passed on.
    unsafe { reduce(py, this) }
}
