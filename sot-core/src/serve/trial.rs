//! Never slower than eager: a captured program competes with the original code.
//!
//! Every call may be served by either, with the same meaning. After the graphs have chosen their executors, some calls
//! of an entry alternate between the two and are timed as a whole (breaks and continuations included); the
//! faster one serves from then on ([`Trial`]). Only calls through an entry take part: there the whole call is in view.
//!
//! A verdict holds for a while. What was measured may have been small inputs of a series that grows, or code that the interpreter had not
//! specialised yet, or another program on the machine; so the trial is held again, ever more seldom, and only when what it costs is
//! a small share of the time since ([`SHARE`]).
//!
//! To look at the guards takes time, too, and the original code needs none: it is right for every call. So where plain Python without
//! a look gains more, on the average of the calls that are seen ([`Balance`]), most calls go to it ([`Unguarded`]). One call in 32 still
//! looks, since another kind of call may gain.

use smallvec::SmallVec;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Calls that are served by the capture before the first trial: the graphs choose their executors in them.
const WARM_UP: u64 = 12;
/// Timed calls of each kind beside the first, which is not counted: of a function that is slow, and of one that is fast.
const PAIRS: usize = 5;
const MANY_PAIRS: usize = 24;
/// A trial of this many nanoseconds has had enough calls.
const ENOUGH: u64 = 500_000;
/// Calls between trials, at least; each time twice as many.
const BETWEEN: u64 = 256;
/// What a trial has cost is at most one in so many parts of the time until the next one.
const SHARE: u64 = 32;

/// Who serves a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    Captured,
    Original,
}

/// How to serve the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub server: Server,
    /// Report the time with [`Trial::record`].
    pub timed: bool,
}

impl Turn {
    /// It is not up to a trial.
    pub const fn settled(server: Server) -> Turn {
        Turn { server, timed: false }
    }
}

/// The state of one entry's trials.
pub struct Trial {
    /// Calls are of different sizes: what is compared are neighbours.
    varies: bool,
    /// Calls until one is held; 0: it is.
    rest: AtomicU64,
    /// Of the last one. 0: there was none, 1: captured, 2: original.
    verdict: AtomicU8,
    /// By how much a call would have been faster as plain Python without a look at the guards.
    plain_gains: AtomicI64,
    times: Mutex<Times>,
}

/// What a trial has measured so far, in nanoseconds.
#[derive(Default)]
struct Times {
    turns: usize,
    captured: SmallVec<[u64; 8]>,
    original: SmallVec<[u64; 8]>,
    /// The shortest look at the guards.
    look: Option<u64>,
    /// Trials before this one.
    before: u32,
}

impl Trial {
    pub fn new(varies: bool) -> Trial {
        Trial {
            varies,
            rest: AtomicU64::new(WARM_UP),
            verdict: AtomicU8::default(),
            plain_gains: AtomicI64::default(),
            times: Mutex::default(),
        }
    }

    /// Whose turn it is.
    pub fn turn(&self) -> Turn {
        let rest = self.rest.load(Ordering::Relaxed);
        if rest > 0 {
            self.rest.store(rest - 1, Ordering::Relaxed);
            return Turn::settled(self.verdict().unwrap_or(Server::Captured));
        }
        let Ok(mut times) = self.times.lock() else { return Turn::settled(Server::Captured) };
        // In pairs: captured and original, then original and captured. Where sizes grow nobody gains by his place.
        let (pair, second) = (times.turns / 2, times.turns % 2);
        times.turns += 1;
        Turn {
            server: if (pair + second).is_multiple_of(2) { Server::Captured } else { Server::Original },
            timed: true,
        }
    }

    /// So many calls were served without its knowledge.
    pub fn skip(&self, calls: u64) {
        let rest = self.rest.load(Ordering::Relaxed);
        if rest > 0 {
            self.rest.store(rest.saturating_sub(calls).max(1), Ordering::Relaxed);
        }
    }

    /// The capture is no longer what it was at the last trial: another one is held now.
    pub fn renew(&self) {
        if let Ok(mut times) = self.times.lock() {
            *times = Times { before: times.before, ..Times::default() };
        }
        self.rest.store(0, Ordering::Relaxed);
    }

    /// A timed call took so long. `look`: beside it, the guards were looked at for so long.
    pub fn record(&self, server: Server, nanoseconds: u64, look: Option<u64>) {
        let Ok(mut times) = self.times.lock() else { return };
        match server {
            Server::Captured => times.captured.push(nanoseconds),
            Server::Original => times.original.push(nanoseconds),
        }
        times.look = times.look.into_iter().chain(look).min();
        let (taken, pairs) = (times.taken(), times.captured.len().min(times.original.len()));
        let wanted = if taken.iter().sum::<u64>() < ENOUGH { MANY_PAIRS } else { PAIRS };
        if pairs > wanted {
            self.decide(&mut times);
        }
    }

