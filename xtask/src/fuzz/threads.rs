//! Many threads that capture, break, collect and forget at once, for a while: `tests/driver/threads.py`.

use crate::console::{self, Step};
use crate::environment::{self, Needs};
use crate::{interpreter, process, wheel};
use anyhow::Result;
use std::time::Duration;

/// Whether each call was as plain Python makes it. What was not is printed.
pub(super) fn run(python: Option<&str>, seconds: u64) -> Result<bool> {
    let python = interpreter::choose(python)?;
    let env = environment::prepare(&python, Needs::Test)?;
    wheel::ready(&env, wheel::TOY)?;
    let time = console::seconds(Duration::from_secs(seconds));
    let step = Step::start(format!("Running eight threads for {time}, {python}"));
    let mut threads = env.command();
    threads.args(["tests/driver/threads.py", "--seconds", &seconds.to_string()]);
    let same = process::show(&mut threads)?.success();
    step.done();
    Ok(same)
}
