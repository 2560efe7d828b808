//! Arbitrary bytes and tables, decoded. What must hold is told in `sot-opcodes/tests/it/checks`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| sot_opcodes_fuzz::decode(input));
