//! Which containers and instances captures of the same code have found at places below constant objects.
//!
//! A capture takes what it finds there for what will be there at each call. Where a later one finds another object in the same place,
//! somebody exchanges it from call to call (`model.state = {}`): that capture finds it by its path, and so do those that follow
//! ([`Written`]). Objects are known by their address here, and nothing is kept alive: what is concluded in error is a
//! guard of another kind, and nothing worse.

use crate::captured::{Captured, Written, is_replaceable, written_at};
use crate::cpython::facts;
use crate::variables::{VarId, VarKind};
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use sot_sideeffect::{Mutation, VarRef};
use sot_tracker::{Check, ObjectId, TrackerId};
use std::sync::{Arc, Mutex};

/// Places of one function and its continuations that are kept in mind.
const PLACES: usize = 4096;

/// See the module. `None`: several objects were seen.
#[derive(Default)]
pub struct Occupants {
    seen: HashMap<Written, Option<usize>>,
}

/// Those that a function and its continuations have in common.
pub(crate) type Shared = Arc<Mutex<Occupants>>;

impl Occupants {
    /// Places where a capture has found an object that it takes for a fixed one, and others have found another.
    pub(crate) fn exchanged(&self, py: Python<'_>, captured: &Captured) -> Vec<Written> {
        if self.seen.is_empty() {
            return Vec::new();
        }
        let differs = |(place, now): &(Written, usize)| self.seen.get(place).is_some_and(|seen| *seen != Some(*now));
        occupants(py, captured).into_iter().filter(differs).map(|(place, _)| place).collect()
    }

    /// What one more capture has found.
    pub(crate) fn learn(&mut self, py: Python<'_>, captured: &Captured) {
        for place in captured.exchanged.iter().cloned().chain(written(py, captured)) {
            self.seen.insert(place, None);
        }
        for (place, now) in occupants(py, captured) {
            if self.seen.len() >= PLACES {
                return;
            }
            let seen = self.seen.entry(place).or_insert(Some(now));
            if *seen != Some(now) {
                *seen = None;
            }
        }
    }
}

/// Whether a value may be replaced, in its place, by another one; a tensor is known by its place in any case, or is a parameter.
fn is_exchangeable(kind: &VarKind) -> bool {
    is_replaceable(kind) && !matches!(kind, VarKind::Tensor(_))
}

/// The places to which a capture itself writes such a value: what comes behind its breaks finds another one each time.
fn written(py: Python<'_>, captured: &Captured) -> Vec<Written> {
    let address = |object: ObjectId| captured.objects.get_ref(py, object).as_ptr() as usize;
    let known = |object: VarRef| captured.known_object(VarId(object.0));
    let exchanges = |value: VarRef| is_exchangeable(&captured.var(VarId(value.0)).kind);
    let places = captured.journal.entries().iter().filter_map(|entry| match &entry.mutation {
        Mutation::SetGlobal { globals, name, value } if exchanges(*value) => {
            Some(Written::Name(address(*globals), name.clone()))
        }
        Mutation::SetAttr { object, name, value } if exchanges(*value) => {
            let owner = captured.objects.get_ref(py, known(*object)?);
            let container = match facts::field(owner, &PyString::intern(py, name)) {
                // A slot.
                facts::Field::Value(_) | facts::Field::Empty => owner.as_ptr() as usize,
                facts::Field::NoField => facts::instance_dict(owner)?.as_ptr() as usize,
            };
            Some(Written::Name(container, name.clone()))
        }
        Mutation::SetItem { object, key, value } if exchanges(*value) => {
            let (container, key) = (address(known(*object)?), captured.objects.get_ref(py, known(*key)?));
            let name = key.cast_exact::<PyString>().ok()?;
            Some(Written::Name(container, name.to_string()))
        }
        _ => None,
    });
    places.collect()
}

/// The objects whose identity is guarded below constant ones, by their places.
fn occupants(py: Python<'_>, captured: &Captured) -> Vec<(Written, usize)> {
    let replaceable: HashSet<ObjectId> = captured
        .sourced
        .iter()
        .filter(|(var, _)| is_exchangeable(&captured.var(**var).kind))
        .map(|(_, object)| *object)
        .collect();
    let found = captured.guards.iter().filter_map(|guard| {
        let (object, name) = match &guard.check {
            Check::Is(object) => (*object, None),
            Check::ClassLookup { name, found: Some(object) } => (*object, Some(name)),
            _ => return None,
        };
        if !replaceable.contains(&object) {
            return None;
        }
        let place = match name {
            Some(name) => of_class(py, captured, guard.tracker, name),
            None => written_at(py, captured, guard.tracker),
        };
        Some((place?, captured.objects.get_ref(py, object).as_ptr() as usize))
    });
    found.collect()
}

/// The place of an attribute in the dict of the class that has it.
fn of_class(py: Python<'_>, captured: &Captured, class: TrackerId, name: &str) -> Option<Written> {
    let class = captured.objects.get_ref(py, captured.trackers.get(class).as_constant()?);
    let bases = facts::mro(class.cast::<PyType>().ok()?);
    let mut dicts = bases.iter().filter_map(|base| facts::class_dict(&base));
    let owner = dicts.find(|dict| dict.contains(name).unwrap_or(false))?;
    Some(Written::Name(owner.as_ptr() as usize, name.to_owned()))
}
