//! SIR as text: printing, parsing, verification, hashing and passes, without any interpreter.

mod generate;
mod hash;
mod inline;
mod liveness;
mod outline;
mod parse;
mod print;
mod verify;
