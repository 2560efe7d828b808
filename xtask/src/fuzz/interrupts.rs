//! Programs that are interrupted at random points, for a while: `tests/driver/interrupts.py`.

use crate::console::{self, Step};
use crate::environment::{self, Needs};
use crate::{interpreter, process, wheel};
use anyhow::Result;
use std::time::Duration;

/// Whether nothing was left half done. What was is printed with its seed.
pub(super) fn run(python: Option<&str>, seconds: u64) -> Result<bool> {
    let python = interpreter::choose(python)?;
    let env = environment::prepare(&python, Needs::Test)?;
    wheel::ready(&env, wheel::TOY)?;
    let time = console::seconds(Duration::from_secs(seconds));
    let step = Step::start(format!("Interrupting programs for {time}, {python}"));
    let mut programs = env.command();
    programs.args(["tests/driver/interrupts.py", "--seconds", &seconds.to_string()]);
    programs.env("SOT_MEASURE", "0");
    let same = process::show(&mut programs)?.success();
    step.done();
    Ok(same)
}
