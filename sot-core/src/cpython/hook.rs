//! The PEP 523 hook, installed only while it is wanted.
//!
//! Each thread has at most one active hook. [`with_hook`] sets it for the time of a closure,
//! [`set_global`] until it is set again, [`without_hook`] mutes it. The interpreter's evaluator slot is
//! ours while any thread has a hook; whatever was in it before is chained to and put back after.
//! A thread without a hook pays one thread-local read per frame.
//!
//! A callback is never called for: generator-like code, a frame resumed by `throw`, code that is not
//! optimised (modules, class bodies), frames of trace functions, and frames run by a callback. If it
//! panics or its replacement does not fit, the frame runs untouched and the failure is counted.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCode;

use super::capi::EvalFunc;
use super::eval_slot;
use super::frame::FrameView;
use super::hook_eval;

/// Links a replacement to the [`FrameHook::finish`] call that follows it.
pub type Token = u64;

/// Decides what each new frame runs.
pub trait FrameHook: Send + Sync + 'static {
    fn on_frame<'py>(&self, py: Python<'py>, frame: &FrameView<'_, 'py>) -> Decision;

    /// Called with the outcome of a replaced frame that had a token; returns the final outcome.
    fn finish<'py>(
        &self,
        py: Python<'py>,
        token: Token,
        result: PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = (py, token);
        result
    }

    /// Called instead of running a replacement that does not fit; the original frame runs next and
    /// `finish` is not called.
    fn refused(&self, py: Python<'_>, token: Option<Token>, why: Misfit) {
        let _ = (py, token, why);
    }

    /// The Python callable behind the hook, if there is one.
    fn python_callback(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let _ = py;
        None
    }
}

/// What a frame runs.
pub enum Decision {
    /// Its own code.
    Run { keep_hook: bool },
    /// Other code, with the same arguments and closure.
    Replace { code: Py<PyCode>, keep_hook: bool, token: Option<Token> },
}

/// Why a replacement cannot run in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// Another number of argument slots.
    Arguments,
    /// Other free variables.
    Closure,
    /// A generator, coroutine or non-optimised code object.
    Kind,
    /// CPython could not make the frame.
    Memory,
}

impl Misfit {
    pub fn describe(self) -> &'static str {
        match self {
            Misfit::Arguments => "it takes another number of arguments than the frame has",
            Misfit::Closure => "its free variables (co_freevars) differ from the frame's",
            Misfit::Kind => "it is a generator, a coroutine or not the code of a function",
            Misfit::Memory => "no frame could be made for it",
        }
    }
}

thread_local! {
    /// Whether a frame of this thread is to be shown to the hook: there is one and it is not muted.
    static ARMED: Cell<bool> = const { Cell::new(false) };
    static HOOK: ThreadHook = const { ThreadHook(RefCell::new(None)) };
}

/// A thread's hook. A thread that ends with one gives up its claim on the slot.
struct ThreadHook(RefCell<Option<Arc<dyn FrameHook>>>);

