//! The guards once more, as sot-tracker says what they mean: slow and simple, to compare the native form with.
//!
//! With `SOT_VERIFY_GUARDS=1` in the environment (read once) each entry keeps its guards in the form in which the capture
//! left them, and each check is answered three times: natively, by the guard tree, and guard by guard. A difference is
//! a defect, and so is a set that rejects the frame it came from: both count as `internal-error` and are written to
//! stderr. Everything here asks Python itself, with no stamp and nothing of what the native form uses, but for iterators,
//! which cannot be looked at without advancing them, and for what the backend checks.

use super::names::Namer;
use super::stamped::{is_plain_class, registrations};
use super::{alike, identity};
use crate::backend::TensorCheck;
use crate::captured::Captured;
use crate::cpython::{Slots, facts, thread};
use crate::iterators;
use crate::numbers;
use crate::stats::STATS;
use crate::stop::Reason;
use crate::type_facts;
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::{Access, Accessed, Check, GuardSet, GuardTree, ObjectId, Tracker, TrackerTable, World};
use std::sync::{Arc, OnceLock};

/// What of the stack must be left to ask Python: where it ends, answers are errors.
const ROOM: usize = 64;

/// Whether looking a key up in a set, or anything, runs no code of the program.
fn is_quiet(set: &Bound<'_, PyAny>, key: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
    if key.is_some_and(|key| !type_facts::is_silent(key)) {
        return Ok(false);
    }
    let asked = key.map(|key| key.hash()).transpose()?;
    let Some(table) = facts::set_table(set) else { return Ok(false) };
    let mut asked = table.entries.iter().filter(|entry| asked.is_none_or(|hash| hash == entry.hash));
    let is = |entry: &facts::SetEntry<'_>| key.is_some_and(|key| key.is(&entry.key));
    Ok(asked.all(|entry| is(entry) || type_facts::is_silent(&entry.key)))
}

/// Whether entries are to keep their reference form.
pub(super) fn wanted() -> bool {
    static WANTED: OnceLock<bool> = OnceLock::new();
    *WANTED.get_or_init(|| std::env::var_os("SOT_VERIFY_GUARDS").is_some_and(|v| v == "1"))
}

/// Note a defect.
pub(super) fn defect(text: &str) {
    STATS.note(Reason::InternalError);
    eprintln!("sot: {text}");
}

/// The guards of one entry as they were left.
pub(super) struct Reference {
    trackers: TrackerTable,
    guards: GuardSet,
    tree: GuardTree,
    /// By number; only those that the guards name, and of those that the program could see die, what stands for them.
    objects: Vec<Option<Py<PyAny>>>,
    /// Text of each guard.
    lines: Vec<String>,
    /// Texts of the paths of each guard that keeps paths apart.
    paths: HashMap<usize, Vec<String>>,
    snapshots: Vec<(Py<PyDict>, Py<PyDict>)>,
    /// When the guards were left.
    registrations: Option<u64>,
}

impl Reference {
    /// `None`: there is none to compare with.
    pub(super) fn new(py: Python<'_>, captured: &Captured) -> Option<Reference> {
        let tree = match GuardTree::compile(&captured.guards, &captured.trackers) {
            Ok(tree) => tree,
            Err(unreachable) => {
                defect(&format!("a guard cannot be compiled: {unreachable}"));
                return None;
            }
        };
        let dict = |id: ObjectId| captured.objects.get(py, id).cast_into::<PyDict>().ok().map(Bound::unbind);
        let snapshots = captured.snapshots.iter().filter_map(|s| Some((dict(s.dict)?, s.copy.clone_ref(py)))).collect();
        let names = Namer { py, captured, slots: &[] };
        let path = |tracker| captured.trackers.display(tracker, &names).to_string();
        let distinct = captured.guards.iter().enumerate().filter(|(_, g)| matches!(g.check, Check::Distinct { .. }));
        let paths = distinct.map(|(index, guard)| (index, guard.trackers().map(path).collect())).collect();
        Some(Reference {
            trackers: captured.trackers.clone(),
            guards: captured.guards.clone(),
            tree,
            objects: objects_of(py, captured),
            lines: captured.guards.iter().map(|g| g.display(&captured.trackers, &names).to_string()).collect(),
            paths,
            snapshots,
            registrations: registrations(py),
        })
    }

