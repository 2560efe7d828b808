//! Functions whose result follows from guarded facts: answered as eager would, although a program is being built.

use crate::amp;
use crate::default_dtype::DEFAULT;
use crate::handles::Handles;
use crate::modes;
use crate::static_mode;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple, PyType, PyTypeMethods};
use sot_core::backend::Surroundings;

/// The result, or `None` if this call must run eagerly.
pub(crate) fn fold<'py>(
    handles: &Handles,
    callee: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
    at: &Surroundings<'_, 'py>,
) -> Option<Bound<'py, PyAny>> {
    let py = callee.py();
    if amp::is_one(handles, callee) {
        return amp::fold(handles, callee, args, at);
    }
    let name = callee.getattr(intern!(py, "__name__")).ok()?.cast_into::<PyString>().ok()?;
    let constant = |b: bool| Some(PyBool::new(py, b).to_owned().into_any());
    let plain = args.is_empty() && kwargs.is_none_or(|k| k.is_empty());
    match name.to_str().ok()? {
        "in_dynamic_mode" | "in_dygraph_mode" | "in_dynamic_or_pir_mode" | "enabled" if plain => constant(true),
        "in_pir_mode" | "in_to_static_mode" if plain => constant(false),
        "is_tensor" => {
            let subject = one_argument(args, kwargs, "x")?;
            constant((at.is_value)(&subject) || handles.is_tensor(&subject))
        }
        "is_grad_enabled" | "_has_grad" if plain => (at.mode)(modes::GRAD).ok(),
        "get_default_dtype" if plain => (at.mode)(DEFAULT).ok(),
        "_dygraph_tracer" if plain => static_mode::eager_tracer(py, handles).ok(),
        // Of a tensor it tells where that is.
        "get_device" if !plain => None,
        // Of what is a dtype or the name of one.
        "convert_dtype" if !one_argument(args, kwargs, "dtype").is_some_and(|dtype| names_a_dtype(handles, &dtype)) => {
            None
        }
        // These look at a dtype, at the build or at the expected place: the same answer in both modes.
        _ => callee.call(args, kwargs).ok(),
    }
}

fn one_argument<'py>(
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
    name: &str,
) -> Option<Bound<'py, PyAny>> {
    match (args.len(), kwargs.map_or(0, |k| k.len())) {
        (1, 0) => args.get_item(0).ok(),
        (0, 1) => kwargs?.get_item(name).ok()?,
        _ => None,
    }
}

/// Whether an object is a dtype, Paddle's or numpy's, or the name of one: what is made of it follows from it alone.
fn names_a_dtype(handles: &Handles, dtype: &Bound<'_, PyAny>) -> bool {
    let py = dtype.py();
    dtype.is_exact_instance_of::<PyString>()
        || dtype.get_type().is(handles.dtype.bind(py))
        || dtype.cast::<PyType>().is_ok_and(|class| class.module().is_ok_and(|module| module == "numpy"))
}
