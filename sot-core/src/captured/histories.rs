//! What became of sets: each state of a set is a step from an earlier one.
//!
//! The order of a set is that of its table, which tells of all that happened to it: of sizes that it had, of members that are
//! gone, of the sets that it was made of. So a set is its history. The simulation does the same with real sets, whose members
//! stand for values (`executor/sets.rs`), and rewritten code does it again (`rewrite/sets.rs`), where no display of members comes to the same.

use super::Captured;
use crate::variables::{SetState, SetVar, VarId, VarKind};
use hashbrown::{HashMap, HashSet};
use sot_opcodes::BinaryOp;
use sot_tracker::ObjectId;
use std::rc::Rc;

/// How a set came to be what it is.
#[derive(Clone)]
pub enum SetStep {
    /// It existed before the frame.
    Found { object: ObjectId, var: VarId },
    /// `set(..)` or `frozenset(..)`
    New { of: Option<SetOperand> },
    /// The same set, after a method that changed it.
    Changed { before: SetState, method: &'static str, operands: Vec<SetOperand> },
    /// A set that is being changed: code of the program is asked meanwhile, and must not see it.
    Changing { before: SetState },
    /// What a method of another one gave.
    Made { from: SetState, method: &'static str, operands: Vec<SetOperand> },
    /// What an operator gave.
    Operated { op: BinaryOp, left: SetOperand, right: SetOperand },
}

/// What was combined with a set, as it was then.
#[derive(Clone, PartialEq)]
pub enum SetOperand {
    Item(VarId),
    /// Items one by one.
    Items(Rc<[VarId]>),
    /// A dict with these keys.
    Keys(Rc<[VarId]>),
    /// The `keys()` of such a dict.
    View(Rc<[VarId]>),
    Set(SetState),
}

impl SetOperand {
    fn state(&self) -> Option<SetState> {
        match self {
            SetOperand::Set(state) => Some(*state),
            _ => None,
        }
    }

    pub(crate) fn items(&self) -> &[VarId] {
        match self {
            SetOperand::Item(item) => std::slice::from_ref(item),
            SetOperand::Items(items) | SetOperand::Keys(items) | SetOperand::View(items) => items,
            SetOperand::Set(_) => &[],
        }
    }
}

impl SetStep {
    /// The states that a step starts from, and what it takes beside.
    pub(crate) fn sources(&self) -> (Vec<SetState>, Vec<VarId>) {
        let (first, operands): (Option<SetState>, Vec<&SetOperand>) = match self {
            SetStep::Found { var, .. } => return (Vec::new(), vec![*var]),
            SetStep::Changing { before } => return (vec![*before], Vec::new()),
            SetStep::New { of, .. } => (None, of.iter().collect()),
            SetStep::Changed { before: from, operands, .. } | SetStep::Made { from, operands, .. } => {
                (Some(*from), operands.iter().collect())
            }
            SetStep::Operated { left, right, .. } => (None, vec![left, right]),
        };
        let states = first.into_iter().chain(operands.iter().filter_map(|operand| operand.state())).collect();
        (states, operands.iter().flat_map(|operand| operand.items().iter().copied()).collect())
    }
}

/// What code of the program said while a step was made.
#[derive(Clone)]
pub enum Answers {
    /// It was not asked.
    Nothing,
    /// No two members are equal that are not the same.
    Unequal,
    /// Hashes, and whether two members are equal, in the order in which real sets ask.
    Given(Rc<[i64]>),
    /// As `Given`; the next question was answered by an exception.
    Cut(Rc<[i64]>),
}

/// Where the members of a set lie, and what places the next ones.
pub struct SetLayout {
    /// Places, members, hashes.
    pub members: Vec<(usize, VarId, isize)>,
    pub lost: Vec<usize>,
    pub mask: usize,
    pub finger: usize,
}

struct Recorded {
    step: SetStep,
    answers: Answers,
    frozen: bool,
    /// What the changes of this set began with.
    first: SetState,
}

/// The steps of all sets of a capture.
#[derive(Default)]
pub struct Histories {
    steps: Vec<Recorded>,
    /// Of states that a display of these members comes to, in this order, with the very same table.
    pub(crate) displays: HashMap<SetState, Rc<[VarId]>>,
    /// Of states that are laid out anew, since their history cannot be gone through again, or asks too much.
    pub(crate) layouts: HashMap<SetState, Rc<SetLayout>>,
    /// What sets hold in their states, where it is more than constants.
    pub(crate) held: HashMap<SetState, Rc<[VarId]>>,
}

impl Histories {
    pub(crate) fn add(&mut self, step: SetStep, frozen: bool) -> SetState {
        self.add_answered(step, frozen, Answers::Nothing)
    }

    pub(crate) fn add_answered(&mut self, step: SetStep, frozen: bool, answers: Answers) -> SetState {
        let state = SetState(self.steps.len() as u32);
        let first = match step {
            SetStep::Changed { before, .. } => self.first(before),
            _ => state,
        };
        self.steps.push(Recorded { step, answers, frozen, first });
        state
    }

    pub fn step(&self, state: SetState) -> &SetStep {
        &self.steps[state.0 as usize].step
    }

    pub fn answers(&self, state: SetState) -> &Answers {
        &self.steps[state.0 as usize].answers
    }

    pub fn is_frozen(&self, state: SetState) -> bool {
        self.steps[state.0 as usize].frozen
    }

    /// The state that the changes of a set began with.
    pub(crate) fn first(&self, state: SetState) -> SetState {
        self.steps[state.0 as usize].first
    }

    /// Whether a state can be made without those before it.
    fn is_settled(&self, state: SetState) -> bool {
        self.displays.contains_key(&state) || self.layouts.contains_key(&state)
    }

    /// The steps since `first` that changed one set, in their order, and the one that it starts with.
    pub fn changes(&self, last: SetState) -> (SetState, Vec<SetState>) {
        let (mut state, mut changes) = (last, Vec::new());
        while let SetStep::Changed { before, .. } = self.step(state) {
            if self.is_settled(state) {
                break;
            }
            changes.push(state);
            state = *before;
        }
        changes.reverse();
        (state, changes)
    }

    /// The states that must be made for the changes that come to this one: what they begin with, what it is made of, and what
    /// they take.
    pub(crate) fn beginnings(&self, last: SetState) -> Vec<SetState> {
        let (first, changes) = self.changes(last);
        let mut states: Vec<SetState> = changes
            .into_iter()
            .chain([first])
            .flat_map(|state| match self.step(state) {
                SetStep::Changed { operands, .. } => operands.iter().filter_map(SetOperand::state).collect(),
                step => step.sources().0,
            })
            .collect();
        states.push(first);
        states
    }

    /// The states that making this one again starts from, itself included.
    pub(crate) fn involved(&self, last: SetState) -> Vec<SetState> {
        let (mut seen, mut order, mut work) = (HashSet::new(), Vec::new(), vec![last]);
        while let Some(state) = work.pop() {
            if seen.insert(state) {
                order.push(state);
                if !self.is_settled(state) {
                    work.extend(self.step(state).sources().0);
                }
            }
        }
        order
    }
}

impl Captured {
    /// What making a set again needs. Of one that nobody has looked at nothing is known, and it is there.
    pub(super) fn parts_of_set(&self, set: &SetVar) -> Vec<VarId> {
        let mut parts = Vec::new();
        if set.state == SetState::UNSEEN {
            return parts;
        }
        for state in self.histories.involved(set.state) {
            match (self.histories.displays.get(&state), self.histories.layouts.get(&state)) {
                (Some(members), _) => parts.extend(members.iter().copied()),
                (None, Some(layout)) => parts.extend(layout.members.iter().map(|member| member.1)),
                (None, None) => parts.extend(self.histories.step(state).sources().1),
            }
        }
        parts
    }

    /// The state of what may stand for a set in a history.
    pub(crate) fn state_of_set(&self, var: VarId) -> Option<SetState> {
        match &self.var(var).kind {
            VarKind::Set(set) => Some(set.state),
            _ => None,
        }
    }
}
