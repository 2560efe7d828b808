//! Taking items from iterators.

use super::Executor;
use crate::backend::CallKind;
use crate::cpython::facts::{IterState, compares_with_nothing, iterator_state};
use crate::iterators::Combined;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::{Mutation, Slot, Target};
use sot_tracker::{Access, Check, TrackerId};

impl<'py> Executor<'py> {
    /// An iterator over a dict.
    pub fn iterate_dict(&mut self, dict: VarId, what: ViewWhat, backwards: bool) -> Result<VarId, Stop> {
        let VarKind::Dict(now) = self.look(dict)? else {
            return Err(Stop::brk(Reason::ValueKind, "iteration of a view"));
        };
        if let Some(iterator) = self.iterate_ordered(dict, what, backwards)? {
            return Ok(iterator);
        }
        let state = Iteration::Dict { dict, what, backwards, index: 0, seen: now.entries, removed: now.removed };
        Ok(self.virtual_var(IteratorVar::new(state)))
    }

    /// What an exhausted iterator runs over: nothing that anybody could add to.
    fn empty_like(&mut self, sequence: VarId) -> Result<VarId, Stop> {
        Ok(match self.look(sequence)? {
            VarKind::Tuple(_) => self.virtual_var(TupleVar::new(Vec::new())),
            VarKind::List(_) => self.virtual_var(ListVar::new(Vec::new())),
            VarKind::ByteArray(_) => self.virtual_var(ByteArrayVar { bytes: Default::default() }),
            VarKind::Native(_) => {
                let nothing = PySlice::new(self.py, 0, 0, 1);
                let nothing = self.fold(nothing.as_any())?;
                self.item_of_array(sequence, nothing)?
            }
            _ => {
                let whole = self.constant_value(sequence).ok_or(Stop::brk(Reason::ValueKind, "iteration"))?;
                let empty = whole.get_type().call0().map_err(|e| self.internal(&e))?;
                self.fold(&empty)?
            }
        })
    }

    /// Stop before a loop over an argument that would use up the budget: what was simulated of it by then would be lost.
    fn worth_iterating(&mut self, sequence: VarId) -> Result<(), Stop> {
        const MOST: usize = 10_000;
        let object = self.known_object(sequence).map(|object| self.objects.get(self.py, object));
        // Counted by C: a subclass may say anything.
        let length = object.map_or(0, |object| match (object.cast::<PyList>(), object.cast::<PyTuple>()) {
            (Ok(list), _) => list.len(),
            (_, Ok(tuple)) => tuple.len(),
            _ => 0,
        });
        match length > MOST {
            true => Err(Stop::fallback(Reason::Budget, format!("a loop over {length} items"))),
            false => Ok(()),
        }
    }

    pub(super) fn set_iteration(&mut self, iterator: VarId, state: Iteration) {
        self.var_mut(iterator).kind = IteratorVar::new(state).into();
    }

    /// An item of a string or bytes; `None` behind the end.
    fn constant_item(&mut self, sequence: VarId, at: usize) -> Result<Option<VarId>, Stop> {
        let value = self.constant_value(sequence).ok_or(Stop::brk(Reason::ValueKind, "iteration"))?;
        if at >= value.len().map_err(|e| self.would_raise(&e))? {
            return Ok(None);
        }
        let item = value.get_item(at).map_err(|e| self.would_raise(&e))?;
        self.fold(&item).map(Some)
    }

    /// `next(iterator)`; `None` when exhausted.
    pub fn next_item(&mut self, iterator: VarId) -> Result<Option<VarId>, Stop> {
        self.nested(|ex| ex.next_item_of(iterator))
    }

