//! Where numbers were found that are other ones at other calls.
//!
//! A capture guards each number that it has read by its value. When the same place of the same code holds another number at a later
//! capture, the number *varies*: that capture reads no value but goes on by the path, and leaves guards of what it relied on
//! (`n > 0`, `n % 2 == 0`). This is a record for decisions alone: nothing is wrong if it is, since whatever a capture depends on it
//! guards.

use crate::captured::{Captured, Place, place};
use crate::numbers::{are_alike, varies};
use hashbrown::HashMap;
use pyo3::prelude::*;
use sot_tracker::{Access, Check};

/// Places of one cache that are kept in mind.
const PLACES: usize = 4096;

enum Seen {
    Once(Py<PyAny>),
    Varies,
}

/// The numbers that captures of one cache have found. See the module.
#[derive(Default)]
pub struct Varying {
    seen: HashMap<Place, Seen>,
}

impl Varying {
    /// Whether another number has been seen here, or several.
    pub fn holds(&self, place: &Place, now: &Bound<'_, PyAny>) -> bool {
        match self.seen.get(place) {
            Some(Seen::Varies) => true,
            Some(Seen::Once(before)) => !are_alike(before.bind(now.py()), now),
            None => false,
        }
    }

    /// Whether no number was seen.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// The same record once more.
    pub(crate) fn copied(&self, py: Python<'_>) -> Varying {
        let copied = |seen: &Seen| match seen {
            Seen::Once(number) => Seen::Once(number.clone_ref(py)),
            Seen::Varies => Seen::Varies,
        };
        Varying { seen: self.seen.iter().map(|(place, seen)| (place.clone(), copied(seen))).collect() }
    }

    /// What one more capture has found.
    pub(crate) fn learn(&mut self, py: Python<'_>, captured: &Captured) {
        if self.seen.len() >= PLACES {
            self.seen.retain(|_, seen| matches!(seen, Seen::Varies));
        }
        for place in captured.varying.values() {
            self.seen.insert(place.clone(), Seen::Varies);
        }
        for guard in &captured.guards {
            let (object, name) = match &guard.check {
                Check::Equals(object) => (*object, None),
                Check::ClassLookup { name, found: Some(object) } => (*object, Some(name)),
                _ => continue,
            };
            let number = captured.objects.get(py, object);
            if !varies(&number) || self.seen.len() >= PLACES {
                continue;
            }
            let mut place = place(py, captured, guard.tracker);
            place.extend(name.map(|name| Access::Attr(name.clone())));
            let seen = match self.holds(&place, &number) {
                true => Seen::Varies,
                false => Seen::Once(number.unbind()),
            };
            self.seen.insert(place, seen);
        }
    }
}
