//! The stack size is what CPython's own compiler computes.

use crate::corpus;
use sot_opcodes::analysis::{stack_depths, stack_layouts};
use sot_opcodes::decode;

#[test]
fn equal_to_the_compilers() {
    for raw in corpus::all() {
        let depths = stack_depths(&decode(&raw).expect("corpus")).expect("consistent");
        // RETURN_CONST needs no slot for its constant.
        assert!(depths.max == raw.stacksize || raw.stacksize == 0, "{} {}: {}", raw.version, raw.name, depths.max);
    }
}

#[test]
fn layouts_have_the_same_depth() {
    for raw in corpus::all() {
        let code = decode(&raw).expect("corpus");
        let (depths, layouts) = (stack_depths(&code).expect("consistent"), stack_layouts(&code).expect("consistent"));
        for at in 0..code.instrs.len() {
            let depth = layouts.before(at).map(|slots| slots.len() as u32);
            assert_eq!(depth, depths.before[at], "{} {} {at}", raw.version, raw.name);
        }
    }
}
