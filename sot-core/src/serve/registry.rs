//! All caches of entries, by weak keys, and what `reset` forgets. (Continuations know theirs: [`super::continuation`].)
//!
//! Nothing here keeps anything alive. A continuation is owned by the rewritten code that asks for it (see
//! [`super::continuation`]); caches are owned by the entries whose calls fill them, those of frames below included
//! ([`NestedHook`]). So what was captured goes with the function, method or layer that it was captured for, at once or when
//! the collector finds the cycle that they form. What is known of code objects goes with them
//! ([`crate::code_unit::records`]).

use super::cache::CodeCache;
use super::continuation;
use super::hook::NestedHook;
use super::misses;
use super::orphans;
use super::resting;
use crate::engine::{Alive, registries};
use std::sync::Arc;

registries! {
    /// Caches of all entries, for `reset`.
    ENTRIES: Alive<CodeCache> = "entries";
    /// What catches the frames below them.
    HOOKS: Alive<NestedHook> = "hooks of entries";
}

pub fn add_entry(cache: &Arc<CodeCache>, hook: &Arc<NestedHook>) {
    orphans::know(cache);
    ENTRIES.lock().add(cache);
    HOOKS.lock().add(hook);
}

/// Forget everything that was captured. What rewritten code that is still held refers to stays with it.
pub fn reset() {
    resting::wake_all();
    misses::forget();
    continuation::forget();
    let (caches, hooks) = (ENTRIES.lock().all(), HOOKS.lock().all());
    caches.iter().for_each(|cache| cache.clear());
    hooks.iter().for_each(|hook| hook.clear());
}
