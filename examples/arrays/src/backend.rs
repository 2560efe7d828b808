//! What the framework's team writes: what its objects are, how a graph of them grows, and how it runs.

use crate::array::{Array, call, parse, scalar};
use crate::ops::Meta;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use sot_core::backend::{
    AmbientCheck, Attr, Backend, BuildError, CompiledGraph, Finished, GraphBuilder, Kind, LayerCall, OpCall, Parts,
    SmallVec, TensorCheck, TensorMeta, UserFrame,
};
use sot_core::stop::{Reason, Why};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, OnceLock};

/// Functions of the module that are operations.
const OPERATIONS: &[&str] = &["add", "maximum", "matmul", "exp", "sqrt", "where"];
/// Methods of arrays that are.
const METHODS: &[&str] = &["sum", "reshape"];

pub(crate) struct Arrays {
    /// What each function is, by identity.
    functions: HashMap<usize, (Py<PyAny>, Kind)>,
}

impl Arrays {
    pub(crate) fn new(module: &Bound<'_, PyModule>) -> PyResult<Arrays> {
        let mut functions = HashMap::new();
        let named = OPERATIONS.iter().map(|name| (*name, Kind::Api));
        for (name, kind) in named.chain([("show", Kind::Break(Why::new(Reason::Output, "arrays.show")))]) {
            let function = module.getattr(name)?;
            functions.insert(function.as_ptr() as usize, (function.unbind(), kind));
        }
        Ok(Arrays { functions })
    }
}

struct Check(Meta);

impl TensorCheck for Check {
    fn matches(&self, tensor: Borrowed<'_, '_, PyAny>) -> bool {
        tensor.cast_exact::<Array>().is_ok_and(|array| array.get().meta == self.0)
    }
}

/// There are no modes.
struct NoModes;

impl AmbientCheck for NoModes {
    fn matches(&self, _py: Python<'_>) -> bool {
        true
    }

    fn describe(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Backend for Arrays {
    fn name(&self) -> &'static str {
        "arrays"
    }

    fn classify(&self, obj: &Bound<'_, PyAny>) -> Kind {
        if obj.is_exact_instance_of::<Array>() {
            return Kind::Tensor;
        }
        self.functions.get(&(obj.as_ptr() as usize)).map_or(Kind::Unknown, |(_, kind)| kind.clone())
    }

    fn tensor_meta(&self, tensor: &Bound<'_, PyAny>) -> PyResult<TensorMeta> {
        Ok(describe(&tensor.cast::<Array>()?.get().meta))
    }

    fn tensor_check(&self, tensor: &Bound<'_, PyAny>) -> PyResult<Box<dyn TensorCheck>> {
        Ok(Box::new(Check(tensor.cast::<Array>()?.get().meta.clone())))
    }

    fn ambient(&self, _py: Python<'_>) -> PyResult<Arc<dyn AmbientCheck>> {
        static NONE: OnceLock<Arc<dyn AmbientCheck>> = OnceLock::new();
        Ok(NONE.get_or_init(|| Arc::new(NoModes)).clone())
    }

    fn told_of<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Option<Parts<'py>>> {
        let Ok(array) = value.cast::<Array>() else { return Ok(None) };
        let (py, array) = (value.py(), array.get());
        let bits: Vec<u64> = array.data().iter().map(|x| x.to_bits()).collect();
        let bits = PyTuple::new(py, bits)?.into_any();
        let dtype = array.meta.dtype.into_pyobject(py)?.into_any();
        Ok(Some(vec![("shape", array.shape(py)?.into_any()), ("dtype", dtype), ("bits", bits)]))
    }

    fn layer_call(&self, _layer: &Bound<'_, PyAny>) -> LayerCall {
        LayerCall::Break(Why::new(Reason::ValueKind, "there are no layers"))
    }

    fn layer_attr_dicts(&self, _layer: &Bound<'_, PyAny>) -> &'static [&'static str] {
        &[]
    }

    fn leaf_state<'py>(&self, _layer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        Ok(Vec::new())
    }

    fn skip_paths(&self, _py: Python<'_>) -> Vec<String> {
        Vec::new()
    }

    fn tensor_class<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(py.get_type::<Array>().into_any())
    }

    fn begin<'py>(&self, _py: Python<'py>) -> PyResult<Box<dyn GraphBuilder>> {
        Ok(Box::new(Builder::default()))
    }
}

fn describe(meta: &Meta) -> TensorMeta {
    TensorMeta {
        shape: meta.shape.iter().map(|d| *d as i64).collect(),
        dtype: meta.dtype.into(),
        place: "host".into(),
        requires_grad: false,
    }
}

