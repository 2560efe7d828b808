//! From slots to the entry that serves them: found in the cache, or captured now.
//!
//! Invariants
//! - One thread captures at a time, whichever copy of this crate does; the others meanwhile run the original code.
//! - A capture that panics closes its cache and is no more than a refusal.
//! - No collection, no hook and no handler of a signal runs in the middle of a capture.

use super::cache::{CodeCache, Entry, Guarded};
use super::continuation;
use super::go_on::ByContinuation;
use super::orphans;
use super::place::Place;
use super::recording;
use crate::capture::{Subject, capture};
use crate::capture_all;
use crate::cpython::{Slots, copies, facts, gc, signals, thread, trampoline, without_hook};
use crate::stats::STATS;
use crate::stop::{Reason, Why};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// Frames that a capture may need for Python code of the framework. So near to the limit nothing is captured.
const ROOM_TO_CAPTURE: usize = 50;

/// Nothing is captured any more.
static ENDED: AtomicBool = AtomicBool::new(false);

/// The process ends.
pub(super) fn end() {
    ENDED.store(true, Ordering::Relaxed);
}

thread_local! {
    /// This thread is inside a capture: whatever it calls is the framework's business.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a capture.
pub fn inside_capture() -> bool {
    INSIDE.get()
}

struct CaptureLock;

impl CaptureLock {
    fn take() -> Option<CaptureLock> {
        copies::begin_capture().then(|| {
            INSIDE.set(true);
            CaptureLock
        })
    }
}

impl Drop for CaptureLock {
    fn drop(&mut self) {
        INSIDE.set(false);
        copies::end_capture();
    }
}

/// The entry that serves these slots: from the cache, or captured now. `None`: run the original code.
pub(super) fn entry_for(
    py: Python<'_>,
    cache: &CodeCache,
    subject: &Subject<'_, '_>,
    slots: Slots<'_>,
) -> Option<Arc<Entry>> {
    if let Subject::Function { function, .. } = subject
        && let Some(closure) = facts::func_parts(function).and_then(|parts| parts.closure)
        && let Ok(closure) = closure.cast::<PyTuple>()
    {
        // The cells are slots behind the arguments.
        let mut all = slots.to_owned(py);
        closure.iter().for_each(|cell| all.push(Some(cell.unbind())));
        return entry_for_slots(py, cache, subject, all.as_slots());
    }
    entry_for_slots(py, cache, subject, slots)
}

fn entry_for_slots(
    py: Python<'_>,
    cache: &CodeCache,
    subject: &Subject<'_, '_>,
    slots: Slots<'_>,
) -> Option<Arc<Entry>> {
    if thread::stack_is_low(py) {
        STATS.note(Reason::Depth);
        return None;
    }
    if let Some(entry) = cache.lookup(py, slots) {
        if entry.deepest > 1 && entry.deepest > thread::frames_left(py) {
            STATS.note(Reason::Depth);
            return None;
        }
        STATS.add(&STATS.hits);
        recording::note(&entry);
        return Some(entry);
    }
    STATS.add(&STATS.misses);
    orphans::drop_dead(py, cache);
    if let Some(why) = cache.refuses() {
        recording::note_refusal(&why);
        return None;
    }
    if thread::frames_left(py) < ROOM_TO_CAPTURE {
        STATS.note(Reason::Depth);
        return None;
    }
    let Some(lock) = CaptureLock::take().filter(|_| !ENDED.load(Ordering::Relaxed)) else {
        STATS.note(Reason::Busy);
        return None;
    };
    let backend = crate::backend::registered()?.clone();
    // Nothing of the user's runs in the middle of a capture.
    let captured = signals::deferring(py, || {
        gc::without_collection(py, || {
            without_hook(py, || {
                trampoline(|| {
                    capture(py, backend, subject, slots, cache.numbers(), &ByContinuation).map(|captured| {
                        cache.learn_numbers(py, &captured.captured);
                        Guarded::of(py, captured, subject, place_of)
                    })
                })
            })
        })
    });
    drop(lock);
    let Some(captured) = captured else {
        STATS.note(Reason::Interrupted);
        return None;
    };
    match captured {
        Ok(Some(Ok(guarded))) => {
            guarded.guards.verify_accepts(py, slots);
            let entry = guarded.entry.clone();
            cache.add(guarded);
            orphans::count_made(py);
            recording::note(&entry);
            Some(entry)
        }
        Ok(Some(Err(stop))) => {
            STATS.add(&STATS.fallbacks);
            STATS.note(stop.why().reason);
            recording::note_refusal(stop.why());
            None
        }
        Ok(None) => None,
        Err(panic) if panic.for_want_of_memory(py) => {
            STATS.note(Reason::Interrupted);
            None
        }
        Err(panic) => {
            STATS.add(&STATS.fallbacks);
            STATS.note(Reason::InternalError);
            let why = Why::new(Reason::InternalError, panic.message);
            capture_all::failed(&why);
            recording::note_refusal(&why);
            cache.close(why);
            None
        }
    }
}

/// Where a callable of rewritten code asks to go on.
fn place_of(callable: &Bound<'_, PyAny>) -> Option<Weak<Place>> {
    continuation::asked_for(callable).map(|continuation| Arc::downgrade(&continuation.place))
}
