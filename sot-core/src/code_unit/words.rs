//! What code says that matters to who looks for onlookers: whether it reads variables of frames, how far up the frames are that it
//! comes to, and which names it follows. Code within code speaks for what it is in.

use super::CodeUnit;
use hashbrown::HashSet;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyString, PyTuple};
use sot_opcodes::{BinaryOp, Code, NameId, Op, UnaryOp};
use std::sync::Arc;

/// Any number of frames up.
pub(crate) const ANY: u32 = u32::MAX;

/// So many code objects within one another are read.
const WITHIN: usize = 32;

/// What the code of a function says.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// It may read the variables of a frame, and not only of one that a traceback holds.
    pub(crate) asks: bool,
    /// How far above its own the frames are that it comes to; none: 0.
    pub(crate) finds: u32,
    /// Names that it looks up globally.
    pub(crate) globals: Vec<Py<PyString>>,
    /// Names that it looks up in objects, those of methods that its instructions call among them.
    pub(crate) attributes: Vec<Py<PyString>>,
    /// Modules that it imports.
    pub(crate) imports: Vec<String>,
}

/// Names that lead to the frame that asks, or to that of a caller so many calls up.
const STARTS: [&str; 2] = ["_getframe", "currentframe"];

/// Names that lead to frames of callers, how many is not said.
const CLIMBS: [&str; 3] = ["f_back", "_current_frames", "walk_stack"];

/// What may be asked of a frame and has nothing to do with its variables.
const HARMLESS: [&str; 6] = ["f_code", "f_globals", "f_lineno", "f_lasti", "f_builtins", "f_trace"];

impl Words {
    pub(crate) fn of(py: Python<'_>, unit: &CodeUnit) -> Words {
        let mut words = Words::default();
        let mut seen = HashSet::new();
        let mut within: Vec<Arc<CodeUnit>> = Vec::new();
        words.read(py, unit, &mut seen, &mut within);
        let mut next = 0;
        while let Some(unit) = within.get(next).cloned().filter(|_| next < WITHIN) {
            next += 1;
            words.read(py, &unit, &mut seen, &mut within);
        }
        words
    }

    fn read(
        &mut self,
        py: Python<'_>,
        unit: &CodeUnit,
        seen: &mut HashSet<(bool, String)>,
        within: &mut Vec<Arc<CodeUnit>>,
    ) {
        let code = &unit.code;
        let mut add = |names: &mut Vec<Py<PyString>>, attribute: bool, name: &str| {
            if seen.insert((attribute, name.to_owned())) {
                names.push(PyString::intern(py, name).unbind());
            }
        };
        for (at, instruction) in code.instrs.iter().enumerate() {
            for method in methods_of(&instruction.op, false) {
                add(&mut self.attributes, true, method);
            }
            let (id, attribute) = match instruction.op {
                Op::LoadGlobal(name) | Op::LoadName(name) => (name, false),
                Op::LoadAttr(name) | Op::LoadMethod(name) | Op::ImportFrom(name) | Op::LoadSuperAttr { name, .. } => {
                    (name, true)
                }
                Op::ImportName(name) => {
                    self.imports.extend(code.names.get(name.0 as usize).cloned());
                    continue;
                }
                _ => continue,
            };
            let name = name_of(code, id);
            if name == "f_locals" {
                self.asks |= !is_of_traceback(code, at);
            } else if STARTS.contains(&name) {
                self.finds = self.finds.max(height(unit, py, at));
            } else if CLIMBS.contains(&name) {
                self.finds = ANY;
            } else if attribute {
                self.asks |= name == "getargvalues";
                add(&mut self.attributes, true, name);
            } else {
                add(&mut self.globals, false, name);
            }
        }
        for value in &unit.consts {
            let value = value.bind(py);
            if value.cast::<PyCode>().is_ok() {
                within.extend(CodeUnit::of(value));
            } else if let Ok(text) = value.cast::<PyString>() {
                // For `getattr`.
                let text = text.to_str().unwrap_or_default();
                self.asks |= text == "f_locals";
                if STARTS.contains(&text) || CLIMBS.contains(&text) {
                    self.finds = ANY;
                }
            } else if let Ok(names) = value.cast::<PyTuple>() {
                // Of keywords, as those of `StackSummary.extract`.
                self.asks |= names.iter().any(|n| n.cast::<PyString>().is_ok_and(|n| n == "capture_locals"));
            }
        }
    }
}

fn name_of(code: &Code, id: NameId) -> &str {
    code.names.get(id.0 as usize).map_or("", String::as_str)
}

/// Whether an attribute is asked of the frame of a traceback: that shows what has run, and nobody's variables are rewritten for it
/// alone.
fn is_of_traceback(code: &Code, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| code.instrs.get(at)).map(|before| before.op);
    matches!(before, Some(Op::LoadAttr(name)) if name_of(code, name) == "tb_frame")
}

