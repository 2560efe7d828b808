//! The user's frames in tracebacks.
//!
//! Rewritten code and resume functions run in frames that the user never wrote: other code objects, other locals, and
//! one frame for a stack of inlined calls. An exception that leaves such a frame gets entries of the user's code in the
//! place of the frame's own: code, line, instruction (its columns), globals, and the variables whose values are known
//! at that moment; a variable that is not known shows as not bound.
//!
//! Nothing is done, nor computed, before an exception is there: a capture only notes where the values are.

use crate::code_unit::{CodeUnit, resumed};
use crate::cpython::code::read_code;
use crate::cpython::facts;
use crate::cpython::traceback::{Asker, Entry, TracebackFrame, fill, of_exception, prepend, replace_head};
use crate::frame::{PutBack, Skipped, handler_at, put_back, written_from};
use crate::shapes::{FrameShape, SlotShape};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyTuple};
use std::sync::Arc;

/// Where rewritten code has a value when it raises.
#[derive(Debug)]
pub enum Source {
    /// In a local of the rewritten code, by index.
    Local(u32),
    /// A cell of its function's closure.
    Closure(u32),
    /// A constant of the rewritten code, by index.
    InCode(u32),
    Constant(Py<PyAny>),
}

/// One of the user's frames.
#[derive(Debug)]
pub struct Standing {
    pub unit: Arc<CodeUnit>,
    pub globals: Py<PyAny>,
    /// The instruction that raises, or that waits for a call.
    pub ip: usize,
    /// By index of the local.
    pub locals: Vec<(u32, Source)>,
    /// By index of the cell: cell variables, then free variables.
    pub cells: Vec<(u32, Source)>,
}

impl Standing {
    /// Where a frame stands that is left out.
    pub fn of_skipped(py: Python<'_>, skipped: &Skipped) -> Standing {
        Standing {
            unit: skipped.unit.clone(),
            globals: skipped.globals.clone_ref(py),
            ip: skipped.ip,
            locals: Vec::new(),
            cells: Vec::new(),
        }
    }
}

/// A frame that was inlined and that an exception has left.
pub struct InlinedFrame {
    pub standing: Arc<Standing>,
    /// The instruction at which it ended, if it has.
    pub left_at: Option<usize>,
}

/// What rewritten code stands for in a traceback.
#[derive(Default)]
pub struct Shown {
    /// The frames when its last instruction raises, outermost first: the break instruction, or the raising again of an
    /// exception, which shows the frames that it has passed by itself.
    pub at_end: Vec<Standing>,
    /// Whatever it raises, it raises at the end.
    pub always: bool,
    /// The frame while it replays mutations and builds values; its `ip` means nothing.
    pub elsewhere: Option<Standing>,
    /// Code of the stand-ins, which stand for the inner ones of the frames at the end.
    pub stand_ins: Vec<Py<PyAny>>,
}

impl Shown {
    /// Visit each reference held, once.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        for shown in self.at_end.iter().chain(&self.elsewhere) {
            visit(&shown.globals);
            for (_, source) in shown.locals.iter().chain(&shown.cells) {
                if let Source::Constant(object) = source {
                    visit(object);
                }
            }
        }
    }
}

