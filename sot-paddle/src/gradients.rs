//! `paddle.grad` within captured code: an operation whose results are gradients of other operations of the program.
//!
//! A program says of what the gradients are, of which element type and shape, and which tensors nothing flows to. The numbers are those
//! of eager's own nodes: a program that asks for gradients is replayed.
//!
//! The arguments are those of the function; what it takes beside tensors and switches (`no_grad_vars`, a path to dump to) is left to
//! eager, as is everything that makes it raise. So is a call with tensors that were computed before: the gradients may flow through them,
//! and through hooks of the program.

use crate::grown::{Grown, Source};
use crate::handles::value_id;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use sot_core::backend::OpCall;

/// Where the function is, in each release.
pub(crate) const FUNCTION: (&str, &str) = ("paddle.base.dygraph.base", "grad");

/// Names of the parameters that are known here, in their order.
const PARAMETERS: [&str; 7] =
    ["outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs", "allow_unused"];

/// What is asked for.
struct Question<'py> {
    outputs: Vec<Bound<'py, PyAny>>,
    inputs: Vec<Bound<'py, PyAny>>,
    weights: Option<Vec<Bound<'py, PyAny>>>,
    /// Whether the gradients have gradients.
    create_graph: bool,
    allow_unused: bool,
}

/// Whether an operation is a call of `paddle.grad`.
pub(crate) fn asks(grown: &Grown, op: &OpCall<'_, '_>) -> bool {
    let own = |callee: &&Bound<'_, PyAny>| {
        grown.handles.paddle.bind(callee.py()).getattr(intern!(callee.py(), "grad")).is_ok_and(|grad| grad.is(*callee))
    };
    op.callee.filter(|_| op.name.ends_with("grad")).as_ref().is_some_and(own)
}

impl<'py> Question<'py> {
    /// `None` where eager has to answer.
    fn of(grown: &Grown, op: &OpCall<'_, 'py>) -> PyResult<Option<Question<'py>>> {
        let mut given: [Option<Bound<'py, PyAny>>; 7] = Default::default();
        if op.args.len() > given.len() {
            return Ok(None);
        }
        for (at, arg) in op.args.iter().enumerate() {
            given[at] = Some(arg);
        }
        for (name, arg) in op.kwargs.into_iter().flatten() {
            let name: String = name.extract()?;
            match PARAMETERS.iter().position(|known| *known == name) {
                Some(at) => given[at] = Some(arg),
                None if arg.is_none() => {}
                None => return Ok(None),
            }
        }
        let [outputs, inputs, weights, retain, create, only_inputs, allow_unused] = given;
        let switch =
            |arg: Option<Bound<'py, PyAny>>, default: bool| arg.map_or(Some(default), |arg| arg.extract().ok());
        let retains = retain.filter(|arg| !arg.is_none());
        let values = |arg: Option<Bound<'py, PyAny>>| arg.and_then(|arg| in_a_list(grown, &arg));
        let weights = weights.filter(|arg| !arg.is_none());
        let (Some(outputs), Some(inputs)) = (values(outputs), values(inputs)) else { return Ok(None) };
        let (Some(create_graph), Some(allow_unused)) = (switch(create, false), switch(allow_unused, false)) else {
            return Ok(None);
        };
        if switch(retains, false).is_none() || switch(only_inputs, true) != Some(true) {
            return Ok(None);
        }
        let weights = match weights {
            None => None,
            Some(weights) => match in_a_list(grown, &weights).filter(|weights| weights.len() == outputs.len()) {
                Some(weights) => Some(weights),
                None => return Ok(None),
            },
        };
        Ok(Some(Question { outputs, inputs, weights, create_graph, allow_unused }))
    }

