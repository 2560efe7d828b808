//! What a test suite came to, read from what its runner printed.
//!
//! Every runner has its own closing line; all of them become one [`Outcome`], so that a run of many suites ends in one
//! table and in one line `N passed, N failed`.

use crate::console;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) suite: String,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    /// Names of what failed.
    pub(crate) failures: Vec<String>,
    /// Why there is less than expected.
    pub(crate) note: Option<String>,
    pub(crate) took: Duration,
}

impl Outcome {
    pub(crate) fn new(suite: impl Into<String>) -> Self {
        Self { suite: suite.into(), ..Self::default() }
    }

    /// A suite that is one check.
    pub(crate) fn one(suite: &str, failure: Option<String>) -> Self {
        let mut outcome = Self::new(suite);
        match failure {
            None => outcome.passed = 1,
            Some(what) => outcome.fail(what),
        }
        outcome
    }

    pub(crate) fn skipped(suite: &str, why: impl Into<String>) -> Self {
        Self { skipped: 1, note: Some(why.into()), ..Self::new(suite) }
    }

    pub(crate) fn fail(&mut self, what: impl Into<String>) {
        self.failed += 1;
        self.failures.push(what.into());
    }

    pub(crate) fn since(mut self, start: Instant) -> Self {
        self.took = start.elapsed();
        self
    }

    /// Adds the counts of another run of the same suite.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.failures.extend(other.failures);
        self.note = self.note.take().or(other.note);
    }

    /// Says so when a runner ran nothing: silence would look like success.
    pub(crate) fn or_nothing(mut self) -> Self {
        if (self.passed, self.failed, self.skipped) == (0, 0, 0) {
            self.note = Some("ran no test".to_owned());
        }
        self
    }

    /// A runner that ended badly must count as a failure whatever its lines say.
    fn judged(mut self, success: bool, otherwise: &str) -> Self {
        if !success && self.failed == 0 {
            self.fail(otherwise);
        }
        self
    }
}

/// Output of `cargo nextest run`.
pub(crate) fn of_nextest(suite: &str, output: &str, success: bool) -> Outcome {
    let mut outcome = Outcome::new(suite);
    for line in output.lines() {
        let line = line.trim();
        if line.starts_with("Summary") && line.contains("run:") {
            let counts = line.split_once("run:").map_or("", |(_, rest)| rest);
            outcome.passed = number_before(counts, "passed");
            outcome.skipped = number_before(counts, "skipped");
        }
        let bad =
            ["FAIL", "TIMEOUT", "SIGSEGV", "SIGABRT", "ABORT"].iter().any(|s| line.starts_with(&format!("{s} [")));
        if bad && let Some((_, name)) = line.split_once("] ") {
            let name = name.trim().trim_start_matches(|c: char| "()0123456789/ ".contains(c)).to_owned();
            if !outcome.failures.contains(&name) {
                outcome.failures.push(name);
            }
        }
    }
    outcome.failed = outcome.failures.len();
    outcome.judged(success, "did not build or did not run")
}

/// Output of `cargo test`.
pub(crate) fn of_cargo_test(suite: &str, output: &str, success: bool) -> Outcome {
    let mut outcome = Outcome::new(suite);
    for line in output.lines() {
        let line = line.trim();
        if let Some(counts) = line.strip_prefix("test result:") {
            outcome.passed += number_before(counts, "passed");
            outcome.skipped += number_before(counts, "ignored");
        } else if let Some(name) = line.strip_prefix("test ").and_then(|l| l.strip_suffix(" ... FAILED")) {
            outcome.failures.push(name.to_owned());
        }
    }
    outcome.failed = outcome.failures.len();
    outcome.judged(success, "did not build or did not run")
}

/// Output of `pytest -q -rfE` on one file.
pub(crate) fn of_pytest(file: &str, output: &str, success: bool) -> Outcome {
    let mut outcome = Outcome::new(file);
    for line in output.lines() {
        if let Some(rest) = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR ")) {
            outcome.failures.push(rest.split(" - ").next().unwrap_or(rest).to_owned());
        }
    }
    // `3 failed, 12 passed, 1 skipped in 0.12s`
    if let Some(counts) = output.lines().rev().find(|line| line.contains(" in ") && has_count(line)) {
        outcome.passed = number_before(counts, "passed") + number_before(counts, "xfailed");
        outcome.failed =
            number_before(counts, "failed") + number_before(counts, "error") + number_before(counts, "errors");
        outcome.skipped = number_before(counts, "skipped");
    }
    outcome.judged(success, &format!("{file}: the process ended before its tests did"))
}

