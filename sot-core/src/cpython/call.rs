//! Calls through the vectorcall protocol, correct on every version (pyo3-ffi's is not on 3.8).

use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use smallvec::SmallVec;

use super::capi;
use super::slots::Slots;

/// Calls `callable` with the slots as positional arguments. An unbound slot is a `SystemError`.
#[inline]
pub fn call_slots<'py>(py: Python<'py>, callable: &Bound<'py, PyAny>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
    call_slots_kw(py, callable, args, None)
}

/// Calls `callable`; the last `kwnames.len()` slots are the keyword arguments of these names.
#[inline]
pub fn call_slots_kw<'py>(
    py: Python<'py>,
    callable: &Bound<'py, PyAny>,
    args: Slots<'_>,
    kwnames: Option<&Bound<'py, PyTuple>>,
) -> PyResult<Bound<'py, PyAny>> {
    let keywords = kwnames.map_or(0, |names| names.len());
    if keywords > args.len() || args.iter(py).any(|value| value.is_none()) {
        return Err(unbound_argument());
    }
    let names = kwnames.map_or(std::ptr::null_mut(), |names| names.as_ptr());
    // SAFETY: all arguments are objects that outlive the call; the count leaves out the keywords.
    unsafe {
        let result = capi::vectorcall(callable.as_ptr(), args.as_ptr(), args.len() - keywords, names);
        Bound::from_owned_ptr_or_err(py, result)
    }
}

/// `obj.name(*args)` without a bound-method object where the attribute is a plain method.
pub fn call_method_vectorcall<'py>(
    obj: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
    args: Slots<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = obj.py();
    let mut all: SmallVec<[Bound<'py, PyAny>; 8]> = SmallVec::with_capacity(args.len() + 1);
    all.push(obj.clone());
    for value in args.iter(py) {
        all.push(value.ok_or_else(unbound_argument)?.to_owned());
    }
    #[cfg(Py_3_9)]
    {
        // SAFETY: `all` holds the receiver and the arguments for the whole call.
        unsafe {
            let result = pyo3::ffi::PyObject_VectorcallMethod(
                name.as_ptr(),
                all.as_ptr().cast(),
                all.len(),
                std::ptr::null_mut(),
            );
            Bound::from_owned_ptr_or_err(py, result)
        }
    }
    #[cfg(not(Py_3_9))]
    {
        let method = obj.getattr(name)?;
        call_slots(py, &method, Slots::from_bound(&all[1..]))
    }
}

#[cold]
fn unbound_argument() -> PyErr {
    PySystemError::new_err("sot: an unbound slot was passed as an argument")
}
