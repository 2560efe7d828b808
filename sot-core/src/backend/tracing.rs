//! A graph builder for frameworks that have none: it needs to know what an operation gives ([`Operations::infer`]) and how one is
//! carried out ([`Operations::execute`]), and keeps everything else itself.
//!
//! ```no_run
//! use sot_core::backend::tracing::{self, Gives, Operations};
//! use sot_core::backend::{BuildError, GraphBuilder, OpCall, TensorMeta};
//! use sot_core::pyo3::prelude::*;
//! use std::sync::Arc;
//!
//! /// A framework with one operation: the sum of two tensors of one shape.
//! struct Sums;
//!
//! impl Operations for Sums {
//!     fn infer<'py>(&self, op: &OpCall<'_, 'py>) -> Result<Gives<'py>, BuildError> {
//!         match (op.name, &*tracing::operands(op)) {
//!             ("__add__", [x, y]) if x == y => Ok(Gives::Tensor(x.clone())),
//!             _ => Err(BuildError::rejected(op.name, "not on these")),
//!         }
//!     }
//!
//!     fn execute<'py>(&self, op: &OpCall<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
//!         op.args.get_item(0)?.add(op.args.get_item(1)?)
//!     }
//! }
//!
//! /// What `Backend::begin` gives.
//! fn begin<'py>(_py: Python<'py>) -> PyResult<Box<dyn GraphBuilder>> {
//!     Ok(Box::new(tracing::Tracing::new(Arc::new(Sums))))
//! }
//! ```
//!
//! The compiled form carries the operations out one after the other, without the program in between, and lets go of values when eager
//! execution would. It is as exact as `execute` is: one that gives what eager execution gives, views included, is right.

use super::{
    Acts, Attr, BuildError, CallKind, CompiledGraph, Finished, GraphBuilder, OpCall, TensorMeta, UserFrame, registered,
};
use crate::cpython::facts;
use crate::stop::{Reason, Why};
use crate::type_facts::{Descriptor, descriptor};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::*;
use smallvec::SmallVec;
use std::fmt::Write;
use std::sync::Arc;

/// What an operation gives.
pub enum Gives<'py> {
    /// A tensor, of which this is known.
    Tensor(TensorMeta),
    /// A tuple of tensors.
    Tensors(Vec<TensorMeta>),
    /// An immutable object that follows from what is known of the arguments. The operation is not carried out when the graph runs.
    Constant(Bound<'py, PyAny>),
}

/// What reading an attribute gives, where the framework says so.
pub enum Reads<'py> {
    /// An immutable object that follows from shape and type.
    Constant(Bound<'py, PyAny>),
    /// The result of an operation of this name on the tensor alone (`x.T`).
    Operation,
    /// Only known at run time.
    Break(Why),
    /// What the class of tensors has: a method written in C is an operation, one in Python is simulated. All else breaks.
    OfClass,
}

/// The operations of a framework. Arguments are those of the program, with [`Traced`] values in place of tensors while a graph is built,
/// and tensors when it runs.
pub trait Operations: Send + Sync + 'static {
    /// What an operation would give, without carrying it out. What writes in place, and what has effects, is refused.
    fn infer<'py>(&self, op: &OpCall<'_, 'py>) -> Result<Gives<'py>, BuildError>;
    /// Carry an operation out that was inferred, on tensors.
    fn execute<'py>(&self, op: &OpCall<'_, 'py>) -> PyResult<Bound<'py, PyAny>>;
    /// What reading an attribute of a tensor gives.
    fn attribute<'py>(&self, _py: Python<'py>, _of: &TensorMeta, _name: &str) -> PyResult<Reads<'py>> {
        Ok(Reads::OfClass)
    }
}

/// What stands for a tensor while a graph is built.
#[pyclass(module = "sot_core", frozen)]
pub struct Traced {
    number: usize,
    meta: TensorMeta,
    /// Values of other graphs are not this one's.
    graph: Arc<()>,
}

/// What is known of a tensor that is an argument of an operation, while a graph is built; `None`: it is none.
pub fn meta<'a>(argument: &'a Bound<'_, PyAny>) -> Option<&'a TensorMeta> {
    argument.cast_exact::<Traced>().ok().map(|value| &value.get().meta)
}

/// What is known of the tensors among the positional arguments of an operation.
pub fn operands(op: &OpCall<'_, '_>) -> SmallVec<[TensorMeta; 4]> {
    op.args.iter().filter_map(|argument| meta(&argument).cloned()).collect()
}

/// An argument, as it is made again for each run.
enum Argument {
    Value(usize),
    Constant(Py<PyAny>),
    Tuple(Vec<Argument>),
    List(Vec<Argument>),
    Dict(Vec<(Py<PyAny>, Argument)>),
}

