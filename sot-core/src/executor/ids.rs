//! `id(value)`: of what is the same object at each call it is a number; of all else, what an object is known by in this call alone.
//!
//! Such an id is a value without a number ([`Native::Id`]), made of what it is the id of. It is equal to the id of the same object,
//! and it is found as a key, or a member of a set, by that. New code that needs the number asks `id`. What else is
//! done with it (arithmetic, text, a comparison with other numbers) is a break. So is the first of two ids, where the
//! object that it was the id of may have died before the other was made: CPython would give that one the same address.

use super::Executor;
use super::kinds::Operations;
use super::members::Member;
use crate::frame::Site;
use crate::natives::Native;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use hashbrown::HashSet;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::ObjectId;
use std::rc::Rc;

/// Objects whose ids are told apart in one capture, each from all others of its kind.
const TOLD_APART: usize = 512;

/// What this capture has asked for by `id`.
#[derive(Default)]
pub(super) struct Ids {
    /// Values, and the first variable that stands for the id of each.
    of: Vec<(VarId, VarId)>,
    /// The calls that asked for each of these, and in which step.
    asked_by: Vec<(Option<Site>, usize)>,
    /// Numbers that are ids of objects that are the same at each call.
    numbers: HashSet<ObjectId>,
    /// Sets hold such ids.
    in_sets: bool,
    /// Sets hold other numbers.
    beside_numbers: bool,
    /// Sets hold tuples of such ids.
    in_tuples: bool,
    /// Sets from before the frame hold tuples.
    found_tuples: bool,
}

impl<'py> Executor<'py> {
    /// `id(value)`; `None`: this value is not told apart from others.
    pub(super) fn id_of(&mut self, value: VarId) -> Result<Option<VarId>, Stop> {
        let kind = self.look(value)?;
        if let VarKind::Constant(constant) = &kind
            && let object = self.objects.get(self.py, constant.object)
            && (object.is_none() || object.is_instance_of::<PyBool>())
        {
            self.constant_value(value);
            return self.number_of(&object).map(Some);
        }
        if let Some(object) = self.pinned(&kind) {
            self.keep_apart_by_id(value);
            return self.number_of(&object).map(Some);
        }
        if !kind.has_an_id(self, value)? {
            return Ok(None);
        }
        if let Some(site) = self.id_of_a_dead_one(value) {
            // Only real objects tell which addresses come again: the call that asked for that one's is to be real.
            self.step.cause = site;
            return Err(Stop::fallback(Reason::OpaqueValue, "an id that may be that of an object which has died"));
        }
        let mut known = None;
        for (other, id) in self.shadows.ids.of.clone() {
            if self.is_one_object(other, value)? {
                known = Some((other, id));
                break;
            }
        }
        let of = known.map_or(value, |(other, _)| other);
        let class = self.py.get_type::<PyInt>();
        let class = self.objects.add(class.as_any());
        let id = self.virtual_var(NativeVar {
            native: Native::Id,
            class,
            object: None,
            positional: [of].into(),
            keywords: Rc::new([]),
            pinned: false,
        });
        if known.is_none() {
            if self.shadows.ids.of.len() == TOLD_APART {
                return Ok(None);
            }
            let shown = self.frames.iter().rev().find(|frame| !frame.is_hidden());
            let site = shown.map(|frame| (frame.unit.address(), frame.ip));
            self.shadows.ids.of.push((value, id));
            let step = self.steps;
            self.shadows.ids.asked_by.push((site, step));
            if !matches!(kind, VarKind::Constant(_)) {
                self.keep_apart_by_id(value);
            }
        }
        Ok(Some(id))
    }

    /// Who asked for an id that is still around, of an object that may have died since, so that this one may have its address.
    fn id_of_a_dead_one(&self, value: VarId) -> Option<Option<Site>> {
        let asked = &self.shadows.ids.of;
        if self.found_outside(value) || asked.is_empty() {
            return None;
        }
        let held = self.held_but_by_hidden_ones(value)?;
        let is_dead = |of: &VarId| *of != value && !self.found_outside(*of) && !held.contains(of);
        if !asked.iter().any(|(of, _)| is_dead(of)) {
            return None;
        }
        let written = self.journal.entries().iter().flat_map(|entry| entry.mutation.operands());
        let everything = self.all_held_by_frames()?;
        let mut around: HashSet<VarId> = everything.iter().filter_map(|var| self.is_id_of(*var)).collect();
        for operand in written {
            self.holds(VarId(operand.0), |var| {
                around.extend(self.is_id_of(var));
                false
            });
        }
        let mut dead = asked.iter().zip(&self.shadows.ids.asked_by).filter(|((of, _), _)| is_dead(of));
        // What an instruction has gathered until now no frame shows.
        dead.find(|((of, _), (_, step))| around.contains(of) || *step == self.steps).map(|(_, (site, _))| *site)
    }

    /// The id of what is the same object at each call.
    fn number_of(&mut self, object: &Bound<'py, PyAny>) -> Result<VarId, Stop> {
        let number = self.fold_int(object.as_ptr() as i64)?;
        if let VarKind::Constant(constant) = &self.var(number).kind {
            let known = constant.object;
            self.shadows.ids.numbers.insert(known);
        }
        Ok(number)
    }

    /// What exists already is none of the other objects whose id is asked for.
    fn keep_apart_by_id(&mut self, value: VarId) {
        let tracker = self.var(value).tracker;
        if let Some(object) = self.known_object(value)
            && self.has_path(tracker)
            && !self.by_identity.contains(&(tracker, object))
        {
            self.by_identity.push((tracker, object));
        }
    }

