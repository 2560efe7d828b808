//! Appending the backward operations to a program.

use crate::handles::Handles;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The backward part, in terms of operations of the whole program.
pub(crate) struct Backward {
    /// Gradients of the sources, `None` where no gradient flows; in their order.
    pub(crate) source_grads: Vec<Option<Py<PyAny>>>,
    /// Gradients of the outputs, `None` where an output takes none; in their order.
    pub(crate) output_grads: Vec<Option<Py<PyAny>>>,
    /// Where the forward part ends, and where the backward part begins and ends.
    pub(crate) forward_end: usize,
    pub(crate) begin: usize,
    pub(crate) end: usize,
}

fn stops(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.getattr(intern!(value.py(), "stop_gradient"))?.is_truthy()
}

fn op_count(block: &Bound<'_, PyAny>) -> PyResult<usize> {
    block.call_method0(intern!(block.py(), "num_ops"))?.extract()
}

/// Append the gradient operations for `outputs` with respect to `sources`. The outputs have their shadow operations
/// already, and the program is the one being built.
pub(crate) fn append<'py>(
    handles: &Handles,
    main: &Bound<'py, PyAny>,
    sources: &[Bound<'py, PyAny>],
    outputs: &[Bound<'py, PyAny>],
) -> PyResult<Backward> {
    let py = main.py();
    let pir = handles.pir.bind(py);
    let block = main.call_method0(intern!(py, "global_block"))?;
    let forward_end = op_count(&block)?;
    let last = block.call_method0(intern!(py, "back"))?;
    let full_like = handles.paddle.bind(py).getattr(intern!(py, "full_like"))?;
    let shadow = pir.getattr(intern!(py, "append_shadow_outputs"))?;

    let (targets, seeds) = (PyList::empty(py), PyList::empty(py));
    let mut output_grads = Vec::with_capacity(outputs.len());
    for output in outputs {
        if stops(output)? {
            output_grads.push(None);
            continue;
        }
        let kwargs = PyDict::new(py);
        kwargs.set_item(intern!(py, "dtype"), output.getattr(intern!(py, "dtype"))?)?;
        let seed = full_like.call((output, 1.0), Some(&kwargs))?;
        targets.append(output)?;
        seeds.append(&seed)?;
        output_grads.push(Some(seed.unbind()));
    }
    shadow.call1((main, &seeds, op_count(&block)?, "grad_input_"))?;
    let between = op_count(&block)? - forward_end;

    let wanted = PyList::empty(py);
    for source in sources {
        if !stops(source)? {
            wanted.append(source)?;
        }
    }
    let kwargs = PyDict::new(py);
    kwargs.set_item(intern!(py, "inputs"), &wanted)?;
    kwargs.set_item(intern!(py, "outputs"), &targets)?;
    kwargs.set_item(intern!(py, "grad_outputs"), &seeds)?;
    let grads = py.import("paddle.autograd.ir_backward")?.getattr("grad")?.call((), Some(&kwargs))?;
    let mut grads = grads.try_iter()?;

    let found = PyList::empty(py);
    let mut source_grads = Vec::with_capacity(sources.len());
    for source in sources {
        let mut grad = None;
        if !stops(source)?
            && let Some(value) = grads.next().transpose()?
            && handles.is_value(&value)
        {
            found.append(&value)?;
            grad = Some(value.unbind());
        }
        source_grads.push(grad);
    }
    // Gradient operations may have been put between: the forward part ends after what was its last operation.
    let mut end_of_forward = forward_end;
    let last_id = op_id(&last)?;
    for (i, op) in
        block.getattr(intern!(py, "ops"))?.cast_into::<PyList>()?.iter().enumerate().skip(forward_end.saturating_sub(1))
    {
        if op_id(&op)? == last_id {
            end_of_forward = i + 1;
            break;
        }
    }
    let end = op_count(&block)?;
    shadow.call1((main, &found, end, "grad_output_"))?;
    Ok(Backward { source_grads, output_grads, forward_end: end_of_forward, begin: end_of_forward + between, end })
}

fn op_id(op: &Bound<'_, PyAny>) -> PyResult<i64> {
    op.call_method0(intern!(op.py(), "id"))?.extract()
}