/// An exception left the frame of rewritten code, `function`'s or one with the same closure.
pub fn after_rewritten(py: Python<'_>, err: &PyErr, shown: &Shown, code: &Py<PyCode>, function: &Bound<'_, PyAny>) {
    let Some(real) = Entry::first(err, py).filter(|entry| entry.code.is(code)) else { return };
    let at_end = shown.always || shown.at_end.first().is_some_and(|at| at.unit.line_of(at.ip) == real.line);
    let to_show = match (at_end, &shown.elsewhere) {
        (true, _) => shown.at_end.as_slice(),
        (false, Some(at)) => std::slice::from_ref(at),
        (false, None) => return,
    };
    let Ok(names) = real.code.getattr("co_varnames").and_then(|names| Ok(names.cast_into::<PyTuple>()?)) else {
        return;
    };
    let consts = real.code.getattr("co_consts").ok().and_then(|consts| consts.cast_into::<PyTuple>().ok());
    let closure = facts::func_parts(function).and_then(|parts| parts.closure.map(|closure| closure.to_owned()));
    let value = |source: &Source| match source {
        Source::Local(local) => real.local(names.get_item(*local as usize).ok()?.extract().ok()?),
        Source::Closure(cell) => closure.as_ref()?.get_item(*cell).ok(),
        Source::InCode(at) => consts.as_ref()?.get_item(*at as usize).ok(),
        Source::Constant(object) => Some(object.bind(py).clone()),
    };
    let values = |sources: &[(u32, Source)]| -> Vec<(u32, Bound<'_, PyAny>)> {
        sources.iter().filter_map(|(index, source)| Some((*index, value(source)?))).collect()
    };
    let frames = to_show.iter().map(|at| {
        let (offset, line) = match at_end {
            true => (offset(&at.unit, at.ip), at.unit.line_of(at.ip)),
            false => (offset_of_line(&at.unit, real.line), real.line),
        };
        frame(py, &at.unit, &at.globals, offset, line, values(&at.locals), values(&at.cells))
    });
    // A traceback that shows other frames is no reason to lose the exception.
    let _ = frames.collect::<PyResult<Vec<_>>>().and_then(|frames| {
        let last = last_of(Entry::first(err, py), |code| shown.stand_ins.iter().any(|stand_in| code.is(stand_in)));
        replace_head(py, err, last.as_ref().unwrap_or(&real), &frames)
    });
}

/// An exception came out of rewritten code that has done nothing yet: its entry goes. `at_start`: nothing else says so than the
/// instruction at which it came. Whether this is so.
pub fn drop_rewritten(py: Python<'_>, err: &PyErr, code: &Py<PyCode>, at_start: bool) -> bool {
    let Some(real) = Entry::first(err, py).filter(|entry| entry.code.is(code)) else { return false };
    if at_start {
        let Ok(unit) = CodeUnit::of(&real.code) else { return false };
        let last = unit.code.prelude_len().saturating_sub(1);
        if unit.code.instrs.get(last).is_none_or(|last| real.offset > i64::from(last.offset)) {
            return false;
        }
    }
    replace_head(py, err, &real, &[]).is_ok()
}

/// The instruction of rewritten code itself that has raised an exception, if it is one of so many (`quiet`), the first.
pub fn raised_within(py: Python<'_>, err: &PyErr, code: &Py<PyCode>, quiet: usize) -> Option<sot_opcodes::Op> {
    let real = Entry::first(err, py).filter(|entry| entry.code.is(code) && entry.next().is_none())?;
    let unit = CodeUnit::of(&real.code).ok()?;
    // `tb_lasti` may lie in the caches behind the instruction.
    let begun = unit.code.instrs.iter().take_while(|instr| i64::from(instr.offset) <= real.offset).count();
    unit.code.instrs.get(begun.checked_sub(1)?).filter(|_| begun <= quiet).map(|instr| instr.op)
}

