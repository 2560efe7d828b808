//! Where an iterator stands, without advancing it: exact list, tuple and range iterators, and those of `itertools` that ask no other.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};

use super::{Given, OfItertools, of_itertools};
use crate::cpython::layout::{CallIter, Enumeration, RangeIter, SeqIter};

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
    /// One of `itertools` that asks no other.
    Given(Given<'py>),
}

impl IterState<'_> {
    fn runs_over<T: pyo3::type_object::PyTypeInfo>(&self) -> bool {
        match self {
            IterState::List(held) | IterState::Tuple(held) => {
                held.as_ref().is_none_or(|(sequence, _)| sequence.is_exact_instance_of::<T>())
            }
            IterState::Range(_) | IterState::Given(_) => false,
        }
    }
}

/// The state of an exact list, tuple or (small) range iterator, if what it runs over is exact, too, or of one of `itertools`; `None` for
/// any other object.
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
        // A subclass may say anything of its length and its items.
        if ty == &raw mut ffi::PyListIter_Type {
            Some(IterState::List(sequence())).filter(|state| state.runs_over::<PyList>())
        } else if ty == &raw mut ffi::PyTupleIter_Type {
            Some(IterState::Tuple(sequence())).filter(|state| state.runs_over::<PyTuple>())
        } else if ty == &raw mut ffi::PyRangeIter_Type {
            let (next, step, left) = (*raw.cast::<RangeIter>()).state();
            Some(IterState::Range(RangeState { next, step, left }))
        } else {
            match of_itertools(iter)? {
                OfItertools::Given(given) => Some(IterState::Given(given)),
                OfItertools::Asking(_) => None,
            }
        }
    }
}

/// Sets an iterator to the index of its next item. One over a list goes on there even if the list is shorter now, as it is
/// while it is sorted: `__setstate__` would take the end of the list instead. What has no positions, as a generator of a framework, goes
/// forward to it from its start.
pub fn set_position(iterator: &Bound<'_, PyAny>, position: isize) -> PyResult<()> {
    let raw = iterator.as_ptr();
    // SAFETY: the layout is used only after the exact type was checked; each look at the index is bounded by the list.
    unsafe {
        let ty = ffi::Py_TYPE(raw);
        if ty == &raw mut ffi::PyListIter_Type || ty == &raw mut ffi::PyListRevIter_Type {
            (*raw.cast::<SeqIter>()).it_index = position;
            return Ok(());
        }
    }
    if iterator.hasattr("__setstate__")? {
        return iterator.call_method1("__setstate__", (position,)).map(drop);
    }
    let mut items = iterator.try_iter()?;
    (0..position).try_for_each(|_| items.next().transpose().map(drop))
}

/// The number of the next item of an exact `enumerate`, which counts on as if it had given that item: the tuple that it gives
/// again and again, while nobody else has it, holds the last one. `None`: another object.
pub fn count_on<'py>(enumeration: &Bound<'py, PyAny>, item: &Bound<'py, PyAny>) -> Option<PyResult<Bound<'py, PyAny>>> {
    let py = enumeration.py();
    let raw = enumeration.as_ptr();
    // SAFETY: the layout is used only after the exact type was checked; the count is of its own, which nobody else touches
    // while the GIL is held, and adding to an exact int runs no code. Its tuple has two items, and what they held goes when
    // all is in its place.
    unsafe {
        if ffi::Py_TYPE(raw) != &raw mut ffi::PyEnum_Type {
            return None;
        }
        let raw = raw.cast::<Enumeration>();
        let count = (*raw).en_index;
        let number = if count < isize::MAX {
            (*raw).en_index = count + 1;
            PyInt::new(py, count).into_any()
        } else {
            let number = match Bound::from_borrowed_ptr_or_opt(py, (*raw).en_longindex) {
                Some(number) => number,
                None => PyInt::new(py, count).into_any(),
            };
            let next = match number.add(1) {
                Ok(next) => next,
                Err(error) => return Some(Err(error)),
            };
            let counted = std::mem::replace(&mut (*raw).en_longindex, next.into_ptr());
            drop(Bound::from_owned_ptr_or_opt(py, counted));
            number
        };
        let result = (*raw).en_result;
        if ffi::Py_REFCNT(result) == 1 {
            // Nobody else has it meanwhile, either.
            let held = Bound::from_borrowed_ptr(py, result);
            let put = |at, new: &Bound<'py, PyAny>| {
                let old = ffi::PyTuple_GET_ITEM(result, at);
                ffi::PyTuple_SET_ITEM(result, at, new.clone().into_ptr());
                Bound::from_owned_ptr_or_opt(py, old)
            };
            let old = [put(0, &number), put(1, item)];
            // A collection may have found that it held nothing that matters.
            if held.cast_exact::<PyTuple>().is_ok_and(|held| !crate::cpython::gc::is_tracked(held)) {
                ffi::PyObject_GC_Track(result.cast());
            }
            drop(old);
            drop(held);
        }
        Some(Ok(number))
    }
}

