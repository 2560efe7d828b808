//! Deleting the locals whose values are over, where [`super::lifetimes`] has it.

use super::emit::Emitter;
use super::exits::Exit;
use super::lifetimes::{bound_by_frames, slot_below};
use crate::shapes::uses_super;
use crate::stop::Stop;
use crate::variables::{FrameEnd, VarId};
use hashbrown::HashSet;
use sot_opcodes::{Local, Location, Op};

impl Emitter<'_, '_> {
    /// Delete the locals whose values are over before a position.
    pub(super) fn let_go(&mut self, position: usize) -> Result<(), Stop> {
        self.delete_and_tell(|em, var| em.lifetimes.is_over(em.captured, var, position))
    }

    /// Delete the local of this value, if it is over before a position.
    pub(super) fn let_go_of(&mut self, value: VarId, position: usize) -> Result<(), Stop> {
        self.delete_and_tell(|em, var| var == value && em.lifetimes.is_over(em.captured, var, position))
    }

    /// Whether anything ends before a position.
    pub(super) fn lets_go(&self, position: usize) -> bool {
        let over = |em: &Self, var: VarId| em.lifetimes.is_over(em.captured, var, position);
        self.lifetimes.tail != 0 && !self.locals_that_end(over).is_empty()
    }

    /// Delete the locals whose values the instruction of a break has on the stack and nobody else needs.
    pub(super) fn let_go_of_operands(&mut self) {
        if self.lifetimes.tail != 0 {
            self.delete_each(self.locals_that_end(|em, var| !em.lifetimes.kept.contains(&var)));
        }
        self.let_go_of_parts();
    }

    /// Delete the locals that were parts of other values only: those hold them by now, and may let go of them; and the
    /// arguments of a continuation that the frames have used up. What frames of the program have bound they hold until the
    /// break instruction is over, needed or not.
    fn let_go_of_parts(&mut self) {
        let Some(mut work) = self.lifetimes.handed_on.clone() else { return };
        work.extend(bound_by_frames(self.captured));
        let built: HashSet<VarId> = self.temps().map(|(var, _)| var).collect();
        let mut needed = HashSet::new();
        while let Some(var) = work.pop() {
            if needed.insert(var) && !built.contains(&var) && !self.captured.found_outside(var) {
                work.extend(self.captured.parts(var));
            }
        }
        let kept: HashSet<Local> =
            self.temps().filter(|(var, _)| needed.contains(var)).map(|(_, local)| local).collect();
        let is_over = |(var, local): &(VarId, Local)| {
            !kept.contains(local) && self.captured.holds(*var, |held| self.captured.takes_weak_references(held))
        };
        let mut over: Vec<(VarId, Local)> = self.temps().filter(is_over).collect();
        over.sort_unstable_by_key(|(_, local)| local.0);
        let read = needed.iter().filter(|var| !built.contains(*var) && self.constant_object(**var).is_none());
        let read: HashSet<Local> = read.filter_map(|var| slot_below(self.captured, *var)).collect();
        let used_up = self.lifetimes.used_up.iter().filter(|slot| !read.contains(*slot));
        over.extend(used_up.map(|slot| (self.captured.received[slot.0 as usize], *slot)));
        self.delete_each(over);
    }

    /// Before the tail.
    pub(super) fn let_go_at_tail(&mut self) -> Result<(), Stop> {
        self.let_go(self.lifetimes.tail)
    }

    /// Before an exception is raised that lies on the stack: no local keeps it, or another, unless `exit` hands it on or
    /// a frame of the program shows it. Its traceback holds frames whose caller is this one, which would hold itself.
    pub(super) fn let_go_of_exceptions(&mut self, exit: Option<&Exit>, shown: &[VarId]) {
        let mut work = exit.map_or_else(Vec::new, |exit| exit.vars().collect());
        work.extend(shown);
        let mut handed_on = HashSet::new();
        while let Some(var) = work.pop() {
            if handed_on.insert(var) && !self.captured.found_outside(var) {
                work.extend(self.captured.parts(var));
            }
        }
        let held = |(var, _): &(VarId, Local)| !handed_on.contains(var) && self.captured.holds_exception(*var);
        let mut held: Vec<(VarId, Local)> = self.temps().filter(held).collect();
        held.sort_unstable_by_key(|(_, local)| local.0);
        self.delete_each(held);
    }

    /// The value that the frame returns is on the stack: the frame lets go of its locals by itself, in the order of their
    /// indexes, which are made the order of the simulated frames; where they have ended in a handler, say so. What has ended
    /// before the frame goes before it, so that a finalizer finds the frame.
    pub(super) fn let_go_in_order(&mut self) -> Result<(), Stop> {
        if self.lifetimes.tail != 0 {
            let ended: HashSet<VarId> = {
                let places = self.captured.places_of_ends();
                let inside = |var: &VarId| places.end(*var).is_some_and(|end| end.at.is_some());
                let locals = self.locals_that_end(|_, _| true).into_iter().map(|(var, _)| var);
                locals.filter(inside).collect()
            };
            self.delete_and_tell(|_, var| ended.contains(&var))?;
            let locals = self.locals_that_end(|_, _| true);
            match self.told(&locals).iter().flatten().any(Option::is_some) {
                true => self.delete_and_tell(|_, _| true)?,
                false => self.put_in_order(locals),
            }
        }
        self.tell(None)
    }

    /// Move values so that the indexes of their locals are in this order.
    fn put_in_order(&mut self, locals: Vec<(VarId, Local)>) {
        let mut last = 0;
        for (var, local) in locals {
            last = match local.0 < last {
                true => {
                    self.load(local);
                    self.delete_each(vec![(var, local)]);
                    let behind = self.new_temp();
                    self.store(behind);
                    behind.0
                }
                false => local.0,
            };
        }
    }