    fn next_item_of(&mut self, iterator: VarId) -> Result<Option<VarId>, Stop> {
        let VarKind::Iterator(IteratorVar { state }) = self.look(iterator)? else {
            return match self.var(iterator).kind {
                VarKind::Generator(ref generator) if !generator.is_iterator() => {
                    Err(Stop::brk(Reason::WouldRaise, "an item of what is awaited"))
                }
                VarKind::Generator(_) => {
                    self.not_shared(iterator)?;
                    if self.resume(iterator, None)? { Err(Stop::Calls) } else { Ok(None) }
                }
                VarKind::Native(_) => self.next_line(iterator),
                _ => self.next_of_instance(iterator),
            };
        };
        match state {
            Iteration::Exhausted => Ok(None),
            Iteration::Sequence { sequence, index } => {
                if index == 0 {
                    self.worth_iterating(sequence)?;
                }
                if let Some(item) = self.item_in_turn(sequence, index)? {
                    self.set_iteration(iterator, Iteration::Sequence { sequence, index: index + 1 });
                    return Ok(Some(item));
                }
                let item = match self.look(sequence)? {
                    VarKind::Tuple(t) => t.items.get(index).copied(),
                    VarKind::List(l) => l.items.get(index).copied(),
                    VarKind::ByteArray(array) => match array.bytes.get(index) {
                        Some(byte) => Some(self.fold_int(i64::from(*byte))?),
                        None => None,
                    },
                    VarKind::Native(_) => self.array_item_at(sequence, index)?,
                    _ => self.constant_item(sequence, index)?,
                };
                match item {
                    Some(_) => self.set_iteration(iterator, Iteration::Sequence { sequence, index: index + 1 }),
                    None => {
                        let sequence = self.empty_like(sequence)?;
                        self.set_iteration(iterator, Iteration::Sequence { sequence, index: ENDED });
                    }
                }
                Ok(item)
            }
            Iteration::Dict { dict, what, backwards, index, seen, removed } => {
                let VarKind::Dict(now) = self.look(dict)? else {
                    return Err(Stop::brk(Reason::ValueKind, "iteration of a view"));
                };
                if !self.is_ordered(&now) && (now.entries.len() != seen.len() || removed == u32::MAX) {
                    // It says so again, whatever becomes of the dict.
                    let removed = u32::MAX;
                    self.set_iteration(iterator, Iteration::Dict { dict, what, backwards, index, seen, removed });
                    return Err(self.raise_error::<PyRuntimeError>("dictionary changed size during iteration"));
                }
                if !now.same_keys(&seen, removed) {
                    // Only the real iterator knows what comes, and it cannot be made again: it is to see the first key go.
                    self.step.cause = self.gaps.get(&dict).copied();
                    return Err(Stop::fallback(Reason::WouldRaise, "the keys of a dict changed during iteration"));
                }
                // Values are those that the dict has by now.
                let at = if backwards { now.entries.len().checked_sub(index + 1) } else { Some(index) };
                let Some((key, value)) = at.and_then(|at| now.entries.get(at).copied()) else {
                    let empty = DictVar::new(Vec::new());
                    let (seen, removed) = (empty.entries.clone(), empty.removed);
                    let dict = self.virtual_var(empty);
                    self.set_iteration(iterator, Iteration::Dict { dict, what, backwards, index: 0, seen, removed });
                    return Ok(None);
                };
                let seen = now.entries;
                self.set_iteration(
                    iterator,
                    Iteration::Dict { dict, what, backwards, index: index + 1, seen, removed },
                );
                Ok(Some(match what {
                    ViewWhat::Keys => key,
                    ViewWhat::Values => value,
                    ViewWhat::Items => self.virtual_var(TupleVar::new(vec![key, value])),
                }))
            }
            Iteration::Set { .. } => self.next_of_set(iterator, state),
            Iteration::Reversed { sequence, index } => {
                let item = match (index.checked_sub(1), self.look(sequence)?) {
                    (None, _) => None,
                    (Some(at), VarKind::Tuple(t)) => t.items.get(at).copied(),
                    (Some(at), VarKind::List(l)) => l.items.get(at).copied(),
                    (Some(at), _) => self.constant_item(sequence, at)?,
                };
                let (sequence, index) = match item {
                    Some(_) => (sequence, index - 1),
                    None => (self.empty_like(sequence)?, 0),
                };
                self.set_iteration(iterator, Iteration::Reversed { sequence, index });
                Ok(item)
            }
            Iteration::Range { next, stop, step, taken } => {
                if (step > 0 && next >= stop) || (step < 0 && next <= stop) {
                    return Ok(None);
                }
                let item = PyInt::new(self.py, next).into_any();
                let item = self.fold(&item)?;
                let next = next.checked_add(step).ok_or(Stop::brk(Reason::Builtin, "a huge range"))?;
                self.set_iteration(iterator, Iteration::Range { next, stop, step, taken: taken + 1 });
                Ok(Some(item))
            }
            Iteration::Enumerate { inner, .. } => {
                let Some(item) = self.next_item(inner)? else { return Ok(None) };
                let number = self.next_number(iterator)?;
                Ok(Some(self.virtual_var(TupleVar::new(vec![number, item]))))
            }
            Iteration::Zip { inners, strict } => {
                let mut items = Vec::with_capacity(inners.len());
                for inner in &inners {
                    match self.next_item(*inner)? {
                        Some(item) => items.push(item),
                        None if strict => return self.zip_has_ended(&inners, items.len()).map(|()| None),
                        None => return Ok(None),
                    }
                }
                if items.is_empty() {
                    return Ok(None);
                }
                Ok(Some(self.virtual_var(TupleVar::new(items))))
            }
            Iteration::Indexed { index, backwards: true, .. } if index < 0 => {
                self.set_iteration(iterator, Iteration::Indexed { sequence: None, index, backwards: true });
                Ok(None)
            }
            Iteration::Indexed { sequence: None, .. } | Iteration::Called { asked: None } => Ok(None),
            Iteration::Filter { .. } | Iteration::Indexed { .. } | Iteration::Called { .. } => Err(Stop::Calls),
            Iteration::Map { function, inners } => {
                let mut items = Vec::with_capacity(inners.len());
                for inner in inners {
                    match self.next_item(inner)? {
                        Some(item) => items.push(item),
                        None => return Ok(None),
                    }
                }
                self.call_of_c(function, &Args::positional(items))
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
                let iter = self.objects.get(self.py, object);
                let combined = crate::iterators::combined(&iter);
                if exhausted && matches!(combined, Some(Combined::Enumerate { .. } | Combined::Zip { .. })) {
                    // Each further question takes items from what is combined.
                    return Err(Stop::brk(Reason::OpaqueValue, "an iterator behind its end"));
                }
                if exhausted {
                    return Ok(None);
                }
                let item = self.peek_real(iterator, &iter, taken)?;
                let state = Iteration::Real { object, taken: taken + 1, exhausted: item.is_none() };
                self.set_iteration(iterator, state);
                // At its end it lets go of what it ran over, and finds nothing that is added to it later; a range has nothing.
                if item.is_none()
                    && let Some(container) = crate::iterators::container_of(&iter)
                {
                    self.note_taken(&container);
                }
                let in_range = matches!(iterator_state(&iter), Some(IterState::Range(_)));
                if in_range && let Some(item) = item {
                    // The type of the iterator tells that of the number.
                    self.learn(item).looked = true;
                }
                if item.is_some() || !in_range {
                    let item = item.map(Self::var_ref);
                    self.journal_record(Mutation::IterAdvance { iterator: Self::var_ref(iterator), item });
                }
                Ok(item)
            }
        }
    }

