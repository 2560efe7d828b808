//! One capture, from slots to what came of it.
//!
//! Simulate; if something cannot be realised where it happened, start over with the call above it denied; if the code writes a
//! place whose content was taken for fixed, start over and find that content by its path; then rewrite.
//! The simulation gives up a [`Captured`]: nothing after it asks the machine. Whatever fails here ends in one that runs the original
//! code, guarded by what was read so far, so that other cases still get their chance.

use crate::backend::{AmbientCheck, Backend, Kind};
use crate::capture_all;
use crate::captured::{Captured, Outcome, Written};
use crate::code_unit::CodeUnit;
use crate::control;
use crate::cpython::{Slots, facts};
use crate::executor::{Executor, Found};
use crate::frame::{self, Frame};
use crate::libraries::comes_with_python;
use crate::marks::InputSpec;
use crate::rewrite::{GoOn, Head, Refused, Rewritten, rewrite};
use crate::shapes::{FrameShape, GeneratorAt, Shape, SlotShape, resume_name};
use crate::stats::STATS;
use crate::stop::{Inside, Reason, Stop, Why};
use crate::variables::{CellVar, GeneratorState, GeneratorVar, NullVar, PreviousVar, VarId, VarKind};
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::handling;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Attempts before the frame runs as plain Python.
const ATTEMPTS: usize = 64;

/// What is captured: a function's frame at its start, or a continuation.
pub enum Subject<'a, 'py> {
    /// `in_frames`: the code is to run in frames of any function of this code, which bring their cells.
    Function {
        function: &'a Bound<'py, PyAny>,
        in_frames: bool,
        /// What the program has said of the arguments, and how many slots are before them.
        spec: Option<(&'a Arc<InputSpec>, usize)>,
    },
    Continuation {
        number: u32,
        shape: &'a Shape,
    },
}

/// What a capture came to: the code that serves such calls, and everything that it depends on.
pub struct Capture {
    pub captured: Captured,
    pub became: Became,
    pub breaks: Vec<Break>,
    /// Names of the slots, for readers.
    pub slots: Vec<String>,
    pub ambient: Arc<dyn AmbientCheck>,
    pub started: Instant,
    /// Simulated instructions, those of all attempts.
    pub work: usize,
    /// Where operations of its graph act: what the same capture is made of once more.
    pub again: Option<Box<Found>>,
    /// What the program is to be told: it has promised that this would not happen.
    pub complaint: Option<String>,
}

/// What is to serve such calls.
pub enum Became {
    Code(Rewritten),
    /// The original: the new code would do nothing else.
    Nothing(Rewritten),
    /// The original, for the reason of the break.
    Fallback,
}

/// A graph break or fallback in the user's program.
#[derive(Clone)]
pub struct Break {
    pub why: Why,
    pub file: Arc<str>,
    pub line: u32,
    /// Columns in the line, where the code knows them: the first one, and the one behind the last.
    pub columns: Option<(u32, u32)>,
    pub function: Arc<str>,
    /// The whole frame runs as plain Python.
    pub fallback: bool,
}

impl Break {
    /// What texts call it.
    pub fn noun(&self) -> &'static str {
        if self.fallback { "fallback" } else { "break" }
    }
}

/// Why nothing was captured this time: the original runs, and the next call asks again.
pub enum NotNow {
    /// As the backend says.
    Unavailable(Why),
    /// A signal arrived or memory ended, or every attempt found out something new.
    GivenUp,
}