    /// Nothing is in the locals any more, bound or not: the frame object may outlive the frame.
    pub(super) fn empty_locals(&mut self) {
        self.empty(|_| true);
    }

    /// As `empty_locals`, but for the variables of the simulated frames, which a traceback may show.
    pub(super) fn empty_all_but_variables(&mut self) {
        let shown = self.captured.frames.iter().flat_map(|frame| {
            let FrameEnd { locals, cells, .. } = self.captured.end_of_left(frame);
            locals.into_iter().chain(cells)
        });
        let variables: HashSet<VarId> = shown.map(|(_, var)| var).collect();
        let slots = self.captured.received.iter().enumerate().map(|(slot, var)| (*var, Local(slot as u32)));
        let shown = slots.chain(self.temps()).filter(|(var, _)| variables.contains(var));
        let slot = |var: &VarId| self.captured.trackers.get(self.captured.var(*var).tracker).as_slot().map(Local);
        let shown: HashSet<Local> = shown.map(|(_, local)| local).chain(variables.iter().filter_map(slot)).collect();
        self.empty(|local| !shown.contains(&local));
    }

    fn empty(&mut self, which: impl Fn(Local) -> bool) {
        for local in self.b.locals().filter(|local| which(*local)) {
            self.push_none();
            self.emit(Op::StoreFast(local));
        }
    }

    /// Delete the locals that are over, each while what was handled at the end of its value is being handled.
    fn delete_and_tell(&mut self, over: impl Fn(&Self, VarId) -> bool) -> Result<(), Stop> {
        if self.lifetimes.tail == 0 {
            return Ok(());
        }
        let mut locals = self.locals_that_end(&over);
        let mut told = self.told(&locals);
        let wanted: Vec<VarId> = told.iter().flatten().flatten().copied().collect();
        if !wanted.is_empty() {
            // What is made to be told may be over as well.
            for exception in wanted {
                self.have(exception)?;
            }
            locals = self.locals_that_end(&over);
            told = self.told(&locals);
        }
        // One that is told behind its own end goes last; or stays, where a local ends later than its value.
        let mut told_later = Vec::new();
        let rest = self.told_to_rest(&locals);
        let before = self.location();
        let places = self.places(&locals);
        for (at, local) in locals.into_iter().enumerate() {
            if rest.contains(&local.0) {
                continue;
            }
            if let Some(handled) = told[at] {
                self.tell(handled)?;
            }
            self.set_location(places[at].unwrap_or(before));
            match told[at..].contains(&Some(Some(local.0))) {
                true => told_later.push(local),
                false => self.delete_each(vec![local]),
            }
        }
        self.delete_each(told_later);
        self.set_location(before);
        Ok(())
    }

    /// The exceptions that will be told when locals that are left go. Those that stay for that are left as well.
    fn told_to_rest(&self, going: &[(VarId, Local)]) -> HashSet<VarId> {
        let mut rest = HashSet::new();
        if going.is_empty() || self.captured.told().next().is_none() {
            return rest;
        }
        let left = self.lifetimes.slots.iter().copied().chain(self.temps());
        let mut left: Vec<(VarId, Local)> = left.filter(|one| !going.contains(one)).collect();
        while !left.is_empty() {
            let found: Vec<VarId> = self.told(&left).into_iter().flatten().flatten().collect();
            let found: Vec<VarId> = found.into_iter().filter(|var| rest.insert(*var)).collect();
            left = going.iter().filter(|(var, _)| found.contains(var)).copied().collect();
        }
        rest
    }

    /// What was handled when the values of locals ended, where they have.
    fn told(&self, locals: &[(VarId, Local)]) -> Vec<Option<Option<VarId>>> {
        if locals.is_empty() || self.handling.is_none() && self.captured.told().next().is_none() {
            return vec![None; locals.len()];
        }
        let places = self.captured.places_of_ends();
        locals.iter().map(|(var, _)| places.end(*var).map(|end| end.handled)).collect()
    }

    /// Where the outermost frame was when the values of locals ended, if they have, and it had not.
    fn places(&self, locals: &[(VarId, Local)]) -> Vec<Option<Location>> {
        let places = self.captured.places_of_ends();
        locals.iter().map(|(var, _)| places.end(*var)?.at).collect()
    }

    fn delete_each(&mut self, locals: Vec<(VarId, Local)>) {
        for (var, local) in locals {
            self.emit(Op::DeleteFast(local));
            self.forget_local(var, local);
        }
    }

    /// Those that are over, in the order of the ends.
    fn locals_that_end(&self, over: impl Fn(&Self, VarId) -> bool) -> Vec<(VarId, Local)> {
        // `super()` looks for the first argument where it was.
        let first_is_needed = uses_super(&self.unit.code);
        let slots = self.lifetimes.slots.iter().filter(|(_, local)| !(first_is_needed && local.0 == 0)).copied();
        let slots = slots.filter(|(var, _)| over(self, *var));
        let temps =
            self.temps().filter(|(var, _)| over(self, *var) && self.lifetimes.hold_watched(self.captured, *var));
        let mut done: Vec<(VarId, Local)> = slots.chain(temps).collect();
        done.sort_unstable_by_key(|(_, local)| local.0);
        done.dedup_by_key(|(_, local)| local.0);
        if done.len() > 1 {
            let places = self.captured.places_of_ends();
            done.sort_by_cached_key(|(var, _)| places.of(*var));
        }
        done
    }

    pub(super) fn forget_local(&mut self, var: VarId, local: Local) {
        self.lifetimes.slots.retain(|(_, slot)| *slot != local);
        self.lifetimes.used_up.retain(|slot| *slot != local);
        self.forget_temp(var, local);
    }
}
