//! Functions of modules that others stand in for, in one thread and for a while: what a framework's own code is to be told
//! while it builds, and what it says while it runs.
//!
//! **Invariant:** other threads, and whoever asks for something else, get the original, with no Python frame between: levels
//! of the stack mean what they meant.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyTuple};
use std::thread::ThreadId;

/// The answer to a call with these arguments; `None`: the original is asked.
type Answer = dyn for<'py> Fn(&Bound<'py, PyTuple>, Option<&Bound<'py, PyDict>>) -> Option<Py<PyAny>> + Send + Sync;

#[pyclass(frozen, module = "sot")]
struct Substitute {
    thread: ThreadId,
    original: Py<PyAny>,
    answer: Box<Answer>,
}

#[pymethods]
impl Substitute {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if std::thread::current().id() == self.thread
            && let Some(answer) = (self.answer)(args, kwargs)
        {
            return Ok(answer.into_bound(py));
        }
        self.original.bind(py).call(args, kwargs)
    }
}

/// While it lives, a function of a module answers otherwise in this thread.
pub struct Replaced<'py> {
    module: Bound<'py, PyModule>,
    name: &'static str,
    original: Bound<'py, PyAny>,
    ours: Bound<'py, Substitute>,
}

impl<'py> Replaced<'py> {
    /// Replace `module.name`.
    pub fn new(
        module: Bound<'py, PyModule>,
        name: &'static str,
        answer: impl for<'a> Fn(&Bound<'a, PyTuple>, Option<&Bound<'a, PyDict>>) -> Option<Py<PyAny>>
        + Send
        + Sync
        + 'static,
    ) -> PyResult<Replaced<'py>> {
        let original = module.getattr(name)?;
        let thread = std::thread::current().id();
        let substitute = Substitute { thread, original: original.clone().unbind(), answer: Box::new(answer) };
        let ours = Bound::new(module.py(), substitute)?;
        module.setattr(name, &ours)?;
        Ok(Replaced { module, name, original, ours })
    }
}

impl Drop for Replaced<'_> {
    fn drop(&mut self) {
        // Somebody else may have replaced it meanwhile: then theirs stays.
        if self.module.getattr(self.name).is_ok_and(|now| now.is(&self.ours)) {
            // A module's dict takes any value; there is nothing to report to.
            let _ = self.module.setattr(self.name, &self.original);
        }
    }
}
