//! What Paddle's own code may be run with while a program is built: it must run no code of the user's.
//!
//! A layer of Paddle's that was given a function of the program (`activation=`), or an object of a class of the program, would call it
//! for real while its operations are built. Such a layer is simulated, and so is what it calls.

use crate::handles::Handles;
use crate::names;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyCFunction, PyComplex, PyDict, PyFloat, PyFrozenSet, PyFunction, PyInt, PyList, PyModule, PySet,
    PyString, PyTuple, PyType,
};
use sot_core::backend::OpCall;
use sot_core::cpython::facts::imported;

/// Containers inside each other that are looked through.
const DEPTH: u32 = 4;

/// Namespaces in which layers find the functions that they call.
const NAMESPACES: &[&str] = &["paddle", "paddle._C_ops", "paddle.nn.functional", "paddle.tensor"];

/// Builtins that Paddle's Python code, and what it does at each operation of a program, cannot do without.
const BUILTINS: &[&str] = &[
    "abs",
    "all",
    "any",
    "bool",
    "callable",
    "dict",
    "enumerate",
    "filter",
    "float",
    "getattr",
    "hasattr",
    "hash",
    "id",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "range",
    "repr",
    "reversed",
    "set",
    "setattr",
    "slice",
    "sorted",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
];

/// A builtin that somebody has put something of their own in the place of: what Python has is named as its place, and of its module.
pub(crate) fn replaced_builtin(py: Python<'_>) -> Option<&'static str> {
    let builtins = imported(py, "builtins")?;
    BUILTINS.iter().copied().find(|name| {
        let is_own = |held: Bound<'_, PyAny>| {
            let of_c = held.is_exact_instance_of::<PyCFunction>()
                || held.cast_exact::<PyType>().is_ok_and(|class| is_builtin_class(class, name));
            let named = |attribute| held.getattr(attribute).and_then(|text| text.extract::<String>());
            of_c && named("__name__").is_ok_and(|own| own == *name)
                && named("__module__").is_ok_and(|module| module == "builtins")
        };
        !builtins.getattr(*name).is_ok_and(is_own)
    })
}

/// Whether the instance dict of a layer holds values of Python and of Paddle alone.
pub(crate) fn attributes(handles: &Handles, dict: &Bound<'_, PyDict>) -> bool {
    dict.values().iter().all(|value| is_inert(handles, &value, DEPTH))
}

/// Whether the `forward` of a class, and what it calls by name, are Paddle's own: somebody may have put others in their places.
pub(crate) fn forward(class: &Bound<'_, PyType>) -> bool {
    let py = class.py();
    let own = || {
        let forward = class.getattr(intern!(py, "forward"))?;
        let names =
            forward.getattr(intern!(py, "__code__"))?.getattr(intern!(py, "co_names"))?.cast_into::<PyTuple>()?;
        let modules: Vec<_> = NAMESPACES.iter().filter_map(|module| imported(py, module)).collect();
        let theirs = |name: &Bound<'_, PyAny>| {
            modules.iter().any(|module| {
                let held = name.cast::<PyString>().ok().and_then(|name| module.getattr(name).ok());
                held.is_some_and(|held| held.is_exact_instance_of::<PyFunction>() && !is_of_paddle(&held))
            })
        };
        PyResult::Ok(is_of_paddle(&forward) && !names.iter().any(|name| theirs(&name)))
    };
    own().unwrap_or(false)
}

