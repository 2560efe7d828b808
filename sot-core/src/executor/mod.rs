//! The opcode executor: simulates frames over Variables and grows a graph.
//!
//! One executor is one capture. It starts from a virtual stack of frames (one for a function, several for a
//! continuation), runs instructions until the outermost frame returns or something says [`Stop`], and never
//! touches user state: it reads objects without running user code, and writes only to variables and the
//! journal.
//!
//! Invariants
//! - A step that stops leaves no trace: `step` rolls the whole state back (`state`), so that the instruction can run as
//!   plain Python.
//! - An exception of the program is a value (`exceptions`): a handler goes on with it.
//! - A call that Python makes in the middle of an instruction is a frame on the machine's stack with a pending operation, never a
//!   recursion of the driver. Where an instruction comes to code of the program and can enter no frame ([`Stop::Calls`]), it
//!   is taken back and simulated once more by its definition, and is a break if it has none.
//! - A stop that cannot be realised where it happened (where a `yield from` up to 3.10 has begun, in a function of the standard
//!   library) is realised at the call in the nearest outer frame where it can: the capture starts over with that
//!   call denied. Starting over is exact because capture has no effects.
//! - Nothing here knows a Python version: instructions are normalised by sot-opcodes.

mod acts;
mod anew;
mod appended;
mod asked_first;
mod attribute_dicts;
mod attributes;
mod bodies;
#[cfg(test)]
mod branches;
mod builtin_methods;
mod builtins;
mod byte_arrays;
mod calls;
mod class_methods;
mod class_writes;
mod classes;
mod clocks;
mod codecs;
mod collected;
mod compared;
mod copies;
mod coroutines;
mod deaths;
mod defined;
mod definitions;
mod deques;
mod dicts_of_c;
mod doubles;
mod draws;
mod ending;
mod exceptions;
mod extended;
mod extents;
mod flags;
mod flow;
mod found;
mod functions;
mod generators;
mod graph;
mod handlers;
mod hashed;
mod hashed_members;
mod heaps;
mod identity;
mod ids;
mod inspected;
mod iteration;
mod itertools;
mod joined;
mod kept;
mod kinds;
mod layers;
mod leaf;
mod lengths;
mod library;
mod lifetimes;
mod limits;
mod listed_names;
mod made_classes;
mod members;
mod membership;
mod metaclasses;
mod missing;
mod modes;
mod module_writes;
mod mutation;
mod namespaces;
mod natives;
mod numpy;
mod operated;
mod ordered;
mod overridden;
mod own_names;
mod parts;
mod parts_of_dicts;
mod parts_of_lists;
mod patterns;
#[cfg(debug_assertions)]
mod pictured;
mod places_in_classes;
mod protocol;
mod prototype_writes;
mod prototypes;
mod proxies;
mod reduced;
mod rehearsed;
mod rewritten;
mod searched;
mod set_methods;
mod sets;
mod slices;
mod state;
mod supers;
mod templates;
mod texts;
mod texts_of_c;
mod type_aliases;
mod value_types;
mod varying;
mod varying_places;
mod warned;
mod wrap;
mod written;

pub use definitions::prepare as prepare_definitions;
pub use flow::Flow;
pub use found::{Failed, Found};
pub use handlers::Handler;

use crate::awaits::Awaits;
use crate::backend::{Backend, GraphBuilder, Mode, UserFrame};
use crate::captured::Captured;
use crate::cpython::thread;
use crate::frame::{Frame, Site};
use crate::stop::{Reason, Stop, Why};
use crate::variables::{Nature, VarId, VarKind, Variable};
use exceptions::Unwound;
use hashbrown::{HashMap, HashSet};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use smallvec::SmallVec;
use sot_opcodes::Op;
use sot_sideeffect::VarRef;
use sot_tracker::{Check, ObjectId, TrackerId};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::Arc;

/// Simulated instructions in one capture before it gives up.
const BUDGET: usize = 500_000;
/// Simulated instructions in which nothing is computed on tensors, before it gives up: so many are seldom worth a capture.
const IDLE: usize = 50_000;
/// Parts of containers that are copied in the time of an instruction.
const COPIES_OF_A_STEP: usize = 256;
/// Depth of inlined calls.
const MAX_DEPTH: usize = 200;
/// Frames of the same code that a continuation was given. One more of them is called: a recursion that breaks at each depth would have
/// a continuation of its own for each.
const MAX_GIVEN_AGAIN: usize = 16;

