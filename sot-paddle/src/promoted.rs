//! Products of tensors of two types. Eager promotes one of them first; a program has the product as it was written, which its
//! executor cannot run: the process may end there (float32 @ bfloat16, Paddle 3.3). Such graphs are replayed.

use crate::prune::{LiveOp, short};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Operations whose operands have one type when they run.
const ONE_TYPE: &[&str] =
    &["addmm", "baddbmm", "bmm", "cross", "dot", "einsum", "kron", "linear_v2", "matmul", "multi_dot", "mv"];

/// The operation that has operands of two types, in words.
pub(crate) fn operands_of_two_types(py: Python<'_>, live: &[LiveOp]) -> PyResult<Option<String>> {
    for op in live {
        let short = short(&op.name);
        if !ONE_TYPE.contains(&short) {
            continue;
        }
        let operands = op.op.bind(py).call_method0(intern!(py, "operands_source"))?.cast_into::<PyList>()?;
        let mut first: Option<Bound<'_, PyAny>> = None;
        for operand in operands.iter() {
            // A list of tensors has no type.
            let Ok(dtype) = operand.getattr(intern!(py, "dtype")) else { continue };
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