    /// An iterator that the program may come to know.
    pub(super) fn iterate_openly(&mut self, iterable: VarId) -> Result<VarId, Stop> {
        if self.has_iterators() {
            return match self.is_given(iterable) {
                true => Err(Stop::brk(Reason::OpaqueCall, "a builtin is handed iterators of the program")),
                false => Ok(iterable),
            };
        }
        if self.is_long(iterable) {
            return Err(self.refuse_long(iterable, true));
        }
        if !self.has_items_by_index(iterable)? {
            return self.iterate(iterable);
        }
        Ok(self.iterate_by_index(iterable))
    }

    /// The iterator of an instance that has items by number alone.
    pub(super) fn iterate_by_index(&mut self, sequence: VarId) -> VarId {
        self.virtual_var(IteratorVar::new(Iteration::Indexed { sequence: Some(sequence), index: 0, backwards: false }))
    }

    /// `reversed(sequence)` of an instance that has a length and items by number, which begins at this one.
    pub(super) fn iterate_backwards(&mut self, sequence: VarId, index: VarId) -> Result<VarId, Stop> {
        let index = self.require_plain(index)?;
        let index = index.extract().map_err(|_| Stop::brk(Reason::Builtin, "reversed() of a long sequence"))?;
        let state = Iteration::Indexed { sequence: Some(sequence), index, backwards: true };
        Ok(self.virtual_var(IteratorVar::new(state)))
    }

