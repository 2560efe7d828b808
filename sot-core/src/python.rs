//! The Python functions of a module that is built on this crate.
//!
//! A framework's extension module calls [`register`] in its `#[pymodule]` and has `to_static`, `explain`, `stats` and
//! the rest.

use crate::backend::{self, Backend, Kind, function_name, layer_method};
use crate::cpython::entry::{entry_parts, new_entry};
use crate::cpython::facts;
use crate::engine;
use crate::marks::{self, InputSpec};
use crate::report::{PyBreak, PyGraph, PyReport, explain as explain_call};
use crate::serve::{self, FunctionEntry, Options, registry};
use crate::stats::STATS;
use crate::stop::Reason;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::CodeFlags;
use std::sync::Arc;

/// Make `backend` the process's framework, and add the Python functions to a module.
pub fn register(module: &Bound<'_, PyModule>, backend: Arc<dyn Backend>) -> PyResult<()> {
    if !backend::register(backend) {
        return Err(PyRuntimeError::new_err("a backend is registered already in this process"));
    }
    backend::python_functions_are_in(module.name()?.to_str()?);
    crate::cpython::copies::join(module)?;
    let maker = wrap_pyfunction!(to_static, module)?;
    let _ = serve::MAKER.set(module.py(), maker.clone().into_any().unbind());
    module.add_function(maker)?;
    let maker = wrap_pyfunction!(_method_of, module)?;
    let _ = serve::MAKER_IN_LAYERS.set(module.py(), maker.clone().into_any().unbind());
    module.add_function(maker)?;
    module.add_function(wrap_pyfunction!(symbolic_translate, module)?)?;
    module.add_function(wrap_pyfunction!(explain, module)?)?;
    module.add_function(wrap_pyfunction!(stats, module)?)?;
    module.add_function(wrap_pyfunction!(reset, module)?)?;
    module.add_function(wrap_pyfunction!(reasons, module)?)?;
    module.add_class::<PyReport>()?;
    module.add_class::<PyGraph>()?;
    module.add_class::<PyBreak>()?;
    crate::log::register(module)?;
    crate::control::register(module)?;
    marks::register(module)?;
    crate::cpython::add_python_api(module)?;
    crate::cpython::prepare_modules(module.py())?;
    crate::groups::prepare(module.py())?;
    crate::executor::prepare_definitions(module.py())?;
    serve::prepare_for_the_end(module)?;
    crate::capture_all::register(module, || serve::process_hook().clone())
}

fn entry<'py>(
    function: &Bound<'py, PyAny>,
    receiver: Option<&Bound<'py, PyAny>>,
    options: Options,
    in_layer: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let body = Arc::new(FunctionEntry::new(function, receiver, options, in_layer)?);
    let name = in_layer.then(|| PyString::intern(py, layer_method()));
    Ok(new_entry(py, function, receiver, name.as_ref(), body)?.into_bound(py))
}

/// Why a callable passes through unchanged.
fn pass_through<'py>(callable: &Bound<'py, PyAny>, reason: Reason, what: &str) -> PyResult<Bound<'py, PyAny>> {
    STATS.note(reason);
    let name = callable.getattr("__name__").and_then(|n| n.extract::<String>()).unwrap_or_else(|_| "object".into());
    let here = function_name("to_static");
    let text = format!("{here}: {name} is returned unchanged: {what} [{}]", reason.code());
    let logging = crate::cpython::module(callable.py(), "logging")?.call_method1("getLogger", ("sot",))?;
    logging.call_method1("info", (text,))?;
    Ok(callable.clone())
}

/// The function and the receiver of a bound method; `None` for anything else.
fn parts_of_method<'py>(target: &Bound<'py, PyAny>) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    let types = crate::cpython::module(target.py(), "types")?;
    match target.get_type().is(types.getattr("MethodType")?) {
        true => Ok(Some((target.getattr("__func__")?, target.getattr("__self__")?))),
        false => Ok(None),
    }
}

fn translate<'py>(target: &Bound<'py, PyAny>, options: Options) -> PyResult<Bound<'py, PyAny>> {
    let py = target.py();
    if entry_parts(target).is_some() {
        return Ok(target.clone());
    }
    if facts::is_function(target) {
        let flags: u32 = target.getattr("__code__")?.getattr("co_flags")?.extract()?;
        if CodeFlags::from_bits_truncate(flags).is_generator_like() {
            let what = "a generator or coroutine is captured inside the function that runs it, not by itself";
            return pass_through(target, Reason::Generator, what);
        }
        if let Some(why) = crate::control::asked(target) {
            return pass_through(target, why.reason, why.reason.help());
        }
        if let Kind::Break(why) = backend::registered().expect("registered").classify(target)
            && why.reason == Reason::Disabled
        {
            return pass_through(target, why.reason, why.reason.help());
        }
        return entry(target, None, options, false);
    }
    if let Some((function, receiver)) = parts_of_method(target)? {
        if facts::is_function(&function) {
            return entry(&function, Some(&receiver), options, false);
        }
        return pass_through(target, Reason::NotPython, "the method has no Python bytecode");
    }
    for wrapper in ["staticmethod", "classmethod"] {
        let class = crate::cpython::builtin(py, wrapper)?;
        if target.get_type().is(&class) {
            return class.call1((translate(&target.getattr("__func__")?, options)?,));
        }
    }
    if target.is_instance_of::<PyType>() {
        return pass_through(target, Reason::NotPython, "it is a class; translate an instance or its methods");
    }
    let backend = backend::registered().expect("registered");
    if matches!(backend.classify(target), Kind::Layer) {
        let method = target.getattr(layer_method())?;
        if entry_parts(&method).is_some() {
            return Ok(target.clone());
        }
        let translated = method_of(&method, options)?;
        target.setattr(layer_method(), translated)?;
        serve::copy_as_layers(target)?;
        return Ok(target.clone());
    }
    if target.is_callable() {
        return pass_through(target, Reason::NotPython, "it has no Python bytecode");
    }
    let (here, class) = (function_name("to_static"), target.get_type().name()?);
    Err(PyTypeError::new_err(format!(
        "{here}: expected a function, a method or a layer, not {class}. Pass the function itself, as in {here}(f) or @{here}"
    )))
}

