//! One warning where nothing is captured at all, and the program did not ask for that.

use crate::cpython::warn;
use crate::engine::registries;
use crate::stop::{Reason, Why};
use pyo3::prelude::*;

registries! {
    /// What was said of frameworks in this process: each text once.
    SAID: Vec<String> = "warnings";
}

/// Nothing is captured: said once, if the framework cannot be used. A mode that the program has chosen it knows of.
pub(super) fn of_what_is_unusable(py: Python<'_>, why: &Why) {
    if why.reason != Reason::FrameworkUnusable {
        return;
    }
    {
        let mut said = SAID.lock();
        if said.contains(&why.detail) {
            return;
        }
        said.push(why.detail.clone());
    }
    warn(py, &format!("sot captures nothing, all functions run as plain Python: {}", why.detail), None);
}