/// What stands for an array while a graph is built.
#[pyclass(module = "arrays", frozen)]
struct Value {
    number: usize,
    meta: Meta,
    /// Values of other graphs are not this one's.
    graph: Arc<()>,
}

/// An argument of an operation.
enum Argument {
    Value(usize),
    Constant(Py<PyAny>),
}

struct Operation {
    name: String,
    args: Vec<Argument>,
    result: usize,
}

#[derive(Default)]
struct Builder {
    graph: Arc<()>,
    values: usize,
    inputs: Vec<usize>,
    operations: Vec<Operation>,
}

fn no(reason: Reason, detail: impl Into<String>) -> BuildError {
    BuildError::new(Why::new(reason, detail))
}

fn raised(py: Python<'_>, name: &str, cause: PyErr) -> BuildError {
    let text = format!("{name}: {}", cause.value(py));
    BuildError { cause: Some(cause), ..no(Reason::ApiRejected, text) }
}

impl Builder {
    fn add<'py>(&mut self, py: Python<'py>, meta: Meta) -> PyResult<Bound<'py, PyAny>> {
        self.values += 1;
        Ok(Bound::new(py, Value { number: self.values - 1, meta, graph: self.graph.clone() })?.into_any())
    }

    fn value<'a>(&self, object: &'a Bound<'_, PyAny>) -> Option<&'a Value> {
        object.cast::<Value>().ok().map(|value| value.get()).filter(|value| Arc::ptr_eq(&value.graph, &self.graph))
    }

    /// Shape and type of what an operation gives.
    fn infer<'py>(&self, name: &str, args: &Bound<'py, PyTuple>) -> PyResult<Meta> {
        let (op, operands) = parse(name, args)?;
        let metas: Vec<Meta> = operands
            .iter()
            .map(|operand| match (self.value(operand), scalar(operand)) {
                (Some(value), _) => Ok(value.meta.clone()),
                (_, Some(_)) => Ok(Meta::of(Vec::new())),
                _ => Err(PyTypeError::new_err("an operand that is no array")),
            })
            .collect::<PyResult<_>>()?;
        op.infer(&metas.iter().collect::<Vec<_>>()).map_err(PyValueError::new_err)
    }

    fn append<'py>(&mut self, name: &str, args: &Bound<'py, PyTuple>) -> Result<Bound<'py, PyAny>, BuildError> {
        let py = args.py();
        let meta = self.infer(name, args).map_err(|e| raised(py, name, e))?;
        let args = args
            .iter()
            .map(|arg| match self.value(&arg) {
                Some(value) => Argument::Value(value.number),
                None => Argument::Constant(arg.unbind()),
            })
            .collect();
        let result = self.add(py, meta).map_err(|e| raised(py, name, e))?;
        self.operations.push(Operation { name: name.to_owned(), args, result: self.values - 1 });
        Ok(result)
    }
}

