//! From normalised code to bytes.
//!
//! 1. `lower`: `Op`s to raw instructions of the version; neighbours that came from one are joined again.
//! 2. `layout`: offsets and jump operands to a fixed point, EXTENDED_ARG, caches.
//! 3. Line table, exception table, and the exact stack size from the flow analysis.

mod layout;
mod lower;
mod lowerer;
mod single;

use crate::analysis;
use crate::{Code, EncodeError, RawCode, Version, linetable};

/// Assembles a code object. [`Code::into_raw`] does the same without copying the names.
///
/// # Errors
/// When the version cannot express the code, or the code is not consistent (stack, labels, regions).
pub fn encode(code: &Code) -> Result<RawCode, EncodeError> {
    let content = content(code)?;
    Ok(content.with_attributes(code.without_content()))
}

impl Code {
    /// Assembles the code object.
    ///
    /// # Errors
    /// As [`encode`].
    pub fn into_raw(self) -> Result<RawCode, EncodeError> {
        let content = content(&self)?;
        Ok(content.with_attributes(self))
    }
}

/// The bytes and tables, and the stack size.
struct Content {
    code: Vec<u8>,
    linetable: Vec<u8>,
    exceptiontable: Vec<u8>,
    stacksize: u32,
}

impl Content {
    fn with_attributes(self, code: Code) -> RawCode {
        RawCode {
            version: code.version,
            argcount: code.argcount,
            posonlyargcount: code.posonlyargcount,
            kwonlyargcount: code.kwonlyargcount,
            stacksize: self.stacksize,
            flags: code.flags,
            code: self.code,
            names: code.names,
            varnames: code.varnames,
            cellvars: code.cellvars,
            freevars: code.freevars,
            filename: code.filename,
            name: code.name,
            qualname: code.qualname,
            firstlineno: code.firstlineno,
            linetable: self.linetable,
            exceptiontable: self.exceptiontable,
        }
    }
}

/// Up to 3.10 a step from line to line takes a pair of bytes per 127 lines: this many would take a quarter of a megabyte.
const LONGEST_STEP: u32 = 1 << 24;

/// The line table can say all locations, in reasonable space.
fn check_locations(code: &Code) -> Result<(), EncodeError> {
    let steps = code.version < Version::V311;
    let mut line = code.firstlineno;
    for (at, instr) in code.instrs.iter().enumerate() {
        if !instr.loc.is_sound() {
            return Err(EncodeError::Location { at });
        }
        if steps && let Some(new) = instr.loc.line {
            if new.abs_diff(line) > LONGEST_STEP {
                return Err(EncodeError::Location { at });
            }
            line = new;
        }
    }
    Ok(())
}

fn content(code: &Code) -> Result<Content, EncodeError> {
    check_locations(code)?;
    let regions = analysis::sound_regions(code)?;
    let depth = analysis::max_depth(code, &regions)?;
    let mut lowered = lower::lower(code, &regions)?;
    let laid = layout::layout(code, &mut lowered)?;
    let exceptiontable = if code.version < Version::V311 {
        Vec::new()
    } else {
        layout::exception_table(code, &regions, &lowered, &laid)?
    };
    let sizes = laid.sizes(lowered.emits.len());
    let locs = lowered.emits.iter().map(|emit| &code.instrs[emit.source as usize].loc);
    let linetable = linetable::write(code.version, code.firstlineno, sizes.zip(locs));
    Ok(Content { code: laid.bytes, linetable, exceptiontable, stacksize: depth.max(1) })
}
