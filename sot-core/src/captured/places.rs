//! Paths that mean the same in each capture.

use super::Captured;
use pyo3::prelude::*;
use sot_tracker::{Access, TrackerId};

/// The steps of a path, objects by their address.
pub(crate) type Place = Vec<Access<usize, String>>;

/// The place of an attribute of a class, whichever of its bases has it.
pub(crate) fn class_place(class: &Bound<'_, PyAny>, name: &str) -> Place {
    vec![Access::Constant(class.as_ptr() as usize), Access::Attr(name.to_owned())]
}

/// The place that a path of a capture leads to.
pub(crate) fn place(py: Python<'_>, captured: &Captured, tracker: TrackerId) -> Place {
    let address = |object: &_| captured.objects.get_ref(py, *object).as_ptr() as usize;
    let path = captured.trackers.path(tracker);
    path.iter()
        .filter_map(|step| captured.trackers.get(*step).access())
        .map(|a| a.map(address, String::clone))
        .collect()
}
