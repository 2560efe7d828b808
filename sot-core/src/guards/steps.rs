//! Guards that follow paths from the frame's slots: a register per path, each computed once.

use super::equality::equals;
use super::{constant, missing};
use crate::backend::TensorCheck;
use crate::capture::Captured;
use crate::cpython::{Slots, facts};
use crate::iterators;
use crate::stop::Stop;
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::*;
use smallvec::SmallVec;
use sot_tracker::{Accessed, Check, FunctionPart, Guard, Tracker, TrackerId};
use std::sync::Arc;

enum Access {
    Slot(usize),
    Constant(Py<PyAny>),
    Attr(usize, Py<PyString>),
    InstanceDict(usize),
    DictItem(usize, Py<PyAny>),
    DictKey(usize, usize),
    SeqItem(usize, usize),
    CellContent(usize),
    FunctionPart(usize, FunctionPart),
    TypeOf(usize),
    MethodSelf(usize),
    MethodFunction(usize),
    IterPeek(usize),
    IterSource(usize),
}

enum NativeCheck {
    Is(Py<PyAny>),
    TypeIs(Py<PyAny>),
    Equals(Py<PyAny>),
    Len(usize),
    Lacks(Py<PyAny>),
    Keys(Vec<Py<PyAny>>),
    Tensor(usize),
    SameAs(usize),
    Distinct(Vec<usize>),
    /// The address of none of these objects.
    NoneOf(HashMap<usize, Py<PyAny>>),
    /// There is a value.
    Present,
    HasNext(bool),
    IterIndex(u64),
    Unbound,
    LacksAttr(Py<PyString>),
    ClassLookup(Py<PyString>, Option<Py<PyAny>>),
}

enum Step {
    Access(Access),
    Check(usize, NativeCheck),
}

/// The linear program.
#[derive(Default)]
pub(super) struct Steps {
    steps: Vec<Step>,
    registers: HashMap<TrackerId, usize>,
    count: usize,
    tensor_checks: Vec<Arc<dyn TensorCheck>>,
    /// Tensors whose place is pinned (parameters, mostly), by number of their check: no path to follow.
    pinned: Vec<(Py<PyAny>, usize)>,
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
    pub(super) fn new(captured: &Captured) -> Steps {
        let tensor_checks = captured.tensor_checks.iter().map(|c| c.check.clone()).collect();
        Steps { tensor_checks, ..Steps::default() }
    }

    pub(super) fn tensor_checks(&self) -> &[Arc<dyn TensorCheck>] {
        &self.tensor_checks
    }

    /// The register of a path. Paths may be long: its steps are made one after the other, from the first that is new.
    fn register(&mut self, py: Python<'_>, captured: &Captured, tracker: TrackerId) -> Result<usize, Stop> {
        let mut new = Vec::new();
        let mut at = Some(tracker);
        while let Some(step) = at
            && !self.registers.contains_key(&step)
        {
            new.push(step);
            at = captured.trackers.get(step).base();
        }
        for step in new.into_iter().rev() {
            let access = self.access(py, captured, step)?;
            self.steps.push(Step::Access(access));
            self.registers.insert(step, self.count);
            self.count += 1;
        }
        Ok(self.registers[&tracker])
    }

