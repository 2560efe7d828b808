//! The tables of sets: where their members lie, and what places the next ones.
//!
//! The order of a set is that of its table, which tells of its history: of sizes that it had, of members that are gone. Two
//! sets of equal tables go on alike.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PySet};

/// A member where it lies.
pub struct SetEntry<'py> {
    pub place: usize,
    pub hash: isize,
    pub key: Bound<'py, PyAny>,
}

/// The table of an exact set or frozen set.
pub struct SetTable<'py> {
    /// In the order of their places.
    pub entries: Vec<SetEntry<'py>>,
    /// Places, less one.
    pub mask: usize,
    /// Places that have lost their members, and are not used again.
    pub lost: Vec<usize>,
    /// Where `pop` looks next.
    pub finger: usize,
}

/// The table of an exact set or frozen set; `None`: it is another object.
pub fn set_table<'py>(set: &Bound<'py, PyAny>) -> Option<SetTable<'py>> {
    if !set.is_exact_instance_of::<PySet>() && !set.is_exact_instance_of::<PyFrozenSet>() {
        return None;
    }
    let py = set.py();
    // SAFETY: the layout is used only after the exact type was checked; a table has `mask + 1` entries, those with a hash of
    // -1 are dummies, and what is found is made owned at once.
    unsafe {
        let raw = set.as_ptr().cast::<ffi::PySetObject>();
        let mask = (*raw).mask as usize;
        let mut lost = Vec::new();
        let mut entries = Vec::with_capacity((*raw).used as usize);
        for place in 0..=mask {
            let entry = (*raw).table.add(place);
            if (*entry).hash == -1 {
                lost.push(place);
            } else if !(*entry).key.is_null() {
                let key = Bound::from_borrowed_ptr(py, (*entry).key);
                entries.push(SetEntry { place, hash: (*entry).hash, key });
            }
        }
        Some(SetTable { entries, lost, mask, finger: (*raw).finger as usize })
    }
}

/// A set with this table, of members of other hashes perhaps; `None`: no set comes to that.
pub fn set_with_table<'py>(
    py: Python<'py>,
    members: &[(usize, Bound<'py, PyAny>)],
    lost: &[usize],
    mask: usize,
    finger: usize,
) -> PyResult<Option<Bound<'py, PySet>>> {
    // From a dict a set gets a table with room for as many, and keeps it when they leave.
    let set = PySet::empty(py)?;
    if mask > 7 {
        let keys = PyDict::new(py);
        for key in 0..((mask + 1) / 4).max(5) {
            keys.set_item(key, py.None())?;
        }
        set.call_method1("update", (&keys,))?;
    } else {
        set.add(0)?;
    }
    let inside: Vec<Bound<'py, PyAny>> = set.iter().collect();
    for key in inside {
        set.discard(key)?;
    }
    let mut hashes = Vec::with_capacity(members.len());
    for (place, member) in members {
        hashes.push(member.hash()?);
        if *place > mask {
            return Ok(None);
        }
    }
    if lost.iter().any(|place| *place > mask) {
        return Ok(None);
    }
    // SAFETY: nobody else knows this set, which is exact; all of its entries are empty or dummies, which it does not own, and
    // each place that is written is within its table and is written once, with a reference of its own.
    unsafe {
        let raw = set.as_ptr().cast::<ffi::PySetObject>();
        if (*raw).mask as usize != mask || (*raw).used != 0 {
            return Ok(None);
        }
        let mut dummy = std::ptr::null_mut();
        for place in 0..=mask {
            let entry = (*raw).table.add(place);
            if (*entry).hash == -1 {
                dummy = (*entry).key;
            }
            (*entry).key = std::ptr::null_mut();
            (*entry).hash = 0;
        }
        if dummy.is_null() {
            return Ok(None);
        }
        for place in lost {
            let entry = (*raw).table.add(*place);
            (*entry).key = dummy;
            (*entry).hash = -1;
        }
        for ((place, member), hash) in members.iter().zip(hashes) {
            let entry = (*raw).table.add(*place);
            (*entry).key = member.clone().into_ptr();
            (*entry).hash = hash;
        }
        (*raw).used = members.len() as isize;
        (*raw).fill = (members.len() + lost.len()) as isize;
        (*raw).finger = finger as isize;
    }
    Ok(Some(set))
}
