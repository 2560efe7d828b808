//! Guards that follow paths from the frame's slots: sot-tracker's tree of them as a linear program over CPython, a register
//! for each value.

use super::alike;
use super::blame::{Blame, Found, GuardNumber, Numbers};
use super::distinct::Distinct;
use super::equality::equals;
use super::identity;
use super::{NativeCheck, constant, holder, missing, visit_check};
use crate::backend::TensorCheck;
use crate::captured::Captured;
use crate::cpython::{Slots, facts};
use crate::iterators;
use crate::numbers;
use crate::stop::Stop;
use crate::type_facts;
use pyo3::prelude::*;
use pyo3::types::*;
use smallvec::SmallVec;
use sot_tracker::{Access, Accessed, Check, FunctionPart, Guard, GuardSet, GuardTree, NodeCheck, ObjectId};
use std::sync::Arc;

/// One step of the program. A register holds what an access found.
enum Step {
    /// Into the next register. `base` means nothing where the access needs no value.
    Access {
        base: usize,
        /// Of an operation on one number it means nothing.
        operand: usize,
        access: Access<Py<PyAny>, Py<PyString>>,
    },
    Check {
        register: usize,
        check: NativeCheck,
    },
    /// Different objects.
    Distinct(Distinct),
}

/// What a backend's check of a tensor is taken to hold: class, extents, place, in bytes.
const A_TENSOR_CHECK: usize = 160;

/// The linear program.
#[derive(Default)]
pub(super) struct Steps {
    steps: Vec<Step>,
    registers: usize,
    tensor_checks: Vec<Arc<dyn TensorCheck>>,
    /// Tensors whose place is pinned (parameters, mostly), by number of their check: no path to follow.
    pinned: Vec<(Py<PyAny>, usize)>,
    /// The guards that steps, and then pinned tensors, come from.
    numbers: Vec<GuardNumber>,
}

/// What a run of the program has found, by register.
pub struct Seen(Vec<Option<Py<PyAny>>>);

impl Seen {
    /// Whether it has found the same once more: the same objects, or constants that nobody tells apart.
    pub(super) fn is_same(&self, py: Python<'_>, before: &Seen) -> bool {
        let same = |(now, before): (&Option<Py<PyAny>>, &Option<Py<PyAny>>)| match (now, before) {
            (Some(now), Some(before)) => equals(now.bind(py), before.bind(py)),
            (None, None) => true,
            _ => false,
        };
        self.0.len() == before.0.len() && self.0.iter().zip(&before.0).all(same)
    }
}

type Register<'py> = Accessed<Bound<'py, PyAny>>;
type Registers<'py> = SmallVec<[Register<'py>; 16]>;

