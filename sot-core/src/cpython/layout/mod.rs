//! Struct layouts of the running interpreter's version, one file per version.
//!
//! Only the fields that are read are declared past the last one needed; `offsets` lists each declared
//! field under its C name, and a test compares the list with the interpreter's own headers. Structs
//! that the headers keep private (`list_iterator` and its like before 3.12) are tested by behaviour.

#[cfg(not(Py_3_9))]
mod v38;
#[cfg(not(Py_3_9))]
pub(in crate::cpython) use v38::*;

#[cfg(all(Py_3_9, not(Py_3_10)))]
mod v39;
#[cfg(all(Py_3_9, not(Py_3_10)))]
pub(in crate::cpython) use v39::*;

#[cfg(all(Py_3_10, not(Py_3_11)))]
mod v310;
#[cfg(all(Py_3_10, not(Py_3_11)))]
pub(in crate::cpython) use v310::*;

#[cfg(all(Py_3_11, not(Py_3_12)))]
mod v311;
#[cfg(all(Py_3_11, not(Py_3_12)))]
pub(in crate::cpython) use v311::*;

#[cfg(all(Py_3_12, not(Py_3_13)))]
mod v312;
#[cfg(all(Py_3_12, not(Py_3_13)))]
pub(in crate::cpython) use v312::*;

#[cfg(Py_3_13)]
mod v313;
#[cfg(Py_3_13)]
pub(in crate::cpython) use v313::*;

#[cfg(Py_3_14)]
compile_error!("sot supports CPython 3.8 to 3.13");
#[cfg(Py_GIL_DISABLED)]
compile_error!("sot does not support free-threaded builds of CPython");

/// `("C struct.field", offset)` pairs of one struct.
macro_rules! fields {
    ($ty:ty as $c:literal: $($field:ident $(as $name:literal)?),* $(,)?) => {
        [$((
            $crate::cpython::layout::field_name!($c, $field $(, $name)?),
            std::mem::offset_of!($ty, $field),
        )),*]
    };
}
macro_rules! field_name {
    ($c:literal, $field:ident) => {
        concat!($c, ".", stringify!($field))
    };
    ($c:literal, $field:ident, $name:literal) => {
        concat!($c, ".", $name)
    };
}
pub(in crate::cpython) use {field_name, fields};

/// `enumerate`: the same shape in all versions.
#[repr(C)]
pub(in crate::cpython) struct Enumeration {
    pub(in crate::cpython) ob_base: pyo3::ffi::PyObject,
    /// The largest number: the count is [`Self::en_longindex`].
    pub(in crate::cpython) en_index: isize,
    pub(in crate::cpython) en_sit: *mut pyo3::ffi::PyObject,
    pub(in crate::cpython) en_result: *mut pyo3::ffi::PyObject,
    /// NULL: the largest number.
    pub(in crate::cpython) en_longindex: *mut pyo3::ffi::PyObject,
}

/// `callable_iterator`: the same shape in all versions.
#[repr(C)]
pub(in crate::cpython) struct CallIter {
    pub(in crate::cpython) ob_base: pyo3::ffi::PyObject,
    /// NULL once exhausted.
    pub(in crate::cpython) it_callable: *mut pyo3::ffi::PyObject,
    /// NULL once exhausted.
    pub(in crate::cpython) it_sentinel: *mut pyo3::ffi::PyObject,
}

/// The iterators of lists, tuples and items by number, and `reversedobject`: the same shape in all versions.
#[repr(C)]
pub(in crate::cpython) struct SeqIter {
    pub(in crate::cpython) ob_base: pyo3::ffi::PyObject,
    pub(in crate::cpython) it_index: isize,
    /// NULL once exhausted.
    pub(in crate::cpython) it_seq: *mut pyo3::ffi::PyObject,
}

/// `dictiterobject`: the same shape in all versions.
#[repr(C)]
pub(in crate::cpython) struct DictIter {
    pub(in crate::cpython) ob_base: pyo3::ffi::PyObject,
    /// NULL once exhausted.
    pub(in crate::cpython) di_dict: *mut pyo3::ffi::PyObject,
    pub(in crate::cpython) di_used: isize,
    /// As `PyDict_Next` counts.
    pub(in crate::cpython) di_pos: isize,
    /// What an iterator of items gives again while nobody else has it.
    pub(in crate::cpython) di_result: *mut pyo3::ffi::PyObject,
    /// Entries that are left.
    pub(in crate::cpython) len: isize,
}