fn has_count(line: &str) -> bool {
    ["passed", "failed", "error", "errors", "skipped", "xfailed"].iter().any(|word| number_before(line, word) > 0)
}

/// The number before a word: 12 in `3 failed, 12 passed`.
fn number_before(text: &str, word: &str) -> usize {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || ",;.=()".contains(c)).filter(|w| !w.is_empty()).collect();
    words.windows(2).find(|pair| pair[1] == word).and_then(|pair| pair[0].parse().ok()).unwrap_or(0)
}

/// The table and the closing line; whether everything passed.
pub(crate) fn report(outcomes: &[Outcome]) -> bool {
    print!("{}", text(outcomes));
    outcomes.iter().all(|o| o.failed == 0)
}

fn text(outcomes: &[Outcome]) -> String {
    let mut out = String::from("\n");
    let width = outcomes.iter().map(|o| o.suite.len()).max().unwrap_or(0);
    for o in outcomes {
        let skipped = if o.skipped > 0 { format!(", {} skipped", o.skipped) } else { String::new() };
        let note = o.note.as_ref().map_or(String::new(), |note| format!("  {note}"));
        let took = if o.took.is_zero() { String::new() } else { format!("  {}", console::seconds(o.took)) };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  {:<width$}  {} passed, {} failed{skipped}{took}{note}", o.suite, o.passed, o.failed);
    }
    if outcomes.iter().any(|o| o.failed > 0) {
        out.push_str("\nfailed:\n");
        for o in outcomes {
            for failure in &o.failures {
                let _ = writeln!(out, "  {}: {failure}", o.suite);
            }
        }
    }
    let sum = |part: fn(&Outcome) -> usize| outcomes.iter().map(part).sum::<usize>();
    let skipped = sum(|o| o.skipped);
    let skipped = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
    let _ = writeln!(out, "\n{} passed, {} failed{skipped}", sum(|o| o.passed), sum(|o| o.failed));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nextest() {
        let output = "\
        PASS [   0.010s] (1/3) sot-sir printer::round_trip
        FAIL [   0.005s] (2/3) sot-opcodes decode::tests::jump
     SIGSEGV [   0.005s] (3/3) sot-core hook::nested
     Summary [   0.020s] 3 tests run: 1 passed, 2 failed, 4 skipped
        FAIL [   0.005s] (2/3) sot-opcodes decode::tests::jump
     SIGSEGV [   0.005s] (3/3) sot-core hook::nested";
        let outcome = of_nextest("rust", output, false);
        assert_eq!((outcome.passed, outcome.failed, outcome.skipped), (1, 2, 4));
        assert_eq!(outcome.failures, ["sot-opcodes decode::tests::jump", "sot-core hook::nested"]);
    }

    #[test]
    fn cargo_test() {
        let output = "\
running 2 tests
test a::b ... ok
test a::c ... FAILED
test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        let outcome = of_cargo_test("rust", output, false);
        assert_eq!((outcome.passed, outcome.failed, outcome.skipped), (4, 1, 1));
        assert_eq!(outcome.failures, ["a::c"]);
    }

    #[test]
    fn a_build_error_is_one_failure() {
        assert_eq!(of_cargo_test("rust", "error[E0425]: cannot find value", false).failed, 1);
        assert_eq!(of_nextest("rust", "error: could not compile", false).failed, 1);
    }

    #[test]
    fn pytest() {
        let output =
            "..F\nFAILED tests/python/test_a.py::test_x - assert 1 == 2\n1 failed, 2 passed, 1 skipped in 0.31s\n";
        let outcome = of_pytest("tests/python/test_a.py", output, false);
        assert_eq!((outcome.passed, outcome.failed, outcome.skipped), (2, 1, 1));
        assert_eq!(outcome.failures, ["tests/python/test_a.py::test_x"]);
    }

    #[test]
    fn a_crash_of_pytest_is_one_failure() {
        let outcome = of_pytest("tests/python/test_a.py", "..\nFatal Python error: Segmentation fault\n", false);
        assert_eq!(outcome.failed, 1);
        assert!(outcome.failures[0].contains("test_a.py"));
    }

    #[test]
    fn the_last_line_is_the_sum_alone() {
        let mut bad = Outcome::new("one");
        bad.fail("x");
        let good = Outcome { passed: 2, ..Outcome::new("two") };
        assert!(text(&[bad, good]).ends_with("\n\n2 passed, 1 failed\n"));
    }
}
