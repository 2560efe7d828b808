//! Memory: which calls write their arguments, and which outputs would share memory in eager.
//!
//! Programs have no views, and an in-place method on a symbolic value silently builds the out-of-place operation. So
//! calls that write are refused here, but for those of [`crate::written`], and a graph whose outputs would be views is run by replay.

use crate::api_table::in_place_name;
use crate::names::bare;
use crate::prune::LiveOp;
use crate::written;
use hashbrown::HashMap;
use pyo3::prelude::*;
use sot_core::backend::OpCall;
use sot_core::stop::{Reason, Why};

/// Why a call may not be built whatever its arguments, if so.
pub(crate) fn forbidden(op: &OpCall<'_, '_>) -> Option<Why> {
    let name = bare(op.name);
    let written = in_place_name(name) || matches!(name, "__setitem__" | "setitem" | "__delitem__" | "delitem");
    if written {
        return Some(Why::new(Reason::InplaceTensor, written::in_words(op)));
    }
    forbidden_arguments(op)
}

/// Why a call may not be built for what it is told to do beside its name.
pub(crate) fn forbidden_arguments(op: &OpCall<'_, '_>) -> Option<Why> {
    let name = bare(op.name);
    let kwargs = op.kwargs?;
    let given = |argument: &str| kwargs.get_item(argument).ok().flatten().is_some_and(|v| !v.is_none());
    if given("out") || given("output") && name == "assign" {
        return Some(Why::new(Reason::InplaceTensor, format!("{}(out=...)", op.name)));
    }
    if kwargs.get_item("inplace").ok().flatten().is_some_and(|v| v.is_truthy().unwrap_or(true)) {
        return Some(Why::new(Reason::InplaceTensor, format!("{}(inplace=True)", op.name)));
    }
    None
}

/// Whether a call is told to make a tensor that gradients flow to, recorded or not.
pub(crate) fn makes_leaf(op: &OpCall<'_, '_>) -> bool {
    let flag = |name: &str| op.kwargs?.get_item(name).ok().flatten().and_then(|v| v.extract::<bool>().ok());
    let by_place = || op.args.get_item(3).ok().and_then(|v| v.extract::<bool>().ok());
    let stops = flag("stop_gradient").or_else(|| if bare(op.name) == "to_tensor" { by_place() } else { None });
    flag("requires_grad") == Some(true) || stops == Some(false)
}

/// Operations whose result shares memory with their first operand in eager mode. Splitting and expanding copy.
const VIEWS: &[&str] = &[
    "pd_op.as_complex",
    "pd_op.as_real",
    "pd_op.as_strided",
    "pd_op.diagonal",
    "pd_op.flatten",
    "pd_op.imag",
    "pd_op.real",
    "pd_op.reshape",
    "pd_op.share_data",
    "pd_op.share_data_",
    "pd_op.slice",
    "pd_op.squeeze",
    "pd_op.strided_slice",
    "pd_op.tensor_unfold",
    "pd_op.transpose",
    "pd_op.unbind",
    "pd_op.unsqueeze",
    "pd_op.view_dtype",
    "pd_op.view_shape",
];

/// Whether the result of an operation shares memory with its first operand in eager mode.
pub(crate) fn is_view(op_name: &str) -> bool {
    VIEWS.contains(&op_name)
}

/// Operations whose results share memory with an operand by what they are told alone (`einsum("ij->ij", x)`).
const VIEWS_AT_TIMES: &[&str] = &["pd_op.einsum"];

/// The operation, in words, whose result may share memory in eager mode.
pub(crate) fn view_at_times(ops: &[LiveOp]) -> Option<String> {
    let op = ops.iter().find(|op| VIEWS_AT_TIMES.contains(&&*op.name))?;
    Some(format!("{} may give what it was given", op.name.trim_start_matches("pd_op.")))
}

/// The memory that each value lives in, by the identity of the value that owns it.
pub(crate) struct Memory {
    owner: HashMap<i64, i64>,
}

impl Memory {
    /// Follow the views of a program.
    pub(crate) fn of(ops: &[LiveOp]) -> Memory {
        let mut owner = HashMap::new();
        for op in ops {
            let Some(source) = op.operands.first() else { continue };
            // A part of a list is a view if the list is one: `unbind` gives views, `split` gives tensors of their own.
            let part = matches!(op.name.as_str(), "builtin.split" | "builtin.slice") && owner.contains_key(source);
            if part || is_view(&op.name) {
                let root = *owner.get(source).unwrap_or(source);
                owner.extend(op.results.iter().map(|r| (*r, root)));
            }
        }
        Memory { owner }
    }

    /// The value that owns the memory of `value`.
    pub(crate) fn owner(&self, value: i64) -> i64 {
        *self.owner.get(&value).unwrap_or(&value)
    }
}
