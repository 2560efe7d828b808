//! Guards as text, for reports.

use crate::executor::Executor;
use crate::rewrite::stable_repr;
use pyo3::prelude::*;
use sot_tracker::{Names, ObjectId};

/// All guards of a capture, one line each.
pub struct GuardText;

pub(super) struct Namer<'a, 'py> {
    pub(super) ex: &'a Executor<'py>,
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
        let object = self.ex.objects.get(self.ex.py, object);
        // Exact dicts only: a subclass may run code of the user, or make the key.
        if let Ok(dict) = object.cast_exact::<pyo3::types::PyDict>() {
            let name = dict.get_item("__name__").ok().flatten().and_then(|n| n.extract::<String>().ok());
            return name.map_or_else(|| "<dict>".to_owned(), |name| format!("globals[{name}]"));
        }
        stable_repr(&object)
    }

    fn tensor(&self, check: u32) -> String {
        self.ex.tensor_checks.get(check as usize).map(|c| c.meta.to_string()).unwrap_or_default()
    }
}

impl GuardText {
    /// The lines, in the order in which the guards were left.
    pub fn lines(ex: &Executor<'_>, slots: &[String]) -> Vec<String> {
        let names = Namer { ex, slots };
        let mut lines: Vec<String> = ex.guards.iter().map(|g| g.display(&ex.trackers, &names).to_string()).collect();
        lines.extend(ex.snapshots.iter().map(|s| {
            let size = s.copy.bind(ex.py).len();
            format!("unchanged(<dict of {size}>)")
        }));
        lines
    }
}
