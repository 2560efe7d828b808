//! `collections.deque`, as far as the simulation makes one.
//!
//! Its iterators are generators in disguise (`definitions_of_itertools.py`): they notice when the deque changes under them.

use super::Executor;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use std::rc::Rc;

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
        let deque = self.virtual_var(DequeVar { items: Rc::default(), maxlen, changes: 0 });
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

    /// What a deque holds is another sequence now.
    pub(super) fn replace_deque(&mut self, me: VarId, items: Vec<VarId>, changed: bool) {
        self.copied += items.len();
        if let VarKind::Deque(deque) = &mut self.var_mut(me).kind {
            deque.items = Rc::new(items);
            deque.changes += u32::from(changed);
        }
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
                let item = items.remove(if name == "pop" { items.len() - 1 } else { 0 });
                self.replace_deque(me, items, true);
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
                return self.fold_none().map(Called::Value);
            }
            ("insert", [index, item]) => {
                if full {
                    return Err(self.raise_error::<PyIndexError>("deque already at its maximum size"));
                }
                let index = self.index_value(*index)?.ok_or_else(opaque)?;
                let length = items.len() as i64;
                let at = if index < 0 { (index + length).max(0) } else { index.min(length) };
                items.insert(at as usize, *item);
            }
            ("copy" | "__copy__", []) => {
                let copy = DequeVar { changes: 0, ..deque.clone() };
                return Ok(Called::Value(self.virtual_var(copy)));
            }
            // On plain items, both equality and identity are those of the items.
            ("index" | "count", _) => return self.fold_method(me, name, args).map(Called::Value),
            ("__iter__" | "__reversed__", []) => {
                return self.iterate_deque(me, name == "__reversed__").map(Called::Value);
            }
            _ => return Err(opaque()),
        }
        self.replace_deque(me, items, true);
        self.fold_none().map(Called::Value)
    }
}
