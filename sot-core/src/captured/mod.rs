//! What a simulation has found out: the frames, the values and where they came from, the guards, the journal, the graph.
//!
//! The executor owns one while it simulates, and gives it up at the stop: from then on it is a value that nothing changes.
//! The rewriter makes code of it, [`crate::guards`] make a program of its guards, reports show it; none of them can ask the
//! machine anything, or run it. What they ask is answered here, from what is there: no question leaves a guard.
//!
//! The one thing that comes after the stop is what only the whole can tell ([`Captured::settle_guards`]), and it is said
//! before anybody is given the value: before it is rewritten, and before anybody reads the guards.
//!
//! There is no Python in this but the objects of the table: who needs them brings the token.

mod anew;
mod apart;
mod graph;
mod histories;
mod lifetimes;
mod parts;
mod places;
mod standing;

pub use graph::{Behind, Callee, Claim, Flag, Graph, GraphInput, GraphMark, Told, What};
pub use histories::{Answers, Histories, SetLayout, SetOperand, SetStep};
pub(crate) use lifetimes::SEARCHED;
pub use lifetimes::Watched;
pub(crate) use lifetimes::{Dropping, Released, Taken};
pub use parts::Attribute;
pub use places::Written;
pub(crate) use places::{Place, class_place, is_replaceable, known_by, place, place_of_extent, written_at};

use crate::backend::{Mode, TensorCheck, TensorMeta};
use crate::code_unit::CodeUnit;
use crate::frame::{self, Frame};
use crate::objects::ObjectTable;
use crate::stop::{Reason, Stop, Why};
use crate::type_facts;
use crate::variables::{GeneratorState, GeneratorVar, Iteration, VarId, VarKind, Variable};
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet, PyTuple, PyType};
use sot_sideeffect::Journal;
use sot_tracker::{Arithmetic, Check, Guard, GuardSet, ObjectId, Origin, Tracker, TrackerId, TrackerTable};
use std::sync::Arc;

/// How a capture ended.
pub enum Outcome {
    Return(VarId),
    /// The instruction at the innermost frame's `ip` must run as Python.
    Break(Why),
    /// An exception that a handler has seen leaves the outermost frame.
    Raise(VarId),
}

/// Ways to go on that numbers may decide which are about to be drawn: each is a capture.
const WAYS: u64 = 4;

/// A number that is drawn ([`crate::draws`]).
#[derive(Clone, Copy)]
pub(crate) struct Drawn {
    /// The call.
    pub(crate) site: frame::Site,
    /// How many different ones there are, if they are few enough to be told.
    pub(crate) outcomes: Option<u64>,
}

/// A clock that new code asks ([`crate::clocks`]).
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    /// The path of what it says.
    pub(crate) said: TrackerId,
    pub(crate) function: ObjectId,
    /// The call.
    pub(crate) site: frame::Site,
    /// So many statements of the graph come before it.
    pub(crate) behind: usize,
}

/// A check of the backend, kept for the guard that names it by number.
pub struct CapturedCheck {
    pub check: Arc<dyn TensorCheck>,
    pub meta: TensorMeta,
}

/// A dict whose whole content is guarded: what it held at capture.
pub struct Snapshot {
    pub dict: ObjectId,
    pub copy: Py<PyDict>,
}

/// Whose `__getattribute__` reads attributes as the simulation did, where the class has one of the program.
#[derive(Clone, Copy)]
pub(crate) enum PlainLookup {
    OfObject,
    OfType,
}

impl PlainLookup {
    /// For values of `class`, which may be a metaclass.
    pub(crate) fn of(class: &Bound<'_, PyType>) -> Self {
        let meta = class.is_subclass_of::<PyType>().unwrap_or(false);
        if meta { Self::OfType } else { Self::OfObject }
    }
}

