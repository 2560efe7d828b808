//! `CompiledGraph`: a closed graph that runs without Python objects in between.
//!
//! It may raise (a logarithm of zero is only found when it runs): it has changed nothing by then, so the translator
//! runs the user's original frame, which raises the same at the user's own line.

use crate::faults::{self, Fault};
use crate::graph::{Graph, Origin};
use crate::mode;
use crate::op::Meta;
use crate::tensor::Tensor;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sot_core::backend::{CompiledGraph, Effects, SmallVec};

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
        faults::strike(faults::compiled())?;
        let mut numbers: Vec<Vec<f64>> = Vec::with_capacity(self.graph.nodes.len());
        // Extents may be others than those that the graph was built with.
        let mut metas: Vec<Meta> = Vec::with_capacity(self.graph.nodes.len());
        for (number, node) in self.graph.nodes.iter().enumerate() {
            let mut meta = node.meta.clone();
            numbers.push(match &node.origin {
                Origin::Input => match self.inputs.iter().position(|i| *i == number) {
                    Some(at) => {
                        let input = inputs[at].cast::<Tensor>()?.get();
                        meta.shape.clone_from(&input.shape);
                        input.numbers()
                    }
                    // Nothing that is returned needs it.
                    None => vec![0.0; meta.count()],
                },
                Origin::State(tensor) => tensor.get().numbers(),
                Origin::Computed(op, of) => {
                    let known: Vec<&Meta> = of.iter().map(|o| &metas[*o]).collect();
                    meta.shape = op.infer(&known, false).map_err(PyValueError::new_err)?.shape;
                    let of: Vec<_> = of.iter().map(|o| (&metas[*o], numbers[*o].as_slice())).collect();
                    op.eval(&of, &meta).map_err(PyValueError::new_err)?
                }
            });
            metas.push(meta);
        }
        let output = |o: &usize| match (&self.graph.nodes[*o].origin, self.inputs.iter().position(|i| i == o)) {
            (_, Some(at)) => Ok(inputs[at].to_owned()),
            (Origin::State(tensor), _) => Ok(tensor.bind(py).clone().into_any()),
            _ => {
                let (meta, numbers) = faults::spoil(&metas[*o], numbers[*o].clone());
                Tensor::of(py, &meta, numbers)
            }
        };
        let mut outputs = self.outputs.iter().map(output).collect::<PyResult<SmallVec<_>>>()?;
        match faults::compiled() {
            Some(Fault::Few) => drop(outputs.pop()),
            Some(Fault::Many) => outputs.push(py.None().into_bound(py)),
            _ => {}
        }
        Ok(outputs)
    }

    /// All that a program can ask a tensor for: itself, its meta data, the bits of its numbers.
    fn difference<'py>(
        &self,
        _py: Python<'py>,
        compiled: &[Bound<'py, PyAny>],
        eager: &[Bound<'py, PyAny>],
    ) -> PyResult<Option<String>> {
        assert_ne!(faults::compiled(), Some(Fault::Compare), "unreliable");
        for (i, (ours, theirs)) in compiled.iter().zip(eager).enumerate() {
            if ours.is(theirs) {
                continue;
            }
            let (ours, theirs) = (ours.cast_exact::<Tensor>()?.get(), theirs.cast_exact::<Tensor>()?.get());
            let bits = |t: &Tensor| t.numbers().into_iter().map(f64::to_bits).collect::<Vec<_>>();
            if !ours.agrees(&theirs.meta()) || bits(ours) != bits(theirs) {
                return Ok(Some(format!("output {i}")));
            }
        }
        Ok(None)
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

/// The random stream: the only thing that a graph of this framework can change.
pub(crate) struct Stream;

impl Effects for Stream {
    fn save<'py>(&self, py: Python<'py>, _inputs: &[Borrowed<'_, 'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
        Ok(mode::random_state().into_pyobject(py)?.into_any())
    }

    fn restore<'py>(
        &self,
        _py: Python<'py>,
        _inputs: &[Borrowed<'_, 'py, PyAny>],
        saved: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        mode::seed(saved.extract()?);
        Ok(())
    }

    fn same<'py>(&self, a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> PyResult<bool> {
        a.eq(b)
    }
}
