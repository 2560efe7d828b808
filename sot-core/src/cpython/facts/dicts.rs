//! Dicts: version tags, reads with a known hash, and the dict of an instance.
//!
//! The version tag is global and unique, so an equal tag proves equal contents (keys, order, values by
//! identity). It exists on 3.8 to 3.13. On 3.13 a dict that still shares its values with its instance
//! is written without a new tag: it has no usable version until [`settle_dict`] separates the two.

#![allow(deprecated, reason = "the version tag is the fact that is read; 3.14 is not supported")]

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyString, PyTuple};

use crate::cpython::capi;
use crate::cpython::layout::{DictIter, DictKeys};

/// `ma_version_tag`; `None` where writes do not change it.
#[inline]
pub fn dict_version(dict: &Bound<'_, PyDict>) -> Option<u64> {
    // SAFETY: a live dict.
    unsafe { raw_version(dict.as_ptr()) }
}

/// # Safety
/// `dict` is a dict.
#[inline]
unsafe fn raw_version(dict: *mut ffi::PyObject) -> Option<u64> {
    // SAFETY: by contract.
    unsafe {
        let dict = dict.cast::<ffi::PyDictObject>();
        if cfg!(Py_3_13) && !(*dict).ma_values.is_null() {
            return None;
        }
        Some((*dict).ma_version_tag)
    }
}

/// Gives the dict a usable version for good where it has none (3.13 instance dicts that still share
/// their values with the instance). Contents and order stay as they are.
pub fn settle_dict(dict: &Bound<'_, PyDict>) -> PyResult<()> {
    if dict_version(dict).is_some() {
        return Ok(());
    }
    // A key that is not a string makes CPython give up the shared layout.
    let key = pyo3::types::PyTuple::empty(dict.py());
    if !dict.contains(&key)? {
        dict.set_item(&key, dict.py().None())?;
        dict.del_item(&key)?;
    }
    Ok(())
}

/// `hash(name)`, to be kept beside the name for [`dict_get_known_hash`].
pub fn str_hash(name: &Bound<'_, PyString>) -> isize {
    // SAFETY: hashing an exact or derived string; a failing `__hash__` of a subclass gives -1, which no
    // key has.
    let hash = unsafe { ffi::PyObject_Hash(name.as_ptr()) };
    if hash == -1 {
        drop(PyErr::take(name.py()));
    }
    hash
}

/// `dict.get(key)` with the key's hash already known. An error in a key's `__eq__` counts as absent.
#[inline]
pub fn dict_get_known_hash<'py>(
    dict: &Bound<'py, PyDict>,
    key: &Bound<'py, PyString>,
    hash: isize,
) -> Option<Bound<'py, PyAny>> {
    // SAFETY: live objects; the borrowed result is made owned at once.
    unsafe {
        let found = capi::_PyDict_GetItem_KnownHash(dict.as_ptr(), key.as_ptr(), hash);
        if found.is_null() {
            if !ffi::PyErr_Occurred().is_null() {
                ffi::PyErr_Clear();
            }
            return None;
        }
        Some(Bound::from_borrowed_ptr(dict.py(), found))
    }
}

/// Whether finding a name in a dict compares it with nothing but strings: no key, now or before, was of another type.
#[inline]
pub fn holds_names_alone(dict: &Bound<'_, PyDict>) -> bool {
    // SAFETY: a live dict, which always has keys.
    unsafe {
        let keys = (*dict.as_ptr().cast::<ffi::PyDictObject>()).ma_keys.cast::<DictKeys>();
        #[cfg(Py_3_11)]
        return (*keys).dk_kind != 0;
        #[cfg(not(Py_3_11))]
        return (*keys).dk_lookup as usize != finds_any_key(dict.py());
    }
}

/// The value of a name in any dict, found among exact strings alone: no key of the program's is asked whether it equals it.
pub fn value_of_name<'py>(dict: &Bound<'py, PyDict>, name: &str) -> Option<Bound<'py, PyAny>> {
    if holds_names_alone(dict) {
        return dict.get_item(name).ok().flatten();
    }
    let is_name = |key: &Bound<'_, PyAny>| key.cast_exact::<PyString>().is_ok_and(|key| *key == name);
    dict.iter().find(|(key, _)| is_name(key)).map(|(_, value)| value)
}