/// See the module.
pub struct Captured {
    pub objects: ObjectTable,
    pub(crate) vars: Vec<Variable>,
    /// The object that each sourced variable was wrapped from.
    pub(crate) sourced: HashMap<VarId, ObjectId>,
    pub trackers: TrackerTable,
    /// Frames of a break whose variables somebody may look at behind it.
    pub(crate) looked_at: Vec<bool>,
    /// Places below constant objects that hold what the program could see die ([`Captured::is_under_constant`]).
    pub(crate) passing: HashSet<TrackerId>,
    /// Places below constant objects that hold another object after each call.
    pub(crate) exchanged: HashSet<Written>,
    /// Lists and dicts that were read without a look at the whole: their length, an item.
    pub(crate) asked_in_part: HashSet<VarId>,
    /// Where lists and deques from before were found, and how long they were; and where iterators that came to their end, and how
    /// many items they had left.
    pub(crate) lengths: Vec<(TrackerId, usize)>,
    /// What leads to objects whose class has a `__getattribute__` of its own: new code must not ask it.
    pub(crate) overridden: HashMap<TrackerId, PlainLookup>,
    /// What leads to instances of classes that extend a builtin type, and that type: new code reads their items by its methods.
    pub(crate) extending: HashMap<TrackerId, ObjectId>,
    /// Classes that may be others at each call, made by the same code, and what was found in them: by the object, its variable.
    pub(crate) anew: HashMap<ObjectId, VarId>,
    /// A guard or new code names one of these, or a path starts at one: the capture is of no use.
    pub(crate) names_anew: bool,
    pub guards: GuardSet,
    /// Numbers that vary, and the places by which that is known.
    pub(crate) varying: HashMap<TrackerId, Place>,
    /// Tensors of which the extents along these axes vary, by address.
    pub(crate) free_axes: HashMap<usize, Vec<usize>>,
    /// The program has said of a tensor that its extents vary.
    pub(crate) marked: bool,
    /// The capture has come to where the framework needs extents that are fixed.
    pub(crate) needs_fixed_extents: Option<Why>,
    /// As these, of extents that are numbers of the program.
    pub(crate) needs_fixed_numbers: bool,
    /// No operation may act: there would be no going on behind it.
    pub(crate) needs_no_acts: bool,
    /// The break is before its instruction, which is the first that a continuation runs.
    pub(crate) stops_before: bool,
    /// The instruction of the break raises this error, which an operation of it has raised in a run.
    pub(crate) failed: Option<VarId>,
    /// The frame runs as plain Python because nothing in it is for a graph, which is no loss that anybody is told of.
    pub(crate) is_plain_by_nature: bool,
    /// Numbers that are drawn, and the calls that draw them.
    pub(crate) draws: HashMap<TrackerId, Drawn>,
    /// In program order.
    pub(crate) clocks: Vec<Clock>,
    /// What was decided by such numbers, and the ways that there are to go on.
    decided: (Vec<TrackerId>, u64),
    /// The generators of bits below the streams that were drawn from, with the stream: two streams may share one.
    pub(crate) drawn_from: Vec<(ObjectId, ObjectId)>,
    /// The calls whose number a guard is on.
    pub(crate) relied_on: Vec<frame::Site>,
    /// Where different objects were found that hashing or comparing told apart by nothing but their identity: members of sets, keys.
    pub(crate) by_identity: Vec<(TrackerId, ObjectId)>,
    /// The hashes that keys and members were stored with, where they are what code of the program said: each the same everywhere.
    pub(crate) hashes: HashMap<VarId, isize>,
    /// What the guards name by number of a check.
    pub tensor_checks: Vec<CapturedCheck>,
    /// Dicts that must be as they were.
    pub snapshots: Vec<Snapshot>,
    pub journal: Journal,
    /// The ambient modes that the journal changes, and what they are before.
    pub(crate) modes: Vec<(Mode, ObjectId)>,
    /// The flags of tensors that the journal sets.
    pub(crate) flags: Vec<Flag>,
    pub histories: Histories,
    /// Containers whose `repr` was begun by the capture and is under way at the break, outermost first.
    pub writing: Vec<VarId>,
    pub graph: Graph,
    /// What the framework kept beside tensors when the frame began, read by read: None, or a tensor.
    pub kept: Vec<Option<TensorMeta>>,
    /// Where. Whoever asks guards again behind an operation that acts leaves these places out: no part of the program that is still to come
    /// reads them.
    pub of_the_start: HashSet<TrackerId>,
    /// Innermost last, each where it stands.
    pub frames: Vec<Frame>,
    /// The outermost frame's code and globals: the rewritten function stands in for it.
    pub entry_unit: Option<Arc<CodeUnit>>,
    pub entry_globals: Option<ObjectId>,
    /// What a continuation received, by argument slot.
    pub(crate) received: Vec<VarId>,
    /// The most frames that were open at a time: eager has as many.
    pub deepest: usize,
    /// Simulated instructions so far.
    pub(crate) steps: usize,
    pub(crate) watched: Watched,
    /// The instances whose parts these variables are, and that they are for new code.
    pub(crate) wholes: HashMap<VarId, VarId>,
    /// The call that made a generator in disguise which turned out to be asked what it cannot answer.
    pub(crate) unmasked: Option<Option<frame::Site>>,
    pub(crate) computed: TrackerId,
}

