//! The guards of a finished capture that tell places apart: what was written to from all else that was read, and what was
//! told apart by identity alone.
//!
//! A guard is left for a group of places, not for each two of them: there may be thousands. Its check keeps the places of a group
//! pairwise apart, and each of them from the rest ([`Check::Distinct`]). Places that are the same objects at each call are
//! known to differ.

use super::Captured;
use crate::cpython::facts;
use crate::variables::*;
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sot_sideeffect::{Target, VarRef};
use sot_tracker::{Access, Check, ObjectId, Tracker, TrackerId};

/// Dicts of instances that are kept apart.
const OWN_DICTS: usize = 16;

impl Captured {
    /// Where a sourced object is found: the object itself if its identity is a guarded fact.
    pub(crate) fn identity_path(&mut self, tracker: TrackerId, object: ObjectId) -> TrackerId {
        match self.guards.contains(tracker, &Check::Is(object)) {
            true => self.constant_tracker(object),
            false => tracker,
        }
    }

    pub(crate) fn is_fixed(&self, tracker: TrackerId) -> bool {
        self.trackers.get(tracker).is_constant()
    }

    /// Leave the guards that only the whole capture can tell.
    pub fn settle_guards(&mut self, py: Python<'_>) {
        self.guard_aliasing(py);
        self.guard_identities(py);
        self.guard_classes(py);
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
                Target::Mode(_) => {}
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
            let is_iterator = matches!(self.var(var).kind, VarKind::Iterator(_));
            let is_read = is_iterator || self.var(var).looked || self.asked_in_part.contains(&var);
            if !is_read || !self.has_path(tracker) {
                continue;
            }
            let Some(object) = self.known_object(var) else { continue };
            if is_iterator {
                for (ty, path) in self.paths_over(py, tracker, object, &types) {
                    by_type.entry(ty).or_default().push(path);
                }
            }
            let ty = type_of(self, object);
            if types.contains(&ty) || ty == dict_type {
                let path = self.path_of(py, tracker, object);
                by_type.entry(ty).or_default().push(path);
            }
        }
        let dicts_by_name = by_type.get(&dict_type).cloned().unwrap_or_default();
        // By type, in the order of the first write.
        let mut groups: Vec<(usize, Vec<Path>)> = Vec::new();
        let mut group_of: HashMap<usize, usize> = HashMap::new();
        let mut owned: Vec<Path> = Vec::new();
        for var in written {
            let Some(object) = self.known_object(var) else { continue };
            let path = self.path_of(py, self.var(var).tracker, object);
            let ty = type_of(self, object);
            let group = *group_of.entry(ty).or_insert_with(|| {
                groups.push((ty, Vec::new()));
                groups.len() - 1
            });
            groups[group].1.push(path);
            if let VarKind::Instance(_) = self.var(var).kind
                && !dicts_by_name.is_empty()
                && let Some(dict) = facts::instance_dict(self.objects.get_ref(py, object))
            {
                let own = self.trackers.step(path.tracker, Access::InstanceDict);
                owned.push(Path { tracker: own, address: dict.as_ptr() as usize });
            }
        }
        for (ty, group) in groups {
            let mut others = by_type.remove(&ty).unwrap_or_default();
            if ty == dict_type {
                // None of them is written to as a dict: that would have stopped the capture.
                others.extend(self.dicts_below(py));
            }
            self.keep_apart(group, others);
        }
        for globals in written_globals {
            let address = self.objects.get_ref(py, globals).as_ptr() as usize;
            owned.push(Path { tracker: self.constant_tracker(globals), address });
        }
        if !dicts_by_name.is_empty() {
            self.keep_apart(owned, dicts_by_name);
        }
        self.keep_own_dicts_apart(py);
        self.keep_iterators_apart(py);
    }

    /// What an `enumerate` or a `zip` advances may be another iterator of the frame at the next call.
    fn keep_iterators_apart(&mut self, py: Python<'_>) {
        let (mut inner, mut others) = (Vec::new(), Vec::new());
        for index in 0..self.vars.len() as u32 {
            let VarKind::Iterator(_) = self.vars[index as usize].kind else { continue };
            let tracker = self.vars[index as usize].tracker;
            let Some(object) = self.known_object(VarId(index)).filter(|_| self.has_path(tracker)) else { continue };
            let iterator = self.objects.get(py, object);
            let path = self.path_of(py, tracker, object);
            let leaves = self.leaves(path.tracker, iterator, crate::iterators::MAX_NESTED);
            let own = leaves.len() == 1 && leaves[0].0 == path.tracker;
            let paths = leaves.into_iter().map(|(tracker, leaf)| Path { tracker, address: leaf.as_ptr() as usize });
            if own { others.extend(paths) } else { inner.extend(paths) }
        }
        if !inner.is_empty() {
            self.keep_apart(inner, others);
        }
    }

    /// The iterators that one advances which combines others, whatever stands between; any other one itself.
    fn leaves<'py>(
        &mut self,
        tracker: TrackerId,
        iterator: Bound<'py, PyAny>,
        levels: usize,
    ) -> Vec<(TrackerId, Bound<'py, PyAny>)> {
        let (Some(combined), Some(levels)) = (crate::iterators::combined(&iterator), levels.checked_sub(1)) else {
            return vec![(tracker, iterator)];
        };
        let mut leaves = Vec::new();
        for (which, inner) in (0..).zip(combined.inners()) {
            let place = self.trackers.step(tracker, Access::IterUnder(which));
            leaves.extend(self.leaves(place, inner.clone(), levels));
        }
        leaves
    }

    /// What an iterator from before runs over, where that is of one of these types.
    fn paths_over(
        &mut self,
        py: Python<'_>,
        tracker: TrackerId,
        iterator: ObjectId,
        types: &HashSet<usize>,
    ) -> Vec<(usize, Path)> {
        let iterator = self.objects.get(py, iterator);
        let mut paths = Vec::new();
        for (tracker, leaf) in self.leaves(tracker, iterator, crate::iterators::MAX_NESTED) {
            // The source of others is a list of what is left, made for who asks.
            let (object, access) = match facts::iterator_state(&leaf) {
                Some(_) => (crate::iterators::source(&leaf), Access::IterSource),
                None => (crate::iterators::over(&leaf), Access::IterOver),
            };
            let Some(object) = object else { continue };
            let ty = object.get_type_ptr() as usize;
            if types.contains(&ty) {
                let tracker = self.trackers.step(tracker, access);
                paths.push((ty, Path { tracker, address: object.as_ptr() as usize }));
            }
        }
        paths
    }

    /// Instances may come to share the dict of their attributes: that of one that was written to is kept apart from those that were
    /// read. Where there are many nobody is asked: it would cost each call more than it is worth.
    fn keep_own_dicts_apart(&mut self, py: Python<'_>) {
        let mut owners: HashSet<TrackerId> = HashSet::new();
        let mut written = Vec::new();
        let touched: HashSet<Target> = self.journal.touched().into_iter().collect();
        for index in 0..self.vars.len() as u32 {
            let VarKind::Instance(InstanceVar { object: Some(object), .. }) = self.vars[index as usize].kind else {
                continue;
            };
            let tracker = self.vars[index as usize].tracker;
            if !self.has_path(tracker) {
                continue;
            }
            let owner = self.identity_path(tracker, object);
            owners.extend([tracker, owner]);
            if touched.contains(&Target::Object(VarRef(index)))
                && let Some(dict) = facts::instance_dict(self.objects.get_ref(py, object))
            {
                let own = self.trackers.step(owner, Access::InstanceDict);
                written.push(Path { tracker: own, address: dict.as_ptr() as usize });
            }
        }
        if written.is_empty() {
            return;
        }
        let is_own = |me: &Self, tracker: TrackerId| match me.trackers.get(tracker) {
            Tracker::Step { base, access: Access::InstanceDict } => owners.contains(base),
            _ => false,
        };
        let mut read = self.dicts_below(py);
        read.retain(|path| is_own(self, path.tracker) && !written.iter().any(|own| own.address == path.address));
        if (2..=OWN_DICTS).contains(&(written.len() + read.len())) {
            self.keep_apart(written, read);
        }
    }

    /// Leave the guards that keep apart what was told apart by identity.
    fn guard_identities(&mut self, py: Python<'_>) {
        let mut groups: Vec<(Vec<Path>, Vec<Path>)> = Vec::new();
        let mut group_of: HashMap<usize, usize> = HashMap::new();
        for (tracker, object) in std::mem::take(&mut self.by_identity) {
            let ty = self.objects.get_ref(py, object).get_type_ptr() as usize;
            let path = self.path_of(py, tracker, object);
            let group = *group_of.entry(ty).or_insert_with(|| {
                groups.push(Default::default());
                groups.len() - 1
            });
            // What lies below constant objects is known by its place.
            let known = self.is_fixed(path.tracker) || self.is_under_constant(tracker);
            let (group, rest) = &mut groups[group];
            if known { rest.push(path) } else { group.push(path) }
        }
        // Whoever asks notes the place, by its id, as a member of a set: it is one place.
        for (group, rest) in groups {
            self.keep_apart(group, rest);
        }
    }

    /// Dicts that were read without being variables: instances', modules', globals.
    fn dicts_below(&self, py: Python<'_>) -> Vec<Path> {
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
                    Tracker::Step { access: Access::InstanceDict, .. } => add(step),
                    Tracker::Step { base, access: Access::DictItem(_) } if self.is_fixed(*base) => add(*base),
                    _ => {}
                }
            }
            if matches!(guard.check, Check::Lacks(_)) {
                add(guard.tracker);
            }
        }
        // An instance may have a dict that the program has given it, and that has a name of its own.
        let named = (0..self.vars.len()).map(|index| VarId(index as u32));
        let owners: HashMap<TrackerId, ObjectId> =
            named.filter_map(|var| Some((self.var(var).tracker, self.known_object(var)?))).collect();
        let address = |tracker: TrackerId| {
            let base = match self.trackers.get(tracker) {
                // The globals of a frame.
                Tracker::Root(Access::Constant(globals)) => {
                    return Some(self.objects.get_ref(py, *globals).as_ptr() as usize);
                }
                Tracker::Step { base, access: Access::InstanceDict } => base,
                _ => return None,
            };
            let owner = match self.trackers.get(*base) {
                Tracker::Root(Access::Constant(object)) => *object,
                _ => *owners.get(base)?,
            };
            Some(facts::instance_dict(self.objects.get_ref(py, owner))?.as_ptr() as usize)
        };
        found.into_iter().map(|tracker| Path { tracker, address: address(tracker).unwrap_or(0) }).collect()
    }

    fn path_of(&mut self, py: Python<'_>, tracker: TrackerId, object: ObjectId) -> Path {
        let address = self.objects.get_ref(py, object).as_ptr() as usize;
        Path { tracker: self.identity_path(tracker, object), address }
    }

    /// The paths of a group lead to different objects, and to none of those at `others`. Those that lead to one object now are known
    /// to: what was read of it was read before the write.
    fn keep_apart(&mut self, group: Vec<Path>, others: Vec<Path>) {
        let mut seen: HashSet<TrackerId> = HashSet::new();
        let mut at: HashMap<usize, TrackerId> = HashMap::new();
        // Further names of what was written to.
        let mut names: Vec<(Path, bool)> = Vec::new();
        let mut own = Vec::with_capacity(group.len());
        for path in group.into_iter().filter(|path| seen.insert(path.tracker)) {
            match at.insert(path.address, path.tracker) {
                Some(first) => {
                    at.insert(path.address, first);
                    names.push((path, true));
                }
                None => own.push(path),
            }
        }
        let mut rest = Vec::with_capacity(others.len());
        for path in others.into_iter().filter(|path| seen.insert(path.tracker)) {
            match at.contains_key(&path.address) {
                true => names.push((path, false)),
                false => rest.push(path.tracker),
            }
        }
        for (name, is_written) in names {
            let mut from: Vec<TrackerId> =
                own.iter().filter(|path| path.address != name.address).map(|path| path.tracker).collect();
            if is_written {
                from.extend(&rest);
            }
            self.guard_distinct(vec![name.tracker], from);
        }
        self.guard_distinct(own.into_iter().map(|path| path.tracker).collect(), rest);
    }

    /// Leave the guard that keeps the paths of a group apart, and from the rest.
    fn guard_distinct(&mut self, group: Vec<TrackerId>, mut rest: Vec<TrackerId>) {
        let (mut paths, fixed): (Vec<TrackerId>, Vec<TrackerId>) = group.into_iter().partition(|t| !self.is_fixed(*t));
        if paths.is_empty() {
            rest.retain(|tracker| !self.is_fixed(*tracker));
            if rest.is_empty() {
                return;
            }
        }
        paths.extend(fixed);
        if paths.is_empty() || paths.len() + rest.len() < 2 {
            return;
        }
        // Two paths are a pair, whichever way round.
        let group = if paths.len() + rest.len() == 2 { 1 } else { paths.len() - 1 };
        let first = paths.remove(0);
        paths.extend(rest);
        self.guard(first, Check::Distinct { others: paths, group });
    }
}

/// Where an object is found, and its address at capture.
#[derive(Clone, Copy)]
struct Path {
    tracker: TrackerId,
    address: usize,
}
