//! Ordered dicts with keys whose `__hash__` or `__eq__` is code of the program.
//!
//! An ordered dict asks more often than a dict: to find the node of a key it looks the key up once more, and so do its iterators
//! (`definitions_of_ordered.py`). When its table grows it looks for all of its nodes, which asks only where keys have one hash: that is
//! left to Python, unless the table cannot have grown.

use super::Executor;
use super::hashed::fallback;
use super::searched::{Helper, Searched};
use crate::cpython::{VERSION, facts};
use crate::stop::{Reason, Stop};
use crate::type_facts::DictOfC;
use crate::variables::*;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::handling;
use sot_sideeffect::Mutation;
use std::rc::Rc;

/// Keys that the smallest table of a dict takes.
const FIRST: usize = 5;

fn keys_for_real<'py>(table: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    Ok(facts::keys_in_order(table.cast::<PyDict>()?))
}

/// What these definitions call, for real.
pub(super) const HELPERS: &[Helper] = &[
    ("put_ordered", |args| {
        let table = args.get_item(0)?.cast_into::<PyDict>()?;
        let before = facts::nodes_of(&table);
        super::searched::put_for_real(args)?;
        // With a new table, all nodes but the new one have been looked for.
        if facts::nodes_of(&table) != before {
            let entries = facts::ordered_entries(&table);
            for (key, hash) in entries.iter().take(entries.len().saturating_sub(1)) {
                for other in facts::keys_of_hash(&table, key, *hash) {
                    if other.is(key) || other.eq(key)? {
                        break;
                    }
                }
            }
        }
        Ok(args.py().None())
    }),
    ("unsettled", |args| {
        let (table, key) = (args.get_item(0)?.cast_into::<PyDict>()?, args.get_item(1)?);
        if keys_for_real(&table)?.iter().any(|have| have.is(&key)) {
            facts::delete_hashed(&table, &key, 0)?;
        }
        Ok(args.py().None())
    }),
    ("shifted", |args| {
        let (table, found) = (args.get_item(0)?.cast_into::<PyDict>()?, args.get_item(1)?.get_item(0)?);
        facts::move_ordered(&table, &found, args.get_item(2)?.is_truthy()?);
        Ok(args.py().None())
    }),
    ("keys_held", |args| Ok(PyTuple::new(args.py(), keys_for_real(&args.get_item(0)?)?)?.into_any().unbind())),
    ("as_before", |args| {
        let (now, then) = (keys_for_real(&args.get_item(0)?)?, args.get_item(1)?.cast_into::<PyTuple>()?);
        let same = |then: &mut dyn Iterator<Item = Bound<'_, PyAny>>| now.iter().zip(then).all(|(a, b)| a.is(&b));
        match now.len() == then.len() {
            false if now.is_empty() && !handling::clearing_is_a_mutation(VERSION) => {
                Err(PyRuntimeError::new_err("OrderedDict changed size during iteration"))
            }
            false => Err(PyRuntimeError::new_err("OrderedDict mutated during iteration")),
            true if same(&mut then.iter()) || same(&mut then.iter().collect::<Vec<_>>().into_iter().rev()) => {
                Ok(args.py().None())
            }
            true => Err(PyRuntimeError::new_err("OrderedDict mutated during iteration")),
        }
    }),
];

impl<'py> Executor<'py> {
    pub(super) fn is_ordered(&self, dict: &DictVar) -> bool {
        self.dict_of_c(dict) == Some(DictOfC::Ordered)
    }

    /// The ordered dict, some of whose keys are hashed by code of the program, that this is or shows.
    pub(super) fn ordered_by_code(&mut self, value: VarId) -> Result<Option<(VarId, ViewWhat)>, Stop> {
        let (table, what) = match self.look(value)? {
            VarKind::View(ViewVar { dict, what }) => (dict, what),
            VarKind::Dict(_) => (value, ViewWhat::Keys),
            _ => return Ok(None),
        };
        let VarKind::Dict(dict) = self.look(table)? else { return Ok(None) };
        Ok((self.is_ordered(&dict) && self.has_hashed_keys(table)?).then_some((table, what)))
    }

