//! Grow a SIR statement by statement, with fresh symbols and cheap rollback.
//!
//! ```
//! use sot_sir::{Operand, SirBuilder, Statement, StatementKind};
//!
//! let mut b = SirBuilder::new("SIR_0");
//! let x = b.input();
//! let y = b.call(Statement::new(StatementKind::Method, "__mul__").arg(x).arg(2));
//! let mark = b.mark();
//! b.call(Statement::new(StatementKind::Api, "paddle.tanh").arg(y)); // speculation that came to nothing
//! b.rollback_to(mark);
//! let sir = b.finish(vec![y]);
//! assert_eq!(sir.to_string(), "\
//! StatementIR: SIR_0
//!   inputs: [var_0]
//!   outputs: [var_1]
//!   statements:
//!     method || var_1 = __mul__ (var_0, 2)
//! ");
//! ```

use crate::{Operand, Sir, Statement, Symbol};

/// A SIR under construction.
#[derive(Clone, Debug)]
pub struct SirBuilder {
    sir: Sir,
    next: u32,
}

/// A point to return to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    inputs: usize,
    statements: usize,
    next: u32,
}

impl SirBuilder {
    /// An empty SIR of this name.
    pub fn new(name: impl Into<String>) -> SirBuilder {
        SirBuilder { sir: Sir::new(name), next: 0 }
    }

    /// A symbol that no one else has. It must be defined by a pushed statement before it is used.
    pub fn fresh(&mut self) -> Symbol {
        let symbol = Symbol(self.next);
        self.next += 1;
        symbol
    }

    /// One more input.
    pub fn input(&mut self) -> Symbol {
        let symbol = self.fresh();
        self.sir.inputs.push(symbol);
        symbol
    }

    /// Append a statement as it is. Symbols it mentions are never handed out by [`fresh`](Self::fresh) afterwards.
    pub fn push(&mut self, statement: Statement) {
        let next = &mut self.next;
        let mut see = |s: Symbol| *next = (*next).max(s.0 + 1);
        statement.operands().for_each(|o| o.for_each_symbol(&mut see));
        statement.result.for_each_symbol(&mut see);
        self.sir.statements.push(statement);
    }

    /// Append a statement with one fresh symbol as its result.
    pub fn call(&mut self, statement: Statement) -> Symbol {
        let symbol = self.fresh();
        self.push(statement.result(Operand::Symbol(symbol)));
        symbol
    }

    /// The statements so far.
    pub fn statements(&self) -> &[Statement] {
        &self.sir.statements
    }

    /// The inputs so far.
    pub fn inputs(&self) -> &[Symbol] {
        &self.sir.inputs
    }

    /// Number of statements so far.
    pub fn len(&self) -> usize {
        self.sir.statements.len()
    }

    /// Whether there is no statement yet.
    pub fn is_empty(&self) -> bool {
        self.sir.statements.is_empty()
    }

    /// This point.
    pub fn mark(&self) -> Mark {
        Mark { inputs: self.sir.inputs.len(), statements: self.sir.statements.len(), next: self.next }
    }

    /// Forget everything since the mark; symbols made since then are handed out again.
    pub fn rollback_to(&mut self, mark: Mark) {
        self.sir.inputs.truncate(mark.inputs);
        self.sir.statements.truncate(mark.statements);
        self.next = mark.next;
    }

    /// Close the SIR.
    pub fn finish(mut self, outputs: Vec<Symbol>) -> Sir {
        self.sir.outputs = outputs;
        self.sir
    }
}
