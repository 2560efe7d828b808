//! A graph: operations on numbered values, while it is built and when it runs.
//!
//! The framework builds one by running its ordinary Python functions in building mode: they append
//! operations to the [`Recorder`] and hand out symbolic [`Value`]s. Any framework with tracing has these three things
//! (a graph, a mode, a stand-in for tensors); the backend only steers them.

use crate::mode;
use crate::op::{Meta, Op};
use crate::tensor::{Operand, Tensor};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use sot_core::backend::Extent;
use std::cell::RefCell;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard};

/// Where a value of the graph comes from.
#[derive(Clone)]
pub(crate) enum Origin {
    /// Given at each call.
    Input,
    /// State of a layer: read at each call from the same tensor.
    State(Arc<Py<Tensor>>),
    /// The result of an operation on earlier values.
    Computed(Op, Vec<usize>),
}

#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) origin: Origin,
    /// Of this call.
    pub(crate) meta: Meta,
    pub(crate) extents: Vec<Extent>,
}

/// Values in the order of their making.
#[derive(Clone, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
}

impl Graph {
    /// The value whose memory a value shares in eager execution: views share with what they were taken from.
    pub(crate) fn owner(&self, value: usize) -> usize {
        match &self.nodes[value].origin {
            Origin::Computed(op, of) => match of.first() {
                Some(&source) if op.view(&self.nodes[source].meta).is_some() => self.owner(source),
                _ => value,
            },
            Origin::Input | Origin::State(_) => value,
        }
    }

    /// One line for each value.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let what = match &node.origin {
                Origin::Input => "input".to_owned(),
                Origin::State(_) => "state".to_owned(),
                Origin::Computed(op, of) => format!("{op:?}{of:?}"),
            };
            writeln!(text, "%{number} = {what} : {} {:?}", node.meta.element.name(), node.meta.shape).ok();
        }
        text
    }
}

/// A graph under construction, shared by its symbolic values.
#[derive(Clone)]
pub(crate) struct Recorder(Arc<Mutex<Graph>>);

impl Recorder {
    pub(crate) fn new() -> Recorder {
        Recorder(Arc::new(Mutex::new(Graph::default())))
    }

    pub(crate) fn graph(&self) -> MutexGuard<'_, Graph> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Add a value, and give the object that stands for it in Python.
    pub(crate) fn add<'py>(
        &self,
        py: Python<'py>,
        origin: Origin,
        meta: Meta,
        extents: Vec<Extent>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut graph = self.graph();
        graph.nodes.push(Node { origin, meta: meta.clone(), extents: extents.clone() });
        let value = Value { recorder: self.clone(), number: graph.nodes.len() - 1, meta, extents };
        Ok(Bound::new(py, PyClassInitializer::from(Operand).add_subclass(value))?.into_any())
    }

    /// The number of a symbolic value, or of a tensor that was made known as a layer's state.
    pub(crate) fn number(&self, operand: &Bound<'_, PyAny>) -> Option<usize> {
        if let Ok(value) = operand.cast::<Value>() {
            let value = value.get();
            return Arc::ptr_eq(&value.recorder.0, &self.0).then_some(value.number);
        }
        let known = |node: &Node| matches!(&node.origin, Origin::State(tensor) if tensor.is(operand));
        self.graph().nodes.iter().position(known)
    }

    /// Append an operation. An eager tensor that the graph does not know would be frozen into it: refused.
    pub(crate) fn append<'py>(
        &self,
        py: Python<'py>,
        op: Op,
        operands: &[Bound<'py, PyAny>],
    ) -> PyResult<Bound<'py, PyAny>> {
        let numbers: Option<Vec<usize>> = operands.iter().map(|o| self.number(o)).collect();
        let Some(numbers) = numbers else {
            return Err(PyRuntimeError::new_err("an operation on a tensor that is no input of the graph"));
        };
        let (meta, extents) = {
            let graph = self.graph();
            let operands: Vec<&Node> = numbers.iter().map(|n| &graph.nodes[*n]).collect();
            let metas: Vec<&Meta> = operands.iter().map(|o| &o.meta).collect();
            let meta = op.infer(&metas, mode::grad()).map_err(PyValueError::new_err)?;
            let traced: Vec<_> = operands.iter().map(|o| (&o.meta, &*o.extents)).collect();
            let extents = op.trace(&traced, &meta).map_err(PyValueError::new_err)?;
            (meta, extents)
        };
        self.add(py, Origin::Computed(op, numbers), meta, extents)
    }
}

/// What stands for a tensor while a graph is built.
#[pyclass(module = "toy_backend", extends = Operand, frozen)]
pub(crate) struct Value {
    recorder: Recorder,
    pub(crate) number: usize,
    /// Of this call.
    pub(crate) meta: Meta,
    pub(crate) extents: Vec<Extent>,
}

thread_local! {
    /// The graph that operations are appended to instead of being run.
    static BUILDING: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// The graph under construction in this thread.
pub(crate) fn building() -> Option<Recorder> {
    BUILDING.with_borrow(Clone::clone)
}

/// Enter (`Some`) or leave (`None`) building mode.
pub(crate) fn set_building(recorder: Option<Recorder>) -> Option<Recorder> {
    BUILDING.replace(recorder)
}
