//! Caches of wrapped functions by their code, for frames of them that are met below others: those are served by what is there, and
//! never captured a second time.

use super::cache::CodeCache;
use crate::engine::registries;
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict};
use std::sync::{Arc, Weak};

/// The addresses of code and globals. Who is in the table holds both.
pub(super) type Key = (usize, usize);

/// A wrapped function.
struct Wrapped {
    cache: Weak<CodeCache>,
    /// It has neither cells nor a receiver: what it does, each function of this code and these globals does.
    serves_frames: bool,
}

registries! {
    /// The function of a code object that was wrapped last.
    BY_CODE: HashMap<Key, Wrapped> = "captured functions by code";
}

pub(super) fn add(key: Key, cache: &Arc<CodeCache>, serves_frames: bool) {
    BY_CODE.lock().insert(key, Wrapped { cache: Arc::downgrade(cache), serves_frames });
}

/// Its owner goes.
pub(super) fn remove(key: Key, cache: &Arc<CodeCache>) {
    let mut by_code = BY_CODE.lock();
    if by_code.get(&key).is_some_and(|known| std::ptr::eq(known.cache.as_ptr(), Arc::as_ptr(cache))) {
        by_code.remove(&key);
    }
}

/// Whether frames of this code are those of a wrapped function, and the cache that may serve them.
pub(super) fn of_frame(code: &Bound<'_, PyCode>, globals: &Bound<'_, PyDict>) -> Option<Option<Arc<CodeCache>>> {
    let by_code = BY_CODE.lock();
    let wrapped = by_code.get(&(code.as_ptr() as usize, globals.as_ptr() as usize))?;
    Some(wrapped.cache.upgrade().filter(|_| wrapped.serves_frames))
}