/// How far up the frame is that `_getframe` or `currentframe`, loaded by an instruction, gives to who may look at variables.
fn height(unit: &CodeUnit, py: Python<'_>, at: usize) -> u32 {
    let code = &unit.code;
    let op = |at: usize| code.instrs.get(at).map(|i| i.op);
    // The NULL of a call may stand behind the callable.
    let at = at + usize::from(matches!(op(at + 1), Some(Op::PushNull)));
    let (height, call) = match (op(at + 1), op(at + 2)) {
        (Some(Op::Call { argc: 0, .. }), _) => (0, at + 1),
        (Some(Op::LoadConst(height)), Some(Op::Call { argc: 1, .. })) => {
            (unit.constant(py, height).extract().unwrap_or(ANY), at + 2)
        }
        _ => return ANY,
    };
    match op(call + 1) {
        Some(Op::LoadAttr(name)) if HARMLESS.contains(&name_of(code, name)) => 0,
        _ => height,
    }
}

/// The methods of classes of the program that an instruction may call. `run`: all of them, as it is this instruction that runs;
/// else those that are worth to be looked for wherever such an instruction is found.
pub(crate) fn methods_of(op: &Op, run: bool) -> &'static [&'static str] {
    match op {
        Op::BeforeWith | Op::SetupWith(_) => &["__enter__", "__exit__"],
        Op::GetIter | Op::ForIter(_) | Op::UnpackSequence(_) | Op::UnpackEx { .. } => &["__iter__", "__next__"],
        Op::ListExtend(_) | Op::SetUpdate(_) | Op::DictUpdate(_) | Op::DictMerge(_) if run => {
            &["__iter__", "__next__", "keys", "__getitem__"]
        }
        Op::BinarySubscr | Op::BinarySlice => &["__getitem__", "__missing__"],
        Op::StoreSubscr | Op::StoreSlice => &["__setitem__"],
        Op::DeleteSubscr => &["__delitem__"],
        Op::Contains { .. } => &["__contains__", "__iter__", "__eq__"],
        Op::Compare { .. } => &["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"],
        Op::FormatValue { .. } | Op::ConvertValue(_) => &["__format__", "__str__", "__repr__"],
        Op::Unary(UnaryOp::Negative) => &["__neg__"],
        Op::Unary(UnaryOp::Positive) => &["__pos__"],
        Op::Unary(UnaryOp::Invert) => &["__invert__"],
        Op::Unary(_) | Op::PopJumpIf { .. } | Op::JumpIfOrPop { .. } if run => &["__bool__", "__len__"],
        Op::Binary { op, .. } => match op {
            BinaryOp::Add => &["__add__", "__radd__", "__iadd__"],
            BinaryOp::And => &["__and__", "__rand__", "__iand__"],
            BinaryOp::FloorDivide => &["__floordiv__", "__rfloordiv__", "__ifloordiv__"],
            BinaryOp::Lshift => &["__lshift__", "__rlshift__", "__ilshift__"],
            BinaryOp::MatrixMultiply => &["__matmul__", "__rmatmul__", "__imatmul__"],
            BinaryOp::Multiply => &["__mul__", "__rmul__", "__imul__"],
            BinaryOp::Remainder => &["__mod__", "__rmod__", "__imod__"],
            BinaryOp::Or => &["__or__", "__ror__", "__ior__"],
            BinaryOp::Power => &["__pow__", "__rpow__", "__ipow__"],
            BinaryOp::Rshift => &["__rshift__", "__rrshift__", "__irshift__"],
            BinaryOp::Subtract => &["__sub__", "__rsub__", "__isub__"],
            BinaryOp::TrueDivide => &["__truediv__", "__rtruediv__", "__itruediv__"],
            BinaryOp::Xor => &["__xor__", "__rxor__", "__ixor__"],
        },
        Op::LoadAttr(_) | Op::LoadMethod(_) if run => &["__getattr__", "__getattribute__", "__get__"],
        Op::StoreAttr(_) if run => &["__setattr__", "__set__"],
        Op::DeleteAttr(_) if run => &["__delattr__", "__delete__"],
        // C code may ask its arguments for any of them.
        Op::Call { .. } | Op::CallKw { .. } | Op::CallEx { .. } if run => &[
            "__str__",
            "__repr__",
            "__format__",
            "__iter__",
            "__next__",
            "__len__",
            "__getitem__",
            "__contains__",
            "__eq__",
            "__lt__",
            "__gt__",
            "__hash__",
            "__bool__",
            "__index__",
            "__float__",
            "__int__",
            "__enter__",
            "__reversed__",
        ],
        _ => &[],
    }
}