/// Capture a subject. `found`: what is known before the first attempt.
pub fn capture(
    py: Python<'_>,
    backend: Arc<dyn Backend>,
    subject: &Subject<'_, '_>,
    slots: Slots<'_>,
    mut found: Found,
    go_on: &dyn GoOn,
) -> Result<Capture, NotNow> {
    let start = Instant::now();
    if let Some(why) = backend.unavailable(py) {
        return Err(NotNow::Unavailable(why));
    }
    let ambient: Arc<dyn AmbientCheck> = backend.ambient(py).map_err(|_| NotNow::GivenUp)?;
    let mut work = 0;
    if let Subject::Function { spec: Some((spec, first)), .. } = subject {
        found.spec = Some(((*spec).clone(), *first));
    }
    found.fixed_extents = found.fixed_extents.or_else(|| found.numbers.fixes_extents().cloned());
    found.fixed_numbers |= found.numbers.fixes_numbers();
    found.never_acts |= found.numbers.never_acts();
    for _ in 0..ATTEMPTS {
        let (site, why, captured) = match attempt(py, &backend, &found, subject, slots, go_on) {
            Ok(mut done) => {
                work += done.captured.steps;
                // The next capture need not find out again.
                done.captured.needs_fixed_extents.clone_from(&found.fixed_extents);
                done.captured.needs_fixed_numbers = found.fixed_numbers;
                let told = || Box::new(Found { kept: done.captured.kept.clone(), ..found.clone() });
                let again = done.captured.graph.first_act().map(|_| told());
                return Ok(Capture { work, again, ..finish(py, done, ambient, subject, start) });
            }
            Err(Failed::At(failed)) => {
                work += failed.2.steps;
                *failed
            }
            Err(Failed::Asks { site, steps }) => {
                work += steps;
                STATS.add(&STATS.restarts);
                found.denied.insert(site, Why::new(Reason::Varies, ""));
                continue;
            }
            Err(Failed::NamesAnew { prototypes, steps }) => {
                work += steps;
                STATS.add(&STATS.restarts);
                match prototypes {
                    true if !found.listed_classes => found.listed_classes = true,
                    true => found.real_classes = true,
                    false => found.by_identity = true,
                }
                continue;
            }
            Err(Failed::Silent { sites, steps }) => {
                work += steps;
                STATS.add(&STATS.restarts);
                found.silent.extend(sites);
                continue;
            }
            Err(Failed::ReliesOn { sites, steps }) => {
                work += steps;
                STATS.add(&STATS.restarts);
                found.relied_on.extend(sites);
                continue;
            }
            Err(Failed::NeedsExtents { why, steps }) => {
                work += steps;
                STATS.add(&STATS.restarts);
                found.fixed_extents = Some(why);
                continue;
            }
            Err(Failed::Acts { steps }) => {
                work += steps;
                STATS.add(&STATS.restarts);
                found.never_acts = true;
                continue;
            }
            Err(Failed::NeedsNumbers { steps }) => {
                work += steps;
                STATS.add(&STATS.restarts);
                found.fixed_numbers = true;
                continue;
            }
            Err(Failed::Rewrites { places, steps }) => {
                work += steps;
                STATS.add(&STATS.restarts);
                found.rewritten.extend(places);
                continue;
            }
        };
        capture_all::failed(&why);
        if why.reason == Reason::Interrupted {
            STATS.note(why.reason);
            return Err(NotNow::GivenUp);
        }
        match site {
            Some(site) => {
                STATS.add(&STATS.restarts);
                found.denied.insert(site, inside(why, &captured));
            }
            None => return Ok(Capture { work, ..fallback(py, captured, ambient, why, start) }),
        }
    }
    Err(NotNow::GivenUp)
}

/// An attempt that is not the last.
enum Failed {
    /// The call to deny, why, and what was found out.
    At(Box<(Option<frame::Site>, Why, Captured)>),
    /// What it read at these places and took for what will be there for ever, it writes itself, or others do.
    Rewrites { places: Vec<Written>, steps: usize },
    /// It has guarded what it looked at to find out what these instructions raise, in vain.
    Silent { sites: Vec<frame::Site>, steps: usize },
    /// The framework needs the extents of tensors that it took for varying.
    NeedsExtents { why: Why, steps: usize },
    /// The framework needs the numbers that it took for extents that vary.
    NeedsNumbers { steps: usize },
    /// It decides something by the numbers that these calls draw.
    ReliesOn { sites: Vec<frame::Site>, steps: usize },
    /// This instruction of a general capture asks for what varies.
    Asks { site: frame::Site, steps: usize },
    /// It has operations that act where none may.
    Acts { steps: usize },
    /// It names what may be another class at the next call. `prototypes`: it has made some.
    NamesAnew { prototypes: bool, steps: usize },
}

