//! Guards as text, for reports.

use crate::captured::Captured;
use crate::objects::stable_repr;
use pyo3::prelude::*;
use sot_tracker::{Names, ObjectId};

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
}
