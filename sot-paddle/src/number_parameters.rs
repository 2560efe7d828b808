//! Parameters that say where or how a function works: eager reads the number in a tensor that is given for one, or raises; a
//! program may read memory that is not its own.
//!
//! Which of a function's parameters they are is asked of its signature once: that takes longer than most operations.

use hashbrown::HashMap;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyType};
use sot_core::backend::{CallKind, OpCall};
use sot_core::cpython::module;
use std::sync::{Arc, Mutex};

const NAMES: &[&str] = &[
    "axes",
    "axis",
    "axis1",
    "axis2",
    "destination",
    "dim",
    "dim1",
    "dim2",
    "dims",
    "keepdim",
    "perm",
    "source",
    "start_axis",
    "stop_axis",
];
/// Functions whose answer is kept; the framework has some two thousand.
const KEPT: usize = 10_000;

/// Place among the arguments, and name.
type Parameters = Arc<[(usize, &'static str)]>;

/// What was asked, by the address of the function, which is kept alive.
#[derive(Default)]
pub(crate) struct NumberParameters(Mutex<HashMap<usize, (Py<PyAny>, Parameters)>>);

impl NumberParameters {
    /// `lasting`: each read of the function gives the same object.
    fn of(&self, function: &Bound<'_, PyAny>, lasting: bool) -> Option<Parameters> {
        let key = function.as_ptr() as usize;
        if let Some((_, known)) = self.0.lock().ok()?.get(&key) {
            return Some(known.clone());
        }
        let py = function.py();
        let signature = module(py, "inspect").ok()?.call_method1(intern!(py, "signature"), (function,));
        let mut found = Vec::new();
        // A function without a signature is of C: it checks its arguments itself.
        if let Ok(signature) = signature {
            for (at, name) in signature.getattr(intern!(py, "parameters")).ok()?.try_iter().ok()?.enumerate() {
                let name: String = name.ok()?.extract().ok()?;
                found.extend(NAMES.iter().find(|known| **known == name).map(|known| (at, *known)));
            }
        }
        let found: Parameters = found.into();
        let mut known = self.0.lock().ok()?;
        if lasting && known.len() < KEPT {
            known.insert(key, (function.clone().unbind(), found.clone()));
        }
        Some(found)
    }
}

/// The parameter for a number that a call gives a tensor. `tensor`: the class whose methods are called.
pub(crate) fn given_a_tensor(
    asked: &NumberParameters,
    tensor: &Bound<'_, PyType>,
    is_tensor: impl Fn(&Bound<'_, PyAny>) -> bool,
    op: &OpCall<'_, '_>,
) -> Option<&'static str> {
    for (name, argument) in op.kwargs.into_iter().flatten() {
        let name = name.extract::<String>().ok()?;
        if let Some(known) = NAMES.iter().find(|known| **known == name)
            && is_tensor(&argument)
        {
            return Some(known);
        }
    }
    // The first one is what the function works on.
    let given: Vec<usize> = (1..op.args.len()).filter(|i| op.args.get_item(*i).is_ok_and(|a| is_tensor(&a))).collect();
    if given.is_empty() || op.kind == CallKind::Layer {
        return None;
    }
    let parameters = match op.callee {
        Some(callee) => asked.of(callee, callee.is_instance_of::<PyFunction>())?,
        None => asked.of(&tensor.getattr(op.name).ok()?, true)?,
    };
    parameters.iter().find(|(at, _)| given.contains(at)).map(|(_, name)| *name)
}
