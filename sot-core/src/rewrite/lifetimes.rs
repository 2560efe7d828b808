//! Where the locals of rewritten code are deleted, so that values die when eager drops them.
//!
//! Only *watched* values count (`captured::lifetimes`): where there is none, no code is emitted. Positions are those of
//! the emitted code: 0 is the graph, 1 what exceptions have passed, `n + 2` the journal's entry `n`, then comes the tail. A
//! local is deleted at the first position from which neither the simulated frames hold its value nor emitted code needs it;
//! several at one position in the order in which the simulated frames let go of them.

use super::plan::Tail;
use super::uses;
use crate::captured::Captured;
use crate::variables::VarId;
use hashbrown::{HashMap, HashSet};
use sot_opcodes::Local;

/// What is known about the ends of lives.
#[derive(Default)]
pub(super) struct Lifetimes {
    /// The last position that needs a variable.
    last_use: HashMap<VarId, usize>,
    /// Position of the tail.
    pub(super) tail: usize,
    /// Argument slots that hold watched values.
    pub(super) slots: Vec<(VarId, Local)>,
    /// What the exits of a break need.
    pub(super) kept: HashSet<VarId>,
    /// What they hand on, where the capture made objects that the break instruction may come to refer to weakly.
    pub(super) handed_on: Option<Vec<VarId>>,
}

/// Add all that building the roots needs.
fn reach(captured: &Captured, roots: &[VarId], mut first: impl FnMut(VarId) -> bool) {
    let mut work = roots.to_vec();
    while let Some(var) = work.pop() {
        let var = captured.whole(var);
        if first(var) && !captured.found_outside(var) {
            work.extend(captured.parts(var));
        }
    }
}

impl Lifetimes {
    pub(super) fn plan(captured: &Captured, tail: &Tail, arguments: usize) -> Lifetimes {
        let mut plan = Lifetimes::default();
        if matches!(tail, Tail::Break(_)) && captured.has_made_watchable() {
            plan.handed_on = Some(tail.kept());
        }
        if captured.watched().is_empty() {
            return plan;
        }
        let entries = uses::roots_of_steps(captured);
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

    pub(super) fn is_over(&self, captured: &Captured, var: VarId, position: usize) -> bool {
        let needed = self.last_use.get(&var).is_some_and(|last| *last >= position);
        let held = position < self.tail && captured.released_before(var).is_none_or(|entry| entry + 2 > position);
        !needed && !held
    }
}
