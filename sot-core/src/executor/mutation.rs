//! Writes: to the simulation's own state, and to the journal where the object existed before the frame.

use super::Executor;
use super::kinds::Operations;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::exceptions::{PyAttributeError, PyBaseException, PyNameError};
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::{Mutation, Overlay};
use sot_tracker::{Access, Check, ObjectId};
use std::rc::Rc;

impl<'py> Executor<'py> {
    pub fn journal_record(&mut self, mutation: Mutation) {
        let mut at_hand: Vec<VarId> = mutation.operands().into_iter().map(|operand| VarId(operand.0)).collect();
        if let Mutation::IterAdvance { item: Some(item), .. } = &mutation {
            // It is on its way to a frame.
            at_hand.push(VarId(item.0));
        }
        self.note_released(&at_hand, true);
        self.note_overwritten(&mutation);
        self.note_stored(&mutation);
        self.note_replaced(&mutation);
        self.note_dropping(&mutation);
        self.note_filled(&mutation);
        let (file, line) = match self.shown_frame() {
            Some(frame) => (frame.unit.file.clone(), frame.unit.line(frame.ip)),
            None => (std::sync::Arc::<str>::from(""), 0),
        };
        self.journal.record(mutation, &file, line);
    }

    /// `object.name = value`
    pub fn setattr(&mut self, object: VarId, name: &str, value: VarId) -> Result<(), Stop> {
        if self.set_in_thread(object, name, value)? {
            return Ok(());
        }
        self.look(object)?.set_attribute(self, object, name, value)
    }

    /// `object.name = value`, if its class leaves that to `object`, or to `BaseException`.
    pub(super) fn set_by_class(
        &mut self,
        class: ObjectId,
        object: VarId,
        name: &str,
        value: VarId,
    ) -> Result<(), Stop> {
        let class = self.objects.get(self.py, class);
        if !self.class_lookup(&class, "__setattr__")?.is_some_and(|own| type_facts::writes_as_object(&own)) {
            return Err(Stop::brk(Reason::UserCode, "__setattr__"));
        }
        self.set_by_object(object, name, value)
    }

    /// `object.__setattr__(object, name, value)`, or that of `BaseException`.
    pub fn set_by_object(&mut self, object: VarId, name: &str, value: VarId) -> Result<(), Stop> {
        let class = self.class_of(object)?;
        if self.written_to_class(&class, name)?.is_none()
            && let Some(descriptor) = self.class_lookup(&class, name)?
            && self.is_data_descriptor(&descriptor)?
        {
            let of_exceptions = || self.py.get_type::<PyBaseException>().getattr("__traceback__");
            if name == "__traceback__"
                && of_exceptions().is_ok_and(|own| own.is(&descriptor))
                && self.store_traceback(object, value)?
            {
                return Ok(());
            }
            if name == "args" && self.store_arguments(object, &descriptor, value)? {
                return Ok(());
            }
            if !type_facts::is_slot(&descriptor) {
                let refused = self.refused_write(object, name, true)?;
                return Err(refused.unwrap_or_else(|| Stop::brk(Reason::UserCode, format!("descriptor {name}"))));
            }
            self.note_slot_rewritten(object, name);
        } else {
            // An object without a dict refuses.
            let ty = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
            if !type_facts::has_dict(ty) {
                let refused = self.refused_write(object, name, true)?;
                return Err(refused.unwrap_or_else(|| Stop::brk(Reason::WouldRaise, format!("attribute {name}"))));
            }
            self.own_dict_changes(object)?;
            self.note_own_rewritten(object, name);
            self.show_in_dict(object, name, Some(value))?;
        }
        self.journal_record(Mutation::SetAttr {
            object: Self::var_ref(object),
            name: name.into(),
            value: Self::var_ref(value),
        });
        Ok(())
    }

    /// What a tuple without a dict says that is refused a write, as a named one is; nothing, where it may not be.
    pub(super) fn refuse_write_to_tuple(&mut self, tuple: VarId, name: &str, sets: bool) -> Result<(), Stop> {
        let class = self.class_of(tuple)?;
        let writes = if sets { "__setattr__" } else { "__delattr__" };
        let by_object = self.class_lookup(&class, writes)?.is_some_and(|own| type_facts::writes_as_object(&own));
        let has_dict = class.cast::<PyType>().is_ok_and(type_facts::has_dict);
        if !by_object || has_dict {
            return Ok(());
        }
        match self.refused_write(tuple, name, sets)? {
            Some(refused) => Err(refused),
            None => Ok(()),
        }
    }

