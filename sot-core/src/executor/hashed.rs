//! Keys whose `__hash__` or `__eq__` is code of the program.
//!
//! What a dict does with such a key is its definition (`definitions_of_keys.py`): the key is hashed once, by a frame of its own,
//! and compared with the keys of the same hash, by frames of their own. The hash that a key was stored with is remembered
//! ([`crate::captured::Captured`]), since neither a look-up nor rewritten code asks for it again. A key that comes with two hashes, and
//! a dict that changes under its own comparisons, are left to Python.

use super::Executor;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::BinaryOp;
use sot_tracker::{Access, Check, Tracker, TrackerId};
use std::rc::Rc;

pub(super) fn fallback(what: &str) -> Stop {
    Stop::fallback(Reason::UserCode, what)
}

impl<'py> Executor<'py> {
    // ----- which keys

    /// Whether hashing a value, or comparing it, runs code of the program.
    pub(super) fn is_hashed_by_code(&mut self, value: VarId) -> Result<bool, Stop> {
        match self.look(value)? {
            VarKind::Instance(_) => {
                let class = self.class_of(value)?.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
                if self.compares_by_identity(&class)? {
                    return Ok(false);
                }
                let of_program = |name| type_facts::raw(&class, name).is_some_and(|found| facts::is_function(&found));
                Ok(of_program("__hash__") || of_program("__eq__"))
            }
            VarKind::Tuple(tuple) => self.nested(|ex| {
                for item in tuple.items.iter() {
                    if ex.is_hashed_by_code(*item)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }),
            _ => Ok(false),
        }
    }

    /// Whether looking a key up in a dict runs code of the program.
    pub(super) fn is_found_by_code(&mut self, dict: &DictVar, key: VarId) -> Result<bool, Stop> {
        if self.is_hashed_by_code(key)? {
            return Ok(true);
        }
        if self.hashes.is_empty() || !dict.entries.iter().any(|(have, _)| self.hashes.contains_key(have)) {
            return Ok(false);
        }
        // What comes into an ordered dict may have it look for all of its nodes.
        if self.is_ordered(dict) {
            return Ok(true);
        }
        let Some(hash) = self.quiet_hash(key)? else { return Ok(false) };
        Ok(dict.entries.iter().any(|(have, _)| self.hashes.get(have) == Some(&hash)))
    }

    /// Whether code of the program has hashed a key of a dict.
    pub(super) fn has_hashed_keys(&mut self, table: VarId) -> Result<bool, Stop> {
        let VarKind::Dict(dict) = self.look(table)? else { return Ok(false) };
        Ok(!self.hashes.is_empty() && dict.entries.iter().any(|(key, _)| self.hashes.contains_key(key)))
    }

    /// A dict can be made anew without asking its keys for their hashes.
    pub(super) fn hashes_by_c(&self, dict: &DictVar) -> Result<(), Stop> {
        match dict.entries.iter().any(|(key, _)| self.hashes.contains_key(key)) {
            true => Err(Stop::brk(Reason::UserCode, "__hash__ or __eq__ of a dict key")),
            false => Ok(()),
        }
    }

    /// The hash of a value that needs no code of the program; `None`: it is an address, or there is none.
    pub(super) fn quiet_hash(&mut self, value: VarId) -> Result<Option<isize>, Stop> {
        match self.look(value)? {
            VarKind::Constant(_) => Ok(self.constant_value(value).and_then(|value| value.hash().ok())),
            VarKind::Tuple(TupleVar { class: None, .. }) if self.is_plain(value)? => {
                Ok(self.require_plain(value)?.hash().ok())
            }
            // It has no more than an address, and those of instances are nobody's numbers.
            VarKind::Instance(_) | VarKind::List(_) | VarKind::Dict(_) | VarKind::Tensor(_) => Ok(None),
            _ => match self.member(value) {
                Ok(member) if member.get().known() => member.hash().map(Some).map_err(|e| self.internal(&e)),
                Ok(_) | Err(Stop::Break(_)) => Ok(None),
                Err(stop) => Err(stop),
            },
        }
    }

    /// Whether a key that code of the program has hashed lies elsewhere than this one, which runs none.
    pub(super) fn differs_by_hash(&mut self, have: VarId, wanted: &Bound<'py, PyAny>) -> Result<bool, Stop> {
        let Some(stored) = self.hashes.get(&have).copied() else { return Ok(false) };
        let hash = wanted.hash().map_err(|e| self.would_raise(&e))?;
        match stored == hash {
            true => Err(Stop::brk(Reason::UserCode, "__hash__ or __eq__ of a dict key")),
            false => Ok(true),
        }
    }

    /// What a dict holds of which some keys are hashed by code of the program: each key and value by its place, and the hashes
    /// that they were stored with.
    pub(super) fn look_hashed(&mut self, var: VarId, base: TrackerId, dict: &Bound<'py, PyDict>) -> Result<(), Stop> {
        let hashes = facts::hashes_in_order(dict).ok_or(Stop::brk(Reason::OpaqueValue, "the hashes of a dict"))?;
        self.guard(base, Check::Hashes { hashes: hashes.clone(), alike: false });
        let mut entries = Vec::with_capacity(hashes.len());
        for (index, (key, value)) in dict.iter().enumerate() {
            let (by_code, index) = (!type_facts::is_quiet_key(&key), index as u32);
            let (at, below) = (
                Tracker::Step { base, access: Access::DictKey(index) },
                Tracker::Step { base, access: Access::DictValue(index) },
            );
            let (at, below) = (self.trackers.intern(at), self.trackers.intern(below));
            let (key, value) = (self.wrap(&key, at), self.wrap(&value, below));
            let hash = hashes[index as usize] as isize;
            if by_code && !self.find_hash(key, hash) {
                return Err(Stop::brk(Reason::UserCode, "a key with two hashes"));
            }
            entries.push((key, value));
        }
        if let VarKind::Dict(dict) = &mut self.learn(var).kind {
            dict.entries = Rc::new(entries);
        }
        Ok(())
    }

    /// Whether pairs that a dict is filled with have keys that are hashed by code of the program.
    pub(super) fn gives_keys_by_code(&mut self, pairs: VarId) -> Result<bool, Stop> {
        match self.look(pairs)? {
            VarKind::Tuple(TupleVar { items, class: None }) => self.any_pair_by_code(&items),
            VarKind::List(ListVar { items, class: None, .. }) => self.any_pair_by_code(&items),
            VarKind::Iterator(IteratorVar { state }) => match state {
                Iteration::Sequence { sequence, .. } => self.gives_keys_by_code(sequence),
                Iteration::Zip { inners, .. } => match inners.first() {
                    Some(first) => self.gives_items_by_code(*first),
                    None => Ok(false),
                },
                _ => Ok(false),
            },
            _ => Ok(false),
        }
    }

    fn any_pair_by_code(&mut self, pairs: &[VarId]) -> Result<bool, Stop> {
        for pair in pairs {
            let first = match self.look(*pair)? {
                VarKind::Tuple(pair) => pair.items.first().copied(),
                VarKind::List(pair) => pair.items.first().copied(),
                _ => None,
            };
            if let Some(first) = first
                && self.is_hashed_by_code(first)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether something gives items that are hashed by code of the program.
    pub(super) fn gives_items_by_code(&mut self, iterable: VarId) -> Result<bool, Stop> {
        let items = match self.look(iterable)? {
            VarKind::Tuple(tuple) => tuple.items.to_vec(),
            VarKind::List(list) => list.items.to_vec(),
            VarKind::Dict(dict) => dict.entries.iter().map(|entry| entry.0).collect(),
            VarKind::View(ViewVar { dict, what }) => match self.look(dict)? {
                VarKind::Dict(dict) => {
                    dict.entries.iter().map(|entry| if what == ViewWhat::Values { entry.1 } else { entry.0 }).collect()
                }
                _ => Vec::new(),
            },
            VarKind::Iterator(IteratorVar { state }) => match state {
                Iteration::Sequence { sequence, .. } => return self.gives_items_by_code(sequence),
                Iteration::Dict { dict, .. } => return self.gives_items_by_code(dict),
                Iteration::Reversed { sequence, .. } => return self.gives_items_by_code(sequence),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        for item in items {
            if self.is_hashed_by_code(item)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `table[key] = value` of a key of another dict, which is not hashed again.
    pub(super) fn set_entry(&mut self, table: VarId, key: VarId, value: VarId) -> Result<(), Stop> {
        let Some(hash) = self.hashes.get(&key).copied() else { return self.set_item(table, key, value) };
        let by_code = || Stop::brk(Reason::UserCode, "__hash__ or __eq__ of a dict key");
        let VarKind::Dict(dict) = self.look(table)? else { return Err(by_code()) };
        if self.dict_of_c(&dict) == Some(type_facts::DictOfC::Ordered) {
            return Err(by_code());
        }
        let hash = self.fold_int(hash as i64)?;
        let alike = self.alike(table, key, hash)?;
        let VarKind::Tuple(alike) = self.look(alike)? else { return Err(by_code()) };
        match *alike.items {
            [] => {}
            [found] if self.is_one_key(found, key) => {}
            _ => return Err(by_code()),
        }
        let place = self.virtual_var(alike);
        self.put(table, place, key, hash, value).map(drop)
    }

    // ----- entering definitions

    /// `dict[key]`.
    pub(super) fn enter_item_by_hash(&mut self, table: VarId, key: VarId) -> Result<Option<Called>, Stop> {
        let VarKind::Dict(dict) = self.look(table)? else { return Ok(None) };
        match self.is_found_by_code(&dict, key)? {
            true => self.enter("item_by_hash", &[table, key]).map(Some),
            false => Ok(None),
        }
    }

    /// `dict[key]` of a dict that makes up for missing keys.
    pub(super) fn enter_item_or_missing(
        &mut self,
        table: VarId,
        key: VarId,
        missing: VarId,
    ) -> Result<Option<Called>, Stop> {
        let VarKind::Dict(dict) = self.look(table)? else { return Ok(None) };
        match self.is_found_by_code(&dict, key)? {
            true => self.enter("item_or_missing", &[table, key, missing]).map(Some),
            false => Ok(None),
        }
    }

    /// `dict[key] = value`, or `del dict[key]`.
    pub(super) fn enter_write_by_hash(
        &mut self,
        table: VarId,
        key: VarId,
        value: Option<VarId>,
    ) -> Result<Option<Called>, Stop> {
        let VarKind::Dict(dict) = self.look(table)? else { return Ok(None) };
        if !self.is_found_by_code(&dict, key)? {
            return Ok(None);
        }
        let ordered = self.is_ordered(&dict);
        match value {
            Some(value) if ordered => self.enter("store_ordered", &[table, key, value]).map(Some),
            None if ordered => self.enter("delete_ordered", &[table, key]).map(Some),
            Some(value) => self.enter("store_by_hash", &[table, key, value]).map(Some),
            None => self.enter("delete_by_hash", &[table, key]).map(Some),
        }
    }

    /// `key in dict`, or in its keys.
    pub(super) fn enter_has_by_hash(
        &mut self,
        container: VarId,
        key: VarId,
        invert: bool,
    ) -> Result<Option<Called>, Stop> {
        let table = match self.look(container)? {
            VarKind::View(ViewVar { dict, what: ViewWhat::Keys }) => dict,
            _ => container,
        };
        let by_code = match (self.look(table)?, self.set_state(table)?) {
            (VarKind::Dict(dict), _) => self.is_found_by_code(&dict, key)?,
            (_, Some(state)) => self.is_member_by_code(state, key)?,
            _ => false,
        };
        if !by_code {
            return Ok(None);
        }
        let (yes, no) = (self.fold_bool(!invert)?, self.fold_bool(invert)?);
        self.enter("has_by_hash", &[table, key, yes, no]).map(Some)
    }

    /// Methods of dicts that look a key up.
    pub(super) fn enter_method_by_hash(
        &mut self,
        table: VarId,
        name: &str,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        if let Some(entered) = self.enter_ordered_method(table, name, args)? {
            return Ok(Some(entered));
        }
        let ([key, rest @ ..], []) = (args.positional.as_slice(), args.keywords.as_slice()) else { return Ok(None) };
        let known = match name {
            "get" | "pop" | "setdefault" => rest.len() <= 1,
            "__getitem__" | "__contains__" | "__delitem__" => rest.is_empty(),
            "__setitem__" => rest.len() == 1,
            _ => false,
        };
        let VarKind::Dict(dict) = self.look(table)? else { return Ok(None) };
        if !known || !self.is_found_by_code(&dict, *key)? {
            return Ok(None);
        }
        let default = match rest.first() {
            Some(default) => *default,
            None => self.fold_none()?,
        };
        let ordered = self.is_ordered(&dict);
        if let "setdefault" | "pop" = name {
            self.no_thread_comes_between(table)?;
        }
        match name {
            "pop" if ordered => {
                let default = self.virtual_var(TupleVar::new(rest.to_vec()));
                self.enter("pop_ordered", &[table, *key, default]).map(Some)
            }
            "setdefault" if ordered => self.enter("set_default_ordered", &[table, *key, default]).map(Some),
            "get" => self.enter("get_by_hash", &[table, *key, default]).map(Some),
            "pop" => {
                let default = self.virtual_var(TupleVar::new(rest.to_vec()));
                self.enter("pop_by_hash", &[table, *key, default]).map(Some)
            }
            "setdefault" => self.enter("set_default_by_hash", &[table, *key, default]).map(Some),
            "__getitem__" => self.enter_item_by_hash(table, *key),
            "__contains__" => self.enter_has_by_hash(table, *key, false),
            _ => self.enter_write_by_hash(table, *key, rest.first().copied()),
        }
    }

    /// A display of these keys and values.
    pub(super) fn enter_display_by_hash(&mut self, items: &[VarId]) -> Result<Option<Called>, Stop> {
        for pair in items.chunks_exact(2) {
            if self.is_hashed_by_code(pair[0])? {
                let items = self.virtual_var(TupleVar::new(items.to_vec()));
                return self.enter("display_by_hash", &[items]).map(Some);
            }
        }
        Ok(None)
    }

    /// `table.update(source)` of a dict, or of an instance that extends one, if keys are compared.
    pub(super) fn enter_merge(&mut self, table: VarId, source: VarId, result: VarId) -> Result<Option<Called>, Stop> {
        if self.hashes.is_empty() {
            return Ok(None);
        }
        let VarKind::Dict(dict) = self.look(table)? else { return Ok(None) };
        if table == source || self.is_ordered(&dict) || self.ordered_by_code(source)?.is_some() {
            return Ok(None);
        }
        let Some(pairs) = self.stored_pairs(source)? else { return Ok(None) };
        for (key, _) in pairs {
            let Some(hash) = self.hashes.get(&key).copied() else { continue };
            for (have, _) in dict.entries.iter().copied() {
                let stored = self.hashes.get(&have).copied();
                let stored = if stored.is_some() { stored } else { self.quiet_hash(have)? };
                if stored == Some(hash) && have != key {
                    return self.enter("merged_by_hash", &[table, source, result]).map(Some);
                }
            }
        }
        Ok(None)
    }

    /// `left | right` of dicts, or `left |= right`, if keys are compared.
    pub(super) fn enter_merged(
        &mut self,
        op: BinaryOp,
        inplace: bool,
        left: VarId,
        right: VarId,
    ) -> Result<Option<Called>, Stop> {
        if op != BinaryOp::Or || self.hashes.is_empty() {
            return Ok(None);
        }
        let (VarKind::Dict(DictVar { class: None, .. }), VarKind::Dict(DictVar { class: None, .. })) =
            (self.look(left)?, self.look(right)?)
        else {
            return Ok(None);
        };
        if !type_facts::has(&self.py.get_type::<PyDict>(), "__or__") {
            return Ok(None);
        }
        if inplace {
            return self.enter_merge(left, right, left);
        }
        let VarKind::Dict(dict) = self.look(left)? else { return Ok(None) };
        let merged = self.virtual_var(DictVar { removed: dict.removed, ..DictVar::new(dict.entries.to_vec()) });
        self.enter_merge(merged, right, merged)
    }

    /// No two of these keys have one hash: where they are copied, Python may compare them.
    pub(super) fn are_told_apart_by_hash(&self, entries: &[(VarId, VarId)]) -> Result<(), Stop> {
        let mut seen = hashbrown::HashSet::new();
        match entries.iter().filter_map(|(key, _)| self.hashes.get(key)).all(|hash| seen.insert(*hash)) {
            true => Ok(()),
            false => Err(Stop::brk(Reason::UserCode, "__hash__ or __eq__ of a dict key")),
        }
    }

    /// `{**a, **b}` of dicts in one instruction (3.8), if keys of theirs are hashed by code of the program.
    pub(super) fn enter_united(&mut self, parts: &[VarId]) -> Result<Option<Called>, Stop> {
        let mut hashed = false;
        for part in parts {
            let VarKind::Dict(_) = self.look(*part)? else { return Ok(None) };
            hashed |= self.has_hashed_keys(*part)?;
        }
        if !hashed {
            return Ok(None);
        }
        let parts = self.virtual_var(TupleVar::new(parts.to_vec()));
        self.enter("united_by_hash", &[parts]).map(Some)
    }

    fn stored_pairs(&mut self, source: VarId) -> Result<Option<Vec<(VarId, VarId)>>, Stop> {
        match self.look(source)? {
            VarKind::Dict(_) | VarKind::Instance(InstanceVar { part: Some(_), .. }) => self.plain_pairs(source),
            _ => Ok(None),
        }
    }
}
