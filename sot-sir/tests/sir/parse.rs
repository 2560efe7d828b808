//! Errors name the place and what was expected; no text makes the parser panic.

use crate::generate::anything;
use proptest::prelude::*;
use sot_sir::{Module, Sir, parse, parse_sir};

fn error_in(line: &str) -> String {
    let text = format!("StatementIR: S\n  inputs: []\n  outputs: []\n  statements:\n    {line}\n");
    parse(&text).unwrap_err().to_string()
}

#[test]
fn errors() {
    let lines = [
        "api || var_1",
        "api | var_1 = f ()",
        "api || x = f ()",
        "api || var_1 = f (var_1 var_2)",
        "api || var_1 = f (k=1, var_2)",
        "api || var_1 = f (obj_1)",
        "api || var_1 = f (obj_1<a",
        "api || var_1 = f (layer_1)",
        "api || var_1 = f @layer_1 ()",
        "layer || var_1 = f @obj_1 ()",
        "api || var_1 = f (99999999999999999999)",
        "api || var_1 = f (1.5.5)",
        "api || var_1 = f (1e999)",
        "api || var_1 = f (-infinity)",
        "api || var_1 = f (nan(0x0))",
        "api || var_1 = f (\"a\\q\")",
        "api || var_1 = f (\"a",
        "api || var_1 = f ((1))",
        "api || var_1 = f ({1})",
        "api || var_1 = f (slice(1, 2))",
        "api || var_1 = f (var_99999999999)",
        "api || \u{e9}\u{e9} = f ()",
        "call || var_1 = f ()",
        "api || var_1 = 5 ()",
    ];
    insta::assert_snapshot!(lines.map(|l| format!("{l:<40} {}", error_in(l))).join("\n"), @r#"
    api || var_1                             6:1: expected `=`, found the end of the text
    api | var_1 = f ()                       5:9: expected `||`, found `|`
    api || x = f ()                          5:12: expected an operand (var_N, obj_N<label>, literal, tuple, list, dict, slice), found `x`
    api || var_1 = f (var_1 var_2)           5:29: expected `)`, found `var_2`
    api || var_1 = f (k=1, var_2)            5:28: expected a keyword argument (name=operand), found `var_2`
    api || var_1 = f (obj_1)                 5:28: expected `<`, found `)`
    api || var_1 = f (obj_1<a                5:30: expected `>`, found the end of the line
    api || var_1 = f (layer_1)               5:23: expected an operand (var_N, obj_N<label>, literal, tuple, list, dict, slice), found `layer_1`
    api || var_1 = f @layer_1 ()             5:23: expected a callee (obj_N), found `layer_1`
    layer || var_1 = f @obj_1 ()             5:25: expected a layer as the first argument (layer_N), found `obj_1`
    api || var_1 = f (99999999999999999999)  5:23: expected a 64-bit integer or a float, found `99999999999999999999`
    api || var_1 = f (1.5.5)                 5:23: expected a 64-bit integer or a float, found `1.5.5`
    api || var_1 = f (1e999)                 5:23: expected a 64-bit integer or a float, found `1e999`
    api || var_1 = f (-infinity)             5:23: expected a 64-bit integer or a float, found `-`
    api || var_1 = f (nan(0x0))              5:27: expected the bits of a NaN (0x..), found `0x0`
    api || var_1 = f ("a\q")                 5:26: expected an escape (n, t, r, \, ", <, > or u{..}), found `q`
    api || var_1 = f ("a                     5:25: expected `"`, found the end of the line
    api || var_1 = f ((1))                   5:25: expected `,`, found `)`
    api || var_1 = f ({1})                   5:25: expected `:`, found `}`
    api || var_1 = f (slice(1, 2))           5:33: expected `,`, found `)`
    api || var_1 = f (var_99999999999)       5:23: expected an operand (var_N, obj_N<label>, literal, tuple, list, dict, slice), found `var_99999999999`
    api || éé = f ()                         5:12: expected an operand (var_N, obj_N<label>, literal, tuple, list, dict, slice), found `éé`
    call || var_1 = f ()                     5:5: expected a statement (api, method, layer, sir) or the next StatementIR, found `call`
    api || var_1 = 5 ()                      5:20: expected a name, found `5`
    "#);
}

#[test]
fn one_sir_means_one() {
    let text = "StatementIR: A inputs: [] outputs: [] statements:";
    assert!(parse_sir(text).is_ok());
    assert_eq!(text.parse::<Sir>().unwrap(), parse_sir(text).unwrap());
    let two = format!("{text}\n{text}");
    assert_eq!(
        parse_sir(&two).unwrap_err().to_string(),
        "2:1: expected a statement or the end of the text, found `StatementIR`"
    );
    assert_eq!(two.parse::<Module>().unwrap().sirs.len(), 2);
    assert_eq!(parse("  # nothing\n").unwrap(), Module::default());
}

#[test]
fn white_space_and_comments_are_free() {
    let free = "StatementIR : S # a comment\n inputs:[var_0,]outputs:[var_1]statements:api||var_1=f(var_0,[1,],k = \"a # b\",)# end";
    insta::assert_snapshot!(parse(free).unwrap(), @r#"
    StatementIR: S
      inputs: [var_0]
      outputs: [var_1]
      statements:
        api    || var_1 = f (var_0, [1], k="a # b")
    "#);
}

#[test]
fn nesting_is_bounded() {
    let deep = |n: usize| format!("api || None = f ({}{})", "[".repeat(n), "]".repeat(n));
    let text = |n| format!("StatementIR: S inputs: [] outputs: [] statements: {}", deep(n));
    assert!(parse(&text(sot_sir::parse::MAX_DEPTH)).is_ok());
    let error = parse(&text(100_000)).unwrap_err();
    assert_eq!(error.expected, "operands nested at most 128 deep");
}

proptest! {
    #[test]
    fn never_panics(text in "\\PC*") {
        let _ = parse(&text);
    }

    #[test]
    fn damaged_text_never_panics(module in anything(), at in any::<prop::sample::Index>(), with in "[ -~\n]{0,3}") {
        let mut text: Vec<char> = module.to_string().chars().collect();
        if !text.is_empty() {
            let at = at.index(text.len());
            text.splice(at..=at, with.chars());
            if let Err(error) = parse(&text.iter().collect::<String>()) {
                let lines = text.iter().filter(|c| **c == '\n').count() as u32 + 1;
                prop_assert!((1..=lines).contains(&error.line) && error.column >= 1);
            }
        }
    }
}
