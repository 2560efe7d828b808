//! `PaddleBackend`: the translator's questions, each answered by the module that knows.

use crate::acting;
use crate::builder::PaddleBuilder;
use crate::classify::Classifier;
use crate::compare;
use crate::handles::Handles;
use crate::hooks;
use crate::{ambient, amp, control, default_dtype, fold, layers, meta, modes, parameters_made, tensor_check};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sot_core::backend::{
    AmbientCheck, Backend, CallKind, FreeAxis, Given, GraphBuilder, Kind, LayerCall, LayerStore, Layers, Mode, Parts,
    Surroundings, Switch, TensorCheck, TensorMeta,
};
use sot_core::code_unit::records::Promises;
use sot_core::stop::{Reason, Why};
use std::sync::Arc;

/// Functions and the arguments, by position and by name, whose number they write or compute with, and do not look at.
const NUMBERS: &[(&str, usize, &str)] = &[
    ("clip", 1, "min"),
    ("clip", 2, "max"),
    ("full", 1, "fill_value"),
    ("full_like", 1, "fill_value"),
    ("linspace", 0, "start"),
    ("linspace", 1, "stop"),
    ("masked_fill", 2, "value"),
    ("pow", 1, "y"),
    ("roll", 1, "shifts"),
    ("scale", 1, "scale"),
    ("scale", 2, "bias"),
    ("to_tensor", 0, "data"),
    ("uniform", 2, "min"),
    ("uniform", 3, "max"),
    // What writes in place.
    ("cauchy_", 1, "loc"),
    ("cauchy_", 2, "scale"),
    ("clamp_", 1, "min"),
    ("clamp_", 2, "max"),
    ("clip_", 1, "min"),
    ("clip_", 2, "max"),
    ("exponential_", 1, "lam"),
    ("fill_", 1, "value"),
    ("fill_diagonal_", 1, "value"),
    ("geometric_", 1, "probs"),
    ("index_fill_", 3, "value"),
    ("lerp_", 2, "weight"),
    ("log_normal_", 1, "mean"),
    ("log_normal_", 2, "std"),
    ("masked_fill_", 2, "value"),
    ("normal_", 1, "mean"),
    ("normal_", 2, "std"),
    ("pow_", 1, "y"),
    ("put_along_axis_", 2, "values"),
    ("scale_", 1, "scale"),
    ("scale_", 2, "bias"),
    ("uniform_", 1, "min"),
    ("uniform_", 2, "max"),
];

/// Whether an argument of an operation is in a table.
fn is_in(table: &[(&str, usize, &str)], name: &str, at: Given<'_>) -> bool {
    table.iter().any(|(operation, position, named)| {
        *operation == name && (at == Given::At(*position) || at == Given::Named(named))
    })
}

/// Operators of tensors, and the reading and writing of items by a number, or a tuple with numbers in it: no number decides the shape or the
/// type of what they give or write.
const OPERATORS: &[&str] = &[
    "__getitem__",
    "__setitem__",
    "__add__",
    "__sub__",
    "__mul__",
    "__truediv__",
    "__floordiv__",
    "__mod__",
    "__pow__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__eq__",
    "__ne__",
];

/// The backend for PaddlePaddle 3.x (PIR programs).
pub struct PaddleBackend {
    handles: Arc<Handles>,
    classifier: Classifier,
    native: Option<Arc<tensor_check::Native>>,
    ambient: ambient::Known,
}

/// Operations whose ints are all extents or positions, and that take integer tensors for them.
const EXTENTS: &[&str] = &[
    "__getitem__",
    "__setitem__",
    "arange",
    "broadcast_to",
    "empty",
    "expand",
    "full",
    "getitem",
    "ones",
    "rand",
    "randn",
    "reshape",
    "tile",
    "zeros",
];

/// Operations of whose arguments this one is a shape, by position and by name, and whose other ints are something else.
const SHAPES: &[(&str, usize, &str)] = &[
    ("crop", 1, "shape"),
    ("crop", 2, "offsets"),
    ("gaussian", 0, "shape"),
    ("interpolate", 1, "size"),
    ("linspace", 2, "num"),
    ("normal", 2, "shape"),
    ("pad", 1, "pad"),
    ("randint", 2, "shape"),
    ("slice", 2, "starts"),
    ("slice", 3, "ends"),
    ("split", 1, "num_or_sections"),
    ("standard_normal", 0, "shape"),
    ("topk", 1, "k"),
    ("uniform", 0, "shape"),
    ("upsample", 1, "size"),
];

impl PaddleBackend {
    /// Imports Paddle.
    pub fn new(py: Python<'_>) -> PyResult<PaddleBackend> {
        let handles = Arc::new(Handles::load(py)?);
        let classifier = Classifier::new(py, &handles)?;
        let native = tensor_check::Native::new(py, &handles);
        hooks::learn(handles.paddle.bind(py));
        Ok(PaddleBackend { handles, classifier, native, ambient: ambient::Known::default() })
    }
}

