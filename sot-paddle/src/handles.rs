//! The objects of Paddle that the backend works with, looked up once per process.
//!
//! Everything here is reached by public or semi-public Python names, so a Paddle release that moves one is a clear
//! error at start-up (`PaddleBackend::new`), not a wrong graph later. What has moved is in [`releases`].

use crate::amp_accessors::Accessors;
use crate::number_parameters::NumberParameters;
use crate::parameters_made::MakesParameters;
use crate::releases;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyType};
use sot_core::cpython::cxx_tensor::ThreadFlag;
use std::ffi::CString;

/// Paddle's modules, classes and entry points.
pub(crate) struct Handles {
    /// `paddle`
    pub(crate) paddle: Py<PyModule>,
    /// `paddle.Tensor`
    pub(crate) tensor: Py<PyType>,
    /// `paddle.base.framework.EagerParamBase`
    pub(crate) parameter: Py<PyType>,
    /// `paddle.pir.Value`
    pub(crate) value: Py<PyType>,
    /// `paddle.nn.Layer`
    pub(crate) layer: Py<PyType>,
    /// `paddle.dtype`
    pub(crate) dtype: Py<PyType>,
    /// Whether tensors give one object for a dtype, that of `paddle.float32`; before Paddle 3.3 each read gives a new one.
    pub(crate) one_dtype: bool,
    /// `paddle.base.framework`
    pub(crate) framework: Py<PyModule>,
    /// The thread-local state object of the framework: `framework.global_var`.
    pub(crate) global_var: Py<PyAny>,
    /// `paddle.base.core`
    pub(crate) core: Py<PyModule>,
    /// The native module of PIR: `paddle.base.libpaddle.pir`.
    pub(crate) pir: Py<PyModule>,
    /// `paddle.pir.core`
    pub(crate) pir_core: Py<PyModule>,
    /// `paddle._pir_ops`, `paddle._C_ops`
    pub(crate) c_ops: Py<PyModule>,
    pub(crate) pir_ops: Py<PyModule>,
    pub(crate) traceback: Py<PyModule>,
    /// The process-wide recorder of eager tensors met while a program is built: `params_dict`, `tensor2value`.
    pub(crate) recorder_sets: Py<PyDict>,
    pub(crate) recorder_values: Py<PyDict>,
    /// `paddle.static.Program`
    pub(crate) program: Py<PyAny>,
    /// `core.Place()`: "wherever the data is".
    pub(crate) any_place: Py<PyAny>,
    /// `paddle.pir.core._convert_into_value`: the hook that turns an eager argument into a value of the program.
    pub(crate) convert: Py<PyAny>,
    /// What reads and sets whether this thread records gradients.
    pub(crate) has_grad: Py<PyAny>,
    pub(crate) set_has_grad: Py<PyAny>,
    grad_flag: PyOnceLock<Option<ThreadFlag>>,
    pub(crate) number_parameters: NumberParameters,
    /// What makes parameters, where this release makes them as those that are known.
    pub(crate) parameters: Option<MakesParameters>,
    /// What reads and writes the state of amp, where it is as in the releases that are known.
    pub(crate) amp: Option<Accessors>,
    /// The stack of the program that is shown to Paddle while it builds.
    pub(crate) stack: Py<PyList>,
}

