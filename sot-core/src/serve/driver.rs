//! The driver: runs what a lookup has found, and what rewritten code asks to go on with.
//!
//! Requests to go on are followed in a loop, so that a program with a hundred thousand breaks needs no deeper Python stack
//! than one with none. A graph that fails has changed nothing, and the original code runs in its place; where operations of it act, the
//! program goes on where it failed ([`half_done`]).

use super::cache::{Action, Entry};
use super::continuation::{self, Continuation, Pending};
use super::half_done;
use super::lookup::entry_for;
use super::origin::{Origin, hooked};
use super::watched;
use crate::capture::Subject;
use crate::capture_all;
use crate::cpython::{FrameHook, call_slots, held, thread};
use crate::graph_fn::take_failure;
use crate::replay::Came;
use crate::stats::STATS;
use crate::user_frames;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::*;
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub(super) fn run_entry<'py>(
    py: Python<'py>,
    hook: &Arc<impl FrameHook + 'static>,
    entry: Option<&Entry>,
    origin: Origin<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(entry) = entry else { return origin.run_original(py, hook, true) };
    if let Some(complaint) = &entry.complaint {
        return Err(PyRuntimeError::new_err(complaint.clone()));
    }
    match &entry.action {
        Action::Original { calls_out } => origin.run_original(py, hook, *calls_out),
        Action::Run { .. } if entry.broken.load(Ordering::Relaxed) => origin.run_original(py, hook, true),
        Action::Run { function, code, calls_out, shown, .. } => {
            let function = function.bind(py);
            let watching = watched::begin(py, entry, &origin);
            // Where everything is captured, whatever C code calls is, too.
            let calls_out = *calls_out || capture_all::follows_calls_of(code.bind(py));
            let (result, origin) = match origin {
                Origin::Function { slots, .. } => {
                    let result = match calls_out {
                        true => hooked(py, hook, || call_slots(py, function, slots)),
                        false => call_slots(py, function, slots),
                    };
                    (result, Some(origin))
                }
                Origin::Continuation(Pending { continuation, values }) => {
                    // The frame owns the values alone once the graph has run.
                    let ticket = held::hold(values, entry.mark(), None, None);
                    let result = match calls_out {
                        true => hooked(py, hook, || held::call_held(py, function, ticket)),
                        false => held::call_held(py, function, ticket),
                    };
                    let values = held::take_back(ticket).values;
                    (result, values.map(|values| Origin::Continuation(Pending { continuation, values })))
                }
            };
            drop(watching);
            entry.note_if_it_gives_way();
            let result = half_done::at_the_end(py, entry, result);
            if let Err(error) = &result
                && let Some(raised) = raised_behind_request(py, error, code)
            {
                return raised;
            }
            let came = match (&result, &origin) {
                (Err(error), Some(_)) => take_failure(py, error),
                _ => None,
            };
            match (result, origin, came) {
                (Err(error), Some(origin), Some(came)) => {
                    STATS.add(&STATS.graph_failures);
                    entry.note_if_broken();
                    match came {
                        Came::Nowhere => origin.run_original(py, hook, true),
                        Came::Behind(progress) => {
                            half_done::go_on(py, entry, origin, (progress, error), |rest, origin| {
                                run_entry(py, hook, Some(rest), origin)
                            })
                        }
                    }
                }
                (Err(error), Some(origin), _) if entry.fails_quietly(py, &error) => origin.run_original(py, hook, true),
                (Err(error), Some(Origin::Continuation(pending)), _)
                    if user_frames::drop_rewritten(py, &error, code, entry.mark() == 0) =>
                {
                    pending.continuation.raise_at_start(py, pending.values, error)
                }
                (Err(error), ..) => {
                    user_frames::after_rewritten(py, &error, shown, code, function);
                    Err(error)
                }
                (result, ..) => result,
            }
        }
    }
}

/// Rewritten code has raised behind its request to go on, where only a signal handler does: it is raised where that leads.
pub(super) fn raised_behind_request<'py>(
    py: Python<'py>,
    error: &PyErr,
    code: &Py<PyCode>,
) -> Option<PyResult<Bound<'py, PyAny>>> {
    let Ok(Pending { continuation, values }) = continuation::left_behind(py, code)? else { return None };
    user_frames::drop_rewritten(py, error, code, false);
    Some(continuation.raise_at_start(py, values, error.clone_ref(py)))
}

/// Continuations that are kept while a program goes on from one to the next.
const PASSED: usize = 32;

/// Follow requests to go on until there is a result. `first`: what served the frame that asked first.
pub(super) fn drive<'py>(
    py: Python<'py>,
    hook: &Arc<impl FrameHook + 'static>,
    first: Option<&Entry>,
    mut result: PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    // What led to a continuation may be forgotten while it runs. A loop comes back to it.
    let (mut passed, mut oldest): (Vec<Arc<Continuation>>, usize) = (Vec::new(), 0);
    loop {
        let value = result?;
        let Some(pending) = continuation::requested(&value) else { return Ok(value) };
        let pending = pending?;
        drop(value);
        STATS.add(&STATS.continuations);
        let continuation = pending.continuation.clone();
        if !passed.iter().any(|other| Arc::ptr_eq(other, &continuation)) {
            if passed.len() < PASSED {
                passed.push(continuation.clone());
            } else {
                passed[oldest] = continuation.clone();
                oldest = (oldest + 1) % PASSED;
            }
        }
        let point = &continuation.point;
        let subject = Subject::Continuation { number: point.number, shape: &point.shape };
        let entry = match thread::tracing_active(py) || point.shape.is_for_once() {
            true => None,
            false => entry_for(py, &continuation.cache, &subject, pending.values.as_slots()).ok(),
        };
        if capture_all::on()
            && let Some((first, entry)) = first.zip(entry.as_deref())
        {
            first.leads_to(entry);
        }
        result = match continuation.handlers_run(py, pending.values.as_slots()) {
            Ok(()) => run_entry(py, hook, entry.as_deref(), Origin::Continuation(pending)),
            Err(error) => continuation.raise_at_start(py, pending.values, error),
        };
        if let Some(entry) = &entry {
            continuation.cache.note_if_broken(py, entry);
        }
    }
}
