//! Argument slots: the values of a code object's arguments, in `co_varnames` order.
//!
//! The order is positional (positional-only first), keyword-only, the `*args` tuple, the `**kw` dict.
//! [`Slots`] borrows an array of object pointers in which NULL means *unbound*; [`OwnedSlots`] holds
//! strong references. Whoever hands out a [`Slots`] keeps the objects alive for its lifetime.

use std::marker::PhantomData;

use pyo3::prelude::*;
use pyo3::{Borrowed, ffi};
use smallvec::SmallVec;

/// A borrowed view of argument slots.
#[derive(Clone, Copy)]
pub struct Slots<'a> {
    start: *const *mut ffi::PyObject,
    len: usize,
    life: PhantomData<&'a ()>,
}

impl<'a> Slots<'a> {
    /// No slots at all.
    pub const fn empty() -> Slots<'static> {
        Slots { start: std::ptr::NonNull::dangling().as_ptr(), len: 0, life: PhantomData }
    }

    /// # Safety
    /// `start` points to `len` pointers, each NULL or an object that lives for `'a`.
    #[inline]
    pub(in crate::cpython) unsafe fn from_raw(start: *const *mut ffi::PyObject, len: usize) -> Slots<'a> {
        if len == 0 {
            return Slots::empty();
        }
        Slots { start, len, life: PhantomData }
    }

    /// A view of bound references.
    #[inline]
    pub fn from_bound(values: &'a [Bound<'_, PyAny>]) -> Slots<'a> {
        // SAFETY: `Bound` is a transparent non-null pointer and owns its object for `'a`.
        unsafe { Slots::from_raw(values.as_ptr().cast(), values.len()) }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of slot `index`: `None` if it is unbound or out of range.
    #[inline]
    pub fn get<'py>(&self, py: Python<'py>, index: usize) -> Option<Borrowed<'a, 'py, PyAny>> {
        if index >= self.len {
            return None;
        }
        // SAFETY: in range, and by the invariant of `from_raw` NULL or alive for `'a`.
        unsafe { Borrowed::from_ptr_or_opt(py, *self.start.add(index)) }
    }

    /// The slots `from..to`; out of range ends are cut.
    #[inline]
    pub fn range(&self, from: usize, to: usize) -> Slots<'a> {
        let to = to.min(self.len);
        let from = from.min(to);
        // SAFETY: a sub-range of a valid range.
        unsafe { Slots::from_raw(self.start.add(from), to - from) }
    }

    pub fn iter<'py>(
        &self,
        py: Python<'py>,
    ) -> impl ExactSizeIterator<Item = Option<Borrowed<'a, 'py, PyAny>>> + use<'a, 'py> {
        let slots = *self;
        (0..self.len).map(move |index| slots.get(py, index))
    }

    /// Takes strong references.
    pub fn to_owned(&self, py: Python<'_>) -> OwnedSlots {
        OwnedSlots(self.iter(py).map(|value| value.map(|value| value.to_owned().unbind())).collect())
    }

    #[inline]
    pub(in crate::cpython) fn as_ptr(&self) -> *const *mut ffi::PyObject {
        self.start
    }
}

/// Slots that hold strong references.
#[derive(Default)]
pub struct OwnedSlots(pub SmallVec<[Option<Py<PyAny>>; 8]>);

impl OwnedSlots {
    #[inline]
    pub fn as_slots(&self) -> Slots<'_> {
        // SAFETY: `Py` is a transparent non-null pointer, so `None` is NULL; the references are owned.
        unsafe { Slots::from_raw(self.0.as_ptr().cast(), self.0.len()) }
    }

    pub fn push(&mut self, value: Option<Py<PyAny>>) {
        self.0.push(value);
    }

    /// For the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.0.iter().flatten().for_each(visit);
    }
}
