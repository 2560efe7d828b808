//! What becomes of a waiting stack of frames when the frame above it has run as plain Python: by a result or an exception.
//!
//! The rules are those of the simulation (`executor::deliver`, `executor::exceptions`), applied to shapes and real values.
//! The outcome is always a continuation whose innermost frame runs at an instruction, or an exception that no frame handles.

use crate::code_unit::assemble;
use crate::continuation::{self, Continuation, FrameShape, Led, Shape, SlotShape};
use crate::cpython::native::{NativeBody, new_native};
use crate::cpython::thread::{handled_exception, set_handled_exception};
use crate::cpython::traceback::Asker;
use crate::cpython::{OwnedSlots, Slots};
use crate::executor::{Awaits, handler_at};
use crate::user_frames::{self, Site};
use pyo3::exceptions::{PyStopIteration, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBool;
use sot_opcodes::{Op, handling, method_layout};
use std::any::Any;
use std::sync::Arc;

/// A value of a slot; `None` where the slot was not given.
type Value = Option<Py<PyAny>>;

/// Where to go on, and with what.
pub type Next = (Arc<Continuation>, OwnedSlots);

/// Frames with their values, the innermost of which can be changed.
struct Waiting<'py> {
    py: Python<'py>,
    frames: Vec<FrameShape>,
    /// Values of each frame.
    values: Vec<Vec<Value>>,
}

