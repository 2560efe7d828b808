//! Frame objects that never ran: what a traceback entry of an inlined call shows.
//!
//! `PyFrame_New` gives a frame whose locals, cells and free variables are all NULL. That is not a state in which CPython
//! itself ever shows a frame: from 3.11 on `f_locals` reads the cell of each free variable without a test. So every cell
//! is filled here before anybody sees the frame, with an empty one where none is known, and what the frame shows besides
//! (instruction, caller) is written into it.

use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict};

use super::frame::slots_of;
#[cfg(Py_3_11)]
use super::layout::FrameObject;
use super::layout::{Code, Frame};

/// A frame as the user's program has it, at the moment of an exception.
pub struct TracebackFrame<'py> {
    pub code: Bound<'py, PyCode>,
    pub globals: Bound<'py, PyDict>,
    /// Byte offset of the instruction that raised, or that waits for a call: `tb_lasti`. It finds the columns.
    pub offset: Option<u32>,
    /// None: the code says no line there.
    pub line: Option<u32>,
    /// `f_lasti`, where that is another one: the frame went on to a `finally` before the exception left it.
    pub left_at: Option<u32>,
    /// Values by index into `co_varnames`. What is left out shows as not bound.
    pub locals: Vec<Known<'py>>,
    /// Cells (not their contents) by index into `co_cellvars + co_freevars`.
    pub cells: Vec<Known<'py>>,
    /// The frame object, if another traceback has one of this frame, which shows the variables.
    pub made: Option<Bound<'py, PyAny>>,
}

/// A value, and the index of its variable.
pub type Known<'py> = (u32, Bound<'py, PyAny>);

/// Where the variables of a code object are in its frames.
struct Slots {
    locals: usize,
    /// Slot of each cell variable, then of each free variable.
    cells: Vec<usize>,
    /// Total.
    count: usize,
}

/// # Safety
/// `code` is a code object.
#[cfg(Py_3_11)]
unsafe fn slots_of_code(code: *mut Code) -> Slots {
    const CELL: u8 = 0x40;
    const FREE: u8 = 0x80;
    // SAFETY: by contract; one byte for each variable.
    unsafe {
        let count = (*code).co_nlocalsplus as usize;
        let kinds = ffi::PyBytes_AsString((*code).co_localspluskinds).cast::<u8>();
        let of_kind = |kind: u8| (0..count).filter(move |slot| *kinds.add(*slot) & kind != 0);
        Slots { locals: (*code).co_nlocals as usize, cells: of_kind(CELL).chain(of_kind(FREE)).collect(), count }
    }
}

/// # Safety
/// `code` is a code object.
#[cfg(not(Py_3_11))]
unsafe fn slots_of_code(code: *mut Code) -> Slots {
    // SAFETY: by contract; locals, cells and free variables follow each other.
    unsafe {
        let locals = (*code).co_nlocals as usize;
        let cells = ffi::PyTuple_GET_SIZE((*code).co_cellvars) + ffi::PyTuple_GET_SIZE((*code).co_freevars);
        let count = locals + cells as usize;
        Slots { locals, cells: (locals..count).collect(), count }
    }
}

/// # Safety
/// `object` is a frame object.
#[cfg(Py_3_11)]
unsafe fn frame_of(object: *mut PyObject) -> *mut Frame {
    // SAFETY: by contract.
    unsafe { (*object.cast::<FrameObject>()).f_frame }
}

/// # Safety
/// `object` is a frame object.
#[cfg(not(Py_3_11))]
unsafe fn frame_of(object: *mut PyObject) -> *mut Frame {
    object.cast()
}

/// Where a frame object keeps its caller's.
///
/// # Safety
/// `object` is a frame object.
unsafe fn back_of(object: *mut PyObject) -> *mut *mut PyObject {
    // SAFETY: by contract.
    unsafe {
        #[cfg(Py_3_11)]
        return &raw mut (*object.cast::<FrameObject>()).f_back;
        #[cfg(not(Py_3_11))]
        return (&raw mut (*object.cast::<Frame>()).f_back).cast();
    }
}

/// # Safety
/// `slot` owns what it holds; `value` is a new reference or NULL.
unsafe fn put(slot: *mut *mut PyObject, value: *mut PyObject) {
    // SAFETY: by contract; the slot is valid before the old value's destructor can run.
    unsafe { ffi::Py_XDECREF(slot.replace(value)) }
}

/// Let `f_lasti` be a byte offset. What lies before the first instruction that a program can stop at is left out: there
/// the cells would not have been made yet.
///
/// # Safety
/// `frame` is a frame that `PyFrame_New` made for `code`.
#[cfg(Py_3_11)]
unsafe fn stand_at(frame: *mut Frame, code: *mut Code, offset: u32) {
    // SAFETY: by contract; the offset was compared with the code's size.
    unsafe {
        let units = offset as usize / 2;
        let size = (*code).ob_base.ob_size as usize;
        if (((*code)._co_firsttraceable as usize)..size).contains(&units) {
            let first: *mut u16 = (&raw mut (*code).co_code_adaptive).cast();
            (*frame).instr = first.add(units);
        }
    }
}

/// # Safety
/// `frame` is a frame that `PyFrame_New` made for `code`.
#[cfg(not(Py_3_11))]
unsafe fn stand_at(frame: *mut Frame, code: *mut Code, offset: u32) {
    // SAFETY: by contract.
    unsafe {
        if ffi::PyBytes_Size((*code).co_code) > offset as ffi::Py_ssize_t {
            // 3.10 counts code units.
            (*frame).f_lasti = (if cfg!(Py_3_10) { offset / 2 } else { offset }) as _;
        }
    }
}

