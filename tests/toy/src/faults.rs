//! Misbehaviour on demand: what a translator does with a backend or a framework that breaks its word can be tested only
//! where it does. A framework of yours does not need this.
//!
//! `set_fault(form, how)`: `form` is `"eager"` or `"compiled"`, `how` one of the [`Fault`]s in lower case, or `None`.
//! Compiled graphs misbehave as a whole; eager execution does in `unreliable` and `halves`.

use crate::op::{Meta, Op};
use crate::operand::apply;
use crate::tensor::Tensor;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use std::sync::Mutex;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// An exception that eager execution does not raise.
    Raise,
    /// Somebody presses Ctrl-C.
    Interrupt,
    Panic,
    /// A panic of who compares compiled outputs with those of eager execution.
    Compare,
    /// One output too few.
    Few,
    /// One output too many.
    Many,
    /// The last bit of a number.
    Bits,
    /// The flag for gradients.
    Flag,
}

static FAULTS: Mutex<[Option<Fault>; 2]> = Mutex::new([None, None]);

pub(crate) fn eager() -> Option<Fault> {
    FAULTS.lock().unwrap_or_else(|e| e.into_inner())[0]
}

pub(crate) fn compiled() -> Option<Fault> {
    FAULTS.lock().unwrap_or_else(|e| e.into_inner())[1]
}

#[pyfunction]
#[pyo3(signature = (form, how))]
pub(crate) fn set_fault(form: &str, how: Option<&str>) -> PyResult<()> {
    let fault = match how {
        None => None,
        Some("raise") => Some(Fault::Raise),
        Some("interrupt") => Some(Fault::Interrupt),
        Some("panic") => Some(Fault::Panic),
        Some("compare") => Some(Fault::Compare),
        Some("few") => Some(Fault::Few),
        Some("many") => Some(Fault::Many),
        Some("bits") => Some(Fault::Bits),
        Some("flag") => Some(Fault::Flag),
        Some(other) => return Err(PyValueError::new_err(format!("no fault {other}"))),
    };
    let form = ["eager", "compiled"].iter().position(|f| *f == form);
    let form = form.ok_or_else(|| PyValueError::new_err("form is eager or compiled"))?;
    FAULTS.lock().unwrap_or_else(|e| e.into_inner())[form] = fault;
    Ok(())
}

/// What stops an execution that has a fault of that kind.
pub(crate) fn strike(fault: Option<Fault>) -> PyResult<()> {
    match fault {
        Some(Fault::Raise) => Err(PyValueError::new_err("unreliable")),
        Some(Fault::Interrupt) => Err(PyKeyboardInterrupt::new_err(())),
        Some(Fault::Panic) => panic!("unreliable"),
        Some(Fault::Compare | Fault::Few | Fault::Many | Fault::Bits | Fault::Flag) | None => Ok(()),
    }
}

/// A copy, if all goes well.
#[pyfunction]
pub(crate) fn unreliable(x: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let copy = apply(x.py(), Op::Unary(crate::op::Unary::Clone), std::slice::from_ref(&x))?;
    if copy.is_instance_of::<Tensor>() {
        strike(eager())?;
    }
    Ok(copy)
}

/// A list of two tensors, each half of the argument, if all goes well.
#[pyfunction]
pub(crate) fn halves(x: Bound<'_, PyAny>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let half = crate::functions::tensor(&0.5_f64.into_pyobject(x.py())?.into_any(), false)?;
    let half = apply(x.py(), Op::Binary(crate::op::Binary::Mul), &[x.clone(), half])?;
    let count = match eager() {
        Some(Fault::Few) if half.is_instance_of::<Tensor>() => 1,
        Some(Fault::Many) if half.is_instance_of::<Tensor>() => 3,
        _ => 2,
    };
    (0..count).map(|_| apply(x.py(), Op::Unary(crate::op::Unary::Clone), std::slice::from_ref(&half))).collect()
}

/// What a compiled graph makes of a right output.
pub(crate) fn spoil(meta: &Meta, mut numbers: Vec<f64>) -> (Meta, Vec<f64>) {
    let mut meta = meta.clone();
    match compiled() {
        Some(Fault::Bits) => numbers.iter_mut().for_each(|v| *v = f64::from_bits(v.to_bits() ^ 1)),
        Some(Fault::Flag) => meta.requires_grad = !meta.requires_grad,
        _ => {}
    }
    (meta, numbers)
}
