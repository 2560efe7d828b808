//! What a frame hook is: asked about each new frame of its thread, it says what the frame runs.
//!
//! A hook is installed by `hook_install`, asked by `hook_eval`. It is never called for: generator-like code, a frame
//! resumed by `throw`, code that is not optimised (modules, class bodies), frames of trace functions, frames run by a
//! callback, and frames that belong to another copy of this crate (`copies`). If it panics or its replacement does not fit, the frame runs untouched and the failure is counted.

use pyo3::prelude::*;
use pyo3::types::PyCode;

use super::frame::FrameView;

/// Links a replacement to the [`FrameHook::finish`] call that follows it.
pub type Token = u64;

/// Decides what each new frame runs.
pub trait FrameHook: Send + Sync + 'static {
    fn on_frame<'py>(&self, py: Python<'py>, frame: &FrameView<'_, 'py>) -> Decision;

    /// Called with the outcome of a replaced frame that had a token; returns the final outcome.
    fn finish<'py>(
        &self,
        py: Python<'py>,
        token: Token,
        result: PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = (py, token);
        result
    }

    /// Called instead of running a replacement that does not fit; the original frame runs next and
    /// `finish` is not called.
    fn refused(&self, py: Python<'_>, token: Option<Token>, why: Misfit) {
        let _ = (py, token, why);
    }

    /// The Python callable behind the hook, if there is one.
    fn python_callback(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let _ = py;
        None
    }
}

/// What a frame runs.
pub enum Decision {
    /// Its own code.
    Run { keep_hook: bool },
    /// Other code, with the same arguments and closure.
    Replace { code: Py<PyCode>, keep_hook: bool, token: Option<Token> },
}

/// Why a replacement cannot run in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// Another number of argument slots.
    Arguments,
    /// Other free variables.
    Closure,
    /// A generator, coroutine or non-optimised code object.
    Kind,
    /// CPython could not make the frame.
    Memory,
}

impl Misfit {
    pub fn describe(self) -> &'static str {
        match self {
            Misfit::Arguments => "it takes another number of arguments than the frame has",
            Misfit::Closure => "its free variables (co_freevars) differ from the frame's",
            Misfit::Kind => "it is a generator, a coroutine or not the code of a function",
            Misfit::Memory => "no frame could be made for it",
        }
    }
}
