//! Arbitrary code, encoded. What must hold is told in `sot-opcodes/tests/it/checks`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| sot_opcodes_fuzz::encode(input));
