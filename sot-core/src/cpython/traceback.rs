//! Adding and hiding traceback entries, with public API only (`types.TracebackType`).

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyTraceback};

/// Puts an entry for `code` at `lineno` in front of the traceback, as if the exception had just left a
/// frame of that code. `globals` are those that the entry's frame shows; `None`: empty ones.
pub fn add_traceback_entry(
    py: Python<'_>,
    err: &PyErr,
    code: &Bound<'_, PyCode>,
    globals: Option<&Bound<'_, PyDict>>,
    lineno: u32,
) -> PyResult<()> {
    let globals = globals.cloned().unwrap_or_else(|| PyDict::new(py));
    // SAFETY: the thread is attached; code and globals are of the right types. The frame is never run.
    let frame = unsafe {
        let frame =
            ffi::PyFrame_New(ffi::PyThreadState_Get(), code.as_ptr().cast(), globals.as_ptr(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(py, frame.cast())?
    };
    let rest = err.traceback(py);
    let entry = py.get_type::<PyTraceback>().call1((rest, frame, -1, lineno.max(1)))?;
    err.set_traceback(py, Some(entry.cast_into::<PyTraceback>()?));
    Ok(())
}

/// Hides the `count` outermost entries of the traceback, or all of fewer.
pub fn drop_traceback_head(py: Python<'_>, err: &PyErr, count: usize) -> PyResult<()> {
    let mut entry = err.traceback(py).map(Bound::into_any);
    for _ in 0..count {
        let Some(outer) = entry.take() else { break };
        let next = outer.getattr("tb_next")?;
        entry = (!next.is_none()).then_some(next);
    }
    let entry = entry.map(|entry| entry.cast_into::<PyTraceback>()).transpose()?;
    err.set_traceback(py, entry);
    Ok(())
}
