//! Leaves of the program that grows: parameters that it makes ([`crate::parameters_made`]), and whatever else has a gradient of its own.

use crate::attr;
use crate::grown::{Grown, Made};
use crate::handles::{Handles, value_id};
use crate::meta::{self, Meta};
use crate::modes::Recording;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;
use sot_core::backend::{CallKind, OpCall};

/// What a value is like that may be a leaf, which has a gradient of its own.
pub(crate) fn of_leaf(grown: &Grown, value: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Meta>> {
    let (py, handles) = (value.py(), &grown.handles);
    match grown.input_index(value_id(value)?).map(|input| &grown.inputs[input]) {
        Some(source) => {
            let is_own = attr::is_of_c(handles, &source.tensor.bind(py).get_type(), name);
            Ok(is_own.then(|| source.meta.clone()))
        }
        None if grown.made.contains_key(&value_id(value)?) => {
            let is_own = attr::is_of_c(handles, handles.parameter.bind(py), name);
            Ok(grown.known_meta(value_id(value)?).filter(|_| is_own).cloned())
        }
        None if grown.leaves.contains(&value_id(value)?) => {
            let is_own = attr::is_of_c(handles, handles.tensor.bind(py), name);
            is_own.then(|| meta::of_value(value, &grown.place, None)).transpose()
        }
        None => Ok(None),
    }
}

/// Whether a call is the operation.
pub(crate) fn makes_one(handles: &Handles, op: &OpCall<'_, '_>) -> bool {
    op.kind == CallKind::Api
        && op.callee.is_some_and(|callee| handles.parameters.as_ref().is_some_and(|made| made.is_operation(callee)))
}

/// The program makes one: only replays do.
pub(crate) fn grow<'py>(grown: &mut Grown, op: &OpCall<'_, 'py>, recording: Recording) -> PyResult<Bound<'py, PyAny>> {
    let py = op.args.py();
    let handles = grown.handles.clone();
    let makes = handles.parameters.as_ref().ok_or_else(|| PyTypeError::new_err(op.name.to_owned()))?;
    let told = makes.told(op)?;
    let data = handles.pir_ops.bind(py).getattr(intern!(py, "data"))?;
    let name = format!("sot_made_{}", grown.made.len());
    let value = data.call1((name, PyList::new(py, &told.shape)?, &told.dtype, &handles.any_place))?;
    value.setattr(intern!(py, "persistable"), true)?;
    value.setattr(intern!(py, "stop_gradient"), recording.stops(told.trainable))?;
    let meta = meta::of_value(&value, &grown.place, Some(told.trainable))?;
    grown.made.insert(value_id(&value)?, Made { value: value.clone().unbind(), meta });
    grown.draws = true;
    Ok(value)
}
