//! The functions of the framework.

use crate::mode;
use crate::op::{Binary, Element, Meta, Op, Reduce, Unary};
use crate::operand::{apply, constant, from_numbers};
use crate::tensor::{Operand, Tensor};
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Any<'py> = PyResult<Bound<'py, PyAny>>;

#[pyfunction]
#[pyo3(signature = (data, requires_grad=false))]
pub(crate) fn tensor<'py>(data: &Bound<'py, PyAny>, requires_grad: bool) -> Any<'py> {
    from_numbers(data, requires_grad)
}

#[pyfunction]
pub(crate) fn zeros(py: Python<'_>, shape: Vec<usize>) -> Any<'_> {
    let meta = Meta::plain(shape, Element::Float64);
    let data = vec![0.0; meta.count()];
    constant(py, meta, data)
}

/// Numbers from the random stream.
#[pyfunction]
pub(crate) fn uniform(py: Python<'_>, shape: Vec<usize>) -> Any<'_> {
    apply(py, Op::Uniform(shape), &[])
}

#[pyfunction]
pub(crate) fn seed(state: u64) {
    mode::seed(state);
}

#[pyfunction]
pub(crate) fn random_state() -> u64 {
    mode::random_state()
}

#[pyfunction]
pub(crate) fn add<'py>(x: Bound<'py, PyAny>, y: Bound<'py, PyAny>) -> Any<'py> {
    apply(x.py(), Op::Binary(Binary::Add), &[x.clone(), y])
}

#[pyfunction]
pub(crate) fn matmul<'py>(x: Bound<'py, PyAny>, y: Bound<'py, PyAny>) -> Any<'py> {
    apply(x.py(), Op::Matmul, &[x.clone(), y])
}

#[pyfunction]
pub(crate) fn relu(x: Bound<'_, PyAny>) -> Any<'_> {
    apply(x.py(), Op::Unary(Unary::Relu), std::slice::from_ref(&x))
}

/// Raises for numbers that are not positive, which is only known when it runs.
#[pyfunction]
pub(crate) fn log(x: Bound<'_, PyAny>) -> Any<'_> {
    apply(x.py(), Op::Unary(Unary::Log), std::slice::from_ref(&x))
}

#[pyfunction]
pub(crate) fn concat<'py>(py: Python<'py>, tensors: Vec<Bound<'py, PyAny>>) -> Any<'py> {
    apply(py, Op::Concat, &tensors)
}

/// A dict of two tensors.
#[pyfunction]
pub(crate) fn extrema(x: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyDict>> {
    let found = PyDict::new(x.py());
    for (name, kind) in [("low", Reduce::Min), ("high", Reduce::Max)] {
        found.set_item(name, apply(x.py(), Op::Reduce(kind, None), std::slice::from_ref(&x))?)?;
    }
    Ok(found)
}

/// Print a tensor.
#[pyfunction]
pub(crate) fn show(x: &Bound<'_, PyAny>) -> PyResult<()> {
    x.py().import("builtins")?.getattr("print")?.call1((x,))?;
    Ok(())
}

#[pyfunction]
pub(crate) fn is_tensor(x: &Bound<'_, PyAny>) -> bool {
    x.is_instance_of::<Operand>()
}

#[pyfunction]
pub(crate) fn is_grad_enabled() -> bool {
    mode::grad()
}

/// Returns what it was before.
#[pyfunction]
pub(crate) fn set_grad_enabled(on: bool) -> bool {
    mode::set_grad(on)
}

/// Returns what it was before.
#[pyfunction]
pub(crate) fn set_debug_mode(on: bool) -> bool {
    mode::set_debug(on)
}

/// Whether two tensors are windows of one storage.
#[pyfunction]
pub(crate) fn shares_memory(x: &Bound<'_, Tensor>, y: &Bound<'_, Tensor>) -> bool {
    x.get().shares_with(y.get())
}
