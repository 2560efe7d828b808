//! Operations that change what the graph has not made ([`GraphBuilder::acts`](crate::backend::GraphBuilder::acts)).
//!
//! What they did stays done. So a run that fails behind one is no run that never was: the program goes on at the operation that failed,
//! by a capture of the same call that ends there by raising the error ([`Found::failed`](super::Found), `serve/half_done.rs`). That is only possible where
//! a break is one at the very instruction of each operation from the first that acts on; in any other frame the capture starts over,
//! and such an operation is a break itself.
//!
//! One that acts on more than memory may change what the capture has read. So nothing that the program has done may be pending before it,
//! and behind it a run asks whether all is as it was; where it is not, the program goes on behind the operation ([`Found::stops_behind`](super::Found)).

use super::Executor;
use super::calls::api_name;
use crate::backend::{Acts, CallKind};
use crate::rewrite::computed_below;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sot_sideeffect::{Overlay, Slot, Target};
use sot_tracker::{Access, Tracker};

impl<'py> Executor<'py> {
    /// How far an operation may act, as far as is known before it is built.
    pub(super) fn may_act(&self) -> Acts {
        match () {
            () if self.found.never_acts || self.found.general.is_some() || self.extents_vary() => Acts::Nothing,
            () if self.has_done_something() => Acts::OnMemory,
            () => Acts::OnAnything,
        }
    }

    /// Whether new code is still to do what the program has done by now, to what others may look at.
    fn has_done_something(&self) -> bool {
        let is_seen = |slot: &Slot| match slot.target() {
            Target::Object(object) => {
                let var = self.var(VarId(object.0));
                let is_others = Nature::existed(&var.kind) || self.has_path(var.tracker);
                is_others && !self.is_as_found(slot) || matches!(var.kind, VarKind::Tensor(_))
            }
            Target::Globals(_) => !self.is_as_found(slot),
            Target::Mode(mode) => self.mode_is_another(mode),
        };
        !self.captured.writing.is_empty() || self.journal.entries().iter().any(|entry| is_seen(&entry.mutation.slot()))
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