impl Drop for ThreadHook {
    fn drop(&mut self) {
        if self.0.get_mut().is_some() {
            WANTED.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Hooks that are set or saved, in all threads: while there is one, the slot is ours.
static WANTED: AtomicUsize = AtomicUsize::new(0);
/// The evaluator that was in the slot before ours; NULL: CPython's default.
static BELOW: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
/// An evaluator that took the slot from us while we wanted it, until we took it again: it may chain to us.
static OVER: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

#[inline]
pub(super) fn armed() -> bool {
    ARMED.get()
}

pub(super) fn set_armed(armed: bool) -> bool {
    ARMED.replace(armed)
}

/// Whether this thread has a hook, muted or not.
pub(super) fn has_hook() -> bool {
    HOOK.with(|hook| hook.0.borrow().is_some())
}

pub(super) fn active() -> Option<Arc<dyn FrameHook>> {
    HOOK.with(|hook| hook.0.borrow().clone())
}

fn load(place: &AtomicPtr<()>) -> Option<EvalFunc> {
    let function = place.load(Ordering::Relaxed);
    if function.is_null() {
        return None;
    }
    // SAFETY: only `acquire` writes other values than NULL, and those CPython handed out as evaluators.
    Some(unsafe { std::mem::transmute::<*mut (), EvalFunc>(function) })
}

/// Other tools' evaluators to chain to: the one that took the slot from us, the one before us.
#[inline]
pub(super) fn chain() -> (Option<EvalFunc>, Option<EvalFunc>) {
    (load(&OVER), load(&BELOW))
}

/// Makes the slot ours, whoever had it.
fn acquire(py: Python<'_>) -> PyResult<()> {
    let Some(current) = eval_slot::get(py) else {
        return Err(PyRuntimeError::new_err(
            "sot: this CPython 3.8 build keeps its eval-frame slot elsewhere; decorate functions with \
             sot.to_static instead of using the hook",
        ));
    };
    if !eval_slot::same(current, hook_eval::evaluator()) {
        let default = eval_slot::same(current, eval_slot::default_evaluator());
        let foreign = if default { std::ptr::null_mut() } else { current as *mut () };
        if unwanted() {
            BELOW.store(foreign, Ordering::Relaxed);
        } else if !default {
            OVER.store(foreign, Ordering::Relaxed);
        }
        eval_slot::set(py, hook_eval::evaluator());
    }
    WANTED.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// Gives the slot back when nobody wants it any more, unless someone else has taken it meanwhile.
fn release(py: Python<'_>) {
    if WANTED.fetch_sub(1, Ordering::Relaxed) == 1 {
        retire(py);
    }
}

/// Whether the slot is ours without anybody wanting it: the last thread that did has ended, or another
/// tool has put us back.
#[inline]
pub(super) fn unwanted() -> bool {
    WANTED.load(Ordering::Relaxed) == 0
}

/// Puts back what was in the slot before us.
#[cold]
pub(super) fn retire(py: Python<'_>) {
    let (over, below) = chain();
    let ours = |current| eval_slot::same(current, hook_eval::evaluator());
    if eval_slot::get(py).is_some_and(ours) {
        eval_slot::set(py, over.or(below).unwrap_or_else(eval_slot::default_evaluator));
    }
    OVER.store(std::ptr::null_mut(), Ordering::Relaxed);
}

/// Puts a thread's hook state back, also when unwinding.
struct Restore<'py> {
    py: Python<'py>,
    hook: Option<Option<Arc<dyn FrameHook>>>,
    armed: bool,
}

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        if let Some(hook) = self.hook.take()
            && swap(hook).is_some()
        {
            release(self.py);
        }
        ARMED.set(self.armed && has_hook());
    }
}

fn swap(hook: Option<Arc<dyn FrameHook>>) -> Option<Arc<dyn FrameHook>> {
    HOOK.with(|cell| cell.0.replace(hook))
}

/// Runs `f` with `hook` active in this thread. Regions nest; the state before is restored exactly,
/// also on a panic.
pub fn with_hook<R>(py: Python<'_>, hook: Arc<dyn FrameHook>, f: impl FnOnce() -> R) -> PyResult<R> {
    acquire(py)?;
    let _restore = Restore { py, hook: Some(swap(Some(hook))), armed: set_armed(true) };
    Ok(f())
}

/// Runs `f` with this thread's hook muted.
pub fn without_hook<R>(py: Python<'_>, f: impl FnOnce() -> R) -> R {
    let _restore = Restore { py, hook: None, armed: set_armed(false) };
    f()
}

/// Sets this thread's hook until it is set again, and returns the one before. Inside [`with_hook`] it
/// lasts until the end of that region.
pub fn set_global(py: Python<'_>, hook: Option<Arc<dyn FrameHook>>) -> PyResult<Option<Arc<dyn FrameHook>>> {
    let on = hook.is_some();
    if on {
        acquire(py)?;
    }
    let before = swap(hook);
    if before.is_some() {
        release(py);
    }
    ARMED.set(on);
    Ok(before)
}
