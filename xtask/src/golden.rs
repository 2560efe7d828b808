//! `cargo xtask golden`: writes every insta snapshot anew and shows what changed.
//!
//! The change is for review: a snapshot is the expected behaviour, so a changed one is a changed decision.

use crate::console::Step;
use crate::environment::{self, Needs};
use crate::{interpreter, process, rust_tests, test, wheel, workspace};
use anyhow::{Result, bail};
use std::process::Command;

pub(crate) fn run(python: Option<&str>) -> Result<()> {
    let interpreter = interpreter::choose(python)?;
    workspace::need_linker()?;
    let env = environment::prepare(&interpreter, Needs::Test)?;
    let built = test::build(&env, wheel::TOY);
    if let Some(failure) = built.failures.first() {
        bail!("{failure}");
    }
    for package in ["sot-opcodes", rust_tests::HARNESS] {
        let step = Step::start(format!("Renewing the snapshots of {package}"));
        let mut cargo = env.cargo();
        cargo.args(["test", "--quiet", "--no-fail-fast", "-p", package]);
        cargo.env("INSTA_UPDATE", "always").env("INSTA_FORCE_PASS", "1").env("SOT_TEST_PYTHON", env.python());
        process::show_ok(&mut cargo, "a test that is no snapshot")?;
        step.done();
    }
    let mut git = Command::new("git");
    git.current_dir(workspace::root());
    process::show_ok(git.args(["--no-pager", "diff", "--stat", "--", "*.snap"]), "git diff")?;
    let mut git = Command::new("git");
    git.current_dir(workspace::root());
    process::show_ok(git.args(["status", "--short", "--untracked-files=all", "--", "*.snap"]), "git status")?;
    Ok(())
}
