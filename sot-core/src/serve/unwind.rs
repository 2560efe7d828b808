//! What becomes of a waiting stack of frames when the frame above it has run as plain Python: by a result or an exception.
//!
//! The rules are those of the simulation (`executor::deliver`, `executor::exceptions`), applied to shapes and real values.
//! The outcome is always a continuation whose innermost frame runs at an instruction, or an exception that no frame handles.

use crate::awaits::Awaits;
use crate::called_by_code::{asked, finished, plain_generator, with_traceback};
use crate::code_unit::CodeUnit;
use crate::cpython::facts;
use crate::cpython::thread::{handled, set_handled};
use crate::cpython::traceback::Asker;
use crate::cpython::{OwnedSlots, Slots, new_function, set_builtins};
use crate::frame::{PutBack, asks_as_given, asks_for, catches_at, depth_in_handler, handler_at, put_back};
use crate::shapes::{Apart, FrameShape, GeneratorAt, Shape, SlotShape, WaitingShape};
use crate::user_frames;
use pyo3::exceptions::{PyAttributeError, PyRuntimeError, PyStopIteration, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple};
use sot_opcodes::calls::drops_from_the_top;
use sot_opcodes::{JumpCond, Op, handling, method_layout};
use std::sync::Arc;

/// A value of a slot; `None` where the slot was not given.
type Value = Option<Py<PyAny>>;

/// Where to go on, and with what.
pub type Next = (Shape, OwnedSlots);

/// Frames with their values, the innermost of which can be changed.
pub struct Waiting<'py> {
    py: Python<'py>,
    frames: Vec<FrameShape>,
    /// Values of each frame.
    values: Vec<Vec<Value>>,
    /// Generators that wait to be asked, while they are no objects.
    generators: Vec<(WaitingShape, Vec<Value>)>,
}

