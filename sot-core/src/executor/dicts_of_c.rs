//! Dicts with a class of C of their own: `collections.OrderedDict` and `defaultdict`.

use super::{Awaits, Executor};
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, DictOfC};
use crate::variables::*;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::Mutation;
use sot_tracker::{Access, ObjectId, TrackerId};

impl<'py> Executor<'py> {
    pub(super) fn dict_of_c(&self, dict: &DictVar) -> Option<DictOfC> {
        type_facts::dict_of_c(self.objects.get(self.py, dict.class?).cast::<PyType>().ok()?)
    }

    /// What an ordered or default dict that existed before the frame keeps as one of this type.
    pub(super) fn dict_of_c_as_it_lies(
        &mut self,
        ty: &Bound<'py, PyType>,
        object: &Bound<'py, PyAny>,
        id: ObjectId,
        tracker: TrackerId,
    ) -> Option<DictVar> {
        let factory = match type_facts::dict_of_c(ty)? {
            DictOfC::Ordered => None,
            DictOfC::Default => {
                let facts::Field::Value(factory) = facts::field(object, pyo3::intern!(self.py, "default_factory"))
                else {
                    return None;
                };
                let base = if self.is_under_constant(tracker) { self.constant_tracker(id) } else { tracker };
                let at = self.trackers.step(base, Access::Attr("default_factory".into()));
                Some(self.wrap(&factory, at))
            }
        };
        let class = Some(self.objects.add(ty.as_any()));
        Some(DictVar { class, factory, object: Some(id), ..DictVar::new(Vec::new()) })
    }

    /// `OrderedDict(..)`, `defaultdict(factory, ..)`. What would raise is left to Python.
    pub(super) fn make_dict_of_c(
        &mut self,
        kind: DictOfC,
        class: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<Called, Stop> {
        let opaque = || Stop::brk(Reason::OpaqueCall, super::calls::name_of(class));
        let (factory, rest) = match (kind, args.positional.split_first()) {
            (DictOfC::Default, Some((factory, rest))) => {
                let none = self.unless_none(Some(*factory))?.is_none();
                let class = self.class_of(*factory)?;
                if !none && self.class_lookup(&class, "__call__")?.is_none() {
                    return Err(opaque());
                }
                (Some(*factory), rest)
            }
            (DictOfC::Default, None) => (Some(self.fold_none()?), [].as_slice()),
            (DictOfC::Ordered, _) => (None, args.positional.as_slice()),
        };
        let class = Some(self.objects.add(class));
        let table = self.virtual_var(DictVar { class, factory, ..DictVar::new(Vec::new()) });
        match rest {
            [] => {}
            [source] => match self.fills_table_of_c(kind, *source)? {
                Some((definition, source)) => {
                    let mut more = Vec::with_capacity(args.keywords.len());
                    for (name, value) in &args.keywords {
                        more.push((self.fold(PyString::intern(self.py, name).as_any())?, *value));
                    }
                    let more = self.virtual_var(DictVar::new(more));
                    return self.enter(definition, &[table, source, more, table]);
                }
                None => {
                    let pairs = self.plain_pairs(*source)?.ok_or_else(opaque)?;
                    for (key, value) in pairs {
                        self.set_item(table, key, value)?;
                    }
                }
            },
            _ => return Err(opaque()),
        }
        for (name, value) in &args.keywords {
            let key = self.fold(PyString::intern(self.py, name).as_any())?;
            self.set_item(table, key, *value)?;
        }
        Ok(Called::Value(table))
    }

    fn fills_table_of_c(&mut self, kind: DictOfC, source: VarId) -> Result<Option<(&'static str, VarId)>, Stop> {
        match kind {
            DictOfC::Ordered => self.fills_ordered_by_code(source),
            DictOfC::Default => Ok(self.fills_by_code(source)?.map(|definition| (definition, source))),
        }
    }

    /// `table[key]` of a dict that lacks the key.
    pub(super) fn missing_item(&mut self, me: VarId, dict: &DictVar, key: VarId) -> Result<VarId, Stop> {
        let Some(factory) = self.unless_none(dict.factory)? else { return Err(self.raise_key_error(key)) };
        if !self.runs_code(factory)? {
            let Called::Value(value) = self.call(factory, &Args::default())? else {
                return Err(Stop::brk(Reason::UserCode, "a factory"));
            };
            self.set_item(me, key, value)?;
            return Ok(value);
        }
        let tail = self.step.tail.take().filter(|awaits| matches!(awaits, Awaits::Push | Awaits::Again));
        self.enter("missing", &[me, key, factory])?;
        self.entered_tail(tail)
    }

    /// Methods that an ordered dict alone has, or has of its own.
    pub(super) fn ordered_dict_method(
        &mut self,
        me: VarId,
        dict: &DictVar,
        name: &str,
        args: &Args,
    ) -> Result<Option<VarId>, Stop> {
        let (key, last) = match (name, args.positional.as_slice()) {
            ("popitem", [last]) => (None, Some(*last)),
            ("popitem", []) => (None, None),
            ("move_to_end", [key]) => (Some(*key), None),
            ("move_to_end", [key, last]) => (Some(*key), Some(*last)),
            _ => return Ok(None),
        };
        let last = match (last, args.keywords.as_slice()) {
            (last, []) => last,
            (None, [(name, last)]) if name == "last" => Some(*last),
            _ => return Ok(None),
        };
        let last = match last {
            Some(last) => self.truth(last)?,
            None => true,
        };
        let mut entries = dict.entries.to_vec();
        let Some(key) = key else {
            let Some(at) = (if last { entries.len().checked_sub(1) } else { (!entries.is_empty()).then_some(0) })
            else {
                return Err(self.raise_error::<PyKeyError>("dictionary is empty"));
            };
            self.no_thread_comes_between(me)?;
            let (key, value) = entries.remove(at);
            self.replace_dict(me, entries)?;
            self.record_if_sourced(me, Mutation::DictPop { object: Self::var_ref(me), key: Self::var_ref(key) });
            return Ok(Some(self.virtual_var(TupleVar::new(vec![key, value]))));
        };
        let Some(at) = dict.position(self, key)? else { return Err(self.raise_key_as_value(key)) };
        let entry = entries.remove(at);
        if last {
            entries.push(entry);
        } else {
            entries.insert(0, entry);
        }
        self.replace_dict(me, entries)?;
        let last = self.fold_bool(last)?;
        let args = vec![Self::var_ref(key), Self::var_ref(last)];
        self.record_if_sourced(me, Mutation::Method { object: Self::var_ref(me), name: name.into(), args });
        self.fold_none().map(Some)
    }
}