    /// The iterator of such an ordered dict: a generator in disguise.
    pub(super) fn iterate_ordered(
        &mut self,
        table: VarId,
        what: ViewWhat,
        backwards: bool,
    ) -> Result<Option<VarId>, Stop> {
        let Some((table, _)) = self.ordered_by_code(table)? else { return Ok(None) };
        let keys = self.keys_held(table, backwards)?;
        let definition = match what {
            ViewWhat::Keys => "_ordered_keys",
            ViewWhat::Values => "_ordered_values",
            ViewWhat::Items => "_ordered_items",
        };
        self.in_disguise(definition, &[table, keys]).map(Some)
    }

    fn keys_held(&mut self, table: VarId, backwards: bool) -> Result<VarId, Stop> {
        let dict = self.table(table)?;
        let mut keys: Vec<VarId> = dict.entries.iter().map(|entry| entry.0).collect();
        if backwards {
            keys.reverse();
        }
        let keys = self.virtual_var(TupleVar::new(keys));
        self.searched.insert(keys, Searched { entries: dict.entries, removed: dict.removed });
        Ok(keys)
    }

    /// Methods of ordered dicts that look a key up in another way than dicts do.
    pub(super) fn enter_ordered_method(
        &mut self,
        table: VarId,
        name: &str,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        let VarKind::Dict(dict) = self.look(table)? else { return Ok(None) };
        if !self.is_ordered(&dict) {
            return Ok(None);
        }
        let last = match (name, args.positional.as_slice(), args.keywords.as_slice()) {
            ("popitem", [last], []) | ("move_to_end", [_, last], []) => Some(*last),
            ("popitem", [], [(name, last)]) | ("move_to_end", [_], [(name, last)]) if name == "last" => Some(*last),
            ("popitem", [], []) | ("move_to_end", [_], []) => None,
            ("update", [source], _) => return self.enter_ordered_update(table, *source, &args.keywords),
            ("copy", [], []) if self.has_hashed_keys(table)? => {
                let entries = self.entries_held(table)?;
                let copy = DictVar { class: dict.class, ..DictVar::new(Vec::new()) };
                let copy = self.virtual_var(copy);
                return self.enter("copy_ordered", &[table, entries, copy]).map(Some);
            }
            _ => return Ok(None),
        };
        let last = match last {
            Some(last) => self.truth(last)?,
            None => true,
        };
        let end = if last { dict.entries.last() } else { dict.entries.first() };
        let Some((end, _)) = end.copied() else {
            return match args.positional.first() {
                Some(key) if name == "move_to_end" => Err(self.raise_key_as_value(*key)),
                _ => Ok(None),
            };
        };
        match args.positional.first() {
            Some(key) if name == "move_to_end" => {
                if !self.is_found_by_code(&dict, *key)? {
                    return Ok(None);
                }
                let last = self.fold_bool(last)?;
                self.enter("move_ordered", &[table, *key, last, end]).map(Some)
            }
            _ => {
                if !self.has_hashed_keys(table)? {
                    return Ok(None);
                }
                self.no_thread_comes_between(table)?;
                let hash = match self.hashes.get(&end).copied() {
                    Some(hash) => Some(hash),
                    None => self.quiet_hash(end)?,
                };
                let hash = self.fold_int(hash.ok_or_else(|| fallback("a hash"))? as i64)?;
                self.enter("pop_item_ordered", &[table, end, hash]).map(Some)
            }
        }
    }

    /// What fills an ordered dict from something, if keys are asked.
    pub(super) fn fills_ordered_by_code(&mut self, source: VarId) -> Result<Option<(&'static str, VarId)>, Stop> {
        if let VarKind::Dict(dict) = self.look(source)?
            && self.has_hashed_keys(source)?
        {
            if dict.class.is_some() {
                return Ok(Some(("fill_ordered_by_keys", source)));
            }
            let pairs = self.plain_pairs(source)?.unwrap_or_default();
            let pairs = pairs.into_iter().map(|(key, value)| self.virtual_var(TupleVar::new(vec![key, value])));
            let pairs = pairs.collect::<Vec<_>>();
            return Ok(Some(("fill_ordered", self.virtual_var(TupleVar::new(pairs)))));
        }
        Ok(match self.fills_by_code(source)? {
            Some("fill") => Some(("fill_ordered", source)),
            Some("fill_by_keys") => Some(("fill_ordered_by_keys", source)),
            other => other.map(|definition| (definition, source)),
        })
    }

