//! Guards in native form: what a cache entry checks at each call.
//!
//! Two parts. What is below a constant object (a pinned layer's dicts, a class, a function, a module's globals): each
//! container is one stamp compare (dict version, type version, part addresses); only when a stamp is stale are
//! its single checks made, and the stamp renewed if they hold. So the cost does not grow with the number of
//! checks but with the number of containers, about a nanosecond each. *Steps* follow paths from the slots of
//! the frame, in the order of sot-tracker's guard tree. Guards that others prove are left out of both. The framework's
//! ambient state is checked first, since it is cheap and its change spares the rest.
//!
//! What the guards mean is said by sot-tracker; `reference` compares the two while tests run.
//!
//! Nothing here runs user code. Modules, classes, functions, code objects, layers and containers on the way are held, as long as the
//! entry is: `serve::orphans` drops one that nothing can meet again. What the program could see die is not held: below
//! constant objects it is guarded by its path ([`Captured::is_under_constant`]), in a slot weakly (`identity`).

mod alike;
mod blame;
mod distinct;
mod equality;
mod identity;
mod names;
mod reference;
mod stamped;
mod steps;

pub use blame::{Blame, cut};
pub use names::{GuardText, Root, in_words};
pub use steps::Seen;

use crate::backend::{AmbientCheck, nothing_ambient};
use crate::captured::Captured;
use crate::cpython::Slots;
use crate::cpython::facts::is_written_class;
use crate::cpython::holders::Holders;
use crate::numpy;
use crate::objects::is_constant_type;
use crate::stop::{Reason, Stop};
use blame::Numbers;
use equality::equals;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyString, PyType};
use reference::Reference;
use sot_tracker::{Access, Check, FunctionPart, Guard, GuardSet, ObjectId, Tracker, TrackerId};
use stamped::Stamped;
use std::sync::{Arc, Mutex};
use steps::Steps;

/// The compiled guards of one cache entry.
pub struct NativeGuards {
    ambient: Arc<dyn AmbientCheck>,
    /// Stamps are renewed in place. Only ever locked for the check itself, under the GIL.
    stamped: Mutex<Stamped>,
    steps: Steps,
    reference: Option<Reference>,
    /// They name what may die, and hold it weakly.
    names_mortals: bool,
}

/// The state of the framework that was asked for last in one look-up, and whether it is that: most entries of a cache have the same.
#[derive(Default)]
pub struct Asked<'a>(Option<(&'a Arc<dyn AmbientCheck>, bool)>);

impl<'a> Asked<'a> {
    fn matches(&mut self, py: Python<'_>, ambient: &'a Arc<dyn AmbientCheck>) -> bool {
        match self.0 {
            Some((asked, matches)) if Arc::ptr_eq(asked, ambient) => matches,
            _ => {
                let matches = ambient.matches(py);
                self.0 = Some((ambient, matches));
                matches
            }
        }
    }
}

/// A check over CPython. Other values are named by register.
type NativeCheck = Check<Py<PyAny>, Py<PyString>, usize>;

fn visit_check(check: &NativeCheck, visit: &mut dyn FnMut(&Py<PyAny>)) {
    match check {
        Check::Is(object) | Check::TypeIs(object) | Check::Equals(object) | Check::Lacks(object) => visit(object),
        Check::Member { key, .. } => visit(key),
        Check::Quiet { key } => key.iter().for_each(visit),
        Check::Table { members, .. } => members.iter().filter_map(|member| member.1.as_ref()).for_each(visit),
        Check::Keys(objects) | Check::Mro(objects) => objects.iter().for_each(visit),
        Check::SubclassOf { of, .. } => visit(of),
        Check::Alike(pattern) => visit(pattern),
        Check::LacksAttr(name) => visit(name.as_any()),
        Check::ClassLookup { name, found } => {
            visit(name.as_any());
            found.iter().for_each(visit);
        }
        Check::Len(_)
        | Check::Hashes { .. }
        | Check::Tensor(_)
        | Check::SameAs(_)
        | Check::Distinct { .. }
        | Check::HasNext(_)
        | Check::Ended
        | Check::EndsUnseen
        | Check::Unbound => {}
    }
}

