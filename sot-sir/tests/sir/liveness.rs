//! What outputs need.

use crate::generate::verified;
use proptest::prelude::*;
use sot_sir::{Statement, Symbol, parse_sir};

const TEXT: &str = "
StatementIR: S
  inputs: [var_0, var_1, var_2, var_3]
  outputs: [var_5]
  statements:
    api    || var_4 = tanh (var_1)
    api    || var_5 = tanh (var_0)
    api    || var_6 = tanh (var_4)
    method || None = fill_ (var_2)
    api    || (var_7, var_8) = split (var_0)
";

fn pure(statement: &Statement) -> bool {
    !statement.name.ends_with('_')
}

#[test]
fn chains_of_unused_results_are_dead_effects_are_not() {
    let sir = parse_sir(TEXT).unwrap();
    assert_eq!(sir.dead_statements(&pure), [0, 2, 4]);
    assert_eq!(sir.dead_statements(&|_| false), []);
    assert_eq!(sir.live_inputs(), [Symbol(0), Symbol(1), Symbol(2)]);
    assert_eq!(sir.live_inputs_if(&pure), [Symbol(0), Symbol(2)]);
}

proptest! {
    /// Without its dead statements a SIR has no dead statement, and its live inputs are those it had.
    #[test]
    fn removal_is_complete(module in verified()) {
        for sir in &module.sirs {
            let dead = sir.dead_statements(&|_| true);
            let mut slim = sir.clone();
            let mut index = 0;
            slim.statements.retain(|_| { index += 1; !dead.contains(&(index - 1)) });
            prop_assert!(slim.dead_statements(&|_| true).is_empty());
            prop_assert_eq!(slim.live_inputs(), sir.live_inputs_if(&|_| true));
        }
    }
}
