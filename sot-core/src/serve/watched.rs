//! Calls of graphs whose operations act on more than memory ([`crate::watch`]).
//!
//! The guards of the entry say what the capture has read. They are asked before the first such operation and behind each: do they still
//! hold, and do they see the very objects that they saw? If not, the same call is captured once more to the end of the operation
//! ([`super::half_done`]). Its new code makes what the program holds there, and requests to go on.

use super::cache::{Action, Again, Entry};
use super::continuation::Continuation;
use super::half_done::captured_behind;
use super::lookup::with_cells;
use super::origin::Origin;
use crate::capture::Subject;
use crate::cpython::{OwnedSlots, call_slots, without_hook};
use crate::graph_fn::{GraphFunction, with_outputs};
use crate::guards::Seen;
use crate::replay::Progress;
use crate::watch::{self, Watch};
use pyo3::prelude::*;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

thread_local! {
    /// Calls that end by a ticket: its number, and that of the watch.
    static BY_TICKET: RefCell<Vec<(u64, Watching)>> = const { RefCell::new(Vec::new()) };
}

/// A call is watched until this goes.
pub(super) struct Watching(u64);

impl Watching {
    /// It is until the call with this ticket ends.
    pub(super) fn until(self, ticket: u64) {
        BY_TICKET.with_borrow_mut(|all| all.push((ticket, self)));
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        watch::end(self.0);
    }
}

/// The call with this ticket has ended.
pub(super) fn end_of(ticket: u64) {
    let ended = BY_TICKET.with_borrow_mut(|all| {
        let at = all.iter().rposition(|(number, _)| *number == ticket)?;
        Some(all.remove(at))
    });
    drop(ended);
}

/// The next run of the entry is this call, which is watched if its graph wants it.
pub(super) fn begin(py: Python<'_>, entry: &Entry, origin: &Origin<'_, '_>) -> Option<Watching> {
    let again = entry.again.as_ref().filter(|again| again.guards.is_some())?;
    let graph = entry.graph()?;
    let (from, slots, arguments) = match origin {
        Origin::Function { function, slots } => {
            let subject = Subject::Function { function, in_frames: false, spec: None };
            (From::Function((*function).clone().unbind()), with_cells(py, &subject, *slots), slots.len())
        }
        Origin::Continuation(pending) => {
            let slots = pending.values.as_slots();
            (From::Continuation(pending.continuation.clone()), slots.to_owned(py), slots.len())
        }
    };
    let call = Call { again: again.clone(), graph, from, slots, arguments, before: OnceCell::new() };
    let mark = entry.mark();
    Some(Watching(watch::begin(mark, Rc::new(call))))
}

/// Where a call comes from.
enum From {
    Function(Py<PyAny>),
    Continuation(Arc<Continuation>),
}

/// A call.
struct Call {
    again: Arc<Again>,
    graph: Arc<GraphFunction>,
    from: From,
    /// With cells behind the arguments.
    slots: OwnedSlots,
    arguments: usize,
    /// What the guards have seen. `None`: they did not hold any more.
    before: OnceCell<Option<Seen>>,
}

impl Call {
    fn with_subject<R>(&self, py: Python<'_>, then: impl FnOnce(&Subject<'_, '_>) -> R) -> R {
        match &self.from {
            From::Function(function) => {
                then(&Subject::Function { function: function.bind(py), in_frames: false, spec: None })
            }
            From::Continuation(continuation) => {
                let point = &continuation.point;
                then(&Subject::Continuation { number: point.number, shape: &point.shape })
            }
        }
    }
}

impl Watch for Call {
    fn begins(&self, py: Python<'_>) {
        self.before.get_or_init(|| self.again.guards.as_ref()?.seen(py, self.slots.as_slots()));
    }

    fn is_as_it_was(&self, py: Python<'_>) -> bool {
        let before = self.before.get().and_then(Option::as_ref);
        let guards = self.again.guards.as_ref();
        guards.zip(before).is_some_and(|(guards, before)| guards.sees_the_same(py, self.slots.as_slots(), before))
    }

    fn goes_on(&self, py: Python<'_>, progress: Progress) -> Option<Py<PyAny>> {
        let again = (&self.again.found, &*self.graph);
        let (rest, outputs) = self
            .with_subject(py, |subject| captured_behind(py, again, (subject, self.slots.as_slots()), progress, None))?;
        let Action::Run { function, .. } = &rest.action else { return None };
        let slots = self.slots.as_slots().range(0, self.arguments);
        let run = || without_hook(py, || call_slots(py, function.bind(py), slots));
        let request = with_outputs(rest.mark(), outputs, run);
        request.ok().map(Bound::unbind)
    }

    fn has_called_out(&self) {
        self.again.called_out.store(true, Ordering::Relaxed);
    }
}
