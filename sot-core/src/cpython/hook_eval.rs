//! The evaluator that stands in CPython's slot while a hook is wanted.
//!
//! The first test is the cheap one: no hook in this thread means the previous evaluator, at once. The
//! rest is split so that what stays on the C stack while Python runs is small.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::Arc;

use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;

use super::capi::{self, EvalFunc};
use super::copies::{self, Ours};
use super::eval_slot;
use super::frame::FrameView;
use super::hook::{Decision, FrameHook, Misfit, Token};
use super::hook_state;
use super::layout::{Frame, ThreadState};
use super::native_stack;
use super::replace;
use super::signature::{CO_GENERATOR_LIKE, CO_NEWLOCALS, CO_OPTIMIZED};
use super::thread;
use super::trampoline::{note_failure, trampoline};

thread_local! {
    /// The frames being passed to the evaluators of `hook_state::chain`: if one calls back, the next one runs.
    static PASSED_OVER: Cell<*mut Frame> = const { Cell::new(std::ptr::null_mut()) };
    static PASSED_BELOW: Cell<*mut Frame> = const { Cell::new(std::ptr::null_mut()) };
}

/// The function for the slot.
pub(super) fn evaluator() -> EvalFunc {
    evaluate
}

#[cfg(Py_3_9)]
unsafe extern "C" fn evaluate(tstate: *mut ThreadState, frame: *mut Frame, throwflag: c_int) -> *mut PyObject {
    // SAFETY: called by CPython to run `frame`.
    unsafe {
        if native_stack::is_low(tstate) {
            return far_down(tstate, frame, throwflag);
        }
        if !hook_state::armed() || throwflag != 0 {
            if hook_state::unwanted() {
                hook_state::retire(Python::assume_attached());
            }
            return pass(tstate, frame, throwflag);
        }
        intercept(tstate, frame)
    }
}

#[cfg(not(Py_3_9))]
unsafe extern "C" fn evaluate(frame: *mut Frame, throwflag: c_int) -> *mut PyObject {
    // SAFETY: called by CPython to run `frame`.
    unsafe {
        if native_stack::is_low(capi::PyThreadState_Get()) {
            return far_down(std::ptr::null_mut(), frame, throwflag);
        }
        if !hook_state::armed() || throwflag != 0 {
            if hook_state::unwanted() {
                hook_state::retire(Python::assume_attached());
            }
            return pass(std::ptr::null_mut(), frame, throwflag);
        }
        intercept(capi::PyThreadState_Get(), frame)
    }
}

/// Runs a frame as if there were no hook.
///
/// # Safety
/// `frame` is ready to run in the current thread.
#[inline]
unsafe fn pass(tstate: *mut ThreadState, frame: *mut Frame, throwflag: c_int) -> *mut PyObject {
    // SAFETY: by contract.
    unsafe {
        match hook_state::chain() {
            (None, None) => eval_slot::run(capi::_PyEval_EvalFrameDefault, tstate, frame, throwflag),
            (over, below) => pass_on(over, below, tstate, frame, throwflag),
        }
    }
}

/// Runs a frame as plain Python would, where the native stack is low.
///
/// # Safety
/// As [`pass`].
#[cold]
#[inline(never)]
unsafe fn far_down(tstate: *mut ThreadState, frame: *mut Frame, throwflag: c_int) -> *mut PyObject {
    // SAFETY: by contract; CPython evaluates frames with the thread attached.
    unsafe { hook_state::without_slot(Python::assume_attached(), || pass(tstate, frame, throwflag)) }
}

/// Runs a frame through other tools' evaluators, each once.
///
/// # Safety
/// As [`pass`].
#[cold]
unsafe fn pass_on(
    over: Option<EvalFunc>,
    below: Option<EvalFunc>,
    tstate: *mut ThreadState,
    frame: *mut Frame,
    throwflag: c_int,
) -> *mut PyObject {
    for (tool, passed) in [(over, &PASSED_OVER), (below, &PASSED_BELOW)] {
        if let Some(tool) = tool
            && passed.get() != frame
        {
            let outer = passed.replace(frame);
            // SAFETY: by contract.
            let result = unsafe { eval_slot::run(tool, tstate, frame, throwflag) };
            passed.set(outer);
            return result;
        }
    }
    // SAFETY: by contract.
    unsafe { eval_slot::run(capi::_PyEval_EvalFrameDefault, tstate, frame, throwflag) }
}

/// Whether another tool passes this very frame back to us.
fn passed_back(frame: *mut Frame) -> bool {
    let (over, below) = hook_state::chain();
    over.is_some() && PASSED_OVER.get() == frame || below.is_some() && PASSED_BELOW.get() == frame
}

/// Whether the hook may see, and replace, this frame.
///
/// # Safety
/// `frame` is about to run in the current thread, whose state is `tstate`.
#[inline]
unsafe fn eligible(tstate: *mut ThreadState, frame: *mut Frame) -> bool {
    // SAFETY: by contract.
    unsafe {
        let code = (*frame).f_code;
        let flags = (*code).co_flags;
        #[cfg(Py_3_11)]
        let plain = (*frame).owner == 0;
        #[cfg(not(Py_3_11))]
        let plain = (*frame).f_gen.is_null() && (*frame).f_lasti == -1;
        if flags & (CO_OPTIMIZED | CO_NEWLOCALS) != CO_OPTIMIZED | CO_NEWLOCALS
            || flags & CO_GENERATOR_LIKE != 0
            || !plain
            || thread::inside_trace_function(tstate)
            || thread::overflowed(tstate)
        {
            return false;
        }
        #[cfg(Py_3_11)]
        if hook_state::is_passed(code) {
            return false;
        }
        true
    }
}