impl<'py> Waiting<'py> {
    pub fn new(py: Python<'py>, frames: &[FrameShape], values: Vec<Value>) -> Waiting<'py> {
        let mut values = values.into_iter();
        let values = frames.iter().map(|f| values.by_ref().take(f.values()).collect()).collect();
        Waiting { py, frames: frames.iter().map(|f| f.duplicate(py)).collect(), values, generators: Vec::new() }
    }

    pub fn of(py: Python<'py>, shape: &Shape, mut values: Vec<Value>) -> Waiting<'py> {
        let mut rest = values.split_off(shape.frames.iter().map(FrameShape::values).sum::<usize>().min(values.len()));
        let mut waiting = Waiting::new(py, &shape.frames, values);
        for shape in shape.duplicate(py).waiting {
            let values = rest.drain(..shape.frame.values().min(rest.len())).collect();
            waiting.generators.push((shape, values));
        }
        waiting
    }

    fn innermost(&mut self) -> (&mut FrameShape, &mut Vec<Value>) {
        (self.frames.last_mut().expect("a frame"), self.values.last_mut().expect("a frame"))
    }

    fn push(&mut self, slot: SlotShape, value: Value) {
        let (frame, values) = self.innermost();
        if slot == SlotShape::Value {
            values.insert(frame.stack_values(), value);
        }
        frame.stack.push(slot);
    }

    /// Cut the stack to a depth, from its top.
    fn cut(&mut self, depth: usize) {
        let (frame, values) = self.innermost();
        let before = frame.stack_values();
        frame.stack.truncate(depth);
        values.drain(frame.stack_values()..before).rev().for_each(drop);
    }

    /// The call is over: the innermost frame lets go of what it holds for it.
    fn let_go_of_operands(&mut self) {
        let (frame, values) = self.innermost();
        let held = std::mem::take(&mut frame.held);
        if held == 0 {
            return;
        }
        let from_the_top = frame.unit.code.instrs.get(frame.ip);
        let from_the_top = from_the_top.is_some_and(|i| drops_from_the_top(frame.unit.code.version, &i.op));
        let before = frame.stack_values();
        frame.stack.truncate(frame.stack.len() - held);
        let held = values.drain(frame.stack_values()..before);
        match from_the_top {
            true => held.rev().for_each(drop),
            false => held.for_each(drop),
        }
    }

    /// The frame runs on at an instruction.
    fn run_at(&mut self, ip: usize) {
        let (frame, _) = self.innermost();
        frame.ip = ip;
        frame.awaits = None;
    }

    pub fn go_on(self) -> Next {
        let (waiting, of_waiting): (Vec<_>, Vec<_>) = self.generators.into_iter().unzip();
        let mut slots = OwnedSlots::default();
        self.values.into_iter().chain(of_waiting).flatten().for_each(|value| slots.push(value));
        (Shape { frames: self.frames, waiting }, slots)
    }

    /// The generators that wait to be asked become objects.
    pub fn generators_become_real(mut self) -> PyResult<Waiting<'py>> {
        // Those that are referred to by others first.
        let mut left: Vec<u32> = (0..self.generators.len() as u32).collect();
        while !left.is_empty() {
            let ready = |at: &&u32| self.generators[**at as usize].0.frame.generators().next().is_none();
            let Some(at) = left.iter().find(ready).copied() else {
                return Err(PyRuntimeError::new_err("sot: generators that hold each other"));
            };
            let values = std::mem::take(&mut self.generators[at as usize].1);
            let generator = new_generator(self.py, &self.generators[at as usize].0, values)?;
            self.becomes_real(GeneratorAt::Waiting(at), &generator);
            left.retain(|other| *other != at);
        }
        self.generators.clear();
        Ok(self)
    }

    /// A generator is an object from now on.
    pub fn becomes_real(&mut self, of: GeneratorAt, generator: &Bound<'py, PyAny>) {
        let value = || Some(generator.clone().unbind());
        let others = self.generators.iter_mut().map(|(shape, values)| (&mut shape.frame, values));
        for (frame, values) in self.frames.iter_mut().zip(&mut self.values).chain(others) {
            for at in 0..frame.stack.len() {
                if frame.stack[at] == SlotShape::Generator(of) {
                    let before = frame.values_below(at);
                    frame.stack[at] = SlotShape::Value;
                    values.insert(before, value());
                }
            }
            let (bound, others) = frame.generators.iter().partition(|(_, at)| *at == of);
            frame.generators = others;
            for (local, _) in bound {
                let at = frame.locals.partition_point(|other| *other < local);
                frame.locals.insert(at, local);
                values.insert(frame.stack_values() + at, value());
            }
        }
    }

    /// What ends meanwhile does so while the innermost of these frames that handles an exception does.
    fn while_it_handles<R>(self, run: impl FnOnce(Waiting<'py>) -> R) -> R {
        let py = self.py;
        let places = self.frames.iter().zip(&self.values).rev();
        let handled =
            places.enumerate().filter(|(_, (frame, _))| frame.handled > 0).find_map(|(up, (frame, values))| {
                let exception = values.get(values.len().checked_sub(frame.cells + 1)?)?.as_ref()?;
                Some(Handled::by(py, self.frames.len() - 1 - up, frame, exception.clone_ref(py)))
            });
        match handled {
            Some(handled) => handled.meanwhile(py, || run(self)),
            None => run(self),
        }
    }

    /// What ran meanwhile may have given what a frame handles another traceback: up to 3.10 the frame still has the old one.
    pub fn keeps(&mut self, py: Python<'_>, handled: &Handled) {
        let Some(frame) = self.frames.get_mut(handled.frame) else { return };
        if frame.apart.is_none()
            && handling::has_blocks(frame.unit.code.version)
            && !traceback_of(py, &handled.exception).bind(py).is(&handled.traceback)
        {
            let traceback = handled.traceback.clone_ref(py);
            frame.apart = Some(Apart { level: frame.handled - 1, traceback });
        }
    }

    /// The frame above has returned, or has yielded.
    pub fn returned(self, result: &Bound<'py, PyAny>) -> PyResult<Next> {
        self.while_it_handles(|me| me.gets(result))
    }

    fn gets(mut self, result: &Bound<'py, PyAny>) -> PyResult<Next> {
        let py = self.py;
        self.let_go_of_operands();
        let (frame, _) = self.innermost();
        let (ip, version) = (frame.ip, frame.unit.code.version);
        let value = || Some(result.clone().unbind());
        match frame.awaits.unwrap_or_default() {
            // A delegation of 3.8 to 3.10 is never left to this: `Executor::execute`.
            Awaits::Push | Awaits::Next | Awaits::Delegate => {
                self.push(SlotShape::Value, value());
                self.run_at(ip + 1);
            }
            Awaits::Iterator => {
                let class = result.get_type();
                if crate::cpython::facts::type_lookup(&class, pyo3::intern!(py, "__next__")).is_none() {
                    let text = format!("iter() returned non-iterator of type '{}'", facts::name_in_messages(&class));
                    return self.unwinds(PyTypeError::new_err(text), Asker::Driver);
                }
                self.push(SlotShape::Value, value());
                self.run_at(ip + 1);
            }
            Awaits::Drop => self.run_at(ip + 1),
            awaits @ (Awaits::None | Awaits::NoneAgain) => {
                if !result.is_none() {
                    let text =
                        format!("__init__() should return None, not '{}'", facts::name_in_messages(&result.get_type()));
                    return self.unwinds(PyTypeError::new_err(text), Asker::Driver);
                }
                self.run_at(if awaits == Awaits::None { ip + 1 } else { ip });
            }
            Awaits::Again | Awaits::Bool => {
                if let Err(error) = check_truth(frame.awaits, result) {
                    return self.unwinds(error, Asker::Driver);
                }
                self.push(SlotShape::Value, value());
                self.run_at(ip);
            }
            Awaits::Decides => {
                let Op::JumpIfOrPop { cond, target } = frame.unit.code.instrs[ip].op else {
                    return Err(PyRuntimeError::new_err("sot: no jump"));
                };
                let (jumps, target) = (cond == JumpCond::True, frame.unit.code.target(target));
                if let Err(error) = check_truth(frame.awaits, result) {
                    return self.unwinds(error, Asker::Driver);
                }
                if result.is_truthy()? == jumps {
                    self.run_at(target);
                } else {
                    self.drop_object();
                    self.run_at(ip + 1);
                }
            }
            Awaits::Matched => {
                let (matched, rest) = (result.get_item(0)?, result.get_item(1)?);
                self.push(SlotShape::Value, Some(rest.unbind()));
                self.push(SlotShape::Value, Some(matched.clone().unbind()));
                if !matched.is_none() {
                    let (shape, values) = self.innermost();
                    let last = shape.stack_values() + shape.locals.len() + shape.handled;
                    if let Some(handled) = last.checked_sub(1).and_then(|last| values.get_mut(last)) {
                        *handled = Some(matched.unbind());
                    }
                }
                self.run_at(ip + 1);
            }
            Awaits::Told => {
                let matched = PyBool::new(py, !result.is_none()).to_owned().into_any().unbind();
                self.push(SlotShape::Value, value());
                self.push(SlotShape::Value, Some(matched));
                self.run_at(ip + 1);
            }
            // Only generators are above: see `delegates_again`.
            Awaits::Send => {
                return Err(PyRuntimeError::new_err("sot: a delegate that is no generator"));
            }
            Awaits::Attribute => {
                self.drop_object();
                self.push(SlotShape::Value, value());
                self.run_at(ip + 1);
            }
            awaits @ (Awaits::Method | Awaits::Callable) => {
                if awaits == Awaits::Method {
                    self.drop_object();
                }
                if method_layout::null_first(version) {
                    self.push(SlotShape::Null, None);
                    self.push(SlotShape::Value, value());
                } else {
                    self.push(SlotShape::Value, value());
                    self.push(SlotShape::Null, None);
                }
                self.run_at(ip + 1);
            }
        }
        Ok(self.go_on())
    }

    /// The frame above has raised, or the innermost of these frames at its own instruction. The traceback gets an entry for
    /// each frame that the exception passes.
    pub fn raised(self, error: PyErr, asker: Asker) -> PyResult<Next> {
        self.while_it_handles(|me| me.unwinds(error, asker))
    }

    fn unwinds(mut self, mut error: PyErr, asker: Asker) -> PyResult<Next> {
        let py = self.py;
        loop {
            let stops = error.is_instance_of::<PyStopIteration>(py);
            let goes_to = goes_to(&self.frames, stops);
            let (at, ends_loop) = match goes_to {
                GoesTo::Handler(at) => (at, false),
                GoesTo::Loop(at) => (at, true),
                GoesTo::Generator(at) => {
                    let text = crate::awaits::stopped_in(self.frames[at].unit.code.flags);
                    self.left(&error, at, false, asker);
                    self.end_above(at)?;
                    error = out_of_generator(py, &error, text)?;
                    continue;
                }
                GoesTo::Nobody => {
                    self.left(&error, 0, false, asker);
                    self.end_above(0)?;
                    return Err(error);
                }
            };
            // Who asked for the next item takes the end of it as an answer.
            if !(ends_loop && handling::tracebacks_come_with_handlers(self.frames[at].unit.code.version)) {
                self.left(&error, if ends_loop { at + 1 } else { at }, !ends_loop, asker);
            }
            self.end_above(at + 1)?;
            let unit = self.frames[at].unit.clone();
            self.let_go_of_operands();
            if ends_loop {
                let label = match unit.code.instrs[self.frames[at].ip].op {
                    Op::ForIter(label) => {
                        let depth = self.frames[at].stack.len().saturating_sub(1);
                        self.cut(depth);
                        label
                    }
                    Op::Send(label) => {
                        let result = error.value(py).getattr(pyo3::intern!(py, "value"))?;
                        self.push(SlotShape::Value, Some(result.unbind()));
                        label
                    }
                    _ => return Err(error),
                };
                self.run_at(unit.code.target(label));
            } else {
                self.handle(&error)?;
            }
            return Ok(self.go_on());
        }
    }

    /// The attribute is known: the innermost frame lets go of the object that it asked.
    fn drop_object(&mut self) {
        let (frame, _) = self.innermost();
        let depth = frame.stack.len() - 1;
        self.cut(depth);
    }

    /// An exception leaves the frames from this one on, which `stays` if it handles it.
    fn left(&self, error: &PyErr, first: usize, stays: bool, asker: Asker) {
        if first < self.frames.len() {
            let py = self.py;
            let values = self.values.iter().flatten().map(|v| v.as_ref().map(|v| v.clone_ref(py))).collect::<Vec<_>>();
            // What cannot be told is not known to anybody.
            let _ = tell_what_was_asked(py, &self.frames, &values, first, error);
            user_frames::left_waiting(py, error, &self.frames, &values, (first, stays), asker);
        }
    }

    /// The frames from this one on have ended, and with them their generators.
    fn end_above(&mut self, first: usize) -> PyResult<()> {
        let ended: Vec<(usize, Arc<CodeUnit>)> = (first..self.frames.len())
            .filter(|at| self.frames[*at].generator)
            .map(|at| (at, self.frames[at].unit.clone()))
            .collect();
        while self.frames.len() > first {
            // As the interpreter unwinds: the innermost first, each from the top of its stack.
            if let (Some(frame), Some(mut values)) = (self.frames.pop(), self.values.pop()) {
                let (mut left, of_stack) = (frame.stack_values(), frame.stack_values());
                for PutBack { local, depth, .. } in put_back(&frame.unit.code, frame.ip) {
                    let below = frame.values_below(depth).min(left);
                    (below..left).rev().for_each(|at| drop(values[at].take()));
                    left = below;
                    let at = frame.locals.iter().position(|other| *other == local);
                    drop(at.and_then(|at| values.get_mut(of_stack + at)).and_then(Option::take));
                }
                values.drain(..of_stack).rev().for_each(drop);
                // What stands for C lets go of its arguments in the end.
                if frame.unit.hidden && !frame.generator {
                    values.drain(..).rev().for_each(drop);
                }
            }
        }
        for (at, unit) in ended {
            let at = GeneratorAt::Frame(at as u32);
            if self.frames.iter().any(|frame| frame.generators().any(|held| held == at)) {
                let finished = finished(unit.object.bind(self.py).as_any())?;
                self.becomes_real(at, &finished);
            }
        }
        Ok(())
    }

    /// The innermost frame goes on in the handler that covers its instruction.
    fn handle(&mut self, error: &PyErr) -> PyResult<()> {
        let py = self.py;
        let (frame, _) = self.innermost();
        let unit = frame.unit.clone();
        let region = handler_at(&unit.code, frame.ip).expect("found above");
        let depth = depth_in_handler(&unit, frame.ip, &mut frame.blocks, &region);
        self.cut(depth);
        let exception = with_traceback(py, error)?;
        if handling::has_blocks(unit.code.version) {
            let (shape, values) = self.innermost();
            let levels = shape.stack.iter().filter(|s| **s == SlotShape::Previous).count() / 3;
            let first = shape.stack_values() + shape.locals.len();
            values.drain(first + levels..first + shape.handled);
            values.insert(first + levels, Some(exception.clone().unbind()));
            shape.handled = levels + 1;
            shape.apart.take_if(|apart| apart.level >= levels);
            for _ in 0..3 {
                self.push(SlotShape::Previous, None);
            }
            let traceback = exception.getattr("__traceback__")?;
            let class = exception.get_type().into_any();
            for value in [traceback, exception, class] {
                self.push(SlotShape::Value, Some(value.unbind()));
            }
        } else {
            if region.lasti {
                self.push(SlotShape::Value, Some(0i32.into_pyobject(py)?.into_any().unbind()));
            }
            self.push(SlotShape::Value, Some(exception.unbind()));
        }
        self.run_at(unit.code.target(region.handler));
        Ok(())
    }
}

/// The generator of a frame that refers to no other one that is no object, and that waits to be asked.
fn new_generator<'py>(py: Python<'py>, shape: &WaitingShape, mut values: Vec<Value>) -> PyResult<Bound<'py, PyAny>> {
    let frame = &shape.frame;
    let code = shape.code(py)?;
    let cells: Vec<Py<PyAny>> =
        values.split_off(values.len().saturating_sub(frame.cells)).into_iter().flatten().collect();
    if frame.first_local_first() {
        let first = values.remove(frame.stack_values());
        values.insert(0, first);
    }
    let closure = (frame.cells > 0).then(|| PyTuple::new(py, cells)).transpose()?;
    let function = new_function(py, &code, frame.globals.bind(py).cast::<PyDict>()?, None, closure.as_ref())?;
    set_builtins(&function, frame.builtins.bind(py));
    let values: Vec<Py<PyAny>> = values.into_iter().flatten().collect();
    let generator = function.call1(PyTuple::new(py, values)?)?;
    if let Some(qualname) = frame.unit.generator_qualname() {
        generator.setattr(pyo3::intern!(py, "__qualname__"), qualname)?;
    }
    if shape.started {
        asked(&generator)?;
    }
    plain_generator(&frame.unit, generator)
}

