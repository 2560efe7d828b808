//! A code object as CPython gives it: the `co_*` attributes, constants left out.

use crate::{CodeFlags, Version};

/// Attributes of a code object. `decode` reads them, `encode` makes them; constants stay with the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawCode {
    /// Which interpreter it is for.
    pub version: Version,
    /// `co_argcount`: positional parameters, positional-only ones included.
    pub argcount: u32,
    /// `co_posonlyargcount`
    pub posonlyargcount: u32,
    /// `co_kwonlyargcount`
    pub kwonlyargcount: u32,
    /// `co_stacksize`, in slots.
    pub stacksize: u32,
    /// `co_flags`
    pub flags: CodeFlags,
    /// `co_code` or `_co_code_adaptive`.
    pub code: Vec<u8>,
    /// `co_names`
    pub names: Vec<String>,
    /// `co_varnames`
    pub varnames: Vec<String>,
    /// `co_cellvars`
    pub cellvars: Vec<String>,
    /// `co_freevars`
    pub freevars: Vec<String>,
    /// `co_filename`
    pub filename: String,
    /// `co_name`
    pub name: String,
    /// `co_qualname`, from 3.11; empty before.
    pub qualname: String,
    /// `co_firstlineno`
    pub firstlineno: u32,
    /// `co_lnotab` up to 3.9, `co_linetable` from 3.10.
    pub linetable: Vec<u8>,
    /// `co_exceptiontable`, from 3.11; empty before.
    pub exceptiontable: Vec<u8>,
}

impl RawCode {
    /// A copy without the bytes and the tables.
    pub(crate) fn without_content(&self) -> Self {
        Self {
            version: self.version,
            argcount: self.argcount,
            posonlyargcount: self.posonlyargcount,
            kwonlyargcount: self.kwonlyargcount,
            stacksize: self.stacksize,
            flags: self.flags,
            code: Vec::new(),
            names: self.names.clone(),
            varnames: self.varnames.clone(),
            cellvars: self.cellvars.clone(),
            freevars: self.freevars.clone(),
            filename: self.filename.clone(),
            name: self.name.clone(),
            qualname: self.qualname.clone(),
            firstlineno: self.firstlineno,
            linetable: Vec::new(),
            exceptiontable: Vec::new(),
        }
    }
}
