//! Callables of C that are made of what their constructor is given: `functools.partial`, `operator.itemgetter` and its like.
//!
//! Making one runs no code, and what a call of one means is a call of what it was made of, or a definition (`definitions`).

use super::Executor;
use crate::cpython::facts;
use crate::natives::{Native, made_of, native};
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::{Access, Check, ObjectId, TrackerId};
use std::rc::Rc;

impl<'py> Executor<'py> {
    /// `partial(function, *args, **keywords)` and the like. What would raise is left to Python.
    pub(super) fn make_native(
        &mut self,
        native: Native,
        class: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<VarId, Stop> {
        let name = super::calls::name_of(class);
        let wrong = || Stop::brk(Reason::WouldRaise, name.clone());
        if native == Native::Record && args.positional.is_empty() && args.keywords.is_empty() {
            let maker = self.pin(class);
            self.record(&[maker])?;
            let (class, positional, keywords) = (self.objects.add(class), Rc::new([maker]), Rc::new([]));
            return Ok(self.virtual_var(NativeVar {
                native,
                class,
                object: None,
                positional,
                keywords,
                pinned: false,
            }));
        }
        let (first, rest) = args.positional.split_first().ok_or_else(wrong)?;
        let (positional, keywords) = match native {
            Native::Partial => {
                let (function, own, keywords) = self.partial_of(*first, rest, &args.keywords)?;
                (vec![function, own, keywords], Vec::new())
            }
            Native::MethodCaller => {
                self.attribute_names(*first)?;
                (args.positional.clone(), args.keywords.clone())
            }
            _ if !args.keywords.is_empty() => return Err(wrong()),
            Native::AttrGetter => {
                for name in &args.positional {
                    self.attribute_names(*name)?;
                }
                (args.positional.clone(), Vec::new())
            }
            Native::Id | Native::Match | Native::Made | Native::Array | Native::Encoder | Native::Reference => {
                return Err(wrong());
            }
            Native::ItemGetter | Native::Descriptor => (args.positional.clone(), Vec::new()),
            Native::Proxy => match (self.look(*first)?, rest) {
                (VarKind::Dict(_), []) => (args.positional.clone(), Vec::new()),
                _ => return Err(Stop::brk(Reason::OpaqueCall, name)),
            },
            Native::Record => {
                let maker = self.pin(class);
                let made_of: Vec<VarId> = std::iter::once(maker).chain(args.positional.iter().copied()).collect();
                self.record(&made_of)?;
                (made_of, Vec::new())
            }
        };
        let (class, positional, keywords) = (self.objects.add(class), positional.into(), keywords.into());
        Ok(self.virtual_var(NativeVar { native, class, object: None, positional, keywords, pinned: false }))
    }

    /// A record that a function of the framework has made.
    pub(super) fn made_record(&mut self, maker: &Bound<'py, PyAny>, record: &Bound<'py, PyAny>, args: &Args) -> VarId {
        let maker = self.pin(maker);
        let arguments = args.positional.iter().copied().chain(args.keywords.iter().map(|(_, value)| *value));
        let positional: Vec<VarId> = std::iter::once(maker).chain(arguments).collect();
        let keywords: Vec<(String, VarId)> = Vec::new();
        let class = self.objects.add(record.get_type().as_any());
        let (positional, keywords) = (positional.into(), keywords.into());
        self.virtual_var(NativeVar { native: Native::Record, class, object: None, positional, keywords, pinned: false })
    }

    /// A record like the one that is made so: its maker, and what that is given.
    pub(super) fn record(&mut self, made_of: &[VarId]) -> Result<Bound<'py, PyAny>, Stop> {
        let (maker, arguments) = made_of.split_first().expect("its maker");
        let kind = self.look(*maker)?;
        let maker = self.pinned(&kind).expect("just pinned");
        let mut given = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let kind = self.look(*argument)?;
            given.push(match self.pinned(&kind) {
                Some(object) => object,
                None => self.require_plain(*argument)?,
            });
        }
        let arguments = PyTuple::new(self.py, given).map_err(|e| self.internal(&e))?;
        maker.call1(arguments).map_err(|e| self.would_raise(&e))
    }

    /// Function, arguments and keywords of a new partial. One of a partial is one of its function.
    fn partial_of(
        &mut self,
        function: VarId,
        rest: &[VarId],
        more: &[(String, VarId)],
    ) -> Result<(VarId, VarId, VarId), Stop> {
        let kind = self.look(function)?;
        let class = self.class_of(function)?;
        if self.class_lookup(&class, "__call__")?.is_none() {
            return Err(Stop::brk(Reason::WouldRaise, "partial"));
        }
        let (function, before, mut entries) = match kind {
            VarKind::Native(NativeVar { native: Native::Partial, object, positional, .. }) => {
                // Who has attributes stays whole, and a real one may be given some.
                if object.is_some() || !self.virtual_attributes(function).is_empty() {
                    return Err(Stop::brk(Reason::Builtin, "partial of a partial"));
                }
                let VarKind::Dict(keywords) = self.look(positional[2])? else {
                    return Err(Stop::fallback(Reason::InternalError, "keywords of a partial"));
                };
                (positional[0], Some(positional[1]), keywords.entries.to_vec())
            }
            _ => (function, None, Vec::new()),
        };
        let own = match before {
            Some(before) if rest.is_empty() => before,
            Some(before) => {
                let VarKind::Tuple(before) = self.look(before)? else {
                    return Err(Stop::fallback(Reason::InternalError, "arguments of a partial"));
                };
                let items: Vec<VarId> = before.items.iter().chain(rest).copied().collect();
                self.virtual_var(TupleVar::new(items))
            }
            None => self.virtual_var(TupleVar::new(rest.to_vec())),
        };
        for (name, value) in more {
            let known = DictVar::new(entries.clone());
            let key = self.fold(PyString::intern(self.py, name).as_any())?;
            match known.position(self, key)? {
                Some(at) => entries[at].1 = *value,
                None => entries.push((key, *value)),
            }
        }
        let keywords = self.virtual_var(DictVar::new(entries));
        Ok((function, own, keywords))
    }

    /// A dotted name, by its parts.
    fn attribute_names(&mut self, name: VarId) -> Result<Vec<String>, Stop> {
        let opaque = || Stop::brk(Reason::OpaqueValue, "an attribute name");
        let name = self.require_plain(name)?;
        let name = name.cast_exact::<PyString>().map_err(|_| opaque())?.to_str().map_err(|_| opaque())?.to_owned();
        Ok(name.split('.').map(str::to_owned).collect())
    }

    pub(super) fn call_native(&mut self, native: &NativeVar, args: &Args) -> Result<Called, Stop> {
        let own = &native.positional;
        if native.native == Native::Encoder {
            return self.encoded(native, args).map(Called::Value);
        }
        if native.native == Native::Reference && args.positional.is_empty() && args.keywords.is_empty() {
            return Ok(Called::Value(own[0]));
        }
        if !matches!(native.native, Native::Partial | Native::ItemGetter | Native::AttrGetter | Native::MethodCaller) {
            return Err(Stop::brk(Reason::WouldRaise, "call of a record"));
        }
        if native.native == Native::Partial {
            let (VarKind::Tuple(positional), VarKind::Dict(keywords)) = (self.look(own[1])?, self.look(own[2])?) else {
                return Err(Stop::fallback(Reason::InternalError, "parts of a partial"));
            };
            let mut all = Args::positional(positional.items.iter().chain(&args.positional).copied().collect());
            for (key, value) in keywords.entries.iter() {
                let key = self.constant_str(*key).ok_or(Stop::brk(Reason::WouldRaise, "keywords must be strings"))?;
                all.keywords.push((key, *value));
            }
            for (name, value) in &args.keywords {
                match all.keywords.iter_mut().find(|(known, _)| known == name) {
                    Some(known) => known.1 = *value,
                    None => all.keywords.push((name.clone(), *value)),
                }
            }
            return self.call(own[0], &all);
        }
        let ([value], []) = (args.positional.as_slice(), args.keywords.as_slice()) else {
            return Err(Stop::brk(Reason::WouldRaise, "arguments of a getter"));
        };
        match (native.native, &own[..]) {
            (Native::ItemGetter, [item]) => self.enter("item_of", &[*value, *item]),
            (Native::ItemGetter, items) => {
                let items = self.virtual_var(TupleVar::new(items.to_vec()));
                self.enter("items_of", &[*value, items])
            }
            (Native::MethodCaller, [name, rest @ ..]) => {
                let positional = self.virtual_var(TupleVar::new(rest.to_vec()));
                let mut keywords = Vec::with_capacity(native.keywords.len());
                for (name, value) in native.keywords.iter() {
                    keywords.push((self.fold(PyString::intern(self.py, name).as_any())?, *value));
                }
                let keywords = self.virtual_var(DictVar::new(keywords));
                self.enter("method_called", &[*value, *name, positional, keywords])
            }
            (_, names) => {
                let mut paths = Vec::with_capacity(names.len());
                for name in names {
                    let parts = self.attribute_names(*name)?;
                    let parts = parts.iter().map(|part| self.fold(PyString::intern(self.py, part).as_any()));
                    let parts = parts.collect::<Result<Vec<_>, _>>()?;
                    paths.push(self.virtual_var(TupleVar::new(parts)));
                }
                match *paths.as_slice() {
                    [path] => self.enter("attribute_of", &[*value, path]),
                    _ => {
                        let paths = self.virtual_var(TupleVar::new(paths));
                        self.enter("attributes_of", &[*value, paths])
                    }
                }
            }
        }
    }

    pub(super) fn attribute_of_native(
        &mut self,
        me: VarId,
        native: &NativeVar,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        if native.native == Native::Descriptor {
            return self.attribute_of_property(me, native, name);
        }
        if native.native == Native::Made
            && let Some(value) = self.field_of_object(me, native, name)?
        {
            return Ok(Some(value));
        }
        if native.native == Native::Array
            && let Some(value) = self.field_of_array(me, native, name)?
        {
            return Ok(Some(value));
        }
        let part = match name {
            "func" => Some(0),
            "args" => Some(1),
            "keywords" => Some(2),
            _ => None,
        };
        if let (Native::Partial, Some(part)) = (native.native, part) {
            return Ok(Some(native.positional[part]));
        }
        if native.object.is_none()
            && let Some(known) = self.virtual_attributes(me).into_iter().rev().find(|known| known.name == name)
        {
            return Ok(Some(known.value));
        }
        if native.native == Native::Match {
            match name {
                "re" => return Ok(Some(native.positional[1])),
                "string" => return Ok(Some(native.positional[2])),
                "pos" | "endpos" | "lastindex" | "lastgroup" => {
                    let found = self.record(&native.positional)?;
                    let value = found.getattr(name).map_err(|e| self.internal(&e))?;
                    return self.fold(&value).map(Some);
                }
                _ => {}
            }
        }
        if native.native == Native::Record {
            let class = self.objects.get(self.py, native.class);
            let found = self.class_lookup(&class, name)?;
            if found.is_some_and(|found| type_facts::is_exact_property(&found)) {
                let value = self.record(&native.positional)?;
                let value = value.getattr(name).map_err(|e| self.would_raise(&e))?;
                return self.fold(&value).map(Some);
            }
        }
        if let Some(object) = native.object {
            let object = self.objects.get(self.py, object);
            if let Some(value) = self.instance_dict_item(me, &object, name)? {
                return Ok(Some(value));
            }
        }
        self.attribute_of_builtin(me, name)
    }

    /// A callable of this kind that existed before the frame.
    pub(super) fn native_of(
        &mut self,
        object: &Bound<'py, PyAny>,
        id: ObjectId,
        tracker: TrackerId,
    ) -> Option<NativeVar> {
        let native = native(&object.get_type())?;
        let class = self.objects.add(object.get_type().as_any());
        let under_constant = self.is_under_constant(tracker);
        if native == Native::Partial {
            let base = if under_constant { self.constant_tracker(id) } else { tracker };
            let mut parts = Vec::with_capacity(3);
            for name in ["func", "args", "keywords"] {
                let facts::Field::Value(part) = facts::field(object, &PyString::intern(self.py, name)) else {
                    return None;
                };
                let at = self.trackers.step(base, Access::Attr(name.into()));
                parts.push(self.wrap(&part, at));
            }
            let (positional, keywords) = (parts.into(), Rc::new([]));
            return Some(NativeVar { native, class, object: Some(id), positional, keywords, pinned: false });
        }
        // Nothing changes what it was made of.
        let made_of = made_of(object)?;
        let source = self.trackers.step(tracker, Access::IterSource);
        let mut positional = Vec::with_capacity(made_of.parts.len());
        for (index, part) in made_of.parts.iter().take(made_of.parts.len() - 1).enumerate() {
            positional.push(match under_constant {
                true => self.pin_for_good(&part),
                false => {
                    let at = self.trackers.step(source, Access::SeqItem(index as i64));
                    self.wrap(&part, at)
                }
            });
        }
        let values = positional.split_off(positional.len() - made_of.names.len());
        let keywords: Vec<(String, VarId)> = made_of.names.into_iter().zip(values).collect();
        let (positional, keywords) = (positional.into(), keywords.into());
        Some(NativeVar { native, class, object: Some(id), positional, keywords, pinned: under_constant })
    }

    /// How many parts a getter has that was found in a slot, and the names of its keywords.
    pub(super) fn guard_parts_of_native(&mut self, tracker: TrackerId, native: &NativeVar) {
        let parts = native.positional.len() + native.keywords.len();
        let source = self.trackers.step(tracker, Access::IterSource);
        self.guard(source, Check::Len(parts + 1));
        let names: Vec<&str> = native.keywords.iter().map(|(name, _)| name.as_str()).collect();
        let names = PyString::new(self.py, &names.join(" "));
        let names = self.objects.add(names.as_any());
        let at = self.trackers.step(source, Access::SeqItem(parts as i64));
        self.guard(at, Check::Equals(names));
    }
}
