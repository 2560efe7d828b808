//! Whose code a file is: what is never captured, and what is nobody's business when it breaks.

use crate::backend;
use crate::capture_all;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCode, PyDict, PyString};

// Python runs while it is made: a thread that waits for it must not hold the GIL.
static SKIP_PATHS: PyOnceLock<Vec<String>> = PyOnceLock::new();

fn skip_paths(py: Python<'_>) -> &'static [String] {
    SKIP_PATHS.get_or_init(py, || {
        let mut paths = paths_of_framework(py);
        if capture_all::on() {
            return capture_all::skip_paths(py, paths);
        }
        let sysconfig = crate::cpython::module(py, "sysconfig").and_then(|m| m.call_method0("get_paths"));
        if let Ok(found) = sysconfig {
            for key in ["stdlib", "platstdlib", "purelib", "platlib"] {
                if let Ok(path) = found.get_item(key).and_then(|p| p.extract::<String>()) {
                    paths.push(path);
                }
            }
        }
        paths.push("<frozen".to_owned());
        paths.push("<string>".to_owned());
        paths.push(crate::numpy::DISPATCHERS.to_owned());
        paths
    })
}

fn paths_of_framework(py: Python<'_>) -> Vec<String> {
    backend::registered().map(|b| b.skip_paths(py)).unwrap_or_default()
}

/// Whether a file is the framework's.
pub fn of_framework(py: Python<'_>, file: &str) -> bool {
    static PATHS: PyOnceLock<Vec<String>> = PyOnceLock::new();
    PATHS.get_or_init(py, || paths_of_framework(py)).iter().any(|path| file.starts_with(path.as_str()))
}

/// Whether a file is of the standard library. Not where the whole program is to be captured: then it is like any other.
pub fn is_standard_library(py: Python<'_>, file: &str) -> bool {
    !capture_all::on() && comes_with_python(py, file)
}

/// Whether a file comes with the interpreter.
pub fn comes_with_python(py: Python<'_>, file: &str) -> bool {
    static PATHS: PyOnceLock<Vec<String>> = PyOnceLock::new();
    let paths = PATHS.get_or_init(py, || {
        let sysconfig = crate::cpython::module(py, "sysconfig").and_then(|m| m.call_method0("get_paths"));
        let path = |key: &str| sysconfig.as_ref().ok()?.get_item(key).ok()?.extract::<String>().ok();
        ["stdlib", "platstdlib"].into_iter().filter_map(path).collect()
    });
    paths.iter().any(|p| file.starts_with(p.as_str())) && !file.contains("-packages")
}

/// Whether names are those of a module of the framework.
pub(crate) fn are_of_framework(py: Python<'_>, names: &Bound<'_, PyDict>) -> bool {
    let file = crate::cpython::facts::value_of_name(names, "__file__");
    let file = file.and_then(|file| file.cast_into_exact::<PyString>().ok());
    file.is_some_and(|file| of_framework(py, &file.to_string_lossy()))
}

/// Whether functions of a file are captured as parts of what calls them alone: the framework's, the standard library's, and those of
/// installed packages.
pub fn is_library_file(py: Python<'_>, file: &str) -> bool {
    skip_paths(py).iter().any(|path| file.starts_with(path.as_str()))
}

/// Whether a code object comes from a file that is never captured.
pub fn is_never_captured(py: Python<'_>, code: &Bound<'_, PyCode>) -> bool {
    let file: String = code.getattr("co_filename").and_then(|f| f.extract()).unwrap_or_default();
    is_library_file(py, &file) || !capture_all::wanted(code)
}
