//! What programs ask of Paddle's own translator: its lists are ours, too.
//!
//! A module that the program has not imported was told nothing. So none is imported here: that takes time, and the program sees
//! it.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyModule, PyString};
use sot_core::code_unit::records::Promises;
use sot_core::cpython::facts::{imported, instance_dict};

/// What `paddle.jit.ignore_module` was given. The list begins with modules that Paddle cannot translate from source: those that
/// the function names which makes the list. That is not called, for it tries imports, and this is asked in the middle of
/// whatever the program does.
pub(crate) fn ignored_modules(py: Python<'_>) -> PyResult<Vec<String>> {
    let Some(translator) = imported(py, "paddle.jit.dy2static.convert_call_func") else { return Ok(Vec::new()) };
    let all = translator.getattr(intern!(py, "BUILTIN_LIKELY_MODULES"))?.cast_into::<PyList>()?;
    let maker = translator.getattr(intern!(py, "builtin_modules"))?;
    let at_first = maker.getattr(intern!(py, "__code__"))?.getattr(intern!(py, "co_names"))?;
    let mut added = Vec::new();
    for module in all.iter() {
        let name = module.cast_into::<PyModule>()?.name()?;
        if !at_first.contains(&name)? {
            added.push(name.to_string());
        }
    }
    Ok(added)
}

/// What Paddle's symbolic debugger was told of a code object.
pub(crate) fn promises(code: &Bound<'_, PyAny>) -> PyResult<Promises> {
    let py = code.py();
    let Some(debugger) = imported(py, "paddle.jit.sot.psdb") else { return Ok(Promises::default()) };
    Ok(Promises {
        no_break: debugger.getattr(intern!(py, "NO_BREAKGRAPH_CODES"))?.contains(code)?,
        no_fallback: debugger.getattr(intern!(py, "NO_FALLBACK_CODES"))?.contains(code)?,
    })
}

/// What `paddle.jit.marker.dynamic_dims` was given for a tensor.
pub(crate) fn dynamic_dims(tensor: &Bound<'_, PyAny>) -> Vec<usize> {
    let py = tensor.py();
    let marked = || {
        let marker = imported(py, "paddle.jit.marker")?;
        let name = marker.getattr(intern!(py, "DYNAMIC_DIMS_ATTR_NAME")).ok()?.cast_into::<PyString>().ok()?;
        // Nothing but the tensor's own attributes: a class of the program may answer by code.
        let axes: Vec<isize> = instance_dict(tensor)?.get_item(name).ok()??.extract().ok()?;
        let rank = tensor.getattr(intern!(py, "ndim")).ok()?.extract::<isize>().ok()?;
        let counted = |axis: isize| usize::try_from(if axis < 0 { axis + rank } else { axis }).ok();
        Some(axes.into_iter().filter_map(counted).collect())
    };
    marked().unwrap_or_default()
}
