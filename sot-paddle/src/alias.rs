//! Memory: which calls write their arguments, and which outputs would share memory in eager.
//!
//! Programs have no views, and an in-place method on a symbolic value silently builds the out-of-place operation. So
//! calls that write are refused here, and a graph whose outputs would be views is run by replay.

use crate::api_table::in_place_name;
use crate::prune::LiveOp;
use hashbrown::HashMap;
use pyo3::prelude::*;
use sot_core::backend::OpCall;
use sot_core::stop::{Reason, Why};

/// Why a call may not be built whatever its arguments, if so.
pub(crate) fn forbidden(op: &OpCall<'_, '_>) -> Option<Why> {
    let written = in_place_name(op.name) || matches!(op.name, "__setitem__" | "setitem" | "__delitem__" | "delitem");
    if written {
        return Some(Why::new(Reason::InplaceTensor, op.name));
    }
    let kwargs = op.kwargs?;
    let given = |name: &str| kwargs.get_item(name).ok().flatten().is_some_and(|v| !v.is_none());
    if given("out") || given("output") && op.name == "assign" {
        return Some(Why::new(Reason::InplaceTensor, format!("{}(out=...)", op.name)));
    }
    if kwargs.get_item("inplace").ok().flatten().is_some_and(|v| v.is_truthy().unwrap_or(true)) {
        return Some(Why::new(Reason::InplaceTensor, format!("{}(inplace=True)", op.name)));
    }
    None
}

/// Operations whose result shares memory with their first operand in eager mode, always.
const ALWAYS_VIEWS: &[&str] = &["pd_op.share_data", "pd_op.share_data_", "pd_op.flatten", "pd_op.reshape", "pd_op.squeeze", "pd_op.unsqueeze"];

/// Operations whose result shares memory with their first operand where kernels work on strides.
const STRIDED_VIEWS: &[&str] = &[
    "pd_op.as_complex", "pd_op.as_real", "pd_op.as_strided", "pd_op.diagonal", "pd_op.expand", "pd_op.expand_as",
    "pd_op.imag", "pd_op.index_select_strided", "pd_op.real", "pd_op.slice", "pd_op.split", "pd_op.split_with_num",
    "pd_op.strided_slice", "pd_op.tensor_unfold", "pd_op.transpose", "pd_op.unbind", "pd_op.unstack",
    "pd_op.view_dtype", "pd_op.view_shape", "pd_op.chunk",
];

/// Whether the result of an operation shares memory with its first operand in eager mode.
pub(crate) fn is_view(op_name: &str) -> bool {
    ALWAYS_VIEWS.contains(&op_name) || STRIDED_VIEWS.contains(&op_name)
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
            let view = is_view(&op.name) || matches!(op.name.as_str(), "builtin.split" | "builtin.slice");
            if let (true, Some(source)) = (view, op.operands.first()) {
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
