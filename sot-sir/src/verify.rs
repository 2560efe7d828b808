//! The rules of a well-formed module. [`verify`] reports every violation, in the order of the text.
//!
//! Of a module
//! 1. It has at least one SIR (the last is the entry).
//! 2. Names of SIRs are unique.
//!
//! Of a SIR
//!
//! 3. Each symbol is defined once: as an input, or in the result of one statement.
//! 4. Each symbol that a statement reads is an input or defined by an earlier statement.
//! 5. Each output is an input or defined by a statement.
//!
//! Of a statement
//!
//! 6. Keyword names are unique.
//! 7. A layer statement has a callee.
//! 8. A method statement has at least one positional operand: its receiver.
//! 9. `call_sir` names a SIR that stands before the one that calls it. So there is no recursion.
//! 10. `call_sir` has neither callee nor keywords, as many operands as its target has inputs, and a result of one
//!     symbol if its target has one output, else a tuple of as many symbols.
//!
//! ```
//! let module = sot_sir::parse("StatementIR: SIR_0 inputs: [] outputs: [var_1] statements:").unwrap();
//! let errors = sot_sir::verify(&module).unwrap_err();
//! assert_eq!(errors[0].to_string(), "SIR_0, outputs: var_1 is not defined");
//! ```

use crate::{Module, Operand, Sir, Statement, StatementKind, Symbol};
use hashbrown::{HashMap, HashSet};
use std::fmt;

/// A violated rule and its location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{location}: {rule}")]
pub struct VerifyError {
    pub location: Location,
    pub rule: Rule,
}

/// Where a rule is violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    Module,
    /// The SIR of this name, as a whole.
    Sir(String),
    Inputs(String),
    Outputs(String),
    /// Statement of this number, from 0.
    Statement(String, usize),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Module => f.write_str("module"),
            Location::Sir(sir) => f.write_str(sir),
            Location::Inputs(sir) => write!(f, "{sir}, inputs"),
            Location::Outputs(sir) => write!(f, "{sir}, outputs"),
            Location::Statement(sir, index) => write!(f, "{sir}, statement {index}"),
        }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    #[error("there is no SIR")]
    NoEntry,
    #[error("another SIR has this name")]
    DuplicateName,
    #[error("{0} is defined twice")]
    DefinedTwice(Symbol),
    #[error("{0} is read before it is defined")]
    UsedBeforeDefinition(Symbol),
    #[error("{0} is not defined")]
    OutputNotDefined(Symbol),
    #[error("the keyword {0} is given twice")]
    DuplicateKeyword(String),
    #[error("a layer statement needs a callee")]
    LayerWithoutCallee,
    #[error("a method statement needs a receiver")]
    MethodWithoutReceiver,
    #[error("no SIR of the name {0} stands before this one")]
    NoSuchSir(String),
    #[error("call_sir takes no callee")]
    SirWithCallee,
    #[error("call_sir takes no keywords")]
    SirWithKeywords,
    #[error("{name} has {expected} inputs, {found} operands are given")]
    SirInputs { name: String, expected: usize, found: usize },
    #[error("{name} has {expected} outputs, the result does not take them as a symbol or a tuple of symbols")]
    SirOutputs { name: String, expected: usize },
}

/// Check all rules.
pub fn verify(module: &Module) -> Result<(), Vec<VerifyError>> {
    let mut errors = Vec::new();
    if module.sirs.is_empty() {
        errors.push(VerifyError { location: Location::Module, rule: Rule::NoEntry });
    }
    let mut before: HashMap<&str, &Sir> = HashMap::new();
    for sir in &module.sirs {
        if before.contains_key(sir.name.as_str()) {
            errors.push(VerifyError { location: Location::Sir(sir.name.clone()), rule: Rule::DuplicateName });
        }
        verify_sir(sir, &before, &mut errors);
        before.entry(&sir.name).or_insert(sir);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn verify_sir(sir: &Sir, before: &HashMap<&str, &Sir>, errors: &mut Vec<VerifyError>) {
    let mut defined: HashSet<Symbol> = HashSet::new();
    for symbol in &sir.inputs {
        if !defined.insert(*symbol) {
            errors
                .push(VerifyError { location: Location::Inputs(sir.name.clone()), rule: Rule::DefinedTwice(*symbol) });
        }
    }
    for (index, statement) in sir.statements.iter().enumerate() {
        let mut report = |rule| {
            errors.push(VerifyError { location: Location::Statement(sir.name.clone(), index), rule });
        };
        for symbol in statement.uses() {
            if !defined.contains(&symbol) {
                report(Rule::UsedBeforeDefinition(symbol));
            }
        }
        for symbol in statement.defs() {
            if !defined.insert(symbol) {
                report(Rule::DefinedTwice(symbol));
            }
        }
        let mut keywords = HashSet::new();
        for (name, _) in &statement.kwargs {
            if !keywords.insert(name) {
                report(Rule::DuplicateKeyword(name.clone()));
            }
        }
        match statement.kind {
            StatementKind::Api => {}
            StatementKind::Method if statement.args.is_empty() => report(Rule::MethodWithoutReceiver),
            StatementKind::Method => {}
            StatementKind::Layer if statement.callee.is_none() => report(Rule::LayerWithoutCallee),
            StatementKind::Layer => {}
            StatementKind::Sir => verify_call(statement, before, &mut report),
        }
    }
    for symbol in &sir.outputs {
        if !defined.contains(symbol) {
            errors.push(VerifyError {
                location: Location::Outputs(sir.name.clone()),
                rule: Rule::OutputNotDefined(*symbol),
            });
        }
    }
}

fn verify_call(call: &Statement, before: &HashMap<&str, &Sir>, report: &mut dyn FnMut(Rule)) {
    if call.callee.is_some() {
        report(Rule::SirWithCallee);
    }
    if !call.kwargs.is_empty() {
        report(Rule::SirWithKeywords);
    }
    let Some(target) = before.get(call.name.as_str()) else {
        return report(Rule::NoSuchSir(call.name.clone()));
    };
    let name = || call.name.clone();
    if call.args.len() != target.inputs.len() {
        report(Rule::SirInputs { name: name(), expected: target.inputs.len(), found: call.args.len() });
    }
    let is_symbol = |o: &Operand| matches!(o, Operand::Symbol(_));
    let fits = match (&call.result, target.outputs.len()) {
        (result, 1) => is_symbol(result),
        (Operand::Tuple(items), outputs) => items.len() == outputs && items.iter().all(is_symbol),
        (
            Operand::Symbol(_)
            | Operand::Literal(_)
            | Operand::Object { .. }
            | Operand::List(_)
            | Operand::Dict(_)
            | Operand::Slice(_),
            _,
        ) => false,
    };
    if !fits {
        report(Rule::SirOutputs { name: name(), expected: target.outputs.len() });
    }
}