    /// `iter(function, last)`
    pub(super) fn iterate_calls(&mut self, function: VarId, last: VarId) -> Result<VarId, Stop> {
        let callable = match self.look(function)? {
            VarKind::Instance(_) => self.method_of_program(function, "__call__")?.is_some(),
            VarKind::Function(_) | VarKind::Method(_) | VarKind::Bound(_) | VarKind::Builtin(_) | VarKind::Class(_) => {
                true
            }
            _ => false,
        };
        if !callable {
            return Err(Stop::brk(Reason::Builtin, "iter() of calls"));
        }
        Ok(self.virtual_var(IteratorVar::new(Iteration::Called { asked: Some((function, last)) })))
    }

    /// An iterator by number has given an item.
    pub(super) fn iterator_moves(&mut self, iterator: VarId) -> Result<VarId, Stop> {
        match self.look(iterator)? {
            VarKind::Iterator(IteratorVar { state: Iteration::Indexed { sequence, index, backwards } }) => {
                let index = if backwards { index - 1 } else { index + 1 };
                self.set_iteration(iterator, Iteration::Indexed { sequence, index, backwards });
                self.fold_none()
            }
            _ => Err(Stop::brk(Reason::OpaqueValue, "the number of an item")),
        }
    }

    /// An iterator by number, or of calls, has come to its end.
    pub(super) fn iterator_ends(&mut self, iterator: VarId) -> Result<VarId, Stop> {
        let state = match self.look(iterator)? {
            VarKind::Iterator(IteratorVar { state: Iteration::Indexed { index, backwards, .. } }) => {
                Iteration::Indexed { sequence: None, index, backwards }
            }
            VarKind::Iterator(IteratorVar { state: Iteration::Called { .. } }) => Iteration::Called { asked: None },
            _ => return Err(Stop::brk(Reason::OpaqueValue, "the end of an iterator")),
        };
        self.set_iteration(iterator, state);
        self.fold_none()
    }

    /// Whether an iterator of calls has come to its end while its function ran.
    pub(super) fn calls_have_ended(&mut self, iterator: VarId) -> Result<VarId, Stop> {
        match self.look(iterator)? {
            VarKind::Iterator(IteratorVar { state: Iteration::Called { asked: None } })
                if compares_with_nothing(self.py) =>
            {
                Err(Stop::brk(Reason::WouldRaise, "an iterator that ended while it was asked"))
            }
            VarKind::Iterator(IteratorVar { state: Iteration::Called { asked } }) => self.fold_bool(asked.is_none()),
            _ => Err(Stop::brk(Reason::OpaqueValue, "the end of an iterator")),
        }
    }

    /// The number of the next item of an `enumerate`, which counts on.
    pub(super) fn next_number(&mut self, enumerate: VarId) -> Result<VarId, Stop> {
        match self.look(enumerate)? {
            VarKind::Iterator(IteratorVar { state: Iteration::Enumerate { inner, count: Some(count) } }) => {
                let next = count.checked_add(1).ok_or(Stop::brk(Reason::Builtin, "a huge enumeration"))?;
                self.set_iteration(enumerate, Iteration::Enumerate { inner, count: Some(next) });
                self.fold_int(count)
            }
            _ => Err(Stop::brk(Reason::OpaqueValue, "the number of an item")),
        }
    }

