//! Dissolve all `call_sir` statements: the entry of a module as one flat SIR.
//!
//! The inverse of [`outline`](crate::outline()) up to numbering, and the way for an interpreter that knows no nested
//! SIRs. Symbols of the entry keep their numbers; those inside a called SIR get fresh ones.

use crate::{Module, Operand, Sir, Statement, StatementKind, Symbol};
use hashbrown::HashMap;

/// The entry of a module without `call_sir`, or `None` if an output of the entry would be a constant (a called SIR
/// hands an operand through that is no symbol) or the module is not [verified](crate::verify()).
pub fn inline(module: &Module) -> Option<Sir> {
    let mut flat: HashMap<&str, Sir> = HashMap::new();
    for sir in &module.sirs {
        let dissolved = dissolve(sir, &flat)?;
        flat.insert(&sir.name, dissolved);
    }
    flat.remove(module.entry()?.name.as_str())
}

fn dissolve(sir: &Sir, flat: &HashMap<&str, Sir>) -> Option<Sir> {
    let mut out = Sir { statements: Vec::new(), ..sir.clone() };
    let mut next = sir.next_symbol().0;
    // What a result of a call that only handed something through stands for.
    let mut alias: HashMap<Symbol, Operand> = HashMap::new();
    for statement in &sir.statements {
        let mut statement = statement.clone();
        statement.operands_mut().for_each(|o| substitute(o, &alias));
        match statement.kind {
            StatementKind::Api | StatementKind::Method | StatementKind::Layer => out.statements.push(statement),
            StatementKind::Sir => {
                splice(&statement, flat.get(statement.name.as_str())?, &mut out, &mut next, &mut alias)?
            }
        }
    }
    for symbol in &mut out.outputs {
        match alias.get(symbol) {
            None => {}
            Some(Operand::Symbol(same)) => *symbol = *same,
            Some(
                Operand::Literal(_)
                | Operand::Object { .. }
                | Operand::Tuple(_)
                | Operand::List(_)
                | Operand::Dict(_)
                | Operand::Slice(_),
            ) => return None,
        }
    }
    Some(out)
}

fn splice(
    call: &Statement,
    target: &Sir,
    out: &mut Sir,
    next: &mut u32,
    alias: &mut HashMap<Symbol, Operand>,
) -> Option<()> {
    if call.args.len() != target.inputs.len() {
        return None;
    }
    let results = call.defs();
    if results.len() != target.outputs.len() {
        return None;
    }
    let mut bound: HashMap<Symbol, Operand> = target.inputs.iter().copied().zip(call.args.iter().cloned()).collect();
    let mut named: HashMap<Symbol, Symbol> = HashMap::new();
    for (output, result) in target.outputs.iter().zip(&results) {
        if !bound.contains_key(output) {
            named.entry(*output).or_insert(*result);
        }
    }
    for statement in &target.statements {
        let mut statement = statement.clone();
        statement.operands_mut().for_each(|o| substitute(o, &bound));
        statement.result.rename_symbols(&mut |s| {
            let symbol = named.get(&s).copied().unwrap_or_else(|| {
                *next += 1;
                Symbol(*next - 1)
            });
            bound.insert(s, Operand::Symbol(symbol));
            symbol
        });
        out.statements.push(statement);
    }
    for (output, result) in target.outputs.iter().zip(&results) {
        let value = bound.get(output)?;
        if *value != Operand::Symbol(*result) {
            alias.insert(*result, value.clone());
        }
    }
    Some(())
}

fn substitute(operand: &mut Operand, values: &HashMap<Symbol, Operand>) {
    match operand {
        Operand::Symbol(symbol) => {
            if let Some(value) = values.get(symbol) {
                *operand = value.clone();
            }
        }
        Operand::Literal(_) | Operand::Object { .. } => {}
        Operand::Tuple(items) | Operand::List(items) => items.iter_mut().for_each(|o| substitute(o, values)),
        Operand::Dict(items) => {
            for (key, value) in items {
                substitute(key, values);
                substitute(value, values);
            }
        }
        Operand::Slice(parts) => parts.iter_mut().for_each(|o| substitute(o, values)),
    }
}
