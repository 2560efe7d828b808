//! `paddle.grad` within captured code: an operation whose results are gradients of other operations of the program.
//!
//! A program that asks for gradients is replayed: eager's own nodes give the numbers, and raise what they raise. The program says what the
//! gradients are like, which is what the inputs are like, and that all that they are of is needed. Paddle's rules for gradients of programs
//! are not asked: for second and third derivatives some of them differ from eager's, and some end the process.
//!
//! The arguments are those of the function; what it takes beside tensors and switches (`no_grad_vars`, a path to dump to) is left to
//! eager, as is `allow_unused`, whose answer depends on the nodes. So is a call with tensors that were computed before: the gradients may flow through them,
//! and through hooks of the program.

use crate::grown::Grown;
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
    weights: Vec<Bound<'py, PyAny>>,
    /// Whether the gradients have gradients.
    create_graph: bool,
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
        if switch(retains, false).is_none() || switch(only_inputs, true) != Some(true) || allow_unused {
            return Ok(None);
        }
        let weights = match weights {
            None => Vec::new(),
            Some(weights) => match in_a_list(grown, &weights).filter(|weights| weights.len() == outputs.len()) {
                Some(weights) => weights,
                None => return Ok(None),
            },
        };
        Ok(Some(Question { outputs, inputs, weights, create_graph }))
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
            if grown.stops(value)? {
                return Err(unknown("a tensor that stops gradients"));
            }
        }
        for source in grown.inputs.iter().chain(&grown.params) {
            if has_history(source.tensor.bind(py))? {
                return Err(unknown("tensors that were computed before"));
            }
        }
        let paddle = grown.handles.paddle.bind(py);
        let (ops, dtype) = (grown.handles.c_ops.bind(py), intern!(py, "dtype"));
        let mut answer = Vec::with_capacity(self.inputs.len());
        for value in &self.inputs {
            let mut gradient = ops.getattr(intern!(py, "assign"))?.call1((value,))?;
            for other in self.outputs.iter().chain(&self.weights) {
                let sum = paddle.call_method1(intern!(py, "sum"), (other,))?;
                let sum = paddle.call_method1(intern!(py, "cast"), (sum, value.getattr(dtype)?))?;
                gradient = ops.getattr(intern!(py, "add"))?.call1((gradient, sum))?;
            }
            answer.push(gradient);
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