/// What the program has imported under this name. Nothing is imported, and no code of the program runs.
pub fn imported<'py>(py: Python<'py>, name: &str) -> Option<Bound<'py, PyAny>> {
    let modules = crate::cpython::module(py, "sys").ok()?.getattr("modules").ok()?;
    value_of_name(&modules.cast_into::<PyDict>().ok()?, name)
}

/// What a module that the program has imported has under a name, as [`imported`] asks.
pub fn imported_value<'py>(py: Python<'py>, module: &str, name: &str) -> Option<Bound<'py, PyAny>> {
    value_of_name(&module_dict(&imported(py, module)?)?, name)
}

/// The names of a module. `None`: no module, or one that was made without `__init__`, which up to 3.10 has none.
pub fn module_dict<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    object.is_instance_of::<PyModule>().then(|| existing_dict(object)).flatten()
}

/// [`instance_dict`], where it exists already.
pub fn existing_dict<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    (!lacks_dict_yet(object)).then(|| instance_dict(object)).flatten()
}

/// What dicts with keys of any kind find them with.
#[cfg(not(Py_3_11))]
fn finds_any_key(py: Python<'_>) -> usize {
    static FINDS: pyo3::sync::PyOnceLock<usize> = pyo3::sync::PyOnceLock::new();
    *FINDS.get_or_init(py, || {
        let dict = PyDict::new(py);
        if dict.set_item(0, 0).is_err() {
            return 0;
        }
        // SAFETY: a live dict, which always has keys.
        unsafe {
            let keys = (*dict.as_ptr().cast::<ffi::PyDictObject>()).ma_keys.cast::<DictKeys>();
            (*keys).dk_lookup as usize
        }
    })
}

/// The next entry of a dict from where an exact iterator of it stands, as C code takes them that does not mind changes: the
/// iterator moves on. `None`: none is left.
pub fn walk<'py>(iterator: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let py = iterator.py();
    let raw = iterator.as_ptr();
    // SAFETY: the layout is used only after the exact type was checked; the dict is held while it is asked, and what it
    // gives is made owned at once.
    unsafe {
        let ty = ffi::Py_TYPE(raw);
        if ty != &raw mut ffi::PyDictIterItem_Type {
            return None;
        }
        let raw = raw.cast::<DictIter>();
        let dict = Bound::from_borrowed_ptr_or_opt(py, (*raw).di_dict)?;
        let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
        if ffi::PyDict_Next(dict.as_ptr(), &raw mut (*raw).di_pos, &raw mut key, &raw mut value) == 0 {
            return None;
        }
        Some((Bound::from_borrowed_ptr(py, key), Bound::from_borrowed_ptr(py, value)))
    }
}

/// What an exact iterator of a dict's keys, values or items, not a reversed one, gives next; it stays where it stands.
/// `Some(None)`: it is at its end. `None`: another iterator, or one that would raise, as its dict has changed.
pub fn next_of_dict<'py>(iterator: &Bound<'py, PyAny>) -> Option<Option<Bound<'py, PyAny>>> {
    let py = iterator.py();
    let raw = iterator.as_ptr();
    // SAFETY: the layout is used only after the exact type was checked; the position is a copy, the dict is held while it is
    // asked, and what it gives is made owned at once.
    unsafe {
        let ty = ffi::Py_TYPE(raw);
        let (of_keys, of_values) = (&raw mut ffi::PyDictIterKey_Type, &raw mut ffi::PyDictIterValue_Type);
        if ty != of_keys && ty != of_values && ty != &raw mut ffi::PyDictIterItem_Type {
            return None;
        }
        let raw = raw.cast::<DictIter>();
        let Some(dict) = Bound::from_borrowed_ptr_or_opt(py, (*raw).di_dict) else { return Some(None) };
        if (*raw).di_used != ffi::PyDict_Size(dict.as_ptr()) {
            return None;
        }
        let mut position = (*raw).di_pos;
        let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
        if ffi::PyDict_Next(dict.as_ptr(), &raw mut position, &raw mut key, &raw mut value) == 0 {
            return Some(None);
        }
        if (*raw).len == 0 {
            return None;
        }
        let (key, value) = (Bound::from_borrowed_ptr(py, key), Bound::from_borrowed_ptr(py, value));
        if ty == of_keys {
            Some(Some(key))
        } else if ty == of_values {
            Some(Some(value))
        } else {
            PyTuple::new(py, [key, value]).ok().map(|item| Some(item.into_any()))
        }
    }
}

