//! Whether two tensors can be told apart: the compiled graph's and eager's.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

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

/// The numbers as bytes; `None` for a tensor without memory.
fn bits<'py>(tensor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = tensor.py();
    if !tensor.call_method0(intern!(py, "_is_initialized"))?.is_truthy()? {
        return Ok(py.None().into_bound(py));
    }
    tensor.call_method0(intern!(py, "numpy"))?.call_method0(intern!(py, "tobytes"))
}