    /// One step of a path whose base has a register.
    fn access(&self, py: Python<'_>, captured: &Captured, tracker: TrackerId) -> Result<Access, Stop> {
        let at = |base: TrackerId| self.registers.get(&base).copied().ok_or_else(|| missing("a base"));
        Ok(match captured.trackers.get(tracker).clone() {
            Tracker::Slot(slot) => Access::Slot(slot as usize),
            Tracker::Constant(object) => Access::Constant(captured.objects.get(py, object).unbind()),
            Tracker::Attr { base, name } => Access::Attr(at(base)?, PyString::intern(py, &name).unbind()),
            Tracker::InstanceDict(base) => Access::InstanceDict(at(base)?),
            Tracker::DictItem { base, key } => Access::DictItem(at(base)?, captured.objects.get(py, key).unbind()),
            Tracker::DictKey { base, index } => Access::DictKey(at(base)?, index as usize),
            Tracker::SeqItem { base, index } => Access::SeqItem(at(base)?, index as usize),
            Tracker::CellContent(base) => Access::CellContent(at(base)?),
            Tracker::FunctionPart { base, part } => Access::FunctionPart(at(base)?, part),
            Tracker::TypeOf(base) => Access::TypeOf(at(base)?),
            Tracker::MethodSelf(base) => Access::MethodSelf(at(base)?),
            Tracker::MethodFunction(base) => Access::MethodFunction(at(base)?),
            Tracker::IterPeek(base) => Access::IterPeek(at(base)?),
            Tracker::IterSource(base) => Access::IterSource(at(base)?),
            Tracker::Computed => return Err(missing("a path")),
        })
    }

    pub(super) fn add(&mut self, py: Python<'_>, captured: &Captured, guard: &Guard) -> Result<(), Stop> {
        if let (Tracker::Constant(tensor), Check::Tensor(number)) = (captured.trackers.get(guard.tracker), &guard.check)
        {
            self.pinned.push((captured.objects.get(py, *tensor).unbind(), *number as usize));
            return Ok(());
        }
        let register = self.register(py, captured, guard.tracker)?;
        let object = |id: &sot_tracker::ObjectId| captured.objects.get(py, *id).unbind();
        let check = match &guard.check {
            Check::Is(o) => NativeCheck::Is(object(o)),
            Check::TypeIs(o) => NativeCheck::TypeIs(object(o)),
            Check::Equals(o) => NativeCheck::Equals(object(o)),
            Check::Len(n) => NativeCheck::Len(*n),
            Check::Lacks(key) => NativeCheck::Lacks(object(key)),
            Check::Keys(keys) => NativeCheck::Keys(keys.iter().map(object).collect()),
            Check::Tensor(number) => NativeCheck::Tensor(*number as usize),
            Check::SameAs(other) if *other == guard.tracker => NativeCheck::Present,
            Check::SameAs(other) => NativeCheck::SameAs(self.register(py, captured, *other)?),
            Check::Distinct(others) if others.iter().all(|o| constant(captured, *o).is_some()) => {
                let objects = others.iter().filter_map(|o| constant(captured, *o)).map(|o| object(&o));
                let found: HashMap<usize, Py<PyAny>> = objects.map(|o| (o.as_ptr() as usize, o)).collect();
                if found.len() < others.len() {
                    return Err(missing("distinct objects"));
                }
                NativeCheck::NoneOf(found)
            }
            Check::Distinct(others) => {
                let others = others.iter().map(|o| self.register(py, captured, *o)).collect::<Result<Vec<_>, _>>()?;
                NativeCheck::Distinct(others)
            }
            Check::HasNext(has) => NativeCheck::HasNext(*has),
            Check::IterIndex(index) => NativeCheck::IterIndex(*index),
            Check::Unbound => NativeCheck::Unbound,
            Check::ClassLookup { name, found } => {
                NativeCheck::ClassLookup(PyString::intern(py, name).unbind(), found.as_ref().map(object))
            }
            Check::LacksAttr(name) => NativeCheck::LacksAttr(PyString::intern(py, name).unbind()),
            // Classes are always pinned.
            Check::Mro(_) | Check::SubclassOf { .. } => return Err(missing("an evaluator")),
        };
        self.steps.push(Step::Check(register, check));
        Ok(())
    }

