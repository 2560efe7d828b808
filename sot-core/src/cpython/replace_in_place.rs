//! 3.11 to 3.13: swap the code of a frame that has not started, and run the same frame.
//!
//! The frame stays where it is, so CPython clears and pops it as always. If the new code needs a larger
//! frame, the data stack's top moves up; if the chunk has no room left, a function made of the code is
//! called instead and the untouched frame is disposed of the way its version expects.

use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyTuple};

use super::capi;
use super::eval_slot;
use super::frame::slots_of;
use super::hook::Misfit;
use super::hook_state;
use super::layout::{Code, Frame, INSTR_BEFORE_FIRST, ThreadState};
use super::signature::{CO_VARARGS, CO_VARKEYWORDS, Signature};

/// # Safety
/// As `replace::run`; the code fits.
pub(super) unsafe fn run(
    tstate: *mut ThreadState,
    frame: *mut Frame,
    code: *mut Code,
) -> Result<*mut PyObject, Misfit> {
    // SAFETY: by contract. The slots from the arguments on are free; sizes are in words and the frame
    // is the topmost of the data stack whenever it grows.
    unsafe {
        let old = (*frame).f_code;
        let (have, need) = ((*old).frame_size(), (*code).frame_size());
        if need > have {
            let words = frame.cast::<*mut PyObject>();
            let end = words.add(have);
            let room = ((*tstate).datastack_limit as usize).saturating_sub(end as usize) / size_of::<usize>();
            if (*tstate).datastack_top != end || room <= need - have {
                return call_function(tstate, frame, code);
            }
            (*tstate).datastack_top = words.add(need);
        }
        let slots = slots_of(frame);
        let total = (*code).co_nlocalsplus as usize;
        for index in Signature::of_raw(code).slots()..total {
            *slots.add(index) = std::ptr::null_mut();
        }
        (*frame).stacktop = total as _;
        let first: *mut u16 = (&raw mut (*code).co_code_adaptive).cast();
        (*frame).instr = first.wrapping_offset(-INSTR_BEFORE_FIRST);
        ffi::Py_INCREF(code.cast());
        (*frame).f_code = code;
        ffi::Py_DECREF(old.cast());
        let result = eval_slot::run(capi::_PyEval_EvalFrameDefault, tstate, frame, 0);
        empty(frame);
        Ok(result)
    }
}

/// 3.11: the caller clears a frame that has run, after whatever goes on in its place; its values end here. Those of a frame
/// that somebody holds as an object are that object's.
///
/// # Safety
/// `frame` has run to its end.
#[cfg(not(Py_3_12))]
unsafe fn empty(frame: *mut Frame) {
    // SAFETY: by contract; each slot is emptied before what it held can look at it. A pending exception is kept while
    // references are released.
    unsafe {
        let object: *mut PyObject = (*frame).frame_obj.cast();
        // One that the frame alone has ends with it.
        if !object.is_null() && ffi::Py_REFCNT(object) > 1 {
            return;
        }
        debug_assert!((*frame).stacktop >= 0, "the frame has ended");
        let (mut class, mut error, mut traceback) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        ffi::PyErr_Fetch(&raw mut class, &raw mut error, &raw mut traceback);
        let slots = slots_of(frame);
        for index in 0..usize::try_from((*frame).stacktop).unwrap_or(0) {
            ffi::Py_XDECREF(slots.add(index).replace(std::ptr::null_mut()));
        }
        ffi::PyErr_Restore(class, error, traceback);
    }
}

/// From 3.12 on the evaluator has cleared and popped the frame.
#[cfg(Py_3_12)]
unsafe fn empty(_frame: *mut Frame) {}