    /// The iterators under `enumerate` and `zip` are advanced with them: nobody else may know or advance them.
    fn claim_inner_iterators(&mut self, iterator: &Bound<'py, PyAny>) -> bool {
        let Some(combined) = crate::iterators::combined(iterator) else { return true };
        combined.inners().iter().all(|inner| {
            let address = inner.as_ptr() as usize;
            !self.known.contains_key(&address) && self.claimed.insert(address) && self.claim_inner_iterators(inner)
        })
    }

    /// Whether the journal holds a change of the items of this container.
    pub fn content_changed(&self, container: &Bound<'py, PyAny>) -> bool {
        let var = self.known.get(&(container.as_ptr() as usize));
        var.is_some_and(|var| self.journal.version(&Slot::Content(Self::var_ref(*var))) > 0)
    }

    /// Whether the journal holds a change of what an iterator runs over: what lies there now is not what it will find.
    fn changed_meanwhile(&self, iter: &Bound<'py, PyAny>) -> bool {
        if self.journal.is_empty() {
            return false;
        }
        if let Some(combined) = crate::iterators::combined(iter) {
            return combined.inners().iter().any(|inner| self.changed_meanwhile(inner));
        }
        let Some(dict) = crate::iterators::dict_of(iter) else {
            if let Some(set) = crate::iterators::set_of(iter) {
                return self.content_changed(set.as_any());
            }
            // A list, then, if it is anything that changes.
            return crate::iterators::list_of(iter).is_some_and(|list| self.content_changed(list.as_any()));
        };
        self.journal.entries().iter().any(|entry| match entry.mutation.target() {
            Target::Globals(globals) => self.objects.get_ref(self.py, globals).is(&dict),
            Target::Mode(_) => false,
            Target::Object(var) => {
                let object = self.known_object(VarId(var.0)).map(|o| self.objects.get(self.py, o));
                object.is_some_and(|object| {
                    object.is(&dict) || crate::cpython::facts::instance_dict(&object).is_some_and(|own| own.is(&dict))
                })
            }
        })
    }

