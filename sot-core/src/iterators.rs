//! Looking at builtin iterators without advancing them.
//!
//! Peekable are exact list, tuple and range iterators, and `enumerate` and `zip` over peekable ones. Guards peek, and so
//! does rewritten code, through the native callables made here.

use crate::cpython::facts::{IterState, iterator_state};
use crate::cpython::native::{NativeBody, new_native};
use crate::cpython::{Slots, call_slots};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyTuple};
use std::any::Any;

/// What `enumerate` or `zip` runs over, and where it stands.
pub enum Combined<'py> {
    Enumerate { inner: Bound<'py, PyAny>, index: Bound<'py, PyAny> },
    Zip { inners: Vec<Bound<'py, PyAny>> },
}

/// The parts of an exact `enumerate` or `zip` object. Their `__reduce__` is C code without side effects.
pub fn combined<'py>(iterator: &Bound<'py, PyAny>) -> Option<Combined<'py>> {
    let py = iterator.py();
    static TYPES: PyOnceLock<[Py<PyAny>; 2]> = PyOnceLock::new();
    let [enumerate, zip] = TYPES
        .get_or_try_init(py, || -> PyResult<_> {
            let builtins = py.import("builtins")?;
            Ok([builtins.getattr("enumerate")?.unbind(), builtins.getattr("zip")?.unbind()])
        })
        .ok()?;
    let ty = iterator.get_type();
    if !ty.is(enumerate) && !ty.is(zip) {
        return None;
    }
    let reduced = iterator.call_method0("__reduce__").ok()?;
    let parts = reduced.get_item(1).ok()?.cast_into::<PyTuple>().ok()?;
    if ty.is(enumerate) {
        return Some(Combined::Enumerate { inner: parts.get_item(0).ok()?, index: parts.get_item(1).ok()? });
    }
    // `zip(..., strict=True)` carries its state as a third part; ending it may raise.
    if reduced.len().is_ok_and(|n| n > 2) {
        return None;
    }
    Some(Combined::Zip { inners: parts.iter().collect() })
}

/// Whether an iterator can be looked at without advancing it.
pub fn is_peekable(iterator: &Bound<'_, PyAny>) -> bool {
    match combined(iterator) {
        Some(Combined::Enumerate { inner, .. }) => is_peekable(&inner),
        Some(Combined::Zip { inners }) => inners.iter().all(is_peekable),
        None => iterator_state(iterator).is_some(),
    }
}

/// The item that a peekable iterator would yield next.
pub fn peek<'py>(iterator: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    match combined(iterator) {
        Some(Combined::Enumerate { inner, index }) => {
            let item = peek(&inner)?;
            return PyTuple::new(iterator.py(), [index, item]).ok().map(Bound::into_any);
        }
        Some(Combined::Zip { inners }) => {
            let items = inners.iter().map(peek).collect::<Option<Vec<_>>>()?;
            return PyTuple::new(iterator.py(), items).ok().map(Bound::into_any);
        }
        None => {}
    }
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

/// Calls its first argument with the others: stands where a NULL slot would, on interpreters that cannot push one.
struct Pass;

impl NativeBody for Pass {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let callee = args.get(py, 0).ok_or_else(|| PyRuntimeError::new_err("sot: nothing to call"))?;
        call_slots(py, &callee, args.range(1, args.len()))
    }

    fn name(&self) -> &str {
        "call"
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A callable that passes the call on to its first argument.
pub fn pass_function(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let function = FUNCTION.get_or_try_init(py, || new_native(py, Box::new(Pass)))?;
    Ok(function.bind(py).clone())
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
    match combined(iterator) {
        Some(Combined::Enumerate { inner, .. }) => return has_next(&inner),
        Some(Combined::Zip { inners }) => {
            let ends = inners.iter().map(has_next).collect::<Option<Vec<_>>>()?;
            return Some(!ends.is_empty() && ends.into_iter().all(|has| has));
        }
        None => {}
    }
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
