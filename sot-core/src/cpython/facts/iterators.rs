//! Where an iterator stands, without advancing it: exact list, tuple and range iterators.

use pyo3::ffi;
use pyo3::prelude::*;

use crate::cpython::layout::{RangeIter, SeqIter};

/// The values a range iterator has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeState {
    /// The next value.
    pub next: i64,
    pub step: i64,
    /// Values left.
    pub left: i64,
}

/// The state of an iterator.
pub enum IterState<'py> {
    /// A list iterator; `None`: exhausted for good.
    List(Option<(Bound<'py, PyAny>, usize)>),
    /// A tuple iterator; `None`: exhausted for good.
    Tuple(Option<(Bound<'py, PyAny>, usize)>),
    Range(RangeState),
}

/// The state of an exact list, tuple or (small) range iterator; `None` for any other object.
#[inline]
pub fn iterator_state<'py>(iter: &Bound<'py, PyAny>) -> Option<IterState<'py>> {
    // SAFETY: each layout is read only after its exact type was checked.
    unsafe {
        let raw = iter.as_ptr();
        let ty = ffi::Py_TYPE(raw);
        let sequence = || {
            let raw = raw.cast::<SeqIter>();
            let held = Bound::from_borrowed_ptr_or_opt(iter.py(), (*raw).it_seq);
            held.map(|held| (held, (*raw).it_index as usize))
        };
        if ty == &raw mut ffi::PyListIter_Type {
            Some(IterState::List(sequence()))
        } else if ty == &raw mut ffi::PyTupleIter_Type {
            Some(IterState::Tuple(sequence()))
        } else if ty == &raw mut ffi::PyRangeIter_Type {
            let (next, step, left) = (*raw.cast::<RangeIter>()).state();
            Some(IterState::Range(RangeState { next, step, left }))
        } else {
            None
        }
    }
}
