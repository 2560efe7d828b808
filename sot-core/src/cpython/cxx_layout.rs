//! Where a library keeps the facts of a tensor: found out on samples, then read without a call.
//!
//! A handle begins with the addresses of what is behind it: the implementation, and a page of notes on gradients beside it.
//! The member functions of [`cxx_tensor`](super::cxx_tensor) return references into these, so the offsets of what they return
//! follow from the addresses; what is returned by value is searched for, in the order of addresses, as the first place that has
//! the value in all samples. Known before is that a handle is two shared pointers in a row: a layout that differs between
//! samples is none, and whoever has none calls the functions. What a layout says is only trusted of an implementation whose table
//! of functions is that of the samples.

use std::ffi::c_void;
use std::ptr::NonNull;

/// How far behind its beginning something is searched for.
const REACH: usize = 256;

/// A reference to `int64_t[9]` and a rank.
#[repr(C)]
pub(super) struct Extents {
    pub(super) values: [i64; 9],
    pub(super) rank: i32,
}

/// Where memory is: a device number, a kind of memory, and a type of device for kinds that are added at run time.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) device: i8,
    pub(super) kind: i8,
    device_type: usize,
}

/// A tensor with memory, and what the functions say of it.
pub(super) struct Sample {
    pub handle: *const c_void,
    pub extents: *const Extents,
    pub element_type: i32,
    pub location: *const Location,
}

/// Offsets of facts behind a handle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The table of functions of an ordinary implementation.
    table: usize,
    /// In the implementation.
    extents: usize,
    element_type: usize,
    memory: usize,
    /// In what the implementation has of memory.
    location: usize,
}

/// # Safety
/// The word must be readable.
unsafe fn word(base: usize, offset: usize) -> usize {
    // SAFETY: by the caller.
    unsafe { ((base + offset) as *const usize).read() }
}

/// # Safety
/// The four bytes must be readable.
unsafe fn half(base: usize, offset: usize) -> i32 {
    // SAFETY: by the caller.
    unsafe { ((base + offset) as *const i32).read() }
}

/// What a function says of all samples, if it says the same of all.
fn common<'a>(samples: &'a [Sample], of: impl Fn(&'a Sample) -> Option<usize>) -> Option<usize> {
    let mut values = samples.iter().map(of);
    let first = values.next()??;
    values.all(|value| value == Some(first)).then_some(first)
}

impl Layout {
    /// The layout that all samples have. They must be of several types, or their type is not told from other numbers.
    ///
    /// # Safety
    /// The samples are handles of live, dense tensors with memory, and their references are valid. The implementation of a
    /// tensor is searched from its beginning on, and must not be the last thing in readable memory.
    pub(super) unsafe fn learn(samples: &[Sample]) -> Option<Layout> {
        if samples.iter().all(|sample| sample.element_type == samples[0].element_type) {
            return None;
        }
        // SAFETY: a handle begins with the address of its implementation, which begins with its table of functions.
        let of = |sample: &Sample| unsafe { word(sample.handle as usize, 0) };
        if samples.iter().any(|sample| of(sample) == 0) {
            return None;
        }
        // SAFETY: as above.
        let table = common(samples, |sample| Some(unsafe { word(of(sample), 0) }))?;
        let extents = common(samples, |sample| (sample.extents as usize).checked_sub(of(sample)))?;
        if extents >= REACH || table == 0 {
            return None;
        }
        // SAFETY: by the caller, what is near the beginning of an implementation can be read.
        let is_type = |at: usize| samples.iter().all(|s| unsafe { half(of(s), at) } == s.element_type);
        let element_type = (size_of::<usize>()..REACH).step_by(size_of::<i32>()).find(|at| is_type(*at))?;
        // The location is a part of what the implementation points to.
        let inner = |at: usize| {
            // SAFETY: as above.
            let behind = |s: &Sample| (s.location as usize).checked_sub(unsafe { word(of(s), at) });
            common(samples, behind).filter(|offset| *offset < REACH / 2)
        };
        let memory = (size_of::<usize>()..REACH).step_by(size_of::<usize>()).find(|at| inner(*at).is_some())?;
        Some(Layout { table, extents, element_type, memory, location: inner(memory)? })
    }

    /// Extents, type and location behind a handle; `None`: it is empty, of another implementation, or without memory.
    ///
    /// # Safety
    /// `handle` is a live handle of the library that the layout was learned of, and nobody writes to it meanwhile.
    #[inline]
    pub(super) unsafe fn read<'a>(&self, handle: *const c_void) -> Option<(&'a Extents, i32, Location)> {
        // SAFETY: an implementation of the same table is of the same class, so it has the parts that the samples have.
        unsafe {
            let implementation = word(handle as usize, 0);
            if implementation == 0 || word(implementation, 0) != self.table {
                return None;
            }
            let memory = word(implementation, self.memory);
            if memory == 0 {
                return None;
            }
            let extents = &*((implementation + self.extents) as *const Extents);
            let location = *((memory + self.location) as *const Location);
            Some((extents, half(implementation, self.element_type), location))
        }
    }
}

/// Where a flag is in the notes beside the implementation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag {
    table: usize,
    offset: usize,
}

/// The notes on gradients of a handle, behind the two words of the implementation.
///
/// # Safety
/// `handle` is a live handle.
unsafe fn notes(handle: *const c_void) -> Option<NonNull<c_void>> {
    // SAFETY: by the caller.
    NonNull::new(unsafe { word(handle as usize, 2 * size_of::<usize>()) } as *mut c_void)
}

impl Flag {
    /// The place that is zero where the flag is down, and one where it is up. `set` raises it or lets it down.
    ///
    /// # Safety
    /// As for [`Layout::learn`]; `handle` stays alive while `set` is called.
    pub(super) unsafe fn learn(handle: *const c_void, mut set: impl FnMut(bool) -> bool) -> Option<Flag> {
        let mut candidates: Option<Vec<usize>> = None;
        for up in [true, false, true, false, false, true] {
            if !set(up) {
                return None;
            }
            // SAFETY: by the caller.
            let base = unsafe { notes(handle) }?.as_ptr() as usize;
            // SAFETY: by the caller.
            let fits = |at: &usize| unsafe { half(base, *at) } == i32::from(up);
            candidates = Some(match candidates {
                None => (size_of::<usize>()..REACH / 2).step_by(size_of::<i32>()).filter(fits).collect(),
                Some(mut places) => {
                    places.retain(fits);
                    places
                }
            });
        }
        // SAFETY: by the caller, and the notes were there just now.
        let table = unsafe { word(notes(handle)?.as_ptr() as usize, 0) };
        match candidates?[..] {
            [offset] if table != 0 => Some(Flag { table, offset }),
            _ => None,
        }
    }

    /// Whether it is up; `None`: there are no notes yet, or others than those that it was learned of.
    ///
    /// # Safety
    /// As for [`Layout::read`].
    #[inline]
    pub(super) unsafe fn read(&self, handle: *const c_void) -> Option<bool> {
        // SAFETY: notes of the same table are of the same class.
        unsafe {
            let base = notes(handle)?.as_ptr() as usize;
            (word(base, 0) == self.table).then(|| half(base, self.offset) != 0)
        }
    }
}
