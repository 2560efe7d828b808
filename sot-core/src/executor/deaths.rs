//! In which order simulated frames let go of values whose death the program could see.
//!
//! Between two effects several values may end: the locals of a frame that returns, what a list held, the frames that a dropped
//! traceback showed. Rewritten code holds them all in its own locals, and deletes those in the order in which the interpreter
//! takes the references. While a watched value is open each step notes which references it takes, by comparing before and after:
//! the stack, the variable that it binds, and what it changed, as the marks of `state` know it. Whose last reference that was
//! is asked when an effect follows, or at the end: a value has ended with the last step that led to it
//! ([`Captured::in_order_of_ends`]). The exception that was being handled by then is what its finalizer is told.
//!
//! [`Captured::in_order_of_ends`]: crate::captured::Captured::in_order_of_ends

use super::Executor;
use super::state::Mark;
use crate::awaits::Awaits;
use crate::captured::{Dropping, Released, Taken, Watched, handled_by};
use crate::frame::Frame;
use crate::variables::{VarId, VarKind};
use sot_opcodes::{Location, Op, calls, stack_effect};
use sot_sideeffect::{Mutation, Overlay};

impl Executor<'_> {
    /// Whether the order in which references go can matter.
    fn ends_matter(&self) -> bool {
        !self.watched.open.is_empty()
    }

    /// What the variables that have changed since a mark held before.
    fn held_before_changes(&self, mark: &Mark) -> Vec<VarId> {
        self.changed_since(mark).flat_map(|(var, before)| self.captured.held_before(var, before)).collect()
    }

    /// A step was made: what was changed by it holds something no more, then the innermost frame. What is only moved is noted
    /// as well: to what was not dropped something comes later.
    pub(super) fn note_taken_by_step(&mut self, mark: &Mark) {
        if !self.ends_matter() {
            return;
        }
        let mut taken = self.held_before_changes(mark);
        // Who unwinds frames says so.
        if let Some((at, before)) = self.frame_before(mark)
            && let Some(frame) = self.frames.get(at)
        {
            let rest = |old: &[VarId], new: &[VarId]| {
                let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
                old[same..].to_vec()
            };
            let instruction = before.unit.code.instrs.get(before.ip).map(|instruction| instruction.op);
            if let Some(Op::StoreFast(local) | Op::DeleteFast(local)) = instruction {
                taken.extend(before.locals[local.0 as usize]);
            }
            taken.extend(rest(&before.stack, &frame.stack));
            taken.extend(rest(&before.handled, &frame.handled));
        }
        self.note_taken_references(taken);
    }

    /// The instruction raises: it has let go of its operands before anybody looks for a handler, in its own order.
    pub(super) fn let_go_before_raise(&mut self, mark: &Mark, op: &Op) {
        let keeps = op.raises_again() || matches!(op, Op::ForIter(_) | Op::Send(_));
        if keeps || !self.ends_matter() {
            return;
        }
        let Some((at, before)) = self.frame_before(mark).filter(|(at, _)| at + 1 == self.frames.len()) else { return };
        let (pops, _) = stack_effect(op, false);
        let Some(rest) = before.stack.len().checked_sub(pops as usize) else { return };
        let operands = &before.stack[rest..];
        let version = before.unit.code.version;
        let refused = self.step.refused.take().filter(|_| self.hands_over(op, Awaits::Push, operands));
        let mut taken = match refused {
            // What the new frame was given is in its hands, the function last.
            Some(mut refused) => {
                let others = operands.iter().filter(|var| !refused.contains(var)).copied().collect::<Vec<_>>();
                refused.extend(others);
                refused
            }
            None => operands.to_vec(),
        };
        if calls::drops_from_the_top(version, op) {
            taken.reverse();
        }
        self.frames[at].stack.truncate(rest);
        self.note_taken_references(taken);
    }

    /// An exception has come to its handler: what held something before, and no more. `handled`: when it was raised.
    pub(super) fn note_changed_by_raise(&mut self, mark: &Mark, handled: Option<VarId>) {
        if !self.ends_matter() {
            return;
        }
        let taken = self.held_before_changes(mark);
        self.note_taken_while(taken, handled, self.outermost_place());
        if let Some((at, before)) = self.frame_before(mark)
            && let Some(frame) = self.frames.get(at)
        {
            // Each goes when what was handled before it is handled again.
            let same = before.handled.iter().zip(&frame.handled).take_while(|(old, new)| old == new).count();
            let outside = before.handled[..same].last().copied().or_else(|| handled_by(&self.frames[..at]));
            self.note_taken_while(before.handled[same..].to_vec(), outside, self.outermost_place());
        }
    }

    /// A frame has ended by a result, which is on its way.
    pub(super) fn note_taken_by_frame(&mut self, left: Option<&Frame>) {
        let Some(left) = left.filter(|_| self.ends_matter()) else { return };
        let mut taken = left.values_at_end();
        if let Some(caller) = self.frames.last().filter(|caller| caller.held > 0) {
            taken.extend(self.in_order_of_call(caller, &caller.stack[caller.stack.len() - caller.held..]));
        }
        self.note_taken_references(taken);
    }

    /// The operands that a frame holds for the call at which it waits, in the order in which that lets go of them, whatever came of it.
    fn in_order_of_call(&self, caller: &Frame, held: &[VarId]) -> Vec<VarId> {
        let code = &caller.unit.code;
        match code.instrs.get(caller.ip).is_some_and(|i| calls::drops_from_the_top(code.version, &i.op)) {
            true => held.iter().rev().copied().collect(),
            false => held.to_vec(),
        }
    }

    /// What is taken when an exception comes to the frame at this depth, unless its traceback holds it: stacks at first, each
    /// from its top, then the frames above. Where it is the end of a loop, the iterator goes when the exception is gone.
    pub(super) fn taken_by_raise(&self, at: usize, exception: VarId, ends_loop: bool) -> Vec<Taken> {
        let stays = (!ends_loop).then_some(at);
        let mut taken = self.taken_by_unwinding(at + 1, stays, exception);
        if ends_loop && self.ends_matter() {
            let references = self.frames[at].stack.iter().rev().copied().collect();
            taken.push(Taken { references, handled: handled_by(&self.frames[..=at]), at: self.outermost_place() });
        }
        taken
    }

    /// What is taken when an exception leaves the frames from `first` on, and comes to that which `stays`. No traceback holds
    /// what stands for C: it is over before its caller lets go of what it was given.
    pub(super) fn taken_by_unwinding(&self, first: usize, stays: Option<usize>, exception: VarId) -> Vec<Taken> {
        if !self.ends_matter() {
            return Vec::new();
        }
        let (mut taken, mut later) = (Vec::new(), Vec::new());
        for at in stays.into_iter().chain(first..self.frames.len()).rev() {
            let frame = &self.frames[at];
            let (below, held) = frame.stack.split_at(frame.stack.len() - frame.held);
            let mut references = self.in_order_of_call(frame, held);
            references.extend(below.iter().rev());
            if at >= first {
                let rest = if frame.is_hidden() { &mut references } else { &mut later };
                rest.extend(frame.handled.iter().rev());
                rest.extend(frame.locals_at_end());
            }
            // Nobody handles the new one yet.
            let handled = handled_by(&self.frames[..=at]);
            taken.push(Taken { references: references.into(), handled, at: self.outermost_place() });
        }
        later.push(exception);
        let handled = handled_by(&self.frames[..first]);
        taken.push(Taken { references: later.into(), handled, at: self.outermost_place() });
        taken
    }

    /// A frame is about to end with an exception, perhaps one that it raises again. What it handles from before this capture has the
    /// frame in its traceback.
    pub(super) fn note_outlived(&mut self, frame: usize, raised_again: Option<VarId>) {
        if !self.ends_matter() {
            return;
        }
        let frame = &self.frames[frame];
        let mut exceptions: Vec<VarId> = frame.handled.iter().copied().chain(raised_again).collect();
        exceptions.sort_unstable();
        exceptions.dedup();
        exceptions.retain(|e| self.found_outside(*e) && !frame.caught.iter().any(|(caught, _)| caught == e));
        if exceptions.is_empty() {
            return;
        }
        let held: Vec<VarId> = frame.locals_at_end().into_iter().filter(|var| self.holds_watched(*var)).collect();
        for exception in exceptions {
            self.change_exception(exception, |state| state.outlives.extend(&held));
        }
    }

    /// A journal entry follows: what a value that the simulation made had in that place.
    pub(super) fn note_replaced(&mut self, mutation: &Mutation) {
        let old = match mutation {
            Mutation::SetAttr { object, name, .. } | Mutation::DelAttr { object, name, .. } => {
                self.journal.attr(*object, name)
            }
            Mutation::SetInDict { object, name, .. } | Mutation::DelInDict { object, name } => {
                self.journal.in_dict(*object, name)
            }
            _ => return,
        };
        if self.ends_matter()
            && let Overlay::Set(old) = old
        {
            self.note_taken_references(vec![VarId(old.0)]);
        }
    }

    /// A step has entered a frame: what it took from its own frame stays on the interpreter's stack until the call is over, unless
    /// the interpreter hands it over. Only what could be seen to die is put back.
    pub(super) fn hold_operands(&mut self, mark: &Mark, awaits: Awaits) {
        let takes = matches!(
            awaits,
            Awaits::Push
                | Awaits::Drop
                | Awaits::None
                | Awaits::Iterator
                | Awaits::Bool
                | Awaits::Decides
                | Awaits::Matched
        );
        let Some((at, before)) = self.frame_before(mark).filter(|(at, _)| takes && at + 2 == self.frames.len()) else {
            return;
        };
        let stack = &self.frames[at].stack;
        let same = before.stack.iter().zip(stack).take_while(|(old, new)| old == new).count();
        let operands = &before.stack[same..];
        let Some(op) = before.unit.code.instrs.get(before.ip).map(|instruction| instruction.op) else { return };
        // What is called at the end of a `with` lies below what stays (3.8).
        let cleans_up = matches!(op, Op::WithCleanupStart);
        if same < stack.len() && !matches!(awaits, Awaits::None) && !cleans_up {
            return;
        }
        let operands = if cleans_up { operands.get(..1).unwrap_or_default() } else { operands };
        // The new frame has its function, and lets go of it after its variables.
        let is_function = |var: &VarId| matches!(self.var(*var).kind, VarKind::Function(_));
        let operands = match self.hands_over(&op, awaits, operands) {
            true => operands.iter().take(2).position(is_function).map_or(&[][..], |at| &operands[at..=at]),
            false => operands,
        };
        // A generator that is asked cannot die meanwhile.
        let asks = |var: &VarId| match &self.var(*var).kind {
            VarKind::Bound(method) => matches!(self.var(method.receiver).kind, VarKind::Generator(_)),
            _ => false,
        };
        let held: Vec<VarId> = operands.iter().filter(|var| !asks(var) && self.may_live_on(**var)).copied().collect();
        self.hold(at, held);
    }

    /// A frame of the simulation holds values on top of its stack while it waits.
    pub(super) fn hold(&mut self, at: usize, held: Vec<VarId>) {
        let frame = &mut self.frames[at];
        frame.held += held.len();
        frame.stack.extend(held);
    }

    /// Whether a call hands the references to its arguments over to the frame of a Python function.
    fn hands_over(&self, op: &Op, awaits: Awaits, operands: &[VarId]) -> bool {
        let version = self.frame().unit.code.version;
        if awaits != Awaits::Push || !calls::hands_arguments_over(version, op) {
            return false;
        }
        let kind = |at: usize| operands.get(at).map(|var| &self.var(*var).kind);
        let is_function = |at: usize| matches!(kind(at), Some(VarKind::Function(_)));
        let is_method = |at: usize| matches!(kind(at), Some(VarKind::Method(_)));
        let is_null = |at: usize| matches!(kind(at), Some(VarKind::Null(_)));
        let unpacks = !matches!(op, Op::CallEx { .. });
        // A bound method is unpacked where no receiver stands beside it, as at the end of a `with`.
        is_function(0)
            || is_null(0) && is_function(1)
            || unpacks && (is_method(0) && is_null(1) || is_null(0) && is_method(1))
    }

    /// Where the outermost frame is, unless it has ended: what finalizers find in it while its code runs.
    fn outermost_place(&self) -> Option<Location> {
        let frame = self.frames.first()?;
        let known = frame.unit.code.instrs.get(frame.ip).map(|instruction| instruction.loc);
        Some(known.filter(|at| at.line.is_some()).unwrap_or(Location::of_line(frame.unit.line(frame.ip))))
    }

    /// References may have been taken, in this order.
    pub(super) fn note_taken_references(&mut self, taken: Vec<VarId>) {
        if !taken.is_empty() && self.ends_matter() {
            self.note_taken_while(taken, self.handled_for_finalizers(), self.outermost_place());
        }
    }

    /// The same, on the way of an exception.
    pub(super) fn note_taken_on_the_way(&mut self, taken: Vec<Taken>) {
        for Taken { references, handled, at } in taken {
            self.note_taken_while(references.into(), handled, at);
        }
    }

    /// The same, while an exception was being handled.
    fn note_taken_while(&mut self, mut taken: Vec<VarId>, handled: Option<VarId>, at: Option<Location>) {
        let locals = self.frames.last().map_or(&[][..], |frame| &frame.locals[..]);
        taken.retain(|var| {
            let kind = &self.var(*var).kind;
            // A method holds what a frame has at hand, or what is dropped by itself.
            let holds_nothing =
                matches!(kind, VarKind::Constant(_) | VarKind::Null(_) | VarKind::Tensor(_) | VarKind::Bound(_))
                    && !self.watched.vars.contains(var);
            !holds_nothing && !locals.contains(&Some(*var))
        });
        if !taken.is_empty() && self.ends_matter() {
            self.watched.taken_by_steps.push(Taken { references: taken.into(), handled, at });
        }
    }

    /// Watched values that no frame holds before the effect that follows, or at the end.
    pub(super) fn note_ends(&mut self, released: Vec<VarId>) {
        let before = self.journal.len();
        let (handled, at) = (self.handled_for_finalizers(), self.outermost_place());
        let now = Taken { references: Box::default(), handled, at };
        let release = |var, step: &Taken| Released { var, before, handled: step.handled, at: step.at };
        let ended: Vec<Released> = match self.all_held_by_frames() {
            Some(held) => {
                let ordered = self.in_order_of_ends(released, &self.watched.taken_by_steps, held).into_iter();
                ordered.map(|(var, step)| release(var, step.unwrap_or(&now))).collect()
            }
            None => released.into_iter().map(|var| release(var, &now)).collect(),
        };
        for released in ended {
            self.watched.released_before.insert(released.var, before);
            self.watched.released.push(released);
        }
        let Watched { open, released_before, .. } = &mut self.captured.watched;
        open.retain(|var| !released_before.contains_key(var));
    }

    /// A journal entry follows: what it drops is told what is handled now.
    pub(super) fn note_dropping(&mut self, mutation: &Mutation) {
        use Mutation::*;
        let only_adds = matches!(
            mutation,
            ListAppend { .. }
                | ListInsert { .. }
                | ListExtend { .. }
                | ListReverse { .. }
                | MoveHashed { .. }
                | Written { .. }
                | ClassMade { .. }
                | SetMode { .. }
        );
        let may_be_seen = !self.watched.vars.is_empty() || !self.watched.taken.is_empty();
        if may_be_seen && !only_adds {
            let (entry, handled, at) = (self.journal.len(), self.handled_for_finalizers(), self.outermost_place());
            self.watched.dropping.push(Dropping { entry, handled, at });
        }
    }

    /// The journal has lost entries.
    pub(super) fn take_back_dropping(&mut self) {
        let left = self.journal.len();
        let dropping = &mut self.captured.watched.dropping;
        dropping.truncate(dropping.partition_point(|dropping| dropping.entry < left));
    }

    /// What was taken after so many steps was not.
    pub(super) fn take_back_taken(&mut self, length: usize) {
        let watched = &mut self.captured.watched;
        watched.all_alive = Default::default();
        if watched.taken_by_steps.len() > length {
            watched.taken_by_steps.truncate(length);
            watched.forget_settled();
        }
    }

    /// What was released after so many did not happen.
    pub(super) fn take_back_released(&mut self, length: usize) {
        if self.watched.released.len() <= length {
            return;
        }
        for Released { var, .. } in self.captured.watched.released.split_off(length) {
            self.watched.released_before.remove(&var);
            self.watched.open.push(var);
        }
        self.watched.forget_settled();
        self.watched.open.sort_unstable();
    }
}
