//! Slices of lists that are assigned and deleted.
//!
//! The journal's entry is `list[slice] = items`, of all items that were asked for: whoever replays it asks nobody.

use super::{Awaits, Executor, Flow};
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyRange, PySlice, PyString, PyType};
use sot_sideeffect::Mutation;

/// A slice of a list of some length.
struct Places {
    start: isize,
    stop: isize,
    step: isize,
    count: usize,
}

impl Places {
    fn all(&self) -> impl Iterator<Item = usize> {
        let (start, step) = (self.start, self.step);
        (0..self.count as isize).map(move |at| (start + at * step) as usize)
    }
}

impl<'py> Executor<'py> {
    pub(super) fn is_slice(&mut self, key: VarId) -> Result<bool, Stop> {
        Ok(matches!(self.look(key)?, VarKind::Slice(_)))
    }

    fn places(&mut self, key: VarId, length: usize) -> Result<Places, Stop> {
        let slice = self.require_plain(key)?;
        let slice = slice.cast::<PySlice>().map_err(|e| self.internal(&e.into()))?;
        let i = slice.indices(length as isize).map_err(|e| self.would_raise(&e))?;
        // What is assigned to `[5:2]` goes before 5.
        let turned = (i.step < 0 && i.start < i.stop) || (i.step > 0 && i.start > i.stop);
        Ok(Places { start: i.start, stop: if turned { i.start } else { i.stop }, step: i.step, count: i.slicelength })
    }

    /// What says that a value cannot be assigned to a slice: a list of the same length is asked.
    fn no_iterable(&mut self, key: VarId, length: usize) -> Result<String, Stop> {
        let slice = self.require_plain(key)?;
        let list = PyList::new(self.py, 0..length).map_err(|e| self.internal(&e))?;
        match list.as_any().set_item(slice, 0) {
            Err(error) => Ok(error.value(self.py).to_string()),
            Ok(()) => Err(Stop::fallback(Reason::InternalError, "a number was assigned to a slice")),
        }
    }

    /// The frame of `list[slice] = value` where taking the items of the value runs code of the program.
    pub(super) fn enter_slice(&mut self, list: VarId, key: VarId, value: VarId) -> Result<Option<Flow>, Stop> {
        let VarKind::List(ListVar { class: None, items, .. }) = self.look(list)? else { return Ok(None) };
        if !self.is_slice(key)? || !self.iterates_by_code(value)? {
            return Ok(None);
        }
        let places = self.places(key, items.len())?;
        let message = self.no_iterable(key, items.len())?;
        let message = self.fold(PyString::new(self.py, &message).as_any())?;
        // Where the slice begins and ends is known before items are asked for.
        let key = match places.step {
            1 => {
                let (start, stop) = (self.fold_int(places.start as i64)?, self.fold_int(places.stop as i64)?);
                let step = self.fold_none()?;
                self.virtual_var(SliceVar { parts: [start, stop, step] })
            }
            _ => key,
        };
        self.enter("store_slice", &[list, key, value, message])?;
        Ok(Some(Flow::Entered(Awaits::Drop)))
    }

    /// `list[slice] = value`
    pub(super) fn set_slice(&mut self, me: VarId, list: &ListVar, key: VarId, value: VarId) -> Result<(), Stop> {
        if list.class.is_some() {
            return Err(Stop::brk(Reason::Mutation, "assignment to a slice"));
        }
        let places = self.places(key, list.items.len())?;
        if let VarKind::Constant(_) = self.look(value)?
            && !self.constant_value(value).is_some_and(|value| {
                value.is_instance_of::<PyString>()
                    || value.is_instance_of::<PyBytes>()
                    || value.cast::<PyRange>().is_ok()
            })
        {
            let message = self.no_iterable(key, list.items.len())?;
            return Err(self.raise_error::<PyTypeError>(&message));
        }
        let new = self.collect(value)?;
        // Asking for them may have changed the list.
        let VarKind::List(list) = self.look(me)? else {
            return Err(Stop::fallback(Reason::InternalError, "no list"));
        };
        let mut items = list.items.to_vec();
        if places.step == 1 {
            let start = (places.start as usize).min(items.len());
            let stop = (places.stop as usize).clamp(start, items.len());
            items.splice(start..stop, new.iter().copied());
        } else {
            if new.len() != places.count {
                let (given, count) = (new.len(), places.count);
                let text = format!("attempt to assign sequence of size {given} to extended slice of size {count}");
                return Err(self.raise_error::<PyValueError>(&text));
            }
            for (at, item) in places.all().zip(&new) {
                match items.get_mut(at) {
                    Some(place) => *place = *item,
                    None => return Err(Stop::brk(Reason::Mutation, "assignment to a slice")),
                }
            }
        }
        self.replace_list(me, items);
        if self.is_sourced_container(me) {
            let value = self.virtual_var(TupleVar::new(new));
            let (object, key, value) = (Self::var_ref(me), Self::var_ref(key), Self::var_ref(value));
            self.journal_record(Mutation::SetItem { object, key, value });
        }
        Ok(())
    }

