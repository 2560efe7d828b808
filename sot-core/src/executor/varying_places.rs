//! What is asked of containers by numbers that vary, and how long containers are that vary in length.
//!
//! As arithmetic is ([`super::varying`]): an item at an index that varies is found by the path `list[n]`, a length by `len(list)`;
//! whether a number is in a container is a comparison with each member, as it is by then. Paths lead to what is
//! there when a call begins: what the capture has stored since is asked of the journal first ([`super::parts`]).

use super::Executor;
use super::parts::Stored;
use super::parts_of_lists::{Index, is_long};
use crate::backend::Kind;
use crate::captured::place;
use crate::cpython::facts;
use crate::numbers::{computed, is_number, is_sequence, varies};
use crate::stop::Stop;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::{Access, Arithmetic, Check, ObjectId, Tracker, TrackerId};

/// Members that a number is compared with.
const MEMBERS: usize = 16;
/// Items of a list whose types tell whether it is one of numbers of one type.
const SAMPLES: usize = 64;

impl<'py> Executor<'py> {
    /// The items of a list or a tuple of no class of its own.
    fn items_of_sequence(&mut self, sequence: VarId) -> Result<Option<Vec<VarId>>, Stop> {
        Ok(match self.look(sequence)? {
            VarKind::List(ListVar { class: None, items, .. }) => Some(items.to_vec()),
            VarKind::Tuple(TupleVar { class: None, items }) => Some(items.to_vec()),
            _ => None,
        })
    }

    /// The items that `max(sequence)` or `min(sequence)` compares, if there are several.
    pub(super) fn items_to_compare(
        &mut self,
        callee: &Bound<'py, PyAny>,
        sequence: VarId,
    ) -> Result<Option<Vec<VarId>>, Stop> {
        let name = super::calls::name_of(callee);
        if !matches!(name.as_str(), "max" | "min") || !callee.is(&self.builtins_attribute(&name)?) {
            return Ok(None);
        }
        Ok(self.items_of_sequence(sequence)?.filter(|items| items.len() > 1))
    }

