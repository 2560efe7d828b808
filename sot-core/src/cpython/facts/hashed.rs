//! Dicts by the hashes that their keys were stored with: nothing here asks a key for its hash, nor whether it equals another one.
//!
//! Where a look-up leads is CPython's rule in Objects/dictobject.c, the same from 3.8 to 3.13. What would be compared on the
//! way is, for the moment of a write, replaced by objects that equal nothing.

use hashbrown::HashSet;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::cpython::capi;
use crate::cpython::layout::{DictEntry, DictKeys};

/// The table of a dict whose keys may be of any kind.
pub(super) struct Table {
    indices: *const u8,
    entries: *mut DictEntry,
    mask: usize,
    /// Bytes of an index.
    width: usize,
    count: usize,
}

impl Table {
    /// `None`: its keys are strings, or it shares them with others.
    ///
    /// # Safety
    /// What is found is valid until the dict is written.
    pub(super) unsafe fn of(dict: &Bound<'_, PyDict>) -> Option<Table> {
        // SAFETY: a live dict, which always has keys; behind their head lie the indices, and behind these the entries.
        unsafe {
            let raw = dict.as_ptr().cast::<ffi::PyDictObject>();
            if !(*raw).ma_values.is_null() {
                return None;
            }
            let keys = (*raw).ma_keys.cast::<DictKeys>();
            let indices = keys.add(1).cast::<u8>();
            #[cfg(Py_3_11)]
            let (size, bytes) = {
                if (*keys).dk_kind != 0 {
                    return None;
                }
                (1_usize << (*keys).dk_log2_size, 1_usize << (*keys).dk_log2_index_bytes)
            };
            #[cfg(not(Py_3_11))]
            let (size, bytes) = {
                let size = (*keys).dk_size as usize;
                let width = match size {
                    0..=0xff => 1,
                    0x100..=0xffff => 2,
                    0x1_0000..=0xffff_ffff => 4,
                    _ => 8,
                };
                (size, size * width)
            };
            let entries = indices.add(bytes).cast::<DictEntry>();
            Some(Table {
                indices: indices.cast_const(),
                entries,
                mask: size - 1,
                width: bytes / size,
                count: (*keys).dk_nentries as usize,
            })
        }
    }

    /// # Safety
    /// The table is valid, and `place` is within it.
    unsafe fn index(&self, place: usize) -> i64 {
        // SAFETY: by contract; indices are aligned to their width.
        unsafe {
            match self.width {
                1 => i64::from(*self.indices.cast::<i8>().add(place)),
                2 => i64::from(*self.indices.cast::<i16>().add(place)),
                4 => i64::from(*self.indices.cast::<i32>().add(place)),
                _ => *self.indices.cast::<i64>().add(place),
            }
        }
    }

    /// The entries that a look-up of this hash compares with what it looks for, in this order. It ends with `key` itself.
    ///
    /// # Safety
    /// The table is valid.
    unsafe fn alike(&self, hash: isize, key: *mut ffi::PyObject) -> Vec<*mut DictEntry> {
        const EMPTY: i64 = -1;
        const PERTURB_SHIFT: u32 = 5;
        let mut alike = Vec::new();
        let mut perturb = hash as usize;
        let mut place = perturb & self.mask;
        // SAFETY: by contract; a table has an empty place, at which this ends.
        unsafe {
            loop {
                let index = self.index(place);
                if index == EMPTY {
                    return alike;
                }
                if let Ok(index) = usize::try_from(index) {
                    let entry = self.entries.add(index);
                    if (*entry).me_key == key {
                        alike.push(entry);
                        return alike;
                    }
                    if (*entry).me_hash == hash && !(*entry).me_key.is_null() {
                        alike.push(entry);
                    }
                }
                perturb >>= PERTURB_SHIFT;
                place = (place.wrapping_mul(5).wrapping_add(perturb).wrapping_add(1)) & self.mask;
            }
        }
    }

    /// Its entries, of which some may be gone.
    ///
    /// # Safety
    /// The table is valid.
    pub(super) unsafe fn entries(&self) -> impl Iterator<Item = *mut DictEntry> + '_ {
        // SAFETY: by contract.
        (0..self.count).map(|at| unsafe { self.entries.add(at) })
    }

    /// # Safety
    /// The table is valid.
    unsafe fn entry_of(&self, key: *mut ffi::PyObject) -> Option<*mut DictEntry> {
        // SAFETY: by contract.
        (0..self.count).map(|at| unsafe { self.entries.add(at) }).find(|entry| unsafe { (**entry).me_key } == key)
    }
}

