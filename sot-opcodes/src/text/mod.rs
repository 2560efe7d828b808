//! Code as text: for people, for snapshots, and for tests that start from text.
//!
//! ```text
//! code "f" file "f.py" line 1 python 3.11
//! qualname "C.f"
//! flags OPTIMIZED NEWLOCALS
//! args 1 posonly 0 kwonly 0 stack 2
//! names print
//! varnames x
//! cellvars
//! freevars
//!     1       RESUME 0
//!     2 L0    PUSH_NULL
//! region L0..L1 -> L2 depth 1 lasti
//! ```
//!
//! One instruction per line; the source line only where it changes (`--`: none). Labels are numbered by place.
//! Columns and offsets are not in the text, so `parse(print(code))` is `code` without them, labels renumbered.

mod diff;
mod parse;
mod print;
mod words;

pub use diff::diffable;
pub use parse::{ParseError, parse};
pub use print::print;
