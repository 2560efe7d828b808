//! From normalised code to bytes.
//!
//! 1. `lower`: `Op`s to raw instructions of the version; neighbours that came from one are joined again.
//! 2. `layout`: offsets and jump operands to a fixed point, EXTENDED_ARG, caches.
//! 3. Line table, exception table, and the exact stack size from the flow analysis.

mod layout;
mod lower;
mod single;

use crate::analysis;
use crate::{Code, EncodeError, RawCode, Version, linetable};

/// Assembles a code object.
///
/// # Errors
/// When the version cannot express the code, or the code is not consistent (stack, labels, regions).
pub fn encode(code: &Code) -> Result<RawCode, EncodeError> {
    if let Some(at) = code.instrs.iter().position(|instr| !instr.loc.is_sound()) {
        return Err(EncodeError::Location { at });
    }
    let regions = analysis::region_index(code)?;
    let depths = analysis::walk_depths(code, &regions)?;
    let lowered = lower::lower(code, &regions)?;
    let laid = layout::layout(code, &lowered)?;
    let exceptiontable = if code.version < Version::V311 {
        Vec::new()
    } else {
        layout::exception_table(code, &regions, &lowered, &laid)?
    };
    let sizes = laid.sizes(lowered.emits.len());
    let locs = lowered.emits.iter().map(|emit| code.instrs[emit.source as usize].loc);
    let linetable = linetable::write(code.version, code.firstlineno, sizes.zip(locs));
    Ok(RawCode {
        version: code.version,
        argcount: code.argcount,
        posonlyargcount: code.posonlyargcount,
        kwonlyargcount: code.kwonlyargcount,
        stacksize: depths.max.max(1),
        flags: code.flags,
        code: laid.bytes,
        names: code.names.clone(),
        varnames: code.varnames.clone(),
        cellvars: code.cellvars.clone(),
        freevars: code.freevars.clone(),
        filename: code.filename.clone(),
        name: code.name.clone(),
        qualname: code.qualname.clone(),
        firstlineno: code.firstlineno,
        linetable,
        exceptiontable,
    })
}
