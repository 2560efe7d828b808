//! What eager allows of a graph's backward and Paddle's program node does not: going back twice.
//!
//! Paddle frees the variables of a call when its backward ran, also under `retain_graph=True`. So every
//! differentiable output carries a gradient hook of ours, which runs before the node does: under `retain_graph=True`
//! it copies the variables that the backward reads, and before a later backward it puts copies back. Whether the graph
//! is retained is read from the frame of Paddle's function that started the backward; if there is none, it is taken
//! to be. The hook dies with the node, and that tells the pool that the scope is nobody's again.
//!
//! The hook also has the gradients that the node leaves marked as eager's are, at the end of the backward
//! ([`crate::gradients`]).
//!
//! Second derivatives through a program node do not exist: `create_graph=True` is answered with one clear error. Where
//! they are likely, the graph is run by replay ([`second_derivatives_likely`]).

use crate::gradients::{self, Reserved};
use crate::handles::Handles;
use crate::recipe::{Argument, Recipe};
use pyo3::exceptions::PyNotImplementedError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyWeakrefReference};
use sot_core::cpython::module;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// Whether this process was seen to ask for gradients of gradients, or for gradients as values.
static ASKED_FOR: AtomicBool = AtomicBool::new(false);

/// Somebody wants gradients as values: from now on graphs that record gradients are not compiled.
pub(crate) fn note_second_derivatives() {
    ASKED_FOR.store(true, Ordering::Relaxed);
}

/// Why a graph that records gradients should not be compiled, if so. `leaf_input`: an input is a leaf that takes
/// gradients and is no parameter, as in gradient penalties and physics-informed training, where second derivatives are
/// the rule. `SOT_PADDLE_SECOND_ORDER=never` switches this caution off.
pub(crate) fn second_derivatives_likely(leaf_input: bool) -> Option<&'static str> {
    static NEVER: OnceLock<bool> = OnceLock::new();
    if *NEVER.get_or_init(|| std::env::var_os("SOT_PADDLE_SECOND_ORDER").is_some_and(|v| v == "never")) {
        None
    } else if ASKED_FOR.load(Ordering::Relaxed) {
        Some("this process takes gradients as values, and a graph has no second derivative")
    } else if leaf_input {
        Some("an input that is no parameter takes gradients, and a graph has no second derivative")
    } else {
        None
    }
}

/// One call whose gradients were recorded.
pub(crate) struct Call {
    scope: Py<PyAny>,
    /// Names of the variables that the backward reads.
    names: Arc<[String]>,
    retained: AtomicBool,
    /// Copies, by the variable's place in `names`; what was empty is not among them.
    saved: Mutex<Vec<(usize, Py<PyAny>)>>,
    /// Weak references to the leaves that get gradients.
    takers: Vec<Py<PyAny>>,
    /// Held for the takers.
    _reserved: Reserved,
    /// [`Finish`] will run at the end of the backward that runs now.
    finishing: AtomicBool,
}

/// The pool's look at a call.
pub(crate) struct Lent {
    pub(crate) scope: Py<PyList>,
    pub(crate) epoch: u64,
    call: Weak<Call>,
}

impl Lent {
    /// Whether the scope is nobody's again.
    pub(crate) fn is_free(&self, py: Python<'_>) -> PyResult<bool> {
        let done = self.scope.bind(py).get_item(0)?.getattr(intern!(py, "_can_reused"))?.is_truthy()?;
        Ok(done && self.call.upgrade().is_none_or(|call| !call.retained.load(Ordering::Relaxed)))
    }
}

/// The hook on an output. Called with the output's gradient, it changes nothing about it.
#[pyclass(frozen, module = "sot")]
struct BackwardHook(Arc<Call>);

#[pymethods]
impl BackwardHook {
    fn __call__(&self, py: Python<'_>, _gradient: Py<PyAny>) -> PyResult<()> {
        let request = Request::read(py)?;
        if request.create {
            note_second_derivatives();
            return Err(PyNotImplementedError::new_err(
                "second derivatives (create_graph=True) through a graph captured by sot; \
                 mark the differentiated function with sot.disable",
            ));
        }
        if !self.0.finishing.swap(true, Ordering::Relaxed) {
            let eager = module(py, "paddle.base.core")?.getattr(intern!(py, "eager"))?;
            eager.call_method1(intern!(py, "_add_backward_final_hook"), (Finish(self.0.clone()),))?;
        }
        self.0.prepare(py, request.retain)
    }
}

/// What Paddle calls when the backward is done, once.
#[pyclass(frozen, module = "sot")]
struct Finish(Arc<Call>);

