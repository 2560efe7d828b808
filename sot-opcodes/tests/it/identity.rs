//! decode, then encode, gives the same bytes.

use crate::corpus;
use sot_opcodes::{Version, decode, encode};

#[test]
fn all_attributes_are_the_same() {
    for raw in corpus::all() {
        let code = decode(&raw).unwrap_or_else(|e| panic!("{} {}: {e}", raw.version, raw.name));
        let mut new = encode(&code).unwrap_or_else(|e| panic!("{} {}: {e}", raw.version, raw.name));
        assert!(new.stacksize <= raw.stacksize.max(1), "{} {}: {}", raw.version, raw.name, new.stacksize);
        new.stacksize = raw.stacksize;
        if raw.version <= Version::V310 && new != raw {
            // Line entries without an effect, EXTENDED_ARG 0, a JUMP_ABSOLUTE where JUMP_FORWARD would do.
            let again = decode(&new).expect("was just encoded");
            assert_eq!(ops(&again), ops(&code), "{} {}", raw.version, raw.name);
            continue;
        }
        assert_eq!(new, raw, "{} {}", raw.version, raw.name);
    }
}

fn ops(code: &sot_opcodes::Code) -> Vec<(sot_opcodes::Op, sot_opcodes::Location)> {
    code.instrs.iter().map(|instr| (instr.op, instr.loc)).collect()
}

#[test]
fn offsets_are_dropped_without_harm() {
    for raw in corpus::all() {
        let mut code = decode(&raw).expect("corpus");
        for instr in &mut code.instrs {
            instr.offset = sot_opcodes::Instr::NO_OFFSET;
        }
        let again = decode(&encode(&code).expect("corpus")).expect("was just encoded");
        assert_eq!(ops(&again), ops(&code), "{} {}", raw.version, raw.name);
        assert_eq!(again.regions, code.regions, "{} {}", raw.version, raw.name);
    }
}