/// An exception left the resume function of `inner`, which ran below so many stand-ins for its callers (`callers`). The entry of its
/// frame gives way to the user's; those of the callers go: who the exception leaves is found out later.
/// `closure`: its cells.
pub fn after_resume(
    py: Python<'_>,
    err: &PyErr,
    inner: &FrameShape,
    callers: usize,
    closure: Option<&Bound<'_, PyTuple>>,
    resume: &Bound<'_, PyCode>,
) {
    let (mut real, mut caller) = (Entry::first(err, py), None);
    for _ in 0..callers {
        let next = real.as_ref().and_then(Entry::next);
        caller = std::mem::replace(&mut real, next);
    }
    let Some(real) = real.filter(|entry| entry.code.is(resume)) else {
        // It has raised again what it had caught, and has its entry from then.
        if let Some(last) = caller {
            let _ = replace_head(py, err, &last, &[]);
        }
        return;
    };
    if inner.unit.hidden {
        // It ran in its caller's name, whose entry comes with the other frames that wait.
        let _ = replace_head(py, err, &real, &[]);
        return;
    }
    // The frame has moved on: its variables are what the real frame says, its cells are those it was given.
    let cells = cells(inner, |i| closure?.get_item(i).ok());
    let names = inner.unit.code.varnames.iter().enumerate();
    let locals = names.filter_map(|(index, name)| Some((index as u32, real.local(name)?))).collect();
    let at = user_instruction(&inner.unit, resume, real.offset).filter(|at| inner.unit.line_of(*at) == real.line);
    let offset_at = at.and_then(|at| offset(&inner.unit, at)).or_else(|| offset_of_line(&inner.unit, real.line));
    let left_at = real.left_at().and_then(|at| user_instruction(&inner.unit, resume, at));
    let shown = frame(py, &inner.unit, &inner.globals, offset_at, real.line, locals, cells);
    let shown = shown.map(|shown| TracebackFrame { left_at: left_at.and_then(|at| offset(&inner.unit, at)), ..shown });
    let skipped = inner.skipped.as_ref().filter(|_| callers > 0).map(|skipped| left_out(py, skipped));
    let shown: PyResult<Vec<_>> = skipped.into_iter().chain([shown]).collect();
    let _ = shown.and_then(|frames| replace_head(py, err, &real, &frames));
}

/// An exception leaves frames of a continuation, those from `first` on, each at the instruction where it waits. `stays`: the
/// first handles it, and may let go of what it binds anew or deletes, so that such a value which would be seen to die is not held for it.
pub fn left_waiting(
    py: Python<'_>,
    err: &PyErr,
    frames: &[FrameShape],
    values: &[Option<Py<PyAny>>],
    (first, stays): (usize, bool),
    asker: Asker,
) {
    let mut next = frames[..first].iter().map(FrameShape::values).sum();
    let mut shown = Vec::with_capacity(frames.len() - first);
    for (depth, shape) in frames[first..].iter().enumerate() {
        if shape.unit.hidden {
            next += shape.values();
            continue;
        }
        shown.extend(shape.skipped.as_ref().filter(|_| depth > 0).map(|skipped| left_out(py, skipped)));
        let mut frame = waiting(py, shape, values, &mut next);
        let of_frame = values.get(next - shape.values()..).unwrap_or_default();
        if let Ok(frame) = &mut frame
            && stays
            && depth == 0
        {
            let code = &shape.unit.code;
            let handler = handler_at(code, shape.ip).map(|region| code.target(region.handler));
            let written = handler.filter(|_| !shape.generator).map(|handler| written_from(code, handler));
            let stays_bound = |local: &u32| written.as_ref().is_some_and(|written| !written.contains(local));
            frame.locals.retain(|(local, value)| stays_bound(local) || !facts::death_is_seen(value));
        } else if let Ok(frame) = &mut frame {
            restore(shape, of_frame, frame);
            frame.made = show_end(shape, of_frame, frame);
        }
        shown.push(frame);
    }
    let shown: PyResult<Vec<_>> = shown.into_iter().collect();
    let _ = shown.and_then(|frames| prepend(py, err, &frames, asker));
}

/// Frames of a continuation end by an exception that rewritten code shows by itself: so do the entries that they have in the tracebacks of
/// what they handle.
pub fn ended_by_code(py: Python<'_>, frames: &[FrameShape], values: &[Option<Py<PyAny>>]) {
    let mut next = 0;
    for shape in frames {
        let first = next;
        if let Ok(mut frame) = waiting(py, shape, values, &mut next) {
            restore(shape, values.get(first..).unwrap_or_default(), &mut frame);
            show_end(shape, values.get(first..).unwrap_or_default(), &frame);
        }
    }
}

