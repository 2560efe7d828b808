//! The call of an entry: bind, enter the body, or call the original function.

use pyo3::exceptions::{PyRecursionError, PyTypeError};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::PyString;
use smallvec::SmallVec;

use super::bind::{CallArgs, bind};
use super::capi;
use super::copies::Ours;
use super::entry_object::{EntryBody, EntryObject};
use super::hook_state::without_slot;
use super::native_stack;
use super::signature::Signature;
use super::slots::Slots;
use super::thread;
use super::trampoline::trampoline;

/// # Safety
/// Called by CPython with an entry and a vectorcall argument array.
pub(super) unsafe fn vectorcall(
    py: Python<'_>,
    this: *mut PyObject,
    args: *const *mut PyObject,
    nargsf: isize,
    kwnames: *mut PyObject,
) -> PyResult<*mut PyObject> {
    // SAFETY: the caller holds the entry and the arguments for the time of the call; an entry that is
    // being called is reachable, so its fields are not cleared meanwhile.
    unsafe {
        let this = this.cast::<EntryObject>();
        let (Some(body), false) = ((*this).body.as_deref(), (*this).func.is_null()) else {
            return Err(PyTypeError::new_err("sot: this entry was cleared"));
        };
        let func = (*this).func;
        let call =
            CallArgs { receiver: (*this).self_obj, args, nargs: nargsf as usize & !capi::ARGUMENTS_OFFSET, kwnames };
        let name = (*this).stands_for;
        if !name.is_null() && capi::_PyType_Lookup(ffi::Py_TYPE(call.receiver), name) != func {
            return replaced(py, body, name, &call);
        }
        // The commonest calls need no binding: all positional, none missing.
        let signature = Signature::of_raw((*func.cast::<ffi::PyFunctionObject>()).func_code.cast());
        let given = call.nargs + usize::from(!call.receiver.is_null());
        if kwnames.is_null() && given == signature.positional && given == signature.slots() {
            if call.receiver.is_null() {
                return enter(py, body, func, Slots::from_raw(args, given), &call);
            }
            let mut all: SmallVec<[*mut PyObject; 8]> = SmallVec::with_capacity(given);
            all.push(call.receiver);
            all.extend((0..call.nargs).map(|index| *args.add(index)));
            return enter(py, body, func, Slots::from_raw(all.as_ptr(), given), &call);
        }
        match bind(py, func.cast(), &call) {
            Some(bound) => {
                let slots = Slots::from_raw(bound.slots.as_ptr(), bound.slots.len());
                enter(py, body, func, slots, &call)
            }
            None => call_original(py, func, &call),
        }
    }
}

/// # Safety
/// `func` is alive, `slots` and `call` hold the arguments of the running call.
#[inline]
unsafe fn enter(
    py: Python<'_>,
    body: &dyn EntryBody,
    func: *mut PyObject,
    slots: Slots<'_>,
    call: &CallArgs,
) -> PyResult<*mut PyObject> {
    // SAFETY: by contract.
    unsafe {
        if native_stack::is_low(thread::current(py)) {
            return far_down(py, func, call);
        }
        let function = Bound::ref_from_ptr(py, &func);
        let _ours = Ours::begin();
        match trampoline(|| body.enter(py, function, slots)) {
            Ok(result) => result.map(Bound::into_ptr),
            Err(_) => {
                drop(PyErr::take(py));
                call_original(py, func, call)
            }
        }
    }
}

/// The class has another attribute now.
///
/// # Safety
/// `name` is a string, `call` holds the arguments of the running call, with a receiver.
#[cold]
unsafe fn replaced(
    py: Python<'_>,
    body: &dyn EntryBody,
    name: *mut PyObject,
    call: &CallArgs,
) -> PyResult<*mut PyObject> {
    // SAFETY: by contract.
    unsafe {
        if !ffi::PyErr_Occurred().is_null() {
            ffi::PyErr_Clear();
        }
        let (receiver, name) = (Bound::from_borrowed_ptr(py, call.receiver), Bound::from_borrowed_ptr(py, name));
        let current = body.replaced(&receiver, name.cast::<PyString>()?)?;
        let result = capi::vectorcall(current.as_ptr(), call.args, call.nargs, call.kwnames);
        Bound::from_owned_ptr_or_err(py, result).map(Bound::into_ptr)
    }
}

/// Where the native stack is low: as plain Python would call it.
///
/// # Safety
/// As [`enter`].
#[cold]
unsafe fn far_down(py: Python<'_>, func: *mut PyObject, call: &CallArgs) -> PyResult<*mut PyObject> {
    if native_stack::is_used_up() {
        return Err(PyRecursionError::new_err("maximum recursion depth exceeded"));
    }
    // SAFETY: by contract.
    without_slot(py, || unsafe { call_original(py, func, call) })
}

/// # Safety
/// As [`enter`].
#[cold]
unsafe fn call_original(py: Python<'_>, func: *mut PyObject, call: &CallArgs) -> PyResult<*mut PyObject> {
    // SAFETY: the array holds the receiver, the positional and the keyword arguments.
    unsafe {
        let result = if call.receiver.is_null() {
            capi::vectorcall(func, call.args, call.nargs, call.kwnames)
        } else {
            let keywords = match call.kwnames.is_null() {
                true => 0,
                false => ffi::PyTuple_GET_SIZE(call.kwnames) as usize,
            };
            let mut all: SmallVec<[*mut PyObject; 8]> = SmallVec::new();
            all.push(call.receiver);
            all.extend((0..call.nargs + keywords).map(|index| *call.args.add(index)));
            capi::vectorcall(func, all.as_ptr(), call.nargs + 1, call.kwnames)
        };
        Bound::from_owned_ptr_or_err(py, result).map(Bound::into_ptr)
    }
}
