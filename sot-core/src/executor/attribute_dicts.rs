//! The `__dict__` of instances, and of functions that the simulation made or has written to.
//!
//! Attributes are entries of the journal ([`Captured::virtual_attributes`](crate::captured::Captured::virtual_attributes)), and
//! so they stay. Once somebody asks for the dict there is one, whose `owner` is the value: what is set on either shows in the
//! other. New code makes the value, and then asks that for its dict. The dict of an instance from before the frame has an owner, too:
//! until somebody looks at all of it, what was written to the instance is what was stored in it.
//!
//! An item under a name for which the class has a descriptor (a validated field that keeps its value there) is no attribute that
//! anybody could set: the journal knows it apart ([`Mutation::SetInDict`]).

use super::Executor;
use super::state::Undo;
use crate::backend::LayerStore;
use crate::captured::Attribute;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, Descriptor};
use crate::variables::*;
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use sot_sideeffect::{Mutation, Target};
use sot_tracker::{Access, TrackerId};
use std::rc::Rc;

/// A dict's entries.
type Entries = Vec<(VarId, VarId)>;

impl<'py> Executor<'py> {
    /// `owner.__dict__`, as `descriptor` of its class has it; `None`: the simulation did not make the value, or the descriptor
    /// is another one.
    pub(super) fn attribute_dict(
        &mut self,
        owner: VarId,
        descriptor: &Bound<'py, PyAny>,
    ) -> Result<Option<VarId>, Stop> {
        if type_facts::descriptor(descriptor) != Descriptor::GetSet && !self.is_of_namespaces("__dict__", descriptor) {
            return Ok(None);
        }
        let known = match self.look(owner)? {
            VarKind::Instance(InstanceVar { object: None, names, .. }) => names,
            VarKind::Function(FunctionVar::Made(made)) if made.object.is_none() => made.names,
            _ => return Ok(None),
        };
        if known.is_some() {
            return Ok(known);
        }
        let mut entries = Vec::new();
        for Attribute { name, in_dict, value } in self.virtual_attributes(owner) {
            if in_dict || !self.is_outside_dict(owner, &name)? {
                entries.push((self.fold(PyString::intern(self.py, &name).as_any())?, value));
            }
        }
        let dict = self.virtual_var(DictVar { owner: Some(owner), ..DictVar::new(entries) });
        match &mut self.var_mut(owner).kind {
            VarKind::Instance(instance) => instance.names = Some(dict),
            VarKind::Function(FunctionVar::Made(made)) => {
                *made = Rc::new(MadeFunction { names: Some(dict), ..MadeFunction::clone(made) });
            }
            _ => {}
        }
        Ok(Some(dict))
    }

    /// `owner.__dict__` of a value from before the frame. Where attributes were written they are not in the dict yet: it is looked
    /// at, and they come on top. Who writes more of them then breaks ([`Executor::dict_below`]).
    pub(super) fn dict_of_written(
        &mut self,
        owner: VarId,
        dict: &Bound<'py, PyAny>,
        tracker: TrackerId,
    ) -> Result<VarId, Stop> {
        self.keeps_of_gauss(owner)?;
        let known = self.wrap(dict, tracker);
        if self.owns_dict(owner, known, dict, tracker) {
            return Ok(known);
        }
        let changes: Vec<(String, Option<VarId>)> = (self.journal)
            .changes_of(Target::Object(Self::var_ref(owner)))
            .filter_map(|entry| match &entry.mutation {
                Mutation::SetAttr { name, value, .. } => Some((name.clone(), Some(VarId(value.0)))),
                Mutation::DelAttr { name, .. } => Some((name.clone(), None)),
                _ => None,
            })
            .collect();
        if changes.is_empty() {
            return Ok(self.wrap(dict, tracker));
        }
        let names = self.wrap(dict, tracker);
        // Since then nobody has written to either.
        if self.var(names).looked {
            return Ok(names);
        }
        let VarKind::Dict(DictVar { class: None, object: Some(object), .. }) = self.var(names).kind else {
            return Err(Stop::brk(Reason::Mutation, "__dict__ of a changed object"));
        };
        self.undo.push(Undo::Stored(names));
        let (given, pinned) = (self.is_constant(tracker), self.is_under_constant(tracker));
        self.learn(names).looked = true;
        let looked = self.look_dict(names, tracker, object, given, pinned).and_then(|()| {
            for (name, value) in changes {
                if self.is_kept_beside(owner, value)? {
                    // The dict lets go of the name, if it had it.
                    let own = dict.cast::<PyDict>().map_err(|_| Stop::brk(Reason::Mutation, "__dict__ of a layer"))?;
                    if self.dict_item(own, tracker, &name)?.is_some() {
                        let key = self.fold(PyString::intern(self.py, &name).as_any())?;
                        self.add_stored_item(names, key, None)?;
                    }
                } else if !self.is_outside_dict(owner, &name)? {
                    let key = self.fold(PyString::intern(self.py, &name).as_any())?;
                    self.add_stored_item(names, key, value)?;
                }
            }
            Ok(())
        });
        if looked.is_err() {
            self.learn(names).looked = false;
        }
        looked.map(|()| names)
    }

