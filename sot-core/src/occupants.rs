//! Which containers, instances and tensors captures of the same code have found at places below constant objects.
//!
//! A capture takes what it finds there for what will be there at each call. Where a later one finds another object in the same place,
//! somebody exchanges it from call to call (`model.state = {}`): that capture finds it by its path, and so do those that follow
//! ([`Written`]). Objects are known by their address here, and nothing is kept alive: what is concluded in error, as an address
//! may be another object's by then, costs a guard of another kind, or a break at a dict whose keys may die.

use crate::captured::{Captured, Written, is_replaceable, written_at};
use crate::cpython::facts;
use crate::type_facts;
use crate::variables::VarId;
use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use sot_sideeffect::{Mutation, VarRef};
use sot_tracker::{Access, Check, ObjectId, Tracker, TrackerId};
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

    /// Places that are known to hold another object from call to call.
    pub(crate) fn known(&self) -> HashSet<Written> {
        self.seen.iter().filter(|(_, seen)| seen.is_none()).map(|(place, _)| place.clone()).collect()
    }

    /// What one more capture has found.
    pub(crate) fn learn(&mut self, py: Python<'_>, captured: &Captured) {
        if self.seen.len() >= PLACES {
            self.seen.retain(|_, seen| seen.is_none());
        }
        for (place, now) in occupants(py, captured) {
            self.see(place, Some(now));
        }
        for place in captured.exchanged.iter().cloned().chain(written(py, captured)) {
            self.see(place, None);
        }
    }

    fn see(&mut self, place: Written, now: Option<usize>) {
        let room = self.seen.len() < PLACES;
        match self.seen.entry(place) {
            Entry::Occupied(mut seen) if *seen.get() != now => drop(seen.insert(None)),
            Entry::Vacant(free) if room => drop(free.insert(now)),
            _ => {}
        }
    }
}

/// Whether an object is a container, an instance or a tensor, which a capture may take for a fixed one.
fn may_be_taken_for_fixed(object: &Bound<'_, PyAny>) -> bool {
    let class = object.get_type();
    facts::is_plain_container(object) || facts::is_heap_type(&class) && !object.is_instance_of::<PyType>()
}

/// The places below constant objects where a capture itself exchanges such a value for another: what comes behind its breaks finds
/// another one each time. One that was empty until now is filled for good, as far as anybody knows.
fn written(py: Python<'_>, captured: &Captured) -> Vec<Written> {
    let object = |id: ObjectId| captured.objects.get_ref(py, id);
    let owner = |var: VarRef| {
        let var = VarId(var.0);
        let at = captured.var(var).tracker;
        // A method that a break has handed on was bound to an object below a constant one as often as not.
        let is_bound = matches!(captured.trackers.get(at), Tracker::Step { access: Access::MethodSelf, .. });
        (is_bound || captured.is_under_constant(at)).then(|| captured.known_object(var)).flatten().map(object)
    };
    let exchanges = |value: VarRef| is_replaceable(&captured.var(VarId(value.0)).kind);
    let places = captured.journal.entries().iter().filter_map(|entry| {
        let (container, name, before) = match &entry.mutation {
            Mutation::SetGlobal { globals, name, value } if exchanges(*value) => {
                let globals = object(*globals).cast::<PyDict>().ok()?;
                (globals.as_ptr(), name.clone(), facts::value_of_name(globals, name)?)
            }
            Mutation::SetAttr { object, name, value } if exchanges(*value) => {
                let owner = owner(*object)?;
                match facts::field(owner, &PyString::intern(py, name)) {
                    facts::Field::Value(before) => (owner.as_ptr(), name.clone(), before),
                    facts::Field::Empty => return None,
                    facts::Field::NoField => {
                        let dict = facts::instance_dict(owner)?;
                        (dict.as_ptr(), name.clone(), facts::value_of_name(&dict, name)?)
                    }
                }
            }
            Mutation::SetInDict { object, name, value } if exchanges(*value) => {
                let dict = facts::instance_dict(owner(*object)?)?;
                (dict.as_ptr(), name.clone(), facts::value_of_name(&dict, name)?)
            }
            Mutation::SetItem { object: dict, key, value } if exchanges(*value) => {
                let dict = owner(*dict)?.cast::<PyDict>().ok()?;
                let key = object(captured.known_object(VarId(key.0))?).cast_exact::<PyString>().ok()?.to_string();
                (dict.as_ptr(), key.clone(), facts::value_of_name(dict, &key)?)
            }
            _ => return None,
        };
        may_be_taken_for_fixed(&before).then_some(Written::Name(container as usize, name))
    });
    places.collect()
}

/// The objects whose identity is guarded below constant ones, by their places.
fn occupants(py: Python<'_>, captured: &Captured) -> Vec<(Written, usize)> {
    let replaceable: HashSet<ObjectId> = captured
        .sourced
        .iter()
        .filter(|(var, _)| is_replaceable(&captured.var(**var).kind))
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
    let owner = type_facts::dict_that_has(class.cast::<PyType>().ok()?, name)?;
    Some(Written::Name(owner.as_ptr() as usize, name.to_owned()))
}
