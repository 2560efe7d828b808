//! Which guard a call has failed, and what it found in the place: for people, not for the check itself.
//!
//! Natively a check has no name. Each keeps the number of the guard that it was compiled from, by which a report has its text and
//! the line that asked for it. Nothing here runs code of the program.

use crate::backend;
use crate::captured::Captured;
use crate::cpython::facts::name_in_messages;
use crate::objects::is_constant_type;
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::PyType;
use sot_tracker::{Check, Guard, TrackerId};

/// Number of a guard among those of its capture; `None`: it stands for none of them alone.
pub(super) type GuardNumber = Option<u32>;

/// The first guard that fails.
pub struct Blame {
    pub guard: Option<u32>,
    /// What is there now.
    pub found: String,
}

/// Numbers of the guards of a capture, by what they say.
pub(super) struct Numbers<'a>(HashMap<(TrackerId, &'a Check), u32>);

impl<'a> Numbers<'a> {
    pub(super) fn new(captured: &'a Captured) -> Numbers<'a> {
        Numbers(
            captured.guards.iter().zip(0..).map(|(guard, number)| ((guard.tracker, &guard.check), number)).collect(),
        )
    }

    pub(super) fn of(&self, guard: &Guard) -> GuardNumber {
        self.0.get(&(guard.tracker, &guard.check)).copied()
    }
}

/// How long the text of a value may be.
const SHOWN: usize = 60;

/// A value, as it is said to have been found.
pub(super) fn shown(value: Option<&Bound<'_, PyAny>>) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    let ty = value.get_type();
    if value.is_none() || is_constant_type(&ty) {
        let text = value.repr().map(|text| text.to_string()).unwrap_or_default();
        return match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}..", &text[..end]),
            None => text,
        };
    }
    if let Ok(class) = value.cast::<PyType>() {
        return format!("<type {}>", name_in_messages(class));
    }
    let meta = || backend::registered()?.tensor_meta(value).ok();
    match is_tensor(value).then(meta).flatten() {
        Some(meta) => meta.to_string(),
        None => format!("a value of {}", name_in_messages(&ty)),
    }
}

fn is_tensor(value: &Bound<'_, PyAny>) -> bool {
    backend::registered().is_some_and(|backend| matches!(backend.classify(value), backend::Kind::Tensor))
}
