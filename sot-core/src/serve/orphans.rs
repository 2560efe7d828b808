//! Entries that can never be served again: an object that their guards name has died, or only caches hold it.
//!
//! What the program could see die is held by nobody here (see [`crate::captured::Captured::is_under_constant`]). Anything else
//! that an entry names, as a layer, a class or a function, it holds. When the program lets go of such an object nobody is told; but the
//! next call of a function that knew it misses, and asks who holds what ([`Holders`]). So a model that another has replaced
//! goes before the other is captured, and what is made afresh for each call does not fill the cache.
//!
//! Asking takes time in proportion to all that was captured, so that it is done again only after many times as long, or where a
//! cache fills.

use super::cache::CodeCache;
use super::{continuation, registry};
use crate::cpython::holders::Holders;
use crate::cpython::trampoline;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Part of the time of a process that asking may take.
const SHARE: u32 = 50;

/// A cache that has grown to so many entries is asked about in any case: before it is full.
const GROWN: [usize; 3] = [8, 24, 56];

thread_local! {
    /// What dies may run captured functions, which miss as well.
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// When to ask again.
static NEXT: Mutex<Option<Instant>> = Mutex::new(None);

/// A call has missed: drop the entries of its cache, and now and then those of all caches, that will not be served again. What
/// they held may die here, and run code of the program.
pub(super) fn drop_dead(py: Python<'_>, cache: &CodeCache) {
    let entries = cache.len();
    if entries == 0 || ASKING.replace(true) {
        return;
    }
    let start = Instant::now();
    let is_time = || NEXT.lock().is_ok_and(|next| next.is_none_or(|next| next <= start));
    let due = GROWN.contains(&entries) || is_time();
    let done = trampoline(|| {
        if !due {
            cache.remove(cache.dead(None));
            return;
        }
        let mut caches = registry::caches();
        let holders = Holders::count(py, |visit| caches.iter().for_each(|cache| cache.traverse(visit)));
        caches.extend(continuation::caches());
        // All are found before the first goes: the counts are those of now.
        let dead: Vec<_> = caches.iter().map(|cache| cache.dead(Some(&holders))).collect();
        caches.iter().zip(dead).for_each(|(cache, dead)| cache.remove(dead));
    });
    ASKING.set(false);
    if due
        && done.is_ok()
        && let Ok(mut next) = NEXT.lock()
    {
        *next = Some(Instant::now() + start.elapsed().max(Duration::from_micros(20)) * SHARE);
    }
}
