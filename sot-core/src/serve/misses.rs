//! Why calls were captured again: the guard that each entry failed first.
//!
//! Asked when a call has missed every entry of its cache. `sot.stats()["missed"]` counts what the guards speak of that failed at the
//! entry that was made last, which is the one that such a call would most likely have met, by the function that was captured again.

use crate::engine::registries;
use hashbrown::HashMap;
use std::fmt;

/// Texts that are counted: what is new behind them is not.
const MOST: usize = 512;

/// How often calls have missed by what.
pub type Counts = HashMap<String, u64>;

registries! {
    /// How often calls have missed by what, of all functions.
    MISSED: Counts = "what calls have missed by";
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
    /// The entry, by its place among those of the cache, from 1.
    pub entry: usize,
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}", self.guard, self.found)?;
        self.read_at.iter().try_for_each(|at| write!(f, " (read at {at})"))
    }
}

impl Miss {
    /// What the guard speaks of, without what it expects there: `self.scale`, `tensor(x)`.
    fn subject(&self) -> &str {
        let ends = [" == ", " is ", "): "].iter().filter_map(|end| self.guard.find(end).map(|at| (at, *end)));
        match ends.min() {
            Some((at, "): ")) => &self.guard[..=at],
            Some((at, _)) => &self.guard[..at],
            None => &self.guard,
        }
    }

    fn says_the_same(&self, other: &Miss) -> bool {
        (&self.guard, &self.found, &self.read_at) == (&other.guard, &other.found, &other.read_at)
    }
}

/// Lines of one text about one call: others are counted.
const LINES: usize = 5;

/// Why a call was captured again, in lines: entries that failed the same are one line.
pub fn lines(name: &str, missed: &[Miss]) -> Vec<String> {
    let mut same: Vec<Vec<&Miss>> = Vec::new();
    for miss in missed {
        match same.iter_mut().find(|others| others[0].says_the_same(miss)) {
            Some(others) => others.push(miss),
            None => same.push(vec![miss]),
        }
    }
    let line = |misses: &Vec<&Miss>| {
        let numbers = misses.iter().map(|miss| miss.entry.to_string()).collect::<Vec<_>>().join(", ");
        let which = if misses.len() == 1 { "entry" } else { "entries" };
        format!("{name} is captured again, {which} {numbers} did not serve: {}", misses[0])
    };
    let mut lines: Vec<String> = same.iter().take(LINES).map(line).collect();
    let left: usize = same.iter().skip(LINES).map(Vec::len).sum();
    if left > 0 {
        lines.push(format!("{name} is captured again, {left} entries more did not serve"));
    }
    lines
}

fn count_in(counts: &mut Counts, subject: &str) {
    if counts.len() < MOST || counts.contains_key(subject) {
        *counts.entry(subject.to_owned()).or_default() += 1;
    }
}

/// Count why a call was captured again. `here`: the counts of its function.
pub(super) fn count(missed: &[Miss], here: &mut Counts) {
    if let Some(miss) = missed.first() {
        count_in(here, miss.subject());
        count_in(&mut MISSED.lock(), miss.subject());
    }
}

/// The most frequent first.
pub(super) fn ordered(counts: &Counts) -> Vec<(String, u64)> {
    let mut counts: Vec<_> = counts.iter().map(|(subject, count)| (subject.clone(), *count)).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts
}

/// What calls have missed by, of all functions, the most frequent first.
pub fn counted() -> Vec<(String, u64)> {
    ordered(&MISSED.lock())
}

pub(super) fn forget() {
    MISSED.lock().clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn miss(guard: &str, found: &str, entry: usize) -> Miss {
        Miss { guard: guard.into(), found: found.into(), read_at: Some("t.py:3".into()), entry }
    }

    #[test]
    fn what_a_guard_speaks_of() {
        let subject = |guard| miss(guard, "", 1).subject().to_owned();
        assert_eq!(subject("self.scale == ' is '"), "self.scale");
        assert_eq!(subject("tensor(x): float32[2]"), "tensor(x)");
        assert_eq!(subject("type(n) is <type int>"), "type(n)");
        assert_eq!(subject("has_next(it)"), "has_next(it)");
    }

    #[test]
    fn what_is_the_same_is_one_line() {
        let missed = [miss("n == 2", "3", 5), miss("n == 1", "3", 4), miss("n == 2", "3", 2)];
        let said = lines("f", &missed);
        assert_eq!(said[0], "f is captured again, entries 5, 2 did not serve: n == 2: found 3 (read at t.py:3)");
        assert_eq!(said[1], "f is captured again, entry 4 did not serve: n == 1: found 3 (read at t.py:3)");
        let many: Vec<Miss> = (0..9).map(|at| miss(&format!("n == {at}"), "30", at)).collect();
        assert_eq!(lines("f", &many).last().unwrap(), "f is captured again, 4 entries more did not serve");
    }

    #[test]
    fn counts_are_bounded() {
        let mut here = Counts::new();
        for number in 0..2 * MOST {
            count(&[miss(&format!("a{number} == 1"), "2", 1), miss("b == 1", "2", 2)], &mut here);
        }
        count(&[miss("a0 == 5", "2", 1)], &mut here);
        assert_eq!((here.len(), here.get("a0")), (MOST, Some(&2)));
        assert_eq!(ordered(&here)[0], ("a0".to_owned(), 2));
    }
}
