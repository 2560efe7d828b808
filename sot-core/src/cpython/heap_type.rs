//! Heap types with a vectorcall slot, which `#[pyclass]` cannot make.
//!
//! A type is described once by [`HeapType`] and made by [`HeapType::create`]. CPython 3.8 has no
//! `__vectorcalloffset__` member: there the offsets and the flag are written into the type itself.
//! Slots that run user-visible code are pyo3's own trampolines (attach count, panic to exception).

use std::ffi::{CStr, c_int, c_ulong, c_void};

use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::{ffi, types::PyType};

/// `_Py_TPFLAGS_HAVE_VECTORCALL`, which 3.8 sets by hand.
#[cfg(not(Py_3_9))]
const HAVE_VECTORCALL: c_ulong = 1 << 11;
/// `Py_TPFLAGS_METHOD_DESCRIPTOR`: `obj.m(..)` passes `obj` without making a bound method.
pub(super) const METHOD_DESCRIPTOR: c_ulong = 1 << 17;

/// What a heap type needs; offsets are from the start of the object.
pub(super) struct HeapType {
    pub(super) name: &'static CStr,
    pub(super) size: usize,
    pub(super) extra_flags: c_ulong,
    pub(super) vectorcall: usize,
    pub(super) weaklist: usize,
    /// 0: instances have no `__dict__`.
    pub(super) dict: usize,
    pub(super) slots: Vec<ffi::PyType_Slot>,
    pub(super) getset: Vec<ffi::PyGetSetDef>,
    pub(super) methods: Vec<ffi::PyMethodDef>,
}

/// One entry of a slot table.
pub(super) fn slot(id: c_int, function: *mut c_void) -> ffi::PyType_Slot {
    ffi::PyType_Slot { slot: id, pfunc: function }
}

/// A raw slot function as a pointer for the slot table, wrapped in pyo3's trampoline of that kind.
macro_rules! guarded_slot {
    ($kind:ident, $function:path) => {
        pyo3::impl_::trampoline::get_trampoline_function!($kind, $function) as *mut std::ffi::c_void
    };
}
pub(super) use guarded_slot;

/// A vectorcall function made of pyo3's fastcall trampoline, which has the same C signature.
macro_rules! guarded_vectorcall {
    ($function:path) => {{
        use pyo3::ffi;
        type Fastcall = unsafe extern "C" fn(
            *mut ffi::PyObject,
            *const *mut ffi::PyObject,
            ffi::Py_ssize_t,
            *mut ffi::PyObject,
        ) -> *mut ffi::PyObject;
        let function: Fastcall =
            pyo3::impl_::trampoline::get_trampoline_function!(fastcall_cfunction_with_keywords, $function);
        // SAFETY: the two types differ in the signedness of one integer argument only.
        unsafe { std::mem::transmute::<Fastcall, ffi::vectorcallfunc>(function) }
    }};
}
pub(super) use guarded_vectorcall;

#[cfg(Py_3_9)]
fn member(name: &'static CStr, offset: usize) -> ffi::PyMemberDef {
    ffi::PyMemberDef {
        name: name.as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset: offset as ffi::Py_ssize_t,
        flags: ffi::Py_READONLY,
        doc: std::ptr::null(),
    }
}

impl HeapType {
    /// Makes the type. The tables are leaked: CPython keeps pointers into them, once per process.
    pub(super) fn create(mut self, py: Python<'_>) -> PyResult<Py<PyType>> {
        if !self.getset.is_empty() {
            self.getset.push(ffi::PyGetSetDef::default());
            let table = Box::leak(self.getset.into_boxed_slice());
            self.slots.push(slot(ffi::Py_tp_getset, table.as_mut_ptr().cast()));
        }
        if !self.methods.is_empty() {
            self.methods.push(ffi::PyMethodDef::zeroed());
            let table = Box::leak(self.methods.into_boxed_slice());
            self.slots.push(slot(ffi::Py_tp_methods, table.as_mut_ptr().cast()));
        }
        #[cfg(Py_3_9)]
        {
            let mut members =
                vec![member(c"__vectorcalloffset__", self.vectorcall), member(c"__weaklistoffset__", self.weaklist)];
            if self.dict != 0 {
                members.push(member(c"__dictoffset__", self.dict));
            }
            members.push(ffi::PyMemberDef::default());
            let table = Box::leak(members.into_boxed_slice());
            self.slots.push(slot(ffi::Py_tp_members, table.as_mut_ptr().cast()));
        }
        self.slots.push(slot(0, std::ptr::null_mut()));
        let mut flags = ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_HAVE_GC | self.extra_flags;
        if cfg!(Py_3_9) {
            flags |= 1 << 11;
        }
        let mut spec = ffi::PyType_Spec {
            name: self.name.as_ptr(),
            basicsize: c_int::try_from(self.size).map_err(|_| PySystemError::new_err("heap type is too large"))?,
            itemsize: 0,
            flags: flags as u32,
            slots: self.slots.as_mut_ptr(),
        };
        // SAFETY: the spec and all its tables are valid; name and tables live for ever.
        let ty = unsafe {
            Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec))?.cast_into_unchecked::<PyType>()
        };
        let raw = ty.as_type_ptr();
        // SAFETY: a fresh heap type that nobody else has seen; the offsets lie inside its instances.
        unsafe {
            (*raw).tp_new = None;
            #[cfg(not(Py_3_9))]
            {
                (*raw).tp_vectorcall_offset = self.vectorcall as ffi::Py_ssize_t;
                (*raw).tp_weaklistoffset = self.weaklist as ffi::Py_ssize_t;
                (*raw).tp_dictoffset = self.dict as ffi::Py_ssize_t;
                (*raw).tp_flags |= HAVE_VECTORCALL;
            }
            ffi::PyType_Modified(raw);
        }
        Ok(ty.unbind())
    }
}