    fn live<'a, 'py>(
        &'a self,
        py: Python<'py>,
        slots: Slots<'a>,
        tensors: &'a [Arc<dyn TensorCheck>],
    ) -> Live<'a, 'py> {
        let registered = registrations(py) != self.registrations;
        Live { py, slots, objects: &self.objects, tensors, registered }
    }

    /// The first guard that fails.
    pub(super) fn failing(&self, py: Python<'_>, slots: Slots<'_>, tensors: &[Arc<dyn TensorCheck>]) -> String {
        let mut world = self.live(py, slots, tensors);
        let failing = self.guards.iter().position(|g| !g.evaluate(&self.trackers, &mut world));
        failing.map_or_else(|| "a whole dict".to_owned(), |f| self.blamed(f, &mut world))
    }

    /// The text of a guard that failed: of one that keeps paths apart, the two that lead to one object.
    fn blamed(&self, index: usize, world: &mut Live<'_, '_>) -> String {
        let mut two = || {
            let guard = self.guards.get(index)?;
            let Check::Distinct { group, .. } = &guard.check else { return None };
            let values: Option<Vec<_>> = guard
                .trackers()
                .map(|tracker| match self.trackers.fetch(tracker, world)? {
                    Accessed::Value(value) => Some(value),
                    Accessed::Empty | Accessed::Missing => None,
                })
                .collect();
            let values = values?;
            let (one, other) = the_same(&values[0], &values[1..], *group)?;
            let paths = self.paths.get(&index)?;
            Some(format!("distinct({}, {})", paths[one], paths[other]))
        };
        two().unwrap_or_else(|| self.lines[index].clone())
    }

    /// Compare with the verdict of the native form.
    pub(super) fn compare(&self, py: Python<'_>, slots: Slots<'_>, tensors: &[Arc<dyn TensorCheck>], native: bool) {
        if thread::frames_left(py) < ROOM {
            return;
        }
        let mut world = self.live(py, slots, tensors);
        let failing = self.guards.iter().position(|g| !g.evaluate(&self.trackers, &mut world));
        let miss = self.tree.evaluate(&mut world).err();
        if failing.is_some() != miss.is_some() {
            let blamed = miss.map(|m| self.blamed(m.guard, &mut world));
            defect(&format!("the guard tree and its guards disagree: {blamed:?}"));
        }
        let unchanged = self.snapshots.iter().all(|(now, then)| {
            let (now, then) = (now.bind(py), then.bind(py));
            now.len() == then.len() && now.iter().zip(then.iter()).all(|(a, b)| equal(&a.0, &b.0) && equal(&a.1, &b.1))
        });
        if native != (failing.is_none() && unchanged) {
            let which = failing.map_or_else(|| "none fails".to_owned(), |f| self.blamed(f, &mut world));
            defect(&format!("native guards say {native}, their reference does not: {which}"));
        }
    }

    pub(super) fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.objects.iter().flatten().for_each(&mut *visit);
        for (dict, copy) in &self.snapshots {
            visit(dict.as_any());
            visit(copy.as_any());
        }
    }
}

/// The length of a container: a class that extends a builtin one may say something else.
fn length_as_it_lies(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    let py = value.py();
    for base in [py.get_type::<PyList>(), py.get_type::<PyTuple>(), py.get_type::<PyDict>()] {
        if value.is_instance(&base)? {
            return base.getattr("__len__")?.call1((value,))?.extract();
        }
    }
    value.len()
}

