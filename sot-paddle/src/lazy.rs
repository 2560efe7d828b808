//! Paddle on demand: `import sot` must not import Paddle, and must work where Paddle is not installed.

use crate::PaddleBackend;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use sot_core::backend::{AmbientCheck, Backend, GraphBuilder, Kind, LayerCall, TensorCheck, TensorMeta};
use sot_core::stop::{Reason, Why};

/// A [`PaddleBackend`] that is loaded when it is first asked. Without Paddle nothing is captured, with that reason.
pub struct LazyPaddle {
    loaded: PyOnceLock<Result<PaddleBackend, String>>,
}

impl Default for LazyPaddle {
    fn default() -> LazyPaddle {
        LazyPaddle { loaded: PyOnceLock::new() }
    }
}

impl LazyPaddle {
    fn get(&self, py: Python<'_>) -> Result<&PaddleBackend, &str> {
        let loaded = self.loaded.get_or_init(py, || PaddleBackend::new(py).map_err(|e| e.to_string()));
        loaded.as_ref().map_err(String::as_str)
    }

    fn need(&self, py: Python<'_>) -> PyResult<&PaddleBackend> {
        self.get(py).map_err(|e| {
            pyo3::exceptions::PyImportError::new_err(format!(
                "sot needs PaddlePaddle (pip install paddlepaddle), which cannot be imported: {e}"
            ))
        })
    }
}

impl Backend for LazyPaddle {
    fn name(&self) -> &'static str {
        "paddle"
    }

    fn classify(&self, obj: &Bound<'_, PyAny>) -> Kind {
        self.get(obj.py()).map_or(Kind::Unknown, |b| b.classify(obj))
    }

    fn tensor_meta(&self, tensor: &Bound<'_, PyAny>) -> PyResult<TensorMeta> {
        self.need(tensor.py())?.tensor_meta(tensor)
    }

    fn tensor_check(&self, tensor: &Bound<'_, PyAny>) -> PyResult<Box<dyn TensorCheck>> {
        self.need(tensor.py())?.tensor_check(tensor)
    }

    fn ambient(&self, py: Python<'_>) -> PyResult<Box<dyn AmbientCheck>> {
        self.need(py)?.ambient(py)
    }

    fn unavailable(&self, py: Python<'_>) -> Option<Why> {
        match self.get(py) {
            Ok(backend) => backend.unavailable(py),
            Err(error) => Some(Why::new(Reason::AmbientMode, format!("PaddlePaddle cannot be imported: {error}"))),
        }
    }

    fn layer_call(&self, layer: &Bound<'_, PyAny>) -> LayerCall {
        match self.get(layer.py()) {
            Ok(backend) => backend.layer_call(layer),
            Err(error) => LayerCall::Break(Why::new(Reason::AmbientMode, error)),
        }
    }

    fn layer_attr_dicts(&self, layer: &Bound<'_, PyAny>) -> &'static [&'static str] {
        self.get(layer.py()).map_or(&[], |b| b.layer_attr_dicts(layer))
    }

    fn leaf_state<'py>(&self, layer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.need(layer.py())?.leaf_state(layer)
    }

    fn call_state<'py>(&self, layer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.need(layer.py())?.call_state(layer)
    }

    fn fold<'py>(
        &self,
        callee: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        is_value: &dyn Fn(&Bound<'py, PyAny>) -> bool,
    ) -> Option<Bound<'py, PyAny>> {
        self.get(callee.py()).ok()?.fold(callee, args, kwargs, is_value)
    }

    fn skip_paths(&self, py: Python<'_>) -> Vec<String> {
        self.get(py).map(|b| b.skip_paths(py)).unwrap_or_default()
    }

    fn tensor_class<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.need(py)?.tensor_class(py)
    }

    fn begin<'py>(&self, py: Python<'py>) -> PyResult<Box<dyn GraphBuilder>> {
        self.need(py)?.begin(py)
    }
}
