//! Writes in place: which operations write their first operand, and whose memory that is.
//!
//! A program has no memory that could be written. What a write does is left to replay, which does it as eager does; the builder
//! finds out whether the tensor keeps its shape and type, and its value stays what it was.
//!
//! A run that fails is followed by the frame as it was, which must find everything as it would have been without the run. That is so
//! where only memory is written that the program itself has made: it is gone then. A write to memory from outside acts
//! ([`GraphBuilder::acts`](sot_core::backend::GraphBuilder::acts)): to take a copy first would cost more than a break, and what may fail
//! behind the write cannot be foreseen (a kernel that is missing for a type, extents that do not fit at another call, an index out of
//! range), so the program goes on where it has failed. Where gradients flow to such memory the write breaks the graph.

use crate::arguments::parts_of_slice;
use crate::grown::Grown;
use crate::handles::Handles;
use crate::meta;
use crate::names::bare;
use crate::prune::short;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyFloat, PyInt, PyList, PySlice, PyTuple};
use sot_core::backend::{CallKind, OpCall};

/// Operations that write their first operand, which keeps its shape, type and place.
const WRITES: &[&str] = &[
    "abs_",
    "acos_",
    "acosh_",
    "add_",
    "addmm_",
    "asin_",
    "asinh_",
    "atan_",
    "atanh_",
    "baddbmm_",
    "bitwise_and_",
    "bitwise_invert_",
    "bitwise_not_",
    "bitwise_or_",
    "bitwise_xor_",
    "ceil_",
    "clamp_",
    "clip_",
    "copysign_",
    "cos_",
    "cosh_",
    "cumprod_",
    "cumsum_",
    "digamma_",
    "div_",
    "divide_",
    "elu_",
    "erfinv_",
    "exp_",
    "fill_",
    "fill_diagonal_",
    "floor_",
    "floor_divide_",
    "floor_mod_",
    "frac_",
    "hardtanh_",
    "hypot_",
    "i0_",
    "index_add_",
    "index_fill_",
    "index_put_",
    "leaky_relu_",
    "lerp_",
    "lgamma_",
    "log10_",
    "log1p_",
    "log2_",
    "log_",
    "logical_and_",
    "logical_not_",
    "logical_or_",
    "logical_xor_",
    "logit_",
    "masked_fill_",
    "masked_scatter_",
    "mod_",
    "mul_",
    "multiply_",
    "nan_to_num_",
    "neg_",
    "pow_",
    "put_along_axis_",
    "reciprocal_",
    "relu_",
    "remainder_",
    "round_",
    "rsqrt_",
    "scale_",
    "scatter_",
    "scatter_add_",
    "sigmoid_",
    "sin_",
    "sinh_",
    "softmax_",
    "sqrt_",
    "square_",
    "sub_",
    "subtract_",
    "tan_",
    "tanh_",
    "thresholded_relu_",
    "tril_",
    "triu_",
    "trunc_",
    "zero_",
];

