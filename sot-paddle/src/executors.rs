//! Paddle's executors, and how they are got rid of.
//!
//! Paddle makes an executor for each pair of a program and a scope at its first run and keeps it for ever (its
//! `InterpreterCoreInfoCache`): 150 to 700 kB each, also when program and scope are long gone. The only way to free them is
//! `core.clear_executor_cache`, which forgets all of them; what is still needed is made again at its next run. So it is
//! called when enough are nobody's: as many as [`FEW`], and as expensive to make as those that will have to be made
//! again, so that making costs twice what it would without, at most.
//!
//! Making one takes milliseconds, and how many depends on the machine: [`making_takes`] learns it from those that were made.
//!
//! An executor must be made under flags of ours, so scopes of before are not used again: each knows its [`epoch`].

use crate::handles::Handles;
use pyo3::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Executors without owner that are not worth clearing.
const FEW: usize = 32;

static EPOCH: AtomicU64 = AtomicU64::new(0);
/// Calls of programs that run right now.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
static SUM: Mutex<Sum> = Mutex::new(Sum { live: 0, orphans: 0, orphaned: 0 });

/// What making an executor takes on some machine, in nanoseconds: for itself, and for each operation.
const AN_EXECUTOR: u64 = 500_000;
const AN_OPERATION: u64 = 150_000;

/// What making all executors so far was expected to take, and took; it begins with one that is made up.
static MADE: Mutex<[u64; 2]> = Mutex::new([5_000_000; 2]);

fn expected(operations: usize) -> u64 {
    AN_EXECUTOR + AN_OPERATION * operations as u64
}

/// By how much the first run of a program with so many operations takes longer than later ones.
pub(crate) fn making_takes(operations: usize) -> Duration {
    let [of, took] = *MADE.lock().unwrap_or_else(|e| e.into_inner());
    Duration::from_nanos((u128::from(expected(operations)) * u128::from(took) / u128::from(of)) as u64)
}

fn learn(operations: usize, nanoseconds: u64) {
    let mut made = MADE.lock().unwrap_or_else(|e| e.into_inner());
    made[0] += expected(operations);
    made[1] += nanoseconds;
}

/// Nanoseconds that making took.
struct Sum {
    live: u64,
    orphaned: u64,
    /// How many.
    orphans: usize,
}

fn sum() -> std::sync::MutexGuard<'static, Sum> {
    SUM.lock().unwrap_or_else(|e| e.into_inner())
}

/// Executors made in another epoch are gone.
pub(crate) fn epoch() -> u64 {
    EPOCH.load(Ordering::Relaxed)
}

/// A call that runs: nothing is cleared meanwhile.
pub(crate) struct Run(());

impl Run {
    pub(crate) fn start() -> Run {
        RUNNING.fetch_add(1, Ordering::Relaxed);
        Run(())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The executors of one program.
#[derive(Default)]
pub(crate) struct Owned {
    epoch: u64,
    count: usize,
    time: u64,
}

impl Owned {
    /// One was made, of a program with so many operations.
    pub(crate) fn made(&mut self, operations: usize, nanoseconds: u64) {
        learn(operations, nanoseconds);
        if self.epoch != epoch() {
            self.forget();
            self.epoch = epoch();
        }
        self.count += 1;
        self.time += nanoseconds;
        sum().live += nanoseconds;
    }

    /// Those of a former epoch are gone.
    fn forget(&mut self) {
        let mut sum = sum();
        sum.live = sum.live.saturating_sub(self.time);
        (self.count, self.time) = (0, 0);
    }

    /// Nobody needs them any more.
    pub(crate) fn orphan(&mut self) {
        if self.epoch == epoch() {
            let mut sum = sum();
            sum.orphans += self.count;
            sum.orphaned += self.time;
        }
        self.forget();
    }
}

/// Free what is nobody's, if it pays, or whatever it costs.
pub(crate) fn clear(py: Python<'_>, handles: &Handles, whatever_it_costs: bool) -> PyResult<()> {
    let pays = {
        let sum = sum();
        sum.orphans > 0 && (whatever_it_costs || sum.orphans >= FEW && sum.orphaned >= sum.live)
    };
    if !pays || RUNNING.load(Ordering::Relaxed) > 0 {
        return Ok(());
    }
    // Releases before 3.0 lack it.
    let Ok(clear) = handles.core.bind(py).getattr("clear_executor_cache") else { return Ok(()) };
    EPOCH.fetch_add(1, Ordering::Relaxed);
    {
        let mut sum = sum();
        (sum.orphans, sum.orphaned) = (0, 0);
    }
    clear.call0().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_making_takes_is_learned() {
        let before = making_takes(10);
        assert!(making_takes(100) > 5 * before);
        (0..50).for_each(|_| learn(10, 4 * expected(10)));
        let after = making_takes(10);
        assert!(after > 3 * before && after < 5 * before, "{before:?} {after:?}");
    }
}
