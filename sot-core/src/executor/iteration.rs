//! Taking items from iterators.

use super::Executor;
use crate::backend::CallKind;
use crate::cpython::facts::{IterState, iterator_state};
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::Mutation;
use sot_tracker::{Check, Tracker};

impl<'py> Executor<'py> {
    /// An iterator over what a dict holds now.
    pub fn iterate_dict(&mut self, dict: VarId, items: Vec<VarId>) -> Result<VarId, Stop> {
        let length = items.len();
        let sequence = self.virtual_var(TupleVar::new(items));
        Ok(self.virtual_var(IteratorVar::new(Iteration::Snapshot { sequence, index: 0, dict, length })))
    }

    /// An iterator over items that are fixed now.
    pub fn iterate_snapshot(&mut self, items: Vec<VarId>) -> Result<VarId, Stop> {
        let sequence = self.virtual_var(TupleVar::new(items));
        Ok(self.virtual_var(IteratorVar::new(Iteration::Sequence { sequence, index: 0 })))
    }

    fn set_iteration(&mut self, iterator: VarId, state: Iteration) {
        self.var_mut(iterator).kind = IteratorVar::new(state).into();
    }

    /// `next(iterator)`; `None` when exhausted.
    pub fn next_item(&mut self, iterator: VarId) -> Result<Option<VarId>, Stop> {
        let VarKind::Iterator(IteratorVar { state }) = self.look(iterator)? else {
            return self.next_of_instance(iterator);
        };
        match state {
            Iteration::Exhausted => Ok(None),
            Iteration::Sequence { sequence, index } => {
                let item = match self.look(sequence)? {
                    VarKind::Tuple(t) => t.items.get(index).copied(),
                    VarKind::List(l) => l.items.get(index).copied(),
                    _ => return Err(Stop::fallback(Reason::InternalError, "iterator over something else")),
                };
                match item {
                    Some(_) => self.set_iteration(iterator, Iteration::Sequence { sequence, index: index + 1 }),
                    None => self.set_iteration(iterator, Iteration::Exhausted),
                }
                Ok(item)
            }
            Iteration::Snapshot { sequence, index, dict, length } => {
                if self.length(dict)? != length {
                    // Only the real iterator raises, and it cannot be made again.
                    return Err(Stop::fallback(Reason::WouldRaise, "a dict changed size during iteration"));
                }
                let VarKind::Tuple(items) = self.look(sequence)? else {
                    return Err(Stop::fallback(Reason::InternalError, "iterator over something else"));
                };
                let state = match index < items.items.len() {
                    true => Iteration::Snapshot { sequence, index: index + 1, dict, length },
                    false => Iteration::Exhausted,
                };
                self.set_iteration(iterator, state);
                Ok(items.items.get(index).copied())
            }
            Iteration::Reversed { sequence, index } => {
                let Some(at) = index.checked_sub(1) else {
                    self.set_iteration(iterator, Iteration::Exhausted);
                    return Ok(None);
                };
                let item = match self.look(sequence)? {
                    VarKind::Tuple(t) => t.items.get(at).copied(),
                    VarKind::List(l) => l.items.get(at).copied(),
                    _ => None,
                };
                self.set_iteration(iterator, Iteration::Reversed { sequence, index: at });
                Ok(item)
            }
            Iteration::Range { next, stop, step } => {
                if (step > 0 && next >= stop) || (step < 0 && next <= stop) {
                    self.set_iteration(iterator, Iteration::Exhausted);
                    return Ok(None);
                }
                let item = PyInt::new(self.py, next).into_any();
                let item = self.fold(&item)?;
                let next = next.checked_add(step).ok_or(Stop::brk(Reason::Builtin, "a huge range"))?;
                self.set_iteration(iterator, Iteration::Range { next, stop, step });
                Ok(Some(item))
            }
            Iteration::Enumerate { inner, count } => {
                let Some(item) = self.next_item(inner)? else { return Ok(None) };
                let number = PyInt::new(self.py, count).into_any();
                let number = self.fold(&number)?;
                self.set_iteration(iterator, Iteration::Enumerate { inner, count: count + 1 });
                Ok(Some(self.virtual_var(TupleVar::new(vec![number, item]))))
            }
            Iteration::Zip { inners } => {
                let mut items = Vec::with_capacity(inners.len());
                for inner in inners {
                    match self.next_item(inner)? {
                        Some(item) => items.push(item),
                        None => return Ok(None),
                    }
                }
                if items.is_empty() {
                    return Ok(None);
                }
                Ok(Some(self.virtual_var(TupleVar::new(items))))
            }
            Iteration::Map { function, inners } => {
                let mut items = Vec::with_capacity(inners.len());
                for inner in inners {
                    match self.next_item(inner)? {
                        Some(item) => items.push(item),
                        None => return Ok(None),
                    }
                }
                self.call_now(function, &Args::positional(items)).map(Some)
            }
            Iteration::Tensor { tensor, index, length } => {
                if index >= length {
                    self.set_iteration(iterator, Iteration::Exhausted);
                    return Ok(None);
                }
                self.set_iteration(iterator, Iteration::Tensor { tensor, index: index + 1, length });
                let at = PyInt::new(self.py, index as i64).into_any();
                let at = self.fold(&at)?;
                let getitem = self.operator("getitem")?;
                let args = Args::positional(vec![tensor, at]);
                self.record_call(CallKind::Method, "__getitem__", Some(&getitem), &args).map(Some)
            }
            Iteration::Real { object, taken, exhausted } => {
                if exhausted {
                    return Ok(None);
                }
                let iter = self.objects.get(self.py, object);
                let item = self.peek_real(iterator, &iter, taken)?;
                let state = Iteration::Real { object, taken: taken + 1, exhausted: item.is_none() };
                self.set_iteration(iterator, state);
                if let Some(item) = item {
                    self.journal_record(Mutation::IterAdvance {
                        iterator: Self::var_ref(iterator),
                        item: Self::var_ref(item),
                    });
                }
                Ok(item)
            }
        }
    }

