//! Dicts from before the frame that are asked for one key, which is all that is guarded then: tables of a library (`re._cache`,
//! `weakref.WeakKeyDictionary`) grow all the time, and large ones are there to grow.

use super::Executor;
use super::weak_references::upgraded;
use crate::cpython::facts;
use crate::stop::Stop;
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::Target;
use sot_tracker::{Access, Check};

impl<'py> Executor<'py> {
    /// What a dict from before the frame has for a key: `None`: it is known as a whole, or its keys may be code of the program. The
    /// inner one: it lacks the key.
    pub(in crate::executor) fn item_by_key(&mut self, dict: VarId, key: VarId) -> Result<Option<Option<VarId>>, Stop> {
        let variable = self.var(dict);
        let VarKind::Dict(DictVar { object: Some(object), class: None, .. }) = variable.kind else { return Ok(None) };
        let (looked, tracker) = (variable.looked, variable.tracker);
        if looked || !self.has_path(tracker) {
            return Ok(None);
        }
        self.is_read_as_it_is(object)?;
        let object = self.objects.get(self.py, object);
        let table = object.cast::<PyDict>().map_err(|e| self.internal(&e.into()))?;
        let wanted = match self.var(key).kind {
            VarKind::Instance(InstanceVar { object: Some(reference), pinned: true, .. }) => {
                let reference = self.objects.get(self.py, reference);
                match reference.get_type().is(self.py.get_type::<PyWeakrefReference>()) {
                    true => reference,
                    false => return Ok(None),
                }
            }
            VarKind::Constant(_) | VarKind::Tuple(TupleVar { class: None, .. }) => match self.part_of_key(key)? {
                Some(wanted) if type_facts::is_silent(&wanted) => wanted,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        if self.content_changed(&object)
            || self.journal.changes_of(Target::Object(Self::var_ref(dict))).next().is_some()
        {
            return Ok(None);
        }
        if let Some(referent) = upgraded(&wanted)
            && !self.is_compared_by_identity(&referent)?
        {
            return Ok(None);
        }
        let Ok(hash) = wanted.hash() else { return Ok(None) };
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
                break;
            }
        }
        self.look(key)?;
        self.captured.asked_in_part.insert(dict);
        let wanted = self.objects.add(&wanted);
        let base = match self.is_under_constant(tracker) {
            true => {
                self.look_identity(dict)?;
                let table = self.objects.add(table.as_any());
                self.constant_tracker(table)
            }
            false => {
                let table = self.objects.add(table.as_any());
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

    /// `dict[key]` of such a dict; of a list the last of what was appended, an item at an index that varies, or one of many.
    pub(in crate::executor) fn subscript_by_key(&mut self, dict: VarId, key: VarId) -> Result<Option<VarId>, Stop> {
        if let Some(last) = self.item_of_unseen(dict, key)? {
            return Ok(Some(last));
        }
        if let Some(item) = self.item_at_varying(dict, key)? {
            return Ok(Some(item));
        }
        if let Some(item) = self.item_of_long(dict, key)? {
            return Ok(Some(item));
        }
        match self.item_by_key(dict, key)? {
            Some(Some(value)) => Ok(Some(value)),
            Some(None) => Err(self.raise_key_error(key)),
            None => Ok(None),
        }
    }
}
