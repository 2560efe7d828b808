//! Virtual frames.

use crate::code_unit::CodeUnit;
use crate::variables::VarId;
use sot_opcodes::{Code, Op};
use sot_tracker::ObjectId;
use std::sync::Arc;

/// Whether a handler does nothing but put locals back and raise again (3.12+: an inlined comprehension): for a frame
/// that ends with the exception that is the same as no handler.
fn only_restores(code: &Code, handler: usize) -> bool {
    for instruction in &code.instrs[handler.min(code.instrs.len())..] {
        match instruction.op {
            Op::Swap(_) | Op::PopTop | Op::StoreFast(_) | Op::StoreClosure(_) | Op::Nop => {}
            Op::Reraise(0) => return true,
            _ => return false,
        }
    }
    false
}

/// One simulated frame.
pub struct Frame {
    pub unit: Arc<CodeUnit>,
    pub globals: ObjectId,
    pub builtins: ObjectId,
    pub locals: Vec<Option<VarId>>,
    /// Cell variables, then free variables.
    pub cells: Vec<Option<VarId>>,
    pub stack: Vec<VarId>,
    /// Index of the current instruction.
    pub ip: usize,
}

impl Frame {
    pub fn new(unit: Arc<CodeUnit>, globals: ObjectId, builtins: ObjectId) -> Frame {
        let locals = vec![None; unit.code.varnames.len()];
        let cells = vec![None; unit.code.cellvars.len() + unit.code.freevars.len()];
        Frame { unit, globals, builtins, locals, cells, stack: Vec::new(), ip: 0 }
    }

    /// Whether an exception at the current instruction would be handled in this frame.
    pub fn in_protected_region(&self) -> bool {
        let code = &self.unit.code;
        code.regions.iter().any(|r| (r.start..r.end).contains(&self.ip) && !only_restores(code, code.target(r.handler)))
    }
}
