//! Running other programs: quietly, openly, or openly with their output also kept.
//!
//! A program that cannot be started is an error of the caller's; how it ended is the caller's to judge.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A program that ended, with what it wrote.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
}

/// Runs with the terminal as its own.
pub(crate) fn show(command: &mut Command) -> Result<ExitStatus> {
    flush();
    command.stdin(Stdio::null()).status().with_context(|| cannot_start(command))
}

/// Runs with the terminal as its own and makes any exit code but 0 an error.
pub(crate) fn show_ok(command: &mut Command, what: &str) -> Result<()> {
    let status = show(command)?;
    if !status.success() {
        bail!("{what} failed ({status}): {command:?}");
    }
    Ok(())
}

/// Runs without a sign and keeps both streams.
pub(crate) fn quiet(command: &mut Command) -> Result<Ended> {
    let out = command.stdin(Stdio::null()).output().with_context(|| cannot_start(command))?;
    let mut output = String::from_utf8_lossy(&out.stdout).into_owned();
    output.push_str(&String::from_utf8_lossy(&out.stderr));
    Ok(Ended { status: out.status, output })
}

/// What is kept of a program that is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Only standard error; standard output stays the terminal, so that progress bars work.
    Errors,
    Both,
}

/// Runs openly, each line indented as it comes, and keeps the lines.
pub(crate) fn tee(command: &mut Command, keep: Keep) -> Result<Ended> {
    flush();
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    command.stdout(if keep == Keep::Both { Stdio::piped() } else { Stdio::inherit() });
    let mut child = command.spawn().with_context(|| cannot_start(command))?;
    let kept = Arc::new(Mutex::new(String::new()));
    let readers: Vec<_> = [
        child.stdout.take().map(|s| Box::new(s) as Box<dyn Read + Send>),
        child.stderr.take().map(|s| Box::new(s) as Box<dyn Read + Send>),
    ]
    .into_iter()
    .flatten()
    .map(|stream| {
        let kept = Arc::clone(&kept);
        thread::spawn(move || copy_lines(stream, &kept))
    })
    .collect();
    let status = child.wait()?;
    for reader in readers {
        // A reader can only panic when printing does, and then there is nobody to tell.
        let _ = reader.join();
    }
    let output = kept.lock().map(|text| text.clone()).unwrap_or_default();
    Ok(Ended { status, output })
}

/// Waits for a child; `None` if it had to be stopped.
pub(crate) fn wait_within(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn copy_lines(stream: Box<dyn Read + Send>, kept: &Mutex<String>) {
    let mut lines = BufReader::new(stream);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let text = String::from_utf8_lossy(&line).into_owned();
        println!("    {}", text.trim_end());
        if let Ok(mut kept) = kept.lock() {
            kept.push_str(&text);
        }
        line.clear();
    }
}

fn flush() {
    // A closed terminal is not worth failing for.
    let _ = std::io::stdout().flush();
}

fn cannot_start(command: &Command) -> String {
    format!("cannot start {}", command.get_program().to_string_lossy())
}
