//! Calls of caches of C (`functools.lru_cache`): what a cache remembers is a value with a path, and that it was asked for is a side
//! effect. What it does not remember it calls its function for, which is a break: who captures the second call meets the result.

use super::Executor;
use crate::caches::{self, Call, Memory};
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::{Mutation, Target};
use sot_tracker::{Access, Tracker};

impl<'py> Executor<'py> {
    /// `cache(*args)`; `None`: it is no cache of C, or only a call can tell.
    pub(in crate::executor) fn call_cache(&mut self, me: VarId, args: &Args) -> Result<Option<VarId>, Stop> {
        let VarKind::Instance(InstanceVar { object: Some(cache), pinned, .. }) = self.var(me).kind else {
            return Ok(None);
        };
        let cache = self.objects.get(self.py, cache);
        if !caches::is_cache(&cache) || !pinned && !self.is_in_a_cell(me) {
            return Ok(None);
        }
        self.look(me)?;
        self.look_identity(me)?;
        self.may_simulate(&cache)?;
        // It has been cleared.
        if self.journal.changes_of(Target::Object(Self::var_ref(me))).next().is_some() {
            return Ok(None);
        }
        let Some(call) = self.given_to_cache(args)? else { return Ok(None) };
        let question = |what| caches::question(&cache, &call, what).map(|question| question.into_bound(cache.py()));
        let (Some(result), Some(nothing), Some(count)) =
            (question(Memory::Result), question(Memory::Nothing), question(Memory::Count))
        else {
            return Ok(None);
        };
        let Some(remembered) = caches::answer(&result) else {
            let yes = PyBool::new(self.py, true).to_owned().into_any();
            let unknown = self.answered_by_path(&nothing, &yes);
            self.constant_value(unknown);
            return Err(Stop::brk(Reason::UserCode, "a call that is not in its cache"));
        };
        let value = self.answered_by_path(&result, &remembered);
        let question = self.objects.add(&result);
        let base = self.constant_tracker(question);
        let at = self.trackers.step(base, Access::IterSource);
        self.guard_present(at);
        let count = self.pin(&count);
        self.journal_record(Mutation::Method {
            object: Self::var_ref(count),
            name: "__call__".to_owned(),
            args: Vec::new(),
        });
        Ok(Some(value))
    }

    /// Whether a value was found in a variable of a function around this one: it is the same at each call, as a rule.
    fn is_in_a_cell(&self, value: VarId) -> bool {
        let path = self.trackers.path(self.var(value).tracker);
        path.iter().any(|step| matches!(self.trackers.get(*step), Tracker::Step { access: Access::CellContent, .. }))
    }

    /// What a cache is given, if that is compared without running code.
    fn given_to_cache(&mut self, args: &Args) -> Result<Option<Call<'py>>, Stop> {
        let mut positional = Vec::with_capacity(args.positional.len());
        for arg in &args.positional {
            match self.part_of_key(*arg)? {
                Some(part) => positional.push(part),
                None => return Ok(None),
            }
        }
        let mut keywords = Vec::with_capacity(args.keywords.len());
        for (name, value) in &args.keywords {
            match self.part_of_key(*value)? {
                Some(part) => keywords.push((PyString::intern(self.py, name), part)),
                None => return Ok(None),
            }
        }
        Ok(Some(Call { positional, keywords }))
    }

    pub(in crate::executor) fn part_of_key(&mut self, value: VarId) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        let kind = self.look(value)?;
        if let VarKind::Tuple(TupleVar { items, class: None }) = &kind {
            let mut parts = Vec::with_capacity(items.len());
            for item in items.iter() {
                match self.nested(|ex| ex.part_of_key(*item))? {
                    Some(part) => parts.push(part),
                    None => return Ok(None),
                }
            }
            return PyTuple::new(self.py, parts).map(|parts| Some(parts.into_any())).map_err(|e| self.internal(&e));
        }
        if let VarKind::Constant(_) = kind {
            return Ok(if self.is_varying(value) { None } else { self.constant_value(value) });
        }
        let object = match &kind {
            VarKind::Instance(InstanceVar { object: Some(object), .. }) if self.is_in_a_cell(value) => {
                self.look_identity(value)?;
                self.objects.get(self.py, *object)
            }
            _ => match self.pinned(&kind) {
                Some(object) => object,
                None => return Ok(None),
            },
        };
        let class = object.get_type();
        let hashed_by_c = !type_facts::raw(&class, "__hash__").is_some_and(|hash| facts::is_function(&hash));
        if !hashed_by_c || !self.compares_by_identity(&class)? || self.death_runs_code(&object) {
            return Ok(None);
        }
        Ok(Some(object))
    }

    /// `cache.cache_clear()`
    pub(in crate::executor) fn clear_cache(
        &mut self,
        owner: &Bound<'py, PyAny>,
        name: &str,
        me: VarId,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        if name != "cache_clear" || !args.positional.is_empty() || !args.keywords.is_empty() {
            return Ok(None);
        }
        let VarKind::Instance(InstanceVar { object: Some(cache), .. }) = self.look(me)? else {
            return Ok(None);
        };
        let cache = self.objects.get(self.py, cache);
        if !caches::is_cache(&cache) || !cache.get_type().is(owner) {
            return Ok(None);
        }
        self.journal_record(Mutation::Method { object: Self::var_ref(me), name: name.to_owned(), args: Vec::new() });
        self.fold_none().map(|none| Some(Called::Value(none)))
    }
}
