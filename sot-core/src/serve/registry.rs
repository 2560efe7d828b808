//! The one engine of this process: all caches, by weak keys. (Continuations know theirs: [`super::continuation`].)
//!
//! Nothing here keeps anything alive. A continuation is owned by the rewritten code that asks for it (see
//! [`super::continuation`]); caches are owned by the entries whose calls fill them, those of frames below included
//! ([`NestedHook`]). So what was captured goes with the function, method or layer that it was captured for, at once or when
//! the collector finds the cycle that they form. What is known of code objects goes with them
//! ([`crate::code_unit::records`]).
//!
//! Lock discipline: no Python object is made or dropped while the table is locked: either may run finalizers.

use super::cache::CodeCache;
use super::continuation;
use super::hook::NestedHook;
use super::orphans;
use crate::code_unit::records;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

#[derive(Default)]
struct Engine {
    /// Caches of all entries and of the frames below them, for `reset`.
    entries: Vec<(Weak<CodeCache>, Weak<NestedHook>)>,
}

static ENGINE: Mutex<Option<Engine>> = Mutex::new(None);

fn engine() -> MutexGuard<'static, Option<Engine>> {
    ENGINE.lock().expect("the engine")
}

pub fn add_entry(cache: &Arc<CodeCache>, hook: &Arc<NestedHook>) {
    orphans::know(cache);
    let mut engine = engine();
    let entries = &mut engine.get_or_insert_default().entries;
    if entries.len() == entries.capacity() {
        entries.retain(|(cache, _)| cache.strong_count() > 0);
    }
    entries.push((Arc::downgrade(cache), Arc::downgrade(hook)));
}

/// Forget everything that was captured. What rewritten code that is still held refers to stays with it.
pub fn reset() {
    records::unserve_all();
    continuation::forget();
    type Live = (Option<Arc<CodeCache>>, Option<Arc<NestedHook>>);
    let entries: Vec<Live> = {
        let mut engine = engine();
        let engine = engine.get_or_insert_default();
        engine.entries.iter().map(|(cache, hook)| (cache.upgrade(), hook.upgrade())).collect()
    };
    for (cache, hook) in entries {
        cache.inspect(|cache| cache.clear());
        hook.inspect(|hook| hook.clear());
    }
}
