//! From bytes to normalised code. Never panics: what no compiler of the version makes is a `DecodeError`.
//!
//! 1. `units`: raw instructions, EXTENDED_ARG folded and caches skipped.
//! 2. `targets`: where jumps and handlers go; labels in order of their targets; which END_FORs can be dropped.
//! 3. `translate`: each raw instruction to `Op`s.
//! 4. Regions: from the exception table, or derived from the block stack (up to 3.10).

mod targets;
#[cfg(test)]
mod tests;
mod translate;
mod units;

use crate::exctable;
use crate::slots::Slots;
use crate::{Code, DecodeError, Label, RawCode, Region, Version, analysis, linetable};
use targets::Targets;
use units::{Unit, Units};

/// Decodes a code object.
///
/// # Errors
/// When the bytes are not what a compiler of that version could have made.
pub fn decode(raw: &RawCode) -> Result<Code, DecodeError> {
    if raw.code.len() > 1 << 30 {
        return Err(DecodeError::TooLong);
    }
    let units = Units::read(raw)?;
    let table = exctable::read(&raw.exceptiontable)?;
    let targets = Targets::find(raw, &units, &table)?;
    let slots = Slots::new(raw.version, &raw.varnames, &raw.cellvars, raw.freevars.len());
    let spans = linetable::read(raw)?;
    let body = translate::translate(raw, &units, &targets, &slots, &spans)?;
    let mut code = Code {
        version: raw.version,
        argcount: raw.argcount,
        posonlyargcount: raw.posonlyargcount,
        kwonlyargcount: raw.kwonlyargcount,
        flags: raw.flags,
        names: raw.names.clone(),
        varnames: raw.varnames.clone(),
        cellvars: raw.cellvars.clone(),
        freevars: raw.freevars.clone(),
        filename: raw.filename.clone(),
        name: raw.name.clone(),
        qualname: raw.qualname.clone(),
        firstlineno: raw.firstlineno,
        instrs: body.instrs,
        labels: body.labels,
        regions: Vec::new(),
        stacksize: raw.stacksize,
    };
    if raw.version < Version::V311 {
        code.regions = analysis::block_regions(&code);
    } else {
        code.regions = table
            .iter()
            .map(|entry| {
                Ok(Region {
                    start: body.first[units.at_or_end(entry.start).ok_or(DecodeError::BadExceptionTable)?],
                    end: body.first[units.at_or_end(entry.end).ok_or(DecodeError::BadExceptionTable)?],
                    handler: targets.label_at(&units, entry.handler).ok_or(DecodeError::BadExceptionTable)?,
                    depth: entry.depth,
                    lasti: entry.lasti,
                })
            })
            // An entry that covered nothing but a dropped instruction.
            .filter(|region: &Result<Region, DecodeError>| region.as_ref().map_or(true, |r| r.start < r.end))
            .collect::<Result<_, _>>()?;
    }
    Ok(code)
}
