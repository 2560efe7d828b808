//! Each rule has a text that breaks it; generated modules break none, mutated ones are found out.

use crate::generate::{anything, verified};
use proptest::prelude::*;
use sot_sir::{Module, Operand, StatementKind, Symbol, parse, verify};

fn errors(text: &str) -> String {
    let errors = verify(&parse(text).unwrap()).expect_err("a rule is broken");
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn modules() {
    assert_eq!(errors(""), "module: there is no SIR");
    let sir = "StatementIR: A inputs: [] outputs: [] statements:";
    assert_eq!(errors(&format!("{sir}\n{sir}")), "A: another SIR has this name");
}

#[test]
fn definitions() {
    let text = "
StatementIR: A
  inputs: [var_0, var_0]
  outputs: [var_1, var_9]
  statements:
    api || (var_1, [var_1, {var_2: var_3}]) = f (var_2, slice(var_0, None, var_4))
    api || var_2 = f (k=var_1)
    api || var_5 = f (var_5)
";
    insta::assert_snapshot!(errors(text), @r"
    A, inputs: var_0 is defined twice
    A, statement 0: var_2 is read before it is defined
    A, statement 0: var_4 is read before it is defined
    A, statement 0: var_1 is defined twice
    A, statement 1: var_2 is defined twice
    A, statement 2: var_5 is read before it is defined
    A, outputs: var_9 is not defined
    ");
}

#[test]
fn statements() {
    let text = "
StatementIR: A
  inputs: []
  outputs: []
  statements:
    api    || None = f (a=1, b=2, a=3)
    layer  || None = Linear ()
    method || None = add (self=1)
";
    insta::assert_snapshot!(errors(text), @r"
    A, statement 0: the keyword a is given twice
    A, statement 1: a layer statement needs a callee
    A, statement 2: a method statement needs a receiver
    ");
}

#[test]
fn calls() {
    let text = "
StatementIR: ONE
  inputs: [var_0]
  outputs: [var_0]
  statements:

StatementIR: TWO
  inputs: [var_0, var_1]
  outputs: [var_0, var_1]
  statements:
    sir || None = TWO (var_0, var_1)
    sir || None = MAIN ()

StatementIR: MAIN
  inputs: [var_0]
  outputs: [var_0]
  statements:
    sir || var_1 = ONE @obj_0 (var_0, k=1)
    sir || (var_2,) = ONE (var_0, var_0)
    sir || var_3 = TWO (var_0, 1)
    sir || (var_4,) = TWO (var_0, 1)
    sir || (var_5, [var_6]) = TWO (var_0, 1)
    sir || (var_7, var_8) = TWO (var_0, (1, var_0))
";
    insta::assert_snapshot!(errors(text), @r"
    TWO, statement 0: no SIR of the name TWO stands before this one
    TWO, statement 1: no SIR of the name MAIN stands before this one
    MAIN, statement 0: call_sir takes no callee
    MAIN, statement 0: call_sir takes no keywords
    MAIN, statement 1: ONE has 1 inputs, 2 operands are given
    MAIN, statement 1: ONE has 1 outputs, the result does not take them as a symbol or a tuple of symbols
    MAIN, statement 2: TWO has 2 outputs, the result does not take them as a symbol or a tuple of symbols
    MAIN, statement 3: TWO has 2 outputs, the result does not take them as a symbol or a tuple of symbols
    MAIN, statement 4: TWO has 2 outputs, the result does not take them as a symbol or a tuple of symbols
    ");
}

proptest! {
    #[test]
    fn generated_modules_are_well_formed(module in verified()) {
        prop_assert_eq!(verify(&module), Ok(()));
    }

    #[test]
    fn anything_gets_an_answer(module in anything()) {
        let _ = verify(&module);
    }

    /// Break a well-formed module in one of many ways; every way is found.
    #[test]
    fn mutations_are_rejected(module in verified(), way in 0..8u32, at in any::<prop::sample::Index>()) {
        if let Some(broken) = break_it(module, way, at) {
            prop_assert!(verify(&broken).is_err(), "{}", broken);
        }
    }
}

/// A module that breaks a rule, if this way applies to it.
fn break_it(mut module: Module, way: u32, at: prop::sample::Index) -> Option<Module> {
    let unknown = Symbol(u32::MAX);
    let last = module.sirs.last_mut()?;
    let count = last.statements.len();
    let calls: Vec<usize> = (0..count).filter(|i| last.statements[*i].kind == StatementKind::Sir).collect();
    match way {
        0 => last.outputs.push(unknown),
        1 => last.inputs.push(*last.inputs.first()?),
        2 => {
            // An operand that nothing defines.
            last.statements.get_mut(at.index(count.max(1)))?.args.push(unknown.into());
        }
        3 => {
            // A result that is an input.
            let input = Operand::Symbol(*last.inputs.first()?);
            last.statements.get_mut(at.index(count.max(1)))?.result = input;
        }
        4 => {
            let statement = last.statements.get_mut(at.index(count.max(1)))?;
            statement.kwargs.extend([("k".to_owned(), Operand::NONE), ("k".to_owned(), Operand::NONE)]);
        }
        5 => {
            // Moved before what it reads: swap with the neighbour that reads it.
            let i = at.index(count.checked_sub(1).filter(|n| *n > 0)?);
            let defs = last.statements[i].defs();
            if !last.statements[i + 1].uses().iter().any(|s| defs.contains(s)) {
                return None;
            }
            last.statements.swap(i, i + 1);
        }
        6 => {
            let call = *calls.get(at.index(calls.len().max(1)))?;
            last.statements[call].args.push(Operand::NONE);
        }
        _ => {
            let call = *calls.get(at.index(calls.len().max(1)))?;
            last.statements[call].name.clone_from(&last.name);
        }
    }
    Some(module)
}
