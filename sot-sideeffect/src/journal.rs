//! Mutations in program order, with lookups over them.
//!
//! A version of a slot is the number of writes to it so far, so version 0 is the state before the call. Lookups
//! and versions follow from the entries alone: after [`Journal::rollback_to`] they are what they were at the mark.

use crate::slot::SlotKey;
use crate::{Mutation, Overlay, Slot, Target, VarRef};
use hashbrown::{HashMap, HashSet};
use sot_tracker::ObjectId;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

/// A mutation and the line of the user's program that made it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    pub mutation: Mutation,
    pub file: Arc<str>,
    pub line: u32,
}

/// A point to return to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark(usize);

/// The journal of one capture.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    entries: Vec<Entry>,
    /// Positions of the entries that wrote a slot, ascending.
    writes: HashMap<Slot, Vec<usize>>,
    /// Positions of the entries that changed an object, ascending.
    changes: HashMap<Target, Vec<usize>>,
}

impl Journal {
    /// An empty journal.
    pub fn new() -> Journal {
        Journal::default()
    }

    /// Append a mutation; gives the new version of its slot.
    pub fn record(&mut self, mutation: Mutation, file: &Arc<str>, line: u32) -> u32 {
        let writes = self.writes.entry(mutation.slot()).or_default();
        writes.push(self.entries.len());
        self.changes.entry(mutation.target()).or_default().push(self.entries.len());
        self.entries.push(Entry { mutation, file: Arc::clone(file), line });
        writes.len() as u32
    }

    /// All entries in program order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether nothing was changed.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Objects that were changed, in order of their first change.
    pub fn touched(&self) -> Vec<Target> {
        let mut seen = HashSet::new();
        self.entries.iter().map(|e| e.mutation.target()).filter(|t| seen.insert(*t)).collect()
    }

    /// The entries that changed an object, in program order.
    pub fn changes_of(&self, target: Target) -> impl Iterator<Item = &Entry> {
        self.changes.get(&target).into_iter().flatten().map(|at| &self.entries[*at])
    }

    /// `object.name` as the journal sees it.
    pub fn attr(&self, object: VarRef, name: &str) -> Overlay {
        self.overlay(SlotKey::Attr(object, name))
    }

    /// `object.__dict__[name]` as the journal sees it, where the class of the object has a descriptor of that name.
    pub fn in_dict(&self, object: VarRef, name: &str) -> Overlay {
        self.overlay(SlotKey::InDict(object, name))
    }

    /// `globals[name]` as the journal sees it.
    pub fn global(&self, globals: ObjectId, name: &str) -> Overlay {
        self.overlay(SlotKey::Global(globals, name))
    }

    /// Content of a cell as the journal sees it.
    pub fn cell(&self, cell: VarRef) -> Overlay {
        self.overlay(SlotKey::Cell(cell))
    }

    /// An ambient mode as the journal sees it.
    pub fn mode(&self, mode: u32) -> Overlay {
        self.overlay(SlotKey::Mode(mode))
    }

    /// Number of writes to a slot so far.
    pub fn version(&self, slot: &Slot) -> u32 {
        self.writes.get(slot).map_or(0, |w| w.len() as u32)
    }

    /// This point.
    pub fn mark(&self) -> Mark {
        Mark(self.entries.len())
    }

    /// Forget everything since the mark. A mark that lies ahead (already rolled back over) changes nothing.
    pub fn rollback_to(&mut self, mark: Mark) {
        while self.entries.len() > mark.0 {
            let Some(entry) = self.entries.pop() else { return };
            take_back(&mut self.writes, &entry.mutation.slot());
            take_back(&mut self.changes, &entry.mutation.target());
        }
    }

    fn overlay(&self, slot: SlotKey<'_>) -> Overlay {
        let Some(last) = self.writes.get(&slot).and_then(|w| w.last()) else { return Overlay::Untouched };
        match self.entries[*last].mutation.stored() {
            Some(value) => Overlay::Set(value),
            None => Overlay::Deleted,
        }
    }
}

fn take_back<K: Eq + Hash>(positions: &mut HashMap<K, Vec<usize>>, key: &K) {
    if let Some(of_key) = positions.get_mut(key) {
        of_key.pop();
        if of_key.is_empty() {
            positions.remove(key);
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  # {}:{}", self.mutation, self.file, self.line)
    }
}

impl fmt::Display for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.iter().try_for_each(|entry| writeln!(f, "{entry}"))
    }
}
