//! Symbols of libraries that are already loaded into the process.
//!
//! Looking one up is safe; calling it is not, and is left to whoever knows its type.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::NonNull;

#[cfg(unix)]
unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

#[cfg(target_os = "linux")]
const LAZY_IF_LOADED: c_int = 0x1 | 0x4;
#[cfg(all(unix, not(target_os = "linux")))]
const LAZY_IF_LOADED: c_int = 0x1 | 0x10;

/// The address of a symbol; its library stays loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol(NonNull<c_void>);

// SAFETY: an address, valid in all threads.
unsafe impl Send for Symbol {}
// SAFETY: as above.
unsafe impl Sync for Symbol {}

impl Symbol {
    pub fn address(self) -> NonNull<c_void> {
        self.0
    }
}

/// A library that some other code has loaded.
#[derive(Clone, Copy, Debug)]
pub struct Library(NonNull<c_void>);

impl Library {
    /// The loaded library of this name or path; it is never loaded anew. The handle is kept for good.
    pub fn loaded(path: &CStr) -> Option<Library> {
        #[cfg(unix)]
        {
            // SAFETY: with NOLOAD no initialiser runs.
            NonNull::new(unsafe { dlopen(path.as_ptr(), LAZY_IF_LOADED) }).map(Library)
        }
        #[cfg(not(unix))]
        {
            let _ = path;
            None
        }
    }

    pub fn symbol(self, name: &CStr) -> Option<Symbol> {
        #[cfg(unix)]
        {
            // SAFETY: the handle is never closed.
            NonNull::new(unsafe { dlsym(self.0.as_ptr(), name.as_ptr()) }).map(Symbol)
        }
        #[cfg(not(unix))]
        {
            let _ = name;
            None
        }
    }
}

/// Whether an address lies in the program or a loaded library, as that of a function does.
#[cfg(not(Py_3_9))]
pub(super) fn is_in_a_library(address: *const c_void) -> bool {
    #[cfg(unix)]
    {
        unsafe extern "C" {
            fn dladdr(address: *const c_void, info: *mut [*const c_void; 4]) -> c_int;
        }
        let mut info = [std::ptr::null(); 4];
        // SAFETY: any address may be asked about; `Dl_info` is four words.
        unsafe { dladdr(address, &raw mut info) != 0 }
    }
    #[cfg(not(unix))]
    {
        let _ = address;
        false
    }
}
