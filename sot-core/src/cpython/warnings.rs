//! Warnings of our own.
//!
//! Where warnings are errors, the program must not raise what it would not raise without us: the error is written to standard
//! error then, as those of finalizers are.

use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use std::ffi::CString;

/// Warns, for the line that runs. `about`: what the error is about, if it is written.
pub fn warn(py: Python<'_>, text: &str, about: Option<&Bound<'_, PyAny>>) {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    if let Err(error) = PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1) {
        error.write_unraisable(py, about);
    }
}
