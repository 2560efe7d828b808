//! The first door: the body of the native callable that `to_static` makes.
//!
//! It gets bound arguments, so that a hit costs no Python frame but that of the rewritten code. Whatever stands in the
//! way (a capture in progress, a debugger, other code under the same function) means that the original code runs.

use super::cache::Entry;
use super::driver::{drive, run_entry};
use super::lookup::{entry_for, inside_capture, time_of_a_look};
use super::origin::{Origin, call_original};
use super::recording;
use super::share::Share;
use super::trial::{Server, Turn, Unguarded};
use super::verified;
use crate::backend::function_name;
use crate::capture::Subject;
use crate::cpython::entry::{EntryBody, attribute_of_class, entry_parts};
use crate::cpython::trampoline::trampoline;
use crate::cpython::{Slots, facts, thread};
use crate::graph_trial::standing_for;
use crate::marks::InputSpec;
use crate::settings;
use crate::stats::STATS;
use crate::stop::Reason;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDictMethods, PyString};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// `to_static`, as the module has it.
pub static MAKER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
/// What makes the entry that lies in a layer, of the method of its class.
pub static MAKER_IN_LAYERS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// `full_graph=True`: a break is the user's error.
fn require_full_graph(entry: Option<&Entry>) -> PyResult<()> {
    let Some(entry) = entry else {
        return Err(PyRuntimeError::new_err(format!(
            "full_graph=True, but the function was not captured: `{}(function, ..)` says why. Or use full_graph=False",
            function_name("explain")
        )));
    };
    match entry.report.breaks.first() {
        None => Ok(()),
        Some(b) => Err(PyRuntimeError::new_err(format!(
            "full_graph=True, but the graph breaks at {}:{} in {}(): {}. Rewrite that line, or use full_graph=False",
            b.file, b.line, b.function, b.why
        ))),
    }
}

/// What `to_static` was asked for.
#[derive(Clone, Default)]
pub struct Options {
    pub full_graph: bool,
    pub spec: Option<Arc<InputSpec>>,
}

/// The body of a `to_static` callable.
pub struct FunctionEntry {
    /// What was captured of its function. All wrappers of that share it.
    of: Share,
    /// A break or fallback is an error for the user (`full_graph=True`).
    full_graph: bool,
    /// What the arguments are to be.
    spec: Option<Arc<InputSpec>>,
}

impl FunctionEntry {
    /// `in_layer`: it is to lie in its receiver. An error: it is no function.
    pub fn new(
        function: &Bound<'_, PyAny>,
        receiver: Option<&Bound<'_, PyAny>>,
        options: Options,
        in_layer: bool,
    ) -> PyResult<FunctionEntry> {
        let Options { full_graph, spec } = options;
        Ok(FunctionEntry { of: Share::in_function(function, receiver, in_layer)?, full_graph, spec })
    }
}

impl FunctionEntry {
    /// `input_spec`, as it was given.
    fn spec_given<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.spec.as_ref().map_or_else(|| py.None().into_bound(py), |spec| spec.given(py))
    }
}

impl EntryBody for FunctionEntry {
    fn enter<'py>(&self, py: Python<'py>, func: &Bound<'py, PyAny>, slots: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let same_code = facts::func_parts(func).is_some_and(|parts| parts.code.is(&self.of.code));
        if inside_capture() || !same_code {
            return call_original(py, func, slots);
        }
        if thread::tracing_active(py) {
            STATS.note(Reason::Tracing);
            return call_original(py, func, slots);
        }
        let asks = self.full_graph || self.spec.is_some();
        if !asks && !recording::recording() && self.of.cache.unguarded.take() {
            STATS.add(&STATS.hits);
            STATS.add(&STATS.unguarded);
            return call_original(py, func, slots);
        }
        let hook = &self.of.hook;
        let spec = self.spec.as_ref().map(|spec| (spec, self.of.slots_before()));
        if let Some((spec, first)) = spec {
            spec.check(py, func, slots, first)?;
        }
        let subject = Subject::Function { function: func, in_frames: false, spec };
        let entry = entry_for(py, &self.of.cache, &subject, slots).ok();
        if self.full_graph {
            require_full_graph(entry.as_deref())?;
        }
        let origin = Origin::Function { function: func, slots };
        let turn = match &entry {
            Some(entry) if entry.broken.load(Ordering::Relaxed) => Turn::settled(Server::Original),
            Some(entry) if settings::captures_by_measurement() => entry.turn(),
            _ => Turn::settled(Server::Captured),
        };
        // With `full_graph` each call must say whether its graph breaks.
        if let Some(entry) = entry.as_ref().filter(|_| settings::captures_by_measurement() && !turn.timed) {
            let free = self.of.cache.frees_the_next(entry) && !self.full_graph;
            if free {
                self.of.cache.unguarded.grant();
            }
            entry.is_served(turn.server, if free { Unguarded::CALLS } else { 0 });
        }
        let look = (turn.timed && turn.server == Server::Original)
            .then(|| time_of_a_look(py, &self.of.cache, &subject, slots));
        let start = turn.timed.then(Instant::now);
        let result = match turn.server {
            Server::Captured => {
                // Once it has begun, the original code can no longer run in its place.
                let run = || {
                    let stands_for = entry.as_ref().map_or(1, |entry| entry.stands_for());
                    standing_for(stands_for, || drive(py, hook, None, run_entry(py, hook, entry.as_deref(), origin)))
                };
                let beside = entry.as_ref().and_then(|entry| verified::begin(py, func, &subject, slots, entry));
                let result = trampoline(run).unwrap_or_else(|panic| Err(panic.into_error(py, "a captured program")));
                if let Some(beside) = beside {
                    beside.end(py, func, slots, &result);
                }
                result
            }
            Server::Original => origin.run_original(py, hook, false),
        };
        let took = start.map(|start| start.elapsed().as_nanos() as u64);
        if let Some(entry) = &entry {
            self.of.cache.note_if_broken(py, entry);
        }
        if let (Some(took), Some(entry)) = (took, &entry) {
            entry.trial.record(turn.server, took, look);
        }
        result
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.of.traverse(visit);
        // A decorator that is still held has it, too.
        if let Some(spec) = self.spec.as_ref().filter(|spec| Arc::strong_count(spec) == 1) {
            spec.traverse(visit);
        }
    }

    /// What the class has now is captured in the place of what it had.
    fn replaced<'py>(&self, receiver: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        let py = receiver.py();
        let is_own = |entry: &Bound<'py, PyAny>| {
            let parts = entry_parts(entry);
            parts.is_some_and(|parts| {
                parts.body.as_any().downcast_ref::<FunctionEntry>().is_some_and(|it| std::ptr::eq(it, self))
            })
        };
        let lies_there = facts::instance_dict(receiver)
            .and_then(|dict| dict.get_item(name).ok()?)
            .is_some_and(|found| is_own(&found));
        match MAKER.get(py).filter(|_| lies_there) {
            Some(maker) => {
                receiver.delattr(name)?;
                maker.bind(py).call1((receiver, self.full_graph, self.spec_given(py)))?;
                receiver.getattr(name)
            }
            None => attribute_of_class(receiver, name),
        }
    }

    fn maker<'py>(&self, py: Python<'py>, stands_for: bool) -> Option<(Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>)> {
        let full_graph = PyBool::new(py, self.full_graph).to_owned().into_any();
        let maker = if stands_for { &MAKER_IN_LAYERS } else { &MAKER };
        Some((maker.get(py)?.bind(py).clone(), vec![full_graph, self.spec_given(py)]))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
