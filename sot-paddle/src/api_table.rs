//! Which functions of Paddle build operations, fold, or must run eagerly: by module and name.
//!
//! A name that is in no table runs eagerly: a break is always right, a wrong graph never is. The lists of exceptions
//! come from comparing each function eager and built (tests/python/paddle_backend/test_differential.py).

use crate::gradients;
use crate::names::within;
use crate::written;
use sot_core::stop::{Reason, Why};

/// What the tables say about a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Api,
    Foldable,
    /// It changes a mode: [`crate::modes`].
    Switch,
    Break(Why),
    /// An ordinary Python function that happens to live in Paddle: simulated like the user's.
    Python,
}

/// Modules whose public functions append operations.
const API_MODULES: &[&str] = &[
    "paddle._C_ops",
    "paddle.audio.functional",
    "paddle.base.dygraph.generated_tensor_methods_patch",
    "paddle.base.libpaddle.pir.ops",
    "paddle.fft",
    "paddle.geometric",
    "paddle.incubate.nn.functional",
    "paddle.incubate.operators",
    "paddle.incubate.tensor",
    "paddle.linalg",
    "paddle.nn.functional",
    "paddle.signal",
    "paddle.tensor",
    "paddle.text.viterbi_decode",
    "paddle.vision.ops",
];

/// Modules of ordinary Python code over the above.
const PYTHON_MODULES: &[&str] = &[
    "paddle.distribution",
    "paddle.incubate.nn.layer",
    "paddle.nn.layer",
    "paddle.nn.utils.spectral_norm_hook",
    "paddle.nn.utils.weight_norm_hook",
    "paddle.text.models",
    "paddle.utils.layers_utils",
    "paddle.vision.models",
];

/// Answered by [`crate::fold`].
const FOLDABLE: &[(&str, &str)] = &[
    ("paddle.base.data_feeder", "convert_dtype"),
    ("paddle.base.dygraph.base", "enabled"),
    ("paddle.base.dygraph.base", "in_sot_simulation_mode"),
    ("paddle.base.dygraph.base", "in_to_static_mode"),
    ("paddle.base.dygraph.base", "is_grad_enabled"),
    ("paddle.base.libpaddle", "_has_grad"),
    ("paddle.base.libpaddle", "get_all_custom_device_type"),
    ("paddle.base.libpaddle", "get_all_device_type"),
    ("paddle.base.libpaddle", "is_bfloat16_supported"),
    ("paddle.base.libpaddle", "is_compiled_with_cinn"),
    ("paddle.base.libpaddle", "is_compiled_with_cuda"),
    ("paddle.base.libpaddle", "is_compiled_with_custom_device"),
    ("paddle.base.libpaddle", "is_compiled_with_distribute"),
    ("paddle.base.libpaddle", "is_compiled_with_ipu"),
    ("paddle.base.libpaddle", "is_compiled_with_mkldnn"),
    ("paddle.base.libpaddle", "is_compiled_with_rocm"),
    ("paddle.base.libpaddle", "is_compiled_with_xpu"),
    ("paddle.base.libpaddle", "is_float16_supported"),
    ("paddle.base.framework", "_dygraph_tracer"),
    ("paddle.base.framework", "in_dygraph_mode"),
    ("paddle.base.framework", "in_dynamic_mode"),
    ("paddle.base.framework", "in_dynamic_or_pir_mode"),
    ("paddle.base.framework", "in_pir_mode"),
    ("paddle.base.framework", "is_compiled_with_cinn"),
    ("paddle.base.framework", "is_compiled_with_cuda"),
    ("paddle.base.framework", "is_compiled_with_distribute"),
    ("paddle.base.framework", "is_compiled_with_rocm"),
    ("paddle.base.framework", "is_compiled_with_xpu"),
    ("paddle.device", "get_device"),
    ("paddle.device", "is_compiled_with_cinn"),
    ("paddle.device", "is_compiled_with_cuda"),
    ("paddle.device", "is_compiled_with_custom_device"),
    ("paddle.device", "is_compiled_with_distribute"),
    ("paddle.device", "is_compiled_with_ipu"),
    ("paddle.device", "is_compiled_with_rocm"),
    ("paddle.device", "is_compiled_with_xpu"),
    ("paddle.framework.dtype", "finfo"),
    ("paddle.framework.dtype", "iinfo"),
    ("paddle.framework.framework", "get_default_dtype"),
    ("paddle.tensor.attribute", "is_complex"),
    ("paddle.tensor.attribute", "is_floating_point"),
    ("paddle.tensor.attribute", "is_integer"),
    ("paddle.tensor.logic", "is_tensor"),
];

