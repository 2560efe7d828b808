//! Which guard a call has failed, and what it found in the place: for people, not for the check itself.
//!
//! Natively a check has no name. Each keeps the number of the guard that it was compiled from, by which a report has its text and
//! the line that asked for it. What was found is told apart from finding it, since a text is made without any lock: the backend is
//! asked about tensors. No code of the program runs.

use crate::backend;
use crate::captured::Captured;
use crate::cpython::facts::name_in_messages;
use crate::objects::constant_repr;
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::PyType;
use sot_tracker::{Check, Guard, TrackerId};

/// Number of a guard among those of its capture; `None`: it stands for none of them alone.
pub(super) type GuardNumber = Option<u32>;

/// What is there in the place of what a guard expects.
pub enum Found {
    Value(Py<PyAny>),
    Length(usize),
    Said(&'static str),
}

/// The first guard that fails.
pub struct Blame {
    pub guard: Option<u32>,
    pub found: Found,
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

/// How long the text of a value may be, in letters.
const SHOWN: usize = 60;

/// A text, cut where it is longer than so many letters.
pub fn cut(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_owned(),
    }
}

impl Found {
    pub(super) fn value(value: Option<&Bound<'_, PyAny>>) -> Found {
        value.map_or(Found::Said("nothing"), |value| Found::Value(value.clone().unbind()))
    }

    /// In words.
    pub fn said(&self, py: Python<'_>) -> String {
        let value = match self {
            Found::Value(value) => value.bind(py),
            Found::Length(length) => return length.to_string(),
            Found::Said(text) => return (*text).to_owned(),
        };
        if let Some(text) = constant_repr(value) {
            return cut(&text, SHOWN);
        }
        if let Ok(class) = value.cast::<PyType>() {
            return format!("<type {}>", name_in_messages(class));
        }
        let is_tensor = |backend: &&_| -> bool {
            let backend: &std::sync::Arc<dyn backend::Backend> = backend;
            matches!(backend.classify(value), backend::Kind::Tensor)
        };
        match backend::registered().filter(is_tensor).and_then(|backend| backend.tensor_meta(value).ok()) {
            Some(meta) => meta.to_string(),
            None => format!("a value of {}", name_in_messages(&value.get_type())),
        }
    }
}
