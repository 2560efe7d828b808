//! What the structural hash ignores and what it sees.

use crate::generate::{anything, renamed, renumbered, verified};
use proptest::prelude::*;
use sot_sir::{Module, parse};

proptest! {
    #[test]
    fn numbers_and_names_of_sirs_do_not_count(module in verified(), by in any::<u32>()) {
        let other = renamed(&module, by);
        prop_assert_eq!(other.structural_hash(), module.structural_hash());
        // Each SIR has symbols of its own.
        let mut other = module.clone();
        for sir in &mut other.sirs {
            *sir = renumbered(sir);
            prop_assert_eq!(renumbered(sir).structural_hash(), sir.structural_hash());
        }
        prop_assert_eq!(other.structural_hash(), module.structural_hash());
    }

    #[test]
    fn equal_hash_means_equal_graph(a in verified(), b in verified()) {
        let canonical = |m: &Module| Module { sirs: m.sirs.iter().map(renumbered).collect() };
        prop_assert_eq!(a.structural_hash() == b.structural_hash(), canonical(&a) == canonical(&b));
    }

    #[test]
    fn anything_has_a_hash(module in anything()) {
        prop_assert_eq!(parse(&module.to_string()).unwrap().structural_hash(), module.structural_hash());
    }
}

fn hash(statement: &str) -> String {
    let text = format!(
        "StatementIR: B inputs: [var_0] outputs: [var_0] statements:
         StatementIR: A inputs: [var_0, var_1] outputs: [var_2] statements: {statement}"
    );
    parse(&text).unwrap().structural_hash().to_string()
}

#[test]
fn everything_else_counts() {
    let variants = [
        "api || var_2 = f (var_0, var_1)",
        "api || var_2 = f (var_1, var_0)",
        "api || var_2 = f (var_0, var_0)",
        "api || var_2 = f ((var_0, var_1))",
        "api || var_2 = f ([var_0, var_1])",
        "api || var_2 = f ({var_0: var_1})",
        "api || var_2 = f (var_0, k=var_1)",
        "api || var_2 = f (var_0, l=var_1)",
        "api || var_2 = g (var_0, var_1)",
        "method || var_2 = f (var_0, var_1)",
        "layer || var_2 = f (layer_0, var_0, var_1)",
        "sir || var_2 = B (var_0)",
        "sir || var_2 = C (var_0)",
        "api || (var_2,) = f (var_0, var_1)",
        "api || var_2 = f (1)",
        "api || var_2 = f (1.0)",
        "api || var_2 = f (True)",
        "api || var_2 = f (\"1\")",
        "api || var_2 = f (0.0)",
        "api || var_2 = f (-0.0)",
        "api || var_2 = f (None)",
        "api || var_2 = f (...)",
        "api || var_2 = f (slice(None, None, 1))",
        "api || var_2 = f (obj_0<float32>)",
        "api || var_2 = f (obj_0<float64>)",
        "api || var_2 = f (obj_0<a>, obj_0<a>)",
        "api || var_2 = f (obj_0<a>, obj_1<a>)",
        "api || var_2 = f @obj_0 (obj_0<a>, obj_1<a>)",
        "api || var_2 = f @obj_0 (obj_1<a>, obj_1<a>)",
    ];
    let mut hashes: Vec<String> = variants.iter().map(|v| hash(v)).collect();
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), variants.len());
}

/// The hash is part of cache files: this number never changes without a note.
#[test]
fn the_hash_is_stable() {
    insta::assert_snapshot!(hash("api || var_2 = f (var_0, k=[1, 2.5, \"x\", obj_7<float32>])"), @"2e809bc3da50f71e097f180df5dad495");
    assert_eq!(
        hash("layer || var_2 = Linear (layer_3, var_0, obj_8<a>)"),
        hash("layer || var_2 = Linear (layer_9, var_0, obj_2<a>)")
    );
}