fn found(value: Option<Bound<'_, PyAny>>) -> Register<'_> {
    value.map_or(Accessed::Missing, Accessed::Value)
}

fn value<'a, 'py>(registers: &'a Registers<'py>, register: usize) -> Option<&'a Bound<'py, PyAny>> {
    match &registers[register] {
        Accessed::Value(value) => Some(value),
        Accessed::Empty | Accessed::Missing => None,
    }
}

impl Steps {
    /// Bytes that it holds.
    pub(super) fn bytes(&self) -> usize {
        self.steps.len() * size_of::<Step>()
            + self.pinned.len() * size_of::<(Py<PyAny>, usize)>()
            + self.numbers.len() * size_of::<GuardNumber>()
            + self.tensor_checks.len() * (size_of::<Arc<dyn TensorCheck>>() + A_TENSOR_CHECK)
    }

    /// The program of these guards, in the order that their tree says.
    pub(super) fn compile(
        py: Python<'_>,
        captured: &Captured,
        guards: Vec<&Guard>,
        numbers: &Numbers<'_>,
    ) -> Result<Steps, Stop> {
        let object = |id: &ObjectId| captured.objects.get(py, *id).unbind();
        let name = |name: &String| PyString::intern(py, name).unbind();
        let tensor_checks = captured.tensor_checks.iter().map(|c| c.check.clone()).collect();
        let mut program = Steps { tensor_checks, ..Steps::default() };
        let mut on_paths = GuardSet::new();
        let mut distinct = Vec::new();
        let mut of_pinned = Vec::new();
        for guard in guards {
            match (&guard.check, constant(captured, guard.tracker)) {
                // Classes are always pinned.
                (Check::Mro(_) | Check::SubclassOf { .. }, _) => return Err(missing("an evaluator")),
                (Check::Tensor(number), Some(tensor)) => {
                    program.pinned.push((object(&tensor), *number as usize));
                    of_pinned.push(numbers.of(guard));
                }
                (Check::Distinct { group, .. }, _) => {
                    for place in guard.trackers().filter(|place| constant(captured, *place).is_none()) {
                        // That there is a value has the tree fetch it.
                        on_paths.add(Guard::new(place, Check::SameAs(place)));
                    }
                    distinct.push((guard, *group));
                }
                _ => {
                    on_paths.add(guard.clone());
                }
            }
        }
        on_paths.drop_implied_presence(&captured.trackers);
        let tree = GuardTree::compile(&on_paths, &captured.trackers).map_err(|_| missing("a path"))?;
        let mut registers = vec![0; tree.nodes().len()];
        for step in tree.schedule() {
            program.numbers.push(on_paths.get(tree.guard_of(*step)).and_then(|guard| numbers.of(guard)));
            program.steps.push(match *step {
                sot_tracker::Step::Access(id) => {
                    let node = tree.node(id);
                    registers[id.index()] = program.registers;
                    program.registers += 1;
                    let [base, operand] =
                        [node.parent, node.operand].map(|of| of.map_or(0, |node| registers[node.index()]));
                    let held = |id: &ObjectId| match node.access {
                        Access::DictItem(_) => identity::expected(captured.objects.get(py, *id)),
                        _ => object(id),
                    };
                    Step::Access { base, operand, access: node.access.map(held, name) }
                }
                sot_tracker::Step::Check(id, index) => {
                    let NodeCheck { check, others, .. } = &tree.node(id).checks[index as usize];
                    let mut others = others.iter().map(|other| registers[other.index()]);
                    let check =
                        check.map(holder(py, captured, check), name, |_| others.next().expect("a register of each"));
                    Step::Check { register: registers[id.index()], check }
                }
            });
        }
        for (guard, group) in distinct {
            let mut compiled = Distinct::default();
            for (at, place) in guard.trackers().enumerate() {
                match constant(captured, place) {
                    Some(id) => compiled.add_object(object(&id), at <= group),
                    None => {
                        let node = tree.node_of(place).ok_or_else(|| missing("a register"))?;
                        compiled.add_register(registers[node.index()], at <= group);
                        true
                    }
                }
                .then_some(())
                .ok_or_else(|| missing("distinct objects"))?;
            }
            program.steps.push(Step::Distinct(compiled));
            program.numbers.push(numbers.of(guard));
        }
        program.numbers.extend(of_pinned);
        Ok(program)
    }

    pub(super) fn tensor_checks(&self) -> &[Arc<dyn TensorCheck>] {
        &self.tensor_checks
    }

    pub(super) fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.pinned.iter().for_each(|(tensor, _)| visit(tensor));
        for step in &self.steps {
            match step {
                Step::Access { access: Access::Constant(object) | Access::DictItem(object), .. } => visit(object),
                Step::Access { access: Access::Attr(name), .. } => visit(name.as_any()),
                Step::Access { .. } => {}
                Step::Check { check, .. } => visit_check(check, visit),
                Step::Distinct(distinct) => distinct.traverse(visit),
            }
        }
    }

    pub(super) fn any_check(&self, asked: &dyn Fn(&NativeCheck) -> bool) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Check { check, .. } if asked(check)))
    }

    pub(super) fn check(&self, py: Python<'_>, slots: Slots<'_>) -> bool {
        self.failing(py, slots, &mut SmallVec::with_capacity(self.registers)).is_none()
    }

    /// What is found on the ways, if all holds.
    pub(super) fn seen(&self, py: Python<'_>, slots: Slots<'_>) -> Option<Seen> {
        let mut registers = SmallVec::with_capacity(self.registers);
        self.failing(py, slots, &mut registers).is_none().then(|| {
            let found = |value: Register<'_>| match value {
                Accessed::Value(value) => Some(value.unbind()),
                Accessed::Empty | Accessed::Missing => None,
            };
            Seen(registers.into_iter().map(found).collect())
        })
    }

    /// What fails first.
    pub(super) fn blame(&self, py: Python<'_>, slots: Slots<'_>) -> Option<Blame> {
        let mut registers = SmallVec::new();
        let at = self.failing(py, slots, &mut registers)?;
        let found = match self.steps.get(at) {
            Some(Step::Check { register, check }) => match (check, value(&registers, *register)) {
                (Check::Len(_), Some(value)) => length(value).map_or(Found::Said("no length"), Found::Length),
                (Check::Keys(_) | Check::Hashes { .. } | Check::Table { .. }, Some(_)) => Found::Said("other keys"),
                (Check::Member { is: true, .. }, Some(_)) => Found::Said("none"),
                (Check::Member { is: false, .. } | Check::Lacks(_), Some(_)) => Found::Said("one"),
                (Check::HasNext(_) | Check::Ended, Some(_)) => Found::Said("an iterator at another place"),
                (Check::EndsUnseen, Some(_)) => Found::Said("something whose end is seen"),
                (_, found) => Found::value(found),
            },
            Some(Step::Access { .. }) => Found::value(None),
            Some(Step::Distinct(_)) => Found::Said("one object in two places"),
            None => Found::value(self.pinned.get(at - self.steps.len()).map(|(tensor, _)| tensor.bind(py))),
        };
        Some(Blame { guard: self.numbers.get(at).copied().flatten(), found })
    }

    /// The first step that does not hold, or behind the steps the first pinned tensor.
    #[inline]
    fn failing<'py>(&self, py: Python<'py>, slots: Slots<'_>, registers: &mut Registers<'py>) -> Option<usize> {
        for (at, step) in self.steps.iter().enumerate() {
            let holds = match step {
                Step::Access { base, operand, access } => {
                    let value = get(py, slots, registers, *base, *operand, access);
                    // Some guard is on it, or on what it leads to.
                    let there = !matches!(value, Accessed::Missing);
                    registers.push(value);
                    there
                }
                Step::Check { register, check } => self.holds(py, check, registers, *register),
                Step::Distinct(distinct) => {
                    distinct.holds(|register| value(registers, register).map(|value| value.as_ptr() as usize))
                }
            };
            if !holds {
                return Some(at);
            }
        }
        let changed =
            |(tensor, check): &(Py<PyAny>, usize)| !self.tensor_checks[*check].matches(tensor.bind_borrowed(py));
        self.pinned.iter().position(changed).map(|at| self.steps.len() + at)
    }

    fn holds(&self, py: Python<'_>, check: &NativeCheck, registers: &Registers<'_>, register: usize) -> bool {
        let value = match &registers[register] {
            Accessed::Value(value) => value,
            Accessed::Empty => return matches!(check, Check::Unbound),
            Accessed::Missing => return false,
        };
        match check {
            Check::Is(expected) => identity::is(value, expected),
            Check::TypeIs(expected) => value.get_type().is(expected),
            Check::Equals(expected) => equals(value, expected.bind(py)),
            Check::Len(n) => length(value) == Some(*n),
            Check::Lacks(key) => {
                let key = identity::object_of(key.bind(py));
                value.cast().is_ok_and(|dict| type_facts::silent_item(dict, &key).is_some_and(|found| found.is_none()))
            }
            Check::Keys(keys) => same_keys(value, keys),
            Check::Hashes { hashes, alike } => match value.cast::<PyDict>() {
                Ok(dict) => {
                    facts::hashes_in_order(dict).is_some_and(|stored| stored == *hashes)
                        && !(*alike && facts::has_lost_keys(dict))
                }
                Err(_) => facts::set_table(value).is_some_and(|table| {
                    table.entries.iter().map(|entry| entry.hash as i64).eq(hashes.iter().copied())
                }),
            },
            Check::Member { key, is } => {
                type_facts::is_quiet_member(value, &identity::object_of(key.bind(py))) == Some(*is)
            }
            Check::Quiet { key: Some(key) } => {
                type_facts::is_quiet_member(value, &identity::object_of(key.bind(py))).is_some()
            }
            Check::Quiet { key: None } => type_facts::has_quiet_members(value),
            Check::Table { members, lost, mask, finger } => facts::set_table(value).is_some_and(|table| {
                (table.mask, table.finger, &table.lost) == (*mask, *finger, lost)
                    && table.entries.len() == members.len()
                    && table.entries.iter().zip(members).all(|(have, (at, member))| {
                        let same = |member: &Py<PyAny>| is_key(&have.key, member);
                        have.place == *at && member.as_ref().is_none_or(same)
                    })
            }),
            Check::Tensor(number) => self.tensor_checks[*number as usize].matches(value.as_borrowed()),
            Check::SameAs(other) => self::value(registers, *other).is_some_and(|o| o.is(value)),
            Check::HasNext(expected) => iterators::has_next(value) == Some(*expected),
            Check::Ended => iterators::has_ended(value),
            Check::EndsUnseen => !facts::death_runs_finalizers(value, |_| 0),
            Check::Alike(pattern) => alike::is_alike(value, pattern.bind(py)),
            Check::LacksAttr(name) => facts::lacks_attribute(value, name.bind(py)),
            Check::ClassLookup { name, found } => {
                value.cast::<PyType>().is_ok_and(|ty| match (facts::type_lookup(ty, name.bind(py)), found) {
                    (Some(now), Some(found)) => now.is(found),
                    (None, None) => true,
                    _ => false,
                })
            }
            // The last three are never compiled.
            Check::Unbound | Check::Distinct { .. } | Check::Mro(_) | Check::SubclassOf { .. } => false,
        }
    }
}

