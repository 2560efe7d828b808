//! Which instructions have been simulated, for the test that says so of each: `tests/python/toy/test_opcodes.py`.
//!
//! It is there with the feature `test-hooks` only, and nothing is noted unless a test asks for it.

use crate::code_unit::CodeUnit;
use crate::engine::registries;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict};
use sot_opcodes::{OpKind, Version};
use std::sync::atomic::{AtomicBool, Ordering};

static NOTING: AtomicBool = AtomicBool::new(false);

registries! {
    NOTED: Vec<Noted> = "simulated instructions";
}

struct Noted {
    code: Py<PyCode>,
    offset: u32,
    kind: OpKind,
}

/// Whether somebody wants to know.
#[inline]
pub fn wanted() -> bool {
    NOTING.load(Ordering::Relaxed)
}

/// An instruction was simulated: its handler has found what it does, or what it raises.
#[cold]
pub fn note(py: Python<'_>, unit: &CodeUnit, ip: usize) {
    if let Some(instruction) = unit.code.instrs.get(ip) {
        let noted = Noted { code: unit.object.clone_ref(py), offset: instruction.offset, kind: instruction.op.kind() };
        NOTED.lock().push(noted);
    }
}

/// Calls a function, and tells what was simulated meanwhile: (code, offset, name of the kind) each.
#[pyfunction]
fn simulated_by(function: &Bound<'_, PyAny>) -> PyResult<Vec<(Py<PyCode>, u32, &'static str)>> {
    NOTING.store(true, Ordering::Relaxed);
    let called = function.call0();
    NOTING.store(false, Ordering::Relaxed);
    let noted = std::mem::take(&mut *NOTED.lock());
    called?;
    Ok(noted.into_iter().map(|noted| (noted.code, noted.offset, noted.kind.name())).collect())
}

/// What a code object is decoded to: (offset, name of the kind) each; `None` of what is not in the code.
#[pyfunction]
fn decoded(code: &Bound<'_, PyAny>) -> PyResult<Vec<(Option<u32>, &'static str)>> {
    let unit = CodeUnit::of(code).map_err(|_| pyo3::exceptions::PyValueError::new_err("it cannot be decoded"))?;
    let offset = |offset: u32| Some(offset).filter(|offset| *offset != sot_opcodes::Instr::NO_OFFSET);
    Ok(unit.code.instrs.iter().map(|instr| (offset(instr.offset), instr.op.kind().name())).collect())
}

/// The opcodes of each version, by its minor number, and the names of all kinds.
#[pyfunction]
fn instruction_sets(py: Python<'_>) -> PyResult<(Bound<'_, PyDict>, Vec<&'static str>)> {
    let opcodes = PyDict::new(py);
    for version in Version::ALL {
        opcodes.set_item(version.minor(), sot_opcodes::opcodes(version).collect::<Vec<_>>())?;
    }
    Ok((opcodes, OpKind::ALL.iter().map(|kind| kind.name()).collect()))
}

/// Adds these functions to the module of a test backend.
pub fn add_test_probes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(simulated_by, module)?)?;
    module.add_function(wrap_pyfunction!(decoded, module)?)?;
    module.add_function(wrap_pyfunction!(instruction_sets, module)?)
}
