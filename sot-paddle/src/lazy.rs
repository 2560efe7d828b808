//! Paddle on demand: `import sot` must not import Paddle, and must work where Paddle is not installed.

use crate::{PaddleBackend, layers, releases};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use sot_core::backend::{
    AmbientCheck, Backend, CallKind, FreeAxis, Given, GraphBuilder, Kind, LayerCall, LayerStore, Layers, Mode, Parts,
    Surroundings, Switch, TensorCheck, TensorMeta, nothing_ambient,
};
use sot_core::capture_all;
use sot_core::code_unit::records::Promises;
use sot_core::cpython::{facts, module};
use sot_core::stop::{Reason, Why};
use std::sync::Arc;

/// A [`PaddleBackend`] that is loaded when it is first asked. Without Paddle nothing is captured, with that reason;
/// unless everything is captured ([`capture_all`]): then Paddle is never imported for its own sake, and until the program
/// has done so there are no tensors.
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
        if self.loaded.get(py).is_none() && capture_all::on() && !is_imported(py) {
            return Err("the program has not imported it");
        }
        let known = self.loaded.get(py).is_some();
        let loaded = self.loaded.get_or_init(py, || load(py)).as_ref().map_err(String::as_str);
        if !known && loaded.is_ok() {
            releases::warn_of_untried(py);
        }
        loaded
    }

    fn need(&self, py: Python<'_>) -> PyResult<&PaddleBackend> {
        self.get(py).map_err(|why| PyImportError::new_err(format!("sot needs PaddlePaddle: {why}")))
    }
}

/// The backend, or why there is none.
fn load(py: Python<'_>) -> Result<PaddleBackend, String> {
    if let Err(error) = py.import("paddle") {
        return Err(format!("PaddlePaddle cannot be imported (pip install paddlepaddle): {error}"));
    }
    PaddleBackend::new(py)
        .map_err(|error| format!("PaddlePaddle {} lacks what sot needs: {error}", releases::version(py)))
}

/// Whether the program has imported Paddle, to the end.
fn is_imported(py: Python<'_>) -> bool {
    let Some(paddle) = facts::imported(py, "paddle") else { return false };
    let importing = paddle.getattr("__spec__").and_then(|spec| spec.getattr("_initializing"));
    !importing.is_ok_and(|importing| importing.is_truthy().unwrap_or(false))
}

/// Where Paddle's code would be, without importing it.
fn location(py: Python<'_>) -> Option<Vec<String>> {
    let spec = module(py, "importlib.util").ok()?.call_method1("find_spec", ("paddle",)).ok()?;
    spec.getattr("submodule_search_locations").ok()?.extract().ok()
}

impl Backend for LazyPaddle {
    fn classify(&self, obj: &Bound<'_, PyAny>) -> Kind {
        self.get(obj.py()).map_or(Kind::Unknown, |b| b.classify(obj))
    }

    fn tensor_meta(&self, tensor: &Bound<'_, PyAny>) -> PyResult<TensorMeta> {
        self.need(tensor.py())?.tensor_meta(tensor)
    }

    fn tensor_check(&self, tensor: &Bound<'_, PyAny>) -> PyResult<Box<dyn TensorCheck>> {
        self.need(tensor.py())?.tensor_check(tensor)
    }

    fn tensor_check_that_varies(
        &self,
        tensor: &Bound<'_, PyAny>,
        axes: &[FreeAxis],
    ) -> Option<PyResult<Box<dyn TensorCheck>>> {
        self.get(tensor.py()).ok()?.tensor_check_that_varies(tensor, axes)
    }

    fn marked_axes(&self, tensor: &Bound<'_, PyAny>) -> Vec<usize> {
        self.get(tensor.py()).map_or_else(|_| Vec::new(), |backend| backend.marked_axes(tensor))
    }

    fn extent(&self, tensor: &Bound<'_, PyAny>, axis: usize) -> Option<i64> {
        self.get(tensor.py()).ok()?.extent(tensor, axis)
    }

    fn ambient(&self, py: Python<'_>) -> PyResult<Arc<dyn AmbientCheck>> {
        match self.get(py) {
            // There are no tensors, and no modes either.
            Err(_) if capture_all::on() => Ok(nothing_ambient()),
            _ => self.need(py)?.ambient(py),
        }
    }

    fn unavailable(&self, py: Python<'_>) -> Option<Why> {
        match self.get(py) {
            Ok(backend) => backend.unavailable(py),
            // A program without Paddle is captured, too: it has no tensors.
            Err(_) if capture_all::on() => None,
            Err(error) => Some(Why::new(Reason::FrameworkUnusable, error)),
        }
    }

    fn tensors_hash_by_identity(&self, py: Python<'_>) -> bool {
        self.get(py).is_ok_and(|b| b.tensors_hash_by_identity(py))
    }

    fn is_flag(&self, class: &Bound<'_, PyAny>, name: &str) -> bool {
        self.get(class.py()).is_ok_and(|b| b.is_flag(class, name))
    }

    fn takes_number(&self, py: Python<'_>, kind: CallKind, name: &str, at: Given<'_>) -> bool {
        self.get(py).is_ok_and(|b| b.takes_number(py, kind, name, at))
    }

    fn takes_at_run_time(&self, kind: CallKind, name: &str, at: Given<'_>) -> bool {
        crate::parameters_made::takes_at_run_time(kind, name, at)
    }

    fn is_kept_apart(&self, class: &Bound<'_, PyAny>) -> bool {
        self.get(class.py()).is_ok_and(|backend| backend.is_kept_apart(class))
    }

