//! What the definitions of dicts ask by hash (`definitions_of_keys.py`): the helpers, simulated and for real.

use super::Executor;
use super::hashed::fallback;
use crate::answered::do_with_answers;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use hashbrown::HashSet;
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::Mutation;
use sot_tracker::Check;
use std::rc::Rc;

/// A dict as it was when the keys of one hash were asked for.
pub(super) struct Searched {
    pub(super) entries: Rc<Vec<(VarId, VarId)>>,
    pub(super) removed: u32,
}

/// A helper of the definitions: its name, and what it does for real.
pub(super) type Helper = (&'static str, fn(&Bound<'_, PyTuple>) -> PyResult<Py<PyAny>>);

/// `put(table, place, key, hash, value)`, for real.
pub(super) fn put_for_real(args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let (table, key, value) = (args.get_item(0)?.cast_into::<PyDict>()?, args.get_item(2)?, args.get_item(4)?);
    let found = args.get_item(1)?.cast_into::<PyTuple>()?.iter().next();
    facts::store_hashed(&table, found.as_ref(), &key, args.get_item(3)?.extract()?, &value)?;
    Ok(args.py().None())
}

/// What definitions call, for real.
pub(super) const HELPERS: &[Helper] = &[
    ("hashed", |args| Ok(args.get_item(0)?.hash()?.into_pyobject(args.py())?.into_any().unbind())),
    ("combined_hash", |args| {
        let hashes: Vec<isize> = args.get_item(0)?.extract()?;
        Ok(combined(args.py(), &hashes)?.into_pyobject(args.py())?.into_any().unbind())
    }),
    ("alike", |args| {
        let alike = alike_for_real(args)?;
        Ok(PyTuple::new(args.py(), alike)?.into_any().unbind())
    }),
    ("moved", |args| {
        // The simulation lists each once.
        let addresses = |keys: &mut dyn Iterator<Item = Bound<'_, PyAny>>| {
            let mut addresses: Vec<usize> = Vec::new();
            for key in keys.map(|key| key.as_ptr() as usize) {
                if !addresses.contains(&key) {
                    addresses.push(key);
                }
            }
            addresses
        };
        let then = args.get_item(3)?.cast_into::<PyTuple>()?;
        let moved = addresses(&mut alike_for_real(args)?.into_iter()) != addresses(&mut then.iter());
        Ok(PyBool::new(args.py(), moved).to_owned().into_any().unbind())
    }),
    // What was listed by the simulation has each once; the table knows better.
    ("all_met", |args| Ok(PyTuple::new(args.py(), alike_for_real(args)?)?.into_any().unbind())),
    ("placed", |args| {
        let key = args.get_item(1)?;
        let mut others = alike_for_real(args)?;
        let mut at = 0;
        while at < others.len() {
            let other = others[at].clone();
            let equal = other.is(&key) || other.eq(&key)?;
            let now = alike_for_real(args)?;
            at += 1;
            if now.len() != others.len() || now.iter().zip(&others).any(|(now, then)| !now.is(then)) {
                (others, at) = (now, 0);
            } else if equal {
                return Ok(PyTuple::new(args.py(), [other])?.into_any().unbind());
            }
        }
        Ok(PyTuple::empty(args.py()).into_any().unbind())
    }),
    ("value_of", |args| {
        let (table, found) = (args.get_item(0)?.cast_into::<PyDict>()?, args.get_item(1)?.get_item(0)?);
        let value = facts::value_of_key(&table, &found);
        Ok(value.ok_or_else(|| PyKeyError::new_err((found.unbind(),)))?.unbind())
    }),
    ("lacking", |args| {
        let (table, key) = (args.get_item(0)?, args.get_item(1)?);
        // Subclasses of dict that say nothing of missing keys raise as dict does.
        match type_facts::raw(&table.get_type(), "__missing__").is_some() {
            true => Ok(table.call_method1("__missing__", (key,))?.unbind()),
            false => Err(PyKeyError::new_err((key.unbind(),))),
        }
    }),
    ("put", put_for_real),
    // Where it is not simulated, each key is one that might ask.
    ("by_hash", |args| Ok(PyBool::new(args.py(), true).to_owned().into_any().unbind())),
    ("stored_hash", |args| {
        let (table, key) = (args.get_item(0)?.cast_into::<PyDict>()?, args.get_item(1)?);
        let hashes = facts::stored_hashes(&table).ok_or_else(|| PyRuntimeError::new_err("sot: a dict"))?;
        let at = table.iter().position(|(have, _)| have.is(&key));
        let hash = at.map_or_else(|| key.hash().map(|hash| hash as i64), |at| Ok(hashes[at]))?;
        Ok(hash.into_pyobject(args.py())?.into_any().unbind())
    }),
    ("entries_of", |args| {
        if let Some(table) = facts::set_table(&args.get_item(0)?) {
            let entries: Vec<_> =
                table.entries.into_iter().map(|entry| (entry.key, entry.hash, args.py().None())).collect();
            return Ok(PyTuple::new(args.py(), entries)?.into_any().unbind());
        }
        let source = args.get_item(0)?.cast_into::<PyDict>()?;
        let hashes = facts::stored_hashes(&source).ok_or_else(|| PyRuntimeError::new_err("sot: a dict"))?;
        let entries: Vec<_> = source.iter().zip(hashes).map(|((key, value), hash)| (key, hash, value)).collect();
        Ok(PyTuple::new(args.py(), entries)?.into_any().unbind())
    }),
    ("unchanged", |args| match args.get_item(0)?.len()? == args.get_item(1)?.len()? {
        false if facts::set_table(&args.get_item(0)?).is_some() => Ok(args.py().None()),
        true => Ok(args.py().None()),
        false => Err(PyRuntimeError::new_err("dict mutated during update")),
    }),
    ("still_held", |args| {
        let (table, key) = (args.get_item(0)?.cast_into::<PyDict>()?, args.get_item(2)?);
        let held = table.len() == args.get_item(1)?.len()? || table.iter().any(|(other, _)| other.is(&key));
        Ok(PyBool::new(args.py(), held).to_owned().into_any().unbind())
    }),
    ("put_member", |args| {
        let set = args.get_item(0)?.cast_into::<PySet>()?;
        facts::add_hashed(&set, &args.get_item(1)?, args.get_item(2)?.extract()?)?;
        Ok(args.py().None())
    }),
    ("drop_member", |args| {
        let (set, found) = (args.get_item(0)?.cast_into::<PySet>()?, args.get_item(1)?.get_item(0)?);
        facts::discard_hashed(&set, &found, args.get_item(2)?.extract()?)?;
        Ok(args.py().None())
    }),
    // What is asked before it is done is asked when it is done.
    ("asked", |args| Ok(PyTuple::empty(args.py()).into_any().unbind())),
    ("answered", |args| answered_for_real(args, false)),
    ("cut_short", |args| answered_for_real(args, true)),
    ("frozen_as", |args| {
        let (set, frozen) = (args.get_item(0)?, facts::new_frozen_set(args.py())?);
        facts::exchange_tables(&frozen, &set);
        Ok(frozen.unbind())
    }),
    ("taken", |args| {
        let (table, found) = (args.get_item(0)?.cast_into::<PyDict>()?, args.get_item(1)?.get_item(0)?);
        let value = facts::delete_hashed(&table, &found, args.get_item(2)?.extract()?)?;
        Ok(value.map_or_else(|| args.py().None(), Bound::unbind))
    }),
];

