//! Values whose death the program could see: which they are, which frame holds them, and which effect came after their end.

use super::Captured;
use crate::variables::{GeneratorState, GeneratorVar, Iteration, VarId, VarKind};
use hashbrown::{HashMap, HashSet};
use sot_tracker::Tracker;

/// Parts of simulated values that are searched for a watched one, before it counts as held.
pub(crate) const SEARCHED: usize = 10_000;

/// Watched variables.
#[derive(Default)]
pub struct Watched {
    pub(crate) vars: Vec<VarId>,
    /// Argument slots that hold them: one object may be given several times.
    pub(crate) slots: Vec<(VarId, u32)>,
    /// Those of the variables that frames may still hold.
    pub(crate) open: Vec<VarId>,
    /// The others, with the number of the journal's entry before which no frame held them, in the order of these.
    pub(crate) released: Vec<(usize, VarId)>,
    pub(crate) released_before: HashMap<VarId, usize>,
    /// Those that were dropped, in this order, and perhaps taken in hand again: the last time counts.
    pub(crate) ends: Vec<VarId>,
    /// The length of the journal with an entry that drops a real value whose death could be seen, or that stores one which
    /// is to be real from then on.
    pub(crate) dropped: Option<usize>,
    /// References to real values that the journal takes: the length of the journal with the entry, and the address.
    pub(crate) taken: Vec<(usize, usize)>,
    /// Generators that were made, and have not ended.
    pub(crate) generators: Vec<VarId>,
}

impl Captured {
    /// Argument slots that hold watched variables.
    pub fn watched_slots(&self) -> &[(VarId, u32)] {
        &self.watched.slots
    }

    /// Variables whose death could be seen, in the order in which they were found.
    pub fn watched(&self) -> &[VarId] {
        &self.watched.vars
    }

    /// The number of the effect before which frames let go of a variable.
    pub fn released_before(&self, var: VarId) -> Option<usize> {
        let effects = self.journal.len();
        self.watched.released_before.get(&var).copied().filter(|at| *at < effects)
    }

    /// Whether a local that is not read any more must live on over a break: somebody may refer to it weakly, or will by what
    /// the break does.
    pub fn may_be_seen_to_die(&self, var: VarId) -> bool {
        let handed_over = || {
            let root = self.trackers.root(self.var(var).tracker);
            self.has_path(self.var(var).tracker) && matches!(self.trackers.get(root), Tracker::Slot(_))
        };
        let in_hand = || self.frames.last().is_some_and(|frame| frame.stack.contains(&var));
        let may_be_watched = matches!(&self.var(var).kind, VarKind::Instance(instance) if instance.may_be_watched);
        may_be_watched && (handed_over() || in_hand()) || self.may_clean_up(var) || self.holds_watched(var)
    }

    /// Whether a generator has code that runs when it is closed.
    pub(crate) fn may_clean_up(&self, var: VarId) -> bool {
        match &self.var(var).kind {
            VarKind::Generator(generator) => {
                generator.frame().is_some_and(|frame| frame.delegate().is_some() || frame.may_catch())
            }
            _ => false,
        }
    }

    pub(crate) fn has_finished(&self, var: VarId) -> bool {
        matches!(&self.var(var).kind, VarKind::Generator(GeneratorVar { state: GeneratorState::Finished, .. }))
    }

    /// Those of the variables that frames hold, themselves or in what they made.
    pub(crate) fn held_by_frames(&self, wanted: &[VarId]) -> HashSet<VarId> {
        self.held_by_frames_and(&[], wanted)
    }

    /// Those that frames or some other values hold.
    pub(crate) fn held_by_frames_and(&self, others: &[VarId], wanted: &[VarId]) -> HashSet<VarId> {
        let mut seen: HashSet<VarId> = HashSet::new();
        let mut work: Vec<VarId> = others.to_vec();
        for frame in &self.frames {
            work.extend(frame.values());
        }
        while let Some(var) = work.pop() {
            if seen.len() > SEARCHED {
                return wanted.iter().copied().collect();
            }
            if seen.insert(var) {
                work.extend(self.held_by(var));
            }
        }
        seen
    }

