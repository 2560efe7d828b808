//! How a capture ends: with a result, an exception, a break, or not at all. A break that would leave something half done is moved out
//! to the call that began it, or gives the frame back to plain Python.

use super::Executor;
use super::bodies::is_below;
use crate::captured::Outcome;
use crate::cpython::facts;
use crate::frame::{Frame, Site};
use crate::onlookers::{Followed, frames_looked_at, is_looked_at};
use crate::rewrite::operand_count;
use crate::stop::{Reason, Stop, Why};
use pyo3::types::PyStringMethods;
use sot_opcodes::CodeFlags;
use sot_tracker::{Access, Check, FunctionPart};

impl<'py> Executor<'py> {
    /// Simulate the frames that were pushed, to the end of the capture.
    ///
    /// `Err(Some(site))`: start over with this site denied. `Err(None)`: the frame runs as plain Python.
    pub fn execute(&mut self) -> Result<Outcome, (Option<Site>, Why)> {
        self.given = self.frames.len();
        self.note_failed();
        let ended = self.run();
        self.note_released(&[], false);
        self.settle_sets();
        if let (Err(Stop::Break(_)), Some(at)) = (&ended, self.looks_at_names_again()) {
            let why = Why::new(Reason::FrameInspection, "locals() before and behind a break");
            let caller = (at >= self.given).then(|| at - 1);
            let site = caller.map(|caller| self.frames[caller].site());
            return Err((site.filter(|site| !self.found.denied.contains_key(site)), why));
        }
        let mut followed = Vec::new();
        if let Err(Stop::Break(why)) = &ended {
            let looked_at;
            (looked_at, followed) = self.look_for_onlookers(why);
            if looked_at {
                // It may ask for any of them: this frame and all that it entered are to be real.
                return Err((None, Why::new(Reason::FrameInspection, why.detail.clone())));
            }
        }
        let why = match ended {
            Ok(value) => return Ok(Outcome::Return(value)),
            Err(Stop::Raised(exception)) => return Ok(Outcome::Raise(exception)),
            Err(Stop::Break(why)) if self.begun().is_none() && !self.must_stay_whole() && !self.holds_frame_asked() => {
                self.note_broken_makers(&why);
                if let Some((site, why)) = self.call_by_body() {
                    return Err((Some(site), why));
                }
                return match self.call_that_breaks_instead() {
                    Some(site) => Err((Some(site), why)),
                    None => {
                        self.writing = self.being_written(self.given);
                        self.show_frames_that_go_on();
                        self.guard_followed(&followed);
                        (self.looked_at, followed) = frames_looked_at(self.py, self);
                        self.guard_followed(&followed);
                        Ok(Outcome::Break(why))
                    }
                };
            }
            Err(Stop::Break(why)) | Err(Stop::Fallback(why)) => why,
            Err(Stop::Entered(_) | Stop::Calls) => Why::new(Reason::InternalError, "a frame that nobody entered"),
        };
        if self.in_one_piece.is_some_and(|frame| frame < self.given) {
            return Err((None, why));
        }
        self.note_broken_makers(&why);
        if let Some((site, why)) = self.call_by_body() {
            return Err((Some(site), why));
        }
        let real = why.reason == Reason::FrameInspection || self.in_one_piece.is_some();
        if real && self.frames.len() > self.given.max(1) {
            // All frames that the simulation entered must be real: break at the call that entered the first of them.
            let caller = &self.frames[self.given.max(1) - 1];
            let site = caller.site();
            // Variables are the frame's own only where it is the user's code, or its resume function.
            let variables = self.frames[self.given.max(1) - 1..].iter().any(|frame| frame.unit.reads_frame_locals());
            // What makes a class of the bases of a library looks at the library's frames; who else looks is found at the break.
            if variables && let Some(site) = self.class_on_entries_under_way() {
                return Err((Some(site), why));
            }
            return Err(((!variables && !self.found.denied.contains_key(&site)).then_some(site), why));
        }
        Err((self.outer_site(), why))
    }

    /// Whether each frame can be left where it is.
    pub(super) fn frames_can_be_left(&self) -> bool {
        self.begun().is_none()
            && self.in_one_piece.is_none()
            && self.handles_with_another_traceback().is_none()
            && !self.holds_frame_asked()
    }

    /// The call further out that a break at this instruction is moved to, if it is.
    pub(super) fn call_that_breaks_instead(&mut self) -> Option<Site> {
        self.class_statement_under_way()
            .or_else(|| self.call_of_library())
            .or_else(|| self.generator_of_framework())
            .or_else(|| self.call_of_framework())
            .or_else(|| self.hands_iterators_on())
    }

