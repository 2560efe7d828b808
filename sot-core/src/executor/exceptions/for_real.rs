//! What the helpers do for real that definitions of exceptions call (`definitions_of_exceptions.py`, `definitions_of_groups.py`).

use crate::groups::groups;
use pyo3::exceptions::{PyBaseException, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::*;

type Helper = fn(&Bound<'_, PyTuple>) -> PyResult<Py<PyAny>>;

/// Helpers by name.
pub(in crate::executor) const HELPERS: [(&std::ffi::CStr, &str, Helper); 7] = [
    (c"is_exception", "is_exception", |args| answer(args, args.get_item(0)?.is_instance_of::<PyBaseException>())),
    (c"is_group", "is_group", |args| {
        let value = args.get_item(0)?;
        answer(args, groups(args.py()).is_some_and(|groups| groups.has(&value)))
    }),
    (c"is_of", "is_of", |args| {
        let error = PyErr::from_value(args.get_item(0)?);
        answer(args, error.matches(args.py(), args.get_item(1)?)?)
    }),
    (c"is_among", "is_among", |args| {
        let value = args.get_item(0)?;
        let among = args.get_item(1)?.try_iter()?.any(|other| other.is_ok_and(|other| other.is(&value)));
        answer(args, among)
    }),
    (c"is_sequence", "is_sequence", |args| answer(args, args.get_item(0)?.cast::<PySequence>().is_ok())),
    (c"parts_of", "parts_of", |args| {
        let parts = groups(args.py()).and_then(|groups| groups.parts(&args.get_item(0).ok()?));
        Ok(parts.map_or_else(|| args.py().None(), |parts| parts.into_any().unbind()))
    }),
    (c"take_after", "take_after", take_after),
];

fn answer(args: &Bound<'_, PyTuple>, answer: bool) -> PyResult<Py<PyAny>> {
    Ok(PyBool::new(args.py(), answer).to_owned().into_any().unbind())
}

/// `take_after(made, group)`: what was split off a group gets its traceback, context and cause, whatever its class makes of
/// those names.
fn take_after(args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let py = args.py();
    let (made, group) = (args.get_item(0)?, args.get_item(1)?);
    let base = py.get_type::<PyBaseException>();
    for name in ["__traceback__", "__context__", "__cause__"] {
        let field =
            crate::type_facts::raw(&base, name).ok_or_else(|| PyRuntimeError::new_err(format!("sot: no {name}")))?;
        let value = field.call_method1("__get__", (&group, group.get_type()))?;
        if name != "__traceback__" || !value.is_none() {
            field.call_method1("__set__", (&made, value))?;
        }
    }
    Ok(py.None())
}
