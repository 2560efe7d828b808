//! The user's contract in Python: `set_eval_frame(callback)` and `CustomCode(code, disable_eval_frame)`.
//!
//! `callback(frame)` answers with a `CustomCode`, or None for `(None, False)`:
//!
//! | code | disable | the frame runs | frames it calls |
//! |------|---------|----------------|-----------------|
//! | None | True    | as it is       | are not shown   |
//! | code | True    | `code`         | are not shown   |
//! | code | False   | `code`         | are shown       |
//! | None | False   | as it is       | are shown       |
//!
//! A callback that raises, answers anything else or gives code that does not fit never disturbs the
//! program: the frame runs as it is, and the first time of each kind there is a `RuntimeWarning`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::{PyKeyboardInterrupt, PyRecursionError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCode, PyDict, PyTuple, PyType};

use super::frame::FrameView;
use super::hook::{Decision, FrameHook, Misfit, Token};
use super::hook_install::set_global;
use super::offsets::offsets;
use super::trampoline::{hook_failures, note_failure};
use super::warnings::warn;

/// What a callback gets to see of a frame that is about to run.
#[pyclass(frozen, get_all, module = "sot", name = "Frame")]
struct PyFrameView {
    f_code: Py<PyCode>,
    f_globals: Py<PyDict>,
    /// Bound arguments, and the contents of free variables.
    f_locals: Py<PyDict>,
    f_builtins: Py<PyAny>,
    /// -1: the frame has not started.
    f_lasti: i32,
    /// The function, where known (3.11 and later).
    f_func: Option<Py<PyAny>>,
}

impl PyFrameView {
    fn new(frame: &FrameView<'_, '_>) -> PyResult<Self> {
        Ok(PyFrameView {
            f_code: frame.code().unbind(),
            f_globals: frame.globals().unbind(),
            f_locals: frame.locals()?.unbind(),
            f_builtins: frame.builtins().unbind(),
            f_lasti: -1,
            f_func: frame.function().map(Bound::unbind),
        })
    }
}

static CUSTOM_CODE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The namedtuple `CustomCode(code, disable_eval_frame)`.
pub fn custom_code_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let ty = CUSTOM_CODE.get_or_try_init(py, || -> PyResult<Py<PyType>> {
        let options = PyDict::new(py);
        options.set_item("module", "sot")?;
        let fields = ("CustomCode", ("code", "disable_eval_frame"));
        let ty = crate::cpython::module(py, "collections")?.call_method("namedtuple", fields, Some(&options))?;
        Ok(ty.cast_into::<PyType>()?.unbind())
    })?;
    Ok(ty.bind(py))
}

/// A hook made of a Python callable.
struct PythonHook {
    callback: Py<PyAny>,
    /// One flag per kind of complaint: raised, answer, misfit.
    warned: [AtomicBool; 3],
}

impl PythonHook {
    fn ask(&self, py: Python<'_>, frame: &FrameView<'_, '_>) -> PyResult<Decision> {
        let view = Bound::new(py, PyFrameView::new(frame)?)?;
        let answer = match self.callback.bind(py).call1((view,)) {
            Ok(answer) => answer,
            Err(error) => {
                if error.is_instance_of::<PyKeyboardInterrupt>(py) {
                    note_failure();
                    // SAFETY: callable from any thread; the user's Ctrl-C arrives in the frame instead.
                    unsafe { ffi::PyErr_SetInterrupt() };
                } else if error.is_instance_of::<PyRecursionError>(py) {
                    // The program is at its limit, not the callback at fault.
                    note_failure();
                } else {
                    self.complain(py, 0, &format!("raised {error}"));
                }
                return Ok(Decision::Run { keep_hook: true });
            }
        };
        if answer.is_none() {
            return Ok(Decision::Run { keep_hook: true });
        }
        let parsed = answer.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2);
        let Some(pair) = parsed else {
            self.complain(py, 1, &format!("returned {}", describe(&answer)));
            return Ok(Decision::Run { keep_hook: true });
        };
        let keep_hook = !pair.get_item(1)?.is_truthy()?;
        let code = pair.get_item(0)?;
        if code.is_none() {
            return Ok(Decision::Run { keep_hook });
        }
        match code.cast_into::<PyCode>() {
            Ok(code) => Ok(Decision::Replace { code: code.unbind(), keep_hook, token: None }),
            Err(error) => {
                let what = format!("returned a CustomCode of {}", describe(&error.into_inner()));
                self.complain(py, 1, &what);
                Ok(Decision::Run { keep_hook: true })
            }
        }
    }

    /// Warns once per kind. A warning turned into an error is printed, not raised.
    fn complain(&self, py: Python<'_>, kind: usize, what: &str) {
        if kind != 2 {
            note_failure();
        }
        if self.warned[kind].swap(true, Ordering::Relaxed) {
            return;
        }
        let text = format!(
            "the sot.set_eval_frame callback {what}; the original code runs instead. Return \
             sot.CustomCode(code, disable_eval_frame) with code None or one of the same arguments and \
             free variables (co_freevars), or None; sot.set_eval_frame(None) removes the callback"
        );
        warn(py, &text, Some(self.callback.bind(py)));
    }
}

fn describe(value: &Bound<'_, PyAny>) -> String {
    match value.get_type().name() {
        Ok(name) => format!("a {name}"),
        Err(_) => "something unknown".to_owned(),
    }
}

impl FrameHook for PythonHook {
    fn on_frame<'py>(&self, py: Python<'py>, frame: &FrameView<'_, 'py>) -> Decision {
        self.ask(py, frame).unwrap_or_else(|error| {
            self.complain(py, 1, &format!("gave an answer that raised {error}"));
            Decision::Run { keep_hook: true }
        })
    }

    fn refused(&self, py: Python<'_>, _token: Option<Token>, why: Misfit) {
        self.complain(py, 2, &format!("gave code that does not fit: {}", why.describe()));
    }

    fn python_callback(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        Some(self.callback.clone_ref(py))
    }
}

/// set_eval_frame(callback, /)
/// --
///
/// Calls `callback(frame)` before each function that this thread calls from now on, until it is set
/// again; None removes it. Returns the callback before, or None.
#[pyfunction]
#[pyo3(text_signature = "(callback, /)")]
fn set_eval_frame<'py>(py: Python<'py>, callback: Bound<'py, PyAny>) -> PyResult<Option<Py<PyAny>>> {
    let hook: Option<Arc<dyn FrameHook>> = if callback.is_none() {
        None
    } else if callback.is_callable() {
        Some(Arc::new(PythonHook { callback: callback.unbind(), warned: Default::default() }))
    } else {
        return Err(PyTypeError::new_err(format!(
            "set_eval_frame() takes a callable or None, not {}",
            describe(&callback)
        )));
    };
    let before = set_global(py, hook)?;
    Ok(before.and_then(|hook| hook.python_callback(py)))
}

/// Offsets of the CPython struct fields that this build reads.
#[pyfunction]
fn _offsets() -> Vec<(&'static str, usize)> {
    offsets()
}

/// How often the original code ran because a callback failed.
#[pyfunction]
fn _hook_failures() -> u64 {
    hook_failures()
}

/// Adds `set_eval_frame` and `CustomCode`.
pub fn add_python_api(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("CustomCode", custom_code_type(module.py())?)?;
    module.add_function(wrap_pyfunction!(set_eval_frame, module)?)
}

/// Adds the underscored functions that the tests of the door use. Modules that are shipped have none of them.
pub fn add_test_probes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_offsets, module)?)?;
    module.add_function(wrap_pyfunction!(_hook_failures, module)?)?;
    super::probe::add(module)
}
