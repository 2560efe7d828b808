//! Grows a SIR statement by statement, with fresh symbols.

use sot_sir::{Operand, Sir, Statement, Symbol};

/// A SIR under construction.
pub(crate) struct SirBuilder {
    sir: Sir,
    next: u32,
}

impl SirBuilder {
    pub(crate) fn new(name: impl Into<String>) -> SirBuilder {
        SirBuilder { sir: Sir::new(name), next: 0 }
    }

    /// A symbol that no one else has. It must be defined by a pushed statement before it is used.
    pub(crate) fn fresh(&mut self) -> Symbol {
        let symbol = Symbol(self.next);
        self.next += 1;
        symbol
    }

    pub(crate) fn input(&mut self) -> Symbol {
        let symbol = self.fresh();
        self.sir.inputs.push(symbol);
        symbol
    }

    /// Append a statement as it is.
    pub(crate) fn push(&mut self, statement: Statement) {
        self.sir.statements.push(statement);
    }

    /// Append a statement with one fresh symbol as its result.
    pub(crate) fn call(&mut self, statement: Statement) -> Symbol {
        let symbol = self.fresh();
        self.push(statement.result(Operand::Symbol(symbol)));
        symbol
    }

    pub(crate) fn finish(mut self, outputs: Vec<Symbol>) -> Sir {
        self.sir.outputs = outputs;
        self.sir
    }
}