impl Default for Captured {
    fn default() -> Captured {
        let mut trackers = TrackerTable::default();
        let computed = trackers.intern(Tracker::Computed);
        Captured {
            objects: ObjectTable::default(),
            vars: Vec::with_capacity(256),
            sourced: HashMap::new(),
            trackers,
            looked_at: Vec::new(),
            passing: HashSet::new(),
            exchanged: HashSet::new(),
            asked_in_part: HashSet::new(),
            lengths: Vec::new(),
            overridden: HashMap::new(),
            extending: HashMap::new(),
            anew: HashMap::new(),
            names_anew: false,
            guards: GuardSet::default(),
            varying: HashMap::new(),
            free_axes: HashMap::new(),
            marked: false,
            needs_fixed_extents: None,
            needs_fixed_numbers: false,
            needs_no_acts: false,
            stops_before: false,
            failed: None,
            is_plain_by_nature: false,
            draws: HashMap::new(),
            clocks: Vec::new(),
            decided: (Vec::new(), 1),
            drawn_from: Vec::new(),
            relied_on: Vec::new(),
            by_identity: Vec::new(),
            hashes: HashMap::new(),
            tensor_checks: Vec::new(),
            snapshots: Vec::new(),
            journal: Journal::default(),
            modes: Vec::new(),
            flags: Vec::new(),
            histories: Histories::default(),
            writing: Vec::new(),
            graph: Graph::default(),
            kept: Vec::new(),
            of_the_start: HashSet::new(),
            frames: Vec::new(),
            entry_unit: None,
            entry_globals: None,
            received: Vec::new(),
            deepest: 0,
            steps: 0,
            watched: Watched::default(),
            wholes: HashMap::new(),
            unmasked: None,
            computed,
        }
    }
}

impl Captured {
    /// Whether extents vary that the program or the framework may ask for.
    pub(crate) fn extents_vary(&self) -> bool {
        !self.free_axes.is_empty() || !self.graph.own.is_empty()
    }

    /// Number of simulated instructions so far.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// What a changed mode is before the capture.
    pub(crate) fn mode_at_entry(&self, mode: Mode) -> Option<ObjectId> {
        self.modes.iter().find(|(known, _)| *known == mode).map(|(_, value)| *value)
    }

    /// The value that an entry of the journal gives a mode or a flag.
    pub(crate) fn mode_value(&self, value: VarId) -> ObjectId {
        match &self.var(value).kind {
            VarKind::Constant(constant) => constant.object,
            _ => unreachable!("values of modes are constants"),
        }
    }

    // ----- values and origins

    pub fn var(&self, id: VarId) -> &Variable {
        &self.vars[id.0 as usize]
    }

    /// Whether a tracker names a path from the frame (and is not "computed").
    pub fn has_path(&self, tracker: TrackerId) -> bool {
        tracker != self.computed && self.trackers.is_reachable(tracker)
    }

    pub(crate) fn is_constant(&self, tracker: TrackerId) -> bool {
        self.trackers.get(tracker).is_constant()
    }

    /// Whether a path starts at a constant object rather than at a slot of the frame, and what lies on it is alive anyway. An
    /// object whose death the program could see belongs to its place alone: neither guards nor code may hold it, so that it
    /// and all below are found by their path, as what is given in a slot is.
    pub fn is_under_constant(&self, tracker: TrackerId) -> bool {
        let root = self.trackers.root(tracker);
        self.is_constant(root) && !self.is_passing(tracker)
    }

