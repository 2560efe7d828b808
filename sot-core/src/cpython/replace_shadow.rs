//! 3.8 to 3.10: run the code in a new frame object beside the original, which never starts.
//!
//! Arguments, closure cells and cells that hold arguments move to the new frame; an argument that only
//! one of the two codes captures is boxed or unboxed on the way.

use pyo3::ffi::{self, PyObject};

use super::capi;
use super::eval_slot;
use super::frame::{cell_arguments, slots_of};
use super::hook::Misfit;
use super::layout::{Code, Frame, ThreadState};
use super::signature::Signature;

/// # Safety
/// As `replace::run`; the code fits.
pub(super) unsafe fn run(
    tstate: *mut ThreadState,
    frame: *mut Frame,
    code: *mut Code,
) -> Result<*mut PyObject, Misfit> {
    // SAFETY: by contract; the shadow frame is owned here.
    unsafe {
        let globals = (*frame).f_globals;
        let shadow = capi::PyFrame_New(tstate, code.cast(), globals, std::ptr::null_mut());
        if shadow.is_null() {
            ffi::PyErr_Clear();
            return Err(Misfit::Memory);
        }
        if !fill(frame, shadow) {
            ffi::PyErr_Clear();
            ffi::Py_DECREF(shadow.cast());
            return Err(Misfit::Memory);
        }
        empty(frame);
        let result = eval_slot::run(capi::_PyEval_EvalFrameDefault, tstate, shadow, 0);
        // As CPython does: destructors of the frame's contents do not count as a deeper call.
        (*tstate).recursion_depth += 1;
        ffi::Py_DECREF(shadow.cast());
        (*tstate).recursion_depth -= 1;
        Ok(result)
    }
}

/// Copies what the shadow frame needs; false if a cell could not be made.
///
/// # Safety
/// Both frames have not started and their codes fit each other.
unsafe fn fill(frame: *mut Frame, shadow: *mut Frame) -> bool {
    // SAFETY: indices follow the layout locals, cells, free variables of each code.
    unsafe {
        let (old, new) = ((*frame).f_code, (*shadow).f_code);
        let (from, to) = (slots_of(frame), slots_of(shadow));
        let from_cells = from.add((*old).co_nlocals as usize);
        let to_cells = to.add((*new).co_nlocals as usize);
        let (old_boxed, new_boxed) = (cell_arguments(old), cell_arguments(new));
        let cell_of = |boxed: &[(usize, usize)], argument: usize| {
            boxed.iter().find(|(_, a)| *a == argument).map(|(cell, _)| *cell)
        };
        for argument in 0..Signature::of_raw(old).slots() {
            let boxed = cell_of(&old_boxed, argument).map(|cell| *from_cells.add(cell));
            match (boxed, cell_of(&new_boxed, argument)) {
                (None, None) => share(from.add(argument), to.add(argument)),
                (Some(mut cell), Some(place)) => share(&raw mut cell, to_cells.add(place)),
                (Some(cell), None) => {
                    *to.add(argument) = ffi::PyCell_Get(cell);
                }
                (None, Some(place)) => {
                    *to_cells.add(place) = ffi::PyCell_New(*from.add(argument));
                }
            }
        }
        for place in 0..tuple_len((*new).co_cellvars) {
            let cell = to_cells.add(place);
            if (*cell).is_null() {
                *cell = ffi::PyCell_New(std::ptr::null_mut());
            }
            if (*cell).is_null() {
                return false;
            }
        }
        let from_free = from_cells.add(tuple_len((*old).co_cellvars));
        let to_free = to_cells.add(tuple_len((*new).co_cellvars));
        for index in 0..tuple_len((*new).co_freevars) {
            share(from_free.add(index), to_free.add(index));
        }
        true
    }
}

/// # Safety
/// Both point to slots; `to` is empty.
unsafe fn share(from: *mut *mut PyObject, to: *mut *mut PyObject) {
    // SAFETY: by contract.
    unsafe {
        ffi::Py_XINCREF(*from);
        *to = *from;
    }
}

/// Empties the original's argument slots, so that the new frame is the only owner, as the frame was.
///
/// # Safety
/// `frame` has not started and the shadow frame shares its contents.
unsafe fn empty(frame: *mut Frame) {
    // SAFETY: by contract; none of these references is the last one.
    unsafe {
        let code: *mut Code = (*frame).f_code;
        let cells = tuple_len((*code).co_cellvars);
        let slots = slots_of(frame);
        for index in 0..(*code).co_nlocals as usize + cells {
            ffi::Py_XDECREF(slots.add(index).replace(std::ptr::null_mut()));
        }
    }
}

/// # Safety
/// `tuple` is a tuple.
unsafe fn tuple_len(tuple: *mut PyObject) -> usize {
    // SAFETY: by contract.
    unsafe { ffi::PyTuple_GET_SIZE(tuple) as usize }
}
