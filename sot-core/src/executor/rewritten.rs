//! Places that hold another value after each call, since the code itself writes them: `self.cache = f(self.cache)`,
//! `shadow[name] = shadow[name] * 0.9`.
//!
//! What is found below a constant object is taken for what will be there at each call, and guarded by its identity. A place
//! that the code has read and then writes is not like that: the capture starts over, and finds what is there by its path, as it
//! finds arguments.

use super::Executor;
use crate::cpython::facts;
use crate::variables::*;
use hashbrown::HashSet;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use sot_tracker::{Access, ObjectId, Tracker, TrackerId};

/// What is written, by what is the same in each attempt of one capture: the address of the container, and of the key in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Written {
    Name(usize, String),
    Key(usize, usize),
    Index(usize, i64),
}

/// Whether a value of a kind may be replaced, in its place, by another one at the next call.
pub(super) fn is_replaceable(kind: &VarKind) -> bool {
    matches!(kind, VarKind::Tensor(_) | VarKind::Tuple(_) | VarKind::List(_) | VarKind::Dict(_) | VarKind::Instance(_))
}

impl<'py> Executor<'py> {
    /// Whether an earlier attempt has found that the code writes this name.
    pub(super) fn is_rewritten(&self, dict: &Bound<'py, PyDict>, name: &str) -> bool {
        let places = &self.found.rewritten;
        !places.is_empty() && places.contains(&Written::Name(dict.as_ptr() as usize, name.to_owned()))
    }

    /// An item of a container, or the slot of an instance, below a constant object was found. If an earlier attempt has seen that the code writes it, it is
    /// known by its path.
    pub(super) fn note_item_read(&mut self, place: TrackerId) {
        if self.found.rewritten.is_empty() {
            return;
        }
        if self.written_at(place).is_some_and(|written| self.found.rewritten.contains(&written)) {
            self.note_passing(place);
        }
    }

    /// The place of an item of a container, or a slot of an instance, that is a constant object.
    fn written_at(&self, place: TrackerId) -> Option<Written> {
        let Tracker::Step { base, access } = self.trackers.get(place) else { return None };
        let address = |object: ObjectId| self.objects.get_ref(self.py, object).as_ptr() as usize;
        let container = address(self.trackers.get(*base).as_constant()?);
        match access {
            Access::DictItem(key) => Some(Written::Key(container, address(*key))),
            Access::SeqItem(index) => Some(Written::Index(container, *index)),
            Access::Attr(name) => Some(Written::Name(container, name.clone())),
            _ => None,
        }
    }

    /// Items of a container are about to be replaced by others, or taken away.
    pub(super) fn note_items_replaced(&mut self, before: &[VarId], after: &[VarId]) {
        let stays = |(at, item): (usize, &VarId)| after.get(at) == Some(item);
        let mut gone: Vec<VarId> =
            before.iter().enumerate().filter(|one| !stays(*one)).map(|(_, item)| *item).collect();
        gone.retain(|item| self.written_at(self.var(*item).tracker).is_some());
        self.items_replaced.append(&mut gone);
    }

    /// The same of a dict.
    pub(super) fn note_entries_replaced(&mut self, before: &[(VarId, VarId)], after: &[(VarId, VarId)]) {
        let stay: HashSet<&(VarId, VarId)> = if before.len() <= after.len() {
            before.iter().zip(after).filter(|(old, new)| old == new).map(|(old, _)| old).collect()
        } else {
            after.iter().collect()
        };
        let mut gone: Vec<VarId> = before.iter().filter(|entry| !stay.contains(entry)).map(|entry| entry.1).collect();
        gone.retain(|item| self.written_at(self.var(*item).tracker).is_some());
        self.items_replaced.append(&mut gone);
    }

    /// A slot of an instance is about to be written.
    pub(super) fn note_slot_rewritten(&mut self, object: VarId, name: &str) {
        let Some(sourced) = self.known_object(object) else { return };
        let object = self.objects.get(self.py, sourced);
        let facts::Field::Value(old) = facts::field(&object, &PyString::intern(self.py, name)) else { return };
        let mut known = self.found_as(&old);
        known.retain(|old| self.written_at(self.var(*old).tracker).is_some());
        self.items_replaced.append(&mut known);
    }

    /// Whether a variable was taken for what is in its place at each call, and may be replaced there by another object.
    fn is_taken_for_fixed(&self, var: VarId) -> bool {
        let Variable { kind, tracker, looked, .. } = self.var(var);
        is_replaceable(kind) && *looked && !self.is_constant(*tracker) && self.is_under_constant(*tracker)
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
        let fixed = self.found_as(&old).into_iter().any(|var| self.is_taken_for_fixed(var));
        if fixed && !self.is_rewritten(dict, name) {
            self.rewritten.push(Written::Name(dict.as_ptr() as usize, name.to_owned()));
        }
    }

    /// What makes this attempt futile: places that it writes, and has taken for fixed.
    pub fn take_rewritten(&mut self) -> Vec<Written> {
        let mut places = std::mem::take(&mut self.rewritten);
        for item in std::mem::take(&mut self.items_replaced) {
            // It may have been looked at since.
            let fixed = self.is_taken_for_fixed(item);
            let place = self.written_at(self.var(item).tracker);
            places.extend(place.filter(|place| fixed && !self.found.rewritten.contains(place)));
        }
        places
    }
}
