//! The default dtype, as a mode: what operations make that are given none.
//!
//! Paddle keeps it for the process, as an attribute of a class. Operations are built under the one that the
//! simulated program has: it is set for as long as Paddle's code builds, so that no other thread may be there to see it.

use crate::handles::Handles;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use sot_core::backend::{Mode, Switch};
use sot_core::cpython::thread;

pub(crate) const DEFAULT: Mode = 5;

/// The names that `set_default_dtype` takes.
const NAMES: &[&str] = &["float16", "float32", "float64", "bfloat16"];

/// `paddle.set_default_dtype(d)`; what it does not take raises, and not here.
pub(crate) fn switch<'py>(
    handles: &Handles,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> Option<Switch<'py>> {
    let given = match (args.len(), kwargs.map_or(0, |kwargs| kwargs.len())) {
        (1, 0) => args.get_item(0).ok()?,
        (0, 1) => kwargs?.get_item("d").ok()??,
        _ => return None,
    };
    let py = given.py();
    let paddle = handles.paddle.bind(py);
    let is_it = |name: &&&str| match given.cast_exact::<PyString>() {
        Ok(text) => text == **name,
        Err(_) if given.get_type().is(handles.dtype.bind(py)) => {
            paddle.getattr(**name).is_ok_and(|dtype| given.eq(dtype).unwrap_or(false))
        }
        Err(_) => false,
    };
    let value = PyString::intern(py, NAMES.iter().find(is_it)?).into_any();
    Some(Switch { mode: DEFAULT, value, gives: py.None().into_bound(py) })
}

/// What it is in this process.
pub(crate) fn read<'py>(py: Python<'py>, handles: &Handles) -> PyResult<Bound<'py, PyAny>> {
    let now = handles.paddle.bind(py).call_method0(intern!(py, "get_default_dtype"))?;
    Ok(PyString::intern(py, now.cast::<PyString>()?.to_str()?).into_any())
}

pub(crate) fn write(handles: &Handles, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = value.py();
    handles.paddle.bind(py).call_method1(intern!(py, "set_default_dtype"), (value,)).map(drop)
}

/// The default dtype of the simulated program, where it has changed it.
#[derive(Default)]
pub(crate) struct Changed(Option<Py<PyAny>>);

impl Changed {
    /// `false`: other threads would see it.
    pub(crate) fn to(&mut self, value: &Bound<'_, PyAny>) -> bool {
        let alone = thread::is_alone(value.py());
        if alone {
            self.0 = Some(value.clone().unbind());
        }
        alone
    }

    /// Build under it.
    pub(crate) fn within<T>(&self, py: Python<'_>, handles: &Handles, build: impl FnOnce() -> T) -> PyResult<T> {
        let Some(value) = &self.0 else { return Ok(build()) };
        let set = Set { handles, before: read(py, handles)?.unbind() };
        write(handles, value.bind(py))?;
        let built = build();
        drop(set);
        Ok(built)
    }
}

/// While it lives, the default dtype may be another one.
struct Set<'a> {
    handles: &'a Handles,
    before: Py<PyAny>,
}

impl Drop for Set<'_> {
    fn drop(&mut self) {
        Python::attach(|py| {
            // A panic goes through, which is what is told.
            let _ = write(self.handles, self.before.bind(py));
        });
    }
}
