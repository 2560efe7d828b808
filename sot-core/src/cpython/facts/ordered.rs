//! Ordered dicts by their nodes: nothing here asks a key for its hash, nor whether it equals another one.
//!
//! Beside the table of a dict, an ordered dict keeps a list of nodes, one a key, which is its order. What is done by C finds the
//! node of a key by looking the key up: keys that code of the program would be asked about are, for the moment of a write, replaced in
//! both places by objects that have their hashes and equal nothing.

use super::hashed::{Table, delete_in_table, keys_of_hash, store_in_table, stored_hashes, value_of_key};
use super::sets::Hash;
use crate::cpython::capi;
use crate::cpython::layout::OrderedDict;
use hashbrown::HashMap;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Whether it is an `OrderedDict`, or extends one: it has an order of its own.
pub fn is_ordered(dict: &Bound<'_, PyDict>) -> bool {
    // SAFETY: live types.
    unsafe { ffi::PyType_IsSubtype(ffi::Py_TYPE(dict.as_ptr()), &raw mut capi::PyODict_Type) != 0 }
}

/// The keys of a dict in its own order, whatever a subclass says of them.
pub fn keys_in_order<'py>(dict: &Bound<'py, PyDict>) -> Vec<Bound<'py, PyAny>> {
    match is_ordered(dict) {
        true => ordered_entries(dict).into_iter().map(|entry| entry.0).collect(),
        false => dict.iter().map(|entry| entry.0).collect(),
    }
}

/// As [`stored_hashes`], of a dict whose order is that of its table, as ordered dicts need not have it.
pub fn hashes_in_order(dict: &Bound<'_, PyDict>) -> Option<Vec<i64>> {
    (!is_ordered(dict) || lies_in_order(dict)).then(|| stored_hashes(dict)).flatten()
}

/// `dict[key] = value` of a key that has been hashed and compared: it takes the place of `found`'s value, or it is a new one,
/// unless another thread has stored this very object since.
pub fn store_hashed<'py>(
    dict: &Bound<'py, PyDict>,
    found: Option<&Bound<'py, PyAny>>,
    key: &Bound<'py, PyAny>,
    hash: isize,
    value: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let stored = found.is_none() && keys_of_hash(dict, key, hash).iter().any(|have| have.is(key));
    let found = if stored { Some(key) } else { found };
    match is_ordered(dict) {
        true => store_ordered(dict, found, key, hash, value),
        false => store_in_table(dict, found, key, hash, value),
    }
}

/// `del dict[found]` of a key that was stored with this hash. Its value is handed out: it goes after the key.
pub fn delete_hashed<'py>(
    dict: &Bound<'py, PyDict>,
    found: &Bound<'py, PyAny>,
    hash: isize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match is_ordered(dict) {
        true => delete_ordered(dict, found),
        false => delete_in_table(dict, found, hash),
    }
}

/// The keys of an ordered dict in its order, and the hashes that they were stored with.
pub fn ordered_entries<'py>(dict: &Bound<'py, PyDict>) -> Vec<(Bound<'py, PyAny>, isize)> {
    let mut entries = Vec::with_capacity(dict.len());
    // SAFETY: a live ordered dict, which nothing writes meanwhile; its nodes end with NULL, and each holds its key.
    unsafe {
        let mut node = (*dict.as_ptr().cast::<OrderedDict>()).od_first;
        while !node.is_null() {
            entries.push((Bound::from_borrowed_ptr(dict.py(), (*node).key), (*node).hash));
            node = (*node).next;
        }
    }
    entries
}

/// What the nodes of an ordered dict are found by: another one once it has grown.
pub fn nodes_of(dict: &Bound<'_, PyDict>) -> usize {
    // SAFETY: a live ordered dict.
    unsafe { (*dict.as_ptr().cast::<OrderedDict>()).od_fast_nodes as usize }
}

/// Whether the order of an ordered dict is that of its table.
fn lies_in_order(dict: &Bound<'_, PyDict>) -> bool {
    let entries = ordered_entries(dict);
    entries.len() == dict.len() && entries.iter().zip(dict.iter()).all(|((key, _), (have, _))| key.is(&have))
}

/// Keys beside what stands in for them.
struct CoveredNodes<'py> {
    keys: Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
}

