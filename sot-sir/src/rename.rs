//! Number symbols afresh, so that equal graphs get equal text.

use crate::{Sir, Symbol};
use hashbrown::HashMap;

impl Sir {
    /// The same SIR with symbols numbered from 0 by first occurrence: inputs, then statement by statement results
    /// and operands as they stand in the text, then outputs.
    #[must_use]
    pub fn renumbered(&self) -> Sir {
        let mut numbers: HashMap<Symbol, Symbol> = HashMap::new();
        let mut number = |s: Symbol| {
            let next = Symbol(numbers.len() as u32);
            *numbers.entry(s).or_insert(next)
        };
        let mut sir = self.clone();
        for s in &mut sir.inputs {
            *s = number(*s);
        }
        for statement in &mut sir.statements {
            statement.result.rename_symbols(&mut number);
            statement.operands_mut().for_each(|o| o.rename_symbols(&mut number));
        }
        for s in &mut sir.outputs {
            *s = number(*s);
        }
        sir
    }
}
