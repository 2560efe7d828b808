//! Clocks of module `time`: what they say is known only when they are asked.
//!
//! New code asks each at its place in the order of the program: before the graph or behind it, once, and keeps what it said. A clock
//! that is asked between two operations of the graph is a break, and so is one whose answer decides anything: no guard can ask what
//! will be said.

use crate::cpython::native::{NativeBody, new_native};
use crate::cpython::slots::Slots;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::any::Any;

/// Functions without arguments that give a float or an int.
const CLOCKS: &[&str] = &[
    "monotonic",
    "monotonic_ns",
    "perf_counter",
    "perf_counter_ns",
    "process_time",
    "process_time_ns",
    "thread_time",
    "thread_time_ns",
    "time",
    "time_ns",
];

/// Whether a function of C is one of them.
pub(crate) fn is_clock(module: &str, name: &str) -> bool {
    module == "time" && CLOCKS.contains(&name)
}

/// What one call of a clock says, as an object: where its path starts. It has no answer for who follows the path.
pub(crate) fn reading(py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
    new_native(py, Box::new(Reading(name.to_owned())))
}

struct Reading(String);

impl NativeBody for Reading {
    fn call<'py>(&self, _py: Python<'py>, _args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        Err(PyRuntimeError::new_err("sot: a clock is asked by new code alone"))
    }

    fn name(&self) -> &str {
        &self.0
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}