/// The objects that the guards of a capture name.
fn objects_of(py: Python<'_>, captured: &Captured) -> Vec<Option<Py<PyAny>>> {
    let mut objects = Vec::new();
    let mut name = |id: ObjectId| {
        let at = id.0 as usize;
        if objects.len() <= at {
            objects.resize_with(at + 1, || None);
        }
        objects[at].get_or_insert_with(|| identity::expected(captured.objects.get(py, id)));
    };
    for guard in captured.guards.iter() {
        for step in guard.trackers().flat_map(|t| captured.trackers.path(t)) {
            match captured.trackers.get(step) {
                Tracker::Root(Access::Constant(object)) | Tracker::Step { access: Access::DictItem(object), .. } => {
                    name(*object)
                }
                _ => {}
            }
        }
        match &guard.check {
            Check::Is(object) | Check::TypeIs(object) | Check::Equals(object) | Check::Lacks(object) => name(*object),
            Check::Member { key, .. } => name(*key),
            Check::Quiet { key } => key.iter().copied().for_each(&mut name),
            Check::Table { members, .. } => members.iter().filter_map(|member| member.1).for_each(&mut name),
            Check::Keys(keys) | Check::Mro(keys) => keys.iter().copied().for_each(&mut name),
            Check::ClassLookup { found, .. } => found.iter().copied().for_each(&mut name),
            Check::SubclassOf { of, .. } => name(*of),
            // Named below: it is not held.
            Check::Alike(_) => {}
            Check::Len(_)
            | Check::Hashes { .. }
            | Check::LacksAttr(_)
            | Check::Tensor(_)
            | Check::SameAs(_)
            | Check::Distinct { .. }
            | Check::HasNext(_)
            | Check::Ended
            | Check::EndsUnseen
            | Check::Unbound => {}
        }
    }
    for guard in captured.guards.iter() {
        if let Check::Alike(class) = guard.check {
            let at = class.0 as usize;
            if objects.len() <= at {
                objects.resize_with(at + 1, || None);
            }
            objects[at].get_or_insert_with(|| alike::pattern(captured.objects.get(py, class)));
        }
    }
    objects
}

struct Live<'a, 'py> {
    py: Python<'py>,
    slots: Slots<'a>,
    objects: &'a [Option<Py<PyAny>>],
    tensors: &'a [Arc<dyn TensorCheck>],
    /// Classes were registered with abstract ones since the guards were left.
    registered: bool,
}

/// One exact type and one value, as far as a program can tell; for other types than those of constants, one object.
fn equal<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> bool {
    let constants = ["int", "float", "str", "bool", "bytes", "complex"];
    let text = |v: &Bound<'_, PyAny>| v.repr().map(|r| r.to_string()).unwrap_or_default();
    let named = || a.get_type().name().is_ok_and(|n| constants.iter().any(|c| n == *c));
    let plain = || named() || crate::numpy::is_scalar_type(&a.get_type());
    if let (Ok(a), Ok(b)) = (a.cast_exact::<PyFloat>(), b.cast_exact::<PyFloat>()) {
        return a.value().to_bits() == b.value().to_bits();
    }
    if let (Ok(_), Ok(_)) = (a.cast_exact::<PyRange>(), b.cast_exact::<PyRange>()) {
        // What it was made of is an object of another type, perhaps.
        let part = |range: &Bound<'py, PyAny>, name: &str| range.getattr(name).ok();
        return a.is(b)
            || ["start", "stop", "step"].iter().all(|name| match (part(a, name), part(b, name)) {
                (Some(a), Some(b)) => equal(&a, &b),
                _ => false,
            });
    }
    a.is(b) || a.get_type().is(b.get_type()) && plain() && text(a) == text(b)
}

/// Of a value and others, the first two that are one object and must not be: the first `group` of the others are kept apart from
/// each other, too.
fn the_same(value: &Bound<'_, PyAny>, others: &[Bound<'_, PyAny>], group: usize) -> Option<(usize, usize)> {
    let mut seen: HashMap<usize, usize> = HashMap::new();
    std::iter::once(value).chain(others).enumerate().find_map(|(at, value)| {
        let first = seen.get(&(value.as_ptr() as usize)).copied();
        if first.is_none() && at <= group {
            seen.insert(value.as_ptr() as usize, at);
        }
        first.map(|first| (first, at))
    })
}

