//! SIR as text: printing, parsing, verification and hashing, without any interpreter.

mod builder;
mod generate;
mod hash;
mod parse;
mod print;
mod verify;
