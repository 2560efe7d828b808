//! Tests of sot-opcodes from outside, without Python: on the committed corpus and on generated code.

mod analysis;
mod arbitrary;
mod builder;
mod checks;
mod corpus;
mod fuzz_regressions;
mod identity;
mod jumps;
mod stack_size;
mod text;
