//! One warning where nothing is captured at all, and the program did not ask for that.

use crate::cpython::warn;
use crate::stop::{Reason, Why};
use pyo3::prelude::*;
use std::sync::Mutex;

/// What was said of frameworks in this process: each text once.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Nothing is captured: said once, if the framework cannot be used. A mode that the program has chosen it knows of.
pub(super) fn of_what_is_unusable(py: Python<'_>, why: &Why) {
    if why.reason != Reason::FrameworkUnusable {
        return;
    }
    {
        let Ok(mut said) = SAID.lock() else { return };
        if said.contains(&why.detail) {
            return;
        }
        said.push(why.detail.clone());
    }
    warn(py, &format!("sot captures nothing, all functions run as plain Python: {}", why.detail), None);
}
