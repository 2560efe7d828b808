//! Entries that can never be served again: an object that their guards name has died, or only caches hold it.
//!
//! What the program could see die is held by nobody here (see [`crate::captured::Captured::is_under_constant`]). Anything else
//! that an entry names, as a layer, a class or a function, it holds. When the program lets go of such an object nobody is told; but the
//! next call of a function that knew it misses, and asks who holds what ([`Holders`]). So a model that another has replaced
//! goes before the other is captured, and what is made afresh for each call does not fill the cache.
//!
//! Asked before each collection of all that is old ([`count_made`]): what lives in a cycle, as a class does, dies in it as it
//! would in plain Python. Else asking takes time in proportion to all that was captured, so that it is done again only after many times as long, or where a
//! cache fills and a good part of all entries is new since the last time. Where no choice is to depend on a clock
//! ([`settings::captures_by_measurement`]), the latter alone counts.

use super::cache::CodeCache;
use super::resting;
use crate::cpython::collections::at_collections;
use crate::cpython::holders::Holders;
use crate::cpython::trampoline;
use crate::engine::{Alive, registries};
use crate::settings;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Part of the time of a process that asking may take.
const SHARE: u32 = 50;

/// A cache that has grown to so many entries is asked about without a look at the clock: before it is full.
const GROWN: [usize; 2] = [16, 48];

/// The generation of the collector that holds what is old: who collects it collects all.
const OLDEST: u32 = 2;

/// Part of all entries that is new, for a cache that has grown: so each entry is looked at for a few times its number at most.
const NEW: usize = 32;

/// Entries that were made since all were looked at, and those that there were then.
static MADE: AtomicUsize = AtomicUsize::new(0);
static KEPT: AtomicUsize = AtomicUsize::new(0);

/// An entry was made.
pub(super) fn count_made(py: Python<'_>) {
    static ASKED: AtomicBool = AtomicBool::new(false);
    MADE.fetch_add(1, Ordering::Relaxed);
    if ASKED.swap(true, Ordering::Relaxed) {
        return;
    }
    // Ask whenever a collection begins that looks at everything: what caches alone hold is then found to be dead. Without it
    // objects live on to the next miss.
    let asked = at_collections(py, |py, generation| {
        if generation == OLDEST {
            resting::before_collection(py);
            drop_all_dead(py);
        }
    });
    ASKED.store(!matches!(asked, Ok(false)), Ordering::Relaxed);
}

fn many_are_new() -> bool {
    MADE.load(Ordering::Relaxed) >= KEPT.load(Ordering::Relaxed) / NEW
}

thread_local! {
    /// What dies may run captured functions, which miss as well.
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// When to ask again.
static NEXT: Mutex<Option<Instant>> = Mutex::new(None);

registries! {
    /// All caches, those of continuations too.
    KNOWN: Alive<CodeCache> = "caches";
}

/// A cache was made.
pub(super) fn know(cache: &Arc<CodeCache>) {
    KNOWN.lock().add(cache);
}

/// All caches.
pub(super) fn known() -> Vec<Arc<CodeCache>> {
    KNOWN.lock().all()
}

/// Forget what all of them hold, those of continuations included, which rewritten code that runs would otherwise keep.
pub(super) fn clear_all() {
    let known = KNOWN.lock().all();
    known.iter().for_each(|cache| cache.clear());
}

fn drop_all_dead(py: Python<'_>) {
    if ASKING.replace(true) {
        return;
    }
    let _ = trampoline(|| ask(py));
    ASKING.set(false);
}

/// Drop the entries of all caches that will not be served again.
fn ask(py: Python<'_>) {
    let caches = KNOWN.lock().all();
    let holders = Holders::count(py, |visit| caches.iter().for_each(|cache| cache.traverse(visit)));
    // All are found before the first goes: the counts are those of now.
    let dead: Vec<_> = caches.iter().map(|cache| cache.dead(py, Some(&holders))).collect();
    caches.iter().zip(dead).for_each(|(cache, dead)| cache.remove(dead));
    MADE.store(0, Ordering::Relaxed);
    KEPT.store(caches.iter().map(|cache| cache.len()).sum(), Ordering::Relaxed);
}

/// A call has missed: drop the entries of its cache, and now and then those of all caches, that will not be served again. What
/// they held may die here, and run code of the program.
pub(super) fn drop_dead(py: Python<'_>, cache: &CodeCache) {
    let entries = cache.len();
    if entries == 0 || ASKING.replace(true) {
        return;
    }
    let start = Instant::now();
    let is_time =
        || settings::captures_by_measurement() && NEXT.lock().is_ok_and(|next| next.is_none_or(|next| next <= start));
    let due = GROWN.contains(&entries) && many_are_new() && cache.has_grown_to(entries) || is_time();
    let done = trampoline(|| {
        if due {
            ask(py);
        } else {
            cache.remove(cache.dead(py, None));
        }
    });
    ASKING.set(false);
    if due
        && done.is_ok()
        && let Ok(mut next) = NEXT.lock()
    {
        *next = Some(Instant::now() + start.elapsed().max(Duration::from_micros(20)) * SHARE);
    }
}
