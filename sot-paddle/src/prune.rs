//! Dead code: operations that nothing needs are removed, those that eager would still feel are kept.
//!
//! Kept although unused: operations that write an operand (running statistics), that advance a random generator, that have
//! blocks, and all that may refuse the numbers they are given (an index out of range, a singular matrix): whatever is not
//! known to work on any ([`TAKE_ANYTHING`]).

use crate::handles::value_id;
use hashbrown::{HashMap, HashSet};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Operations that draw random numbers: their number and order is part of the program's meaning.
const RANDOM: &[&str] = &[
    "bernoulli",
    "binomial",
    "class_center_sample",
    "dirichlet",
    "dropout",
    "dropout_nd",
    "exponential_",
    "flash_attn",
    "flash_attn_unpadded",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "fused_attention",
    "fused_bias_dropout_residual_layer_norm",
    "fused_dropout_add",
    "fused_feedforward",
    "gaussian",
    "gaussian_inplace",
    "graph_khop_sampler",
    "graph_sample_neighbors",
    "gumbel_softmax",
    "log_normal",
    "memory_efficient_attention",
    "multinomial",
    "nce",
    "normal",
    "poisson",
    "randint",
    "random_routing",
    "randperm",
    "rnn",
    "rrelu",
    "seed",
    "shuffle_batch",
    "standard_gamma",
    "top_p_sampling",
    "truncated_gaussian_random",
    "uniform",
    "uniform_inplace",
    "uniform_random_batch_size_like",
    "weighted_sample_neighbors",
];

/// Operations with an effect of another kind.
const EFFECTS: &[&str] =
    &["pd_op.assert", "pd_op.print", "pd_op.py_func", "builtin.shadow_output", "builtin.set_parameter", "cf.yield"];

/// Operations that raise nothing, whatever numbers are in tensors of shapes that they have been built for.
const TAKE_ANYTHING: &[&str] = &[
    "abs",
    "add",
    "add_n",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "assign",
    "assign_value",
    "bmm",
    "broadcast_tensors",
    "cast",
    "ceil",
    "clip",
    "combine",
    "concat",
    "conv2d",
    "cos",
    "cumsum",
    "data",
    "elu",
    "empty",
    "empty_like",
    "equal",
    "erf",
    "exp",
    "expand",
    "expand_as",
    "flatten",
    "flip",
    "floor",
    "full",
    "full_batch_size_like",
    "full_int_array",
    "full_like",
    "full_with_tensor",
    "gelu",
    "greater_equal",
    "greater_than",
    "group_norm",
    "hardsigmoid",
    "hardswish",
    "instance_norm",
    "isfinite",
    "isinf",
    "isnan",
    "kthvalue",
    "layer_norm",
    "leaky_relu",
    "less_equal",
    "less_than",
    "linspace",
    "log",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "max",
    "maximum",
    "mean",
    "meshgrid",
    "min",
    "minimum",
    "multiply",
    "not_equal",
    "numel",
    "pad",
    "parameter",
    "pool2d",
    "prod",
    "relu",
    "relu6",
    "reshape",
    "roll",
    "round",
    "rsqrt",
    "scale",
    "shape",
    "shape64",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "slice",
    "softmax",
    "softplus",
    "split",
    "split_with_num",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "strided_slice",
    "subtract",
    "sum",
    "swish",
    "tanh",
    "tile",
    "topk",
    "transpose",
    "tril",
    "triu",
    "unbind",
    "unsqueeze",
    "unstack",
    "where",
];

/// Those of them that are told a shape, axes, bounds or a range by further tensors: only constants of the program are as good
/// as an attribute. With how many operands, before those, that have data.
const ARE_TOLD: &[(&str, usize)] = &[
    ("arange", 0),
    ("argmax", 1),
    ("argmin", 1),
    ("clip", 1),
    ("concat", 1),
    ("cumsum", 1),
    ("empty", 0),
    ("expand", 1),
    ("full_with_tensor", 0),
    ("linspace", 0),
    ("max", 1),
    ("min", 1),
    ("pad", 1),
    ("pool2d", 1),
    ("prod", 1),
    ("reshape", 1),
    ("roll", 1),
    ("slice", 1),
    ("split", 1),
    ("split_with_num", 1),
    ("squeeze", 1),
    ("strided_slice", 1),
    ("sum", 1),
    ("tile", 1),
    ("topk", 1),
    ("unsqueeze", 1),
];

