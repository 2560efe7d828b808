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
use crate::{Code, DecodeError, Instr, Label, RawCode, Region, Version, analysis, linetable};
use targets::Targets;
use units::{Unit, Units};

/// Decodes a code object. [`RawCode::into_code`] does the same without copying the names.
///
/// # Errors
/// When the bytes are not what a compiler of that version could have made.
pub fn decode(raw: &RawCode) -> Result<Code, DecodeError> {
    let content = content(raw)?;
    Ok(content.with_attributes(raw.without_content()))
}

impl RawCode {
    /// Decodes the code object.
    ///
    /// # Errors
    /// As [`decode`].
    pub fn into_code(self) -> Result<Code, DecodeError> {
        let content = content(&self)?;
        Ok(content.with_attributes(self))
    }
}

/// What the bytes and tables say.
struct Content {
    instrs: Vec<Instr>,
    labels: Vec<usize>,
    regions: Vec<Region>,
}

impl Content {
    fn with_attributes(self, raw: RawCode) -> Code {
        let mut code = Code {
            version: raw.version,
            argcount: raw.argcount,
            posonlyargcount: raw.posonlyargcount,
            kwonlyargcount: raw.kwonlyargcount,
            flags: raw.flags,
            names: raw.names,
            varnames: raw.varnames,
            cellvars: raw.cellvars,
            freevars: raw.freevars,
            filename: raw.filename,
            name: raw.name,
            qualname: raw.qualname,
            firstlineno: raw.firstlineno,
            instrs: self.instrs,
            labels: self.labels,
            regions: self.regions,
            stacksize: raw.stacksize,
        };
        if code.version < Version::V311 {
            code.regions = analysis::block_regions(&code);
        }
        code
    }
}

fn content(raw: &RawCode) -> Result<Content, DecodeError> {
    if raw.code.len() > 1 << 30 {
        return Err(DecodeError::TooLong);
    }
    let units = Units::read(raw)?;
    let table = exctable::read(&raw.exceptiontable)?;
    let targets = Targets::find(raw, &units, &table)?;
    let slots = Slots::new(raw.version, &raw.varnames, &raw.cellvars, raw.freevars.len());
    let spans = linetable::read(raw)?;
    let body = translate::translate(raw, &units, &targets, &slots, &spans)?;
    let mut regions = Vec::with_capacity(table.len());
    for entry in &table {
        let bad = DecodeError::BadExceptionTable;
        let start = body.first[units.at_or_end(entry.start).ok_or(bad)?];
        let end = body.first[units.at_or_end(entry.end).ok_or(bad)?];
        let handler = targets.label_at(&units, entry.handler).ok_or(bad)?;
        // An entry may cover nothing but an instruction that was dropped.
        if start < end {
            regions.push(Region { start, end, handler, depth: entry.depth, lasti: entry.lasti });
        }
    }
    Ok(Content { instrs: body.instrs, labels: body.labels, regions })
}
