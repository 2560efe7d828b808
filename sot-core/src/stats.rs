//! Counters, readable from Python with `sot.stats()`.

use crate::stop::Reason;
use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($( $name:ident, $doc:literal; )*) => {
        /// Process-wide counters.
        pub struct Stats {
            $( #[doc = $doc] pub $name: AtomicU64, )*
            reasons: [AtomicU64; Reason::ALL.len()],
        }

        impl Stats {
            const fn new() -> Stats {
                Stats { $( $name: AtomicU64::new(0), )* reasons: [const { AtomicU64::new(0) }; Reason::ALL.len()] }
            }

            /// Name and value of each counter.
            pub fn list(&self) -> Vec<(&'static str, u64)> {
                vec![ $( (stringify!($name), self.$name.load(Ordering::Relaxed)), )* ]
            }

            /// Set everything to zero.
            pub fn reset(&self) {
                $( self.$name.store(0, Ordering::Relaxed); )*
                for reason in &self.reasons {
                    reason.store(0, Ordering::Relaxed);
                }
            }
        }
    };
}

counters! {
    captures, "Frames and continuations that were simulated to an end.";
    graphs, "Graphs that were compiled.";
    breaks, "Graph breaks that were found in captures.";
    fallbacks, "Captures that ended in running the frame as plain Python.";
    hits, "Calls that a cache entry served.";
    misses, "Calls that no cache entry served.";
    unguarded, "Hits of functions where every capture lost its trial or found nothing to rewrite, or where plain Python is faster all in all: the original code served them without a look at the guards.";
    frames, "Frames that the hook captured.";
    continuations, "Continuations that were entered.";
    graph_failures, "Graphs that raised, after which the original frame ran.";
    restarts, "Captures that started over with a call denied.";
    verified, "Calls beside which plain Python ran (`SOT_VERIFY=1`).";
    differences, "Those of them that came to something else than plain Python.";
}

/// The counters of this process.
pub static STATS: Stats = Stats::new();

/// Count one more, and how many there were. Whoever counts holds the GIL, so this is no atomic addition, which costs a hit as much as
/// a guard.
pub fn count(counter: &AtomicU64) -> u64 {
    let so_far = counter.load(Ordering::Relaxed);
    counter.store(so_far + 1, Ordering::Relaxed);
    so_far
}

impl Stats {
    pub fn add(&self, counter: &AtomicU64) {
        count(counter);
    }

    pub fn note(&self, reason: Reason) {
        count(&self.reasons[reason as usize]);
    }

    /// Reasons that were met at least once.
    pub fn reasons(&self) -> Vec<(&'static str, u64)> {
        Reason::ALL
            .iter()
            .map(|r| (r.code(), self.reasons[*r as usize].load(Ordering::Relaxed)))
            .filter(|(_, n)| *n > 0)
            .collect()
    }
}