fn answered_for_real(args: &Bound<'_, PyTuple>, cut: bool) -> PyResult<Py<PyAny>> {
    let operation: Vec<Bound<'_, PyAny>> = args.get_item(0)?.extract()?;
    let Some((name, operands)) = operation.split_first() else { return Ok(args.py().None()) };
    let answers = args.get_item(1)?.extract()?;
    Ok(do_with_answers(args.py(), &name.extract::<String>()?, operands, answers, cut)?.unbind())
}

fn alike_for_real<'py>(args: &Bound<'py, PyTuple>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if let Some(alike) = facts::members_of_hash(&args.get_item(0)?, args.get_item(2)?.extract()?) {
        return Ok(alike);
    }
    let table = args.get_item(0)?.cast_into::<PyDict>()?;
    Ok(facts::keys_of_hash(&table, &args.get_item(1)?, args.get_item(2)?.extract()?))
}

/// The hash of a tuple of items with these hashes.
fn combined(py: Python<'_>, hashes: &[isize]) -> PyResult<isize> {
    let items = hashes.iter().map(|hash| Bound::new(py, facts::Hash(*hash))).collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, items)?.hash()
}

/// What `hash` makes of the number that a `__hash__` gave.
fn as_hash(number: &Bound<'_, PyAny>) -> PyResult<isize> {
    match number.extract::<isize>() {
        Ok(-1) => Ok(-2),
        Ok(hash) => Ok(hash),
        Err(_) => number.hash(),
    }
}

