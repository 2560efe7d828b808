//! Dicts from before the frame that are asked for single keys, and given single values ([`super::parts`]): a config gets further
//! keys, a memo or a history grows at each call, and tables of a library (`re._cache`, `weakref.WeakKeyDictionary`) do all the time.

use super::Executor;
use super::library::upgraded;
use super::parts::Stored;
use super::state::Undo;
use crate::cpython::facts;
use crate::numbers::{is_number, is_text};
use crate::stop::Stop;
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::Mutation;
use sot_tracker::{Access, Arithmetic, Check, ObjectId};
use std::rc::Rc;

/// Whether no part of a key is found by who it is, as a NaN.
fn equals_itself(key: &Bound<'_, PyAny>) -> bool {
    match key.cast::<PyTuple>() {
        Ok(parts) => parts.iter().all(|part| equals_itself(&part)),
        Err(_) => key.is_instance_of::<PyString>() || key.eq(key).unwrap_or(false),
    }
}

/// What a key is for whoever compares it.
enum SortOfKey {
    Number,
    /// Text or `None`: it equals no number.
    Name,
    Other,
}

/// Methods of dicts that ask for one key.
const BY_KEY: [&str; 4] = ["get", "pop", "setdefault", "__contains__"];

/// Methods that are about all of a dict's items, or about the items that they are given. Reading one off a dict tells nothing of it.
const AS_A_WHOLE: [&str; 7] = ["update", "items", "keys", "values", "copy", "clear", "popitem"];

impl<'py> Executor<'py> {
    /// A dict from before the frame, of no class of the program, into which nobody has looked.
    pub(super) fn unseen_dict(&self, dict: VarId) -> Option<ObjectId> {
        let variable = self.var(dict);
        match variable.kind {
            VarKind::Dict(DictVar { object: Some(object), .. }) => {
                (!variable.looked && self.has_path(variable.tracker)).then_some(object)
            }
            _ => None,
        }
    }

    /// Whether a dict does something of its own about keys that it lacks, or about their order.
    pub(super) fn is_dict_of_c(&self, dict: VarId) -> bool {
        matches!(self.var(dict).kind, VarKind::Dict(DictVar { class: Some(_), .. }))
    }

    /// A look into a dict has found what was there before the frame: what happened since comes on top.
    pub(super) fn add_stored(&mut self, dict: VarId) -> Result<(), Stop> {
        let stored = self.stored_before_look(dict)?;
        if !stored.is_empty() && self.own_dict_of(dict).is_some() {
            // Who wrote to the owner knew nothing of this dict.
            self.undo.push(Undo::Stored(dict));
        }
        for (key, value) in stored {
            self.add_stored_item(dict, key, value)?;
        }
        Ok(())
    }

    /// One item on top of what a look has found, or one less.
    pub(super) fn add_stored_item(&mut self, dict: VarId, key: VarId, value: Option<VarId>) -> Result<(), Stop> {
        let VarKind::Dict(found) = self.var(dict).kind.clone() else { return Ok(()) };
        let entries = found.entries_with(self, key, value)?;
        if let VarKind::Dict(dict) = &mut self.learn(dict).kind {
            dict.removed += u32::from(value.is_none());
            dict.entries = Rc::new(entries);
        }
        Ok(())
    }

