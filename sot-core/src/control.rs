//! What the program asks of the translator: where to break, what to leave alone, and when to complain.
//!
//! Callables are known by identity and are held for as long as the process: a list of break APIs names functions of modules.
//! Code objects that must not break are marked in their records, which hold nothing. What is asked counts from the next capture
//! on; what was captured before stays until [`crate::python`]'s `reset`.

use crate::backend::{self, function_name, layer_method};
use crate::code_unit::records::{self, Promises};
use crate::cpython::entry::entry_parts;
use crate::cpython::facts;
use crate::engine::registries;
use crate::stop::{Reason, Stop, Why};
use hashbrown::HashMap;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::*;

type Asked = HashMap<usize, (Py<PyAny>, Reason)>;

registries! {
    /// Callables at whose calls something else than a simulation happens, by address.
    ASKED: Asked = "break APIs";
    /// Names of modules whose functions are never simulated.
    IGNORED: Vec<String> = "ignored modules";
}

/// What stops the simulation at a call of this callable, if the program has asked for it.
pub fn asked(callable: &Bound<'_, PyAny>) -> Option<Why> {
    if records::is_disabled(callable) {
        return Some(Why::new(Reason::Disabled, name_of(callable)));
    }
    let reason = ASKED.lock().get(&(callable.as_ptr() as usize)).map(|(_, reason)| *reason)?;
    Some(Why::new(reason, name_of(callable)))
}

/// The same of a function whose frame was met. Up to 3.10 a frame does not know its function: its code answers for it.
pub fn asked_of_frame(function: &Bound<'_, PyAny>) -> Option<Why> {
    let by_code = || {
        let code = facts::func_parts(function).filter(|_| function.py().version_info() < (3, 11))?.code.to_owned();
        asked(code.as_any()).map(|why| Why::new(why.reason, name_of(function)))
    };
    asked(function).or_else(by_code)
}

/// A break at the call, or the whole frame as plain Python where that is what was asked for.
pub fn stop(why: Why) -> Stop {
    match why.reason {
        Reason::FallbackAsked => Stop::Fallback(why),
        _ => Stop::Break(why),
    }
}

/// Modules that are ignored, the framework's list included.
pub fn ignored_modules(py: Python<'_>) -> Vec<String> {
    let mut all = backend::registered().map(|b| b.ignored_modules(py)).unwrap_or_default();
    all.extend(IGNORED.lock().iter().cloned());
    all
}

/// The ignored module in which a function with these globals was defined, or in a package of that name.
pub fn ignoring<'a>(ignored: &'a [String], globals: &Bound<'_, PyAny>) -> Option<&'a str> {
    if ignored.is_empty() {
        return None;
    }
    let name = globals.cast::<PyDict>().ok()?.get_item("__name__").ok()??.extract::<String>().ok()?;
    let below = |module: &str| name.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    ignored.iter().map(String::as_str).find(|module| below(module))
}

/// What the program is to be told of a stop at `place`: it has said that this code does not break, or does not fall back.
pub fn complaint<'py>(
    why: &Why,
    fallback: bool,
    place: &str,
    mut codes: impl Iterator<Item = Bound<'py, PyAny>>,
) -> Option<String> {
    let backend = backend::registered()?;
    let promised = |code: &Bound<'py, PyAny>| backend.promises(code).join(records::promises(code));
    let (function, what) = match fallback {
        true if codes.any(|code| promised(&code).no_fallback) => ("check_no_fallback", "it runs as plain Python"),
        false if codes.any(|code| promised(&code).no_break) => ("check_no_breakgraph", "the graph breaks"),
        _ => return None,
    };
    Some(format!(
        "{}: {what} at {place}: {why}. Rewrite that line, or take the check away",
        function_name(&format!("psdb.{function}"))
    ))
}

fn name_of(callable: &Bound<'_, PyAny>) -> String {
    let name = callable.getattr("__qualname__").or_else(|_| callable.getattr("__name__"));
    name.and_then(|name| name.extract()).unwrap_or_else(|_| "a callable".to_owned())
}

fn ask(callable: &Bound<'_, PyAny>, reason: Reason) {
    let held = (callable.clone().unbind(), reason);
    let old = ASKED.lock().insert(callable.as_ptr() as usize, held);
    drop(old);
}

/// The function that a method, a translated function or a wrapper of a class stands for.
fn function_of<'py>(callable: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    if let Some(parts) = entry_parts(callable) {
        return parts.func.into_bound(callable.py());
    }
    match facts::is_function(callable) {
        true => callable.clone(),
        false => callable.getattr("__func__").unwrap_or_else(|_| callable.clone()),
    }
}

/// Break the graph here. Does nothing else, and nothing at all where nothing is captured.
#[pyfunction]
fn graph_break() {}

/// Run the function that calls this as plain Python. `recursive` chooses nothing: frames below are asked for themselves.
#[pyfunction]
#[pyo3(signature = (recursive=false))]
fn fallback(recursive: bool) {
    let _ = recursive;
}