    /// The instance from before the frame whose dict this is.
    pub(super) fn own_dict_of(&self, dict: VarId) -> Option<VarId> {
        match self.var(dict).kind {
            VarKind::Dict(DictVar { object: Some(_), owner, .. }) => owner,
            _ => None,
        }
    }

    /// Whether what happens to a dict from before the frame is what happens to its owner, from now on. Somebody else may have it, or has
    /// written to it.
    fn owns_dict(&mut self, owner: VarId, dict: VarId, object: &Bound<'py, PyAny>, tracker: TrackerId) -> bool {
        if self.own_dict_of(dict).is_some() {
            return self.own_dict_of(dict) == Some(owner);
        }
        let Variable { kind, tracker: found_at, looked, .. } = self.var(dict);
        let is_plain = matches!(kind, VarKind::Dict(DictVar { class: None, object: Some(_), .. }));
        let is_instance = matches!(self.var(owner).kind, VarKind::Instance(InstanceVar { object: Some(_), .. }));
        let alone = self.dicts_below.get(&(object.as_ptr() as usize)).is_none_or(|below| *below == Some(owner));
        if !is_plain || !is_instance || !alone || *looked || *found_at != tracker || self.is_written(dict) {
            return false;
        }
        if let VarKind::Dict(dict) = &mut self.learn(dict).kind {
            dict.owner = Some(owner);
        }
        true
    }

    /// A dict that nobody has looked into may be that of an instance whose attributes are read: behind a break each has a path of its
    /// own. What is written to one shows in the other from now on.
    pub(super) fn find_owner(&mut self, dict: VarId) {
        let VarKind::Dict(DictVar { class: None, object: Some(object), owner: None, .. }) = self.var(dict).kind else {
            return;
        };
        let object = self.objects.get(self.py, object);
        let Some(owner) = self.dicts_below.get(&(object.as_ptr() as usize)).copied().flatten() else { return };
        let VarKind::Instance(InstanceVar { object: Some(instance), .. }) = self.var(owner).kind else { return };
        let instance = self.objects.get(self.py, instance);
        let (found_at, base) = (self.var(dict).tracker, self.base_tracker(owner));
        if type_facts::reads_own_dict(&instance.get_type())
            && facts::instance_dict(&instance).is_some_and(|own| own.is(&object))
            && self.owns_dict(owner, dict, &object, found_at)
        {
            self.note_overridden(base, &instance);
            let at = self.trackers.step(base, Access::InstanceDict);
            self.tie(dict, at, &object);
        }
    }

    /// What was written to an instance from before the frame, as items of its dict.
    pub(super) fn written_in_dict(&mut self, owner: VarId) -> Result<Vec<(VarId, Option<VarId>)>, Stop> {
        let changes: Vec<(String, bool, Option<VarId>)> = (self.journal)
            .changes_of(Target::Object(Self::var_ref(owner)))
            .filter_map(|entry| match &entry.mutation {
                Mutation::SetAttr { name, value, .. } => Some((name.clone(), false, Some(VarId(value.0)))),
                Mutation::DelAttr { name, .. } => Some((name.clone(), false, None)),
                Mutation::SetInDict { name, value, .. } => Some((name.clone(), true, Some(VarId(value.0)))),
                Mutation::DelInDict { name, .. } => Some((name.clone(), true, None)),
                _ => None,
            })
            .collect();
        let mut written = Vec::with_capacity(changes.len());
        for (name, in_dict, value) in changes {
            if in_dict || !self.is_outside_dict(owner, &name)? {
                written.push((self.fold(PyString::intern(self.py, &name).as_any())?, value));
            }
        }
        Ok(written)
    }

