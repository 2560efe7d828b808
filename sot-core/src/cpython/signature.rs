//! The argument layout of a code object, read straight from its head.

use std::ffi::c_int;

use pyo3::ffi;
use pyo3::prelude::*;

use super::layout::Code;

pub(super) const CO_OPTIMIZED: c_int = 0x1;
pub(super) const CO_NEWLOCALS: c_int = 0x2;
pub(super) const CO_VARARGS: c_int = 0x4;
pub(super) const CO_VARKEYWORDS: c_int = 0x8;
/// Generator, coroutine or async generator: a call makes an object.
pub(super) const CO_GENERATOR_LIKE: c_int = 0x20 | 0x80 | 0x200;

/// How many arguments of each kind a code object takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    pub posonly: usize,
    /// Positional arguments, positional-only ones included.
    pub positional: usize,
    pub kwonly: usize,
    pub varargs: bool,
    pub varkw: bool,
}

impl Signature {
    /// Number of argument slots.
    #[inline]
    pub fn slots(&self) -> usize {
        self.positional + self.kwonly + usize::from(self.varargs) + usize::from(self.varkw)
    }

    /// # Safety
    /// `code` is a code object.
    #[inline]
    pub(super) unsafe fn of_raw(code: *mut Code) -> Signature {
        // SAFETY: by contract; the fields are plain integers.
        unsafe {
            let flags = (*code).co_flags;
            Signature {
                posonly: (*code).co_posonlyargcount as usize,
                positional: (*code).co_argcount as usize,
                kwonly: (*code).co_kwonlyargcount as usize,
                varargs: flags & CO_VARARGS != 0,
                varkw: flags & CO_VARKEYWORDS != 0,
            }
        }
    }

    /// The signature of a code object; `None` for anything else.
    pub fn of(code: &Bound<'_, PyAny>) -> Option<Signature> {
        // SAFETY: the type is checked first.
        unsafe { (ffi::PyCode_Check(code.as_ptr()) != 0).then(|| Signature::of_raw(code.as_ptr().cast())) }
    }
}

/// The tuple whose first items are the argument names, in slot order.
///
/// # Safety
/// `code` is a code object; the result lives as long as it.
#[inline]
pub(super) unsafe fn argument_names(code: *mut Code) -> *mut ffi::PyObject {
    // SAFETY: by contract.
    unsafe {
        #[cfg(Py_3_11)]
        return (*code).co_localsplusnames;
        #[cfg(not(Py_3_11))]
        return (*code).co_varnames;
    }
}
