//! One step of the path from the frame to a value.
//!
//! A closed set: each variant names a read that the translator can repeat on a later call without running user
//! code. `base` is the path that the step continues. The same step without its base is an
//! [`Access`].

use crate::{Access, Arithmetic, FunctionPart, ObjectId, TrackerId};

/// Where a value is found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Tracker {
    /// Argument slot of the frame, or value slot of a continuation. May be empty.
    Slot(u32),
    /// Always this very object.
    Constant(ObjectId),
    /// Ordinary attribute of an instance, module or class, found without user code.
    Attr { base: TrackerId, name: String },
    /// `base.__dict__`
    InstanceDict(TrackerId),
    /// `base[key]` of a dict.
    DictItem { base: TrackerId, key: ObjectId },
    /// The index-th key of a dict, or member of a set, in order.
    DictKey { base: TrackerId, index: u32 },
    /// The value of the index-th key of a dict.
    DictValue { base: TrackerId, index: u32 },
    /// Item of a list or tuple; negative from the end.
    SeqItem { base: TrackerId, index: i64 },
    /// Content of a cell. May be empty.
    CellContent(TrackerId),
    /// Field of a function.
    FunctionPart { base: TrackerId, part: FunctionPart },
    /// `type(base)`
    TypeOf(TrackerId),
    /// `base.__self__` of a bound method.
    MethodSelf(TrackerId),
    /// `base.__func__` of a bound method.
    MethodFunction(TrackerId),
    /// The item that an exact builtin iterator would yield next; the iterator does not move.
    IterPeek(TrackerId),
    /// The sequence under an exact builtin iterator.
    IterSource(TrackerId),
    /// What C computes of numbers that paths lead to. Such a path has no base, but starts at all of its operands.
    Arithmetic { op: Arithmetic, left: TrackerId, right: Option<TrackerId> },
    /// Result of the simulation: no path.
    Computed,
}

impl Tracker {
    /// The path that this step continues; `None` for a root.
    pub fn base(&self) -> Option<TrackerId> {
        match self {
            Tracker::Slot(_) | Tracker::Constant(_) | Tracker::Arithmetic { .. } | Tracker::Computed => None,
            Tracker::Attr { base, .. }
            | Tracker::InstanceDict(base)
            | Tracker::DictItem { base, .. }
            | Tracker::DictKey { base, .. }
            | Tracker::DictValue { base, .. }
            | Tracker::SeqItem { base, .. }
            | Tracker::CellContent(base)
            | Tracker::FunctionPart { base, .. }
            | Tracker::TypeOf(base)
            | Tracker::MethodSelf(base)
            | Tracker::MethodFunction(base)
            | Tracker::IterPeek(base)
            | Tracker::IterSource(base) => Some(*base),
        }
    }

    /// The numbers that an operation is on.
    pub fn operands(&self) -> (Option<TrackerId>, Option<TrackerId>) {
        match self {
            Tracker::Arithmetic { left, right, .. } => (Some(*left), *right),
            _ => (None, None),
        }
    }

    /// The step without its base; `None` for [`Tracker::Computed`].
    pub fn access(&self) -> Option<Access> {
        Some(match self {
            Tracker::Slot(slot) => Access::Slot(*slot),
            Tracker::Constant(object) => Access::Constant(*object),
            Tracker::Attr { name, .. } => Access::Attr(name.clone()),
            Tracker::InstanceDict(_) => Access::InstanceDict,
            Tracker::DictItem { key, .. } => Access::DictItem(*key),
            Tracker::DictKey { index, .. } => Access::DictKey(*index),
            Tracker::DictValue { index, .. } => Access::DictValue(*index),
            Tracker::SeqItem { index, .. } => Access::SeqItem(*index),
            Tracker::CellContent(_) => Access::CellContent,
            Tracker::FunctionPart { part, .. } => Access::FunctionPart(*part),
            Tracker::TypeOf(_) => Access::TypeOf,
            Tracker::MethodSelf(_) => Access::MethodSelf,
            Tracker::MethodFunction(_) => Access::MethodFunction,
            Tracker::IterPeek(_) => Access::IterPeek,
            Tracker::IterSource(_) => Access::IterSource,
            Tracker::Arithmetic { op, .. } => Access::Arithmetic(*op),
            Tracker::Computed => return None,
        })
    }
}
