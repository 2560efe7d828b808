//! Values whose death the program could see: which they are, which frame holds them, and which effect came after their end.

use super::Captured;
use crate::frame::Frame;
use crate::natives::Native;
use crate::variables::{GeneratorState, GeneratorVar, Iteration, TupleVar, VarId, VarKind, Variable};
use hashbrown::{HashMap, HashSet};
use sot_opcodes::Location;

/// Parts of simulated values that are searched for a watched one, before it counts as held.
pub(crate) const SEARCHED: usize = 10_000;

/// A watched value that no frame holds any more.
#[derive(Debug)]
pub(crate) struct Released {
    pub(crate) var: VarId,
    /// The number of the journal's entry before which that was so.
    pub(crate) before: usize,
    /// The exception that was being handled when it ended.
    pub(crate) handled: Option<VarId>,
    /// Where the outermost frame was then; `None`: it had ended.
    pub(crate) at: Option<Location>,
}

/// References that one step of the simulation may have taken, in the order in which the interpreter takes them.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) references: Box<[VarId]>,
    /// The exception that was being handled meanwhile.
    pub(crate) handled: Option<VarId>,
    /// Where the outermost frame was; `None`: it had ended.
    pub(crate) at: Option<Location>,
}

/// An entry of the journal that may drop what could be seen to die.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dropping {
    /// Its number.
    pub(crate) entry: usize,
    /// The exception that was being handled.
    pub(crate) handled: Option<VarId>,
    /// Where the outermost frame was.
    pub(crate) at: Option<Location>,
}

/// Watched variables.
#[derive(Default)]
pub struct Watched {
    pub(crate) vars: Vec<VarId>,
    /// Argument slots that hold them: one object may be given several times.
    pub(crate) slots: Vec<(VarId, u32)>,
    /// Argument slots that hold others, which may come to be watched.
    pub(crate) other_slots: Vec<(VarId, u32)>,
    /// Those of the variables that frames may still hold.
    pub(crate) open: Vec<VarId>,
    /// The others, in the order of their ends.
    pub(crate) released: Vec<Released>,
    pub(crate) released_before: HashMap<VarId, usize>,
    /// References that may have been taken, in this order. A value ends with the last of those that led to it.
    pub(crate) taken_by_steps: Vec<Taken>,
    /// The entries of the journal that may drop what could be seen to die, by number.
    pub(crate) dropping: Vec<Dropping>,
    /// How many such steps, and how many watched variables, there were when it was last looked who is still held.
    pub(crate) settled: (usize, usize),
    /// As `settled`, with the length of the journal, when it was last found that no argument has died.
    pub(crate) all_alive: (usize, usize, usize),
    /// An entry of the journal drops a real value whose death could be seen, or stores one which is to be real from then on.
    pub(crate) dropped: bool,
    /// Arguments that ended before anybody looked at them, and whose class is guarded for that: to be asked once. What is taken
    /// back is asked again.
    pub(crate) let_go: HashSet<VarId>,
    /// References to real values that the journal takes, by the address of the value.
    pub(crate) taken: Vec<usize>,
    /// Generators that were made, and have not ended.
    pub(crate) generators: Vec<VarId>,
}

impl Watched {
    /// What was looked up of who holds what is to be asked again.
    pub(crate) fn forget_settled(&mut self) {
        (self.settled, self.all_alive) = Default::default();
    }
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

    /// Whether several values whose death could be seen stand on the stacks of frames: an exception that leaves those lets go of
    /// them from the tops.
    pub(crate) fn stacks_hold_several(&self) -> bool {
        let stacks = self.frames.iter().flat_map(|frame| &frame.stack);
        !self.watched.vars.is_empty() && stacks.filter(|var| self.holds_watched(**var)).nth(1).is_some()
    }

    /// The number of the effect before which frames let go of a variable.
    pub fn released_before(&self, var: VarId) -> Option<usize> {
        let effects = self.journal.len();
        self.watched.released_before.get(&var).copied().filter(|at| *at < effects)
    }

