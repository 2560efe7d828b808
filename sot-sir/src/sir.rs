//! A SIR, and a module of them.
//!
//! Both are open data: the fields are the whole state, [`verify`](crate::verify()) says what is well formed.

use crate::Operand;
use crate::{Statement, Symbol};

/// A straight line of statements from inputs to outputs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sir {
    pub name: String,
    pub inputs: Vec<Symbol>,
    pub outputs: Vec<Symbol>,
    pub statements: Vec<Statement>,
}

impl Sir {
    /// Bytes that it holds, the text of names apart.
    pub fn bytes(&self) -> usize {
        let operands = |s: &Statement| (s.args.len() + s.kwargs.len()) * size_of::<Operand>();
        let statements = self.statements.iter().map(|s| size_of::<Statement>() + s.name.len() + operands(s));
        statements.sum::<usize>() + (self.inputs.len() + self.outputs.len()) * size_of::<Symbol>()
    }

    /// An empty SIR.
    pub fn new(name: impl Into<String>) -> Sir {
        Sir { name: name.into(), inputs: Vec::new(), outputs: Vec::new(), statements: Vec::new() }
    }

    /// The smallest symbol number that is greater than all in use.
    pub fn next_symbol(&self) -> Symbol {
        let mut next = 0;
        let mut see = |s: Symbol| next = next.max(s.0.saturating_add(1));
        self.inputs.iter().chain(&self.outputs).copied().for_each(&mut see);
        for statement in &self.statements {
            statement.operands().for_each(|o| o.for_each_symbol(&mut see));
            statement.result.for_each_symbol(&mut see);
        }
        Symbol(next)
    }
}

/// SIRs in order of definition; the last is the entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Module {
    pub sirs: Vec<Sir>,
}

impl Module {
    /// A module of one SIR.
    pub fn single(sir: Sir) -> Module {
        Module { sirs: vec![sir] }
    }

    /// The SIR that runs when the module is called.
    pub fn entry(&self) -> Option<&Sir> {
        self.sirs.last()
    }

    /// A SIR by name; the first, should a name be there twice.
    pub fn get(&self, name: &str) -> Option<&Sir> {
        self.sirs.iter().find(|s| s.name == name)
    }
}

impl From<Sir> for Module {
    fn from(sir: Sir) -> Module {
        Module::single(sir)
    }
}
