//! Several copies of this crate in one process: each extension module that is built on it holds one, with statics of its own.
//!
//! Rewritten code, and what runs while something is captured, keep faith with their own copy alone: it knows which code is
//! rewritten, what the callables in it do, whose values a call takes over. Another copy that captured such frames would
//! read them as a program's. So the copies agree:
//!
//! - *Whose frames these are.* While a copy serves one of its entries, captures, or asks its hook, the frames that the thread
//!   starts belong to that copy ([`Ours`]): hooks of the others do not see them ([`others_frames`]). The innermost counts. Where
//!   nobody has said so, each hook sees the frames, as for any two tools (`hook_state`).
//! - *One whole program.* At most one copy captures all frames of the process ([`begin_program`]).
//! - *One capture.* At most one copy captures at a time ([`begin_capture`]): what is put aside meanwhile (collections, handlers of
//!   signals) is the process's.
//!
//! What they share is one [`Shared`], that of the copy that came first. The others find it in the interpreter's own dict. They
//! may be other versions of this crate, built by other compilers: its fields stay what and where they are, new ones come
//! behind them.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::thread;

/// Where the shared struct is found, and what its capsule is called.
const NAME: &CStr = c"sot_core.copies";

/// A copy, by the address of something that is its own. NULL: none.
type Copy = *const c_void;

/// What all copies share.
#[repr(C)]
struct Shared {
    /// In bytes, as the copy that came first knows it.
    size: usize,
    /// Whose frames this thread starts from now on. Gives whose they were.
    swap: extern "C" fn(Copy) -> Copy,
    /// Whose frames this thread starts.
    current: extern "C" fn() -> Copy,
    /// The module that captures all frames: a name that lives for ever, the same address each time. NULL: none.
    program: AtomicPtr<c_char>,
    /// One of the copies is capturing.
    capturing: AtomicBool,
    /// There is another copy than the first: until then nobody asks whose frames these are, and nobody says so.
    met: AtomicBool,
}

thread_local! {
    static CURRENT: Cell<Copy> = const { Cell::new(std::ptr::null()) };
}

extern "C" fn swap(copy: Copy) -> Copy {
    CURRENT.replace(copy)
}

extern "C" fn current() -> Copy {
    CURRENT.get()
}

/// The one of this copy, for all of them if it is the first.
static OWN: Shared = Shared {
    size: size_of::<Shared>(),
    swap,
    current,
    program: AtomicPtr::new(std::ptr::null_mut()),
    capturing: AtomicBool::new(false),
    met: AtomicBool::new(false),
};

static SHARED: OnceLock<&'static Shared> = OnceLock::new();
/// The name of this copy's module.
static MODULE: OnceLock<CString> = OnceLock::new();

fn shared() -> &'static Shared {
    SHARED.get().copied().unwrap_or(&OWN)
}

fn this_copy() -> Copy {
    (&raw const OWN).cast()
}

/// Meets the other copies, before anything of this one runs.
pub fn join(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let _ = MODULE.set(CString::new(module.name()?.to_string())?);
    if SHARED.get().is_none() {
        let _ = SHARED.set(meet(module.py())?);
    }
    Ok(())
}

fn meet(py: Python<'_>) -> PyResult<&'static Shared> {
    // SAFETY: the thread is attached. The dict is the interpreter's, borrowed; a capsule of this name, which only copies of
    // this crate make, holds a static of a module, and those are never unloaded.
    unsafe {
        let dict = ffi::PyInterpreterState_GetDict((*thread::current(py)).interp);
        if dict.is_null() {
            return Err(PyRuntimeError::new_err("sot: this interpreter keeps no data for extension modules"));
        }
        let dict = Bound::from_borrowed_ptr(py, dict);
        let key = NAME.to_string_lossy();
        if let Ok(capsule) = dict.get_item(&key) {
            let first = ffi::PyCapsule_GetPointer(capsule.as_ptr(), NAME.as_ptr()).cast::<Shared>();
            if first.is_null() {
                return Err(PyErr::fetch(py));
            }
            // Its size comes first, whatever else there is.
            if *first.cast::<usize>() < size_of::<Shared>() {
                return Err(PyRuntimeError::new_err(
                    "sot: a module built on an older sot-core is loaded in this process, and knows less of others than \
                     this one needs; import this module first, or build the other one on the newer sot-core",
                ));
            }
            (*first).met.store(true, Ordering::Relaxed);
            return Ok(&*first);
        }
        let own = (&raw const OWN).cast_mut().cast();
        let capsule = Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(own, NAME.as_ptr(), None))?;
        dict.set_item(&key, capsule)?;
        Ok(&OWN)
    }
}

/// While it lives, the frames that this thread starts belong to this copy. What has begun when a second copy is met does not
/// know of that: to its frames each hook comes as to any tool's.
pub(super) struct Ours {
    /// `None`: there was no other copy.
    before: Option<Copy>,
}

impl Ours {
    #[inline]
    pub(super) fn begin() -> Ours {
        let shared = shared();
        Ours { before: shared.met.load(Ordering::Relaxed).then(|| (shared.swap)(this_copy())) }
    }
}

impl Drop for Ours {
    #[inline]
    fn drop(&mut self) {
        if let Some(before) = self.before {
            (shared().swap)(before);
        }
    }
}

/// Whether the frames that this thread starts belong to another copy.
#[inline]
pub(super) fn others_frames() -> bool {
    let current = (shared().current)();
    !current.is_null() && current != this_copy()
}

/// From now on this copy captures all frames of the process; if another one does, its module's name is the error.
pub fn begin_program() -> Result<(), String> {
    let Some(name) = MODULE.get() else { return Ok(()) };
    let ours = name.as_ptr().cast_mut();
    let none = std::ptr::null_mut();
    match shared().program.compare_exchange(none, ours, Ordering::AcqRel, Ordering::Acquire) {
        Err(other) if other != ours => {
            // SAFETY: a copy writes a name that lives for ever.
            Err(unsafe { CStr::from_ptr(other) }.to_string_lossy().into_owned())
        }
        _ => Ok(()),
    }
}

/// This copy no longer captures all frames, if it did.
pub fn end_program() {
    if let Some(name) = MODULE.get() {
        let (ours, none) = (name.as_ptr().cast_mut(), std::ptr::null_mut());
        let _ = shared().program.compare_exchange(ours, none, Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// Whether this copy may capture now: no other thread and no other copy does. Then [`end_capture`] must follow.
pub fn begin_capture() -> bool {
    shared().capturing.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

/// The capture that [`begin_capture`] has allowed is over.
pub fn end_capture() {
    shared().capturing.store(false, Ordering::Release);
}