    /// As `is`. An object is one variable, unless it is a constant or a tuple.
    fn is_one_object(&mut self, a: VarId, b: VarId) -> Result<bool, Stop> {
        if a == b {
            return Ok(true);
        }
        let (first, second) = (self.look(a)?, self.look(b)?);
        match (&first, &second) {
            (VarKind::Constant(_), VarKind::Constant(_)) => match self.class_of(a)?.is(&self.class_of(b)?) {
                true => self.same_object(a, b),
                false => Ok(false),
            },
            (VarKind::Tuple(first), VarKind::Tuple(second)) => {
                if first.items.len() != second.items.len() || first.class != second.class {
                    return Ok(false);
                }
                for (first, second) in first.items.iter().zip(second.items.iter()) {
                    if !self.is_one_object(*first, *second)? {
                        return Ok(false);
                    }
                }
                self.same_object(a, b)
            }
            _ => Ok(false),
        }
    }

    /// What the id of something that may be another object at the next call is the id of.
    pub(super) fn is_id_of(&self, var: VarId) -> Option<VarId> {
        match &self.var(var).kind {
            VarKind::Native(NativeVar { native: Native::Id, positional, .. }) => Some(positional[0]),
            _ => None,
        }
    }

    /// What stands in for such an id as a key.
    pub(super) fn key_of_id(&mut self, var: VarId) -> Result<Bound<'py, Member>, Stop> {
        if let Some(known) = self.shadows.members.get(&var) {
            return Ok(known.bind(self.py).clone());
        }
        let of = self.is_id_of(var).ok_or(Stop::fallback(Reason::InternalError, "no id"))?;
        let first = self.shadows.ids.of.iter().find(|(known, _)| *known == of).map_or(var, |(_, first)| *first);
        let member = match self.shadows.members.get(&first) {
            Some(known) => known.bind(self.py).clone(),
            None => Bound::new(self.py, Member::alone(first)).map_err(|e| self.internal(&e))?,
        };
        for id in [first, var] {
            self.shadows.members.insert(id, member.clone().unbind());
        }
        Ok(member)
    }

    /// Whether a key is a number that nobody knows not to be such an id.
    fn may_be_an_id(&self, var: VarId) -> bool {
        match &self.var(var).kind {
            VarKind::Constant(constant) => {
                let value = self.objects.get_ref(self.py, constant.object);
                let number = value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>();
                number && !self.shadows.ids.numbers.contains(&constant.object)
            }
            _ => false,
        }
    }

    /// Whether a key is such an id, or a tuple with one in it, however deep.
    fn holds_id(&self, var: VarId) -> bool {
        match &self.var(var).kind {
            VarKind::Tuple(tuple) => tuple.items.iter().any(|item| self.holds_id(*item)),
            _ => self.is_id_of(var).is_some(),
        }
    }

    /// Whether two keys of which one holds such an id may be equal by a number of the other.
    fn may_be_equal_by_number(&self, id: VarId, other: VarId) -> bool {
        match (&self.var(id).kind, &self.var(other).kind) {
            (VarKind::Tuple(holds), VarKind::Tuple(other)) if holds.items.len() == other.items.len() => {
                let mut pairs = holds.items.iter().zip(other.items.iter());
                pairs.any(|(id, other)| self.may_be_equal_by_number(*id, *other))
            }
            // Nobody has looked into it yet.
            (VarKind::Tuple(_), VarKind::Tuple(_)) => !self.var(other).looked && self.holds_id(id),
            (VarKind::Tuple(_), VarKind::Constant(constant)) => {
                self.objects.get_ref(self.py, constant.object).is_instance_of::<PyTuple>() && self.holds_id(id)
            }
            (VarKind::Tuple(_), _) => false,
            _ => match self.is_id_of(id) {
                Some(_) => self.may_be_an_id(other),
                None => self.may_be_an_id(id) && self.is_id_of(other).is_some(),
            },
        }
    }

    /// Stop at a search for such an id among other numbers, or the other way round.
    pub(super) fn may_search(&self, dict: &DictVar, key: VarId) -> Result<(), Stop> {
        if self.shadows.ids.of.is_empty() {
            return Ok(());
        }
        let mut keys = dict.entries.iter().map(|(key, _)| *key);
        let mixed = match self.holds_id(key) {
            true => keys.any(|other| self.may_be_equal_by_number(key, other)),
            false => keys.any(|other| self.holds_id(other) && self.may_be_equal_by_number(other, key)),
        };
        if mixed { Err(among_numbers()) } else { Ok(()) }
    }

    /// The same for members of sets, wherever.
    pub(super) fn may_be_member(&mut self, var: VarId) -> Result<(), Stop> {
        if self.is_id_of(var).is_some() {
            self.shadows.ids.in_sets = true;
        } else if self.may_be_an_id(var) {
            self.shadows.ids.beside_numbers = true;
        }
        if matches!(self.var(var).kind, VarKind::Tuple(_)) && self.holds_id(var) {
            self.shadows.ids.in_tuples = true;
        }
        self.are_ids_apart()
    }

    /// Tuples were found in a set.
    pub(super) fn may_have_found_tuples(&mut self) -> Result<(), Stop> {
        self.shadows.ids.found_tuples = true;
        self.are_ids_apart()
    }

    fn are_ids_apart(&self) -> Result<(), Stop> {
        let ids = &self.shadows.ids;
        let mixed = ids.in_sets && ids.beside_numbers || ids.in_tuples && ids.found_tuples;
        if mixed { Err(among_numbers()) } else { Ok(()) }
    }
}

fn among_numbers() -> Stop {
    Stop::brk(Reason::OpaqueValue, "an id among other numbers")
}
