//! Guards that follow paths from the frame's slots: a register per path, each computed once.

use super::equality::equals;
use super::missing;
use crate::backend::TensorCheck;
use crate::cpython::{Slots, facts};
use crate::executor::Executor;
use crate::iterators;
use crate::stop::Stop;
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::*;
use smallvec::SmallVec;
use sot_tracker::{Check, FunctionPart, Guard, Tracker, TrackerId};

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
    HasNext(bool),
    IterIndex(u64),
    Unbound,
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
    tensor_checks: Vec<Box<dyn TensorCheck>>,
    /// Tensors whose place is pinned (parameters, mostly), by number of their check: no path to follow.
    pinned: Vec<(Py<PyAny>, usize)>,
}

type Registers<'py> = SmallVec<[Option<Bound<'py, PyAny>>; 16]>;

impl Steps {
    pub(super) fn take_tensor_checks(&mut self, ex: &mut Executor<'_>) {
        self.tensor_checks = ex.tensor_checks.drain(..).map(|c| c.check).collect();
    }

    fn register(&mut self, ex: &Executor<'_>, tracker: TrackerId) -> Result<usize, Stop> {
        if let Some(register) = self.registers.get(&tracker) {
            return Ok(*register);
        }
        let py = ex.py;
        let mut at = |base: TrackerId| self.register(ex, base);
        let access = match ex.trackers.get(tracker).clone() {
            Tracker::Slot(slot) => Access::Slot(slot as usize),
            Tracker::Constant(object) => Access::Constant(ex.objects.get(py, object).unbind()),
            Tracker::Attr { base, name } => Access::Attr(at(base)?, PyString::intern(py, &name).unbind()),
            Tracker::InstanceDict(base) => Access::InstanceDict(at(base)?),
            Tracker::DictItem { base, key } => Access::DictItem(at(base)?, ex.objects.get(py, key).unbind()),
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
        };
        self.steps.push(Step::Access(access));
        let register = self.count;
        self.count += 1;
        self.registers.insert(tracker, register);
        Ok(register)
    }

    pub(super) fn add(&mut self, ex: &Executor<'_>, guard: &Guard) -> Result<(), Stop> {
        let py = ex.py;
        if let (Tracker::Constant(tensor), Check::Tensor(number)) = (ex.trackers.get(guard.tracker), &guard.check) {
            self.pinned.push((ex.objects.get(py, *tensor).unbind(), *number as usize));
            return Ok(());
        }
        let register = self.register(ex, guard.tracker)?;
        let object = |id: &sot_tracker::ObjectId| ex.objects.get(py, *id).unbind();
        let check = match &guard.check {
            Check::Is(o) => NativeCheck::Is(object(o)),
            Check::TypeIs(o) => NativeCheck::TypeIs(object(o)),
            Check::Equals(o) => NativeCheck::Equals(object(o)),
            Check::Len(n) => NativeCheck::Len(*n),
            Check::Lacks(key) => NativeCheck::Lacks(object(key)),
            Check::Keys(keys) => NativeCheck::Keys(keys.iter().map(object).collect()),
            Check::Tensor(number) => NativeCheck::Tensor(*number as usize),
            Check::SameAs(other) => NativeCheck::SameAs(self.register(ex, *other)?),
            Check::Distinct(others) => {
                let others = others.iter().map(|o| self.register(ex, *o)).collect::<Result<Vec<_>, _>>()?;
                NativeCheck::Distinct(others)
            }
            Check::HasNext(has) => NativeCheck::HasNext(*has),
            Check::IterIndex(index) => NativeCheck::IterIndex(*index),
            Check::Unbound => NativeCheck::Unbound,
            Check::ClassLookup { name, found } => {
                NativeCheck::ClassLookup(PyString::intern(py, name).unbind(), found.as_ref().map(object))
            }
            Check::LacksAttr(_) => return Err(missing("an evaluator")),
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
                    NativeCheck::Keys(keys) => keys.iter().for_each(&mut *visit),
                    NativeCheck::ClassLookup(name, found) => {
                        visit(name.as_any());
                        found.iter().for_each(&mut *visit);
                    }
                    NativeCheck::Len(_)
                    | NativeCheck::Tensor(_)
                    | NativeCheck::SameAs(_)
                    | NativeCheck::Distinct(_)
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
        let Some(value) = &registers[register] else { return matches!(check, NativeCheck::Unbound) };
        match check {
            NativeCheck::Is(expected) => value.is(expected),
            NativeCheck::TypeIs(expected) => value.get_type().is(expected),
            NativeCheck::Equals(expected) => equals(value, expected.bind(py)),
            NativeCheck::Len(n) => length(value) == Some(*n),
            NativeCheck::Lacks(key) => value.cast::<PyDict>().is_ok_and(|d| d.contains(key).is_ok_and(|has| !has)),
            NativeCheck::Keys(keys) => same_keys(py, value, keys),
            NativeCheck::Tensor(number) => self.tensor_checks[*number].matches(value.as_borrowed()),
            NativeCheck::SameAs(other) => registers[*other].as_ref().is_some_and(|o| o.is(value)),
            NativeCheck::Distinct(others) => others.iter().all(|o| registers[*o].as_ref().is_none_or(|o| !o.is(value))),
            NativeCheck::HasNext(expected) => iterators::has_next(value) == Some(*expected),
            NativeCheck::IterIndex(index) => iterators::position(value) == Some(*index),
            NativeCheck::Unbound => false,
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

impl Access {
    fn get<'py>(&self, py: Python<'py>, slots: Slots<'_>, registers: &Registers<'py>) -> Option<Bound<'py, PyAny>> {
        match self {
            Access::Slot(slot) => slots.get(py, *slot).map(|v| v.to_owned()),
            Access::Constant(object) => Some(object.bind(py).clone()),
            Access::Attr(base, name) => registers[*base].as_ref()?.getattr(name).ok(),
            Access::InstanceDict(base) => facts::instance_dict(registers[*base].as_ref()?).map(Bound::into_any),
            Access::DictItem(base, key) => registers[*base].as_ref()?.cast::<PyDict>().ok()?.get_item(key).ok()?,
            Access::DictKey(base, index) => {
                registers[*base].as_ref()?.cast::<PyDict>().ok()?.iter().nth(*index).map(|kv| kv.0)
            }
            Access::SeqItem(base, index) => {
                let base = registers[*base].as_ref()?;
                if let Ok(list) = base.cast::<PyList>() {
                    list.get_item(*index).ok()
                } else if let Ok(tuple) = base.cast::<PyTuple>() {
                    tuple.get_item(*index).ok()
                } else {
                    None
                }
            }
            Access::CellContent(base) => facts::cell_contents(registers[*base].as_ref()?),
            Access::FunctionPart(base, part) => {
                let base = registers[*base].as_ref()?;
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
            Access::TypeOf(base) => Some(registers[*base].as_ref()?.get_type().into_any()),
            Access::MethodSelf(base) => registers[*base].as_ref()?.getattr("__self__").ok(),
            Access::MethodFunction(base) => registers[*base].as_ref()?.getattr("__func__").ok(),
            Access::IterPeek(base) => iterators::peek(registers[*base].as_ref()?),
            // A range iterator has no sequence: what is left of it is asked of the iterator itself.
            Access::IterSource(base) => {
                let iterator = registers[*base].as_ref()?;
                iterators::source(iterator).or_else(|| Some(iterator.clone()))
            }
        }
    }
}