/// What looking a name up along the MRO of a class finds.
fn look_up<'py>(class: &Bound<'py, PyType>, name: &str) -> Option<Bound<'py, PyAny>> {
    facts::mro(class).iter().find_map(|c| dict_of(&c).ok()?.get_item(name).ok())
}

/// The dict of a class, as `type` gives it: a metaclass may answer for itself.
fn dict_of<'py>(class: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let of_types = class.py().get_type::<PyType>().getattr("__dict__")?.get_item("__dict__")?;
    of_types.call_method1("__get__", (class,))
}

impl<'py> Live<'_, 'py> {
    fn object(&self, id: ObjectId) -> Bound<'py, PyAny> {
        identity::object_of(self.objects[id.0 as usize].as_ref().expect("an object of a guard").bind(self.py))
    }

    fn reach(&self, access: &Access, base: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        let ty = base.get_type();
        let named = |names: &[&str]| ty.name().is_ok_and(|n| names.iter().any(|name| n == *name));
        match access {
            Access::Slot(_) | Access::Constant(_) | Access::CellContent | Access::Arithmetic(_) => None,
            Access::Attr(name) => {
                let descriptor = look_up(&ty, name)?;
                let kind = descriptor.get_type().name().ok()?.to_string();
                match kind.as_str() {
                    "member_descriptor" | "getset_descriptor" | "_tuplegetter" => {
                        descriptor.call_method1("__get__", (base, &ty)).ok()
                    }
                    _ => None,
                }
            }
            Access::InstanceDict if base.is_instance_of::<PyType>() => {
                let dict = dict_of(base).ok()?;
                self.py.get_type::<PyDict>().call1((dict,)).ok()
            }
            // What the class calls so is another one, and may be code of the program.
            Access::InstanceDict if !type_facts::reads_own_dict(&base.get_type()) => {
                crate::cpython::facts::instance_dict(base).map(Bound::into_any)
            }
            Access::InstanceDict => {
                let plain = self.py.get_type::<PyAny>().getattr("__getattribute__").ok()?;
                let dict = plain.call1((base, "__dict__")).ok()?;
                dict.is_instance_of::<PyDict>().then_some(dict)
            }
            Access::DictItem(key) => type_facts::silent_item(base.cast().ok()?, &self.object(*key))?,
            Access::DictValue(index) => base.cast::<PyDict>().ok()?.values().get_item(*index as usize).ok(),
            Access::DictKey(index) => match base.cast::<PyDict>() {
                Ok(dict) => dict.keys().get_item(*index as usize).ok(),
                Err(_) => facts::set_entry(base, *index as usize).map(|entry| entry.key),
            },
            // As the type has it, whatever a subclass says.
            Access::SeqItem(index) => {
                if facts::is_deque(base) {
                    return base.get_item(*index).ok();
                }
                let known = match base {
                    list if list.is_instance_of::<PyList>() => self.py.get_type::<PyList>(),
                    tuple if tuple.is_instance_of::<PyTuple>() => self.py.get_type::<PyTuple>(),
                    _ => return None,
                };
                known.call_method1("__getitem__", (base, *index)).ok()
            }
            Access::FunctionPart(part) if facts::is_function(base) => base.getattr(part.as_str()).ok(),
            Access::FunctionPart(_) => None,
            Access::TypeOf => Some(ty.into_any()),
            Access::MethodSelf
                if named(&["method", "builtin_function_or_method", "builtin_method", "method-wrapper"]) =>
            {
                base.getattr("__self__").ok()
            }
            Access::MethodFunction if named(&["method"]) => base.getattr("__func__").ok(),
            Access::MethodSelf | Access::MethodFunction => None,
            Access::IterPeek => iterators::peek(base),
            Access::IterAhead(taken) => iterators::ahead(base, *taken as usize),
            Access::IterSource => iterators::source(base),
            Access::IterOver => iterators::over(base),
            Access::IterUnder(which) => iterators::under(base, *which),
        }
    }

    fn holds(&self, check: &Check, value: &Bound<'py, PyAny>, others: &[Bound<'py, PyAny>]) -> PyResult<bool> {
        let py = self.py;
        let builtin = |name: &str| crate::cpython::builtin(py, name);
        let class = value.cast::<PyType>();
        Ok(match check {
            Check::Is(object) => value.is(self.object(*object)),
            Check::TypeIs(class) => value.get_type().is(self.object(*class)),
            Check::Equals(object) => equal(value, &self.object(*object)),
            Check::Len(length) => match length_as_it_lies(value) {
                Ok(have) => have == *length,
                Err(_) => value.call_method0("__length_hint__")?.extract::<usize>()? == *length,
            },
            Check::Lacks(key) => {
                let wanted = self.object(*key);
                value.cast().is_ok_and(|dict| type_facts::silent_item(dict, &wanted).is_some_and(|has| has.is_none()))
            }
            Check::Member { key, is } => {
                let key = self.object(*key);
                if facts::set_table(value).is_none() || !is_quiet(value, Some(&key))? {
                    return Ok(false);
                }
                let hash = key.hash()?;
                let alike = facts::set_table(value).map_or_else(Vec::new, |table| table.entries);
                let mut alike = alike.into_iter().filter(|entry| entry.hash == hash);
                alike.any(|entry| entry.key.is(&key) || entry.key.eq(&key).unwrap_or(false)) == *is
            }
            Check::Quiet { key } => is_quiet(value, key.map(|key| self.object(key)).as_ref())?,
            Check::Table { members, lost, mask, finger } => {
                let Some(table) = facts::set_table(value) else { return Ok(false) };
                let order = builtin("list")?.call1((value,))?.cast_into::<PyList>()?;
                (table.mask, table.finger, &table.lost) == (*mask, *finger, lost)
                    && order.len() == members.len()
                    && order.iter().zip(members).all(|(a, (_, b))| b.is_none_or(|b| equal(&a, &self.object(b))))
                    && table.entries.iter().map(|entry| entry.place).eq(members.iter().map(|member| member.0))
            }
            Check::LacksAttr(name) => {
                let plain = py.get_type::<PyAny>().getattr("__getattribute__")?;
                plain.call1((value, name)).is_err()
            }
            Check::Keys(keys) => {
                let Ok(dict) = value.cast::<PyDict>() else { return Ok(false) };
                // Who extends the type may iterate otherwise.
                let have = facts::keys_in_order(dict);
                have.len() == keys.len() && have.iter().zip(keys).all(|(a, b)| equal(a, &self.object(*b)))
            }
            Check::Hashes { hashes, alike } => {
                // Only the dict itself knows, or the set.
                if let Some(table) = facts::set_table(value) {
                    return Ok(table.entries.iter().map(|entry| entry.hash as i64).eq(hashes.iter().copied()));
                }
                let dict = value.cast::<PyDict>();
                dict.is_ok_and(|dict| {
                    facts::hashes_in_order(dict).as_ref() == Some(hashes) && !(*alike && facts::has_lost_keys(dict))
                })
            }
            Check::Tensor(number) => self.tensors[*number as usize].matches(value.as_borrowed()),
            Check::SameAs(_) => others.iter().all(|o| o.is(value)),
            Check::Distinct { group, .. } => the_same(value, others, *group).is_none(),
            Check::HasNext(expected) => iterators::has_next(value) == Some(*expected),
            Check::Ended => iterators::has_ended(value),
            Check::EndsUnseen => !facts::death_runs_finalizers(value, |_| 0),
            Check::Unbound => false,
            Check::ClassLookup { name, found } => {
                let now = look_up(class?, name);
                match (now, found.map(|f| self.object(f))) {
                    (Some(now), Some(then)) => now.is(then),
                    (None, None) => true,
                    _ => false,
                }
            }
            Check::Mro(classes) => {
                let mro = facts::mro(class?);
                mro.len() == classes.len() && mro.iter().zip(classes).all(|(a, b)| a.is(self.object(*b)))
            }
            Check::Alike(class) => alike::is_alike(value, &self.object(*class)),
            // What an abstract class denies holds until any class is registered with any.
            Check::SubclassOf { of, holds: false } if self.registered && !is_plain_class(&self.object(*of)) => false,
            Check::SubclassOf { of, holds } => {
                builtin("issubclass")?.call1((value, &self.object(*of)))?.is_truthy()? == *holds
            }
        })
    }
}

