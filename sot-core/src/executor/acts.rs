//! Operations that change what the graph has not made ([`GraphBuilder::acts`](crate::backend::GraphBuilder::acts)).
//!
//! What they did stays done. So a run that fails behind one is no run that never was: the program goes on at the operation that failed,
//! by a capture of the same call that ends there by raising the error ([`Found::failed`](super::Found), `serve/half_done.rs`). That is only possible where
//! a break is one at the very instruction of each operation from the first that acts on; in any other frame the capture starts over,
//! and such an operation is a break itself.
//!
//! One that acts on more than memory may change what the capture has read: behind it a run asks whether all is as it was; where it is not,
//! the program goes on behind the operation ([`Found::stops_behind`](super::Found)). What the program has done before is done by new code behind the
//! graph, so too late for whatever the operation reads: there may be nothing that the framework could read. Before code of the program runs in
//! the operation, it is done ([`Behind::pending`](crate::captured::Behind)).

use super::Executor;
use super::calls::api_name;
use crate::backend::{Acts, CallKind, Kind};
use crate::cpython::facts;
use crate::libraries;
use crate::objects::is_constant_type;
use crate::rewrite::computed_below;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyType};
use sot_sideeffect::{Mutation, Overlay, Slot, Target, VarRef};
use sot_tracker::{Access, ObjectId, Tracker};

/// Items of a container that are looked at.
const LOOKED_AT: usize = 1000;

/// What new code is still to do: from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pending {
    Nothing,
    /// Nobody but code of the program could tell.
    Unread,
    /// The framework may.
    Read,
}

impl<'py> Executor<'py> {
    /// How far an operation may act, as far as is known before it is built.
    pub(super) fn may_act(&self) -> Acts {
        match () {
            () if self.found.never_acts || self.found.general.is_some() || self.extents_vary() => Acts::Nothing,
            () if self.pending() == Pending::Read => Acts::OnMemory,
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
            Target::Mode(mode) if self.mode_is_another(mode) => false,
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
                    VarKind::Tensor(_) => false,
                    _ if !is_others || self.is_as_found(slot) => return Pending::Nothing,
                    _ => {
                        self.is_the_programs_own(id, slot) && mutation.operands().into_iter().all(|var| is_stored(var))
                    }
                }
            }
        };
        if unread { Pending::Unread } else { Pending::Read }
    }

    /// Whether nobody but code of the program reads this part of an object that was there before: the framework has nothing to do with its
    /// class, or, of a container, with what it holds.
    fn is_the_programs_own(&self, var: VarId, slot: &Slot) -> bool {
        let Some(object) = self.known_object(var).map(|object| self.objects.get(self.py, object)) else { return false };
        if self.is_found_below_framework(var) {
            return false;
        }
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
                !is_part && self.is_class_of_program(&object.get_type(), true)
            }
            (VarKind::Class(_), Slot::Attr(..)) => {
                object.cast::<PyType>().is_ok_and(|class| self.is_class_of_program(class, true))
            }
            (VarKind::List(_), _) => match object.cast_exact::<PyList>() {
                Ok(list) => list.len() <= LOOKED_AT && list.iter().all(|item| self.is_nothing_to_framework(&item)),
                Err(_) => false,
            },
            (VarKind::Dict(_), _) => match object.cast_exact::<PyDict>() {
                Ok(dict) => {
                    dict.len() <= LOOKED_AT && dict.values().iter().all(|item| self.is_nothing_to_framework(&item))
                }
                Err(_) => false,
            },
            _ => false,
        }
    }

    /// Whether an object was found in one of the framework, or below one.
    fn is_found_below_framework(&self, var: VarId) -> bool {
        let path = self.trackers.path(self.var(var).tracker);
        let is_of_framework = |(holder, object): (&VarId, &ObjectId)| {
            *holder != var
                && path.contains(&self.var(*holder).tracker)
                && matches!(self.var(*holder).kind, VarKind::Instance(_))
                && !self.is_class_of_program(&self.objects.get(self.py, *object).get_type(), false)
        };
        self.sourced.iter().any(is_of_framework)
    }

    /// Whether a class is the program's, and all that it extends is, or its own part alone.
    fn is_class_of_program(&self, class: &Bound<'py, PyType>, itself: bool) -> bool {
        let is_of_framework = |class: &Bound<'py, PyAny>| {
            class.cast::<PyType>().is_ok_and(|class| {
                let name = type_facts::raw(class, "__module__").and_then(|name| name.extract::<String>().ok());
                let module = name.and_then(|name| facts::imported(self.py, &name));
                let names = module.and_then(|module| facts::module_dict(&module));
                names.is_some_and(|names| libraries::are_of_framework(self.py, &names))
            })
        };
        let mro = class.mro();
        let mut looked_at = mro.iter().take(if itself { 1 } else { usize::MAX });
        facts::is_heap_type(class) && !looked_at.any(|class| is_of_framework(&class))
    }

    /// Whether the framework would not read the container of such an item.
    fn is_nothing_to_framework(&self, item: &Bound<'py, PyAny>) -> bool {
        item.is_none()
            || is_constant_type(&item.get_type())
            || self.backend.classify(item) == Kind::Tensor && !self.backend.is_parameter(item)
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
        for arg in given {
            let kind = self.look(*arg)?;
            if matches!(kind, VarKind::Instance(_)) && kind.pinned().is_none() && self.known_object(*arg).is_some() {
                self.objects_taken.push(*arg);
            }
        }
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

    /// Whether new code is to do something before an operation that acts like this.
    pub(super) fn is_pending_before(&self, acts: Acts) -> bool {
        acts > Acts::OnMemory && self.pending() > Pending::Nothing
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
