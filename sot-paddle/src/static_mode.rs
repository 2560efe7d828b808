//! Entering and leaving the mode in which Paddle appends operations instead of running them.
//!
//! One [`StaticMode`] brackets one capture. It changes, in this order, and restores in the reverse order:
//! 1. the tracer of this thread (no tracer: operations are appended; other threads stay eager);
//! 2. the main and startup programs and the insertion point;
//! 3. the "to static" flag (layers hand out symbolic values for their parameters);
//! 4. the hook that converts eager arguments of operations.
//!
//! Two functions are replaced, for the thread of the capture, only while Paddle's own code builds ([`StaticMode::building`]):
//! the simulated program must find the originals. `traceback.extract_stack`, which Paddle calls for every appended operation,
//! answers with the lines of the user's program that is being simulated; `warnings.warn` says nothing: what building warns
//! of, running warns of too, or it is nobody's affair. What is for a line of the program to give is remembered
//! ([`Building::warned`]): run from a graph it would name another line.
//!
//! **Invariant:** leaving never fails halfway: every step is tried, on success, error and drop alike.

use crate::handles::Handles;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use sot_core::backend::UserFrame;
use sot_core::cpython::module;
use sot_core::replaced::Replaced;
use std::cell::Cell;
use std::sync::{Arc, OnceLock};

/// While it lives, Paddle's code builds.
pub(crate) struct Building<'py> {
    _stack: Replaced<'py>,
    _silence: Replaced<'py>,
    warned: Arc<OnceLock<String>>,
}

impl Building<'_> {
    /// The first warning meanwhile that names a line of the program.
    pub(crate) fn warned(&self) -> Option<&str> {
        self.warned.get().map(String::as_str)
    }
}

/// Whether `warnings.warn` with these arguments, of which the third is the level, would name a line outside of the code that builds.
/// `outside`: the innermost frame when that began.
fn names_the_program(
    outside: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<bool> {
    let py = outside.py();
    let by_name = kwargs.and_then(|kwargs| kwargs.get_item(intern!(py, "stacklevel")).ok()?);
    let level = match args.get_item(2).ok().or(by_name) {
        Some(level) => level.extract::<isize>()?,
        None => 1,
    };
    // The innermost frame is that which warns.
    let mut frame = innermost_frame(py)?;
    for _ in 1..level {
        if frame.is(outside) {
            break;
        }
        frame = frame.getattr(intern!(py, "f_back"))?;
    }
    Ok(frame.is(outside) || frame.is_none())
}

fn innermost_frame(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    module(py, "sys")?.getattr(intern!(py, "_getframe"))?.call0()
}

/// The first line of a warning that says something. Paddle paints its warnings and writes a headline above some.
pub(crate) fn gist(text: &str) -> String {
    let mut plain = String::new();
    for (at, part) in text.split("\u{1b}[").enumerate() {
        let unpainted = if at == 0 { Some(part) } else { part.split_once('m').map(|(_, rest)| rest) };
        plain.push_str(unpainted.unwrap_or_default());
    }
    let says = |line: &&str| !line.is_empty() && !line.ends_with(':');
    plain.lines().map(str::trim).find(says).unwrap_or_default().to_owned()
}

/// Takes back one step of entering.
type Back = Box<dyn FnOnce(Python<'_>, &Handles) -> PyResult<()> + Send + Sync>;

/// The open mode; dropping it leaves it.
pub(crate) struct StaticMode {
    handles: Arc<Handles>,
    /// What was changed, in this order.
    back: Vec<Back>,
    shown: Vec<UserFrame>,
}

impl StaticMode {
    pub(crate) fn enter(
        py: Python<'_>,
        handles: &Arc<Handles>,
        main: &Bound<'_, PyAny>,
        startup: &Bound<'_, PyAny>,
    ) -> PyResult<StaticMode> {
        fill_stack(py, handles, &[])?;
        let mut mode = StaticMode { handles: handles.clone(), back: Vec::new(), shown: Vec::new() };
        // If a step fails, dropping the mode takes back those before it.
        mode.change(py, main, startup)?;
        Ok(mode)
    }

    fn change(&mut self, py: Python<'_>, main: &Bound<'_, PyAny>, startup: &Bound<'_, PyAny>) -> PyResult<()> {
        let handles = self.handles.clone();
        let global_var = handles.global_var.bind(py);
        let pir_core = handles.pir_core.bind(py);
        let tracer = global_var.getattr(intern!(py, "_dygraph_tracer_"))?.unbind();
        let to_static = global_var.getattr(intern!(py, "_in_to_static_mode_"))?.unbind();

        EAGER.set(Some(tracer.clone_ref(py)));
        self.back.push(Box::new(move |py, handles| {
            EAGER.set(None);
            set_tracer(py, handles, tracer.bind(py))
        }));
        set_tracer(py, &handles, &py.None().into_bound(py))?;

        let switch_main = pir_core.getattr(intern!(py, "switch_main_program"))?;
        let before = switch_main.call1((main,))?.cast_into::<PyTuple>()?.unbind();
        let switch = switch_main.unbind();
        self.back.push(Box::new(move |py, _| switch.bind(py).call1(before.bind(py)).map(drop)));

        let switch_startup = pir_core.getattr(intern!(py, "switch_startup_program"))?;
        let before = switch_startup.call1((startup,))?.unbind();
        let switch = switch_startup.unbind();
        self.back.push(Box::new(move |py, _| switch.bind(py).call1((before,)).map(drop)));

        self.back.push(Box::new(move |py, handles| set_to_static(py, handles, to_static.bind(py))));
        set_to_static(py, &handles, &true.into_pyobject(py)?.to_owned().into_any())?;

        let set_hook = handles.core.bind(py).getattr(intern!(py, "set_static_op_arg_pre_cast_hook"))?;
        let before = set_hook.call1((handles.convert.bind(py),))?.unbind();
        let set_hook = set_hook.unbind();
        self.back.push(Box::new(move |py, _| set_hook.bind(py).call1((before,)).map(drop)));
        Ok(())
    }

    /// Until the guard is dropped, Paddle's code asks for the stack and warns as it should while it builds.
    pub(crate) fn building<'py>(&self, py: Python<'py>) -> PyResult<Building<'py>> {
        let traceback = self.handles.traceback.bind(py).clone();
        let (frames, none) = (self.handles.stack.clone_ref(py), py.None());
        let stack = move |args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>| {
            (args.is_empty() && kwargs.is_none()).then(|| frames.clone_ref(args.py()).into_any())
        };
        let warned = Arc::new(OnceLock::new());
        let outside = innermost_frame(py).ok().map(Bound::unbind);
        let heard = warned.clone();
        let silence = move |args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>| {
            // A frame that is not there is not Paddle's.
            let outside = outside.as_ref().map(|outside| outside.bind(args.py()));
            if outside.is_none_or(|outside| names_the_program(outside, args, kwargs).unwrap_or(true)) {
                let text = args.get_item(0).and_then(|message| Ok(message.str()?.to_string()));
                let _ = heard.set(text.unwrap_or_default());
            }
            Some(none.clone_ref(args.py()))
        };
        Ok(Building {
            _stack: Replaced::new(traceback, "extract_stack", stack)?,
            _silence: Replaced::new(module(py, "warnings")?, "warn", silence)?,
            warned,
        })
    }

    /// From now on operations belong to these lines of the user's program.
    pub(crate) fn show(&mut self, py: Python<'_>, at: &[UserFrame]) -> PyResult<()> {
        if self.shown != at {
            fill_stack(py, &self.handles, at)?;
            self.shown = at.to_vec();
        }
        Ok(())
    }

    /// Leave. Returns the first error, after every step was tried.
    pub(crate) fn leave(&mut self, py: Python<'_>) -> PyResult<()> {
        let steps: Vec<PyResult<()>> = self.back.drain(..).rev().map(|back| back(py, &self.handles)).collect();
        steps.into_iter().collect()
    }
}

