//! What a run of a program changes beside giving outputs: the random stream and running statistics.
//!
//! A run that fails may have drawn numbers and moved statistics before; then the original frame does it again. So a graph
//! that has such operations takes the state down first: about 2 us for the random stream and for each statistic.

use crate::alias::Memory;
use crate::gradients;
use crate::grown::Grown;
use crate::handles::Handles;
use crate::parameters_made::MakesParameters;
use crate::prune::{self, LiveOp};
use crate::recipe::Argument;
use hashbrown::{HashMap, HashSet};
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sot_core::backend::Effects;
use sot_core::cpython::module;
use std::sync::Arc;

/// The state behind a graph.
pub(crate) struct State {
    /// The generators of the places where the graph draws numbers.
    generators: Vec<Py<PyAny>>,
    /// Tensors that are written.
    written: Vec<Argument>,
    /// What makes parameters, if the graph makes any.
    makes: Option<Arc<Handles>>,
    /// Whether the graph asks for gradients. What an input was computed from may have hooks of the program on the way, and may have a part in
    /// the gradients: then the frame itself asks.
    asks: bool,
}

/// What the effects of a program are.
pub(crate) enum Found {
    Nothing,
    State(State),
    /// Compiled, the graph would write something else than eager does.
    OnlyReplay(State, String),
}

fn flag(attributes: &Bound<'_, PyDict>, name: &str) -> PyResult<bool> {
    attributes.get_item(name)?.map_or(Ok(false), |v| v.is_truthy())
}

/// Whether an operation that could change something does so with its attributes.
fn changes(op: &Bound<'_, PyAny>) -> PyResult<bool> {
    let attributes = op.call_method0(intern!(op.py(), "attrs"))?.cast_into::<PyDict>()?;
    let test = flag(&attributes, "is_test")? && !flag(&attributes, "trainable_statistics")?;
    Ok(!test && !flag(&attributes, "use_global_stats")?)
}

/// Look for effects among the live operations. `sources`: what stands behind the values that the program reads.
pub(crate) fn of(py: Python<'_>, grown: &Grown, live: &[LiveOp], sources: &HashMap<i64, Argument>) -> PyResult<Found> {
    let (handles, place) = (&*grown.handles, &*grown.place);
    let mut state = State { generators: Vec::new(), written: Vec::new(), makes: None, asks: grown.asks };
    if !grown.made.is_empty() {
        state.makes = Some(grown.handles.clone());
    }
    if grown.draws {
        state.generators = generators(py, handles, place)?;
    }
    let mut only_replay = None;
    let mut memory = None;
    let mut seen = HashSet::new();
    for live_op in live {
        let op = live_op.op.bind(py);
        if prune::is_random(&live_op.name) && changes(op)? {
            if state.generators.is_empty() {
                state.generators = generators(py, handles, place)?;
            }
        } else if live_op.name.ends_with("batch_norm_") && changes(op)? {
            let written = handles.pir.bind(py).getattr(intern!(py, "get_op_inplace_info"))?.call1((op,))?;
            for index in written.cast::<PyDict>()?.values().iter() {
                let Some(operand) = live_op.operands.get(index.extract::<usize>()?) else { continue };
                let owner = memory.get_or_insert_with(|| Memory::of(live)).owner(*operand);
                let Some(source) = sources.get(&owner) else { continue };
                if owner != *operand {
                    only_replay = Some(format!("{} writes a view", live_op.name));
                }
                if seen.insert(owner) {
                    state.written.push(source.clone_ref(py));
                }
            }
        }
    }
    Ok(match only_replay {
        Some(why) => Found::OnlyReplay(state, why),
        None if state.generators.is_empty() && state.written.is_empty() && !state.asks => Found::Nothing,
        None => Found::State(state),
    })
}

