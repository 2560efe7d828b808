//! `GraphBuilder`: how a graph grows while opcodes are simulated.
//!
//! The translator calls each operation once, at capture, with symbolic values in place of tensors. What the builder
//! owes it: append the operation or say why not, leave nothing half done, and answer at once what is known of the
//! result. What it must never do: write to a user's object, or let a number computed now into the graph.

use crate::compiled::{Compiled, Stream};
use crate::graph::{self, Node, Origin, Recorder, Value};
use crate::layers::{self, Layers};
use crate::mode;
use crate::op::Op;
use crate::tensor::{Tensor, dtype};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use sot_core::backend::{
    Acts, Attr, BuildError, CallKind, Effects, Extent, Finished, GraphBuilder, Mode, OpCall, SmallVec, TensorMeta,
    UserFrame,
};
use sot_core::stop::{Reason, Why};
use std::sync::Arc;

pub(crate) struct Builder {
    recorder: Recorder,
    layers: Arc<Layers>,
    /// Value number of each input.
    inputs: Vec<usize>,
    /// The grad mode of the operations that follow: what the captured code has made of the real one.
    grad: bool,
    /// How the operation acts that was appended last, and whether any does.
    acts: Acts,
    acted: bool,
}

/// Methods that append operations; every other name is a property, a break, or unknown.
const METHODS: &[&str] = &["sum", "mean", "max", "exp", "relu", "clone", "detach", "astype", "reshape", "split"];

fn no(reason: Reason, detail: impl Into<String>) -> BuildError {
    BuildError::new(Why::new(reason, detail))
}

/// The framework raised: what the user will see when the operation runs eagerly after the break.
fn raised(py: Python<'_>, name: &str, cause: PyErr) -> BuildError {
    let text = format!("{name}: {}", cause.value(py));
    BuildError { cause: Some(Box::new(cause)), ..no(Reason::ApiRejected, text) }
}

/// Names that write to an operand. Symbolic values have no memory to write to.
fn writes(name: &str) -> bool {
    let in_place_operator =
        name.starts_with("__i") && !matches!(name, "__invert__" | "__index__" | "__int__" | "__iter__");
    in_place_operator || matches!(name, "__setitem__" | "__delitem__") || (name.ends_with('_') && !name.ends_with("__"))
}

impl Builder {
    /// Enter building mode. What is entered here is left in `Drop`, which every path takes.
    pub(crate) fn begin(layers: Arc<Layers>) -> Builder {
        let recorder = Recorder::new();
        graph::set_building(Some(recorder.clone()));
        Builder { recorder, layers, inputs: Vec::new(), grad: mode::grad(), acts: Acts::Nothing, acted: false }
    }

    /// Build in the mode of the captured code; the real one is untouched.
    fn in_mode<R>(&self, build: impl FnOnce() -> R) -> R {
        let real = mode::set_grad(self.grad);
        let result = build();
        mode::set_grad(real);
        result
    }

    fn invoke<'py>(&self, py: Python<'py>, op: &OpCall<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        match (op.kind, op.callee) {
            (CallKind::Layer, Some(layer)) => {
                // A leaf's parameters become values of the graph; its guards see that they stay the same tensors.
                let mut state = Vec::new();
                layers::tensors(layer, &mut state)?;
                for tensor in state.iter().filter(|t| self.recorder.number(t).is_none()) {
                    let origin = Origin::State(Arc::new(tensor.clone().unbind()));
                    let meta = tensor.get().meta();
                    let extents = vec![Extent::Fixed; meta.shape.len()];
                    self.recorder.add(py, origin, meta, extents)?;
                }
                layer.call_method("forward", op.args.clone(), op.kwargs)
            }
            (_, Some(callee)) => callee.call(op.args, op.kwargs),
            (_, None) => op.args.get_item(0)?.getattr(op.name)?.call(op.args.get_slice(1, op.args.len()), op.kwargs),
        }
    }

    /// Symbolic values and plain constants may leave a call; anything else would be a number computed at capture.
    fn settled(&self, result: &Bound<'_, PyAny>) -> bool {
        if let Ok(tuple) = result.cast::<PyTuple>() {
            return tuple.iter().all(|i| self.settled(&i));
        }
        if let Ok(list) = result.cast_exact::<PyList>() {
            return list.iter().all(|i| self.settled(&i));
        }
        if let Ok(dict) = result.cast_exact::<PyDict>() {
            return dict.iter().all(|(k, v)| self.settled(&k) && self.settled(&v));
        }
        let plain = result.is_none()
            || result.is_exact_instance_of::<PyBool>()
            || result.is_exact_instance_of::<PyInt>()
            || result.is_exact_instance_of::<PyFloat>()
            || result.is_exact_instance_of::<PyString>();
        plain || self.is_value(result)
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        graph::set_building(None);
    }
}