/// The frame of a generator goes on as plain Python, in this object. The innermost of these frames delegates to it: it asks
/// again, by itself.
pub fn delegates_again<'py>(
    py: Python<'py>,
    frames: &[FrameShape],
    values: Vec<Value>,
    generator: &Bound<'py, PyAny>,
) -> Next {
    let mut waiting = Waiting::new(py, frames, values);
    waiting.becomes_real(GeneratorAt::Frame(frames.len() as u32), generator);
    waiting.push(SlotShape::Value, Some(py.None()));
    let ip = frames[frames.len() - 1].ip;
    waiting.run_at(ip);
    waiting.go_on()
}

/// What `__bool__` gave, as the interpreter checks it.
fn check_truth(awaits: Option<Awaits>, result: &Bound<'_, PyAny>) -> PyResult<()> {
    match awaits {
        Some(Awaits::Bool | Awaits::Decides) if !result.is_instance_of::<PyBool>() => {
            let text = format!("__bool__ should return bool, returned {}", facts::name_in_messages(&result.get_type()));
            Err(PyTypeError::new_err(text))
        }
        _ => Ok(()),
    }
}

/// Where an exception goes that leaves the frame above, or that the innermost frame raises.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GoesTo {
    /// To a handler of the frame.
    Handler(usize),
    /// It is the end of the frame's loop.
    Loop(usize),
    /// It would leave the frame of a generator, which lets none of its class out.
    Generator(usize),
    Nobody,
}