impl Argument {
    fn visit_values(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Argument::Value(number) => visit(*number),
            Argument::Constant(_) => {}
            Argument::Tuple(items) | Argument::List(items) => items.iter().for_each(|item| item.visit_values(visit)),
            Argument::Dict(entries) => entries.iter().for_each(|(_, value)| value.visit_values(visit)),
        }
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        match self {
            Argument::Value(_) => {}
            Argument::Constant(object) => visit(object),
            Argument::Tuple(items) | Argument::List(items) => items.iter().for_each(|item| item.traverse(visit)),
            Argument::Dict(entries) => {
                for (key, value) in entries {
                    visit(key);
                    value.traverse(visit);
                }
            }
        }
    }

    fn make<'py>(&self, py: Python<'py>, values: &Values<'py>) -> PyResult<Bound<'py, PyAny>> {
        let all = |items: &[Argument]| items.iter().map(|item| item.make(py, values)).collect::<PyResult<Vec<_>>>();
        Ok(match self {
            Argument::Value(number) => values.get(*number)?,
            Argument::Constant(object) => object.bind(py).clone(),
            Argument::Tuple(items) => PyTuple::new(py, all(items)?)?.into_any(),
            Argument::List(items) => PyList::new(py, all(items)?)?.into_any(),
            Argument::Dict(entries) => {
                let dict = PyDict::new(py);
                for (key, value) in entries {
                    dict.set_item(key, value.make(py, values)?)?;
                }
                dict.into_any()
            }
        })
    }

    fn write(&self, text: &mut String) {
        let mut all = |open: char, items: &[Argument], close: char| {
            text.push(open);
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                item.write(text);
            }
            text.push(close);
        };
        match self {
            Argument::Value(number) => drop(write!(text, "%{number}")),
            Argument::Constant(object) => text.push_str(&Python::attach(|py| stable(object.bind(py)))),
            Argument::Tuple(items) => all('(', items, ')'),
            Argument::List(items) => all('[', items, ']'),
            Argument::Dict(_) => text.push_str("{..}"),
        }
    }
}

fn stable(object: &Bound<'_, PyAny>) -> String {
    crate::objects::stable_repr(object)
}

/// One operation of a graph.
struct Step {
    kind: CallKind,
    name: Box<str>,
    callee: Option<Py<PyAny>>,
    args: Vec<Argument>,
    kwargs: Vec<(Py<PyAny>, Argument)>,
    /// The first value that it gives, and how many; `None`: it gives one that is no tuple.
    first: usize,
    several: Option<usize>,
    /// Values that nobody uses from then on.
    last_use: Vec<usize>,
}

impl Step {
    fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.args.iter().chain(self.kwargs.iter().map(|(_, value)| value))
    }

    fn gives(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.several.unwrap_or(1)
    }
}

/// A graph under construction.
pub struct Tracing {
    operations: Arc<dyn Operations>,
    graph: Arc<()>,
    values: usize,
    inputs: Vec<usize>,
    steps: Vec<Step>,
}

impl Tracing {
    /// An empty graph.
    pub fn new(operations: Arc<dyn Operations>) -> Tracing {
        Tracing { operations, graph: Arc::new(()), values: 0, inputs: Vec::new(), steps: Vec::new() }
    }

