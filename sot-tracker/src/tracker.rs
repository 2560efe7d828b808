//! One step of the path from the frame to a value.
//!
//! What a step reads is an [`Access`]; a tracker adds the paths that it continues. A root continues none, and its access is
//! [`Access::Slot`] or [`Access::Constant`]; a step continues one; what is computed of numbers starts at all of its operands.

use crate::{Access, Arithmetic, ObjectId, TrackerId};

/// Where a value is found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Tracker {
    /// Where a path starts.
    Root(Access),
    /// One access from another value.
    Step { base: TrackerId, access: Access },
    /// What C computes of numbers that paths lead to ([`Access::Arithmetic`]). Such a path has no base.
    Arithmetic { op: Arithmetic, left: TrackerId, right: Option<TrackerId> },
    /// Result of the simulation: no path.
    Computed,
}

impl Tracker {
    /// The path that this step continues; `None` for a root.
    pub fn base(&self) -> Option<TrackerId> {
        match self {
            Tracker::Step { base, .. } => Some(*base),
            Tracker::Root(_) | Tracker::Arithmetic { .. } | Tracker::Computed => None,
        }
    }

    /// The numbers that an operation is on.
    pub fn operands(&self) -> (Option<TrackerId>, Option<TrackerId>) {
        match self {
            Tracker::Arithmetic { left, right, .. } => (Some(*left), *right),
            Tracker::Root(_) | Tracker::Step { .. } | Tracker::Computed => (None, None),
        }
    }

    /// What an evaluator does to come here; `None` for [`Tracker::Computed`].
    pub fn access(&self) -> Option<Access> {
        match self {
            Tracker::Root(access) | Tracker::Step { access, .. } => Some(access.clone()),
            Tracker::Arithmetic { op, .. } => Some(Access::Arithmetic(*op)),
            Tracker::Computed => None,
        }
    }

    /// The slot of the frame that this is.
    pub fn as_slot(&self) -> Option<u32> {
        match self {
            Tracker::Root(Access::Slot(slot)) => Some(*slot),
            _ => None,
        }
    }

    /// The very object that this always is.
    pub fn as_constant(&self) -> Option<ObjectId> {
        match self {
            Tracker::Root(Access::Constant(object)) => Some(*object),
            _ => None,
        }
    }

    /// Whether this is a slot of the frame.
    pub fn is_slot(&self) -> bool {
        self.as_slot().is_some()
    }

    /// Whether this is always the same object.
    pub fn is_constant(&self) -> bool {
        self.as_constant().is_some()
    }
}
