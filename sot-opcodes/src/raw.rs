//! A code object as CPython gives it: the `co_*` attributes, constants left out.

use crate::{CodeFlags, Version};

/// Attributes of a code object. `decode` reads them, `encode` makes them; constants stay with the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawCode {
    pub version: Version,
    pub argcount: u32,
    pub posonlyargcount: u32,
    pub kwonlyargcount: u32,
    pub stacksize: u32,
    pub flags: CodeFlags,
    /// `co_code` or `_co_code_adaptive`.
    pub code: Vec<u8>,
    pub names: Vec<String>,
    pub varnames: Vec<String>,
    pub cellvars: Vec<String>,
    pub freevars: Vec<String>,
    pub filename: String,
    pub name: String,
    /// From 3.11; empty before.
    pub qualname: String,
    pub firstlineno: u32,
    /// `co_lnotab` up to 3.9, `co_linetable` from 3.10.
    pub linetable: Vec<u8>,
    /// From 3.11; empty before.
    pub exceptiontable: Vec<u8>,
}
