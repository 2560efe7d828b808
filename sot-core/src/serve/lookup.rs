//! From slots to the entry that serves them: found in the cache, or captured now.
//!
//! Invariants
//! - One thread captures at a time, whichever copy of this crate does; the others meanwhile run the original code.
//! - A capture that panics closes its cache and is no more than a refusal.
//! - No collection, no hook and no handler of a signal runs in the middle of a capture.

use super::cache::{CodeCache, Entry, Guarded};
use super::continuation;
use super::go_on::ByContinuation;
use super::logged;
use super::orphans;
use super::recording;
use super::resume_point::ResumePoint;
use super::warned;
use crate::backend;
use crate::capture::{NotNow, Subject, capture};
use crate::capture_all;
use crate::cpython::{OwnedSlots, Slots, copies, facts, gc, signals, thread, trampoline, without_hook};
use crate::executor::Found;
use crate::log::{self, Topics};
use crate::stats::STATS;
use crate::stop::{Reason, Why};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Frames that a capture may need for Python code of the framework. So near to the limit nothing is captured.
const ROOM_TO_CAPTURE: usize = 50;

/// How long another thread's capture is waited for, and in which steps.
const PATIENCE: Duration = Duration::from_millis(20);
/// For so long where a capture is needed.
const IN_THE_END: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_micros(100);

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

pub(super) struct CaptureLock;

impl CaptureLock {
    fn take() -> Option<CaptureLock> {
        copies::begin_capture().then(|| {
            INSIDE.set(true);
            CaptureLock
        })
    }

    /// Where the whole program is captured, another thread's capture is waited for, a little; it can need nothing of this thread for
    /// longer than that. And whether it was.
    fn take_soon(py: Python<'_>) -> (Option<CaptureLock>, bool) {
        let lock = CaptureLock::take();
        if lock.is_some() || !capture_all::on() || inside_capture() {
            return (lock, false);
        }
        let until = Instant::now() + PATIENCE;
        loop {
            py.detach(|| std::thread::sleep(LOOK_AGAIN));
            let lock = CaptureLock::take();
            if lock.is_some() || Instant::now() > until {
                return (lock, true);
            }
        }
    }
}

impl CaptureLock {
    /// Captures of other threads are waited for: what is captured now is needed. `None`: not even in the end.
    pub(super) fn take_in_the_end(py: Python<'_>) -> Option<CaptureLock> {
        let until = Instant::now() + IN_THE_END;
        loop {
            let lock = CaptureLock::take();
            if lock.is_some() || inside_capture() || Instant::now() > until {
                return lock;
            }
            py.detach(|| std::thread::sleep(LOOK_AGAIN));
        }
    }
}

impl Drop for CaptureLock {
    fn drop(&mut self) {
        INSIDE.set(false);
        copies::end_capture();
    }
}

/// The entry that serves these slots: from the cache, or captured now. An error: run the original code, and why.
pub(super) fn entry_for(
    py: Python<'_>,
    cache: &CodeCache,
    subject: &Subject<'_, '_>,
    slots: Slots<'_>,
) -> Result<Arc<Entry>, Reason> {
    thread::absorbing_recursion(py, || {
        if let Subject::Function { function, .. } = subject
            && facts::func_parts(function).is_some_and(|parts| parts.closure.is_some())
        {
            return entry_for_slots(py, cache, subject, with_cells(py, subject, slots).as_slots());
        }
        entry_for_slots(py, cache, subject, slots)
    })
}

/// An entry of the cache whose guards hold, if there is room for it; `None`: there is no such entry.
fn met(py: Python<'_>, cache: &CodeCache, slots: Slots<'_>) -> Option<Result<Arc<Entry>, Reason>> {
    let entry = cache.lookup(py, slots)?;
    if entry.deepest > 1 && entry.deepest > thread::frames_left(py) {
        STATS.note(Reason::Depth);
        return Some(Err(Reason::Depth));
    }
    STATS.add(&STATS.hits);
    recording::note(&entry);
    Some(Ok(entry))
}

/// How long it takes to find the entry that serves these slots, in nanoseconds.
pub(super) fn time_of_a_look(py: Python<'_>, cache: &CodeCache, subject: &Subject<'_, '_>, slots: Slots<'_>) -> u64 {
    let start = Instant::now();
    cache.only_looks(py, with_cells(py, subject, slots).as_slots());
    start.elapsed().as_nanos() as u64
}

/// This thread runs plain Python alone, until the process ends.
pub(super) fn only_plain_from_now_on() {
    INSIDE.set(true);
}

/// What a capture would rely on that was made now and knew of no other, as it is written and in the words of the program; nothing comes
/// of it. Empty: there is none.
pub(super) fn guards_of_now(py: Python<'_>, subject: &Subject<'_, '_>, slots: Slots<'_>) -> Vec<(String, String)> {
    let (Some(backend), Some(_lock)) = (backend::registered().cloned(), CaptureLock::take()) else { return Vec::new() };
    let all = with_cells(py, subject, slots);
    let known = Found::default();
    let go_on = ByContinuation { occupants: &known.occupants.clone() };
    let captured = trampoline(|| {
        let captured = capture(py, backend, subject, all.as_slots(), known, &go_on);
        captured.map(|captured| Guarded::of(py, captured, subject, false, point_of))
    });
    match captured {
        Ok(Ok(Ok(guarded))) => {
            let report = &guarded.entry.report;
            let pair = |(at, text): (usize, &String)| (text.clone(), report.said(at).unwrap_or_default());
            report.guards.iter().enumerate().map(pair).collect()
        }
        _ => Vec::new(),
    }
}