impl<'py> Waiting<'py> {
    fn new(py: Python<'py>, frames: &[FrameShape], values: Vec<Value>) -> Waiting<'py> {
        let mut values = values.into_iter();
        let values = frames.iter().map(|f| values.by_ref().take(f.values()).collect()).collect();
        Waiting { py, frames: frames.iter().map(|f| f.duplicate(py)).collect(), values }
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

    /// Cut the stack to a depth.
    fn cut(&mut self, depth: usize) {
        let (frame, values) = self.innermost();
        let before = frame.stack_values();
        frame.stack.truncate(depth);
        values.drain(frame.stack_values()..before);
    }

    /// The frame runs on at an instruction.
    fn run_at(&mut self, ip: usize) {
        let (frame, _) = self.innermost();
        frame.ip = ip;
        frame.awaits = None;
    }

    fn go_on(self) -> Next {
        let continuation = continuation::of(self.py, &Shape { frames: self.frames });
        let mut slots = OwnedSlots::default();
        self.values.into_iter().flatten().for_each(|value| slots.push(value));
        (continuation, slots)
    }
}

/// The frame above has returned.
pub fn returned(
    py: Python<'_>,
    frames: &[FrameShape],
    values: Vec<Value>,
    result: &Bound<'_, PyAny>,
) -> PyResult<Next> {
    let mut waiting = Waiting::new(py, frames, values);
    let (frame, _) = waiting.innermost();
    let (ip, version) = (frame.ip, frame.unit.code.version);
    let value = || Some(result.clone().unbind());
    match frame.awaits.unwrap_or_default() {
        Awaits::Push | Awaits::Next => {
            waiting.push(SlotShape::Value, value());
            waiting.run_at(ip + 1);
        }
        Awaits::Iterator => {
            let class = result.get_type();
            if crate::cpython::facts::type_lookup(&class, pyo3::intern!(py, "__next__")).is_none() {
                let text = format!("iter() returned non-iterator of type '{}'", class.name()?);
                let values = waiting.values.into_iter().flatten().collect();
                return raised(py, frames, values, PyTypeError::new_err(text), Asker::Driver);
            }
            waiting.push(SlotShape::Value, value());
            waiting.run_at(ip + 1);
        }
        Awaits::Drop => waiting.run_at(ip + 1),
        awaits @ (Awaits::None | Awaits::NoneAgain) => {
            if !result.is_none() {
                let text = format!("__init__() should return None, not '{}'", result.get_type().name()?);
                let values = waiting.values.into_iter().flatten().collect();
                return raised(py, frames, values, PyTypeError::new_err(text), Asker::Driver);
            }
            waiting.run_at(if awaits == Awaits::None { ip + 1 } else { ip });
        }
        Awaits::Again | Awaits::Bool | Awaits::Length => {
            if let Err(error) = check_truth(frame.awaits, result) {
                let values = waiting.values.into_iter().flatten().collect();
                return raised(py, frames, values, error, Asker::Driver);
            }
            waiting.push(SlotShape::Value, value());
            waiting.run_at(ip);
        }
        // Frames of generators are never left behind a break.
        Awaits::Send => {
            return Err(pyo3::exceptions::PyRuntimeError::new_err("sot: a generator's frame in a continuation"));
        }
        Awaits::Method => {
            if method_layout::null_first(version) {
                waiting.push(SlotShape::Null, None);
                waiting.push(SlotShape::Value, value());
            } else {
                waiting.push(SlotShape::Value, value());
                waiting.push(SlotShape::Null, None);
            }
            waiting.run_at(ip + 1);
        }
    }
    Ok(waiting.go_on())
}

/// What `__bool__` or `__len__` gave, as the interpreter checks it.
fn check_truth(awaits: Option<Awaits>, result: &Bound<'_, PyAny>) -> PyResult<()> {
    match awaits {
        Some(Awaits::Bool) if !result.is_instance_of::<PyBool>() => {
            let text = format!("__bool__ should return bool, returned {}", result.get_type().name()?);
            Err(PyTypeError::new_err(text))
        }
        Some(Awaits::Length) => crate::executor::length_of(result).map(|_| ()),
        _ => Ok(()),
    }
}

/// The innermost frame that goes on after an exception.
fn handled_by(frames: &[FrameShape], stops: bool) -> Option<usize> {
    frames.iter().rposition(|f| stops && f.awaits == Some(Awaits::Next) || handler_at(&f.unit.code, f.ip).is_some())
}

/// The frame above has raised, or the innermost of these frames at its own instruction. The traceback gets an entry for each
/// frame that the exception passes.
pub fn raised(py: Python<'_>, frames: &[FrameShape], values: Vec<Value>, error: PyErr, asker: Asker) -> PyResult<Next> {
    let stops = error.is_instance_of::<PyStopIteration>(py);
    let Some(at) = handled_by(frames, stops) else {
        user_frames::left_waiting(py, &error, frames, &values, 0, asker);
        return Err(error);
    };
    let left: usize = frames[..=at].iter().map(FrameShape::values).sum();
    let mut values = values;
    if !(stops && frames[at].awaits == Some(Awaits::Next)) {
        user_frames::left_waiting(py, &error, frames, &values, at, asker);
    }
    values.truncate(left);
    let mut waiting = Waiting::new(py, &frames[..=at], values);
    let frame = &frames[at];
    if stops && frame.awaits == Some(Awaits::Next) {
        let depth = frame.stack.len().saturating_sub(1);
        waiting.cut(depth);
        let Op::ForIter(label) = frame.unit.code.instrs[frame.ip].op else { return Err(error) };
        waiting.run_at(frame.unit.code.target(label));
        return Ok(waiting.go_on());
    }
    let region = handler_at(&frame.unit.code, frame.ip).expect("found above");
    waiting.cut(region.depth as usize);
    let exception = with_traceback(py, &error)?;
    if handling::has_blocks(frame.unit.code.version) {
        let (shape, values) = waiting.innermost();
        let levels = shape.stack.iter().filter(|s| **s == SlotShape::Previous).count() / 3;
        let first = shape.stack_values() + shape.locals.len();
        values.drain(first + levels..first + shape.handled);
        values.insert(first + levels, Some(exception.clone().unbind()));
        shape.handled = levels + 1;
        for _ in 0..3 {
            waiting.push(SlotShape::Previous, None);
        }
        let traceback = exception.getattr("__traceback__")?;
        let class = exception.get_type().into_any();
        for value in [traceback, exception, class] {
            waiting.push(SlotShape::Value, Some(value.unbind()));
        }
    } else {
        if region.lasti {
            waiting.push(SlotShape::Value, Some(0i32.into_pyobject(py)?.into_any().unbind()));
        }
        waiting.push(SlotShape::Value, Some(exception.unbind()));
    }
    waiting.run_at(frame.unit.code.target(region.handler));
    Ok(waiting.go_on())
}

/// Whether each of these frames has an eager form wherever it may go on: behind its call, and in its handler. Asked before
/// a program depends on it; from 3.11 on, where no block has to be set up again, it always has.
pub fn can_go_on(py: Python<'_>, shape: &Shape) -> bool {
    let resumes = |frame: FrameShape| {
        let made = frame.resume(py).map_err(|e| e.to_string());
        made.and_then(|(code, consts)| assemble(py, &code, &consts)).is_ok()
    };
    shape.frames.iter().filter(|f| handling::has_blocks(f.unit.code.version)).all(|frame| {
        let behind = frame.awaits.is_none_or(|awaits| {
            let mut next = frame.duplicate(py);
            next.awaits = None;
            match awaits {
                Awaits::Push | Awaits::Next | Awaits::Iterator | Awaits::Send | Awaits::Method => {
                    next.stack.push(SlotShape::Value);
                    next.ip += 1;
                }
                Awaits::Drop | Awaits::None => next.ip += 1,
                Awaits::NoneAgain => {}
                Awaits::Again | Awaits::Bool | Awaits::Length => next.stack.push(SlotShape::Value),
            }
            if awaits == Awaits::Method {
                next.stack.push(SlotShape::Null);
            }
            resumes(next)
        });
        let handler = handler_at(&frame.unit.code, frame.ip).is_none_or(|region| {
            let mut next = frame.duplicate(py);
            next.awaits = None;
            next.ip = frame.unit.code.target(region.handler);
            next.stack.truncate(region.depth as usize);
            next.handled = next.stack.iter().filter(|s| **s == SlotShape::Previous).count() / 3 + 1;
            next.stack.extend([SlotShape::Previous; 3]);
            next.stack.extend([SlotShape::Value; 3]);
            resumes(next)
        });
        behind && handler
    })
}

/// The exception that the innermost of these frames handles.
pub fn handled_of(frames: &[FrameShape], values: Slots<'_>, py: Python<'_>) -> Option<Py<PyAny>> {
    let mut end = 0;
    let mut found = None;
    for frame in frames {
        end += frame.values();
        if frame.handled > 0 {
            found = values.get(py, end - frame.cells - 1).map(|v| v.to_owned().unbind());
        }
    }
    found
}

/// Run with `exception` as what is being handled.
pub fn while_handling<R>(py: Python<'_>, exception: Option<&Py<PyAny>>, run: impl FnOnce() -> R) -> R {
    let before = handled_exception(py);
    set_handled_exception(py, exception.map(|e| e.bind(py).clone()));
    let result = run();
    set_handled_exception(py, before);
    result
}

// ----- what rewritten code calls

/// `continuation(values.., exception)`: its break instruction raised.
pub struct RaiseInto {
    pub shape: Shape,
    /// Code of the stand-ins below which the instruction ran.
    pub stand_ins: Vec<Py<PyAny>>,
    /// The handlers that it has come to.
    pub led: Led,
}

impl NativeBody for RaiseInto {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let last = args.len() - 1;
        let exception = args.get(py, last).expect("the exception").to_owned();
        let error = error_of(exception);
        // The real frames give way to those that they stand for.
        user_frames::drop_real(py, &error, &self.stand_ins)?;
        let values = (0..last).map(|i| args.get(py, i).map(|v| v.to_owned().unbind())).collect();
        let frames = &self.shape.frames;
        if handled_by(frames, error.is_instance_of::<PyStopIteration>(py)).is_none() {
            // It leaves the rewritten code, which shows what it stands for.
            return Err(error);
        }
        let (next, values) = raised(py, frames, values, error, Asker::RewrittenCode)?;
        self.led.request(py, next, values)
    }

    fn name(&self) -> &str {
        "raise_into"
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.shape.traverse(visit);
        self.led.traverse(visit);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A function of rewritten code.
struct Helper {
    name: &'static str,
    run: for<'py> fn(Python<'py>, Slots<'_>) -> PyResult<Bound<'py, PyAny>>,
}

impl NativeBody for Helper {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        (self.run)(py, args)
    }

    fn name(&self) -> &str {
        self.name
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn helper<'py>(py: Python<'py>, cell: &'static PyOnceLock<Py<PyAny>>, helper: Helper) -> PyResult<Bound<'py, PyAny>> {
    Ok(cell.get_or_try_init(py, || new_native(py, Box::new(helper)))?.bind(py).clone())
}

/// `raise_again(exception)`: raises it with the traceback that it has.
pub fn raise_again(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "raise_again",
            run: |py, args| Err(error_of(args.get(py, 0).expect("an exception").to_owned())),
        },
    )
}

/// `handle(exception)`: from now on it is what is being handled. Returns what was before.
pub fn handle(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "handle",
            run: |py, args| {
                let before = handled_exception(py);
                let exception = args.get(py, 0).map(|e| e.to_owned()).filter(|e| !e.is_none());
                set_handled_exception(py, exception);
                Ok(before.unwrap_or_else(|| py.None().into_bound(py)))
            },
        },
    )
}

