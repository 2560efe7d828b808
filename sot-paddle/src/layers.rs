//! Layers: which are called as one statement, which are simulated, and what their calls depend on.
//!
//! A leaf is a layer of `paddle.nn` without hooks or overrides whose sub-layers are leaves too, and that holds nothing of the
//! program's ([`inert`]). Its `forward` runs on symbolic values under Paddle's own static branch, which the tests compare with eager;
//! classes whose static branch does something else are listed in [`SIMULATED`].

use crate::handles::Handles;
use crate::inert;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};
use sot_core::backend::{LayerCall, LayerStore};
use sot_core::cpython::facts::imported;
use sot_core::stop::{Reason, Why};

/// Classes of `paddle.nn` whose forward is simulated like a user's layer.
const SIMULATED: &[&str] = &[
    // Call a user's layer or function.
    "BiRNN",
    "RNN",
    "TripletMarginWithDistanceLoss",
    // Branch on values.
    "AdaptiveLogSoftmaxWithLoss",
    // Write their own state in forward.
    "SpectralNorm",
    // Depend on the process group.
    "SyncBatchNorm",
];

/// Classes that keep simulated layers for their parameters only.
const OWN_FORWARD: &[&str] = &["GRU", "LSTM", "SimpleRNN"];

/// The method that `Layer.__call__` calls.
pub(crate) const METHOD: &str = "forward";

/// The instance dicts that `Layer.__getattr__` searches.
const ATTR_DICTS: &[&str] = &["_parameters", "_sub_layers", "_buffers"];

/// The instance attribute that says which buffers are not saved.
const BUFFER_NOTES: &[&str] = &["_non_persistable_buffer_names_set"];

/// Instance attributes that hold hooks: a call runs only `forward` while all of these are empty.
const HOOKS: &[&str] = &["_forward_pre_hooks", "_forward_post_hooks"];

fn instance_dict<'py>(layer: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    Ok(layer.getattr(intern!(layer.py(), "__dict__"))?.cast_into::<PyDict>()?)
}

fn member<'py>(dict: &Bound<'py, PyDict>, name: &str) -> Option<Bound<'py, PyDict>> {
    dict.get_item(name).ok()??.cast_into::<PyDict>().ok()
}

fn sublayers<'py>(dict: &Bound<'py, PyDict>) -> Vec<Bound<'py, PyAny>> {
    member(dict, "_sub_layers").map(|d| d.values().iter().filter(|l| !l.is_none()).collect()).unwrap_or_default()
}

/// Whether calling the layer is nothing but calling its `forward`.
fn plain_call(handles: &Handles, layer: &Bound<'_, PyAny>, dict: &Bound<'_, PyDict>) -> bool {
    let py = layer.py();
    let class = layer.get_type();
    let base = handles.layer.bind(py);
    let inherited = |name: &Bound<'_, PyString>| -> bool {
        matches!((class.getattr(name), base.getattr(name)), (Ok(a), Ok(b)) if a.is(&b))
    };
    inherited(intern!(py, "__call__"))
        && inherited(intern!(py, "_dygraph_call_func"))
        && inherited(intern!(py, "_build_once"))
        && HOOKS.iter().all(|h| member(dict, h).is_some_and(|hooks| hooks.is_empty()))
}

fn own_class(class: &Bound<'_, PyType>) -> Option<String> {
    let py = class.py();
    let module: String = class.getattr(intern!(py, "__module__")).ok()?.extract().ok()?;
    if !module.starts_with("paddle.nn.layer.") {
        return None;
    }
    let name: String = class.getattr(intern!(py, "__name__")).ok()?.extract().ok()?;
    let held = imported(py, &module)?.getattr(&*name).ok()?;
    held.is(class).then_some(name)
}

pub(crate) fn is_leaf(handles: &Handles, layer: &Bound<'_, PyAny>, depth: usize) -> bool {
    let class = layer.get_type();
    let Some(name) = own_class(&class) else { return false };
    let Ok(dict) = instance_dict(layer) else { return false };
    let py = layer.py();
    depth > 0
        && !SIMULATED.contains(&name.as_str())
        && plain_call(handles, layer, &dict)
        && !dict.contains(intern!(py, "forward")).unwrap_or(true)
        && inert::forward(&class)
        && inert::attributes(handles, &dict)
        && (OWN_FORWARD.contains(&name.as_str()) || sublayers(&dict).iter().all(|l| is_leaf(handles, l, depth - 1)))
}

/// How calling this layer is simulated.
pub(crate) fn layer_call(handles: &Handles, layer: &Bound<'_, PyAny>) -> LayerCall {
    let Ok(dict) = instance_dict(layer) else {
        return LayerCall::Break(Why::new(Reason::ValueKind, "a layer without instance dict"));
    };
    if !plain_call(handles, layer, &dict) {
        return LayerCall::Simulate;
    }
    if is_leaf(handles, layer, 32) { LayerCall::Leaf } else { LayerCall::Method }
}

/// Whether a layer is a list or dict of layers or parameters, as Paddle has them. A sequence notes in itself that it was called, as layers do.
pub(crate) fn is_container(handles: &Handles, layer: &Bound<'_, PyAny>) -> bool {
    let py = layer.py();
    let nn = handles.paddle.bind(py).getattr(intern!(py, "nn"));
    let is = |name: &str| nn.as_ref().is_ok_and(|nn| nn.getattr(name).is_ok_and(|class| layer.get_type().is(&class)));
    ["LayerList", "LayerDict", "ParameterList"].into_iter().any(is)
}