/// One capture.
pub struct Executor<'py> {
    pub py: Python<'py>,
    pub backend: Arc<dyn Backend>,
    /// What was found out so far.
    captured: Captured,
    /// The backend's graph, as far as it has grown.
    builder: Option<Box<dyn GraphBuilder>>,
    /// The modes that the builder was told last.
    built_in: Vec<(Mode, ObjectId)>,
    /// The modes that there are guards of, beside the ambient ones.
    modes_guarded: Vec<Mode>,
    /// The operation that is being recorded takes extents that vary in the argument that is looked at.
    takes_extents: bool,
    /// Numbers that the operation which is being recorded takes at run time, whatever they are.
    takes_numbers: SmallVec<[VarId; 2]>,
    /// Objects that it takes at run time.
    objects_taken: SmallVec<[VarId; 2]>,
    /// The flags of tensors that the builder was told last, by number.
    built_flags: HashMap<usize, bool>,
    /// Sourced mutable objects and tensors by address: the same object is the same variable.
    known: HashMap<usize, VarId>,
    /// Constants that look-ups on classes that are made anew found, by address, and where.
    found_anew: HashMap<usize, TrackerId>,
    /// Dicts that are read or written below their owner, by address, and the owner if it is a variable.
    dicts_below: HashMap<usize, Option<VarId>>,
    /// Dicts whose keys are known to be plain strings, by address.
    dicts_of_names: HashSet<usize>,
    /// Dicts of modules to whose attributes the capture writes, and which code that is not simulated may read; the filters of warnings.
    modules_written: HashSet<sot_sideeffect::Target>,
    key_indexes: Vec<kinds::KeyIndex>,
    shadows: sets::Shadows,
    /// Objects like those that the capture made, by variable, and the histories that they have had.
    made: HashMap<VarId, (Rc<[VarId]>, Bound<'py, PyAny>)>,
    /// Whether it is guarded that there are no other threads.
    alone: bool,
    /// Coroutines remember nothing of who made them.
    without_origins: bool,
    /// Nobody is told of async generators.
    unheard_async: bool,
    /// Addresses of iterators that a combined iterator (`zip`) advances.
    claimed: HashSet<usize>,
    /// How many of the frames the capture started with: each is a real frame, or has a stand-in, when the break runs eagerly.
    pub given: usize,
    /// Changes of variables since the outermost mark.
    undo: Vec<state::Undo>,
    /// Copies of frames that no mark needs any more.
    spare: Vec<Frame>,
    /// What the instruction under way has said of itself.
    step: state::Step,
    /// What lists hold that are being sorted, by marks of the sorts, each of which one instruction makes and nobody else has.
    emptied: HashMap<VarId, Rc<Vec<VarId>>>,
    /// The frames for which values stand that nobody but the next instruction has.
    frames_asked: HashMap<VarId, usize>,
    /// Dicts that the capture made, and where keys were first taken out of them.
    gaps: HashMap<VarId, Site>,
    /// Class methods of C that were read, by class and name: how often.
    class_methods: HashMap<(usize, String), usize>,
    /// Keys and members that were found with their hashes in what was there before the frame.
    found_hashes: HashSet<VarId>,
    /// Dicts as they were when these keys of one hash were asked for, by the tuple of these keys, which nobody else has.
    searched: HashMap<VarId, searched::Searched>,
    /// Full marks that are held.
    marks: usize,
    /// Variables about which something was learned since they were made.
    #[cfg(debug_assertions)]
    learned: HashSet<VarId>,
    /// The instruction has come to code of the program where it could enter no frame: it is simulated once more, by definitions
    /// wherever there is one.
    by_definition: bool,
    /// An operation of the graph acts.
    acted: bool,
    /// Places that operations which act leave as they are.
    unchanged_by_acts: HashSet<TrackerId>,
    /// The error of an operation that has failed in a run.
    failed_with: Option<VarId>,
    /// The framework has refused a call of the function at this address: it is simulated by its body.
    by_body: Option<usize>,
    /// Calls of functions that are simulated by their bodies, and why the framework has refused them.
    bodies: HashMap<Site, Why>,
    /// Parts of containers that were copied because the container was written to.
    copied: usize,
    /// The length of the graph, and what was spent when it came to that.
    busy: (usize, usize),
    /// Frames that may be open at a time.
    room: usize,
    /// Questions that wait for answers of parts.
    nesting: u32,
    found: Found,
    /// How often numbers that vary were compared, by their place.
    comparisons: HashMap<TrackerId, u32>,
    /// Places of numbers that do not vary, as far as was asked.
    steady: HashSet<TrackerId>,
    /// Modules whose functions are not simulated.
    ignored: Vec<String>,
    /// Places that this attempt writes, and what was found there.
    replaced: Vec<rewritten::Replaced>,
    /// Given classes that the journal writes to, by address.
    classes_written: Vec<(usize, VarId)>,
    /// Sites that are silent, found in this attempt.
    silent: Vec<Site>,
    /// Frames that exceptions have passed.
    passings: u32,
    /// The outermost frame that must run as it is, in one piece.
    in_one_piece: Option<usize>,
    /// An instruction of a general capture that has asked for what varies.
    asked_what_varies: Option<Site>,
}

