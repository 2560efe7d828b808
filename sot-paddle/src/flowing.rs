//! Functions of Paddle that stop the gradients of what they are given.
//!
//! Shapes, axes and limits that are tensors get `stop_gradient` from the function that takes them, in eager as in a program, and the
//! caller can see it afterwards. A program keeps nothing of that, so a call that stops anything is left to eager.

use crate::handles::Handles;
use crate::inspect;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::intern;
use pyo3::prelude::*;
use sot_core::backend::OpCall;

/// Run a call, and refuse it if it stops the gradients of an argument, which are as before then.
pub(crate) fn kept<'py>(
    handles: &Handles,
    op: &OpCall<'_, 'py>,
    run: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let flag = intern!(op.args.py(), "stop_gradient");
    let mut flowing = Vec::new();
    inspect::values_in(handles, op.args, &mut flowing);
    if let Some(kwargs) = op.kwargs {
        inspect::values_in(handles, kwargs, &mut flowing);
    }
    let stops = |value: &Bound<'py, PyAny>| value.getattr(flag).and_then(|stops| stops.is_truthy());
    flowing.retain(|value| matches!(stops(value), Ok(false)));
    let result = run();
    let mut stopped = false;
    for value in &flowing {
        if stops(value)? {
            value.setattr(flag, false)?;
            stopped = true;
        }
    }
    match (result, stopped) {
        (Ok(_), true) => Err(PyNotImplementedError::new_err("it stops the gradients of what it is given")),
        (result, _) => result,
    }
}
