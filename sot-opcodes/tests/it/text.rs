//! The text form: stable to read, and read back.

use crate::corpus;
use sot_opcodes::{Label, Op, Version, decode, encode, text};

#[test]
fn parse_reads_what_print_wrote() {
    for raw in corpus::all() {
        let code = decode(&raw).expect("corpus");
        let printed = text::print(&code, None);
        let parsed = text::parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
        assert_eq!(text::print(&parsed, None), printed);
        let ops = |code: &sot_opcodes::Code| -> Vec<(Op, Option<usize>)> {
            let target = |op: &Op| op.target().map(|l| code.target(l));
            code.instrs.iter().map(|i| (i.op.with_target(Label(0)), target(&i.op))).collect()
        };
        assert_eq!(ops(&parsed), ops(&code));
        let regions = |code: &sot_opcodes::Code| -> Vec<(usize, usize, usize, u32, bool)> {
            code.regions.iter().map(|r| (r.start, r.end, code.target(r.handler), r.depth, r.lasti)).collect()
        };
        assert_eq!(regions(&parsed), regions(&code));
        assert_eq!(encode(&parsed).expect("consistent").stacksize, encode(&code).expect("corpus").stacksize);
    }
}

#[test]
fn constants_are_a_remark() {
    let code = decode(&corpus::function(Version::V311, "loops")).expect("corpus");
    let consts: Vec<String> = (0..99).map(|i| format!("'({i})\n\"'")).collect();
    let printed = text::print(&code, Some(&consts));
    let parsed = text::parse(&printed).expect("remarks are skipped");
    assert_eq!(text::print(&parsed, Some(&consts)), printed);
}

#[test]
fn mistakes_are_told_with_their_line() {
    let error = |body: &str| text::parse(body).expect_err("a mistake").to_string();
    assert_eq!(error("code \"f\" file \"f\" line 1 python 3.11\n 1 LOAD_FASTER 1"), "line 2: 1 is no label");
    assert_eq!(error("NOP\n1 JUMP L1"), "line 2: label L1 is nowhere");
    assert_eq!(error("varnames a\n\n LOAD_FAST b"), "line 3: b is not declared");
}

#[test]
fn loops_in_each_version() {
    for version in Version::ALL {
        let code = decode(&corpus::function(version, "loops")).expect("corpus");
        insta::assert_snapshot!(format!("loops_{}", version.minor()), text::diffable(&code, None));
    }
}

#[test]
fn calls_in_each_version() {
    for version in Version::ALL {
        let code = decode(&corpus::function(version, "calls")).expect("corpus");
        insta::assert_snapshot!(format!("calls_{}", version.minor()), text::diffable(&code, None));
    }
}

#[test]
fn handlers_in_each_kind_of_version() {
    for version in [Version::V38, Version::V310, Version::V311, Version::V313] {
        let code = decode(&corpus::function(version, "handlers")).expect("corpus");
        insta::assert_snapshot!(format!("handlers_{}", version.minor()), text::diffable(&code, None));
    }
}

#[test]
fn coroutine_in_each_kind_of_version() {
    for version in [Version::V310, Version::V311, Version::V312] {
        let code = decode(&corpus::function(version, "coroutine")).expect("corpus");
        insta::assert_snapshot!(format!("coroutine_{}", version.minor()), text::diffable(&code, None));
    }
}
