//! Runs that have failed behind an operation that acts.
//!
//! What such a run did stays done, and its operations are not repeated. The same call is captured once more, from what the capture was
//! made of that has failed, to the operation that failed. Its graph is the one that has run, as far as it came; so the new code is given
//! what that has computed, does all that the program had done by then beside operations, and raises the error at the instruction of the
//! operation: that may have done a part of its work, or drawn numbers, and is not run again.
//!
//! Whatever was captured of the call before is not used again, and nothing acts in what is captured of it from then on.
//!
//! The same way leads on where an operation has changed what the program had read ([`super::watched`]): the new code ends behind it, by
//! a request to go on. And where it would call functions of the program: it is the break that the new code ends with.

use super::cache::{Action, Entry, Guarded};
use super::continuation::{self, Pending};
use super::go_on::ByContinuation;
use super::lookup::{CaptureLock, point_of, with_cells};
use super::origin::Origin;
use crate::backend;
use crate::capture::{Subject, capture};
use crate::cpython::{Slots, gc, signals, trampoline, without_hook};
use crate::executor::{Failed, Found};
use crate::graph_fn::{GraphFunction, take_put_off, with_outputs};
use crate::stats::STATS;
use crate::stop::Reason;
use crate::user_frames;
use crate::watch::{Ended, Progress};
use pyo3::prelude::*;
use sot_sir::{Statement, Symbol};
use std::sync::Arc;

/// An entry to go on with, and what its graph has given.
type Rest = (Arc<Entry>, Vec<Py<PyAny>>);

/// Go on at the operation that has raised this error.
///
/// `run`: runs an entry in the place of the one that has failed.
pub(super) fn go_on<'a, 'py>(
    py: Python<'py>,
    entry: &Entry,
    origin: Origin<'a, 'py>,
    (progress, error): (Progress, PyErr),
    run: impl FnOnce(&Entry, Origin<'a, 'py>) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let ran = match &entry.action {
        Action::Run { code, .. } => user_frames::drop_rewritten(py, &error, code, false),
        Action::Original { .. } => false,
    };
    let mut progress = progress;
    let known = progress.rest.take().and_then(|rest| rest.downcast::<Rest>().ok());
    let rest = match known {
        Some(rest) => Some(*rest),
        None => entry.again.as_ref().zip(entry.graph()).and_then(|(again, graph)| {
            let again = (&again.found, &*graph);
            with_subject(py, &origin, |subject, slots| {
                captured_behind(py, again, (subject, slots), &progress, error.clone_ref(py))
            })
        }),
    };
    // What is no output dies here.
    drop(progress);
    match rest {
        // The operation may have done a part of its work: it is not run again.
        Some((rest, outputs)) if ran => {
            drop(error);
            with_outputs(rest.mark(), outputs, || run(&rest, origin))
        }
        _ => {
            // Nobody can say what the program would do now but raise.
            STATS.note(Reason::InternalError);
            Err(error)
        }
    }
}

/// Raise an error where a result asks to go on; in its place, where it is no request.
pub(super) fn raised_where_it_goes_on<'py>(
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

/// New code of an entry whose operations act has come to its end: what a signal handler has raised meanwhile is raised now.
pub(super) fn at_the_end<'py>(
    py: Python<'py>,
    entry: &Entry,
    result: PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    match entry.again.as_ref().and_then(|_| take_put_off()) {
        Some(error) => raised_where_it_goes_on(py, result, error),
        None => result,
    }
}

/// What a call is captured from: slots with cells.
fn with_subject<R>(py: Python<'_>, origin: &Origin<'_, '_>, then: impl FnOnce(&Subject<'_, '_>, Slots<'_>) -> R) -> R {
    match origin {
        Origin::Function { function, slots } => {
            let subject = Subject::Function { function, in_frames: false, spec: None };
            then(&subject, with_cells(py, &subject, *slots).as_slots())
        }
        Origin::Continuation(pending) => {
            let point = &pending.continuation.point;
            let subject = Subject::Continuation { number: point.number, shape: &point.shape };
            then(&subject, pending.values.as_slots())
        }
    }
}

/// An entry that ends where a run of the graph has come to, and what that has computed.
pub(super) fn captured_behind(
    py: Python<'_>,
    again: (&Found, &GraphFunction),
    call: (&Subject<'_, '_>, Slots<'_>),
    progress: &Progress,
    error: PyErr,
) -> Option<Rest> {
    let _lock = CaptureLock::take_in_the_end(py)?;
    let captured = signals::deferring(py, || {
        gc::without_collection(py, || without_hook(py, || trampoline(move || rest(py, again, call, progress, error))))
    });
    captured?.ok()?
}

fn rest(
    py: Python<'_>,
    (found, whole): (&Found, &GraphFunction),
    (subject, slots): (&Subject<'_, '_>, Slots<'_>),
    progress: &Progress,
    error: PyErr,
) -> Option<Rest> {
    let at = progress.at;
    let found = match progress.ended {
        Ended::Failed => {
            let failed = Failed { at, error: Arc::new(error.into_value(py).into_any()) };
            Found { failed: Some(failed), ..found.clone() }
        }
        Ended::Before => Found { breaks_at: Some(at), ..found.clone() },
        Ended::Behind => Found { stops_behind: Some(at), ..found.clone() },
    };
    let occupants = found.occupants.clone();
    let go_on = ByContinuation { occupants: &occupants };
    let backend = backend::registered()?.clone();
    let captured = capture(py, backend, subject, slots, found, &go_on).ok()?;
    let is_there = match progress.ended {
        Ended::Failed => captured.captured.failed.is_some(),
        Ended::Before => captured.captured.graph.len() <= at,
        Ended::Behind => captured.captured.stops_before,
    };
    is_there.then_some(())?;
    let rest = Guarded::of(py, captured, subject, false, point_of).ok()?.entry;
    let graph = rest.graph();
    let begun = graph.as_ref().map_or(&[][..], |graph| &graph.sir.sirs[0].statements);
    if !is_beginning(begun, whole.sir.sirs[0].statements.get(..progress.at)?) {
        return None;
    }
    let wanted = graph.as_ref().map_or(&[][..], |graph| &graph.sir.sirs[0].outputs);
    // Each is an output once. What is none dies here.
    let value = |symbol: &Symbol| Some(progress.values.get(symbol.0 as usize)?.as_ref()?.clone_ref(py));
    let outputs = wanted.iter().map(value).collect::<Option<Vec<_>>>()?;
    Some((rest, outputs))
}

/// Whether statements are the first of those that have run, and the others only prepare the one that failed. Objects have numbers of their
/// own in each capture.
fn is_beginning(begun: &[Statement], ran: &[Statement]) -> bool {
    let Some((same, prepare)) = ran.split_at_checked(begun.len()) else { return false };
    let told =
        |statement: &Statement| (statement.kind, statement.name.clone(), statement.uses(), statement.result.symbols());
    same.iter().zip(begun).all(|(one, other)| told(one) == told(other))
        && prepare.iter().all(|statement| statement.result.symbols().is_empty())
}