    /// `del object.name`
    pub(super) fn delattr(&mut self, object: VarId, name: &str) -> Result<(), Stop> {
        let class = match self.look(object)? {
            VarKind::Instance(i) => self.objects.get(self.py, i.class),
            VarKind::Class(class) if class.made.is_some() => return self.write_to_made_class(object, name, None),
            VarKind::Tuple(_) => {
                self.refuse_write_to_tuple(object, name, false)?;
                return Err(Stop::brk(Reason::Mutation, "attribute of a tuple"));
            }
            other => return Err(Stop::brk(Reason::Mutation, format!("attribute of {}", other.kind_name()))),
        };
        if !self.class_lookup(&class, "__delattr__")?.is_some_and(|own| type_facts::writes_as_object(&own)) {
            return Err(Stop::brk(Reason::UserCode, "__delattr__"));
        }
        self.delete_by_object(object, name)
    }

    /// `object.__delattr__(object, name)`
    pub(super) fn delete_by_object(&mut self, object: VarId, name: &str) -> Result<(), Stop> {
        let class = self.class_of(object)?;
        if let Some(descriptor) = self.class_lookup(&class, name)?
            && self.is_data_descriptor(&descriptor)?
        {
            if !type_facts::is_slot(&descriptor) {
                let refused = self.refused_write(object, name, false)?;
                return Err(refused.unwrap_or_else(|| Stop::brk(Reason::UserCode, format!("descriptor {name}"))));
            }
            if self.is_empty_slot(object, name)? {
                return Err(self.raise_error::<PyAttributeError>(name));
            }
            self.journal_record(Mutation::DelAttr { object: Self::var_ref(object), name: name.into(), by_dict: false });
            return Ok(());
        }
        let there = match (self.journal.attr(Self::var_ref(object), name), self.known_object(object)) {
            (Overlay::Set(_), _) => true,
            (Overlay::Untouched, Some(sourced)) => {
                let sourced = self.objects.get(self.py, sourced);
                self.instance_dict_item(object, &sourced, name)?.is_some()
            }
            (Overlay::Deleted | Overlay::Untouched, _) => false,
        };
        if !there {
            let refused = self.refused_write(object, name, false)?;
            return Err(refused.unwrap_or_else(|| Stop::brk(Reason::WouldRaise, format!("attribute {name}"))));
        }
        self.own_dict_changes(object)?;
        self.show_in_dict(object, name, None)?;
        self.journal_record(Mutation::DelAttr { object: Self::var_ref(object), name: name.into(), by_dict: false });
        Ok(())
    }

    /// Whether a slot of `__slots__` is empty, guarded.
    pub(super) fn is_empty_slot(&mut self, object: VarId, name: &str) -> Result<bool, Stop> {
        match self.journal.attr(Self::var_ref(object), name) {
            Overlay::Set(_) => return Ok(false),
            Overlay::Deleted => return Ok(true),
            Overlay::Untouched => {}
        }
        let Some(sourced) = self.known_object(object) else { return Ok(true) };
        let sourced = self.objects.get(self.py, sourced);
        let base = self.base_tracker(object);
        match facts::field(&sourced, &PyString::intern(self.py, name)) {
            facts::Field::Value(_) => {
                let tracker = self.trackers.step(base, Access::Attr(name.into()));
                self.guard_present(tracker);
                Ok(false)
            }
            facts::Field::Empty => {
                self.guard(base, Check::LacksAttr(name.into()));
                Ok(true)
            }
            facts::Field::NoField => Err(Stop::brk(Reason::UserCode, format!("descriptor {name}"))),
        }
    }

    /// What is known of an object's dict is about to be known no longer.
    pub(super) fn own_dict_changes(&mut self, object: VarId) -> Result<(), Stop> {
        if let Some(sourced) = self.known_object(object)
            && let Some(dict) = facts::instance_dict(&self.objects.get(self.py, sourced))
        {
            self.dict_below(&dict, Some(object), true)?;
        }
        Ok(())
    }