/// An exception has left these frames (innermost first): entries for its traceback.
fn pass<'py>(exception: &Bound<'py, PyAny>, passed: &[Arc<Site>]) -> PyResult<()> {
    let py = exception.py();
    let error = error_of(exception.clone());
    user_frames::left_inlined(py, &error, passed.iter().rev(), Asker::RewrittenCode);
    with_traceback(py, &error).map(|_| ())
}

/// The error that raises an exception. One whose `__traceback__` was set to None has none.
fn error_of(exception: Bound<'_, PyAny>) -> PyErr {
    let py = exception.py();
    let cleared = exception.getattr("__traceback__").is_ok_and(|traceback| traceback.is_none());
    let error = PyErr::from_value(exception);
    if cleared {
        error.set_traceback(py, None);
    }
    error
}

/// The exception of an error, its `__traceback__` being that of the error.
fn with_traceback<'py>(py: Python<'py>, error: &PyErr) -> PyResult<Bound<'py, PyAny>> {
    let exception = error.value(py).clone().into_any();
    exception.setattr("__traceback__", error.traceback(py))?;
    Ok(exception)
}

/// `passed(exception)`: it has left frames in which it was caught; its traceback gets their entries.
pub struct Passed {
    pub sites: Vec<Arc<Site>>,
}

impl NativeBody for Passed {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let exception = args.get(py, 0).expect("an exception").to_owned();
        pass(&exception, &self.sites)?;
        Ok(exception)
    }

    fn name(&self) -> &str {
        "passed"
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `start(generator)`: runs it to its first yield, at which it then waits.
pub fn start_generator(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "start",
            run: |py, args| {
                let generator = args.get(py, 0).expect("a generator").to_owned();
                generator.call_method0("__next__")?;
                Ok(generator)
            },
        },
    )
}

/// `finished()`: a generator that has ended.
pub fn finished_generator(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "finished",
            run: |py, _| {
                let generator = py.eval(c"(None for _ in ())", None, None)?;
                generator.call_method0("close")?;
                Ok(generator)
            },
        },
    )
}