    /// The iterators under `enumerate` and `zip` are advanced with them: nobody else may know or advance them.
    fn claim_inner_iterators(&mut self, iterator: &Bound<'py, PyAny>) -> bool {
        let inners = match crate::iterators::combined(iterator) {
            Some(crate::iterators::Combined::Enumerate { inner, .. }) => vec![inner],
            Some(crate::iterators::Combined::Zip { inners }) => inners,
            None => return true,
        };
        inners.iter().all(|inner| {
            let address = inner.as_ptr() as usize;
            !self.known.contains_key(&address) && self.claimed.insert(address) && self.claim_inner_iterators(inner)
        })
    }

    /// The item that a real iterator yields after `taken` others.
    fn peek_real(&mut self, iterator: VarId, iter: &Bound<'py, PyAny>, taken: usize) -> Result<Option<VarId>, Stop> {
        let tracker = self.var(iterator).tracker;
        if crate::iterators::combined(iter).is_some() {
            // Later items would need the positions of all that is combined: one item a capture.
            if taken > 0 || !self.claim_inner_iterators(iter) {
                return Err(Stop::brk(Reason::OpaqueValue, "an item of enumerate or zip"));
            }
            let item = crate::iterators::peek(iter);
            self.guard(tracker, Check::HasNext(item.is_some()));
            let at = self.trackers.intern(Tracker::IterPeek(tracker));
            return Ok(item.map(|item| self.wrap(&item, at)));
        }
        if self.claimed.contains(&(iter.as_ptr() as usize)) {
            return Err(Stop::brk(Reason::OpaqueValue, "an iterator that another one advances"));
        }
        let state = iterator_state(iter).ok_or(Stop::brk(Reason::OpaqueValue, "an iterator"))?;
        if taken > 0 {
            // The position becomes a fact: later items are the items of the sequence after it.
            let position = match &state {
                IterState::List(Some((_, index))) | IterState::Tuple(Some((_, index))) => *index as u64,
                IterState::Range(range) => range.next as u64,
                IterState::List(None) | IterState::Tuple(None) => 0,
            };
            self.guard(tracker, Check::IterIndex(position));
        }
        match state {
            IterState::List(None) | IterState::Tuple(None) => {
                self.guard(tracker, Check::HasNext(false));
                Ok(None)
            }
            IterState::Range(range) => {
                let has = range.left > taken as i64;
                if taken == 0 {
                    self.guard(tracker, Check::HasNext(has));
                } else {
                    let left = self.trackers.intern(Tracker::IterSource(tracker));
                    // Position and end of a range are both in its reduced form; the end is guarded by has-next of each
                    // position, which the dispatcher checks through the length of what is left.
                    self.guard(left, Check::Len(range.left as usize));
                }
                if !has {
                    return Ok(None);
                }
                let value = range.next + range.step * taken as i64;
                let value = PyInt::new(self.py, value).into_any();
                if taken == 0 {
                    let at = self.trackers.intern(Tracker::IterPeek(tracker));
                    return Ok(Some(self.wrap(&value, at)));
                }
                self.fold(&value).map(Some)
            }
            IterState::List(Some((sequence, index))) | IterState::Tuple(Some((sequence, index))) => {
                let at = index + taken;
                let length = sequence.len().map_err(|e| self.internal(&e))?;
                let has = at < length;
                if taken == 0 {
                    self.guard(tracker, Check::HasNext(has));
                }
                let source = self.trackers.intern(Tracker::IterSource(tracker));
                if !has {
                    if taken > 0 {
                        self.guard(source, Check::Len(length));
                    }
                    return Ok(None);
                }
                let value = sequence.get_item(at).map_err(|e| self.internal(&e))?;
                let item_tracker = match taken {
                    0 => self.trackers.intern(Tracker::IterPeek(tracker)),
                    _ => {
                        self.guard(source, Check::Len(length));
                        self.trackers.intern(Tracker::SeqItem { base: source, index: at as i64 })
                    }
                };
                Ok(Some(self.wrap(&value, item_tracker)))
            }
        }
    }

    fn next_of_instance(&mut self, iterator: VarId) -> Result<Option<VarId>, Stop> {
        // `__next__` ends by raising StopIteration, which is not simulated.
        let kind = self.look(iterator)?;
        Err(Stop::brk(Reason::ValueKind, format!("next() of {}", kind.kind_name())))
    }

    /// All items, for builtins that take the whole iterable.
    pub fn collect(&mut self, iterable: VarId) -> Result<Vec<VarId>, Stop> {
        match self.look(iterable)? {
            VarKind::Tuple(t) => return Ok(t.items.to_vec()),
            VarKind::List(l) => return Ok(l.items.to_vec()),
            _ => {}
        }
        let iterator = self.iterate(iterable)?;
        let mut items = Vec::new();
        while let Some(item) = self.next_item(iterator)? {
            items.push(item);
            if items.len() > 1_000_000 {
                return Err(Stop::fallback(Reason::Budget, ""));
            }
        }
        Ok(items)
    }
}
