//! Entries that can never be served again: an object that their guards name has died, or only caches hold it.
//!
//! What the program could see die is held by nobody here (see [`crate::captured::Captured::is_under_constant`]). Anything else
//! that an entry names, as a layer, a class or a function, it holds. When the program lets go of such an object nobody is told; but the
//! next call of a function that knew it misses, and asks who holds what ([`Holders`]). So a model that another has replaced
//! goes before the other is captured, and what is made afresh for each call does not fill the cache.
//!
//! Asking takes time in proportion to all that was captured, so that it is done again only after many times as long, or where a
//! cache fills. Where no choice is to depend on a clock ([`settings::by_measurement`]), the latter alone counts.

use super::cache::CodeCache;
use crate::cpython::holders::Holders;
use crate::cpython::trampoline;
use crate::settings;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

/// Part of the time of a process that asking may take.
const SHARE: u32 = 50;

/// A cache that has grown to so many entries is asked about in any case: before it is full.
const GROWN: [usize; 2] = [16, 48];

thread_local! {
    /// What dies may run captured functions, which miss as well.
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// When to ask again.
static NEXT: Mutex<Option<Instant>> = Mutex::new(None);

/// Who owns a cache.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Function,
    /// Rewritten code, which is held by an entry of another cache.
    Continuation,
}

/// All caches. Nothing is dropped while it is locked.
static KNOWN: Mutex<Vec<(Weak<CodeCache>, Owner)>> = Mutex::new(Vec::new());

/// A cache was made.
pub(super) fn know(cache: &Arc<CodeCache>, owner: Owner) {
    let mut known = KNOWN.lock().expect("the caches");
    if known.len() == known.capacity() {
        known.retain(|(cache, _)| cache.strong_count() > 0);
    }
    known.push((Arc::downgrade(cache), owner));
}

/// All caches that live.
fn alive() -> Vec<(Arc<CodeCache>, Owner)> {
    let known = KNOWN.lock().map(|known| known.clone()).unwrap_or_default();
    known.iter().filter_map(|(cache, owner)| Some((cache.upgrade()?, *owner))).collect()
}

/// Forget what all of them hold, those of continuations included, which rewritten code that runs would otherwise keep.
pub(super) fn clear_all() {
    alive().into_iter().for_each(|(cache, _)| cache.clear());
}

/// A call has missed: drop the entries of its cache, and now and then those of all caches, that will not be served again. What
/// they held may die here, and run code of the program.
pub(super) fn drop_dead(py: Python<'_>, cache: &CodeCache) {
    let entries = cache.len();
    if entries == 0 || ASKING.replace(true) {
        return;
    }
    let start = Instant::now();
    let is_time = || settings::by_measurement() && NEXT.lock().is_ok_and(|next| next.is_none_or(|next| next <= start));
    let due = GROWN.contains(&entries) && cache.has_grown_to(entries) || is_time();
    let done = trampoline(|| {
        if !due {
            cache.remove(cache.dead(py, None));
            return;
        }
        let caches = alive();
        let of_functions = || caches.iter().filter(|(_, owner)| *owner == Owner::Function);
        let holders = Holders::count(py, |visit| of_functions().for_each(|(cache, _)| cache.traverse(visit)));
        // All are found before the first goes: the counts are those of now.
        let dead: Vec<_> = caches.iter().map(|(cache, _)| cache.dead(py, Some(&holders))).collect();
        caches.iter().zip(dead).for_each(|((cache, _), dead)| cache.remove(dead));
    });
    ASKING.set(false);
    if due
        && done.is_ok()
        && let Ok(mut next) = NEXT.lock()
    {
        *next = Some(Instant::now() + start.elapsed().max(Duration::from_micros(20)) * SHARE);
    }
}