/// A decision made, with what is needed to carry it out.
enum Verdict {
    Run { keep_hook: bool },
    Replace(Replacement),
}

struct Replacement {
    code: *mut PyObject,
    keep_hook: bool,
    token: Option<Token>,
    hook: Arc<dyn FrameHook>,
}

/// # Safety
/// As [`eligible`].
#[inline(never)]
unsafe fn intercept(tstate: *mut ThreadState, frame: *mut Frame) -> *mut PyObject {
    // SAFETY: by contract.
    unsafe {
        if copies::others_frames() || passed_back(frame) || !eligible(tstate, frame) {
            return pass(tstate, frame, 0);
        }
        match decide(frame) {
            Verdict::Run { keep_hook: true } => pass(tstate, frame, 0),
            Verdict::Run { keep_hook: false } => {
                hook_state::set_armed(false);
                let result = pass(tstate, frame, 0);
                hook_state::set_armed(hook_state::has_hook());
                result
            }
            Verdict::Replace(replacement) => run_replacement(tstate, frame, replacement),
        }
    }
}

/// Asks the hook, muted meanwhile.
///
/// # Safety
/// As [`eligible`].
#[inline(never)]
unsafe fn decide(frame: *mut Frame) -> Verdict {
    let Some(active) = hook_state::active() else {
        return Verdict::Run { keep_hook: true };
    };
    hook_state::set_armed(false);
    let verdict = Python::try_attach(|py| {
        let ask = || {
            // SAFETY: by contract; the view ends before the frame runs.
            let view = unsafe { FrameView::new(py, frame) };
            let _ours = Ours::begin();
            active.on_frame(py, &view)
        };
        let decision = thread::absorbing_recursion(py, || trampoline(ask));
        // SAFETY: the thread is attached. What a callback leaves behind is not the frame's exception.
        unsafe {
            if !ffi::PyErr_Occurred().is_null() {
                ffi::PyErr_Clear();
            }
        }
        match decision {
            Ok(Decision::Replace { code, keep_hook, token }) => {
                Verdict::Replace(Replacement { code: code.into_ptr(), keep_hook, token, hook: Arc::clone(&active) })
            }
            Ok(Decision::Run { keep_hook }) => Verdict::Run { keep_hook },
            Err(_) => Verdict::Run { keep_hook: true },
        }
    });
    hook_state::set_armed(hook_state::has_hook());
    verdict.unwrap_or(Verdict::Run { keep_hook: true })
}

/// # Safety
/// As [`eligible`].
unsafe fn run_replacement(tstate: *mut ThreadState, frame: *mut Frame, replacement: Replacement) -> *mut PyObject {
    // SAFETY: by contract; the code's reference was taken over from the decision.
    unsafe {
        hook_state::set_armed(replacement.keep_hook && hook_state::has_hook());
        let outcome = replace::run(tstate, frame, replacement.code.cast());
        ffi::Py_DECREF(replacement.code);
        let result = match outcome {
            Ok(result) => match replacement.token {
                Some(token) => finish(&*replacement.hook, token, result),
                None => result,
            },
            Err(why) => {
                refuse(&*replacement.hook, replacement.token, why);
                hook_state::set_armed(replacement.keep_hook && hook_state::has_hook());
                pass(tstate, frame, 0)
            }
        };
        hook_state::set_armed(hook_state::has_hook());
        drop_hook(replacement.hook);
        result
    }
}

/// Drops a hook with the pending exception kept; it may be the last owner of Python objects.
fn drop_hook(hook: Arc<dyn FrameHook>) {
    if Arc::strong_count(&hook) == 1 {
        // SAFETY: called for frames that CPython evaluates.
        unsafe { super::gc::drop_attached(Some(Box::new(hook)), |_| ()) };
    }
}

#[cold]
fn refuse(active: &dyn FrameHook, token: Option<Token>, why: Misfit) {
    note_failure();
    hook_state::set_armed(false);
    Python::try_attach(|py| {
        drop(PyErr::take(py));
        let _ = trampoline(|| active.refused(py, token, why));
        drop(PyErr::take(py));
    });
}

/// # Safety
/// `result` is a new reference, or NULL with an exception set.
#[inline(never)]
unsafe fn finish(active: &dyn FrameHook, token: Token, result: *mut PyObject) -> *mut PyObject {
    hook_state::set_armed(false);
    let finished = Python::try_attach(|py| {
        // SAFETY: by contract.
        let result = unsafe { Bound::from_owned_ptr_or_err(py, result) };
        let outcome = trampoline(|| active.finish(py, token, result))
            .unwrap_or_else(|panic| Err(panic.into_error(py, "the end of a replaced frame")));
        match outcome {
            Ok(value) => value.into_ptr(),
            Err(error) => {
                error.restore(py);
                std::ptr::null_mut()
            }
        }
    });
    finished.unwrap_or(result)
}
