//! Shapes: frames as they stand at a break, with places in the place of values.
//!
//! A continuation is keyed by its shape; code that goes on in a frame is made from the frame's.

use crate::awaits::Awaits;
use crate::code_unit::CodeUnit;
use crate::frame::{Finally, Skipped};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyCode;
use std::sync::Arc;

/// Layout of one frame.
pub struct FrameShape {
    pub unit: Arc<CodeUnit>,
    pub globals: Py<PyAny>,
    /// Those it has begun with, whatever its globals have under that name by now.
    pub builtins: Py<PyAny>,
    /// Index of the instruction at which the frame goes on, or that waits for a call.
    pub ip: usize,
    /// What becomes of the result that the frame waits for; `None` for the innermost frame, which runs.
    pub awaits: Option<Awaits>,
    pub stack: Vec<SlotShape>,
    /// How many slots on top of the stack are there until the call is over that the frame waits for.
    pub held: usize,
    /// Locals that are bound and alive.
    pub locals: Vec<u32>,
    /// Exceptions that are being handled; each has a `Previous` slot (up to 3.10 three).
    pub handled: usize,
    /// Up to 3.10: what somebody else than the frame has left it to raise the last of them with.
    pub apart: Option<Apart>,
    /// As `Frame::blocks`.
    pub blocks: Vec<u32>,
    pub cells: usize,
    /// The frame between this one and the caller's, if the simulation left it out.
    pub skipped: Option<Arc<Skipped>>,
    /// The frame belongs to a generator, which is asked by the frame below.
    pub generator: bool,
    /// Locals that are bound to generators that are no objects yet.
    pub generators: Vec<(u32, GeneratorAt)>,
}

/// The traceback of a handled exception where that is no longer the exception's own: up to 3.10 it lies beside it, and whoever
/// handles it raises it again with that. A shape that has one is for one run alone, as plain Python.
pub struct Apart {
    /// Which of the frame's handled exceptions has it.
    pub level: usize,
    /// `None`, if the exception had none.
    pub traceback: Py<PyAny>,
}

impl Apart {
    fn duplicate(&self, py: Python<'_>) -> Apart {
        Apart { level: self.level, traceback: self.traceback.clone_ref(py) }
    }
}

/// What a stack slot of a continuation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlotShape {
    Value,
    Null,
    /// 3.8: how a `finally` block was entered without an exception.
    Finally(Finally),
    /// What was handled before an exception: put there by handling the exception again.
    Previous,
    /// A generator that is no object yet.
    Generator(GeneratorAt),
}

/// A generator by its frame: the other half of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GeneratorAt {
    /// It runs: the frame of this index, counted from the outermost.
    Frame(u32),
    /// It waits to be asked: the one of this index among those.
    Waiting(u32),
}

/// A generator that waits to be asked.
pub struct WaitingShape {
    pub frame: FrameShape,
    /// It stands at a yield.
    pub started: bool,
    /// The function that makes it as an object.
    pub(crate) code: Arc<PyOnceLock<Py<PyCode>>>,
}

impl WaitingShape {
    pub fn new(frame: FrameShape, started: bool) -> WaitingShape {
        WaitingShape { frame, started, code: Arc::new(PyOnceLock::new()) }
    }

    pub fn duplicate(&self, py: Python<'_>) -> WaitingShape {
        WaitingShape { frame: self.frame.duplicate(py), started: self.started, code: self.code.clone() }
    }
}

impl FrameShape {
    pub fn values(&self) -> usize {
        self.stack_values() + self.locals.len() + self.handled + self.cells
    }

    /// Whether the first local must be the first argument of the resume function: `super()` looks for it there.
    pub fn first_local_first(&self) -> bool {
        let code = &self.unit.code;
        self.locals.first() == Some(&0) && code.argcount > 0 && uses_super(code)
    }

    pub fn stack_values(&self) -> usize {
        self.values_below(self.stack.len())
    }

    /// How many of so many slots from the bottom of the stack have values: the place of the next one's among the frame's.
    pub fn values_below(&self, slot: usize) -> usize {
        self.stack.iter().take(slot).filter(|slot| **slot == SlotShape::Value).count()
    }

    pub fn key(&self) -> FrameKey {
        FrameKey {
            code: self.unit.address(),
            globals: self.globals.as_ptr() as usize,
            builtins: self.builtins.as_ptr() as usize,
            ip: self.ip,
            awaits: self.awaits,
            stack: self.stack.clone(),
            held: self.held,
            locals: self.locals.clone(),
            handled: self.handled,
            apart: self.apart.as_ref().map(|apart| (apart.level, apart.traceback.as_ptr() as usize)),
            blocks: self.blocks.clone(),
            cells: self.cells,
            skipped: self.skipped.as_ref().map(|skipped| (skipped.unit.address(), skipped.ip)),
            generator: self.generator,
            generators: self.generators.clone(),
            waiting: None,
        }
    }