    /// The item that a real iterator yields after `taken` others.
    fn peek_real(&mut self, iterator: VarId, iter: &Bound<'py, PyAny>, taken: usize) -> Result<Option<VarId>, Stop> {
        let tracker = self.var(iterator).tracker;
        // Of a dict the first item costs no list of all that are left.
        let first = crate::cpython::facts::next_of_dict(iter).filter(|_| taken == 0);
        let rest = if first.is_some() { None } else { crate::iterators::reduced(iter) };
        if first.is_some() || rest.is_some() {
            if self.changed_meanwhile(iter) {
                return Err(Stop::brk(Reason::OpaqueValue, "an item of a dict or set that was changed"));
            }
            if taken == 0 {
                let item = first.unwrap_or_else(|| rest.and_then(|rest| rest.first()));
                self.guard_next(tracker, iter, item.is_some());
                let at = self.trackers.step(tracker, Access::IterPeek);
                return Ok(item.map(|item| self.wrap(&item, at)));
            }
            let rest = rest.ok_or(Stop::brk(Reason::OpaqueValue, "an iterator"))?;
            let left = rest.left().ok_or(Stop::brk(Reason::OpaqueValue, "an iterator"))?;
            let source = self.trackers.step(tracker, Access::IterSource);
            self.guard(source, Check::Len(left));
            let at = self.trackers.step(source, Access::SeqItem(taken as i64));
            return Ok(rest.nth(taken).map(|item| self.wrap(&item, at)));
        }
        if let Some(combined) = crate::iterators::combined(iter) {
            // Later items of others would need the positions of all that is combined: one item a capture.
            let knows_later = matches!(combined, Combined::Asking { .. });
            if taken > 0 && !knows_later || taken == 0 && !self.claim_inner_iterators(iter) {
                return Err(Stop::brk(Reason::OpaqueValue, "a later item of an iterator"));
            }
            if self.changed_meanwhile(iter) {
                return Err(Stop::brk(Reason::OpaqueValue, "an item of what was changed"));
            }
            if taken > 0 {
                let item = crate::iterators::ahead(iter, taken);
                let item = item.ok_or(Stop::brk(Reason::OpaqueValue, "a later item of an iterator"))?;
                let at = self.place_ahead(tracker, taken);
                return Ok(Some(self.wrap(&item, at)));
            }
            let item = crate::iterators::peek(iter);
            if item.is_none() && crate::iterators::has_next(iter).is_none() {
                return Err(Stop::brk(Reason::OpaqueValue, "an item of an iterator"));
            }
            self.guard_next(tracker, iter, item.is_some());
            let at = self.trackers.step(tracker, Access::IterPeek);
            return Ok(item.map(|item| self.wrap(&item, at)));
        }
        if self.claimed.contains(&(iter.as_ptr() as usize)) {
            return Err(Stop::brk(Reason::OpaqueValue, "an iterator that another one advances"));
        }
        let state = iterator_state(iter).ok_or(Stop::brk(Reason::OpaqueValue, "an iterator"))?;
        // Where it stands is no fact: later items are found behind the next one, and at the end is guarded how many there were.
        match state {
            IterState::List(None) | IterState::Tuple(None) => {
                self.guard_next(tracker, iter, false);
                Ok(None)
            }
            IterState::Range(range) => {
                let has = range.left > taken as i64;
                if !has {
                    self.guard_end(tracker, taken);
                    return Ok(None);
                }
                let value = range.next + range.step * taken as i64;
                let value = PyInt::new(self.py, value).into_any();
                let at = self.place_ahead(tracker, taken);
                Ok(Some(self.wrap(&value, at)))
            }
            IterState::Given(given) => match given.nth(taken) {
                Some(item) => {
                    let at = self.place_ahead(tracker, taken);
                    Ok(Some(self.wrap(&item, at)))
                }
                None => {
                    self.guard_end(tracker, taken);
                    Ok(None)
                }
            },
            IterState::List(Some((sequence, _))) if self.content_changed(&sequence) => {
                Err(Stop::brk(Reason::OpaqueValue, "an item of a list that was changed"))
            }
            IterState::List(Some((sequence, index))) | IterState::Tuple(Some((sequence, index))) => {
                if let Some(list) = self.known.get(&(sequence.as_ptr() as usize))
                    && self.is_written(*list)
                {
                    return Err(Stop::brk(Reason::OpaqueValue, "an iterator over a list that was written to"));
                }
                let at = index + taken;
                let length = crate::iterators::length_as_it_lies(&sequence);
                let has = at < length;
                if !has {
                    self.guard_end(tracker, taken);
                    return Ok(None);
                }
                if taken == 1 && matches!(iterator_state(iter), Some(IterState::List(_))) {
                    self.refuse_many_ends(tracker, length - index)?;
                }
                let value = crate::iterators::item_as_it_lies(&sequence, at);
                let value = value.ok_or(Stop::brk(Reason::OpaqueValue, "an iterator"))?;
                let at = self.place_ahead(tracker, taken);
                Ok(Some(self.wrap(&value, at)))
            }
        }
    }

    /// Whether an iterator gives an item. One that has ended gives none even if what it ran over has grown by then.
    fn guard_next(&mut self, iterator: TrackerId, iter: &Bound<'py, PyAny>, has: bool) {
        let ended = !has && crate::iterators::has_ended(iter);
        self.guard(iterator, if ended { Check::Ended } else { Check::HasNext(has) });
    }

    /// Where the item is that an iterator yields after `taken` others, of which there is one.
    fn place_ahead(&mut self, iterator: TrackerId, taken: usize) -> TrackerId {
        if taken == 0 {
            self.guard(iterator, Check::HasNext(true));
            return self.trackers.step(iterator, Access::IterPeek);
        }
        let at = self.trackers.step(iterator, Access::IterAhead(taken as u32));
        self.guard_present(at);
        at
    }

