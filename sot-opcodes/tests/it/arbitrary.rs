//! Whatever the bytes: decode does not panic, and what it accepts can be worked with.

use crate::corpus;
use proptest::prelude::*;
use sot_opcodes::{Code, RawCode, Version, analysis, decode, encode, text};

/// Everything that reads code, on code that may make no sense.
fn use_all(code: &Code) {
    let _ = analysis::stack_depths(code);
    let _ = analysis::stack_layouts(code);
    let _ = analysis::liveness(code);
    let _ = analysis::reachable(code);
    let _ = analysis::basic_blocks(code);
    let _ = text::parse(&text::print(code, None)).expect("what print wrote");
    if let Ok(raw) = encode(code) {
        let again = decode(&raw).expect("what encode wrote");
        assert!(encode(&again).is_ok());
    }
}

fn check(raw: &RawCode) {
    if let Ok(code) = decode(raw) {
        use_all(&code);
    }
}

fn version() -> impl Strategy<Value = Version> {
    proptest::sample::select(&Version::ALL[..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(
        version in version(),
        code in prop::collection::vec(any::<u8>(), 0..64),
        linetable in prop::collection::vec(any::<u8>(), 0..16),
        exceptiontable in prop::collection::vec(any::<u8>(), 0..12),
    ) {
        let mut raw = corpus::empty(version, "f");
        raw.names = vec!["a".into(), "b c".into(), String::new()];
        raw.varnames = vec!["x".into(), "y".into()];
        raw.cellvars = vec!["y".into(), "z".into()];
        raw.freevars = vec!["z".into()];
        raw.code = code;
        check(&raw);
        raw.linetable = linetable;
        check(&raw);
        raw.exceptiontable = exceptiontable;
        check(&raw);
    }

    /// Small operands, so that more of it decodes.
    #[test]
    fn plausible_bytes(version in version(), units in prop::collection::vec((any::<u8>(), 0u8..6), 1..40)) {
        let mut raw = corpus::empty(version, "f");
        raw.names = vec!["a".into(), "b".into(), "c".into()];
        raw.varnames = vec!["x".into(), "y".into()];
        raw.cellvars = vec!["y".into(), "z".into()];
        raw.code = units.into_iter().flat_map(|(op, arg)| [op, arg]).collect();
        check(&raw);
    }

    #[test]
    fn corpus_with_a_changed_byte(
        version in version(), pick in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>()
    ) {
        let codes = corpus::corpus(version);
        let mut raw = codes[pick.index(codes.len())].clone();
        let at = at.index(raw.code.len());
        raw.code[at] = byte;
        check(&raw);
    }

    #[test]
    fn corpus_with_changed_tables(
        version in version(), pick in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>()
    ) {
        let codes = corpus::corpus(version);
        let mut raw = codes[pick.index(codes.len())].clone();
        for table in [&mut raw.linetable, &mut raw.exceptiontable] {
            if !table.is_empty() {
                let at = at.index(table.len());
                table[at] = byte;
            }
        }
        check(&raw);
    }
}