/// The same, which draw the numbers that they write.
const DRAWS: &[&str] = &["bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "uniform_"];

/// Those among them that programs lack, and that keep shape and type whatever they are given.
const ONLY_EAGER: &[&str] = &["fill_", "fill_diagonal_", "zero_"];

/// Operations whose results are memory of their own in eager, whatever they are given.
const MAKES_MEMORY: &[&str] = &[
    "abs",
    "add",
    "addmm",
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "assign",
    "bilinear_interp",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "bmm",
    "ceil",
    "clip",
    "concat",
    "conv2d",
    "cos",
    "cumprod",
    "cumsum",
    "divide",
    "dropout",
    "elementwise_pow",
    "embedding",
    "empty_like",
    "equal",
    "erf",
    "exp",
    "expand",
    "expand_as",
    "expm1",
    "flip",
    "floor",
    "floor_divide",
    "full_like",
    "gather",
    "gather_nd",
    "gaussian",
    "gelu",
    "greater_equal",
    "greater_than",
    "group_norm",
    "hardsigmoid",
    "hardswish",
    "index_add",
    "index_put",
    "index_select",
    "instance_norm",
    "isfinite",
    "isinf",
    "isnan",
    "kron",
    "layer_norm",
    "leaky_relu",
    "lerp",
    "less_equal",
    "less_than",
    "linear_v2",
    "log",
    "log1p",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsumexp",
    "masked_fill",
    "masked_select",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "multiply",
    "nan_to_num",
    "nearest_interp",
    "not_equal",
    "one_hot",
    "p_norm",
    "pad",
    "pad3d",
    "pool2d",
    "pow",
    "prod",
    "put_along_axis",
    "reciprocal",
    "relu",
    "relu6",
    "remainder",
    "repeat_interleave",
    "roll",
    "round",
    "rsqrt",
    "scale",
    "scatter",
    "selu",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinh",
    "softmax",
    "softplus",
    "split",
    "split_with_num",
    "sqrt",
    "square",
    "stack",
    "subtract",
    "sum",
    "swish",
    "take_along_axis",
    "tan",
    "tanh",
    "tile",
    "topk",
    "tril",
    "triu",
    "uniform",
    "where",
];

/// A write in place.
pub(crate) struct Write<'py> {
    pub(crate) target: Bound<'py, PyAny>,
    /// Whether the call gives nothing, rather than what it has written.
    pub(crate) gives_nothing: bool,
    /// Whether no gradient flows to what it writes.
    pub(crate) detached: bool,
    /// Whether it draws what it writes.
    pub(crate) draws: bool,
}

impl<'py> Write<'py> {
    /// The write that an operation is. `None`: it is none, or one that only eager can tell what becomes of.
    pub(crate) fn of(grown: &Grown, op: &OpCall<'_, 'py>) -> Option<Write<'py>> {
        let (name, handles) = (bare(op.name), &*grown.handles);
        let target = op.args.get_item(0).ok().filter(|target| handles.is_value(target))?;
        if name == "__setitem__" && op.kind == CallKind::Method {
            let (key, new) = op.args.get_slice(1, 3).extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>)>().ok()?;
            let fits = op.args.len() == 3 && is_index(grown, &key, true) && is_number_or_value(handles, &new);
            return fits.then_some(Write { gives_nothing: true, ..Write::of_all(target) });
        }
        if name == "set_value" {
            let alone = op.args.len() == 2 && op.kwargs.is_none_or(|kwargs| kwargs.is_empty());
            let new = op.args.get_item(1).ok().filter(|new| alone && handles.is_value(new))?;
            // Else eager refuses it.
            let same = is_alike(&target, &new).unwrap_or(false);
            return same.then_some(Write { gives_nothing: true, detached: true, ..Write::of_all(target) });
        }
        is_known(name).then_some(Write { draws: DRAWS.contains(&name), ..Write::of_all(target) })
    }

    fn of_all(target: Bound<'py, PyAny>) -> Write<'py> {
        Write { target, gives_nothing: false, detached: false, draws: false }
    }

    /// Whether building tells what becomes of shape and type.
    pub(crate) fn is_built(&self, op: &OpCall<'_, '_>) -> bool {
        !self.gives_nothing && !self.draws && !ONLY_EAGER.contains(&bare(op.name))
    }
}

/// Whether an operation of this name writes its first operand, as far as the builder knows what it does.
pub(crate) fn is_known(name: &str) -> bool {
    [WRITES, DRAWS].iter().any(|list| list.contains(&name))
}

/// The name of what computes the same and does not write.
pub(crate) fn without_writing<'a>(op: &OpCall<'a, '_>) -> &'a str {
    bare(op.name).trim_end_matches('_')
}

/// Whether a method of this name is a write that the builder may take.
pub(crate) fn is_write(method: &str) -> bool {
    matches!(method, "__setitem__" | "set_value") || is_known(method)
}

