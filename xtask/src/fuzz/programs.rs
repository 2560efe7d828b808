//! Random programs, plain and captured, for a while: `tests/driver/random_programs.py` with both cores.
//!
//! A third of the time is for those about iteration and state, the rest for those about the whole of Python. The first seeds that
//! were not tried yet are kept in `target/fuzz/programs/<version>` and `<version>-wide`, so that each run tries others.

use crate::console::{self, Step};
use crate::environment::{self, Needs};
use crate::{interpreter, process, wheel};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Whether all programs did captured what they do plain. Those that did not are printed by their seeds.
pub(super) fn run(python: Option<&str>, seconds: u64, made: &Path) -> Result<bool> {
    let python = interpreter::choose(python)?;
    let env = environment::prepare(&python, Needs::Test)?;
    wheel::ready(&env, wheel::TOY)?;
    let next = made.join("programs");
    fs::create_dir_all(&next).with_context(|| format!("cannot make {}", next.display()))?;
    let time = console::seconds(Duration::from_secs(seconds));
    let step = Step::start(format!("Running random programs for {time}, {python}"));
    let jobs = thread::available_parallelism().map_or(1, |n| n.get()).to_string();
    let version = python.version.short();
    let wide = format!("{version}-wide");
    let mut same = true;
    for (seconds, state, flags) in [(seconds / 3, version, &[][..]), (seconds - seconds / 3, wide, &["--wide"][..])] {
        let mut programs = env.command();
        programs.arg("tests/driver/random_programs.py").args(flags);
        programs.args(["--seconds", &seconds.to_string(), "--jobs", &jobs, "--next"]).arg(next.join(state));
        same &= process::show(&mut programs)?.success();
    }
    step.done();
    Ok(same)
}
