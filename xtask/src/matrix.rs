//! `cargo xtask matrix`: what depends on the interpreter's version, on every supported one that is installed.
//!
//! The literate suite is among it: it states the decisions of the translator, and where they differ from version to version.
//!
//! Two rows of the table for each are of [`roundtrip`]: its standard library decoded and encoded, and tests of that
//! run with re-encoded functions. Both need neither Paddle nor the extension modules. One row is of [`oracle`]: more of its
//! tests, captured.
//!
//! Within a budget of minutes: an interpreter is not started when the slowest one so far would no longer fit, and the
//! table says which ones were left out.

use crate::console::{self, Step};
use crate::environment::{self, Needs};
use crate::interpreter::{self, Interpreter};
use crate::suite::{self, Outcome};
use crate::{oracle, pytest, roundtrip, rust_tests, test, wheel, workspace};
use anyhow::{Result, bail};
use std::time::{Duration, Instant};

/// The hook, frame layouts and frame replacement, and capture with the test backend: what each version does differently.
const TESTS: [&str; 2] = ["tests/python/cpython", "tests/python/toy"];

/// With the oldest Paddle, which is the oldest interpreter's: models are one graph there as well, and the release is known.
const OLDEST: [&str; 2] = ["tests/python/paddle/test_one_graph.py", "tests/python/paddle/test_releases.py"];

pub(crate) fn run(minutes: u64, except: &[String]) -> Result<()> {
    let start = Instant::now();
    let known: Vec<String> = interpreter::SUPPORTED.iter().map(|minor| format!("3.{minor}")).collect();
    if let Some(wrong) = except.iter().find(|version| !known.contains(version)) {
        bail!("--except {wrong}: give one of {}", known.join(", "));
    }
    let budget = Duration::from_secs(minutes * 60);
    let interpreters = interpreter::installed();
    if interpreters.is_empty() {
        interpreter::choose(None)?;
    }
    workspace::need_linker()?;
    let missing: Vec<String> =
        known.into_iter().filter(|version| !interpreters.iter().any(|p| p.version.short() == *version)).collect();
    if !missing.is_empty() {
        console::note(&format!("not installed here: {}", missing.join(", ")));
    }
    let mut outcomes = Vec::new();
    let mut slowest = Duration::ZERO;
    for python in &interpreters {
        let name = format!("CPython {}", python.version.short());
        if except.contains(&python.version.short()) {
            outcomes.push(Outcome::skipped(&name, "left out by --except"));
            continue;
        }
        if start.elapsed() + slowest >= budget {
            outcomes
                .push(Outcome::skipped(&name, format!("not started: the {minutes} minutes would not have sufficed")));
            continue;
        }
        let began = Instant::now();
        let (outcome, built) =
            one(python, &name).unwrap_or_else(|error| (Outcome::one(&name, Some(format!("{error:#}"))), false));
        outcomes.push(outcome.since(began));
        let recoded = roundtrip::outcomes(python, &name);
        outcomes
            .extend(recoded.unwrap_or_else(|error| vec![Outcome::one(&name, Some(format!("roundtrip: {error:#}")))]));
        if built {
            let row = oracle::row(python, &name);
            outcomes.push(row.unwrap_or_else(|error| Outcome::one(&name, Some(format!("oracle: {error:#}")))));
        }
        slowest = slowest.max(began.elapsed());
    }
    if !suite::report(&outcomes) {
        bail!("not every interpreter passed");
    }
    Ok(())
}

/// The tests of this project; and whether the extension modules were built.
fn one(python: &Interpreter, name: &str) -> Result<(Outcome, bool)> {
    let step = Step::start(format!("{name}: {}", python.executable.display()));
    let env = environment::prepare(python, Needs::Test)?;
    let mut outcome = Outcome::new(name);
    // `cargo xtask test` has built the test backend that checks itself for the interpreter that it chooses.
    let first = interpreter::choose(None).is_ok_and(|first| first.version == python.version);
    let built = test::build(&env, if first { wheel::TOY } else { wheel::TOY_RELEASED });
    let works = built.failed == 0;
    outcome.absorb(built);
    if works {
        let oldest = Some(&python.version.1) == interpreter::SUPPORTED.first();
        let of_paddle: &[&str] = if oldest { &OLDEST } else { &[] };
        outcome.absorb(pytest::run(&env, name, &[&TESTS, of_paddle].concat())?);
        outcome.absorb(rust_tests::harness(&env)?);
    }
    outcome.absorb(rust_tests::embedding(&env)?);
    step.done();
    Ok((outcome, works))
}