    fn enter_ordered_update(
        &mut self,
        table: VarId,
        source: VarId,
        keywords: &[(String, VarId)],
    ) -> Result<Option<Called>, Stop> {
        let Some((definition, source)) = self.fills_ordered_by_code(source)? else { return Ok(None) };
        let mut rest = Vec::with_capacity(keywords.len());
        for (name, value) in keywords {
            rest.push((self.fold(PyString::intern(self.py, name).as_any())?, *value));
        }
        let (rest, none) = (self.virtual_var(DictVar::new(rest)), self.fold_none()?);
        self.enter(definition, &[table, source, rest, none]).map(Some)
    }

    /// What a helper of these definitions does.
    pub(super) fn call_ordered_helper(&mut self, name: &str, args: &[VarId]) -> Result<Option<VarId>, Stop> {
        match (name, args) {
            // Whether the table grows is seen where it does: what has been put there for real has been settled for real.
            ("put_ordered", [table, place, key, hash, value]) => {
                self.put(*table, *place, *key, *hash, *value)?;
                self.require_room(*table)?;
                let dict = self.table(*table)?;
                if self.is_ordered(&dict) && !self.are_told_apart(&dict)? {
                    self.found_in_order(*table, &dict)?;
                }
                self.fold_none().map(Some)
            }
            ("unsettled", _) => Err(fallback("an exception of a comparison")),
            ("shifted", [table, place, last]) => {
                let table = self.writable(*table)?;
                let (dict, at) = self.entry_of(table, *place)?;
                let last = self.truth(*last)?;
                let mut entries = dict.entries.to_vec();
                let entry = entries.remove(at);
                if at == (if last { entries.len() } else { 0 }) {
                    return self.fold_none().map(Some);
                }
                // The order of its table is another one from now on.
                if !self.are_told_apart(&dict)? {
                    return Err(fallback("keys of one hash in an ordered dict"));
                }
                match last {
                    true => entries.push(entry),
                    false => entries.insert(0, entry),
                }
                self.replace_dict(table, entries)?;
                if let VarKind::Dict(dict) = &mut self.var_mut(table).kind {
                    dict.removed += 1;
                }
                let (object, found) = (Self::var_ref(table), Self::var_ref(entry.0));
                self.record_if_sourced(table, Mutation::MoveHashed { object, found, last });
                self.fold_none().map(Some)
            }
            ("keys_held", [table]) => self.keys_held(*table, false).map(Some),
            ("as_before", [table, keys]) => {
                let dict = self.table(*table)?;
                let same = match self.searched.get(keys) {
                    Some(searched) => dict.same_keys(&searched.entries, searched.removed),
                    None => {
                        let VarKind::Tuple(then) = self.look(*keys)? else { return Err(fallback("keys")) };
                        let now: Vec<VarId> = dict.entries.iter().map(|entry| entry.0).collect();
                        let (mut forwards, mut backwards) = (true, true);
                        for (at, key) in then.items.iter().enumerate().take(now.len()) {
                            forwards &= self.is_stored_key(now[at], *key)?;
                            backwards &= self.is_stored_key(now[now.len() - 1 - at], *key)?;
                        }
                        now.len() == then.items.len() && (forwards || backwards)
                    }
                };
                match same {
                    true => self.fold_none().map(Some),
                    // Only the real iterator knows what comes.
                    false => Err(Stop::fallback(Reason::WouldRaise, "the keys of a dict changed during iteration")),
                }
            }
            _ => Ok(None),
        }
    }

    /// A table that has room for one key more stays what it is, and asks nothing; nor does one whose keys have hashes of their own.
    fn require_room(&mut self, table: VarId) -> Result<(), Stop> {
        let dict = self.table(table)?;
        let has_room = dict.entries.len() + dict.removed as usize <= FIRST;
        match has_room || !self.is_ordered(&dict) || self.are_told_apart(&dict)? {
            true => Ok(()),
            false => Err(fallback("keys of one hash in an ordered dict that grows")),
        }
    }

    /// Whether no two keys of an ordered dict are known to have one hash.
    fn are_told_apart(&mut self, dict: &DictVar) -> Result<bool, Stop> {
        let mut seen = hashbrown::HashSet::new();
        let entries: Rc<Vec<(VarId, VarId)>> = dict.entries.clone();
        for (key, _) in entries.iter() {
            let hash = match self.hashes.get(key).copied() {
                Some(hash) => Some(hash),
                None => self.quiet_hash(*key)?,
            };
            if hash.is_some_and(|hash| !seen.insert(hash)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
