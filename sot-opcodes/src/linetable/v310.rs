//! `co_linetable` of 3.10: pairs (bytes: u8, lines: i8), each a range; -128 lines is a range without a line.

use super::{Span, shift};
use crate::{DecodeError, Location};

const NO_LINE: i8 = -128;

pub(super) fn read(table: &[u8], firstlineno: u32) -> Result<Vec<Span>, DecodeError> {
    let mut spans = Vec::with_capacity(table.len() / 2);
    let (mut end, mut line) = (0u32, i64::from(firstlineno));
    for pair in table.chunks_exact(2) {
        let delta = pair[1] as i8;
        let mut loc = Location::default();
        if delta != NO_LINE {
            line += i64::from(delta);
            loc = Location::of_line(shift(line).ok_or(DecodeError::BadLineTable)?);
        }
        end = end.saturating_add(u32::from(pair[0]));
        spans.push(Span { end, loc });
    }
    Ok(spans)
}

pub(super) fn write<'a>(firstlineno: u32, instrs: impl Iterator<Item = (u32, &'a Location)>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut base = i64::from(firstlineno);
    let mut range: Option<(u32, Option<u32>)> = None;
    for (size, loc) in instrs {
        match &mut range {
            Some((bytes, line)) if *line == loc.line => *bytes += size,
            _ => {
                if let Some(done) = range.replace((size, loc.line)) {
                    write_range(&mut out, &mut base, done);
                }
            }
        }
    }
    if let Some(done) = range {
        write_range(&mut out, &mut base, done);
    }
    out
}

fn write_range(out: &mut Vec<u8>, base: &mut i64, (mut bytes, line): (u32, Option<u32>)) {
    if bytes == 0 {
        return;
    }
    let mut delta = i64::from(NO_LINE);
    if let Some(line) = line {
        delta = i64::from(line) - *base;
        *base = i64::from(line);
        while !(-127..=127).contains(&delta) {
            let step = if delta < 0 { -127 } else { 127 };
            out.extend([0, step as i8 as u8]);
            delta -= step;
        }
    }
    while bytes > 254 {
        out.extend([254, delta as i8 as u8]);
        delta = if line.is_some() { 0 } else { i64::from(NO_LINE) };
        bytes -= 254;
    }
    out.extend([bytes as u8, delta as i8 as u8]);
}