impl Handles {
    pub(crate) fn load(py: Python<'_>) -> PyResult<Handles> {
        let paddle = py.import("paddle")?;
        let framework = py.import("paddle.base.framework")?;
        let core = py.import("paddle.base.core")?;
        let pir = py.import("paddle.base.libpaddle")?.getattr("pir")?.cast_into::<PyModule>()?;
        let pir_core = py.import("paddle.pir.core")?;
        let recorder = releases::RECORDER.find(py)?;
        let scalar = paddle.call_method1("zeros", ([0i64; 0], "float32"))?;
        let one_dtype = scalar.getattr("dtype")?.is(&scalar.getattr("dtype")?);
        Ok(Handles {
            one_dtype,
            tensor: class(&paddle, "Tensor")?,
            parameter: class(&framework, "EagerParamBase")?,
            value: class(&pir, "Value")?,
            layer: class(&py.import("paddle.nn")?, "Layer")?,
            dtype: class(&paddle, "dtype")?,
            global_var: framework.getattr("global_var")?.unbind(),
            c_ops: py.import("paddle._C_ops")?.unbind(),
            pir_ops: py.import("paddle._pir_ops")?.unbind(),
            traceback: py.import("traceback")?.unbind(),
            recorder_sets: recorder.getattr("params_dict")?.cast_into::<PyDict>()?.unbind(),
            recorder_values: recorder.getattr("tensor2value")?.cast_into::<PyDict>()?.unbind(),
            program: py.import("paddle.static")?.getattr("Program")?.unbind(),
            any_place: core.getattr("Place")?.call0()?.unbind(),
            convert: pir_core.getattr("_convert_into_value")?.unbind(),
            has_grad: core.getattr("_has_grad")?.unbind(),
            set_has_grad: core.getattr("_set_has_grad")?.unbind(),
            grad_flag: PyOnceLock::new(),
            number_parameters: NumberParameters::default(),
            parameters: MakesParameters::find(py).ok(),
            amp: Accessors::find(&core).ok(),
            stack: PyList::empty(py).unbind(),
            paddle: paddle.unbind(),
            framework: framework.unbind(),
            core: core.unbind(),
            pir: pir.unbind(),
            pir_core: pir_core.unbind(),
        })
    }

    pub(crate) fn is_tensor(&self, obj: &Bound<'_, PyAny>) -> bool {
        let ty = obj.get_type();
        ty.is(&self.tensor) || ty.is(&self.parameter) || obj.is_instance(self.tensor.bind(obj.py())).unwrap_or(false)
    }

    pub(crate) fn is_value(&self, obj: &Bound<'_, PyAny>) -> bool {
        obj.get_type().is(&self.value)
    }

    /// What `has_grad` reads, where Paddle's library exports it and both say the same of either state.
    pub(crate) fn grad_flag(&self, py: Python<'_>) -> Option<ThreadFlag> {
        let find = || {
            let library = py.import("paddle.base.libpaddle").ok()?.getattr("__file__").ok()?;
            let library = CString::new(library.extract::<String>().ok()?).ok()?;
            let tracer = c"_ZN6paddle10imperative16GetCurrentTracerEv";
            let has_grad = c"_ZNK6paddle10imperative6Tracer7HasGradEv";
            ThreadFlag::new(&library, tracer, has_grad, |flag| self.follows(py, flag).unwrap_or(false))
        };
        *self.grad_flag.get_or_init(py, find)
    }

    /// Whether a flag is what is set and read in Python.
    fn follows(&self, py: Python<'_>, flag: ThreadFlag) -> PyResult<bool> {
        let read = || self.has_grad.bind(py).call0()?.is_truthy();
        let before = read()?;
        let is_told = |state: bool| -> PyResult<bool> {
            self.set_has_grad.bind(py).call1((state,))?;
            Ok(flag.get() == Some(state) && read()? == state)
        };
        let other = is_told(!before);
        // As it was, whatever came of that.
        Ok(is_told(before)? && other?)
    }

    /// Whether eager mode is on in this thread.
    pub(crate) fn in_dygraph(&self, py: Python<'_>) -> bool {
        self.global_var.bind(py).getattr(intern!(py, "_dygraph_tracer_")).is_ok_and(|t| !t.is_none())
    }
}

fn class(module: &Bound<'_, PyModule>, name: &str) -> PyResult<Py<PyType>> {
    Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind())
}

/// The identity of a symbolic value: pybind makes a new wrapper at each read, and `==` would append an operation.
pub(crate) fn value_id(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    value.call_method0(intern!(value.py(), "hash"))?.extract()
}
