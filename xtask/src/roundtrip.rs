//! `cargo xtask roundtrip`: decode and encode real programs, and have CPython judge.
//!
//! # Files
//! The interpreter compiles each file, sends the attributes of its code objects, and builds what comes back with
//! `CodeType`. A code object is well when that works and
//! - `dis` gives the same instructions, operands and jump targets (EXTENDED_ARG and caches aside), each with the same
//!   line and, from 3.11 on, columns; and the same handlers;
//! - its stack size is at least what CPython's own `dis.stack_effect` comes to, walked over the new bytes by
//!   `xtask/py/roundtrip/stack.py`, which knows nothing of sot-opcodes;
//! - and at most what CPython claims, but never asked to be less than 1.
//!
//! # Stack sizes that are not as claimed
//! No version needs slack above the claim but that one slot: up to 3.11 CPython claims none for code that only raises,
//! 3.12 none for code that only returns a constant, and 3.13 always claims one. Ours is below the claim where CPython
//! computes its own and removes code afterwards, and what was computed for it stays:
//! - 3.8 and 3.9 fold a tuple of constants (defaults of a function, names of an import) from its loads;
//! - from 3.11 on a handler goes away when nothing is left in the range that it protects (`try: pass`).
//!
//! # Tests
//! `--test` runs the standard library's own tests twice: as they are, and with every function and module body replaced
//! by its re-encoded form; see [`replaced`]. `--pad` puts a NOP before most instructions ([`pad`]). From 3.11 on the code
//! is then warm: what the interpreter has specialised must still decode to the same.
//!
//! # How
//! The scripts of `xtask/py/roundtrip` run in the interpreter and talk JSON lines with this process over a local socket,
//! the interpreter asking and this process answering.

mod files;
mod hex;
mod pad;
mod recode;
mod replaced;
mod session;
mod suites;
mod summary;

use crate::console::{self, Step};
use crate::interpreter::{self, Interpreter};
use crate::refusal::Refusal;
use crate::suite::Outcome;
use anyhow::{Context, Result, bail};
use sot_opcodes::Version;
use std::path::PathBuf;
use std::time::Instant;

/// Failures that are told one by one.
const SHOWN: usize = 20;

pub(crate) enum What<'a> {
    /// Files and folders; none: the standard library.
    Files { paths: &'a [PathBuf], time: bool },
    /// Test modules; none: the chosen ones.
    Tests { modules: &'a [String], padded: bool },
}

pub(crate) fn run(python: Option<&str>, what: &What<'_>) -> Result<()> {
    let python = interpreter::choose(python)?;
    match *what {
        What::Files { paths, time } => compare(&python, paths, time),
        What::Tests { modules, padded } => test(&python, modules, padded),
    }
}

fn compare(python: &Interpreter, paths: &[PathBuf], time: bool) -> Result<()> {
    console::note(&format!("{python}"));
    let found = files::run(python, version(python)?, paths, time)?;
    print!("{}", found.summary.text(&found.recoder, found.took));
    if time {
        println!("{}", files::pace(&found.recoder));
    }
    for line in found.summary.examples() {
        console::note(&line);
    }
    match found.summary.bad() {
        0 => Ok(()),
        bad => bail!("{bad} differences or failures"),
    }
}

fn test(python: &Interpreter, modules: &[String], padded: bool) -> Result<()> {
    let named: Vec<&str> = modules.iter().map(|name| name.strip_prefix("test.").unwrap_or(name)).collect();
    let chosen = if named.is_empty() { suites::CHOSEN } else { &named };
    console::note(&format!("{python}"));
    let found = replaced::run(python, version(python)?, chosen, !named.is_empty(), padded)?;
    for line in &found.lines {
        console::note(line);
    }
    for failure in found.failures.iter().take(SHOWN) {
        console::note(&format!("failure: {failure}"));
    }
    match found.failures.len() {
        0 => Ok(()),
        bad => {
            bail!("{bad} tests or functions do not do replaced what they do unreplaced; logs are in target/roundtrip")
        }
    }
}

/// For the matrix: the standard library, and few of its tests. One row of the table each.
pub(crate) fn outcomes(python: &Interpreter, name: &str) -> Result<Vec<Outcome>> {
    let version = version(python)?;
    let step = Step::start(format!("{name}: decode and encode the standard library"));
    let start = Instant::now();
    let found = files::run(python, version, &[], false)?;
    let mut library = Outcome::new(format!("{name} code objects"));
    library.passed = found.summary.identical + found.summary.equivalent;
    library.failed = found.summary.bad();
    library.failures = found.summary.examples();
    let library = library.since(start);
    step.done();
    let step = Step::start(format!("{name}: run re-encoded functions"));
    let start = Instant::now();
    let name = format!("{name} re-encoded");
    let tests = match replaced::run(python, version, suites::QUICK, false, false) {
        Ok(found) => Outcome {
            passed: found.agree,
            skipped: found.skipped,
            failed: found.failures.len(),
            failures: found.failures,
            ..Outcome::new(name)
        },
        // An interpreter without the package `test` is a lack of this machine.
        Err(error) => match error.downcast::<Refusal>() {
            Ok(refusal) => Outcome::skipped(&name, refusal.sentence),
            Err(error) => return Err(error),
        },
    };
    step.done();
    Ok(vec![library, tests.since(start)])
}

fn version(python: &Interpreter) -> Result<Version> {
    Version::from_minor(python.version.1).with_context(|| format!("sot-opcodes has no tables for {python}"))
}
