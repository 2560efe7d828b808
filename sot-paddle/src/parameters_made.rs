//! Parameters that a captured function makes (`nn.Linear(4, 5)`, `self.create_parameter(..)`).
//!
//! Nearly all that the constructor of a layer does is Python, and is simulated. What is not is in one function, `create_parameter` of
//! the framework's helpers: it counts names, notes which are taken, draws numbers, and makes a tensor of a class of its own. A function
//! of ours stands for it in simulations (`parameters_made.py`), which ends in one operation. That calls the framework's own function when
//! the graph runs, at its place among the operations: so names, counts, numbers and refusals are eager's.
//!
//! - The result is a leaf, whatever the mode. Its shape, type and flag follow from the arguments; all else about it is asked of it when it
//!   is there. No program makes one: such a graph is replayed.
//! - A run that fails takes back what was counted and noted, beside the numbers that were drawn ([`crate::effects`]).
//! - What makes a name is given to the operation: the generator of names as the simulation finds it, and the name of the layer, which
//!   may have a number in it that varies. Where another generator is in its place by then, the run ends and the frame runs as it was.
//! - What it counts and notes nobody else knows while it has not run. So the program's own code does not look at counters within a capture
//!   ([`MakesParameters::is_counter`]); it breaks, as asking for a name of such a kind does.
//! - The default dtype is a mode ([`crate::default_dtype`]); who asks the class of the helpers is told that, too.
//! - What is not plain (an initializer of the program, one that is given a tensor, a lazy layer, another element type than two) is
//!   refused: there the call of the class breaks, as ever.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyTuple, PyType};
use smallvec::SmallVec;
use sot_core::backend::{CallKind, Given, OpCall};

const SOURCE: &str = include_str!("parameters_made.py");

/// Initializers that keep plain numbers alone and draw no names, and regularizers.
const SIMPLE: &[&str] = &[
    "Constant",
    "ConstantInitializer",
    "KaimingNormal",
    "KaimingUniform",
    "L1Decay",
    "L2Decay",
    "MSRAInitializer",
    "Normal",
    "NormalInitializer",
    "TruncatedNormal",
    "TruncatedNormalInitializer",
    "Uniform",
    "UniformInitializer",
    "XavierInitializer",
    "XavierNormal",
    "XavierUniform",
];

/// The functions of `parameters_made.py`, and those of Paddle that they stand for.
pub(crate) struct MakesParameters {
    /// Each with what stands in for it.
    originals: Vec<(Py<PyAny>, Py<PyAny>)>,
    /// The classes of what counts names and notes which are taken.
    counters: [Py<PyAny>; 2],
    operation: Py<PyAny>,
    refused: Py<PyAny>,
    told: Py<PyAny>,
    begun: Py<PyAny>,
    taken_back: Py<PyAny>,
}

/// What is known of one before it is made.
pub(crate) struct Told<'py> {
    pub(crate) shape: SmallVec<[i64; 6]>,
    pub(crate) dtype: Bound<'py, PyAny>,
    pub(crate) trainable: bool,
}