/// A frame has ended: what it has come to is shown by the entries of it in the tracebacks of what it handled. Gives the frame object of the
/// innermost.
fn show_end<'py>(
    shape: &FrameShape,
    values: &[Option<Py<PyAny>>],
    end: &TracebackFrame<'py>,
) -> Option<Bound<'py, PyAny>> {
    let py = end.code.py();
    let first = shape.stack_values() + shape.locals.len();
    let handled = values.get(first..first + shape.handled).unwrap_or_default();
    let exceptions = handled.iter().flatten().filter_map(|e| e.bind(py).cast::<PyBaseException>().ok());
    let mut found = None;
    for exception in exceptions.filter(|_| !shape.unit.hidden) {
        // A generator lets go of its variables when it ends, and stands where that was.
        let ended = ended_before(exception, std::iter::once((&*shape.unit, shape.ip)));
        for frame in ended.into_iter().flatten().filter(|_| !shape.generator) {
            // What is not bound any more and does not live on may be shown still.
            let _ = fill(&frame, &end.locals, &end.cells, false);
            found = Some(frame);
        }
    }
    found
}

fn left_out<'py>(py: Python<'py>, skipped: &Skipped) -> PyResult<TracebackFrame<'py>> {
    let (unit, ip) = (&skipped.unit, skipped.ip);
    frame(py, unit, &skipped.globals, offset(unit, ip), unit.line_of(ip), Vec::new(), Vec::new())
}

/// An exception has left frames that were inlined, outermost first. Gives the frames of the entries, without variables.
pub fn left_inlined<'a, 'py>(
    py: Python<'py>,
    err: &PyErr,
    frames: impl Iterator<Item = &'a InlinedFrame>,
    asker: Asker,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let shown = frames.map(|InlinedFrame { standing, left_at }| {
        let (unit, line) = (&standing.unit, standing.unit.line_of(standing.ip));
        let real = frame(py, unit, &standing.globals, offset(unit, standing.ip), line, Vec::new(), Vec::new())?;
        Ok(TracebackFrame { left_at: left_at.and_then(|at| offset(unit, at)), ..real })
    });
    let shown = shown.collect::<PyResult<Vec<_>>>()?;
    prepend(py, err, &shown, asker)?;
    let entries = std::iter::successors(Entry::first(err, py), Entry::next);
    Ok(entries.take(shown.len()).map(|entry| entry.frame).collect())
}

/// Frames have ended that an exception's traceback has had entries of since an earlier capture: where such a frame stands it shows the
/// instruction now. Gives the frames.
pub fn ended_before<'a, 'py>(
    exception: &Bound<'py, PyBaseException>,
    frames: impl Iterator<Item = (&'a CodeUnit, usize)>,
) -> Vec<Option<Bound<'py, PyAny>>> {
    let first = of_exception(exception).and_then(Entry::of);
    let mut entries: Vec<Entry<'py>> = std::iter::successors(first, Entry::next).collect();
    frames
        .map(|(unit, ip)| {
            let shows = |entry: &Entry<'_>| entry.code.is(&unit.object) && entry.never_runs();
            let entry = entries.remove(entries.iter().position(shows)?);
            entry.stands_at(offset(unit, ip));
            Some(entry.frame)
        })
        .collect()
}

/// Rewritten code has caught an exception: hide its own entry, and those of its stand-ins. There is none where C code has left
/// the making of the exception to the handler, and that failed (up to 3.11).
pub fn drop_real(py: Python<'_>, err: &PyErr, stand_ins: &[Py<PyAny>]) -> PyResult<()> {
    let first = Entry::first(err, py).filter(Entry::runs_now);
    let last = last_of(first, |code| stand_ins.iter().any(|stand_in| code.is(stand_in)));
    last.map_or(Ok(()), |last| replace_head(py, err, &last, &[]))
}