/// The slots of a frame: behind the arguments the cells.
pub(super) fn with_cells(py: Python<'_>, subject: &Subject<'_, '_>, slots: Slots<'_>) -> OwnedSlots {
    let mut all = slots.to_owned(py);
    if let Subject::Function { function, .. } = subject
        && let Some(closure) = facts::func_parts(function).and_then(|parts| parts.closure)
        && let Ok(closure) = closure.cast::<PyTuple>()
    {
        closure.iter().for_each(|cell| all.push(Some(cell.unbind())));
    }
    all
}

/// The entry that serves these slots, if it is there; nothing is captured. For functions without cells.
pub(super) fn entry_met(py: Python<'_>, cache: &CodeCache, slots: Slots<'_>) -> Result<Arc<Entry>, Reason> {
    thread::absorbing_recursion(py, || match thread::stack_is_low(py) {
        true => Err(Reason::Depth),
        false => met(py, cache, slots).unwrap_or(Err(Reason::NoTensor)),
    })
}

fn entry_for_slots(
    py: Python<'_>,
    cache: &CodeCache,
    subject: &Subject<'_, '_>,
    slots: Slots<'_>,
) -> Result<Arc<Entry>, Reason> {
    if thread::stack_is_low(py) {
        STATS.note(Reason::Depth);
        return Err(Reason::Depth);
    }
    if let Some(entry) = met(py, cache, slots) {
        return entry;
    }
    STATS.add(&STATS.misses);
    let missed = without_hook(py, || {
        let each = recording::recording() || log::wants(Topics::RECOMPILES);
        trampoline(|| cache.why_missed(py, slots, each)).unwrap_or_default()
    });
    orphans::drop_dead(py, cache);
    let mut general = None;
    if let Some(why) = cache.refuses() {
        // A continuation has an eager form, which costs less than one more break.
        if let Subject::Function { .. } = subject {
            general = cache.generalises(&why);
        }
        if general.is_none() {
            recording::note_refusal(&why);
            return Err(why.reason);
        }
    }
    if thread::frames_left(py) < ROOM_TO_CAPTURE {
        STATS.note(Reason::Depth);
        return Err(Reason::Depth);
    }
    let (lock, waited) = CaptureLock::take_soon(py);
    if waited && let Some(entry) = met(py, cache, slots) {
        return entry;
    }
    let Some(lock) = lock.filter(|_| !ENDED.load(Ordering::Relaxed)) else {
        STATS.note(Reason::Busy);
        return Err(Reason::Busy);
    };
    let Some(backend) = backend::registered().cloned() else { return Err(Reason::AmbientMode) };
    // Nothing of the user's runs in the middle of a capture.
    let captured = signals::deferring(py, || {
        gc::without_collection(py, || {
            without_hook(py, || {
                trampoline(|| {
                    let rewritten = cache.occupants().lock().map(|occupants| occupants.known()).unwrap_or_default();
                    let known = Found {
                        rewritten,
                        numbers: cache.numbers(),
                        occupants: cache.occupants().clone(),
                        general,
                        ..Found::default()
                    };
                    let go_on = ByContinuation { occupants: cache.occupants() };
                    capture(py, backend, subject, slots, known, &go_on).map(|captured| {
                        #[cfg(feature = "test-hooks")]
                        let captured = super::blinded::leaves_out(py, captured);
                        cache.learn(py, &captured.captured);
                        Guarded::of(py, captured, subject, general.is_some(), point_of)
                    })
                })
            })
        })
    });
    drop(lock);
    let Some(captured) = captured else {
        STATS.note(Reason::Interrupted);
        return Err(Reason::Interrupted);
    };
    match captured {
        Ok(Ok(Ok(guarded))) => {
            guarded.guards.verify_accepts(py, slots);
            let entry = guarded.entry.clone();
            match general {
                Some(_) => cache.add_general(guarded),
                None => cache.add(guarded),
            }
            orphans::count_made(py);
            cache.count_missed(&missed);
            recording::note_missed(subject, &missed);
            recording::note(&entry);
            logged::captured(py, subject, &entry, &missed);
            logged::closed(py, subject, cache);
            Ok(entry)
        }
        Ok(Ok(Err(stop))) => {
            STATS.add(&STATS.fallbacks);
            STATS.note(stop.why().reason);
            recording::note_refusal(stop.why());
            logged::refused(py, subject, stop.why());
            Err(stop.why().reason)
        }
        Ok(Err(NotNow::GivenUp)) => Err(Reason::Interrupted),
        Ok(Err(NotNow::Unavailable(why))) => {
            STATS.note(why.reason);
            recording::note_refusal(&why);
            warned::of_what_is_unusable(py, &why);
            Err(why.reason)
        }
        Err(panic) if panic.for_want_of_memory(py) => {
            STATS.note(Reason::Interrupted);
            Err(Reason::Interrupted)
        }
        Err(panic) => {
            STATS.add(&STATS.fallbacks);
            STATS.note(Reason::InternalError);
            let why = Why::new(Reason::InternalError, panic.message);
            capture_all::failed(&why);
            recording::note_refusal(&why);
            cache.close(why);
            Err(Reason::InternalError)
        }
    }
}

/// Where a callable of rewritten code asks to go on.
pub(super) fn point_of(callable: &Bound<'_, PyAny>) -> Option<Weak<ResumePoint>> {
    continuation::asked_for(callable).map(|continuation| Arc::downgrade(&continuation.point))
}
