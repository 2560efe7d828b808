//! Instances of classes of the program that extend a builtin type: `class Table(dict)`, `collections.Counter`.
//!
//! Such an instance has a *part* beside its attributes: the variable of what the builtin type keeps. Methods of the type work
//! upon the part; whatever the program overrides is asked as ever. For new code the part is the instance
//! ([`Captured::whole_of`]), which is built with the content that it has by then. That of one that existed before the frame
//! is read alone, and by paths that no method of the program lies on.
//!
//! [`Captured::whole_of`]: crate::captured::Captured::whole_of

use super::Executor;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, Descriptor, DictOfC};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::{ObjectId, TrackerId};

impl<'py> Executor<'py> {
    /// `base.__new__(class, *args)`, where `base` is the builtin type that the class extends.
    pub(super) fn make_extended(
        &mut self,
        class: &Bound<'py, PyType>,
        base: &Bound<'py, PyType>,
        args: &Args,
    ) -> Result<VarId, Stop> {
        let opaque = || Stop::brk(Reason::OpaqueCall, format!("class {}", super::calls::name_of(class)));
        self.guard_mro(class);
        self.class_lookup(class.as_any(), "__abstractmethods__")?;
        if facts::is_abstract(class) || self.class_lookup(class.as_any(), "__del__")?.is_some() {
            return Err(opaque());
        }
        let is = |ty: Bound<'py, PyType>| base.is(&ty);
        let py = self.py;
        let part = if is(py.get_type::<PyList>()) {
            self.virtual_var(ListVar::new(Vec::new()))
        } else if is(py.get_type::<PyDict>()) {
            self.virtual_var(DictVar::new(Vec::new()))
        } else if let Some(kind) = type_facts::dict_of_c(base) {
            let factory = if kind == DictOfC::Default { Some(self.fold_none()?) } else { None };
            let class = Some(self.objects.add(base.as_any()));
            self.virtual_var(DictVar { class, factory, ..DictVar::new(Vec::new()) })
        } else if !args.keywords.is_empty() {
            // Whether the type takes them depends on who initialises the instance.
            return Err(opaque());
        } else if is(py.get_type::<PyTuple>()) {
            let items = match *args.positional.as_slice() {
                [] => Vec::new(),
                [iterable] => self.collect_sized(iterable)?,
                _ => return Err(opaque()),
            };
            self.virtual_var(TupleVar::new(items))
        } else {
            let value = self.fold_call(base.as_any(), args)?;
            let value = self.constant_value(value).filter(|v| v.get_type().is(base)).ok_or_else(opaque)?;
            let object = self.objects.add(&value);
            let part = self.virtual_var(ConstantVar { object });
            self.learn(part).valued = true;
            part
        };
        let class = self.objects.add(class.as_any());
        let (object, part) = (None, Some(part));
        let made =
            InstanceVar { class, object, pinned: false, of_program: true, may_be_watched: true, part, names: None };
        let made = self.virtual_var(made);
        self.wholes.extend(part.map(|part| (part, made)));
        Ok(made)
    }

