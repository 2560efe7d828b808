//! Modules that the translator uses, whatever the program has made of `import`.
//!
//! The program may give `builtins.__import__` another meaning, or put something else into `sys.modules`, at any time. So the
//! import machinery is asked without the hook, and only once for each module. What a capture asks for is imported beforehand
//! ([`prepare`]): the program sees `sys.modules`.

use hashbrown::HashMap;
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule, PyTuple};
use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

static OWN: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
static OWN_OPERATOR: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
static KNOWN: Mutex<Option<HashMap<String, Py<PyModule>>>> = Mutex::new(None);

/// The module of this name, as it was found first.
pub fn module<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyModule>> {
    let known = |found: Option<Bound<'py, PyModule>>| {
        // Neither Python code runs nor an object dies while the table is locked.
        let mut table = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let table = table.get_or_insert_default();
        match (table.get(name), found) {
            (Some(module), _) => Some(module.bind(py).clone()),
            (None, Some(module)) => {
                table.insert(name.to_owned(), module.clone().unbind());
                Some(module)
            }
            (None, None) => None,
        }
    };
    match known(None) {
        Some(module) => Ok(module),
        None => {
            let found = import(py, name)?;
            Ok(known(Some(found.clone())).unwrap_or(found))
        }
    }
}

/// What `builtins` called by this name when the translator was imported: the program may give the name to another function.
pub fn builtin<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    as_imported(py, &OWN, "builtins", name)
}

/// As [`builtin`], of module `operator`.
pub fn operator<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    as_imported(py, &OWN_OPERATOR, "operator", name)
}

fn as_imported<'py>(
    py: Python<'py>,
    own: &PyOnceLock<Py<PyDict>>,
    of: &str,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let own = own.get_or_try_init(py, || module(py, of)?.dict().copy().map(Bound::unbind))?;
    match own.bind(py).get_item(name)? {
        Some(found) => Ok(found),
        None => module(py, of)?.getattr(name),
    }
}

/// Import what captures ask for.
pub fn prepare(py: Python<'_>) -> PyResult<()> {
    const ASKED: [&str; 14] = [
        "_weakref",
        "abc",
        "builtins",
        "collections",
        "collections.abc",
        "functools",
        "gc",
        "itertools",
        "linecache",
        "operator",
        "sys",
        "sysconfig",
        "types",
        "warnings",
    ];
    ASKED.iter().try_for_each(|name| module(py, name).map(drop))?;
    builtin(py, "len")?;
    operator(py, "index")?;
    // It imports more when it is asked first.
    module(py, "sysconfig")?.call_method0("get_paths").map(drop)
}

fn import<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyModule>> {
    let text = CString::new(name).map_err(|_| PyImportError::new_err(name.to_owned()))?;
    // Asked for a part of it, the machinery gives the module itself and not its package.
    let parts = PyTuple::new(py, ["__name__"])?;
    // SAFETY: the GIL is held; names and globals may be missing in an absolute import; the result is a new reference or NULL.
    let module = unsafe {
        let none = std::ptr::null_mut();
        let found = ffi::PyImport_ImportModuleLevel(text.as_ptr(), none, none, parts.as_ptr(), 0);
        Bound::from_owned_ptr_or_err(py, found)?
    };
    Ok(module.cast_into::<PyModule>()?)
}
