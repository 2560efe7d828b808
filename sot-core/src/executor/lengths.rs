//! Lists from before the frame whose length was another one at each capture: a history that grows from call to call.
//!
//! A capture that looks at such a list as a whole (`sum(losses)`, a loop over it) holds for one length. Where that has been others before, a
//! loop asks for the items one by one, so that a break in its body leaves nothing but that there is a next one; and in a general capture
//! who looks at the whole breaks.

use super::Executor;
use super::kinds::Place;
use crate::backend::Kind;
use crate::captured::place;
use crate::frame::Frame;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList};
use sot_tracker::{Access, Arithmetic, Check, ObjectId, TrackerId};

/// So many lengths of one container tell that it varies: who asks for the whole breaks.
const LENGTHS: usize = 3;
const A_LIST: &str = "a list whose length varies";
/// Items of a list that tell whether it holds tensors.
const SAMPLES: usize = 64;

/// What a comprehension or a generator expression is called, where it has a frame of its own.
fn is_of_an_expression(name: &str) -> bool {
    matches!(name, "<listcomp>" | "<setcomp>" | "<dictcomp>" | "<genexpr>")
}

impl<'py> Executor<'py> {
    /// Whether captures have found a container here with other lengths, so many that it varies.
    pub(super) fn has_had_many_lengths(&self, base: TrackerId, length: usize) -> bool {
        self.has_had_lengths(base, length, LENGTHS)
    }

    /// Whether so many lengths were found, with this one.
    pub(super) fn has_had_lengths(&self, base: TrackerId, length: usize, lengths: usize) -> bool {
        let check = Check::Len(length);
        self.found.numbers.is_fact_that_varies(self.py, &self.captured, base, &check, lengths)
    }

    /// The same of a list: in particular captures, where lengths may come again, each is a capture.
    fn has_many_lengths(&self, base: TrackerId, length: usize) -> bool {
        self.found.general.is_some() && self.has_had_many_lengths(base, length)
    }

    /// The first look at a list from before.
    pub(super) fn note_length(&mut self, list: &ListVar, object: ObjectId, at: Place) -> Result<(), Stop> {
        let real = self.objects.get(self.py, object);
        let Ok(items) = real.cast_exact::<PyList>() else { return Ok(()) };
        if list.class.is_some() || self.holds_operands(items) {
            return Ok(());
        }
        let base = if at.pinned { self.constant_tracker(object) } else { at.tracker };
        if self.has_many_lengths(base, items.len()) {
            return Err(self.refuse_many_lengths(A_LIST));
        }
        self.captured.lengths.push((base, items.len()));
        Ok(())
    }

    /// Of tensors and layers each length is a graph of its own, which a break would cut.
    fn holds_operands(&self, items: &Bound<'py, PyList>) -> bool {
        items.iter().take(SAMPLES).any(|item| matches!(self.backend.classify(&item), Kind::Tensor | Kind::Layer))
    }

    /// A break at what looks at the list: in the user's frame that calls for a comprehension or a builtin, which would break once for each
    /// item otherwise.
    pub(super) fn refuse_many_lengths(&mut self, why: &'static str) -> Stop {
        let of_another = |frame: &Frame| frame.unit.hidden || is_of_an_expression(&frame.unit.code.name);
        if !self.frames.last().is_some_and(of_another) {
            return Stop::brk(Reason::ValueKind, why);
        }
        let Some(frame) = self.frames.iter().rev().find(|frame| !of_another(frame)) else {
            // It runs on its own, behind a break of the frame that made it.
            return Stop::fallback(Reason::Budget, why);
        };
        let site = (frame.unit.address(), frame.ip);
        if !self.found.denied.contains_key(&site) {
            self.asked_what_varies.get_or_insert(site);
        }
        Stop::brk(Reason::ValueKind, why)
    }

    /// A list into which nobody has looked, and whose length was another one before: where its items are found, and how many there are.
    fn list_that_varies(&mut self, list: VarId) -> Option<(ObjectId, TrackerId, usize)> {
        if self.found.numbers.is_empty() || !matches!(self.var(list).kind, VarKind::List(_)) {
            return None;
        }
        let object = self.unseen_list(list)?;
        let length = self.objects.get_ref(self.py, object).cast_exact::<PyList>().ok()?.len();
        let base = self.place_of_container(list, object);
        let mut known_by = place(self.py, &self.captured, base);
        known_by.push(Access::Arithmetic(Arithmetic::Length));
        let number = PyInt::new(self.py, length);
        self.found.numbers.holds(&known_by, number.as_any()).then_some((object, base, length))
    }

    /// Whether a call of this method looks at such a list as a whole, which is a break.
    pub(super) fn breaks_at_method(&mut self, list: VarId, name: &str) -> bool {
        const METHODS: [&str; 9] = ["clear", "copy", "count", "index", "insert", "pop", "remove", "reverse", "sort"];
        METHODS.contains(&name)
            && self.list_that_varies(list).is_some_and(|(object, base, length)| {
                let real = self.objects.get(self.py, object);
                self.has_many_lengths(base, length)
                    && real.cast_exact::<PyList>().is_ok_and(|list| !self.holds_operands(list))
            })
    }

    /// An iterator over such a list, whose items are found when they are asked for.
    pub(super) fn iterate_in_turn(&mut self, list: VarId) -> Option<VarId> {
        let (object, ..) = self.list_that_varies(list)?;
        self.ask_in_part(list, object);
        Some(self.virtual_var(IteratorVar::new(Iteration::Sequence { sequence: list, index: 0 })))
    }

    /// The next item that a loop takes of such a list.
    pub(super) fn item_in_turn(&mut self, list: VarId, index: usize) -> Result<Option<VarId>, Stop> {
        let Some((object, base, length)) = self.list_that_varies(list) else { return Ok(None) };
        if index >= length {
            return Ok(None);
        }
        let real = self.objects.get(self.py, object);
        // All that follow in this capture would be found one by one.
        if index > 0
            && self.has_many_lengths(base, length)
            && real.cast_exact::<PyList>().is_ok_and(|list| !self.holds_operands(list))
        {
            return Err(self.refuse_many_lengths(A_LIST));
        }
        self.item_of_real(list, object, &real, index as i64)
    }

    /// A loop goes on over an iterator from before that has so many items left, and had others each time that a loop came to its end.
    pub(super) fn refuse_many_ends(&mut self, iterator: TrackerId, left: usize) -> Result<(), Stop> {
        match self.has_many_lengths(iterator, left) {
            true => Err(self.refuse_many_lengths(A_LIST)),
            false => Ok(()),
        }
    }
}
