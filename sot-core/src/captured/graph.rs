//! The record of a graph: StatementIR, and what replay needs.

use crate::backend::CallKind;
use crate::objects::VarId;
use hashbrown::HashMap;
use pyo3::prelude::*;
use sot_sir::{Statement, Symbol};
use sot_tracker::ObjectId;

/// An argument of a statement that is run on real tensors.
#[derive(Clone, Debug)]
pub enum ReplayArg {
    Symbol(Symbol),
    Object(ObjectId),
    Tuple(Vec<ReplayArg>),
    List(Vec<ReplayArg>),
    Dict(Vec<(ReplayArg, ReplayArg)>),
    Slice(Box<[ReplayArg; 3]>),
}

/// A statement that is run on real tensors. `result` is a pattern; objects in it are ignored.
#[derive(Clone, Debug)]
pub struct ReplayCall {
    pub kind: CallKind,
    pub name: String,
    pub callee: Option<ObjectId>,
    pub args: Vec<ReplayArg>,
    pub kwargs: Vec<(String, ReplayArg)>,
    pub result: ReplayArg,
}

/// An input of the graph, in the builder's numbering.
pub struct GraphInput {
    pub var: VarId,
    pub symbol: Symbol,
}

/// The graph of one capture.
#[derive(Default)]
pub struct Graph {
    pub inputs: Vec<GraphInput>,
    pub statements: Vec<Statement>,
    pub calls: Vec<ReplayCall>,
    next_symbol: u32,
    /// Symbolic value of each symbol.
    pub values: HashMap<u32, ObjectId>,
    /// Variables by the address of their symbolic value.
    pub(crate) by_value: HashMap<usize, VarId>,
}

/// The length of the graph at some point.
pub struct GraphMark {
    statements: usize,
    calls: usize,
}

impl Graph {
    pub(crate) fn mark(&self) -> GraphMark {
        GraphMark { statements: self.statements.len(), calls: self.calls.len() }
    }

    /// Forget the statements since a mark. Their operations stay in the backend's program, where nothing uses them; inputs
    /// stay known by their values, since a later use of the same tensor is the same input.
    pub(crate) fn rollback_to(&mut self, mark: &GraphMark) {
        self.statements.truncate(mark.statements);
        self.calls.truncate(mark.calls);
    }

    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(crate) fn fresh_symbol(&mut self) -> Symbol {
        self.next_symbol += 1;
        Symbol(self.next_symbol - 1)
    }

    /// The variable that a symbolic value belongs to.
    pub fn var_of(&self, value: &Bound<'_, PyAny>) -> Option<VarId> {
        self.by_value.get(&(value.as_ptr() as usize)).copied()
    }
}
