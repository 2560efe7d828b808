//! Containers that contain themselves, directly or by way of others: they are built empty, and filled when all that was to be in them
//! is there, before the program sees any of it. Which they are: [`super::uses::rings`].
//!
//! Objects with attributes, functions with cells and exceptions are such by nature: what they refer to is set once they are there. Yet
//! who is built first may be the container, which leads back to itself by way of them.

use super::emit::{Callable, Emitter};
use crate::called_by_code;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};
use sot_opcodes::Op;
use std::rc::Rc;

impl<'py> Emitter<'_, 'py> {
    /// Push such a container, which is to be filled: as ever, but with nothing in it.
    pub(super) fn begin_ring(&mut self, kind: &VarKind, me: VarId) -> Result<(), Stop> {
        let mut empty = kind.clone();
        match &mut empty {
            VarKind::List(list) => list.items = Rc::default(),
            VarKind::Deque(deque) => deque.items = Rc::default(),
            VarKind::Dict(dict) => (dict.entries, dict.below) = (Rc::default(), None),
            _ => return Err(Stop::fallback(Reason::InternalError, "what cannot be filled")),
        }
        self.rebuild_at_once(&empty, me)?;
        self.remember(me);
        self.to_fill.push(me);
        self.push(me)
    }

    /// Put into the containers what is in them. What is pushed on the way may begin others.
    pub(super) fn fill_rings(&mut self) -> Result<(), Stop> {
        while let Some(me) = self.to_fill.pop() {
            // It is half built for as long.
            self.building.insert(me);
            self.fill_ring(me)?;
            self.building.remove(&me);
        }
        Ok(())
    }

    fn fill_ring(&mut self, me: VarId) -> Result<(), Stop> {
        match self.captured.var(me).kind.clone() {
            VarKind::List(list) => self.extend(self.py.get_type::<PyList>().as_any(), me, &list.items),
            VarKind::Deque(deque) => {
                let class = crate::cpython::module(self.py, "collections").and_then(|m| m.getattr("deque"));
                self.extend(&class.map_err(|e| Stop::internal(&e))?, me, &deque.items)
            }
            VarKind::Dict(dict) if self.are_hashed(&dict.entries) => {
                self.fill_hashed_at(me, &dict.entries_below())?;
                self.arrange_at(me, &dict)
            }
            VarKind::Dict(dict) => {
                let class = dict.class.map(|class| self.captured.objects.get(self.py, class));
                let class = class.and_then(|class| class.cast_into::<PyType>().ok());
                let class = class.filter(type_facts::is_ordered_dict).unwrap_or_else(|| self.py.get_type::<PyDict>());
                self.set_each(class.as_any(), me, &dict.entries_below())?;
                self.arrange_at(me, &dict)
            }
            _ => Err(Stop::fallback(Reason::InternalError, "what cannot be filled")),
        }
    }

    /// `class.extend(me, [items..])`
    pub(super) fn extend(&mut self, class: &Bound<'py, PyAny>, me: VarId, items: &[VarId]) -> Result<(), Stop> {
        let extend = class.getattr("extend").map_err(|e| Stop::internal(&e))?;
        self.push_callable(Callable::Object(extend));
        self.push(me)?;
        for item in items {
            self.push(*item)?;
        }
        self.emit(Op::BuildList(items.len() as u32));
        self.call(2);
        self.emit(Op::PopTop);
        Ok(())
    }

    /// `class.__setitem__(me, key, value)` for each entry.
    pub(super) fn set_each(
        &mut self,
        class: &Bound<'py, PyAny>,
        me: VarId,
        entries: &[(VarId, VarId)],
    ) -> Result<(), Stop> {
        let set = class.getattr("__setitem__").map_err(|e| Stop::internal(&e))?;
        for (key, value) in entries {
            self.push_callable(Callable::Object(set.clone()));
            self.push(me)?;
            self.push(*key)?;
            self.push(*value)?;
            self.call(3);
            self.emit(Op::PopTop);
        }
        Ok(())
    }

    /// Put entries into an empty dict whose keys code of the program has hashed.
    pub(super) fn fill_hashed_at(&mut self, me: VarId, entries: &[(VarId, VarId)]) -> Result<(), Stop> {
        self.push(me)?;
        self.fill_hashed(entries)?;
        self.emit(Op::PopTop);
        Ok(())
    }

    /// A new ordered dict is on the stack, with its keys in the order of the dict below: the order of its own comes to be.
    pub(super) fn arrange(&mut self, dict: &DictVar) -> Result<(), Stop> {
        let moved = dict.to_be_moved();
        if moved.is_empty() {
            return Ok(());
        }
        let temp = self.new_temp();
        self.store(temp);
        let arrange = called_by_code::arrange(self.py).map_err(|e| Stop::internal(&e))?;
        self.push_callable(Callable::Object(arrange));
        self.load(temp);
        for at in &moved {
            self.push_int(*at as i64)?;
        }
        self.emit(Op::BuildTuple(moved.len() as u32));
        self.call(2);
        Ok(())
    }

    /// The same, of one that was filled where it is.
    pub(super) fn arrange_at(&mut self, me: VarId, dict: &DictVar) -> Result<(), Stop> {
        if dict.below.is_none() {
            return Ok(());
        }
        self.push(me)?;
        self.arrange(dict)?;
        self.emit(Op::PopTop);
        Ok(())
    }
}