    /// `del list[slice]`
    pub(super) fn delete_slice(&mut self, me: VarId, list: &ListVar, key: VarId) -> Result<(), Stop> {
        if list.class.is_some() {
            return Err(Stop::brk(Reason::Mutation, "deletion of a slice"));
        }
        let places = self.places(key, list.items.len())?;
        let gone: hashbrown::HashSet<usize> = places.all().collect();
        let left = list.items.iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, item)| *item).collect();
        self.replace_list(me, left);
        if self.is_sourced_container(me) {
            let (object, key) = (Self::var_ref(me), Self::var_ref(key));
            self.journal_record(Mutation::DelItem { object, key });
        }
        Ok(())
    }

    /// `slice.indices(length)`, and other methods of slices.
    pub(super) fn slice_method(&mut self, me: VarId, name: &str, args: &Args) -> Result<VarId, Stop> {
        self.fold_method(me, name, args)
    }

    /// The frame of the `__index__` of an instance of the program that is to be the index of a builtin sequence.
    pub(super) fn enter_index(&mut self, container: VarId, key: VarId) -> Result<Option<Called>, Stop> {
        let VarKind::Instance(InstanceVar { part: None, .. }) = self.look(key)? else { return Ok(None) };
        let mut limited = true;
        let sequence = match self.look(container)? {
            VarKind::List(list) => list.class.is_none(),
            VarKind::Tuple(tuple) => tuple.class.is_none(),
            VarKind::Deque(_) | VarKind::ByteArray(_) => true,
            VarKind::Constant(_) => {
                let value = self.constant_value(container);
                limited = !value.as_ref().is_some_and(|value| value.is_instance_of::<PyRange>());
                value.is_some_and(|value| value.cast::<pyo3::types::PySequence>().is_ok())
            }
            _ => false,
        };
        // An int is its own index.
        let class = self.class_of(key)?;
        let is_int = class.cast::<PyType>().is_ok_and(|class| class.is_subclass_of::<PyInt>().unwrap_or(true));
        if !sequence || is_int || self.method_of_program(key, "__index__")?.is_none() {
            return Ok(None);
        }
        if !limited {
            return self.enter_answer("int", key, &["__index__"], &[]);
        }
        let index = self.operator("index")?;
        let index = self.pin(&index);
        self.enter_answer_for(index, key, &["__index__"], &[])
    }

    /// TypeError for what is no index of a sequence; a break where it may have an `__index__`.
    pub(super) fn no_index(&mut self, what: &str, key: VarId) -> Result<Stop, Stop> {
        let plain = match self.look(key)? {
            VarKind::Constant(_) => true,
            VarKind::Tuple(tuple) => tuple.class.is_none(),
            VarKind::List(list) => list.class.is_none(),
            VarKind::Dict(dict) => dict.class.is_none(),
            _ => false,
        };
        let class = self.class_of(key)?;
        if !plain || self.class_lookup(&class, "__index__")?.is_some() {
            return Err(Stop::brk(Reason::ValueKind, "subscript of a sequence"));
        }
        let class = super::compared::class_name(&class);
        Ok(self.raise_error::<PyTypeError>(&format!("{what} indices must be integers or slices, not {class}")))
    }
}
