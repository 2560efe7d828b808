//! `cargo xtask test`: everything, for one interpreter.
//!
//! Cheapest first. A suite that fails does not stop the others: one run tells everything that is broken.

use crate::console::Step;
use crate::environment::{self, Environment, Needs};
use crate::process::{self, Keep};
use crate::suite::{self, Outcome};
use crate::{codegen, interpreter, pytest, rust_tests, tidy, wheel, workspace};
use anyhow::{Result, bail};
use clap::ValueEnum;
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suite {
    /// Formatting of the Rust sources.
    Format,
    /// The project's own rules, as `cargo xtask tidy`.
    Tidy,
    /// Generated tables equal what the interpreters say.
    Codegen,
    /// Lints, warnings being errors.
    Clippy,
    /// Documentation, warnings being errors.
    Docs,
    /// The crates that are published can be packed.
    Package,
    /// Rust tests of the crates without Python.
    Rust,
    /// Rust tests that embed the interpreter.
    Embedding,
    /// The typed stub equals the module.
    Stub,
    /// tests/python, each file in its own process.
    Pytest,
    /// Equivalence harness, literate suite and snapshots.
    Harness,
}

impl Suite {
    fn headline(self) -> &'static str {
        match self {
            Self::Format => "Formatting",
            Self::Tidy => "The project's own rules",
            Self::Codegen => "Generated tables",
            Self::Clippy => "Lints",
            Self::Docs => "Documentation",
            Self::Package => "Packages for crates.io",
            Self::Rust => "Rust tests without Python",
            Self::Embedding => "Rust tests that embed Python",
            Self::Stub => "Typed stub against the built module",
            Self::Pytest => "Python tests",
            Self::Harness => "Equivalence harness, literate suite and snapshots",
        }
    }

    fn needs_modules(self) -> bool {
        matches!(self, Self::Stub | Self::Pytest | Self::Harness)
    }
}

pub(crate) fn run(python: Option<&str>, only: &[Suite]) -> Result<()> {
    let interpreter = interpreter::choose(python)?;
    workspace::need_linker()?;
    let env = environment::prepare(&interpreter, Needs::Test)?;
    let suites: Vec<Suite> =
        Suite::value_variants().iter().copied().filter(|s| only.is_empty() || only.contains(s)).collect();
    let mut modules = None;
    let mut outcomes = Vec::new();
    for suite in suites {
        if suite.needs_modules() && modules.is_none() {
            let built = build(&env, wheel::TOY);
            modules = Some(built.failed == 0);
            outcomes.push(built);
        }
        let step = Step::start(suite.headline());
        outcomes.push(if suite.needs_modules() && modules == Some(false) {
            Outcome::skipped(&format!("{suite:?}").to_lowercase(), "the extension modules did not build")
        } else {
            one(suite, &env)?
        });
        step.done();
    }
    if !suite::report(&outcomes) {
        bail!("not everything passed");
    }
    Ok(())
}

fn one(suite: Suite, env: &Environment) -> Result<Outcome> {
    match suite {
        Suite::Format => rust_tests::format(),
        Suite::Tidy => tidy::outcome(),
        Suite::Codegen => Ok(codegen_check()),
        Suite::Clippy => rust_tests::clippy(env),
        Suite::Docs => rust_tests::docs(env),
        Suite::Package => rust_tests::package(),
        Suite::Rust => rust_tests::pure(),
        Suite::Embedding => rust_tests::embedding(env),
        Suite::Stub => stub(env),
        Suite::Pytest => pytest::run(env, "pytest", &["tests/python"]),
        Suite::Harness => rust_tests::harness(env),
    }
}

/// Builds and installs the extension modules; a failure is a result like any other.
pub(crate) fn build(env: &Environment, toy: wheel::Package) -> Outcome {
    let start = Instant::now();
    let failure =
        [wheel::SOT_TESTED, toy, wheel::ARRAYS].into_iter().find_map(|package| wheel::ready(env, package).err());
    Outcome::one("extension modules", failure.map(|error| format!("{error:#}"))).since(start)
}

fn codegen_check() -> Outcome {
    let start = Instant::now();
    let failure = codegen::run(true).err();
    Outcome::one("codegen --check", failure.map(|error| error.to_string())).since(start)
}

fn stub(env: &Environment) -> Result<Outcome> {
    let start = Instant::now();
    let mut command = env.command();
    command.args(["-m", "mypy.stubtest", "sot"]);
    command.args(["--mypy-config-file", "xtask/py/mypy.ini", "--allowlist", "xtask/py/stubtest-allowlist.txt"]);
    // Not every entry of the list exists on every version.
    command.arg("--ignore-unused-allowlist");
    let ended = process::tee(&mut command, Keep::Both)?;
    let failure = (!ended.status.success()).then(|| "the stub and the module differ, shown above".to_owned());
    Ok(Outcome::one("stubtest", failure).since(start))
}
