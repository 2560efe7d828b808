//! What serves the calls of this thread, noted while somebody asks (`sot.explain`).

use super::cache::Entry;
use super::logged::name_of;
use super::misses::Miss;
use crate::capture::Subject;
use crate::stop::Why;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// What served the calls of one thread for a while.
#[derive(Default)]
pub struct Recording {
    pub entries: Vec<Arc<Entry>>,
    pub refusals: Vec<Why>,
    /// Why what had been captured before did not serve: what was captured again, and the guard that each entry failed.
    pub missed: Vec<(String, Vec<Miss>)>,
}

thread_local! {
    /// Whether this thread records: asked at each call, so kept apart.
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

/// Whether this thread records.
pub fn recording() -> bool {
    ACTIVE.get()
}

/// An entry serves a call.
pub fn note(entry: &Arc<Entry>) {
    if !ACTIVE.get() {
        return;
    }
    RECORDING.with(|r| {
        if let Some(recording) = r.borrow_mut().as_mut()
            && !recording.entries.iter().any(|e| Arc::ptr_eq(e, entry))
        {
            recording.entries.push(entry.clone());
        }
    });
}

/// A call was captured though others had been.
pub fn note_missed(subject: &Subject<'_, '_>, missed: &[Miss]) {
    if missed.is_empty() || !ACTIVE.get() {
        return;
    }
    let noted = (name_of(subject), missed.to_vec());
    RECORDING.with(|r| {
        if let Some(recording) = r.borrow_mut().as_mut() {
            recording.missed.push(noted);
        }
    });
}

/// Nothing was captured.
pub fn note_refusal(why: &Why) {
    RECORDING.with(|r| {
        if let Some(recording) = r.borrow_mut().as_mut() {
            recording.refusals.push(why.clone());
        }
    });
}

/// Run a call, and what served it.
pub fn record<R>(call: impl FnOnce() -> R) -> (R, Recording) {
    let outer = RECORDING.with(|r| r.borrow_mut().replace(Recording::default()));
    let was_active = ACTIVE.replace(true);
    let result = call();
    ACTIVE.set(was_active);
    let recording = RECORDING.with(|r| std::mem::replace(&mut *r.borrow_mut(), outer)).unwrap_or_default();
    (result, recording)
}