impl<'py> Executor<'py> {
    /// The dict that a definition works on, or that an instance extends.
    pub(super) fn table(&mut self, table: VarId) -> Result<DictVar, Stop> {
        match self.look(table)? {
            VarKind::Dict(dict) => Ok(dict),
            VarKind::Instance(InstanceVar { part: Some(part), .. }) => match self.look(part)? {
                VarKind::Dict(dict) => Ok(dict),
                _ => Err(fallback("a dict")),
            },
            _ => Err(fallback("a dict")),
        }
    }

    /// The dict that a definition writes to. Nothing is learned of instances that are written to for real.
    pub(super) fn writable(&mut self, table: VarId) -> Result<VarId, Stop> {
        let part = match self.look(table)? {
            VarKind::Instance(InstanceVar { part: Some(part), .. }) => part,
            _ => table,
        };
        if self.wholes.contains_key(&part) && self.known_object(part).is_some() {
            return Err(Stop::brk(Reason::Mutation, "__setitem__ of an instance"));
        }
        self.dict_has_one_name(part)?;
        Ok(part)
    }

    /// What a helper of these definitions does.
    pub(super) fn call_hash_helper(&mut self, name: &str, args: &[VarId]) -> Result<Option<Called>, Stop> {
        if let Some(called) = self.call_member_helper(name, args)? {
            return Ok(Some(called));
        }
        if let Some(called) = self.call_coroutine_helper(name, args)? {
            return Ok(Some(called));
        }
        if let Some(value) = self.call_ordered_helper(name, args)? {
            return Ok(Some(Called::Value(value)));
        }
        let value = match (name, args) {
            ("hashed", [key]) => return self.enter_hash(*key).map(Some),
            ("combined_hash", [hashes]) => {
                let hashes: Vec<isize> = self.require_plain(*hashes)?.extract().map_err(|e| self.internal(&e))?;
                let hash = combined(self.py, &hashes).map_err(|e| self.internal(&e))?;
                self.fold_int(hash as i64)?
            }
            ("placed", [table, key, hash]) => return self.enter("place_of", &[*table, *key, *hash]).map(Some),
            ("alike", [table, key, hash]) => self.alike(*table, *key, *hash)?,
            ("moved", [table, key, hash, others]) => self.moved(*table, *key, *hash, *others)?,
            ("all_met", [table, _, hash, others]) => {
                let (hash, keys) = (self.known_hash(*hash)?, self.table(*table)?.entries.len());
                if facts::may_meet_twice(hash, keys) {
                    return Err(fallback("a key that is met twice"));
                }
                *others
            }
            ("value_of", [table, place]) => {
                let (dict, at) = self.entry_of(*table, *place)?;
                dict.entries[at].1
            }
            ("lacking", [table, key]) => {
                let dict = self.table(*table)?;
                let Some(factory) = self.unless_none(dict.factory)? else { return Err(self.raise_key_error(*key)) };
                return self.enter("missing", &[*table, *key, factory]).map(Some);
            }
            ("put", [table, place, key, hash, value]) => self.put(*table, *place, *key, *hash, *value)?,
            ("taken", [table, place, hash]) => {
                let table = &self.writable(*table)?;
                let (dict, at) = self.entry_of(*table, *place)?;
                let mut entries = dict.entries.to_vec();
                let (found, value) = entries.remove(at);
                self.replace_dict(*table, entries)?;
                let (object, found) = (Self::var_ref(*table), Self::var_ref(found));
                let hash = self.known_hash(*hash)? as i64;
                self.record_if_sourced(*table, Mutation::DeleteHashed { object, found, hash });
                value
            }
            ("by_hash", [table, key]) => {
                let dict = self.table(*table)?;
                let by_code = self.is_found_by_code(&dict, *key)?;
                self.fold_bool(by_code)?
            }
            ("stored_hash", [table, key]) => {
                let mut hash = self.hashes.get(key).copied();
                for (have, _) in self.table(*table)?.entries.iter().copied() {
                    if hash.is_none() && self.hashes.contains_key(&have) && self.is_one_key(have, *key) {
                        hash = self.hashes.get(&have).copied();
                    }
                }
                let hash = if hash.is_some() { hash } else { self.quiet_hash(*key)? };
                self.fold_int(hash.ok_or_else(|| fallback("a hash"))? as i64)?
            }
            ("entries_of", [source]) => self.entries_held(*source)?,
            ("unchanged", [source, entries]) | ("still_held", [source, entries, _]) => {
                let dict = self.table(*source)?;
                let same = match self.searched.get(entries) {
                    Some(searched) => dict.same_keys(&searched.entries, searched.removed),
                    None => match self.look(*entries)? {
                        VarKind::Tuple(entries) => entries.items.len() == dict.entries.len(),
                        _ => false,
                    },
                };
                if !same {
                    return Err(fallback("a dict that changes while it is walked through"));
                }
                if name == "still_held" { self.fold_bool(true)? } else { self.fold_none()? }
            }
            _ => return Ok(None),
        };
        Ok(Some(Called::Value(value)))
    }

