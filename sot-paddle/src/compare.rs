//! Whether two tensors can be told apart: the compiled graph's and eager's.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyString};
use sot_core::backend::Parts;

/// Attributes in which equal tensors are equal. Names are not among them: eager's are numbered when they are read. Nor is
/// `grad_fn`: `is_leaf` says whether there is a node, and Paddle 3.3.1 leaks each node that it shows.
const ATTRIBUTES: &[&str] =
    &["dtype", "shape", "stop_gradient", "is_leaf", "persistable", "strides", "_place_str", "layout"];

/// By what a program could tell `ours` from `theirs`, if by anything.
pub(crate) fn difference(ours: &Bound<'_, PyAny>, theirs: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
    let py = ours.py();
    if ours.is(theirs) {
        return Ok(None);
    }
    if !ours.get_type().is(theirs.get_type()) {
        return Ok(Some("the class"));
    }
    for name in ATTRIBUTES {
        let name_object = PyString::intern(py, name);
        // Kinds of tensors lack some of these.
        let (a, b) = (ours.getattr(&name_object).ok(), theirs.getattr(&name_object).ok());
        let same = match (a, b) {
            (Some(a), Some(b)) => a.eq(b)?,
            (None, None) => true,
            _ => false,
        };
        if !same {
            return Ok(Some(name));
        }
    }
    Ok((!bits(ours)?.eq(bits(theirs)?)?).then_some("the numbers"))
}

/// Numbers that are shown of a tensor.
const SHOWN: usize = 8;

/// What a program can tell of a tensor, its gradient included, by name: texts, bytes and tensors.
pub(crate) fn told<'py>(tensor: &Bound<'py, PyAny>) -> PyResult<Parts<'py>> {
    let py = tensor.py();
    let mut parts = Vec::new();
    for name in ATTRIBUTES {
        if let Ok(value) = tensor.getattr(PyString::intern(py, name)) {
            parts.push((*name, value.str()?.into_any()));
        }
    }
    let bits = bits(tensor)?;
    if !bits.is_none() {
        let flat = tensor.call_method0(intern!(py, "numpy"))?.call_method0(intern!(py, "ravel"))?;
        let first = flat.get_item(PySlice::new(py, 0, SHOWN as isize, 1))?.call_method0(intern!(py, "tolist"))?;
        parts.push(("numbers", first.str()?.into_any()));
    }
    parts.push(("bits", bits));
    if let Ok(gradient) = tensor.getattr(intern!(py, "grad"))
        && !gradient.is_none()
    {
        parts.push(("grad", gradient));
    }
    Ok(parts)
}

/// The numbers as bytes; `None` for a tensor without memory.
fn bits<'py>(tensor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = tensor.py();
    if !tensor.call_method0(intern!(py, "_is_initialized"))?.is_truthy()? {
        return Ok(py.None().into_bound(py));
    }
    tensor.call_method0(intern!(py, "numpy"))?.call_method0(intern!(py, "tobytes"))
}