/// The host's generator, and the device's if operations run on one.
fn generators(py: Python<'_>, handles: &Handles, place: &str) -> PyResult<Vec<Py<PyAny>>> {
    let core = handles.core.bind(py);
    let mut found = vec![core.call_method0("default_cpu_generator")?.unbind()];
    if let Some((kind, number)) = place.split_once(':')
        && let Ok(number) = number.parse::<i64>()
    {
        let name = if kind == "gpu" { "default_cuda_generator" } else { "default_xpu_generator" };
        found.push(core.call_method1(name, (number,))?.unbind());
    }
    Ok(found)
}

impl State {
    fn makes(&self) -> Option<&MakesParameters> {
        self.makes.as_ref()?.parameters.as_ref()
    }

    /// The storages of the written tensors.
    fn storages<'py>(
        &self,
        py: Python<'py>,
        inputs: &[Borrowed<'_, 'py, PyAny>],
    ) -> impl Iterator<Item = PyResult<Bound<'py, PyAny>>> {
        let tensor = move |argument: &Argument| match argument {
            Argument::Input(i) => inputs[*i].to_owned(),
            Argument::Tensor(t) => t.bind(py).clone(),
        };
        self.written.iter().map(tensor).map(move |t| t.call_method0(intern!(py, "get_tensor")))
    }
}

impl Effects for State {
    fn save<'py>(&self, py: Python<'py>, inputs: &[Borrowed<'_, 'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
        if self.asks {
            for input in inputs {
                if gradients::has_history(input)? {
                    return Err(PyRuntimeError::new_err("gradients are asked for of what an input was computed from"));
                }
            }
        }
        let saved = PyList::empty(py);
        for generator in &self.generators {
            saved.append(generator.bind(py).call_method0(intern!(py, "get_state"))?)?;
        }
        if let Some(makes) = self.makes() {
            saved.append(makes.begun(py)?)?;
        }
        for storage in self.storages(py, inputs) {
            let storage = storage?;
            saved
                .append(storage.call_method1(intern!(py, "_copy"), (storage.call_method0(intern!(py, "_place"))?,))?)?;
        }
        Ok(saved.into_any())
    }

    fn restore<'py>(
        &self,
        py: Python<'py>,
        inputs: &[Borrowed<'_, 'py, PyAny>],
        saved: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let mut saved = saved.cast::<PyList>()?.iter();
        for (generator, state) in self.generators.iter().zip(saved.by_ref()) {
            generator.bind(py).call_method1(intern!(py, "set_state"), (state,))?;
        }
        if let Some(makes) = self.makes()
            && let Some(log) = saved.next()
        {
            makes.taken_back(&log)?;
        }
        for (storage, copy) in self.storages(py, inputs).zip(saved) {
            let storage = storage?;
            let place = storage.call_method0(intern!(py, "_place"))?;
            storage.call_method1(intern!(py, "_copy_from"), (copy, place))?;
        }
        Ok(())
    }

    fn same<'py>(&self, a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> PyResult<bool> {
        let (a, b) = (a.cast::<PyList>()?, b.cast::<PyList>()?);
        for (i, (a, b)) in a.iter().zip(b.iter()).enumerate() {
            if self.makes.is_some() && i == self.generators.len() {
                // Such a graph has no other form to compare with.
                continue;
            }
            let same = if i < self.generators.len() { stream(&a)? == stream(&b)? } else { bits(&a)?.eq(bits(&b)?)? };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        for argument in &self.written {
            if let Argument::Tensor(t) = argument {
                visit(t);
            }
        }
    }
}

/// The text of a generator's state, without the address in it.
fn stream(state: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = state.str()?.to_string();
    Ok(text.split(' ').filter(|part| !part.starts_with("0x")).collect::<Vec<_>>().join(" "))
}

/// The numbers of a storage as bytes.
fn bits<'py>(storage: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = storage.py();
    module(py, "numpy")?.call_method1(intern!(py, "asarray"), (storage,))?.call_method0(intern!(py, "tobytes"))
}
