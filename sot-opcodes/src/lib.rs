//! CPython 3.8 to 3.13 bytecode, both ways, without CPython.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

// Unit tests share the corpus reader with the tests outside.
#[cfg(test)]
extern crate self as sot_opcodes;

pub mod analysis;
mod builder;
pub mod calls;
mod code;
mod decode;
mod effect;
mod encode;
mod error;
mod exctable;
mod flags;
mod flow;
pub mod handling;
mod jumps;
pub mod kind;
mod linetable;
mod location;
pub mod method_layout;
mod op;
mod operands;
mod raw;
mod slots;
mod tables;
pub mod text;
mod version;

pub use builder::{CodeBuilder, Signature};
pub use code::{Code, Instr, Region};
pub use decode::decode;
pub use effect::{reach, stack_effect};
pub use encode::encode;
pub use error::{DecodeError, EncodeError};
pub use flags::CodeFlags;
pub use kind::OpKind;
pub use location::Location;
pub use op::{BinaryOp, Cell, CompareOp, ConstId, Conversion, Intrinsic, JumpCond, Label, Local, NameId, Op, UnaryOp};
pub use raw::RawCode;
pub use tables::opcodes;
pub use version::Version;
