//! Decoded code objects, kept for the life of the process's interest in them.
//!
//! Decoding is pure, so a unit is shared by all captures. It owns the code object: an address in the registry
//! always means the code it was decoded from.

use crate::cpython::code::{build_code, read_code};
use crate::stop::{Reason, Stop};
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::PyCode;
use sot_opcodes::analysis::{Liveness, liveness};
use sot_opcodes::{Code, ConstId};
use std::sync::{Arc, Mutex, OnceLock};

/// A code object, decoded.
pub struct CodeUnit {
    pub object: Py<PyCode>,
    pub code: Code,
    pub consts: Vec<Py<PyAny>>,
    /// Shared with `UserFrame`s.
    pub file: Arc<str>,
    pub function: Arc<str>,
    liveness: OnceLock<Liveness>,
}

static UNITS: Mutex<Option<HashMap<usize, Arc<CodeUnit>>>> = Mutex::new(None);

impl CodeUnit {
    /// The unit of a code object.
    pub fn of(code: &Bound<'_, PyAny>) -> Result<Arc<CodeUnit>, Stop> {
        let address = code.as_ptr() as usize;
        if let Some(unit) = UNITS.lock().expect("code registry").get_or_insert_default().get(&address) {
            return Ok(unit.clone());
        }
        let unsupported = |e: String| Stop::fallback(Reason::Opcode, e);
        let object = code.cast::<PyCode>().map_err(|e| unsupported(e.to_string()))?.clone().unbind();
        let (raw, consts) = read_code(code).map_err(|e| unsupported(e.to_string()))?;
        let decoded = raw.into_code().map_err(|e| unsupported(e.to_string()))?;
        let unit = Arc::new(CodeUnit {
            object,
            file: decoded.filename.as_str().into(),
            function: decoded.name.as_str().into(),
            code: decoded,
            consts,
            liveness: OnceLock::new(),
        });
        UNITS.lock().expect("code registry").get_or_insert_default().insert(address, unit.clone());
        Ok(unit)
    }

    pub fn address(&self) -> usize {
        self.object.as_ptr() as usize
    }

    pub fn constant<'py>(&self, py: Python<'py>, id: ConstId) -> Bound<'py, PyAny> {
        self.consts[id.0 as usize].bind(py).clone()
    }

    pub fn liveness(&self) -> &Liveness {
        self.liveness.get_or_init(|| liveness(&self.code))
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