/// Break the graph at each call of one of these functions, builtins or classes.
#[pyfunction]
fn add_break_apis(apis: Bound<'_, PyAny>) -> PyResult<()> {
    let given: Vec<Bound<'_, PyAny>> = match apis.is_callable() {
        true => vec![apis],
        false => apis
            .try_iter()
            .and_then(Iterator::collect)
            .map_err(|_| wants("add_break_apis", "functions, builtin functions or classes", &apis))?,
    };
    let known = |api: &Bound<'_, PyAny>| {
        let plain = function_of(api);
        facts::is_function(&plain) || plain.is_instance_of::<PyType>() || plain.is_exact_instance_of::<PyCFunction>()
    };
    if let Some(other) = given.iter().find(|api| !known(api)) {
        return Err(wants("add_break_apis", "functions, builtin functions or classes", other));
    }
    for api in &given {
        let api = function_of(api);
        ask(&api, Reason::BreakApi);
        if let Some(parts) = facts::func_parts(&api) {
            ask(&parts.code, Reason::BreakApi);
        }
    }
    Ok(())
}

/// Run the functions of these modules, and of packages' modules below them, as plain Python.
#[pyfunction]
fn ignore_module(modules: Bound<'_, PyAny>) -> PyResult<()> {
    let given: Vec<Bound<'_, PyAny>> = match modules.cast::<PyModule>() {
        Ok(module) => vec![module.clone().into_any()],
        Err(_) => {
            modules.try_iter().and_then(Iterator::collect).map_err(|_| wants("ignore_module", "modules", &modules))?
        }
    };
    let mut names = Vec::with_capacity(given.len());
    for module in &given {
        let module = module.cast::<PyModule>().map_err(|_| wants("ignore_module", "modules", module))?;
        names.push(module.name()?.to_string());
    }
    IGNORED.lock().extend(names);
    Ok(())
}

fn wants(function: &str, what: &str, given: &Bound<'_, PyAny>) -> PyErr {
    let class = given.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    let here = function_name(function);
    PyTypeError::new_err(format!("{here}: expected a list of {what}, as in {here}([..]), not {class}"))
}

/// Never capture this function, nor inline it into a graph. Returns it. Also as `@not_to_static()`.
#[pyfunction]
#[pyo3(signature = (function=None))]
fn not_to_static<'py>(py: Python<'py>, function: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    match function {
        Some(function) if !function.is_none() => disable_named(function, "not_to_static"),
        _ => {
            let decorator = PyCFunction::new_closure(py, None, None, |args, _| {
                disable_named(args.get_item(0)?, "not_to_static").map(Bound::unbind)
            })?;
            Ok(decorator.into_any())
        }
    }
}

/// Never capture this function, nor inline it into a graph. Returns it.
#[pyfunction]
fn disable<'py>(function: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    disable_named(function, "disable")
}

fn disable_named<'py>(function: Bound<'py, PyAny>, called: &str) -> PyResult<Bound<'py, PyAny>> {
    if let Some(parts) = entry_parts(&function) {
        return disable_named(parts.func.into_bound(function.py()), called);
    }
    let plain = function_of(&function);
    if !facts::is_function(&plain) {
        let (here, method, class) = (function_name(called), layer_method(), function.get_type().name()?);
        return Err(PyTypeError::new_err(format!(
            "{here}: expected a Python function, not {class}. For a layer, give its {method}: {here}(type(layer).{method})"
        )));
    }
    records::disable(&plain);
    Ok(function)
}

fn code_of<'py>(function: &Bound<'py, PyAny>, called: &str) -> PyResult<Bound<'py, PyAny>> {
    let plain = function_of(function);
    facts::func_parts(&plain).map(|parts| parts.code.to_owned()).ok_or_else(|| {
        let class = function.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!(
            "{}: expected a Python function, not {class}",
            function_name(&format!("psdb.{called}"))
        ))
    })
}

/// Raise RuntimeError where a graph breaks in this function: before the call that is captured does anything, but behind an earlier
/// break. In a frame that the hook takes, warn instead. Returns the function.
#[pyfunction]
fn check_no_breakgraph<'py>(function: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    records::promise(&code_of(&function, "check_no_breakgraph")?, Promises { no_break: true, no_fallback: false });
    Ok(function)
}

/// Raise RuntimeError where this function runs as plain Python; in a frame that the hook takes, warn. Returns it.
#[pyfunction]
fn check_no_fallback<'py>(function: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    records::promise(&code_of(&function, "check_no_fallback")?, Promises { no_break: false, no_fallback: true });
    Ok(function)
}

/// Add these functions to a module; those of the symbolic debugger to its submodule `_psdb`.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let psdb = PyModule::new(module.py(), "_psdb")?;
    for (place, function, reason) in [
        (module, wrap_pyfunction!(graph_break, module)?, Reason::BreakAsked),
        (&psdb, wrap_pyfunction!(fallback, &psdb)?, Reason::FallbackAsked),
    ] {
        ask(function.as_any(), reason);
        place.add_function(function)?;
    }
    module.add_function(wrap_pyfunction!(disable, module)?)?;
    module.add_function(wrap_pyfunction!(not_to_static, module)?)?;
    module.add_function(wrap_pyfunction!(add_break_apis, module)?)?;
    module.add_function(wrap_pyfunction!(ignore_module, module)?)?;
    psdb.add("breakgraph", module.getattr("graph_break")?)?;
    psdb.add_function(wrap_pyfunction!(check_no_breakgraph, &psdb)?)?;
    psdb.add_function(wrap_pyfunction!(check_no_fallback, &psdb)?)?;
    module.add("_psdb", psdb)
}