    fn stands_in_for<'py>(&self, function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        self.get(function.py()).ok()?.stands_in_for(function)
    }

    fn borrows_memory(&self, name: &str) -> bool {
        crate::names::borrows_memory(name)
    }

    fn may_do_nothing(&self, name: &str) -> bool {
        crate::names::may_do_nothing(name)
    }

    fn is_like(&self, value: &Bound<'_, PyAny>, meta: &TensorMeta) -> bool {
        self.get(value.py()).is_ok_and(|backend| backend.is_like(value, meta))
    }

    fn is_read_by_acts(&self, object: &Bound<'_, PyAny>, name: &str) -> bool {
        self.get(object.py()).map_or(true, |backend| backend.is_read_by_acts(object, name))
    }

    fn acts_by_itself(
        &self,
        callee: Option<&Bound<'_, PyAny>>,
        on: &Bound<'_, PyAny>,
        reached: &[Bound<'_, PyAny>],
    ) -> bool {
        self.get(on.py()).is_ok_and(|backend| backend.acts_by_itself(callee, on, reached))
    }

    fn is_changed_by_acts(&self, object: &Bound<'_, PyAny>, name: &str) -> bool {
        self.get(object.py()).map_or(true, |backend| backend.is_changed_by_acts(object, name))
    }

    fn told_of<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Option<Parts<'py>>> {
        self.get(value.py()).map_or(Ok(None), |backend| backend.told_of(value))
    }

    fn takes_extents(&self, py: Python<'_>, kind: CallKind, name: &str, at: Given<'_>) -> bool {
        self.get(py).is_ok_and(|backend| backend.takes_extents(py, kind, name, at))
    }

    fn layers(&self) -> &dyn Layers {
        self
    }

    fn ignored_modules(&self, py: Python<'_>) -> Vec<String> {
        self.get(py).map_or_else(|_| Vec::new(), |b| b.ignored_modules(py))
    }

    fn promises(&self, code: &Bound<'_, PyAny>) -> Promises {
        self.get(code.py()).map_or_else(|_| Promises::default(), |b| b.promises(code))
    }

    fn fold<'py>(
        &self,
        callee: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        at: &Surroundings<'_, 'py>,
    ) -> Option<Bound<'py, PyAny>> {
        self.get(callee.py()).ok()?.fold(callee, args, kwargs, at)
    }

    fn modes(&self) -> &'static [&'static str] {
        crate::modes::NAMES
    }

    fn is_mode_ambient(&self, mode: Mode) -> bool {
        Python::attach(|py| self.get(py).map_or(true, |backend| backend.is_mode_ambient(mode)))
    }

    fn mode_of_item(&self, object: &Bound<'_, PyAny>, key: &str) -> Option<Mode> {
        self.get(object.py()).ok()?.mode_of_item(object, key)
    }

    fn mode<'py>(&self, py: Python<'py>, mode: Mode) -> PyResult<Bound<'py, PyAny>> {
        self.need(py)?.mode(py, mode)
    }

    fn set_mode(&self, mode: Mode, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.need(value.py())?.set_mode(mode, value)
    }

    fn mode_matters<'py>(
        &self,
        py: Python<'py>,
        mode: Mode,
        at: &dyn Fn(Mode) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<bool> {
        self.need(py)?.mode_matters(py, mode, at)
    }

    fn switch<'py>(
        &self,
        callee: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        at: &Surroundings<'_, 'py>,
    ) -> Option<Switch<'py>> {
        self.get(callee.py()).ok()?.switch(callee, args, kwargs, at)
    }

    fn is_taken_apart(&self, file: &str, function: &str) -> bool {
        crate::classify::is_taken_apart(file, function)
    }

    fn skip_paths(&self, py: Python<'_>) -> Vec<String> {
        match self.get(py) {
            Ok(backend) => backend.skip_paths(py),
            Err(_) if capture_all::on() => location(py).unwrap_or_default(),
            Err(_) => Vec::new(),
        }
    }

    fn tensor_class<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.need(py)?.tensor_class(py)
    }

    fn forgotten(&self, py: Python<'_>) {
        // Nobody has forgotten anything of a framework that was not there.
        if let Some(Ok(backend)) = self.loaded.get(py) {
            backend.forgotten(py);
        }
    }

    fn begin<'py>(&self, py: Python<'py>) -> PyResult<Box<dyn GraphBuilder>> {
        self.need(py)?.begin(py)
    }
}

impl Layers for LazyPaddle {
    fn method(&self) -> &'static str {
        layers::METHOD
    }

    fn call(&self, layer: &Bound<'_, PyAny>) -> LayerCall {
        match self.get(layer.py()) {
            Ok(backend) => backend.call(layer),
            Err(error) => LayerCall::Break(Why::new(Reason::FrameworkUnusable, error)),
        }
    }

    fn is_container(&self, layer: &Bound<'_, PyAny>) -> bool {
        self.get(layer.py()).is_ok_and(|backend| backend.is_container(layer))
    }

    fn attr_dicts(&self, layer: &Bound<'_, PyAny>) -> &'static [&'static str] {
        self.get(layer.py()).map_or(&[], |backend| backend.attr_dicts(layer))
    }

    fn writer<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.get(py).ok().and_then(|backend| backend.writer(py))
    }

    fn store(&self, layer: &Bound<'_, PyAny>, class: &Bound<'_, PyAny>) -> Option<LayerStore> {
        self.get(layer.py()).ok().and_then(|backend| backend.store(layer, class))
    }

    fn leaf_state<'py>(&self, layer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.need(layer.py())?.leaf_state(layer)
    }

    fn call_state<'py>(&self, layer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.need(layer.py())?.call_state(layer)
    }
}