/// What is known of objects for ever: constants.
struct Constants<'a, 'py> {
    py: Python<'py>,
    captured: &'a Captured,
}

impl sot_tracker::Known for Constants<'_, '_> {
    fn is_immutable(&self, object: ObjectId) -> bool {
        let object = self.captured.objects.get_ref(self.py, object);
        let ty = object.get_type();
        object.is_none() || is_constant_type(&ty) || numpy::is_scalar_type(&ty)
    }

    fn type_of(&self, object: ObjectId) -> Option<ObjectId> {
        self.captured.objects.find(self.captured.objects.get_ref(self.py, object).get_type().as_any())
    }

    fn equals(&self, a: ObjectId, b: ObjectId) -> bool {
        equals(self.captured.objects.get_ref(self.py, a), self.captured.objects.get_ref(self.py, b))
    }
}

/// What a guard's path starts at, when that is a constant whose container has a stamp.
enum Container<'py> {
    Dict { dict: Bound<'py, PyDict>, owner: Option<ObjectId>, key: ObjectId },
    Type { class: ObjectId },
    Function { function: ObjectId, part: FunctionPart },
}

fn constant(captured: &Captured, tracker: TrackerId) -> Option<ObjectId> {
    match captured.trackers.get(tracker) {
        Tracker::Root(Access::Constant(object)) => Some(*object),
        _ => None,
    }
}

/// The dict at a tracker, and whose instance dict it is.
fn constant_dict<'py>(
    py: Python<'py>,
    captured: &Captured,
    tracker: TrackerId,
) -> Option<(Bound<'py, PyDict>, Option<ObjectId>)> {
    if let Some(dict) = constant(captured, tracker) {
        return Some((captured.objects.get(py, dict).cast_into().ok()?, None));
    }
    let Tracker::Step { base, access: Access::InstanceDict } = captured.trackers.get(tracker) else { return None };
    let owner = constant(captured, *base)?;
    let dict = crate::cpython::facts::instance_dict(captured.objects.get_ref(py, owner))?;
    Some((dict, Some(owner)))
}

/// Whether an instance of this class can be given another one.
fn may_be_left(class: &Bound<'_, PyAny>) -> bool {
    class.cast::<PyType>().is_ok_and(|class| is_written_class(class) || class.is(class.py().get_type::<PyModule>()))
}

fn container_of<'py>(py: Python<'py>, captured: &Captured, guard: &Guard) -> Option<Container<'py>> {
    match &guard.check {
        Check::ClassLookup { .. } | Check::Mro(_) | Check::SubclassOf { .. } => {
            constant(captured, guard.tracker).map(|class| Container::Type { class })
        }
        Check::Lacks(key) => {
            let (dict, owner) = constant_dict(py, captured, guard.tracker)?;
            Some(Container::Dict { dict, owner, key: *key })
        }
        Check::SameAs(other) if *other != guard.tracker => None,
        // The dict does not hear that an object in it is given another class.
        Check::TypeIs(class) if may_be_left(&captured.objects.get(py, *class)) => None,
        Check::Is(_) | Check::Equals(_) | Check::TypeIs(_) | Check::SameAs(_) => {
            match captured.trackers.get(guard.tracker) {
                Tracker::Step { base, access: Access::DictItem(key) } => {
                    let (dict, owner) = constant_dict(py, captured, *base)?;
                    Some(Container::Dict { dict, owner, key: *key })
                }
                Tracker::Step { base, access: Access::FunctionPart(part) }
                    if *part != FunctionPart::Globals
                        && matches!(guard.check, Check::Is(_))
                        && !captured.is_passing(guard.tracker) =>
                {
                    constant(captured, *base).map(|function| Container::Function { function, part: *part })
                }
                _ => None,
            }
        }
        _ => None,
    }
}