impl GraphBuilder for Builder {
    fn input<'py>(&mut self, tensor: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, BuildError> {
        self.input_that_varies(tensor, &[])
    }

    /// The graph is built with what the extents are now; what follows from them is traced back to the input.
    fn input_that_varies<'py>(
        &mut self,
        tensor: &Bound<'py, PyAny>,
        axes: &[usize],
    ) -> Result<Bound<'py, PyAny>, BuildError> {
        let py = tensor.py();
        let meta = tensor.cast::<Tensor>().map_err(|e| raised(py, "input", e.into()))?.get().meta();
        let extent = |axis: usize| match axes.contains(&axis) {
            true => Extent::OfInput { input: self.inputs.len(), axis },
            false => Extent::Fixed,
        };
        let extents = (0..meta.shape.len()).map(extent).collect();
        let value = self.recorder.add(py, Origin::Input, meta, extents).map_err(|e| raised(py, "input", e))?;
        self.inputs.push(self.recorder.graph().nodes.len() - 1);
        Ok(value)
    }

    fn call<'py>(&mut self, op: &OpCall<'_, 'py>, _at: &[UserFrame]) -> Result<Bound<'py, PyAny>, BuildError> {
        let py = op.args.py();
        self.acts = Acts::Nothing;
        if op.callee.is_some_and(|callee| callee.is(&self.layers.publish)) {
            // No graph has a form of it.
            if op.may_act < Acts::OnAnything {
                return Err(no(Reason::FrameworkFunction, "publish"));
            }
            (self.acts, self.acted) = (Acts::OnAnything, true);
            return Ok(py.None().into_bound(py));
        }
        if writes(op.name) {
            return Err(no(Reason::InplaceTensor, op.name));
        }
        let before = self.recorder.graph().nodes.len();
        let outcome = match self.in_mode(|| self.invoke(py, op)) {
            Ok(result) if self.settled(&result) => return Ok(result),
            Ok(_) => {
                Err(no(Reason::ApiRejected, format!("{}: a result that is neither symbolic nor constant", op.name)))
            }
            Err(cause) => Err(raised(py, op.name, cause)),
        };
        // Nothing of a refused call stays behind.
        self.recorder.graph().nodes.truncate(before);
        outcome
    }

    fn acts(&self) -> Acts {
        self.acts
    }

    fn getattr<'py>(
        &mut self,
        value: &Bound<'py, PyAny>,
        name: &str,
        _at: &[UserFrame],
    ) -> Result<Attr<'py>, BuildError> {
        let py = value.py();
        let read = || self.in_mode(|| value.getattr(name)).map_err(|e| raised(py, name, e));
        if let ("shape" | "extents", Ok(value)) = (name, value.cast::<Value>())
            && value.get().extents.iter().any(|extent| *extent != Extent::Fixed)
        {
            let (shape, known_by) = (&value.get().meta.shape, value.get().extents.iter().cloned().collect());
            let example = match name {
                "shape" => PyTuple::new(py, shape).map(Bound::into_any),
                _ => PyList::new(py, shape).map(Bound::into_any),
            };
            return Ok(Attr::Extents { example: example.map_err(|e| raised(py, name, e))?, known_by });
        }
        Ok(match name {
            // The graph knows better than the value what was set since.
            "requires_grad" => match self.recorder.number(value) {
                Some(number) => {
                    let on = self.recorder.graph().nodes[number].meta.requires_grad;
                    Attr::Constant(PyBool::new(py, on).to_owned().into_any())
                }
                None => Attr::Constant(read()?),
            },
            "shape" | "ndim" | "dtype" => Attr::Constant(read()?),
            "extents" => Attr::Fresh(read()?),
            "T" => Attr::Value(read()?),
            "sum_of_squares" => Attr::Inline(self.layers.sum_of_squares.bind(py).clone()),
            "item" | "tolist" => Attr::Break(Why::new(Reason::TensorToHost, name)),
            _ if METHODS.contains(&name) => Attr::Method,
            _ if writes(name) => Attr::Break(Why::new(Reason::InplaceTensor, name)),
            _ => Attr::Break(Why::new(Reason::TensorAttribute, name)),
        })
    }

    fn extents(&mut self, value: &Bound<'_, PyAny>) -> Option<SmallVec<[Extent; 6]>> {
        let extents = &value.cast::<Value>().ok()?.get().extents;
        extents.iter().any(|extent| *extent != Extent::Fixed).then(|| extents.iter().cloned().collect())
    }

    fn switch(&mut self, _mode: Mode, value: &Bound<'_, PyAny>) -> Result<(), BuildError> {
        self.grad = value.extract().map_err(|e| raised(value.py(), "set_grad_enabled", e))?;
        Ok(())
    }

    fn set_flag(&mut self, tensor: &Bound<'_, PyAny>, name: &str, on: bool) -> Result<(), BuildError> {
        let number = self.recorder.number(tensor).ok_or_else(|| no(Reason::TensorAttribute, name))?;
        self.recorder.graph().nodes[number].meta.requires_grad = on;
        Ok(())
    }

    fn is_value(&self, obj: &Bound<'_, PyAny>) -> bool {
        obj.is_instance_of::<Value>() && self.recorder.number(obj).is_some()
    }

    fn meta(&self, value: &Bound<'_, PyAny>) -> PyResult<TensorMeta> {
        let value = value.cast::<Value>()?.get();
        let mut meta = describe(&value.meta);
        for (extent, _) in meta.shape.iter_mut().zip(&value.extents).filter(|(_, known_by)| **known_by != Extent::Fixed)
        {
            *extent = -1;
        }
        Ok(meta)
    }

    /// Close the graph: decide whether running it compiled would be told apart from running it eagerly.
    fn finish(
        self: Box<Self>,
        py: Python<'_>,
        inputs: &[usize],
        outputs: &[Py<PyAny>],
    ) -> Result<Finished, BuildError> {
        let graph = self.recorder.graph().clone();
        let number = |o: &Py<PyAny>| {
            self.recorder.number(o.bind(py)).ok_or_else(|| no(Reason::BackendFailed, "an output is no value"))
        };
        let outputs: Vec<usize> = outputs.iter().map(number).collect::<Result<_, _>>()?;
        let inputs: Vec<usize> = inputs.iter().map(|i| self.inputs[*i]).collect();
        let op_count = graph.nodes.iter().filter(|n: &&Node| matches!(n.origin, Origin::Computed(..))).count();
        // A run that fails half way must not have drawn numbers.
        let draws = graph.nodes.iter().any(|n| matches!(n.origin, Origin::Computed(Op::Uniform(_), _)));
        let effects = draws.then(|| Box::new(Stream) as Box<dyn Effects>);
        // Compiled code gives every output a memory of its own. Where eager execution would share one (a view of an
        // input, or two views of one value), only replay is exact.
        let owner = |o: &usize| graph.owner(*o);
        let shared = outputs.iter().enumerate().find(|(i, o)| {
            let of_outside = owner(o) != **o && !matches!(graph.nodes[owner(o)].origin, Origin::Computed(..));
            of_outside || outputs[..*i].iter().any(|other| other != *o && owner(other) == owner(o))
        });
        if let Some((i, _)) = shared {
            return Ok(Finished::replay_only(format!("output {i} is a view"), op_count).with_effects(effects));
        }
        if self.acted {
            return Ok(Finished::replay_only("something is published", op_count).with_effects(effects));
        }
        Ok(Finished::compiled(Compiled { graph, inputs, outputs }, op_count).with_effects(effects))
    }
}

/// Meta data in the translator's words.
pub(crate) fn describe(meta: &crate::op::Meta) -> TensorMeta {
    TensorMeta::new(meta.shape.iter().map(|d| *d as i64), meta.element.name())
        .with("host")
        .with(if meta.requires_grad { "grad" } else { "" })
}

/// The dtype object of an element type, for the classifier.
pub(crate) fn dtype_class<'py>(py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyType>> {
    Ok(dtype(py, crate::op::Element::Float64)?.bind(py).get_type())
}
