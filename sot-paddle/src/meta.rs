//! Meta data of tensors and symbolic values.

use crate::handles::Handles;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;
use smallvec::SmallVec;
use sot_core::backend::TensorMeta;

/// What graphs of Paddle are specialised on.
#[derive(Clone)]
pub(crate) struct Meta {
    /// Extents; -1 where unknown until run time.
    pub(crate) shape: SmallVec<[i64; 6]>,
    pub(crate) dtype: Box<str>,
    pub(crate) place: Box<str>,
    /// Not `stop_gradient`.
    pub(crate) requires_grad: bool,
}

/// How it is told that gradients flow.
const GRAD: &str = "grad";

impl Meta {
    /// What has been told of a tensor.
    pub(crate) fn told(meta: &TensorMeta) -> Meta {
        let requires_grad = meta.facts.iter().any(|fact| **fact == *GRAD);
        let place = meta.facts.first().cloned().unwrap_or_default();
        Meta { shape: meta.shape.clone(), dtype: meta.dtype.clone(), place, requires_grad }
    }
}

impl From<Meta> for TensorMeta {
    fn from(meta: Meta) -> TensorMeta {
        TensorMeta::new(meta.shape, &meta.dtype).with(&meta.place).with(if meta.requires_grad { GRAD } else { "" })
    }
}

/// The extents that `obj.shape` gives.
pub(crate) fn shape(obj: &Bound<'_, PyAny>) -> PyResult<SmallVec<[i64; 6]>> {
    let shape = obj.getattr(intern!(obj.py(), "shape"))?;
    let list = shape.cast::<PyList>()?;
    list.iter().map(|d| d.extract::<i64>()).collect()
}

fn dtype_name(obj: &Bound<'_, PyAny>) -> PyResult<Box<str>> {
    let text = obj.getattr(intern!(obj.py(), "dtype"))?.str()?;
    let text = text.to_str()?;
    Ok(text.strip_prefix("paddle.").unwrap_or(text).into())
}

/// Meta data of an eager tensor.
pub(crate) fn of_tensor(tensor: &Bound<'_, PyAny>) -> PyResult<Meta> {
    let py = tensor.py();
    let place = tensor.getattr(intern!(py, "_place_str"))?;
    Ok(Meta {
        shape: shape(tensor)?,
        dtype: dtype_name(tensor)?,
        place: place_name(place.extract()?),
        requires_grad: !tensor.getattr(intern!(py, "stop_gradient"))?.extract::<bool>()?,
    })
}

/// Meta data of a symbolic value; `place` and `requires_grad` where the caller knows better than the program.
pub(crate) fn of_value(value: &Bound<'_, PyAny>, place: &str, requires_grad: Option<bool>) -> PyResult<Meta> {
    let py = value.py();
    let requires_grad = match requires_grad {
        Some(known) => known,
        None => !value.getattr(intern!(py, "stop_gradient"))?.extract::<bool>()?,
    };
    Ok(Meta { shape: shape(value)?, dtype: dtype_name(value)?, place: place.into(), requires_grad })
}

/// `Place(cpu)` -> `cpu`
fn place_name(text: &str) -> Box<str> {
    text.strip_prefix("Place(").and_then(|t| t.strip_suffix(')')).unwrap_or(text).into()
}

/// Where eager operations put their results now.
pub(crate) fn expected_place(py: Python<'_>, handles: &Handles) -> PyResult<Box<str>> {
    let place = handles.framework.bind(py).getattr(intern!(py, "_current_expected_place"))?.call0()?;
    Ok(place_name(place.str()?.to_str()?))
}
