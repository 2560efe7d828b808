//! What differs between the releases of Paddle, in one table, and what is said of a release that nobody has tried.
//!
//! A part of Paddle that has moved is looked for at each place that a release had it, the newest first. A part that is at
//! none of them is a clear error that names the release, the part and the places: then nothing is captured.

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use sot_core::cpython::warn;

/// The first and the last release that the tests run on, as (major, minor).
pub(crate) const TRIED: ((u64, u64), (u64, u64)) = ((3, 0), (3, 3));

/// A part of Paddle, and where its releases have it.
pub(crate) struct Part {
    what: &'static str,
    homes: &'static [Home],
}

struct Home {
    /// The first release that has it there.
    since: &'static str,
    module: &'static str,
    name: &'static str,
}

/// The recorder of eager tensors that a program has met while it was built.
pub(crate) const RECORDER: Part = Part {
    what: "the recorder of parameters",
    homes: &[
        Home { since: "3.3", module: "paddle.jit.dy2static.parameter_recorder", name: "_global_parameter_recorder" },
        Home {
            since: "3.0",
            module: "paddle.jit.pir_dy2static.parameter_recorder",
            name: "_global_parameter_recorder",
        },
    ],
};

impl Part {
    pub(crate) fn find<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        for home in self.homes {
            if let Ok(found) = py.import(home.module).and_then(|module| module.getattr(home.name)) {
                return Ok(found);
            }
        }
        let homes: Vec<String> =
            self.homes.iter().map(|at| format!("{}.{} (since {})", at.module, at.name, at.since)).collect();
        Err(PyImportError::new_err(format!("{} is not at {}", self.what, homes.join(" or "))))
    }
}

/// The version that Paddle says it has.
pub(crate) fn version(py: Python<'_>) -> String {
    let version = py.import("paddle").and_then(|paddle| paddle.getattr("__version__")?.extract());
    version.unwrap_or_else(|_| "of unknown version".to_owned())
}

fn release(version: &str) -> Option<(u64, u64)> {
    let mut numbers = version.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Whether the tests run on this release.
fn is_tried(version: &str) -> bool {
    release(version).is_some_and(|release| (TRIED.0..=TRIED.1).contains(&release))
}

/// Warns where the tests do not run on this release, although everything that is needed was found.
pub(crate) fn warn_of_untried(py: Python<'_>) {
    let version = version(py);
    if is_tried(&version) {
        return;
    }
    let ((major, first), (_, last)) = TRIED;
    let text = format!("sot was not tried with PaddlePaddle {version}, but with {major}.{first} to {major}.{last}");
    warn(py, &text, None);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_by_two_numbers() {
        for tried in ["3.0.0", "3.0.0rc1", "3.1.1", "3.2.2", "3.3.1", "3.3"] {
            assert!(is_tried(tried), "{tried}");
        }
        for other in ["2.6.2", "3.4.0", "4.0.0", "0.0.0", "", "three", "3"] {
            assert!(!is_tried(other), "{other}");
        }
    }
}
