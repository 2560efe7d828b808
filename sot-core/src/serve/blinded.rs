//! Captures that miss a guard, for the tests of what finds such a defect (`SOT_VERIFY=1`). It is there with the feature `test-hooks` only.

use crate::capture::Capture;
use crate::guards::GuardText;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Guards in whose texts this is are left out; empty: none is.
static BLIND: Mutex<String> = Mutex::new(String::new());

/// A capture without such guards.
pub(super) fn leaves_out(py: Python<'_>, mut capture: Capture) -> Capture {
    let blind = BLIND.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if !blind.is_empty() {
        let lines = GuardText::lines(py, &capture.captured, &capture.slots);
        capture.captured.guards.retain(&mut |at, _| !lines[at].contains(&blind));
    }
    capture
}

/// Captures from now on leave out guards in whose texts this is; `""`: none.
#[pyfunction]
fn blind_to(text: String) {
    *BLIND.lock().unwrap_or_else(PoisonError::into_inner) = text;
}

/// Adds this function to the module of a test backend.
pub fn add_test_probes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(blind_to, module)?)
}
