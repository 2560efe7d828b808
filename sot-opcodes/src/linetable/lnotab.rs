//! `co_lnotab` of 3.8 and 3.9: pairs (bytes forward: u8, lines forward: i8), lines only.
//!
//! A code object always has a line; an instruction without one keeps that of its predecessor.

use super::{Span, shift};
use crate::{DecodeError, Location};

pub(super) fn read(table: &[u8], firstlineno: u32, size: u32) -> Result<Vec<Span>, DecodeError> {
    let mut spans = Vec::with_capacity(table.len() / 2 + 1);
    let (mut at, mut line) = (0u32, i64::from(firstlineno));
    let loc = |line: i64| shift(line).map(Location::of_line).ok_or(DecodeError::BadLineTable);
    for pair in table.chunks_exact(2) {
        if pair[0] > 0 {
            at = at.saturating_add(u32::from(pair[0]));
            spans.push(Span { end: at, loc: loc(line)? });
        }
        line += i64::from(pair[1] as i8);
    }
    if at < size {
        spans.push(Span { end: size, loc: loc(line)? });
    }
    Ok(spans)
}

pub(super) fn write<'a>(firstlineno: u32, instrs: impl Iterator<Item = (u32, &'a Location)>) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut at, mut line) = (0u32, i64::from(firstlineno));
    let mut written = 0u32;
    for (size, loc) in instrs {
        if let Some(new) = loc.line.map(i64::from)
            && new != line
        {
            let mut bytes = at - written;
            let mut lines = new - line;
            while bytes > 255 {
                out.extend([255, 0]);
                bytes -= 255;
            }
            while !(-128..=127).contains(&lines) {
                let step = if lines < 0 { -128 } else { 127 };
                out.extend([bytes as u8, step as i8 as u8]);
                bytes = 0;
                lines -= step;
            }
            out.extend([bytes as u8, lines as i8 as u8]);
            written = at;
            line = new;
        }
        at += size;
    }
    out
}
