//! Virtual frames.

use crate::code_unit::CodeUnit;
use crate::variables::VarId;
use pyo3::prelude::*;
use sot_opcodes::{Code, Op};
use sot_tracker::ObjectId;
use std::sync::Arc;

/// What entered a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameOrigin {
    /// A call instruction of the frame below, or the entry of the capture.
    Call,
}

impl FrameOrigin {
    /// Whether a continuation may end inside such a frame.
    pub fn resumable(self) -> bool {
        match self {
            FrameOrigin::Call => true,
        }
    }
}

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
    pub origin: FrameOrigin,
}

impl Frame {
    pub fn new(unit: Arc<CodeUnit>, globals: ObjectId, builtins: ObjectId) -> Frame {
        let locals = vec![None; unit.code.varnames.len()];
        let cells = vec![None; unit.code.cellvars.len() + unit.code.freevars.len()];
        Frame { unit, globals, builtins, locals, cells, stack: Vec::new(), ip: 0, origin: FrameOrigin::Call }
    }

    /// Whether an exception at the current instruction would be handled in this frame.
    pub fn in_protected_region(&self) -> bool {
        let code = &self.unit.code;
        code.regions.iter().any(|r| (r.start..r.end).contains(&self.ip) && !only_restores(code, code.target(r.handler)))
    }

    pub fn globals_dict<'py>(&self, ex: &super::Executor<'py>) -> Bound<'py, PyAny> {
        ex.objects.get(ex.py, self.globals)
    }
}
