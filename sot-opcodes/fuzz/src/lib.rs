//! The checks of `sot-opcodes/tests/it/checks` for the fuzz targets. They live with the tests, which replay stored inputs
//! without libFuzzer.
#![forbid(unsafe_code)]

#[path = "../../tests/it/checks/mod.rs"]
mod checks;
#[path = "../../tests/it/corpus.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod corpus;

use checks::Target;

/// The names of the fuzz targets.
pub fn targets() -> impl Iterator<Item = &'static str> {
    Target::ALL.into_iter().map(Target::name)
}

/// Inputs to start a target from; none if there is no such target.
#[must_use]
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    Target::ALL.into_iter().filter(|known| known.name() == target).flat_map(Target::seeds).collect()
}

/// The target `decode`.
pub fn decode(input: &[u8]) {
    Target::Decode.check(input);
}

/// The target `encode`.
pub fn encode(input: &[u8]) {
    Target::Encode.check(input);
}

/// The target `text`.
pub fn text(input: &[u8]) {
    Target::Text.check(input);
}
