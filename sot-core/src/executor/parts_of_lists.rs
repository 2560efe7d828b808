//! Lists from before the frame that are asked for single items, or for a few at one end, and given single ones: that is all that is
//! guarded then, as a history grows at each call, and a buffer is written at another index.
//!
//! Into one of thousands of items nobody looks as a whole, which would take longer than what the program does with it: a loop over
//! it is left to plain Python, and anything else is a break.

use super::Executor;
use super::kinds::MANY;
use super::parts::Stored;
use super::state::Undo;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::Mutation;
use sot_tracker::{Access, Arithmetic, Check, ObjectId, Tracker};

/// Where an item of a list is asked for.
#[derive(Clone, Copy)]
pub(super) enum Index {
    Known(i64),
    Varies(VarId),
}

/// Whether a list has so many items that looking into it would take long.
pub(super) fn is_long(list: &Bound<'_, PyAny>) -> bool {
    list.cast_exact::<PyList>().is_ok_and(|list| list.len() > MANY)
}

impl<'py> Executor<'py> {
    /// Whether a value is a long list from before, into which nobody looks as a whole.
    pub(super) fn is_long_list(&self, list: VarId) -> bool {
        match self.var(list).kind {
            // How long it is takes least to ask.
            VarKind::List(ListVar { object: Some(object), .. }) if is_long(self.objects.get_ref(self.py, object)) => {
                self.unseen_list(list).is_some()
            }
            _ => false,
        }
    }

    /// Whether a value is a container of so many items from before, or a view of one, that nobody goes through it here.
    pub(super) fn is_long(&self, container: VarId) -> bool {
        let variable = self.var(container);
        match variable.kind {
            VarKind::View(ViewVar { dict, .. }) => self.is_long(dict),
            VarKind::Dict(DictVar { object: Some(object), .. }) if !variable.looked => {
                self.objects.get_ref(self.py, object).cast::<PyDict>().is_ok_and(|dict| dict.len() > MANY)
            }
            _ => self.is_long_list(container),
        }
    }

    /// Why nobody goes through such a container here. `in_a_loop`: there would be a break in each round, so that the whole frame runs
    /// as plain Python.
    pub(super) fn refuse_long(&mut self, container: VarId, in_a_loop: bool) -> Stop {
        // Lengths of lists of other classes are no paths.
        if let VarKind::List(ListVar { object: Some(object), .. }) = self.var(container).kind
            && is_long(self.objects.get_ref(self.py, object))
        {
            self.guard_long(container, object);
        }
        match in_a_loop {
            true => Stop::fallback(Reason::Budget, "a loop over so many items"),
            false => Stop::brk(Reason::ValueKind, "a look into a list of so many items"),
        }
    }

    /// A list that is shorter at another call may be looked into.
    pub(super) fn guard_long(&mut self, list: VarId, object: ObjectId) {
        self.guard_longer(list, object, MANY);
    }

    /// It has more items than so many.
    fn guard_longer(&mut self, list: VarId, object: ObjectId, many: usize) {
        self.guard_unseen(list, object);
        self.guard_length(list, object, Arithmetic::Gt, many);
    }

    /// How the length of a container from before compares with a number.
    pub(super) fn guard_length(&mut self, list: VarId, object: ObjectId, op: Arithmetic, many: usize) {
        let base = self.place_of_container(list, object);
        let many = PyInt::new(self.py, many);
        let yes = PyBool::new(self.py, true).to_owned();
        let (many, yes) = (self.objects.add(many.as_any()), self.objects.add(yes.as_any()));
        let right = Some(self.constant_tracker(many));
        let left = self.length_at(base);
        let compared = self.trackers.intern(Tracker::Arithmetic { op, left, right });
        self.guard(compared, Check::Equals(yes));
    }