impl<'py> World for Live<'_, 'py> {
    type Value = Bound<'py, PyAny>;

    fn access(
        &mut self,
        access: &Access,
        base: Option<&Self::Value>,
        operand: Option<&Self::Value>,
    ) -> Accessed<Self::Value> {
        let found = match (access, base) {
            (Access::Slot(slot), _) => {
                let value = self.slots.get(self.py, *slot as usize);
                return value.map_or(Accessed::Empty, |v| Accessed::Value(v.to_owned()));
            }
            (Access::Constant(object), _) => Some(self.object(*object)),
            (_, None) => None,
            (Access::CellContent, Some(base)) => {
                if !base.get_type().name().is_ok_and(|n| n == "cell") {
                    return Accessed::Missing;
                }
                return base.getattr("cell_contents").map_or(Accessed::Empty, Accessed::Value);
            }
            (Access::Arithmetic(op), Some(base)) => numbers::computed(*op, base, operand),
            (_, Some(base)) => self.reach(access, base),
        };
        found.map_or(Accessed::Missing, Accessed::Value)
    }

    fn check(&mut self, check: &Check, value: &Self::Value, others: &[Self::Value]) -> bool {
        self.holds(check, value, others).unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    fn run<'py>(py: Python<'py>, code: &str) -> Bound<'py, PyDict> {
        let names = PyDict::new(py);
        py.run(&CString::new(code).unwrap(), Some(&names), None).unwrap();
        names
    }

    #[test]
    fn a_key_is_not_hashed_before_that_is_known_to_run_no_code() {
        Python::initialize();
        Python::attach(|py| {
            let names = run(
                py,
                "
log = []
class Key:
    def __hash__(self):
        log.append('hash')
        return 1
    def __eq__(self, other):
        log.append('eq')
        return True
key = Key()
inside = (1, key)
given = {1, 'a'}
",
            );
            let name = |name: &str| names.get_item(name).unwrap().unwrap();
            for key in [name("key"), name("inside")] {
                assert!(!is_quiet(&name("given"), Some(&key)).unwrap());
                assert_eq!(type_facts::is_quiet_member(&name("given"), &key), None);
            }
            assert_eq!(name("log").len().unwrap(), 0);
            let one = 1_i32.into_pyobject(py).unwrap().into_any();
            assert!(is_quiet(&name("given"), Some(&one)).unwrap());
            assert_eq!(type_facts::is_quiet_member(&name("given"), &one), Some(true));
        });
    }

    #[test]
    fn the_two_places_that_hold_one_object_are_told() {
        Python::initialize();
        Python::attach(|py| {
            let names = run(py, "a, b, c = [], [], []");
            let [a, b, c] = ["a", "b", "c"].map(|name| names.get_item(name).unwrap().unwrap());
            let given = |others: &[&Bound<'_, PyAny>], group| {
                let others: Vec<_> = others.iter().map(|other| (*other).clone()).collect();
                the_same(&a, &others, group)
            };
            assert_eq!(given(&[&b, &c], 2), None);
            assert_eq!(given(&[&b, &c, &b], 3), Some((1, 3)));
            assert_eq!(given(&[&b, &c, &c], 1), None);
            assert_eq!(given(&[&b, &c, &c, &b], 1), Some((1, 4)));
            assert_eq!(given(&[&b, &c, &a], 0), Some((0, 3)));
        });
    }
}
