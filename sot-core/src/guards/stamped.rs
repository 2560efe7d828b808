//! Guards below constant objects, by container: one stamp each, and single checks for when it is stale.

use super::blame::{Blame, Found, GuardNumber};
use super::equality::equals;
use super::identity;
use super::{NativeCheck, holder, missing, visit_check};
use crate::captured::{Captured, Snapshot};
use crate::cpython::facts::{DictStamp, FunctionStamp, TypeStamp, has_dict, instance_dict, mro, type_lookup};
use crate::stop::Stop;
use crate::type_facts;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;
use sot_tracker::{Check, FunctionPart, ObjectId};

struct StampedDict {
    stamp: DictStamp,
    /// The object whose instance dict it must still be.
    owner: Option<Py<PyAny>>,
    /// What must hold of the item of each key, or that there is none; `SameAs` only says that there is one.
    items: Vec<(Py<PyAny>, NativeCheck, GuardNumber)>,
}

struct StampedType {
    id: ObjectId,
    stamp: TypeStamp,
    lookups: Vec<(Py<PyString>, Option<Py<PyAny>>, GuardNumber)>,
    mro: Option<(Vec<Py<PyAny>>, GuardNumber)>,
    /// What it is, or is not, a subclass of, by its MRO.
    bases: Vec<(Py<PyAny>, bool, GuardNumber)>,
}

struct StampedSnapshot {
    stamp: DictStamp,
    copy: Py<PyDict>,
}

/// All containers of one cache entry.
#[derive(Default)]
pub(super) struct Stamped {
    dicts: Vec<StampedDict>,
    types: Vec<StampedType>,
    functions: Vec<(ObjectId, FunctionStamp, [GuardNumber; 4])>,
    snapshots: Vec<StampedSnapshot>,
    /// Something is not an instance of an abstract class, as long as no class is registered with any.
    registrations: Option<u64>,
}

/// Changes whenever a class is registered with an abstract class. A "no" of an abstract class is cached by it until then;
/// a "yes" for good.
pub(super) fn registrations(py: Python<'_>) -> Option<u64> {
    static TOKEN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let token = TOKEN
        .get_or_try_init(py, || crate::cpython::module(py, "abc")?.getattr("get_cache_token").map(Bound::unbind))
        .ok()?;
    token.bind(py).call0().ok()?.extract().ok()
}

impl Stamped {
    pub(super) fn add_dict(
        &mut self,
        py: Python<'_>,
        captured: &Captured,
        dict: &Bound<'_, PyDict>,
        owner: Option<ObjectId>,
        key: ObjectId,
        (check, number): (&Check, GuardNumber),
    ) -> Result<(), Stop> {
        let object = |id: &ObjectId| captured.objects.get(py, *id).unbind();
        let item = match check {
            Check::Is(_) | Check::TypeIs(_) | Check::Equals(_) | Check::Lacks(_) | Check::SameAs(_) => {
                check.map(holder(py, captured, check), |name| PyString::intern(py, name).unbind(), |_| 0)
            }
            _ => return Err(missing("a check of a dict item")),
        };
        let at = match self.dicts.iter().rposition(|d| d.stamp.dict().is(dict)) {
            Some(at) => at,
            None => {
                let owner = owner.map(|o| object(&o));
                self.dicts.push(StampedDict { stamp: DictStamp::new(dict), owner, items: Vec::new() });
                self.dicts.len() - 1
            }
        };
        let stamped = &mut self.dicts[at];
        if stamped.owner.is_none() {
            stamped.owner = owner.map(|o| object(&o));
        }
        stamped.items.push((identity::expected(captured.objects.get(py, key)), item, number));
        Ok(())
    }

