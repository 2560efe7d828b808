//! A check at the end of a path, with the line of the user's program that asked for it.

use crate::{Check, Names, TrackerId, TrackerTable};
use std::fmt;
use std::sync::Arc;

/// Where in the user's program a guard was needed, for explanations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    pub file: Arc<str>,
    pub line: u32,
    /// What was being done: `read x.training`.
    pub what: String,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.what.is_empty() { Ok(()) } else { write!(f, ": {}", self.what) }
    }
}

/// A fact that the capture depended on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    pub tracker: TrackerId,
    pub check: Check,
    pub origin: Option<Origin>,
}

impl Guard {
    /// A guard of unknown origin.
    pub fn new(tracker: TrackerId, check: Check) -> Guard {
        Guard { tracker, check, origin: None }
    }

    /// The same with its origin.
    #[must_use]
    pub fn at(mut self, origin: Origin) -> Guard {
        self.origin = Some(origin);
        self
    }

    /// Paths whose values the guard needs: its own first.
    pub fn trackers(&self) -> impl Iterator<Item = TrackerId> + '_ {
        std::iter::once(self.tracker).chain(self.check.others().iter().copied())
    }

    /// The text: `type(locals["x"]) is int`. The origin is not part of it.
    pub fn display<'a>(&'a self, table: &'a TrackerTable, names: &'a dyn Names) -> impl fmt::Display + 'a {
        Text { guard: self, table, names }
    }
}

struct Text<'a> {
    guard: &'a Guard,
    table: &'a TrackerTable,
    names: &'a dyn Names,
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.guard.check.display_on(self.guard.tracker, self.table, self.names))
    }
}
