//! The opcode executor: simulates frames over Variables and grows a graph.
//!
//! One executor is one capture. It starts from a virtual stack of frames (one for a function, several for a
//! continuation), runs instructions until the outermost frame returns or something says [`Stop`], and never
//! touches user state: it reads objects without running user code, and writes only to variables and the
//! journal.
//!
//! Invariants
//! - A handler that stops may have popped operands and mutated variables of its own making; `step` restores the
//!   operand stack and the journal, so that the instruction can run as plain Python.
//! - A stop that cannot be realised where it happened (inside a call that Python itself makes, inside a protected
//!   region) is realised at the call in the nearest outer frame where it can: the capture starts over with that
//!   call denied. Starting over is exact because capture has no effects.
//! - Nothing here knows a Python version: instructions are normalised by sot-opcodes.

mod attributes;
mod builtin_methods;
mod builtins;
mod calls;
mod classes;
mod frame;
mod graph;
mod handlers;
mod iteration;
mod mutation;
mod probe;
mod protocol;
mod wrap;

pub use frame::Frame;
pub use graph::{Graph, ReplayArg, ReplayCall};
pub use handlers::{Flow, Handler};
pub use wrap::is_constant_type;

use crate::backend::{Backend, TensorCheck, TensorMeta, UserFrame};
use crate::code_unit::CodeUnit;
use crate::objects::ObjectTable;
use crate::stop::{Reason, Stop, Why};
use crate::variables::{VarId, VarKind, Variable};
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use sot_opcodes::Op;
use sot_sideeffect::{Journal, VarRef};
use sot_tracker::{Check, Guard, GuardSet, ObjectId, Origin, Tracker, TrackerId, TrackerTable};
use std::sync::Arc;

/// Simulated instructions in one capture before it gives up.
const BUDGET: usize = 500_000;
/// Depth of calls that Python itself makes: each is a recursion of the executor.
const MAX_SYNC: usize = 40;
/// Depth of inlined calls.
const MAX_DEPTH: usize = 200;

/// A place in the bytecode at which the simulation must break instead of running the instruction.
pub type Site = (usize, usize);

/// Sites that earlier attempts of this capture found impossible, and why.
pub type Denied = HashMap<Site, Why>;

/// How a capture ended.
pub enum Outcome {
    Return(VarId),
    /// The instruction at the innermost frame's `ip` must run as Python.
    Break(Why),
}

/// A check of the backend, kept for the guard that names it by number.
pub struct CapturedCheck {
    pub check: Box<dyn TensorCheck>,
    pub meta: TensorMeta,
}

/// A dict whose whole content is guarded: what it held at capture.
pub struct Snapshot {
    pub dict: ObjectId,
    pub copy: Py<pyo3::types::PyDict>,
}

/// One capture.
pub struct Executor<'py> {
    pub py: Python<'py>,
    pub backend: Arc<dyn Backend>,
    pub objects: ObjectTable,
    vars: Vec<Variable>,
    /// Sourced mutable objects and tensors by address: the same object is the same variable.
    known: HashMap<usize, VarId>,
    /// The object that each sourced variable was wrapped from.
    sourced: HashMap<VarId, ObjectId>,
    pub trackers: TrackerTable,
    pub guards: GuardSet,
    pub tensor_checks: Vec<CapturedCheck>,
    pub snapshots: Vec<Snapshot>,
    pub journal: Journal,
    /// Addresses of iterators that a combined iterator (`zip`) advances.
    claimed: HashSet<usize>,
    pub graph: Graph,
    pub frames: Vec<Frame>,
    /// The outermost frame's code and globals: the rewritten function stands in for it.
    pub entry_unit: Option<Arc<CodeUnit>>,
    pub entry_globals: Option<ObjectId>,
    /// Frames that were entered by such calls: the stack's height below them.
    sync_depths: Vec<usize>,
    steps: usize,
    denied: Denied,
    computed: TrackerId,
}