    /// Whether a path leads to, or over, an object below a constant one that the program could see die.
    pub(crate) fn is_passing(&self, tracker: TrackerId) -> bool {
        !self.passing.is_empty() && self.trackers.path(tracker).iter().any(|step| self.passing.contains(step))
    }

    /// The object that a variable was wrapped from, or is by nature.
    pub fn known_object(&self, var: VarId) -> Option<ObjectId> {
        let tracker = self.var(var).tracker;
        if let Some(object) = self.trackers.get(tracker).as_constant() {
            return Some(object);
        }
        self.sourced.get(&var).copied()
    }

    /// Whether a variable stands for a mutable object that existed before the frame.
    pub fn is_sourced_container(&self, var: VarId) -> bool {
        crate::variables::Nature::existed(&self.var(var).kind)
    }

    /// The instance of which this is the part that a builtin type keeps.
    pub fn whole_of(&self, part: VarId) -> Option<VarId> {
        self.wholes.get(&part).copied()
    }

    /// The exact class of a value, where it is known without asking the value: by a guard that was left, or by nature.
    pub fn known_class<'py>(&self, py: Python<'py>, var: VarId) -> Option<Bound<'py, PyAny>> {
        let variable = self.var(var);
        if let Some(object) = self.known_object(var) {
            let known = variable.looked || self.is_constant(variable.tracker);
            return known.then(|| self.objects.get_ref(py, object).get_type().into_any());
        }
        let own = |class: Option<ObjectId>, plain: Bound<'py, PyAny>| match class {
            Some(class) => self.objects.get(py, class),
            None => plain,
        };
        match &variable.kind {
            VarKind::Constant(c) => Some(self.objects.get_ref(py, c.object).get_type().into_any()),
            VarKind::Tuple(t) => Some(own(t.class, py.get_type::<PyTuple>().into_any())),
            VarKind::List(l) => Some(own(l.class, py.get_type::<PyList>().into_any())),
            VarKind::Dict(d) => Some(own(d.class, py.get_type::<PyDict>().into_any())),
            VarKind::Set(s) if s.frozen => Some(py.get_type::<PyFrozenSet>().into_any()),
            VarKind::Set(_) => Some(py.get_type::<PySet>().into_any()),
            VarKind::Instance(i) => Some(self.objects.get(py, i.class)),
            VarKind::Exception(e) => Some(self.objects.get(py, e.class)),
            _ => None,
        }
    }

    /// A value that is known for good as an object: the same at each call, a constant, or a tuple of such.
    pub fn plain_value<'py>(&self, py: Python<'py>, var: VarId) -> Option<Bound<'py, PyAny>> {
        if let Some(object) = self.trackers.get(self.var(var).tracker).as_constant() {
            return Some(self.objects.get(py, object));
        }
        match &self.var(var).kind {
            VarKind::Constant(c) => Some(self.objects.get(py, c.object)),
            VarKind::Slice(s) => {
                let parts: Option<Vec<_>> = s.parts.iter().map(|part| self.plain_value(py, *part)).collect();
                type_facts::slice_of(py, &parts?).ok()
            }
            VarKind::Tuple(t) if t.class.is_none() && !self.found_outside(var) => {
                let items: Option<Vec<_>> = t.items.iter().map(|item| self.plain_value(py, *item)).collect();
                PyTuple::new(py, items?).ok().map(Bound::into_any)
            }
            _ => None,
        }
    }

    /// Whether a callable is a raw method of a class written in C, which its own `__get__` binds.
    pub fn binds_by_get(&self, py: Python<'_>, function: VarId) -> bool {
        matches!(&self.var(function).kind, VarKind::Builtin(b) if type_facts::is_method_of_c(self.objects.get_ref(py, b.object)))
    }

    // ----- guards

    pub fn constant_tracker(&mut self, object: ObjectId) -> TrackerId {
        self.trackers.constant(object)
    }

    /// Leave a guard, with the current source line as its origin.
    pub fn guard(&mut self, tracker: TrackerId, check: Check) {
        if !self.anew.is_empty() && !self.has_path(tracker) {
            return;
        }
        self.note_if_anew(tracker, &check);
        if self.is_said(tracker) {
            return self.note_if_said(tracker, &check);
        }
        self.note_if_drawn(tracker, &check);
        let origin = self.shown_frame().map(|frame| Origin {
            file: frame.unit.file.clone(),
            line: frame.unit.line(frame.ip),
            what: String::new(),
        });
        self.guards.add(Guard { tracker, check, origin });
    }

    /// A guard on a number that is drawn depends on the value, unless it is on the type. It may, where few ways to go on come of it.
    fn note_if_drawn(&mut self, tracker: TrackerId, check: &Check) {
        if self.draws.is_empty() || matches!(check, Check::TypeIs(_)) || self.decided.0.contains(&tracker) {
            return;
        }
        let path = self.trackers.path(tracker);
        let drawn: Vec<Drawn> = path.into_iter().filter_map(|step| self.draws.get(&step).copied()).collect();
        if drawn.is_empty() {
            return;
        }
        let ways = match self.trackers.get(tracker) {
            Tracker::Arithmetic { op, .. } if op.is_comparison() || *op == Arithmetic::Bool => Some(2),
            _ => drawn.iter().try_fold(1u64, |ways, drawn| ways.checked_mul(drawn.outcomes?)),
        };
        match ways.and_then(|ways| ways.checked_mul(self.decided.1)).filter(|ways| *ways <= WAYS) {
            Some(ways) => {
                self.decided.0.push(tracker);
                self.decided.1 = ways;
            }
            None => self.relied_on.extend(drawn.iter().map(|drawn| drawn.site)),
        }
    }

    /// Guards never ask what a clock says: one that needs no guard is left out, else the clock runs as Python.
    fn note_if_said(&mut self, tracker: TrackerId, check: &Check) {
        if matches!(check, Check::TypeIs(_)) && self.is_of_one_type(tracker) {
            return;
        }
        let path = self.trackers.path(tracker);
        let said = self.clocks.iter().filter(|clock| path.contains(&clock.said));
        self.relied_on.extend(said.map(|clock| clock.site));
    }

    /// Whether what is computed of clocks is there whatever they say, and of the type that it has now.
    fn is_of_one_type(&self, tracker: TrackerId) -> bool {
        use Arithmetic::*;
        let Tracker::Arithmetic { op, left, right } = *self.trackers.get(tracker) else { return true };
        let is_constant = |at: TrackerId| self.trackers.get(at).is_constant();
        let divides = matches!(op, TrueDivide | FloorDivide | Remainder | RoundTo | Format);
        let known = matches!(op, Add | Subtract | Multiply | Int | Float | Round | Str | Repr) || divides;
        let fits = |at: TrackerId| is_constant(at) || self.is_said(at);
        known && fits(left) && right.is_none_or(|right| if divides { is_constant(right) } else { fits(right) })
    }

    /// Clocks that are asked between two statements of the graph run as Python.
    pub(crate) fn leave_clocks_in_between(&mut self) {
        let all = self.graph.statements.len();
        let between = self.clocks.iter().filter(|clock| clock.behind > 0 && clock.behind < all);
        self.relied_on.extend(between.map(|clock| clock.site));
    }

    fn is_said(&self, tracker: TrackerId) -> bool {
        self.is_said_by_clock(tracker, false) || self.is_said_by_clock(tracker, true)
    }

    /// Whether a path starts at a clock, at one that is asked behind the graph if it is `behind`.
    pub(crate) fn is_said_by_clock(&self, tracker: TrackerId, behind: bool) -> bool {
        if self.clocks.iter().all(|clock| (clock.behind > 0) != behind) {
            return false;
        }
        let path = self.trackers.path(tracker);
        self.clocks.iter().any(|clock| (clock.behind > 0) == behind && path.contains(&clock.said))
    }

    // ----- frames

    pub fn frame(&self) -> &Frame {
        self.frames.last().expect("a frame")
    }

    /// The innermost frame of the program.
    pub fn shown_frame(&self) -> Option<&Frame> {
        self.frames.iter().rfind(|frame| !frame.is_hidden())
    }

    /// The n-th operand from the top, 1-based.
    pub fn peek(&self, n: usize) -> Result<VarId, Stop> {
        let stack = &self.frame().stack;
        stack.len().checked_sub(n).map(|at| stack[at]).ok_or(Stop::fallback(Reason::InternalError, "stack underflow"))
    }

    /// The exception that is being handled: of the innermost frame that handles one.
    pub fn handled(&self) -> Option<VarId> {
        self.frames.iter().rev().find_map(|f| f.handled.last().copied())
    }

    /// What finalizers that run now are told: definitions catch exceptions as C does, which handles none.
    pub(crate) fn handled_for_finalizers(&self) -> Option<VarId> {
        handled_by(&self.frames)
    }

    // ----- generators

    /// Whether a frame delegates to what ends with it: another generator, or whatever may have a `close`.
    pub(crate) fn delegates(&self, frame: &Frame) -> bool {
        frame.delegate().is_some_and(|to| match &self.var(to).kind {
            VarKind::Iterator(iterator) => matches!(iterator.state, Iteration::Real { .. }),
            _ => true,
        })
    }

    /// Whether the end of what a frame delegates to could be seen.
    fn end_is_seen(&self, delegate: VarId, reachable: &impl Fn(VarId) -> bool) -> bool {
        !matches!(self.var(delegate).kind, VarKind::Generator(_)) || reachable(delegate)
    }

    /// A generator in disguise that new code would have to build as what it stands for, and the call that made it. `used`: by new
    /// code; `carried`: as a frame, over the break.
    pub fn unmasked(&self, used: impl Fn(VarId) -> bool, carried: &[VarId]) -> Option<Option<frame::Site>> {
        if self.unmasked.is_some() {
            return self.unmasked;
        }
        let named = |var: VarId| {
            let shown = self.frames.iter().filter(|frame| !frame.is_hidden());
            shown.flat_map(|frame| frame.locals.iter().chain(&frame.cells).flatten()).any(|held| *held == var)
        };
        self.vars.iter().enumerate().find_map(|(i, v)| {
            let VarKind::Generator(generator) = &v.kind else { return None };
            generator.disguise()?;
            let var = VarId(i as u32);
            let goes_on = carried.contains(&var) || matches!(generator.state, GeneratorState::Running);
            let seen = used(var) || goes_on && (named(var) || !generator.stays_in_disguise());
            seen.then_some(generator.made)
        })
    }

    /// One of these generators, which go on as frames behind a break, whose clean-up a traceback puts off: somebody may hold it, and
    /// with it the frame in whose variable the generator is.
    pub fn kept_by_traceback(&self, carried: &[VarId]) -> Option<Option<frame::Site>> {
        let shown = self.frames.iter().filter(|frame| !frame.caught.is_empty() && frame.generator.is_none());
        let mut held = shown.flat_map(|frame| frame.locals.iter().chain(&frame.cells).flatten());
        held.find_map(|var| match &self.var(*var).kind {
            VarKind::Generator(generator) if carried.contains(var) && self.may_clean_up(*var) => Some(generator.made),
            _ => None,
        })
    }

    /// Generators that nobody can reach any more, and that wait inside a protected region, whose clean-up would have to run
    /// when they die, or for a generator that can be reached, which would end.
    pub fn abandoned_generator(&self, reachable: impl Fn(VarId) -> bool) -> Option<Option<frame::Site>> {
        self.vars.iter().enumerate().find_map(|(i, v)| match &v.kind {
            VarKind::Generator(GeneratorVar { state: GeneratorState::Suspended(frame), made, .. })
                if !reachable(VarId(i as u32))
                    && (frame.catches()
                        || self.delegates(frame)
                            && frame.delegate().is_some_and(|to| self.end_is_seen(to, &reachable))) =>
            {
                Some(*made)
            }
            // Nobody has awaited it, and nobody will: a warning says so.
            VarKind::Generator(coroutine @ GeneratorVar { state: GeneratorState::New(_), made, .. })
                if coroutine.is_coroutine() && !reachable(VarId(i as u32)) =>
            {
                Some(*made)
            }
            _ => None,
        })
    }
}

/// The exception that the innermost of these frames of the program handles.
pub(crate) fn handled_by(frames: &[Frame]) -> Option<VarId> {
    frames.iter().rev().filter(|frame| !frame.is_hidden()).find_map(|frame| frame.handled.last().copied())
}
