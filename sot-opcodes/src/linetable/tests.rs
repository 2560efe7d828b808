//! Every line table format reads back what it wrote.

use super::{read, write};
use crate::{CodeFlags, Location, RawCode, Version};
use proptest::prelude::*;

fn raw(version: Version, size: u32, linetable: Vec<u8>) -> RawCode {
    RawCode {
        version,
        argcount: 0,
        posonlyargcount: 0,
        kwonlyargcount: 0,
        stacksize: 0,
        flags: CodeFlags::empty(),
        code: vec![0; size as usize],
        names: Vec::new(),
        varnames: Vec::new(),
        cellvars: Vec::new(),
        freevars: Vec::new(),
        filename: String::new(),
        name: String::new(),
        qualname: String::new(),
        firstlineno: 1000,
        linetable,
        exceptiontable: Vec::new(),
    }
}

fn line() -> impl Strategy<Value = u32> {
    prop_oneof![990..1010u32, 860..1140u32, 1..4000u32, 1..4_000_000u32]
}

/// Locations as the compilers make them: an end not before the start, columns together or not at all.
fn location() -> impl Strategy<Value = Location> {
    let column = || prop_oneof![0..90u32, 70..140u32, 0..100_000u32];
    let columns = (column(), prop_oneof![0..20u32, 0..200u32], prop_oneof![4 => Just(0u32), 1 => 1..300u32]);
    prop_oneof![
        1 => Just(Location::default()),
        2 => line().prop_map(Location::of_line),
        6 => (line(), columns).prop_map(|(line, (col, width, lines))| Location {
            line: Some(line),
            end_line: Some(line + lines),
            col: Some(col),
            end_col: Some(col + width),
        }),
    ]
}

/// The location of each instruction as the table has it.
fn back(raw: &RawCode, sizes: &[u32]) -> Vec<Location> {
    let spans = read(raw).expect("was just written");
    let mut at = 0;
    let of = |size: &u32| {
        let start = at;
        at += size;
        spans.iter().find(|span| span.end > start).map_or_else(Location::default, |span| span.loc)
    };
    sizes.iter().map(of).collect()
}

proptest! {
    #[test]
    fn locations_survive(instrs in prop::collection::vec((prop_oneof![1..4u32, 1..200u32], location()), 1..20)) {
        let sizes: Vec<u32> = instrs.iter().map(|(units, _)| units * 2).collect();
        let total = sizes.iter().sum();
        for version in Version::ALL {
            let table = write(version, 1000, instrs.iter().map(|(units, loc)| (units * 2, loc)));
            let found = back(&raw(version, total, table), &sizes);
            // 3.8 and 3.9 have a line everywhere, none before 3.11 has columns.
            let mut last = Location::of_line(1000);
            for ((_, loc), found) in instrs.iter().zip(found) {
                let expected = match (version, loc.line) {
                    (Version::V38 | Version::V39, None) => last,
                    (Version::V38 | Version::V39 | Version::V310, Some(line)) => Location::of_line(line),
                    _ => *loc,
                };
                last = expected;
                prop_assert_eq!(found, expected, "{}", version);
            }
        }
    }
}
