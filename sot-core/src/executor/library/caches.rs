//! Calls of caches of C (`functools.lru_cache`): what a cache remembers is a value with a path, and that it was asked for is a side
//! effect. What it does not remember is what its function comes to, which is simulated as any is, between two entries of the journal: that
//! it was asked in vain, and what it remembers from then on. A cache that would let go of something for that is a break.

use super::Executor;
use crate::caches::{self, Call, Memory};
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::{Mutation, Target};
use sot_tracker::{Access, Arithmetic, Tracker};

impl<'py> Executor<'py> {
    /// `cache(*args)`; `None`: it is no cache of C, or only a call can tell.
    pub(in crate::executor) fn call_cache(&mut self, me: VarId, args: &Args) -> Result<Option<Called>, Stop> {
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
        let value = match (self.kept_here(&result)?, caches::answer(&result)) {
            (Some(kept), _) => kept,
            (None, Some(remembered)) => {
                let value = self.answered_by_path(&result, &remembered);
                let question = self.objects.add(&result);
                let base = self.constant_tracker(question);
                let at = self.trackers.step(base, Access::IterSource);
                self.guard_present(at);
                value
            }
            (None, None) => {
                if !caches::answer(&nothing).is_some_and(|nothing| nothing.is_truthy().unwrap_or(false)) {
                    return Ok(None);
                }
                self.is_answered_yes(&nothing);
                return self.call_behind_cache(&cache, &call, args).map(Some);
            }
        };
        let count = self.pin(&count);
        self.journal_record(Mutation::Method {
            object: Self::var_ref(count),
            name: "__call__".to_owned(),
            args: Vec::new(),
        });
        Ok(Some(Called::Value(value)))
    }

    /// A question that is answered by yes, guarded.
    fn is_answered_yes(&mut self, question: &Bound<'py, PyAny>) {
        let yes = PyBool::new(self.py, true).to_owned().into_any();
        let answer = self.answered_by_path(question, &yes);
        self.constant_value(answer);
    }

    /// The call of the function of a cache for what that does not remember.
    fn call_behind_cache(&mut self, cache: &Bound<'py, PyAny>, call: &Call<'py>, args: &Args) -> Result<Called, Stop> {
        let refused = || Stop::brk(Reason::UserCode, "a call that is not in its cache");
        let function = caches::function_of_cache(cache).filter(facts::is_function).ok_or_else(refused)?;
        let known = self.questions_asked().filter(|asked| caches::is_miss_of(asked, cache)).count();
        if !self.has_room_for(cache, call, known + 1) {
            return Err(refused());
        }
        let question = |what| caches::question(cache, call, what).map(|question| question.into_bound(cache.py()));
        let (Some(missed), Some(keep)) = (question(Memory::Missed), question(Memory::Keep)) else {
            return Err(refused());
        };
        let (function, missed, keep) = (self.pin(&function), self.pin(&missed), self.pin(&keep));
        let positional = self.virtual_var(TupleVar::new(args.positional.clone()));
        let mut keywords = Vec::with_capacity(args.keywords.len());
        for (name, value) in &args.keywords {
            keywords.push((self.fold(PyString::intern(self.py, name).as_any())?, *value));
        }
        let keywords = self.virtual_var(DictVar::new(keywords));
        self.enter("cached", &[function, positional, keywords, missed, keep])
    }

    /// Whether a cache remembers so many results more, guarded.
    fn has_room_for(&mut self, cache: &Bound<'py, PyAny>, call: &Call<'py>, more: usize) -> bool {
        let Some(room) = caches::question(cache, call, Memory::Room(more)) else { return false };
        let room = room.into_bound(self.py);
        let has = caches::answer(&room).is_some_and(|has| has.is_truthy().unwrap_or(false));
        if has {
            self.is_answered_yes(&room);
        }
        has
    }

