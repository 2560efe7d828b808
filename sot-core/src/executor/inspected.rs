//! Frame objects that the program asks for.
//!
//! A break leaves a function in pieces that are frames of their own, and an inlined function has no frame at all. Who only
//! looks gets a frame of the right name, line and globals: of rewritten code, or of a stand-in. Who *keeps* the frame object
//! of a function that goes on would see it stand still: such a function runs as plain Python as a whole, or at least what is
//! left of it. What is kept is read off the code ([`frame_uses`]); what the standard library does with frames is not, since it
//! lets go of them.

use super::{Awaits, Executor};
use crate::stop::{Reason, Stop};
use crate::variables::*;
use sot_opcodes::Op;
use sot_opcodes::analysis::{FrameUse, frame_uses};

/// From this level on they are not told apart.
use sot_opcodes::analysis::MANY_FRAMES as MANY;

impl Executor<'_> {
    /// `sys._getframe(..)`: in a frame that the capture started with it may run from rewritten code or a stand-in, which looks
    /// the same but for its variables; deeper, the frames must be real.
    pub(super) fn frame_inspection(&mut self, name: String, args: &[VarId]) -> Stop {
        let level = match args {
            [] => Some(0),
            [level, ..] => self.constant_int(*level).and_then(|level| u32::try_from(level).ok()),
        };
        let innermost = self.frames.len() - 1;
        let kept = level.and_then(|level| match self.is_result(innermost) {
            true => self.outermost_kept(innermost, level.min(MANY)),
            false => self.frame_at(innermost, level),
        });
        self.in_one_piece = kept;
        match kept.is_none_or(|kept| kept >= self.given)
            && self.frames.len() <= self.given
            && !self.frame().unit.reads_frame_locals()
        {
            true => Stop::brk(Reason::FrameInspection, name),
            false => Stop::fallback(Reason::FrameInspection, name),
        }
    }

    /// `sys._getframe(..)` whose result is asked at once for what the simulation knows of a frame: its code or the line where it is. Nobody
    /// has the frame object, which stands for that frame until then.
    pub(super) fn frame_asked_at_once(&mut self, args: &[VarId]) -> Option<VarId> {
        let level = match args {
            [] => 0,
            [level] => u32::try_from(self.constant_int(*level)?).ok()?,
            _ => return None,
        };
        let innermost = self.frames.len() - 1;
        if !self.is_result(innermost) {
            return None;
        }
        let (back, holder) = self.asked_at_once(innermost)?;
        let furthest = level.checked_add(back).filter(|level| *level < MANY)?;
        self.frame_at(innermost, furthest)?;
        // It is still there when it is asked.
        let asked = self.frame_at(innermost, level).filter(|asked| *asked <= holder)?;
        Some(self.stand_for_frame(asked))
    }

    fn stand_for_frame(&mut self, frame: usize) -> VarId {
        let mark = self.virtual_var(TupleVar::new(Vec::new()));
        self.frames_asked.insert(mark, frame);
        mark
    }

    /// Whether what stands for a frame is an operand that waits: no rewritten code has it.
    pub(super) fn holds_frame_asked(&self) -> bool {
        let stands = |operand: &VarId| self.frames_asked.contains_key(operand);
        !self.frames_asked.is_empty() && self.frames.iter().any(|frame| frame.stack.iter().any(stands))
    }

    /// Whether the result of a frame's instruction is asked for nothing but that by the next one, so many frames further out, and by
    /// which frame.
    fn asked_at_once(&self, holder: usize) -> Option<(u32, usize)> {
        let frame = &self.frames[holder];
        let code = &frame.unit.code;
        let (mut back, mut at) = (0, frame.ip + 1);
        loop {
            let op = code.instrs.get(at)?.op;
            at += 1;
            match op {
                Op::LoadAttr(name) => match code.names.get(name.0 as usize)?.as_str() {
                    "f_code" | "f_lineno" => return Some((back, holder)),
                    "f_back" => back += 1,
                    _ => return None,
                },
                Op::ReturnValue if back == 0 && frame.skipped.is_none() && !code.is_generator_like() => {
                    let caller = holder.checked_sub(1)?;
                    let is_pushed = self.frames[caller].awaits == Awaits::Push && self.is_result(caller);
                    return if is_pushed { self.asked_at_once(caller) } else { None };
                }
                // One way of a conditional expression goes on behind the other.
                op if !op.falls_through() => at = op.target().map(|to| code.target(to)).filter(|to| *to >= at)?,
                _ => return None,
            }
        }
    }

    /// An attribute of what stands for a frame. `None`: it is something else.
    pub(super) fn part_of_frame(&mut self, mark: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let Some(&asked) = self.frames_asked.get(&mark) else { return Ok(None) };
        let frame = &self.frames[asked];
        match name {
            "f_code" => {
                let code = frame.unit.object.clone_ref(self.py).into_bound(self.py).into_any();
                Ok(Some(self.pin(&code)))
            }
            "f_lineno" => self.fold_int(frame.unit.line(frame.ip).into()).map(Some),
            "f_back" => {
                let back = self.frame_at(asked, 1).ok_or(Stop::fallback(Reason::InternalError, "f_back"))?;
                Ok(Some(self.stand_for_frame(back)))
            }
            _ => Err(Stop::fallback(Reason::InternalError, "a part of a frame")),
        }
    }

    /// `sys.settrace(..)` and its like: from here on each frame that begins or ends is told of, and no piece of a function may be one.
    pub(super) fn events_begin(&mut self, name: String) -> Stop {
        self.in_one_piece = Some(0);
        Stop::fallback(Reason::FrameInspection, name)
    }

    /// `traceback.tb_frame`, where it may be a frame that goes on.
    pub(super) fn frame_of_traceback(&mut self, exception: VarId) -> Option<Stop> {
        let caught =
            |frame: &super::Frame| frame.caught.iter().any(|caught| self.caught_at(exception, caught).is_some());
        let kept = self.frames.iter().position(caught)?;
        let frame = self.frame();
        if self.is_of_library(self.frames.len() - 1) || frame_uses(&frame.unit.code, frame.ip + 1, 0, true).is_empty() {
            return None;
        }
        self.in_one_piece = Some(kept);
        Some(Stop::fallback(Reason::FrameInspection, "tb_frame"))
    }

    /// Whether what a frame's instruction leaves is the result of a call, on top of its stack.
    fn is_result(&self, frame: usize) -> bool {
        let frame = &self.frames[frame];
        let call =
            matches!(frame.unit.code.instrs[frame.ip].op, Op::Call { .. } | Op::CallKw { .. } | Op::CallEx { .. });
        call && !frame.is_hidden()
    }

    fn is_of_library(&self, frame: usize) -> bool {
        crate::libraries::comes_with_python(self.py, &self.frames[frame].unit.file)
    }

    /// The outermost frame whose frame object is kept, of those that the program can reach by what an instruction of a frame
    /// has given it: the frame object of so many frames further out.
    fn outermost_kept(&self, holder: usize, level: u32) -> Option<usize> {
        let frame = &self.frames[holder];
        let library = self.is_of_library(holder);
        let kept = |found| match found {
            FrameUse::Keeps(_) if library => None,
            FrameUse::Keeps(level) => self.frame_at(holder, level),
            FrameUse::Returns(0) => Some(holder),
            FrameUse::Returns(level) => {
                let caller = holder.checked_sub(1)?;
                let level = level.checked_sub(1 + u32::from(frame.skipped.is_some()))?;
                match self.frames[caller].awaits == Awaits::Push && self.is_result(caller) {
                    true => self.outermost_kept(caller, level),
                    false => self.frame_at(caller, level),
                }
            }
        };
        frame_uses(&frame.unit.code, frame.ip + 1, level, false).into_iter().filter_map(kept).min()
    }

    /// The frame so many further out, as the program counts. `None`: one that is not simulated.
    fn frame_at(&self, from: usize, level: u32) -> Option<usize> {
        let mut left = level;
        for at in (0..=from).rev().filter(|at| !self.frames[*at].is_hidden()) {
            match left {
                // It may be any further out.
                0 if level >= MANY => return (0..=at).find(|at| !self.frames[*at].is_hidden()),
                0 => return Some(at),
                _ => left = left.checked_sub(1 + u32::from(self.frames[at].skipped.is_some()))?,
            }
        }
        None
    }
}
