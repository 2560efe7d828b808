//! The function of rewritten code: whose globals, builtins and cells it has.

use crate::capture::Subject;
use crate::code_unit::function_of;
use crate::cpython::{facts, set_builtins};
use crate::stop::{Reason, Stop};
use crate::type_facts;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyTuple};

/// The function that runs `code` in the place of a subject.
pub(super) fn function_for<'py>(
    py: Python<'py>,
    subject: &Subject<'_, 'py>,
    code: &Bound<'py, PyCode>,
) -> Result<Bound<'py, PyAny>, Stop> {
    let made = |globals: &Bound<'py, PyAny>, closure: Option<&Bound<'py, PyTuple>>| {
        let function = function_of(py, code, globals, closure);
        function.map_err(|e| Stop::fallback(Reason::InternalError, e.to_string()))
    };
    match subject {
        Subject::Function { function, in_frames, .. } => {
            let parts = facts::func_parts(function).ok_or_else(|| Stop::fallback(Reason::NotPython, ""))?;
            let closure = match parts.closure {
                // Those of the first frame would live as long as the entry.
                Some(closure) if *in_frames => Some(type_facts::empty_cells(&closure).map_err(|e| Stop::internal(&e))?),
                closure => closure.map(|c| c.to_owned()),
            };
            let closure = closure.as_ref().and_then(|c| c.cast::<PyTuple>().ok());
            made(&parts.globals, closure)
        }
        Subject::Continuation { shape, .. } => {
            let outermost = &shape.frames[0];
            let function = made(outermost.globals.bind(py), None)?;
            set_builtins(&function, outermost.builtins.bind(py));
            Ok(function)
        }
    }
}