impl Backend for PaddleBackend {
    fn classify(&self, obj: &Bound<'_, PyAny>) -> Kind {
        self.classifier.classify(&self.handles, obj)
    }

    fn tensor_meta(&self, tensor: &Bound<'_, PyAny>) -> PyResult<TensorMeta> {
        meta::of_tensor(tensor).map(TensorMeta::from)
    }

    fn tensor_check(&self, tensor: &Bound<'_, PyAny>) -> PyResult<Box<dyn TensorCheck>> {
        tensor_check::new(self.native.as_ref(), tensor, &[])
    }

    fn tensor_check_that_varies(
        &self,
        tensor: &Bound<'_, PyAny>,
        axes: &[FreeAxis],
    ) -> Option<PyResult<Box<dyn TensorCheck>>> {
        Some(tensor_check::new(self.native.as_ref(), tensor, axes))
    }

    fn marked_axes(&self, tensor: &Bound<'_, PyAny>) -> Vec<usize> {
        control::dynamic_dims(tensor)
    }

    fn extent(&self, tensor: &Bound<'_, PyAny>, axis: usize) -> Option<i64> {
        match &self.native {
            Some(native) => native.extent(tensor, axis),
            None if self.handles.is_tensor(tensor) => meta::shape(tensor).ok()?.get(axis).copied(),
            None => None,
        }
    }

    fn ambient(&self, py: Python<'_>) -> PyResult<Arc<dyn AmbientCheck>> {
        self.ambient.now(py, &self.handles)
    }

    fn unavailable(&self, py: Python<'_>) -> Option<Why> {
        if !self.handles.in_dygraph(py) {
            return Some(Why::new(Reason::AmbientMode, "a static program is being built"));
        }
        ambient::unsupported(py, &self.handles)
    }

    /// Paddle's own `__hash__` hashes the address.
    fn tensors_hash_by_identity(&self, py: Python<'_>) -> bool {
        let module = |hash: Bound<'_, PyAny>| hash.getattr("__module__")?.extract::<String>();
        let own = |module: String| module == "paddle.base.dygraph.tensor_patch_methods";
        self.handles.tensor.bind(py).getattr("__hash__").and_then(module).is_ok_and(own)
    }

    fn is_flag(&self, class: &Bound<'_, PyAny>, name: &str) -> bool {
        name == "stop_gradient" && (class.is(&self.handles.tensor) || class.is(&self.handles.parameter))
    }

    /// An operator looks at the type of a number alone, and so do functions that fill and scale.
    fn takes_number(&self, _py: Python<'_>, kind: CallKind, name: &str, at: Given<'_>) -> bool {
        match kind {
            CallKind::Method => OPERATORS.contains(&name) || is_in(NUMBERS, name, at),
            CallKind::Api => is_in(NUMBERS, crate::names::bare(name), at),
            CallKind::Layer => false,
        }
    }

    fn takes_extents(&self, _py: Python<'_>, kind: CallKind, name: &str, at: Given<'_>) -> bool {
        let name = crate::names::bare(name);
        kind != CallKind::Layer && (EXTENTS.contains(&name) || is_in(SHAPES, name, at))
    }

    fn takes_at_run_time(&self, kind: CallKind, name: &str, at: Given<'_>) -> bool {
        parameters_made::takes_at_run_time(kind, name, at)
    }

    fn is_kept_apart(&self, class: &Bound<'_, PyAny>) -> bool {
        self.handles.parameters.as_ref().is_some_and(|made| made.is_counter(class))
    }

