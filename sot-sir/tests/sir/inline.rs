//! Calls dissolve; what a call only hands through needs no statement.

use crate::generate::verified;
use proptest::prelude::*;
use sot_sir::{Module, StatementKind, inline, parse, verify};

const PASS: &str = "
StatementIR: PASS
  inputs: [var_0, var_1]
  outputs: [var_1, var_2, var_2]
  statements:
    api || var_2 = f (var_0, [var_1])
";

#[test]
fn handed_through() {
    let text = format!(
        "{PASS}
StatementIR: MAIN
  inputs: [var_0]
  outputs: [var_5, var_6]
  statements:
    sir || (var_1, var_2, var_3) = PASS (var_0, 7)
    sir || (var_4, var_5, var_6) = PASS (var_3, (var_1, var_2))
    api || var_7 = g (var_4)
"
    );
    insta::assert_snapshot!(inline(&parse(&text).unwrap()).unwrap(), @r"
    StatementIR: MAIN
      inputs: [var_0]
      outputs: [var_5, var_5]
      statements:
        api    || var_2 = f (var_0, [7])
        api    || var_5 = f (var_2, [(7, var_2)])
        api    || var_7 = g ((7, var_2))
    ");
}

#[test]
fn a_constant_output_cannot_be_dissolved() {
    let text = format!(
        "{PASS}
StatementIR: MAIN
  inputs: [var_0]
  outputs: [var_1]
  statements:
    sir || (var_1, var_2, var_3) = PASS (var_0, 7)
"
    );
    assert_eq!(inline(&parse(&text).unwrap()), None);
    assert_eq!(inline(&Module::default()), None);
}

proptest! {
    #[test]
    fn the_result_is_flat_and_well_formed(module in verified()) {
        let flat = inline(&module).unwrap();
        prop_assert!(flat.statements.iter().all(|s| s.kind != StatementKind::Sir));
        prop_assert_eq!(verify(&Module::single(flat)), Ok(()));
    }
}
