//! How long a function is captured anew: patience with captures that no call meets again.

use crate::stats::count;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Work (simulated instructions, and guards) before what no call meets again is captured no more.
const PATIENCE: u64 = 20_000;
/// The same of all that is captured behind the breaks of a function: each continuation has a patience of its own, and there may be a
/// new one at each call.
const PATIENCE_BEHIND: u64 = 100_000;
/// What each hit adds to it: the work of a small capture.
const OF_A_HIT: u64 = 200;

/// Where so much was captured in vain by all, patience is half of what it was: a program that makes new functions as it goes
/// (test doubles, say) has none of them wait for its own.
const HALF_OF_PATIENCE: u64 = 200_000;

/// What a capture costs however short it is: new code, guards, an entry.
const OF_A_CAPTURE: usize = 1000;

/// What all captures of the process were worth.
static OF_ALL: Worth = Worth { unmet: AtomicU64::new(0), hits: AtomicU64::new(0) };

/// A capture of some function has cost so much.
pub fn made_by_any(work: usize) {
    OF_ALL.made(work + OF_A_CAPTURE);
}

/// A call of some function has met a capture. `first`: no other did.
pub fn met_by_any(work: usize, first: bool) {
    OF_ALL.met(work + OF_A_CAPTURE, first);
}

/// Patience is as at first.
pub fn reset() {
    OF_ALL.unmet.store(0, Ordering::Relaxed);
    OF_ALL.hits.store(0, Ordering::Relaxed);
}

/// Whether captures are met again: the work of those that are not against the hits of the others.
#[derive(Default)]
pub struct Worth {
    unmet: AtomicU64,
    hits: AtomicU64,
}

impl Worth {
    /// A capture has cost so much.
    pub fn made(&self, work: usize) {
        self.unmet.fetch_add(work as u64, Ordering::Relaxed);
    }

    /// A call has met a capture. `first`: no other did, after the one that it was made for.
    pub fn met(&self, work: usize, first: bool) {
        count(&self.hits);
        if first {
            // Made where another one asked first, it was never counted here.
            let less = |unmet: u64| Some(unmet.saturating_sub(work as u64));
            let _ = self.unmet.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        }
    }

    /// Calls that have met a capture.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// Whether most of it was for nothing.
    pub fn is_vain(&self) -> bool {
        self.is_more_than(PATIENCE)
    }

    /// The same, of what is behind the breaks of a function.
    pub fn is_vain_behind(&self) -> bool {
        self.is_more_than(PATIENCE_BEHIND)
    }

    fn is_more_than(&self, patience: u64) -> bool {
        let patience = patience.saturating_mul(HALF_OF_PATIENCE) / (HALF_OF_PATIENCE + OF_ALL.loss());
        self.loss() > patience
    }

    /// Work in vain, less what hits make up for.
    fn loss(&self) -> u64 {
        let hits = OF_A_HIT.saturating_mul(self.hits.load(Ordering::Relaxed));
        self.unmet.load(Ordering::Relaxed).saturating_sub(hits)
    }
}

/// General captures of one cache.
const GENERAL: u32 = 16;

/// The captures of a full cache that leave to run time what varies: they serve what would run as plain Python for ever.
#[derive(Default)]
pub struct Generality {
    made: AtomicU32,
    work: AtomicU64,
}

impl Generality {
    /// Another one: after how many answers a fact varies for it. `None`: enough were made.
    pub fn next(&self) -> Option<usize> {
        let made = self.made.load(Ordering::Relaxed);
        let allowed = made < GENERAL && self.work.load(Ordering::Relaxed) < PATIENCE;
        // What has two answers only may have many together with others like it.
        allowed.then_some(if made < GENERAL / 2 { 3 } else { 2 })
    }

    /// It has cost so much.
    pub fn made(&self, work: usize) {
        self.made.fetch_add(1, Ordering::Relaxed);
        self.work.fetch_add(work as u64, Ordering::Relaxed);
    }

    /// As if there were none.
    pub fn forget(&self) {
        self.made.store(0, Ordering::Relaxed);
        self.work.store(0, Ordering::Relaxed);
    }
}

/// Captures that die before a call meets them, and more than there were hits, before capturing pauses: what is made afresh for
/// each call would be captured for ever.
const LOST: u64 = 256;
/// Calls that miss in a pause before one of them is captured all the same: of the first pause, and at most.
const PAUSE: u64 = 64;
const LONGEST_PAUSE: u64 = 1 << 14;