/// Whether a layer is one of Paddle's own that holds nothing of the program's.
pub(crate) type IsLeaf<'a> = &'a dyn Fn(&Bound<'_, PyAny>) -> bool;

/// Whether an operation is given something of the program to call, which would be called while it is built.
pub(crate) fn calls_back(handles: &Handles, is_leaf: IsLeaf<'_>, op: &OpCall<'_, '_>) -> bool {
    let is_one = |value: &Bound<'_, PyAny>| is_of_program(handles, is_leaf, value, DEPTH);
    op.args.iter().any(|value| is_one(&value))
        || op.kwargs.is_some_and(|k| k.values().iter().any(|value| is_one(&value)))
}

/// Whether a value, or a part of it, can be called and is neither Python's nor Paddle's own.
fn is_of_program(handles: &Handles, is_leaf: IsLeaf<'_>, value: &Bound<'_, PyAny>, depth: u32) -> bool {
    let inside = |item: Bound<'_, PyAny>| depth > 0 && is_of_program(handles, is_leaf, &item, depth - 1);
    if let Ok(items) = value.cast_exact::<PyList>() {
        return items.iter().any(inside);
    }
    if let Ok(items) = value.cast_exact::<PyTuple>() {
        return items.iter().any(inside);
    }
    if let Ok(items) = value.cast_exact::<PyDict>() {
        return items.values().iter().any(inside);
    }
    if !value.is_callable() || handles.is_value(value) {
        return false;
    }
    match is_layer(handles, value) {
        true => !is_leaf(value),
        false => !is_inert_callable(handles, value, DEPTH),
    }
}

fn is_layer(handles: &Handles, value: &Bound<'_, PyAny>) -> bool {
    value.is_instance(handles.layer.bind(value.py())).unwrap_or(false)
}

/// Whether calling an object runs no code of the program, as far as its own code goes.
fn is_inert_callable(handles: &Handles, value: &Bound<'_, PyAny>, depth: u32) -> bool {
    let py = value.py();
    if value.is_exact_instance_of::<PyFunction>() {
        return is_of_paddle(value) && keeps_inert(handles, value, depth);
    }
    let class = value.get_type();
    if is_builtin_class(&class, "method") {
        let part = |name| value.getattr(name).ok();
        return match (part(intern!(py, "__func__")), part(intern!(py, "__self__"))) {
            (Some(function), Some(receiver)) => {
                is_inert_callable(handles, &function, depth) && is_class_of_libraries(&receiver.get_type())
            }
            _ => false,
        };
    }
    if value.is_exact_instance_of::<PyCFunction>() {
        // A method of C works on what it is bound to.
        let bound = value.getattr(intern!(py, "__self__"));
        return bound.is_ok_and(|bound| bound.is_none() || bound.is_instance_of::<PyModule>());
    }
    if let Ok(class) = value.cast::<PyType>() {
        return is_class_of_libraries(class);
    }
    !is_layer(handles, value) && class.module().is_ok_and(|module| module.to_str().is_ok_and(is_within_paddle))
}

/// Whether what a function of Paddle's keeps to call is Paddle's as well: it may be a decorator's, with the program's function in a cell.
fn keeps_inert(handles: &Handles, function: &Bound<'_, PyAny>, depth: u32) -> bool {
    let py = function.py();
    let Ok(cells) = function.getattr(intern!(py, "__closure__")) else { return false };
    let Ok(cells) = cells.cast::<PyTuple>() else { return true };
    cells.iter().all(|cell| match cell.getattr(intern!(py, "cell_contents")) {
        Ok(kept) => !kept.is_callable() || depth > 0 && is_inert_callable(handles, &kept, depth - 1),
        Err(_) => true,
    })
}

/// Whether a class is the one of this name that Python itself has.
fn is_builtin_class(class: &Bound<'_, PyType>, name: &str) -> bool {
    class.qualname().is_ok_and(|own| own == name) && class.module().is_ok_and(|module| module == "builtins")
}

/// Whether a function was written in a module of Paddle's.
fn is_of_paddle(function: &Bound<'_, PyAny>) -> bool {
    let py = function.py();
    let module = function.getattr(intern!(py, "__globals__")).and_then(|globals| globals.get_item("__name__"));
    module.and_then(|name| name.extract::<String>()).is_ok_and(|name| is_within_paddle(&name))
}

fn is_within_paddle(module: &str) -> bool {
    names::within(module, &["paddle"])
}

fn is_inert(handles: &Handles, value: &Bound<'_, PyAny>, depth: u32) -> bool {
    let scalar = value.is_none()
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyComplex>()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyBytes>()
        || value.is_exact_instance_of::<PyModule>();
    if scalar || handles.is_tensor(value) {
        return true;
    }
    let inside = |item: Bound<'_, PyAny>| depth > 0 && is_inert(handles, &item, depth - 1);
    if let Ok(items) = value.cast_exact::<PyList>() {
        return items.iter().all(inside);
    }
    if let Ok(items) = value.cast_exact::<PyTuple>() {
        return items.iter().all(inside);
    }
    if let Ok(items) = value.cast_exact::<PySet>() {
        return items.iter().all(inside);
    }
    if let Ok(items) = value.cast_exact::<PyFrozenSet>() {
        return items.iter().all(inside);
    }
    if let Ok(items) = value.cast_exact::<PyDict>() {
        return items.iter().all(|(key, item)| inside(key) && inside(item));
    }
    // Layers among the sub-layers are looked at by themselves.
    match value.is_callable() && !is_layer(handles, value) {
        true => is_inert_callable(handles, value, DEPTH),
        false => is_class_of_libraries(&value.get_type()),
    }
}

/// Whether a class is Python's, numpy's or Paddle's own.
fn is_class_of_libraries(class: &Bound<'_, PyType>) -> bool {
    let module = class.getattr(intern!(class.py(), "__module__")).and_then(|module| module.extract::<String>());
    module.is_ok_and(|module| {
        is_within_paddle(&module) || matches!(module.as_str(), "builtins" | "collections" | "numpy")
    })
}