/// The head of a dict's table of keys.
#[cfg(Py_3_11)]
#[repr(C)]
pub(in crate::cpython) struct DictKeys {
    pub(in crate::cpython) dk_refcnt: isize,
    pub(in crate::cpython) dk_log2_size: u8,
    pub(in crate::cpython) dk_log2_index_bytes: u8,
    /// 0: keys of any kind.
    pub(in crate::cpython) dk_kind: u8,
    pub(in crate::cpython) dk_version: u32,
    pub(in crate::cpython) dk_usable: isize,
    /// Entries that are used, or were; the table of indices follows.
    pub(in crate::cpython) dk_nentries: isize,
}

/// The head of a dict's table of keys.
#[cfg(not(Py_3_11))]
#[repr(C)]
pub(in crate::cpython) struct DictKeys {
    pub(in crate::cpython) dk_refcnt: isize,
    pub(in crate::cpython) dk_size: isize,
    /// The function that finds keys of this kind.
    pub(in crate::cpython) dk_lookup: *const std::ffi::c_void,
    pub(in crate::cpython) dk_usable: isize,
    /// Entries that are used, or were; the table of indices follows.
    pub(in crate::cpython) dk_nentries: isize,
}

/// An entry of a table of keys of any kind.
#[repr(C)]
pub(in crate::cpython) struct DictEntry {
    pub(in crate::cpython) me_hash: isize,
    pub(in crate::cpython) me_key: *mut pyo3::ffi::PyObject,
    /// NULL: the entry is gone.
    pub(in crate::cpython) me_value: *mut pyo3::ffi::PyObject,
}

/// `struct _odictobject`, as far as its order goes: the same shape in all versions.
#[repr(C)]
pub(in crate::cpython) struct OrderedDict {
    pub(in crate::cpython) od_dict: pyo3::ffi::PyDictObject,
    pub(in crate::cpython) od_first: *mut OrderedNode,
    pub(in crate::cpython) od_last: *mut OrderedNode,
    pub(in crate::cpython) od_fast_nodes: *mut *mut OrderedNode,
    pub(in crate::cpython) od_fast_nodes_size: isize,
    pub(in crate::cpython) od_resize_sentinel: *mut std::ffi::c_void,
    /// Counts changes of the order.
    pub(in crate::cpython) od_state: usize,
}

/// `struct _odictnode`: a key in the order of an ordered dict.
#[repr(C)]
pub(in crate::cpython) struct OrderedNode {
    pub(in crate::cpython) key: *mut pyo3::ffi::PyObject,
    pub(in crate::cpython) hash: isize,
    pub(in crate::cpython) next: *mut OrderedNode,
    pub(in crate::cpython) prev: *mut OrderedNode,
}

/// `itertools.count`: the same shape in all versions.
#[repr(C)]
pub(in crate::cpython) struct CountIter {
    pub(in crate::cpython) ob_base: pyo3::ffi::PyObject,
    /// The largest number: the next one is [`Self::long_cnt`].
    pub(in crate::cpython) cnt: isize,
    /// NULL: the largest number.
    pub(in crate::cpython) long_cnt: *mut pyo3::ffi::PyObject,
    pub(in crate::cpython) long_step: *mut pyo3::ffi::PyObject,
}

/// `itertools.repeat`: the same shape in all versions.
#[repr(C)]
pub(in crate::cpython) struct RepeatIter {
    pub(in crate::cpython) ob_base: pyo3::ffi::PyObject,
    pub(in crate::cpython) element: *mut pyo3::ffi::PyObject,
    /// Below zero: without end.
    pub(in crate::cpython) cnt: isize,
}

/// `itertools.cycle`: the same shape in all versions.
#[repr(C)]
pub(in crate::cpython) struct CycleIter {
    pub(in crate::cpython) ob_base: pyo3::ffi::PyObject,
    /// NULL behind the first round.
    pub(in crate::cpython) it: *mut pyo3::ffi::PyObject,
    pub(in crate::cpython) saved: *mut pyo3::ffi::PyObject,
    pub(in crate::cpython) index: isize,
    /// All items are saved already.
    pub(in crate::cpython) firstpass: std::ffi::c_int,
}

/// `itertools.islice`: the same shape in all versions.
#[repr(C)]
pub(in crate::cpython) struct SliceIter {
    pub(in crate::cpython) ob_base: pyo3::ffi::PyObject,
    /// NULL once exhausted.
    pub(in crate::cpython) it: *mut pyo3::ffi::PyObject,
    pub(in crate::cpython) next: isize,
    /// Below zero: up to its end.
    pub(in crate::cpython) stop: isize,
    pub(in crate::cpython) step: isize,
    pub(in crate::cpython) cnt: isize,
}
