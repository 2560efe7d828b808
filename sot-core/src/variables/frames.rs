//! What frames are made of or leave behind, and marks on their stacks.

use super::*;
use crate::code_unit::CodeUnit;
use crate::frame::{Finally, Frame};
use crate::user_frames::Standing;
use sot_opcodes::CodeFlags;
use std::rc::Rc;
use std::sync::Arc;

/// A variable shared between a function and the functions inside it.
#[derive(Clone, Debug)]
pub struct CellVar {
    /// The content as the simulation knows it. For a sourced cell, `None` also means "not read yet".
    pub content: Option<VarId>,
    /// The cell itself, if it existed before the frame.
    pub object: Option<ObjectId>,
    /// The content is known (read or written); always true for a virtual cell.
    pub known: bool,
}

impl Nature for CellVar {
    fn kind_name(&self) -> &'static str {
        "a cell"
    }

    fn existed(&self) -> bool {
        self.object.is_some()
    }
}

/// A generator: it owns the frame that it will go on in.
#[derive(Clone, Debug)]
pub struct GeneratorVar {
    pub unit: Arc<CodeUnit>,
    pub state: GeneratorState,
    /// The call that made it: the place to deny where it cannot be kept. `None`: an earlier capture has made it.
    pub made: Option<(usize, usize)>,
    /// Whether another one has ever delegated to it.
    pub delegated: bool,
}

/// Where a generator stands.
#[derive(Clone, Debug)]
pub enum GeneratorState {
    /// Not started: the frame stands at its first instruction.
    New(Rc<Frame>),
    /// The frame stands at the yield.
    Suspended(Rc<Frame>),
    Running,
    Finished,
}

impl GeneratorVar {
    /// The frame, unless it runs or has ended.
    pub fn frame(&self) -> Option<&Rc<Frame>> {
        match &self.state {
            GeneratorState::New(frame) | GeneratorState::Suspended(frame) => Some(frame),
            GeneratorState::Running | GeneratorState::Finished => None,
        }
    }
}

impl GeneratorVar {
    /// The class of itertools that it stands for.
    pub fn disguise(&self) -> Option<&str> {
        self.unit.disguise()
    }

    /// Whether it is of class `coroutine`.
    pub fn is_coroutine(&self) -> bool {
        self.unit.code.flags.contains(CodeFlags::COROUTINE)
    }

    /// Whether it is of class `async_generator`.
    pub fn is_async(&self) -> bool {
        self.unit.code.flags.contains(CodeFlags::ASYNC_GENERATOR)
    }

    /// Whether `next` may ask it.
    pub fn is_iterator(&self) -> bool {
        !self.is_coroutine() && !self.is_async()
    }

    /// Whether it stands for what one step of an async generator is awaited by, which hands on what is sent.
    pub fn is_async_step(&self) -> bool {
        self.disguise().is_some_and(|class| class.starts_with("_async"))
    }

    /// Whether `await` takes it as it is: a coroutine, or a generator that `types.coroutine` has made one of.
    pub fn is_awaitable(&self) -> bool {
        self.unit.code.flags.intersects(CodeFlags::COROUTINE | CodeFlags::ITERABLE_COROUTINE)
    }

    /// Whether it may wait in a frame over a break, where the program cannot name it: a loop is asking it for its items. The
    /// state of one that is counted is another one after each item, and would have to be captured anew each time.
    pub fn stays_in_disguise(&self) -> bool {
        !self.unit.code.name.contains("__counted") && !matches!(self.state, GeneratorState::New(_))
    }
}

impl Nature for GeneratorVar {
    fn kind_name(&self) -> &'static str {
        "a generator"
    }
}

/// An exception: a value like others.
#[derive(Clone, Debug)]
pub struct ExceptionVar {
    pub class: ObjectId,
    /// The exception, if it existed before the frame.
    pub object: Option<ObjectId>,
    pub state: Rc<ExceptionState>,
}

