//! The record of a graph: StatementIR, and the objects behind it.

use crate::backend::{Acts, Extent, Mode, TensorMeta};
use crate::objects::VarId;
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use smallvec::SmallVec;
use sot_sir::{Operand, Statement, Symbol};
use sot_tracker::ObjectId;

/// Who is called by a statement.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    Object(ObjectId),
    /// A method of the first operand, by the statement's name.
    Method,
    /// An attribute of the operand, by the statement's name.
    Attribute,
    /// An ambient mode of the framework becomes the operand.
    Mode {
        mode: Mode,
        value: ObjectId,
    },
    /// A flag of the first operand, by its number in [`super::Captured::flags`], becomes the second.
    Flag {
        flag: usize,
        on: bool,
    },
}

/// A flag of a tensor that the program sets.
#[derive(Clone, Debug)]
pub struct Flag {
    pub tensor: VarId,
    pub name: String,
    /// What it was.
    pub before: bool,
}

/// What stands behind a statement, so that it can be run on real tensors.
pub struct Behind {
    pub callee: Callee,
    /// The objects of its literals and labels, in the order of arguments, keywords, result.
    pub objects: Vec<ObjectId>,
    /// How it changes what the graph has not made.
    pub acts: Acts,
    /// As what a run is to find the result, where only that can tell.
    pub expects: Option<TensorMeta>,
}

impl Behind {
    /// Of a statement that changes nothing but what the graph has made.
    pub(crate) fn new(callee: Callee, objects: Vec<ObjectId>) -> Behind {
        Behind { callee, objects, acts: Acts::Nothing, expects: None }
    }
}

/// An input of the graph, in the builder's numbering.
pub struct GraphInput {
    pub var: VarId,
    pub symbol: Symbol,
}

/// The shape of a computed tensor as the framework has inferred it, which the program has seen something of: whoever runs the graph
/// sees whether it is so.
#[derive(Clone)]
pub struct Claim {
    pub of: Symbol,
    /// Those that are the same at each call are numbers.
    pub extents: SmallVec<[Extent; 6]>,
}

/// What else the program was told of a result, which the first run is asked for: the framework may have inferred something else than
/// what it does. It follows from what guards say, so no later run is asked.
#[derive(Clone, PartialEq, Eq)]
pub struct Told {
    pub of: Symbol,
    /// The statement behind which it was so, by number: that which has made the tensor, or has written it since.
    pub behind: usize,
    pub what: What,
}

/// What the program was told.
#[derive(Clone, PartialEq, Eq)]
pub enum What {
    /// What an attribute of this name is.
    Attribute(Box<str>, ObjectId),
    /// Something that follows from the element type.
    Dtype(Box<str>),
}

/// The graph of one capture.
#[derive(Default)]
pub struct Graph {
    pub inputs: Vec<GraphInput>,
    /// Numbers that vary and are operands, and objects that operations act on: inputs behind the tensors, which the builder does not know,
    /// unless as extents.
    pub numbers: Vec<GraphInput>,
    /// Those among them that are extents which the builder computes from inputs, by symbol, and of which inputs.
    pub extents: HashMap<u32, Vec<usize>>,
    /// Those among them that the builder was told of, as extents of their own, in its numbering. They stay known after a rollback, as
    /// inputs do.
    pub own: Vec<GraphInput>,
    /// Those of which the builder knows an example alone, by symbol.
    pub examples: HashSet<u32>,
    pub claims: Vec<Claim>,
    pub told: Vec<Told>,
    pub statements: Vec<Statement>,
    /// By statement.
    pub behind: Vec<Behind>,
    next_symbol: u32,
    /// Symbolic value of each symbol.
    pub values: HashMap<u32, ObjectId>,
    /// Variables by the address of their symbolic value.
    pub(crate) by_value: HashMap<usize, VarId>,
    /// Where operations act: by symbol, the last statement at which the program itself still holds its value.
    pub(crate) held: HashMap<u32, usize>,
}

/// The length of the graph at some point.
pub struct GraphMark {
    statements: usize,
    claims: usize,
    told: usize,
}

impl Graph {
    pub(crate) fn mark(&self) -> GraphMark {
        GraphMark { statements: self.statements.len(), claims: self.claims.len(), told: self.told.len() }
    }

    /// Forget the statements since a mark. Their operations stay in the backend's program, where nothing uses them; inputs
    /// stay known by their values, since a later use of the same tensor is the same input.
    pub(crate) fn rollback_to(&mut self, mark: &GraphMark) {
        self.statements.truncate(mark.statements);
        self.behind.truncate(mark.statements);
        self.claims.truncate(mark.claims);
        self.told.truncate(mark.told);
    }

    /// The program is told something of a result, perhaps once more.
    pub(crate) fn tell(&mut self, of: Symbol, what: What) {
        let makes = |statement: &Statement| {
            let made = statement.result.symbols();
            made.contains(&of) || made.is_empty() && statement.args.first() == Some(&Operand::Symbol(of))
        };
        let Some(behind) = self.statements.iter().rposition(makes) else { return };
        let told = Told { of, behind, what };
        if !self.told.contains(&told) {
            self.told.push(told);
        }
    }

    /// The first statement that acts.
    pub(crate) fn first_act(&self) -> Option<usize> {
        self.behind.iter().position(|behind| behind.acts > Acts::Nothing)
    }

    /// Whether one of them acts on more than memory.
    pub(crate) fn acts_on_state(&self) -> bool {
        self.behind.iter().any(|behind| behind.acts > Acts::OnMemory)
    }

    /// What is passed at run time: tensors, then numbers.
    pub(crate) fn all_inputs(&self) -> impl Iterator<Item = &GraphInput> {
        self.inputs.iter().chain(&self.numbers)
    }

    pub(crate) fn push(&mut self, statement: Statement, behind: Behind) {
        self.statements.push(statement);
        self.behind.push(behind);
    }

    /// What a mode is after the last statement, if statements change it.
    pub(crate) fn mode_at_end(&self, mode: Mode) -> Option<ObjectId> {
        self.behind.iter().rev().find_map(|behind| match behind.callee {
            Callee::Mode { mode: changed, value } if changed == mode => Some(value),
            _ => None,
        })
    }

    /// What a flag is after the last statement, if statements set it.
    pub(crate) fn flag_at_end(&self, flag: usize) -> Option<bool> {
        self.behind.iter().rev().find_map(|behind| match behind.callee {
            Callee::Flag { flag: set, on } if set == flag => Some(on),
            _ => None,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    pub fn len(&self) -> usize {
        self.statements.len()
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