    pub(super) fn add_type(
        &mut self,
        py: Python<'_>,
        captured: &Captured,
        class: ObjectId,
        (check, number): (&Check, GuardNumber),
    ) -> Result<(), Stop> {
        let object = |id: &ObjectId| captured.objects.get(py, *id);
        if let Check::SubclassOf { of, holds } = check
            && !is_plain_class(&object(of))
        {
            if !holds {
                self.registrations = Some(registrations(py).ok_or_else(|| missing("a count of registrations"))?);
            }
            return Ok(());
        }
        let at = match self.types.iter().rposition(|t| t.id == class) {
            Some(at) => at,
            None => {
                let ty = captured.objects.get(py, class);
                let ty = ty.cast::<PyType>().map_err(|_| missing("a class"))?;
                let stamp = TypeStamp::new(ty);
                self.types.push(StampedType { id: class, stamp, lookups: Vec::new(), mro: None, bases: Vec::new() });
                self.types.len() - 1
            }
        };
        let stamped = &mut self.types[at];
        match check {
            Check::ClassLookup { name, found } => {
                let found = found.as_ref().map(|f| object(f).unbind());
                stamped.lookups.push((PyString::intern(py, name).unbind(), found, number));
            }
            Check::Mro(classes) => {
                stamped.mro = Some((classes.iter().map(|c| object(c).unbind()).collect(), number));
            }
            Check::SubclassOf { of, holds } => stamped.bases.push((object(of).unbind(), *holds, number)),
            _ => return Err(missing("a check of a class")),
        }
        Ok(())
    }

    /// A part of a function is the one that was met.
    pub(super) fn add_function(
        &mut self,
        py: Python<'_>,
        captured: &Captured,
        function: ObjectId,
        (part, guard): (FunctionPart, GuardNumber),
    ) -> Result<(), Stop> {
        let at = match self.functions.iter().position(|f| f.0 == function) {
            Some(at) => at,
            None => {
                let stamp = FunctionStamp::of_none(&captured.objects.get(py, function));
                self.functions.push((function, stamp.ok_or_else(|| missing("a function"))?, [None; 4]));
                self.functions.len() - 1
            }
        };
        let number = match part {
            FunctionPart::Code => 0,
            FunctionPart::Defaults => 1,
            FunctionPart::KwDefaults => 2,
            FunctionPart::Closure => 3,
            FunctionPart::Globals => return Err(missing("a part of a function")),
        };
        let (_, stamp, guards) = &mut self.functions[at];
        stamp.add(py, number);
        guards[number] = guard;
        Ok(())
    }

    pub(super) fn add_snapshot(
        &mut self,
        py: Python<'_>,
        captured: &Captured,
        snapshot: &Snapshot,
    ) -> Result<(), Stop> {
        let dict = captured.objects.get(py, snapshot.dict);
        let dict = dict.cast::<PyDict>().map_err(|_| missing("a dict"))?;
        let stamped = StampedSnapshot { stamp: DictStamp::new(dict), copy: snapshot.copy.clone_ref(py) };
        self.snapshots.push(stamped);
        Ok(())
    }

    /// Whether all are as they must be; renews stale stamps of those that are.
    pub(super) fn check(&mut self, py: Python<'_>) -> bool {
        self.functions.iter().all(|(_, stamp, _)| stamp.fresh())
            && self.dicts.iter_mut().all(|d| d.check(py))
            && self.types.iter_mut().all(|t| t.stamp.fresh() || t.recheck(py))
            && self.snapshots.iter_mut().all(|s| s.stamp.fresh() || s.recheck(py))
            && self.registrations.is_none_or(|then| registrations(py) == Some(then))
    }
}

