//! The running thread: its id, and whether it is traced.

use pyo3::ffi;
use pyo3::prelude::*;

use super::capi;
use super::layout::ThreadState;
use super::native_stack;

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

/// Whether this interpreter knows of no other thread.
pub fn is_alone(py: Python<'_>) -> bool {
    // SAFETY: the current thread state is alive; whoever adds one to the list or takes one off writes a pointer at once.
    unsafe {
        let tstate = current(py);
        (&raw const (*tstate).prev).read_volatile().is_null() && (&raw const (*tstate).next).read_volatile().is_null()
    }
}

/// Frames of Python code that this thread may enter before it is a `RecursionError`.
#[inline]
pub fn frames_left(py: Python<'_>) -> usize {
    // SAFETY: the current thread state is alive.
    let left = unsafe {
        let tstate = current(py);
        #[cfg(Py_3_12)]
        {
            (*tstate).py_recursion_remaining
        }
        #[cfg(all(Py_3_11, not(Py_3_12)))]
        {
            (*tstate).recursion_remaining
        }
        #[cfg(not(Py_3_11))]
        {
            ffi::Py_GetRecursionLimit() - (*tstate).recursion_depth
        }
    };
    usize::try_from(left).unwrap_or(0)
}

/// Whether little of the native stack is left, so that nothing is to be captured.
#[inline]
pub fn stack_is_low(py: Python<'_>) -> bool {
    // SAFETY: the current thread state.
    unsafe { native_stack::is_low(current(py)) }
}

/// Runs Python code whose `RecursionError` the caller will swallow.
///
/// 3.8 and 3.9 note an overflow in the thread state and then abort the process 50 calls above the limit
/// instead of raising again; the note is taken back, since the deep calls are over. Whoever drops an
/// error that Python code raised (capture near the recursion limit) must have called it through here.
#[inline]
pub fn absorbing_recursion<R>(py: Python<'_>, f: impl FnOnce() -> R) -> R {
    absorbing(py, f, |_| true)
}

/// Runs native code that the interpreter calls: what it brings to a good end has no overflow that the caller could know of.
///
/// As [`absorbing_recursion`], but an error is the caller's, with its note.
#[inline]
pub(super) fn absorbing_unless_raised<R>(py: Python<'_>, f: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    absorbing(py, f, Result::is_ok)
}

/// Takes the note of an overflow back where `absorbs` says so of the result.
#[inline]
fn absorbing<R>(py: Python<'_>, f: impl FnOnce() -> R, absorbs: impl FnOnce(&R) -> bool) -> R {
    #[cfg(Py_3_10)]
    {
        let _ = (py, absorbs);
        f()
    }
    #[cfg(not(Py_3_10))]
    {
        let tstate = current(py);
        // SAFETY: the current thread state is alive for as long as this thread is attached.
        let before = unsafe { (*tstate).overflowed };
        let result = f();
        if absorbs(&result) {
            // SAFETY: as above.
            unsafe { (*tstate).overflowed = before };
        }
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

/// The exception that is being handled: `sys.exc_info()[1]`.
pub fn handled_exception(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    handled(py).0
}

/// The exception that is being handled, and the traceback that lies beside it up to 3.10: `sys.exc_info()[1:]`.
pub fn handled(py: Python<'_>) -> (Option<Bound<'_, PyAny>>, Option<Bound<'_, PyAny>>) {
    let (mut class, mut value, mut traceback) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the thread is attached; the function gives three owned references, each of which may be NULL.
    unsafe {
        ffi::PyErr_GetExcInfo(&raw mut class, &raw mut value, &raw mut traceback);
        drop(Bound::from_owned_ptr_or_opt(py, class));
        let traceback = Bound::from_owned_ptr_or_opt(py, traceback);
        (Bound::from_owned_ptr_or_opt(py, value).filter(|value| !value.is_none()), traceback)
    }
}

/// From now on this exception, or none, is what is being handled.
pub fn set_handled_exception(py: Python<'_>, exception: Option<Bound<'_, PyAny>>) {
    let traceback = exception.as_ref().and_then(super::traceback::of_object);
    set_handled(py, exception, traceback);
}

/// As [`set_handled_exception`], with this traceback beside it, which up to 3.10 need not be its own.
pub fn set_handled<'py>(py: Python<'py>, exception: Option<Bound<'py, PyAny>>, traceback: Option<Bound<'py, PyAny>>) {
    let Some(exception) = exception else {
        // SAFETY: the thread is attached; NULL means none.
        unsafe { ffi::PyErr_SetExcInfo(std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut()) };
        return;
    };
    let class = exception.get_type();
    let traceback = traceback.unwrap_or_else(|| py.None().into_bound(py));
    // SAFETY: the thread is attached; the function takes over three references.
    unsafe { ffi::PyErr_SetExcInfo(class.into_ptr(), exception.into_ptr(), traceback.into_ptr()) };
}

/// `Py_ReprEnter`: the `repr` of a container is under way in this thread.
pub fn begin_repr(container: Borrowed<'_, '_, PyAny>) -> PyResult<()> {
    // SAFETY: a live object.
    match unsafe { ffi::Py_ReprEnter(container.as_ptr()) } {
        -1 => Err(PyErr::fetch(container.py())),
        _ => Ok(()),
    }
}

/// `Py_ReprLeave`.
pub fn end_repr(container: Borrowed<'_, '_, PyAny>) {
    // SAFETY: a live object.
    unsafe { ffi::Py_ReprLeave(container.as_ptr()) }
}
