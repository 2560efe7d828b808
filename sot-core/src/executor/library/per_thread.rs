//! `threading.local` and context variables: what one holds is found by its path, in the thread that asks.

use super::Executor;
use crate::per_thread::{self, PerThread};
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::{Mutation, Overlay, Target};
use sot_tracker::Access;

impl<'py> Executor<'py> {
    fn per_thread(&mut self, value: VarId) -> Option<(PerThread, Bound<'py, PyAny>)> {
        let VarKind::Instance(InstanceVar { object: Some(object), class, .. }) = self.var(value).kind else {
            return None;
        };
        let class = self.objects.get_ref(self.py, class).cast::<PyType>().ok()?;
        Some((per_thread::per_thread(class)?, self.objects.get(self.py, object)))
    }

    /// Whether an attribute belongs to a thread: one of a `threading.local` that its class does not have.
    fn local(&mut self, value: VarId, name: &str) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        let Some((PerThread::Local, local)) = self.per_thread(value) else { return Ok(None) };
        self.look(value)?;
        // Its own look-up answers that: the dict is what the journal would write to under another name.
        if name == "__dict__" {
            return Err(Stop::brk(Reason::ValueKind, "the dict of values that belong to a thread"));
        }
        let class = local.get_type();
        Ok(self.class_lookup(class.as_any(), name)?.is_none().then_some(local))
    }

    /// `local.name`: `None`: it is something else. The inner one: this thread has none.
    pub(in crate::executor) fn attribute_of_thread(
        &mut self,
        value: VarId,
        name: &str,
    ) -> Result<Option<Option<VarId>>, Stop> {
        let Some(local) = self.local(value, name)? else { return Ok(None) };
        match self.journal.attr(Self::var_ref(value), name) {
            Overlay::Set(found) => return Ok(Some(Some(VarId(found.0)))),
            Overlay::Deleted => return Ok(Some(None)),
            Overlay::Untouched => {}
        }
        let Some(dict) = per_thread::held(&local) else { return Ok(None) };
        let dict = dict.cast::<PyDict>().map_err(|e| self.internal(&e.into()))?;
        self.dict_below(dict, Some(value), false)?;
        let base = self.base_tracker(value);
        let at = self.trackers.step(base, Access::IterSource);
        self.dict_item(dict, at, name).map(Some)
    }

    /// `local.name = value`; `false`: it is something else.
    pub(in crate::executor) fn set_in_thread(&mut self, local: VarId, name: &str, value: VarId) -> Result<bool, Stop> {
        let Some(real) = self.local(local, name)? else { return Ok(false) };
        if let Some(dict) = per_thread::held(&real).and_then(|dict| dict.cast_into::<PyDict>().ok()) {
            self.dict_below(&dict, Some(local), true)?;
        }
        let (object, value) = (Self::var_ref(local), Self::var_ref(value));
        self.journal_record(Mutation::SetAttr { object, name: name.into(), value });
        Ok(true)
    }

    /// `variable.get()`, `variable.set(value)`, `variable.reset(token)`; `None`: it is something else, or there is no value.
    pub(in crate::executor) fn method_of_context_variable(
        &mut self,
        name: &str,
        me: VarId,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        let Some((PerThread::Variable, variable)) = self.per_thread(me) else { return Ok(None) };
        if !args.keywords.is_empty() || self.journal.changes_of(Target::Object(Self::var_ref(me))).next().is_some() {
            return Ok(None);
        }
        match (name, args.positional.as_slice()) {
            ("get", []) => {}
            ("set", [value]) => return self.set_context_variable(me, &variable, *value).map(Some),
            ("reset", [token]) => return self.reset_context_variable(me, *token),
            _ => return Ok(None),
        }
        if let Some(value) = self.set_since(&variable, self.journal.entries().len()) {
            return Ok(Some(Called::Value(value)));
        }
        let Some(value) = per_thread::held(&variable) else { return Ok(None) };
        self.look(me)?;
        let base = self.base_tracker(me);
        let at = self.trackers.step(base, Access::IterSource);
        self.guard_present(at);
        Ok(Some(Called::Value(self.wrap(&value, at))))
    }

    /// The token cannot be built: where new code would need one, this call runs as Python.
    fn set_context_variable(&mut self, me: VarId, variable: &Bound<'py, PyAny>, value: VarId) -> Result<Called, Stop> {
        self.look(me)?;
        self.look_identity(me)?;
        let setter = per_thread::setter(variable).map_err(|e| self.internal(&e))?.into_bound(self.py);
        let setter = self.pin(&setter);
        let token = self.in_disguise("_token__counted", &[setter, me])?;
        let args = vec![Self::var_ref(value)];
        self.journal_record(Mutation::Method { object: Self::var_ref(setter), name: "__call__".to_owned(), args });
        Ok(Called::Value(token))
    }

    /// Of a token that was got since the frame began, and was not used yet.
    fn reset_context_variable(&mut self, me: VarId, token: VarId) -> Result<Option<Called>, Stop> {
        let VarKind::Generator(GeneratorVar { state: GeneratorState::New(frame), unit, .. }) = self.look(token)? else {
            return Ok(None);
        };
        if unit.disguise() != Some("_token") {
            return Ok(None);
        }
        let (Some(setter), Some(of)) = (frame.locals[0], frame.locals[1]) else { return Ok(None) };
        let object = Self::var_ref(setter);
        if of != me || self.journal.changes_of(Target::Object(object)).count() != 1 {
            return Ok(None);
        }
        let Some(real) = self.known_object(setter) else { return Ok(None) };
        per_thread::takes_back(self.objects.get_ref(self.py, real));
        self.journal_record(Mutation::Method { object, name: "__call__".to_owned(), args: Vec::new() });
        self.fold_none().map(|none| Some(Called::Value(none)))
    }

    /// What a context variable was set to by the first so many entries of the journal; `None`: it is what it was before.
    fn set_since(&self, variable: &Bound<'py, PyAny>, entries: usize) -> Option<VarId> {
        let setter = |at: &usize| match &self.journal.entries()[*at].mutation {
            Mutation::Method { object, args, .. } => {
                let real = self.known_object(VarId(object.0))?;
                let is = per_thread::is_setter_of(self.objects.get_ref(self.py, real), variable);
                is.then(|| (*object, args.first().map(|value| VarId(value.0))))
            }
            _ => None,
        };
        let last = (0..entries).rev().find_map(|at| setter(&at))?;
        match last {
            (_, Some(value)) => Some(value),
            (object, None) => {
                let set = (0..entries).find(|at| setter(at).is_some_and(|(other, _)| other == object))?;
                self.set_since(variable, set)
            }
        }
    }
}