/// The hashes that the keys of a dict were stored with, in the order of its table; `None`: not everything is known.
pub fn stored_hashes(dict: &Bound<'_, PyDict>) -> Option<Vec<i64>> {
    // SAFETY: nothing runs meanwhile that could write the dict.
    unsafe {
        match Table::of(dict) {
            Some(table) => {
                let entries = (0..table.count).map(|at| table.entries.add(at));
                Some(entries.filter(|e| !(**e).me_value.is_null()).map(|e| (*e).me_hash as i64).collect())
            }
            None => {
                dict.iter().map(|(key, _)| Some(super::str_hash(key.cast_exact::<PyString>().ok()?) as i64)).collect()
            }
        }
    }
}

/// Whether keys have been taken out of a dict since its table was made: what comes may take their places.
pub fn has_lost_keys(dict: &Bound<'_, PyDict>) -> bool {
    // SAFETY: a live dict, which always has keys.
    unsafe {
        let raw = dict.as_ptr().cast::<ffi::PyDictObject>();
        (*(*raw).ma_keys.cast::<DictKeys>()).dk_nentries != (*raw).ma_used
    }
}

/// The keys that a look-up of a key with this hash compares with it, in this order: those that were stored with it, some more
/// than once where the search comes by again. The key itself ends the search.
pub fn keys_of_hash<'py>(dict: &Bound<'py, PyDict>, key: &Bound<'py, PyAny>, hash: isize) -> Vec<Bound<'py, PyAny>> {
    // SAFETY: nothing runs meanwhile that could write the dict; what is found is made owned at once.
    unsafe {
        match Table::of(dict) {
            Some(table) => {
                let alike = table.alike(hash, key.as_ptr());
                alike.into_iter().map(|entry| Bound::from_borrowed_ptr(dict.py(), (*entry).me_key)).collect()
            }
            None => {
                let alike = |have: &Bound<'_, PyAny>| {
                    have.is(key) || have.cast_exact::<PyString>().is_ok_and(|have| super::str_hash(have) == hash)
                };
                dict.iter().map(|(have, _)| have).filter(alike).collect()
            }
        }
    }
}

/// As [`keys_of_hash`], each once.
fn distinct_keys_of_hash<'py>(
    dict: &Bound<'py, PyDict>,
    key: &Bound<'py, PyAny>,
    hash: isize,
) -> Vec<Bound<'py, PyAny>> {
    let mut distinct: Vec<Bound<'py, PyAny>> = Vec::new();
    for key in keys_of_hash(dict, key, hash) {
        if !distinct.iter().any(|have| have.is(&key)) {
            distinct.push(key);
        }
    }
    distinct
}

/// Whether a search for this hash may come by one place twice, in a dict of so many keys.
pub fn may_meet_twice(hash: isize, keys: usize) -> bool {
    // No table has fewer places than keys.
    let mut size = (keys + 1).next_power_of_two().max(8);
    // A dict may have had more keys, or have been told to expect more.
    while size <= 16 * keys.next_power_of_two().max(8) {
        let (mask, mut perturb) = (size - 1, hash as usize);
        let mut place = perturb & mask;
        let mut seen: HashSet<usize> = HashSet::from([place]);
        while seen.len() <= keys {
            perturb >>= 5;
            place = (place.wrapping_mul(5).wrapping_add(perturb).wrapping_add(1)) & mask;
            if !seen.insert(place) {
                return true;
            }
        }
        size *= 2;
    }
    false
}

/// The value of this very key.
pub fn value_of_key<'py>(dict: &Bound<'py, PyDict>, key: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    dict.iter().find(|(have, _)| have.is(key)).map(|(_, value)| value)
}

/// An object that equals nothing but itself, and that may hold others as far as the collector of garbage knows.
pub(super) fn placeholder(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        let class = super::unlisted_class(py, "placeholder", PyTuple::empty(py), PyDict::new(py))?;
        PyResult::Ok(class.unbind())
    })?;
    class.bind(py).call0()
}

