//! Guards in native form: what a cache entry checks at each call.
//!
//! Two parts. *Facts* hang off constant objects (a pinned layer's dicts, a class, a function, a module's globals): each
//! container is one stamp compare (dict version, type version, part addresses); only when a stamp is stale are
//! its single facts checked, and the stamp renewed if they hold. So the cost does not grow with the number of
//! facts but with the number of containers, about a nanosecond each. *Steps* follow paths from the slots of
//! the frame. The framework's ambient state is checked first, since it is cheap and its change spares the rest.
//!
//! What the guards mean is said by sot-tracker; `reference` compares the two while tests run.
//!
//! Nothing here runs user code, and nothing is kept alive that the capture did not keep alive anyway.

mod equality;
mod facts;
mod names;
mod reference;
mod steps;

pub use names::GuardText;

use crate::backend::AmbientCheck;
use crate::cpython::Slots;
use crate::executor::Executor;
use crate::stop::{Reason, Stop};
use facts::Facts;
use pyo3::prelude::*;
use reference::Reference;
use sot_tracker::{Check, FunctionPart, Guard, ObjectId, Tracker, TrackerId};
use std::sync::Mutex;
use steps::Steps;

/// The compiled guards of one cache entry.
pub struct NativeGuards {
    ambient: Box<dyn AmbientCheck>,
    /// Stamps are renewed in place. Only ever locked for the check itself, under the GIL.
    facts: Mutex<Facts>,
    steps: Steps,
    count: usize,
    reference: Option<Reference>,
}

/// What a guard's path starts at, when that is a constant whose container has a stamp.
enum Fact {
    Dict { dict: ObjectId, owner: Option<ObjectId>, key: ObjectId },
    Type { class: ObjectId },
    Function { function: ObjectId },
}

fn constant(ex: &Executor<'_>, tracker: TrackerId) -> Option<ObjectId> {
    match ex.trackers.get(tracker) {
        Tracker::Constant(object) => Some(*object),
        _ => None,
    }
}

/// The dict at a tracker, and whose instance dict it is.
fn constant_dict(ex: &mut Executor<'_>, tracker: TrackerId) -> Option<(ObjectId, Option<ObjectId>)> {
    if let Some(dict) = constant(ex, tracker) {
        return Some((dict, None));
    }
    let Tracker::InstanceDict(base) = ex.trackers.get(tracker).clone() else { return None };
    let owner = constant(ex, base)?;
    let object = ex.objects.get(ex.py, owner);
    let dict = crate::cpython::facts::instance_dict(&object)?;
    Some((ex.objects.add(dict.as_any()), Some(owner)))
}

fn fact_of(ex: &mut Executor<'_>, guard: &Guard) -> Option<Fact> {
    match &guard.check {
        Check::ClassLookup { .. } | Check::Mro(_) | Check::SubclassOf { .. } => {
            constant(ex, guard.tracker).map(|class| Fact::Type { class })
        }
        Check::Lacks(key) => {
            let (dict, owner) = constant_dict(ex, guard.tracker)?;
            Some(Fact::Dict { dict, owner, key: *key })
        }
        Check::SameAs(other) if *other != guard.tracker => None,
        Check::Is(_) | Check::Equals(_) | Check::TypeIs(_) | Check::SameAs(_) => {
            match ex.trackers.get(guard.tracker).clone() {
                Tracker::DictItem { base, key } => {
                    let (dict, owner) = constant_dict(ex, base)?;
                    Some(Fact::Dict { dict, owner, key })
                }
                Tracker::FunctionPart { base, part } if part != FunctionPart::Globals => {
                    constant(ex, base).map(|function| Fact::Function { function })
                }
                _ => None,
            }
        }
        _ => None,
    }
}

impl NativeGuards {
    /// Compile the guards of a capture.
    pub fn compile(ex: &mut Executor<'_>, ambient: Box<dyn AmbientCheck>) -> Result<NativeGuards, Stop> {
        let guards: Vec<Guard> = ex.guards.iter().cloned().collect();
        let mut facts = Facts::default();
        let mut steps = Steps::default();
        for guard in &guards {
            match fact_of(ex, guard) {
                Some(Fact::Dict { dict, owner, key }) => facts.add_dict(ex, dict, owner, key, &guard.check)?,
                Some(Fact::Type { class }) => facts.add_type(ex, class, &guard.check)?,
                Some(Fact::Function { function }) => facts.add_function(ex, function)?,
                None => steps.add(ex, guard)?,
            }
        }
        let snapshots = std::mem::take(&mut ex.snapshots);
        for snapshot in &snapshots {
            facts.add_snapshot(ex, snapshot)?;
        }
        ex.snapshots = snapshots;
        steps.take_tensor_checks(ex);
        let count = guards.len() + ex.snapshots.len();
        let reference = reference::wanted().then(|| Reference::new(ex)).flatten();
        Ok(NativeGuards { ambient, facts: Mutex::new(facts), steps, count, reference })
    }

    /// Guards that always hold.
    pub fn always() -> NativeGuards {
        NativeGuards {
            ambient: Box::new(Always),
            facts: Mutex::default(),
            steps: Steps::default(),
            count: 0,
            reference: None,
        }
    }

    /// Whether everything the capture depended on still holds.
    pub fn check(&self, py: Python<'_>, slots: Slots<'_>) -> bool {
        if !self.ambient.matches(py) {
            return false;
        }
        let holds = self.steps.check(py, slots) && self.facts.lock().is_ok_and(|mut facts| facts.check(py));
        if let Some(reference) = &self.reference {
            // It reads through Python, where a handler that raises would look like a difference.
            crate::cpython::signals::deferring(py, || {
                reference.compare(py, slots, self.steps.tensor_checks(), holds);
            });
        }
        holds
    }

    /// The guards of a capture hold of the frame that it came from, where that is to be verified.
    pub fn verify_accepts(&self, py: Python<'_>, slots: Slots<'_>) {
        if let Some(reference) = &self.reference
            && self.ambient.matches(py)
            && !self.check(py, slots)
        {
            let which = reference.failing(py, slots, self.steps.tensor_checks());
            reference::defect(&format!("guards reject the frame that they came from: {which}"));
        }
    }

    /// Visit every object that is held, once per reference. Must not block: a check that is going on is left out.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.steps.traverse(visit);
        self.reference.iter().for_each(|reference| reference.traverse(visit));
        if let Ok(facts) = self.facts.try_lock() {
            facts.traverse(visit);
        }
    }

    /// Number of facts that are guarded.
    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub fn ambient(&self) -> Vec<String> {
        self.ambient.describe()
    }
}

fn missing(what: &str) -> Stop {
    Stop::fallback(Reason::InternalError, format!("guard without {what}"))
}

struct Always;

impl AmbientCheck for Always {
    fn matches(&self, _py: Python<'_>) -> bool {
        true
    }

    fn describe(&self) -> Vec<String> {
        Vec::new()
    }
}
