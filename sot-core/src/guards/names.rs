//! Guards as text, for reports.

use super::blame::cut;
use crate::captured::Captured;
use crate::objects::stable_repr;
use hashbrown::HashMap;
use pyo3::prelude::*;
use sot_tracker::{Access, Check, Names, ObjectId, Tracker, TrackerId};
use std::sync::Arc;

/// All guards of a capture, one line each.
pub struct GuardText;

pub(super) struct Namer<'a, 'py> {
    pub(super) py: Python<'py>,
    pub(super) captured: &'a Captured,
    pub(super) slots: &'a [String],
}

impl Names for Namer<'_, '_> {
    fn slot(&self, slot: u32) -> String {
        match self.slots.get(slot as usize) {
            Some(name) => format!("locals[\"{name}\"]"),
            None => format!("slot_{slot}"),
        }
    }

    fn object(&self, object: ObjectId) -> String {
        let object = self.captured.objects.get(self.py, object);
        // Exact dicts only: a subclass may run code of the user, or make the key.
        if let Ok(dict) = object.cast_exact::<pyo3::types::PyDict>() {
            let name = dict.get_item("__name__").ok().flatten().and_then(|n| n.extract::<String>().ok());
            return name.map_or_else(|| "<dict>".to_owned(), |name| format!("globals[{name}]"));
        }
        stable_repr(&object)
    }

    fn tensor(&self, check: u32) -> String {
        self.captured.tensor_checks.get(check as usize).map(|c| c.meta.to_string()).unwrap_or_default()
    }
}

impl GuardText {
    /// The lines, in the order in which the guards were left.
    pub fn lines(py: Python<'_>, captured: &Captured, slots: &[String]) -> Vec<String> {
        let names = Namer { py, captured, slots };
        let lines = captured.guards.iter().map(|g| g.display(&captured.trackers, &names).to_string());
        let snapshots = captured.snapshots.iter().map(|s| {
            let size = s.copy.bind(py).len();
            format!("unchanged(<dict of {size}>)")
        });
        lines.chain(snapshots).collect()
    }

    /// What the program calls the constant object that each guard's path begins with, where a guard says how it was found.
    pub fn roots(py: Python<'_>, captured: &Captured, slots: &[String]) -> Vec<Option<Root>> {
        let mut found_at: HashMap<ObjectId, TrackerId> = HashMap::new();
        for guard in &captured.guards {
            if let Check::Is(object) = &guard.check
                && constant_root(captured, guard.tracker).is_none_or(|root| root != *object)
            {
                found_at.entry(*object).or_insert(guard.tracker);
            }
        }
        let mut words = Words { names: Namer { py, captured, slots }, found_at, known: HashMap::new() };
        let root = |tracker| words.of(constant_root(captured, tracker)?, DEEP);
        captured.guards.iter().map(|guard| guard.tracker).map(root).collect()
    }
}

/// Names that lead from one object to another are followed so far.
const DEEP: usize = 16;

/// A constant object: its text in guards, and what the program calls it.
#[derive(Clone)]
pub struct Root {
    text: Arc<str>,
    words: Arc<str>,
}

fn constant_root(captured: &Captured, tracker: TrackerId) -> Option<ObjectId> {
    match captured.trackers.get(captured.trackers.root(tracker)) {
        Tracker::Root(Access::Constant(object)) => Some(*object),
        _ => None,
    }
}

struct Words<'a, 'py> {
    names: Namer<'a, 'py>,
    found_at: HashMap<ObjectId, TrackerId>,
    known: HashMap<ObjectId, Option<Root>>,
}

impl Words<'_, '_> {
    fn of(&mut self, object: ObjectId, deep: usize) -> Option<Root> {
        if let Some(known) = self.known.get(&object) {
            return known.clone();
        }
        let captured = self.names.captured;
        let found = self.found_at.get(&object).copied().filter(|_| deep > 0);
        let root = found.map(|tracker| {
            let path = captured.trackers.display(tracker, &self.names).to_string();
            let above = constant_root(captured, tracker).and_then(|above| self.of(above, deep - 1));
            let text = self.names.object(object).into();
            Root { text, words: in_words(&path, above.as_ref()).into() }
        });
        self.known.insert(object, root.clone());
        root
    }
}

/// How long the text of a guard may be, in letters, where a line says it.
const SHOWN: usize = 200;

impl Root {
    /// Bytes that its texts hold.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.words.len()
    }
}

/// The text of a guard as the program would say it: `self.scale` for what is in a `__dict__`, names for locals and globals. A constant
/// that the guard compares with is left as it is.
pub fn in_words(guard: &str, root: Option<&Root>) -> String {
    let guard = match root {
        Some(root) => cut(guard, SHOWN).replacen(&*root.text, &root.words, 1),
        None => cut(guard, SHOWN),
    };
    let (path, constant) = guard.split_at(guard.find(" == ").unwrap_or(guard.len()));
    let mut said = String::with_capacity(guard.len());
    let mut rest = path;
    // What is before a name, what is behind it, and what is said instead of both.
    let forms = [("locals[\"", "\"]", ""), ("locals[\"", " (cell)\"].cell_contents", ""), (".__dict__['", "']", ".")];
    while let Some(letter) = rest.chars().next() {
        let of_form = forms.iter().find_map(|(before, behind, instead)| {
            let (name, after) = rest.strip_prefix(before)?.split_once(behind)?;
            is_name(name).then_some((*instead, name, after))
        });
        let global = || {
            let (_, after) = rest.strip_prefix("globals[")?.split_once("]['")?;
            let (name, after) = after.split_once("']")?;
            is_name(name).then_some(("", name, after))
        };
        match of_form.or_else(global) {
            Some((instead, name, after)) => {
                said.push_str(instead);
                said.push_str(name);
                rest = after;
            }
            None => {
                said.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
    }
    said.push_str(constant);
    said
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_are_told_in_the_words_of_the_program() {
        let root = Root { text: "<Cfg>".into(), words: "model.cfg".into() };
        let said = |guard: &str| in_words(guard, Some(&root));
        assert_eq!(said("<Cfg>.__dict__['name'] == 'a'"), "model.cfg.name == 'a'");
        assert_eq!(said("type(<Cfg>.__dict__['deep']['x']) is <type int>"), "type(model.cfg.deep['x']) is <type int>");
        assert_eq!(in_words("locals[\"n\"] == 3", None), "n == 3");
        assert_eq!(in_words("globals[__main__]['mode'] is <dict>", None), "mode is <dict>");
        assert_eq!(in_words("tensor(locals[\"x\"]): float32[2]", None), "tensor(x): float32[2]");
        assert_eq!(in_words("globals[m]['a b'] == 1", None), "globals[m]['a b'] == 1");
        assert_eq!(in_words("locals[\"n (cell)\"].cell_contents == 1", None), "n == 1");
        assert_eq!(in_words("locals[\"é\"] == 'locals[\"n\"]'", None), "é == 'locals[\"n\"]'");
        assert!(in_words(&format!("locals[\"s\"] == '{}'", "é".repeat(100_000)), None).chars().count() < 250);
    }
}