impl<'py> Executor<'py> {
    pub fn new(py: Python<'py>, backend: Arc<dyn Backend>, denied: Denied) -> Executor<'py> {
        let mut trackers = TrackerTable::default();
        let computed = trackers.intern(Tracker::Computed);
        Executor {
            py,
            backend,
            objects: ObjectTable::default(),
            vars: Vec::with_capacity(256),
            known: HashMap::new(),
            sourced: HashMap::new(),
            trackers,
            guards: GuardSet::default(),
            tensor_checks: Vec::new(),
            snapshots: Vec::new(),
            journal: Journal::default(),
            claimed: HashSet::new(),
            graph: Graph::default(),
            frames: Vec::new(),
            entry_unit: None,
            entry_globals: None,
            sync_depths: Vec::new(),
            steps: 0,
            denied,
            computed,
        }
    }

    /// Number of simulated instructions so far.
    pub fn steps(&self) -> usize {
        self.steps
    }

    // ----- variables

    pub fn var(&self, id: VarId) -> &Variable {
        &self.vars[id.0 as usize]
    }

    pub fn var_mut(&mut self, id: VarId) -> &mut Variable {
        &mut self.vars[id.0 as usize]
    }

    fn add_var(&mut self, kind: VarKind, tracker: TrackerId) -> VarId {
        let id = VarId(self.vars.len() as u32);
        self.vars.push(Variable { kind, tracker, looked: false, valued: false });
        id
    }

    /// A variable that the simulation made.
    pub fn virtual_var(&mut self, kind: impl Into<VarKind>) -> VarId {
        let computed = self.computed;
        self.add_var(kind.into(), computed)
    }

    pub fn var_ref(id: VarId) -> VarRef {
        VarRef(id.0)
    }

    // ----- guards

    /// Whether a tracker names a path from the frame (and is not "computed").
    pub fn has_path(&self, tracker: TrackerId) -> bool {
        tracker != self.computed && self.trackers.is_reachable(tracker)
    }

    /// Leave a guard, with the current source line as its origin.
    pub fn guard(&mut self, tracker: TrackerId, check: Check) {
        let origin = self.frames.last().map(|frame| Origin {
            file: frame.unit.file.clone(),
            line: frame.unit.line(frame.ip),
            what: String::new(),
        });
        self.guards.add(Guard { tracker, check, origin });
    }

    pub fn constant_tracker(&mut self, object: ObjectId) -> TrackerId {
        self.trackers.intern(Tracker::Constant(object))
    }

    /// The tracker from which paths to parts of this variable start: the object itself once its identity is guarded.
    pub fn base_tracker(&mut self, var: VarId) -> TrackerId {
        let kind = self.var(var).kind.clone();
        match crate::variables::Operations::pinned(&kind, self) {
            Some(object) => {
                let id = self.objects.add(&object);
                self.constant_tracker(id)
            }
            None => self.var(var).tracker,
        }
    }

    // ----- stops

    /// A Python exception that the simulated operation raised: the instruction runs as Python and raises for real.
    pub fn would_raise(&self, error: &PyErr) -> Stop {
        Stop::brk(Reason::WouldRaise, error.get_type(self.py).name().map(|n| n.to_string()).unwrap_or_default())
    }

    /// An exception where none can be: run the frame as plain Python, and count a defect.
    pub fn internal(&self, error: &PyErr) -> Stop {
        Stop::fallback(Reason::InternalError, error.to_string())
    }

    // ----- frames

    pub fn frame(&self) -> &Frame {
        self.frames.last().expect("a frame")
    }

    pub fn frame_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a frame")
    }

    pub fn push(&mut self, var: VarId) {
        self.frame_mut().stack.push(var);
    }

    pub fn pop(&mut self) -> Result<VarId, Stop> {
        self.frame_mut().stack.pop().ok_or(Stop::fallback(Reason::InternalError, "stack underflow"))
    }

    /// Pop `n` operands, deepest first.
    pub fn pop_n(&mut self, n: usize) -> Result<Vec<VarId>, Stop> {
        let stack = &mut self.frame_mut().stack;
        match stack.len().checked_sub(n) {
            Some(at) => Ok(stack.split_off(at)),
            None => Err(Stop::fallback(Reason::InternalError, "stack underflow")),
        }
    }

    /// The n-th operand from the top, 1-based.
    pub fn peek(&self, n: usize) -> Result<VarId, Stop> {
        let stack = &self.frame().stack;
        stack.len().checked_sub(n).map(|at| stack[at]).ok_or(Stop::fallback(Reason::InternalError, "stack underflow"))
    }

    /// The lines of the user's program that are being simulated, innermost last.
    pub fn user_frames(&self) -> Vec<UserFrame> {
        self.frames
            .iter()
            .map(|f| UserFrame {
                file: f.unit.file.clone(),
                function: f.unit.function.clone(),
                line: f.unit.line(f.ip),
            })
            .collect()
    }

