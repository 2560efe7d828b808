//! The guards of a finished capture: what was written to is kept apart from all else that was read.

use super::Captured;
use crate::cpython::facts;
use crate::variables::*;
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sot_sideeffect::Target;
use sot_tracker::{Check, ObjectId, Tracker, TrackerId};

impl Captured {
    /// Where a sourced object is found: the object itself if its identity is a guarded fact.
    pub(crate) fn identity_path(&mut self, tracker: TrackerId, object: ObjectId) -> TrackerId {
        match self.guards.contains(tracker, &Check::Is(object)) {
            true => self.constant_tracker(object),
            false => tracker,
        }
    }

    pub(crate) fn is_fixed(&self, tracker: TrackerId) -> bool {
        matches!(self.trackers.get(tracker), Tracker::Constant(_))
    }

    /// Leave the guards that only the whole capture can tell.
    pub fn settle_guards(&mut self, py: Python<'_>) {
        self.guard_aliasing(py);
        self.guards.drop_implied_presence(&self.trackers);
    }

    /// Leave the guards that keep what was written apart from all else that was read.
    fn guard_aliasing(&mut self, py: Python<'_>) {
        if self.journal.is_empty() {
            return;
        }
        let mut written: Vec<VarId> = Vec::new();
        let mut written_globals: Vec<ObjectId> = Vec::new();
        for target in self.journal.touched() {
            match target {
                Target::Object(var) => written.push(VarId(var.0)),
                Target::Globals(globals) => written_globals.push(globals),
            }
        }
        written.retain(|v| self.known_object(*v).is_some() && self.has_path(self.var(*v).tracker));
        let type_of = |ex: &Self, id: ObjectId| ex.objects.get_ref(py, id).get_type_ptr() as usize;
        let mut by_type: HashMap<usize, Vec<Path>> = HashMap::new();
        let dict_type = py.get_type::<PyDict>().as_ptr() as usize;
        let types: HashSet<usize> =
            written.iter().filter_map(|v| self.known_object(*v)).map(|o| type_of(self, o)).collect();
        for index in 0..self.vars.len() {
            let var = VarId(index as u32);
            let tracker = self.var(var).tracker;
            if !self.var(var).looked || !self.has_path(tracker) {
                continue;
            }
            let Some(object) = self.known_object(var) else { continue };
            if let VarKind::Iterator(IteratorVar { state: Iteration::Real { .. } }) = self.var(var).kind
                && let Some(source) = crate::iterators::source(self.objects.get_ref(py, object))
            {
                let path = self.trackers.intern(Tracker::IterSource(tracker));
                let path = Path { tracker: path, address: source.as_ptr() as usize };
                by_type.entry(source.get_type_ptr() as usize).or_default().push(path);
            }
            let ty = type_of(self, object);
            if types.contains(&ty) || ty == dict_type {
                let path = self.path_of(py, tracker, object);
                by_type.entry(ty).or_default().push(path);
            }
        }
        let dicts_by_name = by_type.get(&dict_type).cloned().unwrap_or_default();
        for var in written {
            let Some(object) = self.known_object(var) else { continue };
            let tracker = self.var(var).tracker;
            let path = self.path_of(py, tracker, object);
            let ty = type_of(self, object);
            let mut others = by_type.get(&ty).cloned().unwrap_or_default();
            if ty == dict_type {
                // None of them is written to as a dict: that would have stopped the capture.
                others.extend(self.dicts_below().into_iter().map(|tracker| Path { tracker, address: 0 }));
            }
            self.keep_apart(path, &others);
            if let VarKind::Instance(_) = self.var(var).kind
                && !dicts_by_name.is_empty()
                && let Some(dict) = facts::instance_dict(self.objects.get_ref(py, object))
            {
                let own = self.trackers.intern(Tracker::InstanceDict(path.tracker));
                self.keep_apart(Path { tracker: own, address: dict.as_ptr() as usize }, &dicts_by_name);
            }
        }
        for globals in written_globals {
            let address = self.objects.get_ref(py, globals).as_ptr() as usize;
            let path = Path { tracker: self.constant_tracker(globals), address };
            self.keep_apart(path, &dicts_by_name);
        }
    }

    /// Dicts that were read without being variables: instances', modules', globals.
    fn dicts_below(&self) -> Vec<TrackerId> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        let mut add = |at: TrackerId| {
            if seen.insert(at) {
                found.push(at);
            }
        };
        for guard in self.guards.iter() {
            for step in self.trackers.path(guard.tracker) {
                match self.trackers.get(step) {
                    Tracker::InstanceDict(_) => add(step),
                    Tracker::DictItem { base, .. } if self.is_fixed(*base) => add(*base),
                    _ => {}
                }
            }
            if matches!(guard.check, Check::Lacks(_)) {
                add(guard.tracker);
            }
        }
        found
    }

    fn path_of(&mut self, py: Python<'_>, tracker: TrackerId, object: ObjectId) -> Path {
        let address = self.objects.get_ref(py, object).as_ptr() as usize;
        Path { tracker: self.identity_path(tracker, object), address }
    }

    /// `path` leads to none of the objects at `others`. Those that it leads to now are known to: what was read of them was
    /// read before the write.
    fn keep_apart(&mut self, path: Path, others: &[Path]) {
        let mut seen: HashSet<TrackerId> = HashSet::new();
        let mut fixed = Vec::new();
        for other in others.iter().filter(|o| o.address != path.address) {
            if !seen.insert(other.tracker) {
                continue;
            }
            match (self.is_fixed(path.tracker), self.is_fixed(other.tracker)) {
                (true, true) => {}
                (false, true) => fixed.push(other.tracker),
                (_, false) => self.guard(path.tracker, Check::Distinct(vec![other.tracker])),
            }
        }
        if !fixed.is_empty() {
            self.guard(path.tracker, Check::Distinct(fixed));
        }
    }
}

/// Where an object is found, and its address at capture.
#[derive(Clone, Copy)]
struct Path {
    tracker: TrackerId,
    address: usize,
}
