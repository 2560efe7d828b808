//! Make a SIR of a run, and calls of its occurrences.

use super::search::Runs;
use crate::{Operand, Sir, Statement, StatementKind, Symbol};
use hashbrown::HashSet;

/// What one occurrence of a run reads from outside and defines, in order: position by position the same value in
/// all occurrences.
struct Interface {
    params: Vec<Symbol>,
    defs: Vec<Symbol>,
}

fn interface(run: &[Statement]) -> Interface {
    let mut known = HashSet::new();
    let mut out = Interface { params: Vec::new(), defs: Vec::new() };
    for statement in run {
        out.params.extend(statement.uses().into_iter().filter(|s| known.insert(*s)));
        for symbol in statement.defs() {
            known.insert(symbol);
            out.defs.push(symbol);
        }
    }
    out
}

/// Replace the runs in `sir` by calls of the block that is returned.
pub(super) fn factor(sir: &mut Sir, runs: &Runs, name: String) -> Sir {
    let interfaces: Vec<Interface> =
        runs.starts.iter().map(|start| interface(&sir.statements[*start..start + runs.len])).collect();
    let escaping = escaping(sir, runs, &interfaces);
    let pick = |of: &Interface| -> Vec<Symbol> { escaping.iter().map(|index| of.defs[*index]).collect() };

    let first = runs.starts[0];
    let block = Sir {
        name: name.clone(),
        inputs: interfaces[0].params.clone(),
        outputs: pick(&interfaces[0]),
        statements: sir.statements[first..first + runs.len].to_vec(),
    }
    .renumbered();

    let mut statements = Vec::new();
    let mut at = 0;
    for (start, interface) in runs.starts.iter().zip(&interfaces) {
        statements.extend_from_slice(&sir.statements[at..*start]);
        at = start + runs.len;
        let mut results: Vec<Operand> = pick(interface).into_iter().map(Operand::Symbol).collect();
        let result = if results.len() == 1 { results.remove(0) } else { Operand::Tuple(results) };
        let mut call = Statement::new(StatementKind::Sir, name.as_str()).result(result);
        call.args = interface.params.iter().copied().map(Operand::Symbol).collect();
        statements.push(call);
    }
    statements.extend_from_slice(&sir.statements[at..]);
    sir.statements = statements;
    block
}

/// Positions of definitions that are read outside their occurrence, of any occurrence.
fn escaping(sir: &Sir, runs: &Runs, interfaces: &[Interface]) -> Vec<usize> {
    let mut read: HashSet<Symbol> = sir.outputs.iter().copied().collect();
    let mut next = 0;
    let mut at = 0;
    while at < sir.statements.len() {
        if runs.starts.get(next) == Some(&at) {
            read.extend(&interfaces[next].params);
            next += 1;
            at += runs.len;
        } else {
            read.extend(sir.statements[at].uses());
            at += 1;
        }
    }
    let defs = interfaces.first().map_or(0, |i| i.defs.len());
    (0..defs).filter(|index| interfaces.iter().any(|i| read.contains(&i.defs[*index]))).collect()
}
