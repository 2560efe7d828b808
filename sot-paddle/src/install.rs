//! `sot.install()`: `paddle.jit.to_static(full_graph=False)` uses this engine until `sot.uninstall()`.

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};
use std::sync::Mutex;

static ORIGINAL: Mutex<Option<Py<PyAny>>> = Mutex::new(None);

/// Add `install` and `uninstall` to a module that has `to_static`.
pub fn add_python_api(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let ours = module.getattr("to_static")?.unbind();
    let install = PyCFunction::new_closure(
        module.py(),
        Some(c"install"),
        Some(c"install() -> None\n--\n\nMake paddle.jit.to_static(full_graph=False) use this engine. Calling it twice changes nothing."),
        move |args, _| install(args.py(), &ours),
    )?;
    module.add("install", install)?;
    let uninstall = PyCFunction::new_closure(
        module.py(),
        Some(c"uninstall"),
        Some(
            c"uninstall() -> None\n--\n\nGive paddle.jit.to_static back. What was translated meanwhile stays as it is.",
        ),
        |args, _| uninstall(args.py()),
    )?;
    module.add("uninstall", uninstall)
}

fn places(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let mut places = vec![py.import("paddle.jit")?.into_any(), py.import("paddle.jit.api")?.into_any()];
    places.retain(|m| m.hasattr("to_static").unwrap_or(false));
    Ok(places)
}

fn install(py: Python<'_>, ours: &Py<PyAny>) -> PyResult<()> {
    let mut original = ORIGINAL.lock().expect("install");
    if original.is_some() {
        return Ok(());
    }
    let theirs = py.import("paddle.jit")?.getattr("to_static")?;
    let (theirs_for_call, ours) = (theirs.clone().unbind(), ours.clone_ref(py));
    let switch = PyCFunction::new_closure(py, Some(c"to_static"), None, move |args, kwargs| {
        dispatch(&theirs_for_call, &ours, args, kwargs)
    })?;
    for module in places(py)? {
        module.setattr("to_static", &switch)?;
    }
    *original = Some(theirs.unbind());
    Ok(())
}

fn uninstall(py: Python<'_>) -> PyResult<()> {
    if let Some(theirs) = ORIGINAL.lock().expect("install").take() {
        for module in places(py)? {
            module.setattr("to_static", theirs.bind(py))?;
        }
    }
    Ok(())
}

/// Ours for an explicit or configured `full_graph=False`, Paddle's otherwise.
fn dispatch(
    theirs: &Py<PyAny>,
    ours: &Py<PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    let py = args.py();
    let full_graph = kwargs.map(|k| k.get_item("full_graph")).transpose()?.flatten().filter(|v| !v.is_none());
    let full_graph = match full_graph {
        Some(value) => value.is_truthy()?,
        None => {
            // Paddle's own default: its environment variable ENABLE_FALL_BACK.
            let fall_back = py
                .import("paddle.jit.dy2static.utils")
                .and_then(|m| m.getattr("ENV_ENABLE_SOT"))
                .and_then(|v| v.call_method0("get"))
                .and_then(|v| v.is_truthy());
            !fall_back.unwrap_or(true)
        }
    };
    if full_graph {
        return Ok(theirs.bind(py).call(args, kwargs)?.unbind());
    }
    let function = match args.get_item(0) {
        Ok(function) => Some(function),
        Err(_) => kwargs.map(|k| k.get_item("function")).transpose()?.flatten(),
    };
    Ok(ours.bind(py).call1((function,))?.unbind())
}
