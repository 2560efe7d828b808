//! Paths that mean the same in each capture.

use super::Captured;
use crate::cpython::facts;
use crate::variables::VarKind;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sot_tracker::{Access, Arithmetic, ObjectId, Tracker, TrackerId};

/// What an object of a path is known by: its address, or what it says, as a key that is made anew at each call is the same key.
pub(crate) fn known_by(object: &Bound<'_, PyAny>) -> usize {
    // Others may be hashed by code of the program.
    match object.is_exact_instance_of::<PyString>() {
        true => object.hash().map_or(0, |hash| hash as usize),
        false => object.as_ptr() as usize,
    }
}

/// The steps of a path, objects by what they are known by.
pub(crate) type Place = Vec<Access<usize, String>>;

/// The place of an attribute of a class, whichever of its bases has it.
pub(crate) fn class_place(class: &Bound<'_, PyAny>, name: &str) -> Place {
    vec![Access::Constant(class.as_ptr() as usize), Access::Attr(name.to_owned())]
}

/// The place that a path of a capture leads to.
pub(crate) fn place(py: Python<'_>, captured: &Captured, tracker: TrackerId) -> Place {
    let known_by = |object: &_| known_by(captured.objects.get_ref(py, *object));
    let path = captured.trackers.path(tracker);
    path.iter()
        .filter_map(|step| captured.trackers.get(*step).access())
        .map(|a| a.map(known_by, String::clone))
        .collect()
}

/// What an extent is known by, of a tensor that is known by a place.
pub(crate) fn place_of_extent(mut tensor: Place, axis: usize) -> Place {
    tensor.push(Access::Arithmetic(Arithmetic::Extent));
    tensor.push(Access::SeqItem(axis as i64));
    tensor
}

/// What is written, by what is the same in each attempt of one capture: the address of the container, and the name, or the address
/// of the key in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Written {
    Name(usize, String),
    Key(usize, usize),
    Index(usize, i64),
}

/// Whether a value of a kind may be replaced, in its place, by another one at the next call.
pub(crate) fn is_replaceable(kind: &VarKind) -> bool {
    matches!(
        kind,
        VarKind::Tensor(_)
            | VarKind::Tuple(_)
            | VarKind::List(_)
            | VarKind::Dict(_)
            | VarKind::Deque(_)
            | VarKind::Set(_)
            | VarKind::Instance(_)
    )
}

/// The place of an attribute or an item of a constant object, or of one of its slots.
pub(crate) fn written_at(py: Python<'_>, captured: &Captured, place: TrackerId) -> Option<Written> {
    let Tracker::Step { base, access } = captured.trackers.get(place) else { return None };
    let object = |object: ObjectId| captured.objects.get_ref(py, object);
    let container = match captured.trackers.get(*base) {
        Tracker::Step { base, access: Access::InstanceDict } => {
            let owner = object(captured.trackers.get(*base).as_constant()?);
            facts::instance_dict(owner)?.as_ptr() as usize
        }
        other => object(other.as_constant()?).as_ptr() as usize,
    };
    match access {
        Access::DictItem(key) => Some(match object(*key).cast_exact::<PyString>() {
            Ok(name) => Written::Name(container, name.to_string()),
            Err(_) => Written::Key(container, object(*key).as_ptr() as usize),
        }),
        Access::SeqItem(index) => Some(Written::Index(container, *index)),
        Access::Attr(name) => Some(Written::Name(container, name.clone())),
        _ => None,
    }
}