    fn add<'py>(&mut self, py: Python<'py>, meta: TensorMeta) -> Result<Bound<'py, PyAny>, BuildError> {
        let value = Traced { number: self.values, meta, graph: self.graph.clone() };
        self.values += 1;
        Ok(Bound::new(py, value)?.into_any())
    }

    fn value<'a>(&self, object: &'a Bound<'_, PyAny>) -> Option<&'a Traced> {
        let value = object.cast_exact::<Traced>().ok()?.get();
        Arc::ptr_eq(&value.graph, &self.graph).then_some(value)
    }

    /// Whether an object that is taken for a constant has values of a graph in it.
    fn holds_values(object: &Bound<'_, PyAny>) -> PyResult<bool> {
        if object.is_exact_instance_of::<Traced>() {
            return Ok(true);
        }
        if let Ok(slice) = object.cast_exact::<PySlice>() {
            let parts = ["start", "stop", "step"].map(|part| slice.getattr(part));
            return parts.into_iter().try_fold(false, |found, part| Ok(found || Self::holds_values(&part?)?));
        }
        let items = object.is_instance_of::<PyTuple>()
            || object.is_instance_of::<PyList>()
            || object.is_instance_of::<PySet>()
            || object.is_instance_of::<PyFrozenSet>();
        match items {
            true => object.try_iter()?.try_fold(false, |found, item| Ok(found || Self::holds_values(&item?)?)),
            false => Ok(object.is_instance_of::<PyDict>()),
        }
    }

    fn argument(&self, object: &Bound<'_, PyAny>) -> Result<Argument, BuildError> {
        if let Some(value) = self.value(object) {
            return Ok(Argument::Value(value.number));
        }
        if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            return Ok(Argument::Tuple(tuple.iter().map(|item| self.argument(&item)).collect::<Result<_, _>>()?));
        }
        if let Ok(list) = object.cast_exact::<PyList>() {
            return Ok(Argument::List(list.iter().map(|item| self.argument(&item)).collect::<Result<_, _>>()?));
        }
        if let Ok(dict) = object.cast_exact::<PyDict>() {
            let entry = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
                Ok::<_, BuildError>((key.unbind(), self.argument(&value)?))
            };
            return Ok(Argument::Dict(dict.iter().map(entry).collect::<Result<_, _>>()?));
        }
        match Self::holds_values(object)? {
            true => Err(BuildError::rejected("an argument", "a container that is not made again for each run")),
            false => Ok(Argument::Constant(object.clone().unbind())),
        }
    }

    /// Append an operation; what it gives.
    fn append<'py>(&mut self, op: &OpCall<'_, 'py>) -> Result<Bound<'py, PyAny>, BuildError> {
        let py = op.args.py();
        let gives = self.operations.infer(op)?;
        let args = op.args.iter().map(|arg| self.argument(&arg)).collect::<Result<_, _>>()?;
        let entry = |(name, value): (Bound<'py, PyAny>, Bound<'py, PyAny>)| {
            Ok::<_, BuildError>((name.unbind(), self.argument(&value)?))
        };
        let kwargs = op.kwargs.into_iter().flatten().map(entry).collect::<Result<_, _>>()?;
        let (first, several, result) = match gives {
            Gives::Constant(object) => return Ok(object),
            Gives::Tensor(meta) => (self.values, None, self.add(py, meta)?),
            Gives::Tensors(metas) => {
                let (first, several) = (self.values, metas.len());
                let values = metas.into_iter().map(|meta| self.add(py, meta)).collect::<Result<Vec<_>, _>>()?;
                (first, Some(several), PyTuple::new(py, values)?.into_any())
            }
        };
        let callee = op.callee.map(|callee| callee.clone().unbind());
        let name = op.name.into();
        self.steps.push(Step { kind: op.kind, name, callee, args, kwargs, first, several, last_use: Vec::new() });
        Ok(result)
    }
}

impl GraphBuilder for Tracing {
    fn input<'py>(&mut self, tensor: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, BuildError> {
        let backend = registered().ok_or_else(super::none_registered)?;
        let meta = backend.tensor_meta(tensor)?;
        self.inputs.push(self.values);
        self.add(tensor.py(), meta)
    }

    fn call<'py>(&mut self, op: &OpCall<'_, 'py>, _at: &[UserFrame]) -> Result<Bound<'py, PyAny>, BuildError> {
        self.append(op)
    }

    fn getattr<'py>(
        &mut self,
        value: &Bound<'py, PyAny>,
        name: &str,
        _at: &[UserFrame],
    ) -> Result<Attr<'py>, BuildError> {
        let py = value.py();
        let of = self.value(value).ok_or_else(|| BuildError::rejected(name, "no value of this graph"))?;
        Ok(match self.operations.attribute(py, &of.meta, name)? {
            Reads::Constant(object) => Attr::Constant(object),
            Reads::Break(why) => Attr::Break(why),
            Reads::Operation => {
                let args = PyTuple::new(py, [value])?;
                let kind = CallKind::Method;
                let op = OpCall { kind, name, callee: None, args: &args, kwargs: None, may_act: Acts::Nothing };
                Attr::Value(self.append(&op)?)
            }
            Reads::OfClass => {
                let class = registered().ok_or_else(super::none_registered)?.tensor_class(py)?.cast_into::<PyType>();
                let found = class.ok().and_then(|class| facts::type_lookup(&class, &PyString::intern(py, name)));
                match found.as_ref().map(|found| (facts::is_function(found), descriptor(found))) {
                    Some((true, _)) => Attr::Inline(found.expect("found")),
                    Some((_, Descriptor::Method | Descriptor::Wrapper)) => Attr::Method,
                    _ => Attr::Break(Why::new(Reason::TensorAttribute, name)),
                }
            }
        })
    }

    fn is_value(&self, obj: &Bound<'_, PyAny>) -> bool {
        self.value(obj).is_some()
    }

    fn meta(&self, value: &Bound<'_, PyAny>) -> PyResult<TensorMeta> {
        let value = self.value(value).ok_or_else(|| PyTypeError::new_err("sot: no value of this graph"))?;
        Ok(value.meta.clone())
    }

    fn finish(
        self: Box<Self>,
        py: Python<'_>,
        inputs: &[usize],
        outputs: &[Py<PyAny>],
    ) -> Result<Finished, BuildError> {
        let number = |output: &Py<PyAny>| match self.value(output.bind(py)) {
            Some(value) => Ok(value.number),
            None => Err(BuildError::new(Why::new(Reason::BackendFailed, "an output is no value"))),
        };
        let outputs: Vec<usize> = outputs.iter().map(number).collect::<Result<_, _>>()?;
        let Tracing { operations, values, inputs: of_inputs, mut steps, .. } = *self;
        let inputs: Vec<usize> = inputs.iter().map(|at| of_inputs[*at]).collect();
        // Outputs are needed to the end. Nothing else is, behind its last use.
        let mut needed = vec![false; values];
        outputs.iter().for_each(|number| needed[*number] = true);
        for step in steps.iter_mut().rev() {
            let mut last_use: Vec<usize> = step.gives().filter(|number| !needed[*number]).collect();
            for argument in step.arguments() {
                argument.visit_values(&mut |number| {
                    if !std::mem::replace(&mut needed[number], true) {
                        last_use.push(number);
                    }
                });
            }
            step.last_use = last_use;
        }
        let op_count = steps.len();
        Ok(Finished::compiled(Traces { operations, values, inputs, steps, outputs }, op_count))
    }
}

