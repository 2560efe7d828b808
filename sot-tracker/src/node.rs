//! The values of a guard tree: how each is fetched, and what must hold of it.

use crate::{Access, Check, NodeId, TrackerId};

/// A value to fetch and what must hold of it.
#[derive(Clone, Debug)]
pub struct Node {
    pub id: NodeId,
    /// The path that leads here.
    pub tracker: TrackerId,
    /// How to come from the parent's value, and the operand's, to this one.
    pub access: Access,
    /// `None`: a root, the access needs no value.
    pub parent: Option<NodeId>,
    /// The second number of an operation on two. It may be the parent once more.
    pub operand: Option<NodeId>,
    pub checks: Vec<NodeCheck>,
    /// Those that need this value: as their parent, or as their operand.
    pub children: Vec<NodeId>,
    /// Index of the first guard that needs the value: the one to blame if it is missing.
    pub first_guard: u32,
}

/// A check on a node.
#[derive(Clone, Debug)]
pub struct NodeCheck {
    pub check: Check,
    /// Index of the guard in the set that was compiled.
    pub guard: u32,
    /// Nodes of [`Check::others`], in that order. Their registers are filled before the check is due.
    pub others: Vec<NodeId>,
}
