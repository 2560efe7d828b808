//! What an object is, remembered by identity for functions.
//!
//! A function counts as Paddle's only if it is what its module holds under its name, or what a class of Paddle holds:
//! a user's function that copies `__module__` (`functools.wraps`) does not.

use crate::acting;
use crate::api_table::{self, Verdict};
use crate::handles::Handles;
use hashbrown::HashMap;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyFunction, PyList, PyType};
use sot_core::backend::Kind;
use sot_core::cpython::facts::imported;
use sot_core::stop::{Reason, Why};
use std::sync::Mutex;

pub(crate) struct Classifier {
    /// Verdicts by address; the object is kept so that its address stays its own.
    known: Mutex<HashMap<usize, (Py<PyAny>, Kind)>>,
    /// Exact types of constants: dtypes and places.
    constants: Vec<Py<PyType>>,
    /// The class of shapes, where that is not list itself.
    shape: Option<Py<PyType>>,
}

impl Classifier {
    pub(crate) fn new(py: Python<'_>, handles: &Handles) -> PyResult<Classifier> {
        let core = handles.core.bind(py);
        let mut constants = vec![handles.dtype.clone_ref(py)];
        for name in [
            "Place",
            "CPUPlace",
            "CUDAPlace",
            "CUDAPinnedPlace",
            "XPUPlace",
            "XPUPinnedPlace",
            "IPUPlace",
            "CustomPlace",
            "DataType",
            "AmpLevel",
        ] {
            if let Ok(class) = core.getattr(name).and_then(|c| Ok(c.cast_into::<PyType>()?)) {
                constants.push(class.unbind());
            }
        }
        let var_type = core.getattr("VarDesc")?.getattr("VarType")?;
        if let Ok(class) = var_type.cast_into::<PyType>() {
            constants.push(class.unbind());
        }
        let shape = crate::attr::size_class(handles, py)?.cast_into::<PyType>()?;
        let shape = (!shape.is(py.get_type::<PyList>())).then(|| shape.unbind());
        Ok(Classifier { known: Mutex::new(HashMap::new()), constants, shape })
    }

    pub(crate) fn classify(&self, handles: &Handles, obj: &Bound<'_, PyAny>) -> Kind {
        let py = obj.py();
        let class = obj.get_type();
        if class.is(&handles.tensor) || class.is(&handles.parameter) {
            return Kind::Tensor;
        }
        if self.constants.iter().any(|c| class.is(c)) {
            return Kind::Constant;
        }
        if self.shape.as_ref().is_some_and(|shape| class.is(shape)) {
            return Kind::List;
        }
        let is_function = obj.is_exact_instance_of::<PyFunction>() || obj.is_exact_instance_of::<PyCFunction>();
        if is_function || obj.is_instance_of::<PyType>() {
            let key = obj.as_ptr() as usize;
            let known = self.known.lock().unwrap_or_else(|e| e.into_inner()).get(&key).map(|(_, kind)| kind.clone());
            if let Some(kind) = known {
                return kind;
            }
            let kind = if is_function { function(handles, obj) } else { class_object(handles, obj) };
            // Only what lives as long as the process is held.
            let held = match &kind {
                Kind::Unknown => false,
                Kind::Break(_) | Kind::Maker(_) => {
                    text(obj, intern!(py, "__module__")).is_some_and(|module| module.starts_with("paddle."))
                }
                _ => true,
            };
            if held {
                let mut map = self.known.lock().unwrap_or_else(|e| e.into_inner());
                map.insert(key, (obj.clone().unbind(), kind.clone()));
            }
            return kind;
        }
        if class.is_subclass(handles.layer.bind(py)).unwrap_or(false) {
            return Kind::Layer;
        }
        if class.is_subclass(handles.tensor.bind(py)).unwrap_or(false) {
            // A user's subclass may give every method another meaning.
            return Kind::Break(Why::new(Reason::ValueKind, "an instance of a subclass of paddle.Tensor"));
        }
        Kind::Unknown
    }
}

fn text<'py>(obj: &Bound<'py, PyAny>, name: &Bound<'py, pyo3::types::PyString>) -> Option<String> {
    obj.getattr(name).ok()?.extract::<String>().ok()
}

/// Whether `module` (or the public namespaces that re-export it) holds `obj` under `name`.
fn is_module_member(obj: &Bound<'_, PyAny>, module: &str, name: &str) -> bool {
    [module, "paddle", "paddle.nn.functional", "paddle.linalg", "paddle._C_ops", "paddle._pir_ops"]
        .iter()
        .any(|m| imported(obj.py(), m).is_some_and(|m| m.getattr(name).is_ok_and(|held| held.is(obj))))
}

/// Whether the class that a method's `__qualname__` names in `module` holds it.
fn is_method_of(obj: &Bound<'_, PyAny>, module: &str, qualname: &str) -> bool {
    let Some((class, name)) = qualname.rsplit_once('.') else { return false };
    let class = imported(obj.py(), module).and_then(|module| module.getattr(class).ok());
    class.is_some_and(|class| class.is_instance_of::<PyType>() && class.getattr(name).is_ok_and(|held| held.is(obj)))
}