/// What lies in a layer that was given to `to_static`, in the place of this method. Copies and pickles of the layer ask for it.
#[pyfunction]
#[pyo3(signature = (method, full_graph=false, input_spec=None))]
fn _method_of<'py>(
    method: &Bound<'py, PyAny>,
    full_graph: bool,
    input_spec: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    method_of(method, options(full_graph, input_spec.as_ref())?)
}

/// What `to_static` was asked for.
fn options(full_graph: bool, input_spec: Option<&Bound<'_, PyAny>>) -> PyResult<Options> {
    let spec = input_spec.map(InputSpec::of).transpose()?.map(Arc::new);
    Ok(Options { full_graph, spec })
}

fn method_of<'py>(method: &Bound<'py, PyAny>, options: Options) -> PyResult<Bound<'py, PyAny>> {
    let py = method.py();
    if let Some((function, receiver)) = parts_of_method(method)? {
        let of_class = facts::type_lookup(&receiver.get_type(), &PyString::intern(py, layer_method()));
        if facts::is_function(&function) && of_class.is_some_and(|found| found.is(&function)) {
            return entry(&function, Some(&receiver), options, true);
        }
    }
    translate(method, options)
}

/// Capture a function, a method or a layer into graphs.
///
/// Returns a callable that stands for the function; a layer is returned as itself, with the method translated that it is
/// called by.
/// Generators, coroutines, classes and callables without Python bytecode are returned unchanged, with the reason
/// logged to the logger `sot`. `full_graph=True` makes a graph break an error. `input_spec` is a list with
/// a description of each argument that is a tensor (anything with a `shape` and a `dtype`): an extent
/// of `None` or -1 varies, and one capture serves all of at least 2; a call with other tensors is a ValueError.
#[pyfunction]
#[pyo3(signature = (function=None, full_graph=false, input_spec=None))]
fn to_static<'py>(
    py: Python<'py>,
    function: Option<Bound<'py, PyAny>>,
    full_graph: bool,
    input_spec: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = options(full_graph, input_spec.as_ref())?;
    match function {
        Some(function) if !function.is_none() => translate(&function, options),
        // As a decorator with arguments.
        _ => {
            let decorator = PyCFunction::new_closure(py, None, None, move |args, _| -> PyResult<Py<PyAny>> {
                Ok(translate(&args.get_item(0)?, options.clone())?.unbind())
            })?;
            Ok(decorator.into_any())
        }
    }
}

/// Capture a function: another name for `to_static`, with options that choose nothing here.
#[pyfunction]
#[pyo3(signature = (function, train=None, **options))]
fn symbolic_translate<'py>(
    function: Bound<'py, PyAny>,
    train: Option<bool>,
    options: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    // What they choose elsewhere is chosen by guards here.
    let _ = (train, options);
    translate(&function, Options::default())
}

/// `explain(f)(*args, **kwargs)` runs the call and returns a `Report`.
#[pyfunction]
fn explain<'py>(py: Python<'py>, function: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let translated = translate(&function, Options::default())?.unbind();
    let function = entry_parts(&function).map_or_else(|| function.clone().unbind(), |parts| parts.func);
    let explainer = PyCFunction::new_closure(py, None, None, move |args, kwargs| -> PyResult<Py<PyReport>> {
        let py = args.py();
        let report = explain_call(function.bind(py), || translated.bind(py).call(args, kwargs))?;
        Py::new(py, report)
    })?;
    Ok(explainer.into_any())
}

/// Counters of this process, as a dict.
#[pyfunction]
fn stats(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in STATS.list() {
        dict.set_item(name, value)?;
    }
    let reasons = PyDict::new(py);
    for (code, count) in STATS.reasons() {
        reasons.set_item(code, count)?;
    }
    dict.set_item("reasons", reasons)?;
    let registries = PyDict::new(py);
    for (name, entries) in engine::sizes() {
        registries.set_item(name, entries)?;
    }
    dict.set_item("registries", registries)?;
    let memory = PyDict::new(py);
    for (kind, weight) in serve::weight::weights(py) {
        let of_kind = PyDict::new(py);
        of_kind.set_item("count", weight.count)?;
        of_kind.set_item("bytes", weight.bytes)?;
        memory.set_item(kind, of_kind)?;
    }
    dict.set_item("memory", memory)?;
    let missed = PyDict::new(py);
    for (guard, count) in serve::misses::counted() {
        missed.set_item(guard, count)?;
    }
    dict.set_item("missed", missed)?;
    dict.set_item("hook_failures", crate::cpython::hook_failures())?;
    Ok(dict)
}

/// Forget everything that was captured, and set the counters to zero.
#[pyfunction]
fn reset(py: Python<'_>) {
    registry::reset();
    serve::continuation::reset();
    crate::graph_fn::reset();
    crate::serve::policy::reset();
    serve::process_hook().clear();
    if let Some(backend) = backend::registered() {
        backend.forgotten(py);
    }
    STATS.reset();
}

/// All reasons for which a capture can stop: code to (family, help).
#[pyfunction]
fn reasons(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for reason in Reason::ALL {
        dict.set_item(reason.code(), (reason.family().as_str(), reason.help()))?;
    }
    Ok(dict)
}