/// An attempt that came to its end.
struct Done {
    captured: Captured,
    head: Head,
    outcome: Outcome,
    rewritten: Rewritten,
}

fn attempt(
    py: Python<'_>,
    backend: &Arc<dyn Backend>,
    found: &Found,
    subject: &Subject<'_, '_>,
    slots: Slots<'_>,
    go_on: &dyn GoOn,
) -> Result<Done, Failed> {
    let mut ex = Executor::new(py, backend.clone(), found.clone());
    let entered = match subject {
        Subject::Function { function, .. } => enter_function(&mut ex, function, slots),
        Subject::Continuation { number, shape } => enter_continuation(&mut ex, shape, *number, slots),
    };
    let simulated =
        entered.map_err(|stop| (None, stop.why().clone())).and_then(|head| ex.execute().map(|outcome| (head, outcome)));
    let settled = |ex: &mut Executor<'_>| ex.tell_flags().map_err(|stop| (None, stop.why().clone()));
    let simulated = simulated.and_then(|done| settled(&mut ex).map(|()| done));
    let outer_site = ex.outer_site();
    let (mut rewritten, silent) = (ex.take_rewritten(), ex.take_silent());
    let asked = ex.asked_what_varies();
    // A builder that nobody wants leaves building mode before anything else runs.
    let (mut captured, builder) = ex.into_captured();
    if captured.needs_fixed_numbers {
        return Err(Failed::NeedsNumbers { steps: captured.steps });
    }
    if let Some(why) = captured.needs_fixed_extents {
        return Err(Failed::NeedsExtents { why, steps: captured.steps });
    }
    let cannot_act = captured.graph.first_act().is_some() && captured.extents_vary();
    if captured.needs_no_acts || cannot_act {
        return Err(Failed::Acts { steps: captured.steps });
    }
    if let Some(site) = asked {
        return Err(Failed::Asks { site, steps: captured.steps });
    }
    captured.keep_classes_real();
    if captured.names_anew {
        return Err(names_anew(&captured));
    }
    captured.leave_clocks_in_between();
    if !captured.relied_on.is_empty() {
        return Err(Failed::ReliesOn { sites: captured.relied_on, steps: captured.steps });
    }
    if !silent.is_empty() {
        return Err(Failed::Silent { sites: silent, steps: captured.steps });
    }
    let (head, outcome) = match simulated {
        Ok(simulated) => simulated,
        Err((site, why)) => return Err(Failed::At(Box::new((site, why, captured)))),
    };
    if let Ok(occupants) = found.occupants.lock() {
        rewritten.extend(occupants.exchanged(py, &captured));
    }
    rewritten.retain(|place| !found.rewritten.contains(place));
    if !rewritten.is_empty() {
        return Err(Failed::Rewrites { places: rewritten, steps: captured.steps });
    }
    captured.exchanged.clone_from(&found.rewritten);
    captured.settle_guards(py);
    if !captured.relied_on.is_empty() {
        return Err(Failed::ReliesOn { sites: captured.relied_on, steps: captured.steps });
    }
    if captured.names_anew {
        return Err(names_anew(&captured));
    }
    match rewrite(py, &captured, builder, &head, &outcome, go_on) {
        Ok(rewritten) => Ok(Done { captured, head, outcome, rewritten }),
        Err(Refused::NamesAnew) => Err(names_anew(&captured)),
        Err(Refused::Stopped { stop, unkept }) => {
            let site = unkept.or(match outcome {
                Outcome::Break(_) => outer_site,
                Outcome::Return(_) | Outcome::Raise(_) => None,
            });
            Err(Failed::At(Box::new((site, stop.why().clone(), captured))))
        }
    }
}