/// What was found out is read and written as the executor's own.
impl Deref for Executor<'_> {
    type Target = Captured;

    #[inline(always)]
    fn deref(&self) -> &Captured {
        &self.captured
    }
}

impl DerefMut for Executor<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Captured {
        &mut self.captured
    }
}

impl<'py> Executor<'py> {
    pub fn new(py: Python<'py>, backend: Arc<dyn Backend>, found: Found) -> Executor<'py> {
        Executor {
            py,
            backend,
            captured: Captured::default(),
            builder: None,
            built_in: Vec::new(),
            modes_guarded: Vec::new(),
            takes_extents: false,
            takes_numbers: SmallVec::new(),
            objects_taken: SmallVec::new(),
            built_flags: HashMap::new(),
            known: HashMap::new(),
            found_anew: HashMap::new(),
            alone: false,
            without_origins: false,
            unheard_async: false,
            dicts_of_names: HashSet::new(),
            modules_written: HashSet::new(),
            dicts_below: HashMap::new(),
            key_indexes: Vec::new(),
            shadows: sets::Shadows::default(),
            made: HashMap::new(),
            claimed: HashSet::new(),
            given: 0,
            undo: Vec::new(),
            spare: Vec::new(),
            step: state::Step::default(),
            emptied: HashMap::new(),
            frames_asked: HashMap::new(),
            gaps: HashMap::new(),
            class_methods: HashMap::new(),
            found_hashes: HashSet::new(),
            searched: HashMap::new(),
            marks: 0,
            #[cfg(debug_assertions)]
            learned: HashSet::new(),
            by_definition: false,
            acted: false,
            unchanged_by_acts: HashSet::new(),
            failed_with: None,
            by_body: None,
            bodies: HashMap::new(),
            copied: 0,
            busy: (0, 0),
            room: thread::frames_left(py).min(MAX_DEPTH),
            nesting: 0,
            found,
            comparisons: HashMap::new(),
            steady: HashSet::new(),
            ignored: crate::control::ignored_modules(py),
            replaced: Vec::new(),
            classes_written: Vec::new(),
            silent: Vec::new(),
            passings: 0,
            in_one_piece: None,
            asked_what_varies: None,
        }
    }

    /// The simulation is over: give up what was found out, and the backend's graph.
    pub fn into_captured(self) -> (Captured, Option<Box<dyn GraphBuilder>>) {
        (self.captured, self.builder)
    }

    // ----- variables

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

    /// Leave a guard, with the current source line as its origin.
    pub fn guard(&mut self, tracker: TrackerId, check: Check) {
        self.note_if_it_varies(tracker, &check);
        self.captured.guard(tracker, check);
    }

    /// The tracker from which paths to parts of this variable start: the object itself once its identity is guarded.
    pub fn base_tracker(&mut self, var: VarId) -> TrackerId {
        match self.var(var).kind.pinned() {
            Some(object) => self.constant_tracker(object),
            None => self.var(var).tracker,
        }
    }

    /// The object that a value is known to be by identity, as a guarded fact.
    pub fn pinned(&self, kind: &VarKind) -> Option<Bound<'py, PyAny>> {
        kind.pinned().map(|object| self.objects.get(self.py, object))
    }

    // ----- stops

    /// An exception where none can be: run the frame as plain Python, and count a defect.
    pub fn internal(&self, error: &PyErr) -> Stop {
        Stop::internal(error)
    }