/// Where the class's `__getattr__` looks.
pub(crate) fn attr_dicts(handles: &Handles, layer: &Bound<'_, PyAny>) -> &'static [&'static str] {
    let py = layer.py();
    let name = intern!(py, "__getattr__");
    match (layer.get_type().getattr(name), handles.layer.bind(py).getattr(name)) {
        (Ok(a), Ok(b)) if a.is(&b) => ATTR_DICTS,
        _ => &[],
    }
}

/// What is loaded into a parameter that a layer is given, if there is anything.
const LOADED: &[&str] = &["_loaddict_holder"];

/// Where `Layer.__setattr__` puts a value of a class.
pub(crate) fn store(
    handles: &Handles,
    layer: &Bound<'_, PyAny>,
    class: &Bound<'_, PyAny>,
) -> PyResult<Option<LayerStore>> {
    let py = layer.py();
    let class = class.cast::<PyType>()?;
    if class.is_subclass(handles.tensor.bind(py))? {
        let (name, notes, empty): (_, &[_], &[_]) = match class {
            class if class.is(handles.tensor.bind(py)) => ("_buffers", BUFFER_NOTES, &[]),
            class if class.is(handles.parameter.bind(py)) => ("_parameters", &[], LOADED),
            _ => return Ok(None),
        };
        return Ok(Some(LayerStore::Dict { name, leaves_own: true, notes, empty }));
    }
    if class.is_subclass(handles.layer.bind(py))? {
        return Ok(Some(LayerStore::Dict { name: "_sub_layers", leaves_own: true, notes: &[], empty: &[] }));
    }
    // What `paddle.jit.to_static` gives is told its name, and values of programs are kept in the dicts.
    let known = |module: &str, name: &str| imported(py, module).and_then(|module| module.getattr(name).ok());
    let apart = [
        known("paddle.jit.dy2static.program_translator", "StaticFunction"),
        known("paddle.base.framework", "Variable"),
        Some(handles.value.bind(py).clone().into_any()),
    ];
    for other in apart.iter().flatten() {
        if class.is_subclass(other)? {
            return Ok(None);
        }
    }
    Ok(Some(LayerStore::Own))
}

/// The dicts on which [`layer_call`] depends for a layer that is no leaf.
pub(crate) fn call_state<'py>(layer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let dict = instance_dict(layer)?;
    Ok(HOOKS.iter().filter_map(|h| member(&dict, h)).collect())
}

/// All dicts on which a call of a leaf depends.
pub(crate) fn leaf_state<'py>(layer: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let mut out = Vec::new();
    collect_dicts(layer, &mut out)?;
    Ok(out)
}

fn collect_dicts<'py>(layer: &Bound<'py, PyAny>, out: &mut Vec<Bound<'py, PyDict>>) -> PyResult<()> {
    let dict = instance_dict(layer)?;
    let inner = sublayers(&dict);
    for name in ATTR_DICTS.iter().chain(HOOKS) {
        // An empty dict of a layer is part of its state too: a hook or a parameter may be added later.
        out.extend(member(&dict, name));
    }
    out.push(dict);
    for layer in inner {
        collect_dicts(&layer, out)?;
    }
    Ok(())
}

/// The instance dicts of a leaf and its sub-layers, with copies: a first call notes things about itself in them, and
/// building is not a call.
pub(crate) struct Notes<'py>(Vec<(Bound<'py, PyDict>, Bound<'py, PyDict>)>);

impl<'py> Notes<'py> {
    pub(crate) fn keep(layer: &Bound<'py, PyAny>) -> PyResult<Notes<'py>> {
        fn walk<'py>(
            layer: &Bound<'py, PyAny>,
            out: &mut Vec<(Bound<'py, PyDict>, Bound<'py, PyDict>)>,
        ) -> PyResult<()> {
            let dict = instance_dict(layer)?;
            let inner = sublayers(&dict);
            out.push((dict.copy()?, dict));
            inner.iter().try_for_each(|l| walk(l, out))
        }
        let mut out = Vec::new();
        walk(layer, &mut out)?;
        Ok(Notes(out))
    }

    /// Put back what was changed.
    pub(crate) fn restore(self) -> PyResult<()> {
        for (before, now) in self.0 {
            for (key, value) in before.iter() {
                if !now.get_item(&key)?.is_some_and(|v| v.is(&value)) {
                    now.set_item(key, value)?;
                }
            }
            for key in now.keys().iter() {
                if !before.contains(&key)? {
                    now.del_item(key)?;
                }
            }
        }
        Ok(())
    }
}

/// Every tensor that a leaf holds: parameters, buffers, and tensors in plain attributes.
pub(crate) fn collect_tensors<'py>(
    handles: &Handles,
    layer: &Bound<'py, PyAny>,
    out: &mut Vec<Bound<'py, PyAny>>,
) -> PyResult<()> {
    let dict = instance_dict(layer)?;
    for name in ["_parameters", "_buffers"] {
        if let Some(tensors) = member(&dict, name) {
            out.extend(tensors.values().iter().filter(|t| handles.is_tensor(t)));
        }
    }
    for value in dict.values() {
        if handles.is_tensor(&value) {
            out.push(value);
        } else if let Ok(list) = value.cast::<PyList>() {
            out.extend(list.iter().filter(|t| handles.is_tensor(t)));
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            out.extend(tuple.iter().filter(|t| handles.is_tensor(t)));
        }
    }
    for layer in sublayers(&dict) {
        collect_tensors(handles, &layer, out)?;
    }
    Ok(())
}