impl GraphBuilder for Builder {
    fn input<'py>(&mut self, tensor: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, BuildError> {
        let py = tensor.py();
        let meta = tensor.cast::<Array>().map_err(|e| raised(py, "input", e.into()))?.get().meta.clone();
        self.inputs.push(self.values);
        self.add(py, meta).map_err(|e| raised(py, "input", e))
    }

    fn call<'py>(&mut self, op: &OpCall<'_, 'py>, _at: &[UserFrame]) -> Result<Bound<'py, PyAny>, BuildError> {
        let named = |kwargs: &Bound<'py, PyDict>| match (op.name, kwargs.len()) {
            (_, 0) => Ok(None),
            ("sum", 1) => kwargs.get_item("axis"),
            _ => Ok(None),
        };
        let Some(axis) = op.kwargs.map(named).transpose().map_err(|e| raised(op.args.py(), op.name, e))?.flatten()
        else {
            if op.kwargs.is_some_and(|kwargs| !kwargs.is_empty()) {
                return Err(no(Reason::ApiRejected, format!("{}: named arguments", op.name)));
            }
            return self.append(op.name, op.args);
        };
        let with_axis = op.args.get_item(0).and_then(|first| PyTuple::new(op.args.py(), [first, axis]));
        self.append(op.name, &with_axis.map_err(|e| raised(op.args.py(), op.name, e))?)
    }

    fn getattr<'py>(
        &mut self,
        value: &Bound<'py, PyAny>,
        name: &str,
        _at: &[UserFrame],
    ) -> Result<Attr<'py>, BuildError> {
        let py = value.py();
        let Some(meta) = self.value(value).map(|value| value.meta.clone()) else {
            return Err(no(Reason::BackendFailed, "no value"));
        };
        let attribute = || -> PyResult<Attr<'py>> {
            Ok(match name {
                "shape" => Attr::Constant(PyTuple::new(py, &meta.shape)?.into_any()),
                "ndim" => Attr::Constant(meta.shape.len().into_pyobject(py)?.into_any()),
                "dtype" => Attr::Constant(meta.dtype.into_pyobject(py)?.into_any()),
                _ if METHODS.contains(&name) => Attr::Method,
                "item" | "tolist" => Attr::Break(Why::new(Reason::TensorToHost, name)),
                "fill" => Attr::Break(Why::new(Reason::InplaceTensor, name)),
                _ => Attr::Break(Why::new(Reason::TensorAttribute, name)),
            })
        };
        if name == "T" {
            let args = PyTuple::new(py, [value]).map_err(|e| raised(py, name, e))?;
            return self.append(name, &args).map(Attr::Value);
        }
        attribute().map_err(|e| raised(py, name, e))
    }

    fn is_value(&self, obj: &Bound<'_, PyAny>) -> bool {
        self.value(obj).is_some()
    }

    fn meta(&self, value: &Bound<'_, PyAny>) -> PyResult<TensorMeta> {
        let value = self.value(value).ok_or_else(|| PyTypeError::new_err("no value"))?;
        Ok(describe(&value.meta))
    }

    fn finish(
        self: Box<Self>,
        py: Python<'_>,
        inputs: &[usize],
        outputs: &[Py<PyAny>],
    ) -> Result<Finished, BuildError> {
        let number = |output: &Py<PyAny>| {
            let value = self.value(output.bind(py)).map(|value| value.number);
            value.ok_or_else(|| no(Reason::BackendFailed, "an output is no value"))
        };
        let outputs: Vec<usize> = outputs.iter().map(number).collect::<Result<_, _>>()?;
        let inputs: Vec<usize> = inputs.iter().map(|at| self.inputs[*at]).collect();
        let op_count = self.operations.len();
        let compiled = Compiled { values: self.values, inputs, operations: self.operations, outputs };
        Ok(Finished { compiled: Some(Box::new(compiled)), replay_only: None, op_count, effects: None })
    }
}

struct Compiled {
    values: usize,
    inputs: Vec<usize>,
    operations: Vec<Operation>,
    outputs: Vec<usize>,
}

impl CompiledGraph for Compiled {
    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: &[Borrowed<'_, 'py, PyAny>],
    ) -> PyResult<SmallVec<[Bound<'py, PyAny>; 4]>> {
        let mut values: Vec<Option<Bound<'py, PyAny>>> = vec![None; self.values];
        for (number, input) in self.inputs.iter().zip(inputs) {
            values[*number] = Some((**input).clone());
        }
        let known = |value: &Option<Bound<'py, PyAny>>| {
            value.clone().ok_or_else(|| PyValueError::new_err("a value that is not known"))
        };
        for operation in &self.operations {
            let args = operation
                .args
                .iter()
                .map(|arg| match arg {
                    Argument::Value(number) => known(&values[*number]),
                    Argument::Constant(object) => Ok(object.bind(py).clone()),
                })
                .collect::<PyResult<Vec<_>>>()?;
            values[operation.result] = Some(call(py, &operation.name, &PyTuple::new(py, args)?)?);
        }
        self.outputs.iter().map(|number| known(&values[*number])).collect()
    }

    fn difference<'py>(
        &self,
        _py: Python<'py>,
        compiled: &[Bound<'py, PyAny>],
        eager: &[Bound<'py, PyAny>],
    ) -> PyResult<Option<String>> {
        for (at, (ours, theirs)) in compiled.iter().zip(eager).enumerate() {
            let (ours, theirs) = (ours.cast::<Array>()?.get(), theirs.cast::<Array>()?.get());
            let bits = |array: &Array| array.data().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            if ours.meta != theirs.meta || bits(ours) != bits(theirs) {
                return Ok(Some(format!("output {at}")));
            }
        }
        Ok(None)
    }

    fn text(&self, _py: Python<'_>) -> String {
        let mut text = String::new();
        for operation in &self.operations {
            write!(text, "%{} = {}(", operation.result, operation.name).ok();
            for (at, arg) in operation.args.iter().enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                match arg {
                    Argument::Value(number) => write!(text, "%{number}").ok(),
                    Argument::Constant(object) => write!(text, "{object}").ok(),
                };
            }
            text.push_str(")\n");
        }
        text
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        for argument in self.operations.iter().flat_map(|operation| &operation.args) {
            if let Argument::Constant(object) = argument {
                visit(object);
            }
        }
    }
}
