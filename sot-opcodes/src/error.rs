//! Why bytes are not code, and why code has no bytes.

use crate::{Label, Op, Version};

/// The bytes are not a code object of that version as its compiler could have made it. Offsets are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation")]
pub enum DecodeError {
    #[error("offset {offset}: the code ends inside an instruction")]
    Truncated { offset: u32 },
    #[error("offset {offset}: unknown opcode {opcode}")]
    UnknownOpcode { offset: u32, opcode: u8 },
    #[error("offset {offset}: {name} has no meaning outside the running interpreter")]
    Internal { offset: u32, name: &'static str },
    #[error("offset {offset}: {name} {arg}: operand out of range")]
    BadOperand { offset: u32, name: &'static str, arg: u32 },
    #[error("offset {offset}: jump to {target}, which is no instruction")]
    BadTarget { offset: u32, target: i64 },
    #[error("offset {offset}: {name} where the compiler never puts it")]
    BadShape { offset: u32, name: &'static str },
    #[error("the exception table ends inside an entry or names no instruction")]
    BadExceptionTable,
    #[error("the line table ends inside an entry or is out of range")]
    BadLineTable,
    #[error("more than 2^30 bytes of code")]
    TooLong,
}

/// The code asks for something the version cannot express. `at` is an index into `Code::instrs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation")]
pub enum EncodeError {
    #[error("instruction {at}: {op:?} does not exist in CPython {version}")]
    Unsupported { at: usize, op: Op, version: Version },
    #[error("instruction {at}: {op:?}: operand out of range")]
    BadOperand { at: usize, op: Op },
    #[error("instruction {at}: {op:?} cannot jump backward")]
    Backward { at: usize, op: Op },
    #[error("instruction {at}: CallKw needs a LoadConst right before it and no jump between")]
    KwNames { at: usize },
    #[error("label {0:?} is not bound to an instruction")]
    Label(Label),
    #[error("region {0} is empty, reversed, out of range or deeper than any frame")]
    Region(usize),
    #[error("instruction {at}: {op:?} pops more than is on the stack")]
    StackUnderflow { at: usize, op: Op },
    #[error("instruction {at}: the stack is deeper than any frame's")]
    TooDeep { at: usize },
    #[error("instruction {at} can be reached with {a} and with {b} slots on the stack")]
    StackMismatch { at: usize, a: u32, b: u32 },
    #[error(
        "instruction {at}: its location ends before it starts, is beyond 2^31 - 2, or (up to 3.10) is more than 2^24 lines from the one before"
    )]
    Location { at: usize },
    #[error("the last instruction falls off the end")]
    FallsOffEnd,
}
