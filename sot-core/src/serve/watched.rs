//! Calls of graphs whose operations act on more than memory ([`crate::watch`]).
//!
//! The guards of the entry say what the capture has read. They are asked before the first such operation and behind each: do they still
//! hold, and do they see the very objects that they saw?

use super::cache::{Again, Entry};
use super::continuation::Continuation;
use super::half_done::captured_behind;
use super::lookup::with_cells;
use super::origin::Origin;
use crate::capture::Subject;
use crate::cpython::OwnedSlots;
use crate::graph_fn::GraphFunction;
use crate::guards::Seen;
use crate::watch::{self, Progress, Rest, Watch};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

thread_local! {
    /// Calls that end by a ticket: its number, and the watch.
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
    let (from, slots) = match origin {
        Origin::Function { function, slots } => {
            let subject = Subject::Function { function, in_frames: false, spec: None };
            (From::Function((*function).clone().unbind()), with_cells(py, &subject, *slots))
        }
        Origin::Continuation(pending) => {
            (From::Continuation(pending.continuation.clone()), pending.values.as_slots().to_owned(py))
        }
    };
    let call = Call { again: again.clone(), graph, from, slots, before: OnceCell::new() };
    Some(Watching(watch::begin(entry.mark(), Rc::new(call))))
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
    /// What the guards have seen. `None`: they did not hold any more.
    before: OnceCell<Option<Seen>>,
}

impl Watch for Call {
    fn begins(&self, py: Python<'_>) {
        self.before.get_or_init(|| self.again.guards.as_ref()?.seen(py, self.slots.as_slots()));
    }

    fn is_as_it_was(&self, py: Python<'_>) -> bool {
        // What did not hold before is captured anew by the next call: a layer had changed an attribute of its own in its first call.
        let Some(before) = self.before.get().and_then(Option::as_ref) else { return false };
        let guards = self.again.guards.as_ref();
        let is = guards.is_some_and(|guards| guards.sees_the_same(py, self.slots.as_slots(), before));
        if !is {
            self.gives_way();
        }
        is
    }

    fn goes_on(&self, py: Python<'_>, progress: &Progress) -> Option<Rest> {
        let again = (&self.again.found, &*self.graph);
        let none = || PyRuntimeError::new_err("");
        let slots = self.slots.as_slots();
        let rest = match &self.from {
            From::Function(function) => {
                let subject = Subject::Function { function: function.bind(py), in_frames: false, spec: None };
                captured_behind(py, again, (&subject, slots), progress, none())
            }
            From::Continuation(continuation) => {
                let point = &continuation.point;
                let subject = Subject::Continuation { number: point.number, shape: &point.shape };
                captured_behind(py, again, (&subject, slots), progress, none())
            }
        };
        rest.map(|rest| Box::new(rest) as Rest)
    }

    fn gives_way(&self) {
        self.again.gives_way.store(true, Ordering::Relaxed);
    }
}