    /// `container[key] = value`
    pub fn set_item(&mut self, container: VarId, key: VarId, value: VarId) -> Result<(), Stop> {
        if self.store_by_key(container, key, Some(value))? {
            return Ok(());
        }
        self.look(container)?.set_item(self, container, key, value)
    }

    /// An item of a container was set.
    pub(super) fn note_item_set(&mut self, container: VarId, key: VarId, value: VarId) {
        if self.is_sourced_container(container) && self.own_dict_of(container).is_none() {
            self.note_module_written(container);
            self.journal_record(Mutation::SetItem {
                object: Self::var_ref(container),
                key: Self::var_ref(key),
                value: Self::var_ref(value),
            });
        }
    }

    /// `del container[key]`
    pub fn delete_item(&mut self, container: VarId, key: VarId) -> Result<(), Stop> {
        if self.store_by_key(container, key, None)? {
            return Ok(());
        }
        self.look(container)?.delete_item(self, container, key)
    }

    /// An item of a container was deleted.
    pub(super) fn note_item_deleted(&mut self, container: VarId, key: VarId) {
        if self.is_sourced_container(container) && self.own_dict_of(container).is_none() {
            self.note_module_written(container);
            let (object, key) = (Self::var_ref(container), Self::var_ref(key));
            self.journal_record(Mutation::DelItem { object, key });
        }
    }

    pub fn replace_list(&mut self, list: VarId, items: Vec<VarId>) {
        self.copied += items.len();
        if let VarKind::List(ListVar { items: before, object: Some(_), .. }) = &self.var(list).kind {
            let before = before.clone();
            self.note_items_replaced(list, &before, &items);
        }
        if let VarKind::List(list) = &mut self.var_mut(list).kind {
            list.items = Rc::new(items);
        }
    }

    pub fn replace_dict(&mut self, dict: VarId, entries: Vec<(VarId, VarId)>) -> Result<(), Stop> {
        if let VarKind::Dict(DictVar { owner: Some(owner), entries: before, .. }) = self.var(dict).kind.clone() {
            self.show_in_owner(owner, &before, &entries)?;
        }
        self.put_entries(dict, entries);
        Ok(())
    }

    pub(super) fn put_entries(&mut self, dict: VarId, entries: Vec<(VarId, VarId)>) {
        self.copied += entries.len();
        if let VarKind::Dict(DictVar { entries: before, object: Some(_), .. }) = &self.var(dict).kind {
            let before = before.clone();
            self.note_entries_replaced(dict, &before, &entries);
        }
        self.note_keys_taken(dict, &entries);
        self.note_gap(dict, entries.len());
        let below = match &self.var(dict).kind {
            VarKind::Dict(before) if before.object.is_none() && self.is_ordered(before) => before.order_below(&entries),
            _ => None,
        };
        if let VarKind::Dict(dict) = &mut self.var_mut(dict).kind {
            dict.removed += u32::from(entries.len() < dict.entries.len());
            dict.below = below;
            dict.entries = Rc::new(entries);
        }
    }

    // ----- globals

    /// A name of the frame's globals, or of builtins.
    pub fn load_global(&mut self, name: &str) -> Result<VarId, Stop> {
        let builtins = self.frame().builtins;
        if let Some(found) = self.own_global(name)? {
            return Ok(found);
        }
        if let Some(found) = self.item_of_names(builtins, name)? {
            return Ok(found);
        }
        Err(self.no_such_name(name)?)
    }

    /// A name of the frame's globals themselves.
    pub fn own_global(&mut self, name: &str) -> Result<Option<VarId>, Stop> {
        let globals = self.frame().globals;
        match self.journal.global(globals, name) {
            Overlay::Set(value) => Ok(Some(VarId(value.0))),
            Overlay::Deleted => Ok(None),
            Overlay::Untouched => self.item_of_names(globals, name),
        }
    }

    /// What globals or builtins have under a name.
    fn item_of_names(&mut self, dict: ObjectId, name: &str) -> Result<Option<VarId>, Stop> {
        let tracker = self.constant_tracker(dict);
        let object = self.objects.get(self.py, dict);
        let Ok(object) = object.cast::<PyDict>() else { return Ok(None) };
        self.are_read_as_they_are(object)?;
        self.dict_item(object, tracker, name)
    }