    fn decide(&self, times: &mut Times) {
        let (captured, original) = if self.varies { times.neighbours() } else { times.fastest() };
        // In doubt the capture stays: a difference of a fiftieth is noise.
        let noise = original / 50;
        let original_wins = original + noise < captured;
        self.verdict.store(if original_wins { 2 } else { 1 }, Ordering::Relaxed);
        let gains = (captured.min(original) + times.look.unwrap_or(0)) as i64 - original as i64;
        self.plain_gains.store(if gains.unsigned_abs() <= noise { 0 } else { gains }, Ordering::Relaxed);
        let [by_captured, by_original] = times.taken();
        let (lost, served) = match original_wins {
            true => (by_captured.saturating_sub(by_original), original),
            false => (by_original.saturating_sub(by_captured), captured),
        };
        // Each call has looked at the guards, and each second one once more for its time.
        let looks = 3 * times.original.len() as u64 * times.look.unwrap_or(0);
        let between = BETWEEN.max(SHARE.saturating_mul(lost + looks) / served.max(1));
        self.rest.store(between << times.before.min(20), Ordering::Relaxed);
        *times = Times { before: times.before + 1, ..Times::default() };
    }

    /// Who won, if that is known.
    pub fn verdict(&self) -> Option<Server> {
        match self.verdict.load(Ordering::Relaxed) {
            1 => Some(Server::Captured),
            2 => Some(Server::Original),
            _ => None,
        }
    }

    /// By how many nanoseconds such a call would have been faster as plain Python without a look at the guards. `None`: it is not known,
    /// or being found out.
    pub fn plain_gains(&self) -> Option<i64> {
        let known = self.rest.load(Ordering::Relaxed) > 0 && self.verdict().is_some();
        known.then(|| self.plain_gains.load(Ordering::Relaxed))
    }
}

impl Times {
    /// All calls together: captured, original.
    fn taken(&self) -> [u64; 2] {
        [self.captured.iter().sum(), self.original.iter().sum()]
    }

    /// The fastest call of each kind, which nothing has disturbed.
    fn fastest(&self) -> (u64, u64) {
        let fastest = |of: &[u64]| of.iter().skip(1).min().copied().unwrap_or(0);
        (fastest(&self.captured), fastest(&self.original))
    }

    /// The pair with the middle quotient.
    fn neighbours(&self) -> (u64, u64) {
        let pairs = self.captured.iter().copied().zip(self.original.iter().copied());
        let mut pairs: SmallVec<[(u64, u64); 8]> = pairs.skip(1).collect();
        pairs.sort_by_key(|(captured, original)| captured.saturating_mul(1 << 20) / original.max(&1));
        pairs.get(pairs.len() / 2).copied().unwrap_or((0, 0))
    }
}

/// Calls that need no look at the guards.
#[derive(Default)]
pub struct Unguarded {
    left: AtomicU32,
}

impl Unguarded {
    /// Calls between those that look.
    pub const CALLS: u32 = 31;

    /// The next calls are free.
    pub fn grant(&self) {
        self.left.store(Unguarded::CALLS, Ordering::Relaxed);
    }

    /// Something was captured, or forgotten.
    pub fn revoke(&self) {
        self.left.store(0, Ordering::Relaxed);
    }

    /// Whether this call is free.
    pub fn take(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        if left > 0 {
            self.left.store(left - 1, Ordering::Relaxed);
        }
        left > 0
    }
}

/// Whether the calls of a function would be faster as plain Python without a look at the guards, all in all. Calls of which nothing is
/// known yet must be looked at.
#[derive(Default)]
pub struct Balance {
    /// Of the last calls, the sum of what each would have gained.
    gains: AtomicI64,
    /// Calls since the last one of which nothing was known.
    known: AtomicU32,
}

impl Balance {
    /// Calls that count.
    const CALLS: i64 = 32;

    /// A call was looked at, which would have gained so much.
    pub fn note(&self, gains: Option<i64>) {
        match gains {
            Some(gain) => {
                let gains = self.gains.load(Ordering::Relaxed);
                self.gains.store(gains - gains / Balance::CALLS + gain, Ordering::Relaxed);
                self.known.store(self.known.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed);
            }
            None => self.known.store(0, Ordering::Relaxed),
        }
    }