    /// The keys of a dict, their hashes as far as code of the program has told them, and its values.
    pub(super) fn entries_held(&mut self, source: VarId) -> Result<VarId, Stop> {
        let dict = self.table(source)?;
        let mut entries = Vec::with_capacity(dict.entries.len());
        for (key, value) in dict.entries.iter().copied() {
            let hash = match self.hashes.get(&key).copied() {
                Some(hash) => self.fold_int(hash as i64)?,
                None => self.fold_none()?,
            };
            entries.push(self.virtual_var(TupleVar::new(vec![key, hash, value])));
        }
        let entries = self.virtual_var(TupleVar::new(entries));
        self.searched.insert(entries, Searched { entries: dict.entries, removed: dict.removed });
        Ok(entries)
    }

    /// `hash(value)`.
    fn enter_hash(&mut self, value: VarId) -> Result<Called, Stop> {
        match self.look(value)? {
            VarKind::Instance(InstanceVar { part, .. }) => {
                let class = self.class_of(value)?.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
                match self.class_lookup(class.as_any(), "__hash__")? {
                    Some(method) if facts::is_function(&method) => {
                        self.enter_question("hash", &[value])?.ok_or_else(|| fallback("__hash__"))
                    }
                    Some(none) if none.is_none() => {
                        if let Some(part) = part
                            && matches!(self.look(part)?, VarKind::Set(_))
                        {
                            // Sets look for such a one as if it were frozen.
                            return Err(fallback("__hash__ of a set"));
                        }
                        let text = format!("unhashable type: '{}'", super::compared::class_name(class.as_any()));
                        Err(self.raise_error::<PyTypeError>(&text))
                    }
                    // A subclass of a builtin type that leaves it to that.
                    Some(method) if part.is_some() => {
                        let base = type_facts::extends(&class).and_then(|base| type_facts::raw(&base, "__hash__"));
                        match part.filter(|_| base.is_some_and(|base| base.is(&method))) {
                            Some(part) => self.enter_hash(part),
                            None => Err(fallback("__hash__ of C")),
                        }
                    }
                    _ => Err(fallback("the address of an object as its hash")),
                }
            }
            VarKind::Tuple(tuple) if self.is_hashed_by_code(value)? => {
                if let Some(class) = tuple.class {
                    let class = self.objects.get(self.py, class);
                    let (own, plain) = (self.class_lookup(&class, "__hash__")?, self.py.get_type::<PyTuple>());
                    if !own.zip(type_facts::raw(&plain, "__hash__")).is_some_and(|(own, plain)| own.is(&plain)) {
                        return Err(fallback("__hash__ of a tuple"));
                    }
                }
                let items = self.virtual_var(TupleVar::new(tuple.items.to_vec()));
                let combine = self.helper("combined_hash")?;
                self.enter("hash_of_tuple", &[items, combine])
            }
            VarKind::Constant(_) => {
                let hash = self.constant_value(value).expect("a constant").hash().map_err(|e| self.would_raise(&e))?;
                self.fold_int(hash as i64).map(Called::Value)
            }
            VarKind::List(_) | VarKind::Dict(_) | VarKind::Set(SetVar { frozen: false, .. }) => {
                let class = self.class_of(value)?;
                let text = format!("unhashable type: '{}'", super::compared::class_name(&class));
                Err(self.raise_error::<PyTypeError>(&text))
            }
            _ => match self.quiet_hash(value)? {
                Some(hash) => self.fold_int(hash as i64).map(Called::Value),
                None => Err(fallback("the address of an object as its hash")),
            },
        }
    }

