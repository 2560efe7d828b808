//! Dicts and sets made of what code of the program gives.

use super::Executor;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, DictOfC};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;

impl<'py> Executor<'py> {
    /// The definition that fills a dict from something: from a mapping by its keys. `None`: as ever.
    pub(super) fn fills_by_code(&mut self, source: VarId) -> Result<Option<&'static str>, Stop> {
        if let VarKind::Dict(_) = self.look(source)?
            && self.ordered_by_code(source)?.is_some()
        {
            return Ok(Some("fill_by_keys"));
        }
        if let VarKind::Instance(_) = self.look(source)? {
            let class = self.class_of(source)?;
            if self.is_read_as_a_mapping(source)? {
                return Ok(Some("fill_by_keys"));
            }
            // A subclass of dict is taken as a dict; and a `__getattr__` may say that there are keys.
            if !self.extends_object(&class)? || self.class_lookup(&class, "__getattr__")?.is_some() {
                return Ok(None);
            }
            match self.class_lookup(&class, "keys")? {
                Some(keys) => return Ok(facts::is_function(&keys).then_some("fill_by_keys")),
                None if self.find_attribute(source, "keys")?.is_some() => return Ok(None),
                None => {}
            }
        }
        let by_code = self.iterates_by_code(source)?
            || self.gives_keys_by_code(source)?
            || self.by_definition && self.can_iterate(source)?;
        Ok(by_code.then_some("fill"))
    }

    /// `dict(source, **keywords)`, or `table.update(source, **keywords)`.
    pub(super) fn enter_fill(
        &mut self,
        table: Option<VarId>,
        source: VarId,
        keywords: &[(String, VarId)],
    ) -> Result<Option<Called>, Stop> {
        let Some(definition) = self.fills_by_code(source)? else { return Ok(None) };
        let mut entries = Vec::with_capacity(keywords.len());
        for (name, value) in keywords {
            entries.push((self.fold(PyString::intern(self.py, name).as_any())?, *value));
        }
        let rest = self.virtual_var(DictVar::new(entries));
        let (table, result) = match table {
            Some(table) => (table, self.fold_none()?),
            None => {
                let table = self.virtual_var(DictVar::new(Vec::new()));
                (table, table)
            }
        };
        self.enter(definition, &[table, source, rest, result]).map(Some)
    }

    /// `**source` of a dict display: what is entered fills the dict, and gives what is left to add.
    pub(super) fn enter_mapping(&mut self, table: VarId, source: VarId) -> Result<Option<Called>, Stop> {
        if self.fills_by_code(source)? != Some("fill_by_keys") {
            return Ok(None);
        }
        let text = format!("'{}' object is not a mapping", self.class_name_of(source)?);
        let text = self.fold(PyString::new(self.py, &text).as_any())?;
        self.enter("fill_display", &[table, source, text]).map(Some)
    }

    fn class_name_of(&mut self, var: VarId) -> Result<String, Stop> {
        let class = self.class_of(var)?;
        Ok(super::compared::class_name(&class))
    }

    /// `{**a, **b}` in one instruction (3.8), if code of the program gives keys; `callee`: the dict is of the keywords of its call.
    pub(super) fn enter_display(&mut self, parts: &[VarId], callee: Option<VarId>) -> Result<Option<Called>, Stop> {
        let mut by_code = Vec::with_capacity(parts.len());
        for part in parts {
            match self.fills_by_code(*part)? {
                Some("fill_by_keys") => by_code.push(true),
                None if matches!(self.look(*part)?, VarKind::Dict(DictVar { class: None, .. })) => by_code.push(false),
                _ => return Ok(None),
            }
        }
        if !by_code.contains(&true) {
            return Ok(None);
        }
        let mut words = Vec::with_capacity(parts.len());
        for (part, by_code) in parts.iter().zip(by_code) {
            words.push(match (by_code, callee) {
                (false, _) => self.fold_none()?,
                (true, callee) => {
                    let name = self.class_name_of(*part)?;
                    let text = if callee.is_some() { name } else { format!("'{name}' object is not a mapping") };
                    self.fold(PyString::new(self.py, &text).as_any())?
                }
            });
        }
        let (parts, words) = (TupleVar::new(parts.to_vec()), TupleVar::new(words));
        let (parts, words) = (self.virtual_var(parts), self.virtual_var(words));
        match callee {
            Some(callee) => self.enter("united_keywords", &[parts, words, callee]).map(Some),
            None => self.enter("united_display", &[parts, words]).map(Some),
        }
    }

    /// `**source` of a call: what is entered adds to the keywords, and gives `result`.
    pub(super) fn enter_keywords(
        &mut self,
        table: VarId,
        source: VarId,
        callee: VarId,
        result: VarId,
    ) -> Result<Option<Called>, Stop> {
        if self.fills_by_code(source)? != Some("fill_by_keys") {
            return Ok(None);
        }
        let kind = self.class_name_of(source)?;
        let kind = self.fold(PyString::new(self.py, &kind).as_any())?;
        self.enter("fill_keywords", &[table, source, callee, kind, result]).map(Some)
    }

    /// `dict.fromkeys(iterable, value)`.
    pub(super) fn enter_from_keys(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<Option<Called>, Stop> {
        let owner = callee.getattr("__self__").ok().and_then(|owner| owner.cast_into::<PyType>().ok());
        let of_c = owner.as_ref().and_then(|owner| Some((owner.clone(), type_facts::dict_of_c(owner)?)));
        if let (Some((owner, kind)), [iterable, rest @ ..], []) =
            (of_c, args.positional.as_slice(), args.keywords.as_slice())
        {
            if rest.len() > 1 || !self.can_iterate(*iterable)? {
                return Ok(None);
            }
            let value = match rest {
                [value] => *value,
                _ => self.fold_none()?,
            };
            let factory = if kind == DictOfC::Default { Some(self.fold_none()?) } else { None };
            let class = Some(self.objects.add(owner.as_any()));
            let table = self.virtual_var(DictVar { class, factory, ..DictVar::new(Vec::new()) });
            return self.enter("keyed_into", &[table, *iterable, value]).map(Some);
        }
        let of_dict = owner.is_some_and(|owner| owner.is(self.py.get_type::<PyDict>()));
        if !of_dict || !args.keywords.is_empty() {
            return Ok(None);
        }
        match *args.positional.as_slice() {
            [iterable, ref rest @ ..] if rest.len() <= 1 && self.can_iterate(iterable)? => {
                let value = match rest {
                    [value] => *value,
                    _ => self.fold_none()?,
                };
                // The keys of a dict or set are not hashed again.
                if let VarKind::Set(_) | VarKind::Dict(_) = self.look(iterable)?
                    && !self.are_quiet_items(iterable)?
                {
                    let plain = !matches!(self.look(iterable)?, VarKind::Dict(DictVar { class: Some(_), .. }));
                    return match self.gives_hashed_items(iterable)? && plain {
                        true => self.enter("keyed_by_hash", &[iterable, value]).map(Some),
                        false => Ok(None),
                    };
                }
                self.enter("keyed", &[iterable, value]).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// `set(iterable)` or `frozenset(iterable)`.
    pub(super) fn enter_set(&mut self, class: &Bound<'py, PyAny>, iterable: VarId) -> Result<Option<Called>, Stop> {
        self.is_no_subclass_of_set(iterable)?;
        let frozen = class.is(self.py.get_type::<PyFrozenSet>());
        if let Some(done) = self.enter_whole(if frozen { "frozenset" } else { "set" }, &[iterable])? {
            return Ok(Some(done));
        }
        if !self.iterates_by_code(iterable)? && !self.gives_items_by_code(iterable)? {
            return Ok(None);
        }
        let (class, frozen) = (self.pin(class), self.fold_bool(frozen)?);
        self.enter("set_of", &[class, iterable, frozen]).map(Some)
    }

    /// What goes into a set that is being made.
    pub(super) fn enter_items_of_set(&mut self, set: VarId, iterable: VarId) -> Result<Option<Called>, Stop> {
        self.is_no_subclass_of_set(iterable)?;
        if !self.iterates_by_code(iterable)? && !self.gives_items_by_code(iterable)? {
            return Ok(None);
        }
        let nothing = self.virtual_var(TupleVar::new(Vec::new()));
        self.enter("items_of_set", &[set, iterable, nothing]).map(Some)
    }

    /// Sets take what any set holds as it lies, whatever its class says of iteration.
    pub(super) fn is_no_subclass_of_set(&mut self, iterable: VarId) -> Result<(), Stop> {
        let VarKind::Instance(_) = self.look(iterable)? else { return Ok(()) };
        let class = self.class_of(iterable)?;
        for of in [self.py.get_type::<PySet>(), self.py.get_type::<PyFrozenSet>()] {
            if self.derives(&class, of.as_any())? {
                return Err(Stop::brk(Reason::ValueKind, "an instance of a class that extends set"));
            }
        }
        Ok(())
    }

    /// Whether all keys of a dict, or members of a set, are such.
    fn are_quiet_items(&mut self, whole: VarId) -> Result<bool, Stop> {
        let items: Vec<VarId> = match self.look(whole)? {
            VarKind::Dict(dict) => dict.entries.iter().map(|entry| entry.0).collect(),
            VarKind::Set(set) => match self.content(set.state) {
                Ok(content) => content.vars().collect(),
                Err(Stop::Break(_)) => return Ok(false),
                Err(stop) => return Err(stop),
            },
            _ => return Ok(false),
        };
        for item in items {
            if !self.is_quiet_item(item)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a value goes into a set without code of the program: what is no key at all does not.
    pub(super) fn is_quiet_item(&mut self, item: VarId) -> Result<bool, Stop> {
        match self.member(item) {
            Ok(_) => Ok(true),
            Err(Stop::Break(_) | Stop::Raised(_)) => Ok(false),
            Err(stop) => Err(stop),
        }
    }
}
