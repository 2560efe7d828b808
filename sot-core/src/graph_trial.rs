//! Which form of a graph serves: when the compiled form is tried, and what the times come to.
//!
//! To make a compiled form ready may take a framework as long as thousands of its runs ([`CompiledGraph::making_takes`]), and a graph that is
//! called twice never earns that. So replay alone serves until it has taken [`RENT`] times as long. Then both forms run on
//! the same inputs for a few calls.
//!
//! Where extents of inputs vary, the calls of a trial are of different sizes: what is compared are the two times of one call.
//!
//! Calls that the original code has served in place of a capture are calls of its graphs as well: the next one that the capture serves
//! stands for them ([`standing_for`]). Else what loses with replay would never be tried compiled.
//!
//! [`CompiledGraph::making_takes`]: crate::backend::CompiledGraph::making_takes

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// How many times as long as it takes to make the compiled form, replay serves before.
const RENT: u32 = 2;
/// A call that took longer than so many of the fastest has waited for something else.
const OUTLIER: u64 = 16;
/// Calls of each kind that are timed before the choice. The first of each pays for set-up.
const ROUNDS: u64 = 4;

thread_local! {
    static STANDS_FOR: Cell<u64> = const { Cell::new(1) };
}

/// What runs now counts as so many calls of each graph.
pub(crate) fn standing_for<R>(calls: u64, run: impl FnOnce() -> R) -> R {
    struct Before(u64);
    impl Drop for Before {
        fn drop(&mut self) {
            STANDS_FOR.set(self.0);
        }
    }
    let _before = Before(STANDS_FOR.replace(calls));
    run()
}

/// The trial of one graph, in nanoseconds.
#[derive(Default)]
pub(crate) struct GraphTrial {
    /// Calls are of different sizes.
    varies: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// While replay alone serves: calls, the fastest, and what all took together.
    replays: u64,
    fastest: u64,
    replayed: u64,
    /// Calls of the trial.
    calls: u64,
    replay: u64,
    compiled: u64,
    /// Of one call each: replay, compiled.
    pairs: Vec<(u64, u64)>,
}

/// What a call of the trial took.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Took {
    Replay(u64),
    Both { replay: u64, compiled: u64 },
}

impl GraphTrial {
    pub(crate) fn new(varies: bool) -> GraphTrial {
        GraphTrial { varies, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Whether the compiled form is tried, which takes so long to make.
    pub(crate) fn is_due(&self, making: Duration) -> bool {
        let state = self.state();
        state.calls > 0 || u128::from(state.replayed) >= (making * RENT).as_nanos()
    }

    /// Replay alone has served a call, and took so long.
    pub(crate) fn replayed(&self, took: u64) {
        let mut state = self.state();
        state.replays += 1;
        // The first one pays for set-up.
        if state.replays > 1 {
            state.fastest = if state.replays == 2 { took } else { took.min(state.fastest) };
            let took = took.min(state.fastest.saturating_mul(OUTLIER));
            state.replayed = state.replayed.saturating_add(took.saturating_mul(STANDS_FOR.get()));
        }
    }

    /// Whether the next call of the trial runs both forms: every second one does.
    pub(crate) fn runs_both(&self) -> bool {
        !self.state().calls.is_multiple_of(2)
    }

    /// A call of the trial has come to its end. Whether the compiled form is the faster one, once that is known.
    pub(crate) fn record(&self, took: Took) -> Option<bool> {
        let mut state = self.state();
        // Calls that failed do not count: there is always one of each kind after the other.
        state.calls += 1;
        let fastest = |before: u64, now: u64| if before == 0 { now } else { before.min(now) };
        match took {
            _ if state.calls <= 2 => {}
            Took::Replay(replay) => state.replay = fastest(state.replay, replay),
            Took::Both { replay, compiled } => {
                state.compiled = fastest(state.compiled, compiled);
                state.pairs.push((replay, compiled));
            }
        }
        if state.calls < 2 * ROUNDS {
            return None;
        }
        let (replay, compiled) = match self.varies {
            true => middle(&mut state.pairs),
            false => (state.replay, state.compiled),
        };
        // What is hardly faster is not worth another form than the exact one.
        Some(compiled <= replay - replay / 20)
    }
}

/// The pair with the middle quotient.
fn middle(pairs: &mut [(u64, u64)]) -> (u64, u64) {
    pairs.sort_by_key(|(replay, compiled)| compiled.saturating_mul(1 << 20) / replay.max(&1));
    pairs.get(pairs.len() / 2).copied().unwrap_or((0, u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls that replay alone serves.
    fn waits(making: u64, took: u64) -> usize {
        let trial = GraphTrial::default();
        let is_due = || trial.is_due(Duration::from_nanos(making));
        (0..1000).take_while(|_| !is_due()).inspect(|_| trial.replayed(took)).count()
    }

    #[test]
    fn what_is_made_at_once_is_tried_at_once() {
        assert_eq!(waits(0, 100), 0);
    }

    #[test]
    fn replay_serves_until_it_has_taken_twice_as_long() {
        assert_eq!(waits(1000, 100), 21);
        assert_eq!(waits(1000, 5000), 2);
    }

    #[test]
    fn a_call_that_waited_is_no_long_one() {
        let trial = GraphTrial::default();
        [10, 10, 1_000_000].iter().for_each(|took| trial.replayed(*took));
        assert!(!trial.is_due(Duration::from_nanos(100)));
    }

    #[test]
    fn a_call_stands_for_those_that_the_original_code_has_served() {
        let trial = GraphTrial::default();
        trial.replayed(10);
        standing_for(100, || trial.replayed(10));
        assert!(trial.is_due(Duration::from_nanos(500)));
        assert!(!trial.is_due(Duration::from_nanos(600)));
    }

    fn choice(varies: bool, sizes: impl Fn(u64) -> u64, quotient: f64) -> bool {
        let trial = GraphTrial::new(varies);
        let took = |size: u64| match trial.runs_both() {
            true => Took::Both { replay: size, compiled: (size as f64 * quotient) as u64 },
            false => Took::Replay(size),
        };
        (0..100).find_map(|call| trial.record(took(sizes(call)))).expect("a choice")
    }

    #[test]
    fn the_faster_form_serves_and_replay_where_both_are_alike() {
        for varies in [false, true] {
            assert!(choice(varies, |_| 1000, 0.5));
            assert!(!choice(varies, |_| 1000, 0.96));
            assert!(!choice(varies, |_| 1000, 2.0));
        }
    }

    #[test]
    fn sizes_that_grow_or_shrink_make_no_difference() {
        for quotient in [0.8, 1.2] {
            assert_eq!(choice(true, |call| 1000 * (call + 1), quotient), quotient < 1.0);
            assert_eq!(choice(true, |call| 1_000_000 / (call + 1), quotient), quotient < 1.0);
        }
    }
}
