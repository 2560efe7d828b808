//! Dead code: operations that nothing needs are removed, those that eager would still feel are kept.
//!
//! Kept although unused: operations that write an operand (running statistics), that advance a random generator, and
//! that have blocks or check something at run time.

use crate::handles::value_id;
use hashbrown::HashSet;
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
    "fused_bias_dropout_residual_layer_norm",
    "fused_dropout_add",
    "fused_feedforward",
    "fused_attention",
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

/// Whether an operation must stay although nothing uses its results.
fn has_effect(op: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    let py = op.py();
    let short = name.strip_prefix("pd_op.").unwrap_or(name);
    Ok(short.ends_with('_')
        || RANDOM.contains(&short)
        || EFFECTS.contains(&name)
        || op.call_method0(intern!(py, "num_regions"))?.extract::<usize>()? > 0)
}

/// One operation that stayed.
pub(crate) struct LiveOp {
    pub(crate) name: String,
    pub(crate) operands: Vec<i64>,
    pub(crate) results: Vec<i64>,
}

/// Remove dead operations of the main block, given the values that are needed. Gives the live ones in program order.
///
/// A `builtin.split` that takes a live list apart stays although nothing uses the parts: Paddle's backward makes zero
/// gradients for parts, but not for a list.
pub(crate) fn prune(block: &Bound<'_, PyAny>, roots: &[i64]) -> PyResult<Vec<LiveOp>> {
    let py = block.py();
    let ops = block.getattr(intern!(py, "ops"))?.cast_into::<PyList>()?;
    let mut needed: HashSet<i64> = roots.iter().copied().collect();
    let mut live: Vec<Option<LiveOp>> = Vec::with_capacity(ops.len());
    let mut splits = Vec::new();
    let mut made = HashSet::new();
    for (at, op) in ops.iter().enumerate().rev() {
        let name: String = op.call_method0(intern!(py, "name"))?.extract()?;
        let results = ids(&op.call_method0(intern!(py, "results"))?)?;
        let wanted = results.iter().any(|r| needed.contains(r)) || has_effect(&op, &name)?;
        if wanted || name == "builtin.split" {
            let operands = ids(&op.call_method0(intern!(py, "operands_source"))?)?;
            if wanted {
                needed.extend(operands.iter().copied());
                made.extend(results.iter().copied());
            } else {
                splits.push((at, live.len()));
            }
            live.push(Some(LiveOp { name, operands, results }));
        } else {
            block.call_method1(intern!(py, "remove_op"), (op,))?;
        }
    }
    for (at, slot) in splits {
        if live[slot].as_ref().is_some_and(|op| !op.operands.iter().any(|o| made.contains(o))) {
            live[slot] = None;
            block.call_method1(intern!(py, "remove_op"), (ops.get_item(at)?,))?;
        }
    }
    live.reverse();
    Ok(live.into_iter().flatten().collect())
}

fn ids(values: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    values.cast::<PyList>()?.iter().map(|v| value_id(&v)).collect()
}
