//! Decoded code objects.
//!
//! Decoding is pure, so what it yields is shared by all captures ([`UnitData`]) and kept for as long as the code object
//! lives ([`records`]). A [`CodeUnit`] is that and the code object itself: whoever holds one may compare addresses.

pub mod records;
pub(crate) mod resumed;
pub(crate) mod words;

use crate::cpython::code::{build_code, read_code};
use crate::cpython::new_function;
use crate::stop::{Reason, Stop};
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyTuple};
use sot_opcodes::analysis::{FrameUse, Liveness, frame_uses, liveness, open_blocks};
use sot_opcodes::{Code, ConstId, Op};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use words::Words;

/// What decoding yields.
pub struct UnitData {
    pub code: Code,
    pub consts: Vec<Py<PyAny>>,
    /// Shared with `UserFrame`s.
    pub file: Arc<str>,
    pub function: Arc<str>,
    /// It defines a builtin: no frame of it exists for the program.
    pub hidden: bool,
    asks_for_locals: bool,
    words: OnceLock<Words>,
    liveness: OnceLock<Liveness>,
    may_catch: OnceLock<bool>,
    open_blocks: OnceLock<Vec<u32>>,
    keeps_its_frame: OnceLock<bool>,
    /// What its generators are called in full, where the code does not say it.
    qualname: OnceLock<Box<str>>,
}

/// The file name of the code whose frames are hidden.
pub const HIDDEN_FILE: &str = "<sot: what builtins do>";

/// A code object, decoded.
pub struct CodeUnit {
    pub object: Py<PyCode>,
    data: Arc<UnitData>,
}

impl Deref for CodeUnit {
    type Target = UnitData;

    fn deref(&self) -> &UnitData {
        &self.data
    }
}

impl fmt::Debug for CodeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:p}", self.code.name, self.object.as_ptr())
    }
}

impl UnitData {
    /// The class of itertools that the generators of hidden code stand for.
    pub fn disguise(&self) -> Option<&str> {
        let name = self.code.name.strip_prefix("itertools_").filter(|_| self.hidden)?;
        let end = name.rfind("__counted").unwrap_or(name.len());
        Some(&name[..end])
    }
}

/// What gives a function its own variables.
const LOCALS: [&str; 7] = ["locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe"];

impl CodeUnit {
    /// The unit of a code object.
    pub fn of(code: &Bound<'_, PyAny>) -> Result<Arc<CodeUnit>, Stop> {
        let unsupported = |e: String| Stop::fallback(Reason::Opcode, e);
        let object = code.cast::<PyCode>().map_err(|e| unsupported(e.to_string()))?.clone().unbind();
        if let Some(data) = records::unit(code) {
            return Ok(Arc::new(CodeUnit { object, data }));
        }
        let (raw, consts) = read_code(code).map_err(|e| unsupported(e.to_string()))?;
        let decoded = raw.into_code().map_err(|e| unsupported(e.to_string()))?;
        let data = Arc::new(UnitData {
            file: decoded.filename.as_str().into(),
            function: decoded.name.as_str().into(),
            hidden: decoded.filename == HIDDEN_FILE,
            asks_for_locals: decoded.names.iter().any(|name| LOCALS.contains(&name.as_str())),
            code: decoded,
            consts,
            words: OnceLock::new(),
            liveness: OnceLock::new(),
            may_catch: OnceLock::new(),
            open_blocks: OnceLock::new(),
            keeps_its_frame: OnceLock::new(),
            qualname: OnceLock::new(),
        });
        records::set_unit(code, &data);
        Ok(Arc::new(CodeUnit { object, data }))
    }

    pub fn address(&self) -> usize {
        self.object.as_ptr() as usize
    }

    /// What it says to who looks for onlookers. Read without the lock: reading code makes objects, and so may let others run.
    pub(crate) fn words(&self, py: Python<'_>) -> &Words {
        if let Some(words) = self.data.words.get() {
            return words;
        }
        let words = Words::of(py, self);
        self.data.words.get_or_init(|| words)
    }
}

impl UnitData {
    /// Whether it may ask for its local variables by name: all that are bound stay alive.
    pub fn asks_for_locals(&self) -> bool {
        self.asks_for_locals
    }

    /// Whether it looks at the variables of a frame object.
    pub fn reads_frame_locals(&self) -> bool {
        self.code.names.iter().any(|name| name == "f_locals")
    }

