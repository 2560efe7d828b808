//! What a module's tests do captured, against what they do plain.

use super::excused::EXCUSED;
use super::process::{Ran, Verdict};

/// One module.
#[derive(Debug, Default)]
pub(super) struct Compared {
    pub(super) module: String,
    /// The version does not have it.
    pub(super) missing: bool,
    pub(super) tests: usize,
    pub(super) same: usize,
    /// Test and reason.
    pub(super) excused: Vec<String>,
    pub(super) failures: Vec<String>,
    /// Excused tests that do the same.
    pub(super) needless: Vec<String>,
    entered: u64,
    rewritten: u64,
    in_general: u64,
    /// The most frequent reasons why frames ran as plain Python.
    reasons: Vec<(String, u64)>,
}

/// Reasons that a line names.
const REASONS: usize = 2;

/// A part of a whole, in percent.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 100.0 } else { 100.0 * part as f64 / whole as f64 }
}

impl Compared {
    /// For people.
    pub(super) fn line(&self) -> String {
        let excused = if self.excused.is_empty() { String::new() } else { format!(", {} excused", self.excused.len()) };
        let reasons: String =
            self.reasons.iter().map(|(code, count)| format!(", {:.1} % {code}", share(*count, self.entered))).collect();
        let general = match self.in_general {
            0 => String::new(),
            frames => format!(" ({:.1} % in general)", share(frames, self.entered)),
        };
        format!(
            "{:<24} {:>4} tests, {:>4} same, {:>3} failures{excused}; {:.1} % of {} frames rewritten{general}{reasons}",
            self.module,
            self.tests,
            self.same,
            self.failures.len(),
            share(self.rewritten, self.entered),
            self.entered
        )
    }
}

fn text(verdict: Option<&Verdict>) -> String {
    match verdict {
        None => "did not run".to_owned(),
        Some(Verdict { outcome, detail }) if detail.is_empty() => outcome.clone(),
        Some(Verdict { outcome, detail }) => format!("{outcome} ({detail})"),
    }
}

pub(super) fn compare(module: &str, minor: u8, plain: &Ran, captured: &Ran) -> Compared {
    let mut found = Compared { module: module.to_owned(), missing: plain.missing, ..Compared::default() };
    if plain.missing {
        return found;
    }
    let counts = &captured.counts;
    (found.entered, found.rewritten, found.in_general) = (counts.entered, counts.rewritten, counts.in_general);
    let plain_python = &captured.counts.plain;
    found.reasons = plain_python.iter().map(|(code, count)| (code.clone(), *count)).collect();
    found.reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    found.reasons.truncate(REASONS);
    for (mode, ran) in [("plain", plain), ("captured", captured)] {
        if let Some(how) = &ran.died {
            found.failures.push(format!("{module}: the interpreter died {mode} ({how})"));
        }
    }
    let mut left_out = 0;
    for (test, before) in &plain.tests {
        found.tests += 1;
        let after = captured.tests.get(test);
        let excuse = EXCUSED.iter().find(|excuse| excuse.covers(test, minor));
        if after == Some(before) {
            found.same += 1;
            if let Some(excuse) = excuse {
                found.needless.push(format!("{test} ({:?}: {})", excuse.looks, excuse.why));
            }
        } else if let Some(excuse) = excuse {
            found.excused.push(format!("{test}: {}", excuse.why));
        } else if after.is_none() {
            // A module that cannot be imported, or a crash: said once.
            left_out += 1;
        } else {
            found.failures.push(format!("{test}: {}, plain {}", text(after), text(Some(before))));
        }
    }
    if left_out > 0 {
        found.failures.push(format!("{module}: {left_out} tests did not run captured"));
    }
    for (test, after) in captured.tests.iter().filter(|(test, _)| !plain.tests.contains_key(*test)) {
        found.failures.push(format!("{test}: {}, plain {}", text(Some(after)), text(None)));
    }
    found.failures.extend(captured.counts.defects.iter().map(|defect| format!("{module}: a defect of sot: {defect}")));
    if captured.counts.hook_failures > 0 {
        found.failures.push(format!("{module}: the hook gave up {} times", captured.counts.hook_failures));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::process;
    use super::*;

    fn ran(tests: &[(&str, &str, &str)]) -> Ran {
        let verdict = |outcome: &str, detail: &str| Verdict { outcome: outcome.into(), detail: detail.into() };
        let tests = tests.iter().map(|(test, outcome, detail)| ((*test).into(), verdict(outcome, detail))).collect();
        Ran { tests, ..Ran::default() }
    }

    #[test]
    fn outcome_and_exception_count() {
        let plain = ran(&[("a", "ok", ""), ("b", "error", "X: 1"), ("c", "skipped", "")]);
        assert_eq!(compare("m", 11, &plain, &plain).same, 3);
        let captured = ran(&[("a", "failure", "A: 2"), ("b", "error", "X: 2"), ("c", "skipped", "")]);
        let found = compare("m", 11, &plain, &captured);
        assert_eq!((found.tests, found.same), (3, 1));
        assert_eq!(found.failures, ["a: failure (A: 2), plain ok", "b: error (X: 2), plain error (X: 1)"]);
    }

    #[test]
    fn the_line_tells_why_frames_ran_as_plain_python() {
        let plain = ran(&[("a", "ok", "")]);
        let mut captured = plain.clone();
        captured.counts = process::Counts { entered: 200, rewritten: 150, ..process::Counts::default() };
        captured.counts.plain = [("budget", 1), ("cache-full", 40), ("opcode", 9)].map(|(c, n)| (c.into(), n)).into();
        let line = compare("m", 11, &plain, &captured).line();
        assert!(line.ends_with("75.0 % of 200 frames rewritten, 20.0 % cache-full, 4.5 % opcode"), "{line}");
        captured.counts.in_general = 20;
        let line = compare("m", 11, &plain, &captured).line();
        assert!(line.contains("75.0 % of 200 frames rewritten (10.0 % in general), 20.0 % cache-full"), "{line}");
    }

    #[test]
    fn what_did_not_run_is_said_once() {
        let plain = ran(&[("a", "ok", ""), ("b", "ok", ""), ("c", "ok", "")]);
        let mut captured = ran(&[("a", "ok", ""), ("d", "error", "")]);
        captured.died = Some("signal: 11, in b".into());
        captured.counts.defects.push("oops".into());
        let failures = compare("m", 11, &plain, &captured).failures;
        assert_eq!(failures.len(), 4);
        assert!(failures[0].contains("signal: 11, in b"));
        assert!(failures[1].contains("2 tests did not run"));
    }

    #[test]
    fn a_missing_module_is_no_failure() {
        let plain = Ran { missing: true, ..Ran::default() };
        let found = compare("m", 8, &plain, &Ran::default());
        assert!(found.missing && found.failures.is_empty());
    }
}
