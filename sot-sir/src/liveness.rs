//! Which statements and inputs the outputs need. A listing: nothing is removed here.
//!
//! This crate does not know what a statement does, so the caller says which statements are *pure*. A statement
//! is dead if it is pure and no output and no live statement reads its results; every other one is live.

use crate::{Sir, Statement, Symbol};
use hashbrown::HashSet;

impl Sir {
    /// Positions of dead statements, ascending.
    pub fn dead_statements(&self, pure: &dyn Fn(&Statement) -> bool) -> Vec<usize> {
        let mut needed: HashSet<Symbol> = self.outputs.iter().copied().collect();
        let mut dead = Vec::new();
        for (index, statement) in self.statements.iter().enumerate().rev() {
            if pure(statement) && !statement.defs().iter().any(|s| needed.contains(s)) {
                dead.push(index);
            } else {
                needed.extend(statement.uses());
            }
        }
        dead.reverse();
        dead
    }

    /// Inputs that an output or any statement reads, in order of the inputs.
    pub fn live_inputs(&self) -> Vec<Symbol> {
        self.live_inputs_if(&|_| false)
    }

    /// Inputs that an output or a live statement reads, in order of the inputs.
    pub fn live_inputs_if(&self, pure: &dyn Fn(&Statement) -> bool) -> Vec<Symbol> {
        let dead: HashSet<usize> = self.dead_statements(pure).into_iter().collect();
        let mut read: HashSet<Symbol> = self.outputs.iter().copied().collect();
        for (index, statement) in self.statements.iter().enumerate() {
            if !dead.contains(&index) {
                read.extend(statement.uses());
            }
        }
        self.inputs.iter().copied().filter(|s| read.contains(s)).collect()
    }
}
