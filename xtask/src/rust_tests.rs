//! Running the Rust side: formatting, lints, and tests with nextest where it is installed, else with `cargo test`.

use crate::environment::Environment;
use crate::process::{self, Keep};
use crate::suite::{self, Outcome};
use crate::tidy::published::PUBLISHED;
use crate::workspace;
use anyhow::Result;
use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// Crates that link no interpreter.
pub(crate) const PURE: [&str; 5] = ["sot-opcodes", "sot-tracker", "sot-sir", "sot-sideeffect", "xtask"];

/// Crates whose tests embed an interpreter.
pub(crate) const EMBEDDING: [&str; 2] = ["sot-core", "sot-paddle"];

/// The member crate of the equivalence harness, the literate suite and the snapshots.
pub(crate) const HARNESS: &str = "sot-tests";

pub(crate) fn format() -> Result<Outcome> {
    if !workspace::has_subcommand("fmt") {
        return Ok(Outcome::skipped("rustfmt", "not installed: `rustup component add rustfmt`"));
    }
    let start = Instant::now();
    let ended = process::tee(workspace::cargo().args(["fmt", "--all", "--", "--check", "-l"]), Keep::Both)?;
    let failure = (!ended.status.success()).then(|| "not formatted: run `cargo fmt --all`".to_owned());
    Ok(Outcome::one("rustfmt", failure).since(start))
}

pub(crate) fn clippy(env: &Environment) -> Result<Outcome> {
    if !workspace::has_subcommand("clippy") {
        return Ok(Outcome::skipped("clippy", "not installed: `rustup component add clippy`"));
    }
    let start = Instant::now();
    let mut command = env.cargo();
    command.args(["clippy", "--quiet", "--workspace", "--all-targets", "--keep-going", "--", "-D", "warnings"]);
    let ended = process::tee(&mut command, Keep::Both)?;
    let failure = (!ended.status.success()).then(|| "warnings or errors, shown above".to_owned());
    Ok(Outcome::one("clippy", failure).since(start))
}

/// The documentation builds: no link leads nowhere.
pub(crate) fn docs(env: &Environment) -> Result<Outcome> {
    let start = Instant::now();
    let mut command = env.cargo();
    // Links to private items are for readers of the source.
    command.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links");
    command.args(["doc", "--quiet", "--workspace", "--no-deps", "--keep-going"]);
    let ended = process::tee(&mut command, Keep::Both)?;
    let failure = (!ended.status.success()).then(|| "warnings or errors, shown above".to_owned());
    Ok(Outcome::one("documentation", failure).since(start))
}

/// What is published can be packed: with all files and versions that the manifests name. The packages are not built once more, which would
/// take minutes: they hold the sources that the other suites have built.
pub(crate) fn package() -> Result<Outcome> {
    let start = Instant::now();
    let mut command = workspace::cargo();
    command.args(["package", "--quiet", "--offline", "--no-verify", "--allow-dirty"]);
    command.args(PUBLISHED.iter().flat_map(|name| ["-p", *name]));
    let ended = process::tee(&mut command, Keep::Both)?;
    let failure = (!ended.status.success()).then(|| "cargo package failed, shown above".to_owned());
    Ok(Outcome::one("packages", failure).since(start))
}

/// Crates without Python, and the examples in their documentation.
pub(crate) fn pure() -> Result<Outcome> {
    let start = Instant::now();
    let mut outcome = tests("rust", workspace::cargo(), &PURE)?;
    let libraries = PURE.iter().filter(|name| **name != "xtask");
    let mut doc = workspace::cargo();
    doc.args(["test", "--no-fail-fast", "--doc"]).args(libraries.flat_map(|name| ["-p", name]));
    let ended = process::tee(&mut doc, Keep::Both)?;
    outcome.absorb(suite::of_cargo_test("rust", &ended.output, ended.status.success()));
    Ok(outcome.since(start))
}

/// Crates that embed the interpreter: only where it has a `libpython` to link to.
pub(crate) fn embedding(env: &Environment) -> Result<Outcome> {
    const SUITE: &str = "rust with python";
    if env.interpreter.library.is_none() {
        let why = format!(
            "{} has no libpython to embed (Debian: `apt-get install python{}-dev`)",
            env.interpreter,
            env.interpreter.version.short()
        );
        return Ok(Outcome::skipped(SUITE, why));
    }
    let start = Instant::now();
    let mut cargo = env.cargo();
    embed(&mut cargo, env);
    let mut outcome = tests(SUITE, cargo, &EMBEDDING)?;
    // The guide, and examples in the documentation.
    let mut doc = env.cargo();
    embed(&mut doc, env);
    doc.args(["test", "--no-fail-fast", "--doc", "-p", "sot-core"]);
    let ended = process::tee(&mut doc, Keep::Both)?;
    outcome.absorb(suite::of_cargo_test(SUITE, &ended.output, ended.status.success()));
    Ok(outcome.since(start))
}

/// The equivalence harness: it starts the interpreter, so that one build does for all.
pub(crate) fn harness(env: &Environment) -> Result<Outcome> {
    let start = Instant::now();
    let mut cargo = workspace::cargo();
    cargo.env("SOT_TEST_PYTHON", env.python());
    Ok(tests("equivalence and snapshots", cargo, &[HARNESS])?.since(start))
}

/// Lets a Rust program that embeds the interpreter find its library and the environment's packages.
fn embed(command: &mut Command, env: &Environment) {
    command.env("PYTHONPATH", env.site_packages());
    command.env("PYTHONHOME", &env.interpreter.base_prefix);
    if let Some(dir) = &env.interpreter.library_dir {
        let name = if cfg!(target_os = "macos") { "DYLD_LIBRARY_PATH" } else { "LD_LIBRARY_PATH" };
        let old = env::var_os(name).unwrap_or_default();
        let dirs = std::iter::once(dir.clone()).chain(env::split_paths(&old).filter(|d| d != &PathBuf::new()));
        if let Ok(joined) = env::join_paths(dirs) {
            command.env(name, joined);
        }
    }
}

fn tests(suite: &str, mut cargo: Command, packages: &[&str]) -> Result<Outcome> {
    let packages = packages.iter().flat_map(|name| ["-p", name]);
    if workspace::has_subcommand("nextest") {
        cargo.args(["nextest", "run", "--profile", "ci", "--no-tests", "pass"]).args(packages);
        let ended = process::tee(&mut cargo, Keep::Both)?;
        return Ok(suite::of_nextest(suite, &ended.output, ended.status.success()).or_nothing());
    }
    cargo.args(["test", "--no-fail-fast", "--lib", "--bins", "--tests"]).args(packages);
    let ended = process::tee(&mut cargo, Keep::Both)?;
    let mut outcome = suite::of_cargo_test(suite, &ended.output, ended.status.success());
    outcome.note = Some("with `cargo test`: cargo-nextest is not installed".to_owned());
    Ok(outcome.or_nothing())
}