/// The `__dict__` of an instance, made if it does not exist yet, without running user code. `None` if
/// the type gives its instances no dict, and for type objects (theirs is not to be touched).
#[inline]
pub fn instance_dict<'py>(obj: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    // SAFETY: a live object; the slot that is read belongs to its type.
    unsafe {
        let raw = obj.as_ptr();
        let ty = ffi::Py_TYPE(raw);
        let managed = cfg!(Py_3_11) && (*ty).tp_flags & (1 << 4) != 0;
        if managed {
            // 3.11: obj[-3] is the dict. 3.12: a dict or values marked by bit 0. 3.13: the dict.
            let word = *raw.cast::<*mut ffi::PyObject>().sub(3);
            if !word.is_null() && word as usize & 1 == 0 {
                return Some(Bound::from_borrowed_ptr(obj.py(), word).cast_into_unchecked());
            }
        } else {
            let offset = (*ty).tp_dictoffset;
            if offset == 0 || ffi::PyType_Check(raw) != 0 {
                return None;
            }
            if offset > 0 {
                let word = *raw.cast::<u8>().offset(offset).cast::<*mut ffi::PyObject>();
                if !word.is_null() {
                    return Some(Bound::from_borrowed_ptr(obj.py(), word).cast_into_unchecked());
                }
            }
        }
        materialise(obj)
    }
}

/// Whether this dict is an object's `__dict__`, where one look tells; `false`: ask [`instance_dict`].
#[inline]
pub fn has_dict(obj: &Py<PyAny>, dict: &Py<PyDict>) -> bool {
    // SAFETY: as in `instance_dict`; the word is compared, not followed.
    unsafe {
        let raw = obj.as_ptr();
        let ty = ffi::Py_TYPE(raw);
        let place = match cfg!(Py_3_11) && (*ty).tp_flags & (1 << 4) != 0 {
            true => raw.cast::<*mut ffi::PyObject>().sub(3),
            false if (*ty).tp_dictoffset > 0 && ffi::PyType_Check(raw) == 0 => {
                raw.cast::<u8>().offset((*ty).tp_dictoffset).cast::<*mut ffi::PyObject>()
            }
            false => return false,
        };
        *place == dict.as_ptr()
    }
}

/// Whether an object's `__dict__` has not been made yet, and nothing is kept elsewhere for it: asking for it would make it,
/// which C code can see (`functools.partial` takes a partial without one apart).
pub fn lacks_dict_yet(obj: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a live object; the slot that is read belongs to its type.
    unsafe {
        let ty = ffi::Py_TYPE(obj.as_ptr());
        let managed = cfg!(Py_3_11) && (*ty).tp_flags & (1 << 4) != 0;
        let offset = (*ty).tp_dictoffset;
        !managed && offset > 0 && (*obj.as_ptr().cast::<u8>().offset(offset).cast::<*mut ffi::PyObject>()).is_null()
    }
}

/// # Safety
/// The type of `obj` gives instances a dict.
#[cold]
unsafe fn materialise<'py>(obj: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    // SAFETY: by contract; a new reference or an exception.
    unsafe {
        let dict = ffi::PyObject_GenericGetDict(obj.as_ptr(), std::ptr::null_mut());
        match Bound::from_owned_ptr_or_opt(obj.py(), dict) {
            Some(dict) => dict.cast_into().ok(),
            None => {
                ffi::PyErr_Clear();
                None
            }
        }
    }
}

/// A dict and the version it had.
pub struct DictStamp {
    dict: Py<PyDict>,
    version: Option<u64>,
}

impl DictStamp {
    pub fn new(dict: &Bound<'_, PyDict>) -> Self {
        DictStamp { dict: dict.clone().unbind(), version: dict_version(dict) }
    }

    pub fn dict(&self) -> &Py<PyDict> {
        &self.dict
    }

    /// Whether the dict is unchanged since the stamp was made or refreshed.
    #[inline]
    pub fn fresh(&self) -> bool {
        // SAFETY: the dict is owned; the read is of one word, under the GIL that every caller holds.
        let now = unsafe { raw_version(self.dict.as_ptr()) };
        now.is_some() && now == self.version
    }

    /// Takes the present contents as the known ones.
    pub fn refresh(&mut self) {
        // SAFETY: as in `fresh`.
        self.version = unsafe { raw_version(self.dict.as_ptr()) };
    }

    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(self.dict.as_any());
    }
}
