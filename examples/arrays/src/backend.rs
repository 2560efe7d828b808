//! All that the framework's team writes: what its objects are, and what an operation gives. The graph, and running it, is left to
//! [`Tracing`].

use crate::array::{Array, call, parse, scalar};
use crate::ops::{Meta, Op};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sot_core::backend::tracing::{self, Gives, Operations, Reads, Tracing};
use sot_core::backend::{Backend, BuildError, CallKind, GraphBuilder, Kind, Known, OpCall, Parts, TensorMeta};
use sot_core::stop::{Reason, Why};
use std::sync::Arc;

/// Functions of the module that are operations.
const OPERATIONS: [&str; 7] = ["add", "maximum", "matmul", "exp", "sqrt", "where", "extrema"];

pub(crate) struct Arrays(Known);

impl Arrays {
    /// When all functions are in the module.
    pub(crate) fn new(module: &Bound<'_, PyModule>) -> PyResult<Arrays> {
        let show = ("show", Kind::Break(Why::new(Reason::Output, "arrays.show")));
        Ok(Arrays(Known::of(module, OPERATIONS.map(|name| (name, Kind::Api)).into_iter().chain([show]))?))
    }
}

impl Backend for Arrays {
    fn classify(&self, obj: &Bound<'_, PyAny>) -> Kind {
        if obj.is_exact_instance_of::<Array>() { Kind::Tensor } else { self.0.kind(obj) }
    }

    fn tensor_meta(&self, tensor: &Bound<'_, PyAny>) -> PyResult<TensorMeta> {
        Ok(describe(&tensor.cast::<Array>()?.get().meta))
    }

    fn tensor_class<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(py.get_type::<Array>().into_any())
    }

    fn begin<'py>(&self, _py: Python<'py>) -> PyResult<Box<dyn GraphBuilder>> {
        Ok(Box::new(Tracing::new(Arc::new(Traced))))
    }

    /// By this compiled graphs are compared with eager execution.
    fn told_of<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Option<Parts<'py>>> {
        let Ok(array) = value.cast::<Array>() else { return Ok(None) };
        let (py, array) = (value.py(), array.get());
        let bits: Vec<u64> = array.data().iter().map(|x| x.to_bits()).collect();
        let dtype = array.meta.dtype.into_pyobject(py)?.into_any();
        let bits = PyTuple::new(py, bits)?.into_any();
        Ok(Some(vec![("shape", array.shape(py)?.into_any()), ("dtype", dtype), ("bits", bits)]))
    }
}

fn describe(meta: &Meta) -> TensorMeta {
    TensorMeta::new(meta.shape.iter().map(|extent| *extent as i64), meta.dtype)
}

/// Of what the translator knows; it is only asked about what [`describe`] has made.
fn known(meta: &TensorMeta) -> Meta {
    let shape = meta.shape.iter().map(|extent| *extent as usize).collect();
    Meta { shape, dtype: if &*meta.dtype == "bool" { "bool" } else { "float64" } }
}

/// The operations, as graphs need them.
struct Traced;

impl Operations for Traced {
    fn infer<'py>(&self, op: &OpCall<'_, 'py>) -> Result<Gives<'py>, BuildError> {
        let refused = |reason| Err(BuildError::new(Why::new(reason, op.name)));
        match op.bare_name() {
            "item" | "tolist" => return refused(Reason::TensorToHost),
            "fill" => return refused(Reason::InplaceTensor),
            // It gives two.
            "extrema" => return Ok(Gives::Tensors(vec![describe(&Meta::of(Vec::new())); 2])),
            _ => {}
        }
        let (parsed, operands) = read(op)?;
        let metas: Vec<Meta> = operands
            .iter()
            .map(|operand| match (tracing::meta(operand), scalar(operand)) {
                (Some(meta), _) => Ok(known(meta)),
                (_, Some(_)) => Ok(Meta::of(Vec::new())),
                _ => Err(BuildError::rejected(op.name, "an operand that is no array")),
            })
            .collect::<Result<_, _>>()?;
        let gives = parsed.infer(&metas.iter().collect::<Vec<_>>());
        gives.map(|meta| Gives::Tensor(describe(&meta))).map_err(|why| BuildError::rejected(op.name, why))
    }

    fn execute<'py>(&self, op: &OpCall<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        match op.callee {
            Some(callee) if op.kind == CallKind::Api => callee.call(op.args, op.kwargs),
            _ => call(op.args.py(), op.bare_name(), &positional(op)?),
        }
    }

    fn attribute<'py>(&self, py: Python<'py>, of: &TensorMeta, name: &str) -> PyResult<Reads<'py>> {
        let Meta { shape, dtype } = known(of);
        Ok(match name {
            "shape" => Reads::Constant(PyTuple::new(py, shape)?.into_any()),
            "ndim" => Reads::Constant(shape.len().into_pyobject(py)?.into_any()),
            "dtype" => Reads::Constant(dtype.into_pyobject(py)?.into_any()),
            "T" => Reads::Operation,
            _ => Reads::OfClass,
        })
    }
}

fn read<'py>(op: &OpCall<'_, 'py>) -> PyResult<(Op, Vec<Bound<'py, PyAny>>)> {
    parse(op.bare_name(), &positional(op)?)
}

/// The arguments in order: `sum` alone takes one by its name.
fn positional<'py>(op: &OpCall<'_, 'py>) -> PyResult<Bound<'py, PyTuple>> {
    let mut args: Vec<Bound<'py, PyAny>> = op.args.iter().collect();
    args.extend(op.kwargs.iter().flat_map(|named| named.values().iter()));
    PyTuple::new(op.args.py(), args)
}
