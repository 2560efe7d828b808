//! The checks of the fuzz targets on a few generated inputs, so that every run of the tests looks a little further.

use crate::checks::{Target, check_raw as check};
use crate::corpus;
use proptest::prelude::*;
use proptest::sample::{self, Index};
use sot_opcodes::Version;

fn version() -> impl Strategy<Value = Version> {
    sample::select(&Version::ALL[..])
}

fn seed() -> impl Strategy<Value = (Target, Vec<u8>)> {
    let seeds = Target::ALL.into_iter().flat_map(|target| target.seeds().into_iter().map(move |seed| (target, seed)));
    sample::select(seeds.collect::<Vec<_>>())
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
        version in version(), pick in any::<Index>(), at in any::<Index>(), byte in any::<u8>()
    ) {
        let codes = corpus::corpus(version);
        let mut raw = codes[pick.index(codes.len())].clone();
        let at = at.index(raw.code.len());
        raw.code[at] = byte;
        check(&raw);
    }

    #[test]
    fn corpus_with_changed_tables(
        version in version(), pick in any::<Index>(), at in any::<Index>(), byte in any::<u8>()
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

    /// `Code` with operands, labels and regions that make no sense, and text with words where none belong.
    #[test]
    fn seeds_with_changed_bytes(
        (target, mut input) in seed(), changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..4)
    ) {
        for (at, byte) in changes {
            let at = at.index(input.len());
            input[at] = byte;
        }
        target.check(&input);
    }

    #[test]
    fn any_input(target in sample::select(&Target::ALL[..]), input in prop::collection::vec(any::<u8>(), 0..64)) {
        target.check(&input);
    }
}