    pub fn is_for_plain(&self) -> bool {
        i64::from(self.known.load(Ordering::Relaxed)) >= Balance::CALLS && self.gains.load(Ordering::Relaxed) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_in_thirty_two_looks_at_the_guards() {
        let unguarded = Unguarded::default();
        assert!(!unguarded.take());
        unguarded.grant();
        assert_eq!((0..100).take_while(|_| unguarded.take()).count(), 31);
        unguarded.grant();
        unguarded.revoke();
        assert!(!unguarded.take());
    }

    /// Serves calls that take so long, by their number; gives who served each, and whether it was timed.
    fn serve(trial: &Trial, calls: u64, took: impl Fn(u64, Server) -> u64) -> Vec<Turn> {
        let serve = |call| {
            let turn = trial.turn();
            if turn.timed {
                trial.record(turn.server, took(call, turn.server), Some(1000));
            }
            turn
        };
        (0..calls).map(serve).collect()
    }

    fn verdict(captured: u64, original: u64) -> Option<Server> {
        let trial = Trial::new(false);
        serve(&trial, 100, |_, server| if server == Server::Captured { captured } else { original });
        trial.verdict()
    }

    #[test]
    fn the_faster_one_serves_and_a_draw_is_the_captures() {
        assert_eq!(verdict(100_000, 200_000), Some(Server::Captured));
        assert_eq!(verdict(200_000, 100_000), Some(Server::Original));
        assert_eq!(verdict(100_000, 99_000), Some(Server::Captured));
    }

    #[test]
    fn what_is_fast_is_called_more_often_before_a_verdict() {
        let timed = |took| serve(&Trial::new(false), 250, |_, _| took).iter().filter(|turn| turn.timed).count();
        assert_eq!(timed(1_000_000), 2 * (PAIRS + 1));
        assert_eq!(timed(1_000), 2 * (MANY_PAIRS + 1));
    }

    #[test]
    fn the_first_calls_are_all_captured() {
        let trial = Trial::new(false);
        for _ in 0..WARM_UP {
            assert_eq!(trial.turn(), Turn { server: Server::Captured, timed: false });
        }
        assert!(trial.turn().timed);
    }

    #[test]
    fn sizes_that_grow_or_shrink_make_no_difference() {
        let growing = |call: u64| 100_000 * (call + 1);
        let shrinking = |call: u64| 1_000_000_000 / (call + 1);
        for size in [&growing as &dyn Fn(u64) -> u64, &shrinking] {
            for (captured, wins) in [(80, Server::Captured), (125, Server::Original)] {
                let trial = Trial::new(true);
                let quotient = |server| if server == Server::Captured { captured } else { 100 };
                serve(&trial, 40, |call, server| size(call) * quotient(server) / 100);
                assert_eq!(trial.verdict(), Some(wins), "{captured}");
            }
        }
    }

    #[test]
    fn a_verdict_is_found_again_and_trials_cost_a_small_share() {
        let trial = Trial::new(false);
        // From then on the other one is faster.
        let change = 2000;
        let took = |call, server| match (call < change, server) {
            (true, Server::Captured) | (false, Server::Original) => 1_000_000,
            (true, Server::Original) | (false, Server::Captured) => 4_000_000,
        };
        let turns = serve(&trial, change, took);
        assert_eq!(trial.verdict(), Some(Server::Captured));
        let lost = turns.iter().filter(|turn| turn.server == Server::Original).count() as u64 * 3;
        assert!(lost * SHARE <= 2 * change, "{lost}");
        serve(&trial, 20_000, |call, server| took(call + change, server));
        assert_eq!(trial.verdict(), Some(Server::Original));
    }

    #[test]
    fn what_was_compiled_since_is_tried_again() {
        let trial = Trial::new(false);
        serve(&trial, 100, |_, server| if server == Server::Captured { 2_000_000 } else { 1_000_000 });
        assert_eq!(trial.verdict(), Some(Server::Original));
        trial.renew();
        serve(&trial, 100, |_, server| if server == Server::Captured { 500_000 } else { 1_000_000 });
        assert_eq!(trial.verdict(), Some(Server::Captured));
    }

    #[test]
    fn plain_python_gains_the_look_at_the_guards() {
        let gains = |captured, original| {
            let trial = Trial::new(false);
            serve(&trial, 100, |_, server| if server == Server::Captured { captured } else { original });
            trial.plain_gains()
        };
        assert_eq!(gains(20_000, 10_000), Some(1000));
        assert_eq!(gains(9_500, 10_000), Some(500));
        assert_eq!(gains(5_000, 10_000), Some(-4000));
        // Within noise nobody gains.
        assert_eq!(gains(2_000_000, 2_000_000), Some(0));
        assert_eq!(Trial::new(false).plain_gains(), None);
    }

    #[test]
    fn plain_python_serves_where_it_gains_on_the_average() {
        let balance = Balance::default();
        (0..31).for_each(|_| balance.note(Some(1000)));
        assert!(!balance.is_for_plain());
        balance.note(Some(1000));
        assert!(balance.is_for_plain());
        // A call that is rare and gains much by its capture.
        balance.note(Some(-100_000));
        assert!(!balance.is_for_plain());
        (0..300).for_each(|_| balance.note(Some(1000)));
        assert!(balance.is_for_plain());
        balance.note(None);
        assert!(!balance.is_for_plain());
    }
}
