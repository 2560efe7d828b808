//! One capture, from slots to a cache entry.
//!
//! Simulate; if something cannot be realised where it happened, start over with the call above it denied; then
//! rewrite, compile the guards, and say what was found. Whatever fails here ends in an entry that runs the original
//! code, guarded by what was read so far, so that other cases still get their chance.

use crate::backend::Backend;
use crate::capture_all;
use crate::code_unit::CodeUnit;
use crate::continuation::SlotShape;
use crate::cpython::{Slots, facts};
use crate::dispatch::{Action, Entry, Subject, function_of};
use crate::executor::{self, Denied, Executor, Frame, Outcome};
use crate::guards::{GuardText, NativeGuards};
use crate::report::{BreakReport, EntryReport};
use crate::rewrite::{Head, Rewritten, rewrite};
use crate::stats::STATS;
use crate::stop::{Reason, Stop, Why};
use crate::trial::Trial;
use crate::variables::{CellVar, NullVar, PreviousVar, VarId, VarKind};
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::Tracker;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

/// Attempts before the frame runs as plain Python.
const ATTEMPTS: usize = 64;

/// Capture a subject. `None`: run the original, and ask again next time.
pub fn capture(
    py: Python<'_>,
    backend: Arc<dyn Backend>,
    subject: &Subject<'_, '_>,
    slots: Slots<'_>,
) -> Option<Entry> {
    let start = Instant::now();
    if let Some(why) = backend.unavailable(py) {
        STATS.note(why.reason);
        return None;
    }
    let ambient = backend.ambient(py).ok()?;
    let mut denied = Denied::new();
    for _ in 0..ATTEMPTS {
        let mut ex = Executor::new(py, backend.clone(), denied.clone());
        let result = attempt(&mut ex, subject, slots);
        let (site, why) = match result {
            Ok((head, outcome, rewritten)) => {
                return finish(&mut ex, ambient, subject, &head, &outcome, rewritten, start);
            }
            Err(failed) => failed,
        };
        capture_all::failed(&why);
        // Leave building mode before anything else runs.
        drop(ex.graph.take_builder());
        if why.reason == Reason::Interrupted {
            STATS.note(why.reason);
            return None;
        }
        match site {
            Some(site) => {
                STATS.add(&STATS.restarts);
                denied.insert(site, why);
            }
            None => return Some(fallback(&mut ex, ambient, why, start)),
        }
    }
    None
}

type Failed = (Option<executor::Site>, Why);

fn attempt(
    ex: &mut Executor<'_>,
    subject: &Subject<'_, '_>,
    slots: Slots<'_>,
) -> Result<(Head, Outcome, Rewritten), Failed> {
    let head = match subject {
        Subject::Function { function } => enter_function(ex, function, slots),
        Subject::Continuation(continuation) => enter_continuation(ex, continuation, slots),
    }
    .map_err(|stop| (None, stop.why().clone()))?;
    let outcome = ex.execute()?;
    let rewritten = rewrite(ex, &head, &outcome).map_err(|stop| {
        let site = match outcome {
            _ if ex.unkept.is_some() => ex.unkept,
            Outcome::Break(_) => ex.outer_site(),
            Outcome::Return(_) | Outcome::Raise(_) => None,
        };
        (site, stop.why().clone())
    })?;
    Ok((head, outcome, rewritten))
}