/// What is known of a virtual exception.
#[derive(Clone, Default, Debug)]
pub struct ExceptionState {
    /// `args`, a tuple; `None` for a sourced one.
    pub args: Option<VarId>,
    /// `__cause__`; setting it also sets `__suppress_context__`.
    pub cause: Option<Option<VarId>>,
    pub context: Option<VarId>,
    /// It was raised while no simulated frame handled anything: its context is what their caller handles, if it does.
    pub context_of_caller: bool,
    /// What an AttributeError or NameError says it is about: its attributes `name` and `obj`.
    pub about: Vec<(&'static str, VarId)>,
    /// Frames that it left, innermost first: the entries of its traceback.
    pub passed: Vec<PassedFrame>,
    /// What its traceback was set to, below those entries.
    pub traceback: Option<VarId>,
    /// How many entries were left at times when its traceback was set to what it had been; `None`: none of them.
    pub cuts: Vec<Option<usize>>,
    /// Frames whose entries in its traceback are from before this capture, and that have ended.
    pub ended: Vec<EndedFrame>,
    /// What frames held that it left once more, whose entries in its traceback are from before this capture: it ends with those.
    pub outlives: Vec<VarId>,
    /// Of a group, what it says and holds.
    pub group: Option<GroupParts>,
}

/// `message` and `exceptions` of a group, which never change.
#[derive(Clone, Copy, Debug)]
pub struct GroupParts {
    pub message: VarId,
    /// A tuple.
    pub exceptions: VarId,
    /// Groups in groups.
    pub depth: usize,
}

/// A frame of this capture that an exception has left, or is handled in.
#[derive(Clone, Debug)]
pub struct PassedFrame {
    /// Each that is passed in this capture has another.
    pub number: u32,
    pub standing: Arc<Standing>,
    /// What it was when it ended. `None`: it goes on, or is not shown.
    pub end: Option<Rc<FrameEnd>>,
}

/// A frame of a traceback that was there before this capture.
#[derive(Clone, Debug)]
pub struct EndedFrame {
    pub unit: Arc<CodeUnit>,
    pub end: Rc<FrameEnd>,
}

/// A frame that has ended, as whoever holds its object finds it.
#[derive(Debug)]
pub struct FrameEnd {
    /// The instruction.
    pub ip: usize,
    pub locals: Vec<(u32, VarId)>,
    pub cells: Vec<(u32, VarId)>,
}

impl Nature for ExceptionVar {
    fn kind_name(&self) -> &'static str {
        "an exception"
    }

    fn existed(&self) -> bool {
        self.object.is_some()
    }
}

/// The traceback of an exception, as the program sees it at a moment.
#[derive(Clone, Debug)]
pub struct TracebackVar {
    pub exception: VarId,
    /// Frames of this capture that the exception had passed by then.
    pub passed: usize,
    /// How often its traceback had been cut by then.
    pub cuts: usize,
}

impl Nature for TracebackVar {
    fn kind_name(&self) -> &'static str {
        "a traceback"
    }
}

/// The NULL slot that CPython's call protocol keeps on the stack.
#[derive(Clone, Default, Debug)]
pub struct NullVar {
    /// 3.8: it is the state of a `finally` block instead.
    pub finally: Option<Finally>,
}

impl Nature for NullVar {
    fn kind_name(&self) -> &'static str {
        "NULL"
    }
}

/// The slot that keeps, while an exception is handled, which one was handled before (up to 3.10 three slots).
#[derive(Clone, Debug, Default)]
pub struct PreviousVar {
    /// Up to 3.10, of an exception that came to its handler in this capture: how many frames it had passed, and how often its
    /// traceback had been cut.
    pub came_with: Option<(usize, usize)>,
}

impl Nature for PreviousVar {
    fn kind_name(&self) -> &'static str {
        "the previous exception"
    }
}