fn function(handles: &Handles, obj: &Bound<'_, PyAny>) -> Kind {
    let py = obj.py();
    if let Some(kind) = handles.amp.as_ref().and_then(|accessors| accessors.kind_of(obj)) {
        return kind;
    }
    let (Some(module), Some(name)) = (text(obj, intern!(py, "__module__")), text(obj, intern!(py, "__name__"))) else {
        return Kind::Unknown;
    };
    if let Some(made) = &handles.parameters {
        match obj {
            obj if made.is_operation(obj) => return Kind::Api,
            obj if made.is_refusal(obj) => {
                return Kind::Break(Why::new(Reason::FrameworkFunction, "a parameter that only eager makes"));
            }
            _ => {}
        }
    }
    if is_not_to_static(obj) {
        return Kind::Break(Why::new(Reason::Disabled, name));
    }
    if api_table::is_eager_method(&module, &name)
        && let Some(qualname) = text(obj, intern!(py, "__qualname__"))
        && is_method_of(obj, &module, &qualname)
    {
        return match acting::is_function(&name) {
            true => Kind::Acts,
            false => Kind::Break(Why::new(Reason::FrameworkFunction, format!("{module}.{qualname}"))),
        };
    }
    match api_table::function(&module, &name) {
        None | Some(Verdict::Python) => Kind::Unknown,
        Some(_) if !is_module_member(obj, &module, &name) => Kind::Unknown,
        Some(Verdict::Api) => Kind::Api,
        Some(Verdict::Foldable) => Kind::Foldable,
        Some(Verdict::Switch) => Kind::Switch,
        Some(Verdict::Break(why)) => Kind::Break(why),
    }
}

/// `paddle.jit.not_to_static`, which marks for the translator of sources alone. What is marked for both is "unified": it does the
/// same in either mode, and is simulated like any function.
fn is_not_to_static(function: &Bound<'_, PyAny>) -> bool {
    let py = function.py();
    let mode = |mode: &str, options: &Bound<'_, PyAny>| {
        let skipped = options.getattr("skip_transform_mode")?;
        let flag = skipped.getattr("__class__")?.getattr(mode)?;
        flag.rich_compare(skipped.call_method1("__and__", (&flag,))?, pyo3::basic::CompareOp::Eq)?.is_truthy()
    };
    let options = function.getattr_opt(intern!(py, "___jit_transform_options___")).ok().flatten();
    // Up to 3.0 there was one translator.
    let of_old = function.getattr_opt(intern!(py, "__jst_not_to_static")).ok().flatten();
    options.is_some_and(|options| mode("AST", &options).unwrap_or(false) && !mode("SOT", &options).unwrap_or(false))
        || of_old
            .is_some_and(|options| options.getattr("not_convert").and_then(|plain| plain.is_truthy()).unwrap_or(false))
}

fn class_object(handles: &Handles, obj: &Bound<'_, PyAny>) -> Kind {
    let py = obj.py();
    if obj.cast::<PyType>().is_ok_and(|class| class.is_subclass(handles.layer.bind(py)).unwrap_or(false)) {
        let name = text(obj, intern!(py, "__qualname__")).unwrap_or_default();
        return Kind::Maker(Why::new(Reason::FrameworkFunction, format!("a layer is made: {name}")));
    }
    let named = |name: &str| text(obj, intern!(py, "__name__")).is_some_and(|own| own == name);
    let of_paddle = text(obj, intern!(py, "__module__")).is_some_and(|module| module == "paddle.base.libpaddle");
    if of_paddle && (named("finfo") || named("iinfo") || named("CPUPlace")) {
        return Kind::Record;
    }
    Kind::Unknown
}

/// The directory of the paddle package.
pub(crate) fn skip_paths(py: Python<'_>, handles: &Handles) -> Vec<String> {
    let paths = handles.paddle.bind(py).getattr(intern!(py, "__path__"));
    paths.and_then(|p| p.extract::<Vec<String>>()).unwrap_or_default()
}

/// What layers run when they are called, and what decorators of modes put around a function: it computes on tensors wherever it stands.
const COMPUTES: &[&str] = &["__call__", "_decorate_function", "_dygraph_call_func", "forward"];

/// Files of layers and models, and of short steps of training around operations, below the package, as opposed to those that make, convert,
/// save, measure and train them.
const LAYERS: &[&str] = &[
    "/amp/grad_scaler.py",
    "/distribution/",
    "/incubate/nn/layer/",
    "/nn/layer/",
    "/nn/utils/clip_grad_",
    "/text/models/",
    "/vision/models/",
];

/// What layers can do beside computing: parameters, state, hooks, conversion.
const OF_ALL_LAYERS: &str = "/nn/layer/layers.py";

/// Whether the graph breaks inside of such a function of Paddle's.
pub(crate) fn is_taken_apart(file: &str, function: &str) -> bool {
    COMPUTES.contains(&function) || !file.ends_with(OF_ALL_LAYERS) && LAYERS.iter().any(|part| file.contains(part))
}
