//! Layers: where they come from (Python source inside the module), and how a call of one is captured.
//!
//! A framework's layers are Python classes, so the translator could simulate every call down to the operations. It
//! asks before: a layer that is the framework's own through and through is a *leaf*, one statement in the graph.

use crate::tensor::Tensor;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use sot_core::backend::{self, LayerCall, LayerStore};
use std::ffi::CStr;

/// Frames of code under this prefix are the framework's, see `Backend::skip_paths`.
pub(crate) const SOURCE: &str = "<toy_backend>";
const TEXT: &str = concat!(include_str!("layers.py"), "\0");

/// The instance dicts that `Layer.__getattr__` looks into, in its order.
const ATTR_DICTS: &[&str] = &["_parameters", "_sub_layers", "_buffers"];

pub(crate) struct Layers {
    base: Py<PyType>,
    own: Vec<Py<PyType>>,
    pub(crate) sum_of_squares: Py<PyAny>,
    /// The function that a board publishes by.
    pub(crate) publish: Py<PyAny>,
}

impl Layers {
    /// Run the source, and add its classes to the module.
    pub(crate) fn load(module: &Bound<'_, PyModule>) -> PyResult<Layers> {
        let py = module.py();
        // It imports the module that is just being made.
        py.import("sys")?.getattr("modules")?.set_item("toy_backend", module)?;
        let text = CStr::from_bytes_with_nul(TEXT.as_bytes()).expect("one zero, at the end");
        let made = PyModule::from_code(py, text, c"<toy_backend>/layers.py", c"toy_backend.layers")?;
        let mut own = Vec::new();
        for name in ["Layer", "Linear", "Sequential", "Verbose"] {
            let class = made.getattr(name)?.cast_into::<PyType>()?;
            module.add(name, &class)?;
            own.push(class.unbind());
        }
        let board = made.getattr("Board")?;
        module.add("Board", &board)?;
        let publish = board.getattr("publish")?.unbind();
        let sum_of_squares = made.getattr("sum_of_squares")?;
        py.get_type::<crate::tensor::Operand>().setattr("sum_of_squares", &sum_of_squares)?;
        Ok(Layers { base: own[0].clone_ref(py), own, sum_of_squares: sum_of_squares.unbind(), publish })
    }

    pub(crate) fn is_layer(&self, obj: &Bound<'_, PyAny>) -> bool {
        obj.get_type().is_subclass(self.base.bind(obj.py())).unwrap_or(false)
    }

    /// Whether the class still has the base class's attribute.
    pub(crate) fn inherits(&self, layer: &Bound<'_, PyAny>, name: &str) -> bool {
        match (layer.get_type().getattr(name), self.base.bind(layer.py()).getattr(name)) {
            (Ok(a), Ok(b)) => a.is(&b),
            _ => false,
        }
    }

    fn plain_call(&self, layer: &Bound<'_, PyAny>) -> bool {
        let hooks = member(layer, "_hooks").map(|h| h.is_empty());
        self.inherits(layer, "__call__") && hooks.unwrap_or(false)
    }

    fn is_leaf(&self, layer: &Bound<'_, PyAny>, depth: usize) -> bool {
        let overridden = || layer.getattr("__dict__")?.contains(intern!(layer.py(), "forward"));
        depth > 0
            && self.own.iter().any(|c| layer.get_type().is(c))
            && self.plain_call(layer)
            && !overridden().unwrap_or(true)
            && sublayers(layer).is_ok_and(|all| all.iter().all(|l| self.is_leaf(l, depth - 1)))
    }
}

impl backend::Layers for Layers {
    fn method(&self) -> &'static str {
        "forward"
    }

    /// Hooks and own protocols are simulated; a leaf is our class, and all that it contains is too.
    fn call(&self, layer: &Bound<'_, PyAny>) -> LayerCall {
        match () {
            () if !self.plain_call(layer) => LayerCall::Simulate,
            () if self.is_leaf(layer, 16) => LayerCall::Leaf,
            () => LayerCall::Method,
        }
    }

    /// Lets the translator read `self.weight` without simulating `Layer.__getattr__`; so only while that is ours.
    fn attr_dicts(&self, layer: &Bound<'_, PyAny>) -> &'static [&'static str] {
        if self.is_layer(layer) && self.inherits(layer, "__getattr__") { ATTR_DICTS } else { &[] }
    }

    fn writer<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.base.bind(py).getattr("__setattr__").ok()
    }

    /// What `Layer.__setattr__` does, in words that the translator understands: tensors and layers go to dicts of their own, and the
    /// instance dict keeps what it has.
    fn store(&self, _layer: &Bound<'_, PyAny>, class: &Bound<'_, PyAny>) -> Option<LayerStore> {
        let class = class.cast::<PyType>().ok()?;
        let of = |base: &Bound<'_, PyType>| class.is_subclass(base).unwrap_or(false);
        Some(match () {
            () if of(self.base.bind(class.py())) => {
                LayerStore::Dict { name: "_sub_layers", leaves_own: false, notes: &[], empty: &[] }
            }
            () if of(&class.py().get_type::<Tensor>()) => {
                LayerStore::Dict { name: "_parameters", leaves_own: false, notes: &[], empty: &[] }
            }
            () => LayerStore::Own,
        })
    }

    /// A leaf is one statement, so the translator sees nothing of what it reads: name it all.
    fn leaf_state<'py>(&self, layer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut dicts = Vec::new();
        state(layer, &mut dicts)?;
        Ok(dicts)
    }

    /// That there are no hooks is what `call` answered by.
    fn call_state<'py>(&self, layer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        Ok(vec![member(layer, "_hooks")?])
    }
}

fn member<'py>(layer: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyDict>> {
    Ok(layer.getattr("__dict__")?.get_item(name)?.cast_into()?)
}

fn sublayers<'py>(layer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    Ok(member(layer, "_sub_layers")?.values().iter().collect())
}

/// Every dict that a call of a leaf reads, its sub-layers' included; the empty ones too: something may be added.
fn state<'py>(layer: &Bound<'py, PyAny>, into: &mut Vec<Bound<'py, PyDict>>) -> PyResult<()> {
    into.push(layer.getattr("__dict__")?.cast_into()?);
    for name in ATTR_DICTS.iter().chain(&["_hooks"]) {
        into.push(member(layer, name)?);
    }
    sublayers(layer)?.iter().try_for_each(|l| state(l, into))
}

/// The tensors that a leaf computes with.
pub(crate) fn tensors<'py>(layer: &Bound<'py, PyAny>, into: &mut Vec<Bound<'py, Tensor>>) -> PyResult<()> {
    let mut dicts = Vec::new();
    state(layer, &mut dicts)?;
    into.extend(dicts.iter().flat_map(|d| d.values().iter()).filter_map(|v| v.cast_into::<Tensor>().ok()));
    Ok(())
}