impl NativeGuards {
    /// Compile the guards of a capture.
    pub fn compile(py: Python<'_>, captured: &Captured, ambient: &Arc<dyn AmbientCheck>) -> Result<NativeGuards, Stop> {
        NativeGuards::of(py, captured, ambient, captured.guards.clone(), false)
    }

    /// As [`NativeGuards::compile`], so that what they see ([`NativeGuards::seen`]) is all that new code reads.
    pub fn compile_seeing_all(
        py: Python<'_>,
        captured: &Captured,
        ambient: &Arc<dyn AmbientCheck>,
    ) -> Result<NativeGuards, Stop> {
        let is_of_the_start =
            |place: TrackerId| captured.trackers.path(place).iter().any(|step| captured.of_the_start.contains(step));
        let mut guards = GuardSet::default();
        for guard in captured.guards.iter().filter(|guard| !is_of_the_start(guard.tracker)) {
            guards.add(guard.clone());
        }
        let mut places: Vec<TrackerId> = captured.vars.iter().map(|var| var.tracker).collect();
        places.sort_unstable();
        places.dedup();
        for place in places {
            if captured.has_path(place) && !captured.is_constant(place) && !is_of_the_start(place) {
                guards.add(Guard::new(place, Check::SameAs(place)));
            }
        }
        NativeGuards::of(py, captured, ambient, guards, true)
    }

    fn of(
        py: Python<'_>,
        captured: &Captured,
        ambient: &Arc<dyn AmbientCheck>,
        mut guards: GuardSet,
        sees_all: bool,
    ) -> Result<NativeGuards, Stop> {
        let mut stamped = Stamped::default();
        guards.simplify(&captured.trackers, &Constants { py, captured });
        guards.drop_implied_presence(&captured.trackers);
        let mut on_paths = Vec::new();
        let numbers = Numbers::new(captured);
        for guard in &guards {
            let number = numbers.of(guard);
            // Of these a stamp says nothing about who is there.
            let is_seen = sees_all && matches!(guard.check, Check::TypeIs(_) | Check::SameAs(_));
            match container_of(py, captured, guard).filter(|_| !is_seen) {
                Some(Container::Dict { dict, owner, key }) => {
                    stamped.add_dict(py, captured, &dict, owner, key, (&guard.check, number))?;
                }
                Some(Container::Type { class }) => stamped.add_type(py, captured, class, (&guard.check, number))?,
                Some(Container::Function { function, part }) => {
                    stamped.add_function(py, captured, function, (part, number))?;
                }
                None => on_paths.push(guard),
            }
        }
        let steps = Steps::compile(py, captured, on_paths, &numbers)?;
        for snapshot in &captured.snapshots {
            stamped.add_snapshot(py, captured, snapshot)?;
        }
        let reference = reference::wanted().then(|| Reference::new(py, captured)).flatten();
        let is_mortal = |check: &NativeCheck| match check {
            Check::Is(object) => identity::holds_mortal(py, object),
            Check::Keys(keys) => keys.iter().any(|key| identity::holds_mortal(py, key)),
            _ => false,
        };
        let names_mortals = steps.any_check(&is_mortal) || stamped.any_check(&is_mortal);
        Ok(NativeGuards { ambient: ambient.clone(), stamped: Mutex::new(stamped), steps, reference, names_mortals })
    }

    /// Guards that always hold.
    pub fn always() -> NativeGuards {
        NativeGuards {
            ambient: nothing_ambient(),
            stamped: Mutex::default(),
            steps: Steps::default(),
            reference: None,
            names_mortals: false,
        }
    }

