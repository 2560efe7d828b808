//! Line tables of all formats, both ways.
//!
//! Reading gives spans (a location and the byte offset where it ends); writing takes the size in bytes and the
//! location of each raw instruction.

mod lnotab;
mod v310;
mod v311;

use crate::{DecodeError, Location, RawCode, Version};

/// A location that holds up to (not including) the byte offset `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) end: u32,
    pub(crate) loc: Location,
}

/// The spans of a code object, in order of their ends. What no span covers has no location.
pub(crate) fn read(raw: &RawCode) -> Result<Vec<Span>, DecodeError> {
    let table = raw.linetable.as_slice();
    match raw.version {
        Version::V38 | Version::V39 => lnotab::read(table, raw.firstlineno, raw.code.len() as u32),
        Version::V310 => v310::read(table, raw.firstlineno),
        Version::V311 | Version::V312 | Version::V313 => v311::read(table, raw.firstlineno),
    }
}

/// The table of a version for consecutive instructions of `(bytes, location)`.
pub(crate) fn write<'a>(
    version: Version,
    firstlineno: u32,
    instrs: impl Iterator<Item = (u32, &'a Location)>,
) -> Vec<u8> {
    match version {
        Version::V38 | Version::V39 => lnotab::write(firstlineno, instrs),
        Version::V310 => v310::write(firstlineno, instrs),
        Version::V311 => v311::write(firstlineno, instrs, false),
        Version::V312 | Version::V313 => v311::write(firstlineno, instrs, true),
    }
}

/// A line plus a delta, if it is a line: CPython counts them in an `int`.
fn shift(line: i64) -> Option<u32> {
    i32::try_from(line).ok().and_then(|line| u32::try_from(line).ok())
}

#[cfg(test)]
mod tests;