#[pymethods]
impl Finish {
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        self.0.finishing.store(false, Ordering::Relaxed);
        for taker in &self.0.takers {
            let taker = taker.bind(py).call0()?;
            if !taker.is_none() {
                // What cannot be marked is a gradient all the same.
                let _ = gradients::mark(&taker);
            }
        }
        Ok(())
    }
}

/// How the running backward was asked for.
struct Request {
    retain: bool,
    create: bool,
}

impl Request {
    fn read(py: Python<'_>) -> PyResult<Request> {
        let mut frame = module(py, "sys")?.call_method0(intern!(py, "_getframe"))?;
        for _ in 0..16 {
            if frame.is_none() {
                break;
            }
            let locals = frame.getattr(intern!(py, "f_locals"))?;
            if locals.contains(intern!(py, "retain_graph"))? {
                let globals = frame.getattr(intern!(py, "f_globals"))?;
                let module = globals.cast::<PyDict>()?.get_item(intern!(py, "__name__"))?;
                if module.is_some_and(|m| m.extract::<&str>().is_ok_and(|m| m.starts_with("paddle."))) {
                    let flag =
                        |name| -> PyResult<bool> { Ok(locals.contains(name)? && locals.get_item(name)?.is_truthy()?) };
                    let create = flag("create_graph")?;
                    return Ok(Request { retain: create || flag("retain_graph")?, create });
                }
            }
            frame = frame.getattr(intern!(py, "f_back"))?;
        }
        Ok(Request { retain: true, create: false })
    }
}

impl Call {
    /// Before the node runs: copy what it reads if it is to run again, put copies back if it ran before.
    fn prepare(&self, py: Python<'_>, retain: bool) -> PyResult<()> {
        let scope = self.scope.bind(py);
        let can_reused = intern!(py, "_can_reused");
        let mut saved = self.saved.lock().unwrap_or_else(|e| e.into_inner());
        if scope.getattr(can_reused)?.is_truthy()? {
            for (at, copy) in saved.iter() {
                let fresh = duplicate(copy.bind(py))?;
                tensor(scope, &self.names[*at])?.call_method1(intern!(py, "_share_data_with"), (fresh,))?;
            }
            // The other outputs' hooks of this backward find the variables in place.
            scope.setattr(can_reused, false)?;
        } else if retain && saved.is_empty() {
            for (at, name) in self.names.iter().enumerate() {
                let variable = tensor(scope, name)?;
                if variable.call_method0(intern!(py, "_is_initialized"))?.is_truthy()? {
                    saved.push((at, duplicate(&variable)?.unbind()));
                }
            }
            self.retained.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn tensor<'py>(scope: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = scope.py();
    scope.call_method1(intern!(py, "var"), (name,))?.call_method0(intern!(py, "get_tensor"))
}

/// A copy in memory of its own.
fn duplicate<'py>(tensor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = tensor.py();
    tensor.call_method1(intern!(py, "_copy"), (tensor.call_method0(intern!(py, "_place"))?,))
}

/// Watch over the backward of a call that returned `outputs`.
pub(crate) fn watch(
    py: Python<'_>,
    handles: &Handles,
    scope: &Bound<'_, PyList>,
    epoch: u64,
    recipe: &Recipe,
    inputs: &[Borrowed<'_, '_, PyAny>],
    outputs: &Bound<'_, PyList>,
) -> PyResult<Lent> {
    let mut takers = Vec::with_capacity(recipe.inputs.len());
    for argument in &recipe.inputs {
        let taker = match argument {
            Argument::Input(i) => inputs[*i].to_owned(),
            Argument::Tensor(t) => t.bind(py).clone(),
        };
        if taker.getattr(intern!(py, "is_leaf"))?.is_truthy()? {
            takers.push(PyWeakrefReference::new(&taker)?.into_any().unbind());
        }
    }
    let call = Arc::new(Call {
        scope: scope.get_item(0)?.unbind(),
        names: recipe.backward_reads.clone(),
        _reserved: Reserved::new(py, handles, takers.len())?,
        takers,
        finishing: AtomicBool::new(false),
        retained: AtomicBool::new(false),
        saved: Mutex::new(Vec::new()),
    });
    for output in outputs.iter() {
        if !output.getattr(intern!(py, "stop_gradient"))?.is_truthy()? {
            output.call_method1(intern!(py, "_register_grad_hook"), (BackwardHook(call.clone()),))?;
        }
    }
    Ok(Lent { scope: scope.clone().unbind(), epoch, call: Arc::downgrade(&call) })
}