fn goes_to(frames: &[FrameShape], stops: bool) -> GoesTo {
    for (at, frame) in frames.iter().enumerate().rev() {
        if stops && matches!(frame.awaits, Some(Awaits::Next | Awaits::Delegate)) {
            return GoesTo::Loop(at);
        }
        if catches_at(&frame.unit.code, frame.ip) {
            return GoesTo::Handler(at);
        }
        if stops && frame.generator {
            return GoesTo::Generator(at);
        }
    }
    GoesTo::Nobody
}

/// `RuntimeError("generator raised StopIteration")`, or what else it says, as the interpreter makes it of the exception that caused it.
fn out_of_generator(py: Python<'_>, error: &PyErr, text: &'static str) -> PyResult<PyErr> {
    let stopped = with_traceback(py, error)?;
    let raised = PyRuntimeError::new_err(text);
    let value = raised.value(py);
    value.setattr("__cause__", &stopped)?;
    value.setattr("__context__", &stopped)?;
    Ok(raised)
}

/// An AttributeError leaves the frames from `first` on: it is told the attribute that one of them asked for, as the interpreter
/// does since 3.10.
fn tell_what_was_asked(
    py: Python<'_>,
    frames: &[FrameShape],
    values: &[Value],
    first: usize,
    error: &PyErr,
) -> PyResult<()> {
    if py.version_info() < (3, 10) || !error.is_instance_of::<PyAttributeError>(py) {
        return Ok(());
    }
    let exception = error.value(py);
    for (i, frame) in frames.iter().enumerate().skip(first).rev() {
        let start: usize = frames[..i].iter().map(FrameShape::values).sum();
        let of_stack = frame.stack_values();
        let (name, object) = if frame.awaits.is_some() && asks_as_given(&frame.unit) {
            let given = |local: u32| {
                let at = frame.locals.iter().position(|alive| *alive == local)?;
                values[start + of_stack + at].as_ref().map(|value| value.bind(py).clone())
            };
            (given(1), given(0))
        } else {
            let name = frame.awaits.and_then(|awaits| asks_for(&frame.unit.code, frame.ip, awaits));
            let object = of_stack.checked_sub(1).and_then(|top| values[start + top].as_ref());
            let name = name.map(|name| PyString::intern(py, name).into_any());
            (name, object.map(|object| object.bind(py).clone()))
        };
        let (Some(name), Some(object)) = (name, object) else { continue };
        let told = |part: &str| exception.getattr(part).map(|told| !told.is_none());
        if told("name")? || told("obj")? {
            break;
        }
        if !facts::tells_names(&object.get_type(), frame.awaits == Some(Awaits::Method)) {
            continue;
        }
        exception.setattr("name", name)?;
        exception.setattr("obj", object)?;
    }
    Ok(())
}

