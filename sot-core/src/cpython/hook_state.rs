//! Which hook this thread has, whether it is muted, and which other tools' evaluators stand around ours.
//!
//! Each thread has at most one active hook; one without pays one thread-local read per frame.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use pyo3::prelude::*;

use super::capi::EvalFunc;
use super::eval_slot;
use super::hook::FrameHook;
#[cfg(Py_3_11)]
use super::layout::Code;

thread_local! {
    /// Code whose next frame is a replacement already.
    #[cfg(Py_3_11)]
    static PASS_ONCE: Cell<*mut Code> = const { Cell::new(std::ptr::null_mut()) };
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
/// Our evaluator, once it was in the slot.
static OURS: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
/// The evaluator that was in the slot before ours; NULL: CPython's default.
static BELOW: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
/// An evaluator that took the slot from us while we wanted it, until we took it again: it may chain to us.
static OVER: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

#[inline]
/// Whether a frame of this thread is to be shown to the hook.
pub fn armed() -> bool {
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
    // SAFETY: only `claim` writes other values than NULL, and those CPython handed out as evaluators.
    Some(unsafe { std::mem::transmute::<*mut (), EvalFunc>(function) })
}

/// Other tools' evaluators to chain to: the one that took the slot from us, the one before us.
#[inline]
pub(super) fn chain() -> (Option<EvalFunc>, Option<EvalFunc>) {
    (load(&OVER), load(&BELOW))
}

/// Makes the slot ours, for one hook more. `current` is what it holds.
pub(super) fn claim(py: Python<'_>, current: EvalFunc, ours: EvalFunc) {
    if !eval_slot::same(current, ours) {
        let default = eval_slot::same(current, eval_slot::default_evaluator());
        let foreign = if default { std::ptr::null_mut() } else { current as *mut () };
        if unwanted() {
            BELOW.store(foreign, Ordering::Relaxed);
        } else if !default {
            OVER.store(foreign, Ordering::Relaxed);
        }
        OURS.store(ours as *mut (), Ordering::Relaxed);
        eval_slot::set(py, ours);
    }
    WANTED.fetch_add(1, Ordering::Relaxed);
}

/// Gives the slot back when nobody wants it any more, unless someone else has taken it meanwhile.
pub(super) fn release(py: Python<'_>) {
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
    let is_ours = |current| load(&OURS).is_some_and(|ours| eval_slot::same(current, ours));
    if eval_slot::get(py).is_some_and(is_ours) {
        eval_slot::set(py, before_ours());
    }
    OVER.store(std::ptr::null_mut(), Ordering::Relaxed);
}

/// What was in the slot before us, and stands there again until this goes.
struct Lent<'py> {
    py: Python<'py>,
    was_ours: bool,
    armed: bool,
}

impl<'py> Lent<'py> {
    fn begin(py: Python<'py>) -> Lent<'py> {
        let is_ours = |current| load(&OURS).is_some_and(|ours| eval_slot::same(current, ours));
        let was_ours = eval_slot::get(py).is_some_and(is_ours);
        if was_ours {
            eval_slot::set(py, before_ours());
        }
        Lent { py, was_ours, armed: set_armed(false) }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // Another tool may have taken the slot meanwhile.
        let is_as_left = || eval_slot::get(self.py).is_some_and(|current| eval_slot::same(current, before_ours()));
        if self.was_ours
            && !unwanted()
            && is_as_left()
            && let Some(ours) = load(&OURS)
        {
            eval_slot::set(self.py, ours);
        }
        set_armed(self.armed && has_hook());
    }
}

fn before_ours() -> EvalFunc {
    let (over, below) = chain();
    over.or(below).unwrap_or_else(eval_slot::default_evaluator)
}

/// Runs `f` as if there were no hook at all: from 3.11 on Python calls Python without a call of C only then. Other threads' frames
/// are not seen meanwhile.
#[cold]
pub(super) fn without_slot<R>(py: Python<'_>, f: impl FnOnce() -> R) -> R {
    let _lent = Lent::begin(py);
    f()
}

/// Gives this thread another hook, and returns the one before.
pub(super) fn swap(hook: Option<Arc<dyn FrameHook>>) -> Option<Arc<dyn FrameHook>> {
    HOOK.with(|cell| cell.0.replace(hook))
}

/// Lets the next frame of this code run as it is. NULL: no frame.
#[cfg(Py_3_11)]
pub(super) fn pass_once(code: *mut Code) {
    PASS_ONCE.set(code);
}

/// Whether a frame of this code is to run as it is, which is so once.
#[cfg(Py_3_11)]
pub(super) fn is_passed(code: *mut Code) -> bool {
    let passed = PASS_ONCE.get() == code;
    if passed {
        PASS_ONCE.set(std::ptr::null_mut());
    }
    passed
}
