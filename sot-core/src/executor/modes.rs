//! Ambient modes of the framework that the program changes ([`crate::backend::Switch`]).
//!
//! A change is an entry of the journal: later reads ask the journal, and rewritten code makes the change for real, in program order.
//! Operations of the graph run in the mode in which the program called them: the builder is told before it builds one, and
//! the statements of the graph say where the mode changes between them.

use super::Executor;
use super::calls::api_name;
use crate::backend::{Mode, Surroundings};
use crate::captured::{Behind, Callee};
use crate::libraries;
use crate::process;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use sot_sideeffect::{Mutation, Overlay};
use sot_sir::{Literal, Operand, Statement, StatementKind};
use sot_tracker::ObjectId;

impl<'py> Executor<'py> {
    /// What a mode is where the simulation stands.
    pub fn mode_object(&self, mode: Mode) -> PyResult<Bound<'py, PyAny>> {
        match self.journal.mode(mode) {
            Overlay::Set(value) => {
                let object = self.mode_value(VarId(value.0));
                Ok(self.objects.get(self.py, object))
            }
            Overlay::Deleted | Overlay::Untouched => self.backend.mode(self.py, mode),
        }
    }

    /// What a mode is where the capture starts matters.
    pub(super) fn guard_mode(&mut self, mode: Mode) -> Result<(), Stop> {
        let at_entry = matches!(self.journal.mode(mode), Overlay::Untouched);
        if !at_entry || self.backend.is_mode_ambient(mode) || self.modes_guarded.contains(&mode) {
            return Ok(());
        }
        let question = process::what_mode_is(self.py, mode).map_err(|e| self.internal(&e))?.into_bound(self.py);
        let answer = process::answer(&question).ok_or(Stop::brk(Reason::AmbientMode, "a mode that cannot be told"))?;
        let answer = self.answered_by_path(&question, &answer);
        self.constant_value(answer);
        self.modes_guarded.push(mode);
        Ok(())
    }

    /// An item of an object of the framework that is a mode.
    pub(super) fn mode_by_item(&mut self, object: ObjectId, key: VarId) -> Result<Option<VarId>, Stop> {
        let object = self.objects.get(self.py, object);
        let Some(key) = self.constant_str(key) else { return Ok(None) };
        let Some(mode) = self.backend.mode_of_item(&object, &key) else { return Ok(None) };
        self.guard_mode(mode)?;
        let value = self.mode_object(mode).map_err(|e| self.internal(&e))?;
        self.fold(&value).map(Some)
    }

    /// Call a function that changes a mode.
    pub(super) fn call_switch(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<VarId, Stop> {
        let (tuple, kwargs) = self.arguments_of_answered(args, false)?;
        let (is_value, mode) = (|o: &Bound<'py, PyAny>| self.graph.var_of(o).is_some(), |mode| self.mode_object(mode));
        let at = Surroundings { is_value: &is_value, mode: &mode, of_framework: self.is_framework_asking() };
        let Some(switch) = self.backend.switch(callee, &tuple, kwargs.as_ref(), &at) else {
            return Err(Stop::brk(Reason::FrameworkFunction, api_name(callee)));
        };
        self.guard_mode(switch.mode)?;
        if !self.captured.modes.iter().any(|(known, _)| *known == switch.mode) {
            let before = self.backend.mode(self.py, switch.mode).map_err(|e| self.internal(&e))?;
            let before = self.objects.add(&before);
            self.captured.modes.push((switch.mode, before));
        }
        let value = self.fold(&switch.value)?;
        self.journal_record(Mutation::SetMode { mode: switch.mode, value: Self::var_ref(value) });
        self.fold(&switch.gives)
    }

    /// The modes that the program has changed, each with what it is where the simulation stands.
    fn modes_here(&self) -> Vec<(Mode, ObjectId)> {
        let here = |(mode, at_entry): &(Mode, ObjectId)| match self.journal.mode(*mode) {
            Overlay::Set(value) => (*mode, self.mode_value(VarId(value.0))),
            Overlay::Deleted | Overlay::Untouched => (*mode, *at_entry),
        };
        self.captured.modes.iter().map(here).collect()
    }

    /// Whether a mode is another one here than it was at the start.
    pub(super) fn mode_is_another(&self, mode: Mode) -> bool {
        let mut here = self.modes_here().into_iter().filter(|(known, _)| *known == mode);
        here.any(|(mode, value)| self.mode_at_entry(mode) != Some(value))
    }

    /// Whether a statement of the graph changes it where the simulation stands.
    pub(super) fn mode_is_recorded(&self, mode: Mode) -> bool {
        self.modes_of_operations().is_ok_and(|modes| modes.iter().any(|(known, _)| *known == mode))
    }

    /// Those of them that an operation depends on.
    fn modes_of_operations(&self) -> PyResult<Vec<(Mode, ObjectId)>> {
        let mut modes = self.modes_here();
        let at = |mode| self.mode_object(mode);
        let matters = modes.iter().map(|(mode, _)| self.backend.mode_matters(self.py, *mode, &at));
        let mut matters = matters.collect::<PyResult<Vec<bool>>>()?.into_iter();
        modes.retain(|_| matters.next().unwrap_or(true));
        Ok(modes)
    }

    /// Whether the instruction under way is one of the framework's own code.
    pub(super) fn is_framework_asking(&self) -> bool {
        libraries::of_framework(self.py, &self.frame().unit.code.filename)
    }

    /// An operation is about to be built: the builder knows the modes.
    pub(super) fn tell_modes(&mut self) -> Result<(), Stop> {
        for (mode, value) in self.modes_of_operations().map_err(|e| self.internal(&e))? {
            let known = self.built_in.iter().position(|(known, _)| *known == mode);
            let before = known.map_or_else(|| self.mode_at_entry(mode), |at| Some(self.built_in[at].1));
            if before != Some(value) {
                let object = self.objects.get(self.py, value);
                let builder = self.builder.as_mut().expect("a builder");
                builder.switch(mode, &object).map_err(|error| Stop::Break(error.why))?;
            }
            match known {
                Some(at) => self.built_in[at].1 = value,
                None => self.built_in.push((mode, value)),
            }
        }
        Ok(())
    }

    /// A statement is about to be appended: those before it leave the modes as it needs them.
    pub(super) fn record_modes(&mut self) -> Result<(), Stop> {
        for (mode, value) in self.modes_of_operations().map_err(|e| self.internal(&e))? {
            let before = self.graph.mode_at_end(mode).or_else(|| self.mode_at_entry(mode));
            if before == Some(value) {
                continue;
            }
            let none = self.py.None().into_bound(self.py);
            let none = self.objects.add(&none);
            let mut objects = Vec::new();
            let object = self.objects.get(self.py, value);
            let operand = self.constant(&object, &mut objects);
            objects.push(none);
            let name = self.backend.modes().get(mode as usize).copied().unwrap_or("mode");
            let statement = Statement {
                args: vec![operand],
                result: Operand::Literal(Literal::None),
                ..Statement::new(StatementKind::Api, name)
            };
            self.graph.push(statement, Behind::new(Callee::Mode { mode, value }, objects));
        }
        Ok(())
    }
}
