//! Lists and deques from before the frame to which it only appends: nothing in them is asked for, their length included.
//!
//! A log of losses, a history, a list of results grows at each call. So the first look at such a list, which guards its length and
//! wraps its items, waits until somebody asks what is in it. Until then what was appended is in the journal alone; the look adds it to the
//! items ([`Executor::appended_before_look`]).

use super::Executor;
use super::state::Undo;
use crate::cpython::facts;
use crate::stop::Stop;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use sot_sideeffect::{Mutation, Target};
use sot_tracker::{Access, Arithmetic, Check, ObjectId};

/// Values that a value may be made of, for its end to be nobody's affair.
const LOOKED_THROUGH: usize = 32;

/// Whether a method of a list does nothing but to append.
fn appends(method: &str) -> bool {
    matches!(method, "append" | "extend")
}

/// How many items a deque holds at most.
fn most_of(deque: &Bound<'_, PyAny>) -> Option<usize> {
    deque.getattr("maxlen").ok()?.extract().ok()
}

impl Executor<'_> {
    /// What can be appended to without a look: a list from before the frame, of no class of its own, into which nobody has looked; or a deque
    /// that has room, since a full one lets go of what nobody has looked at.
    pub(super) fn unseen_list(&self, list: VarId) -> Option<ObjectId> {
        let variable = self.var(list);
        let object = match variable.kind {
            VarKind::List(ListVar { class: None, object, .. }) | VarKind::Deque(DequeVar { object, .. }) => object?,
            _ => return None,
        };
        let real = self.objects.get_ref(self.py, object);
        let grows =
            facts::is_deque(real) && (self.has_room(list, real, 1) || !self.appended_before_look(list).is_empty());
        let unseen = !variable.looked
            && self.has_path(variable.tracker)
            && (real.is_exact_instance_of::<PyList>() || grows)
            && !self.is_passing_object(real, variable.tracker);
        unseen.then_some(object)
    }

    /// Whether so many values more fit into a deque.
    fn has_room(&self, deque: VarId, real: &Bound<'_, PyAny>, more: usize) -> bool {
        let Some(most) = most_of(real) else { return true };
        real.len().is_ok_and(|length| length + self.appended_before_look(deque).len() + more <= most)
    }

    /// The same, guarded.
    fn guard_room(&mut self, deque: VarId, object: ObjectId, more: usize) -> bool {
        let real = self.objects.get(self.py, object);
        if !facts::is_deque(&real) {
            return true;
        }
        if !self.has_room(deque, &real, more) {
            return false;
        }
        if let Some(most) = most_of(&real) {
            let more = self.appended_before_look(deque).len() + more;
            self.guard_length(deque, object, Arithmetic::Lt, most + 1 - more);
        }
        true
    }

    /// Guard what such a list is, but not what is in it.
    pub(super) fn guard_unseen(&mut self, list: VarId, object: ObjectId) {
        let tracker = self.var(list).tracker;
        let (given, pinned) = (self.is_constant(tracker), self.is_under_constant(tracker));
        self.guard_container(tracker, object, given, pinned);
        if let VarKind::Deque(_) = self.var(list).kind {
            let base = if pinned { self.constant_tracker(object) } else { tracker };
            let place = self.trackers.step(base, Access::Attr("maxlen".into()));
            let Ok(most) = self.objects.get_ref(self.py, object).getattr("maxlen") else { return };
            let known = self.objects.add(&most);
            self.guard(place, if most.is_none() { Check::Is(known) } else { Check::Equals(known) });
        }
    }

    /// `list.append`, which is no look at what is in the list; nor is any other method, where the call will break.
    pub(super) fn appender_of_unseen(&mut self, list: VarId, name: &str) -> Option<VarId> {
        if !appends(name) && !self.breaks_at_method(list, name) {
            return None;
        }
        let object = self.unseen_list(list)?;
        self.guard_unseen(list, object);
        Some(self.virtual_var(BoundVar::new(list, name)))
    }

    /// `list.append(value)` and `list.extend([values..])`, where nobody has looked into the list. `false`: it is done as ever.
    pub(super) fn append_unseen(&mut self, list: VarId, name: &str, args: &Args) -> Result<bool, Stop> {
        let Some(object) = appends(name).then(|| self.unseen_list(list)).flatten() else { return Ok(false) };
        let ([given], []) = (args.positional.as_slice(), args.keywords.as_slice()) else { return Ok(false) };
        if *given == list {
            return Ok(false);
        }
        let values = match name {
            "append" => vec![*given],
            _ => match self.look(*given)? {
                VarKind::Tuple(TupleVar { class: None, items }) => items.to_vec(),
                VarKind::List(ListVar { class: None, items, .. }) => items.to_vec(),
                _ => return Ok(false),
            },
        };
        // Whose end somebody may see is looked for in the items of lists.
        if values.is_empty() || !values.iter().all(|value| self.ends_unseen(*value)) {
            return Ok(false);
        }
        if !self.guard_room(list, object, values.len()) {
            return Ok(false);
        }
        self.guard_unseen(list, object);
        self.undo.push(Undo::Unseen { list, count: values.len() });
        let (object, values): (_, Vec<_>) = (Self::var_ref(list), values.into_iter().map(Self::var_ref).collect());
        if let VarKind::Deque(_) = self.var(list).kind {
            for value in values {
                self.journal_record(Mutation::Method { object, name: "append".to_owned(), args: vec![value] });
            }
            return Ok(true);
        }
        self.journal_record(match (name, values.as_slice()) {
            ("append", [value]) => Mutation::ListAppend { object, value: *value },
            _ => Mutation::ListExtend { object, values },
        });
        Ok(true)
    }

    /// What was appended to a list before anybody looked into it.
    pub(super) fn appended_before_look(&self, list: VarId) -> Vec<VarId> {
        let mut appended = Vec::new();
        for entry in self.journal.changes_of(Target::Object(Self::var_ref(list))) {
            match &entry.mutation {
                Mutation::ListAppend { value, .. } => appended.push(VarId(value.0)),
                // Of a deque.
                Mutation::Method { args: values, .. } | Mutation::ListExtend { values, .. } => {
                    appended.extend(values.iter().map(|value| VarId(value.0)))
                }
                _ => {}
            }
        }
        appended
    }

    /// The journal loses what was appended, and so do the items, if somebody has looked since.
    pub(super) fn take_back_unseen(&mut self, list: VarId, count: usize) {
        let variable = &mut self.vars[list.0 as usize];
        let items = match &mut variable.kind {
            VarKind::List(list) if variable.looked => &mut list.items,
            VarKind::Deque(deque) if variable.looked => &mut deque.items,
            _ => return,
        };
        let items = std::rc::Rc::make_mut(items);
        items.truncate(items.len().saturating_sub(count));
    }

    /// Whether a value is made of numbers, text and tensors, and containers of such.
    pub(super) fn ends_unseen(&self, value: VarId) -> bool {
        let mut work = vec![value];
        let mut seen = 0;
        while let Some(value) = work.pop() {
            seen += 1;
            match &self.var(value).kind {
                VarKind::Constant(_) | VarKind::Tensor(_) => {}
                // A constant of the code, into which nobody has looked yet.
                VarKind::Tuple(TupleVar { class: None, items })
                    if items.is_empty() && self.is_made_of_constants(value) => {}
                VarKind::Tuple(TupleVar { class: None, .. })
                | VarKind::List(ListVar { class: None, object: None, .. })
                | VarKind::Dict(DictVar { class: None, object: None, owner: None, .. })
                    if seen <= LOOKED_THROUGH && !self.has_path(self.var(value).tracker) =>
                {
                    work.extend(self.parts(value));
                }
                _ => return false,
            }
        }
        true
    }

    /// Whether a value is a tuple from before the frame, of numbers, text and the like.
    fn is_made_of_constants(&self, value: VarId) -> bool {
        let object = self.known_object(value).map(|object| self.objects.get(self.py, object));
        object.and_then(|object| object.cast_into::<PyTuple>().ok()).is_some_and(|tuple| {
            tuple.iter().all(|item| item.is_none() || crate::objects::is_constant_type(&item.get_type()))
        })
    }
}
