//! Attributes of layers that are set.
//!
//! A framework keeps parameters, sub-layers and buffers in dicts of their own, beside the instance dict; its `__setattr__` tells
//! them apart, and the backend says what that comes to ([`LayerStore`]). The journal replays `layer.name = value` as it was
//! written, so all that the framework does for real is done then; here only what the simulation reads afterwards counts.

use super::Executor;
use crate::backend::LayerStore;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::{Mutation, Overlay};

impl<'py> Executor<'py> {
    /// A call of what sets attributes of layers, of a real one: what a `__setattr__` of the program ends in.
    pub(super) fn set_by_layer_writer(
        &mut self,
        callee: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<Option<VarId>, Stop> {
        let [layer, name, value] = *args.positional.as_slice() else { return Ok(None) };
        let is_layer = args.keywords.is_empty() && matches!(self.var(layer).kind, VarKind::Layer(_));
        if !is_layer || !self.backend.layers().writer(self.py).is_some_and(|writer| writer.is(callee)) {
            return Ok(None);
        }
        let Some(name) = self.constant_str(name) else { return Ok(None) };
        self.look(layer)?;
        self.set_layer_attribute(layer, &name, value)?;
        self.fold_none().map(Some)
    }

    /// `layer.name = value`, as the framework does it.
    pub(super) fn set_layer_attribute(&mut self, layer: VarId, name: &str, value: VarId) -> Result<(), Stop> {
        let not_simulated = || Stop::brk(Reason::Mutation, "attribute of a layer");
        let class = self.class_of(layer)?;
        let object = self.known_object(layer).ok_or_else(not_simulated)?;
        let object = self.objects.get(self.py, object);
        let value_class = self.class_of(value)?;
        let store = self.backend.layers().store(&object, &value_class).ok_or_else(not_simulated)?;
        // Who reads it asks these dicts, as long as nobody else has a say.
        self.class_lookup(&class, "__getattr__")?;
        let dicts = self.backend.clone().layers().attr_dicts(&object);
        if dicts.is_empty() || !self.is_kept_as_before(layer, &object, name, store)? {
            return Err(not_simulated());
        }
        let of_class = self.class_lookup(&class, name)?;
        match (&of_class, store) {
            (None, _) => {}
            // Where the class has the name, only the instance dict comes before it.
            (Some(found), LayerStore::Own) if !self.is_data_descriptor(found)? => {}
            _ => return Err(Stop::brk(Reason::UserCode, format!("descriptor {name}"))),
        }
        let own = facts::instance_dict(&object).ok_or_else(not_simulated)?;
        if let LayerStore::Dict { leaves_own: false, .. } = store
            && self.instance_dict_item(layer, &object, name)?.is_some()
        {
            return Err(not_simulated());
        }
        for dict_name in dicts {
            let Some(var) = self.instance_dict_item(layer, &object, dict_name)? else { return Err(not_simulated()) };
            self.look_identity(var)?;
            let Some(id) = self.known_object(var) else { return Err(not_simulated()) };
            let dict = self.objects.get(self.py, id).cast_into::<PyDict>().map_err(|_| not_simulated())?;
            if matches!(store, LayerStore::Dict { name, .. } if name == *dict_name) {
                self.note_rewritten(&dict, name);
                continue;
            }
            let tracker = self.constant_tracker(id);
            if self.dict_item(&dict, tracker, name)?.is_some() {
                return Err(not_simulated());
            }
        }
        if let LayerStore::Dict { empty, .. } = store {
            for dict in empty {
                let dict = own.get_item(*dict).ok().flatten().and_then(|dict| dict.cast_into::<PyDict>().ok());
                let dict = dict.filter(|dict| dict.is_empty()).ok_or_else(not_simulated)?;
                if self.is_dict_written(&dict) || self.is_replaced_in(&object, &dict) {
                    return Err(not_simulated());
                }
                self.snapshot(&dict)?;
            }
        }
        self.own_dict_changes(layer)?;
        if let LayerStore::Dict { name: dict, notes, .. } = store {
            for part in std::iter::once(&dict).chain(notes) {
                self.part_changes(layer, &own, part)?;
            }
        }
        self.note_rewritten(&own, name);
        self.journal_record(Mutation::SetAttr {
            object: Self::var_ref(layer),
            name: name.into(),
            value: Self::var_ref(value),
        });
        Ok(())
    }

    /// Whether the journal gives a layer something else for this part of it.
    pub(super) fn is_replaced_in(&self, layer: &Bound<'py, PyAny>, part: &Bound<'py, PyDict>) -> bool {
        let Some(own) = facts::instance_dict(layer) else { return false };
        self.journal.entries().iter().any(|entry| match &entry.mutation {
            Mutation::SetAttr { object, name, .. } | Mutation::DelAttr { object, name, .. } => {
                let of_layer = self.known_object(VarId(object.0)).map(|o| self.objects.get_ref(self.py, o).is(layer));
                of_layer == Some(true) && own.get_item(&**name).ok().flatten().is_some_and(|old| old.is(part))
            }
            _ => false,
        })
    }

    /// Whether what was set under this name before, if anything was, is kept in the same place: the real dicts do not show it yet.
    fn is_kept_as_before(
        &mut self,
        layer: VarId,
        object: &Bound<'py, PyAny>,
        name: &str,
        store: LayerStore,
    ) -> Result<bool, Stop> {
        match self.journal.attr(Self::var_ref(layer), name) {
            Overlay::Untouched => Ok(true),
            Overlay::Deleted => Ok(false),
            Overlay::Set(before) => {
                let class = self.class_of(VarId(before.0))?;
                Ok(self.backend.layers().store(object, &class) == Some(store))
            }
        }
    }

    /// What is known of a container in a layer's instance dict is about to be known no longer.
    fn part_changes(&mut self, layer: VarId, own: &Bound<'py, PyDict>, name: &str) -> Result<(), Stop> {
        let Some(part) = own.get_item(name).map_err(|e| self.internal(&e))? else { return Ok(()) };
        let address = part.as_ptr() as usize;
        if self.known.get(&address).is_some_and(|var| self.var(*var).looked) {
            return Err(Stop::brk(Reason::Mutation, "a dict that has several names"));
        }
        self.dicts_below.insert(address, Some(layer));
        Ok(())
    }
}
