//! Tracebacks: the frames of this capture that an exception has passed, what they were when they ended, and cuts.

use crate::executor::Executor;
use crate::frame::{Frame, written_from};
use crate::stop::{Reason, Stop};
use crate::user_frames::Standing;
use crate::variables::*;
use pyo3::prelude::*;
use sot_opcodes::{Local, handling};
use std::rc::Rc;
use std::sync::Arc;

/// The entry that a traceback begins with, which tells it from others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    /// There is no traceback.
    None,
    /// Of a frame of this capture, by its number.
    Passed(u32),
    /// The traceback is from before this capture.
    Before(VarId),
}

impl Executor<'_> {
    /// Whether two values, one of them a traceback of this capture, are one traceback.
    pub(in crate::executor) fn same_traceback(&mut self, a: VarId, b: VarId) -> Result<bool, Stop> {
        let (a, b) = (self.head(a)?, self.head(b)?);
        self.same_head(a, b)
    }

    /// Whether two exceptions have the same traceback, or none.
    pub(super) fn have_one_traceback(&mut self, a: VarId, b: VarId) -> Result<bool, Stop> {
        let (a, b) = (self.head_of(a)?, self.head_of(b)?);
        self.same_head(a, b)
    }

    fn same_head(&mut self, a: Head, b: Head) -> Result<bool, Stop> {
        match (a, b) {
            (Head::Before(a), Head::Before(b)) => self.same_object(a, b),
            _ => Ok(a == b),
        }
    }

    fn head_of(&mut self, exception: VarId) -> Result<Head, Stop> {
        if let Some(passed) = self.frames_passed(exception).last() {
            return Ok(Head::Passed(passed.number));
        }
        let set = self.set_by_raising(exception, "__traceback__")?;
        self.head(set)
    }

    fn head(&mut self, traceback: VarId) -> Result<Head, Stop> {
        let VarKind::Traceback(of) = self.look(traceback)? else {
            let none = self.unless_none(Some(traceback))?.is_none();
            return Ok(if none { Head::None } else { Head::Before(traceback) });
        };
        let unknown = || Stop::brk(Reason::OpaqueValue, "a traceback that was cut");
        if let VarKind::Exception(e) = &self.var(of.exception).kind
            && !e.state.cuts[of.cuts..].iter().all(|kept| kept.is_some_and(|kept| kept >= of.passed))
        {
            return Err(unknown());
        }
        match of.passed.checked_sub(1) {
            Some(last) => {
                let passed = self.frames_passed(of.exception).get(last).ok_or_else(unknown)?;
                Ok(Head::Passed(passed.number))
            }
            None => {
                let below = self.traceback_below(of.exception)?;
                self.nested(|ex| ex.head(below))
            }
        }
    }

    /// The traceback as it is now.
    pub fn traceback_of(&mut self, exception: VarId) -> VarId {
        let has_none = self.is_new_exception(exception)
            && matches!(&self.var(exception).kind, VarKind::Exception(e) if e.state.passed.is_empty() && e.state.traceback.is_none());
        if has_none && let Ok(none) = self.fold_none() {
            return none;
        }
        let (passed, cuts) = match &self.var(exception).kind {
            VarKind::Exception(e) => (e.state.passed.len(), e.state.cuts.len()),
            _ => (0, 0),
        };
        self.virtual_var(TracebackVar { exception, passed, cuts })
    }

    /// Up to 3.10 what is raised again has the traceback with which it came to its handler.
    pub fn set_traceback(&mut self, exception: VarId, traceback: VarId) {
        match self.var(traceback).kind {
            VarKind::Traceback(TracebackVar { exception: of, passed, .. }) if of == exception => {
                self.cut_traceback(exception, passed);
            }
            _ => self.change_exception(exception, |state| {
                state.passed.clear();
                state.traceback = Some(traceback);
                state.cuts.push(None);
            }),
        }
    }

    /// As `set_traceback`, by `raise` alone.
    pub fn set_handled_traceback(&mut self, exception: VarId) {
        let handles = self.frames.iter().rfind(|frame| !frame.handled.is_empty());
        let caught =
            handles.and_then(|frame| frame.caught.iter().rev().find_map(|caught| self.caught_at(exception, caught)));
        if let Some(at) = caught {
            self.cut_traceback(exception, at + 1);
        }
    }

    pub(in crate::executor) fn cut_traceback(&mut self, exception: VarId, kept: usize) {
        if kept >= self.frames_passed(exception).len() {
            return;
        }
        self.change_exception(exception, |state| {
            state.passed.truncate(kept);
            state.cuts.push(Some(kept));
        });
    }

    /// An exception has come to a frame, which handles it (`stays`) or ends.
    pub(super) fn passed(&mut self, exception: VarId, frame: usize, stays: bool) {
        if self.frames[frame].is_hidden() {
            return;
        }
        let standing = Arc::new(self.standing_of(self.py, &self.frames[frame]));
        let end = (!stays).then(|| Rc::new(self.end_of_left(&self.frames[frame])));
        let number = self.number_passed();
        self.change_exception(exception, |state| state.passed.push(PassedFrame { number, standing, end }));
        if stays {
            Rc::make_mut(&mut self.frames[frame].caught).push((exception, number));
        }
    }

    pub(super) fn passed_skipped(&mut self, exception: VarId, left: Option<&Frame>) {
        if let Some(skipped) = left.and_then(|frame| frame.skipped.as_ref()) {
            let standing = Arc::new(Standing::of_skipped(self.py, skipped));
            let number = self.number_passed();
            self.change_exception(exception, |state| state.passed.push(PassedFrame { number, standing, end: None }));
        }
    }

    fn number_passed(&mut self) -> u32 {
        self.passings += 1;
        self.passings
    }

    /// Which of the frames that an exception has passed is the one in which it was caught, if it has not been cut off.
    pub(in crate::executor) fn caught_at(&self, exception: VarId, (caught, number): &(VarId, u32)) -> Option<usize> {
        let passed = self.frames_passed(exception).iter().rposition(|passed| passed.number == *number);
        passed.filter(|_| *caught == exception)
    }

    /// A frame ends, or the capture does: exceptions that were caught in it show what it has come to.
    pub(super) fn show_end(&mut self, caught: &[(VarId, u32)], end: FrameEnd) {
        let end = Rc::new(end);
        for caught in caught {
            if let Some(at) = self.caught_at(caught.0, caught) {
                let end = end.clone();
                self.change_exception(caught.0, |state| state.passed[at].end = Some(end));
            }
        }
    }

    /// A frame has ended that handled exceptions when the capture began. Those that somebody may find later show what it has come to.
    pub(super) fn show_end_before(&mut self, frame: &Frame, gives: VarId, raises: bool) {
        if frame.before.is_empty() || frame.is_hidden() {
            return;
        }
        let stored = self.journal.entries().iter().flat_map(|entry| entry.mutation.operands());
        let at_hand: Vec<VarId> = stored.map(|var| VarId(var.0)).chain([gives]).collect();
        let mut shown = self.held_by_frames_and(&at_hand, &frame.before);
        if raises {
            // They may be among the contexts of what is raised.
            shown.extend(frame.before.iter());
        }
        if shown.is_empty() {
            return;
        }
        let mut end = if raises { self.end_of_left(frame) } else { self.end_of(frame) };
        if !raises {
            // They would be outputs of the graph.
            let is_computed = |var: VarId| matches!(&self.var(var).kind, VarKind::Tensor(t) if matches!(t.source, TensorSource::Computed { .. }));
            end.locals.retain(|(_, var)| !is_computed(*var));
        }
        if frame.generator.is_some() {
            // It lets go of its variables when it ends, and stands where that was.
            (end.locals, end.cells) = Default::default();
        }
        let end = Rc::new(end);
        for exception in frame.before.iter().filter(|exception| shown.contains(*exception)) {
            let ended = EndedFrame { unit: frame.unit.clone(), end: end.clone() };
            self.change_exception(*exception, |state| state.ended.push(ended));
        }
    }

    /// The capture ends while frames go on that tracebacks hold. What they may let go of later, and would be seen to die, is left
    /// out: so is what they may fill first. So are exceptions, which would hold themselves.
    pub(in crate::executor) fn show_frames_that_go_on(&mut self) {
        for at in 0..self.frames.len() {
            let caught = self.frames[at].caught.clone();
            if caught.is_empty() {
                continue;
            }
            let mut end = self.end_of(&self.frames[at]);
            // A generator lets go of its variables when it ends.
            let ends_empty = self.frames[at].generator.is_some();
            let frame = &self.frames[at];
            let written = written_from(&frame.unit.code, frame.ip);
            let live = frame.unit.liveness().live_before(frame.ip);
            let left_out = |var: VarId, written: bool, read: bool| {
                // One that the capture made goes on in another form.
                matches!(self.var(var).kind, VarKind::Generator(_)) && !self.found_outside(var)
                    || written && (self.may_be_seen_to_die(var) || self.may_be_filled(var, read))
                    || self.holds_exception(var)
            };
            let locals = std::mem::take(&mut end.locals).into_iter().filter(|(local, var)| {
                !left_out(*var, ends_empty || written.contains(local), live.local(Local(*local)))
            });
            end.locals = locals.collect();
            end.cells.retain(|(_, var)| !left_out(*var, true, true));
            self.show_end(&caught, end);
        }
    }

    /// Whether what goes on may put something into a container that the capture made: it reads the variable that holds it, or has it
    /// on a stack.
    fn may_be_filled(&self, var: VarId, is_read: bool) -> bool {
        use VarKind::{Deque, Dict, Instance, List, Set};
        let is_container = |var: VarId| {
            matches!(self.var(var).kind, List(_) | Dict(_) | Set(_) | Deque(_) | Instance(_))
                && !self.found_outside(var)
        };
        let on_stacks =
            || self.frames.iter().flat_map(|frame| &frame.stack).any(|top| self.holds(*top, |held| held == var));
        is_container(var) && (is_read || on_stacks())
    }

    /// Whether it is the traceback that an exception has now.
    pub(in crate::executor) fn is_traceback_of(&mut self, traceback: VarId, exception: VarId) -> Result<bool, Stop> {
        let passed = self.frames_passed(exception).len();
        Ok(match self.look(traceback)? {
            VarKind::Traceback(traceback) => traceback.exception == exception && traceback.passed == passed,
            _ => false,
        })
    }

    /// `exception.__traceback__ = value`, where the traceback is one that the exception has had. `false`: another one.
    ///
    /// Up to 3.10 whoever handles the exception has its traceback beside it, and raises it again with that. No continuation is
    /// given it: such a frame runs as it is.
    pub(in crate::executor) fn store_traceback(&mut self, exception: VarId, value: VarId) -> Result<bool, Stop> {
        let left = match self.look(value)? {
            VarKind::Traceback(traceback) if traceback.exception == exception => traceback.passed,
            VarKind::Constant(_) if self.constant_value(value).is_some_and(|value| value.is_none()) => 0,
            _ => usize::MAX,
        };
        if self.frames_passed(exception).len() == left && self.is_new_exception(exception) {
            return Ok(true);
        }
        let handles = self.frames.iter().position(|frame| frame.handled.contains(&exception));
        if let Some(frame) = handles.filter(|_| handling::has_blocks(self.frame().unit.code.version)) {
            self.in_one_piece = Some(frame);
            return Err(Stop::fallback(Reason::Mutation, "the traceback of what is handled"));
        }
        Ok(left != usize::MAX && self.shortens_traceback(exception, left))
    }

    /// What tells the traceback of an exception now from what it was and will be.
    pub(super) fn entries_of(&self, exception: VarId) -> Option<(usize, usize)> {
        match &self.var(exception).kind {
            VarKind::Exception(e) => Some((e.state.passed.len(), e.state.cuts.len())),
            _ => None,
        }
    }

    /// The outermost frame that up to 3.10 would raise again what it handles with another traceback than that has now. No continuation
    /// is given that one.
    pub(in crate::executor) fn handles_with_another_traceback(&self) -> Option<usize> {
        self.frames
            .iter()
            .position(|frame| (0..frame.handled.len()).any(|level| self.is_handled_with_another(frame, level)))
    }

    /// Whether, up to 3.10, the traceback beside what a frame handles is another one than that has now.
    fn is_handled_with_another(&self, frame: &Frame, level: usize) -> bool {
        if !handling::has_blocks(frame.unit.code.version) {
            return false;
        }
        let previous = frame.stack.iter().filter_map(|slot| match &self.var(*slot).kind {
            VarKind::Previous(previous) => Some(previous.came_with),
            _ => None,
        });
        // What came from before the capture had nothing of it.
        let came_with = previous.step_by(3).nth(level).flatten().unwrap_or_default();
        self.entries_of(frame.handled[level]).is_some_and(|now| now != came_with)
    }

    /// Whether what is being handled is so with the traceback that it has now.
    pub(super) fn is_handled_with_its_own(&self) -> bool {
        let handles = self.frames.iter().rfind(|frame| !frame.handled.is_empty());
        handles.is_some_and(|frame| !self.is_handled_with_another(frame, frame.handled.len() - 1))
    }

    /// Let an exception that was made here have passed so many frames alone. `false`: somebody may hold the traceback that it
    /// has, or had more.
    pub(in crate::executor) fn shortens_traceback(&mut self, exception: VarId, left: usize) -> bool {
        let passed = self.frames_passed(exception).len();
        let longer = |var: &Variable| matches!(&var.kind, VarKind::Traceback(held) if held.exception == exception && held.passed > left);
        if !self.is_new_exception(exception) {
            // It may have come with a traceback.
            return passed == left && left > 0;
        }
        if passed <= left {
            return passed == left;
        }
        if self.vars.iter().any(longer) {
            return false;
        }
        self.cut_traceback(exception, left);
        true
    }
}
