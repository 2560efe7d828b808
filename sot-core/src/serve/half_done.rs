//! Runs that have failed behind an operation that acts.
//!
//! What such a run did stays done, and its operations are not repeated. The same call is captured once more, from what the capture was
//! made of that has failed, with a break at the operation that failed. Its graph is the one that has run, as far as it came; so the new code
//! is given what that has computed, does all that the program had done by then beside operations, and goes on at the operation as plain
//! Python, which raises what it raises where it is handled.
//!
//! Whatever was captured of the call before is not used again, and nothing acts in what is captured of it from then on.

use super::cache::{Entry, Guarded};
use super::continuation::{self, Pending};
use super::driver::{Origin, run_entry};
use super::go_on::ByContinuation;
use super::lookup::{CaptureLock, point_of, with_cells};
use crate::backend;
use crate::capture::{Subject, capture};
use crate::cpython::{FrameHook, gc, signals, trampoline, without_hook};
use crate::executor::Found;
use crate::graph_fn::with_outputs;
use crate::replay::{Progress, from_outside};
use crate::stats::STATS;
use crate::stop::Reason;
use pyo3::prelude::*;
use sot_sir::{Sir, Statement, Symbol};
use std::sync::Arc;

/// Go on at the operation that has raised this error.
pub(super) fn go_on<'py>(
    py: Python<'py>,
    hook: &Arc<impl FrameHook + 'static>,
    entry: &Entry,
    origin: Origin<'_, 'py>,
    progress: &Progress,
    error: PyErr,
) -> PyResult<Bound<'py, PyAny>> {
    let rest = CaptureLock::take_in_the_end(py).and_then(|_lock| {
        signals::deferring(py, || {
            gc::without_collection(py, || {
                without_hook(py, || trampoline(|| captured_behind(py, entry, &origin, progress)))
            })
        })
    });
    match rest.and_then(Result::ok).flatten() {
        Some((rest, outputs)) => {
            let result = with_outputs(rest.mark(), outputs, || run_entry(py, hook, Some(&rest), origin));
            match from_outside(py, &error) {
                true => raised_where_it_goes_on(py, result, error),
                false => result,
            }
        }
        None => {
            // Nobody can say what the program would do now but raise.
            STATS.note(Reason::InternalError);
            Err(error)
        }
    }
}

/// What came from outside while the operation was under way is raised there, as nobody else would raise it.
fn raised_where_it_goes_on<'py>(
    py: Python<'py>,
    result: PyResult<Bound<'py, PyAny>>,
    error: PyErr,
) -> PyResult<Bound<'py, PyAny>> {
    let Pending { continuation, values } = match continuation::requested(&result?) {
        Some(pending) => pending?,
        None => return Err(error),
    };
    continuation.raise_at_start(py, values, error)
}

/// An entry that breaks where the run has failed, and what its graph has given.
fn captured_behind(
    py: Python<'_>,
    entry: &Entry,
    origin: &Origin<'_, '_>,
    progress: &Progress,
) -> Option<(Arc<Entry>, Vec<Py<PyAny>>)> {
    let failed = entry.graph()?;
    let found = Found { stops_at: Some(progress.at), ..(**entry.again.as_ref()?).clone() };
    let occupants = found.occupants.clone();
    let go_on = ByContinuation { occupants: &occupants };
    let backend = backend::registered()?.clone();
    let (subject, slots) = match origin {
        Origin::Function { function, slots } => {
            let subject = Subject::Function { function, in_frames: false, spec: None };
            let slots = with_cells(py, &subject, *slots);
            (subject, slots)
        }
        Origin::Continuation(pending) => {
            let point = &pending.continuation.point;
            let values = pending.values.as_slots().to_owned(py);
            (Subject::Continuation { number: point.number, shape: &point.shape }, values)
        }
    };
    let captured = capture(py, backend, &subject, slots.as_slots(), found, &go_on).ok()?;
    let guarded = Guarded::of(py, captured, &subject, false, point_of).ok()?;
    let rest = guarded.entry;
    let graph = rest.graph()?;
    let (ran, again) = (&failed.sir.sirs[0], &graph.sir.sirs[0]);
    if !is_beginning(again, ran, progress.at) {
        return None;
    }
    let value = |symbol: &Symbol| progress.values.get(symbol.0 as usize)?.as_ref().map(|value| value.clone_ref(py));
    let outputs = again.outputs.iter().map(value).collect::<Option<Vec<_>>>()?;
    Some((rest, outputs))
}

/// Whether a graph is another one up to the statement with this number, but for what only prepares that one. Objects have numbers of
/// their own in each capture.
fn is_beginning(beginning: &Sir, whole: &Sir, at: usize) -> bool {
    let Some((begun, prepares)) =
        whole.statements.get(..at).and_then(|s| s.split_at_checked(beginning.statements.len()))
    else {
        return false;
    };
    let same = |(one, other): (&Statement, &Statement)| {
        (one.kind, &one.name, one.uses(), one.result.symbols())
            == (other.kind, &other.name, other.uses(), other.result.symbols())
    };
    begun.iter().zip(&beginning.statements).all(same) && prepares.iter().all(|s| s.result.symbols().is_empty())
}