impl Stamped {
    /// Bytes that they hold.
    pub(super) fn bytes(&self) -> usize {
        let of_dict = |dict: &StampedDict| {
            size_of::<StampedDict>() + dict.items.len() * size_of::<(Py<PyAny>, NativeCheck, GuardNumber)>()
        };
        let of_type = |class: &StampedType| {
            size_of::<StampedType>()
                + class.lookups.len() * size_of::<(Py<PyString>, Option<Py<PyAny>>, GuardNumber)>()
                + class.mro.iter().map(|(classes, _)| classes.len() * size_of::<Py<PyAny>>()).sum::<usize>()
        };
        self.dicts.iter().map(of_dict).sum::<usize>()
            + self.types.iter().map(of_type).sum::<usize>()
            + self.functions.len() * size_of::<(ObjectId, FunctionStamp, [GuardNumber; 4])>()
            + self.snapshots.len() * size_of::<StampedSnapshot>()
    }

    /// What fails first.
    pub(super) fn blame(&mut self, py: Python<'_>) -> Option<Blame> {
        let function = self.functions.iter().find_map(|(_, stamp, guards)| Some(guards[stamp.changed()?]));
        if let Some(guard) = function {
            return Some(Blame { guard, found: Found::Said("another one") });
        }
        if let Some(dict) = self.dicts.iter_mut().find_map(|dict| (!dict.check(py)).then_some(dict)) {
            return Some(dict.blame(py));
        }
        if let Some(class) = self.types.iter_mut().find_map(|t| (!t.stamp.fresh() && !t.recheck(py)).then_some(t)) {
            return Some(class.blame(py));
        }
        self.snapshots
            .iter_mut()
            .any(|snapshot| !snapshot.stamp.fresh() && !snapshot.recheck(py))
            .then(|| Blame { guard: None, found: Found::Said("a dict of the framework that has changed") })
            .or_else(|| {
                let registered = self.registrations.is_some_and(|then| registrations(py) != Some(then));
                registered.then(|| Blame {
                    guard: None,
                    found: Found::Said("a class registered with an abstract class since"),
                })
            })
    }
}

/// A class that only its MRO decides about, not one that classes are registered with.
pub(super) fn is_plain_class(class: &Bound<'_, PyAny>) -> bool {
    class.get_type().is(class.py().get_type::<PyType>())
}

impl Stamped {
    /// Of those of items.
    pub(super) fn any_check(&self, asked: &dyn Fn(&NativeCheck) -> bool) -> bool {
        self.dicts.iter().any(|dict| dict.items.iter().any(|(_, check, _)| asked(check)))
    }

    pub(super) fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        for stamped in &self.dicts {
            stamped.stamp.traverse(visit);
            stamped.owner.iter().for_each(&mut *visit);
            for (key, check, _) in &stamped.items {
                visit(key);
                visit_check(check, visit);
            }
        }
        for stamped in &self.types {
            stamped.stamp.traverse(visit);
            stamped.mro.iter().flat_map(|(classes, _)| classes).for_each(&mut *visit);
            stamped.bases.iter().for_each(|(base, ..)| visit(base));
            for (name, found, _) in &stamped.lookups {
                visit(name.as_any());
                found.iter().for_each(&mut *visit);
            }
        }
        for (_, stamp, _) in &self.functions {
            stamp.traverse(visit);
        }
        for stamped in &self.snapshots {
            stamped.stamp.traverse(visit);
            visit(stamped.copy.as_any());
        }
    }
}

impl StampedDict {
    #[inline]
    fn check(&mut self, py: Python<'_>) -> bool {
        if let Some(owner) = self.owner.as_ref().filter(|owner| !has_dict(owner, self.stamp.dict())) {
            match instance_dict(owner.bind(py)) {
                Some(dict) if dict.is(self.stamp.dict()) => {}
                // The instance was given another one.
                Some(dict) => return self.holds_in(py, &dict),
                None => return false,
            }
        }
        self.stamp.fresh() || self.recheck(py)
    }

    #[cold]
    fn recheck(&mut self, py: Python<'_>) -> bool {
        let holds = self.holds_in(py, self.stamp.dict().bind(py));
        if holds {
            self.stamp.refresh();
        }
        holds
    }

    #[cold]
    fn holds_in(&self, py: Python<'_>, dict: &Bound<'_, PyDict>) -> bool {
        self.failing_in(py, dict).is_none()
    }