fn names_anew(captured: &Captured) -> Failed {
    Failed::NamesAnew { prototypes: captured.has_prototypes(), steps: captured.steps }
}

/// Push the frame of a function whose argument slots are bound.
fn enter_function(ex: &mut Executor<'_>, function: &Bound<'_, PyAny>, slots: Slots<'_>) -> Result<Head, Stop> {
    let function = function.as_unbound().bind(ex.py).clone();
    let no_function = || Stop::fallback(Reason::NotPython, "");
    let (code, globals, closure) = {
        let parts = facts::func_parts(&function).ok_or_else(no_function)?;
        (parts.code.to_owned(), parts.globals.to_owned(), parts.closure.map(|c| c.to_owned()))
    };
    ex.may_capture(&function, &globals)?;
    let unit = CodeUnit::of(&code)?;
    if unit.code.is_generator_like() {
        return Err(Stop::fallback(Reason::Generator, unit.code.name.clone()));
    }
    let builtins = ex.builtins_of(&globals, Some(&function))?;
    let globals = ex.objects.add(&globals);
    let mut frame = Frame::new(unit.clone(), globals, builtins);
    for i in 0..unit.code.arg_slots() {
        if let Some(value) = slots.get(ex.py, i) {
            let tracker = ex.trackers.slot(i as u32);
            frame.locals[i] = Some(ex.wrap(&value.to_owned(), tracker));
        }
    }
    let cells: Vec<VarId> = match &closure {
        Some(closure) => {
            let closure = closure.cast::<PyTuple>().map_err(|_| no_function())?;
            // Slots behind the arguments: another closure of the same code has other cells.
            let first = unit.code.arg_slots() as u32;
            (first..)
                .zip(closure.iter())
                .map(|(slot, cell)| {
                    let tracker = ex.trackers.slot(slot);
                    ex.wrap(&cell, tracker)
                })
                .collect()
        }
        None => Vec::new(),
    };
    ex.bind_cells(&cells, &mut frame);
    let head = Head {
        arguments: unit.code.varnames[..unit.code.arg_slots()].to_vec(),
        freevars: unit.code.freevars.clone(),
        listed_as: None,
    };
    ex.entry_unit = Some(unit.clone());
    ex.entry_globals = Some(globals);
    ex.push_frame(frame)?;
    if unit.code.name == "__init__" && makes_a_layer(ex, slots) {
        ex.is_plain_by_nature = true;
        return Err(Stop::fallback(Reason::FrameworkFunction, "a layer is made"));
    }
    match unit.keeps_its_frame(ex.py, comes_with_python) {
        true => Err(Stop::fallback(Reason::FrameInspection, unit.code.name.clone())),
        false => Ok(head),
    }
}

/// What a continuation is given.
struct Given<'a> {
    slots: Slots<'a>,
    next: usize,
    /// Generators of the frames, by index.
    running: Vec<Option<VarId>>,
    /// Generators that wait to be asked.
    waiting: Vec<VarId>,
}