    // ----- frames

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

    /// The lines of the user's program that are being simulated, innermost last.
    pub fn user_frames(&self) -> Vec<UserFrame> {
        self.frames
            .iter()
            .filter(|f| !f.is_hidden())
            .map(|f| UserFrame {
                file: f.unit.file.clone(),
                function: f.unit.function.clone(),
                line: f.unit.line(f.ip),
            })
            .collect()
    }

    /// Enter a frame. Where there are as many as the interpreter allows, the call is left to it.
    pub fn push_frame(&mut self, frame: Frame) -> Result<(), Stop> {
        let given = self.frames.iter().take(self.given);
        if self.frames.len() >= self.room
            || given.filter(|given| given.unit.object.is(&frame.unit.object)).count() >= MAX_GIVEN_AGAIN
        {
            return Err(Stop::brk(Reason::Depth, ""));
        }
        self.frames.push(frame);
        self.deepest = self.deepest.max(self.frames.len());
        Ok(())
    }

    /// Simulate until the outermost frame has ended.
    fn run(&mut self) -> Result<VarId, Stop> {
        loop {
            let flow = self.step()?;
            let delivered = match flow {
                Flow::Next => {
                    self.frame_mut().ip += 1;
                    continue;
                }
                Flow::Jump(target) => {
                    self.frame_mut().ip = target;
                    continue;
                }
                // The new frame starts at its own ip; the caller's still stands at the call.
                Flow::Entered(awaits) => {
                    let caller = self.frames.len() - 2;
                    self.frames[caller].awaits = awaits;
                    continue;
                }
                // The frame that goes on stands where it goes on.
                Flow::Placed => continue,
                Flow::Yield(value) => {
                    self.yielded()?;
                    if self.frames.is_empty() {
                        return Ok(value);
                    }
                    self.deliver(value)
                }
                Flow::Return(value) => {
                    let left = self.leave_frame(value, false);
                    self.note_taken_by_frame(left.as_ref());
                    if self.frames.is_empty() {
                        return Ok(value);
                    }
                    match left.and_then(|frame| frame.generator) {
                        Some(generator) => self.deliver_end(generator, value),
                        None => {
                            // What a `__next__` has given to a `yield from` of 3.8 to 3.10 is yielded at once.
                            if self.frame().yields_what_it_awaits() {
                                self.frame_mut().let_go_of_operands();
                                self.yielded()?;
                            }
                            if self.frames.is_empty() {
                                return Ok(value);
                            }
                            self.deliver(value)
                        }
                    }
                }
            };
            let gone_on = match delivered {
                Err(Stop::Raised(exception)) => self.raise_here(exception),
                other => other,
            };
            match gone_on {
                // The instruction that waited has begun: it cannot run as Python once more.
                Err(Stop::Break(why)) => return Err(Stop::Fallback(why)),
                Err(Stop::Calls) => return Err(Stop::fallback(Reason::UserCode, "what became of a call")),
                other => other?,
            }
        }
    }

    /// The innermost frame yields, and a `yield from` of 3.8 to 3.10 hands the item on.
    fn yielded(&mut self) -> Result<(), Stop> {
        self.suspend()?;
        while !self.frames.is_empty() && self.hands_on() {
            self.suspend()?;
        }
        Ok(())
    }

    fn hands_on(&self) -> bool {
        let frame = self.frame();
        frame.awaits == Awaits::Send && matches!(frame.unit.code.instrs[frame.ip].op, Op::YieldFrom)
    }

