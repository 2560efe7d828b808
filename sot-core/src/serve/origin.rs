//! Who runs where nothing captured does: the frame as it was, from its start.

use super::continuation::Pending;
use crate::cpython::signature::Signature;
use crate::cpython::{FrameHook, Slots, call_slots, facts, hook_is_armed, with_hook};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::*;
use std::cell::Cell;
use std::sync::Arc;

/// Who must run if the graph fails, or if nothing was captured.
pub(super) enum Origin<'a, 'py> {
    Function { function: &'a Bound<'py, PyAny>, slots: Slots<'a> },
    Continuation(Pending),
}

impl<'py> Origin<'_, 'py> {
    /// As plain Python; frames below may be captured.
    pub(super) fn run_original(
        self,
        py: Python<'py>,
        hook: &Arc<impl FrameHook + 'static>,
        calls_out: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let run = || match self {
            Origin::Function { function, slots } => call_original(py, function, slots),
            Origin::Continuation(pending) => pending.continuation.run_eager(py, pending.values),
        };
        if calls_out { hooked(py, hook, run) } else { run() }
    }
}

pub(super) fn hooked<'py>(
    py: Python<'py>,
    hook: &Arc<impl FrameHook + 'static>,
    run: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    with_hook(py, hook.clone(), run)?
}

thread_local! {
    /// The address of code whose next frame is not captured. An address alone: it is asked for before anything else can be.
    static PLAINLY: Cell<usize> = const { Cell::new(0) };
}

/// It counts for one call.
struct Plainly(usize);

impl Plainly {
    fn next(code: usize) -> Plainly {
        PLAINLY.set(code);
        Plainly(code)
    }
}

impl Drop for Plainly {
    fn drop(&mut self) {
        // No frame may have come to the hook.
        if PLAINLY.get() == self.0 {
            PLAINLY.set(0);
        }
    }
}

/// Whether this frame of the code is that of a call of the original.
pub(super) fn is_to_run_plainly(code: &Bound<'_, PyCode>) -> bool {
    PLAINLY.get() == code.as_ptr() as usize && PLAINLY.replace(0) != 0
}

/// Call a function with its argument slots as its signature wants them, and run its frame as plain Python. Frames below it are shown
/// to the hook.
pub fn call_original<'py>(
    py: Python<'py>,
    function: &Bound<'py, PyAny>,
    slots: Slots<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let code = facts::func_parts(function).map(|parts| parts.code.to_owned());
    let code = code.ok_or_else(|| PyTypeError::new_err("sot: an entry holds something that is no function"))?;
    let _plainly = hook_is_armed().then(|| Plainly::next(code.as_ptr() as usize));
    let Signature { positional: argcount, kwonly, varargs, varkw, .. } =
        Signature::of(&code).ok_or_else(|| PyTypeError::new_err("sot: a function without code"))?;
    if kwonly == 0 && !varargs && !varkw {
        return call_slots(py, function, slots.range(0, argcount));
    }
    let mut positional: Vec<Bound<'py, PyAny>> =
        (0..argcount).filter_map(|i| slots.get(py, i).map(|v| v.to_owned())).collect();
    let mut next = argcount + kwonly;
    if varargs {
        if let Some(extra) = slots.get(py, next) {
            positional.extend(extra.cast::<PyTuple>()?.iter());
        }
        next += 1;
    }
    let names = code.getattr("co_varnames")?;
    let kwargs = PyDict::new(py);
    for i in argcount..argcount + kwonly {
        if let Some(value) = slots.get(py, i) {
            kwargs.set_item(names.get_item(i)?, value)?;
        }
    }
    if varkw && let Some(extra) = slots.get(py, next) {
        kwargs.update(extra.cast::<PyDict>()?.as_mapping())?;
    }
    function.call(PyTuple::new(py, positional)?, Some(&kwargs))
}