fn is_key(have: &Bound<'_, PyAny>, expected: &Py<PyAny>) -> bool {
    // A key that does not equal itself is found by who it is.
    let is_nan = || have.cast_exact::<PyFloat>().is_ok_and(|number| number.value().is_nan());
    identity::is(have, expected) || equals(have, expected.bind(have.py())) && !is_nan()
}

/// Whether a dict has these keys in this order. An ordered dict is asked for its own order.
fn same_keys(value: &Bound<'_, PyAny>, keys: &[Py<PyAny>]) -> bool {
    let Ok(dict) = value.cast::<PyDict>() else { return false };
    if dict.len() != keys.len() {
        return false;
    }
    if !facts::is_ordered(dict) {
        return dict.iter().zip(keys).all(|((have, _), key)| is_key(&have, key));
    }
    let own = facts::ordered_entries(dict);
    own.len() == keys.len() && own.iter().zip(keys).all(|((have, _), key)| is_key(have, key))
}

/// Length of a builtin container; of an iterator, what is left.
fn length(value: &Bound<'_, PyAny>) -> Option<usize> {
    if let Ok(list) = value.cast::<PyList>() {
        Some(list.len())
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        Some(tuple.len())
    } else if let Ok(dict) = value.cast::<PyDict>() {
        Some(dict.len())
    } else if let Ok(set) = value.cast_exact::<PySet>() {
        Some(set.len())
    } else if let Ok(set) = value.cast_exact::<PyFrozenSet>() {
        Some(set.len())
    } else if facts::is_deque(value) {
        value.len().ok()
    } else {
        iterators::left(value)
    }
}

