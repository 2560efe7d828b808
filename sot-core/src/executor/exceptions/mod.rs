//! Exceptions as values: finding who handles them. Beside it: making them, what is told of them, their tracebacks and contexts.
//!
//! An operation that raises gives [`Stop::Raised`] with an exception variable. [`Executor::raise`] then looks for a handler,
//! innermost frame first. If a frame has one, frames above it end, and it goes on there. If no frame has one, nothing of the
//! program can see the difference: the instruction runs as Python and raises for real, with Python's own message,
//! traceback and effects. Only an exception that a handler has seen and raised again leaves as [`Outcome::Raise`].
//!
//! [`Outcome::Raise`]: crate::captured::Outcome::Raise

mod chains;
pub(super) mod for_real;
mod groups;
mod made;
mod tracebacks;

pub(super) use made::is_plain_exception;

use super::{Awaits, Executor, Frame};
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::exceptions::PyRuntimeError;
use sot_opcodes::{CodeFlags, Op, handling};

/// Who goes on after an exception was raised.
pub(super) enum Unwound {
    /// A handler of the program, or the end of a loop: the frame is set up.
    Handled,
    /// Nobody; nothing was changed.
    Uncaught,
}

impl Executor<'_> {
    /// Find who handles an exception that the innermost frame raises. `again`: by RERAISE, which leaves no second entry in the
    /// traceback.
    pub(super) fn raise(&mut self, exception: VarId, again: bool) -> Result<Unwound, Stop> {
        let innermost = self.frames.len() - 1;
        let had = self.frames_passed(exception).len();
        // Whoever asks for an item, and the frame of a generator: to them StopIteration is another thing than the rest.
        let asks = |frame: &Frame| matches!(frame.awaits, Awaits::Next | Awaits::Delegate);
        let told_apart = |frame: &Frame| frame.generator.is_some() || asks(frame);
        let told = |frame: &Frame| told_apart(frame) || frame.is_hidden();
        let stops = self.frames.iter().any(told) && self.is_stop_iteration(exception)?;
        let thrown = self.step.thrown.take().filter(|(thrown, _)| *thrown == exception);
        let mut at = None;
        for i in (0..=innermost).rev() {
            let frame = &self.frames[i];
            let ends_loop = i < innermost && stops && asks(frame);
            if ends_loop || frame.catches() {
                at = Some((i, ends_loop));
                break;
            }
            let is_async = frame.generator.is_some() && frame.unit.code.flags.contains(CodeFlags::ASYNC_GENERATOR);
            if is_async && !frame.catches() && self.ends_async_iteration(exception)? {
                return Err(Stop::fallback(Reason::WouldRaise, "StopAsyncIteration in an async generator"));
            }
            let frame = &self.frames[i];
            if frame.generator.is_some() && stops {
                // Another exception leaves the generator.
                if !self.frames[..i].iter().any(Frame::catches) {
                    return Ok(Unwound::Uncaught);
                }
                let exception = self.leave_generator(exception, i, again)?;
                return match self.frames.is_empty() {
                    false => self.raise(exception, false),
                    true => Err(Stop::Raised(exception)),
                };
            }
        }
        let Some((at, ends_loop)) = at else { return Ok(Unwound::Uncaught) };
        if !again {
            // What an operation raises while another exception is handled has that as its context.
            if let Some((_, context)) = thrown {
                if let Some(context) = context {
                    self.chain_context(exception, context);
                }
            } else if matches!(&self.var(exception).kind, VarKind::Exception(e) if e.object.is_none() && e.state.context.is_none())
            {
                self.set_context(exception);
            }
        }
        let result = match ends_loop && self.frames[at].awaits == Awaits::Delegate {
            true => Some(self.getattr(exception, "value")?),
            false => None,
        };
        // What may stop comes before frames end, which no step can take back.
        for frame in (at..innermost).rev() {
            self.tell_what_was_asked(exception, frame)?;
        }
        if !ends_loop && handling::has_blocks(self.frames[at].unit.code.version) {
            self.exception_class(exception)?;
        }
        let taken = self.taken_by_raise(at, exception, ends_loop);
        for ended in (at + 1..=innermost).rev() {
            self.note_outlived(ended, (again && ended == innermost).then_some(exception));
        }
        if !again {
            self.passed(exception, innermost, innermost == at);
        }
        while self.frames.len() - 1 > at {
            let left = self.leave_frame(exception, true);
            let now = self.frames.len() - 1;
            self.passed_skipped(exception, left.as_ref());
            if !(now == at && ends_loop) {
                self.passed(exception, now, now == at);
            }
        }
        // C that takes StopIteration for an answer, or what does it in the place of C.
        let answers = ends_loop || stops && self.frames[at].is_hidden();
        let version = self.frames[at].unit.code.version;
        if answers && handling::tracebacks_come_with_handlers(version) && self.outlives_its_raising(exception) {
            self.cut_traceback(exception, had);
        }
        if ends_loop {
            self.frame_mut().let_go_of_operands();
            match result {
                Some(value) => self.end_delegation(value)?,
                None => self.end_loop()?,
            }
        } else {
            self.enter_handler(exception)?;
        }
        self.note_taken_on_the_way(taken);
        Ok(Unwound::Handled)
    }

    /// Whether somebody has an exception who may look at it later: it is from before the capture, or was stored.
    fn outlives_its_raising(&self, exception: VarId) -> bool {
        let mut stored = self.journal.entries().iter().flat_map(|entry| entry.mutation.operands());
        self.found_outside(exception) || stored.any(|var| VarId(var.0) == exception)
    }

    /// StopIteration leaves frames down to that of a generator, which lets it out as the cause of a RuntimeError.
    fn leave_generator(&mut self, exception: VarId, at: usize, again: bool) -> Result<VarId, Stop> {
        let text = crate::awaits::stopped_in(self.frames[at].unit.code.flags);
        self.leave_down_to(exception, at, again);
        let Stop::Raised(other) = self.raise_error::<PyRuntimeError>(text) else {
            return Err(Stop::fallback(Reason::InternalError, "no exception"));
        };
        self.change_exception(other, |state| (state.cause, state.context) = (Some(Some(exception)), Some(exception)));
        Ok(other)
    }

    /// An exception that nobody handles, and that no instruction can raise for real, leaves the generators that let none of
    /// its class out.
    pub(super) fn leave_generators(&mut self, exception: VarId, again: bool) -> Result<VarId, Stop> {
        let at = self.frames.iter().rposition(|frame| frame.generator.is_some());
        let (exception, again) = match at {
            Some(at) if self.is_stop_iteration(exception)? => (self.leave_generator(exception, at, again)?, false),
            _ => (exception, again),
        };
        if !self.frames.is_empty() {
            self.leave_down_to(exception, 0, again);
        }
        Ok(exception)
    }

    /// An exception leaves frames, the last of them that at `last`. `again`: the innermost has an entry in the traceback.
    fn leave_down_to(&mut self, exception: VarId, last: usize, again: bool) {
        let taken = self.taken_by_unwinding(last, None, exception);
        if !again {
            self.passed(exception, self.frames.len() - 1, false);
        }
        loop {
            let left = self.leave_frame(exception, true);
            if self.frames.len() == last {
                self.note_taken_on_the_way(taken);
                return;
            }
            // What cannot be told is not known to anybody.
            let _ = self.tell_what_was_asked(exception, self.frames.len() - 1);
            self.passed_skipped(exception, left.as_ref());
            self.passed(exception, self.frames.len() - 1, false);
        }
    }

    /// The innermost frame ends, by a result or an exception, which it gives.
    pub(super) fn leave_frame(&mut self, gives: VarId, raises: bool) -> Option<Frame> {
        let frame = self.frames.pop()?;
        self.show_end_before(&frame, gives, raises);
        if !frame.caught.is_empty() {
            let end = if raises { self.end_of_left(&frame) } else { self.end_of(&frame) };
            self.show_end(&frame.caught, end);
        }
        if let Some(generator) = frame.generator {
            self.finish_generator(generator);
        }
        Some(frame)
    }

    /// The innermost frame goes on in the handler that covers its instruction.
    pub(super) fn enter_handler(&mut self, exception: VarId) -> Result<(), Stop> {
        let region = self.frame().handler().ok_or(Stop::fallback(Reason::InternalError, "no handler"))?;
        let version = self.frame().unit.code.version;
        let target = self.frame().unit.code.target(region.handler);
        self.frame_mut().let_go_of_operands();
        let depth = self.frame_mut().leave_for(&region);
        self.frame_mut().stack.truncate(depth);
        if handling::has_blocks(version) {
            // The blocks of handlers above the region end; from 3.11 on the code says so itself.
            let previous = |v: &&VarId| matches!(self.var(**v).kind, VarKind::Previous(_));
            let levels = self.frame().stack.iter().filter(previous).count() / 3;
            self.frame_mut().handled.truncate(levels);
            self.frame_mut().remember_place(levels);
            let class =
                self.exception_class(exception)?.ok_or(Stop::fallback(Reason::InternalError, "no exception"))?;
            let came_with = self.entries_of(exception);
            for _ in 0..3 {
                let previous = self.virtual_var(PreviousVar { came_with });
                self.push(previous);
            }
            let traceback = self.traceback_of(exception);
            let class = self.pin(class.as_any());
            self.push(traceback);
            self.push(exception);
            self.push(class);
            self.frame_mut().handled.push(exception);
        } else {
            if region.lasti {
                self.frame_mut().remember_place(depth);
                let zero = self.fold_int(0)?;
                self.push(zero);
            }
            self.push(exception);
        }
        self.frame_mut().ip = target;
        Ok(())
    }

    /// FOR_ITER of the innermost frame is exhausted.
    pub(super) fn end_loop(&mut self) -> Result<(), Stop> {
        let ip = self.frame().ip;
        let Op::ForIter(label) = self.frame().unit.code.instrs[ip].op else {
            return Err(Stop::fallback(Reason::InternalError, "no loop"));
        };
        self.pop()?;
        let target = self.frame().unit.code.target(label);
        self.frame_mut().ip = target;
        Ok(())
    }
}
