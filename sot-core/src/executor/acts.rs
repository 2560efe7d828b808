//! Operations that change what the graph has not made ([`GraphBuilder::acts`](crate::backend::GraphBuilder::acts)).
//!
//! What they did stays done. So a run that fails behind one is no run that never was: the program goes on at the operation that failed,
//! by a capture of the same call that ends there by raising the error ([`Found::failed`](super::Found), `serve/half_done.rs`). That is only possible where
//! a break is one at the very instruction of each operation from the first that acts on; in any other frame the capture starts over,
//! and such an operation is a break itself.
//!
//! One that acts on more than memory changes what the framework keeps, and may call functions of the program, which change what they like.
//! A run asks before one whether it will call any; then the program goes on behind it. Behind any other it asks whether all that the
//! capture has read is as it was ([`Found::stops_behind`](super::Found), [`crate::watch`]). What the framework itself changes may not have been read before
//! ([`Executor::has_read_what_acts_change`]). What the program has done before is done by new code behind the graph, so too late for whatever
//! the operation reads of it: there may be nothing that the framework could read ([`Pending`]).

use super::Executor;
use super::calls::api_name;
use crate::backend::{Acts, CallKind, Kind};
use crate::cpython::{facts, module};
use crate::libraries;
use crate::rewrite::computed_below;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyList, PyModule, PyString, PyType};
use smallvec::SmallVec;
use sot_sideeffect::{Mutation, Overlay, Slot, Target, VarRef};
use sot_tracker::{Access, ObjectId, Tracker, TrackerId};

/// Objects to which an operation may come from what it acts on, before it is taken to come to any.
const REACHED: usize = 20_000;

/// What new code is still to do: from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pending {
    Nothing,
    /// Nobody but code of the program could tell.
    Unread,
    /// The framework may.
    Read,
}

/// Whether an object is a function, a class or a module.
fn is_code(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyType>() || object.is_instance_of::<PyModule>() || object.is_instance_of::<PyFunction>()
}

impl<'py> Executor<'py> {
    /// How far an operation may act, as far as is known before it is built.
    pub(super) fn may_act(&self) -> Acts {
        match () {
            () if self.found.never_acts || self.found.general.is_some() || self.extents_vary() => Acts::Nothing,
            () => Acts::OnAnything,
        }
    }

    /// What new code is still to do of what the program has done by now.
    fn pending(&self) -> Pending {
        if !self.captured.writing.is_empty() {
            return Pending::Read;
        }
        let entries = self.journal.entries().iter();
        entries.map(|entry| self.pending_by(&entry.mutation)).max().unwrap_or(Pending::Nothing)
    }

    fn pending_by(&self, mutation: &Mutation) -> Pending {
        let slot = &mutation.slot();
        // Whom the framework may call is its business.
        let is_stored = |var: VarRef| {
            let kind = &self.var(VarId(var.0)).kind;
            !matches!(kind, VarKind::Function(_) | VarKind::Method(_) | VarKind::Bound(_) | VarKind::Layer(_))
                || slot.target() == Target::Object(var)
        };
        let unread = match slot.target() {
            // The graph changes it, too.
            Target::Mode(mode) if self.mode_is_another(mode) && !self.mode_is_recorded(mode) => false,
            Target::Mode(_) => return Pending::Nothing,
            Target::Globals(_) if self.is_as_found(slot) => return Pending::Nothing,
            Target::Globals(globals) => {
                let globals = self.objects.get(self.py, globals);
                globals.cast::<PyDict>().is_ok_and(|globals| !libraries::are_of_framework(self.py, globals))
            }
            Target::Object(object) => {
                let id = VarId(object.0);
                let var = self.var(id);
                let is_others = Nature::existed(&var.kind) || self.has_path(var.tracker);
                match &var.kind {
                    // So it does with flags.
                    VarKind::Tensor(_) if matches!(slot, Slot::Attr(_, name) if self.is_flag_of(id, name)) => {
                        return Pending::Nothing;
                    }
                    VarKind::Tensor(_) => false,
                    _ if !is_others || self.is_as_found(slot) => return Pending::Nothing,
                    _ => self.is_the_programs_own(id, slot) && mutation.operands().into_iter().all(is_stored),
                }
            }
        };
        if unread { Pending::Unread } else { Pending::Read }
    }