/// What changes a mode.
const SWITCHES: &[(&str, &str)] = &[
    ("paddle.base.dygraph.base", "_set_grad_enabled"),
    ("paddle.base.libpaddle", "_set_has_grad"),
    ("paddle.framework.framework", "set_default_dtype"),
];

/// Ordinary Python code among what is not.
const PYTHON: &[(&str, &str)] = &[
    ("paddle.amp", "is_bfloat16_supported"),
    ("paddle.amp", "is_float16_supported"),
    ("paddle.amp.amp_lists", "black_list"),
    ("paddle.amp.amp_lists", "white_list"),
    ("paddle.amp.auto_cast", "_in_amp_guard"),
    ("paddle.amp.auto_cast", "_in_pure_fp16_guard"),
    ("paddle.amp.auto_cast", "_update_list"),
    ("paddle.amp.auto_cast", "amp_global_state"),
    ("paddle.amp.auto_cast", "amp_guard"),
    ("paddle.amp.auto_cast", "amp_state"),
    ("paddle.amp.auto_cast", "auto_cast"),
    ("paddle.amp.auto_cast", "autocast"),
    ("paddle.amp.auto_cast", "get_autocast_dtype"),
    ("paddle.amp.auto_cast", "is_autocast_enabled"),
    ("paddle.base.data_feeder", "check_dtype"),
    ("paddle.base.data_feeder", "check_shape"),
    ("paddle.base.data_feeder", "check_type"),
    ("paddle.base.data_feeder", "check_variable_and_dtype"),
    ("paddle.base.dygraph.base", "_switch_tracer_mode_guard_"),
    ("paddle.base.dygraph.base", "no_grad"),
    ("paddle.base.dygraph.base", "param_guard"),
    ("paddle.base.framework", "_current_expected_place"),
    ("paddle.base.framework", "_current_expected_place_"),
    ("paddle.base.framework", "_dygraph_only_"),
    ("paddle.base.framework", "_non_static_only_"),
    ("paddle.base.framework", "_global_flags"),
    ("paddle.base.framework", "name_scope"),
    ("paddle.base.framework", "name_struct"),
    ("paddle.base.unique_name", "generate"),
    ("paddle.device", "get_all_custom_device_type"),
    ("paddle.device", "get_all_device_type"),
    ("paddle.device", "get_cudnn_version"),
    ("paddle.distributed.fleet.layers.mpu.random", "get_rng_state_tracker"),
    ("paddle.nn.utils.clip_grad_norm_", "clip_grad_norm_"),
    ("paddle.nn.utils.clip_grad_value_", "clip_grad_value_"),
    ("paddle.profiler.utils", "in_profiler_mode"),
    ("paddle.tensor.creation", "create_parameter"),
    ("paddle.utils.decorator_utils", "get_legacy_reduce_and_size_average"),
];

/// Paddle's symbolic debugger.
const DEBUGGER: &str = "paddle.jit.sot.psdb";

/// Values leave the graph.
const TO_HOST: &[&str] = &["item", "numpy", "tolist", "to_string", "set_printoptions", "is_empty"];