/// The name of one of Paddle's operations without its dialect.
pub(crate) fn short(name: &str) -> &str {
    name.strip_prefix("pd_op.").unwrap_or(name)
}

/// Whether an operation is told something that is known at run time only. `made_by`: which of `all` makes a value.
fn is_told_late(op: &LiveOp, all: &[LiveOp], made_by: &HashMap<i64, usize>) -> bool {
    let short = short(&op.name);
    let Some((_, data)) = ARE_TOLD.iter().find(|(name, _)| *name == short) else { return false };
    let is_constant = |operand: &i64| {
        made_by.get(operand).is_some_and(|at| matches!(all[*at].name.as_str(), "pd_op.full" | "pd_op.full_int_array"))
    };
    !op.operands.iter().skip(*data).all(is_constant)
}

/// Whether an operation must stay although nothing uses its results.
fn has_effect(op: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    let py = op.py();
    let short = short(name);
    let is_paddles = name.starts_with("pd_op.");
    Ok(short.ends_with('_')
        || RANDOM.contains(&short)
        || EFFECTS.contains(&name)
        || is_paddles && !TAKE_ANYTHING.contains(&short)
        || op.call_method0(intern!(py, "num_regions"))?.extract::<usize>()? > 0)
}

/// Whether an operation draws random numbers.
pub(crate) fn is_random(name: &str) -> bool {
    RANDOM.contains(&short(name))
}

/// One operation that stayed.
pub(crate) struct LiveOp {
    pub(crate) op: Py<PyAny>,
    pub(crate) name: String,
    pub(crate) operands: Vec<i64>,
    pub(crate) results: Vec<i64>,
}

/// Remove dead operations of the main block, given the values that are needed. Gives the live ones in program order.
///
/// What lives is decided before anything is removed, and the last operation goes first: a producer must not go while
/// something dead still reads it (PIR ends the process then), and a list's reader may live without its parts.
pub(crate) fn prune(block: &Bound<'_, PyAny>, roots: &[i64]) -> PyResult<Vec<LiveOp>> {
    let py = block.py();
    let ops = block.getattr(intern!(py, "ops"))?.cast_into::<PyList>()?;
    let mut all = Vec::with_capacity(ops.len());
    let mut live = vec![false; ops.len()];
    let mut needed: HashSet<i64> = roots.iter().copied().collect();
    for op in ops.iter() {
        all.push(LiveOp {
            name: op.call_method0(intern!(py, "name"))?.extract()?,
            op: op.clone().unbind(),
            operands: ids(&op.call_method0(intern!(py, "operands_source"))?)?,
            results: ids(&op.call_method0(intern!(py, "results"))?)?,
        });
    }
    let results = all.iter().enumerate().flat_map(|(at, op)| op.results.iter().map(move |result| (*result, at)));
    let made_by: HashMap<i64, usize> = results.collect();
    for (at, op) in all.iter().enumerate().rev() {
        live[at] = op.results.iter().any(|r| needed.contains(r))
            || is_told_late(op, &all, &made_by)
            || has_effect(&ops.get_item(at)?, &op.name)?;
        if live[at] {
            needed.extend(op.operands.iter().copied());
        }
    }
    for at in (0..all.len()).rev().filter(|at| !live[*at]) {
        block.call_method1(intern!(py, "remove_op"), (ops.get_item(at)?,))?;
    }
    Ok(all.into_iter().zip(live).filter_map(|(op, live)| live.then_some(op)).collect())
}

fn ids(values: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    values.cast::<PyList>()?.iter().map(|v| value_id(&v)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_agree() {
        for list in [RANDOM, TAKE_ANYTHING] {
            assert!(list.is_sorted(), "{list:?}");
        }
        assert!(ARE_TOLD.is_sorted(), "{ARE_TOLD:?}");
        assert!(ARE_TOLD.iter().all(|(name, _)| TAKE_ANYTHING.contains(name)));
        assert!(RANDOM.iter().all(|name| !TAKE_ANYTHING.contains(name)));
    }
}
