//! StatementIR (SIR): the graph that a capture yields, as plain data that prints, parses and verifies.
//!
//! A [`Sir`] is a straight line of [`Statement`]s over [`Symbol`]s. It knows no Python and no framework:
//! what is called is a name, an optional [`ObjectRef`] into a table that the translator owns, and operands.
//! A [`Module`] holds several of them; `call_sir` statements name another one that stands before it, so that
//! a repeated block is written once.
//!
//! ```
//! use sot_sir::{parse_module, verify};
//!
//! let text = "\
//! StatementIR: SIR_0
//!   inputs: [var_0]
//!   outputs: [var_2]
//!   statements:
//!     layer  || var_1 = Conv2D (layer_0, var_0)
//!     method || var_2 = __add__ (var_1, 1.5)
//! ";
//! let module = parse_module(text).unwrap();
//! assert!(verify(&module).is_ok());
//! assert_eq!(module.to_string(), text);
//! ```
//!
//! What may be relied on
//! - `parse(print(m)) == m` for every value, verified or not: the text is exact ([`print`](mod@print), [`parse`](fn@parse)).
//! - [`verify`](fn@verify) lists its rules.
//! - [`Module::structural_hash`] is the same in every process and on every machine.
//!
//! What is absent: control flow, types, shapes, values of tensors, and passes: what a statement does is unknown here.
#![forbid(unsafe_code)]

pub mod entity;
pub mod hash;
pub mod literal;
pub mod liveness;
pub mod operand;
pub mod parse;
pub mod print;
pub mod sir;
pub mod statement;
pub mod verify;

pub use entity::{ObjectRef, Symbol};
pub use hash::StructuralHash;
pub use literal::Literal;
pub use operand::Operand;
pub use parse::{ParseError, parse, parse_module, parse_sir};
pub use sir::{Module, Sir};
pub use statement::{Statement, StatementKind};
pub use verify::{Location, Rule, VerifyError, verify};
