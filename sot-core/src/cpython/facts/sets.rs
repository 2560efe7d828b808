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

fn is_exact_set(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PySet>() || object.is_exact_instance_of::<PyFrozenSet>()
}

/// The table of an exact set or frozen set; `None`: it is another object.
pub fn set_table<'py>(set: &Bound<'py, PyAny>) -> Option<SetTable<'py>> {
    if !is_exact_set(set) {
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

/// Members of an exact set or frozen set that a look-up of this hash compares with what it looks for, in this order. Where they
/// lie is `set_lookkey`'s rule in CPython's Objects/setobject.c, the same from 3.8 to 3.13.
pub fn members_of_hash<'py>(set: &Bound<'py, PyAny>, hash: isize) -> Option<Vec<Bound<'py, PyAny>>> {
    const LINEAR_PROBES: usize = 9;
    const PERTURB_SHIFT: u32 = 5;
    if !is_exact_set(set) {
        return None;
    }
    let mut members = Vec::new();
    // SAFETY: as in `set_table`; each place is within the table, and a table has an empty place, at which this ends.
    unsafe {
        let raw = set.as_ptr().cast::<ffi::PySetObject>();
        let mask = (*raw).mask as usize;
        let mut perturb = hash as usize;
        let mut place = perturb & mask;
        loop {
            let probes = if place + LINEAR_PROBES <= mask { LINEAR_PROBES } else { 0 };
            for place in place..=place + probes {
                let entry = (*raw).table.add(place);
                if (*entry).hash == 0 && (*entry).key.is_null() {
                    return Some(members);
                }
                if (*entry).hash == hash && !(*entry).key.is_null() {
                    members.push(Bound::from_borrowed_ptr(set.py(), (*entry).key));
                }
            }
            perturb >>= PERTURB_SHIFT;
            place = (place.wrapping_mul(5).wrapping_add(1).wrapping_add(perturb)) & mask;
        }
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
