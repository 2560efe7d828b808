//! Where numbers were found that are other ones at other calls.
//!
//! A capture guards each number that it has read by its value. When the same place of the same code holds another number at a later
//! capture, the number *varies*: that capture reads no value but goes on by the path, and leaves guards of what it relied on
//! (`n > 0`, `n % 2 == 0`). This is a record for decisions alone: nothing is wrong if it is, since whatever a capture depends on it
//! guards.
//!
//! The same of all that guards ask for: *facts*, where everything is captured, and where no call meets what is captured. When a cache is
//! full, or does not settle, a *general* capture breaks where it would guard a fact that has differed from capture to capture.

use crate::captured::{Captured, Place, known_by, place, place_of_extent};
use crate::numbers::{are_alike, is_number, is_text, varies};
use crate::stop::Why;
use crate::variables::{ListVar, VarId, VarKind, Variable};
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyComplex};
use sot_sideeffect::Mutation;
use sot_tracker::{Access, Arithmetic, Check, ObjectId, Tracker, TrackerId};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Places of one cache that are kept in mind.
const PLACES: usize = 4096;
/// Facts of one cache that are kept in mind, and of each so many answers.
const FACTS: usize = 16_384;
const ANSWERS: usize = 3;

enum Seen {
    Once(Py<PyAny>),
    Varies,
}

/// The numbers that captures of one cache have found. See the module.
#[derive(Default)]
pub struct Varying {
    seen: HashMap<Place, Seen>,
    /// A capture could do nothing with extents of tensors that vary.
    fixed_extents: Option<Why>,
    /// As of those, of extents that are numbers of the program.
    fixed_numbers: bool,
    /// A run has failed behind an operation that acts.
    never_acts: bool,
    /// What guards have asked for, and the first answers that differed.
    facts: HashMap<u64, Vec<u64>>,
}

impl Varying {
    /// Whether another number has been seen here, or several.
    pub fn holds(&self, place: &Place, now: &Bound<'_, PyAny>) -> bool {
        match self.seen.get(place) {
            Some(Seen::Varies) => true,
            Some(Seen::Once(before)) => !are_alike(before.bind(now.py()), now),
            None => false,
        }
    }

    /// Whether no number was seen.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// From now on each extent has a capture.
    pub(crate) fn fix_extents(&mut self, why: Why) {
        self.fixed_extents.get_or_insert(why);
    }

    /// Why extents of tensors that vary have a capture each, if they do.
    pub(crate) fn fixes_extents(&self) -> Option<&Why> {
        self.fixed_extents.as_ref()
    }

    /// From now on no extent is a number of the program that varies.
    pub(crate) fn fix_numbers(&mut self) {
        self.fixed_numbers = true;
    }

    /// Whether that is so.
    pub(crate) fn fixes_numbers(&self) -> bool {
        self.fixed_numbers
    }

    /// From now on no operation acts.
    pub(crate) fn act_no_more(&mut self) {
        self.never_acts = true;
    }

    /// Whether that is so.
    pub(crate) fn never_acts(&self) -> bool {
        self.never_acts
    }

    /// The same record once more.
    pub(crate) fn copied(&self, py: Python<'_>) -> Varying {
        let copied = |seen: &Seen| match seen {
            Seen::Once(number) => Seen::Once(number.clone_ref(py)),
            Seen::Varies => Seen::Varies,
        };
        let seen = self.seen.iter().map(|(place, seen)| (place.clone(), copied(seen))).collect();
        Varying {
            seen,
            fixed_extents: self.fixed_extents.clone(),
            fixed_numbers: self.fixed_numbers,
            never_acts: self.never_acts,
            facts: self.facts.clone(),
        }
    }

    /// Whether so many answers were given to what a guard asks, this one among them.
    pub(crate) fn is_fact_that_varies(
        &self,
        py: Python<'_>,
        captured: &Captured,
        tracker: TrackerId,
        check: &Check,
        answers: usize,
    ) -> bool {
        let Some((question, answer)) = fact(py, captured, tracker, check) else { return false };
        self.facts.get(&question).is_some_and(|seen| seen.len() + usize::from(!seen.contains(&answer)) >= answers)
    }

    fn learn_fact(&mut self, py: Python<'_>, captured: &Captured, tracker: TrackerId, check: &Check) {
        let Some((question, answer)) = fact(py, captured, tracker, check) else { return };
        if self.facts.len() >= FACTS {
            return;
        }
        let seen = self.facts.entry(question).or_default();
        if seen.len() < ANSWERS && !seen.contains(&answer) {
            seen.push(answer);
        }
    }

