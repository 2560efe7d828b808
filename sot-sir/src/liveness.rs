//! How long symbols live: by statement, which of them nothing behind it needs.

use crate::{Sir, Symbol};
use hashbrown::HashSet;

impl Sir {
    /// By statement, the symbols that it uses or defines and that neither a later statement nor the outputs need, in the
    /// order in which the statement names them: arguments, keywords, result.
    pub fn last_uses(&self) -> Vec<Vec<Symbol>> {
        let mut needed: HashSet<Symbol> = self.outputs.iter().copied().collect();
        let mut dead = vec![Vec::new(); self.statements.len()];
        for (statement, dead) in self.statements.iter().zip(&mut dead).rev() {
            let operands = statement.args.iter().chain(statement.kwargs.iter().map(|(_, value)| value));
            for operand in operands.chain([&statement.result]) {
                operand.for_each_symbol(&mut |symbol| {
                    if needed.insert(symbol) {
                        dead.push(symbol);
                    }
                });
            }
        }
        dead
    }
}
