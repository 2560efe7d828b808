//! The one engine of this process: all caches and continuations, by weak keys.
//!
//! Nothing here keeps anything alive. A continuation is owned by the rewritten code that asks for it (see
//! [`super::continuation`]); caches are owned by the entries whose calls fill them, those of frames below included
//! ([`NestedHook`]). So what was captured goes with the function, method or layer that it was captured for, at once or when
//! the collector finds the cycle that they form. What is known of code objects goes with them
//! ([`crate::code_unit::records`]).
//!
//! Lock discipline: no Python object is made or dropped while the table is locked. Either may run finalizers, and the death
//! of a continuation comes back here.

use super::cache::CodeCache;
use super::continuation::Continuation;
use super::hook::NestedHook;
use crate::code_unit::records;
use crate::shapes::FrameKey;
use hashbrown::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

#[derive(Default)]
struct Engine {
    continuations: HashMap<Vec<FrameKey>, Weak<Continuation>>,
    /// Caches of all entries and of the frames below them, for `reset`.
    entries: Vec<(Weak<CodeCache>, Weak<NestedHook>)>,
}

static ENGINE: Mutex<Option<Engine>> = Mutex::new(None);

fn engine() -> MutexGuard<'static, Option<Engine>> {
    ENGINE.lock().expect("the engine")
}

/// The continuation of a shape, if it is still in use.
pub fn continuation(key: &[FrameKey]) -> Option<Arc<Continuation>> {
    engine().as_ref()?.continuations.get(key)?.upgrade()
}

pub fn add_continuation(key: Vec<FrameKey>, continuation: &Arc<Continuation>) {
    engine().get_or_insert_default().continuations.insert(key, Arc::downgrade(continuation));
}

/// A continuation is gone. Another one may have taken its place.
pub fn remove_continuation(key: &[FrameKey]) {
    let mut engine = engine();
    if let Some(engine) = engine.as_mut()
        && engine.continuations.get(key).is_some_and(|c| c.strong_count() == 0)
    {
        engine.continuations.remove(key);
    }
}

pub fn add_entry(cache: &Arc<CodeCache>, hook: &Arc<NestedHook>) {
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
    type Live = (Option<Arc<CodeCache>>, Option<Arc<NestedHook>>);
    let entries: Vec<Live> = {
        let mut engine = engine();
        let engine = engine.get_or_insert_default();
        engine.continuations.clear();
        engine.entries.iter().map(|(cache, hook)| (cache.upgrade(), hook.upgrade())).collect()
    };
    for (cache, hook) in entries {
        cache.inspect(|cache| cache.clear());
        hook.inspect(|hook| hook.clear());
    }
}
