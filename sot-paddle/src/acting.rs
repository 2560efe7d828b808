//! Calls that change what Paddle keeps beside tensors: gradients, and the state of optimizers.

use crate::api_table;
use crate::hooks;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyFunction, PyList, PyString, PyType};
use sot_core::backend::{Acts, CallKind, OpCall};
use sot_core::cpython::facts;

/// Methods of tensors. Hooks of tensors and layers of Python run in the first.
const OF_TENSORS: &[(&str, Acts)] =
    &[("backward", Acts::OnAnything), ("clear_grad", Acts::OnState), ("clear_gradient", Acts::OnState)];

/// Methods of optimizers that give None.
const OF_OPTIMIZERS: &[&str] = &["clear_grad", "clear_gradients", "step", "zero_grad"];

/// Whether a method of tensors is such a call.
pub(crate) fn is_method(name: &str) -> bool {
    hooks::are_seen() && OF_TENSORS.iter().any(|(known, _)| *known == name)
}

/// Whether a method of an optimizer is.
pub(crate) fn is_function(name: &str) -> bool {
    OF_OPTIMIZERS.contains(&name)
}

/// Whether an optimizer is Paddle's own in all that it calls: its class, its clip of gradients, decay and schedule, and the functions that
/// it was given.
pub(crate) fn is_its_own(optimizer: &Bound<'_, PyAny>) -> bool {
    let Some(parts) = facts::instance_dict(optimizer) else { return false };
    let groups = parts.get_item("_param_groups").ok().flatten();
    let groups = groups.and_then(|groups| groups.cast_into_exact::<PyList>().ok());
    let of_groups = groups.iter().flatten().filter_map(|group| group.cast_into_exact::<PyDict>().ok());
    is_of_paddle(optimizer.get_type().as_any())
        && parts.values().iter().all(|part| calls_nothing(&part))
        && of_groups.flat_map(|group| group.values()).all(|part| calls_nothing(&part))
}

/// Modules of classes whose objects say to operations how they compute, and nothing to backward passes and optimizers, which leave them as
/// they are: the state of automatic casts, what scales losses (whose own methods are simulated), contexts of modes.
const OF_OPERATIONS: &[&str] =
    &["paddle.amp.auto_cast", "paddle.amp.grad_scaler", "paddle.base.dygraph.base", "paddle.base.dygraph.tracer"];

/// Modules of classes whose objects keep what they are made of: those that count names, and decorators.
const UNCHANGED: &[&str] =
    &["paddle.base.unique_name", "paddle.nn.initializer.lazy_init", "paddle.utils.decorator_utils"];

/// Whether such an operation leaves the attributes of an object as they are. What they hold it may change.
pub(crate) fn is_left_as_it_is(object: &Bound<'_, PyAny>) -> bool {
    is_of_operations(object) || is_of_one(object, UNCHANGED)
}

/// Whether an object is one of these.
pub(crate) fn is_of_operations(object: &Bound<'_, PyAny>) -> bool {
    is_of_one(object, OF_OPERATIONS)
}

/// Whether the class of an object is of one of these modules.
fn is_of_one(object: &Bound<'_, PyAny>, modules: &[&str]) -> bool {
    let module = object.get_type().getattr(intern!(object.py(), "__module__"));
    let module = module.ok().and_then(|module| module.cast_into_exact::<PyString>().ok());
    module.is_some_and(|module| modules.iter().any(|known| module == *known))
}

/// Whether an attribute of a tensor is another one behind a backward pass or a step.
pub(crate) fn is_changed(name: &str) -> bool {
    name.contains("grad") && name != "stop_gradient" || name == "inplace_version"
}

/// Attributes that hold the gradient of a leaf. Each read gives another tensor over its memory.
pub(crate) fn is_gradient(name: &str) -> bool {
    matches!(name, "grad" | "grad_")
}

/// Whether what was read as one is a tensor with all its elements.
pub(crate) fn is_dense(gradient: &Bound<'_, PyAny>) -> bool {
    let dense = gradient.call_method0(intern!(gradient.py(), "is_dense"));
    dense.and_then(|dense| dense.extract::<bool>()).unwrap_or(false)
}

/// Whether a tensor that flows into a graph has no hook that a backward pass would call.
pub(crate) fn calls_no_hook(tensor: &Bound<'_, PyAny>) -> bool {
    let stops = tensor.getattr(intern!(tensor.py(), "stop_gradient")).and_then(|stops| stops.extract::<bool>());
    stops.unwrap_or(false) || hooks::is_free_of_hooks(tensor)
}

/// Whether a part of an optimizer calls nothing but Paddle.
fn calls_nothing(part: &Bound<'_, PyAny>) -> bool {
    let class = part.get_type();
    match part {
        _ if part.is_exact_instance_of::<PyFunction>() => is_of_paddle(part),
        _ if part.is_exact_instance_of::<PyCFunction>() || part.is_instance_of::<PyType>() => false,
        _ if !facts::is_heap_type(&class) && class.name().is_ok_and(|name| name == "method") => {
            part.getattr(intern!(part.py(), "__func__")).is_ok_and(|function| is_of_paddle(&function))
        }
        _ if part.is_callable() => is_of_paddle(class.as_any()),
        _ => !facts::is_heap_type(&class) || is_of_paddle(class.as_any()) || is_container(&class),
    }
}

/// Classes of Python in which optimizers keep what they make.
fn is_container(class: &Bound<'_, PyType>) -> bool {
    class.getattr(intern!(class.py(), "__module__")).is_ok_and(|module| module.eq("collections").unwrap_or(false))
}

fn is_of_paddle(object: &Bound<'_, PyAny>) -> bool {
    let module = object.getattr(intern!(object.py(), "__module__")).ok();
    let module = module.and_then(|module| module.cast_into_exact::<PyString>().ok());
    module.is_some_and(|module| module == "paddle" || module.to_string_lossy().starts_with("paddle."))
}

/// What an operation that acts does with gradients.
pub(crate) enum OnGradients {
    /// Leaves have some behind it.
    Given,
    /// It leaves them as they are.
    Read,
    /// Those of its first operand are set, or of all where that is no tensor.
    Set { is_tensor: bool },
}

/// What it does with them.
pub(crate) fn on_gradients(op: &OpCall<'_, '_>) -> OnGradients {
    match op.name.rsplit('.').next() {
        Some("backward") => OnGradients::Given,
        Some("step") => OnGradients::Read,
        Some("__setattr__") => {
            let set = op.args.get_item(2);
            OnGradients::Set { is_tensor: set.is_ok_and(|set| !set.is_none()) }
        }
        _ => OnGradients::Set { is_tensor: false },
    }
}

/// How an operation acts, if it is one.
pub(crate) fn of(op: &OpCall<'_, '_>) -> Option<Acts> {
    match (op.kind, op.callee) {
        (CallKind::Method, None) if op.name == "__setattr__" => Some(Acts::OnState),
        (CallKind::Method, None) if hooks::are_seen() => {
            OF_TENSORS.iter().find(|(known, _)| *known == op.name).map(|(_, acts)| *acts)
        }
        (CallKind::Api, Some(callee)) => {
            let text = |name| callee.getattr(name).and_then(|text| text.extract::<String>()).ok();
            let (module, name) = (text("__module__")?, text("__name__")?);
            (is_function(&name) && api_table::is_eager_method(&module, &name)).then_some(Acts::OnAnything)
        }
        _ => None,
    }
}