    pub fn push_frame(&mut self, frame: Frame) -> Result<(), Stop> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(Stop::fallback(Reason::Depth, ""));
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Simulate until the frame at `floor` returns.
    pub fn run(&mut self, floor: usize) -> Result<VarId, Stop> {
        loop {
            match self.step()? {
                Flow::Next => self.frame_mut().ip += 1,
                Flow::Jump(target) => self.frame_mut().ip = target,
                // The new frame starts at its own ip; the caller's still stands at the call.
                Flow::Entered => {}
                Flow::Return(value) => {
                    self.frames.pop();
                    if self.frames.len() == floor {
                        return Ok(value);
                    }
                    let caller = self.frame_mut();
                    caller.stack.push(value);
                    caller.ip += 1;
                }
            }
        }
    }

    /// Call something and simulate until it has returned: for calls that Python itself makes in the middle of an
    /// instruction (properties, `__init__`, `map`). A stop inside cannot be realised there.
    pub fn call_now(&mut self, callee: VarId, args: &crate::variables::Args) -> Result<VarId, Stop> {
        let floor = self.frames.len();
        match self.call(callee, args)? {
            crate::variables::Called::Value(value) => Ok(value),
            crate::variables::Called::Entered => {
                if self.sync_depths.len() >= MAX_SYNC {
                    return Err(Stop::fallback(Reason::Depth, "calls that Python itself makes"));
                }
                self.sync_depths.push(floor);
                let result = self.run(floor)?;
                self.sync_depths.pop();
                Ok(result)
            }
        }
    }

    fn step(&mut self) -> Result<Flow, Stop> {
        self.steps += 1;
        if self.steps > BUDGET {
            return Err(Stop::fallback(Reason::Budget, ""));
        }
        let depth = self.frames.len();
        let frame = self.frames.last().expect("a frame");
        let Some(instruction) = frame.unit.code.instrs.get(frame.ip) else {
            return Err(Stop::fallback(Reason::InternalError, "ran off the end of the code"));
        };
        let op: Op = instruction.op;
        if !self.denied.is_empty()
            && let Some(why) = self.denied.get(&(frame.unit.address(), frame.ip))
        {
            return Err(Stop::Break(why.clone()));
        }
        let saved: smallvec::SmallVec<[VarId; 16]> = frame.stack.as_slice().into();
        let mark = self.journal.mark();
        let result = handlers::run(self, op);
        if result.is_err() && self.sync_depths.is_empty() && self.frames.len() == depth {
            self.frame_mut().stack = saved.to_vec();
            self.journal.rollback_to(mark);
        }
        result
    }

    /// Simulate the frames that were pushed, to the end of the capture.
    ///
    /// `Err(Some(site))`: start over with this site denied. `Err(None)`: the frame runs as plain Python.
    pub fn execute(&mut self) -> Result<Outcome, (Option<Site>, Why)> {
        let why = match self.run(0) {
            Ok(value) => return Ok(Outcome::Return(value)),
            Err(Stop::Break(why)) if self.can_break_here() => return Ok(Outcome::Break(why)),
            Err(Stop::Break(why)) | Err(Stop::Fallback(why)) => why,
        };
        if why.reason == Reason::FrameInspection && self.frames.len() > 1 {
            let outermost = &self.frames[0];
            let site = (outermost.unit.address(), outermost.ip);
            return Err(((!self.denied.contains_key(&site)).then_some(site), why));
        }
        Err((self.outer_site(), why))
    }

    /// Whether the state at the innermost instruction can be handed to a continuation.
    fn can_break_here(&self) -> bool {
        self.sync_depths.is_empty() && !self.frames.iter().any(Frame::in_protected_region)
    }

    /// The call to deny: in the innermost frame that is not inside a call that Python itself makes, but one frame
    /// further out than the trouble.
    pub fn outer_site(&self) -> Option<Site> {
        let below = match self.sync_depths.first() {
            Some(floor) => *floor,
            None => self.frames.len().saturating_sub(1),
        };
        let frame = self.frames.get(below.checked_sub(1)?)?;
        let site = (frame.unit.address(), frame.ip);
        (!self.denied.contains_key(&site)).then_some(site)
    }
}
