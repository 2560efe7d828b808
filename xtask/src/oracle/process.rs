//! One test module in one process: start `xtask/py/oracle/run.py`, wait within a limit, read what it left.

use crate::environment::Environment;
use crate::process;
use crate::workspace;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Of one module. Captured it may take many times what it takes plain.
const LIMIT: Duration = Duration::from_secs(1200);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Plain,
    Captured,
}

impl Mode {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Captured => "captured",
        }
    }
}

/// What became of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) outcome: String,
    pub(super) detail: String,
}

/// What the translator counted.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(super) struct Counts {
    pub(super) entered: u64,
    pub(super) rewritten: u64,
    /// Of the rewritten, those by captures that leave to run time what varies.
    pub(super) in_general: u64,
    /// Frames that ran as plain Python, by reason.
    pub(super) plain: BTreeMap<String, u64>,
    pub(super) defects: Vec<String>,
    pub(super) hook_failures: u64,
}

/// What a process left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ran {
    /// There is no such module.
    pub(super) missing: bool,
    pub(super) tests: BTreeMap<String, Verdict>,
    pub(super) counts: Counts,
    /// How it ended before its tests did, and the test that ran.
    pub(super) died: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Begin { begin: String },
    Test { test: String, outcome: String, detail: String },
    Missing { missing: String },
    End { end: Counts },
}

pub(super) fn run(env: &Environment, mode: Mode, module: &str, logs: &Path) -> Result<Ran> {
    let at = |end: &str| logs.join(format!("{module}.{}.{end}", mode.word()));
    let (log, stream) = (at("log"), at("jsonl"));
    let out = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    File::create(&stream).with_context(|| format!("cannot write {}", stream.display()))?;
    let mut command = env.command();
    command.args(["-s", "-B"]).arg(workspace::root().join("xtask/py/oracle/run.py"));
    command.args([mode.word(), module]).arg(&stream);
    // The same order of sets both times; and nothing of the user's that changes what tests do.
    command.env("PYTHONHASHSEED", "0").env_remove("SOT_CAPTURE_ALL");
    command.stdin(Stdio::null()).stderr(out.try_clone()?).stdout(out);
    let mut child = command.spawn().context("cannot start the interpreter")?;
    let status = process::wait_within(&mut child, LIMIT)?;
    let text = fs::read_to_string(&stream).with_context(|| format!("cannot read {}", stream.display()))?;
    Ok(read(&text, status.map(|status| (status.success(), status.to_string()))))
}

/// Reads a stream. `ended`: whether it ended well, and how; `None` if it was stopped.
fn read(text: &str, ended: Option<(bool, String)>) -> Ran {
    let mut ran = Ran::default();
    let (mut running, mut through) = (Vec::new(), false);
    for line in text.lines() {
        // A process that is killed leaves half a line.
        let Ok(line) = serde_json::from_str(line) else { continue };
        match line {
            Line::Begin { begin } => running.push(begin),
            Line::Test { test, outcome, detail } => {
                running.retain(|other| *other != test);
                ran.tests.insert(test, Verdict { outcome, detail });
            }
            Line::Missing { missing } => (ran.missing, through) = (!missing.is_empty(), true),
            Line::End { end } => (ran.counts, through) = (end, true),
        }
    }
    let how = match ended {
        None => Some(format!("stopped after {} s", LIMIT.as_secs())),
        Some((success, how)) if !(success && through) => Some(how),
        Some(_) => None,
    };
    let during = running.last().map_or("after its tests", String::as_str);
    ran.died = how.map(|how| format!("{how}, in {during}"));
    ran
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_names_the_test_that_ran() {
        let text = r#"{"begin": "test.test_a"}
{"begin": "test.test_a.T.test_x"}
{"test": "test.test_a.T.test_x", "outcome": "ok", "detail": ""}
{"begin": "test.test_a.T.test_y"}
{"test": "test.te"#;
        let ran = read(text, Some((false, "signal: 11".to_owned())));
        assert_eq!(ran.died.as_deref(), Some("signal: 11, in test.test_a.T.test_y"));
        assert_eq!(ran.tests.len(), 1);
    }

    #[test]
    fn what_ended_well_did_not_die() {
        let text = r#"{"begin": "test.test_a"}
{"test": "test.test_a", "outcome": "ok", "detail": ""}
{"end": {"entered": 3, "rewritten": 2, "plain": {"opcode": 1}, "defects": ["x"], "hook_failures": 0}}"#;
        let ran = read(text, Some((true, "exit status: 0".to_owned())));
        assert_eq!(ran.died, None);
        assert_eq!((ran.counts.entered, ran.counts.rewritten, ran.counts.defects.len()), (3, 2, 1));
        assert!(read(text, None).died.is_some());
        assert!(read("", Some((true, "exit status: 0".to_owned()))).died.is_some());
        assert!(read(r#"{"missing": "test_b"}"#, Some((true, String::new()))).missing);
    }
}
