//! SIR as text: printing, parsing, verification and hashing, without any interpreter.

mod builder;
mod generate;
mod hash;
mod liveness;
mod parse;
mod print;
mod verify;