    /// Whether a frame can go on nowhere but in itself.
    fn must_stay_whole(&mut self) -> bool {
        let whole = self.handles_with_another_traceback();
        self.in_one_piece = whole.or(self.in_one_piece);
        whole.is_some()
    }

    /// Whether what the instruction of the break does may look at the variables of its callers; the names that were followed.
    fn look_for_onlookers(&self, why: &Why) -> (bool, Vec<Followed<'py>>) {
        let Some(frame) = self.frames.last() else { return (false, Vec::new()) };
        let Some(instruction) = frame.unit.code.instrs.get(frame.ip) else { return (false, Vec::new()) };
        let operands = &frame.stack[frame.stack.len().saturating_sub(operand_count(&instruction.op))..];
        is_looked_at(self.py, self, operands, why.reason == Reason::Finalizer)
    }

    /// Names that led to no onlooker may be bound to one later, and functions be given its code. What code they have is guarded,
    /// not which they are: some programs make one anew for each call. What cannot be guarded stays as it was found.
    fn guard_followed(&mut self, followed: &[Followed<'py>]) {
        for Followed { globals, name, function } in followed {
            let Ok(text) = name.to_str() else { continue };
            if self.content_changed(globals.as_any()) || self.is_rewritten(globals, text) {
                continue;
            }
            let Some(parts) = facts::func_parts(function).filter(|_| self.has_names_only(globals).is_ok()) else {
                continue;
            };
            let (key, code) = (self.objects.add(name.as_any()), self.objects.add(&parts.code));
            let id = self.objects.add(globals.as_any());
            let at = self.constant_tracker(id);
            let at = self.trackers.step(at, Access::DictItem(key));
            let at = self.trackers.step(at, Access::FunctionPart(FunctionPart::Code));
            let compiled = self.is_compiled_anew(code);
            self.guard(at, if compiled { Check::Alike(code) } else { Check::Is(code) });
        }
    }

    /// Where a function of the standard library breaks: the call of it. What such a function does inside is none of the
    /// program's business, and seldom computes on tensors: it runs as Python, with one break.
    fn call_of_library(&self) -> Option<Site> {
        let library = |frame: &Frame| crate::libraries::is_standard_library(self.py, &frame.unit.file);
        if !self.shown_frame().is_some_and(library) {
            return None;
        }
        let caller = self.frames.iter().rposition(|frame| !frame.is_hidden() && !library(frame))?;
        self.call_below(caller + 1)
    }

    /// Where a generator of the framework breaks: who asks it. It becomes a real one, with one break, instead of a break at
    /// each thing that it does for each of its items.
    fn generator_of_framework(&self) -> Option<Site> {
        let paths = self.frames.iter().any(|f| f.generator.is_some()).then(|| self.backend.skip_paths(self.py))?;
        let framework = |frame: &Frame| is_below(&paths, frame);
        let first = self.frames.iter().position(|frame| frame.generator.is_some() && framework(frame))?;
        let frame = self.frames.get(first.checked_sub(1)?)?;
        let site = frame.site();
        let inside = first >= self.given && self.frames[first..].iter().all(framework);
        (inside && !self.found.denied.contains_key(&site)).then_some(site)
    }

    /// The outermost frame that no continuation can go on in: a `yield from` of 3.8 to 3.10 that has asked a `__next__` would ask once
    /// more, as no code can begin where it yields what it was given.
    fn begun(&self) -> Option<usize> {
        let begun = self.frames.iter().position(Frame::yields_what_it_awaits);
        // Nor in an async generator, nor in what asks it in the name of C.
        let steps = |frame: &Frame| {
            frame.generator.is_some() && frame.unit.code.flags.contains(CodeFlags::ASYNC_GENERATOR)
                || frame.unit.disguise().is_some_and(|class| class.starts_with("_async"))
        };
        begun.into_iter().chain(self.frames.iter().position(steps).map(|at| at.saturating_sub(1))).min()
    }

    /// The call to deny: in the innermost frame that can be handed to a continuation, but one frame further out than the trouble.
    pub fn outer_site(&self) -> Option<Site> {
        if let Some(cause) = self.step.cause.filter(|cause| !self.found.denied.contains_key(cause)) {
            return Some(cause);
        }
        let innermost = self.frames.len().saturating_sub(1);
        let below = innermost.min(self.begun().map_or(innermost, |at| at + 1));
        // A definition is simulated as a whole or not at all, unless its caller's call is over and done with.
        let frames = self.frames.get(..below)?;
        let shown = frames.iter().rposition(|frame| !frame.is_hidden())?;
        let frame = if shown + 1 < self.given { frames.last()? } else { &frames[shown] };
        let site = frame.site();
        (!self.found.denied.contains_key(&site)).then_some(site)
    }
}
