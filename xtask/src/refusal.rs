//! What stops a command for a reason that lies outside the project: said in one sentence, with the remedy.
//!
//! A refusal ends the process with exit code 2, so that a script can tell "this machine lacks something"
//! from "something of ours is broken" (exit code 1).

use std::fmt;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) sentence: String,
    pub(crate) remedy: String,
}

impl Refusal {
    pub(crate) fn new(sentence: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  remedy: {}", self.sentence, self.remedy)
    }
}

impl std::error::Error for Refusal {}
