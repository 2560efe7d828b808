//! What a hook sees of a frame that is about to run.
//!
//! No frame object is made. Up to 3.10 an argument that a closure captures lives in its cell by now and
//! is read from there; from 3.11 all arguments are still in their slots. Both look the same here.

use std::marker::PhantomData;

use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyString};
use smallvec::SmallVec;

#[cfg(not(Py_3_11))]
use super::layout::Code;
use super::layout::Frame;
use super::signature::{Signature, argument_names};
use super::slots::Slots;

/// A frame before its first instruction.
pub struct FrameView<'a, 'py> {
    py: Python<'py>,
    frame: *mut Frame,
    signature: Signature,
    /// Argument values, if they are not all in the frame's own array.
    unboxed: Option<SmallVec<[*mut PyObject; 8]>>,
    life: PhantomData<&'a ()>,
}

impl<'py> FrameView<'_, 'py> {
    /// # Safety
    /// `frame` is a frame of optimised code that has not started and lives for `'a`.
    pub(super) unsafe fn new(py: Python<'py>, frame: *mut Frame) -> Self {
        // SAFETY: by contract.
        unsafe {
            let signature = Signature::of_raw((*frame).f_code);
            FrameView { py, frame, signature, unboxed: unboxed_arguments(frame, &signature), life: PhantomData }
        }
    }

    /// # Safety
    /// `object` is an object that the frame keeps alive.
    unsafe fn borrowed(&self, object: *mut PyObject) -> Bound<'py, PyAny> {
        // SAFETY: by contract.
        unsafe { Bound::from_borrowed_ptr(self.py, object) }
    }

    pub fn py(&self) -> Python<'py> {
        self.py
    }

    pub fn code(&self) -> Bound<'py, PyCode> {
        // SAFETY: a frame owns its code.
        unsafe { self.borrowed((*self.frame).f_code.cast()).cast_into_unchecked() }
    }

    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// The function that was called; unknown before 3.11.
    pub fn function(&self) -> Option<Bound<'py, PyAny>> {
        #[cfg(Py_3_11)]
        {
            // SAFETY: a frame owns its function.
            Some(unsafe { self.borrowed((*self.frame).f_func) })
        }
        #[cfg(not(Py_3_11))]
        {
            None
        }
    }

    pub fn globals(&self) -> Bound<'py, PyDict> {
        // SAFETY: the frame or its function keeps them alive; functions have a real dict.
        unsafe { self.borrowed((*self.frame).f_globals).cast_into_unchecked() }
    }

    /// The builtins the frame uses: a dict, but for hand-made globals.
    pub fn builtins(&self) -> Bound<'py, PyAny> {
        // SAFETY: as for the globals.
        unsafe { self.borrowed((*self.frame).f_builtins) }
    }

    /// The bound arguments.
    pub fn slots(&self) -> Slots<'_> {
        let count = self.signature.slots();
        // SAFETY: the argument slots come first in the frame, which does not run while it is viewed.
        unsafe {
            match &self.unboxed {
                Some(values) => Slots::from_raw(values.as_ptr(), count),
                None => Slots::from_raw(slots_of(self.frame), count),
            }
        }
    }

    /// The cell of free variable `index` (in `co_freevars` order).
    pub fn closure_cell(&self, index: usize) -> Option<Bound<'py, PyAny>> {
        // SAFETY: the index is checked against the number of cells.
        unsafe {
            #[cfg(Py_3_11)]
            {
                let function = (*self.frame).f_func.cast::<ffi::PyFunctionObject>();
                let closure = (*function).func_closure;
                if closure.is_null() || index >= ffi::PyTuple_GET_SIZE(closure) as usize {
                    return None;
                }
                let cell = ffi::PyTuple_GET_ITEM(closure, index as ffi::Py_ssize_t);
                Some(self.borrowed(cell))
            }
            #[cfg(not(Py_3_11))]
            {
                let code = (*self.frame).f_code;
                if index >= ffi::PyTuple_GET_SIZE((*code).co_freevars) as usize {
                    return None;
                }
                let cells = ffi::PyTuple_GET_SIZE((*code).co_cellvars) as usize;
                let place = (*code).co_nlocals as usize + cells + index;
                let cell = *slots_of(self.frame).add(place);
                (!cell.is_null()).then(|| self.borrowed(cell))
            }
        }
    }

    /// Bound arguments and the contents of free variables, by name.
    pub fn locals(&self) -> PyResult<Bound<'py, PyDict>> {
        let locals = PyDict::new(self.py);
        let slots = self.slots();
        for index in 0..slots.len() {
            if let Some(value) = slots.get(self.py, index) {
                locals.set_item(self.argument_name(index), value)?;
            }
        }
        let free = self.code().getattr("co_freevars")?;
        for (index, name) in free.try_iter()?.enumerate() {
            let cell = self.closure_cell(index);
            if let Some(value) = cell.and_then(|cell| super::facts::cell_contents(&cell)) {
                locals.set_item(name?, value)?;
            }
        }
        Ok(locals)
    }

    /// The name of argument slot `index`, which must be in range.
    fn argument_name(&self, index: usize) -> Bound<'py, PyString> {
        assert!(index < self.signature.slots());
        // SAFETY: the names tuple holds at least one string per argument slot.
        unsafe {
            let names = argument_names((*self.frame).f_code);
            self.borrowed(ffi::PyTuple_GET_ITEM(names, index as ffi::Py_ssize_t)).cast_into_unchecked()
        }
    }
}

