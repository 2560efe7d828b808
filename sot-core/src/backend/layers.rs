//! Layers (modules, blocks): objects of the framework that are called, hold parameters and other layers, and are of classes that
//! programs subclass. A framework without them leaves [`Backend::layers`](super::Backend::layers) as it is.

use crate::stop::{Reason, Why};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How a layer is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerCall {
    /// As one `call_layer` statement: its class belongs to the framework, and so does all that it contains.
    Leaf,
    /// By simulating the method of the protocol ([`Layers::method`]): calling the layer is nothing but calling that.
    Method,
    /// By simulating the `__call__` of its class (hooks, a call protocol of its own).
    Simulate,
    /// Not simulated.
    Break(Why),
}

/// Where a layer keeps a value that is set as an attribute. Wherever the name was before, reading it finds the new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerStore {
    /// In the instance dict, as long as none of the [`Layers::attr_dicts`] has the name.
    Own,
    /// In this one of the attribute dicts, as long as no other one has the name.
    Dict {
        /// The name of the dict in the instance dict.
        name: &'static str,
        /// Whether the instance dict lets go of the name; else it must not have it.
        leaves_own: bool,
        /// Other containers in the instance dict in which the framework takes a note of it.
        notes: &'static [&'static str],
        /// Dicts in the instance dict that are empty: where one is not, the framework does something else.
        empty: &'static [&'static str],
    },
}

/// The layers of a framework. An answer about a layer runs no code of the program.
pub trait Layers {
    /// The method that a program writes, and that the `__call__` of layers calls. It is what `to_static` captures of a layer.
    fn method(&self) -> &'static str;
    /// How calling this layer is simulated. The default is always right: whatever the `__call__` of its class does.
    fn call(&self, _layer: &Bound<'_, PyAny>) -> LayerCall {
        LayerCall::Simulate
    }
    /// Whether a layer holds others and is nothing else: all that it does, calls included, is its class's Python.
    fn is_container(&self, _layer: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// Names of the instance dicts in which the class's `__getattr__` looks for an attribute, in order (those of parameters, of
    /// sub-layers); empty if the class of this object has no such fallback: then it is simulated as any.
    fn attr_dicts(&self, _layer: &Bound<'_, PyAny>) -> &'static [&'static str] {
        &[]
    }
    /// The function by which layers set attributes: the `__setattr__` of their base. One that a class of the program has is simulated and
    /// ends in it.
    fn writer<'py>(&self, _py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// Where that function puts a value of this class; `None` if it has other effects.
    fn store(&self, _layer: &Bound<'_, PyAny>, _class: &Bound<'_, PyAny>) -> Option<LayerStore> {
        None
    }
    /// For a leaf: every dict whose content a call of it depends on (instance dicts, parameters, buffers, hooks, of sub-layers too).
    fn leaf_state<'py>(&self, _layer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        Ok(Vec::new())
    }
    /// For a layer whose call is [`LayerCall::Method`]: the dicts that this answer depended on (its hooks).
    fn call_state<'py>(&self, _layer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        Ok(Vec::new())
    }
}

/// Of a framework that has none.
pub(super) struct NoLayers;

impl Layers for NoLayers {
    fn method(&self) -> &'static str {
        "__call__"
    }

    fn call(&self, _layer: &Bound<'_, PyAny>) -> LayerCall {
        LayerCall::Break(Why::new(Reason::ValueKind, "a layer of a framework that has none"))
    }
}