/// A write in the words of the program.
pub(crate) fn in_words<'a>(op: &OpCall<'a, '_>) -> &'a str {
    match bare(op.name) {
        "__setitem__" | "setitem" => "item assignment",
        "__delitem__" | "delitem" => "item deletion",
        _ => op.name,
    }
}

/// An index that eager takes apart as it is: integers, slices of them and of extents, tensors, lists of integers.
fn is_index(grown: &Grown, key: &Bound<'_, PyAny>, outermost: bool) -> bool {
    let integer = |item: &Bound<'_, PyAny>| item.is_exact_instance_of::<PyInt>();
    if key.is_none() || key.is_instance_of::<PyEllipsis>() || integer(key) || grown.handles.is_value(key) {
        return true;
    }
    if let Ok(slice) = key.cast::<PySlice>() {
        return parts_of_slice(slice).all(|part| part.is_none() || integer(&part) || grown.extents.contains(&part));
    }
    if let Ok(tuple) = key.cast_exact::<PyTuple>() {
        return outermost && tuple.iter().all(|item| is_index(grown, &item, false));
    }
    key.cast_exact::<PyList>().is_ok_and(|list| !list.is_empty() && list.iter().all(|item| integer(&item)))
}

fn is_number_or_value(handles: &Handles, value: &Bound<'_, PyAny>) -> bool {
    handles.is_value(value)
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
}

/// Whether two values have the same shape, as far as it is known, and type.
pub(crate) fn is_alike(one: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
    let dtype =
        |value: &Bound<'_, PyAny>| value.getattr(intern!(value.py(), "dtype"))?.str().map(|dtype| dtype.to_string());
    Ok(meta::shape(one)? == meta::shape(other)? && dtype(one)? == dtype(other)?)
}

/// Whether eager gives what is written another shape where the other operand is larger, instead of refusing it.
pub(crate) fn may_widen(op: &OpCall<'_, '_>) -> bool {
    matches!(bare(op.name), "masked_fill_" | "masked_scatter_")
}

fn name_of(op: &Bound<'_, PyAny>) -> PyResult<String> {
    op.call_method0(intern!(op.py(), "name"))?.extract()
}

/// Whether the results of an operation of a program are memory of their own.
fn makes_memory(op: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(MAKES_MEMORY.contains(&short(&name_of(op)?)))
}

/// Whether a value is a view of another, or others may be views of it.
pub(crate) fn is_shared(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    let maker = value.call_method0(intern!(py, "get_defining_op"))?;
    let has_operands = maker.call_method0(intern!(py, "num_operands"))?.extract::<usize>()? > 0;
    if has_operands && !makes_memory(&maker)? {
        return Ok(true);
    }
    for user in value.call_method0(intern!(py, "all_used_ops"))?.try_iter()? {
        if !makes_memory(&user?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a value may live in memory that the program has not made.
pub(crate) fn is_outside(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    let mut behind = vec![value.clone()];
    let mut seen = hashbrown::HashSet::new();
    while let Some(value) = behind.pop() {
        let maker = value.call_method0(intern!(py, "get_defining_op"))?;
        if maker.is_none() {
            return Ok(true);
        }
        if !seen.insert(maker.call_method0(intern!(py, "id"))?.extract::<i64>()?) {
            continue;
        }
        if name_of(&maker)? == "pd_op.data" {
            return Ok(true);
        }
        if makes_memory(&maker)? {
            continue;
        }
        behind.extend(maker.call_method0(intern!(py, "operands_source"))?.cast_into::<PyList>()?.iter());
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_agree() {
        for list in [WRITES, DRAWS, ONLY_EAGER, MAKES_MEMORY] {
            assert!(list.is_sorted(), "{list:?}");
        }
        assert!(ONLY_EAGER.iter().all(|name| WRITES.contains(name)));
        assert!(DRAWS.iter().all(|name| !WRITES.contains(name)));
        assert!(MAKES_MEMORY.iter().all(|name| !crate::alias::is_view(&format!("pd_op.{name}"))));
    }
}