    /// Whether nobody but code of the program reads this part of an object that was there before: its class is none of the framework's, or, of a
    /// container, what the operation acts on does not lead there.
    fn is_the_programs_own(&self, var: VarId, slot: &Slot) -> bool {
        let Some(object) = self.known_object(var).map(|object| self.objects.get(self.py, object)) else { return false };
        match (&self.var(var).kind, slot) {
            (VarKind::Cell(_), _) => true,
            (VarKind::Instance(_), Slot::Attr(_, name)) => {
                self.is_class_of_program(&object.get_type(), false) || !self.backend.is_read_by_acts(&object, name)
            }
            (VarKind::Layer(_), Slot::Attr(object_ref, name)) => {
                let is_part = match self.journal.attr(*object_ref, name) {
                    Overlay::Set(value) => !matches!(self.var(VarId(value.0)).kind, VarKind::Constant(_)),
                    Overlay::Deleted | Overlay::Untouched => true,
                };
                let is_read = || self.backend.is_read_by_acts(&object, name);
                !is_part && (self.is_class_of_program(&object.get_type(), true) || !is_read())
            }
            (VarKind::Class(_), Slot::Attr(..)) => {
                object.cast::<PyType>().is_ok_and(|class| self.is_class_of_program(class, false))
            }
            (VarKind::List(_) | VarKind::Dict(_) | VarKind::Set(_) | VarKind::Deque(_), _) => {
                !self.is_reached_by_act(&object)
            }
            _ => false,
        }
    }

    /// The addresses of all to which the operation that is being recorded could come from what it acts on: by attributes and items, and not by
    /// code. `None`: too many.
    fn reached_by_act(&self) -> Option<HashSet<usize>> {
        let referents = module(self.py, "gc").and_then(|gc| gc.getattr("get_referents")).ok()?;
        let on = |var: &VarId| self.known_object(*var).map(|object| self.objects.get(self.py, object));
        let mut to_visit: Vec<_> = self.objects_taken.iter().filter_map(on).collect();
        let mut seen: HashSet<usize> = to_visit.iter().map(|found| found.as_ptr() as usize).collect();
        while let Some(found) = to_visit.pop() {
            if seen.len() > REACHED {
                return None;
            }
            // What a function is closed over is read when it runs.
            let closure =
                found.is_exact_instance_of::<PyFunction>().then(|| found.getattr("__closure__").ok()).flatten();
            let from = match closure {
                Some(closure) => closure,
                None if is_code(&found) => continue,
                None => found,
            };
            // An object of C may hold its attributes where the collector does not look.
            let dict = facts::instance_dict(&from).map(Bound::into_any);
            let next = referents.call1((from,)).ok()?.cast_into_exact::<PyList>().ok()?;
            to_visit.extend(dict.into_iter().chain(next.iter()).filter(|next| seen.insert(next.as_ptr() as usize)));
        }
        Some(seen)
    }

    /// Whether it could come to an object.
    fn is_reached_by_act(&self, object: &Bound<'py, PyAny>) -> bool {
        self.reached_by_act().is_none_or(|reached| reached.contains(&(object.as_ptr() as usize)))
    }

    /// Whether it could come to a container that the function has read.
    fn reaches_what_was_read(&self) -> bool {
        if self.objects_taken.is_empty() {
            return false;
        }
        let Some(reached) = self.reached_by_act() else { return true };
        self.sourced.iter().any(|(var, object)| {
            let kind = &self.var(*var).kind;
            matches!(kind, VarKind::List(_) | VarKind::Dict(_) | VarKind::Set(_) | VarKind::Deque(_))
                && reached.contains(&(self.objects.get_ref(self.py, *object).as_ptr() as usize))
        })
    }

    /// Whether a class is the program's, and all that it extends is, or its own part alone.
    fn is_class_of_program(&self, class: &Bound<'py, PyType>, itself: bool) -> bool {
        facts::is_heap_type(class) && !self.is_class_of_framework(class, itself)
    }

