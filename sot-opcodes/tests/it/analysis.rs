//! Liveness, blocks, reachability and layouts on small programs written as text.

use crate::corpus;
use sot_opcodes::analysis::{Slot, basic_blocks, liveness, reachable, stack_layouts};
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