    /// `list[3]` or `list[-1]` of a list from before into which nobody has looked, though values may have been appended: nothing else of it
    /// is guarded, so that a history may grow.
    pub(super) fn item_in_part(&mut self, list: VarId, key: VarId) -> Result<Option<VarId>, Stop> {
        let Some(object) = self.unseen_list(list) else { return Ok(None) };
        let VarKind::Constant(_) = self.look(key)? else { return Ok(None) };
        if self.is_varying(key) {
            return Ok(None);
        }
        let Some(index) = self.constant_int(key) else { return Ok(None) };
        let appended = self.appended_before_look(list);
        let real = self.objects.get(self.py, object);
        let index = match index {
            0.. => index,
            _ => match appended.get(appended.len().wrapping_add_signed(index as isize)) {
                Some(own) => return Ok(Some(*own)),
                None => index + appended.len() as i64,
            },
        };
        self.item_of_real(list, object, &real, index)
    }

    /// The item at an index of a list from before, which counts from the end where it is negative.
    pub(super) fn item_of_real(
        &mut self,
        list: VarId,
        object: ObjectId,
        real: &Bound<'py, PyAny>,
        index: i64,
    ) -> Result<Option<VarId>, Stop> {
        let length = real.len().map_err(|e| self.internal(&e))? as i64;
        let at = if index < 0 { index + length } else { index };
        if !(0..length).contains(&at) {
            return Ok(None);
        }
        match self.stored_at(list, Index::Known(index))? {
            Stored::Here(value) => return Ok(value),
            Stored::Unknown => return Ok(None),
            Stored::Elsewhere => {}
        }
        let item = real.get_item(at).map_err(|e| self.internal(&e))?;
        let base = self.ask_in_part(list, object);
        let place = self.trackers.step(base, Access::SeqItem(index));
        self.guard_present(place);
        self.note_item_read(place);
        Ok(Some(self.wrap(&item, place)))
    }

    /// What was stored at an index since the frame began. One that varies counts from the start of the list.
    pub(super) fn stored_at(&mut self, list: VarId, index: Index) -> Result<Stored, Stop> {
        for (other, value) in self.stored_in_itself(list).into_iter().rev() {
            let known = if self.is_varying(other) { None } else { self.constant_int(other) };
            let (left, right) = match (index, known) {
                (Index::Varies(index), _) if index == other => return Ok(Stored::Here(value)),
                (Index::Known(index), Some(known)) if (index < 0) == (known < 0) => match index == known {
                    true => return Ok(Stored::Here(value)),
                    false => continue,
                },
                // Which one that is depends on how long the list is.
                (Index::Known(index), Some(known)) => match self.are_apart(list, index, known)? {
                    true => continue,
                    false => return Ok(Stored::Unknown),
                },
                (Index::Known(..0), _) | (_, Some(..0)) => return Ok(Stored::Unknown),
                (Index::Known(index), _) => (other, self.fold_int(index)?),
                (Index::Varies(index), _) => (index, other),
            };
            match self.arithmetic(Arithmetic::Eq, left, Some(right))? {
                Some(same) if self.truth(same)? => return Ok(Stored::Here(value)),
                Some(_) => {}
                None => return Ok(Stored::Unknown),
            }
        }
        Ok(Stored::Elsewhere)
    }

    /// Whether a list is so long that an index from its start and one from its end are two places, guarded.
    fn are_apart(&mut self, list: VarId, one: i64, other: i64) -> Result<bool, Stop> {
        let Some(object) = self.known_object(list) else { return Ok(false) };
        let both = one.unsigned_abs().saturating_add(other.unsigned_abs());
        let Ok(both) = usize::try_from(both) else { return Ok(false) };
        let longer = self.objects.get_ref(self.py, object).len().is_ok_and(|length| length > both);
        if longer {
            self.guard_longer(list, object, both);
        }
        Ok(longer)
    }

    /// Whether an index that varies counts from the start, guarded.
    pub(super) fn is_from_start(&mut self, index: VarId) -> Result<bool, Stop> {
        let zero = self.fold_int(0)?;
        match self.arithmetic(Arithmetic::Ge, index, Some(zero))? {
            Some(holds) => self.truth(holds),
            None => Ok(false),
        }
    }

