//! Running other code in place of a frame's own: what must agree, and which way is taken.
//!
//! 3.8 to 3.10: a shadow frame (`replace_shadow`). 3.11 to 3.13: the code is swapped in the same frame
//! (`replace_in_place`). Either way the replacement sees the same arguments, cells of the closure,
//! globals and caller, and tracebacks and trace functions see the replacement.

use std::ffi::c_int;

use pyo3::ffi::{self, PyObject};

use super::hook::Misfit;
use super::layout::{Code, Frame, ThreadState};
#[cfg(Py_3_11)]
use super::replace_in_place as way;
#[cfg(not(Py_3_11))]
use super::replace_shadow as way;
use super::signature::{CO_GENERATOR_LIKE, CO_NEWLOCALS, CO_OPTIMIZED, Signature};

/// Runs `code` in place of the frame's own code. On an error nothing has happened yet.
///
/// # Safety
/// `frame` passed the hook's eligibility test and has not started; `code` is a code object that the
/// caller keeps alive.
pub(super) unsafe fn run(
    tstate: *mut ThreadState,
    frame: *mut Frame,
    code: *mut Code,
) -> Result<*mut PyObject, Misfit> {
    // SAFETY: by contract.
    unsafe {
        fits((*frame).f_code, code)?;
        way::run(tstate, frame, code)
    }
}

/// # Safety
/// Both are code objects.
unsafe fn fits(old: *mut Code, new: *mut Code) -> Result<(), Misfit> {
    const FUNCTION: c_int = CO_OPTIMIZED | CO_NEWLOCALS;
    // SAFETY: by contract.
    unsafe {
        let flags = (*new).co_flags;
        if flags & FUNCTION != FUNCTION || flags & CO_GENERATOR_LIKE != 0 {
            return Err(Misfit::Kind);
        }
        if Signature::of_raw(old).slots() != Signature::of_raw(new).slots() {
            return Err(Misfit::Arguments);
        }
        let (old_names, old_from) = free_names(old);
        let (new_names, new_from) = free_names(new);
        let count = ffi::PyTuple_GET_SIZE(old_names) - old_from;
        if ffi::PyTuple_GET_SIZE(new_names) - new_from != count {
            return Err(Misfit::Closure);
        }
        for index in 0..count {
            let a = ffi::PyTuple_GET_ITEM(old_names, old_from + index);
            let b = ffi::PyTuple_GET_ITEM(new_names, new_from + index);
            if a != b && ffi::PyUnicode_Compare(a, b) != 0 {
                return Err(Misfit::Closure);
            }
        }
        Ok(())
    }
}

/// The tuple that ends with the names of the free variables, and where they start.
///
/// # Safety
/// `code` is a code object.
unsafe fn free_names(code: *mut Code) -> (*mut PyObject, ffi::Py_ssize_t) {
    // SAFETY: by contract.
    unsafe {
        #[cfg(Py_3_11)]
        {
            let names = (*code).co_localsplusnames;
            let free = (*code).co_nfreevars as ffi::Py_ssize_t;
            (names, ffi::PyTuple_GET_SIZE(names) - free)
        }
        #[cfg(not(Py_3_11))]
        {
            ((*code).co_freevars, 0)
        }
    }
}