    /// What one more capture has found; `facts`: what all its guards ask for, too.
    pub(crate) fn learn(&mut self, py: Python<'_>, captured: &Captured, facts: bool) {
        if facts {
            captured.guards.iter().for_each(|guard| self.learn_fact(py, captured, guard.tracker, &guard.check));
        }
        for (container, length) in &captured.lengths {
            self.learn_fact(py, captured, *container, &Check::Len(*length));
        }
        if self.seen.len() >= PLACES {
            self.seen.retain(|_, seen| matches!(seen, Seen::Varies));
        }
        for place in captured.varying.values() {
            self.seen.insert(place.clone(), Seen::Varies);
        }
        self.fixed_numbers |= captured.needs_fixed_numbers;
        self.learn_extents(py, captured);
        let lists = lists_looked_at(captured);
        for guard in &captured.guards {
            let length = match &guard.check {
                Check::Len(length) if lists.contains(&guarded_object(captured, guard.tracker)) => Some(*length),
                Check::Keys(keys) => Some(keys.len()),
                _ => None,
            };
            if let Some(length) = length
                && self.seen.len() < PLACES
                && let Ok(length) = length.into_pyobject(py)
            {
                let mut place = place(py, captured, guard.tracker);
                place.push(Access::Arithmetic(Arithmetic::Length));
                self.see(place, length.as_any());
            }
            let (object, name) = match &guard.check {
                Check::Equals(object) => (*object, None),
                Check::ClassLookup { name, found: Some(object) } => (*object, Some(name)),
                _ => continue,
            };
            let number = captured.objects.get(py, object);
            if !varies(&number) || self.seen.len() >= PLACES {
                continue;
            }
            let mut place = place(py, captured, guard.tracker);
            place.extend(name.map(|name| Access::Attr(name.clone())));
            self.see(place, &number);
        }
        self.learn_first_counts(py, captured);
    }

    /// Counters that begin in a class: what was read there, the frame has hidden by an attribute of the instance, where the next call
    /// finds another number.
    fn learn_first_counts(&mut self, py: Python<'_>, captured: &Captured) {
        let is_written = |attribute: &str| {
            captured.journal.entries().iter().any(|entry| match &entry.mutation {
                Mutation::SetAttr { name, .. } | Mutation::SetInDict { name, .. } => name == attribute,
                _ => false,
            })
        };
        for guard in &captured.guards {
            let Check::Lacks(key) = &guard.check else { continue };
            let key = captured.objects.get_ref(py, *key);
            let Ok(attribute) = key.extract::<&str>() else { continue };
            let item = Access::DictItem(known_by(key));
            let of_class = captured.guards.iter().find_map(|guard| match &guard.check {
                Check::ClassLookup { name, found } if name == attribute => *found,
                // Of a class that is made anew, by its dict.
                Check::Equals(number) if place(py, captured, guard.tracker).last() == Some(&item) => Some(*number),
                _ => None,
            });
            let Some(number) = of_class.map(|number| captured.objects.get(py, number)) else { continue };
            if varies(&number) && is_written(attribute) && self.seen.len() < PLACES {
                let mut place = place(py, captured, guard.tracker);
                place.push(item);
                self.see(place, &number);
            }
        }
    }

    /// The extents of the tensors that were met.
    fn learn_extents(&mut self, py: Python<'_>, captured: &Captured) {
        for guard in &captured.guards {
            let Check::Tensor(number) = &guard.check else { continue };
            if guarded_object(captured, guard.tracker).is_ok() {
                continue;
            }
            let tensor = place(py, captured, guard.tracker);
            let extents = captured.tensor_checks.get(*number as usize).map(|check| check.meta.shape.clone());
            for (axis, extent) in extents.into_iter().flatten().enumerate().filter(|(_, extent)| *extent >= 0) {
                if self.seen.len() < PLACES
                    && let Ok(extent) = extent.into_pyobject(py)
                {
                    self.see(place_of_extent(tensor.clone(), axis), extent.as_any());
                }
            }
        }
    }

    fn see(&mut self, place: Place, number: &Bound<'_, PyAny>) {
        let seen = match self.holds(&place, number) {
            true => Seen::Varies,
            false => Seen::Once(number.clone().unbind()),
        };
        self.seen.insert(place, seen);
    }
}

/// What a guard is on: an object, or what a path leads to.
type Guarded = Result<ObjectId, TrackerId>;