impl Given<'_> {
    fn take(&mut self, ex: &mut Executor<'_>) -> Result<VarId, Stop> {
        let value = self.slots.get(ex.py, self.next).ok_or(Stop::fallback(Reason::InternalError, "a missing value"))?;
        let tracker = ex.trackers.slot(self.next as u32);
        self.next += 1;
        let var = ex.wrap(&value.to_owned(), tracker);
        ex.received.push(var);
        Ok(var)
    }

    fn generator(&self, at: GeneratorAt) -> Result<VarId, Stop> {
        let found = match at {
            GeneratorAt::Frame(at) => self.running.get(at as usize).copied().flatten(),
            GeneratorAt::Waiting(at) => self.waiting.get(at as usize).copied(),
        };
        found.ok_or(Stop::fallback(Reason::InternalError, "a generator without a frame"))
    }

    /// The next frame, filled with its values.
    fn frame(&mut self, ex: &mut Executor<'_>, shape: &FrameShape) -> Result<Frame, Stop> {
        let py = ex.py;
        let globals = ex.objects.add(shape.globals.bind(py));
        let builtins = ex.objects.add(shape.builtins.bind(py));
        let mut frame = Frame::new(shape.unit.clone(), globals, builtins);
        for slot in &shape.stack {
            let var = match slot {
                SlotShape::Value => self.take(ex)?,
                SlotShape::Null => ex.virtual_var(NullVar::default()),
                SlotShape::Finally(state) => ex.virtual_var(NullVar { finally: Some(*state) }),
                SlotShape::Previous => ex.virtual_var(PreviousVar::default()),
                SlotShape::Generator(at) => self.generator(*at)?,
            };
            frame.stack.push(var);
        }
        for local in &shape.locals {
            frame.locals[*local as usize] = Some(self.take(ex)?);
        }
        for (local, at) in &shape.generators {
            frame.locals[*local as usize] = Some(self.generator(*at)?);
        }
        for _ in 0..shape.handled {
            frame.handled.push(self.take(ex)?);
        }
        // Since 3.11 one that has just come to its handler lies on the stack.
        let code = &shape.unit.code;
        let comes = !handling::has_blocks(code.version)
            && shape.awaits.is_none()
            && code.regions.iter().any(|region| code.target(region.handler) == shape.ip);
        frame.before = frame.handled.iter().chain(frame.stack.last().filter(|_| comes)).copied().collect();
        for cell in 0..shape.cells {
            let var = self.take(ex)?;
            if !matches!(ex.var(var).kind, VarKind::Cell(CellVar { .. })) {
                // A comprehension that is inlined keeps a variable in the place of a cell (3.12+).
                return Err(Stop::fallback(Reason::Reconstruct, "a variable in the place of a cell"));
            }
            frame.cells[cell] = Some(var);
        }
        frame.blocks.clone_from(&shape.blocks);
        frame.ip = shape.ip;
        frame.awaits = shape.awaits.unwrap_or_default();
        frame.held = shape.held;
        frame.skipped = shape.skipped.clone();
        Ok(frame)
    }
}

/// Push the frames of a continuation, filled with its values.
fn enter_continuation(ex: &mut Executor<'_>, shape: &Shape, number: u32, slots: Slots<'_>) -> Result<Head, Stop> {
    // Who delegates may die between two items, and end it: asked for, that is looked up.
    let generator = |ex: &mut Executor<'_>, shape: &FrameShape, state| {
        ex.virtual_var(GeneratorVar { unit: shape.unit.clone(), state, made: None, delegated: true })
    };
    let running = shape.frames.iter().map(|s| s.generator.then(|| generator(ex, s, GeneratorState::Running))).collect();
    // The frames of these follow.
    let waiting = shape.waiting.iter().map(|w| generator(ex, &w.frame, GeneratorState::Finished)).collect();
    let mut given = Given { slots, next: 0, running, waiting };
    for (at, shape) in shape.frames.iter().enumerate() {
        let mut frame = given.frame(ex, shape)?;
        frame.generator = given.running[at];
        ex.push_frame(frame)?;
    }
    for (at, shape) in shape.waiting.iter().enumerate() {
        let frame = Rc::new(given.frame(ex, &shape.frame)?);
        let state = if shape.started { GeneratorState::Suspended(frame) } else { GeneratorState::New(frame) };
        ex.set_generator(given.waiting[at], state);
        ex.note_generator(given.waiting[at]);
    }
    let outermost = &shape.frames[0];
    ex.entry_unit = Some(outermost.unit.clone());
    let globals = outermost.globals.bind(ex.py);
    ex.entry_globals = Some(ex.objects.add(globals));
    Ok(Head { arguments: shape.slot_names(), freevars: Vec::new(), listed_as: Some(resume_name(number)) })
}