    /// Whether it takes a frame object of itself in hand, and not only to ask at once what does not change: by name, or from the
    /// traceback of what it may have caught. All of it must then run in one frame, and as it is.
    /// `is_library`: whose files look at tracebacks that they are given, and let go of frames.
    pub fn keeps_its_frame(&self, py: Python<'_>, is_library: fn(Python<'_>, &str) -> bool) -> bool {
        let asks = |name: &String| matches!(name.as_str(), "_getframe" | "currentframe" | "tb_frame");
        *self.keeps_its_frame.get_or_init(|| {
            self.code.names.iter().any(asks)
                && (0..self.code.instrs.len()).any(|at| self.keeps_frame_of(py, at, is_library))
                || !self.code.regions.is_empty() && self.looks_within(py) && !is_library(py, &self.file)
        })
    }

    /// Whether code within it (a lambda, a comprehension) looks at the variables of frames that tracebacks show.
    fn looks_within(&self, py: Python<'_>) -> bool {
        const LOOKS: [&str; 2] = ["tb_frame", "f_locals"];
        let mut within: Vec<_> = self.consts.iter().map(|constant| constant.bind(py).clone()).collect();
        // One may ask for the frame, and another one for what is in it.
        let mut looks = LOOKS.map(|name| self.code.names.iter().any(|own| own == name));
        let mut is_within = false;
        while let Some(constant) = within.pop() {
            let Ok(code) = constant.cast_exact::<PyCode>() else { continue };
            let names = code.getattr("co_names").and_then(|names| names.extract::<Vec<String>>()).unwrap_or_default();
            for (looks, name) in looks.iter_mut().zip(LOOKS) {
                let finds = names.iter().any(|own| own == name);
                (*looks, is_within) = (*looks || finds, is_within || finds);
            }
            let constants = code.getattr("co_consts").and_then(|constants| Ok(constants.cast_into::<PyTuple>()?));
            within.extend(constants.iter().flat_map(|constants| constants.iter()));
        }
        is_within && looks == [true, true]
    }

    /// Whether an instruction asks for a frame object of this code that is kept.
    fn keeps_frame_of(&self, py: Python<'_>, at: usize, is_library: fn(Python<'_>, &str) -> bool) -> bool {
        let code = &self.code;
        let op = |at: usize| code.instrs.get(at).map(|i| i.op);
        let Some(Op::LoadAttr(name) | Op::LoadMethod(name) | Op::LoadGlobal(name)) = op(at) else { return false };
        let (instr, level, stored) = match code.names.get(name.0 as usize).map_or("", String::as_str) {
            "tb_frame" if !code.regions.is_empty() && !is_library(py, &self.file) => (at + 1, 0, true),
            "_getframe" | "currentframe" => {
                // The NULL of a call may stand behind the callable.
                let at = at + usize::from(matches!(op(at + 1), Some(Op::PushNull)));
                match (op(at + 1), op(at + 2)) {
                    (Some(Op::Call { argc: 0, .. }), _) => (at + 2, 0, false),
                    (Some(Op::LoadConst(level)), Some(Op::Call { argc: 1, .. })) => {
                        (at + 3, self.constant(py, level).extract().unwrap_or(0), false)
                    }
                    _ => return false,
                }
            }
            _ => return false,
        };
        frame_uses(code, instr, level, stored)
            .iter()
            .any(|found| matches!(found, FrameUse::Keeps(0) | FrameUse::Returns(0)))
    }

    pub fn constant<'py>(&self, py: Python<'py>, id: ConstId) -> Bound<'py, PyAny> {
        self.consts[id.0 as usize].bind(py).clone()
    }

    pub fn liveness(&self) -> &Liveness {
        self.liveness.get_or_init(|| liveness(&self.code))
    }

    /// How many blocks of `try` and `with` are open before an instruction (up to 3.10).
    pub fn open_blocks(&self, ip: usize) -> usize {
        self.open_blocks.get_or_init(|| open_blocks(&self.code)).get(ip).map_or(0, |count| *count as usize)
    }

    /// Whether some instruction has a handler that the program could notice; it is asked once.
    pub fn may_catch(&self, ask: impl FnOnce(&Code) -> bool) -> bool {
        *self.may_catch.get_or_init(|| ask(&self.code))
    }

    /// Whether the generators of a function of this name are called as all of this code are. Up to 3.10 the code does not say
    /// how, but the first function that was seen.
    pub fn names_generators(&self, qualname: &str) -> bool {
        !self.code.qualname.is_empty() || &**self.qualname.get_or_init(|| qualname.into()) == qualname
    }

    /// What a generator is called in full, if that is not what its function is called by default.
    pub fn generator_qualname(&self) -> Option<&str> {
        self.qualname.get().map(|name| &**name).filter(|name| **name != *self.code.name)
    }

    /// Where an instruction is on its line, if the code knows it and it is on one line: the first column, and the one behind.
    pub fn columns(&self, instruction: usize) -> Option<(u32, u32)> {
        let loc = self.code.instrs.get(instruction)?.loc;
        let one_line = loc.line == loc.end_line;
        loc.col.zip(loc.end_col).filter(|(first, behind)| one_line && first < behind)
    }

    pub fn line(&self, instruction: usize) -> u32 {
        self.line_of(instruction).unwrap_or(self.code.firstlineno)
    }

    /// Line of an instruction, if its code says any.
    pub fn line_of(&self, instruction: usize) -> Option<u32> {
        self.code.instrs.get(instruction).and_then(|i| i.loc.line)
    }
}

/// Assemble a code object.
pub fn assemble<'py>(py: Python<'py>, code: &Code, consts: &[Py<PyAny>]) -> Result<Bound<'py, PyCode>, String> {
    let raw = sot_opcodes::encode(code).map_err(|e| e.to_string())?;
    build_code(py, &raw, consts).map(|c| c.into_bound(py)).map_err(|e| e.to_string())
}

/// A function object for rewritten code.
pub fn function_of<'py>(
    py: Python<'py>,
    code: &Bound<'py, PyCode>,
    globals: &Bound<'py, PyAny>,
    closure: Option<&Bound<'py, PyTuple>>,
) -> PyResult<Bound<'py, PyAny>> {
    records::never_capture(code);
    new_function(py, code, globals.cast::<PyDict>()?, None, closure)
}
