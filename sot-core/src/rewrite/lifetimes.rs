//! Where the locals of rewritten code are deleted, so that values die when eager drops them.
//!
//! Only *watched* values count (`executor::lifetimes`): where there is none, no code is emitted. Positions are those of
//! the emitted code: 0 is the graph, `n + 1` the journal's entry `n`, and behind the last one is the tail. A local is
//! deleted at the first position from which neither the simulated frames hold its value nor emitted code needs it.

use super::emit::Emitter;
use super::{breaks::Tail, journal};
use crate::captured::Captured;
use crate::shapes::uses_super;
use crate::variables::VarId;
use hashbrown::{HashMap, HashSet};
use sot_opcodes::{Local, Op};

/// What is known about the ends of lives.
#[derive(Default)]
pub(super) struct Lifetimes {
    /// The last position that needs a variable.
    last_use: HashMap<VarId, usize>,
    /// Position of the tail.
    tail: usize,
    /// Argument slots that hold watched values.
    slots: Vec<(VarId, Local)>,
    /// What the exits of a break need.
    kept: HashSet<VarId>,
}

/// Add all that building the roots needs.
fn reach(captured: &Captured, roots: &[VarId], mut first: impl FnMut(VarId) -> bool) {
    let mut work = roots.to_vec();
    while let Some(var) = work.pop() {
        if first(var) && !captured.found_outside(var) {
            work.extend(captured.parts(var));
        }
    }
}

impl Lifetimes {
    pub(super) fn plan(captured: &Captured, tail: &Tail, arguments: usize) -> Lifetimes {
        let mut plan = Lifetimes::default();
        if captured.watched().is_empty() {
            return plan;
        }
        let entries = journal::roots_of_steps(captured);
        plan.tail = entries.len() + 1;
        let inputs: Vec<VarId> = captured.graph.inputs.iter().map(|i| i.var).collect();
        let all = std::iter::once(inputs).chain(entries).chain([tail.roots()]);
        for (position, roots) in all.enumerate().collect::<Vec<_>>().into_iter().rev() {
            reach(captured, &roots, |var| {
                let new = !plan.last_use.contains_key(&var);
                if new {
                    plan.last_use.insert(var, position);
                }
                new
            });
        }
        reach(captured, &tail.kept(), |var| plan.kept.insert(var));
        let slots = captured.watched_slots().iter().filter(|(_, slot)| (*slot as usize) < arguments);
        plan.slots = slots.map(|(var, slot)| (*var, Local(*slot))).collect();
        plan
    }

    fn is_over(&self, captured: &Captured, var: VarId, position: usize) -> bool {
        let needed = self.last_use.get(&var).is_some_and(|last| *last >= position);
        let held = position < self.tail && captured.released_before(var).is_none_or(|entry| entry + 1 > position);
        !needed && !held
    }
}

impl Emitter<'_, '_> {
    /// Delete the locals whose values are over before a position.
    pub(super) fn let_go(&mut self, position: usize) {
        if self.lifetimes.tail != 0 {
            let over = |em: &Self, var: VarId| em.lifetimes.is_over(em.captured, var, position);
            self.delete_locals(over);
        }
    }

    /// Delete the locals whose values the instruction of a break has on the stack and nobody else needs.
    pub(super) fn let_go_of_operands(&mut self) {
        if self.lifetimes.tail != 0 {
            self.delete_locals(|em, var| !em.lifetimes.kept.contains(&var));
        }
    }

    /// Before the tail.
    pub(super) fn let_go_at_tail(&mut self) {
        self.let_go(self.lifetimes.tail);
    }

    fn delete_locals(&mut self, over: impl Fn(&Self, VarId) -> bool) {
        // `super()` looks for the first argument where it was.
        let first_is_needed = uses_super(&self.unit.code);
        let slots = self.lifetimes.slots.iter().filter(|(_, local)| !(first_is_needed && local.0 == 0)).copied();
        let temps = self.temps().filter(|(var, _)| self.captured.holds_watched(*var));
        let mut done: Vec<(VarId, Local)> = slots.chain(temps).filter(|(var, _)| over(self, *var)).collect();
        done.sort_unstable_by_key(|(_, local)| local.0);
        done.dedup_by_key(|(_, local)| local.0);
        for (var, local) in done {
            self.emit(Op::DeleteFast(local));
            self.forget_local(var, local);
        }
    }

    pub(super) fn forget_local(&mut self, var: VarId, local: Local) {
        self.lifetimes.slots.retain(|(_, slot)| *slot != local);
        self.forget_temp(var, local);
    }
}
