//! What a person sees while a command works: a headline per step, how long it took, and how far a long one is.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// A running step. Dropping it says nothing: a step that failed is told by its error.
pub(crate) struct Step {
    what: String,
    since: Instant,
}

impl Step {
    pub(crate) fn start(what: impl Into<String>) -> Self {
        let what = what.into();
        println!("==> {what}");
        Self { what, since: Instant::now() }
    }

    /// Ends the step. Quick ones are not worth a second line.
    pub(crate) fn done(self) {
        let took = self.since.elapsed();
        if took >= Duration::from_secs(2) {
            println!("    {} took {}", self.what, seconds(took));
        }
    }
}

/// How many of something are done, on a line that is written over. A log sees nothing of it.
pub(crate) struct Progress {
    what: &'static str,
    total: usize,
    done: usize,
    /// When the line was last written; `None` where there is no terminal.
    shown: Option<Instant>,
}

impl Progress {
    const PAUSE: Duration = Duration::from_millis(100);

    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, total: 0, done: 0, shown: std::io::stdout().is_terminal().then(Instant::now) }
    }

    pub(crate) fn of(&mut self, total: usize) {
        self.total = total;
    }

    pub(crate) fn step(&mut self) {
        self.done += 1;
        if self.shown.is_some_and(|shown| shown.elapsed() >= Self::PAUSE) {
            self.shown = Some(Instant::now());
            print!("\r    {} of {} {}", self.done, self.total, self.what);
            flush();
        }
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        if self.shown.is_some() {
            print!("\r{:60}\r", "");
            flush();
        }
    }
}

fn flush() {
    // A closed terminal is not worth failing for.
    let _ = std::io::stdout().flush();
}

/// A step that had nothing to do: one line that says why.
pub(crate) fn already(what: &str, why: &str) {
    println!("==> {what}: {why}");
}

/// An indented line under the current step.
pub(crate) fn note(line: &str) {
    println!("    {line}");
}

pub(crate) fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(60) {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        format!("{} min {:02} s", time.as_secs() / 60, time.as_secs() % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_is_written_as_one() {
        assert_eq!(seconds(Duration::from_millis(1_250)), "1.2 s");
        assert_eq!(seconds(Duration::from_secs(61)), "1 min 01 s");
    }
}