impl<'py> CoveredNodes<'py> {
    fn of(dict: &Bound<'py, PyDict>) -> PyResult<CoveredNodes<'py>> {
        let hashes = stored_hashes(dict).unwrap_or_default();
        let mut keys = Vec::new();
        for ((key, _), hash) in dict.iter().zip(hashes) {
            // A table of strings alone compares them by itself, and asks nobody.
            if !key.is_exact_instance_of::<PyString>() {
                // Not one of those objects that the collector of garbage counts.
                let placeholder = Bound::new(dict.py(), Hash(hash as isize))?.into_any();
                keys.push((key, placeholder));
            }
        }
        Ok(CoveredNodes { keys })
    }

    fn placeholder(&self, key: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
        let found = self.keys.iter().find(|(covered, _)| covered.is(key));
        found.map_or_else(|| key.clone(), |(_, placeholder)| placeholder.clone())
    }

    /// Do something with the dict while the keys are covered. It must neither run code of the program nor let go of anything.
    fn while_covered(&self, dict: &Bound<'py, PyDict>, run: impl FnOnce() -> i32) -> PyResult<()> {
        put_ordered(dict, self.keys.iter().map(|(key, placeholder)| (key, placeholder)));
        let done = if run() == 0 { Ok(()) } else { Err(PyErr::fetch(dict.py())) };
        put_ordered(dict, self.keys.iter().map(|(key, placeholder)| (placeholder, key)));
        done
    }
}

/// Put objects in the places of others.
fn put_ordered<'a, 'py: 'a>(
    dict: &Bound<'py, PyDict>,
    pairs: impl Iterator<Item = (&'a Bound<'py, PyAny>, &'a Bound<'py, PyAny>)>,
) {
    let others: HashMap<usize, &Bound<'py, PyAny>> = pairs.map(|(from, to)| (from.as_ptr() as usize, to)).collect();
    let put = |place: &mut *mut ffi::PyObject| {
        if let Some(other) = others.get(&(*place as usize)) {
            // SAFETY: the place holds one reference, and the caller another one.
            unsafe { ffi::Py_DECREF(*place) };
            *place = (*other).clone().into_ptr();
        }
    };
    // SAFETY: a live ordered dict, which nothing writes meanwhile: the caller holds all of these objects.
    unsafe {
        if let Some(table) = Table::of(dict) {
            for entry in table.entries() {
                put(&mut (*entry).me_key);
            }
        }
        let mut node = (*dict.as_ptr().cast::<OrderedDict>()).od_first;
        while !node.is_null() {
            put(&mut (*node).key);
            node = (*node).next;
        }
    }
}

fn store_ordered<'py>(
    dict: &Bound<'py, PyDict>,
    found: Option<&Bound<'py, PyAny>>,
    key: &Bound<'py, PyAny>,
    hash: isize,
    value: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let covered = CoveredNodes::of(dict)?;
    let new = Bound::new(dict.py(), Hash(hash))?.into_any();
    // What is replaced goes when everything is in its place again.
    let _old = found.and_then(|found| value_of_key(dict, found));
    let stored = match found {
        Some(found) => covered.placeholder(found),
        None => new.clone(),
    };
    // SAFETY: live objects.
    let set = || unsafe { capi::PyODict_SetItem(dict.as_ptr(), stored.as_ptr(), value.as_ptr()) };
    covered.while_covered(dict, set)?;
    if found.is_none() {
        put_ordered(dict, std::iter::once((&new, key)));
    }
    Ok(())
}

fn delete_ordered<'py>(dict: &Bound<'py, PyDict>, found: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let covered = CoveredNodes::of(dict)?;
    let value = value_of_key(dict, found);
    let stored = covered.placeholder(found);
    // SAFETY: live objects.
    covered.while_covered(dict, || unsafe { capi::PyODict_DelItem(dict.as_ptr(), stored.as_ptr()) })?;
    Ok(value)
}

/// `dict.move_to_end(found, last)` of a key that the ordered dict has.
pub fn move_ordered(dict: &Bound<'_, PyDict>, found: &Bound<'_, PyAny>, last: bool) {
    // SAFETY: a live ordered dict, which nothing writes meanwhile; the nodes are linked both ways.
    unsafe {
        let ordered = dict.as_ptr().cast::<OrderedDict>();
        let mut node = (*ordered).od_first;
        while !node.is_null() && (*node).key != found.as_ptr() {
            node = (*node).next;
        }
        if node.is_null() || node == (if last { (*ordered).od_last } else { (*ordered).od_first }) {
            return;
        }
        // It is not alone.
        let (before, behind) = ((*node).prev, (*node).next);
        match before.is_null() {
            true => (*ordered).od_first = behind,
            false => (*before).next = behind,
        }
        match behind.is_null() {
            true => (*ordered).od_last = before,
            false => (*behind).prev = before,
        }
        if last {
            (*node).prev = (*ordered).od_last;
            (*node).next = std::ptr::null_mut();
            (*(*ordered).od_last).next = node;
            (*ordered).od_last = node;
        } else {
            (*node).next = (*ordered).od_first;
            (*node).prev = std::ptr::null_mut();
            (*(*ordered).od_first).prev = node;
            (*ordered).od_first = node;
        }
        // Taken out, and put in.
        (*ordered).od_state = (*ordered).od_state.wrapping_add(2);
    }
}
