//! Liveness, blocks, reachability, layouts and uses of frame objects on small programs written as text.

use crate::corpus;
use sot_opcodes::analysis::{FrameUse, Slot, basic_blocks, frame_uses, liveness, reachable, stack_layouts};
use sot_opcodes::{Cell, Code, Local, Op, Version, decode, text};

fn code(body: &str) -> Code {
    let header = "code \"f\" file \"f.py\" line 1 python 3.11\nnames n\nvarnames a b c\ncellvars a\nfreevars z\n";
    text::parse(&format!("{header}{body}")).expect("test program")
}

fn live(code: &Code, at: usize) -> Vec<&str> {
    let live = liveness(code);
    let set = live.live_before(at);
    let locals = set.locals().map(|l| code.varnames[l.0 as usize].as_str());
    let cells = set.cells().map(|c| if c.0 == 0 { "cell a" } else { "cell z" });
    locals.chain(cells).collect()
}

#[test]
fn a_write_ends_liveness_and_a_loop_carries_it() {
    let code = code(
        "L0: LOAD_FAST b\nPOP_JUMP_IF_FALSE L1\nLOAD_CONST 0\nSTORE_FAST b\nLOAD_FAST c\nPOP_TOP\nJUMP L0\n\
         L1: LOAD_CONST 0\nRETURN_VALUE\n",
    );
    assert_eq!(live(&code, 0), ["b", "c"]);
    assert_eq!(live(&code, 2), ["c"]);
    assert_eq!(live(&code, 4), ["b", "c"]);
    assert!(live(&code, 7).is_empty());
    assert!(live(&code, 99).is_empty());
}

#[test]
fn what_a_handler_reads_is_live_in_its_region() {
    let code = code(
        "L0: LOAD_CONST 0\nSTORE_FAST b\nL1: LOAD_CONST 0\nRETURN_VALUE\nL2: POP_TOP\nLOAD_FAST b\nRETURN_VALUE\n\
         region L0..L1 -> L2 depth 0\n",
    );
    assert_eq!(live(&code, 1), ["b"]);
    assert!(live(&code, 2).is_empty());
    assert!(!reachable(&code)[4..].contains(&false));
}

#[test]
fn a_cell_is_live_until_it_is_made() {
    let code = code("COPY_FREE_VARS 1\nMAKE_CELL a\nLOAD_CONST 0\nSTORE_DEREF a\nLOAD_DEREF z\nRETURN_VALUE\n");
    assert_eq!(live(&code, 2), ["cell a", "cell z"]);
    // The argument becomes the contents.
    assert_eq!(live(&code, 0), ["a"]);
    assert!(liveness(&code).live_before(2).cell(Cell(1)));
    assert!(!liveness(&code).live_before(2).local(Local(1)));
}

#[test]
fn blocks_end_at_jumps_and_handlers() {
    let code = code(
        "L0: LOAD_FAST b\nPOP_JUMP_IF_FALSE L1\nLOAD_FAST c\nRETURN_VALUE\nL1: LOAD_CONST 0\nRETURN_VALUE\nNOP\n\
         LOAD_CONST 0\nRETURN_VALUE\n",
    );
    let blocks = basic_blocks(&code);
    assert_eq!(blocks.iter().map(|b| (b.start, b.end)).collect::<Vec<_>>(), [(0, 2), (2, 4), (4, 6), (6, 9)]);
    assert_eq!(blocks[0].successors, [1, 2]);
    assert_eq!(reachable(&code), [true, true, true, true, true, true, false, false, false]);
}

#[test]
fn layouts_name_what_lies_under_a_break() {
    for version in Version::ALL {
        let code = decode(&corpus::function(version, "handlers")).expect("corpus");
        let layouts = stack_layouts(&code).expect("consistent");
        let find = |op: fn(&Op) -> bool| code.instrs.iter().rposition(|i| op(&i.op)).expect("in the function");
        let in_loop = layouts.before(find(|op| matches!(op, Op::ForIter(_)))).expect("reached");
        assert_eq!(in_loop, [Slot::Iterator], "{version}");
        let exits = (0..code.instrs.len()).filter_map(|at| layouts.before(at));
        assert_eq!(exits.map(|s| s.iter().filter(|s| **s == Slot::Exit).count()).max(), Some(2), "{version}");
    }
}