    /// The first item that is not as it must be.
    #[cold]
    fn failing_in(&self, py: Python<'_>, dict: &Bound<'_, PyDict>) -> Option<usize> {
        let holds = |(key, check, _): &(Py<PyAny>, NativeCheck, GuardNumber)| {
            let Some(value) = type_facts::silent_item(dict, &identity::object_of(key.bind(py))) else { return false };
            match (check, value) {
                (Check::Lacks(_), value) => value.is_none(),
                (_, None) => false,
                (Check::SameAs(_), Some(_)) => true,
                (Check::Is(expected), Some(value)) => identity::is(&value, expected),
                (Check::TypeIs(expected), Some(value)) => value.get_type().is(expected),
                (Check::Equals(expected), Some(value)) => equals(&value, expected.bind(py)),
                (_, Some(_)) => false,
            }
        };
        self.items.iter().position(|item| !holds(item))
    }

    fn blame(&self, py: Python<'_>) -> Blame {
        let owned = self.owner.as_ref().and_then(|owner| instance_dict(owner.bind(py)));
        let dict = owned.unwrap_or_else(|| self.stamp.dict().bind(py).clone());
        match self.failing_in(py, &dict).map(|at| &self.items[at]) {
            Some((key, _, guard)) => {
                let value = type_facts::silent_item(&dict, &identity::object_of(key.bind(py))).flatten();
                Blame { guard: *guard, found: Found::value(value.as_ref()) }
            }
            None => Blame { guard: None, found: Found::Said("another dict") },
        }
    }
}

impl StampedType {
    #[cold]
    fn recheck(&mut self, py: Python<'_>) -> bool {
        let ty = self.stamp.ty().bind(py);
        let holds = self.failing(py, ty).is_none();
        if holds {
            self.stamp.refresh(py);
        }
        holds
    }

    /// The guard that does not hold, and what is there.
    #[cold]
    fn failing(&self, py: Python<'_>, ty: &Bound<'_, PyType>) -> Option<Blame> {
        let changed = self.lookups.iter().find_map(|(name, found, guard)| {
            let now = type_lookup(ty, name.bind(py));
            let same = match (&now, found) {
                (Some(now), Some(found)) => now.is(found),
                (None, None) => true,
                _ => false,
            };
            (!same).then(|| Blame { guard: *guard, found: Found::value(now.as_ref()) })
        });
        let mro = mro(ty);
        let other = |then: &[Py<PyAny>]| then.len() != mro.len() || !mro.iter().zip(then).all(|(a, b)| a.is(b));
        changed
            .or_else(|| {
                let (_, guard) = self.mro.as_ref().filter(|(then, _)| other(then))?;
                Some(Blame { guard: *guard, found: Found::Said("other base classes") })
            })
            .or_else(|| {
                let changed =
                    |(base, holds, _): &&(Py<PyAny>, bool, GuardNumber)| mro.iter().any(|c| c.is(base)) != *holds;
                let (_, _, guard) = self.bases.iter().find(changed)?;
                Some(Blame { guard: *guard, found: Found::Said("other base classes") })
            })
    }

    fn blame(&self, py: Python<'_>) -> Blame {
        let failing = self.failing(py, self.stamp.ty().bind(py));
        failing.unwrap_or_else(|| Blame { guard: None, found: Found::Said("a class that has changed") })
    }
}

impl StampedSnapshot {
    #[cold]
    fn recheck(&mut self, py: Python<'_>) -> bool {
        let now = self.stamp.dict().bind(py);
        let then = self.copy.bind(py);
        let holds = now.len() == then.len()
            && then.iter().zip(now.iter()).all(|((key_then, value_then), (key_now, value_now))| {
                equals(&key_now, &key_then) && equals(&value_now, &value_then)
            });
        if holds {
            self.stamp.refresh();
        }
        holds
    }
}