/// The values of a run, by number.
struct Values<'py>(Vec<Option<Bound<'py, PyAny>>>);

impl<'py> Values<'py> {
    fn get(&self, number: usize) -> PyResult<Bound<'py, PyAny>> {
        self.0[number].clone().ok_or_else(|| PyRuntimeError::new_err("sot: a value that is not known"))
    }
}

/// A closed graph.
struct Traces {
    operations: Arc<dyn Operations>,
    values: usize,
    inputs: Vec<usize>,
    steps: Vec<Step>,
    outputs: Vec<usize>,
}

impl CompiledGraph for Traces {
    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: &[Borrowed<'_, 'py, PyAny>],
    ) -> PyResult<SmallVec<[Bound<'py, PyAny>; 4]>> {
        let mut values = Values(vec![None; self.values]);
        for (number, input) in self.inputs.iter().zip(inputs) {
            values.0[*number] = Some((**input).clone());
        }
        for step in &self.steps {
            let args = step.args.iter().map(|arg| arg.make(py, &values)).collect::<PyResult<Vec<_>>>()?;
            let args = PyTuple::new(py, args)?;
            let kwargs = (!step.kwargs.is_empty()).then(|| PyDict::new(py));
            for (name, value) in &step.kwargs {
                kwargs.as_ref().map(|kwargs| kwargs.set_item(name, value.make(py, &values)?)).transpose()?;
            }
            let callee = step.callee.as_ref().map(|callee| callee.bind(py));
            let (kind, kwargs) = (step.kind, kwargs.as_ref());
            let op = OpCall { kind, name: &step.name, callee, args: &args, kwargs, may_act: Acts::Nothing };
            let result = self.operations.execute(&op)?;
            match step.several {
                None => values.0[step.first] = Some(result),
                Some(several) => {
                    let items = result.cast_into::<PyTuple>()?;
                    if items.len() != several {
                        let what = format!("sot: {} gave {} tensors, not {several}", step.name, items.len());
                        return Err(PyRuntimeError::new_err(what));
                    }
                    step.gives().zip(items.iter()).for_each(|(number, item)| values.0[number] = Some(item));
                }
            }
            step.last_use.iter().for_each(|number| values.0[*number] = None);
        }
        self.outputs.iter().map(|number| values.get(*number)).collect()
    }

    fn text(&self, _py: Python<'_>) -> String {
        let mut text = String::new();
        for step in &self.steps {
            let given: Vec<String> = step.gives().map(|number| format!("%{number}")).collect();
            write!(text, "{} = {}(", given.join(", "), step.name).ok();
            for (at, argument) in step.args.iter().enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                argument.write(&mut text);
            }
            for (at, (name, argument)) in step.kwargs.iter().enumerate() {
                text.push_str(if at + step.args.len() > 0 { ", " } else { "" });
                write!(text, "{name}=").ok();
                argument.write(&mut text);
            }
            text.push_str(")\n");
        }
        text
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        for step in &self.steps {
            step.callee.iter().for_each(&mut *visit);
            step.kwargs.iter().for_each(|(name, _)| visit(name));
            step.arguments().for_each(|argument| argument.traverse(visit));
        }
    }
}
