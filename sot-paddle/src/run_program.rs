//! A closed program that runs.
//!
//! A scope holds the variables of one call, and is free again when that returns. So a call takes a free scope or makes one; it is
//! taken out of the pool while the call runs, because Paddle releases the GIL there. Each scope has an executor of its own, made in
//! its first run. No program records gradients: such graphs are replayed ([`crate::program`]).

use crate::compare;
use crate::executors::{self, Owned};
use crate::handles::Handles;
use crate::quiet::Quiet;
use crate::recipe::{Argument, Recipe};
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList};
use smallvec::SmallVec;
use sot_core::backend::CompiledGraph;
use sot_core::cpython::cxx_tensor::DirectGetter;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Where a result of a call comes from.
pub(crate) enum Result {
    Input(usize),
    Tensor(Py<PyAny>),
    Computed(usize),
}

/// Scopes of a program, each in the one-element list that `run_program` takes.
#[derive(Default)]
struct Scopes {
    free: Vec<Free>,
    /// Their executors.
    owned: Owned,
}

/// A scope that no call uses, with the epoch of its executor.
struct Free {
    scope: Py<PyList>,
    epoch: u64,
}

pub(crate) struct Program {
    running: Option<Running>,
    results: Vec<Result>,
    text: String,
}

struct Running {
    handles: Arc<Handles>,
    recipe: Recipe,
    run_program: Py<PyAny>,
    new_scope: Py<PyAny>,
    cuda_graph: Py<PyDict>,
    flags: Py<PyAny>,
    scopes: Mutex<Scopes>,
    stop_gradient: Option<DirectGetter>,
    /// For each computed output, once eager has shown it.
    made: Vec<OnceLock<Made>>,
    /// `Tensor.__new__`: one that has nothing yet, not even a name.
    new_tensor: Py<PyAny>,
    /// A tensor that nobody else knows.
    allocated: PyOnceLock<Py<PyAny>>,
}

/// How eager comes by an output, as far as a program can see it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    /// By an operation. It gets a name when it is asked for it.
    Computed,
    /// Its `stop_gradient` was set, as creation functions do; that leaves a node for gradients behind.
    Created,
    /// By `detach()`, which gives a name at once, of another kind.
    Detached,
}

impl Program {
    pub(crate) fn new(
        py: Python<'_>,
        handles: &Arc<Handles>,
        recipe: Recipe,
        results: Vec<Result>,
        text: String,
    ) -> PyResult<Program> {
        let cuda_graph = PyDict::new(py);
        cuda_graph.set_item("cuda_graph_state", 0)?;
        cuda_graph.set_item("cuda_graph_dispatch_key", 0)?;
        let core = handles.core.bind(py);
        Ok(Program {
            running: Some(Running {
                handles: handles.clone(),
                new_tensor: handles.tensor.bind(py).getattr("__new__")?.unbind(),
                allocated: PyOnceLock::new(),
                made: (0..recipe.outputs).map(|_| OnceLock::new()).collect(),
                run_program: handles.c_ops.bind(py).getattr("run_program")?.unbind(),
                new_scope: core.getattr("Scope")?.unbind(),
                flags: core.call_method0("globals")?.unbind(),
                recipe,
                cuda_graph: cuda_graph.unbind(),
                scopes: Mutex::default(),
                stop_gradient: DirectGetter::new(handles.tensor.bind(py), c"stop_gradient"),
            }),
            results,
            text,
        })
    }

    /// A program without operations.
    pub(crate) fn identity(results: Vec<Result>, text: String) -> Program {
        Program { running: None, results, text }
    }
}

