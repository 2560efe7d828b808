//! Every foreign struct field that is read, with its offset, for comparison with CPython's headers.

use std::mem::offset_of;

use pyo3::ffi;

use super::layout;

/// `("C struct.field", offset)` of each field that this module reads.
#[allow(deprecated, reason = "the dict version tag is read on purpose")]
pub fn offsets() -> Vec<(&'static str, usize)> {
    let mut out = layout::offsets();
    macro_rules! add {
        ($ty:ty as $c:literal: $($field:ident),* $(,)?) => {
            $(out.push((concat!($c, ".", stringify!($field)), offset_of!($ty, $field)));)*
        };
    }
    add!(ffi::PyFunctionObject as "PyFunctionObject":
        func_code, func_globals, func_defaults, func_kwdefaults, func_closure, vectorcall);
    add!(ffi::PyDictObject as "PyDictObject": ma_used, ma_version_tag, ma_keys, ma_values);
    // Before 3.11 no header shows them.
    #[cfg(Py_3_11)]
    {
        add!(layout::DictKeys as "struct _dictkeysobject":
            dk_refcnt, dk_log2_size, dk_log2_index_bytes, dk_kind, dk_usable, dk_nentries);
        add!(layout::DictEntry as "PyDictKeyEntry": me_hash, me_key, me_value);
    }
    add!(ffi::PySetObject as "PySetObject": used, mask, table, finger);
    add!(ffi::setentry as "setentry": key, hash);
    add!(ffi::PyCellObject as "PyCellObject": ob_ref);
    add!(ffi::PyTypeObject as "PyTypeObject":
        tp_vectorcall_offset, tp_getattro, tp_flags, tp_weaklistoffset, tp_dictoffset, tp_new,
        tp_free, tp_version_tag);
    let collector = |name: &'static str, since: &'static str| if cfg!(Py_3_9) { since } else { name };
    let lists = layout::COLLECTING_OFFSET;
    out.extend([
        (collector("_PyRuntimeState.gc.collecting", "PyInterpreterState.gc.collecting"), lists),
        (collector("_PyRuntimeState.gc.garbage", "PyInterpreterState.gc.garbage"), lists + 8),
        (collector("_PyRuntimeState.gc.callbacks", "PyInterpreterState.gc.callbacks"), lists + 16),
    ]);
    #[cfg(not(Py_3_9))]
    out.push(("PyInterpreterState.eval_frame", layout::EVAL_FRAME_OFFSET));
    out
}
