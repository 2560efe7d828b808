//! C functions that pyo3-ffi does not declare, or declares wrongly for 3.8.

use std::ffi::c_int;

use pyo3::ffi::{self, PyObject};

use super::layout::{Frame, ThreadState};

/// `_PyFrameEvalFunction`.
#[cfg(not(Py_3_9))]
pub(super) type EvalFunc = unsafe extern "C" fn(*mut Frame, c_int) -> *mut PyObject;
/// `_PyFrameEvalFunction`.
#[cfg(Py_3_9)]
pub(super) type EvalFunc = unsafe extern "C" fn(*mut ThreadState, *mut Frame, c_int) -> *mut PyObject;

unsafe extern "C" {
    #[cfg(not(Py_3_9))]
    pub(super) fn _PyEval_EvalFrameDefault(frame: *mut Frame, throwflag: c_int) -> *mut PyObject;
    #[cfg(Py_3_9)]
    pub(super) fn _PyEval_EvalFrameDefault(
        tstate: *mut ThreadState,
        frame: *mut Frame,
        throwflag: c_int,
    ) -> *mut PyObject;
    #[cfg(Py_3_9)]
    pub(super) fn _PyInterpreterState_GetEvalFrameFunc(interp: *mut ffi::PyInterpreterState) -> EvalFunc;
    #[cfg(Py_3_9)]
    pub(super) fn _PyInterpreterState_SetEvalFrameFunc(interp: *mut ffi::PyInterpreterState, function: EvalFunc);
    /// `_PyRuntimeState`: it holds what each interpreter has for itself since 3.9.
    #[cfg(not(Py_3_9))]
    pub(super) static mut _PyRuntime: u8;
    pub(super) fn PyThreadState_Get() -> *mut ThreadState;
    #[cfg(not(Py_3_11))]
    pub(super) fn PyFrame_New(
        tstate: *mut ThreadState,
        code: *mut PyObject,
        globals: *mut PyObject,
        locals: *mut PyObject,
    ) -> *mut Frame;
    pub(super) fn _PyType_Lookup(ty: *mut ffi::PyTypeObject, name: *mut PyObject) -> *mut PyObject;
    pub(super) fn _PyWeakref_ClearRef(reference: *mut PyObject);
    #[cfg(Py_3_12)]
    pub(super) fn PyType_GetDict(ty: *mut ffi::PyTypeObject) -> *mut PyObject;
    pub(super) fn _PyDict_GetItem_KnownHash(
        dict: *mut PyObject,
        key: *mut PyObject,
        hash: ffi::Py_hash_t,
    ) -> *mut PyObject;
    pub(super) fn _PyDict_SetItem_KnownHash(
        dict: *mut PyObject,
        key: *mut PyObject,
        value: *mut PyObject,
        hash: ffi::Py_hash_t,
    ) -> c_int;
    pub(super) fn _PyDict_DelItem_KnownHash(dict: *mut PyObject, key: *mut PyObject, hash: ffi::Py_hash_t) -> c_int;
    pub(super) static mut PyODict_Type: ffi::PyTypeObject;
    pub(super) fn PyODict_SetItem(dict: *mut PyObject, key: *mut PyObject, value: *mut PyObject) -> c_int;
    pub(super) fn PyODict_DelItem(dict: *mut PyObject, key: *mut PyObject) -> c_int;
    pub(super) static mut PyMethod_Type: ffi::PyTypeObject;
    pub(super) fn PyMethod_New(function: *mut PyObject, obj: *mut PyObject) -> *mut PyObject;
    /// pyo3-ffi links `_PyVectorcall_Call` before 3.12, which does not exist.
    pub(super) fn PyVectorcall_Call(
        callable: *mut PyObject,
        tuple: *mut PyObject,
        dict: *mut PyObject,
    ) -> *mut PyObject;
    #[cfg(not(Py_3_9))]
    pub(super) fn _PyObject_MakeTpCall(
        callable: *mut PyObject,
        args: *const *mut PyObject,
        nargs: ffi::Py_ssize_t,
        keywords: *mut PyObject,
    ) -> *mut PyObject;
    #[cfg(not(Py_3_9))]
    pub(super) fn _Py_CheckFunctionResult(
        callable: *mut PyObject,
        result: *mut PyObject,
        place: *const std::ffi::c_char,
    ) -> *mut PyObject;
}

/// Set in a vectorcall's `nargsf` when `args[-1]` may be overwritten for the time of the call.
pub(super) const ARGUMENTS_OFFSET: usize = 1 << (usize::BITS - 1);

/// `PyObject_Vectorcall`.
///
/// # Safety
/// As the C function: `args` holds the positional arguments, then one per name in `kwnames`.
#[cfg(Py_3_9)]
#[inline]
pub(super) unsafe fn vectorcall(
    callable: *mut PyObject,
    args: *const *mut PyObject,
    nargsf: usize,
    kwnames: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: passed on to the caller.
    unsafe { ffi::PyObject_Vectorcall(callable, args, nargsf, kwnames) }
}

/// `PyObject_Vectorcall`, spelt out: pyo3-ffi's 3.8 version calls 3.9 signatures.
///
/// # Safety
/// As the C function: `args` holds the positional arguments, then one per name in `kwnames`.
#[cfg(not(Py_3_9))]
#[inline]
pub(super) unsafe fn vectorcall(
    callable: *mut PyObject,
    args: *const *mut PyObject,
    nargsf: usize,
    kwnames: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: a type with the vectorcall flag has a function pointer at its offset.
    unsafe {
        let ty = ffi::Py_TYPE(callable);
        if (*ty).tp_flags & (1 << 11) != 0 {
            let offset = (*ty).tp_vectorcall_offset as usize;
            let function = *callable.cast::<u8>().add(offset).cast::<Option<ffi::vectorcallfunc>>();
            if let Some(function) = function {
                let result = function(callable, args, nargsf, kwnames);
                return _Py_CheckFunctionResult(callable, result, std::ptr::null());
            }
        }
        _PyObject_MakeTpCall(callable, args, (nargsf & !ARGUMENTS_OFFSET) as ffi::Py_ssize_t, kwnames)
    }
}
