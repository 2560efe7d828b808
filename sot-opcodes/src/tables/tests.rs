//! The tables are sound, and the operand tables that are written by hand agree with the interpreters'.

use super::raw::Raw;
use super::{Row, Table, v38, v39, v310, v311, v312, v313};
use crate::{CompareOp, Version, operands};

type Words = &'static [&'static str];

struct Operands {
    version: Version,
    rows: &'static [Row],
    compare: Words,
    binary: Words,
    intrinsic_1: Words,
    intrinsic_2: Words,
}

macro_rules! operands {
    ($($version:ident $module:ident),+) => {
        [$(Operands {
            version: Version::$version,
            rows: $module::ROWS,
            compare: $module::COMPARE,
            binary: $module::BINARY,
            intrinsic_1: $module::INTRINSIC1,
            intrinsic_2: $module::INTRINSIC2,
        }),+]
    };
}

const ALL: [Operands; 6] = operands!(V38 v38, V39 v39, V310 v310, V311 v311, V312 v312, V313 v313);

#[test]
fn numbers_are_unique_and_forms_have_an_own_number() {
    for o in &ALL {
        let table = Table::of(o.version);
        for row in o.rows {
            assert_eq!(table.read(row.number), Some((row.raw, row.caches)), "{} {}", o.version, row.number);
            let (own, caches) = table.write(row.raw).expect("an own number");
            assert_eq!(table.read(own), Some((row.raw, caches)), "{} {}", o.version, row.raw.name());
        }
        assert_eq!(table.read(255), None, "{}", o.version);
        assert!(table.write(Raw::ExtendedArg).is_some(), "{}", o.version);
    }
}

/// `NB_INPLACE_ADD` and the like as `Add`.
fn camel(word: &str, prefix: &str) -> String {
    let words = word.trim_start_matches(prefix).split('_');
    words.map(|w| w[..1].to_owned() + &w[1..].to_lowercase()).collect()
}

#[test]
fn operators_are_in_the_interpreters_order() {
    for o in &ALL {
        let signs = ["<", "<=", "==", "!=", ">", ">="];
        assert_eq!(o.compare[..6], signs, "{}", o.version);
        assert_eq!(CompareOp::ALL.map(|c| c as usize), [0, 1, 2, 3, 4, 5]);
        for (arg, name) in o.binary.iter().enumerate() {
            let (op, inplace) = operands::binary(arg as u32).expect("known");
            assert_eq!(inplace, name.contains("INPLACE"), "{name}");
            assert_eq!(format!("{op:?}"), camel(&name.replace("INPLACE_", ""), "NB_"), "{name}");
            assert_eq!(operands::binary_arg(op, inplace), arg as u32);
        }
        assert_eq!(o.binary.is_empty(), o.version < Version::V311);
    }
}

#[test]
fn intrinsics_have_the_interpreters_numbers() {
    // Those that are an `Op` of their own, and number 0.
    let other = ["INVALID", "ASYNC_GEN_WRAP", "UNARY_POSITIVE", "LIST_TO_TUPLE", "PREP_RERAISE_STAR"];
    for o in &ALL {
        for (names, find) in
            [(o.intrinsic_1, operands::intrinsic_1 as fn(u32) -> _), (o.intrinsic_2, operands::intrinsic_2)]
        {
            for (arg, name) in names.iter().enumerate() {
                match find(arg as u32) {
                    Some(intrinsic) => {
                        let (name, debug) = (camel(name, "INTRINSIC_").to_lowercase(), format!("{intrinsic:?}"));
                        assert_eq!(name, debug.to_lowercase());
                        assert_eq!(operands::intrinsic_arg(intrinsic).0, arg as u32);
                    }
                    None => assert!(other.iter().any(|word| name.ends_with(word)), "{name}"),
                }
            }
        }
    }
}
