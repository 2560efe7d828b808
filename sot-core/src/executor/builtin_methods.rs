//! Methods of lists, dicts and constants.

use super::Executor;
use super::copies::Copies;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, DictOfC};
use crate::variables::*;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyType};
use sot_sideeffect::Mutation;

impl<'py> Executor<'py> {
    pub(super) fn record_if_sourced(&mut self, var: VarId, mutation: Mutation) {
        // What becomes of the dict of an instance was recorded of the instance.
        if self.is_sourced_container(var) && self.own_dict_of(var).is_none() {
            self.journal_record(mutation);
        }
    }

    pub fn list_method(&mut self, me: VarId, list: &ListVar, name: &str, args: &Args) -> Result<VarId, Stop> {
        if !args.keywords.is_empty() {
            return Err(Stop::brk(Reason::Builtin, format!("list.{name}")));
        }
        if let Some(class) = list.class {
            // A subclass of the framework may have methods of its own: as on a copy, unless they change the list.
            let class = self.objects.get(self.py, class);
            let ty = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?.clone();
            if !type_facts::agree(&ty, &self.py.get_type::<PyList>(), &[name]) {
                return self.fold_method(me, name, args);
            }
        }
        let object = Self::var_ref(me);
        let mut items = list.items.to_vec();
        match (name, args.positional.as_slice()) {
            ("append", [value]) => {
                items.push(*value);
                self.replace_list(me, items);
                self.record_if_sourced(me, Mutation::ListAppend { object, value: Self::var_ref(*value) });
                self.fold_none()
            }
            ("extend", [iterable]) => {
                match self.look(*iterable)? {
                    VarKind::Tuple(_) | VarKind::List(_) => self.extend_at_once(me, *iterable)?,
                    _ => self.extend_by_each(me, *iterable)?,
                }
                self.fold_none()
            }
            ("insert", [index, value]) => {
                let index = self.index_value(*index)?.ok_or(Stop::brk(Reason::WouldRaise, "list.insert"))?;
                let length = items.len() as i64;
                let at = if index < 0 { (index + length).max(0) } else { index.min(length) };
                items.insert(at as usize, *value);
                self.replace_list(me, items);
                self.record_if_sourced(me, Mutation::ListInsert { object, index: at, value: Self::var_ref(*value) });
                self.fold_none()
            }
            ("pop", rest) if rest.len() <= 1 => {
                let index = match rest {
                    [index] => self.index_value(*index)?.ok_or(Stop::brk(Reason::WouldRaise, "list.pop"))?,
                    _ => -1,
                };
                let length = items.len() as i64;
                let at = if index < 0 { index + length } else { index };
                if !(0..length).contains(&at) {
                    let text = if items.is_empty() { "pop from empty list" } else { "pop index out of range" };
                    return Err(self.raise_error::<PyIndexError>(text));
                }
                self.no_thread_comes_between(me)?;
                let item = items.remove(at as usize);
                self.replace_list(me, items);
                if let Some(item) = self.known_object(item)
                    && self.known_object(me).is_some()
                {
                    let item = self.objects.get(self.py, item);
                    self.note_taken(&item);
                }
                self.record_if_sourced(me, Mutation::ListPop { object, index: at });
                Ok(item)
            }
            // Nothing happens to a list that is empty, which a sort would notice.
            ("clear", []) if items.is_empty() => self.fold_none(),
            ("clear", []) => {
                self.replace_list(me, Vec::new());
                self.record_if_sourced(me, Mutation::ListClear { object });
                self.fold_none()
            }
            ("reverse", []) => {
                items.reverse();
                self.replace_list(me, items);
                self.record_if_sourced(me, Mutation::ListReverse { object });
                self.fold_none()
            }
            // `list.copy` of a subclass is a list.
            ("copy", []) => Ok(self.virtual_var(ListVar::new(items))),
            ("index" | "count", _) => {
                // On plain items, both equality and identity are those of the items.
                self.fold_method(me, name, args)
            }
            // What is no constant is compared by a frame of its own (`compared`).
            ("remove", [value]) if self.is_plain(me)? && self.is_plain(*value)? => {
                let mut copies = Copies::default();
                let (list, value) = (self.plain_copy(me, &mut copies)?, self.plain_copy(*value, &mut copies)?);
                let at = match self.told_by_c(&[&list, &value], &copies, || list.contains(&value))? {
                    true => list.call_method1("index", (value,)).and_then(|at| at.extract::<i64>()),
                    false => return Err(self.raise_error::<PyValueError>("list.remove(x): x not in list")),
                };
                let at = self.fold_int(at.map_err(|e| self.internal(&e))?)?;
                self.delete_item(me, at)?;
                self.fold_none()
            }
            _ => Err(Stop::brk(Reason::Builtin, format!("list.{name}"))),
        }
    }

