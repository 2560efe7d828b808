//! CPython 3.12: `_PyInterpreterFrame`, the head of `PyCodeObject`, `PyThreadState`, data stack.

use std::ffi::{c_char, c_int, c_long, c_void};

use pyo3::ffi::{self, PyObject};

use super::fields;

/// `_PyInterpreterFrame`.
#[repr(C)]
pub(in crate::cpython) struct Frame {
    /// C name `f_code`.
    pub(in crate::cpython) f_code: *mut Code,
    pub(in crate::cpython) previous: *mut Frame,
    /// C name `f_funcobj`.
    pub(in crate::cpython) f_func: *mut PyObject,
    pub(in crate::cpython) f_globals: *mut PyObject,
    pub(in crate::cpython) f_builtins: *mut PyObject,
    pub(in crate::cpython) f_locals: *mut PyObject,
    pub(in crate::cpython) frame_obj: *mut PyObject,
    /// C name `prev_instr`.
    pub(in crate::cpython) instr: *mut u16,
    pub(in crate::cpython) stacktop: c_int,
    pub(in crate::cpython) return_offset: u16,
    pub(in crate::cpython) owner: c_char,
    pub(in crate::cpython) localsplus: [*mut PyObject; 1],
}

/// `prev_instr` is the code unit *before* the next instruction.
pub(in crate::cpython) const INSTR_BEFORE_FIRST: isize = 1;

/// `PyFrameObject` up to its frame.
#[repr(C)]
pub(in crate::cpython) struct FrameObject {
    ob_base: PyObject,
    /// The caller's frame object, owned; NULL while the frame runs.
    pub(in crate::cpython) f_back: *mut PyObject,
    pub(in crate::cpython) f_frame: *mut Frame,
}

/// `PyCodeObject` up to its instructions.
#[repr(C)]
pub(in crate::cpython) struct Code {
    pub(in crate::cpython) ob_base: ffi::PyVarObject,
    pub(in crate::cpython) co_consts: *mut PyObject,
    pub(in crate::cpython) co_names: *mut PyObject,
    pub(in crate::cpython) co_exceptiontable: *mut PyObject,
    pub(in crate::cpython) co_flags: c_int,
    pub(in crate::cpython) co_argcount: c_int,
    pub(in crate::cpython) co_posonlyargcount: c_int,
    pub(in crate::cpython) co_kwonlyargcount: c_int,
    pub(in crate::cpython) co_stacksize: c_int,
    pub(in crate::cpython) co_firstlineno: c_int,
    pub(in crate::cpython) co_nlocalsplus: c_int,
    pub(in crate::cpython) co_framesize: c_int,
    pub(in crate::cpython) co_nlocals: c_int,
    pub(in crate::cpython) co_ncellvars: c_int,
    pub(in crate::cpython) co_nfreevars: c_int,
    pub(in crate::cpython) co_version: u32,
    pub(in crate::cpython) co_localsplusnames: *mut PyObject,
    pub(in crate::cpython) co_localspluskinds: *mut PyObject,
    pub(in crate::cpython) co_filename: *mut PyObject,
    pub(in crate::cpython) co_name: *mut PyObject,
    pub(in crate::cpython) co_qualname: *mut PyObject,
    pub(in crate::cpython) co_linetable: *mut PyObject,
    pub(in crate::cpython) co_weakreflist: *mut PyObject,
    pub(in crate::cpython) _co_cached: *mut c_void,
    pub(in crate::cpython) _co_instrumentation_version: u64,
    pub(in crate::cpython) _co_monitoring: *mut c_void,
    pub(in crate::cpython) _co_firsttraceable: c_int,
    pub(in crate::cpython) co_extra: *mut c_void,
    pub(in crate::cpython) co_code_adaptive: [u16; 1],
}