fn guarded_object(captured: &Captured, tracker: TrackerId) -> Guarded {
    captured.trackers.get(tracker).as_constant().ok_or(tracker)
}

/// Lists and deques from before: only their lengths are asked for without a look.
fn lists_looked_at(captured: &Captured) -> HashSet<Guarded> {
    let list = |(var, object): (&VarId, &ObjectId)| match captured.var(*var) {
        Variable {
            kind: VarKind::List(ListVar { class: None, .. }) | VarKind::Deque(_),
            looked: true,
            tracker,
            ..
        } => Some([Ok(*object), guarded_object(captured, *tracker)]),
        _ => None,
    };
    captured.sourced.iter().filter_map(list).flatten().collect()
}

/// A number for an object: the same for equal constants of C, else its own.
fn number_of(value: &Bound<'_, PyAny>) -> u64 {
    let is_plain = is_number(value)
        || is_text(value)
        || value.is_exact_instance_of::<PyBytes>()
        || value.is_exact_instance_of::<PyComplex>()
        || value.is_exact_instance_of::<PyBool>();
    let mut hasher = DefaultHasher::new();
    match is_plain.then(|| value.hash()) {
        Some(Ok(hash)) => (value.get_type_ptr() as usize, hash).hash(&mut hasher),
        _ => (value.as_ptr() as usize).hash(&mut hasher),
    }
    hasher.finish()
}

/// What a guard asks of which place, and the answer that it wants; `None`: there is but one.
fn fact(py: Python<'_>, captured: &Captured, tracker: TrackerId, check: &Check) -> Option<(u64, u64)> {
    let object = |id: &ObjectId| number_of(captured.objects.get_ref(py, *id));
    let all = |ids: &[ObjectId]| ids.iter().map(object).collect::<Vec<_>>();
    let mut answer = DefaultHasher::new();
    // The question: its kind, and what it names.
    let (kind, named) = match check {
        Check::Is(o) => {
            object(o).hash(&mut answer);
            (0, 0)
        }
        Check::TypeIs(o) => {
            object(o).hash(&mut answer);
            (1, 0)
        }
        Check::Equals(o) => {
            object(o).hash(&mut answer);
            (2, 0)
        }
        Check::Len(len) => {
            len.hash(&mut answer);
            (3, 0)
        }
        Check::Keys(keys) => {
            all(keys).hash(&mut answer);
            (4, 0)
        }
        Check::Hashes { hashes, .. } => {
            hashes.hash(&mut answer);
            (5, 0)
        }
        Check::Member { key, is } => {
            is.hash(&mut answer);
            (6, object(key))
        }
        Check::Table { members, .. } => {
            let members: Vec<_> = members.iter().map(|(at, member)| (*at, member.as_ref().map(object))).collect();
            members.hash(&mut answer);
            (7, 0)
        }
        Check::HasNext(has) => {
            has.hash(&mut answer);
            (8, 0)
        }
        Check::ClassLookup { name, found } => {
            found.as_ref().map(object).hash(&mut answer);
            let mut named = DefaultHasher::new();
            name.hash(&mut named);
            (10, named.finish())
        }
        Check::Alike(o) => {
            object(o).hash(&mut answer);
            (13, 0)
        }
        Check::Mro(classes) => {
            all(classes).hash(&mut answer);
            (11, 0)
        }
        Check::SubclassOf { of, holds } => {
            holds.hash(&mut answer);
            (12, object(of))
        }
        Check::Lacks(_)
        | Check::LacksAttr(_)
        | Check::Quiet { .. }
        | Check::Tensor(_)
        | Check::SameAs(_)
        | Check::Distinct { .. }
        | Check::Ended
        | Check::EndsUnseen
        | Check::Unbound => return None,
    };
    let mut question = DefaultHasher::new();
    (kind, named).hash(&mut question);
    hash_path(py, captured, tracker, &mut question);
    Some((question.finish(), answer.finish()))
}

fn hash_path(py: Python<'_>, captured: &Captured, tracker: TrackerId, hasher: &mut DefaultHasher) {
    let path = captured.trackers.path(tracker);
    // What is computed of numbers comes behind them, and says which.
    let place = |operand: &TrackerId| path.iter().position(|step| step == operand);
    for step in path.iter().map(|step| captured.trackers.get(*step)) {
        if let Tracker::Arithmetic { left, right, .. } = step {
            (place(left), right.as_ref().map(place)).hash(hasher);
        }
        if let Some(access) = step.access() {
            access.map(|object| number_of(captured.objects.get_ref(py, *object)), String::clone).hash(hasher);
        }
    }
}