/// Whether the first argument is a layer. What makes one runs once in its life, and is little else than calls of the framework that no
/// graph has.
fn makes_a_layer(ex: &Executor<'_>, slots: Slots<'_>) -> bool {
    slots.get(ex.py, 0).is_some_and(|receiver| ex.backend.classify(&receiver.to_owned()) == Kind::Layer)
}

/// Why a call is denied, told with the line inside of it that the simulation stopped at.
fn inside(why: Why, captured: &Captured) -> Why {
    if why.inside.is_some() {
        return why;
    }
    let Break { file, line, function, .. } = break_at(captured, &why, false);
    let inside = (line > 0).then(|| Arc::new(Inside { file, line, function }));
    Why { inside, ..why }
}

fn break_at(captured: &Captured, why: &Why, fallback: bool) -> Break {
    let frame = captured.shown_frame();
    Break {
        why: why.clone(),
        file: frame.map_or_else(|| "".into(), |f| f.unit.file.clone()),
        line: frame.map_or(0, |f| f.unit.line(f.ip)),
        columns: frame.and_then(|f| f.unit.columns(f.ip)),
        function: frame.map_or_else(|| "".into(), |f| f.unit.function.clone()),
        fallback,
    }
}

fn finish(
    py: Python<'_>,
    done: Done,
    ambient: Arc<dyn AmbientCheck>,
    subject: &Subject<'_, '_>,
    started: Instant,
) -> Capture {
    let Done { captured, head, outcome, rewritten } = done;
    STATS.add(&STATS.captures);
    let mut breaks = Vec::new();
    if let Outcome::Break(why) = &outcome {
        STATS.add(&STATS.breaks);
        STATS.note(why.reason);
        breaks.push(break_at(&captured, why, false));
    }
    if rewritten.graph.is_some() {
        STATS.add(&STATS.graphs);
    }
    let cells = head.freevars.iter().map(|name| format!("{name} (cell)"));
    let slots: Vec<String> = head.arguments.into_iter().chain(cells).collect();
    let nothing = rewritten.graph.is_none()
        && captured.journal.is_empty()
        && matches!(outcome, Outcome::Return(_))
        && !capture_all::on()
        && matches!(subject, Subject::Function { .. });
    let became = if nothing { Became::Nothing(rewritten) } else { Became::Code(rewritten) };
    let complaint = complaint(py, &captured, &breaks);
    Capture { captured, became, breaks, slots, ambient, started, work: 0, again: None, complaint }
}

fn complaint(py: Python<'_>, captured: &Captured, breaks: &[Break]) -> Option<String> {
    let Break { why, file, line, function, fallback, .. } = breaks.first()?;
    let codes = captured.frames.iter().map(|frame| frame.unit.object.bind(py).clone().into_any());
    control::complaint(why, *fallback, &format!("{file}:{line} in {function}()"), codes)
}

/// The original code serves.
fn fallback(py: Python<'_>, captured: Captured, ambient: Arc<dyn AmbientCheck>, why: Why, started: Instant) -> Capture {
    let mut breaks = Vec::new();
    if !captured.is_plain_by_nature {
        STATS.add(&STATS.captures);
        STATS.add(&STATS.fallbacks);
        STATS.note(why.reason);
        breaks.push(break_at(&captured, &why, true));
    }
    let slots = captured.entry_unit.as_ref().map(|u| u.code.varnames.clone()).unwrap_or_default();
    let complaint = complaint(py, &captured, &breaks);
    Capture { captured, became: Became::Fallback, breaks, slots, ambient, started, work: 0, again: None, complaint }
}