    /// As [`Captured::released_before`], of what holds watched variables: who lets go of them holds it no more.
    pub(crate) fn holder_released_before(&self, holder: VarId) -> Option<usize> {
        let mut first = None;
        self.holds(holder, |held| {
            first = first.into_iter().chain(self.released_before(held)).min();
            false
        });
        first
    }

    /// The exceptions that finalizers are told, each with the number of the steps of the replay before it: that of an entry is
    /// its own step's, the others are told behind what comes before the entry.
    pub(crate) fn told(&self) -> impl Iterator<Item = (usize, VarId)> + '_ {
        let released = self.watched.released.iter().map(|released| (released.before, released.handled));
        let dropping = self.watched.dropping.iter().map(|dropping| (dropping.entry + 1, dropping.handled));
        released.chain(dropping).filter_map(|(step, handled)| Some((step, handled?)))
    }

    /// How this entry of the journal was made; `None`: nobody can see what it drops.
    pub(crate) fn dropping(&self, entry: usize) -> Option<Dropping> {
        let at = self.watched.dropping.binary_search_by_key(&entry, |dropping| dropping.entry).ok()?;
        Some(self.watched.dropping[at])
    }

    /// Whether the program could see when a frame, or whoever else holds the value for it, lets go of it over a break: it is, or
    /// leads to, an object from before, of which others may let go while the code of the break runs, or what somebody may
    /// refer to weakly. How many others hold that now does not matter: the code of a break may change it.
    ///
    /// Of a value that nobody has looked at no guard tells the kind, so it lives on whatever it is. A tensor does not, since it
    /// would be another output of the graph; nor what cannot be made again.
    pub(crate) fn lives_on(&self, var: VarId) -> bool {
        let mut seen = HashSet::new();
        let mut work = vec![self.whole(var)];
        while let Some(held) = work.pop() {
            if seen.len() > SEARCHED || self.may_be_missed(held) {
                return !self.contains_itself(var);
            }
            if seen.insert(held) {
                work.extend(self.held_by(held));
            }
        }
        false
    }

    /// As [`Captured::lives_on`], of the value itself.
    fn may_be_missed(&self, var: VarId) -> bool {
        use VarKind::*;
        let Variable { kind, tracker, looked, .. } = self.var(var);
        if !self.found_outside(var) {
            return self.takes_weak_references(var) || self.may_clean_up(var);
        }
        match kind {
            Null(_) | Previous(_) => false,
            _ if !looked => true,
            Constant(_) | Tensor(_) => false,
            // Guards and code hold them anyway.
            Function(_) | Builtin(_) | Class(_) | Module(_) | Layer(_) => !self.is_under_constant(*tracker),
            _ => true,
        }
    }

    /// Whether a value might live on, without a look at what it leads to.
    pub(crate) fn may_live_on(&self, var: VarId) -> bool {
        use VarKind::*;
        match &self.var(var).kind {
            Null(_) | Previous(_) => false,
            _ if self.found_outside(var) => self.may_be_missed(var),
            Generator(_) => self.may_clean_up(var),
            kind => !matches!(kind, Constant(_) | Tensor(_) | Builtin(_) | Class(_) | Module(_)),
        }
    }

    /// Whether a value leads to a container that the simulation made and that leads to itself: no code can make it again.
    fn contains_itself(&self, var: VarId) -> bool {
        let (mut open, mut closed) = (Vec::new(), HashSet::new());
        let mut work = vec![(self.whole(var), false)];
        while let Some((var, left)) = work.pop() {
            if left {
                closed.extend(open.pop());
                continue;
            }
            if open.contains(&var) {
                return true;
            }
            use VarKind::*;
            let is_container = matches!(self.var(var).kind, Tuple(_) | List(_) | Dict(_) | Set(_) | Deque(_));
            if closed.contains(&var) || self.found_outside(var) || !is_container {
                continue;
            }
            open.push(var);
            work.push((var, true));
            work.extend(self.held_by(var).into_iter().map(|held| (held, false)));
        }
        false
    }

    /// Whether somebody may refer to a value of a frame weakly, or will by what a break does, by what is known of it now.
    pub fn may_be_seen_to_die(&self, var: VarId) -> bool {
        let handed_over = || {
            let tracker = self.var(var).tracker;
            self.has_path(tracker) && self.trackers.get(self.trackers.root(tracker)).is_slot()
        };
        let in_hand = || {
            let crossing = |frame: &Frame| {
                let values = frame.stack.iter().chain(frame.locals.iter().flatten().filter(|local| **local != var));
                values.copied().any(|value| value == var || self.holds(value, |held| held == var))
            };
            self.frames.iter().any(crossing)
        };
        let cleans_up = || {
            self.may_clean_up(var)
                || !self.watched.generators.is_empty() && self.holds(var, |held| self.may_clean_up(held))
        };
        self.is_watchable(var) && (handed_over() || in_hand()) || cleans_up() || self.holds_watched(var)
    }

    /// Whether somebody may refer to an instance, or a set, weakly.
    pub(crate) fn is_watchable(&self, var: VarId) -> bool {
        match &self.var(var).kind {
            VarKind::Instance(instance) => instance.may_be_watched,
            VarKind::Set(_) => true,
            _ => false,
        }
    }

    /// Whether somebody may refer to a value weakly.
    pub(crate) fn takes_weak_references(&self, var: VarId) -> bool {
        use VarKind::*;
        match &self.var(var).kind {
            Instance(_) | Set(_) => self.is_watchable(var),
            Native(native) => native.native != crate::natives::Native::Proxy,
            Function(_) | Deque(_) | Exception(_) => true,
            // Of the dicts of C some.
            Dict(dict) => dict.class.is_some(),
            Generator(generator) => generator.frame().is_some(),
            // Nobody refers to methods weakly, as each look-up makes another one. The others cannot be, or others hold them.
            Method(_) | Bound(_) | Constant(_) | Tensor(_) | Tuple(_) | List(_) | ByteArray(_) | View(_) | Slice(_)
            | Iterator(_) | Builtin(_) | Class(_) | Module(_) | Layer(_) | Super(_) | Cell(_) | Traceback(_)
            | Null(_) | Previous(_) => false,
        }
    }

    /// Whether the capture made a value to which somebody may refer weakly.
    pub(crate) fn has_made_watchable(&self) -> bool {
        (0..self.vars.len() as u32).map(VarId).any(|var| self.takes_weak_references(var) && !self.found_outside(var))
    }

    /// Whether a generator has code that runs when it is closed, or warns where it was never started.
    pub(crate) fn may_clean_up(&self, var: VarId) -> bool {
        match &self.var(var).kind {
            VarKind::Generator(generator) => {
                let warns = generator.is_coroutine();
                generator.frame().is_some_and(|frame| warns || frame.delegate().is_some() || frame.may_catch())
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

    /// As [`Captured::held_by_frames`], where more is at hand than frames say.
    pub(crate) fn held_by_frames_and(&self, at_hand: &[VarId], wanted: &[VarId]) -> HashSet<VarId> {
        let mut wanted: HashSet<VarId> = wanted.iter().copied().collect();
        let mut found = HashSet::new();
        let whole = self.search_frames(at_hand, |var| {
            if wanted.remove(&var) {
                found.insert(var);
            }
            !wanted.is_empty()
        });
        if whole.is_none() {
            found.extend(wanted);
        }
        found
    }

    /// All that frames hold, themselves or in what they made; `None`: too much.
    pub(crate) fn all_held_by_frames(&self) -> Option<HashSet<VarId>> {
        self.search_frames(&[], |_| true)
    }

    /// A value, and all that frames of the program hold; `None`: too much. A definition may hold what C makes anew, or has not made yet.
    pub(crate) fn held_but_by_hidden_ones(&self, value: VarId) -> Option<HashSet<VarId>> {
        let mut seen: HashSet<VarId> = HashSet::new();
        let mut work: Vec<VarId> = vec![value];
        work.extend(self.frames.iter().filter(|frame| !frame.is_hidden()).flat_map(|frame| frame.values()));
        while let Some(var) = work.pop() {
            let var = self.whole(var);
            if seen.len() > SEARCHED {
                return None;
            }
            let hidden = match &self.var(var).kind {
                VarKind::Generator(generator) => generator.frame().is_some_and(|frame| frame.is_hidden()),
                _ => false,
            };
            if seen.insert(var) && !hidden {
                work.extend(self.held_by(var));
            }
        }
        Some(seen)
    }

    /// What frames hold is shown one by one, with what else is at hand, as long as more is asked for; `None`: that was too much.
    fn search_frames(&self, at_hand: &[VarId], mut goes_on: impl FnMut(VarId) -> bool) -> Option<HashSet<VarId>> {
        let mut seen: HashSet<VarId> = HashSet::new();
        let mut work: Vec<VarId> = at_hand.to_vec();
        for frame in &self.frames {
            work.extend(frame.values());
        }
        work.extend(self.prototypes());
        while let Some(var) = work.pop() {
            let var = self.whole(var);
            if seen.len() > SEARCHED {
                return None;
            }
            if seen.insert(var) {
                if !goes_on(var) {
                    break;
                }
                work.extend(self.held_by(var));
            }
        }
        Some(seen)
    }

    /// What a value holds that is not its own from before: a generator all that its frame does, needed or not; a traceback
    /// what its frames do.
    fn held_by(&self, var: VarId) -> Vec<VarId> {
        self.held_by_as(var, &self.var(var).kind)
    }

    /// As [`Captured::held_by`], when the variable is or was of such a kind.
    fn held_by_as(&self, var: VarId, kind: &VarKind) -> Vec<VarId> {
        match kind {
            VarKind::Exception(e) if self.found_outside(var) => {
                self.held_by_traceback_of(e).chain(e.state.outlives.iter().copied()).collect()
            }
            // What holds the same for as long as it lives.
            VarKind::Method(_) | VarKind::Bound(_) | VarKind::Tuple(TupleVar { class: None, .. }) => {
                self.parts_as(var, kind)
            }
            _ if self.found_outside(var) => Vec::new(),
            // It is a number.
            VarKind::Native(native) if native.native == Native::Id => Vec::new(),
            VarKind::Generator(generator) => {
                let values = generator.frame().into_iter().flat_map(|frame| frame.values());
                values.map(|value| self.whole(value)).collect()
            }
            // Not who was raised.
            VarKind::Traceback(traceback) => self.held_by_traceback(traceback.exception).collect(),
            VarKind::Set(set) => match self.histories.held.get(&set.state) {
                Some(members) => members.to_vec(),
                None => self.parts_as(var, kind),
            },
            _ => self.parts_as(var, kind),
        }
    }

    /// What a variable held when it was of another kind, and holds no more, in the order in which the interpreter lets go of it.
    pub(crate) fn held_before(&self, var: VarId, before: &VarKind) -> Vec<VarId> {
        let mut held = self.held_by_as(var, before);
        if held.is_empty() {
            return held;
        }
        let now = self.held_by(var);
        let begin = held.iter().zip(&now).take_while(|(old, new)| old == new).count();
        let (old, new) = (&held[begin..], &now[begin..]);
        let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
        held.truncate(held.len() - end);
        held.drain(..begin);
        if lets_go_of_the_last_first(before) {
            held.reverse();
        }
        held
    }

    /// As [`Captured::held_by`], in the order in which the interpreter lets go of it when the value ends.
    fn held_at_end(&self, var: VarId) -> Vec<VarId> {
        let mut held = self.held_by(var);
        match &self.var(var).kind {
            kind if lets_go_of_the_last_first(kind) => held.reverse(),
            _ if self.found_outside(var) => {}
            VarKind::Generator(generator) => {
                held = generator.frame().map_or_else(Vec::new, |frame| frame.values_at_end());
            }
            VarKind::Exception(e) => {
                held = e.state.group.iter().flat_map(|group| [group.message, group.exceptions]).collect();
                held.extend(e.state.about.iter().map(|(_, value)| *value));
                held.extend(self.virtual_attributes(var).into_iter().map(|attribute| attribute.value));
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
        let taken: Vec<VarId> = taken.iter().map(|var| self.whole(*var)).collect();
        let mut work = taken.clone();
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
        let mut work: Vec<VarId> = taken.into_iter().rev().collect();
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

    /// Values that nobody holds in the order of their ends, each with the step that it ended with. What no step came to is found in
    /// a container only, and nobody took it out: it comes first, so that it ends with the container. `steps`: those that may have
    /// come before the ends. `held`: all that somebody holds.
    pub(crate) fn in_order_of_ends<'a>(
        &self,
        unheld: Vec<VarId>,
        steps: &'a [Taken],
        mut held: HashSet<VarId>,
    ) -> Vec<(VarId, Option<&'a Taken>)> {
        let mut left: HashSet<VarId> = unheld.iter().copied().collect();
        let mut ends: Vec<Vec<(VarId, Option<&Taken>)>> = Vec::new();
        // What a later step came to was alive before it.
        for taken in steps.iter().rev() {
            if left.is_empty() {
                break;
            }
            let ended = self.order_of_ends(&taken.references, &held);
            held.extend(&ended);
            ends.push(ended.into_iter().filter(|var| left.remove(var)).map(|var| (var, Some(taken))).collect());
        }
        let unmet = unheld.into_iter().filter(|var| left.contains(var));
        let mut ordered: Vec<_> = unmet.map(|var| (var, None)).collect();
        ordered.extend(ends.into_iter().rev().flatten());
        ordered
    }

    /// Where locals come among those that are deleted at one place.
    pub(crate) fn places_of_ends(&self) -> PlacesOfEnds<'_> {
        let mut places = PlacesOfEnds { captured: self, first: HashMap::new(), last_of_slot: HashMap::new() };
        for (place, Released { var: ended, .. }) in self.watched.released.iter().enumerate() {
            places.first.entry(*ended).or_insert(place);
            if let Some(slot) = self.trackers.get(self.trackers.root(self.var(*ended).tracker)).as_slot() {
                places.last_of_slot.insert(slot, place);
            }
        }
        places
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
    pub(crate) fn holds(&self, var: VarId, mut wanted: impl FnMut(VarId) -> bool) -> bool {
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

/// Where locals come among those that are deleted at one place: a local that holds a value with the first end of what it holds;
/// that of an object that was given with the last, since it keeps what was taken out of it.
pub(crate) struct PlacesOfEnds<'a> {
    captured: &'a Captured,
    first: HashMap<VarId, usize>,
    last_of_slot: HashMap<u32, usize>,
}

impl PlacesOfEnds<'_> {
    pub(crate) fn of(&self, var: VarId) -> usize {
        if let Some(slot) = self.captured.trackers.get(self.captured.var(var).tracker).as_slot() {
            return self.last_of_slot.get(&slot).copied().unwrap_or(usize::MAX);
        }
        let mut place = usize::MAX;
        self.captured.holds(var, |held| {
            place = place.min(self.first.get(&held).copied().unwrap_or(usize::MAX));
            false
        });
        place
    }

    /// How the value of a local ended; `None`: it has not.
    pub(crate) fn end(&self, var: VarId) -> Option<&Released> {
        let place = self.first.get(&var).copied().unwrap_or_else(|| self.of(var));
        self.captured.watched.released.get(place)
    }
}

/// Whether a value lets go of its parts from the last to the first.
fn lets_go_of_the_last_first(kind: &VarKind) -> bool {
    match kind {
        VarKind::Tuple(_) | VarKind::List(_) => true,
        VarKind::Iterator(iterator) => matches!(iterator.state, Iteration::Zip { .. } | Iteration::Map { .. }),
        _ => false,
    }
}