    /// What a value holds that is not its own from before: a generator all that its frame does, needed or not; a traceback
    /// what its frames do.
    fn held_by(&self, var: VarId) -> Vec<VarId> {
        match &self.var(var).kind {
            VarKind::Exception(_) if self.found_outside(var) => self.held_by_traceback(var).collect(),
            _ if self.found_outside(var) => Vec::new(),
            VarKind::Generator(generator) => generator.frame().map_or_else(Vec::new, |frame| frame.values().collect()),
            _ => self.parts(var),
        }
    }

    /// As [`Captured::held_by`], in the order in which the interpreter lets go of it when the value ends.
    fn held_at_end(&self, var: VarId) -> Vec<VarId> {
        let mut held = self.held_by(var);
        match &self.var(var).kind {
            _ if self.found_outside(var) => {}
            VarKind::Tuple(_) | VarKind::List(_) => held.reverse(),
            VarKind::Iterator(iterator) if matches!(iterator.state, Iteration::Zip { .. }) => held.reverse(),
            VarKind::Generator(generator) => {
                held = generator.frame().map_or_else(Vec::new, |frame| frame.values_at_end());
            }
            VarKind::Exception(e) => {
                held = e.state.about.iter().map(|(_, value)| *value).collect();
                held.extend(self.virtual_attributes(var).into_iter().map(|(_, value)| value));
                held.extend(e.state.args);
                held.extend(self.held_by_traceback(var));
                held.extend(e.state.cause.flatten());
                held.extend(e.state.context);
            }
            _ => {}
        }
        held
    }

    /// The values that end when references are taken in this order, in the order of their ends: each when the last reference
    /// to it goes, and then at once what it alone held. `kept`: those that live on.
    pub(crate) fn order_of_ends(&self, taken: &[VarId], kept: &HashSet<VarId>) -> Vec<VarId> {
        let mut references: HashMap<VarId, usize> = HashMap::new();
        let mut work = taken.to_vec();
        while let Some(var) = work.pop() {
            let count = references.entry(var).or_insert(0);
            *count += 1;
            if *count == 1 && !kept.contains(&var) {
                work.extend(self.held_at_end(var));
            }
            if references.len() > SEARCHED {
                return Vec::new();
            }
        }
        let mut ended = Vec::new();
        let mut work: Vec<VarId> = taken.iter().rev().copied().collect();
        while let Some(var) = work.pop() {
            let count = references.get_mut(&var).expect("it was counted");
            *count -= 1;
            if *count == 0 && !kept.contains(&var) {
                ended.push(var);
                work.extend(self.held_at_end(var).into_iter().rev());
            }
        }
        ended
    }

    /// Where a local that holds a value comes among those that are deleted at one place: with the first end of what it holds; of
    /// an object that was given with the last, since it keeps what was taken out of it.
    pub fn place_of_end(&self, var: VarId) -> usize {
        let released = || self.watched.released.iter().map(|(_, ended)| *ended).enumerate();
        if let Tracker::Slot(slot) = *self.trackers.get(self.var(var).tracker) {
            let inside = |ended: VarId| {
                let root = self.trackers.root(self.var(ended).tracker);
                ended == var || matches!(*self.trackers.get(root), Tracker::Slot(of) if of == slot)
            };
            return released().rfind(|(_, ended)| inside(*ended)).map_or(usize::MAX, |(place, _)| place);
        }
        let first = released().find(|(_, ended)| self.holds(var, |held| held == *ended));
        first.map_or(usize::MAX, |(place, _)| place)
    }

    /// Whether a value is watched, or is made of such.
    pub fn holds_watched(&self, var: VarId) -> bool {
        !self.watched.vars.is_empty() && self.holds(var, |var| self.watched.vars.contains(&var))
    }

    /// Whether a value is an exception, or is made of such.
    pub fn holds_exception(&self, var: VarId) -> bool {
        self.holds(var, |var| matches!(self.var(var).kind, VarKind::Exception(_) | VarKind::Traceback(_)))
    }

    /// Whether a value is one that is wanted, or is made of such.
    pub(crate) fn holds(&self, var: VarId, wanted: impl Fn(VarId) -> bool) -> bool {
        let mut seen = HashSet::new();
        let mut work = vec![var];
        while let Some(var) = work.pop() {
            if wanted(var) {
                return true;
            }
            if seen.len() > SEARCHED {
                return false;
            }
            if seen.insert(var) {
                work.extend(self.held_by(var));
            }
        }
        false
    }
}
