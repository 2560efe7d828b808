//! A process as a copy of another: what a self-check runs plain Python in ([`crate::settings::verifies`]).

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// Which of the two processes this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one that was there. The number of the other.
    Parent(i32),
    /// The copy: this thread alone.
    Copy,
}

/// `os.fork`, without its warning where the process has other threads: the warning would be the program's to see, and mark its filters as
/// changed. An error: there is no other process.
#[cfg(unix)]
pub fn fork(_py: Python<'_>) -> PyResult<Side> {
    use pyo3::ffi;
    use std::ffi::c_int;

    unsafe extern "C" {
        fn fork() -> c_int;
    }
    // SAFETY: the interpreter is attached, and is told before and after, as `os.fork` does.
    let (number, error) = unsafe {
        ffi::PyOS_BeforeFork();
        let number = fork();
        let error = std::io::Error::last_os_error();
        if number == 0 {
            ffi::PyOS_AfterFork_Child();
        } else {
            ffi::PyOS_AfterFork_Parent();
        }
        (number, error)
    };
    match number {
        0 => Ok(Side::Copy),
        1.. => Ok(Side::Parent(number)),
        _ => Err(PyOSError::new_err(error.to_string())),
    }
}

/// There is no such thing here.
#[cfg(not(unix))]
pub fn fork(_py: Python<'_>) -> PyResult<Side> {
    Err(PyOSError::new_err("processes cannot be copied on this system"))
}