impl Running {
    fn lock(&self) -> std::sync::MutexGuard<'_, Scopes> {
        self.scopes.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A scope that no live call uses, and whether it is new.
    fn take_scope<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyList>, bool)> {
        let mut scopes = self.lock();
        while let Some(free) = scopes.free.pop() {
            if free.epoch == executors::epoch() {
                return Ok((free.scope.into_bound(py), false));
            }
        }
        drop(scopes);
        Ok((PyList::new(py, [self.new_scope.bind(py).call0()?])?, true))
    }

    fn arguments<'py>(
        py: Python<'py>,
        which: &[Argument],
        inputs: &[Borrowed<'_, 'py, PyAny>],
    ) -> PyResult<Bound<'py, PyAny>> {
        if which.is_empty() {
            return Ok(py.None().into_bound(py));
        }
        let list = PyList::new(
            py,
            which.iter().map(|a| match a {
                Argument::Input(i) => inputs[*i].to_owned(),
                Argument::Tensor(t) => t.bind(py).clone(),
            }),
        )?;
        Ok(list.into_any())
    }

    /// Whether no parameter was frozen or thawed since the graph was built: that changes no dict, so no guard on a
    /// layer's state sees it.
    fn check_held(&self, py: Python<'_>) -> PyResult<()> {
        for (tensor, expected) in &self.recipe.held {
            let tensor = tensor.bind(py);
            let stops = match &self.stop_gradient {
                Some(getter) => getter.truth(tensor.as_borrowed()),
                None => Some(tensor.getattr(intern!(py, "stop_gradient"))?.is_truthy()?),
            };
            if stops != Some(*expected) {
                return Err(PyRuntimeError::new_err("stop_gradient of a parameter changed since the graph was built"));
            }
        }
        Ok(())
    }

    /// Tensors as eager would have made them, of the outputs' memory. An output itself has a name and a node that eager's has not, and
    /// counts its in-place writes together with all outputs that its place in the scope has given and will give.
    fn as_eager_has_them<'py>(
        &self,
        py: Python<'py>,
        outputs: &Bound<'py, PyList>,
    ) -> PyResult<SmallVec<[Bound<'py, PyAny>; 4]>> {
        let class = self.handles.tensor.bind(py);
        let allocated = self.allocated.get_or_try_init(py, || -> PyResult<Py<PyAny>> {
            let paddle = self.handles.paddle.bind(py);
            let (dtype, place) = (paddle.getattr("float32")?, paddle.getattr("CPUPlace")?.call0()?);
            let full = self.handles.c_ops.bind(py).getattr("full")?;
            Ok(full.call1((PyList::new(py, [1])?, 0.0, dtype, place))?.unbind())
        })?;
        let mut made = SmallVec::with_capacity(self.made.len());
        for (i, how) in self.made.iter().enumerate() {
            let tensor = self.new_tensor.bind(py).call1((class,))?;
            // Of what is not allocated, as an empty tensor, nothing would come.
            allocated.bind(py).call_method1(intern!(py, "_share_buffer_to"), (&tensor,))?;
            let get = intern!(py, "get_tensor");
            let dense = tensor.call_method0(get)?;
            dense.call_method1(intern!(py, "_share_data_with"), (outputs.get_item(i)?.call_method0(get)?,))?;
            made.push(match how.get() {
                Some(Made::Detached) => tensor.call_method0(intern!(py, "detach"))?,
                Some(Made::Created) => {
                    tensor.setattr(intern!(py, "stop_gradient"), true)?;
                    tensor
                }
                Some(Made::Computed) | None => tensor,
            });
        }
        Ok(made)
    }

    /// See from eager's output how it was made; ours is made so, too, from now on. Gives what cannot be set right.
    fn learn(&self, at: usize, ours: &Bound<'_, PyAny>, theirs: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
        let py = ours.py();
        if self.made[at].get().is_some() {
            return Ok(None);
        }
        let name: String = theirs.getattr(intern!(py, "name"))?.extract()?;
        // Asked once: Paddle 3.3.1 leaks each node that it shows.
        let created =
            theirs.getattr(intern!(py, "is_leaf"))?.is_truthy()? && !theirs.getattr(intern!(py, "grad_fn"))?.is_none();
        let made = match (created, name.starts_with("eager_in_tmp")) {
            (true, _) => Made::Created,
            (false, true) => Made::Detached,
            (false, false) => Made::Computed,
        };
        let _ = self.made[at].set(made);
        if created {
            ours.setattr(intern!(py, "stop_gradient"), true)?;
            // `to_tensor` gives names at once, from a counter of its own.
            if name.starts_with("generated_tensor") {
                return Ok(Some("the name"));
            }
        }
        Ok(None)
    }

    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: &[Borrowed<'_, 'py, PyAny>],
    ) -> PyResult<SmallVec<[Bound<'py, PyAny>; 4]>> {
        self.check_held(py)?;
        let arguments = Self::arguments(py, &self.recipe.arguments, inputs)?;
        let (scope, new) = self.take_scope(py)?;
        if new {
            executors::clear(py, &self.handles, false)?;
        }
        let epoch = executors::epoch();
        let running = executors::Run::start();
        let start = Instant::now();
        let quiet = new.then(|| Quiet::begin(py, &self.handles));
        let making = new.then(|| MakingExecutor::enter(py, &self.flags, self.recipe.keep_intermediates)).transpose()?;
        let out =
            self.run_program.bind(py).call1((py.None(), arguments, &scope, &self.recipe.attributes, &self.cuda_graph));
        drop(making);
        drop(quiet);
        drop(running);
        if new {
            self.lock().owned.made(self.recipe.operations, start.elapsed().as_nanos() as u64);
        }
        // A failed call may have left variables behind: its scope is not used again.
        let out = out?.cast_into::<PyList>()?;
        let made = self.as_eager_has_them(py, &out)?;
        self.lock().free.push(Free { scope: scope.unbind(), epoch });
        Ok(made)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.lock().owned.orphan();
    }
}