/// The keys that a search for this one compares with it, each once, and objects to stand in for them: making those may collect
/// garbage, and so run code that writes the dict.
fn to_cover<'py>(dict: &Bound<'py, PyDict>, key: &Bound<'py, PyAny>, hash: isize) -> PyResult<CoveredKeys<'py>> {
    let mut placeholders = Vec::new();
    loop {
        let keys = distinct_keys_of_hash(dict, key, hash);
        if keys.len() <= placeholders.len() {
            placeholders.truncate(keys.len());
            return Ok(CoveredKeys { keys, placeholders });
        }
        while placeholders.len() < keys.len() {
            placeholders.push(placeholder(dict.py())?);
        }
    }
}

struct CoveredKeys<'py> {
    keys: Vec<Bound<'py, PyAny>>,
    placeholders: Vec<Bound<'py, PyAny>>,
}

impl<'py> CoveredKeys<'py> {
    /// Do something with the dict while the keys are covered: given what stands for the last of them. It must neither run code of
    /// the program nor let go of anything.
    fn while_covered(
        &self,
        dict: &Bound<'py, PyDict>,
        run: impl FnOnce(Option<&Bound<'py, PyAny>>) -> PyResult<()>,
    ) -> PyResult<()> {
        put_keys(dict, &self.keys, &self.placeholders);
        let done = run(self.placeholders.last());
        put_keys(dict, &self.placeholders, &self.keys);
        done
    }
}

/// Put keys in the places of others. Those that are not there stay away.
fn put_keys<'py>(dict: &Bound<'py, PyDict>, keys: &[Bound<'py, PyAny>], others: &[Bound<'py, PyAny>]) {
    // SAFETY: nothing runs meanwhile that could write the dict: the caller holds all of these objects. Each entry keeps one
    // reference.
    unsafe {
        let Some(table) = Table::of(dict) else { return };
        for (key, other) in keys.iter().zip(others) {
            if let Some(entry) = table.entry_of(key.as_ptr()) {
                (*entry).me_key = other.clone().into_ptr();
                ffi::Py_DECREF(key.as_ptr());
            }
        }
    }
}

/// `dict[key] = value` of a key that has been hashed and compared: it takes the place of `found`'s value, or it is a new one.
pub(super) fn store_in_table<'py>(
    dict: &Bound<'py, PyDict>,
    found: Option<&Bound<'py, PyAny>>,
    key: &Bound<'py, PyAny>,
    hash: isize,
    value: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let py = dict.py();
    let key = found.unwrap_or(key);
    let new = placeholder(py)?;
    let covered = to_cover(dict, key, hash)?;
    // What is replaced goes when everything is in its place again.
    let _old = found.and_then(|found| value_of_key(dict, found));
    let set = |key: &Bound<'py, PyAny>| {
        // SAFETY: live objects.
        match unsafe { capi::_PyDict_SetItem_KnownHash(dict.as_ptr(), key.as_ptr(), value.as_ptr(), hash) } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(py)),
        }
    };
    if covered.keys.first().is_none_or(|first| first.is(key)) {
        return set(key);
    }
    // SAFETY: it is asked for nothing but its kind.
    let of_strings = unsafe { Table::of(dict) }.is_none();
    if found.is_some() {
        // A table of strings alone compares them by itself. Any other has the key covered as well, which ends the search: others
        // would be compared with it.
        return match of_strings {
            true => dict.set_item(key, value),
            false => covered.while_covered(dict, |found| found.map_or(Ok(()), &set)),
        };
    }
    // Strings may be compared with what stands for the key.
    let done = if of_strings { set(&new) } else { covered.while_covered(dict, |_| set(&new)) };
    put_keys(dict, std::slice::from_ref(&new), std::slice::from_ref(key));
    done
}

/// `del dict[found]` of a key that was stored with this hash. Its value is handed out: it goes after the key.
pub(super) fn delete_in_table<'py>(
    dict: &Bound<'py, PyDict>,
    found: &Bound<'py, PyAny>,
    hash: isize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let covered = to_cover(dict, found, hash)?;
    let value = value_of_key(dict, found);
    // A table of strings alone compares them by itself.
    // SAFETY: it is asked for nothing but its kind.
    if unsafe { Table::of(dict) }.is_none() {
        return dict.del_item(found).map(|()| value);
    }
    covered.while_covered(dict, |found| {
        let Some(found) = found else { return Ok(()) };
        // SAFETY: live objects.
        match unsafe { capi::_PyDict_DelItem_KnownHash(dict.as_ptr(), found.as_ptr(), hash) } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(dict.py())),
        }
    })?;
    Ok(value)
}
