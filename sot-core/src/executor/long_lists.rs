//! Lists of thousands of items from before the frame: nobody looks into them as a whole, which would take longer than what the program
//! does with them. Their length and single items are guarded; a loop over one is left to plain Python, and anything else is a break.

use super::Executor;
use super::kinds::MANY;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::{Access, Arithmetic, Check, ObjectId, Tracker};

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
        self.guard_unseen(list, object);
        let base = self.place_of_container(list, object);
        let many = PyInt::new(self.py, MANY);
        let yes = PyBool::new(self.py, true).to_owned();
        let (many, yes) = (self.objects.add(many.as_any()), self.objects.add(yes.as_any()));
        let right = Some(self.constant_tracker(many));
        let left = self.length_at(base);
        let longer = self.trackers.intern(Tracker::Arithmetic { op: Arithmetic::Gt, left, right });
        self.guard(longer, Check::Equals(yes));
    }

    /// `list[3]` of such a list, of which nothing else is guarded then, but its length where the index counts from its end.
    pub(super) fn item_of_long(&mut self, list: VarId, key: VarId) -> Result<Option<VarId>, Stop> {
        if !self.is_long_list(list) || self.is_written(list) {
            return Ok(None);
        }
        let VarKind::Constant(_) = self.look(key)? else { return Ok(None) };
        let (Some(index), Some(object)) = (self.constant_int(key), self.known_object(list)) else { return Ok(None) };
        let real = self.objects.get(self.py, object).cast_into::<PyList>().map_err(|e| self.internal(&e.into()))?;
        let at = if index < 0 { index + real.len() as i64 } else { index };
        let Some(item) = usize::try_from(at).ok().and_then(|at| real.get_item(at).ok()) else { return Ok(None) };
        let base = self.ask_in_part(list, object);
        if index < 0 {
            self.guard(base, Check::Len(real.len()));
        }
        let place = self.trackers.step(base, Access::SeqItem(at));
        self.note_item_read(place);
        Ok(Some(self.wrap(&item, place)))
    }
}