/// Calls the code as a function of its own.
///
/// # Safety
/// As [`run`].
#[cold]
unsafe fn call_function(tstate: *mut ThreadState, frame: *mut Frame, code: *mut Code) -> Result<*mut PyObject, Misfit> {
    // SAFETY: by contract; the argument slots are bound.
    unsafe {
        let made = Python::try_attach(|py| function_of(py, frame, code).ok());
        let Some(Some(function)) = made else {
            ffi::PyErr_Clear();
            return Err(Misfit::Memory);
        };
        let raw = function.as_ptr();
        let inner = (*raw.cast::<ffi::PyFunctionObject>()).func_code;
        hook_state::pass_once(inner.cast());
        let count = Signature::of_raw(code).slots();
        let result = capi::vectorcall(raw, slots_of(frame), count, std::ptr::null_mut());
        hook_state::pass_once(std::ptr::null_mut());
        ffi::Py_DECREF(function.into_ptr());
        dispose(tstate, frame);
        Ok(result)
    }
}

/// A function that takes all argument slots as positional arguments.
///
/// # Safety
/// As [`run`].
unsafe fn function_of(py: Python<'_>, frame: *mut Frame, code: *mut Code) -> PyResult<Py<PyAny>> {
    // SAFETY: by contract.
    unsafe {
        let signature = Signature::of_raw(code);
        let mut plain = Bound::from_borrowed_ptr(py, code.cast::<PyObject>());
        if signature.slots() != signature.positional {
            let flags = (*code).co_flags & !(CO_VARARGS | CO_VARKEYWORDS);
            let changes = [
                ("co_argcount", signature.slots() as i64),
                ("co_posonlyargcount", 0),
                ("co_kwonlyargcount", 0),
                ("co_flags", i64::from(flags)),
            ]
            .into_py_dict(py)?;
            plain = plain.call_method("replace", PyTuple::empty(py), Some(&changes))?;
        }
        let function = ffi::PyFunction_New(plain.as_ptr(), (*frame).f_globals);
        let function = Bound::from_owned_ptr_or_err(py, function)?;
        let closure = (*(*frame).f_func.cast::<ffi::PyFunctionObject>()).func_closure;
        if !closure.is_null() && ffi::PyFunction_SetClosure(function.as_ptr(), closure) != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(function.unbind())
    }
}

/// 3.11: the caller clears a frame that did not run.
#[cfg(not(Py_3_12))]
unsafe fn dispose(_tstate: *mut ThreadState, _frame: *mut Frame) {}

/// 3.12 and later: the evaluator would have cleared and popped the frame, so it is done here.
///
/// # Safety
/// `frame` is the topmost frame of the data stack, has not run and has no frame object.
#[cfg(Py_3_12)]
unsafe fn dispose(tstate: *mut ThreadState, frame: *mut Frame) {
    // SAFETY: by contract; a pending exception is kept while references are released.
    unsafe {
        let pending = ffi::PyErr_GetRaisedException();
        let slots = slots_of(frame);
        for index in 0..(*frame).stacktop as usize {
            ffi::Py_XDECREF(slots.add(index).replace(std::ptr::null_mut()));
        }
        ffi::Py_XDECREF((*frame).f_locals);
        ffi::Py_DECREF((*frame).f_func);
        ffi::Py_DECREF((*frame).f_code.cast());
        let chunk = (*tstate).datastack_chunk;
        if frame.cast() == (&raw mut (*chunk).data).cast::<*mut PyObject>() {
            // The frame is the first of its chunk: return the chunk too.
            let previous = (*chunk).previous;
            let words = (&raw mut (*previous).data).cast::<*mut PyObject>();
            (*tstate).datastack_top = words.add((*previous).top);
            (*tstate).datastack_chunk = previous;
            (*tstate).datastack_limit = previous.cast::<u8>().add((*previous).size).cast();
            let mut arena = std::mem::MaybeUninit::<ffi::PyObjectArenaAllocator>::uninit();
            ffi::PyObject_GetArenaAllocator(arena.as_mut_ptr());
            let arena = arena.assume_init();
            if let Some(free) = arena.free {
                free(arena.ctx, chunk.cast(), (*chunk).size);
            }
        } else {
            (*tstate).datastack_top = frame.cast();
        }
        ffi::PyErr_SetRaisedException(pending);
    }
}