    /// All items are asked for, then the list grows: for sequences, and for lists that nobody else has yet.
    pub fn extend_at_once(&mut self, me: VarId, iterable: VarId) -> Result<(), Stop> {
        let more = self.collect_sized(iterable)?;
        if more.is_empty() {
            return Ok(());
        }
        let VarKind::List(list) = self.look(me)? else {
            return Err(Stop::brk(Reason::ValueKind, "list extend"));
        };
        let items = list.items.iter().chain(&more).copied().collect();
        self.replace_list(me, items);
        let values = more.into_iter().map(Self::var_ref).collect();
        self.record_if_sourced(me, Mutation::ListExtend { object: Self::var_ref(me), values });
        Ok(())
    }

    /// The list grows item by item: the code that makes the items may look at the list, change it, and raise.
    fn extend_by_each(&mut self, me: VarId, iterable: VarId) -> Result<(), Stop> {
        let iterator = self.iterate_sized(iterable)?;
        let mut asked = 0;
        while let Some(item) = self.next_item(iterator)? {
            let VarKind::List(list) = self.look(me)? else {
                return Err(Stop::brk(Reason::ValueKind, "list extend"));
            };
            let items = list.items.iter().copied().chain([item]).collect();
            self.replace_list(me, items);
            let value = Self::var_ref(item);
            self.record_if_sourced(me, Mutation::ListAppend { object: Self::var_ref(me), value });
            asked += 1;
            if asked > 1_000_000 {
                return Err(Stop::fallback(Reason::Budget, ""));
            }
        }
        Ok(())
    }

    pub fn dict_method(&mut self, me: VarId, dict: &DictVar, name: &str, args: &Args) -> Result<VarId, Stop> {
        let object = Self::var_ref(me);
        let positional = args.positional.as_slice();
        if let "pop" | "popitem" | "clear" | "setdefault" | "update" = name {
            self.dict_has_one_name(me)?;
        }
        if name == "update" {
            return self.dict_update(me, args);
        }
        if let "popitem" | "move_to_end" = name {
            self.dict_has_one_name(me)?;
            if self.dict_of_c(dict) == Some(DictOfC::Ordered)
                && let Some(result) = self.ordered_dict_method(me, dict, name, args)?
            {
                return Ok(result);
            }
        }
        if !args.keywords.is_empty() {
            return Err(Stop::brk(Reason::Builtin, format!("dict.{name}")));
        }
        match (name, positional) {
            ("keys", []) => Ok(self.virtual_var(ViewVar { dict: me, what: ViewWhat::Keys })),
            ("values", []) => Ok(self.virtual_var(ViewVar { dict: me, what: ViewWhat::Values })),
            ("items", []) => Ok(self.virtual_var(ViewVar { dict: me, what: ViewWhat::Items })),
            ("get", [key]) => match dict.position(self, *key)? {
                Some(at) => Ok(dict.entries[at].1),
                None => self.fold_none(),
            },
            ("get", [key, default]) => Ok(dict.position(self, *key)?.map_or(*default, |at| dict.entries[at].1)),
            ("__contains__", [key]) => {
                let found = dict.position(self, *key)?.is_some();
                self.fold_bool(found)
            }
            ("popitem", []) if dict.class.is_none() => {
                let Some((key, value)) = dict.entries.last().copied() else {
                    return Err(self.raise_error::<PyKeyError>("popitem(): dictionary is empty"));
                };
                self.no_thread_comes_between(me)?;
                self.replace_dict(me, dict.entries[..dict.entries.len() - 1].to_vec())?;
                if self.hashes.contains_key(&key)
                    && let Some(object) = self.known_object(key)
                    && self.death_runs_code(&self.objects.get(self.py, object))
                {
                    // The tuple that it gives lets go of the value first.
                    return Err(Stop::brk(Reason::Finalizer, "popitem"));
                }
                let found = Self::var_ref(key);
                let mutation = match self.hashes.get(&key).copied() {
                    Some(hash) => Mutation::DeleteHashed { object, found, hash: hash as i64 },
                    None => Mutation::DictPop { object, key: found },
                };
                self.record_if_sourced(me, mutation);
                Ok(self.virtual_var(TupleVar::new(vec![key, value])))
            }
            // The methods of an ordered dict keep an order of their own, and tell other errors.
            ("popitem" | "move_to_end", _) => Err(Stop::brk(Reason::Builtin, format!("dict.{name}"))),
            ("pop", [key]) | ("pop", [key, _]) => match dict.position(self, *key)? {
                Some(at) => {
                    self.no_thread_comes_between(me)?;
                    let mut entries = dict.entries.to_vec();
                    let (_, value) = entries.remove(at);
                    self.replace_dict(me, entries)?;
                    self.record_if_sourced(me, Mutation::DictPop { object, key: Self::var_ref(*key) });
                    Ok(value)
                }
                None => match positional.get(1) {
                    Some(default) => Ok(*default),
                    None if self.is_ordered(dict) => Err(self.raise_key_as_value(*key)),
                    None => Err(self.raise_key_error(*key)),
                },
            },
            ("setdefault", [key]) => match dict.position(self, *key)? {
                Some(at) => Ok(dict.entries[at].1),
                None => {
                    self.no_thread_comes_between(me)?;
                    let none = self.fold_none()?;
                    self.set_item(me, *key, none)?;
                    Ok(none)
                }
            },
            ("setdefault", [key, default]) => match dict.position(self, *key)? {
                Some(at) => Ok(dict.entries[at].1),
                None => {
                    self.no_thread_comes_between(me)?;
                    self.set_item(me, *key, *default)?;
                    Ok(*default)
                }
            },
            ("clear", []) => {
                self.replace_dict(me, Vec::new())?;
                self.record_if_sourced(me, Mutation::DictClear { object });
                self.fold_none()
            }
            ("copy", []) => {
                let entries = dict.entries.to_vec();
                let (class, factory) = (dict.class, dict.factory);
                if dict.removed > 0 {
                    // It may be filled key by key.
                    self.are_told_apart_by_hash(&entries)?;
                }
                // A copy has the same gaps.
                let removed = dict.removed;
                let copy = self.virtual_var(DictVar { class, factory, removed, ..DictVar::new(entries) });
                if let Some(site) = self.gaps.get(&me).copied() {
                    self.store_gap(copy, site);
                }
                Ok(copy)
            }
            _ => Err(Stop::brk(Reason::Builtin, format!("dict.{name}"))),
        }
    }

