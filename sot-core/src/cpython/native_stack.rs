//! How much of the native stack this thread has left.
//!
//! A frame that the hook sees, and a call of an entry, take some of it. Plain Python takes none for a call from Python to Python
//! (from 3.11 on; less, before), so that a recursion which only `sys.setrecursionlimit` bounds could end the process where it is
//! captured. Where the stack is *low* nothing is captured, and frames run as in plain Python, which counts them. Entries take
//! some all the same: where it is *used up*, their call is a `RecursionError`.

use std::cell::Cell;
use std::hint::black_box;

use super::layout::ThreadState;

/// What is left for frames that run as plain Python, for whatever they call in C, and for the framework: this much, or a part of
/// a small stack.
const RESERVE: usize = 2 << 20;
/// What a call of an entry may take, with the original function.
const LAST: usize = 256 << 10;
/// Calls of C code that 3.12 and 3.13 let a thread make below frames that the hook saw. Without a hook such frames do not count.
#[cfg(Py_3_12)]
const CALLS_OF_C: std::ffi::c_int = 300;
/// What a frame of plain Python takes.
#[cfg(not(Py_3_11))]
const PLAIN_FRAME: usize = 640;

thread_local! {
    /// The address below which the stack may be low. The first look is one at the bounds.
    static LOOK_BELOW: Cell<usize> = const { Cell::new(usize::MAX) };
    /// Lowest address, size. A size of 0: unknown.
    static BOUNDS: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Bytes left, and the size of the whole; `None`: not known, as on a stack that is not the thread's own.
#[cold]
fn left(here: usize) -> Option<(usize, usize)> {
    if LOOK_BELOW.get() == usize::MAX {
        let (lowest, size) = bounds().unwrap_or((0, 0));
        BOUNDS.set((lowest, size));
        let share = if cfg!(Py_3_11) { reserve(size) } else { size / 2 };
        LOOK_BELOW.set(lowest + share);
    }
    let (lowest, size) = BOUNDS.get();
    (lowest..lowest + size).contains(&here).then(|| (here - lowest, size))
}

fn reserve(size: usize) -> usize {
    RESERVE.min(size / 4)
}

#[inline]
fn here() -> usize {
    let place = 0u8;
    black_box(&raw const place) as usize
}

/// Whether frames are to run as in plain Python from here on.
///
/// # Safety
/// `tstate` is the current thread state.
#[inline]
pub(super) unsafe fn is_low(tstate: *mut ThreadState) -> bool {
    #[cfg(Py_3_12)]
    // SAFETY: by contract.
    if unsafe { (*tstate).c_recursion_remaining } < CALLS_OF_C {
        return true;
    }
    let here = here();
    // SAFETY: by contract.
    here < LOOK_BELOW.get() && unsafe { is_low_at(tstate, here) }
}

/// # Safety
/// As [`is_low`].
#[cold]
unsafe fn is_low_at(tstate: *mut ThreadState, here: usize) -> bool {
    let Some((left, size)) = left(here) else { return false };
    #[cfg(Py_3_11)]
    let for_frames = {
        let _ = tstate;
        0
    };
    #[cfg(not(Py_3_11))]
    let for_frames = {
        // SAFETY: by contract.
        let frames = unsafe { pyo3::ffi::Py_GetRecursionLimit() - (*tstate).recursion_depth };
        (usize::try_from(frames).unwrap_or(0) * PLAIN_FRAME).min(size / 2)
    };
    left < reserve(size).max(for_frames)
}

/// Whether not even an entry's original function may run.
#[inline]
pub(super) fn is_used_up() -> bool {
    let here = here();
    here < LOOK_BELOW.get() && left(here).is_some_and(|(left, size)| left < LAST.min(size / 8))
}

/// The lowest address of this thread's stack, and its size.
#[cfg(target_os = "linux")]
fn bounds() -> Option<(usize, usize)> {
    use std::ffi::{c_int, c_ulong, c_void};

    /// `pthread_attr_t` is smaller, on all targets.
    type Attributes = [u64; 16];

    unsafe extern "C" {
        fn pthread_self() -> c_ulong;
        fn pthread_getattr_np(thread: c_ulong, attributes: *mut Attributes) -> c_int;
        fn pthread_attr_getstack(attributes: *const Attributes, lowest: *mut *mut c_void, size: *mut usize) -> c_int;
        fn pthread_attr_destroy(attributes: *mut Attributes) -> c_int;
    }
    let mut attributes: Attributes = [0; 16];
    let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are filled before they are read, and let go of.
    unsafe {
        if pthread_getattr_np(pthread_self(), &raw mut attributes) != 0 {
            return None;
        }
        let told = pthread_attr_getstack(&raw const attributes, &raw mut lowest, &raw mut size);
        pthread_attr_destroy(&raw mut attributes);
        (told == 0).then_some((lowest as usize, size))
    }
}

#[cfg(target_os = "macos")]
fn bounds() -> Option<(usize, usize)> {
    use std::ffi::c_void;

    unsafe extern "C" {
        fn pthread_self() -> *mut c_void;
        fn pthread_get_stackaddr_np(thread: *mut c_void) -> *mut c_void;
        fn pthread_get_stacksize_np(thread: *mut c_void) -> usize;
    }
    // SAFETY: questions about the running thread. The address is the highest one.
    unsafe {
        let thread = pthread_self();
        let size = pthread_get_stacksize_np(thread);
        Some(((pthread_get_stackaddr_np(thread) as usize).checked_sub(size)?, size))
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn bounds() -> Option<(usize, usize)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used_up_at_depth(depth: usize) -> usize {
        let room = black_box([depth; 512]);
        match is_used_up() {
            true => room[0],
            false => used_up_at_depth(depth + 1).max(room[511]),
        }
    }

    #[test]
    fn a_deep_stack_is_used_up_before_it_ends() {
        assert!(!is_used_up());
        let depth =
            std::thread::Builder::new().stack_size(4 << 20).spawn(|| used_up_at_depth(0)).unwrap().join().unwrap();
        assert!((200..1024).contains(&depth), "{depth}");
    }
}
