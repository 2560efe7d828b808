//! The tables of sets: where their members lie, and what places the next ones.
//!
//! The order of a set is that of its table, which tells of its history: of sizes that it had, of members that are gone. Two
//! sets of equal tables go on alike.

use super::hashed::placeholder;
use hashbrown::HashMap;
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

/// The member that so many others lie before.
pub fn set_entry<'py>(set: &Bound<'py, PyAny>, nth: usize) -> Option<SetEntry<'py>> {
    if !is_exact_set(set) {
        return None;
    }
    let mut before = nth;
    // SAFETY: as in `set_table`.
    unsafe {
        let raw = set.as_ptr().cast::<ffi::PySetObject>();
        for place in 0..=(*raw).mask as usize {
            let entry = (*raw).table.add(place);
            if (*entry).hash == -1 || (*entry).key.is_null() {
                continue;
            }
            if before == 0 {
                let key = Bound::from_borrowed_ptr(set.py(), (*entry).key);
                return Some(SetEntry { place, hash: (*entry).hash, key });
            }
            before -= 1;
        }
    }
    None
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

/// A set with this table, whose members are taken to have these hashes; `None`: no set comes to that.
pub fn set_with_table<'py>(
    py: Python<'py>,
    members: &[(usize, Bound<'py, PyAny>, isize)],
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
    let mut places: Vec<usize> = members.iter().map(|member| member.0).chain(lost.iter().copied()).collect();
    places.sort_unstable();
    // Within the table, each once, and one place is empty, at which a search ends.
    if places.last().is_some_and(|last| *last > mask)
        || places.windows(2).any(|two| two[0] == two[1])
        || places.len() > mask
    {
        return Ok(None);
    }
    // SAFETY: nobody else knows this set, which is exact; all of its entries are empty or dummies, which it does not own, and
    // each place that is written is within its table and is written once, with a reference of its own, as was checked.
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
        for (place, member, hash) in members {
            let entry = (*raw).table.add(*place);
            (*entry).key = member.clone().into_ptr();
            (*entry).hash = *hash;
        }
        (*raw).used = members.len() as isize;
        (*raw).fill = (members.len() + lost.len()) as isize;
        (*raw).finger = finger as isize;
    }
    Ok(Some(set))
}

/// Has the hash that it is made with, and equals nothing but itself.
#[pyclass(frozen, module = "sot._sot", name = "_Hash")]
pub struct Hash(pub isize);

#[pymethods]
impl Hash {
    fn __hash__(&self) -> isize {
        self.0
    }
}

/// Put other objects in the places of members of an exact set: nobody is asked. What has left its place is handed out.
pub fn exchange_members<'py>(
    set: &Bound<'py, PyAny>,
    other: impl Fn(&Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>>,
) -> Vec<Bound<'py, PyAny>> {
    let mut left = Vec::new();
    for entry in set_table(set).into_iter().flat_map(|table| table.entries) {
        let Some(other) = other(&entry.key) else { continue };
        // SAFETY: the set is exact, and nothing has run that could have written it: the place is within its table. The entry's
        // reference is handed out, and it is given another one.
        unsafe {
            let raw = set.as_ptr().cast::<ffi::PySetObject>();
            let entry = (*raw).table.add(entry.place);
            left.push(Bound::from_owned_ptr(set.py(), (*entry).key));
            (*entry).key = other.into_ptr();
        }
    }
    left
}

/// Members of a hash give their places to objects that equal nothing, but for one. Making those may collect garbage, and so run
/// code that writes the set: they are there before the members are looked for.
fn cover<'py>(set: &Bound<'py, PyAny>, hash: isize, but: Option<&Bound<'py, PyAny>>) -> PyResult<CoveredMembers<'py>> {
    let mut placeholders = Vec::new();
    let members = loop {
        let mut members = members_of_hash(set, hash).unwrap_or_default();
        members.retain(|member| but.is_none_or(|but| !but.is(member)));
        if members.len() <= placeholders.len() {
            break members;
        }
        while placeholders.len() < members.len() {
            placeholders.push(placeholder(set.py())?);
        }
    };
    let mut covered = CoveredMembers { set: set.clone(), by_address: HashMap::new(), back: HashMap::new() };
    for (member, other) in members.into_iter().zip(placeholders) {
        covered.back.insert(other.as_ptr() as usize, member.clone());
        covered.by_address.insert(member.as_ptr() as usize, other);
    }
    exchange_members(set, |member| covered.by_address.get(&(member.as_ptr() as usize)).cloned());
    Ok(covered)
}