    /// The innermost frame gets the result that it awaits.
    fn deliver(&mut self, value: VarId) -> Result<(), Stop> {
        let frame = self.frame_mut();
        frame.let_go_of_operands();
        match frame.awaits {
            Awaits::Push | Awaits::Next | Awaits::Send | Awaits::Delegate => {
                frame.stack.push(value);
                frame.ip += 1;
            }
            Awaits::Iterator => {
                self.check_iterator(value)?;
                self.push(value);
                self.frame_mut().ip += 1;
            }
            Awaits::Drop => frame.ip += 1,
            Awaits::None | Awaits::NoneAgain => {
                let again = frame.awaits == Awaits::NoneAgain;
                if !self.constant_value(value).is_some_and(|v| v.is_none()) {
                    let class = self.class_of(value)?;
                    let name = compared::class_name(&class);
                    return Err(
                        self.raise_error::<PyTypeError>(&format!("__init__() should return None, not '{name}'"))
                    );
                }
                if !again {
                    self.frame_mut().ip += 1;
                }
            }
            Awaits::Again => frame.stack.push(value),
            Awaits::Bool => {
                self.check_truth(value)?;
                self.push(value);
            }
            Awaits::Decides => {
                self.check_truth(value)?;
                let truth = self.truth(value)?;
                handlers::decide(self, truth)?;
            }
            Awaits::Attribute => {
                self.pop()?;
                self.push(value);
                self.frame_mut().ip += 1;
            }
            Awaits::Method => {
                self.pop()?;
                handlers::push_callable(self, value);
                self.frame_mut().ip += 1;
            }
            Awaits::Callable => {
                handlers::push_callable(self, value);
                self.frame_mut().ip += 1;
            }
            Awaits::Matched => {
                let VarKind::Tuple(pair) = self.look(value)? else {
                    return Err(Stop::fallback(Reason::InternalError, "no pair"));
                };
                handlers::push_matched(self, pair.items[0], pair.items[1])?;
                self.frame_mut().ip += 1;
            }
            Awaits::Told => {
                let matched = self.unless_none(Some(value))?.is_some();
                let matched = self.fold_bool(matched)?;
                self.frame_mut().stack.extend([value, matched]);
                self.frame_mut().ip += 1;
            }
        }
        Ok(())
    }

    /// Call something whose result is that of the instruction, by whatever awaits it: where the handler has said so
    /// ([`state::Step::tail`]), the frame stays on the machine's stack. Nothing may be done with the result. Where nobody has said
    /// so, only what runs no code of the program can be called: see [`Stop::Calls`].
    pub fn call_tail(&mut self, callee: VarId, args: &crate::variables::Args) -> Result<VarId, Stop> {
        let tail = self.step.tail.take();
        match (self.call(callee, args)?, tail) {
            (crate::variables::Called::Value(value), _) => Ok(value),
            (crate::variables::Called::Entered(Awaits::Push), Some(awaits)) => Err(Stop::Entered(awaits)),
            (crate::variables::Called::Entered(_), Some(_)) => {
                Err(Stop::brk(Reason::UserCode, "a class in the place of a method"))
            }
            (crate::variables::Called::Entered(_), None) => Err(Stop::Calls),
        }
    }

    /// The frame that was pushed gives the result of the instruction, to whatever awaits it.
    pub(super) fn entered_tail<T>(&mut self, tail: Option<Awaits>) -> Result<T, Stop> {
        Err(tail.map_or(Stop::Calls, Stop::Entered))
    }

