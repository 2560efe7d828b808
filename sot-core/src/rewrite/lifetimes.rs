//! Where the locals of rewritten code are deleted, so that values die when eager drops them.
//!
//! *Watched* values (`captured::lifetimes`) go in their order: positions are those of the emitted code: 0 is the graph, 1 what
//! exceptions have passed, `n + 2` the journal's entry `n`, then comes the tail. A local is deleted at the first position from
//! which neither the simulated frames hold its value nor emitted code needs it; several at one position in the order in which
//! the simulated frames let go of them.
//!
//! Where a break follows, its instruction may show how many hold a value that is not watched: before it, locals go that hold
//! parts of what was built by then, and arguments of a continuation that its frames hold no more. Where neither can matter, no
//! code is emitted.

use super::plan::Tail;
use super::uses;
use crate::captured::Captured;
use crate::variables::VarId;
use hashbrown::{HashMap, HashSet};
use sot_opcodes::Local;
use sot_tracker::{Access, Tracker};
use std::cell::RefCell;

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
    /// What they hand on, where there are values that are held by more than eager's frames would hold them by.
    pub(super) handed_on: Option<Vec<VarId>>,
    /// Argument slots of a continuation whose value no frame and no exit holds by itself when the instruction of a break runs.
    pub(super) used_up: Vec<Local>,
    /// Whether values are watched, or are made of such, as far as that was asked: it is asked again before each entry of the journal.
    watched: RefCell<HashMap<VarId, bool>>,
    /// Before which entry frames let go of what is made of such, as far as that was asked.
    holders: RefCell<HashMap<VarId, Option<usize>>>,
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

/// What the frames of the program hold while the instruction of a break runs, needed or not. Of the innermost's stack its exits
/// tell what lies below the operands.
pub(super) fn bound_by_frames(captured: &Captured) -> Vec<VarId> {
    let mut held = Vec::new();
    for (at, frame) in captured.frames.iter().enumerate() {
        held.extend(frame.locals.iter().chain(&frame.cells).flatten().chain(&frame.handled));
        if at + 1 < captured.frames.len() {
            held.extend(&frame.stack);
        }
    }
    held
}

/// The argument slot that holds or leads to a value.
pub(super) fn slot_below(captured: &Captured, var: VarId) -> Option<Local> {
    match captured.trackers.get(captured.trackers.root(captured.var(var).tracker)) {
        Tracker::Root(Access::Slot(slot)) if captured.found_outside(var) => Some(Local(*slot)),
        _ => None,
    }
}

impl Lifetimes {
    /// Find the arguments of a continuation that frames and exits do not hold by themselves when the instruction of a break runs.
    fn find_used_up(&mut self, captured: &Captured, kept: &[VarId]) {
        let mut held: HashSet<VarId> = kept.iter().copied().collect();
        held.extend(bound_by_frames(captured));
        let received = captured.received.iter().enumerate();
        let ended = received.filter(|(_, var)| captured.may_live_on(**var) && !held.contains(*var));
        self.used_up = ended.map(|(slot, _)| Local(slot as u32)).collect();
    }

    pub(super) fn plan(captured: &Captured, tail: &Tail, arguments: usize) -> Lifetimes {
        let mut plan = Lifetimes::default();
        if matches!(tail, Tail::Break(_)) {
            let kept = tail.kept();
            plan.find_used_up(captured, &kept);
            plan.handed_on = (captured.has_made_watchable() || !plan.used_up.is_empty()).then_some(kept);
        }
        if captured.watched().is_empty() {
            return plan;
        }
        let entries = uses::roots_of_steps(captured);
        plan.tail = entries.len() + 1;
        let inputs: Vec<VarId> = captured.graph.all_inputs().map(|i| i.var).collect();
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

    /// Whether a value is watched, or is made of such.
    pub(super) fn hold_watched(&self, captured: &Captured, var: VarId) -> bool {
        let known = self.watched.borrow().get(&var).copied();
        known.unwrap_or_else(|| {
            let watched = captured.holds_watched(var);
            self.watched.borrow_mut().insert(var, watched);
            watched
        })
    }

    pub(super) fn is_over(&self, captured: &Captured, var: VarId, position: usize) -> bool {
        let needed = self.last_use.get(&var).is_some_and(|last| *last >= position);
        let held = || position < self.tail && self.released(captured, var).is_none_or(|entry| entry + 2 > position);
        !needed && !held()
    }

    /// The entry before which frames let go of a value.
    fn released(&self, captured: &Captured, var: VarId) -> Option<usize> {
        if captured.found_outside(var) {
            return captured.released_before(var);
        }
        *self.holders.borrow_mut().entry(var).or_insert_with(|| captured.holder_released_before(var))
    }
}
