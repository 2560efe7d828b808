//! In which order simulated frames let go of values whose death the program could see.
//!
//! Between two effects several values may end: the locals of a frame that returns, what a list held, the frames that a dropped
//! traceback showed. Rewritten code holds them all in its own locals, and deletes those in the order that is noted here
//! ([`Captured::order_of_ends`]): that in which the interpreter takes the references.
//!
//! [`Captured::order_of_ends`]: crate::captured::Captured::order_of_ends

use super::{Executor, Flow};
use crate::awaits::Awaits;
use crate::frame::Frame;
use crate::variables::VarId;
use sot_opcodes::Op;

/// What the innermost frame held before an instruction, as far as the instruction may drop it.
pub(super) struct Before {
    depth: usize,
    stack: Vec<VarId>,
    handled: Vec<VarId>,
    /// The value of the variable that the instruction binds again.
    bound: Option<VarId>,
}

impl Executor<'_> {
    /// `None`: there is nothing to see.
    pub(super) fn held_before(&self) -> Option<Before> {
        if self.watched.open.is_empty() || !self.sync_depths.is_empty() {
            return None;
        }
        let frame = self.frames.last()?;
        let bound = match frame.unit.code.instrs.get(frame.ip)?.op {
            Op::StoreFast(local) | Op::DeleteFast(local) => frame.locals[local.0 as usize],
            _ => None,
        };
        Some(Before { depth: self.frames.len(), stack: frame.stack.clone(), handled: frame.handled.clone(), bound })
    }

    /// An instruction has run: what it took from its frame may be held by nobody.
    pub(super) fn note_dropped_by_step(&mut self, before: Option<Before>, flow: &Flow) {
        let (Some(before), Flow::Next | Flow::Jump(_) | Flow::Placed | Flow::Entered(_)) = (before, flow) else { return };
        // Who unwinds frames says so.
        let Some(frame) = self.frames.get(before.depth - 1) else { return };
        let rest = |old: &[VarId], new: &[VarId]| {
            let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
            old[same..].to_vec()
        };
        let mut dropped: Vec<VarId> = before.bound.into_iter().collect();
        dropped.extend(rest(&before.stack, &frame.stack));
        dropped.extend(rest(&before.handled, &frame.handled));
        self.note_dropped(dropped, &[]);
    }

    /// A frame has ended by a result, which is on its way.
    pub(super) fn note_dropped_by_frame(&mut self, left: Option<&Frame>, result: VarId) {
        let Some(left) = left.filter(|_| !self.watched.open.is_empty()) else { return };
        let mut dropped = left.values_at_end();
        dropped.extend(self.held_by_caller(left));
        self.note_dropped(dropped, &[result]);
    }

    /// An exception has left frames, or has put one back to where it is handled: these are gone from their stacks.
    pub(super) fn note_dropped_by_raise(&mut self, stacks: Vec<VarId>, exception: VarId) {
        let dropped = stacks.into_iter().chain([exception]).collect();
        self.note_dropped(dropped, &[]);
    }

    /// Arguments that whoever called a frame that has ended holds as well, in the order in which he drops them: the stack of
    /// the calling frame up to 3.10, later C code that calls a Python function.
    fn held_by_caller(&self, left: &Frame) -> Vec<VarId> {
        if left.generator.is_some() {
            return Vec::new();
        }
        let version = self.py.version_info();
        let calls = self.frames.last().and_then(|caller| {
            let op = caller.unit.code.instrs.get(caller.ip)?.op;
            Some((op, caller.awaits))
        });
        let moved = match calls {
            Some((Op::Call { .. } | Op::CallKw { .. }, Awaits::Push)) => version >= (3, 11),
            Some((Op::CallEx { .. }, Awaits::Push)) => version >= (3, 12),
            Some(_) => false,
            // Whoever called the first frame is not simulated.
            None => return Vec::new(),
        };
        if moved {
            return Vec::new();
        }
        let code = &left.unit.code;
        let arguments = (code.argcount + code.kwonlyargcount) as usize;
        let mut held: Vec<VarId> = left.locals.iter().take(arguments).flatten().copied().collect();
        if version < (3, 11) || matches!(calls, Some((Op::CallEx { .. }, _))) {
            held.reverse();
        }
        held
    }

    /// References that were taken, in this order. `on_the_way`: what is held by no frame for the moment.
    fn note_dropped(&mut self, mut dropped: Vec<VarId>, on_the_way: &[VarId]) {
        // In the middle of an instruction its own operands are in nobody's frame.
        if self.watched.open.is_empty() || !self.sync_depths.is_empty() {
            return;
        }
        let at_hand = |var: &VarId| self.frames.iter().any(|f| f.stack.contains(var) || f.locals.contains(&Some(*var)));
        dropped.retain(|var| !at_hand(var) && self.holds_open(*var));
        if dropped.is_empty() {
            return;
        }
        let held = self.held_by_frames_and(on_the_way, &self.watched.open);
        let ended = self.order_of_ends(&dropped, &held);
        let ended = ended.into_iter().filter(|var| self.watched.open.contains(var)).collect();
        self.note_ends(ended);
    }

    /// These watched values are held by no frame from here on.
    pub(super) fn note_ends(&mut self, ended: Vec<VarId>) {
        let effects = self.journal.len();
        self.watched.open.retain(|var| !ended.contains(var));
        for var in ended {
            self.watched.released.push((effects, var));
            self.watched.released_before.insert(var, effects);
        }
    }

    /// What was released after so many did not happen.
    pub(super) fn take_back_released(&mut self, length: usize) {
        if self.watched.released.len() <= length {
            return;
        }
        for (_, var) in self.captured.watched.released.split_off(length) {
            self.watched.released_before.remove(&var);
            self.watched.open.push(var);
        }
        self.watched.open.sort_unstable();
    }
}