    /// What `hash` makes of the answer of a `__hash__`.
    pub(super) fn hash_of_answer(&mut self, answer: VarId) -> Result<VarId, Stop> {
        let answer = match self.look(answer)? {
            VarKind::Instance(InstanceVar { part: Some(part), .. }) => part,
            _ => answer,
        };
        self.look(answer)?;
        let number = self.constant_value(answer).filter(|number| number.is_instance_of::<PyInt>());
        match number {
            Some(number) => {
                let hash = as_hash(&number).map_err(|e| self.internal(&e))?;
                self.fold_int(hash as i64)
            }
            None if matches!(self.look(answer)?, VarKind::Constant(_) | VarKind::Tuple(_) | VarKind::List(_)) => {
                Err(self.raise_error::<PyTypeError>("__hash__ method should return an integer"))
            }
            None => Err(Stop::brk(Reason::WouldRaise, "__hash__")),
        }
    }

    pub(super) fn known_hash(&mut self, hash: VarId) -> Result<isize, Stop> {
        let hash = self.constant_int(hash).ok_or_else(|| fallback("a hash"))?;
        Ok(hash as isize)
    }

    /// Whether two keys are known to be one object.
    pub(super) fn is_one_key(&mut self, a: VarId, b: VarId) -> bool {
        a == b || self.same_sourced_object(a, b) == Some(true)
    }

    /// The keys of a dict that a look-up compares with a key of this hash.
    pub(super) fn alike(&mut self, table: VarId, key: VarId, hash: VarId) -> Result<VarId, Stop> {
        let hash = self.known_hash(hash)?;
        let dict = self.table(table)?;
        let by_code = self.is_hashed_by_code(key)?;
        let mut alike = Vec::new();
        for (have, _) in dict.entries.iter().copied() {
            let stored = match self.hashes.get(&have) {
                Some(stored) => Some(*stored),
                None => self.quiet_hash(have)?,
            };
            if stored == Some(hash) {
                alike.push(have);
            } else if by_code && self.hashes.contains_key(&have) && self.is_one_key(have, key) {
                // Whether it is found is a matter of places.
                return Err(fallback("a key whose hash has changed"));
            }
        }
        if alike.len() > 1 {
            self.found_in_order(table, &dict)?;
        }
        let others = self.virtual_var(TupleVar::new(alike));
        self.searched.insert(others, Searched { entries: dict.entries, removed: dict.removed });
        Ok(others)
    }

    /// Keys of one hash are found in the order in which they came, as long as none has left the dict.
    pub(super) fn found_in_order(&mut self, table: VarId, dict: &DictVar) -> Result<(), Stop> {
        let unknown = || fallback("the order of keys of one hash");
        let Some(object) = dict.object else { return Ok(()) };
        let real = self.objects.get(self.py, object);
        let real = real.cast::<PyDict>().map_err(|_| unknown())?;
        if facts::has_lost_keys(real) {
            return Err(unknown());
        }
        let tracker = self.var(table).tracker;
        if self.has_path(tracker) {
            let base = if self.is_under_constant(tracker) { self.constant_tracker(object) } else { tracker };
            let hashes = facts::stored_hashes(real).ok_or_else(unknown)?;
            self.guard(base, Check::Hashes { hashes, alike: true });
        }
        Ok(())
    }

    /// So many keys are left in a dict.
    pub(super) fn note_gap(&mut self, table: VarId, left: usize) {
        let VarKind::Dict(DictVar { entries, .. }) = &self.var(table).kind else { return };
        if left < entries.len()
            && let Some(frame) = self.shown_frame()
        {
            let site = (frame.unit.address(), frame.ip);
            self.store_gap(table, site);
        }
    }

    /// Whether keys have been taken out of a dict, whose places others may take.
    fn has_gaps(&self, dict: &DictVar) -> bool {
        let real = dict.object.map(|object| self.objects.get(self.py, object));
        dict.removed > 0 || real.is_some_and(|real| real.cast::<PyDict>().is_ok_and(facts::has_lost_keys))
    }

