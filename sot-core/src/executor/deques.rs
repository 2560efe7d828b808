//! `collections.deque`: made by the simulation, or from before the frame.
//!
//! The items of one from before are wrapped when it is looked at, as those of a list: its length and what it holds at most are guarded
//! then. A method that changes it is called again by rewritten code. Where its length has been another one before, who asks for all of it
//! breaks, since most deques of programs grow and shrink from call to call; but not at one that is full, as a window over what came last.
//!
//! Its iterators are generators in disguise (`definitions_of_itertools.py`): they notice when the deque changes under them.

use super::Executor;
use super::copies::Copies;
use super::kinds::Place;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use hashbrown::HashMap;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use sot_sideeffect::Mutation;
use sot_tracker::{Access, Arithmetic, Check, ObjectId};
use std::rc::Rc;

/// Items of a deque from before the frame that are looked at, at most.
const MOST: usize = 1024;
/// What a deque holds at most whose lengths have a capture each.
const SMALL: usize = 4;

impl<'py> Executor<'py> {
    pub(super) fn deque_class(&self) -> Result<Bound<'py, PyAny>, Stop> {
        crate::cpython::module(self.py, "collections")
            .and_then(|module| module.getattr("deque"))
            .map_err(|e| self.internal(&e))
    }

    /// `deque(iterable, maxlen)`; `None`: it is another class, or is left to Python.
    pub(super) fn call_deque(&mut self, class: &Bound<'py, PyAny>, args: &Args) -> Result<Option<Called>, Stop> {
        if !class.getattr("__name__").is_ok_and(|name| name.eq("deque").unwrap_or(false))
            || !self.deque_class()?.is(class)
        {
            return Ok(None);
        }
        let (mut iterable, mut maxlen) = match *args.positional.as_slice() {
            [] => (None, None),
            [iterable] => (Some(iterable), None),
            [iterable, maxlen] => (Some(iterable), Some(maxlen)),
            _ => return Ok(None),
        };
        for (name, value) in &args.keywords {
            match name.as_str() {
                "iterable" if iterable.is_none() => iterable = Some(*value),
                "maxlen" if maxlen.is_none() => maxlen = Some(*value),
                _ => return Ok(None),
            }
        }
        let maxlen = match self.unless_none(maxlen)? {
            Some(maxlen) => match self.constant_int(maxlen).and_then(|n| usize::try_from(n).ok()) {
                Some(maxlen) => Some(maxlen),
                None => return Ok(None),
            },
            None => None,
        };
        let deque = self.virtual_var(DequeVar { maxlen, ..DequeVar::default() });
        match iterable {
            Some(iterable) if !self.can_iterate(iterable)? => Ok(None),
            Some(iterable) => self.enter("fill_deque", &[deque, iterable, deque]).map(Some),
            None => Ok(Some(Called::Value(deque))),
        }
    }

    /// An iterator over a deque, in disguise.
    pub(super) fn iterate_deque(&mut self, deque: VarId, backwards: bool) -> Result<VarId, Stop> {
        let length = self.length(deque)?;
        let length = self.fold_int(length as i64)?;
        let definition = if backwards { "_deque_reverse_iterator__counted" } else { "_deque_iterator__counted" };
        self.in_disguise(definition, &[deque, length])
    }

    /// The first look at a deque from before the frame.
    pub(super) fn look_deque(&mut self, me: VarId, object: ObjectId, at: Place) -> Result<(), Stop> {
        self.guard_container(at.tracker, object, at.given, at.pinned);
        let base = if at.pinned { self.constant_tracker(object) } else { at.tracker };
        let deque = self.objects.get(self.py, object);
        let length = deque.len().map_err(|e| self.internal(&e))?;
        if length > MOST {
            return Err(Stop::brk(Reason::ValueKind, "a look into a deque of so many items"));
        }
        let most = deque.getattr("maxlen").map_err(|e| self.internal(&e))?;
        let place = self.trackers.step(base, Access::Attr("maxlen".into()));
        let known = self.objects.add(&most);
        self.guard(place, if most.is_none() { Check::Is(known) } else { Check::Equals(known) });
        // One that is full stays as long as it is: a window over what came last.
        let full = !most.is_none() && most.eq(length).map_err(|e| self.internal(&e))?;
        let most: Option<usize> = most.extract().ok();
        let varies = match most {
            None => self.has_had_many_lengths(base, length),
            // Each length of a small one has its capture; of any other one is enough to tell that it is about to be filled.
            Some(most) => most > SMALL && self.has_had_lengths(base, length, 2),
        };
        if !full && varies {
            if let Some(most) = most {
                // What breaks meanwhile is not for one that is full.
                self.guard_length(me, object, Arithmetic::Lt, most);
            }
            return Err(self.refuse_many_lengths("a deque whose length varies"));
        }
        self.guard(base, Check::Len(length));
        self.captured.lengths.push((base, length));
        let mut items = Vec::with_capacity(length);
        for (index, item) in deque.try_iter().map_err(|e| self.internal(&e))?.enumerate() {
            let item = item.map_err(|e| self.internal(&e))?;
            let place = self.trackers.step(base, Access::SeqItem(index as i64));
            self.note_item_read(place);
            items.push(self.wrap(&item, place));
        }
        items.extend(self.appended_before_look(me));
        if let VarKind::Deque(deque) = &mut self.learn(me).kind {
            *deque = DequeVar { items: Rc::new(items), maxlen: most, ..deque.clone() };
        }
        Ok(())
    }

    /// What a deque holds is another sequence now; `changed`: iterators that began before notice.
    fn replace_deque(&mut self, me: VarId, items: Vec<VarId>, changed: bool) {
        self.copied += items.len();
        if let VarKind::Deque(DequeVar { items: before, object: Some(_), .. }) = &self.var(me).kind {
            let before = before.clone();
            self.note_items_replaced(me, &before, &items);
            // One may be there more than once.
            let mut stay: HashMap<VarId, usize> = HashMap::new();
            items.iter().for_each(|item| *stay.entry(*item).or_default() += 1);
            for item in before.iter() {
                if let Some(count) = stay.get_mut(item).filter(|count| **count > 0) {
                    *count -= 1;
                } else if let Some(gone) = self.known_object(*item) {
                    let gone = self.objects.get(self.py, gone);
                    self.note_taken(&gone);
                }
            }
        }
        if let VarKind::Deque(deque) = &mut self.var_mut(me).kind {
            deque.items = Rc::new(items);
            deque.changes += u32::from(changed);
        }
    }

    /// `deque[key] = value`
    pub(super) fn set_item_of_deque(
        &mut self,
        me: VarId,
        deque: &DequeVar,
        key: VarId,
        new: VarId,
    ) -> Result<(), Stop> {
        let at = self.place_in_deque(deque, key)?;
        let mut items = deque.items.to_vec();
        items[at] = new;
        self.replace_deque(me, items, false);
        self.note_item_set(me, key, new);
        Ok(())
    }

    /// `del deque[key]`
    pub(super) fn delete_item_of_deque(&mut self, me: VarId, deque: &DequeVar, key: VarId) -> Result<(), Stop> {
        let at = self.place_in_deque(deque, key)?;
        let mut items = deque.items.to_vec();
        items.remove(at);
        self.replace_deque(me, items, true);
        self.note_item_deleted(me, key);
        Ok(())
    }

    /// The place of an item by its number.
    pub(super) fn place_in_deque(&mut self, deque: &DequeVar, key: VarId) -> Result<usize, Stop> {
        let length = deque.items.len() as i64;
        let Some(index) = self.index_value(key)? else {
            return Err(Stop::brk(Reason::ValueKind, "subscript of a deque"));
        };
        let at = if index < 0 { index + length } else { index };
        match usize::try_from(at).ok().filter(|at| *at < deque.items.len()) {
            Some(at) => Ok(at),
            None => Err(self.raise_error::<PyIndexError>("deque index out of range")),
        }
    }

    pub(super) fn deque_method(
        &mut self,
        me: VarId,
        deque: &DequeVar,
        name: &str,
        args: &Args,
    ) -> Result<Called, Stop> {
        let opaque = || Stop::brk(Reason::Builtin, format!("deque.{name}"));
        if !args.keywords.is_empty() {
            return Err(opaque());
        }
        let mut items = deque.items.to_vec();
        let full = deque.maxlen.is_some_and(|most| items.len() >= most);
        match (name, args.positional.as_slice()) {
            ("append", [item]) => {
                items.push(*item);
                if full {
                    items.remove(0);
                }
            }
            ("appendleft", [item]) => {
                items.insert(0, *item);
                if full {
                    items.pop();
                }
            }
            ("extend" | "extendleft", [iterable]) => {
                // What it holds by now.
                let iterable = match self.look(*iterable)? {
                    VarKind::Deque(other) if *iterable == me => self.virtual_var(TupleVar::new(other.items.to_vec())),
                    _ => *iterable,
                };
                if !self.can_iterate(iterable)? {
                    return Err(opaque());
                }
                let none = self.fold_none()?;
                let definition = if name == "extend" { "fill_deque" } else { "fill_deque_left" };
                return self.enter(definition, &[me, iterable, none]);
            }
            ("pop" | "popleft", []) => {
                if items.is_empty() {
                    return Err(self.raise_error::<PyIndexError>("pop from an empty deque"));
                }
                self.no_thread_comes_between(me)?;
                let item = items.remove(if name == "pop" { items.len() - 1 } else { 0 });
                self.replace_deque(me, items, true);
                self.record_deque_method(me, name, args);
                return Ok(Called::Value(item));
            }
            ("rotate", rest) if rest.len() <= 1 => {
                let by = match rest {
                    [by] => self.index_value(*by)?.ok_or_else(opaque)?,
                    _ => 1,
                };
                if items.len() > 1 {
                    let by = by.rem_euclid(items.len() as i64) as usize;
                    items.rotate_right(by);
                } else {
                    return self.fold_none().map(Called::Value);
                }
            }
            ("clear", []) if items.is_empty() => return self.fold_none().map(Called::Value),
            ("clear", []) => items.clear(),
            ("reverse", []) => {
                items.reverse();
                self.replace_deque(me, items, false);
                self.record_deque_method(me, name, args);
                return self.fold_none().map(Called::Value);
            }
            ("insert", [index, item]) => {
                let index = self.index_value(*index)?.ok_or_else(opaque)?;
                if full {
                    return Err(self.raise_error::<PyIndexError>("deque already at its maximum size"));
                }
                let length = items.len() as i64;
                let at = if index < 0 { (index + length).max(0) } else { index.min(length) };
                items.insert(at as usize, *item);
            }
            ("copy" | "__copy__", []) => {
                let copy = DequeVar { changes: 0, object: None, ..deque.clone() };
                return Ok(Called::Value(self.virtual_var(copy)));
            }
            ("remove", [sought]) if self.is_plain(me)? && self.is_plain(*sought)? => {
                let mut copies = Copies::default();
                let (real, value) = (self.plain_copy(me, &mut copies)?, self.plain_copy(*sought, &mut copies)?);
                let at = self.told_by_c(&[&real, &value], &copies, || {
                    // Which words it refuses in is its own affair.
                    real.call_method0("copy")?.call_method1("remove", (&value,))?;
                    real.call_method1("index", (&value,))?.extract::<usize>()
                })?;
                items.remove(at);
            }
            // On plain items, both equality and identity are those of the items.
            ("index" | "count", _) => return self.fold_method(me, name, args).map(Called::Value),
            ("__iter__" | "__reversed__", []) => {
                return self.iterate_deque(me, name == "__reversed__").map(Called::Value);
            }
            _ => return Err(opaque()),
        }
        self.replace_deque(me, items, true);
        self.record_deque_method(me, name, args);
        self.fold_none().map(Called::Value)
    }

    /// A method has changed a deque: rewritten code calls it again if the deque existed before the frame.
    fn record_deque_method(&mut self, me: VarId, name: &str, args: &Args) {
        let args = args.positional.iter().map(|arg| Self::var_ref(*arg)).collect();
        self.record_if_sourced(me, Mutation::Method { object: Self::var_ref(me), name: name.to_owned(), args });
    }
}
