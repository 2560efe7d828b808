//! The backend as Python classes: what `tests/python/paddle_backend` drives, without a translator in between.

use crate::PaddleBackend;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use sot_core::backend::{
    Acts, AmbientCheck, Attr, Backend, BuildError, CallKind, CompiledGraph, Form, GraphBuilder, LayerCall, Layers,
    OpCall, Surroundings, TensorCheck, UserFrame,
};
use std::sync::Arc;

/// A refusal: its message starts with the code of the reason; the framework's exception is its cause.
fn refused(py: Python<'_>, error: BuildError) -> PyErr {
    let raised = PyRuntimeError::new_err(error.why.to_string());
    raised.set_cause(py, error.cause.map(|cause| *cause));
    raised
}

#[pyclass(frozen, name = "Backend")]
struct PyBackend(PaddleBackend);

#[pymethods]
impl PyBackend {
    #[new]
    fn new(py: Python<'_>) -> PyResult<PyBackend> {
        PaddleBackend::new(py).map(PyBackend)
    }
    fn classify(&self, obj: &Bound<'_, PyAny>) -> String {
        format!("{:?}", self.0.classify(obj))
    }
    fn tensor_meta(&self, tensor: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(self.0.tensor_meta(tensor)?.to_string())
    }
    fn tensor_check(&self, tensor: &Bound<'_, PyAny>) -> PyResult<Check> {
        self.0.tensor_check(tensor).map(Check)
    }
    fn ambient(&self, py: Python<'_>) -> PyResult<Ambient> {
        self.0.ambient(py).map(Ambient)
    }
    fn unavailable(&self, py: Python<'_>) -> Option<String> {
        self.0.unavailable(py).map(|why| why.to_string())
    }
    fn layer_call(&self, layer: &Bound<'_, PyAny>) -> String {
        match self.0.call(layer) {
            LayerCall::Leaf => "leaf".to_owned(),
            LayerCall::Method => self.0.method().to_owned(),
            LayerCall::Simulate => "simulate".to_owned(),
            LayerCall::Break(why) => why.to_string(),
        }
    }
    fn leaf_state<'py>(&self, layer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.0.leaf_state(layer)
    }
    #[pyo3(signature = (callee, args, kwargs=None))]
    fn fold<'py>(
        &self,
        callee: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> Option<Bound<'py, PyAny>> {
        let is_value = |o: &Bound<'py, PyAny>| o.get_type().name().is_ok_and(|n| n == "Value");
        let mode = |mode| self.0.mode(callee.py(), mode);
        self.0.fold(callee, args, kwargs, &Surroundings { is_value: &is_value, mode: &mode, of_framework: false })
    }
    fn begin(&self, py: Python<'_>) -> PyResult<Builder> {
        Ok(Builder { inner: Some(self.0.begin(py)?), at: Vec::new() })
    }
}

#[pyclass(frozen)]
struct Check(Box<dyn TensorCheck>);

#[pymethods]
impl Check {
    fn matches(&self, tensor: &Bound<'_, PyAny>) -> bool {
        self.0.matches(tensor.as_borrowed())
    }
    /// Nanoseconds of one native check.
    fn time(&self, tensor: &Bound<'_, PyAny>, rounds: u32) -> f64 {
        let start = std::time::Instant::now();
        for _ in 0..rounds {
            std::hint::black_box(self.0.matches(std::hint::black_box(tensor.as_borrowed())));
        }
        start.elapsed().as_nanos() as f64 / f64::from(rounds)
    }
}

#[pyclass(frozen)]
struct Ambient(Arc<dyn AmbientCheck>);

#[pymethods]
impl Ambient {
    fn matches(&self, py: Python<'_>) -> bool {
        self.0.matches(py)
    }
    fn describe(&self) -> Vec<String> {
        self.0.describe()
    }
    fn time(&self, py: Python<'_>, rounds: u32) -> f64 {
        let start = std::time::Instant::now();
        for _ in 0..rounds {
            std::hint::black_box(self.0.matches(py));
        }
        start.elapsed().as_nanos() as f64 / f64::from(rounds)
    }
}

#[pyclass(unsendable)]
struct Builder {
    inner: Option<Box<dyn GraphBuilder>>,
    at: Vec<UserFrame>,
}

impl Builder {
    fn open(&mut self) -> PyResult<&mut Box<dyn GraphBuilder>> {
        self.inner.as_mut().ok_or_else(|| PyValueError::new_err("the builder is closed"))
    }
}