/// The last of the entries behind the first that are of such code, or the first.
fn last_of<'py>(first: Option<Entry<'py>>, is: impl Fn(&Bound<'py, PyAny>) -> bool) -> Option<Entry<'py>> {
    let mut last = first?;
    while let Some(next) = last.next().filter(|next| is(&next.code)) {
        last = next;
    }
    Some(last)
}

/// A frame of a continuation that waits for a call. `next` is its first value, and then the next frame's.
fn waiting<'py>(
    py: Python<'py>,
    shape: &FrameShape,
    values: &[Option<Py<PyAny>>],
    next: &mut usize,
) -> PyResult<TracebackFrame<'py>> {
    let value = |at: usize| Some(values.get(at)?.as_ref()?.bind(py).clone());
    let first = *next + shape.stack_values();
    *next += shape.values();
    let locals = shape.locals.iter().enumerate();
    let locals = locals.filter_map(|(i, local)| Some((*local, value(first + i)?))).collect();
    let cells = cells(shape, |i| value(*next - shape.cells + i));
    let line = shape.unit.line_of(shape.ip);
    frame(py, &shape.unit, &shape.globals, offset(&shape.unit, shape.ip), line, locals, cells)
}

/// An exception leaves the frame, which puts variables back on the way out.
fn restore(shape: &FrameShape, values: &[Option<Py<PyAny>>], frame: &mut TracebackFrame<'_>) {
    let py = frame.code.py();
    for PutBack { local, slot, .. } in put_back(&shape.unit.code, shape.ip) {
        frame.locals.retain(|(at, _)| *at != local);
        let before = values.get(shape.values_below(slot)).and_then(Option::as_ref);
        let before = before.filter(|_| shape.stack.get(slot) == Some(&SlotShape::Value));
        frame.locals.extend(before.map(|before| (local, before.bind(py).clone())));
    }
}

/// The cells of a frame of a continuation, by index.
fn cells<'py>(shape: &FrameShape, cell: impl Fn(usize) -> Option<Bound<'py, PyAny>>) -> Vec<(u32, Bound<'py, PyAny>)> {
    (0..shape.cells).filter_map(|i| Some((i as u32, cell(i)?))).collect()
}

fn frame<'py>(
    py: Python<'py>,
    unit: &CodeUnit,
    globals: &Py<PyAny>,
    offset: Option<u32>,
    line: Option<u32>,
    locals: Vec<(u32, Bound<'py, PyAny>)>,
    cells: Vec<(u32, Bound<'py, PyAny>)>,
) -> PyResult<TracebackFrame<'py>> {
    let globals = globals.bind(py).cast::<PyDict>()?.clone();
    let code = unit.object.bind(py).clone();
    Ok(TracebackFrame { code, globals, offset, line, left_at: None, locals, cells, made: None })
}

/// `f_lasti` of an instruction.
fn offset(unit: &CodeUnit, ip: usize) -> Option<u32> {
    unit.code.instrs.get(ip).map(|instruction| instruction.offset).filter(|at| *at != sot_opcodes::Instr::NO_OFFSET)
}

/// `f_lasti` of the first instruction of a line.
fn offset_of_line(unit: &CodeUnit, line: Option<u32>) -> Option<u32> {
    let at = unit.code.instrs.iter().position(|instruction| instruction.loc.line == line)?;
    offset(unit, at)
}

/// The user's instruction at which a resume function stands.
fn user_instruction(unit: &CodeUnit, resume: &Bound<'_, PyCode>, offset: i64) -> Option<usize> {
    let (raw, _) = read_code(resume).ok()?;
    let decoded = raw.into_code().ok()?;
    // From 3.11 on `tb_lasti` may lie in the caches behind the instruction.
    let at = decoded.instrs.iter().rposition(|instruction| i64::from(instruction.offset) <= offset)?;
    resumed::user_instruction(&decoded, unit.code.instrs.len(), at)
}