    /// What caches were told since the frame began.
    fn questions_asked(&self) -> impl Iterator<Item = Bound<'py, PyAny>> {
        self.journal.entries().iter().filter_map(|entry| match &entry.mutation {
            Mutation::Method { object, .. } => {
                self.known_object(VarId(object.0)).map(|object| self.objects.get(self.py, object))
            }
            _ => None,
        })
    }

    /// What a cache has remembered for a call since the frame began.
    fn kept_here(&self, call: &Bound<'py, PyAny>) -> Result<Option<VarId>, Stop> {
        for entry in self.journal.entries().iter().rev() {
            let Mutation::Method { object, args, .. } = &entry.mutation else { continue };
            let ([value], Some(object)) = (&args[..], self.known_object(VarId(object.0))) else { continue };
            match caches::keeps_same(self.objects.get_ref(self.py, object), call) {
                Some(true) => return Ok(Some(VarId(value.0))),
                Some(false) => {}
                None => return Err(Stop::brk(Reason::UserCode, "a call that may be in its cache")),
            }
        }
        Ok(None)
    }

    /// A cache was asked in vain.
    pub(in crate::executor) fn cache_missed(&mut self, question: VarId) -> Result<VarId, Stop> {
        self.tell_cache(question, Vec::new())
    }

    /// What it was asked for has come to this.
    pub(in crate::executor) fn cache_keeps(&mut self, question: VarId, result: VarId) -> Result<VarId, Stop> {
        // Nobody has called it with the same meanwhile.
        if let Some(known) = self.known_object(question) {
            let known = self.objects.get(self.py, known);
            if self.kept_here(&known)?.is_some() {
                return Err(Stop::brk(Reason::UserCode, "a call that is in its cache by now"));
            }
        }
        self.tell_cache(question, vec![Self::var_ref(result)])
    }

    fn tell_cache(&mut self, question: VarId, args: Vec<sot_sideeffect::VarRef>) -> Result<VarId, Stop> {
        // One of an earlier capture tells: there may be no room any more.
        if !self.is_constant(self.var(question).tracker) {
            return Err(Stop::brk(Reason::UserCode, "a call behind a break that goes to a cache"));
        }
        let object = Self::var_ref(question);
        self.journal_record(Mutation::Method { object, name: "__call__".to_owned(), args });
        self.fold_none()
    }

    /// Whether a value was found in a variable of a function around this one: it is the same at each call, as a rule.
    pub(in crate::executor) fn is_in_a_cell(&self, value: VarId) -> bool {
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

    /// `cache.cache_clear()`, `cache.cache_info()`
    pub(in crate::executor) fn method_of_cache(
        &mut self,
        owner: &Bound<'py, PyAny>,
        name: &str,
        me: VarId,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        if !matches!(name, "cache_clear" | "cache_info") || !args.positional.is_empty() || !args.keywords.is_empty() {
            return Ok(None);
        }
        let VarKind::Instance(InstanceVar { object: Some(cache), pinned, .. }) = self.look(me)? else {
            return Ok(None);
        };
        let cache = self.objects.get(self.py, cache);
        if !caches::is_cache(&cache) || !cache.get_type().is(owner) {
            return Ok(None);
        }
        if name == "cache_info" {
            let known = pinned || self.is_in_a_cell(me);
            return if known { self.information_of_cache(me, &cache) } else { Ok(None) };
        }
        self.journal_record(Mutation::Method { object: Self::var_ref(me), name: name.to_owned(), args: Vec::new() });
        self.fold_none().map(|none| Some(Called::Value(none)))
    }

    fn information_of_cache(&mut self, me: VarId, cache: &Bound<'py, PyAny>) -> Result<Option<Called>, Stop> {
        self.look_identity(me)?;
        // It has been cleared.
        if self.journal.changes_of(Target::Object(Self::var_ref(me))).next().is_some() {
            return Ok(None);
        }
        let (Some((class, most)), Some(counts)) = (caches::kind_of_information(cache), caches::counts(cache)) else {
            return Ok(None);
        };
        let base = self.base_tracker(me);
        let at = self.trackers.step(base, Access::IterSource);
        // Made for who asks: its items are found, and not it.
        let counts = counts.cast_into::<PyTuple>().map_err(|e| self.internal(&e.into()))?;
        let mut items = Vec::with_capacity(counts.len());
        for (index, count) in counts.iter().enumerate() {
            let place = self.trackers.step(at, Access::SeqItem(index as i64));
            items.push(self.wrap(&count, place));
        }
        let mut since = [0; 3];
        for asked in self.questions_asked() {
            let more = caches::adds_to_counts(&asked, cache);
            since.iter_mut().zip(more).for_each(|(since, more)| *since += more);
        }
        let mut told = Vec::with_capacity(4);
        for (number, more) in items.iter().zip(since) {
            self.look(*number)?;
            told.push(match (more, self.is_varying(*number)) {
                (0, _) => *number,
                (more, true) => {
                    let more = self.fold_int(more)?;
                    match self.arithmetic(Arithmetic::Add, *number, Some(more))? {
                        Some(sum) => sum,
                        None => return Ok(None),
                    }
                }
                (more, false) => match self.constant_int(*number) {
                    Some(number) => self.fold_int(number + more)?,
                    None => return Ok(None),
                },
            });
        }
        let most = match most {
            Some(most) => self.fold_int(most as i64)?,
            None => self.fold_none()?,
        };
        told.insert(2, most);
        let class = Some(self.objects.add(&class));
        Ok(Some(Called::Value(self.virtual_var(TupleVar { items: told.into(), class }))))
    }
}
