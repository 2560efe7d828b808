//! Where simulated frames stand in the user's program.

use super::Captured;
use crate::frame::{Frame, PutBack, put_back};
use crate::user_frames::Standing;
use crate::variables::{
    EndedFrame, ExceptionVar, FrameEnd, GeneratorState, Iteration, PassedFrame, VarId, VarKind, Variable,
};
use pyo3::prelude::*;

impl Captured {
    /// Where a simulated frame stands. Its variables are left open.
    pub fn standing_of(&self, py: Python<'_>, frame: &Frame) -> Standing {
        let globals = self.objects.get(py, frame.globals).unbind();
        Standing { unit: frame.unit.clone(), globals, ip: frame.ip, locals: Vec::new(), cells: Vec::new() }
    }

    /// What a frame is when it ends.
    pub fn end_of(&self, frame: &Frame) -> FrameEnd {
        let bound = |places: &[Option<VarId>]| {
            places.iter().enumerate().filter_map(|(at, var)| Some((at as u32, (*var)?))).collect()
        };
        FrameEnd { ip: frame.place(), locals: bound(&frame.locals), cells: bound(&frame.cells) }
    }

    /// As [`Self::end_of`], of a frame that an exception leaves, which puts variables back on its way.
    pub fn end_of_left(&self, frame: &Frame) -> FrameEnd {
        let mut end = self.end_of(frame);
        for PutBack { local, slot, .. } in put_back(&frame.unit.code, frame.ip) {
            end.locals.retain(|(at, _)| *at != local);
            let before = frame.stack.get(slot).filter(|before| !matches!(self.var(**before).kind, VarKind::Null(_)));
            end.locals.extend(before.map(|before| (local, *before)));
        }
        end
    }

    /// The frames of this capture that an exception has passed, innermost first.
    pub fn frames_passed(&self, exception: VarId) -> &[PassedFrame] {
        match &self.var(exception).kind {
            VarKind::Exception(e) => &e.state.passed,
            _ => &[],
        }
    }

    /// What the traceback of an exception was set to, below the entries of those frames.
    pub fn traceback_set(&self, exception: VarId) -> Option<VarId> {
        match &self.var(exception).kind {
            VarKind::Exception(e) => e.state.traceback,
            _ => None,
        }
    }

    /// What the frames hold that an exception has passed: `(variable, whether it is a cell, its index)` of each.
    pub fn held_by_passed(&self, passed: &PassedFrame) -> Vec<(VarId, bool, u32)> {
        passed.end.as_ref().map_or_else(Vec::new, |end| self.held_at_the_end(end))
    }

    /// What a frame holds that has ended: `(variable, whether it is a cell, its index)`.
    pub fn held_at_the_end(&self, end: &FrameEnd) -> Vec<(VarId, bool, u32)> {
        let locals = end.locals.iter().map(|(at, var)| (*var, false, *at));
        let cells = end.cells.iter().map(|(at, var)| (*var, true, *at));
        locals.chain(cells).filter(|(var, ..)| self.can_be_shown(*var)).collect()
    }

    /// The frames of the traceback that an exception came with which have ended in this capture.
    pub fn frames_ended(&self, exception: VarId) -> &[EndedFrame] {
        match &self.var(exception).kind {
            VarKind::Exception(e) => &e.state.ended,
            _ => &[],
        }
    }

    /// The variables of all those frames.
    pub fn held_by_traceback(&self, exception: VarId) -> impl Iterator<Item = VarId> + '_ {
        let exception = match &self.var(exception).kind {
            VarKind::Exception(e) => Some(e),
            _ => None,
        };
        exception.into_iter().flat_map(|e| self.held_by_traceback_of(e))
    }

    /// The same, of what an exception is or was.
    pub fn held_by_traceback_of<'a>(&'a self, e: &'a ExceptionVar) -> impl Iterator<Item = VarId> + 'a {
        let ended = e.state.ended.iter().flat_map(|ended| self.held_at_the_end(&ended.end));
        let passed = e.state.passed.iter().flat_map(|passed| self.held_by_passed(passed));
        ended.chain(passed).map(|(var, ..)| var)
    }

    /// What the frames of the program hold, but for generators, which may stay frames.
    pub fn held_by_frames_shown(&self) -> Vec<VarId> {
        let shown = self.frames.iter().filter(|frame| !frame.is_hidden());
        let held = shown.flat_map(|frame| frame.locals.iter().chain(&frame.cells).flatten().copied());
        held.filter(|var| self.can_be_shown(*var) && !matches!(self.var(*var).kind, VarKind::Generator(_))).collect()
    }

    /// Whether there is, or can be, an object of a value.
    fn can_be_shown(&self, var: VarId) -> bool {
        self.found_outside(var)
            || match &self.var(var).kind {
                VarKind::Null(_) | VarKind::Previous(_) => false,
                VarKind::Generator(generator) => !matches!(generator.state, GeneratorState::Running),
                VarKind::Iterator(iterator) => {
                    !matches!(iterator.state, Iteration::Real { .. } | Iteration::Tensor { .. })
                }
                _ => true,
            }
    }

    /// Exceptions from before the frame that passed frames of this capture, or were raised again, or whose frames have ended.
    pub fn exceptions_passed(&self) -> Vec<VarId> {
        let is_one = |v: &Variable| match &v.kind {
            VarKind::Exception(ExceptionVar { object: Some(_), state, .. }) => {
                !state.passed.is_empty() || !state.ended.is_empty() || state.traceback.is_some()
            }
            _ => false,
        };
        (0..self.vars.len() as u32).map(VarId).filter(|var| is_one(self.var(*var))).collect()
    }
}