#[test]
fn regions_of_the_block_stack_are_those_of_the_exception_table() {
    // One `try` of one function: the same instructions are protected, whatever the version.
    for version in [Version::V39, Version::V310, Version::V311] {
        let code = decode(&corpus::function(version, "coroutine")).expect("corpus");
        let protected = |i: usize| code.regions.iter().any(|r| r.start <= i && i < r.end);
        let awaits = code.instrs.iter().enumerate().filter(|(_, i)| matches!(i.op, Op::GetAwaitable(_)));
        let protected: Vec<bool> = awaits.map(|(i, _)| protected(i)).collect();
        assert!(protected.contains(&true), "{version} {protected:?}");
        assert!(code.regions.iter().all(|r| r.start < r.end), "{version}");
    }
}

#[test]
fn who_keeps_a_frame_object() {
    use FrameUse::{Keeps, Returns};
    let uses = |body: &str, level, stored| {
        let header =
            "code \"f\" file \"f.py\" line 1 python 3.11\nnames f_back f_lineno f_code f_locals\nvarnames a b\n";
        let code = text::parse(&format!("{header}L0: PUSH_NULL\n{body}")).expect("test program");
        frame_uses(&code, 1, level, stored)
    };
    assert_eq!(uses("LOAD_ATTR f_lineno\nRETURN_VALUE\n", 0, false), []);
    assert_eq!(uses("LOAD_ATTR f_lineno\nRETURN_VALUE\n", 0, true), [Keeps(0)]);
    assert_eq!(uses("LOAD_ATTR f_lineno\nRETURN_VALUE\n", 1, true), []);
    assert_eq!(uses("LOAD_ATTR f_code\nRETURN_VALUE\n", 0, true), []);
    assert_eq!(uses("LOAD_ATTR f_locals\nRETURN_VALUE\n", 1, false), [Keeps(1)]);
    assert_eq!(uses("LOAD_ATTR f_back\nRETURN_VALUE\n", 0, false), [Returns(1)]);
    assert_eq!(uses("POP_TOP\nLOAD_CONST 0\nRETURN_VALUE\n", 0, false), []);
    assert_eq!(uses("LOAD_CONST 0\nCALL 1\nRETURN_VALUE\n", 0, false), [Keeps(0)]);
    // One loads it twice, once to look and once to return it.
    let twice = "STORE_FAST a\nLOAD_FAST a\nLOAD_ATTR f_lineno\nPOP_TOP\nLOAD_FAST a\nRETURN_VALUE\n";
    assert_eq!(uses(twice, 0, false), [Keeps(0), Returns(0)]);
    assert_eq!(uses(twice, 2, false), [Returns(2)]);
    // One lies under others for a while, and is compared with None.
    let under = "BUILD_LIST 0\nSWAP 2\nSTORE_FAST a\nSTORE_FAST b\nLOAD_FAST a\nLOAD_CONST 0\nIS_NOT\n\
                 POP_JUMP_IF_FALSE L1\nLOAD_FAST a\nCOPY 1\nPOP_TOP\nLOAD_ATTR f_code\nPOP_TOP\nL1: LOAD_CONST 0\nRETURN_VALUE\n";
    assert_eq!(uses(under, 0, false), []);
    assert_eq!(uses(&under.replace("STORE_FAST a\nSTORE_FAST b", "STORE_FAST b\nSTORE_FAST a"), 0, false), []);
    assert_eq!(uses("LOAD_FAST b\nIS\nRETURN_VALUE\n", 1, false), [Keeps(1)]);
    // It walks out, and asks each for its line.
    let walk = "STORE_FAST a\nL1: LOAD_FAST a\nPOP_JUMP_IF_FALSE L2\nLOAD_FAST a\nLOAD_ATTR f_lineno\nPOP_TOP\nLOAD_FAST a\n\
                LOAD_ATTR f_back\nSTORE_FAST a\nJUMP L1\nL2: LOAD_CONST 0\nRETURN_VALUE\n";
    assert_eq!(uses(walk, 0, false), [Keeps(0)]);
    assert_eq!(uses(walk, 1, false), []);
}