    /// A value that a dict of one key is asked for by, as an object: its hash and its comparisons are no code of the program.
    fn wanted_key(&mut self, key: VarId) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        match self.var(key).kind {
            VarKind::Instance(InstanceVar { object: Some(reference), pinned: true, .. }) => {
                let reference = self.objects.get(self.py, reference);
                Ok(reference.get_type().is(self.py.get_type::<PyWeakrefReference>()).then_some(reference))
            }
            VarKind::Constant(_) | VarKind::Tuple(TupleVar { class: None, .. }) => {
                Ok(self.part_of_key(key)?.filter(|key| type_facts::is_silent(key) && equals_itself(key)))
            }
            VarKind::Native(_) => Ok(self.answerer_of_reference(key)),
            _ => Ok(None),
        }
    }

    /// What a dict from before the frame has for a key: `None`: it is known as a whole, or its keys may be code of the program. The
    /// inner one: it lacks the key.
    pub(super) fn item_by_key(&mut self, dict: VarId, key: VarId) -> Result<Option<Option<VarId>>, Stop> {
        let Some(object) = self.unseen_dict(dict) else { return Ok(None) };
        self.is_read_as_it_is(object)?;
        if self.is_varying(key) {
            return self.item_by_key_that_varies(dict, object, key);
        }
        let object = self.objects.get(self.py, object);
        let table = object.cast::<PyDict>().map_err(|e| self.internal(&e.into()))?;
        let Some(mut wanted) = self.wanted_key(key)? else { return Ok(None) };
        // While nothing here holds what it holds.
        self.arrive(dict);
        if let Some(referent) = upgraded(&wanted)
            && !self.is_compared_by_identity(&referent)?
        {
            return Ok(None);
        }
        let Ok(hash) = wanted.hash() else { return Ok(None) };
        match self.stored_by_key(dict, key)? {
            Stored::Here(value) => return Ok(Some(value)),
            Stored::Unknown => return Ok(None),
            Stored::Elsewhere => {}
        }
        let mut found = None;
        for other in facts::keys_of_hash(table, &wanted, hash) {
            let silent = match upgraded(&other) {
                Some(referent) => self.is_compared_by_identity(&referent)?,
                None => type_facts::is_silent(&other) || other.is_instance_of::<PyWeakrefReference>(),
            };
            if !silent && !other.is(&wanted) {
                return Ok(None);
            }
            if other.is(&wanted) || other.eq(&wanted).unwrap_or(false) {
                found = table.get_item(&wanted).map_err(|e| self.internal(&e))?;
                // The key that the dict has is the same object at the next call: by it the place is known.
                if other.is_exact_instance_of::<PyTuple>() {
                    wanted = other;
                }
                break;
            }
        }
        self.look(key)?;
        self.captured.asked_in_part.insert(dict);
        let tracker = self.var(dict).tracker;
        let wanted = self.objects.add(&wanted);
        let table = self.objects.add(table.as_any());
        let base = match self.is_under_constant(tracker) {
            true => {
                self.look_identity(dict)?;
                self.constant_tracker(table)
            }
            false => {
                self.guard_type(tracker, table);
                tracker
            }
        };
        match found {
            Some(value) => {
                let at = self.trackers.step(base, Access::DictItem(wanted));
                self.guard_present(at);
                self.note_item_read(at);
                Ok(Some(Some(self.wrap(&value, at))))
            }
            None => {
                self.guard(base, Check::Lacks(wanted));
                Ok(Some(None))
            }
        }
    }

    /// `key in dict` of such a dict.
    pub(super) fn has_key(&mut self, dict: VarId, key: VarId) -> Result<Option<bool>, Stop> {
        if self.unseen_dict(dict).is_none() {
            return Ok(None);
        }
        if self.is_varying(key)
            && !self.is_dict_of_c(dict)
            && let (Some(object), Stored::Elsewhere) = (self.known_object(dict), self.stored_by_key(dict, key)?)
        {
            self.is_read_as_it_is(object)?;
            return self.has_varying_key(dict, object, key);
        }
        Ok(self.item_by_key(dict, key)?.map(|found| found.is_some()))
    }

    /// The same of a number or a text that varies. What was stored by another key may have been stored by this one at the next call.
    fn item_by_key_that_varies(
        &mut self,
        dict: VarId,
        object: ObjectId,
        key: VarId,
    ) -> Result<Option<Option<VarId>>, Stop> {
        if self.is_dict_of_c(dict) {
            return Ok(None);
        }
        match self.stored_by_key(dict, key)? {
            Stored::Here(value) => return Ok(Some(value)),
            Stored::Unknown => return Ok(None),
            Stored::Elsewhere => {}
        }
        match self.has_varying_key(dict, object, key)? {
            Some(true) => Ok(self.item_by_varying_key(dict, object, key).map(Some)),
            Some(false) => Ok(Some(None)),
            None => Ok(None),
        }
    }

    /// What was stored by a key since the frame began.
    fn stored_by_key(&mut self, dict: VarId, key: VarId) -> Result<Stored, Stop> {
        for (other, value) in self.stored_before_look(dict)?.into_iter().rev() {
            match self.is_same_key(key, other)? {
                Some(true) => return Ok(Stored::Here(value)),
                Some(false) => {}
                None => return Ok(Stored::Unknown),
            }
        }
        Ok(Stored::Elsewhere)
    }

    fn sort_of_key(&self, key: VarId) -> SortOfKey {
        let VarKind::Constant(ConstantVar { object }) = self.var(key).kind else { return SortOfKey::Other };
        match self.objects.get_ref(self.py, object) {
            number if is_number(number) => SortOfKey::Number,
            name if name.is_none() || is_text(name) => SortOfKey::Name,
            _ => SortOfKey::Other,
        }
    }

    /// Whether two numbers are equal, guarded; `None`: one equals not even itself, and is found by who it is.
    fn are_equal_numbers(&mut self, a: VarId, b: VarId) -> Result<Option<bool>, Stop> {
        for number in [a, b] {
            let VarKind::Constant(ConstantVar { object }) = self.var(number).kind else { return Ok(None) };
            if self.objects.get_ref(self.py, object).is_exact_instance_of::<PyFloat>() {
                let Some(itself) = self.arithmetic(Arithmetic::Eq, number, Some(number))? else { return Ok(None) };
                if !self.truth(itself)? {
                    return Ok(None);
                }
            }
        }
        match self.arithmetic(Arithmetic::Eq, a, Some(b))? {
            Some(same) => self.truth(same).map(Some),
            None => Ok(None),
        }
    }

    /// Whether two keys of constants are one key, guarded where one varies.
    fn is_same_key(&mut self, a: VarId, b: VarId) -> Result<Option<bool>, Stop> {
        if a == b {
            return Ok(Some(true));
        }
        if self.is_varying(a) || self.is_varying(b) {
            self.look(a)?;
            self.look(b)?;
            return match (self.sort_of_key(a), self.sort_of_key(b)) {
                // Of different types they may be equal.
                (SortOfKey::Number, SortOfKey::Number) => self.are_equal_numbers(a, b),
                (SortOfKey::Number, SortOfKey::Name) | (SortOfKey::Name, SortOfKey::Number) => Ok(Some(false)),
                _ => Ok(None),
            };
        }
        self.look(a)?;
        Ok(match (self.wanted_key(a)?, self.wanted_key(b)?) {
            (Some(a), Some(b)) => Some(a.is(&b) || a.eq(&b).unwrap_or(false)),
            _ => None,
        })
    }

    /// How many keys more such a dict has than before the frame. `None`: nobody can tell without a look.
    pub(super) fn keys_stored(&mut self, dict: VarId, object: ObjectId) -> Result<Option<i64>, Stop> {
        if self.own_dict_of(dict).is_some() && !self.stored_before_look(dict)?.is_empty() {
            return Ok(None);
        }
        let real = self.objects.get(self.py, object);
        let real = real.cast::<PyDict>().map_err(|e| self.internal(&e.into()))?;
        let mut keys: Vec<(VarId, bool)> = Vec::new();
        let mut more = 0;
        for (key, value) in self.stored_before_look(dict)? {
            let mut at = None;
            for (place, (other, _)) in keys.iter().enumerate() {
                match self.is_same_key(key, *other)? {
                    Some(true) => at = Some(place),
                    Some(false) => {}
                    None => return Ok(None),
                }
            }
            let at = match at {
                Some(at) => at,
                None => {
                    let had = match self.is_varying(key) {
                        true => self.has_varying_key(dict, object, key)?,
                        // Who stored it has guarded that.
                        false => self
                            .wanted_key(key)?
                            .and_then(|key| type_facts::silent_item(real, &key))
                            .map(|had| had.is_some()),
                    };
                    let Some(had) = had else { return Ok(None) };
                    keys.push((key, had));
                    keys.len() - 1
                }
            };
            more += i64::from(value.is_some()) - i64::from(keys[at].1);
            keys[at].1 = value.is_some();
        }
        Ok(Some(more))
    }

    /// `dict[key] = value`, and `del dict[key]`, of such a dict. `false`: it is done as ever.
    pub(super) fn store_in_dict(&mut self, dict: VarId, key: VarId, value: Option<VarId>) -> Result<bool, Stop> {
        if self.unseen_dict(dict).is_none() || self.is_stored_to_much(dict) {
            return Ok(false);
        }
        self.find_owner(dict);
        let owner = self.own_dict_of(dict);
        // A function that is found somewhere lives on there.
        let to_a_class = value.is_some() && self.answerer_of_reference(key).is_some();
        let lasts = |ex: &Self, value: VarId| {
            to_a_class && matches!(ex.var(value).kind, VarKind::Function(_)) && ex.found_outside(value)
        };
        if owner.is_none() && value.is_some_and(|value| !self.ends_unseen(value) && !lasts(self, value)) {
            return Ok(false);
        }
        if self.dict_has_one_name(dict).is_err() {
            return Ok(false);
        }
        if let Some(owner) = owner {
            if self.is_varying(key) {
                return Ok(false);
            }
            let Some(name) = self.name_in_dict(key) else { return Ok(false) };
            // As who sets an attribute, nobody asks what was there.
            if value.is_some() {
                self.undo.push(Undo::Stored(dict));
                return self.write_in_dict(owner, &name, value).map(|()| true);
            }
        }
        // What a weak reference refers to may die.
        if !matches!(self.var(key).kind, VarKind::Constant(_) | VarKind::Tuple(_)) && !to_a_class {
            return Ok(false);
        }
        let Some(old) = self.item_by_key(dict, key)? else { return Ok(false) };
        match (old, value) {
            (Some(old), _) if !self.is_lost_unseen(old) => return Ok(false),
            (Some(old), _) => {
                if let Some(place) = self.known_object(key).filter(|_| !self.is_varying(key)) {
                    self.note_gone(dict, Access::DictItem(place), old);
                }
            }
            (None, None) if self.is_dict_of_c(dict) => return Ok(false),
            (None, None) => return Err(self.raise_key_error(key)),
            (None, Some(_)) => {}
        }
        self.undo.push(Undo::Stored(dict));
        // A key that is asked for its value varies no more.
        if let Some(owner) = owner
            && let Some(name) = self.name_in_dict(key)
        {
            return self.write_in_dict(owner, &name, value).map(|()| true);
        }
        let (object, key) = (Self::var_ref(dict), Self::var_ref(key));
        self.journal_record(match value {
            Some(value) => Mutation::SetItem { object, key, value: Self::var_ref(value) },
            None => Mutation::DelItem { object, key },
        });
        Ok(true)
    }

    /// A method of such a dict, read off it without a look.
    pub(super) fn method_of_unseen_dict(&mut self, dict: VarId, name: &str) -> Option<VarId> {
        let whole = AS_A_WHOLE.contains(&name) && !self.is_dict_of_c(dict);
        let object = (whole || BY_KEY.contains(&name)).then(|| self.unseen_dict(dict)).flatten()?;
        self.arrive(dict);
        let tracker = self.var(dict).tracker;
        let (given, pinned) = (self.is_constant(tracker), self.is_under_constant(tracker));
        self.guard_container(tracker, object, given, pinned);
        Some(self.virtual_var(BoundVar::new(dict, name)))
    }

    /// Whether the keys that `dict.update` is given are constants of the frame.
    fn updates_by_constants(&self, args: &Args) -> bool {
        let [other] = *args.positional.as_slice() else { return args.positional.is_empty() };
        let VarKind::Dict(DictVar { object: None, class: None, entries, .. }) = &self.var(other).kind else {
            return false;
        };
        entries.iter().all(|(key, _)| matches!(self.var(*key).kind, VarKind::Constant(_)))
    }

    /// Such a method, called. `None`: it is called as ever.
    pub(super) fn call_by_key(&mut self, dict: VarId, name: &str, args: &Args) -> Result<Option<VarId>, Stop> {
        if self.unseen_dict(dict).is_none() {
            return Ok(None);
        }
        if name == "update" && !self.is_dict_of_c(dict) && self.updates_by_constants(args) {
            self.dict_has_one_name(dict)?;
            return self.dict_update(dict, args).map(Some);
        }
        if !BY_KEY.contains(&name) || !args.keywords.is_empty() {
            return Ok(None);
        }
        let (key, default) = match args.positional[..] {
            [key] => (key, None),
            [key, default] => (key, Some(default)),
            _ => return Ok(None),
        };
        let Some(found) = self.item_by_key(dict, key)? else { return Ok(None) };
        match (name, found, default) {
            ("pop" | "setdefault", _, _) if self.is_dict_of_c(dict) => Ok(None),
            ("get", Some(found), _) | ("setdefault", Some(found), _) => Ok(Some(found)),
            ("get", None, Some(default)) => Ok(Some(default)),
            ("get", None, None) => self.fold_none().map(Some),
            ("__contains__", _, None) => self.fold_bool(found.is_some()).map(Some),
            ("pop", None, Some(default)) => Ok(Some(default)),
            ("pop", None, None) => Err(self.raise_key_error(key)),
            ("pop", Some(found), _) => {
                self.no_thread_comes_between(dict)?;
                Ok(self.store_in_dict(dict, key, None)?.then_some(found))
            }
            ("setdefault", None, default) => {
                self.no_thread_comes_between(dict)?;
                let value = match default {
                    Some(default) => default,
                    None => self.fold_none()?,
                };
                Ok(self.store_in_dict(dict, key, Some(value))?.then_some(value))
            }
            _ => Ok(None),
        }
    }
}