/// Let an exact iterator by number, or of calls up to a sentinel, have come to its end. Any other stays as it is.
pub fn end_iterator(iterator: &Bound<'_, PyAny>) {
    let py = iterator.py();
    let raw = iterator.as_ptr();
    // SAFETY: the layouts are used only after the exact type was checked; what was held is let go of when nothing of the
    // iterator is in use any more.
    let (first, second) = unsafe {
        let ty = ffi::Py_TYPE(raw);
        let take = |place: *mut *mut ffi::PyObject| {
            Bound::from_owned_ptr_or_opt(py, std::mem::replace(&mut *place, std::ptr::null_mut()))
        };
        if ty == &raw mut ffi::PySeqIter_Type {
            (take(&raw mut (*raw.cast::<SeqIter>()).it_seq), None)
        } else if ty == &raw mut ffi::PyCallIter_Type {
            let raw = raw.cast::<CallIter>();
            (take(&raw mut (*raw).it_callable), take(&raw mut (*raw).it_sentinel))
        } else if ty == &raw mut ffi::PyReversed_Type {
            let raw = raw.cast::<SeqIter>();
            (*raw).it_index = -1;
            (take(&raw mut (*raw).it_seq), None)
        } else {
            (None, None)
        }
    };
    drop(first);
    drop(second);
}

/// Whether an exact iterator of calls up to a sentinel has come to its end.
fn calls_have_ended(iterator: &Bound<'_, PyAny>) -> bool {
    let raw = iterator.as_ptr();
    // SAFETY: the layout is used only after the exact type was checked.
    unsafe { ffi::Py_TYPE(raw) == &raw mut ffi::PyCallIter_Type && (*raw.cast::<CallIter>()).it_sentinel.is_null() }
}

/// As [`calls_have_ended`], asked with what the function gave: where the interpreter compares that all the same, with nothing, this
/// is its error.
pub fn calls_have_ended_before(iterator: &Bound<'_, PyAny>, item: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = iterator.py();
    let ended = calls_have_ended(iterator);
    if ended && compares_with_nothing(py) {
        // SAFETY: the comparison looks whether both are there before anything else.
        let answer = unsafe { ffi::PyObject_RichCompareBool(std::ptr::null_mut(), item.as_ptr(), ffi::Py_EQ) };
        if answer < 0 {
            return Err(PyErr::fetch(py));
        }
    }
    Ok(ended)
}

/// Whether an iterator of calls that ended while its function ran goes on to compare: it does up to 3.10.10 and 3.11.2.
pub fn compares_with_nothing(py: Python<'_>) -> bool {
    let version = py.version_info();
    let since = if version < (3, 11) { (3, 10, 11) } else { (3, 11, 3) };
    (version.major, version.minor, version.patch) < since
}

/// An iterator by number that has come to its end.
pub fn ended_by_index(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: a live sequence; a new reference or an exception.
    let iterator = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PySeqIter_New(PyTuple::empty(py).as_ptr()))? };
    end_iterator(&iterator);
    Ok(iterator)
}

/// As `reversed(sequence)` that is to give this item next: the sequence is not asked for its length.
pub fn backwards_from<'py>(sequence: &Bound<'py, PyAny>, index: isize) -> PyResult<Bound<'py, PyAny>> {
    let py = sequence.py();
    // SAFETY: a class of the interpreter.
    let class = unsafe { Bound::from_borrowed_ptr(py, (&raw mut ffi::PyReversed_Type).cast()) };
    let iterator = class.call1((PyTuple::empty(py),))?;
    let raw = iterator.as_ptr().cast::<SeqIter>();
    // SAFETY: of that exact class, as tuples have no iterator of their own for it; nobody else knows it.
    let before = unsafe {
        (*raw).it_index = index;
        Bound::from_owned_ptr_or_opt(py, std::mem::replace(&mut (*raw).it_seq, sequence.clone().into_ptr()))
    };
    drop(before);
    Ok(iterator)
}

/// An iterator of `reversed` over a sequence has given an item. Whether it is one.
pub fn moves_backwards(iterator: &Bound<'_, PyAny>) -> bool {
    let raw = iterator.as_ptr();
    // SAFETY: the layout is used only after the exact type was checked.
    unsafe {
        let is = ffi::Py_TYPE(raw) == &raw mut ffi::PyReversed_Type;
        if is {
            let raw = raw.cast::<SeqIter>();
            // It may have come to its end meanwhile.
            if !(*raw).it_seq.is_null() {
                (*raw).it_index -= 1;
            }
        }
        is
    }
}