    /// What the frame's builtins have under a name.
    pub fn load_builtin(&mut self, name: &str) -> Result<VarId, Stop> {
        let builtins = self.frame().builtins;
        let tracker = self.constant_tracker(builtins);
        let object = self.objects.get(self.py, builtins);
        let missing = || Stop::fallback(Reason::WouldRaise, format!("{name} not found"));
        let object = object.cast::<PyDict>().map_err(|_| missing())?;
        self.dict_item(object, tracker, name)?.ok_or_else(missing)
    }

    fn no_such_name(&mut self, name: &str) -> Result<Stop, Stop> {
        let stop = self.raise_error::<PyNameError>(&format!("name '{name}' is not defined"));
        self.tell_name(&stop, name, None)?;
        Ok(stop)
    }

    pub fn store_global(&mut self, name: &str, value: VarId) -> Result<(), Stop> {
        self.set_global_in(self.frame().globals, name, value)
    }

    /// A name in the globals of a module, which are its attributes, too.
    pub(super) fn set_global_in(&mut self, globals: ObjectId, name: &str, value: VarId) -> Result<(), Stop> {
        let dict = self.objects.get(self.py, globals);
        let dict = dict.cast::<PyDict>().map_err(|e| self.internal(&e.into()))?;
        self.dict_below(dict, None, true)?;
        self.note_rewritten(dict, name);
        self.journal_record(Mutation::SetGlobal { globals, name: name.into(), value: Self::var_ref(value) });
        Ok(())
    }

    pub fn delete_global(&mut self, name: &str) -> Result<(), Stop> {
        let globals: ObjectId = self.frame().globals;
        let dict = self.objects.get(self.py, globals);
        let dict = dict.cast::<PyDict>().map_err(|e| self.internal(&e.into()))?;
        let there = match self.journal.global(globals, name) {
            Overlay::Set(_) => true,
            Overlay::Deleted => false,
            Overlay::Untouched => {
                let tracker = self.constant_tracker(globals);
                self.dict_item(dict, tracker, name)?.is_some()
            }
        };
        if !there {
            return Err(self.no_such_name(name)?);
        }
        self.dict_below(dict, None, true)?;
        self.note_rewritten(dict, name);
        self.journal_record(Mutation::DelGlobal { globals, name: name.into() });
        Ok(())
    }

    // ----- cells

    /// The content of a cell.
    pub fn load_cell(&mut self, cell: VarId) -> Result<VarId, Stop> {
        self.cell_content(cell)?.ok_or(Stop::brk(Reason::WouldRaise, "an empty cell"))
    }

    /// The content of a cell, if it has one.
    pub fn cell_content(&mut self, cell: VarId) -> Result<Option<VarId>, Stop> {
        let VarKind::Cell(state) = self.look(cell)? else {
            return Err(Stop::fallback(Reason::InternalError, "not a cell"));
        };
        if state.known {
            return Ok(state.content);
        }
        let object = state.object.expect("a sourced cell");
        let object = self.objects.get(self.py, object);
        let base = self.var(cell).tracker;
        let tracker = self.trackers.step(base, Access::CellContent);
        let content = facts::cell_contents(&object);
        let content = match content {
            Some(content) => {
                self.guard_present(tracker);
                Some(self.wrap(&content, tracker))
            }
            None => {
                self.guard(tracker, Check::Unbound);
                None
            }
        };
        if let VarKind::Cell(state) = &mut self.learn(cell).kind {
            state.content = content;
            state.known = true;
        }
        Ok(content)
    }

    pub fn store_cell(&mut self, cell: VarId, value: Option<VarId>) -> Result<(), Stop> {
        let VarKind::Cell(state) = self.look(cell)? else {
            return Err(Stop::fallback(Reason::InternalError, "not a cell"));
        };
        if state.object.is_some() {
            let cell = Self::var_ref(cell);
            self.journal_record(match value {
                Some(value) => Mutation::SetCell { cell, value: Self::var_ref(value) },
                None => Mutation::ClearCell { cell },
            });
        }
        if let VarKind::Cell(state) = &mut self.var_mut(cell).kind {
            state.content = value;
            state.known = true;
        }
        Ok(())
    }
}