    fn stands_in_for<'py>(&self, function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        self.handles.parameters.as_ref()?.stands_in_for(function)
    }

    fn borrows_memory(&self, name: &str) -> bool {
        crate::names::borrows_memory(name)
    }

    fn may_do_nothing(&self, name: &str) -> bool {
        crate::names::may_do_nothing(name)
    }

    fn is_like(&self, value: &Bound<'_, PyAny>, meta: &TensorMeta) -> bool {
        acting::is_dense(value) && meta::of_tensor(value).is_ok_and(|real| TensorMeta::from(real) == *meta)
    }

    fn is_read_by_acts(&self, object: &Bound<'_, PyAny>, name: &str) -> bool {
        match self.classify(object) {
            // Only calls of layers ask for it.
            Kind::Layer => name != "training",
            _ => !acting::is_of_operations(object),
        }
    }

    fn acts_by_itself(
        &self,
        callee: Option<&Bound<'_, PyAny>>,
        on: &Bound<'_, PyAny>,
        reached: &[Bound<'_, PyAny>],
    ) -> bool {
        match callee {
            Some(_) => acting::is_its_own(on),
            None => reached.iter().all(acting::calls_no_hook),
        }
    }

    fn is_changed_by_acts(&self, object: &Bound<'_, PyAny>, name: &str) -> bool {
        match self.classify(object) {
            Kind::Tensor => acting::is_changed(name),
            _ => !acting::is_left_as_it_is(object),
        }
    }

    fn told_of<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Option<Parts<'py>>> {
        // Of its class: `__class__` may be code of the program.
        if !value.get_type().is_subclass(&self.tensor_class(value.py())?)? {
            return Ok(None);
        }
        compare::told(value).map(Some)
    }

    fn layers(&self) -> &dyn Layers {
        self
    }

    fn ignored_modules(&self, py: Python<'_>) -> Vec<String> {
        control::ignored_modules(py).unwrap_or_default()
    }

    fn promises(&self, code: &Bound<'_, PyAny>) -> Promises {
        control::promises(code).unwrap_or_default()
    }

    fn fold<'py>(
        &self,
        callee: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        at: &Surroundings<'_, 'py>,
    ) -> Option<Bound<'py, PyAny>> {
        fold::fold(&self.handles, callee, args, kwargs, at)
    }

    fn modes(&self) -> &'static [&'static str] {
        modes::NAMES
    }

    /// While the level is O0 nobody asks for the rest of amp but who reads it.
    fn is_mode_ambient(&self, mode: Mode) -> bool {
        matches!(mode, modes::GRAD | default_dtype::DEFAULT)
    }

    fn mode_of_item(&self, object: &Bound<'_, PyAny>, key: &str) -> Option<Mode> {
        modes::of_item(&self.handles, object, key)
    }

    fn mode<'py>(&self, py: Python<'py>, mode: Mode) -> PyResult<Bound<'py, PyAny>> {
        match mode {
            modes::GRAD => modes::grad(py, &self.handles),
            default_dtype::DEFAULT => default_dtype::read(py, &self.handles),
            modes::NPU_FORMAT => modes::npu_format(py, &self.handles),
            _ => amp::read(py, &self.handles, mode),
        }
    }

    fn set_mode(&self, mode: Mode, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match mode {
            modes::GRAD => modes::set_grad(&self.handles, value),
            default_dtype::DEFAULT => default_dtype::write(&self.handles, value),
            // No captured code changes it.
            modes::NPU_FORMAT => Ok(()),
            _ => amp::write(&self.handles, mode, value),
        }
    }

    fn mode_matters<'py>(
        &self,
        py: Python<'py>,
        mode: Mode,
        at: &dyn Fn(Mode) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<bool> {
        match mode {
            modes::GRAD | default_dtype::DEFAULT => Ok(true),
            modes::NPU_FORMAT => Ok(false),
            _ => amp::matters(py, &self.handles, mode, at),
        }
    }

    fn switch<'py>(
        &self,
        callee: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        _at: &Surroundings<'_, 'py>,
    ) -> Option<Switch<'py>> {
        match callee {
            callee if amp::is_one(&self.handles, callee) => amp::switch(&self.handles, callee, args, kwargs),
            callee if callee.getattr("__name__").is_ok_and(|name| name.eq("set_default_dtype").unwrap_or(false)) => {
                default_dtype::switch(&self.handles, args, kwargs)
            }
            _ => modes::switch(args, kwargs),
        }
    }

    fn skip_paths(&self, py: Python<'_>) -> Vec<String> {
        crate::classify::skip_paths(py, &self.handles)
    }

    fn is_taken_apart(&self, file: &str, function: &str) -> bool {
        crate::classify::is_taken_apart(file, function)
    }

    fn tensor_class<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.handles.tensor.bind(py).clone().into_any())
    }

    fn forgotten(&self, py: Python<'_>) {
        // What cannot be freed stays.
        let _ = crate::executors::clear(py, &self.handles, true);
    }

    fn begin<'py>(&self, py: Python<'py>) -> PyResult<Box<dyn GraphBuilder>> {
        Ok(Box::new(PaddleBuilder::begin(py, &self.handles)?))
    }
}

impl Layers for PaddleBackend {
    fn method(&self) -> &'static str {
        layers::METHOD
    }

    fn call(&self, layer: &Bound<'_, PyAny>) -> LayerCall {
        layers::layer_call(&self.handles, layer)
    }

    fn is_container(&self, layer: &Bound<'_, PyAny>) -> bool {
        layers::is_container(&self.handles, layer)
    }

    fn attr_dicts(&self, layer: &Bound<'_, PyAny>) -> &'static [&'static str] {
        layers::attr_dicts(&self.handles, layer)
    }

    fn writer<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.handles.layer.bind(py).getattr("__setattr__").ok()
    }

    fn store(&self, layer: &Bound<'_, PyAny>, class: &Bound<'_, PyAny>) -> Option<LayerStore> {
        layers::store(&self.handles, layer, class).ok().flatten()
    }

    fn leaf_state<'py>(&self, layer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        layers::leaf_state(layer)
    }

    fn call_state<'py>(&self, layer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        layers::call_state(layer)
    }
}