/// # Safety
/// `frame` is a live frame.
#[inline]
pub(super) unsafe fn slots_of(frame: *mut Frame) -> *mut *mut PyObject {
    // SAFETY: by contract; the array continues behind the struct.
    unsafe {
        #[cfg(Py_3_11)]
        return (&raw mut (*frame).localsplus).cast();
        #[cfg(not(Py_3_11))]
        return (&raw mut (*frame).f_localsplus).cast();
    }
}

#[cfg(Py_3_11)]
unsafe fn unboxed_arguments(_frame: *mut Frame, _signature: &Signature) -> Option<SmallVec<[*mut PyObject; 8]>> {
    None
}

/// # Safety
/// `frame` is a frame that has not started.
#[cfg(not(Py_3_11))]
unsafe fn unboxed_arguments(frame: *mut Frame, signature: &Signature) -> Option<SmallVec<[*mut PyObject; 8]>> {
    // SAFETY: the map has one entry per cell variable; cells follow the locals.
    unsafe {
        let code = (*frame).f_code;
        if (*code).co_cell2arg.is_null() {
            return None;
        }
        let slots = slots_of(frame);
        let mut values: SmallVec<[*mut PyObject; 8]> = (0..signature.slots()).map(|index| *slots.add(index)).collect();
        for (cell, argument) in cell_arguments(code) {
            let cell = *slots.add((*code).co_nlocals as usize + cell);
            if values[argument].is_null() && !cell.is_null() {
                values[argument] = (*cell.cast::<ffi::PyCellObject>()).ob_ref;
            }
        }
        Some(values)
    }
}

/// (cell variable, argument slot) pairs: arguments that live in a cell.
///
/// # Safety
/// `code` is a code object, alive while the result is used.
#[cfg(not(Py_3_11))]
pub(super) unsafe fn cell_arguments(code: *mut Code) -> SmallVec<[(usize, usize); 4]> {
    // SAFETY: the map has one entry per cell variable.
    unsafe {
        let map = (*code).co_cell2arg;
        if map.is_null() {
            return SmallVec::new();
        }
        let cells = ffi::PyTuple_GET_SIZE((*code).co_cellvars) as usize;
        let arguments = Signature::of_raw(code).slots() as isize;
        (0..cells)
            .map(|cell| (cell, *map.add(cell)))
            .filter(|(_, argument)| (0..arguments).contains(argument))
            .map(|(cell, argument)| (cell, argument as usize))
            .collect()
    }
}