    /// An iterator has come to its end behind `taken` items.
    fn guard_end(&mut self, iterator: TrackerId, taken: usize) {
        match taken {
            0 => self.guard(iterator, Check::HasNext(false)),
            _ => self.guard(iterator, Check::Len(taken)),
        }
        self.captured.lengths.push((iterator, taken));
    }

    fn next_of_instance(&mut self, iterator: VarId) -> Result<Option<VarId>, Stop> {
        let kind = self.look(iterator)?;
        if !matches!(kind, VarKind::Instance(_)) {
            return Err(Stop::brk(Reason::ValueKind, format!("next() of {}", kind.kind_name())));
        }
        let next = self.special_method(iterator, "__next__")?;
        self.call_of_c(next, &Args::default())
    }

    /// The next item, by a call that runs no code of the program.
    fn call_of_c(&mut self, function: VarId, args: &Args) -> Result<Option<VarId>, Stop> {
        match self.call(function, args) {
            Ok(Called::Value(item)) => Ok(Some(item)),
            Ok(Called::Entered(_)) => Err(Stop::Calls),
            // For who asks, the items end here.
            Err(Stop::Raised(exception)) if self.is_stop_iteration(exception)? => Ok(None),
            Err(stop) => Err(stop),
        }
    }

    /// As [`Executor::collect`], for those that ask for the length, too, once they have the iterator: `list`, `tuple`
    /// and what extends a list.
    pub fn collect_sized(&mut self, iterable: VarId) -> Result<Vec<VarId>, Stop> {
        match self.look(iterable)? {
            VarKind::Instance(_) | VarKind::Layer(_) => {
                let iterator = self.iterate_sized(iterable)?;
                self.collect(iterator)
            }
            _ => self.collect(iterable),
        }
    }

    /// The iterator of what is asked for its length afterwards.
    pub fn iterate_sized(&mut self, iterable: VarId) -> Result<VarId, Stop> {
        let (VarKind::Instance(_) | VarKind::Layer(_)) = self.look(iterable)? else { return self.iterate(iterable) };
        let class = self.class_of(iterable)?;
        let iterator = self.iterate(iterable)?;
        if self.class_lookup(&class, "__len__")?.is_some() {
            self.length(iterable)?;
        } else if self.class_lookup(&class, "__length_hint__")?.is_some() {
            return Err(Stop::brk(Reason::UserCode, "__length_hint__"));
        }
        Ok(iterator)
    }

    /// The first items, as unpacking asks for them: no further item of an iterator is asked for.
    pub fn collect_at_most(&mut self, iterable: VarId, most: usize) -> Result<Vec<VarId>, Stop> {
        match self.look(iterable)? {
            VarKind::Iterator(_) | VarKind::Generator(_) | VarKind::Instance(_) => {}
            _ => return self.collect(iterable),
        }
        let iterator = self.iterate(iterable)?;
        let mut items = Vec::new();
        while items.len() < most
            && let Some(item) = self.next_item(iterator)?
        {
            items.push(item);
        }
        Ok(items)
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

impl Executor<'_> {
    /// The argument of a strict `zip` with this number has no more items: those before have had one, and those behind must have none.
    fn zip_has_ended(&mut self, inners: &[VarId], ended: usize) -> Result<(), Stop> {
        let unequal = |ex: &mut Self, at: usize, is: &str| {
            let others = if at == 1 { " 1".to_owned() } else { format!("s 1-{at}") };
            ex.raise_error::<PyValueError>(&format!("zip() argument {} is {is} than argument{others}", at + 1))
        };
        if ended > 0 {
            return Err(unequal(self, ended, "shorter"));
        }
        for (at, inner) in inners.iter().enumerate().skip(1) {
            if self.next_item(*inner)?.is_some() {
                return Err(unequal(self, at, "longer"));
            }
        }
        Ok(())
    }
}
