//! What a call appended, looked at once, operation by operation.
//!
//! A program is not quite eager execution. Here is decided, for the operations that made the results of a call, where
//! the difference would show:
//! - shape inference that gives another dtype than the kernel: the call is refused;
//! - control flow inside an operation: refused, because its blocks run by other rules;
//! - gradients that are not dense: refused;
//! - writing an operand: fine for fresh memory of the program (constants are made that way), refused otherwise;
//! - gradients: eager marks the results of an operation without gradient as `stop_gradient`, a program does not, so
//!   it is done here, in program order.

use crate::handles::Handles;
use hashbrown::HashSet;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use sot_core::stop::{Reason, Why};

/// Operations whose result eager always gives as `bool`.
const GIVES_BOOL: &[&str] = &["pd_op.all", "pd_op.any", "pd_op.equal_all"];

/// Operations whose result eager gives as a floating type, also for integers.
const GIVES_FLOAT: &[&str] = &["pd_op.exp", "pd_op.expm1", "pd_op.log", "pd_op.log10", "pd_op.log1p", "pd_op.log2"];

/// Operations named as if they wrote an operand that do what eager does: running statistics, and sharing (`detach`).
const SAME_IN_EAGER: &[&str] = &["pd_op.batch_norm_", "pd_op.share_data_", "pd_op.sync_batch_norm_"];

/// Operations that only pass values on.
fn passes_on(name: &str) -> bool {
    name.starts_with("builtin.") || name == "pd_op.data"
}

/// The symbolic values in a structure of tuples, lists and dicts.
pub(crate) fn values_in<'py>(handles: &Handles, obj: &Bound<'py, PyAny>, out: &mut Vec<Bound<'py, PyAny>>) {
    if handles.is_value(obj) {
        out.push(obj.clone());
    } else if let Ok(tuple) = obj.cast::<PyTuple>() {
        tuple.iter().for_each(|o| values_in(handles, &o, out));
    } else if let Ok(list) = obj.cast::<PyList>() {
        list.iter().for_each(|o| values_in(handles, &o, out));
    } else if let Ok(dict) = obj.cast::<PyDict>() {
        dict.values().iter().for_each(|o| values_in(handles, &o, out));
    }
}

/// Operations already looked at, by identity.
#[derive(Default)]
pub(crate) struct Seen(HashSet<i64>);

/// Look at all new operations behind `results`; the first thing that must not be built, if any.
pub(crate) fn look(handles: &Handles, seen: &mut Seen, results: &[Bound<'_, PyAny>]) -> PyResult<Option<Why>> {
    enum Step<'py> {
        Enter(Bound<'py, PyAny>),
        Leave { op: Bound<'py, PyAny>, name: String, operands: Vec<Bound<'py, PyAny>> },
    }
    let Some(first) = results.first() else { return Ok(None) };
    let py = first.py();
    let mut steps: Vec<Step<'_>> = results.iter().rev().map(|v| Step::Enter(v.clone())).collect();
    while let Some(step) = steps.pop() {
        match step {
            Step::Enter(value) => {
                let op = value.call_method0(intern!(py, "get_defining_op"))?;
                if op.is_none() || !seen.0.insert(op.call_method0(intern!(py, "id"))?.extract()?) {
                    continue;
                }
                let name: String = op.call_method0(intern!(py, "name"))?.extract()?;
                let operands: Vec<_> =
                    op.call_method0(intern!(py, "operands_source"))?.cast_into::<PyList>()?.iter().collect();
                let inner: Vec<_> = operands.iter().rev().map(|v| Step::Enter(v.clone())).collect();
                steps.push(Step::Leave { op, name, operands });
                steps.extend(inner);
            }
            Step::Leave { op, name, operands } => {
                if let Some(why) = check(handles, &op, &name, &operands)? {
                    return Ok(Some(why));
                }
            }
        }
    }
    Ok(None)
}

fn check(handles: &Handles, op: &Bound<'_, PyAny>, name: &str, operands: &[Bound<'_, PyAny>]) -> PyResult<Option<Why>> {
    let py = op.py();
    if op.call_method0(intern!(py, "num_regions"))?.extract::<usize>()? > 0 {
        return Ok(Some(Why::new(Reason::ApiRejected, format!("{name} has control flow inside"))));
    }
    if name.ends_with('_') && !SAME_IN_EAGER.contains(&name) && !writes_fresh_memory(handles, op, operands)? {
        return Ok(Some(Why::new(Reason::InplaceTensor, name)));
    }
    if passes_on(name) {
        return Ok(None);
    }
    if name == "pd_op.embedding" && op.call_method0(intern!(py, "attrs"))?.get_item("sparse")?.is_truthy()? {
        return Ok(Some(Why::new(Reason::ApiRejected, "an embedding with sparse gradients")));
    }
    let results = op.call_method0(intern!(py, "results"))?.cast_into::<PyList>()?;
    if name == "pd_op.pow" && results.get_item(0)?.getattr(intern!(py, "dtype"))?.str()?.to_str()?.contains("complex") {
        return Ok(Some(Why::new(Reason::ApiRejected, "the gradient of a complex power differs")));
    }
    let wants: Option<&[&str]> = if GIVES_BOOL.contains(&name) {
        Some(&["paddle.bool"])
    } else if GIVES_FLOAT.contains(&name) {
        Some(&[
            "paddle.float32",
            "paddle.float64",
            "paddle.float16",
            "paddle.bfloat16",
            "paddle.complex64",
            "paddle.complex128",
        ])
    } else {
        None
    };
    if let Some(wants) = wants {
        let dtype = results.get_item(0)?.getattr(intern!(py, "dtype"))?.str()?;
        if !wants.contains(&dtype.to_str()?) {
            return Ok(Some(Why::new(Reason::ApiRejected, format!("{name} has another dtype in a program"))));
        }
    }
    if !operands.is_empty() {
        let mut stops = !handles.core.bind(py).getattr(intern!(py, "has_vjp"))?.call1((op,))?.is_truthy()?;
        if !stops {
            stops = true;
            for operand in operands {
                stops &= operand.getattr(intern!(py, "stop_gradient"))?.is_truthy()?;
            }
        }
        if stops {
            for result in results.iter() {
                result.setattr(intern!(py, "stop_gradient"), true)?;
            }
        }
    }
    Ok(None)
}

/// Whether all that an operation writes was made by the program and is read by nothing else.
fn writes_fresh_memory(handles: &Handles, op: &Bound<'_, PyAny>, operands: &[Bound<'_, PyAny>]) -> PyResult<bool> {
    let py = op.py();
    let written = handles.pir.bind(py).getattr(intern!(py, "get_op_inplace_info"))?.call1((op,))?;
    for index in written.cast::<PyDict>()?.values().iter() {
        let Some(operand) = operands.get(index.extract::<usize>()?) else { return Ok(false) };
        let maker = operand.call_method0(intern!(py, "get_defining_op"))?;
        if maker.is_none() {
            return Ok(false);
        }
        let maker: String = maker.call_method0(intern!(py, "name"))?.extract()?;
        let fresh = matches!(maker.as_str(), "pd_op.full" | "pd_op.empty" | "pd_op.full_like" | "pd_op.assign");
        if !fresh || !operand.call_method0(intern!(py, "has_one_use"))?.is_truthy()? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Operations that are removed again: their identities may come back as others'.
pub(crate) fn forget(seen: &mut Seen, ops: impl Iterator<Item = i64>) {
    for op in ops {
        seen.0.remove(&op);
    }
}