    /// The generators that it refers to.
    pub fn generators(&self) -> impl Iterator<Item = GeneratorAt> + '_ {
        let slots = self.stack.iter().filter_map(|slot| match slot {
            SlotShape::Generator(at) => Some(*at),
            SlotShape::Value | SlotShape::Null | SlotShape::Finally(_) | SlotShape::Previous => None,
        });
        slots.chain(self.generators.iter().map(|(_, at)| *at))
    }

    /// As it is when the generators that it refers to are objects.
    pub fn with_real_generators(&self, py: Python<'_>) -> FrameShape {
        let mut frame = self.duplicate(py);
        for slot in frame.stack.iter_mut().filter(|slot| matches!(slot, SlotShape::Generator(_))) {
            *slot = SlotShape::Value;
        }
        frame.locals.extend(std::mem::take(&mut frame.generators).into_iter().map(|(local, _)| local));
        frame.locals.sort_unstable();
        frame
    }

    pub fn duplicate(&self, py: Python<'_>) -> FrameShape {
        FrameShape {
            unit: self.unit.clone(),
            globals: self.globals.clone_ref(py),
            builtins: self.builtins.clone_ref(py),
            ip: self.ip,
            awaits: self.awaits,
            stack: self.stack.clone(),
            held: self.held,
            locals: self.locals.clone(),
            handled: self.handled,
            apart: self.apart.as_ref().map(|apart| apart.duplicate(py)),
            blocks: self.blocks.clone(),
            cells: self.cells,
            skipped: self.skipped.clone(),
            generator: self.generator,
            generators: self.generators.clone(),
        }
    }
}

/// Whether a function may call `super()` without arguments, which reads its first local and its cell `__class__`. Without
/// that cell it raises, and the first local decides what it says; without positional arguments it says so before it looks at either.
pub fn uses_super(code: &sot_opcodes::Code) -> bool {
    code.freevars.iter().any(|name| name == "__class__") || code.names.iter().any(|name| name == "super")
}

/// A stack of frames, outermost first, and the frames of generators that those refer to.
pub struct Shape {
    pub frames: Vec<FrameShape>,
    pub waiting: Vec<WaitingShape>,
}

impl Shape {
    pub fn key(&self) -> Vec<FrameKey> {
        let waiting = self.waiting.iter().map(|w| FrameKey { waiting: Some(w.started), ..w.frame.key() });
        self.frames.iter().map(FrameShape::key).chain(waiting).collect()
    }

    pub fn duplicate(&self, py: Python<'_>) -> Shape {
        Shape {
            frames: self.frames.iter().map(|f| f.duplicate(py)).collect(),
            waiting: self.waiting.iter().map(|w| w.duplicate(py)).collect(),
        }
    }

    /// Whether this is for one run alone, as plain Python.
    pub fn is_for_once(&self) -> bool {
        self.frames.iter().any(|frame| frame.apart.is_some())
    }

    /// Names of the values, for reports and for the rewritten function's arguments.
    pub fn slot_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let depths = self.frames.len();
        let frames = self.frames.iter().enumerate().map(|(depth, frame)| match depths - 1 - depth {
            0 => (String::new(), frame),
            up => (format!("___up{up}_"), frame),
        });
        let waiting = self.waiting.iter().enumerate();
        for (prefix, frame) in frames.chain(waiting.map(|(i, w)| (format!("___generator{i}_"), &w.frame))) {
            names.extend((0..frame.stack_values()).map(|i| format!("{prefix}___stack_{i}")));
            let code = &frame.unit.code;
            names.extend(frame.locals.iter().map(|l| format!("{prefix}{}", code.varnames[*l as usize])));
            names.extend((0..frame.handled).map(|i| format!("{prefix}___handled_{i}")));
            let cells = code.cellvars.iter().chain(&code.freevars).take(frame.cells);
            names.extend(cells.map(|c| format!("{prefix}___cell_{c}")));
        }
        names
    }

    /// For the collector: what is not shared with other shapes.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        for frame in self.frames.iter().chain(self.waiting.iter().map(|waiting| &waiting.frame)) {
            visit(&frame.globals);
            visit(&frame.builtins);
            frame.apart.iter().for_each(|apart| visit(&apart.traceback));
        }
    }
}

/// Layout of one frame, as far as another continuation of it could differ.
#[derive(PartialEq, Eq, Hash)]
pub struct FrameKey {
    code: usize,
    globals: usize,
    builtins: usize,
    ip: usize,
    awaits: Option<Awaits>,
    stack: Vec<SlotShape>,
    held: usize,
    locals: Vec<u32>,
    handled: usize,
    apart: Option<(usize, usize)>,
    blocks: Vec<u32>,
    cells: usize,
    skipped: Option<(usize, usize)>,
    generator: bool,
    generators: Vec<(u32, GeneratorAt)>,
    /// Of a generator that waits: whether it has started.
    waiting: Option<bool>,
}

/// What the resume function of a continuation is called: `__resume_fn_3`.
pub fn resume_name(number: u32) -> String {
    format!("__resume_fn_{number}")
}