/// The break instruction of rewritten code has raised: where these frames go on. The outer error leaves the rewritten code,
/// which shows what it stands for; the inner one is another than it has raised.
pub fn raised_by_code(py: Python<'_>, shape: &Shape, values: Vec<Value>, error: PyErr) -> PyResult<PyResult<Next>> {
    let frames = &shape.frames;
    let leaves = goes_to(frames, error.is_instance_of::<PyStopIteration>(py)) == GoesTo::Nobody;
    if leaves && shape.waiting.is_empty() {
        tell_what_was_asked(py, frames, &values, 0, &error)?;
        user_frames::ended_by_code(py, frames, &values);
        Waiting::new(py, frames, values).while_it_handles(|mut me| me.end_above(0))?;
        return Err(error);
    }
    // Generators that wait end where eager's would: with the traceback, where it holds their frames.
    let waiting = Waiting::of(py, shape, values).generators_become_real()?;
    Ok(waiting.raised(error, Asker::RewrittenCode))
}

/// What a frame handles while another runs above it.
pub struct Handled {
    /// The index of the frame.
    frame: usize,
    exception: Py<PyAny>,
    /// Up to 3.10: what it is raised again with.
    traceback: Py<PyAny>,
}

impl Handled {
    fn by(py: Python<'_>, at: usize, frame: &FrameShape, exception: Py<PyAny>) -> Handled {
        let traceback = match &frame.apart {
            Some(apart) if apart.level + 1 == frame.handled => apart.traceback.clone_ref(py),
            _ if handling::has_blocks(frame.unit.code.version) => traceback_of(py, &exception),
            // It is the exception's alone, which may let go of it.
            _ => py.None(),
        };
        Handled { frame: at, exception, traceback }
    }

    /// Run something while it is being handled.
    pub fn meanwhile<R>(&self, py: Python<'_>, run: impl FnOnce() -> R) -> R {
        let (before, traceback) = handled(py);
        set_handled(py, Some(self.exception.bind(py).clone()), Some(self.traceback.bind(py).clone()));
        let result = run();
        set_handled(py, before, traceback);
        result
    }
}

fn traceback_of(py: Python<'_>, exception: &Py<PyAny>) -> Py<PyAny> {
    crate::cpython::traceback::of_object(exception.bind(py)).map_or_else(|| py.None(), Bound::unbind)
}

/// The exception that the innermost of these frames handles.
pub fn handled_of(frames: &[FrameShape], values: Slots<'_>, py: Python<'_>) -> Option<Handled> {
    let mut end = 0;
    let mut found = None;
    for (at, frame) in frames.iter().enumerate() {
        end += frame.values();
        if frame.handled > 0 {
            let exception = values.get(py, end - frame.cells - 1);
            found = exception.map(|exception| Handled::by(py, at, frame, exception.to_owned().unbind()));
        }
    }
    found
}