impl MakesParameters {
    /// An error means that this release makes them otherwise.
    pub(crate) fn find(py: Python<'_>) -> PyResult<MakesParameters> {
        let import = |module: &str, name: &str| py.import(module)?.getattr(name);
        let helpers = py.import("paddle.base.layer_helper_base")?;
        let helper = helpers.getattr("LayerHelperBase")?;
        let original = helper.getattr("create_parameter")?.cast_into::<PyFunction>()?;
        let file = original.getattr("__code__")?.getattr("co_filename")?;
        let default_dtype = helper.getattr("get_default_dtype")?.getattr("__func__")?;
        let names = PyDict::new(py);
        let own = [
            ("__name__", helpers.getattr("__name__")?),
            ("__file__", helpers.getattr("__file__")?),
            ("__builtins__", py.import("builtins")?.into_any()),
            ("CREATE", original.clone().into_any()),
            ("Helper", helper.clone()),
            ("HELPERS", {
                let of_layers = import("paddle.nn.layer.layers", "LayerObjectHelper")?;
                PyTuple::new(py, [helper, import("paddle.base.layer_helper", "LayerHelper")?, of_layers])?.into_any()
            }),
            ("INITIALIZERS", py.import("paddle.base.initializer")?.into_any()),
            ("Block", import("paddle.base.framework", "Block")?),
            ("COPY", py.import("copy")?.into_any()),
            ("EagerParamBase", import("paddle.base.framework", "EagerParamBase")?),
            ("HOME", helpers.clone().into_any()),
            ("OPERATIONS", py.import("paddle._C_ops")?.into_any()),
            ("Integral", import("numbers", "Integral")?),
            ("LAZY", import("paddle.nn.initializer.lazy_init", "_lazy_init_helper")?),
            ("LOGS", PyDict::new(py).into_any()),
            ("NAMES", py.import("paddle.base.unique_name")?.into_any()),
            ("ParamAttr", import("paddle.base.param_attr", "ParamAttr")?),
            ("class_of", py.get_type::<PyType>().into_any()),
            ("default_main_program", import("paddle.base.framework", "default_main_program")?),
            ("get_default_dtype", import("paddle", "get_default_dtype")?),
            ("get_ident", import("threading", "get_ident")?),
        ];
        for (name, value) in own {
            names.set_item(name, value)?;
        }
        let (by_name, dtypes) = (PyDict::new(py), PyDict::new(py));
        let initializers = ["constant", "kaiming", "normal", "uniform", "xavier"];
        let modules = initializers.iter().map(|module| format!("paddle.nn.initializer.{module}"));
        for module in modules.chain(["paddle.regularizer".to_owned()]) {
            let module = py.import(module)?;
            for name in SIMPLE {
                if let Some(class) = module.getattr_opt(*name)? {
                    by_name.set_item(name, class)?;
                }
            }
        }
        for name in ["float32", "float64"] {
            let dtype = import("paddle", name)?;
            dtypes.set_item(name, &dtype)?;
            dtypes.set_item(&dtype, &dtype)?;
        }
        names.set_item("SIMPLE", PyTuple::new(py, by_name.values())?)?;
        names.set_item("BY_NAME", by_name)?;
        names.set_item("DTYPES", dtypes)?;
        let builtins = py.import("builtins")?;
        let counters = [
            import("paddle.base.unique_name", "UniqueNameGenerator")?,
            import("paddle.base.unique_name", "DygraphParameterNameChecker")?,
        ];
        let (generate, check) = (counters[0].getattr("generate")?, counters[1].getattr("__call__")?);
        // Another function with the same code, for which nothing stands in.
        let code_and_names = (generate.getattr("__code__")?, generate.getattr("__globals__")?);
        names.set_item("GENERATE", py.get_type::<PyFunction>().call1(code_and_names)?)?;
        let code = builtins.call_method1("compile", (SOURCE, file, "exec"))?;
        builtins.call_method1("exec", (code, &names))?;
        let named = |name: &str| -> PyResult<Py<PyAny>> {
            let found = names.get_item(name)?;
            Ok(found.ok_or_else(|| PyTypeError::new_err(name.to_owned()))?.unbind())
        };
        Ok(MakesParameters {
            originals: vec![
                (original.into_any().unbind(), named("create_parameter")?),
                (generate.unbind(), named("generate")?),
                (check.unbind(), named("check_name")?),
                (default_dtype.unbind(), named("default_dtype")?),
            ],
            counters: counters.map(Bound::unbind),
            operation: named("parameter")?,
            refused: named("refused")?,
            told: named("told")?,
            begun: named("begun")?,
            taken_back: named("taken_back")?,
        })
    }

    /// What is simulated in the place of a function.
    pub(crate) fn stands_in_for<'py>(&self, function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        let (_, stands_in) = self.originals.iter().find(|(original, _)| function.is(original))?;
        Some(stands_in.bind(function.py()).clone())
    }

    /// Whether instances of a class count names, or note which are taken.
    pub(crate) fn is_counter(&self, class: &Bound<'_, PyAny>) -> bool {
        self.counters.iter().any(|counter| class.is(counter))
    }

    /// Whether an object is the operation.
    pub(crate) fn is_operation(&self, callee: &Bound<'_, PyAny>) -> bool {
        callee.is(&self.operation)
    }

    /// Whether it is what stands for a refusal.
    pub(crate) fn is_refusal(&self, callee: &Bound<'_, PyAny>) -> bool {
        callee.is(&self.refused)
    }

    /// What is known of a parameter that is to be made so.
    pub(crate) fn told<'py>(&self, op: &OpCall<'_, 'py>) -> PyResult<Told<'py>> {
        let told = self.told.bind(op.args.py()).call(op.args, op.kwargs)?;
        let (shape, dtype, trainable) = told.extract::<(Vec<i64>, Bound<'py, PyAny>, bool)>()?;
        Ok(Told { shape: shape.into_iter().collect(), dtype, trainable })
    }

    /// What runs in this thread count and note from now on is written down.
    pub(crate) fn begun<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.begun.bind(py).call0()
    }

    /// It is as it was.
    pub(crate) fn taken_back(&self, log: &Bound<'_, PyAny>) -> PyResult<()> {
        self.taken_back.bind(log.py()).call1((log,)).map(drop)
    }
}

/// The name under which graphs have it.
const NAME: &str = "paddle.base.layer_helper_base.parameter";

/// Whether an argument of an operation is an object, or a text that may vary, that the operation is given when it runs.
pub(crate) fn takes_at_run_time(kind: CallKind, name: &str, at: Given<'_>) -> bool {
    kind == CallKind::Api && name == NAME && matches!(at, Given::At(0..=2))
}