/// Push the frame of a function whose argument slots are bound.
fn enter_function(ex: &mut Executor<'_>, function: &Bound<'_, PyAny>, slots: Slots<'_>) -> Result<Head, Stop> {
    let function = function.as_unbound().bind(ex.py).clone();
    let no_function = || Stop::fallback(Reason::NotPython, "");
    let (code, globals, closure) = {
        let parts = facts::func_parts(&function).ok_or_else(no_function)?;
        (parts.code.to_owned(), parts.globals.to_owned(), parts.closure.map(|c| c.to_owned()))
    };
    let unit = CodeUnit::of(&code)?;
    if unit.code.is_generator_like() {
        return Err(Stop::fallback(Reason::Generator, unit.code.name.clone()));
    }
    let builtins = ex.builtins_of(&globals, Some(&function))?;
    let globals = ex.objects.add(&globals);
    let mut frame = Frame::new(unit.clone(), globals, builtins);
    for i in 0..unit.code.arg_slots() {
        if let Some(value) = slots.get(ex.py, i) {
            let tracker = ex.trackers.intern(Tracker::Slot(i as u32));
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
                    let tracker = ex.trackers.intern(Tracker::Slot(slot));
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
    ex.entry_unit = Some(unit);
    ex.entry_globals = Some(globals);
    ex.push_frame(frame)?;
    Ok(head)
}

/// Push the frames of a continuation, filled with its values.
fn enter_continuation(
    ex: &mut Executor<'_>,
    continuation: &crate::continuation::Continuation,
    slots: Slots<'_>,
) -> Result<Head, Stop> {
    let mut next = 0;
    for shape in &continuation.shape.frames {
        let globals = shape.globals.bind(ex.py).clone();
        let builtins = ex.builtins_of(&globals, None)?;
        let globals = ex.objects.add(&globals);
        let mut frame = Frame::new(shape.unit.clone(), globals, builtins);
        let mut take = |ex: &mut Executor<'_>| -> Result<VarId, Stop> {
            let value = slots.get(ex.py, next).ok_or(Stop::fallback(Reason::InternalError, "a missing value"))?;
            let tracker = ex.trackers.intern(Tracker::Slot(next as u32));
            next += 1;
            Ok(ex.wrap(&value.to_owned(), tracker))
        };
        for slot in &shape.stack {
            let var = match slot {
                SlotShape::Value => take(ex)?,
                SlotShape::Null => ex.virtual_var(NullVar),
                SlotShape::Previous => ex.virtual_var(PreviousVar),
            };
            frame.stack.push(var);
        }
        for local in &shape.locals {
            frame.locals[*local as usize] = Some(take(ex)?);
        }
        for _ in 0..shape.handled {
            frame.handled.push(take(ex)?);
        }
        for cell in 0..shape.cells {
            let var = take(ex)?;
            if !matches!(ex.var(var).kind, VarKind::Cell(CellVar { .. })) {
                return Err(Stop::fallback(Reason::InternalError, "not a cell"));
            }
            frame.cells[cell] = Some(var);
        }
        frame.ip = shape.ip;
        frame.awaits = shape.awaits.unwrap_or_default();
        frame.skipped = shape.skipped.clone();
        ex.push_frame(frame)?;
    }
    let outermost = &continuation.shape.frames[0];
    ex.entry_unit = Some(outermost.unit.clone());
    ex.entry_globals = Some(ex.objects.add(outermost.globals.bind(ex.py)));
    Ok(Head { arguments: continuation.slot_names(), freevars: Vec::new(), listed_as: Some(continuation.name()) })
}

fn break_report(ex: &Executor<'_>, why: &Why) -> BreakReport {
    let frame = ex.shown_frame();
    BreakReport {
        why: why.clone(),
        file: frame.map_or_else(|| "".into(), |f| f.unit.file.clone()),
        line: frame.map_or(0, |f| f.unit.line(f.ip)),
        function: frame.map_or_else(|| "".into(), |f| f.unit.function.clone()),
        fallback: false,
    }
}

fn finish(
    ex: &mut Executor<'_>,
    ambient: Box<dyn crate::backend::AmbientCheck>,
    subject: &Subject<'_, '_>,
    head: &Head,
    outcome: &Outcome,
    rewritten: Rewritten,
    start: Instant,
) -> Option<Entry> {
    let py = ex.py;
    STATS.add(&STATS.captures);
    let mut breaks = Vec::new();
    if let Outcome::Break(why) = outcome {
        STATS.add(&STATS.breaks);
        STATS.note(why.reason);
        breaks.push(break_report(ex, why));
    }
    if rewritten.graph.is_some() {
        STATS.add(&STATS.graphs);
    }
    let cells = head.freevars.iter().map(|name| format!("{name} (cell)"));
    let slot_names: Vec<String> = head.arguments.iter().cloned().chain(cells).collect();
    ex.settle_guards();
    let guard_lines = GuardText::lines(ex, &slot_names);
    let steps = ex.steps();
    let nothing = rewritten.graph.is_none()
        && ex.journal.is_empty()
        && matches!(outcome, Outcome::Return(_))
        && !capture_all::on();
    let guards = match NativeGuards::compile(ex, ambient) {
        Ok(guards) => guards,
        Err(stop) => {
            STATS.add(&STATS.fallbacks);
            STATS.note(stop.why().reason);
            crate::report::note_refusal(stop.why());
            return None;
        }
    };
    let (globals, closure) = match subject {
        Subject::Function { function } => {
            let parts = facts::func_parts(function)?;
            (parts.globals.to_owned(), parts.closure.map(|c| c.to_owned()))
        }
        Subject::Continuation(c) => (c.shape.frames[0].globals.bind(py).clone(), None),
    };
    let action = if nothing && matches!(subject, Subject::Function { .. }) {
        STATS.note(Reason::NoTensor);
        Action::Original { calls_out: false }
    } else {
        let code = rewritten.code.bind(py);
        let closure = closure.as_ref().and_then(|c| c.cast::<PyTuple>().ok());
        let function = function_of(py, code, &globals, closure).ok()?;
        Action::Run {
            function: function.unbind(),
            code: rewritten.code.clone_ref(py),
            calls_out: rewritten.calls_out,
            shown: rewritten.shown,
        }
    };
    Some(Entry {
        guards,
        action,
        report: EntryReport {
            function: ex.entry_unit.as_ref().map(|u| u.function.clone()).unwrap_or_else(|| "".into()),
            graph: rewritten.graph.as_ref().map(Arc::downgrade),
            breaks,
            guards: guard_lines,
            code: rewritten.text,
            continuations: rewritten.continuations.iter().map(Arc::downgrade).collect(),
            steps,
            capture_ns: start.elapsed().as_nanos() as u64,
        },
        hits: AtomicU64::new(0),
        trial: Trial::default(),
    })
}

/// An entry that runs the original code.
fn fallback(ex: &mut Executor<'_>, ambient: Box<dyn crate::backend::AmbientCheck>, why: Why, start: Instant) -> Entry {
    STATS.add(&STATS.captures);
    STATS.add(&STATS.fallbacks);
    STATS.note(why.reason);
    let mut at = break_report(ex, &why);
    at.fallback = true;
    let arguments = ex.entry_unit.as_ref().map(|u| u.code.varnames.clone()).unwrap_or_default();
    let lines = GuardText::lines(ex, &arguments);
    let guards = NativeGuards::compile(ex, ambient).unwrap_or_else(|_| {
        // Without guards it holds always, which is what running the original code allows.
        NativeGuards::always()
    });
    Entry {
        guards,
        action: Action::Original { calls_out: true },
        report: EntryReport {
            function: ex.entry_unit.as_ref().map(|u| u.function.clone()).unwrap_or_else(|| "".into()),
            graph: None,
            breaks: vec![at],
            guards: lines,
            code: String::new(),
            continuations: Vec::new(),
            steps: ex.steps(),
            capture_ns: start.elapsed().as_nanos() as u64,
        },
        hits: AtomicU64::new(0),
        trial: Trial::default(),
    }
}