    /// Whether a comparison has changed a dict, so that the search begins again.
    fn moved(&mut self, table: VarId, key: VarId, hash: VarId, others: VarId) -> Result<VarId, Stop> {
        let dict = self.table(table)?;
        if let Some(searched) = self.searched.get(&others) {
            return match dict.same_keys(&searched.entries, searched.removed) {
                true => self.fold_bool(false),
                false => Err(fallback("a dict that changes while its keys are compared")),
            };
        }
        let now = self.alike(table, key, hash)?;
        let (VarKind::Tuple(now), VarKind::Tuple(then)) = (self.look(now)?, self.look(others)?) else {
            return Err(fallback("keys of one hash"));
        };
        let mut moved = now.items.len() != then.items.len();
        for (now, then) in now.items.iter().zip(then.items.iter()) {
            moved |= !self.is_stored_key(*now, *then)?;
        }
        self.fold_bool(moved)
    }

    /// Whether a key that was found is this one.
    pub(super) fn is_stored_key(&mut self, have: VarId, found: VarId) -> Result<bool, Stop> {
        if self.is_one_key(have, found) {
            return Ok(true);
        }
        // One of two equal constants is in the dict.
        Ok(match (self.look(have)?, self.look(found)?) {
            (VarKind::Constant(_), VarKind::Constant(_)) => {
                let equal = self.compare(sot_opcodes::CompareOp::Eq, have, found)?;
                self.truth(equal)?
            }
            _ => false,
        })
    }

    /// Where a key lies that was found.
    pub(super) fn entry_of(&mut self, table: VarId, place: VarId) -> Result<(DictVar, usize), Stop> {
        let dict = self.table(table)?;
        let VarKind::Tuple(place) = self.look(place)? else { return Err(fallback("a place")) };
        let found = *place.items.first().ok_or_else(|| fallback("a key"))?;
        for at in 0..dict.entries.len() {
            if self.is_stored_key(dict.entries[at].0, found)? {
                return Ok((dict, at));
            }
        }
        Err(fallback("a key that is gone"))
    }

    /// A dict is about to have these entries: it lets go of the keys, among those that the program hashes, that are not there
    /// any more.
    pub(super) fn note_keys_taken(&mut self, dict: VarId, entries: &[(VarId, VarId)]) {
        let VarKind::Dict(dict) = &self.var(dict).kind else { return };
        if self.hashes.is_empty() || dict.entries.len() <= entries.len() {
            return;
        }
        let kept: HashSet<VarId> = entries.iter().map(|(key, _)| *key).collect();
        let keys = dict.entries.iter().map(|(key, _)| *key);
        let gone: Vec<VarId> = keys.filter(|key| self.hashes.contains_key(key) && !kept.contains(key)).collect();
        for key in gone {
            if let Some(object) = self.known_object(key) {
                let object = self.objects.get(self.py, object);
                self.note_taken(&object);
            }
        }
    }

    pub(super) fn put(
        &mut self,
        table: VarId,
        place: VarId,
        key: VarId,
        hash: VarId,
        value: VarId,
    ) -> Result<VarId, Stop> {
        let table = self.writable(table)?;
        let hash = self.known_hash(hash)?;
        let VarKind::Tuple(found) = self.look(place)? else { return Err(fallback("a place")) };
        let (object, new) = (Self::var_ref(table), found.items.is_empty());
        let mut found = None;
        let dict = self.table(table)?;
        let mut entries = dict.entries.to_vec();
        if new {
            if self.is_hashed_by_code(key)? && !self.store_hash(key, hash) {
                return Err(fallback("a key whose hash has changed"));
            }
            if self.has_gaps(&dict) {
                // It may come to lie before keys of its hash that were there before.
                for (have, _) in dict.entries.iter() {
                    let stored = self.hashes.get(have).copied();
                    let stored = if stored.is_some() { stored } else { self.quiet_hash(*have)? };
                    if stored == Some(hash) {
                        // Where the gap came, it is to come for real.
                        self.step.cause = self.gaps.get(&table).copied();
                        return Err(fallback("the order of keys of one hash"));
                    }
                }
            }
            entries.push((key, value));
        } else {
            let (_, at) = self.entry_of(table, place)?;
            found = Some(Self::var_ref(entries[at].0));
            entries[at].1 = value;
        }
        self.replace_dict(table, entries)?;
        let (key, value, hash) = (Self::var_ref(key), Self::var_ref(value), hash as i64);
        self.record_if_sourced(table, Mutation::StoreHashed { object, key, hash, value, found });
        self.fold_none()
    }
}
