//! The end of the process: what was captured goes before the program's modules do.
//!
//! Caches hold functions and classes of the program, and so the globals of its modules, where the collector that takes
//! modules apart at the end does not find them: no finalizer of what they hold would run. What runs from then on runs as
//! plain Python, and nothing is captured any more.

use super::hook::process_hook;
use super::{lookup, orphans, registry};
use crate::capture_all;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyModule};

/// Be told of the end, behind all functions of the program that are registered from now on.
pub fn prepare(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let end = PyCFunction::new_closure(py, None, None, |args, _| {
        lookup::end();
        // What runs now in this thread no longer asks.
        let _ = capture_all::stop(args.py());
        registry::reset();
        process_hook().clear();
        orphans::clear_all();
    })?;
    crate::cpython::module(py, "atexit")?.call_method1("register", (end,)).map(drop)
}
