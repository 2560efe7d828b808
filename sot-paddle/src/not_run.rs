//! Operations that eager runs and the executor of programs may not. It ends the process then, since the binding lets what a kernel
//! throws through to whoever called. Such graphs are replayed.
//!
//! - Operands of two types: eager promotes one of them first, a program has the operation as it was written (float32 @ bfloat16,
//!   Paddle 3.3).
//! - bfloat16 operands of two ranks: programs take the kernels of oneDNN for these, which cannot broadcast them (the sum that `where` of
//!   a number and such a tensor is made of, Paddle 3.3).

use crate::exact::CONSTANTS;
use crate::handles::value_id;
use crate::meta;
use crate::prune::{LiveOp, short};
use hashbrown::HashSet;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Operations whose operands have one type when they run, whatever types those are. Of others only floating types are compared: their
/// integers and truth values may be indices and masks.
const ONE_TYPE: &[&str] = &[
    "add",
    "addmm",
    "atan2",
    "baddbmm",
    "bmm",
    "copysign",
    "cross",
    "divide",
    "dot",
    "einsum",
    "elementwise_pow",
    "floor_divide",
    "fmax",
    "fmin",
    "heaviside",
    "kron",
    "lerp",
    "linear_v2",
    "matmul",
    "maximum",
    "minimum",
    "multi_dot",
    "multiply",
    "mv",
    "nextafter",
    "remainder",
    "subtract",
];

/// Operations that take numbers as operands, which have no type of their own where the program has written them.
const TAKES_NUMBERS: &[&str] = &[
    "allclose",
    "arange",
    "clip",
    "full_like",
    "full_with_tensor",
    "isclose",
    "linspace",
    "logspace",
    "scale",
    "uniform",
];

/// Whether an operation takes scales and statistics of another type than what it works on.
fn takes_statistics(short: &str) -> bool {
    short.contains("norm")
}

/// The operation that has such operands, in words.
pub(crate) fn only_eager_runs(py: Python<'_>, live: &[LiveOp]) -> PyResult<Option<String>> {
    let constants = live.iter().filter(|op| CONSTANTS.contains(&&*op.name)).flat_map(|op| &op.results);
    let constants: HashSet<i64> = constants.copied().collect();
    for op in live {
        let short = short(&op.name);
        let one_type = ONE_TYPE.contains(&short);
        if !one_type && takes_statistics(short) {
            continue;
        }
        let operands = op.op.bind(py).call_method0(intern!(py, "operands_source"))?.cast_into::<PyList>()?;
        let (mut first, mut rank): (Option<Bound<'_, PyAny>>, Option<usize>) = (None, None);
        for operand in operands.iter() {
            // A list of tensors has no type.
            let Ok(dtype) = operand.getattr(intern!(py, "dtype")) else { continue };
            if !one_type && !is_floating(&dtype)? {
                continue;
            }
            if TAKES_NUMBERS.contains(&short) && constants.contains(&value_id(&operand)?) {
                continue;
            }
            if one_type
                && dtype.str()?.to_str()?.ends_with("bfloat16")
                && let Ok(axes) = meta::shape(&operand).map(|shape| shape.len())
                && *rank.get_or_insert(axes) != axes
            {
                return Ok(Some(format!("{short} of bfloat16 with and without some axes")));
            }
            match &first {
                Some(first) if !first.eq(&dtype)? => {
                    return Ok(Some(format!("{short} of {first} and {dtype}: eager promotes one of them")));
                }
                Some(_) => {}
                None => first = Some(dtype),
            }
        }
    }
    Ok(None)
}

fn is_floating(dtype: &Bound<'_, PyAny>) -> PyResult<bool> {
    let name = dtype.str()?;
    let name = name.to_str()?;
    Ok(name.contains("float") || name.contains("complex"))
}
