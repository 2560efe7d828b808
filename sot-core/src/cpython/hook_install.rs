//! Installing a hook, only while it is wanted.
//!
//! [`with_hook`] sets a thread's hook for the time of a closure, [`set_global`] until it is set again, [`without_hook`]
//! mutes it. The interpreter's evaluator slot is ours while any thread has a hook; whatever was in it before is chained to
//! and put back after. Inside [`with_hook`] and [`without_hook`] no hook of another copy of this crate sees a frame.

use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::copies::Ours;
use super::eval_slot;
use super::hook::FrameHook;
use super::hook_eval;
use super::hook_state::{claim, has_hook, release, set_armed, swap};

/// Makes the slot ours, whoever had it.
fn acquire(py: Python<'_>) -> PyResult<()> {
    let Some(current) = eval_slot::get(py) else {
        return Err(PyRuntimeError::new_err(
            "sot: this CPython 3.8 build keeps its eval-frame slot elsewhere; decorate functions with \
             sot.to_static instead of using the hook",
        ));
    };
    claim(py, current, hook_eval::evaluator());
    Ok(())
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
        set_armed(self.armed && has_hook());
    }
}

/// Runs `f` with `hook` active in this thread. Regions nest; the state before is restored exactly,
/// also on a panic.
pub fn with_hook<R>(py: Python<'_>, hook: Arc<dyn FrameHook>, f: impl FnOnce() -> R) -> PyResult<R> {
    acquire(py)?;
    let _ours = Ours::begin();
    let _restore = Restore { py, hook: Some(swap(Some(hook))), armed: set_armed(true) };
    Ok(f())
}

/// Runs `f` with this thread's hook muted.
pub fn without_hook<R>(py: Python<'_>, f: impl FnOnce() -> R) -> R {
    let _ours = Ours::begin();
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
    set_armed(on);
    Ok(before)
}