    /// Keys and values, as a dict takes them from an iterable.
    pub(super) fn pairs_of(&mut self, iterable: VarId) -> Result<Vec<(VarId, VarId)>, Stop> {
        let mut pairs = Vec::new();
        for pair in self.collect(iterable)? {
            match *self.collect(pair)? {
                [key, value] => pairs.push((key, value)),
                _ => return Err(Stop::brk(Reason::WouldRaise, "dict of an iterable")),
            }
        }
        Ok(pairs)
    }

    /// `left | right` of dicts.
    pub(super) fn merged_dicts(&mut self, left: &DictVar, right: &DictVar) -> Result<VarId, Stop> {
        let merged = self.virtual_var(DictVar::new(left.entries.to_vec()));
        for (key, value) in right.entries.iter() {
            self.set_entry(merged, *key, *value)?;
        }
        Ok(merged)
    }

    pub(super) fn dict_update(&mut self, me: VarId, args: &Args) -> Result<VarId, Stop> {
        let mut pairs = Vec::new();
        // Keys of a dict are not hashed again.
        let mut hashed = false;
        match args.positional.as_slice() {
            [] => {}
            [other] => match self.look(*other)? {
                VarKind::Constant(_) | VarKind::Tuple(_) | VarKind::List(_) | VarKind::View(_) => {
                    pairs.extend(self.pairs_of(*other)?);
                }
                _ => match self.plain_pairs(*other)? {
                    Some(others) => {
                        pairs.extend(others);
                        hashed = true;
                    }
                    None => return Err(Stop::brk(Reason::Builtin, "dict.update")),
                },
            },
            _ => return Err(Stop::brk(Reason::WouldRaise, "dict.update")),
        }
        for (key, value) in pairs {
            match hashed {
                true => self.set_entry(me, key, value)?,
                false => self.set_item(me, key, value)?,
            }
        }
        for (name, value) in &args.keywords {
            let key = pyo3::types::PyString::intern(self.py, name).into_any();
            let key = self.fold(&key)?;
            self.set_item(me, key, *value)?;
        }
        self.fold_none()
    }

    /// A method of an immutable value: called for real, on constants.
    pub fn constant_method(&mut self, me: VarId, name: &str, args: &Args) -> Result<VarId, Stop> {
        self.may_ask_scalar(me, name)?;
        if args.positional.is_empty()
            && args.keywords.is_empty()
            && let Some(found) = self.method_of_varying(me, name)?
        {
            return Ok(found);
        }
        if let ("join", [iterable], VarKind::Constant(_)) = (name, args.positional.as_slice(), self.look(me)?) {
            let items = self.collect(*iterable)?;
            let items = self.texts_to_join(items)?;
            if let Some(text) = self.join_of_varying(me, &items)? {
                return Ok(text);
            }
            let items = self.virtual_var(TupleVar::new(items));
            return self.fold_method(me, name, &Args::positional(vec![items]));
        }
        if let VarKind::Tuple(tuple) = self.look(me)?
            && tuple.class.is_some()
        {
            return Err(Stop::brk(Reason::Builtin, format!("tuple.{name}")));
        }
        self.fold_method(me, name, args)
    }
}
