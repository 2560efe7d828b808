//! Which paths lead to one object, and which must not: the guards of identity and aliasing.
//!
//! An object is one variable, however many paths lead to it; so a second path that leads to a known object *is* an
//! answer about identity, and ties the two paths: the next call must find one object there, too ([`Executor::tie`]).
//! The other way round, two variables are two objects. That matters where the program asked (`is`), and where one of
//! them is written to: what was read of the other would be stale if they were one ([`crate::captured::Captured::settle_guards`]).
//! Objects of different exact types are never one, and types are guarded by whoever looks.

use super::Executor;
use super::compared::is_itself;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::Target;
use sot_tracker::{Access, Arithmetic, Check, ObjectId, Tracker, TrackerId};

impl<'py> Executor<'py> {
    /// The object of a variable was found again, at `second`.
    pub(super) fn tie(&mut self, var: VarId, second: TrackerId, object: &Bound<'py, PyAny>) {
        let first = self.var(var).tracker;
        if first == second {
            return;
        }
        // What is in a slot, too, may be another object at the next call, and must not be held until then.
        // A class is told from those that the same code makes.
        let pinned = self.var(var).kind.pinned().is_some();
        let under = [first, second].map(|at| self.is_under_constant(at));
        let is_class = matches!(self.var(var).kind, VarKind::Class(_));
        let by_identity = pinned || under == [true; 2] || is_class && under.contains(&true);
        if !by_identity && self.has_path(first) && self.has_path(second) {
            self.guard(second, Check::SameAs(first));
            return;
        }
        let id = self.objects.add(object);
        for path in [first, second] {
            if self.has_path(path) && !self.trackers.get(path).is_constant() {
                self.guard(path, Check::Is(id));
            }
        }
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
            self.guard(first, if same { Check::SameAs(second) } else { Check::distinct(vec![second]) });
        }
        Some(same)
    }

    /// Whether equal constants are one object, `same` as it is here. Those that were found are guarded by it. The others were made
    /// by the very operations that make them in plain Python: new ones each time, or those that Python keeps.
    pub(super) fn same_constant(&mut self, a: VarId, b: VarId, same: bool) -> bool {
        if self.same_sourced_object(a, b).is_none() {
            for (found, made) in [(a, b), (b, a)] {
                let path = self.var(found).tracker;
                let VarKind::Constant(made) = self.var(made).kind.clone() else { continue };
                if self.has_path(path) && !self.is_fixed(path) {
                    let made_at = self.constant_tracker(made.object);
                    self.guard(path, if same { Check::Is(made.object) } else { Check::distinct(vec![made_at]) });
                }
            }
        }
        same
    }

    /// A key is compared by value, but one that does not equal itself, as a NaN, by who it is.
    pub(super) fn keep_unequal(&mut self, key: VarId) {
        match self.var(key).kind.clone() {
            VarKind::Tuple(tuple) => tuple.items.iter().for_each(|item| self.keep_unequal(*item)),
            VarKind::Constant(constant) => {
                let path = self.var(key).tracker;
                let by_value = is_itself(self.objects.get_ref(self.py, constant.object));
                // What is computed anew is nobody else; an item is found.
                let computed = match self.trackers.get(path) {
                    Tracker::Arithmetic { op, .. } => *op != Arithmetic::Item,
                    _ => false,
                };
                if !by_value && !computed && self.has_path(path) && !self.is_fixed(path) {
                    self.guard(path, Check::Is(constant.object));
                }
            }
            _ => {}
        }
    }

    /// The path leads to something, whatever it is.
    pub(super) fn guard_present(&mut self, tracker: TrackerId) {
        self.guard(tracker, Check::SameAs(tracker));
    }

    // ----- one object under two names within a capture

    /// Whether the journal changes this object.
    pub(super) fn is_written(&self, var: VarId) -> bool {
        // What an instance keeps for the builtin type that its class extends is a variable of its own.
        let part = match self.var(var).kind {
            VarKind::Instance(InstanceVar { part, .. }) => part,
            _ => None,
        };
        // The dict of an instance is written to by writing to the instance.
        let owner = self.own_dict_of(var);
        let mut targets = std::iter::once(var).chain(part).chain(owner).map(|var| Target::Object(Self::var_ref(var)));
        targets.any(|target| self.journal.changes_of(target).next().is_some())
    }

    /// Whether the journal writes to a real dict, as a dict or below its owner.
    pub(super) fn is_dict_written(&self, dict: &Bound<'py, PyDict>) -> bool {
        let known = self.known.get(&(dict.as_ptr() as usize)).copied();
        known.is_some_and(|var| self.is_written(var)) || self.is_written_by_owner(dict.as_any())
    }

    /// Whether who has a dict for its attributes has written to it.
    fn is_written_by_owner(&self, dict: &Bound<'py, PyAny>) -> bool {
        let owner = self.dicts_below.get(&(dict.as_ptr() as usize)).copied().flatten();
        owner.is_some_and(|owner| self.is_written(owner))
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
        let known = self.known.get(&address).is_some_and(|&var| {
            (owner.is_none() || self.own_dict_of(var) != owner) && (writes || self.is_written(var))
        });
        let before = self.dicts_below.get(&address).copied().flatten();
        let other = match (before, owner) {
            (Some(other), Some(owner)) => other != owner && (writes || self.is_written(other)),
            // The globals of a frame.
            (Some(other), None) => self.is_written(other),
            (None, _) => false,
        };
        if known || other || owner.is_some() && writes && self.is_written_by_name(dict) {
            return Err(Stop::brk(Reason::Mutation, "a dict that has several names"));
        }
        // A module's dict is at once the globals of frames, and known as that.
        self.dicts_below.insert(address, owner.or(before));
        Ok(())
    }

    /// Whether a frame whose globals a dict is has written to it.
    fn is_written_by_name(&self, dict: &Bound<'py, PyDict>) -> bool {
        let globals = self.objects.find(dict.as_any());
        globals.is_some_and(|globals| self.journal.changes_of(Target::Globals(globals)).next().is_some())
    }

    /// A name is looked up in the globals of a frame: nobody whose `__dict__` they are has written to them meanwhile.
    pub(super) fn are_read_as_they_are(&self, globals: &Bound<'py, PyDict>) -> Result<(), Stop> {
        match self.is_written_by_owner(globals.as_any()) {
            true => Err(Stop::brk(Reason::Mutation, "globals that have several names")),
            false => Ok(()),
        }
    }

    /// A dict or set is read as such: no owner, and no name of a frame whose globals it is, has written to it meanwhile.
    pub(super) fn is_read_as_it_is(&self, dict: ObjectId) -> Result<(), Stop> {
        let by_name = self.journal.changes_of(Target::Globals(dict)).next().is_some();
        let address = self.objects.get_ref(self.py, dict).as_ptr() as usize;
        let known = self.known.get(&address).and_then(|var| self.own_dict_of(*var));
        let is_own = known.is_some() && self.dicts_below.get(&address).is_none_or(|owner| *owner == known);
        match by_name || !is_own && self.is_written_by_owner(self.objects.get_ref(self.py, dict)) {
            true => Err(Stop::brk(Reason::Mutation, "a dict that has several names")),
            false => Ok(()),
        }
    }

    /// A dict is written to as a dict.
    pub(super) fn dict_has_one_name(&self, dict: VarId) -> Result<(), Stop> {
        let Some(object) = self.known_object(dict) else { return Ok(()) };
        let address = self.objects.get_ref(self.py, object).as_ptr() as usize;
        let under_instance =
            matches!(self.trackers.get(self.var(dict).tracker), Tracker::Step { access: Access::InstanceDict, .. });
        let owner = self.own_dict_of(dict);
        let (under_instance, below) = match owner {
            Some(_) => (false, self.dicts_below.get(&address).is_some_and(|below| *below != owner)),
            None => (under_instance, self.dicts_below.contains_key(&address)),
        };
        let of_a_frame = self.frames.iter().any(|f| f.globals == object || f.builtins == object);
        if under_instance || of_a_frame || below {
            return Err(Stop::brk(Reason::Mutation, "a dict that has several names"));
        }
        Ok(())
    }
}