struct CoveredMembers<'py> {
    set: Bound<'py, PyAny>,
    by_address: HashMap<usize, Bound<'py, PyAny>>,
    back: HashMap<usize, Bound<'py, PyAny>>,
}

impl CoveredMembers<'_> {
    fn uncover(self) {
        exchange_members(&self.set, |member| self.back.get(&(member.as_ptr() as usize)).cloned());
    }
}

/// `set.add(key)` of a key that has been hashed, and compared with all members that it could equal: it is a new one, unless another
/// thread has added this very object since.
pub fn add_hashed<'py>(set: &Bound<'py, PySet>, key: &Bound<'py, PyAny>, hash: isize) -> PyResult<()> {
    let table = set_table(set.as_any());
    if table.is_some_and(|table| table.entries.iter().any(|entry| entry.hash == hash && entry.key.is(key))) {
        return Ok(());
    }
    let new = Bound::new(set.py(), Hash(hash))?.into_any();
    let covered = cover(set, hash, None)?;
    let done = set.add(&new);
    exchange_members(set, |member| member.is(&new).then(|| key.clone()));
    covered.uncover();
    done
}

/// `set.discard(found)` of a member that was stored with this hash.
pub fn discard_hashed<'py>(set: &Bound<'py, PySet>, found: &Bound<'py, PyAny>, hash: isize) -> PyResult<()> {
    let old = Bound::new(set.py(), Hash(hash))?.into_any();
    let covered = cover(set, hash, Some(found))?;
    // It lives until everything is in its place again.
    let _member = exchange_members(set, |member| member.is(found).then(|| old.clone()));
    let done = set.discard(&old);
    covered.uncover();
    done.map(drop)
}

/// The table of one exact set for that of another one. Neither has been hashed.
pub fn exchange_tables<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) {
    if !is_exact_set(a) || !is_exact_set(b) {
        return;
    }
    // SAFETY: two exact sets. A small table lies within its set, and is copied; where the pointer goes is set accordingly.
    unsafe {
        let (a, b) = (a.as_ptr().cast::<ffi::PySetObject>(), b.as_ptr().cast::<ffi::PySetObject>());
        let of_a = (*a).table == (&raw mut (*a).smalltable).cast();
        let of_b = (*b).table == (&raw mut (*b).smalltable).cast();
        std::ptr::swap(&raw mut (*a).fill, &raw mut (*b).fill);
        std::ptr::swap(&raw mut (*a).used, &raw mut (*b).used);
        std::ptr::swap(&raw mut (*a).mask, &raw mut (*b).mask);
        std::ptr::swap(&raw mut (*a).finger, &raw mut (*b).finger);
        std::ptr::swap(&raw mut (*a).table, &raw mut (*b).table);
        std::ptr::swap(&raw mut (*a).smalltable, &raw mut (*b).smalltable);
        if of_b {
            (*a).table = (&raw mut (*a).smalltable).cast();
        }
        if of_a {
            (*b).table = (&raw mut (*b).smalltable).cast();
        }
    }
}

/// A frozen set that nobody else has, which is empty.
pub fn new_frozen_set(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: without an iterable it makes an empty one.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyFrozenSet_New(std::ptr::null_mut())) }
}

/// A set, or frozen set, to which these were added one by one: of each that is asked for its hash it is this one, and none equals another.
pub fn set_of_hashed<'py>(
    py: Python<'py>,
    members: &[(Bound<'py, PyAny>, Option<isize>)],
    frozen: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let set = PySet::empty(py)?;
    let mut back = HashMap::new();
    for (member, hash) in members {
        match hash {
            Some(hash) => {
                let new = Bound::new(py, Hash(*hash))?.into_any();
                set.add(&new)?;
                back.insert(new.as_ptr() as usize, member.clone());
            }
            None => set.add(member)?,
        }
    }
    exchange_members(&set, |member| back.get(&(member.as_ptr() as usize)).cloned());
    if !frozen {
        return Ok(set.into_any());
    }
    let made = new_frozen_set(py)?;
    exchange_tables(&made, &set);
    Ok(made)
}