#[pymethods]
impl Builder {
    fn input<'py>(&mut self, py: Python<'py>, tensor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.open()?.input(tensor).map_err(|e| refused(py, e))
    }
    /// The user's line for what follows.
    fn at(&mut self, file: &str, line: u32, function: &str) {
        self.at = vec![UserFrame { file: file.into(), function: function.into(), line }];
    }
    #[pyo3(signature = (kind, name, callee, args, kwargs=None))]
    fn call<'py>(
        &mut self,
        py: Python<'py>,
        kind: &str,
        name: &str,
        callee: Option<&Bound<'py, PyAny>>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let kind = match kind {
            "api" => CallKind::Api,
            "method" => CallKind::Method,
            "layer" => CallKind::Layer,
            _ => return Err(PyValueError::new_err("kind is api, method or layer")),
        };
        let at = self.at.clone();
        self.open()?
            .call(&OpCall { kind, name, callee, args, kwargs, may_act: Acts::Nothing }, &at)
            .map_err(|e| refused(py, e))
    }
    fn getattr<'py>(
        &mut self,
        py: Python<'py>,
        value: &Bound<'py, PyAny>,
        name: &str,
    ) -> PyResult<(&'static str, Option<Bound<'py, PyAny>>)> {
        let at = self.at.clone();
        Ok(match self.open()?.getattr(value, name, &at).map_err(|e| refused(py, e))? {
            Attr::Constant(v) => ("constant", Some(v)),
            Attr::Fresh(v) => ("fresh", Some(v)),
            Attr::Extents { example, .. } => ("extents", Some(example)),
            Attr::Method => ("method", None),
            Attr::Value(v) => ("value", Some(v)),
            Attr::Inline(v) => ("inline", Some(v)),
            Attr::Field => ("field", None),
            Attr::Default => ("default", None),
            Attr::Kept { .. } => ("kept", None),
            Attr::Break(why) => ("break", Some(why.to_string().into_pyobject(py)?.into_any())),
        })
    }
    fn is_value(&mut self, obj: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.open()?.is_value(obj))
    }
    fn meta(&mut self, value: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(self.open()?.meta(value)?.to_string())
    }
    fn finish(&mut self, py: Python<'_>, inputs: Vec<usize>, outputs: Vec<Py<PyAny>>) -> PyResult<Graph> {
        let inner = self.inner.take().ok_or_else(|| PyValueError::new_err("the builder is closed"))?;
        let done = inner.finish(py, &inputs, &outputs).map_err(|e| refused(py, e))?;
        let (compiled, replay_only) = match done.form {
            Form::Compiled(compiled) => (Some(compiled), None),
            Form::ReplayOnly(why) => (None, Some(why)),
        };
        Ok(Graph { compiled, replay_only, op_count: done.op_count, has_effects: done.effects.is_some() })
    }
    /// Drop without finishing.
    fn abandon(&mut self) {
        self.inner = None;
    }
}

#[pyclass(frozen)]
struct Graph {
    compiled: Option<Box<dyn CompiledGraph>>,
    #[pyo3(get)]
    replay_only: Option<String>,
    #[pyo3(get)]
    op_count: usize,
    #[pyo3(get)]
    has_effects: bool,
}

impl Graph {
    fn compiled(&self) -> PyResult<&dyn CompiledGraph> {
        self.compiled.as_deref().ok_or_else(|| PyValueError::new_err("the graph is for replay only"))
    }
}

#[pymethods]
impl Graph {
    fn run<'py>(&self, py: Python<'py>, inputs: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyList>> {
        let held: Vec<Bound<'py, PyAny>> = inputs.iter().collect();
        let borrowed: Vec<Borrowed<'_, 'py, PyAny>> = held.iter().map(|t| t.as_borrowed()).collect();
        PyList::new(py, self.compiled()?.run(py, &borrowed)?)
    }
    /// By what the outputs of a run differ from these.
    fn difference<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyList>,
        eager: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Option<String>> {
        let ours: Vec<Bound<'py, PyAny>> = self.run(py, inputs)?.iter().collect();
        self.compiled()?.difference(py, &ours, &eager)
    }
    /// Microseconds of one run.
    fn time<'py>(&self, py: Python<'py>, inputs: &Bound<'py, PyList>, rounds: u32) -> PyResult<f64> {
        let held: Vec<Bound<'py, PyAny>> = inputs.iter().collect();
        let borrowed: Vec<Borrowed<'_, 'py, PyAny>> = held.iter().map(|t| t.as_borrowed()).collect();
        let compiled = self.compiled()?;
        let start = std::time::Instant::now();
        for _ in 0..rounds {
            compiled.run(py, &borrowed)?;
        }
        Ok(start.elapsed().as_nanos() as f64 / 1e3 / f64::from(rounds))
    }
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.compiled()?.text(py))
    }
}

/// Add the classes to a module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyBackend>()
}