/// # Safety
/// `slots` are those of a frame that never runs, of the code whose variables these are.
unsafe fn fill_slots(slots: *mut *mut PyObject, variables: &Slots, locals: &[Known<'_>], cells: &[Known<'_>]) {
    // SAFETY: by contract; indices and types are checked.
    unsafe {
        for (local, value) in locals {
            if (*local as usize) < variables.locals {
                put(slots.add(*local as usize), value.clone().into_ptr());
            }
        }
        for (cell, object) in cells {
            let slot = variables.cells.get(*cell as usize).filter(|slot| **slot < variables.count);
            if let Some(slot) = slot.filter(|_| ffi::PyCell_Check(object.as_ptr()) != 0) {
                put(slots.add(*slot), object.clone().into_ptr());
            }
        }
    }
}

/// Whether a frame object runs no code, now or later: [`build`] has made it, or it has ended.
pub(super) fn never_runs(frame: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the type is checked.
    unsafe {
        if ffi::PyFrame_Check(frame.as_ptr()) == 0 {
            return false;
        }
        let frame = frame_of(frame.as_ptr());
        #[cfg(Py_3_11)]
        {
            const FRAME_OWNED_BY_FRAME_OBJECT: std::ffi::c_char = 2;
            (*frame).owner == FRAME_OWNED_BY_FRAME_OBJECT
        }
        #[cfg(all(Py_3_10, not(Py_3_11)))]
        {
            const FRAME_CREATED: i8 = -2;
            (*frame).f_gen.is_null() && (*frame).f_state == FRAME_CREATED
        }
        #[cfg(not(Py_3_10))]
        {
            (*frame).f_gen.is_null() && (*frame).f_executing == 0
        }
    }
}

/// A frame that [`never_runs`] stands at an instruction.
pub(super) fn stands_at(frame: &Bound<'_, PyAny>, offset: Option<u32>) {
    let code = frame.getattr("f_code");
    if let (Ok(code), Some(offset), true) = (code, offset, never_runs(frame)) {
        // SAFETY: a frame object and its code; it does not run.
        unsafe { stand_at(frame_of(frame.as_ptr()), code.as_ptr().cast(), offset) }
    }
}

/// More of its variables are known of a frame that [`build`] has made. `whole`: no others are bound.
pub(super) fn fill(frame: &Bound<'_, PyAny>, locals: &[Known<'_>], cells: &[Known<'_>], whole: bool) -> PyResult<()> {
    let code = frame.getattr("f_code")?.cast_into::<PyCode>()?;
    // SAFETY: both types are checked; the frame is of this code, and has never run.
    unsafe {
        if ffi::PyFrame_Check(frame.as_ptr()) != 0 {
            let slots = slots_of(frame_of(frame.as_ptr()));
            let variables = slots_of_code(code.as_ptr().cast());
            if whole {
                let bound = |slot: &usize| locals.iter().any(|(local, _)| *local as usize == *slot);
                let unbound = (0..variables.locals).filter(|slot| !bound(slot) && !variables.cells.contains(slot));
                unbound.for_each(|slot| put(slots.add(slot), std::ptr::null_mut()));
            }
            fill_slots(slots, &variables, locals, cells);
        }
    }
    Ok(())
}

/// A frame object that shows what `shown` says, called by `back`.
pub(super) fn build<'py>(
    py: Python<'py>,
    shown: &TracebackFrame<'py>,
    back: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(made) = shown.made.as_ref().filter(|made| never_runs(made)) {
        // SAFETY: a frame object that runs no code owns its `f_back`.
        unsafe { put(back_of(made.as_ptr()), back.map_or(std::ptr::null_mut(), |back| back.clone().into_ptr())) };
        return Ok(made.clone());
    }
    let code = shown.code.as_ptr();
    // SAFETY: the thread is attached; code and globals are of the right types. The frame is never run; every slot of its
    // array is owned by it, and NULL or an object of the kind that the code wants there.
    unsafe {
        let frame =
            ffi::PyFrame_New(ffi::PyThreadState_Get(), code.cast(), shown.globals.as_ptr(), std::ptr::null_mut());
        let object = Bound::from_owned_ptr_or_err(py, frame.cast())?;
        let (frame, code) = (frame_of(object.as_ptr()), code.cast::<Code>());
        let (slots, variables) = (slots_of(frame), slots_of_code(code));
        for slot in variables.cells.iter().filter(|slot| **slot < variables.count) {
            let cell = Bound::from_owned_ptr_or_err(py, ffi::PyCell_New(std::ptr::null_mut()))?;
            put(slots.add(*slot), cell.into_ptr());
        }
        fill_slots(slots, &variables, &shown.locals, &shown.cells);
        if let Some(offset) = shown.left_at.or(shown.offset) {
            stand_at(frame, code, offset);
        }
        put(back_of(object.as_ptr()), back.map_or(std::ptr::null_mut(), |back| back.clone().into_ptr()));
        Ok(object)
    }
}

/// The frame of the Python code that runs now.
pub(super) fn current(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    // SAFETY: the thread is attached.
    unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) }
}

/// A frame that has ended was called by `new`, if it says that it was called by `old`.
pub(super) fn relink(frame: &Bound<'_, PyAny>, old: &Bound<'_, PyAny>, new: &Bound<'_, PyAny>) {
    // SAFETY: types are checked; a frame object owns its `f_back`.
    unsafe {
        if frame.is(new) || ffi::PyFrame_Check(frame.as_ptr()) == 0 || ffi::PyFrame_Check(new.as_ptr()) == 0 {
            return;
        }
        let back = back_of(frame.as_ptr());
        if *back == old.as_ptr() {
            put(back, new.clone().into_ptr());
        }
    }
}
