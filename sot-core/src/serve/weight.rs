//! How much memory what was captured holds, for `sot.stats()["memory"]`.
//!
//! It is what this crate holds itself: guards, texts of reports, rewritten code, statements of graphs. Objects of the program that guards
//! name are the program's, and what a framework makes of a graph is known to it alone.

use super::cache::CodeCache;
use super::{continuation, orphans};
use hashbrown::HashSet;
use pyo3::prelude::*;
use std::sync::Arc;

/// How many of a kind, and the bytes that they hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    pub count: usize,
    pub bytes: usize,
}

/// By kind: what serves calls of functions, what serves behind breaks, graphs.
pub fn weights(py: Python<'_>) -> [(&'static str, Weight); 3] {
    let behind: HashSet<*const CodeCache> =
        continuation::all().iter().map(|continuation| Arc::as_ptr(&continuation.cache)).collect();
    let (mut entries, mut continuations, mut graphs) = (Weight::default(), Weight::default(), Weight::default());
    let mut seen = HashSet::new();
    for cache in orphans::known() {
        let (count, bytes, of_cache) = cache.weigh(py);
        let kind = if behind.contains(&Arc::as_ptr(&cache)) { &mut continuations } else { &mut entries };
        kind.count += count;
        kind.bytes += bytes;
        for graph in of_cache.iter().filter(|graph| seen.insert(Arc::as_ptr(graph))) {
            graphs.count += 1;
            graphs.bytes += graph.bytes();
        }
    }
    [("entries", entries), ("continuations", continuations), ("graphs", graphs)]
}