impl Drop for StaticMode {
    fn drop(&mut self) {
        if !self.back.is_empty() {
            Python::attach(|py| {
                // An error cannot be reported from a drop; every step was tried.
                let _ = self.leave(py);
            });
        }
    }
}

thread_local! {
    /// The tracer of a thread that captures.
    static EAGER: Cell<Option<Py<PyAny>>> = const { Cell::new(None) };
}

/// The tracer that the simulated program finds.
pub(crate) fn eager_tracer<'py>(py: Python<'py>, handles: &Handles) -> PyResult<Bound<'py, PyAny>> {
    let known = EAGER.take();
    let tracer = known.as_ref().map(|tracer| tracer.bind(py).clone());
    EAGER.set(known);
    match tracer {
        Some(tracer) => Ok(tracer),
        None => handles.global_var.bind(py).getattr(intern!(py, "_dygraph_tracer_")),
    }
}

/// Switches the tracer of this thread alone. Paddle's own setter also writes a module global from which threads that
/// start later take their mode, so it is bypassed.
fn set_tracer(py: Python<'_>, handles: &Handles, tracer: &Bound<'_, PyAny>) -> PyResult<()> {
    let state = handles.global_var.bind(py).getattr(intern!(py, "__dict__"))?;
    state.set_item(intern!(py, "_dygraph_tracer_"), tracer)?;
    handles.core.bind(py).getattr(intern!(py, "_switch_tracer"))?.call1((tracer,))?;
    Ok(())
}

fn set_to_static(py: Python<'_>, handles: &Handles, on: &Bound<'_, PyAny>) -> PyResult<()> {
    handles.global_var.bind(py).getattr(intern!(py, "__dict__"))?.set_item(intern!(py, "_in_to_static_mode_"), on)
}

/// Writes the stack that is shown: `FrameSummary` objects, outermost first; never empty, because Paddle reads the last ones
/// unchecked. The list is always the same one: Paddle reads it at once, and keeps a reference to each list that it is given
/// for as long as the process lives.
fn fill_stack(py: Python<'_>, handles: &Handles, at: &[UserFrame]) -> PyResult<()> {
    let class = handles.traceback.bind(py).getattr(intern!(py, "FrameSummary"))?;
    let kwargs = PyDict::new(py);
    kwargs.set_item(intern!(py, "lookup_line"), false)?;
    let shown = PyList::empty(py);
    for _ in at.len()..3 {
        shown.append(class.call(("<captured by sot>", 1, "<module>"), Some(&kwargs))?)?;
    }
    for frame in at {
        shown.append(class.call((&*frame.file, frame.line, &*frame.function), Some(&kwargs))?)?;
    }
    let stack = handles.stack.bind(py);
    stack.set_slice(0, stack.len(), &shown)
}

#[cfg(test)]
mod tests {
    use super::gist;

    #[test]
    fn the_gist_of_a_painted_warning_is_its_first_sentence() {
        let deprecated = "\u{1b}[93m\nWarning:\nAPI \"paddle.nn.functional.common.zeropad2d\" is deprecated. \u{1b}[0m";
        assert_eq!(gist(deprecated), "API \"paddle.nn.functional.common.zeropad2d\" is deprecated.");
        assert_eq!(gist("When training, we now always track\nmore"), "When training, we now always track");
        assert_eq!(gist(""), "");
    }
}
