//! `co_linetable` of 3.11+: entries of a code, a length in units of up to 8, a line delta and columns.
//!
//! Codes 0-9 are a short form (same line, near columns), 10-12 one line with columns below 128, 13 a line without
//! columns, 14 the long form, 15 no location. 3.11 writes one entry per instruction, 3.12+ joins equal locations.

use super::{Span, shift};
use crate::{DecodeError, Location};

struct Reader<'a> {
    bytes: std::slice::Iter<'a, u8>,
}

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8, DecodeError> {
        self.bytes.next().copied().ok_or(DecodeError::BadLineTable)
    }

    fn varint(&mut self) -> Result<u32, DecodeError> {
        let mut value = 0u64;
        let mut at = 0;
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 63) << at;
            at += 6;
            if byte & 64 == 0 {
                return u32::try_from(value).map_err(|_| DecodeError::BadLineTable);
            }
            if at > 30 {
                return Err(DecodeError::BadLineTable);
            }
        }
    }

    fn svarint(&mut self) -> Result<i64, DecodeError> {
        let value = self.varint()?;
        let size = i64::from(value >> 1);
        Ok(if value & 1 == 1 { -size } else { size })
    }
}

pub(super) fn read(table: &[u8], firstlineno: u32) -> Result<Vec<Span>, DecodeError> {
    let mut spans = Vec::with_capacity(table.len() / 2);
    let mut reader = Reader { bytes: table.iter() };
    let (mut end, mut line) = (0u32, i64::from(firstlineno));
    while let Some(&first) = reader.bytes.next() {
        let code = (first >> 3) & 15;
        end = end.saturating_add((u32::from(first & 7) + 1) * 2);
        let mut loc = Location::default();
        if code < 15 {
            let mut lines = 0;
            match code {
                0..=9 => {
                    let second = reader.byte()?;
                    let col = u32::from(code) * 8 + u32::from(second >> 4 & 7);
                    (loc.col, loc.end_col) = (Some(col), Some(col + u32::from(second & 15)));
                }
                10..=12 => {
                    line += i64::from(code) - 10;
                    (loc.col, loc.end_col) = (Some(u32::from(reader.byte()?)), Some(u32::from(reader.byte()?)));
                }
                13 => line += reader.svarint()?,
                _ => {
                    line += reader.svarint()?;
                    lines = reader.varint()?;
                    loc.col = reader.varint()?.checked_sub(1);
                    loc.end_col = reader.varint()?.checked_sub(1);
                }
            }
            let start = shift(line).ok_or(DecodeError::BadLineTable)?;
            loc.line = Some(start);
            loc.end_line = Some(shift(line + i64::from(lines)).ok_or(DecodeError::BadLineTable)?);
        }
        spans.push(Span { end, loc });
    }
    Ok(spans)
}

pub(super) fn write<'a>(
    firstlineno: u32,
    mut instrs: impl Iterator<Item = (u32, &'a Location)>,
    join: bool,
) -> Vec<u8> {
    // Most entries are two bytes.
    let mut writer = Writer { out: Vec::with_capacity(2 * instrs.size_hint().0), line: firstlineno };
    let Some((mut bytes, mut loc)) = instrs.next() else { return writer.out };
    for (more, next) in instrs {
        if join && next == loc {
            bytes += more;
        } else {
            writer.range(bytes / 2, loc);
            (bytes, loc) = (more, next);
        }
    }
    writer.range(bytes / 2, loc);
    writer.out
}

struct Writer {
    out: Vec<u8>,
    line: u32,
}

impl Writer {
    fn range(&mut self, mut units: u32, loc: &Location) {
        while units > 8 {
            self.entry(8, loc);
            units -= 8;
        }
        if units > 0 {
            self.entry(units, loc);
        }
    }

    fn first(&mut self, code: u8, units: u32) {
        self.out.push(128 | code << 3 | (units - 1) as u8);
    }

    fn entry(&mut self, units: u32, loc: &Location) {
        let Some(line) = loc.line else {
            return self.first(15, units);
        };
        let delta = i64::from(line) - i64::from(self.line);
        self.line = line;
        let end_line = loc.end_line.unwrap_or(line);
        match (loc.col, loc.end_col) {
            (Some(col), Some(end)) if end_line == line => {
                if delta == 0 && col < 80 && end >= col && end - col < 16 {
                    self.first((col / 8) as u8, units);
                    self.out.push(((col % 8) << 4 | (end - col)) as u8);
                    return;
                }
                if (0..3).contains(&delta) && col < 128 && end < 128 {
                    self.first(10 + delta as u8, units);
                    self.out.extend([col as u8, end as u8]);
                    return;
                }
            }
            (None, None) if end_line == line => {
                self.first(13, units);
                return self.svarint(delta);
            }
            _ => {}
        }
        self.first(14, units);
        self.svarint(delta);
        self.varint(end_line.saturating_sub(line));
        self.varint(loc.col.map_or(0, |c| c.saturating_add(1)));
        self.varint(loc.end_col.map_or(0, |c| c.saturating_add(1)));
    }

    fn varint(&mut self, mut value: u32) {
        while value >= 64 {
            self.out.push(64 | (value & 63) as u8);
            value >>= 6;
        }
        self.out.push(value as u8);
    }

    fn svarint(&mut self, value: i64) {
        let size = (value.unsigned_abs() as u32) << 1;
        self.varint(if value < 0 { size | 1 } else { size });
    }
}
