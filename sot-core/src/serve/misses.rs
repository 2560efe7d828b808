//! Why calls were captured again: the guard that each entry failed first.
//!
//! Asked when a call has missed every entry of its cache, before it is captured. `sot.stats()["missed"]` counts the guards that
//! failed at the entry that was made last, which is the one that such a call would most likely have met.

use crate::engine::registries;
use hashbrown::HashMap;
use std::fmt;

/// Texts that are counted: what is new behind them is not.
const MOST: usize = 512;

registries! {
    /// How often each guard was the first to fail.
    MISSED: HashMap<String, u64> = "guards that calls have missed by";
}

/// What a call has failed of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// In the words of the program: `self.scale == 2`.
    pub guard: String,
    /// What was there in the place of what it expects.
    pub found: String,
    /// File and line that asked for the guard.
    pub read_at: Option<String>,
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}", self.guard, self.found)?;
        self.read_at.iter().try_for_each(|at| write!(f, " (read at {at})"))
    }
}

/// Lines of one text about one call: others are counted.
const LINES: usize = 5;

/// Why a call was captured again, in lines: entries that failed the same are one line.
pub fn lines(name: &str, missed: &[Miss]) -> Vec<String> {
    let mut same: Vec<(&Miss, Vec<usize>)> = Vec::new();
    for (entry, miss) in (1..=missed.len()).rev().zip(missed) {
        match same.iter_mut().find(|(other, _)| *other == miss) {
            Some((_, entries)) => entries.push(entry),
            None => same.push((miss, vec![entry])),
        }
    }
    let line = |(miss, entries): &(&Miss, Vec<usize>)| {
        let numbers = entries.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let which = if entries.len() == 1 { "entry" } else { "entries" };
        format!("{name} is captured again, {which} {numbers} did not serve: {miss}")
    };
    let mut lines: Vec<String> = same.iter().take(LINES).map(line).collect();
    let left: usize = same.iter().skip(LINES).map(|(_, entries)| entries.len()).sum();
    if left > 0 {
        lines.push(format!("{name} is captured again, {left} entries more did not serve"));
    }
    lines
}

/// Count what a call has failed of the entry that was made last.
pub(super) fn count(missed: &[Miss]) {
    if let Some(Miss { guard, .. }) = missed.first() {
        let mut counts = MISSED.lock();
        if counts.len() < MOST || counts.contains_key(guard) {
            *counts.entry(guard.clone()).or_default() += 1;
        }
    }
}

/// The guards by which calls have missed, the most frequent first.
pub fn counted() -> Vec<(String, u64)> {
    let mut counts: Vec<_> = MISSED.lock().iter().map(|(guard, count)| (guard.clone(), *count)).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}

pub(super) fn forget() {
    MISSED.lock().clear();
}