    /// A key of a dict of attributes that is a name.
    pub(super) fn name_in_dict(&mut self, key: VarId) -> Option<String> {
        let is_name = self.constant_value(key).is_some_and(|key| key.is_exact_instance_of::<PyString>());
        self.constant_str(key).filter(|_| is_name)
    }

    /// `owner.__dict__[name] = value`, or `del owner.__dict__[name]`.
    pub(super) fn write_in_dict(&mut self, owner: VarId, name: &str, value: Option<VarId>) -> Result<(), Stop> {
        let in_dict = self.is_outside_dict(owner, name)?;
        if !in_dict {
            // New code sets it as `object` does where the class has a way of its own.
            let class = self.class_of(owner)?;
            self.class_lookup(&class, if value.is_some() { "__setattr__" } else { "__delattr__" })?;
        }
        self.own_dict_changes(owner)?;
        self.note_own_rewritten(owner, name);
        let (object, name) = (Self::var_ref(owner), name.to_owned());
        self.journal_record(match (value.map(Self::var_ref), in_dict) {
            (Some(value), false) => Mutation::SetAttr { object, name, value },
            (Some(value), true) => Mutation::SetInDict { object, name, value },
            (None, false) => Mutation::DelAttr { object, name, by_dict: true },
            (None, true) => Mutation::DelInDict { object, name },
        });
        Ok(())
    }

    /// Whether a value that was set as an attribute is kept in a dict of the framework's own instead of the owner's.
    fn is_kept_beside(&mut self, owner: VarId, value: Option<VarId>) -> Result<bool, Stop> {
        let (VarKind::Layer(_), Some(value)) = (&self.var(owner).kind, value) else { return Ok(false) };
        let Some(object) = self.known_object(owner) else { return Ok(false) };
        let layer = self.objects.get(self.py, object);
        let class = self.class_of(value)?;
        Ok(matches!(self.backend.layers().store(&layer, &class), Some(LayerStore::Dict { .. })))
    }

    /// Whether an attribute is a slot or a part of the value.
    pub(super) fn is_outside_dict(&mut self, owner: VarId, name: &str) -> Result<bool, Stop> {
        let class = self.class_of(owner)?;
        match self.class_lookup(&class, name)? {
            Some(found) => self.is_data_descriptor(&found),
            None => Ok(false),
        }
    }

    /// An attribute in the dict of a value is set or deleted: so it is in the dict, if somebody has that.
    pub(super) fn show_in_dict(&mut self, owner: VarId, name: &str, value: Option<VarId>) -> Result<(), Stop> {
        let names = match &self.var(owner).kind {
            VarKind::Instance(InstanceVar { object: Some(object), .. }) => {
                let dict = facts::instance_dict(self.objects.get_ref(self.py, *object));
                let known = dict.and_then(|dict| self.known.get(&(dict.as_ptr() as usize)).copied());
                // One into which nobody has looked finds it in the journal.
                known.filter(|dict| self.own_dict_of(*dict) == Some(owner) && self.var(*dict).looked)
            }
            VarKind::Instance(instance) => instance.names,
            VarKind::Function(FunctionVar::Made(made)) => made.names,
            _ => None,
        };
        let Some(names) = names else { return Ok(()) };
        let VarKind::Dict(dict) = self.var(names).kind.clone() else { return Ok(()) };
        let key = self.fold(PyString::intern(self.py, name).as_any())?;
        let entries = dict.entries_with(self, key, value)?;
        self.put_entries(names, entries);
        Ok(())
    }

    /// The entries of a value's dict become others: so do its attributes.
    pub(super) fn show_in_owner(&mut self, owner: VarId, before: &Entries, after: &Entries) -> Result<(), Stop> {
        let old: HashMap<VarId, VarId> = before.iter().copied().collect();
        let stays: HashSet<VarId> = after.iter().map(|(key, _)| *key).collect();
        let gone = before.iter().filter(|(key, _)| !stays.contains(key)).map(|(key, _)| (*key, None));
        let set =
            after.iter().filter(|(key, value)| old.get(key) != Some(value)).map(|(key, value)| (*key, Some(*value)));
        let changes: Vec<(VarId, Option<VarId>)> = gone.chain(set).collect();
        let mut named = Vec::with_capacity(changes.len());
        for (key, value) in changes {
            let name = self.name_in_dict(key);
            named.push((name.ok_or(Stop::brk(Reason::Mutation, "a key of __dict__ that is no name"))?, value));
        }
        for (name, value) in named {
            self.write_in_dict(owner, &name, value)?;
        }
        Ok(())
    }
}
