//! `Backend`: what the framework's objects are. Read it from top to bottom as the list of questions to answer.

use crate::builder::{Builder, describe, dtype_class};
use crate::graph;
use crate::layers::{Layers, SOURCE};
use crate::mode;
use crate::op::Meta;
use crate::tensor::Tensor;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple, PyType};
use sot_core::backend::{
    AmbientCheck, Backend, CallKind, FreeAxis, Given, GraphBuilder, Kind, Mode, Parts, Surroundings, Switch,
    TensorCheck, TensorMeta,
};
use sot_core::stop::{Reason, Why};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Functions that append an operation when they are called in building mode.
const APIS: &[&str] =
    &["tensor", "zeros", "add", "matmul", "relu", "log", "concat", "extrema", "uniform", "unreliable", "halves"];
/// Functions whose result follows from meta data and guarded modes.
const FOLDABLE: &[&str] = &["is_tensor", "is_grad_enabled"];

/// The one mode that captured code may change.
const GRAD: Mode = 0;

/// The made-up framework.
pub(crate) struct Toy {
    layers: Arc<Layers>,
    /// What each function of the module is, by identity: a user's function is never mistaken for one of these.
    functions: HashMap<usize, (Py<PyAny>, Kind)>,
    dtype: Py<PyType>,
}

impl Toy {
    /// When all functions are in the module.
    pub(crate) fn new(module: &Bound<'_, PyModule>, layers: Layers) -> PyResult<Toy> {
        let mut functions = HashMap::new();
        let mut add = |name: &str, kind: Kind| -> PyResult<()> {
            let function = module.getattr(name)?;
            functions.insert(function.as_ptr() as usize, (function.unbind(), kind));
            Ok(())
        };
        APIS.iter().try_for_each(|name| add(name, Kind::Api))?;
        FOLDABLE.iter().try_for_each(|name| add(name, Kind::Foldable))?;
        add("show", Kind::Break(Why::new(Reason::Output, "toy.show")))?;
        // Of the debug mode no graph knows anything.
        add("set_grad_enabled", Kind::Switch)?;
        for name in ["set_debug_mode", "seed", "random_state"] {
            add(name, Kind::Break(Why::new(Reason::FrameworkFunction, name)))?;
        }
        let publish = layers.publish.clone_ref(module.py());
        functions.insert(publish.as_ptr() as usize, (publish, Kind::Acts));
        Ok(Toy { layers: Arc::new(layers), functions, dtype: dtype_class(module.py())?.unbind() })
    }
}

/// Exact type, shape, element type and flag: all that the graph was specialised on.
struct Check(Meta);

impl TensorCheck for Check {
    fn matches(&self, tensor: Borrowed<'_, '_, PyAny>) -> bool {
        tensor.cast_exact::<Tensor>().is_ok_and(|t| t.get().agrees(&self.0))
    }
}

/// The same, but for extents along some axes, which need only be within bounds.
struct CheckBut {
    meta: Meta,
    axes: Vec<FreeAxis>,
}

impl TensorCheck for CheckBut {
    fn matches(&self, tensor: Borrowed<'_, '_, PyAny>) -> bool {
        let Ok(tensor) = tensor.cast_exact::<Tensor>() else { return false };
        let mut meta = tensor.get().meta();
        if meta.shape.len() != self.meta.shape.len() {
            return false;
        }
        for free in &self.axes {
            let extent = std::mem::replace(&mut meta.shape[free.axis], self.meta.shape[free.axis]);
            if !free.holds(extent as i64) {
                return false;
            }
        }
        meta == self.meta
    }
}

/// The grad mode: `requires_grad` of every result depends on it.
struct GradMode(bool);

impl AmbientCheck for GradMode {
    fn matches(&self, _py: Python<'_>) -> bool {
        mode::grad() == self.0
    }

    fn describe(&self) -> Vec<String> {
        vec![format!("gradients are {}recorded", if self.0 { "" } else { "not " })]
    }
}