/// `PyThreadState`.
#[repr(C)]
pub(in crate::cpython) struct ThreadState {
    pub(in crate::cpython) prev: *mut ThreadState,
    pub(in crate::cpython) next: *mut ThreadState,
    pub(in crate::cpython) interp: *mut ffi::PyInterpreterState,
    _status: u32,
    pub(in crate::cpython) py_recursion_remaining: c_int,
    pub(in crate::cpython) py_recursion_limit: c_int,
    pub(in crate::cpython) c_recursion_remaining: c_int,
    pub(in crate::cpython) recursion_headroom: c_int,
    pub(in crate::cpython) tracing: c_int,
    pub(in crate::cpython) what_event: c_int,
    pub(in crate::cpython) cframe: *mut c_void,
    pub(in crate::cpython) c_profilefunc: *mut c_void,
    pub(in crate::cpython) c_tracefunc: *mut c_void,
    pub(in crate::cpython) c_profileobj: *mut PyObject,
    pub(in crate::cpython) c_traceobj: *mut PyObject,
    pub(in crate::cpython) current_exception: *mut PyObject,
    exc_info: *mut c_void,
    pub(in crate::cpython) dict: *mut PyObject,
    pub(in crate::cpython) gilstate_counter: c_int,
    pub(in crate::cpython) async_exc: *mut PyObject,
    pub(in crate::cpython) thread_id: std::ffi::c_ulong,
    native_thread_id: std::ffi::c_ulong,
    trash_delete_nesting: c_int,
    trash_delete_later: *mut PyObject,
    on_delete: *mut c_void,
    on_delete_data: *mut c_void,
    coroutine_origin_tracking_depth: c_int,
    async_gen_firstiter: *mut PyObject,
    async_gen_finalizer: *mut PyObject,
    pub(in crate::cpython) context: *mut PyObject,
    context_ver: u64,
    pub(in crate::cpython) id: u64,
    pub(in crate::cpython) datastack_chunk: *mut StackChunk,
    pub(in crate::cpython) datastack_top: *mut *mut PyObject,
    pub(in crate::cpython) datastack_limit: *mut *mut PyObject,
}

/// `_PyStackChunk`.
#[repr(C)]
pub(in crate::cpython) struct StackChunk {
    pub(in crate::cpython) previous: *mut StackChunk,
    pub(in crate::cpython) size: usize,
    pub(in crate::cpython) top: usize,
    pub(in crate::cpython) data: [*mut PyObject; 1],
}

/// `_PyRangeIterObject`: `start` moves, `len` is what is left.
#[repr(C)]
pub(in crate::cpython) struct RangeIter {
    ob_base: PyObject,
    start: c_long,
    step: c_long,
    len: c_long,
}

impl RangeIter {
    /// (next value, step, items left).
    pub(in crate::cpython) fn state(&self) -> (i64, i64, i64) {
        (self.start, self.step, self.len)
    }
}

impl Code {
    /// Size of the frame in words, specials included.
    pub(in crate::cpython) fn frame_size(&self) -> usize {
        self.co_framesize as usize
    }
}

/// Each declared field under its C name.
pub(in crate::cpython) fn offsets() -> Vec<(&'static str, usize)> {
    let mut out = Vec::new();
    out.extend(fields!(Frame as "struct _PyInterpreterFrame":
        f_code, previous, f_func as "f_funcobj", f_globals, f_builtins, f_locals, frame_obj,
        instr as "prev_instr", stacktop, return_offset, owner, localsplus));
    out.extend(fields!(FrameObject as "PyFrameObject": f_back, f_frame));
    out.extend(fields!(Code as "PyCodeObject":
        co_consts, co_names, co_exceptiontable, co_flags, co_argcount, co_posonlyargcount,
        co_kwonlyargcount, co_stacksize, co_firstlineno, co_nlocalsplus, co_framesize, co_nlocals,
        co_ncellvars, co_nfreevars, co_version, co_localsplusnames, co_localspluskinds, co_filename,
        co_name, co_qualname, co_linetable, co_weakreflist, _co_cached, _co_instrumentation_version,
        _co_monitoring, _co_firsttraceable, co_extra, co_code_adaptive));
    out.extend(fields!(ThreadState as "PyThreadState":
        prev, next, interp, _status, py_recursion_remaining, py_recursion_limit,
        c_recursion_remaining, recursion_headroom, tracing, what_event, cframe, c_profilefunc,
        c_tracefunc, c_profileobj, c_traceobj, current_exception, exc_info, dict, gilstate_counter,
        async_exc, thread_id, native_thread_id, on_delete, on_delete_data,
        coroutine_origin_tracking_depth, async_gen_firstiter, async_gen_finalizer, context,
        context_ver, id, datastack_chunk, datastack_top, datastack_limit));
    out.extend(fields!(RangeIter as "_PyRangeIterObject": start, step, len));
    out.extend(fields!(super::SeqIter as "_PyListIterObject": it_index, it_seq));
    out.extend(fields!(super::SeqIter as "_PyTupleIterObject": it_index, it_seq));
    out.extend(fields!(StackChunk as "_PyStackChunk": previous, size, top, data));
    out
}

/// `offsetof(PyInterpreterState, gc.collecting)`, before the collector's lists, which have no accessor.
pub(in crate::cpython) const COLLECTING_OFFSET: usize = 312;
