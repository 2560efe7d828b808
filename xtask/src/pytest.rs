//! Running the Python tests: one process for each file, as many at a time as there are cores.
//!
//! The code under test swaps the interpreter's frame evaluation and patches live code objects, all of it global to a
//! process. So each file has a process of its own: what one leaves behind cannot help or hurt the next, and a crash
//! costs one file and not the run. (pytest-xdist reuses its workers, and pytest-forked forks after Paddle has started
//! threads.) Output goes to a file and not a pipe, which a child that outlives a killed test would hold open.

use crate::console;
use crate::environment::Environment;
use crate::process;
use crate::suite::{self, Outcome};
use crate::workspace;
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// Far above what any file needs; a hang must not eat the whole run.
const LIMIT: Duration = Duration::from_secs(1500);

/// Runs these files, and every `test_*.py` under these directories, all relative to the checkout.
pub(crate) fn run(env: &Environment, suite: &str, paths: &[&str]) -> Result<Outcome> {
    let start = Instant::now();
    let root = workspace::root();
    let mut files = Vec::new();
    for path in paths {
        match root.join(path) {
            file if file.is_file() => files.push(file),
            dir => collect(&dir, &mut files)?,
        }
    }
    files.sort();
    if files.is_empty() {
        return Ok(Outcome::skipped(suite, format!("no test_*.py under {}", paths.join(", "))));
    }
    let logs = env.target_dir().join("pytest");
    fs::create_dir_all(&logs).with_context(|| format!("cannot make {}", logs.display()))?;
    files.reverse();
    let queue = Mutex::new(files);
    let total = Mutex::new(Outcome::new(suite));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().ok().and_then(|mut files| files.pop());
                    let Some(file) = next else { return };
                    let name = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
                    let outcome = one(env, &name, &logs).unwrap_or_else(|error| {
                        let mut outcome = Outcome::new(&name);
                        outcome.fail(format!("{name}: {error:#}"));
                        outcome
                    });
                    if let Ok(mut total) = total.lock() {
                        total.absorb(outcome);
                    }
                }
            });
        }
    });
    let total = total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(total.since(start))
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !dir.is_dir() {
        return Ok(());
    }
    for entry in dir.read_dir().with_context(|| format!("cannot list {}", dir.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, files)?;
        } else if name.starts_with("test_") && name.ends_with(".py") {
            files.push(path);
        }
    }
    Ok(())
}

fn one(env: &Environment, name: &str, logs: &Path) -> Result<Outcome> {
    let start = Instant::now();
    let log = logs.join(format!("{}.log", name.replace('/', "-")));
    let out = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut command = env.command();
    command.args(["-X", "faulthandler", "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", name]);
    // Two files at a time on two cores: threads of Paddle's own would only get in each other's way.
    command.env("OMP_NUM_THREADS", "1").env("PYTHONDONTWRITEBYTECODE", "1");
    command.stdin(Stdio::null()).stderr(out.try_clone()?).stdout(out);
    let mut child = command.spawn().context("cannot start pytest")?;
    let status = process::wait_within(&mut child, LIMIT)?;
    let output = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    // A file that is skipped as a whole has no tests to collect, and pytest's status is 5; its last line counts what it skipped.
    let ended_well = status.is_some_and(|s| s.success() || s.code() == Some(5) && output.contains(" skipped in "));
    let mut outcome = suite::of_pytest(name, &output, ended_well);
    if status.is_none() {
        outcome.fail(format!("{name}: stopped after {}", console::seconds(LIMIT)));
    }
    let line =
        format!("{name}  {} passed, {} failed  {}", outcome.passed, outcome.failed, console::seconds(start.elapsed()));
    if outcome.failed > 0 {
        let how = status.map_or_else(|| "killed".to_owned(), |s| s.to_string());
        println!("    {line}\n---- {name} ({how})\n{output}\n---- end of {name}");
    } else {
        console::note(&line);
    }
    Ok(outcome)
}
