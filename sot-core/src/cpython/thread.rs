//! The running thread: its id, and whether it is traced.

use pyo3::prelude::*;

use super::capi;
use super::layout::ThreadState;

/// The current thread state.
#[inline]
pub(super) fn current(_py: Python<'_>) -> *mut ThreadState {
    // SAFETY: the thread is attached, so there is a current thread state.
    unsafe { capi::PyThreadState_Get() }
}

/// Whether `sys.settrace` or `sys.setprofile` is active for this thread, so that frames are observed.
#[inline]
pub fn tracing_active(py: Python<'_>) -> bool {
    // SAFETY: the current thread state is alive.
    unsafe {
        let tstate = current(py);
        !(*tstate).c_tracefunc.is_null() || !(*tstate).c_profilefunc.is_null()
    }
}

/// Whether a trace or profile function is running right now.
///
/// # Safety
/// `tstate` is the current thread state.
#[inline]
pub(super) unsafe fn inside_trace_function(tstate: *mut ThreadState) -> bool {
    // SAFETY: by contract.
    unsafe { (*tstate).tracing > 0 }
}

/// Runs Python code whose `RecursionError` the caller will swallow.
///
/// 3.8 and 3.9 note an overflow in the thread state and then abort the process 50 calls above the limit
/// instead of raising again; the note is taken back, since the deep calls are over. Whoever drops an
/// error that Python code raised (capture near the recursion limit) must have called it through here.
#[inline]
pub fn absorbing_recursion<R>(py: Python<'_>, f: impl FnOnce() -> R) -> R {
    #[cfg(Py_3_10)]
    {
        let _ = py;
        f()
    }
    #[cfg(not(Py_3_10))]
    {
        let tstate = current(py);
        // SAFETY: the current thread state is alive for as long as this thread is attached.
        let before = unsafe { (*tstate).overflowed };
        let result = f();
        // SAFETY: as above.
        unsafe { (*tstate).overflowed = before };
        result
    }
}

/// Whether the thread is unwinding from a stack overflow (known on 3.8 and 3.9 only).
///
/// # Safety
/// `tstate` is the current thread state.
#[inline]
pub(super) unsafe fn overflowed(tstate: *mut ThreadState) -> bool {
    #[cfg(Py_3_10)]
    {
        let _ = tstate;
        false
    }
    #[cfg(not(Py_3_10))]
    {
        // SAFETY: by contract.
        unsafe { (*tstate).overflowed != 0 }
    }
}

/// `threading.get_ident()`.
pub fn thread_id(_py: Python<'_>) -> u64 {
    unsafe extern "C" {
        fn PyThread_get_thread_ident() -> std::ffi::c_ulong;
    }
    // SAFETY: callable from any thread.
    unsafe { PyThread_get_thread_ident() as u64 }
}
