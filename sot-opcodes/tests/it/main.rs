//! Tests of sot-opcodes from outside, without Python: on the committed corpus and on generated code.

mod analysis;
mod arbitrary;
mod builder;
mod corpus;
mod identity;
mod jumps;
mod stack_size;
mod text;
