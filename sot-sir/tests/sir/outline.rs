//! Text to text: repeated runs become SIRs.

use crate::generate::verified;
use proptest::prelude::*;
use sot_sir::{OutlineOptions, inline, outline, parse, verify};

fn outlined(text: &str) -> String {
    let out = outline(&parse(text).unwrap(), &OutlineOptions::default());
    assert_eq!(verify(&out), Ok(()));
    out.to_string()
}

#[test]
fn a_recurrent_cell() {
    let text = "
StatementIR: SIR_0
  inputs: [var_0, var_1, var_2]
  outputs: [var_10]
  statements:
    api    || var_3 = add (var_0, var_1)
    layer  || var_4 = Linear (layer_0, var_3)
    api    || var_5 = tanh (var_4)
    api    || var_6 = add (var_5, var_1)
    layer  || var_7 = Linear (layer_0, var_6)
    api    || var_8 = tanh (var_7)
    api    || var_9 = add (var_8, var_2)
    layer  || var_10 = Linear (layer_0, var_9)
    api    || var_11 = tanh (var_10)
";
    insta::assert_snapshot!(outlined(text), @r"
    StatementIR: SIR_0_block_0
      inputs: [var_0, var_1]
      outputs: [var_3, var_4]
      statements:
        api    || var_2 = add (var_0, var_1)
        layer  || var_3 = Linear (layer_0, var_2)
        api    || var_4 = tanh (var_3)

    StatementIR: SIR_0
      inputs: [var_0, var_1, var_2]
      outputs: [var_10]
      statements:
        sir    || (var_4, var_5) = SIR_0_block_0 (var_0, var_1)
        sir    || (var_7, var_8) = SIR_0_block_0 (var_5, var_1)
        sir    || (var_10, var_11) = SIR_0_block_0 (var_8, var_2)
    ");
}

#[test]
fn blocks_within_blocks() {
    let mut text = String::from("StatementIR: S inputs: [var_0] outputs: [var_16] statements:\n");
    let mut var = 0;
    for _ in 0..4 {
        for name in ["conv", "relu", "conv", "relu"] {
            text.push_str(&format!("api || var_{} = {name} (var_{var})\n", var + 1));
            var += 1;
        }
    }
    insta::assert_snapshot!(outlined(&text), @r"
    StatementIR: S_block_0
      inputs: [var_0]
      outputs: [var_4]
      statements:
        api    || var_1 = conv (var_0)
        api    || var_2 = relu (var_1)
        api    || var_3 = conv (var_2)
        api    || var_4 = relu (var_3)

    StatementIR: S
      inputs: [var_0]
      outputs: [var_16]
      statements:
        sir    || var_4 = S_block_0 (var_0)
        sir    || var_8 = S_block_0 (var_4)
        sir    || var_12 = S_block_0 (var_8)
        sir    || var_16 = S_block_0 (var_12)
    ");
    let text = "
StatementIR: S
  inputs: [var_0]
  outputs: [var_20]
  statements:
    api || var_1 = a (var_0)
    api || var_2 = b (var_1)
    api || var_3 = a (var_2)
    api || var_4 = b (var_3)
    api || var_5 = a (var_4)
    api || var_6 = b (var_5)
    api || var_7 = c (var_6)
    api || var_8 = d (var_7)
    api || var_9 = e (var_8)
    api || var_10 = x (var_9)
    api || var_11 = a (var_10)
    api || var_12 = b (var_11)
    api || var_13 = a (var_12)
    api || var_14 = b (var_13)
    api || var_15 = a (var_14)
    api || var_16 = b (var_15)
    api || var_17 = c (var_16)
    api || var_18 = d (var_17)
    api || var_19 = e (var_18)
    api || var_20 = y (var_19)
";
    insta::assert_snapshot!(outlined(text), @r"
    StatementIR: S_block_1
      inputs: [var_0]
      outputs: [var_2]
      statements:
        api    || var_1 = a (var_0)
        api    || var_2 = b (var_1)

    StatementIR: S_block_0
      inputs: [var_0]
      outputs: [var_9]
      statements:
        sir    || var_2 = S_block_1 (var_0)
        sir    || var_4 = S_block_1 (var_2)
        sir    || var_6 = S_block_1 (var_4)
        api    || var_7 = c (var_6)
        api    || var_8 = d (var_7)
        api    || var_9 = e (var_8)

    StatementIR: S
      inputs: [var_0]
      outputs: [var_20]
      statements:
        sir    || var_9 = S_block_0 (var_0)
        api    || var_10 = x (var_9)
        sir    || var_19 = S_block_0 (var_10)
        api    || var_20 = y (var_19)
    ");
}

#[test]
fn what_differs_in_more_than_symbols_stays() {
    let text = "\
StatementIR: S
  inputs: [var_0]
  outputs: [var_9]
  statements:
    layer  || var_1 = Linear (layer_0, var_0)
    api    || var_2 = scale (var_1, 1)
    api    || var_3 = tanh (var_2)
    layer  || var_4 = Linear (layer_1, var_3)
    api    || var_5 = scale (var_4, 2)
    api    || var_6 = tanh (var_5)
    layer  || var_7 = Linear (layer_2, var_6)
    api    || var_8 = scale (var_7, 3)
    api    || var_9 = tanh (var_8)
";
    assert_eq!(outlined(text), text);
}

#[test]
fn symbols_must_correspond_one_to_one() {
    // The second run reads one symbol where the first reads two.
    let text = "\
StatementIR: S
  inputs: [var_0, var_1]
  outputs: [var_5, var_8]
  statements:
    api    || var_3 = f (var_0, var_1)
    api    || var_4 = g (var_3, var_0)
    api    || var_5 = h (var_4, var_1)
    api    || var_6 = f (var_0, var_0)
    api    || var_7 = g (var_6, var_0)
    api    || var_8 = h (var_7, var_0)
";
    assert_eq!(outlined(text), text);
}

#[test]
fn results_that_one_occurrence_needs_all_return() {
    let text = "
StatementIR: S
  inputs: [var_0]
  outputs: [var_9, var_4]
  statements:
    api || (var_1, var_2) = split (var_0)
    api || var_3 = f (var_1)
    api || var_4 = g (var_3, var_2)
    api || (var_5, var_6) = split (var_3)
    api || var_7 = f (var_5)
    api || var_8 = g (var_7, var_6)
    api || var_9 = last (var_8)
";
    insta::assert_snapshot!(outlined(text), @r"
    StatementIR: S_block_0
      inputs: [var_0]
      outputs: [var_3, var_4]
      statements:
        api    || (var_1, var_2) = split (var_0)
        api    || var_3 = f (var_1)
        api    || var_4 = g (var_3, var_2)

    StatementIR: S
      inputs: [var_0]
      outputs: [var_9, var_4]
      statements:
        sir    || (var_3, var_4) = S_block_0 (var_0)
        sir    || (var_7, var_8) = S_block_0 (var_3)
        api    || var_9 = last (var_8)
    ");
}

#[test]
fn effects_without_results_and_taken_names() {
    let text = "
StatementIR: S_block_0
  inputs: []
  outputs: []
  statements:

StatementIR: S
  inputs: [var_0]
  outputs: []
  statements:
    method || None = a_ (var_0)
    method || None = b_ (var_0)
    method || None = c_ (var_0)
    method || None = a_ (var_0)
    method || None = b_ (var_0)
    method || None = c_ (var_0)
";
    insta::assert_snapshot!(outlined(text), @r"
    StatementIR: S_block_0
      inputs: []
      outputs: []
      statements:

    StatementIR: S_block_1
      inputs: [var_0]
      outputs: []
      statements:
        method || None = a_ (var_0)
        method || None = b_ (var_0)
        method || None = c_ (var_0)

    StatementIR: S
      inputs: [var_0]
      outputs: []
      statements:
        sir    || () = S_block_1 (var_0)
        sir    || () = S_block_1 (var_0)
    ");
}

#[test]
fn limits() {
    let mut text = String::from("StatementIR: S inputs: [var_0] outputs: [var_600] statements:\n");
    for var in 0..600 {
        text.push_str(&format!("api || var_{} = f (var_{var})\n", var + 1));
    }
    let module = parse(&text).unwrap();
    let statements = |options: &OutlineOptions| {
        let out = outline(&module, options);
        assert_eq!(inline(&out).unwrap().structural_hash(), module.sirs[0].structural_hash());
        (out.sirs.len(), out.sirs.iter().map(|s| s.statements.len()).sum::<usize>())
    };
    let default = OutlineOptions::default();
    let (sirs, total) = statements(&default);
    assert!(sirs > 2 && total < 40, "{sirs} SIRs, {total} statements");
    assert_eq!(statements(&OutlineOptions { max_statements: 599, ..default }), (1, 600));
    assert_eq!(statements(&OutlineOptions { max_blocks: 0, ..default }), (1, 600));
    assert_eq!(statements(&OutlineOptions { max_blocks: 1, ..default }).0, 2);
    assert_eq!(statements(&OutlineOptions { min_saved: 600, ..default }), (1, 600));
}

proptest! {
    #[test]
    fn inline_undoes_outline(module in verified()) {
        let out = outline(&module, &OutlineOptions::default());
        prop_assert_eq!(verify(&out), Ok(()));
        let total = |m: &sot_sir::Module| m.sirs.iter().map(|s| s.statements.len()).sum::<usize>();
        prop_assert!(total(&out) <= total(&module));
        let (flat, again) = (inline(&module).unwrap(), inline(&out).unwrap());
        prop_assert_eq!(again.structural_hash(), flat.structural_hash(), "{}\n{}", flat, again);
    }
}
