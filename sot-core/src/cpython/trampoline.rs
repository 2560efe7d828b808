//! The one place where a Rust panic is caught.
//!
//! Whatever runs between CPython and the translator goes through [`trampoline`]: a panic becomes a
//! [`Panic`] with its message and is counted, and the caller runs the user's original code instead.
//! [`hook_failures`] is the counter that Python reads as `_hook_failures()`.

use pyo3::exceptions::{PyMemoryError, PySystemError};
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

static FAILURES: AtomicU64 = AtomicU64::new(0);

/// A caught panic, reduced to its message.
#[derive(Debug, Clone)]
pub struct Panic {
    pub message: String,
}

impl Panic {
    /// Whether the interpreter had no memory for a call that fails for nothing else. Forgets its exception.
    #[cold]
    pub fn for_want_of_memory(&self, py: Python<'_>) -> bool {
        let pending = PyErr::take(py).is_some_and(|error| error.is_instance_of::<PyMemoryError>(py));
        pending || self.message == "PyObject pointer is null"
    }

    /// What it is for the program, where nothing can run in its place any more.
    #[cold]
    pub fn into_error(self, py: Python<'_>, what: &str) -> PyErr {
        match self.for_want_of_memory(py) {
            true => PyMemoryError::new_err(()),
            false => PySystemError::new_err(format!("sot: {what} failed with a {self}")),
        }
    }
}

impl std::fmt::Display for Panic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "panic: {}", self.message)
    }
}

/// Runs `f`; a panic is counted and returned as its message.
#[inline]
pub fn trampoline<R>(f: impl FnOnce() -> R) -> Result<R, Panic> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| {
        note_failure();
        Panic { message: message_of(&*payload) }
    })
}

#[cold]
fn message_of(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a message".to_owned()
    }
}

/// Counts one callback that failed, so that the original code ran in its place.
pub fn note_failure() {
    FAILURES.fetch_add(1, Ordering::Relaxed);
}

/// How often the original code ran because a callback failed or a replacement did not fit.
pub fn hook_failures() -> u64 {
    FAILURES.load(Ordering::Relaxed)
}
