//! Iterators, by what they go through and how far they have come.

use super::*;
use std::rc::Rc;

/// An iterator: a position in the value it runs over.
#[derive(Clone, Debug)]
pub struct IteratorVar {
    pub state: Iteration,
}

/// The position of an iterator over a sequence that has come to its end.
pub const ENDED: usize = usize::MAX;

/// What an iterator runs over, and where it stands.
#[derive(Clone, Debug)]
pub enum Iteration {
    /// Over a tuple or list variable; a list may grow meanwhile. One at [`ENDED`] has come to its end, and what it is over is an
    /// empty one that nobody else knows.
    Sequence {
        sequence: VarId,
        index: usize,
    },
    /// Over a dict. Values are read when their turn comes; keys must stay what they were when last looked at.
    Dict {
        dict: VarId,
        what: ViewWhat,
        backwards: bool,
        index: usize,
        seen: Rc<Vec<(VarId, VarId)>>,
        removed: u32,
    },
    /// Over a set, by places of its table.
    Set {
        set: VarId,
        /// What it was at the beginning.
        start: SetState,
        place: usize,
        given: usize,
        /// Its length at the beginning; `None`: it has been another meanwhile.
        used: Option<usize>,
    },
    Reversed {
        sequence: VarId,
        index: usize,
    },
    /// Over the first dimension of a tensor.
    Tensor {
        tensor: VarId,
        index: usize,
        length: usize,
    },
    Range {
        next: i64,
        stop: i64,
        step: i64,
        /// How many items were taken: the iterator tells its range as it was (`__reduce__`).
        taken: i64,
    },
    Enumerate {
        inner: VarId,
        /// Only the iterator itself knows, if it existed before the frame.
        count: Option<i64>,
    },
    Zip {
        inners: Vec<VarId>,
        /// They must come to their ends together.
        strict: bool,
    },
    Map {
        function: VarId,
        inners: Vec<VarId>,
    },
    Filter {
        function: VarId,
        inner: VarId,
    },
    /// Over an instance that has items by number alone, or backwards over one that has a length too (`reversed`); `None`: to its end.
    Indexed {
        sequence: Option<VarId>,
        index: i64,
        backwards: bool,
    },
    /// What a function gives, until that equals a sentinel; `None`: it did.
    Called {
        asked: Option<(VarId, VarId)>,
    },
    /// Existed before the frame; `taken` items were taken by the simulation.
    Real {
        object: ObjectId,
        taken: usize,
        exhausted: bool,
    },
    /// Over the first dimension of a tensor, to its end.
    Exhausted,
}

impl IteratorVar {
    pub fn new(state: Iteration) -> IteratorVar {
        IteratorVar { state }
    }
}

impl Nature for IteratorVar {
    fn kind_name(&self) -> &'static str {
        "an iterator"
    }
}