/// Captures that have died unmet. Where there are many, only now and then a call is captured, ever more seldom; until a call
/// meets such a capture, which ends the pause and makes up for half of what was lost.
#[derive(Default)]
pub struct Losses {
    lost: AtomicU64,
    missed: AtomicU64,
    /// 0: there is no pause.
    pause: AtomicU64,
}

impl Losses {
    /// So many more have died, and there were so many hits. Whether a pause begins.
    pub fn lose(&self, captures: usize, hits: u64) -> bool {
        let lost = self.lost.fetch_add(captures as u64, Ordering::Relaxed) + captures as u64;
        lost > LOST
            && hits < lost
            && self.pause.compare_exchange(0, PAUSE, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// A call has met a capture that none had met.
    pub fn regain(&self) {
        if self.lost.load(Ordering::Relaxed) > 0 {
            let _ = self.lost.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |lost| Some((lost / 2).min(LOST)));
            self.pause.store(0, Ordering::Relaxed);
            self.missed.store(0, Ordering::Relaxed);
        }
    }

    /// As if nothing had died.
    pub fn forget(&self) {
        [&self.lost, &self.missed, &self.pause].iter().for_each(|count| count.store(0, Ordering::Relaxed));
    }

    pub fn is_pause(&self) -> bool {
        self.pause.load(Ordering::Relaxed) > 0
    }

    /// A call has missed in a pause: whether it is captured all the same.
    pub fn tries_again(&self) -> bool {
        let pause = self.pause.load(Ordering::Relaxed);
        let tries = self.missed.fetch_add(1, Ordering::Relaxed) + 1 >= pause;
        if tries {
            self.missed.store(0, Ordering::Relaxed);
            self.pause.store((2 * pause).min(LONGEST_PAUSE), Ordering::Relaxed);
        }
        tries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_met_again_buys_patience() {
        let worth = Worth::default();
        let rounds = |worth: &Worth| (0..1000).take_while(|_| !worth.is_vain()).inspect(|_| worth.made(1000)).count();
        assert_eq!(rounds(&worth), 21);
        worth.met(1000, true);
        assert!(!worth.is_vain());
        (0..49).for_each(|_| worth.met(1000, false));
        assert_eq!(rounds(&worth), 11);
        // A single one that is long is made, and no second one.
        let worth = Worth::default();
        worth.made(1_000_000);
        assert!(worth.is_vain());
    }

    #[test]
    fn what_is_behind_breaks_has_more_patience() {
        let worth = Worth::default();
        (0..50).for_each(|_| worth.made(1000));
        assert!(worth.is_vain() && !worth.is_vain_behind());
        (0..51).for_each(|_| worth.made(1000));
        assert!(worth.is_vain_behind());
        worth.met(2000, true);
        assert!(!worth.is_vain_behind());
    }

    #[test]
    fn a_pause_tries_again_ever_more_seldom() {
        let losses = Losses::default();
        assert_eq!((0..1000).take_while(|_| !losses.lose(1, 0)).count() as u64, LOST);
        let captured = (0..1_000_000).filter(|_| losses.tries_again() && !losses.lose(1, 0)).count();
        assert!((60..80).contains(&captured), "{captured}");
        // One that is met pays for many.
        losses.regain();
        assert!(!losses.is_pause());
        assert_eq!(
            (0..1000).take_while(|_| !losses.lose(1, 0)).count() as u64,
            LOST - (LOST + captured as u64).div_ceil(2)
        );
    }

    #[test]
    fn hits_put_a_pause_off() {
        let losses = Losses::default();
        assert_eq!((0..10_000).take_while(|_| !losses.lose(1, 5_000)).count(), 5_000);
    }

    #[test]
    fn general_captures_come_to_an_end() {
        let general = Generality::default();
        let made: Vec<usize> = std::iter::from_fn(|| general.next().inspect(|_| general.made(10))).take(1000).collect();
        assert_eq!(made, [[3; GENERAL as usize / 2], [2; GENERAL as usize / 2]].concat());
        let general = Generality::default();
        general.made(1_000_000);
        assert_eq!(general.next(), None);
        general.forget();
        assert_eq!(general.next(), Some(3));
    }
}
