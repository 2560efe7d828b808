//! `co_exceptiontable` (3.11+): entries of start, size, handler (in units), depth and the lasti flag.
//!
//! Numbers are big-endian groups of 6 bits; the first byte of an entry has bit 7 set.

use crate::DecodeError;

/// One entry; offsets in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) handler: u32,
    pub(crate) depth: u32,
    pub(crate) lasti: bool,
}

pub(crate) fn read(table: &[u8]) -> Result<Vec<Entry>, DecodeError> {
    let mut entries = Vec::new();
    let mut bytes = table.iter();
    let mut number = || -> Result<Option<u32>, DecodeError> {
        let Some(mut byte) = bytes.next().copied() else { return Ok(None) };
        let mut value = u32::from(byte & 63);
        while byte & 64 != 0 {
            byte = bytes.next().copied().ok_or(DecodeError::BadExceptionTable)?;
            if value >> 26 != 0 {
                return Err(DecodeError::BadExceptionTable);
            }
            value = value << 6 | u32::from(byte & 63);
        }
        Ok(Some(value))
    };
    while let Some(start) = number()? {
        let mut next = || number()?.ok_or(DecodeError::BadExceptionTable);
        let (size, handler, depth_lasti) = (next()?, next()?, next()?);
        let bytes = |units: u32| units.checked_mul(2).ok_or(DecodeError::BadExceptionTable);
        entries.push(Entry {
            start: bytes(start)?,
            end: bytes(start.checked_add(size).ok_or(DecodeError::BadExceptionTable)?)?,
            handler: bytes(handler)?,
            depth: depth_lasti >> 1,
            lasti: depth_lasti & 1 == 1,
        });
    }
    Ok(entries)
}

pub(crate) fn write(entries: &[Entry]) -> Vec<u8> {
    let mut out = Vec::with_capacity(entries.len() * 4);
    for entry in entries {
        number(&mut out, entry.start / 2, 128);
        number(&mut out, (entry.end - entry.start) / 2, 0);
        number(&mut out, entry.handler / 2, 0);
        number(&mut out, entry.depth << 1 | u32::from(entry.lasti), 0);
    }
    out
}

fn number(out: &mut Vec<u8>, value: u32, mut first: u8) {
    for shift in [30, 24, 18, 12, 6] {
        if value >> shift != 0 {
            out.push(first | 64 | (value >> shift & 63) as u8);
            first = 0;
        }
    }
    out.push(first | (value & 63) as u8);
}

#[cfg(test)]
mod tests {
    use super::{Entry, read, write};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_survive(entries in prop::collection::vec((0..1u32 << 26, 1..1u32 << 20, 0..1u32 << 26, 0..1u32 << 20, any::<bool>()), 0..8)) {
            let entries: Vec<Entry> = entries
                .into_iter()
                .map(|(start, size, handler, depth, lasti)| Entry {
                    start: start * 2,
                    end: (start + size) * 2,
                    handler: handler * 2,
                    depth,
                    lasti,
                })
                .collect();
            prop_assert_eq!(read(&write(&entries)), Ok(entries));
        }
    }
}
