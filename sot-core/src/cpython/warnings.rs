//! Warnings of our own, and those that C gives while something is tried.
//!
//! Where warnings are errors, the program must not raise what it would not raise without us: the error is written to standard
//! error then, as those of finalizers are.

use super::module;
use pyo3::exceptions::{PyRuntimeWarning, PyWarning};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyList, PyModule, PyString};
use std::ffi::CString;

/// Warns, for the line that runs. `about`: what the error is about, if it is written.
pub fn warn(py: Python<'_>, text: &str, about: Option<&Bound<'_, PyAny>>) {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    if let Err(error) = PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1) {
        error.write_unraisable(py, about);
    }
}

/// Tries what C does: where it would warn it fails instead, with the warning as the error, and nobody hears of it.
///
/// For this long the first of the program's filters makes errors of warnings. So nothing of the program may run meanwhile, in no thread:
/// this is for C functions that compute.
pub fn as_errors<T>(py: Python<'_>, tried: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let Some(filters) = filters(py) else { return tried() };
    let error = error_filter(py)?;
    let globals = globals(py);
    let registry = intern!(py, "__warningregistry__");
    let has_registry = globals.as_ref().is_none_or(|globals| globals.contains(registry).unwrap_or(true));
    filters.insert(0, error)?;
    let result = tried();
    if filters.get_item(0).is_ok_and(|first| first.is(error)) {
        filters.del_item(0)?;
    }
    let warned = result.as_ref().err().is_some_and(|error| error.is_instance_of::<PyWarning>(py));
    if let (true, false, Some(globals)) = (warned, has_registry, globals) {
        // C has made it for the line that runs, which did not warn.
        globals.del_item(registry)?;
    }
    result
}

/// Whether C never warns of operations on such values alone.
pub fn never_warns_of(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_none()
        || (value.is_exact_instance_of::<PyString>() || value.is_exact_instance_of::<PyBytes>())
            && !warns_of_bytes(value.py())
}

/// Whether the interpreter warns where bytes are taken for text (`-b`).
fn warns_of_bytes(py: Python<'_>) -> bool {
    static ASKED: PyOnceLock<bool> = PyOnceLock::new();
    let ask = || module(py, "sys").and_then(|sys| sys.getattr("flags")?.getattr("bytes_warning")?.is_truthy());
    *ASKED.get_or_init(py, || ask().unwrap_or(true))
}

/// The list that C asks: that of the module, as the program has left it.
pub(crate) fn filters(py: Python<'_>) -> Option<Bound<'_, PyList>> {
    // SAFETY: borrowed from the interpreter, for as long as it is held.
    let modules = unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyImport_GetModuleDict()) };
    let modules = modules?.cast_into::<PyDict>().ok()?;
    let of_module = modules.get_item(intern!(py, "warnings")).ok()?.filter(|m| m.is_instance_of::<PyModule>());
    let owner = match of_module {
        Some(warnings) => warnings,
        None => module(py, "_warnings").ok()?.into_any(),
    };
    super::facts::module_dict(&owner)?.get_item(intern!(py, "filters")).ok()??.cast_into::<PyList>().ok()
}

fn error_filter(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static FILTER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || {
        let filter = ("error", py.None(), py.get_type::<PyWarning>(), py.None(), 0).into_pyobject(py)?;
        Ok::<_, PyErr>(filter.into_any().unbind())
    };
    Ok(FILTER.get_or_try_init(py, make)?.bind(py))
}

/// The globals of the frame that runs.
fn globals(py: Python<'_>) -> Option<Bound<'_, PyDict>> {
    // SAFETY: borrowed from the frame, or NULL.
    let globals = unsafe { ffi::PyEval_GetGlobals() };
    // SAFETY: as above; it is held from here on.
    let globals = unsafe { Bound::from_borrowed_ptr_or_opt(py, globals) };
    globals?.cast_into::<PyDict>().ok()
}