    /// Append what gives the gradients: a list, as eager gives it.
    fn ask(&self, grown: &Grown) -> PyResult<Bound<'py, PyAny>> {
        let py = self.outputs[0].py();
        let mut ids = Vec::new();
        for value in &self.inputs {
            let id = value_id(value)?;
            if ids.contains(&id) {
                return Err(unknown("one input given twice"));
            }
            ids.push(id);
        }
        for value in &self.outputs {
            if ids.contains(&value_id(value)?) {
                return Err(unknown("an output that is an input"));
            }
        }
        for value in self.outputs.iter().chain(&self.inputs) {
            if stops(grown, value)? {
                return Err(unknown("a tensor that stops gradients"));
            }
        }
        for source in grown.inputs.iter().chain(&grown.params) {
            if has_history(source.tensor.bind(py))? {
                return Err(unknown("tensors that were computed before"));
            }
        }
        // What stands for each input, with its place among them. Nothing flows to what nobody reads, of which Paddle would warn.
        let mut asked = Vec::new();
        for (at, value) in self.inputs.iter().enumerate() {
            for value in standing_for(grown, value)? {
                if !value.call_method0(intern!(py, "use_empty"))?.is_truthy()? {
                    asked.push((at, value));
                }
            }
        }
        let mut answer: Vec<Option<Bound<'py, PyAny>>> = vec![None; self.inputs.len()];
        if !asked.is_empty() {
            let backward = py.import(intern!(py, "paddle.autograd.ir_backward"))?;
            let weights = self.weights.as_ref().map(|weights| PyList::new(py, weights)).transpose()?;
            let reached = PyList::new(py, asked.iter().map(|(_, value)| value))?;
            let found =
                backward.getattr(intern!(py, "grad"))?.call1((PyList::new(py, &self.outputs)?, reached, weights))?;
            for ((at, _), gradient) in asked.iter().zip(found.cast::<PyList>()?.iter()) {
                if !gradient.is_none() {
                    answer[*at] = Some(gradient);
                }
            }
        }
        if !self.allow_unused && answer.iter().any(Option::is_none) {
            return Err(unknown("an input that nothing flows to"));
        }
        Ok(PyList::new(py, answer)?.into_any())
    }
}

/// Build a call. `recorded`: whether gradients are recorded where the program stands.
pub(crate) fn built<'py>(grown: &Grown, op: &OpCall<'_, 'py>, recorded: bool) -> PyResult<Bound<'py, PyAny>> {
    match Question::of(grown, op)?.filter(|_| recorded) {
        Some(question) => question.ask(grown),
        None => Err(unknown("what is asked here")),
    }
}

/// Say of the gradients whether they have gradients themselves.
pub(crate) fn settle(grown: &Grown, op: &OpCall<'_, '_>, answer: &Bound<'_, PyAny>) -> PyResult<()> {
    let create_graph = Question::of(grown, op)?.is_some_and(|question| question.create_graph);
    for gradient in answer.try_iter()? {
        let gradient = gradient?;
        if grown.handles.is_value(&gradient) {
            gradient.setattr(intern!(gradient.py(), "stop_gradient"), !create_graph)?;
        }
    }
    Ok(())
}

fn unknown(what: &str) -> PyErr {
    PyNotImplementedError::new_err(format!("only eager answers about {what}"))
}

/// Whether gradients flow through a tensor to what it was computed from. Hooks of the program may be called on the way.
pub(crate) fn has_history(tensor: &Bound<'_, PyAny>) -> PyResult<bool> {
    let leaf = tensor.getattr_opt(intern!(tensor.py(), "is_leaf"))?;
    leaf.map_or(Ok(false), |leaf| leaf.is_truthy().map(|leaf| !leaf))
}

/// Whether a tensor stops gradients where the program stands.
fn stops(grown: &Grown, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match grown.input_index(value_id(value)?) {
        Some(input) => Ok(!grown.inputs[input].meta.requires_grad),
        None => value.getattr(intern!(value.py(), "stop_gradient"))?.is_truthy(),
    }
}

/// A value, and the one that stands for the same tensor where it is a parameter of a layer that is called as a whole. Which of them is
/// asked makes no difference to what a gradient is like.
fn standing_for<'py>(grown: &Grown, value: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = value.py();
    let own = grown.input_index(value_id(value)?).map(|input| &grown.inputs[input].tensor);
    let same = |source: &&Source| own.is_some_and(|tensor| tensor.is(&source.tensor));
    let others = grown.params.iter().filter(same).map(|source| source.value.bind(py).clone());
    Ok(std::iter::once(value.clone()).chain(others).collect())
}

/// One value, or a list or tuple of them.
fn in_a_list<'py>(grown: &Grown, arg: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    let is_value = |item: &Bound<'py, PyAny>| grown.handles.is_value(item);
    if is_value(arg) {
        return Some(vec![arg.clone()]);
    }
    if !arg.is_exact_instance_of::<PyList>() && !arg.is_exact_instance_of::<PyTuple>() {
        return None;
    }
    let items: Vec<_> = arg.try_iter().ok()?.collect::<PyResult<_>>().ok()?;
    (!items.is_empty() && items.iter().all(is_value)).then_some(items)
}
