//! `CompiledGraph`: a closed graph that runs without Python objects in between.
//!
//! It may raise (a logarithm of zero is only found when it runs): it has changed nothing by then, so the translator
//! runs the user's original frame, which raises the same at the user's own line.

use crate::graph::{Graph, Origin};
use crate::tensor::Tensor;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sot_core::backend::CompiledGraph;
use sot_core::backend::SmallVec;

pub(crate) struct Compiled {
    pub(crate) graph: Graph,
    /// Values that are given, in the order of a call's arguments.
    pub(crate) inputs: Vec<usize>,
    pub(crate) outputs: Vec<usize>,
}

impl CompiledGraph for Compiled {
    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: &[Borrowed<'_, 'py, PyAny>],
    ) -> PyResult<SmallVec<[Bound<'py, PyAny>; 4]>> {
        let mut numbers: Vec<Vec<f64>> = Vec::with_capacity(self.graph.nodes.len());
        for (number, node) in self.graph.nodes.iter().enumerate() {
            numbers.push(match &node.origin {
                Origin::Input => match self.inputs.iter().position(|i| *i == number) {
                    Some(at) => inputs[at].cast::<Tensor>()?.get().numbers(),
                    // Nothing that is returned needs it.
                    None => vec![0.0; node.meta.count()],
                },
                Origin::State(tensor) => tensor.get().numbers(),
                Origin::Computed(op, of) => {
                    let of: Vec<_> = of.iter().map(|o| (&self.graph.nodes[*o].meta, numbers[*o].as_slice())).collect();
                    op.eval(&of, &node.meta).map_err(PyValueError::new_err)?
                }
            });
        }
        let output = |o: &usize| match (&self.graph.nodes[*o].origin, self.inputs.iter().position(|i| i == o)) {
            (_, Some(at)) => Ok(inputs[at].to_owned()),
            (Origin::State(tensor), _) => Ok(tensor.bind(py).clone().into_any()),
            _ => Tensor::of(py, &self.graph.nodes[*o].meta, numbers[*o].clone()),
        };
        self.outputs.iter().map(output).collect()
    }

    fn text(&self, _py: Python<'_>) -> String {
        self.graph.text()
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        for node in &self.graph.nodes {
            if let Origin::State(tensor) = &node.origin {
                visit(tensor.as_any());
            }
        }
    }
}
