//! Decoded code objects.
//!
//! Decoding is pure, so what it yields is shared by all captures ([`UnitData`]) and kept for as long as the code object
//! lives ([`records`]). A [`CodeUnit`] is that and the code object itself: whoever holds one may compare addresses.

pub mod records;

use crate::cpython::code::{build_code, read_code};
use crate::cpython::new_function;
use crate::stop::{Reason, Stop};
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyTuple};
use sot_opcodes::analysis::{Liveness, liveness};
use sot_opcodes::{Code, ConstId};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// What decoding yields.
pub struct UnitData {
    pub code: Code,
    pub consts: Vec<Py<PyAny>>,
    /// Shared with `UserFrame`s.
    pub file: Arc<str>,
    pub function: Arc<str>,
    /// It defines a builtin: no frame of it exists for the program.
    pub hidden: bool,
    /// It may ask for its local variables by name: all that are bound stay alive.
    pub asks_for_locals: bool,
    liveness: OnceLock<Liveness>,
    may_catch: OnceLock<bool>,
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
            liveness: OnceLock::new(),
            may_catch: OnceLock::new(),
            qualname: OnceLock::new(),
        });
        records::set_unit(code, &data);
        Ok(Arc::new(CodeUnit { object, data }))
    }

    pub fn address(&self) -> usize {
        self.object.as_ptr() as usize
    }
}

impl UnitData {
    /// Whether it looks at the variables of a frame object.
    pub fn reads_frame_locals(&self) -> bool {
        self.code.names.iter().any(|name| name == "f_locals")
    }

    pub fn constant<'py>(&self, py: Python<'py>, id: ConstId) -> Bound<'py, PyAny> {
        self.consts[id.0 as usize].bind(py).clone()
    }

    pub fn liveness(&self) -> &Liveness {
        self.liveness.get_or_init(|| liveness(&self.code))
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

    pub fn line(&self, instruction: usize) -> u32 {
        self.code.instrs.get(instruction).and_then(|i| i.loc.line).unwrap_or(self.code.firstlineno)
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