    pub(super) fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.pinned.iter().for_each(|(tensor, _)| visit(tensor));
        for step in &self.steps {
            match step {
                Step::Access(Access::Constant(object) | Access::DictItem(_, object)) => visit(object),
                Step::Access(Access::Attr(_, name)) => visit(name.as_any()),
                Step::Access(_) => {}
                Step::Check(_, check) => match check {
                    NativeCheck::Is(object)
                    | NativeCheck::TypeIs(object)
                    | NativeCheck::Equals(object)
                    | NativeCheck::Lacks(object) => visit(object),
                    NativeCheck::NoneOf(objects) => objects.values().for_each(&mut *visit),
                    NativeCheck::Keys(keys) => keys.iter().for_each(&mut *visit),
                    NativeCheck::LacksAttr(name) => visit(name.as_any()),
                    NativeCheck::ClassLookup(name, found) => {
                        visit(name.as_any());
                        found.iter().for_each(&mut *visit);
                    }
                    NativeCheck::Len(_)
                    | NativeCheck::Tensor(_)
                    | NativeCheck::SameAs(_)
                    | NativeCheck::Distinct(_)
                    | NativeCheck::Present
                    | NativeCheck::HasNext(_)
                    | NativeCheck::IterIndex(_)
                    | NativeCheck::Unbound => {}
                },
            }
        }
    }

    pub(super) fn check(&self, py: Python<'_>, slots: Slots<'_>) -> bool {
        let mut registers: Registers<'_> = SmallVec::with_capacity(self.count);
        for step in &self.steps {
            match step {
                Step::Access(access) => {
                    let value = access.get(py, slots, &registers);
                    registers.push(value);
                }
                Step::Check(register, check) => {
                    if !self.holds(py, check, &registers, *register) {
                        return false;
                    }
                }
            }
        }
        self.pinned.iter().all(|(tensor, check)| self.tensor_checks[*check].matches(tensor.bind_borrowed(py)))
    }

    fn holds(&self, py: Python<'_>, check: &NativeCheck, registers: &Registers<'_>, register: usize) -> bool {
        let value = match &registers[register] {
            Accessed::Value(value) => value,
            Accessed::Empty => return matches!(check, NativeCheck::Unbound),
            Accessed::Missing => return false,
        };
        match check {
            NativeCheck::Is(expected) => value.is(expected),
            NativeCheck::TypeIs(expected) => value.get_type().is(expected),
            NativeCheck::Equals(expected) => equals(value, expected.bind(py)),
            NativeCheck::Len(n) => length(value) == Some(*n),
            NativeCheck::Lacks(key) => value.cast::<PyDict>().is_ok_and(|d| d.contains(key).is_ok_and(|has| !has)),
            NativeCheck::Keys(keys) => same_keys(py, value, keys),
            NativeCheck::Tensor(number) => self.tensor_checks[*number].matches(value.as_borrowed()),
            NativeCheck::SameAs(other) => self::value(registers, *other).is_some_and(|o| o.is(value)),
            NativeCheck::Distinct(others) => distinct(registers, value, others),
            NativeCheck::NoneOf(objects) => !objects.contains_key(&(value.as_ptr() as usize)),
            NativeCheck::Present => true,
            NativeCheck::HasNext(expected) => iterators::has_next(value) == Some(*expected),
            NativeCheck::IterIndex(index) => iterators::position(value) == Some(*index),
            NativeCheck::Unbound => false,
            NativeCheck::LacksAttr(name) => facts::lacks_attribute(value, name.bind(py)),
            NativeCheck::ClassLookup(name, found) => {
                value.cast::<PyType>().is_ok_and(|ty| match (facts::type_lookup(ty, name.bind(py)), found) {
                    (Some(now), Some(found)) => now.is(found),
                    (None, None) => true,
                    _ => false,
                })
            }
        }
    }
}

/// Whether a value and those in these registers are there and pairwise not the same.
fn distinct(registers: &Registers<'_>, first: &Bound<'_, PyAny>, others: &[usize]) -> bool {
    let mut seen: SmallVec<[*mut pyo3::ffi::PyObject; 8]> = SmallVec::new();
    seen.push(first.as_ptr());
    others.iter().all(|other| match value(registers, *other) {
        Some(other) if !seen.contains(&other.as_ptr()) => {
            seen.push(other.as_ptr());
            true
        }
        _ => false,
    })
}