/// Exceptions from `API_MODULES`, with the reason.
const EAGER: &[(&str, &str, &str)] = &[
    ("paddle.tensor.creation", "create_global_var", "it makes state"),
    ("paddle.tensor.creation", "create_tensor", "it makes state"),
    ("paddle.tensor.creation", "set_", "it replaces the data of a tensor"),
    ("paddle.tensor.creation", "diag_embed", "its gradient differs"),
    ("paddle.tensor.linalg", "lstsq", "its results have other dtypes"),
    ("paddle.tensor.linalg", "matrix_rank", "its result has another dtype"),
    ("paddle.tensor.math", "gammainc", "eager checks the values of its arguments"),
    ("paddle.tensor.math", "gammaincc", "eager checks the values of its arguments"),
    ("paddle.tensor.linalg", "slogdet", "its result has another shape"),
    ("paddle.tensor.math", "increment", "it writes its argument"),
    ("paddle.text.viterbi_decode", "viterbi_decode", "its results have other dtypes"),
    ("paddle.tensor.layer_function_generator", "*", "it makes functions"),
    ("paddle.tensor.to_string", "*", "it prints"),
    ("paddle.tensor.array", "*", "it works on a list of tensors in place"),
    ("paddle.tensor.manipulation", "tensor_array_to_tensor", "it works on a list of tensors"),
];

/// What an optimizer does to tensors.
const OF_OPTIMIZERS: &[&str] = &[
    "append_regularization_ops",
    "apply_gradients",
    "backward",
    "clear_grad",
    "clear_gradients",
    "minimize",
    "set_state_dict",
    "state_dict",
    "step",
    "zero_grad",
];

/// Methods that run eagerly, as one break each: they write many tensors in place, and what they do is long and none of the program's.
/// By the package of their classes; classes that extend these inherit them.
const EAGER_METHODS: &[(&str, &[&str])] = &[
    ("paddle.amp.grad_scaler", &["load_state_dict", "state_dict", "unscale_"]),
    ("paddle.incubate.optimizer", OF_OPTIMIZERS),
    ("paddle.optimizer", OF_OPTIMIZERS),
];

/// Schedules of learning rates stand among the optimizers, and are ordinary Python.
const SCHEDULES: &str = "paddle.optimizer.lr";

/// Whether a method `name` of a class of `module` runs eagerly as a whole.
pub(crate) fn is_eager_method(module: &str, name: &str) -> bool {
    module != SCHEDULES
        && EAGER_METHODS.iter().any(|(package, names)| within(module, &[package]) && names.contains(&name))
}

/// Whether a name is that of an operation that writes its first argument.
pub(crate) fn in_place_name(name: &str) -> bool {
    name.ends_with('_') && !name.ends_with("__")
}

/// The verdict on `module.name`; `None` if it is not Paddle's.
pub(crate) fn function(module: &str, name: &str) -> Option<Verdict> {
    if !within(module, &["paddle"]) {
        return None;
    }
    let listed = |list: &[(&str, &str)]| list.iter().any(|(m, n)| *m == module && *n == name);
    if listed(FOLDABLE) {
        return Some(Verdict::Foldable);
    }
    if listed(SWITCHES) {
        return Some(Verdict::Switch);
    }
    if (module, name) == gradients::FUNCTION {
        return Some(Verdict::Api);
    }
    if listed(PYTHON) {
        return Some(Verdict::Python);
    }
    if module == DEBUGGER {
        return Some(match name {
            "assert_true" | "in_sot" => Verdict::Python,
            "breakgraph" => Verdict::Break(Why::new(Reason::BreakAsked, name)),
            "fallback" => Verdict::Break(Why::new(Reason::FallbackAsked, name)),
            _ => Verdict::Break(Why::new(Reason::Output, name)),
        });
    }
    if within(module, PYTHON_MODULES) {
        return Some(Verdict::Python);
    }
    if !within(module, API_MODULES) {
        return Some(Verdict::Break(Why::new(Reason::FrameworkFunction, format!("{module}.{name}"))));
    }
    if TO_HOST.contains(&name) {
        return Some(Verdict::Break(Why::new(Reason::TensorToHost, name)));
    }
    if in_place_name(name) && !written::is_known(name) {
        return Some(Verdict::Break(Why::new(Reason::InplaceTensor, name)));
    }
    if let Some((.., why)) = EAGER.iter().find(|(m, n, _)| *m == module && (*n == "*" || *n == name)) {
        return Some(Verdict::Break(Why::new(Reason::FrameworkFunction, format!("{name}: {why}"))));
    }
    Some(Verdict::Api)
}
