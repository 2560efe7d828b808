//! The opcode tables of all versions: number <-> `Raw`, and inline cache sizes. The rows are generated.
//!
//! A row is an opcode's `own` number or another `form` of it (specialised, instrumented), read as the
//! opcode itself. Only own numbers are written.

pub(crate) mod raw;
mod v310;
mod v311;
mod v312;
mod v313;
mod v38;
mod v39;

use crate::Version;
use raw::Raw;

/// One opcode number of one version.
struct Row {
    number: u8,
    raw: Raw,
    caches: u8,
    own: bool,
}

impl Row {
    const fn own(number: u8, raw: Raw, caches: u8) -> Self {
        Self { number, raw, caches, own: true }
    }
    const fn form(number: u8, raw: Raw, caches: u8) -> Self {
        Self { number, raw, caches, own: false }
    }
}

/// The opcodes of one version, both ways.
pub(crate) struct Table {
    read: [Option<(Raw, u8)>; 256],
    write: [Option<(u8, u8)>; Raw::COUNT],
}

impl Table {
    const fn new(rows: &[Row]) -> Self {
        let mut table = Self { read: [None; 256], write: [None; Raw::COUNT] };
        let mut i = 0;
        while i < rows.len() {
            let row = &rows[i];
            table.read[row.number as usize] = Some((row.raw, row.caches));
            if row.own {
                table.write[row.raw as usize] = Some((row.number, row.caches));
            }
            i += 1;
        }
        table
    }

    pub(crate) fn of(version: Version) -> &'static Self {
        static TABLES: [Table; 6] = [
            Table::new(v38::ROWS),
            Table::new(v39::ROWS),
            Table::new(v310::ROWS),
            Table::new(v311::ROWS),
            Table::new(v312::ROWS),
            Table::new(v313::ROWS),
        ];
        &TABLES[version as usize]
    }

    /// The opcode and its number of cache units.
    pub(crate) fn read(&self, number: u8) -> Option<(Raw, u8)> {
        self.read[usize::from(number)]
    }

    /// The opcodes that are none of another's forms, in the order of their numbers.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        let own = |number: usize, raw: Raw| self.write[raw as usize].is_some_and(|(own, _)| usize::from(own) == number);
        let rows = self.read.iter().enumerate().filter_map(|(number, row)| row.map(|(raw, _)| (number, raw)));
        rows.filter(move |(number, raw)| own(*number, *raw)).map(|(_, raw)| raw.name())
    }

    /// The number of the opcode and of its cache units.
    pub(crate) fn write(&self, raw: Raw) -> Option<(u8, u8)> {
        self.write[raw as usize]
    }
}

/// What the opcodes of a version are called, but for specialised and instrumented forms.
pub fn opcodes(version: Version) -> impl Iterator<Item = &'static str> {
    Table::of(version).names()
}

#[cfg(test)]
mod tests;
