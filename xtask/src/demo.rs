//! `cargo xtask demo`: from a bare machine to captured models, in one command.

use crate::console::Step;
use crate::environment::{self, Needs};
use crate::interpreter;
use crate::{process, wheel, workspace};
use anyhow::{Result, bail};

pub(crate) fn run(python: Option<&str>, quick: bool) -> Result<()> {
    let interpreter = interpreter::choose(python)?;
    workspace::need_linker()?;
    let env = environment::prepare(&interpreter, Needs::Run)?;
    wheel::ready(&env, wheel::SOT)?;
    let step = Step::start("Running sot-py/demo/demo.py: each program eagerly and captured");
    let mut demo = env.command();
    demo.arg("sot-py/demo/demo.py");
    if quick {
        demo.arg("--quick");
    }
    let status = process::show(&mut demo)?;
    if !status.success() {
        bail!("the demo found a difference or did not finish ({status})");
    }
    step.done();
    Ok(())
}
