//! Native helpers for rewritten code: look at a builtin iterator without advancing it.

use crate::cpython::facts::{IterState, iterator_state};
use crate::cpython::native::{NativeBody, new_native};
use crate::cpython::Slots;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyInt;
use std::any::Any;

/// The item that an exact builtin iterator would yield next.
pub fn peek<'py>(iterator: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    match iterator_state(iterator)? {
        IterState::List(held) | IterState::Tuple(held) => {
            let (sequence, index) = held?;
            sequence.get_item(index).ok()
        }
        IterState::Range(range) => (range.left > 0).then(|| PyInt::new(iterator.py(), range.next).into_any()),
    }
}

/// The sequence under an exact builtin iterator.
pub fn source<'py>(iterator: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    match iterator_state(iterator)? {
        IterState::List(held) | IterState::Tuple(held) => held.map(|h| h.0),
        IterState::Range(_) => None,
    }
}

struct Look {
    name: &'static str,
    look: for<'py> fn(&Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>>,
}

impl NativeBody for Look {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        args.get(py, 0)
            .and_then(|iterator| (self.look)(&iterator))
            .ok_or_else(|| PyRuntimeError::new_err("sot: an iterator is not where its guard said"))
    }

    fn name(&self) -> &str {
        self.name
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `peek` as a Python callable.
pub fn peek_function(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let function = FUNCTION.get_or_try_init(py, || new_native(py, Box::new(Look { name: "peek", look: peek })))?;
    Ok(function.bind(py).clone())
}

/// `source` as a Python callable.
pub fn source_function(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let function = FUNCTION.get_or_try_init(py, || new_native(py, Box::new(Look { name: "source", look: source })))?;
    Ok(function.bind(py).clone())
}

/// Whether an exact builtin iterator has a next item.
pub fn has_next(iterator: &Bound<'_, PyAny>) -> Option<bool> {
    Some(match iterator_state(iterator)? {
        IterState::List(None) | IterState::Tuple(None) => false,
        IterState::List(Some((sequence, index))) | IterState::Tuple(Some((sequence, index))) => {
            index < sequence.len().unwrap_or(0)
        }
        IterState::Range(range) => range.left > 0,
    })
}

/// The position of an exact builtin iterator: an index, or the next value of a range.
pub fn position(iterator: &Bound<'_, PyAny>) -> Option<u64> {
    match iterator_state(iterator)? {
        IterState::List(held) | IterState::Tuple(held) => held.map(|h| h.1 as u64),
        IterState::Range(range) => Some(range.next as u64),
    }
}

/// Items left in a range iterator.
pub fn left(iterator: &Bound<'_, PyAny>) -> Option<usize> {
    match iterator_state(iterator)? {
        IterState::Range(range) => usize::try_from(range.left).ok(),
        IterState::List(_) | IterState::Tuple(_) => None,
    }
}
