//! Where simulated frames stand in the user's program.

use super::Captured;
use crate::frame::Frame;
use crate::user_frames::Site;
use crate::variables::{FrameEnd, GeneratorState, Iteration, PassedFrame, VarId, VarKind, Variable};
use pyo3::prelude::*;

impl Captured {
    /// Where a simulated frame stands. Its variables are left open.
    pub fn site_of(&self, py: Python<'_>, frame: &Frame) -> Site {
        let globals = self.objects.get(py, frame.globals).unbind();
        Site { unit: frame.unit.clone(), globals, ip: frame.ip, locals: Vec::new(), cells: Vec::new() }
    }

    /// What a frame is when it ends.
    pub fn end_of(&self, frame: &Frame) -> FrameEnd {
        let bound = |places: &[Option<VarId>]| {
            places.iter().enumerate().filter_map(|(at, var)| Some((at as u32, (*var)?))).collect()
        };
        FrameEnd { ip: frame.place(), locals: bound(&frame.locals), cells: bound(&frame.cells) }
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
        let Some(end) = &passed.end else { return Vec::new() };
        let locals = end.locals.iter().map(|(at, var)| (*var, false, *at));
        let cells = end.cells.iter().map(|(at, var)| (*var, true, *at));
        locals.chain(cells).filter(|(var, ..)| self.can_be_shown(*var)).collect()
    }

    /// The variables of all those frames.
    pub fn held_by_traceback(&self, exception: VarId) -> impl Iterator<Item = VarId> + '_ {
        self.frames_passed(exception).iter().flat_map(|passed| self.held_by_passed(passed)).map(|(var, ..)| var)
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

    /// Exceptions from before the frame that passed frames of this capture, or were raised again.
    pub fn exceptions_passed(&self) -> Vec<VarId> {
        let is_one = |v: &Variable| match &v.kind {
            VarKind::Exception(e) => e.object.is_some() && (!e.state.passed.is_empty() || e.state.traceback.is_some()),
            _ => false,
        };
        (0..self.vars.len() as u32).map(VarId).filter(|var| is_one(self.var(*var))).collect()
    }
}