impl Backend for Toy {
    fn told_of<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Option<Parts<'py>>> {
        value.cast::<Tensor>().ok().map(|tensor| tensor.get().told(value.py())).transpose()
    }

    /// Asked for every object that the translator meets, so cheap questions come first: the exact type, then identity.
    /// What is not the framework's is `Unknown`, never a guess. A subclass of the tensor class may have given every
    /// operator another meaning, so it stops a capture.
    fn classify(&self, obj: &Bound<'_, PyAny>) -> Kind {
        let py = obj.py();
        if obj.is_exact_instance_of::<Tensor>() {
            return Kind::Tensor;
        }
        if obj.is_instance_of::<Tensor>() {
            return Kind::Break(Why::new(Reason::ValueKind, "an instance of a subclass of toy.Tensor"));
        }
        if obj.get_type().is(self.dtype.bind(py)) {
            return Kind::Constant;
        }
        if let Some((_, kind)) = self.functions.get(&(obj.as_ptr() as usize)) {
            return kind.clone();
        }
        if self.layers.is_layer(obj) { Kind::Layer } else { Kind::Unknown }
    }

    /// For guards and messages.
    fn tensor_meta(&self, tensor: &Bound<'_, PyAny>) -> PyResult<TensorMeta> {
        Ok(describe(&tensor.cast::<Tensor>()?.get().meta()))
    }

    /// Runs at each call for each tensor that is passed: the one place where nanoseconds count.
    fn tensor_check(&self, tensor: &Bound<'_, PyAny>) -> PyResult<Box<dyn TensorCheck>> {
        Ok(Box::new(Check(tensor.cast::<Tensor>()?.get().meta())))
    }

    fn tensor_check_that_varies(
        &self,
        tensor: &Bound<'_, PyAny>,
        axes: &[FreeAxis],
    ) -> Option<PyResult<Box<dyn TensorCheck>>> {
        let meta = tensor.cast::<Tensor>().ok()?.get().meta();
        Some(Ok(Box::new(CheckBut { meta, axes: axes.to_vec() })))
    }

    fn extent(&self, tensor: &Bound<'_, PyAny>, axis: usize) -> Option<i64> {
        Some(*tensor.cast_exact::<Tensor>().ok()?.get().shape.get(axis)? as i64)
    }

    /// Every mode that changes what an operation does.
    fn ambient(&self, _py: Python<'_>) -> PyResult<Arc<dyn AmbientCheck>> {
        static BOTH: OnceLock<[Arc<dyn AmbientCheck>; 2]> = OnceLock::new();
        let both = BOTH.get_or_init(|| [Arc::new(GradMode(false)), Arc::new(GradMode(true))]);
        Ok(both[usize::from(mode::grad())].clone())
    }

    /// Modes in which capturing makes no sense; asked before each capture, so no need to guard them.
    fn unavailable(&self, _py: Python<'_>) -> Option<Why> {
        match () {
            () if mode::debug() => Some(Why::new(Reason::AmbientMode, "the debug mode runs operations one by one")),
            () if graph::building().is_some() => Some(Why::new(Reason::AmbientMode, "a graph is being built")),
            () => None,
        }
    }

    fn tensors_hash_by_identity(&self, _py: Python<'_>) -> bool {
        true
    }

    /// What `tensor.requires_grad = on` changes holds for later operations alone.
    fn is_flag(&self, class: &Bound<'_, PyAny>, name: &str) -> bool {
        name == "requires_grad" && class.is(class.py().get_type::<Tensor>())
    }

    /// A number is a tensor whose element type follows from its own.
    fn takes_number(&self, _py: Python<'_>, kind: CallKind, name: &str, _at: Given<'_>) -> bool {
        kind == CallKind::Method
            && matches!(name, "__add__" | "__sub__" | "__mul__" | "__truediv__" | "__gt__" | "__lt__")
    }

    fn layers(&self) -> &dyn sot_core::backend::Layers {
        &*self.layers
    }

    /// A board that nobody listens to calls nobody.
    fn acts_by_itself(
        &self,
        _callee: Option<&Bound<'_, PyAny>>,
        on: &Bound<'_, PyAny>,
        _reached: &[Bound<'_, PyAny>],
    ) -> bool {
        on.getattr("listeners").and_then(|listeners| listeners.len()).is_ok_and(|listeners| listeners == 0)
    }

    /// In building mode the functions would see symbolic values; the answer must be eager's.
    fn fold<'py>(
        &self,
        callee: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        at: &Surroundings<'_, 'py>,
    ) -> Option<Bound<'py, PyAny>> {
        let result = callee.call(args, kwargs).ok().filter(|r| r.is_exact_instance_of::<PyBool>())?;
        match self.functions.get(&(callee.as_ptr() as usize))?.1 {
            // Of the real mode, which the captured code may have changed by now.
            Kind::Foldable if callee.getattr("__name__").is_ok_and(|n| n.eq("is_grad_enabled").unwrap_or(false)) => {
                (at.mode)(GRAD).ok()
            }
            // Tensors and symbolic values share the class that `is_tensor` asks for.
            _ => Some(result),
        }
    }

    /// The grad mode may be changed half way through a graph.
    fn modes(&self) -> &'static [&'static str] {
        &["grad_mode"]
    }

    fn mode<'py>(&self, py: Python<'py>, _mode: Mode) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyBool::new(py, mode::grad()).to_owned().into_any())
    }

    fn set_mode(&self, _mode: Mode, value: &Bound<'_, PyAny>) -> PyResult<()> {
        mode::set_grad(value.extract()?);
        Ok(())
    }

    /// `set_grad_enabled(on)` gives what it was before. What is no bool raises, and not here.
    fn switch<'py>(
        &self,
        _callee: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        at: &Surroundings<'_, 'py>,
    ) -> Option<Switch<'py>> {
        let value = match (args.len(), kwargs.map_or(0, |k| k.len())) {
            (1, 0) => args.get_item(0).ok()?,
            (0, 1) => kwargs?.get_item("on").ok()??,
            _ => return None,
        };
        value.is_exact_instance_of::<PyBool>().then_some(())?;
        Some(Switch { mode: GRAD, value, gives: (at.mode)(GRAD).ok()? })
    }

    /// The prefix of the file names in the code objects of the framework's own Python source.
    fn skip_paths(&self, _py: Python<'_>) -> Vec<String> {
        vec![SOURCE.to_owned()]
    }

    fn tensor_class<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(py.get_type::<Tensor>().into_any())
    }

    /// A builder that is dropped without `finish` must leave building mode as well.
    fn begin<'py>(&self, _py: Python<'py>) -> PyResult<Box<dyn GraphBuilder>> {
        Ok(Box::new(Builder::begin(self.layers.clone())))
    }
}