    /// Whether everything the capture depended on still holds. `asked`: what this look-up has asked the framework for.
    pub fn check<'a>(&'a self, py: Python<'_>, slots: Slots<'_>, asked: &mut Asked<'a>) -> bool {
        if !asked.matches(py, &self.ambient) {
            return false;
        }
        let holds = self.steps.check(py, slots) && self.stamped.lock().is_ok_and(|mut stamped| stamped.check(py));
        if let Some(reference) = &self.reference {
            // It reads through Python, where a handler that raises would look like a difference.
            crate::cpython::signals::deferring(py, || {
                reference.compare(py, slots, self.steps.tensor_checks(), holds);
            });
        }
        holds
    }

    /// Everything that they look at on their ways, if they hold. Stamps are renewed.
    pub fn seen(&self, py: Python<'_>, slots: Slots<'_>) -> Option<Seen> {
        self.check(py, slots, &mut Asked::default()).then(|| self.steps.seen(py, slots))?
    }

    /// Whether they hold, and all that they look at is what it was, one by one. Where that is not known it is not so.
    pub fn sees_the_same(&self, py: Python<'_>, slots: Slots<'_>, before: &Seen) -> bool {
        self.ambient.matches(py)
            && self.steps.seen(py, slots).is_some_and(|now| now.is_same(py, before))
            && self.stamped.lock().is_ok_and(|mut stamped| stamped.check(py))
    }

    /// Bytes that they hold, without the objects of the program that they name.
    pub fn bytes(&self) -> usize {
        size_of::<NativeGuards>() + self.steps.bytes() + self.stamped.try_lock().map_or(0, |stamped| stamped.bytes())
    }

    /// Which guard fails first. `None`: all hold, or it is the ambient state.
    pub fn blame(&self, py: Python<'_>, slots: Slots<'_>) -> Option<Blame> {
        if !self.ambient.matches(py) {
            return None;
        }
        self.steps.blame(py, slots).or_else(|| self.stamped.lock().ok()?.blame(py))
    }

    /// The guards of a capture hold of the frame that it came from, where that is to be verified.
    pub fn verify_accepts(&self, py: Python<'_>, slots: Slots<'_>) {
        if let Some(reference) = &self.reference
            && self.ambient.matches(py)
            && !self.check(py, slots, &mut Asked::default())
        {
            let which = reference.failing(py, slots, self.steps.tensor_checks());
            reference::defect(&format!("guards reject the frame that they came from: {which}"));
        }
    }

    /// Whether they compare with an object that has died, or that nobody holds but caches, where its holders are known: they
    /// will not hold again.
    pub fn are_dead(&self, py: Python<'_>, holders: Option<&Holders>) -> bool {
        if holders.is_none() && !self.names_mortals {
            return false;
        }
        let dead = |check: &NativeCheck| match check {
            Check::Is(object) => identity::is_lost(py, object, holders),
            Check::Keys(keys) => {
                keys.iter().any(|key| identity::holds_mortal(py, key) && identity::is_lost(py, key, holders))
            }
            Check::TypeIs(class) => holders.is_some_and(|holders| holders.alone_hold(class.as_ptr() as usize)),
            _ => false,
        };
        self.steps.any_check(&dead) || self.stamped.try_lock().is_ok_and(|stamped| stamped.any_check(&dead))
    }

    /// Visit every object that is held, once per reference. Must not block: a check that is going on is left out.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.steps.traverse(visit);
        self.reference.iter().for_each(|reference| reference.traverse(visit));
        if let Ok(stamped) = self.stamped.try_lock() {
            stamped.traverse(visit);
        }
    }
}

/// How objects of a check are held.
fn holder<'a>(py: Python<'a>, captured: &'a Captured, check: &Check) -> impl Fn(&ObjectId) -> Py<PyAny> + use<'a> {
    let of_form = matches!(check, Check::Alike(_));
    let of_identity = matches!(
        check,
        Check::Is(_)
            | Check::Keys(_)
            | Check::Lacks(_)
            | Check::Member { .. }
            | Check::Quiet { .. }
            | Check::Table { .. }
    );
    move |id| match captured.objects.get(py, *id) {
        object if of_form => alike::pattern(object),
        object if of_identity => identity::expected(object),
        object => object.unbind(),
    }
}

fn missing(what: &str) -> Stop {
    Stop::fallback(Reason::InternalError, format!("guard without {what}"))
}
