//! Guards of one capture, in order of insertion, none twice.

use crate::{Check, Guard, Names, TrackerId, TrackerTable};
use hashbrown::HashSet;
use std::fmt;

/// Insertion-ordered set of guards. Two guards are the same if path and check are; the first origin stays.
#[derive(Clone, Debug, Default)]
pub struct GuardSet {
    guards: Vec<Guard>,
    seen: HashSet<(TrackerId, Check)>,
}

impl GuardSet {
    /// No guards: always a hit.
    pub fn new() -> GuardSet {
        GuardSet::default()
    }

    /// Add a guard; false if it was there.
    pub fn add(&mut self, guard: Guard) -> bool {
        let new = self.seen.insert((guard.tracker, guard.check.clone()));
        if new {
            self.guards.push(guard);
        }
        new
    }

    /// Whether this check on this path is in the set.
    pub fn contains(&self, tracker: TrackerId, check: &Check) -> bool {
        self.seen.contains(&(tracker, check.clone()))
    }

    /// Number of guards.
    pub fn len(&self) -> usize {
        self.guards.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.guards.is_empty()
    }

    /// A guard by index.
    pub fn get(&self, index: usize) -> Option<&Guard> {
        self.guards.get(index)
    }

    /// All guards in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Guard> {
        self.guards.iter()
    }

    /// Keep the guards for which `keep` says so, given index and guard.
    pub fn retain(&mut self, keep: &mut dyn FnMut(usize, &Guard) -> bool) {
        let seen = &mut self.seen;
        let mut index = 0;
        self.guards.retain(|guard| {
            let stays = keep(index, guard);
            index += 1;
            if !stays {
                seen.remove(&(guard.tracker, guard.check.clone()));
            }
            stays
        });
    }

    /// One guard a line.
    pub fn display<'a>(&'a self, table: &'a TrackerTable, names: &'a dyn Names) -> impl fmt::Display + 'a {
        Text { set: self, table, names }
    }
}

impl<'a> IntoIterator for &'a GuardSet {
    type Item = &'a Guard;
    type IntoIter = std::slice::Iter<'a, Guard>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Extend<Guard> for GuardSet {
    fn extend<T: IntoIterator<Item = Guard>>(&mut self, guards: T) {
        for guard in guards {
            self.add(guard);
        }
    }
}

impl FromIterator<Guard> for GuardSet {
    fn from_iter<T: IntoIterator<Item = Guard>>(guards: T) -> GuardSet {
        let mut set = GuardSet::new();
        set.extend(guards);
        set
    }
}

struct Text<'a> {
    set: &'a GuardSet,
    table: &'a TrackerTable,
    names: &'a dyn Names,
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for guard in self.set {
            writeln!(f, "{}", guard.display(self.table, self.names))?;
        }
        Ok(())
    }
}