    /// An instance of a class that extends a builtin type and leaves it to that how instances are made. The second is what
    /// initialises it, if that is a method of the type.
    pub(super) fn instantiate_extended(
        &mut self,
        class: &Bound<'py, PyType>,
        new: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<Option<VarId>, Stop> {
        let Some(base) = type_facts::extends(class) else { return Ok(None) };
        if !type_facts::raw(&base, "__new__").is_some_and(|own| own.is(new)) {
            return Ok(None);
        }
        self.make_extended(class, &base, args).map(Some)
    }

    /// `tuple.__new__(class, items)` and the like.
    pub(super) fn call_new_of_base(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<Option<VarId>, Stop> {
        let Some((class, rest)) = args.positional.split_first() else { return Ok(None) };
        if type_facts::descriptor(callee) != Descriptor::BuiltinFunction
            || !callee.getattr("__name__").is_ok_and(|name| name.eq("__new__").unwrap_or(false))
        {
            return Ok(None);
        }
        let owner = callee.getattr("__self__").ok().and_then(|owner| owner.cast_into::<PyType>().ok());
        let (Some(owner), VarKind::Class(class)) = (owner, self.look(*class)?) else { return Ok(None) };
        let class =
            self.objects.get(self.py, class.object).cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        if owner.is(self.py.get_type::<PyTuple>()) && type_facts::is_named_tuple(&class) {
            let [items] = *rest else { return Ok(None) };
            let items = self.collect_sized(items)?;
            for name in type_facts::OF_TUPLES {
                self.class_lookup(class.as_any(), name)?;
            }
            let class = Some(self.objects.add(class.as_any()));
            return Ok(Some(self.virtual_var(TupleVar { items: items.into(), class })));
        }
        if !type_facts::extends(&class).is_some_and(|base| base.is(&owner)) {
            return Ok(None);
        }
        let rest = Args { positional: rest.to_vec(), keywords: args.keywords.clone() };
        self.make_extended(&class, &owner, &rest).map(Some)
    }

    /// The part of an instance that existed before the frame.
    pub(super) fn part_as_it_lies(
        &mut self,
        object: &Bound<'py, PyAny>,
        id: ObjectId,
        tracker: TrackerId,
    ) -> Option<VarId> {
        let base = type_facts::extends(&object.get_type())?;
        let (whole, object) = (object, Some(id));
        let kind: VarKind = match &base {
            base if base.is(self.py.get_type::<PyDict>()) => DictVar { object, ..DictVar::new(Vec::new()) }.into(),
            base if base.is(self.py.get_type::<PyList>()) => ListVar { object, ..ListVar::new(Vec::new()) }.into(),
            base if base.is(self.py.get_type::<PyTuple>()) => TupleVar::new(Vec::new()).into(),
            base => self.dict_of_c_as_it_lies(base, whole, id, tracker)?.into(),
        };
        let part = self.add_var(kind, tracker);
        self.sourced.insert(part, id);
        let (base, constant) = (self.objects.add(base.as_any()), self.constant_tracker(id));
        self.captured.extending.extend([(tracker, base), (constant, base)]);
        Some(part)
    }

    /// The part of an instance upon which a method of this builtin type works.
    pub(super) fn part_of(
        &mut self,
        value: VarId,
        owner: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        let VarKind::Instance(InstanceVar { part: Some(part), .. }) = self.look(value)? else {
            return Ok(None);
        };
        let base = match self.var(part).kind {
            VarKind::List(_) => self.py.get_type::<PyList>().into_any(),
            VarKind::Dict(DictVar { class: None, .. }) => self.py.get_type::<PyDict>().into_any(),
            VarKind::Tuple(_) => self.py.get_type::<PyTuple>().into_any(),
            _ => self.class_of(part)?,
        };
        // An ordered dict has most methods of its own, and the rest of dict.
        let dict = self.py.get_type::<PyDict>();
        let is_of_dict =
            owner.is(&dict) && base.cast::<PyType>().is_ok_and(|base| type_facts::agree(base, &dict, &[name]));
        Ok((base.is(owner) || is_of_dict).then_some(part))
    }

    /// The field of a named tuple that an instance extends.
    pub(super) fn field_of_part(&mut self, me: VarId, getter: &Bound<'py, PyAny>) -> Result<Option<VarId>, Stop> {
        let VarKind::Instance(InstanceVar { part: Some(part), .. }) = self.look(me)? else { return Ok(None) };
        let (VarKind::Tuple(tuple), Some(place)) = (self.look(part)?, type_facts::place_of_field(getter)) else {
            return Ok(None);
        };
        Ok(tuple.items.get(place).copied())
    }

    /// Whether items of an instance are what its builtin type says, guarded.
    fn leaves_reading_to(&mut self, value: VarId, base: &Bound<'py, PyAny>) -> Result<bool, Stop> {
        let class = self.class_of(value)?;
        let base = base.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
        for name in ["__iter__", "keys", "__getitem__"] {
            let found = self.class_lookup(&class, name)?;
            let same = match (found, type_facts::raw(base, name)) {
                (Some(found), Some(own)) => found.is(&own),
                (found, own) => found.is_none() && own.is_none(),
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the class of a dict leaves `__iter__` to dict, as copying asks, which goes by keys and items otherwise.
    fn is_iterated_as_a_dict(&mut self, value: VarId) -> Result<bool, Stop> {
        let class = self.class_of(value)?;
        let own = type_facts::raw(&self.py.get_type::<PyDict>(), "__iter__");
        Ok(self.class_lookup(&class, "__iter__")?.zip(own).is_some_and(|(found, own)| found.is(&own)))
    }

    /// A method of the builtin type, called of an instance that extends it.
    pub(super) fn call_on_part(&mut self, me: VarId, part: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        let kind = self.look(part)?;
        let opaque = || Stop::brk(Reason::Builtin, format!("{name} of {}", kind.kind_name()));
        let is_constant = matches!(kind, VarKind::Constant(_));
        if let VarKind::Dict(dict) = &kind
            && dict.class.is_some()
            && let Some(called) = self.call_on_part_of_c(me, part, dict, name, args)?
        {
            return Ok(called);
        }
        if name == "copy" && matches!(kind, VarKind::Dict(_)) && !self.is_iterated_as_a_dict(me)? {
            return Err(Stop::brk(Reason::UserCode, "copy, which asks for the keys"));
        }
        let positional = if args.keywords.is_empty() { Some(args.positional.as_slice()) } else { None };
        if let (VarKind::Dict(_), "__getitem__", Some([key])) = (&kind, name, positional)
            && let Some(missing) = self.special_method_if_any(me, "__missing__")?
        {
            if let Some(entered) = self.enter_item_or_missing(part, *key, missing)? {
                return Ok(entered);
            }
        } else if let Some(entered) = self.enter_method_by_hash(part, name, args)? {
            return Ok(entered);
        }
        let result = match (name, positional) {
            ("__init__", Some([iterable])) if self.part_asks(&kind, *iterable)? => {
                let append = self.py.get_type::<PyList>().getattr("append").map_err(|e| self.internal(&e))?;
                let append = self.pin(&append);
                self.empty_part(part)?;
                return self.enter("extend_part", &[append, part, *iterable]);
            }
            ("__init__", _) => {
                self.init_part(part, args)?;
                self.fold_none()?
            }
            ("__len__", Some([])) => {
                let length = self.length(part)?;
                self.fold_int(length as i64)?
            }
            ("__getitem__", Some([key])) => {
                if let VarKind::Dict(dict) = &kind
                    && dict.position(self, *key)?.is_none()
                {
                    let class = self.class_of(me)?;
                    if self.class_lookup(&class, "__missing__")?.is_some() {
                        let missing = self.special_method(me, "__missing__")?;
                        return self.call(missing, &Args::positional(vec![*key]));
                    }
                }
                self.subscript(part, *key)?
            }
            ("__setitem__", Some([key, value])) => {
                self.set_item(part, *key, *value)?;
                self.fold_none()?
            }
            ("__delitem__", Some([key])) => {
                self.delete_item(part, *key)?;
                self.fold_none()?
            }
            ("__iter__", Some([])) => self.iterate(part)?,
            ("__reversed__", Some([])) => self.reversed(part)?,
            ("__contains__", Some([item])) => {
                let found = self.contains(part, *item)?;
                self.fold_bool(found)?
            }
            ("__add__" | "__mul__" | "__rmul__" | "__iadd__" | "__imul__", Some([other]))
                if self.as_sequence(me)?.is_some() =>
            {
                return self.joined_by_c(me, part, name, *other).map(Called::Value);
            }
            _ if is_constant && !Self::tells_of_class(name) && !self.asks_for_text(name, args) => {
                let (class, content) = (self.class_of(me)?, self.constant_value(part).ok_or_else(opaque)?);
                let image = self.image_of(&class, &content)?;
                let method = content.get_type().getattr(name).map_err(|e| self.would_raise(&e))?;
                return self.asked_on_copy(&method, name, me, &image, args).map(Called::Value);
            }
            _ if name.starts_with("__") => return Err(opaque()),
            // What refuses a call where it is bound names the class of the instance.
            ("count" | "index", given)
                if self.is_called_bound() && !given.is_some_and(|given| (1..=3).contains(&given.len())) =>
            {
                return Err(Stop::brk(Reason::WouldRaise, name));
            }
            ("count", Some([_, _, ..])) if self.is_called_bound() => return Err(Stop::brk(Reason::WouldRaise, name)),
            _ => match self.call_bound(part, name, args)? {
                Called::Value(value) => value,
                // Its definition would ask for what the program overrides.
                Called::Entered(_) => return Err(opaque()),
            },
        };
        if result != part {
            return Ok(Called::Value(result));
        }
        Ok(Called::Value(match self.look(part)? {
            VarKind::Constant(constant) => {
                let value = self.objects.get(self.py, constant.object);
                self.fold(&value)?
            }
            VarKind::Tuple(tuple) => self.virtual_var(tuple),
            _ => me,
        }))
    }

    /// What an ordered or default dict does other than a dict: some of its methods ask the instance, as the program would.
    fn call_on_part_of_c(
        &mut self,
        me: VarId,
        part: VarId,
        dict: &DictVar,
        name: &str,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        let kind = self.dict_of_c(dict);
        let of_items = ["__contains__", "__getitem__", "__setitem__", "__delitem__"];
        let asks: &[&str] = match name {
            "pop" | "popitem" | "setdefault" if kind == Some(DictOfC::Ordered) => &of_items,
            // The class is called.
            "copy" => return Err(Stop::brk(Reason::OpaqueCall, "copy of an instance")),
            "__missing__" => &of_items,
            "__init__" | "update" if kind == Some(DictOfC::Ordered) => {
                if let Some(called) = self.fill_asking(me, part, args)? {
                    return Ok(Some(called));
                }
                if args.positional.is_empty() && args.keywords.is_empty() { &[] } else { &["__setitem__"] }
            }
            _ => &[],
        };
        if !asks.is_empty() {
            let base = self.class_of(part)?.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
            let class = self.class_of(me)?;
            for asked in asks {
                let own = type_facts::raw(&base, asked);
                if !self.class_lookup(&class, asked)?.zip(own).is_some_and(|(found, own)| found.is(&own)) {
                    return Err(Stop::brk(Reason::UserCode, format!("{name}, which asks for {asked}")));
                }
            }
        }
        match (name, kind, args.positional.as_slice()) {
            ("__init__", Some(DictOfC::Default), given) => {
                if dict.object.is_some() || self.known_object(me).is_some() {
                    // No attribute is written for the program to see: C alone exchanges it.
                    return Err(Stop::brk(Reason::OpaqueCall, "__init__ of a defaultdict that exists already"));
                }
                let (factory, rest) = match given {
                    [factory, rest @ ..] => (*factory, rest),
                    [] => (self.fold_none()?, given),
                };
                let none = self.unless_none(Some(factory))?.is_none();
                let class = self.class_of(factory)?;
                if !none && self.class_lookup(&class, "__call__")?.is_none() {
                    return Err(Stop::brk(Reason::WouldRaise, "a factory"));
                }
                if let VarKind::Dict(dict) = &mut self.var_mut(part).kind {
                    dict.factory = Some(factory);
                }
                self.init_part(part, &Args { positional: rest.to_vec(), keywords: args.keywords.clone() })?;
                self.fold_none().map(|none| Some(Called::Value(none)))
            }
            ("__missing__", Some(DictOfC::Default), [key]) if args.keywords.is_empty() => {
                let Some(factory) = self.unless_none(dict.factory)? else { return Err(self.raise_key_error(*key)) };
                self.enter("missing", &[me, *key, factory]).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// An ordered dict is given items, and a `__setitem__` of the program puts each in its place. `None`: it has none, or who gives the
    /// items is asked in a way of its own.
    fn fill_asking(&mut self, me: VarId, part: VarId, args: &Args) -> Result<Option<Called>, Stop> {
        let base = self.class_of(part)?.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        let class = self.class_of(me)?;
        let own = type_facts::raw(&base, "__setitem__");
        if self.class_lookup(&class, "__setitem__")?.zip(own).is_none_or(|(found, own)| found.is(&own)) {
            return Ok(None);
        }
        let pairs = |ex: &mut Executor<'py>, items: Vec<(VarId, VarId)>| {
            let items: Vec<VarId> =
                items.into_iter().map(|(key, value)| ex.virtual_var(TupleVar::new(vec![key, value]))).collect();
            ex.virtual_var(TupleVar::new(items))
        };
        let items = match *args.positional.as_slice() {
            [] => pairs(self, Vec::new()),
            [source] => match self.look(source)? {
                // Its items are taken before the first is put in its place.
                VarKind::Dict(dict) if dict.class.is_none() => pairs(self, dict.entries.to_vec()),
                VarKind::Tuple(TupleVar { class: None, .. }) | VarKind::List(ListVar { class: None, .. }) => source,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let mut rest = Vec::with_capacity(args.keywords.len());
        for (name, value) in &args.keywords {
            rest.push((self.fold(PyString::intern(self.py, name).as_any())?, *value));
        }
        let rest = pairs(self, rest);
        self.enter("fill_asking", &[me, items, rest]).map(Some)
    }

    /// Whether a list that is a part is filled by code of the program.
    fn part_asks(&mut self, kind: &VarKind, iterable: VarId) -> Result<bool, Stop> {
        Ok(matches!(kind, VarKind::List(list) if list.items.is_empty()) && self.iterates_by_code(iterable)?)
    }

    /// `list.__init__` of a list that has items already: they go first.
    fn empty_part(&mut self, part: VarId) -> Result<(), Stop> {
        match self.look(part)? {
            VarKind::List(list) if !list.items.is_empty() => {
                self.list_method(part, &list, "clear", &Args::default()).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn init_part(&mut self, part: VarId, args: &Args) -> Result<(), Stop> {
        let opaque = || Stop::brk(Reason::Builtin, "__init__");
        match (self.look(part)?, args.positional.as_slice()) {
            (VarKind::List(_), rest) if args.keywords.is_empty() && rest.len() <= 1 => {
                self.empty_part(part)?;
                match rest {
                    [iterable] => self.extend_at_once(part, *iterable),
                    _ => Ok(()),
                }
            }
            (VarKind::Dict(_), rest) if rest.len() <= 1 => {
                let mut pairs = match rest {
                    [source] => self.plain_pairs(*source)?.ok_or_else(opaque)?,
                    _ => Vec::new(),
                };
                for (name, value) in &args.keywords {
                    pairs.push((self.fold(PyString::intern(self.py, name).as_any())?, *value));
                }
                for (key, value) in pairs {
                    self.set_item(part, key, value)?;
                }
                Ok(())
            }
            _ => Err(opaque()),
        }
    }

    /// Whether `dict` asks an instance of a class that extends it for keys and items, and does not take it as it lies: if it iterates
    /// in a way of its own, as ordered dicts do.
    pub(super) fn is_read_as_a_mapping(&mut self, source: VarId) -> Result<bool, Stop> {
        let VarKind::Instance(InstanceVar { part: Some(part), .. }) = self.look(source)? else { return Ok(false) };
        if !matches!(self.look(part)?, VarKind::Dict(_)) {
            return Ok(false);
        }
        let class = self.class_of(source)?;
        let plain = type_facts::raw(&self.py.get_type::<PyDict>(), "__iter__");
        let iterates = self.class_lookup(&class, "__iter__")?;
        let as_it_lies = iterates.zip(plain).is_some_and(|(own, plain)| own.is(&plain));
        let base = self.dict_extended_by(part);
        Ok(!as_it_lies && !self.leaves_reading_to(source, &base)?)
    }

    /// The type of dict of which this is the part.
    fn dict_extended_by(&self, part: VarId) -> Bound<'py, PyAny> {
        match &self.var(part).kind {
            VarKind::Dict(DictVar { class: Some(class), .. }) => self.objects.get(self.py, *class),
            _ => self.py.get_type::<PyDict>().into_any(),
        }
    }

    /// Keys and values, as `dict` takes them from a value without running code of the program; `None`: it does.
    pub(super) fn plain_pairs(&mut self, source: VarId) -> Result<Option<Vec<(VarId, VarId)>>, Stop> {
        match self.look(source)? {
            VarKind::Dict(source) => Ok(Some(source.entries.to_vec())),
            VarKind::Native(_) => match self.shown_by(source)? {
                Some(dict) => self.pairs_of_proxy(dict),
                None => Ok(None),
            },
            VarKind::Instance(InstanceVar { part: Some(part), .. }) => {
                let base = self.dict_extended_by(part);
                if !self.leaves_reading_to(source, &base)? {
                    return Ok(None);
                }
                match self.look(part)? {
                    VarKind::Dict(dict) => Ok(Some(dict.entries.to_vec())),
                    _ => Ok(None),
                }
            }
            VarKind::Constant(_) | VarKind::Tuple(_) | VarKind::List(_) | VarKind::Iterator(_) | VarKind::View(_) => {
                if self.iterates_by_code(source)? {
                    return Ok(None);
                }
                let mut pairs = Vec::new();
                for pair in self.collect(source)? {
                    let [key, value] = *self.collect(pair)? else { return Ok(None) };
                    pairs.push((key, value));
                }
                Ok(Some(pairs))
            }
            _ => Ok(None),
        }
    }

    /// `collections._count_elements(table, iterable)`, of a table that leaves reading and writing to dict.
    pub(super) fn enter_count_elements(&mut self, args: &Args) -> Result<Option<Called>, Stop> {
        let ([table, iterable], []) = (args.positional.as_slice(), args.keywords.as_slice()) else { return Ok(None) };
        let own = self.py.get_type::<PyDict>();
        let class = self.class_of(*table)?;
        let mut methods = Vec::with_capacity(2);
        for name in ["get", "__setitem__"] {
            let Some(method) = type_facts::raw(&own, name) else { return Ok(None) };
            if !self.class_lookup(&class, name)?.is_some_and(|found| found.is(&method)) {
                return Ok(None);
            }
            methods.push(self.pin(&method));
        }
        if self.part_of(*table, own.as_any(), "get")?.is_none() || !self.can_iterate(*iterable)? {
            return Ok(None);
        }
        self.enter("count_elements", &[*table, *iterable, methods[0], methods[1]]).map(Some)
    }
}
