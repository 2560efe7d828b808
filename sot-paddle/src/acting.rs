//! Calls that change what Paddle keeps beside tensors: gradients, and the state of optimizers.

use crate::api_table;
use pyo3::prelude::*;
use sot_core::backend::{Acts, CallKind, OpCall};

/// Methods of tensors. Hooks of tensors and layers of Python run in the first.
const OF_TENSORS: &[(&str, Acts)] =
    &[("backward", Acts::OnAnything), ("clear_grad", Acts::OnState), ("clear_gradient", Acts::OnState)];

/// Methods of optimizers that give None.
const OF_OPTIMIZERS: &[&str] = &["clear_grad", "clear_gradients", "step", "zero_grad"];

/// Whether a method of tensors is such a call.
pub(crate) fn is_method(name: &str) -> bool {
    OF_TENSORS.iter().any(|(known, _)| *known == name)
}

/// Whether a method of an optimizer is.
pub(crate) fn is_function(name: &str) -> bool {
    OF_OPTIMIZERS.contains(&name)
}

/// How an operation acts, if it is one.
pub(crate) fn of(op: &OpCall<'_, '_>) -> Option<Acts> {
    match (op.kind, op.callee) {
        (CallKind::Method, None) => OF_TENSORS.iter().find(|(known, _)| *known == op.name).map(|(_, acts)| *acts),
        (CallKind::Api, Some(callee)) => {
            let text = |name| callee.getattr(name).and_then(|text| text.extract::<String>()).ok();
            let (module, name) = (text("__module__")?, text("__name__")?);
            (is_function(&name) && api_table::is_eager_method(&module, &name)).then_some(Acts::OnState)
        }
        _ => None,
    }
}
