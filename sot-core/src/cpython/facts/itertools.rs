//! Where an iterator of module `itertools` stands, without advancing it.

use super::{is_named_below, is_written_class};
use crate::cpython::layout::{CountIter, CycleIter, RepeatIter, SliceIter};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::*;

/// What gives items without asking anybody.
pub enum Given<'py> {
    /// Numbers without end.
    Count { next: Bound<'py, PyAny>, step: Bound<'py, PyAny> },
    /// One object, so many times more; `None`: without end.
    Repeat { element: Bound<'py, PyAny>, left: Option<usize> },
    /// The items of a `cycle` behind its first round.
    Cycle { saved: Bound<'py, PyList>, index: usize },
}

/// What asks other iterators.
pub enum Asking<'py> {
    /// The first round of a `cycle`, and the items of it so far.
    Cycle { inner: Bound<'py, PyAny>, saved: Bound<'py, PyList> },
    /// So many items are left out before the next one, which is followed by each `step`-th, `left` in all at most.
    Slice { inner: Option<Bound<'py, PyAny>>, skip: usize, step: usize, left: Option<usize> },
}

pub enum OfItertools<'py> {
    Given(Given<'py>),
    Asking(Asking<'py>),
}

impl<'py> Given<'py> {
    /// The item behind so many others.
    pub fn nth(&self, taken: usize) -> Option<Bound<'py, PyAny>> {
        match self {
            Given::Count { next, step } => {
                let mut number = next.clone();
                // A float is not a multiple of the step, but the sum.
                if number.is_exact_instance_of::<PyInt>() && step.is_exact_instance_of::<PyInt>() {
                    return if taken == 0 { Some(number) } else { number.add(step.mul(taken).ok()?).ok() };
                }
                for _ in 0..taken {
                    number = number.add(step).ok()?;
                }
                Some(number)
            }
            Given::Repeat { element, left } => left.is_none_or(|left| taken < left).then(|| element.clone()),
            Given::Cycle { saved, index } => saved.get_item((index + taken).checked_rem(saved.len())?).ok(),
        }
    }

    /// How many items are left; `None`: they do not end.
    pub fn left(&self) -> Option<usize> {
        match self {
            Given::Count { .. } => None,
            Given::Repeat { left, .. } => *left,
            Given::Cycle { saved, .. } => saved.is_empty().then_some(0),
        }
    }
}

/// The state of an iterator of a class of `itertools` itself; `None` for any other object, and for a `count` of what is no plain number.
pub fn of_itertools<'py>(iterator: &Bound<'py, PyAny>) -> Option<OfItertools<'py>> {
    let py = iterator.py();
    let ty = iterator.get_type();
    if !is_named_below(&ty, "itertools.") || is_written_class(&ty) {
        return None;
    }
    let is = |name: &str, size: usize| {
        // SAFETY: a type that is alive.
        let basic = unsafe { (*ty.as_type_ptr()).tp_basicsize };
        is_named_below(&ty, name) && super::name_in_messages(&ty) == name && basic as usize == size
    };
    let raw = iterator.as_ptr();
    // SAFETY: each layout is read only after the class was checked by its name and size: no class that a program writes is one that
    // refuses changes. What a field holds is alive while the iterator is.
    unsafe {
        let held = |place: *mut ffi::PyObject| Bound::from_borrowed_ptr_or_opt(py, place);
        if is("itertools.count", size_of::<CountIter>()) {
            let count = raw.cast::<CountIter>();
            let next = match held((*count).long_cnt) {
                Some(next) if (*count).cnt == isize::MAX => next,
                _ => PyInt::new(py, (*count).cnt).into_any(),
            };
            let step = held((*count).long_step)?;
            let plain =
                |n: &Bound<'py, PyAny>| n.is_exact_instance_of::<PyInt>() || n.is_exact_instance_of::<PyFloat>();
            return (plain(&next) && plain(&step)).then_some(OfItertools::Given(Given::Count { next, step }));
        }
        if is("itertools.repeat", size_of::<RepeatIter>()) {
            let repeat = raw.cast::<RepeatIter>();
            let left = usize::try_from((*repeat).cnt).ok();
            return Some(OfItertools::Given(Given::Repeat { element: held((*repeat).element)?, left }));
        }
        if is("itertools.cycle", size_of::<CycleIter>()) {
            let cycle = raw.cast::<CycleIter>();
            let saved = held((*cycle).saved)?.cast_into::<PyList>().ok()?;
            return match held((*cycle).it) {
                Some(inner) if (*cycle).firstpass == 0 => Some(OfItertools::Asking(Asking::Cycle { inner, saved })),
                Some(_) => None,
                None => {
                    let index = usize::try_from((*cycle).index).ok()?;
                    Some(OfItertools::Given(Given::Cycle { saved, index }))
                }
            };
        }
        if is("itertools.islice", size_of::<SliceIter>()) {
            let slice = raw.cast::<SliceIter>();
            let (count, next, stop) = ((*slice).cnt, (*slice).next, (*slice).stop);
            let step = usize::try_from((*slice).step).ok().filter(|step| *step > 0)?;
            let first = count.max(next);
            let left = (stop >= 0).then(|| usize::try_from(stop - first).unwrap_or(0).div_ceil(step));
            let skip = usize::try_from(first - count).ok()?;
            return Some(OfItertools::Asking(Asking::Slice { inner: held((*slice).it), skip, step, left }));
        }
    }
    None
}