    fn step(&mut self) -> Result<Flow, Stop> {
        self.steps += 1;
        self.given = self.given.min(self.frames.len());
        let spent = self.steps + self.copied / COPIES_OF_A_STEP;
        let computed = self.graph.len();
        if computed != self.busy.0 {
            self.busy = (computed, spent);
        }
        if spent > BUDGET || spent - self.busy.1 > IDLE {
            return Err(Stop::fallback(Reason::Budget, ""));
        }
        if self.asked_what_varies.is_some() {
            return Err(Stop::fallback(Reason::Varies, ""));
        }
        let frame = self.frames.last().expect("a frame");
        let Some(instruction) = frame.unit.code.instrs.get(frame.ip) else {
            return Err(Stop::fallback(Reason::InternalError, "ran off the end of the code"));
        };
        let op: Op = instruction.op;
        self.stops_here()?;
        self.may_go_on(&op)?;
        let frame = self.frames.last().expect("a frame");
        let denied = match self.found.denied.is_empty() {
            true => None,
            false => self.found.denied.get(&frame.site()).cloned(),
        };
        #[cfg(feature = "test-hooks")]
        let noted = crate::simulated::wanted().then(|| (frame.unit.clone(), frame.ip));
        let mark = self.step_mark();
        // What an earlier one has left is none of this instruction's business.
        self.step = state::Step::default();
        let mut ran = match denied {
            Some(_) if self.calls_super_of_the_frame(&op) => Err(Stop::fallback(Reason::FrameInspection, "super()")),
            Some(why) => Err(Stop::Break(why)),
            None => handlers::run(self, op),
        };
        if let Err(Stop::Calls) = ran {
            self.rollback(&mark);
            self.step = state::Step::default();
            self.by_definition = true;
            ran = handlers::run(self, op);
            self.by_definition = false;
        }
        if let Err(Stop::Break(_)) = &ran
            && let Some(refused) = self.step.refused_call.take()
        {
            self.rollback(&mark);
            self.step = state::Step::default();
            ran = self.run_by_body(op, refused);
        }
        if let Err(stop) = &ran
            && self.is_worth_a_rehearsal(stop, op)
        {
            self.rollback(&mark);
            if let Some(exception) = self.rehearse(op) {
                ran = Err(Stop::Raised(exception));
            }
        }
        #[cfg(feature = "test-hooks")]
        if let (Some((unit, ip)), Ok(_) | Err(Stop::Entered(_) | Stop::Raised(_))) = (&noted, &ran) {
            crate::simulated::note(self.py, unit, *ip);
        }
        let flow = match ran {
            Ok(flow) => {
                self.note_taken_by_step(&mark);
                if let Flow::Entered(awaits) = flow {
                    self.hold_operands(&mark, awaits);
                }
                Ok(flow)
            }
            Err(Stop::Entered(awaits)) => {
                self.note_taken_by_step(&mark);
                self.hold_operands(&mark, awaits);
                return Ok(Flow::Entered(awaits));
            }
            Err(Stop::Raised(exception)) => {
                let handled = self.handled_for_finalizers();
                self.let_go_before_raise(&mark, &op);
                let flow = self.raise_in_step(exception, op);
                if let Ok(Flow::Placed) = flow {
                    self.note_changed_by_raise(&mark, handled);
                }
                flow
            }
            Err(Stop::Calls) => Err(Stop::brk(Reason::UserCode, "in the middle of an instruction")),
            stopped => stopped,
        };
        match &flow {
            Ok(_) => self.spend(mark),
            // It leaves the frames from the floor on.
            Err(Stop::Raised(_)) => {}
            Err(_) => self.rollback(&mark),
        }
        flow
    }

    /// The instruction raises. A break or a fallback: no frame has been left yet.
    fn raise_in_step(&mut self, exception: VarId, op: Op) -> Result<Flow, Stop> {
        match self.raise(exception, op.raises_again())? {
            Unwound::Handled => Ok(Flow::Placed),
            Unwound::Uncaught if op.raises_again() => Err(Stop::Raised(self.leave_generators(exception, true)?)),
            // No rewritten code could run it: it raises what was found.
            Unwound::Uncaught if op.names_a_variable() => Err(Stop::Raised(self.leave_generators(exception, false)?)),
            Unwound::Uncaught => Err(Stop::brk(Reason::WouldRaise, self.describe_exception(exception))),
        }
    }

    /// Something that came after the call of an instruction raises there. Nothing can be taken back, so that without a handler
    /// the rewritten code raises what was found.
    fn raise_here(&mut self, exception: VarId) -> Result<(), Stop> {
        match self.raise(exception, false)? {
            Unwound::Handled => Ok(()),
            Unwound::Uncaught => Err(Stop::Raised(self.leave_generators(exception, false)?)),
        }
    }

    /// What `__iter__` gave.
    pub(crate) fn check_iterator(&mut self, value: VarId) -> Result<(), Stop> {
        match self.look(value)? {
            VarKind::Iterator(_) => return Ok(()),
            VarKind::Generator(generator) if generator.is_iterator() => return Ok(()),
            _ => {}
        }
        let class = self.class_of(value)?;
        if self.class_lookup(&class, "__next__")?.is_some() {
            return Ok(());
        }
        let name = compared::class_name(&class);
        Err(self.raise_error::<PyTypeError>(&format!("iter() returned non-iterator of type '{name}'")))
    }

    /// What `__bool__` gave.
    pub(crate) fn check_truth(&mut self, value: VarId) -> Result<(), Stop> {
        let class = self.class_of(value)?;
        if class.is(self.py.get_type::<PyBool>()) {
            return Ok(());
        }
        let name = compared::class_name(&class);
        Err(self.raise_error::<PyTypeError>(&format!("__bool__ should return bool, returned {name}")))
    }

    fn describe_exception(&self, exception: VarId) -> String {
        match &self.var(exception).kind {
            VarKind::Exception(e) => {
                let class = self.objects.get(self.py, e.class);
                class.getattr("__name__").and_then(|n| n.extract()).unwrap_or_default()
            }
            _ => String::new(),
        }
    }
}
