//! What Paddle's core says on stderr the first time that a program is built or run is kept off it: the program has asked for neither.
//!
//! Its log goes through glog, which is linked into its libraries; how grave a message must be to be written is a variable that
//! they export. Who has asked for more (`GLOG_v`, `GLOG_vmodule`) is given it.

use crate::handles::Handles;
use crate::tensor_check::core_library;
use pyo3::prelude::*;
use sot_core::cpython::cxx_tensor::ExportedInt;
use std::ffi::CString;
use std::sync::OnceLock;

const LEVEL: &std::ffi::CStr = c"_ZN3fLI17FLAGS_minloglevelE";
/// What is no error is not written. (0: information, 1: warnings, 3: fatal errors.)
const ERRORS: i32 = 2;

/// The variables, of each library that has one.
fn levels(py: Python<'_>, handles: &Handles) -> &'static [ExportedInt] {
    static LEVELS: OnceLock<Vec<ExportedInt>> = OnceLock::new();
    LEVELS.get_or_init(|| {
        if ["GLOG_v", "GLOG_vmodule"].iter().any(|name| std::env::var_os(name).is_some()) {
            return Vec::new();
        }
        let core: Option<String> = handles.core.bind(py).getattr("__file__").and_then(|file| file.extract()).ok();
        let libraries = [core.and_then(|file| CString::new(file).ok()), core_library(py, handles)];
        let of = |library: CString| ExportedInt::new(&library, LEVEL, 0..=3);
        libraries.into_iter().flatten().filter_map(of).collect()
    })
}

/// As long as it lives, Paddle writes errors alone.
pub(crate) struct Quiet(Vec<(ExportedInt, i32)>);

impl Quiet {
    pub(crate) fn begin(py: Python<'_>, handles: &Handles) -> Quiet {
        let lower = levels(py, handles).iter().map(|level| (*level, level.get())).filter(|(_, was)| *was < ERRORS);
        let lower: Vec<_> = lower.collect();
        lower.iter().for_each(|(level, _)| level.set(ERRORS));
        Quiet(lower)
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        self.0.iter().for_each(|(level, was)| level.set(*was));
    }
}
