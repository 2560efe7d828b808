//! CPython 3.10: `PyFrameObject`, the head of `PyCodeObject` and `PyThreadState`.

use std::ffi::{c_char, c_int, c_long, c_void};

use pyo3::ffi::{self, PyObject};

use super::fields;

/// `PyTryBlock`.
#[repr(C)]
pub(in crate::cpython) struct TryBlock {
    b_type: c_int,
    b_handler: c_int,
    b_level: c_int,
}

/// `PyFrameObject`.
#[repr(C)]
pub(in crate::cpython) struct Frame {
    pub(in crate::cpython) ob_base: ffi::PyVarObject,
    pub(in crate::cpython) f_back: *mut Frame,
    pub(in crate::cpython) f_code: *mut Code,
    pub(in crate::cpython) f_builtins: *mut PyObject,
    pub(in crate::cpython) f_globals: *mut PyObject,
    pub(in crate::cpython) f_locals: *mut PyObject,
    pub(in crate::cpython) f_valuestack: *mut *mut PyObject,
    pub(in crate::cpython) f_trace: *mut PyObject,
    pub(in crate::cpython) f_stackdepth: c_int,
    pub(in crate::cpython) f_trace_lines: c_char,
    pub(in crate::cpython) f_trace_opcodes: c_char,
    pub(in crate::cpython) f_gen: *mut PyObject,
    pub(in crate::cpython) f_lasti: c_int,
    pub(in crate::cpython) f_lineno: c_int,
    pub(in crate::cpython) f_iblock: c_int,
    pub(in crate::cpython) f_state: i8,
    pub(in crate::cpython) f_blockstack: [TryBlock; 20],
    pub(in crate::cpython) f_localsplus: [*mut PyObject; 1],
}

/// `PyCodeObject` up to the cell map.
#[repr(C)]
pub(in crate::cpython) struct Code {
    pub(in crate::cpython) ob_base: PyObject,
    pub(in crate::cpython) co_argcount: c_int,
    pub(in crate::cpython) co_posonlyargcount: c_int,
    pub(in crate::cpython) co_kwonlyargcount: c_int,
    pub(in crate::cpython) co_nlocals: c_int,
    pub(in crate::cpython) co_stacksize: c_int,
    pub(in crate::cpython) co_flags: c_int,
    pub(in crate::cpython) co_firstlineno: c_int,
    pub(in crate::cpython) co_code: *mut PyObject,
    pub(in crate::cpython) co_consts: *mut PyObject,
    pub(in crate::cpython) co_names: *mut PyObject,
    pub(in crate::cpython) co_varnames: *mut PyObject,
    pub(in crate::cpython) co_freevars: *mut PyObject,
    pub(in crate::cpython) co_cellvars: *mut PyObject,
    /// NULL, or for each cell variable its argument slot (255 or -1: none).
    pub(in crate::cpython) co_cell2arg: *mut isize,
}

/// `PyThreadState` up to the trace functions.
#[repr(C)]
pub(in crate::cpython) struct ThreadState {
    pub(in crate::cpython) prev: *mut ThreadState,
    pub(in crate::cpython) next: *mut ThreadState,
    pub(in crate::cpython) interp: *mut ffi::PyInterpreterState,
    pub(in crate::cpython) frame: *mut Frame,
    pub(in crate::cpython) recursion_depth: c_int,
    pub(in crate::cpython) recursion_headroom: c_int,
    pub(in crate::cpython) stackcheck_counter: c_int,
    pub(in crate::cpython) tracing: c_int,
    pub(in crate::cpython) cframe: *mut c_void,
    pub(in crate::cpython) c_profilefunc: *mut c_void,
    pub(in crate::cpython) c_tracefunc: *mut c_void,
}

/// `rangeiterobject`: `start` stays, `index` counts.
#[repr(C)]
pub(in crate::cpython) struct RangeIter {
    ob_base: PyObject,
    index: c_long,
    start: c_long,
    step: c_long,
    len: c_long,
}

impl RangeIter {
    /// (next value, step, items left).
    pub(in crate::cpython) fn state(&self) -> (i64, i64, i64) {
        let left = (self.len - self.index).max(0);
        (self.start + self.index * self.step, self.step, left)
    }
}

/// Each declared field under its C name.
pub(in crate::cpython) fn offsets() -> Vec<(&'static str, usize)> {
    let mut out = Vec::new();
    out.extend(fields!(Frame as "PyFrameObject":
        f_back, f_code, f_builtins, f_globals, f_locals, f_valuestack, f_stackdepth, f_trace, f_trace_lines,
        f_trace_opcodes, f_gen, f_lasti, f_lineno, f_iblock, f_state, f_blockstack, f_localsplus));
    out.extend(fields!(Code as "PyCodeObject":
        co_argcount, co_posonlyargcount, co_kwonlyargcount, co_nlocals, co_stacksize, co_flags,
        co_firstlineno, co_code, co_consts, co_names, co_varnames, co_freevars, co_cellvars, co_cell2arg));
    out.extend(fields!(ThreadState as "PyThreadState":
        prev, next, interp, frame, recursion_depth, stackcheck_counter, tracing, cframe, c_profilefunc,
        c_tracefunc));
    out
}

/// `offsetof(PyInterpreterState, gc.collecting)`, before the collector's lists, which have no accessor.
pub(in crate::cpython) const COLLECTING_OFFSET: usize = 816;