    /// `list[3] = value` of such a list. `false`: it is done as ever.
    pub(super) fn store_in_part(&mut self, list: VarId, key: VarId, value: VarId) -> Result<bool, Stop> {
        if self.unseen_list(list).is_none()
            || !self.ends_unseen(value)
            || !self.appended_before_look(list).is_empty()
            || self.is_stored_to_much(list) && !self.is_long_list(list)
        {
            return Ok(false);
        }
        let VarKind::Constant(_) = self.look(key)? else { return Ok(false) };
        let varies = self.is_varying(key);
        let old = match varies {
            true if !self.is_varying_int(key) || !self.is_from_start(key)? => None,
            true => self.item_at_varying(list, key)?,
            false => self.item_in_part(list, key)?,
        };
        let Some(old) = old.filter(|old| self.is_lost_unseen(*old)) else { return Ok(false) };
        if !varies && let Some(index) = self.constant_int(key) {
            self.note_gone(list, Access::SeqItem(index), old);
        }
        self.undo.push(Undo::Stored(list));
        let (object, key, value) = (Self::var_ref(list), Self::var_ref(key), Self::var_ref(value));
        self.journal_record(Mutation::SetItem { object, key, value });
        Ok(true)
    }

    /// A look into a list has found what was there before the frame: what was stored since comes on top.
    pub(super) fn add_stored_items(&mut self, list: VarId, items: &mut [VarId]) {
        for (key, value) in self.stored_in_itself(list) {
            let Some(index) = self.constant_int(key) else { continue };
            let at = if index < 0 { index + items.len() as i64 } else { index };
            if let (Some(place), Some(value)) = (usize::try_from(at).ok().and_then(|at| items.get_mut(at)), value) {
                *place = value;
            }
        }
    }

    /// `list[-3:]` or `list[:3]` of such a list that is at least so long.
    pub(super) fn slice_in_part(&mut self, list: VarId, key: VarId) -> Result<Option<VarId>, Stop> {
        let VarKind::List(_) = self.var(list).kind else { return Ok(None) };
        let Some(object) = self.unseen_list(list) else { return Ok(None) };
        let VarKind::Slice(SliceVar { parts: [start, stop, step] }) = self.look(key)? else { return Ok(None) };
        if !self.is_none(step)? {
            return Ok(None);
        }
        let appended = self.appended_before_look(list);
        let bound = |ex: &mut Self, part: VarId| -> Result<Option<Option<i64>>, Stop> {
            if ex.is_none(part)? {
                return Ok(Some(None));
            }
            let known = matches!(ex.look(part)?, VarKind::Constant(_)) && !ex.is_varying(part);
            Ok(if known { ex.constant_int(part).map(Some) } else { None })
        };
        let (Some(start), Some(stop)) = (bound(self, start)?, bound(self, stop)?) else { return Ok(None) };
        // Both count from one end of the list.
        let range = match (start, stop) {
            (None | Some(0..), Some(stop @ 0..)) => start.unwrap_or(0)..stop,
            (Some(start @ ..0), None) => start..0,
            (Some(start @ ..0), Some(stop @ ..0)) => start..stop,
            _ => return Ok(None),
        };
        let real = self.objects.get(self.py, object);
        let length = real.len().map_err(|e| self.internal(&e))? as i64;
        let more = appended.len() as i64;
        let from_end = if range.start < 0 { more } else { 0 };
        let longest = (range.start + from_end).unsigned_abs().max((range.end + from_end).unsigned_abs());
        if range.is_empty() || range.start + from_end < -length || longest > MANY as u64 {
            return Ok(None);
        }
        let mut items = Vec::new();
        for index in range {
            let item = match usize::try_from(index + from_end) {
                Ok(at) if index < 0 => appended.get(at).copied(),
                _ => self.item_of_real(list, object, &real, index + from_end)?,
            };
            match item {
                Some(item) => items.push(item),
                None => return Ok(None),
            }
        }
        Ok(Some(self.virtual_var(ListVar { items: items.into(), class: None, object: None })))
    }
}
