//! The interpreter's eval-frame slot: reading it, writing it, and the default evaluator.

use std::ffi::c_int;

use pyo3::ffi::PyObject;
use pyo3::prelude::*;

use super::capi::{self, EvalFunc};
use super::layout::{Frame, ThreadState};
use super::thread;

/// Whether two evaluators are the same function.
pub(super) fn same(a: EvalFunc, b: EvalFunc) -> bool {
    a as usize == b as usize
}

pub(super) fn default_evaluator() -> EvalFunc {
    capi::_PyEval_EvalFrameDefault
}

/// The installed evaluator; `None` where the slot cannot be found (3.8 with an unknown layout).
#[cfg(Py_3_9)]
pub(super) fn get(py: Python<'_>) -> Option<EvalFunc> {
    // SAFETY: the current interpreter is alive.
    unsafe {
        let interp = (*thread::current(py)).interp;
        Some(capi::_PyInterpreterState_GetEvalFrameFunc(interp))
    }
}

/// Installs an evaluator.
#[cfg(Py_3_9)]
pub(super) fn set(py: Python<'_>, function: EvalFunc) {
    // SAFETY: the current interpreter is alive; the function has the signature of the slot.
    unsafe {
        let interp = (*thread::current(py)).interp;
        capi::_PyInterpreterState_SetEvalFrameFunc(interp, function);
    }
}

/// 3.8 has no accessor: the slot is where the header says, if that word is the default evaluator or at least the
/// address of some code (another tool's); else it is the one word that is the default evaluator.
#[cfg(not(Py_3_9))]
fn slot(py: Python<'_>) -> Option<*mut EvalFunc> {
    use std::sync::OnceLock;

    use super::layout::EVAL_FRAME_OFFSET;

    static OFFSET: OnceLock<Option<usize>> = OnceLock::new();
    // SAFETY: the interpreter state is larger than the words that are looked at.
    unsafe {
        let interp = (*thread::current(py)).interp.cast::<u8>();
        let wanted = default_evaluator() as usize;
        let offset = OFFSET.get_or_init(|| {
            let holds = |offset: &usize| *interp.add(*offset).cast::<usize>() == wanted;
            let word = *interp.add(EVAL_FRAME_OFFSET).cast::<*const std::ffi::c_void>();
            if holds(&EVAL_FRAME_OFFSET) || super::symbols::is_in_a_library(word) {
                return Some(EVAL_FRAME_OFFSET);
            }
            let mut found = (0..1024).step_by(size_of::<usize>()).filter(holds);
            let first = found.next();
            first.filter(|_| found.next().is_none())
        });
        offset.map(|offset| interp.add(offset).cast::<EvalFunc>())
    }
}

/// The installed evaluator; `None` where the slot cannot be found (3.8 with an unknown layout).
#[cfg(not(Py_3_9))]
pub(super) fn get(py: Python<'_>) -> Option<EvalFunc> {
    // SAFETY: the slot holds a function pointer.
    slot(py).map(|slot| unsafe { *slot })
}

/// Installs an evaluator.
#[cfg(not(Py_3_9))]
pub(super) fn set(py: Python<'_>, function: EvalFunc) {
    if let Some(slot) = slot(py) {
        // SAFETY: the slot holds a function pointer of this signature.
        unsafe { *slot = function };
    }
}

/// Runs an evaluator.
///
/// # Safety
/// As for the evaluator: `frame` is ready to run in the current thread.
#[inline]
pub(super) unsafe fn run(
    function: EvalFunc,
    tstate: *mut ThreadState,
    frame: *mut Frame,
    throwflag: c_int,
) -> *mut PyObject {
    // SAFETY: by contract.
    unsafe {
        #[cfg(Py_3_9)]
        return function(tstate, frame, throwflag);
        #[cfg(not(Py_3_9))]
        {
            let _ = tstate;
            function(frame, throwflag)
        }
    }
}
