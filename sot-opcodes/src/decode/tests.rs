//! Specialised, instrumented and quickened code (`_co_code_adaptive`) reads as what it stands for.

#[path = "../../tests/it/corpus.rs"]
mod corpus;

use super::decode;
use crate::tables::Table;
use crate::{DecodeError, Version};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn any_form_of_an_opcode_will_do(picks in prop::collection::vec(any::<u8>(), 64..65)) {
        for raw in corpus::all() {
            let table = Table::of(raw.version);
            let mut adaptive = raw.clone();
            let (mut at, mut pick) = (0, picks.iter().cycle());
            while at < adaptive.code.len() {
                let (op, caches) = table.read(adaptive.code[at]).expect("corpus");
                let forms: Vec<u8> = (0..=255).filter(|n| table.read(*n) == Some((op, caches))).collect();
                adaptive.code[at] = forms[usize::from(*pick.next().expect("endless")) % forms.len()];
                at += 2;
                for byte in &mut adaptive.code[at..at + 2 * usize::from(caches)] {
                    *byte = *pick.next().expect("endless");
                }
                at += 2 * usize::from(caches);
            }
            prop_assert_eq!(decode(&adaptive), decode(&raw));
        }
    }
}

#[test]
fn what_only_the_interpreter_can_resolve_is_told() {
    let mut raw = corpus::empty(Version::V313, "f");
    // RESUME, INSTRUMENTED_LINE, a word of its cache, RETURN_CONST.
    raw.code = vec![149, 0, 254, 0, 0x86, 0, 103, 0];
    assert_eq!(decode(&raw), Err(DecodeError::Internal { offset: 2, name: "INSTRUMENTED_LINE" }));
}

#[test]
fn corpus_is_all_there() {
    assert!(corpus::all().count() > 100);
    assert_eq!(corpus::function(Version::V38, "big").cellvars.len(), 0);
}
