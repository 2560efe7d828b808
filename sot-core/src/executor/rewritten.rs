//! Places that hold another value after each call, since the code itself writes them: `self.cache = f(self.cache)`,
//! `shadow[name] = shadow[name] * 0.9`; or since others do, as earlier captures have seen ([`crate::occupants`]).
//!
//! What is found below a constant object is taken for what will be there at each call, and guarded by its identity. A place
//! that the code has read and then writes is not like that: the capture starts over, and finds what is there by its path, as it
//! finds arguments.

use super::Executor;
use crate::captured::{Written, is_replaceable, written_at};
use crate::cpython::facts;
use crate::variables::*;
use hashbrown::HashSet;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use sot_tracker::{Access, TrackerId};

/// What stood in a place that this attempt has written.
pub(super) struct Replaced {
    place: Written,
    var: VarId,
    /// It was found elsewhere, not below a constant object.
    elsewhere: bool,
}

impl<'py> Executor<'py> {
    /// Whether an earlier attempt or capture has found that somebody writes this name.
    pub(super) fn is_rewritten(&self, dict: &Bound<'py, PyDict>, name: &str) -> bool {
        let places = &self.found.rewritten;
        !places.is_empty() && places.contains(&Written::Name(dict.as_ptr() as usize, name.to_owned()))
    }

    /// An item of a container, or the slot of an instance, below a constant object was found. If somebody writes it, as an earlier attempt
    /// or capture has seen, it is known by its path.
    pub(super) fn note_item_read(&mut self, place: TrackerId) {
        if self.found.rewritten.is_empty() {
            return;
        }
        if written_at(self.py, &self.captured, place).is_some_and(|written| self.found.rewritten.contains(&written)) {
            self.note_passing(place);
        }
    }

    /// Items of a sequence are about to be replaced by others, or taken away.
    pub(super) fn note_items_replaced(&mut self, sequence: VarId, before: &[VarId], after: &[VarId]) {
        let stays = |(at, item): (usize, &VarId)| after.get(at) == Some(item);
        let gone: Vec<_> = before.iter().enumerate().filter(|one| !stays(*one)).collect();
        for (at, &item) in gone {
            self.note_gone(sequence, Access::SeqItem(at as i64), item);
        }
    }

    /// The same of a dict.
    pub(super) fn note_entries_replaced(&mut self, dict: VarId, before: &[(VarId, VarId)], after: &[(VarId, VarId)]) {
        let stay: HashSet<&(VarId, VarId)> = if before.len() <= after.len() {
            before.iter().zip(after).filter(|(old, new)| old == new).map(|(old, _)| old).collect()
        } else {
            after.iter().collect()
        };
        let gone: Vec<_> = before.iter().filter(|entry| !stay.contains(entry)).collect();
        for &(key, item) in gone {
            if let Some(key) = self.known_object(key) {
                self.note_gone(dict, Access::DictItem(key), item);
            }
        }
    }

    /// A slot of an instance is about to be written.
    pub(super) fn note_slot_rewritten(&mut self, object: VarId, name: &str) {
        let Some(sourced) = self.known_object(object) else { return };
        let object = self.objects.get(self.py, sourced);
        let facts::Field::Value(old) = facts::field(&object, &PyString::intern(self.py, name)) else { return };
        self.note_other_in_place(&old, |ex, var| written_at(ex.py, &ex.captured, ex.var(var).tracker));
    }

    /// A variable that stood for an item is none any more. It may have been found elsewhere first, as in an argument: its identity
    /// is what ties that to the place.
    pub(super) fn note_gone(&mut self, container: VarId, access: Access, item: VarId) {
        // The container itself may be found by its path by now, as somebody would see what is in it die.
        let root = self.trackers.root(self.var(container).tracker);
        if !self.is_constant(root) || !self.sourced.contains_key(&item) {
            return;
        }
        let Some(container) = self.known_object(container) else { return };
        let container = self.constant_tracker(container);
        let place = self.trackers.step(container, access);
        if let Some(written) = written_at(self.py, &self.captured, place) {
            let elsewhere = !self.is_under_constant(self.var(item).tracker);
            self.replaced.push(Replaced { place: written, var: item, elsewhere });
        }
    }

    /// The variables for an object: of a tuple, whose identity is no fact, one for each place where it was found.
    pub(super) fn found_as(&self, object: &Bound<'py, PyAny>) -> Vec<VarId> {
        if let Some(&known) = self.known.get(&(object.as_ptr() as usize)) {
            return vec![known];
        }
        match self.objects.find(object).filter(|_| object.is_instance_of::<PyTuple>()) {
            Some(id) => self.sourced.iter().filter(|(_, found)| **found == id).map(|(var, _)| *var).collect(),
            None => Vec::new(),
        }
    }

    /// The attribute of an object is about to be written to its own dict.
    pub(super) fn note_own_rewritten(&mut self, object: VarId, name: &str) {
        if let Some(sourced) = self.known_object(object)
            && let Some(dict) = facts::instance_dict(&self.objects.get(self.py, sourced))
        {
            self.note_rewritten(&dict, name);
        }
    }

    /// An item of a dict below a constant object is about to be written.
    pub(super) fn note_rewritten(&mut self, dict: &Bound<'py, PyDict>, name: &str) {
        let Some(old) = dict.get_item(name).ok().flatten() else { return };
        self.note_other_in_place(&old, |ex, var| {
            let tracker = ex.var(var).tracker;
            let fixed = !ex.is_constant(tracker) && ex.is_under_constant(tracker);
            fixed.then(|| Written::Name(dict.as_ptr() as usize, name.to_owned()))
        });
    }

    /// What was found is about to be replaced by another object in `place`.
    pub(super) fn note_other_in_place(
        &mut self,
        old: &Bound<'py, PyAny>,
        place: impl Fn(&Self, VarId) -> Option<Written>,
    ) {
        for var in self.found_as(old) {
            if let Some(place) = place(self, var) {
                self.replaced.push(Replaced { place, var, elsewhere: false });
            }
        }
    }

    /// What makes this attempt futile: places that it writes, and has taken for fixed. Asked at its end, since what was there may
    /// be looked at after it was replaced.
    pub fn take_rewritten(&mut self) -> Vec<Written> {
        let mut replaced = std::mem::take(&mut self.replaced);
        replaced.retain(|one| {
            let Variable { kind, looked, .. } = self.var(one.var);
            (*looked || one.elsewhere || self.asked_in_part.contains(&one.var))
                && is_replaceable(kind)
                && !self.found.rewritten.contains(&one.place)
        });
        replaced.into_iter().map(|one| one.place).collect()
    }
}