/// Flags that hold while an executor is made, and by that for its life.
struct MakingExecutor<'a, 'py> {
    py: Python<'py>,
    flags: &'a Py<PyAny>,
    before: Vec<(&'static str, Bound<'py, PyAny>)>,
}

/// Off (-1): dead tensors are not handed to a worker thread during runs.
const GC_FLAG: &str = "FLAGS_eager_delete_tensor_gb";
/// Off: Paddle 3.3.1's pass lets an operation write into an *output* of the program that it is the last to read. It was seen to with
/// gradients, which no program has any more; without them nobody has looked.
const INPLACE_FLAG: &str = "FLAGS_pir_apply_inplace_pass";

impl<'a, 'py> MakingExecutor<'a, 'py> {
    fn enter(py: Python<'py>, flags: &'a Py<PyAny>, keep_intermediates: bool) -> PyResult<MakingExecutor<'a, 'py>> {
        let mut making = MakingExecutor { py, flags, before: Vec::with_capacity(2) };
        making.set(INPLACE_FLAG, false.into_pyobject(py)?.to_owned().into_any())?;
        if keep_intermediates {
            making.set(GC_FLAG, (-1.0_f64).into_pyobject(py)?.into_any())?;
        }
        Ok(making)
    }

    fn set(&mut self, name: &'static str, value: Bound<'py, PyAny>) -> PyResult<()> {
        let flags = self.flags.bind(self.py);
        let before = flags.get_item(name)?;
        flags.set_item(name, value)?;
        self.before.push((name, before));
        Ok(())
    }
}

impl Drop for MakingExecutor<'_, '_> {
    fn drop(&mut self) {
        for (name, before) in &self.before {
            // The value came from there, so it is accepted.
            let _ = self.flags.bind(self.py).set_item(*name, before);
        }
    }
}

impl CompiledGraph for Program {
    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: &[Borrowed<'_, 'py, PyAny>],
    ) -> PyResult<SmallVec<[Bound<'py, PyAny>; 4]>> {
        let computed = match &self.running {
            Some(running) => Some(running.run(py, inputs)?),
            None => None,
        };
        let mut out = SmallVec::with_capacity(self.results.len());
        for result in &self.results {
            out.push(match (result, &computed) {
                (Result::Input(i), _) => inputs[*i].to_owned(),
                (Result::Tensor(t), _) => t.bind(py).clone(),
                (Result::Computed(i), Some(made)) => made[*i].clone(),
                (Result::Computed(_), None) => {
                    return Err(PyRuntimeError::new_err("nothing was computed"));
                }
            });
        }
        Ok(out)
    }

    fn difference<'py>(
        &self,
        _py: Python<'py>,
        compiled: &[Bound<'py, PyAny>],
        eager: &[Bound<'py, PyAny>],
    ) -> PyResult<Option<String>> {
        for (i, (ours, theirs)) in compiled.iter().zip(eager).enumerate() {
            if let (Result::Computed(at), Some(running)) = (&self.results[i], &self.running)
                && let Some(what) = running.learn(*at, ours, theirs)?
            {
                return Ok(Some(format!("{what} of output {i}")));
            }
            if let Some(what) = compare::difference(ours, theirs)? {
                return Ok(Some(format!("{what} of output {i}")));
            }
        }
        Ok(None)
    }

    fn making_takes(&self) -> Duration {
        self.running.as_ref().map_or(Duration::ZERO, |running| executors::making_takes(running.recipe.operations))
    }

    fn retire(&self, _py: Python<'_>) {
        if let Some(running) = &self.running {
            let mut scopes = running.lock();
            scopes.owned.orphan();
            let free = std::mem::take(&mut scopes.free);
            drop(scopes);
            drop(free);
        }
    }

    fn text(&self, _py: Python<'_>) -> String {
        self.text.clone()
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        let tensors = self.results.iter().filter_map(|r| match r {
            Result::Tensor(t) => Some(t),
            Result::Input(_) | Result::Computed(_) => None,
        });
        tensors.for_each(&mut *visit);
        if let Some(running) = &self.running {
            for argument in &running.recipe.arguments {
                if let Argument::Tensor(t) = argument {
                    visit(t);
                }
            }
        }
    }
}
