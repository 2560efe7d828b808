//! In which order simulated frames let go of values whose death the program could see.
//!
//! Between two effects several values may end: the locals of a frame that returns, what a list held, the frames that a dropped
//! traceback showed. Rewritten code holds them all in its own locals, and deletes those in the order that is noted here
//! ([`Captured::order_of_ends`]): that in which the interpreter takes the references.
//!
//! [`Captured::order_of_ends`]: crate::captured::Captured::order_of_ends

use super::{Executor, Flow};
use crate::awaits::Awaits;
use crate::captured::Watched;
use crate::frame::Frame;
use crate::variables::{VarId, VarKind};
use hashbrown::{HashMap, HashSet};
use sot_opcodes::{Code, Op, calls};

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
        let (Some(before), Flow::Next | Flow::Jump(_) | Flow::Placed | Flow::Entered(_)) = (before, flow) else {
            return;
        };
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

    /// What is dropped when an exception comes to the frame at this depth, unless its traceback holds it: stacks at first, each
    /// from its top, then the frames above.
    pub(super) fn dropped_by_raise(&self, at: usize, exception: VarId) -> Vec<VarId> {
        if self.watched.open.is_empty() {
            return Vec::new();
        }
        let innermost_first = || self.frames[at..].iter().rev();
        let mut dropped: Vec<VarId> = innermost_first().flat_map(|frame| frame.stack.iter().rev().copied()).collect();
        let ended = self.frames.len() - 1 - at;
        dropped.extend(innermost_first().take(ended).flat_map(|frame| frame.locals_at_end()));
        dropped.push(exception);
        dropped
    }

    /// Arguments that whoever called a frame that has ended holds as well, in the order in which he drops them: the stack of
    /// the calling frame up to 3.10, later C code that calls a Python function.
    fn held_by_caller(&self, left: &Frame) -> Vec<VarId> {
        if left.generator.is_some() {
            return Vec::new();
        }
        let code = &left.unit.code;
        let calling = self.frames.last().and_then(|caller| {
            let op = caller.unit.code.instrs.get(caller.ip)?.op;
            Some((op, caller.awaits))
        });
        let moved = match calling {
            Some(_) if self.frames.last().is_some_and(|caller| calls_exit(&caller.unit.code, caller.ip)) => false,
            Some((op, Awaits::Push)) => calls::hands_arguments_over(code.version, &op),
            Some(_) => false,
            // Whoever called the first frame is not simulated.
            None => return Vec::new(),
        };
        if moved {
            return Vec::new();
        }
        // What `*args` and `**kwargs` collected was given one by one.
        let (named, collected) =
            left.locals[..code.arg_slots()].split_at((code.argcount + code.kwonlyargcount) as usize);
        let mut held: Vec<VarId> = named.iter().flatten().copied().collect();
        held.extend(collected.iter().flatten().flat_map(|var| self.collected_here(*var)));
        if calling.is_some_and(|(op, _)| calls::drops_from_the_top(code.version, &op)) {
            held.reverse();
        }
        held
    }

    /// The values in a tuple or dict that the simulation made.
    fn collected_here(&self, var: VarId) -> Vec<VarId> {
        match &self.var(var).kind {
            VarKind::Tuple(tuple) if !self.found_outside(var) => tuple.items.to_vec(),
            VarKind::Dict(dict) if !self.found_outside(var) => dict.entries.iter().map(|entry| entry.1).collect(),
            _ => Vec::new(),
        }
    }

    /// References that were taken, in this order. `on_the_way`: what is held by no frame for the moment.
    pub(super) fn note_dropped(&mut self, mut dropped: Vec<VarId>, on_the_way: &[VarId]) {
        // In the middle of an instruction its own operands are in nobody's frame.
        if self.watched.open.is_empty() || !self.sync_depths.is_empty() {
            return;
        }
        let at_hand = |var: &VarId| self.frames.iter().any(|f| f.stack.contains(var) || f.locals.contains(&Some(*var)));
        let holds_nothing = |var: &VarId| {
            let kind = &self.var(*var).kind;
            // A method holds what a frame has at hand, or what is dropped by itself.
            matches!(kind, VarKind::Constant(_) | VarKind::Null(_) | VarKind::Tensor(_) | VarKind::Bound(_))
        };
        dropped.retain(|var| !holds_nothing(var) && !at_hand(var));
        if dropped.is_empty() {
            return;
        }
        let open: HashSet<VarId> = self.watched.open.iter().copied().collect();
        dropped.retain(|var| self.holds(*var, |held| open.contains(&held)));
        if dropped.is_empty() {
            return;
        }
        let held = self.held_by_frames_and(on_the_way, &self.watched.open);
        let ended = self.order_of_ends(&dropped, &held);
        self.watched.ends.extend(ended.into_iter().filter(|var| open.contains(var)));
    }

    /// Watched values that no frame holds before the effect that follows, or at the end: they are released in the order in
    /// which they were dropped last.
    pub(super) fn note_ends(&mut self, mut released: Vec<VarId>) {
        if released.len() > 1 {
            let place: HashMap<VarId, usize> =
                self.watched.ends.iter().enumerate().map(|(at, var)| (*var, at)).collect();
            released.sort_by_key(|var| place.get(var).copied().unwrap_or(usize::MAX));
        }
        let effects = self.journal.len();
        for var in released {
            self.watched.released.push((effects, var));
            self.watched.released_before.insert(var, effects);
        }
        let Watched { open, released_before, .. } = &mut self.captured.watched;
        open.retain(|var| !released_before.contains_key(var));
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

/// Whether an instruction is the call at the end of a `with`, which from 3.11 on finds a bound method in the place of a plain
/// function and leaves it to C code.
fn calls_exit(code: &Code, ip: usize) -> bool {
    let constant = |at: usize| match code.instrs[at].op {
        Op::LoadConst(id) => Some(id),
        _ => None,
    };
    matches!(code.instrs[ip].op, Op::Call { argc: 2, two: true })
        && ip >= 3
        && constant(ip - 1).is_some_and(|none| constant(ip - 2) == Some(none) && constant(ip - 3) == Some(none))
}