/// Whether a dict has these keys in this order. An ordered dict is asked for its own order.
fn same_keys(py: Python<'_>, value: &Bound<'_, PyAny>, keys: &[Py<PyAny>]) -> bool {
    let Ok(dict) = value.cast::<PyDict>() else { return false };
    if dict.len() != keys.len() {
        return false;
    }
    if value.is_exact_instance_of::<PyDict>() {
        return dict.iter().zip(keys).all(|((have, _), key)| equals(&have, key.bind(py)));
    }
    let Ok(mut own) = dict.try_iter() else { return false };
    keys.iter().all(|key| own.next().is_some_and(|have| have.is_ok_and(|have| equals(&have, key.bind(py)))))
}

/// Length of a builtin container; of an iterator, what is left.
fn length(value: &Bound<'_, PyAny>) -> Option<usize> {
    if let Ok(list) = value.cast::<PyList>() {
        Some(list.len())
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        Some(tuple.len())
    } else if let Ok(dict) = value.cast::<PyDict>() {
        Some(dict.len())
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

impl Access {
    fn get<'py>(&self, py: Python<'py>, slots: Slots<'_>, registers: &Registers<'py>) -> Register<'py> {
        match self {
            Access::Slot(slot) => slots.get(py, *slot).map_or(Accessed::Empty, |v| Accessed::Value(v.to_owned())),
            Access::CellContent(base) => match value(registers, *base) {
                Some(cell) if facts::is_cell(cell) => {
                    facts::cell_contents(cell).map_or(Accessed::Empty, Accessed::Value)
                }
                _ => Accessed::Missing,
            },
            _ => found(self.follow(py, registers)),
        }
    }

    fn follow<'py>(&self, py: Python<'py>, registers: &Registers<'py>) -> Option<Bound<'py, PyAny>> {
        let at = |base: usize| value(registers, base);
        match self {
            Access::Slot(_) | Access::CellContent(_) => None,
            Access::Constant(object) => Some(object.bind(py).clone()),
            Access::Attr(base, name) => match facts::field(at(*base)?, name.bind(py)) {
                facts::Field::Value(value) => Some(value),
                facts::Field::Empty | facts::Field::NoField => None,
            },
            Access::InstanceDict(base) => facts::instance_dict(at(*base)?).map(Bound::into_any),
            Access::DictItem(base, key) => at(*base)?.cast::<PyDict>().ok()?.get_item(key).ok()?,
            Access::DictKey(base, index) => at(*base)?.cast::<PyDict>().ok()?.iter().nth(*index).map(|kv| kv.0),
            Access::SeqItem(base, index) => {
                let base = at(*base)?;
                if let Ok(list) = base.cast::<PyList>() {
                    list.get_item(*index).ok()
                } else if let Ok(tuple) = base.cast::<PyTuple>() {
                    tuple.get_item(*index).ok()
                } else {
                    None
                }
            }
            Access::FunctionPart(base, part) => {
                let parts = facts::func_parts(at(*base)?)?;
                let part = match part {
                    FunctionPart::Code => Some(parts.code),
                    FunctionPart::Globals => Some(parts.globals),
                    FunctionPart::Defaults => parts.defaults,
                    FunctionPart::KwDefaults => parts.kwdefaults,
                    FunctionPart::Closure => parts.closure,
                };
                Some(part.map_or_else(|| py.None().into_bound(py), |p| p.to_owned()))
            }
            Access::TypeOf(base) => Some(at(*base)?.get_type().into_any()),
            Access::MethodSelf(base) => method_part(at(*base)?, pyo3::intern!(py, "__self__")),
            Access::MethodFunction(base) => method_part(at(*base)?, pyo3::intern!(py, "__func__")),
            Access::IterPeek(base) => iterators::peek(at(*base)?),
            // A range iterator has no sequence: what is left of it is asked of the iterator itself.
            Access::IterSource(base) => {
                let iterator = at(*base)?;
                iterators::source(iterator).or_else(|| Some(iterator.clone()))
            }
        }
    }
}