    /// The numbers that a list or tuple holds now which the capture made, or found as a constant, as a tuple: all are of one type.
    fn numbers_of_made(&mut self, sequence: VarId) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        if self.found_outside(sequence) && !self.is_constant(self.var(sequence).tracker) {
            return Ok(None);
        }
        let Some(items) = self.items_of_sequence(sequence)?.filter(|items| items.len() <= SAMPLES) else {
            return Ok(None);
        };
        let mut numbers = Vec::with_capacity(items.len());
        for item in items {
            let VarKind::Constant(_) = self.look(item)? else { return Ok(None) };
            if self.is_varying(item) {
                return Ok(None);
            }
            match self.constant_value(item).filter(varies) {
                Some(number) => numbers.push(number),
                None => return Ok(None),
            }
        }
        let Some(first) = numbers.first().map(|number| number.get_type()) else { return Ok(None) };
        if !numbers.iter().all(|number| number.get_type().is(&first)) {
            return Ok(None);
        }
        PyTuple::new(self.py, numbers).map(|numbers| Some(numbers.into_any())).map_err(|e| self.internal(&e))
    }

    /// Where new code finds a list or a tuple from before.
    fn path_of_sequence(&mut self, sequence: VarId) -> Option<(Bound<'py, PyAny>, TrackerId)> {
        let (object, tracker) = (self.known_object(sequence)?, self.var(sequence).tracker);
        let real = self.objects.get(self.py, object);
        if !is_sequence(&real) || !self.has_path(tracker) {
            return None;
        }
        Some((real, self.place_of_container(sequence, object)))
    }

    /// Whether a dict from before into which nobody has looked has a key that is a number or a text that varies, guarded as such.
    pub(super) fn has_varying_key(&mut self, dict: VarId, object: ObjectId, key: VarId) -> Result<Option<bool>, Stop> {
        self.look(key)?;
        let VarKind::Constant(ConstantVar { object: wanted }) = self.var(key).kind else { return Ok(None) };
        let (real, wanted) = (self.objects.get(self.py, object), self.objects.get(self.py, wanted));
        let Some(has) = computed(Arithmetic::Has, &real, Some(&wanted)) else { return Ok(None) };
        if self.is_passing_object(&real, self.var(dict).tracker) {
            return Ok(None);
        }
        let at = self.var(key).tracker;
        let base = self.ask_in_part(dict, object);
        if !self.may_be_computed(Arithmetic::Has, base, Some(at)) {
            return Ok(None);
        }
        let tracker = Tracker::Arithmetic { op: Arithmetic::Has, left: base, right: Some(at) };
        let tracker = self.trackers.intern(tracker);
        let known = self.objects.add(&has);
        self.guard(tracker, Check::Equals(known));
        Ok(Some(has.is_truthy().unwrap_or(false)))
    }

    /// `dict[key]` of such a dict that has the key.
    pub(super) fn item_by_varying_key(&mut self, dict: VarId, object: ObjectId, key: VarId) -> Option<VarId> {
        let VarKind::Constant(ConstantVar { object: wanted }) = self.var(key).kind else { return None };
        let (real, wanted) = (self.objects.get(self.py, object), self.objects.get(self.py, wanted));
        let item = computed(Arithmetic::Item, &real, Some(&wanted))?;
        if !self.is_known_by_place(&item) && !item.is_none() && !facts::is_plain_container(&item) {
            return None;
        }
        let base = self.ask_in_part(dict, object);
        self.item_at(base, key, &item)
    }

    /// Whether an item at a place that varies can be known by its type alone: a number or a tensor.
    fn is_known_by_place(&self, item: &Bound<'py, PyAny>) -> bool {
        varies(item) || matches!(self.backend.classify(item), Kind::Tensor)
    }

    /// A number or a tensor at the path `container[key]`, if that is not too long by now.
    fn item_at(&mut self, base: TrackerId, key: VarId, item: &Bound<'py, PyAny>) -> Option<VarId> {
        let at = self.var(key).tracker;
        if !self.may_be_computed(Arithmetic::Item, base, Some(at)) {
            return None;
        }
        let tracker = Tracker::Arithmetic { op: Arithmetic::Item, left: base, right: Some(at) };
        let tracker = self.trackers.intern(tracker);
        let class = self.objects.add(item.get_type().as_any());
        self.guard(tracker, Check::TypeIs(class));
        if !varies(item) {
            return Some(self.wrap(item, tracker));
        }
        let var = self.computed_at(tracker, item);
        // It is found, and not made.
        let object = self.objects.add(item);
        self.sourced.insert(var, object);
        Some(var)
    }

    /// `container[key]` of a number, where the key varies. The items of a list or a tuple are of one type.
    pub(super) fn item_at_varying(&mut self, sequence: VarId, key: VarId) -> Result<Option<VarId>, Stop> {
        if !matches!(self.var(sequence).kind, VarKind::List(_) | VarKind::Tuple(_)) || !self.is_varying_int(key) {
            return Ok(None);
        }
        if let Some(numbers) = self.numbers_of_made(sequence)? {
            let VarKind::Constant(ConstantVar { object: index }) = self.var(key).kind else { return Ok(None) };
            let index = self.objects.get(self.py, index);
            let Some(item) = computed(Arithmetic::Item, &numbers, Some(&index)) else { return Ok(None) };
            let numbers = self.objects.add(&numbers);
            let base = self.constant_tracker(numbers);
            return Ok(self.item_at(base, key, &item));
        }
        let in_part = self.unseen_list(sequence).is_some() && self.appended_before_look(sequence).is_empty();
        if in_part && !self.stored_in_itself(sequence).is_empty() {
            if !self.is_from_start(key)? {
                return Ok(None);
            }
            match self.stored_at(sequence, Index::Varies(key))? {
                Stored::Here(value) => return Ok(value),
                Stored::Unknown => return Ok(None),
                Stored::Elsewhere => {}
            }
        } else if self.is_written(sequence) {
            return Ok(None);
        }
        if !in_part && self.items_of_sequence(sequence)?.is_none() {
            return Ok(None);
        }
        let Some((real, base)) = self.path_of_sequence(sequence) else { return Ok(None) };
        let VarKind::Constant(ConstantVar { object: index }) = self.var(key).kind else { return Ok(None) };
        let index = self.objects.get(self.py, index);
        let Some(item) = computed(Arithmetic::Item, &real, Some(&index)) else { return Ok(None) };
        if !self.is_known_by_place(&item) {
            return Ok(None);
        }
        let class = item.get_type();
        let mut items = real.try_iter().map_err(|e| self.internal(&e))?.take(SAMPLES);
        if !items.all(|other| other.is_ok_and(|other| other.get_type().is(&class))) {
            return Ok(None);
        }
        if in_part {
            let object = self.objects.add(&real);
            self.ask_in_part(sequence, object);
        }
        Ok(self.item_at(base, key, &item))
    }

    /// `len(container)` of a list, a deque or a dict from before into which nobody has looked, where it was another one before; or of a long list.
    pub(super) fn varying_length(&mut self, container: VarId) -> Result<Option<VarId>, Stop> {
        let object = match self.var(container).kind {
            VarKind::List(_) | VarKind::Deque(_) => self.unseen_list(container),
            VarKind::Dict(DictVar { class: None, .. }) => self.unseen_dict(container),
            _ => None,
        };
        let Some(object) = object else { return Ok(None) };
        let real = self.objects.get(self.py, object);
        let Some(length) = computed(Arithmetic::Length, &real, None) else { return Ok(None) };
        if self.is_passing_object(&real, self.var(container).tracker) || self.is_read_as_it_is(object).is_err() {
            return Ok(None);
        }
        let base = self.place_of_container(container, object);
        let mut known_by = place(self.py, &self.captured, base);
        known_by.push(Access::Arithmetic(Arithmetic::Length));
        let varies = self.found.numbers.holds(&known_by, &length);
        if !varies && !is_long(&real) {
            return Ok(None);
        }
        let more = match self.var(container).kind {
            VarKind::Dict(_) => self.keys_stored(container, object)?,
            _ => Some(self.appended_before_look(container).len() as i64),
        };
        let Some(more) = more else { return Ok(None) };
        self.ask_in_part(container, object);
        if !varies {
            let found = real.len().unwrap_or_default();
            self.guard(base, Check::Len(found));
            return self.fold_int(found as i64 + more).map(Some);
        }
        let at = self.length_at(base);
        self.captured.varying.insert(at, known_by);
        let found = self.computed_at(at, &length);
        match more {
            0 => Ok(Some(found)),
            more => {
                let more = self.fold_int(more)?;
                self.arithmetic(Arithmetic::Add, found, Some(more))
            }
        }
    }

    /// Where paths to what is in a container from before start: at the object itself, where its identity is guarded.
    pub(super) fn place_of_container(&mut self, container: VarId, object: ObjectId) -> TrackerId {
        let tracker = self.var(container).tracker;
        if self.is_under_constant(tracker) { self.constant_tracker(object) } else { tracker }
    }

    /// A container is read without a look at the whole: its length, or an item. Where such paths start.
    pub(super) fn ask_in_part(&mut self, container: VarId, object: ObjectId) -> TrackerId {
        self.guard_unseen(container, object);
        self.captured.asked_in_part.insert(container);
        self.place_of_container(container, object)
    }

    /// The path `len(container)`.
    pub(super) fn length_at(&mut self, base: TrackerId) -> TrackerId {
        self.trackers.intern(Tracker::Arithmetic { op: Arithmetic::Length, left: base, right: None })
    }

    /// Whether a container from before has more members than a number is compared with.
    fn is_crowded(&self, object: ObjectId) -> bool {
        let object = self.objects.get_ref(self.py, object);
        let length = (object.cast::<PyList>().map(|list| list.len()))
            .or_else(|_| object.cast::<PyTuple>().map(|tuple| tuple.len()))
            .or_else(|_| object.cast::<PyDict>().map(|dict| dict.len()))
            .or_else(|_| object.cast::<PySet>().map(|set| set.len()));
        length.is_ok_and(|length| length > MEMBERS)
    }

    /// `n in container`, where `n` is a number that varies.
    pub(super) fn has_varying(&mut self, container: VarId, item: VarId) -> Result<Option<bool>, Stop> {
        if !self.is_varying_number(item) || self.known_object(container).is_some_and(|object| self.is_crowded(object)) {
            return Ok(None);
        }
        // Where no member is a number, its type tells.
        self.look(item)?;
        let members = match self.look(container)? {
            VarKind::List(_) | VarKind::Tuple(_) => self.items_of_sequence(container)?,
            VarKind::Dict(DictVar { class: None, owner: None, entries, .. }) => {
                Some(entries.iter().map(|(key, _)| *key).collect())
            }
            VarKind::Set(_) => Some(self.collect(container)?),
            VarKind::Constant(ConstantVar { object }) => {
                let value = self.objects.get(self.py, object);
                if let Ok(range) = value.cast_exact::<PyRange>() {
                    return self.range_has_varying(container, range, item);
                }
                match value.cast_exact::<PyFrozenSet>() {
                    Ok(set) if set.len() <= MEMBERS => {
                        self.constant_value(container);
                        let members: Vec<_> = set.iter().collect();
                        Some(members.iter().map(|member| self.fold(member)).collect::<Result<_, _>>()?)
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        let Some(members) = members.filter(|members| members.len() <= MEMBERS) else { return Ok(None) };
        let mut numbers = Vec::with_capacity(members.len());
        for member in members {
            let VarKind::Constant(ConstantVar { object }) = self.look(member)? else { return Ok(None) };
            let value = self.objects.get(self.py, object);
            // Of one that does not equal itself it is asked who it is.
            let is_itself = is_number(&value) && value.eq(&value).unwrap_or(false);
            if !is_itself && !value.is_none() && !value.is_exact_instance_of::<PyString>() {
                return Ok(None);
            }
            if is_itself {
                numbers.push(member);
            } else {
                self.constant_value(member);
            }
        }
        for member in numbers {
            let Some(same) = self.arithmetic(Arithmetic::Eq, item, Some(member))? else { return Ok(None) };
            if self.truth(same)? {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    }

    fn range_has_varying(
        &mut self,
        container: VarId,
        range: &Bound<'py, PyRange>,
        item: VarId,
    ) -> Result<Option<bool>, Stop> {
        if !self.is_varying_int(item) {
            return Ok(None);
        }
        let part = |name: &str| range.getattr(name).and_then(|part| part.extract::<i64>()).ok();
        let (Some(start), Some(stop), Some(step)) = (part("start"), part("stop"), part("step")) else {
            return Ok(None);
        };
        self.constant_value(container);
        let (first, behind) =
            if step > 0 { (Arithmetic::Ge, Arithmetic::Lt) } else { (Arithmetic::Le, Arithmetic::Gt) };
        for (op, bound) in [(first, start), (behind, stop)] {
            let bound = self.fold_int(bound)?;
            let Some(holds) = self.arithmetic(op, item, Some(bound))? else { return Ok(None) };
            if !self.truth(holds)? {
                return Ok(Some(false));
            }
        }
        if step.unsigned_abs() == 1 {
            return Ok(Some(true));
        }
        let (start, step, zero) = (self.fold_int(start)?, self.fold_int(step)?, self.fold_int(0)?);
        let mut rest = Some(item);
        for (op, right) in [(Arithmetic::Subtract, start), (Arithmetic::Remainder, step), (Arithmetic::Eq, zero)] {
            rest = match rest {
                Some(left) => self.arithmetic(op, left, Some(right))?,
                None => None,
            };
        }
        rest.map(|fits| self.truth(fits)).transpose()
    }

    /// `sum` of numbers of which one varies, in the order of the additions. Since 3.12 what rounding has lost since the second float
    /// is added at the end.
    pub(super) fn sum_of_varying(&mut self, start: VarId, items: &[VarId]) -> Result<Option<VarId>, Stop> {
        if !items.iter().any(|item| self.is_varying_number(*item)) {
            return Ok(None);
        }
        let mut floats = Vec::new();
        for (at, item) in std::iter::once(&start).chain(items).enumerate() {
            let VarKind::Constant(ConstantVar { object }) = self.look(*item)? else { return Ok(None) };
            let value = self.objects.get_ref(self.py, object);
            if !is_number(value) {
                return Ok(None);
            }
            floats.extend(value.is_exact_instance_of::<PyFloat>().then_some(at));
        }
        // The second float is the last number: the sum is rounded once.
        if floats.get(1).is_some_and(|second| *second < items.len()) && self.py.version_info() >= (3, 12) {
            return Ok(None);
        }
        let mut sum = start;
        for item in items {
            match self.arithmetic(Arithmetic::Add, sum, Some(*item))? {
                Some(longer) => sum = longer,
                None => return Ok(None),
            }
        }
        Ok(Some(sum))
    }
}
