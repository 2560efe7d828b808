//! Caches of wrapped functions by their code, for frames of them that are met below others.

use super::cache::CodeCache;
use crate::engine::registries;
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict};
use std::sync::{Arc, Weak};

/// The addresses of code and globals. Who is in the table holds both.
pub(super) type Key = (usize, usize);

registries! {
    /// Of functions without cells: what another one of this code and these globals does, it does, too.
    BY_CODE: HashMap<Key, Weak<CodeCache>> = "captured functions by code";
}

pub(super) fn add(key: Key, cache: &Arc<CodeCache>) {
    BY_CODE.lock().insert(key, Arc::downgrade(cache));
}

/// Its owner goes.
pub(super) fn remove(key: Key, cache: &Arc<CodeCache>) {
    let mut by_code = BY_CODE.lock();
    if by_code.get(&key).is_some_and(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(cache))) {
        by_code.remove(&key);
    }
}

/// The cache from which frames of a function without cells are served, if somebody has wrapped it.
pub(super) fn cache_of(code: &Bound<'_, PyCode>, globals: &Bound<'_, PyDict>) -> Option<Arc<CodeCache>> {
    BY_CODE.lock().get(&(code.as_ptr() as usize, globals.as_ptr() as usize))?.upgrade()
}
