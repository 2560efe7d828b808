//! Which paths lead to one object, and which must not: the guards of identity and aliasing.
//!
//! An object is one variable, however many paths lead to it; so a second path that leads to a known object *is* an
//! answer about identity, and ties the two paths: the next call must find one object there, too ([`Executor::tie`]).
//! The other way round, two variables are two objects. That matters where the program asked (`is`), and where one of
//! them is written to: what was read of the other would be stale if they were one ([`Executor::guard_aliasing`]).
//! Objects of different exact types are never one, and types are guarded by whoever looks.

use super::Executor;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::Target;
use sot_tracker::{Check, ObjectId, Tracker, TrackerId};

impl<'py> Executor<'py> {
    /// The object of a variable was found again, at `second`.
    pub(super) fn tie(&mut self, var: VarId, second: TrackerId, object: &Bound<'py, PyAny>) {
        let first = self.var(var).tracker;
        if first == second {
            return;
        }
        let by_identity = self.var(var).kind.clone().pinned(self).is_some()
            || self.is_under_constant(first)
            || self.is_under_constant(second);
        if !by_identity && self.has_path(first) && self.has_path(second) {
            self.guard(second, Check::SameAs(first));
            return;
        }
        let id = self.objects.add(object);
        for path in [first, second] {
            if self.has_path(path) && !matches!(self.trackers.get(path), Tracker::Constant(_)) {
                self.guard(path, Check::Is(id));
            }
        }
    }

    /// Where a sourced object is found: the object itself if its identity is a guarded fact.
    fn identity_path(&mut self, tracker: TrackerId, object: ObjectId) -> TrackerId {
        match self.guards.contains(tracker, &Check::Is(object)) {
            true => self.constant_tracker(object),
            false => tracker,
        }
    }

    fn is_fixed(&self, tracker: TrackerId) -> bool {
        matches!(self.trackers.get(tracker), Tracker::Constant(_))
    }

    /// Whether two sourced objects that are no constants are one, guarded either way; `None` if one is virtual.
    pub(super) fn same_sourced_object(&mut self, a: VarId, b: VarId) -> Option<bool> {
        let (object_a, object_b) = (self.known_object(a)?, self.known_object(b)?);
        let (first, second) = (self.var(a).tracker, self.var(b).tracker);
        if !self.has_path(first) || !self.has_path(second) {
            return None;
        }
        let (first, second) = (self.identity_path(first, object_a), self.identity_path(second, object_b));
        let same = object_a == object_b;
        let one_type = {
            let of = |id| self.objects.get_ref(self.py, id).get_type();
            of(object_a).is(of(object_b))
        };
        if one_type && first != second && !(self.is_fixed(first) && self.is_fixed(second)) {
            self.guard(first, if same { Check::SameAs(second) } else { Check::Distinct(vec![second]) });
        }
        Some(same)
    }

    /// The path leads to something, whatever it is.
    pub(super) fn guard_present(&mut self, tracker: TrackerId) {
        self.guard(tracker, Check::SameAs(tracker));
    }

    // ----- one object under two names within a capture

    /// Whether the journal changes this object.
    pub(super) fn is_written(&self, var: VarId) -> bool {
        let target = Target::Object(Self::var_ref(var));
        self.journal.entries().iter().any(|e| e.mutation.target() == target)
    }

    /// Whether the journal writes to a real dict, as a dict or below its owner.
    pub(super) fn is_dict_written(&self, dict: &Bound<'py, PyDict>) -> bool {
        let address = dict.as_ptr() as usize;
        let owner = self.dicts_below.get(&address).copied().flatten();
        self.known.get(&address).copied().into_iter().chain(owner).any(|var| self.is_written(var))
    }

    /// A dict is read or written below its owner (an instance, a module, a frame's globals), not as a dict: its content
    /// has then one name only, or the program does not write to it.
    pub(super) fn dict_below(
        &mut self,
        dict: &Bound<'py, PyDict>,
        owner: Option<VarId>,
        writes: bool,
    ) -> Result<(), Stop> {
        let address = dict.as_ptr() as usize;
        let several = || Err(Stop::brk(Reason::Mutation, "a dict that has several names"));
        if let Some(&var) = self.known.get(&address)
            && (writes || self.is_written(var))
        {
            return several();
        }
        // A module's dict is at once the globals of frames, and known as that.
        match self.dicts_below.insert(address, owner) {
            Some(Some(other)) if owner.is_some_and(|o| o != other) && (writes || self.is_written(other)) => several(),
            _ => Ok(()),
        }
    }

    /// A dict is written to as a dict.
    pub(super) fn dict_has_one_name(&self, dict: VarId) -> Result<(), Stop> {
        let Some(object) = self.known_object(dict) else { return Ok(()) };
        let address = self.objects.get_ref(self.py, object).as_ptr() as usize;
        let under_instance = matches!(self.trackers.get(self.var(dict).tracker), Tracker::InstanceDict(_));
        let of_a_frame = self.frames.iter().any(|f| f.globals == object || f.builtins == object);
        if under_instance || of_a_frame || self.dicts_below.contains_key(&address) {
            return Err(Stop::brk(Reason::Mutation, "a dict that has several names"));
        }
        Ok(())
    }

    // ----- guards of a finished capture

    /// Leave the guards that only the whole capture can tell.
    pub fn settle_guards(&mut self) {
        self.guard_aliasing();
        self.guards.drop_implied_presence(&self.trackers);
    }

    /// Leave the guards that keep what was written apart from all else that was read.
    fn guard_aliasing(&mut self) {
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
        let type_of = |ex: &Self, id: ObjectId| ex.objects.get_ref(ex.py, id).get_type_ptr() as usize;
        let mut by_type: HashMap<usize, Vec<Path>> = HashMap::new();
        let dict_type = self.py.get_type::<PyDict>().as_ptr() as usize;
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
                && let Some(source) = crate::iterators::source(self.objects.get_ref(self.py, object))
            {
                let path = self.trackers.intern(Tracker::IterSource(tracker));
                let path = Path { tracker: path, address: source.as_ptr() as usize };
                by_type.entry(source.get_type_ptr() as usize).or_default().push(path);
            }
            let ty = type_of(self, object);
            if types.contains(&ty) || ty == dict_type {
                let path = self.path_of(tracker, object);
                by_type.entry(ty).or_default().push(path);
            }
        }
        let dicts_by_name = by_type.get(&dict_type).cloned().unwrap_or_default();
        for var in written {
            let Some(object) = self.known_object(var) else { continue };
            let tracker = self.var(var).tracker;
            let path = self.path_of(tracker, object);
            let ty = type_of(self, object);
            let mut others = by_type.get(&ty).cloned().unwrap_or_default();
            if ty == dict_type {
                // None of them is written to as a dict: that would have stopped the capture.
                others.extend(self.dicts_below().into_iter().map(|tracker| Path { tracker, address: 0 }));
            }
            self.keep_apart(path, &others);
            if let VarKind::Instance(_) = self.var(var).kind
                && !dicts_by_name.is_empty()
                && let Some(dict) = facts::instance_dict(self.objects.get_ref(self.py, object))
            {
                let own = self.trackers.intern(Tracker::InstanceDict(path.tracker));
                self.keep_apart(Path { tracker: own, address: dict.as_ptr() as usize }, &dicts_by_name);
            }
        }
        for globals in written_globals {
            let address = self.objects.get_ref(self.py, globals).as_ptr() as usize;
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

    fn path_of(&mut self, tracker: TrackerId, object: ObjectId) -> Path {
        let address = self.objects.get_ref(self.py, object).as_ptr() as usize;
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
