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

/// Whether an object says to operations how they compute, and nothing to backward passes and optimizers, which leave it as it is: the
/// state of automatic casts.
pub(crate) fn is_of_operations(object: &Bound<'_, PyAny>) -> bool {
    let class = object.get_type();
    is_of_paddle(class.as_any()) && class.name().is_ok_and(|class| class == "AMPGlobalState")
}

/// Whether an attribute of a tensor is another one behind a backward pass or a step.
pub(crate) fn is_changed(name: &str) -> bool {
    name.contains("grad") && name != "stop_gradient" || name == "inplace_version"
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

/// How an operation acts, if it is one.
pub(crate) fn of(op: &OpCall<'_, '_>) -> Option<Acts> {
    match (op.kind, op.callee) {
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