/// The receiver or function of a method object, which is C code's.
fn method_part<'py>(method: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    match facts::field(method, name) {
        facts::Field::Value(part) => Some(part),
        facts::Field::Empty | facts::Field::NoField => None,
    }
}

/// Follow an access from a register.
fn get<'py>(
    py: Python<'py>,
    slots: Slots<'_>,
    registers: &Registers<'py>,
    base: usize,
    operand: usize,
    access: &Access<Py<PyAny>, Py<PyString>>,
) -> Register<'py> {
    match access {
        Access::Slot(slot) => slots.get(py, *slot as usize).map_or(Accessed::Empty, |v| Accessed::Value(v.to_owned())),
        Access::Constant(object) => Accessed::Value(object.bind(py).clone()),
        Access::CellContent => match value(registers, base) {
            Some(cell) if facts::is_cell(cell) => facts::cell_contents(cell).map_or(Accessed::Empty, Accessed::Value),
            _ => Accessed::Missing,
        },
        Access::Arithmetic(op) => found(value(registers, base).and_then(|left| {
            let right = op.is_binary().then(|| value(registers, operand)).flatten();
            numbers::computed(*op, left, right)
        })),
        _ => found(value(registers, base).and_then(|base| follow(py, base, access))),
    }
}

fn follow<'py>(
    py: Python<'py>,
    base: &Bound<'py, PyAny>,
    access: &Access<Py<PyAny>, Py<PyString>>,
) -> Option<Bound<'py, PyAny>> {
    match access {
        Access::Slot(_) | Access::Constant(_) | Access::CellContent | Access::Arithmetic(_) => None,
        Access::Attr(name) => match facts::field(base, name.bind(py)) {
            facts::Field::Value(value) => Some(value),
            facts::Field::Empty | facts::Field::NoField => None,
        },
        Access::InstanceDict => facts::instance_dict(base).or_else(|| facts::class_dict(base)).map(Bound::into_any),
        Access::DictItem(key) => type_facts::silent_item(base.cast().ok()?, &identity::object_of(key.bind(py)))?,
        Access::DictValue(index) => base.cast::<PyDict>().ok()?.iter().nth(*index as usize).map(|kv| kv.1),
        Access::DictKey(index) => match base.cast::<PyDict>() {
            Ok(dict) => dict.iter().nth(*index as usize).map(|kv| kv.0),
            Err(_) => facts::set_entry(base, *index as usize).map(|entry| entry.key),
        },
        Access::SeqItem(index) => {
            let index = match index {
                0.. => usize::try_from(*index).ok()?,
                _ => length(base)?.checked_add_signed(isize::try_from(*index).ok()?)?,
            };
            if let Ok(list) = base.cast::<PyList>() {
                list.get_item(index).ok()
            } else if let Ok(tuple) = base.cast::<PyTuple>() {
                tuple.get_item(index).ok()
            } else if facts::is_deque(base) {
                base.get_item(index).ok()
            } else {
                None
            }
        }
        Access::FunctionPart(part) => {
            let parts = facts::func_parts(base)?;
            let part = match part {
                FunctionPart::Code => Some(parts.code),
                FunctionPart::Globals => Some(parts.globals),
                FunctionPart::Defaults => parts.defaults,
                FunctionPart::KwDefaults => parts.kwdefaults,
                FunctionPart::Closure => parts.closure,
            };
            Some(part.map_or_else(|| py.None().into_bound(py), |p| p.to_owned()))
        }
        Access::TypeOf => Some(base.get_type().into_any()),
        Access::MethodSelf => method_part(base, pyo3::intern!(py, "__self__")),
        Access::MethodFunction => method_part(base, pyo3::intern!(py, "__func__")),
        Access::IterPeek => iterators::peek(base),
        Access::IterAhead(taken) => iterators::ahead(base, *taken as usize),
        Access::IterSource => iterators::source(base),
        Access::IterOver => iterators::over(base),
        Access::IterUnder(which) => iterators::under(base, *which),
    }
}