    /// Whether a class, or what it extends, is the framework's.
    fn is_class_of_framework(&self, class: &Bound<'py, PyType>, itself: bool) -> bool {
        let is_its_own = |class: &Bound<'py, PyAny>| {
            class.cast::<PyType>().is_ok_and(|class| {
                let name = type_facts::raw(class, "__module__").and_then(|name| name.extract::<String>().ok());
                let module = name.and_then(|name| facts::imported(self.py, &name));
                let names = module.and_then(|module| facts::module_dict(&module));
                names.is_some_and(|names| libraries::are_of_framework(self.py, &names))
            })
        };
        class.mro().iter().take(if itself { 1 } else { usize::MAX }).any(|class| is_its_own(&class))
    }

    /// Whether a name has been given back what was there at the start.
    fn is_as_found(&self, slot: &Slot) -> bool {
        let (now, name) = match slot {
            Slot::Attr(object, name) => (self.journal.attr(*object, name), name),
            Slot::Global(globals, name) => (self.journal.global(*globals, name), name),
            _ => return false,
        };
        let Overlay::Set(value) = now else { return false };
        let Tracker::Step { base, access } = self.trackers.get(self.var(VarId(value.0)).tracker) else { return false };
        let is_named = match access {
            Access::Attr(found) => found == name,
            Access::DictItem(key) => {
                let key = self.objects.get_ref(self.py, *key);
                key.cast_exact::<PyString>().is_ok_and(|key| key.to_string_lossy() == *name)
            }
            _ => false,
        };
        let owner = match self.trackers.get(*base) {
            Tracker::Step { base, access: Access::InstanceDict } => *base,
            _ => *base,
        };
        let is_there = match slot.target() {
            Target::Object(object) => {
                let object = VarId(object.0);
                owner == self.var(object).tracker
                    || self.trackers.get(owner).as_constant().is_some_and(|at| self.known_object(object) == Some(at))
            }
            Target::Globals(globals) => self.trackers.get(owner).as_constant() == Some(globals),
            Target::Mode(_) => false,
        };
        is_named && is_there
    }

    /// A function of the framework that acts on what it is given.
    pub(super) fn call_acting(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<VarId, Stop> {
        if self.may_act() < Acts::OnState {
            return Err(Stop::brk(Reason::FrameworkFunction, api_name(callee)));
        }
        let given = args.positional.iter().chain(args.keywords.iter().map(|(_, value)| value));
        let mut taken = SmallVec::new();
        for arg in given {
            let kind = self.look(*arg)?;
            if matches!(kind, VarKind::Instance(_)) && self.known_object(*arg).is_some() {
                taken.push(*arg);
            }
        }
        self.objects_taken = taken;
        let recorded = self.record_call(CallKind::Api, &api_name(callee), Some(callee), args);
        self.objects_taken.clear();
        recorded
    }

    /// What new code is to raise where a run has failed.
    pub(super) fn note_failed(&mut self) {
        let error = self.found.failed.as_ref().map(|failed| failed.error.bind(self.py).clone());
        self.failed_with = error.map(|error| self.pin(&error));
    }

    /// Whether the capture is to come to its end before this instruction.
    pub(super) fn stops_here(&mut self) -> Result<(), Stop> {
        match self.found.stops_behind {
            Some(statements) if self.graph.len() >= statements => {
                self.captured.stops_before = true;
                Err(Stop::brk(Reason::UserCode, "an operation has changed what the program had read"))
            }
            _ => Ok(()),
        }
    }

    /// An operation is built, and will be a statement of the graph unless the program stops there.
    pub(super) fn is_to_be_recorded(&mut self, acts: Acts) -> Result<(), Stop> {
        if self.found.failed.as_ref().is_some_and(|failed| self.graph.len() >= failed.at) {
            self.captured.failed = self.failed_with;
            return Err(Stop::brk(Reason::BackendFailed, "a run of the graph has failed here"));
        }
        if self.found.breaks_at.is_some_and(|statements| self.graph.len() >= statements) {
            return Err(Stop::brk(Reason::FrameworkFunction, "an operation that calls functions of the program"));
        }
        self.acted |= acts > Acts::Nothing;
        if self.acted && !self.breaks_here() {
            self.captured.needs_no_acts = true;
            return Err(Stop::brk(
                Reason::InplaceTensor,
                "behind a write to memory that may not be the function's own",
            ));
        }
        if self.acted {
            self.note_what_is_held();
        }
        Ok(())
    }

    /// One that was built acts like this: whether it can be a statement of the graph.
    pub(super) fn may_act_so(&mut self, acts: Acts, name: &str) -> Result<(), Stop> {
        let refused = |why: &str| Err(Stop::brk(Reason::InplaceTensor, format!("{name}, {why}")));
        match () {
            () if acts < Acts::OnState => Ok(()),
            // The first capture has decided.
            () if self.found.is_of_half_done() => Ok(()),
            // Its hooks are to find what is handled.
            () if self.frames.iter().any(|frame| !frame.handled.is_empty()) => refused("while an exception is handled"),
            () if self.pending() == Pending::Read => refused("which may read what the function has changed"),
            () if self.has_read_what_acts_change() || self.reaches_what_was_read() => {
                refused("which may change what the function has read")
            }
            () => Ok(()),
        }
    }

    /// Whether a guard is on what such an operation changes itself.
    fn has_read_what_acts_change(&mut self) -> bool {
        let places = self.guards.iter().map(|guard| guard.tracker).chain(self.vars.iter().map(|var| var.tracker));
        let is_new = |place: &TrackerId| !self.unchanged_by_acts.contains(place) && self.has_path(*place);
        let new: Vec<TrackerId> = places.filter(is_new).collect();
        if new.is_empty() {
            return false;
        }
        let is_owner = |kind: &VarKind| matches!(kind, VarKind::Instance(_) | VarKind::Tensor(_));
        let owners: HashMap<TrackerId, ObjectId> = (self.sourced.iter())
            .filter(|(var, _)| is_owner(&self.var(**var).kind))
            .map(|(var, object)| (self.var(*var).tracker, *object))
            .collect();
        for place in new {
            for step in self.trackers.path(place) {
                if self.unchanged_by_acts.contains(&step) {
                    continue;
                }
                if self.is_changed_by_acts(step, &owners) {
                    return true;
                }
                self.unchanged_by_acts.insert(step);
            }
        }
        false
    }

    /// Whether a place is an attribute that such an operation changes.
    fn is_changed_by_acts(&self, place: TrackerId, owners: &HashMap<TrackerId, ObjectId>) -> bool {
        let Tracker::Step { base, access } = self.trackers.get(place) else { return false };
        let (owner, name) = match (access, self.trackers.get(*base)) {
            (Access::Attr(name), _) => (*base, name.clone()),
            (Access::DictItem(key), Tracker::Step { base: owner, access: Access::InstanceDict }) => {
                let key = self.objects.get_ref(self.py, *key);
                (*owner, key.extract::<String>().unwrap_or_default())
            }
            _ => return false,
        };
        let object = self.trackers.get(owner).as_constant().or_else(|| owners.get(&owner).copied());
        let Some(object) = object.map(|object| self.objects.get(self.py, object)) else { return false };
        let is_its_own = match self.backend.classify(&object) {
            Kind::Tensor => true,
            Kind::Unknown => self.is_class_of_framework(&object.get_type(), false) && !is_code(&object),
            _ => false,
        };
        is_its_own && self.backend.is_changed_by_acts(&object, &name)
    }

    /// What the program holds at this operation is there if it fails; everything else dies when eager would have it die.
    fn note_what_is_held(&mut self) {
        let mut roots: Vec<VarId> = Vec::new();
        for frame in &self.captured.frames {
            roots.extend(frame.locals.iter().chain(&frame.cells).flatten());
            roots.extend(frame.stack.iter().chain(&frame.handled).chain(&frame.names));
        }
        let statement = self.captured.graph.len();
        for symbol in computed_below(&self.captured, roots) {
            self.captured.graph.held.insert(symbol.0, statement);
        }
    }

    /// Whether a break at this instruction would be one there.
    fn breaks_here(&mut self) -> bool {
        let plain = |frame: &crate::frame::Frame| !frame.is_hidden() && frame.generator.is_none();
        !self.by_definition
            && self.by_body.is_none()
            && self.frames.iter().all(plain)
            && self.frames_can_be_left()
            && self.looks_at_names_again().is_none()
            && self.call_by_body().is_none()
            && self.call_that_breaks_instead().is_none()
    }
}
