//! `SOT_VERIFY=1`: plain Python beside each call that a capture serves.
//!
//! Before such a call the process is copied. The copy runs the call as plain Python and tells what it came to: the result or the exception,
//! the arguments afterwards, and all that the globals of the function lead to. When the captured call has ended, its own are compared with
//! that. Where they differ, a second copy, which has waited in the state before the call, says what a capture would rely on: what of this
//! no guard of the entry checks is what the entry has missed.
//!
//! Only the outermost captured call of a thread is looked at, as it includes the others. Nothing that is compared is looked at by code of
//! the program, and nothing here raises into it. What a call does outside of the process (files, sockets, other processes) it does twice,
//! and a framework whose threads do not survive a copy of the process gives no answer, which is said.

use super::cache::Entry;
use super::logged::name_of;
use super::lookup;
use super::origin::call_original;
use crate::backend;
use crate::capture::Subject;
use crate::cpython::fork::{Side, fork};
use crate::cpython::native::{NativeBody, new_native};
use crate::cpython::{OwnedSlots, Slots, facts, signals, trampoline, without_hook};
use crate::log;
use crate::settings;
use crate::stats::STATS;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::any::Any;
use std::cell::Cell;
use std::ffi::CString;
use std::sync::Arc;

/// Facts that are named of one difference.
const MISSED: usize = 10;

thread_local! {
    /// A call of this thread is looked at.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// It is a frame, with this ticket.
    static FRAME: Cell<Option<(u64, Frame)>> = const { Cell::new(None) };
}

/// What runs beside a captured call.
pub(super) struct Beside {
    /// The pipes: an object of `verified.py`.
    pipes: Py<PyAny>,
    entry: Arc<Entry>,
}

/// What a call came to.
type Outcome<'a, 'py> = &'a PyResult<Bound<'py, PyAny>>;

/// A name of `verified.py`.
fn named<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static NAMES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let names = NAMES.get_or_try_init(py, || {
        let source = CString::new(include_str!("verified.py")).expect("no zero");
        let names = PyDict::new(py);
        names.set_item("__name__", "sot")?;
        py.run(&source, Some(&names), None)?;
        Ok::<_, PyErr>(names.unbind())
    })?;
    names.bind(py).as_any().get_item(name)
}

/// Tells of a tensor its parts by name; of anything else None.
struct Tell;

impl NativeBody for Tell {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let told = match (backend::registered(), args.get(py, 0)) {
            (Some(backend), Some(value)) => backend.told_of(&value)?,
            _ => None,
        };
        match told {
            Some(parts) => Ok(PyList::new(py, parts)?.into_any()),
            None => Ok(py.None().into_bound(py)),
        }
    }

    fn name(&self) -> &str {
        "tell"
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Lines about a call that has ended.
fn look<'py>(
    py: Python<'py>,
    function: &Bound<'py, PyAny>,
    slots: Slots<'_>,
    outcome: Outcome<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let outcome = match outcome {
        Ok(value) => (false, value.clone(), None),
        Err(error) => (true, error.value(py).clone().into_any(), error.traceback(py)),
    };
    let argument = |at| slots.get(py, at).map_or_else(|| py.None().into_bound(py), |value| value.to_owned());
    let arguments: Vec<Bound<'_, PyAny>> = (0..slots.len()).map(argument).collect();
    let Some(parts) = facts::func_parts(function) else { return Ok(PyList::empty(py).into_any()) };
    let names = parts.code.getattr("co_varnames")?;
    let cells = parts.closure.map(|cells| cells.to_owned().into_any());
    let cells = cells.unwrap_or_else(|| PyTuple::empty(py).into_any());
    let tell = new_native(py, Box::new(Tell))?;
    named(py, "look")?.call1((outcome, arguments, names, cells, function, tell))
}

/// The copy of the process: it runs the call, tells what it came to, and is gone.
fn run_in_copy(
    py: Python<'_>,
    pipes: &Bound<'_, PyAny>,
    function: &Bound<'_, PyAny>,
    subject: &Subject<'_, '_>,
    slots: Slots<'_>,
) -> PyResult<()> {
    pipes.call_method0("in_copy")?;
    if fork(py)? == Side::Copy {
        if pipes.call_method0("is_asked")?.is_truthy()? {
            pipes.call_method1("reply_with", (lookup::guards_of_now(py, subject, slots),))?;
        }
        return Ok(());
    }
    lookup::only_plain_from_now_on();
    let outcome = call_original(py, function, slots);
    let lines = look(py, function, slots, &outcome)?;
    pipes.call_method1("tell", (lines,))?;
    Ok(())
}

/// [`begin`], of a frame that the hook has met. It ends by the number of its ticket.
pub(super) fn begin_frame(
    py: Python<'_>,
    function: &Bound<'_, PyAny>,
    subject: &Subject<'_, '_>,
    slots: Slots<'_>,
    entry: &Arc<Entry>,
) -> Option<Frame> {
    let beside = begin(py, function, subject, slots, entry)?;
    Some(Frame { beside, function: function.clone().unbind(), slots: slots.to_owned(py) })
}

/// A frame that is looked at.
pub(super) struct Frame {
    beside: Beside,
    function: Py<PyAny>,
    slots: OwnedSlots,
}

impl Frame {
    /// The frame runs now, under this ticket.
    pub(super) fn runs(self, ticket: u64) {
        FRAME.set(Some((ticket, self)));
    }
}

/// The frame with this ticket has come to this, or was refused.
pub(super) fn end_frame(py: Python<'_>, ticket: u64, outcome: Option<Outcome<'_, '_>>) {
    if !settings::verifies() {
        return;
    }
    match (FRAME.take(), outcome) {
        (Some((of, frame)), Some(outcome)) if of == ticket => {
            frame.beside.end(py, frame.function.bind(py), frame.slots.as_slots(), outcome);
        }
        (Some((of, frame)), None) if of == ticket => frame.beside.give_up(py),
        (other, _) => FRAME.set(other),
    }
}

/// Begin to look at a call that this entry will serve; `None`: nobody asked for it, or a call above is looked at.
pub(super) fn begin(
    py: Python<'_>,
    function: &Bound<'_, PyAny>,
    subject: &Subject<'_, '_>,
    slots: Slots<'_>,
    entry: &Arc<Entry>,
) -> Option<Beside> {
    if !settings::verifies() || !entry.is_rewritten() || INSIDE.get() {
        return None;
    }
    let begun = without_hook(py, || {
        let pipes = named(py, "Beside")?.call0()?;
        let side = fork(py).inspect_err(|_| drop(pipes.call_method0("close")))?;
        match side {
            Side::Copy => {
                // What goes wrong is an answer that does not come.
                let _ = trampoline(|| run_in_copy(py, &pipes, function, subject, slots));
                // No finalizer, no buffer and no thread of the program is to know of this process.
                pipes.call_method0("end")?;
                unreachable!("the process has ended");
            }
            Side::Parent(number) => pipes.call_method1("in_parent", (number,))?,
        };
        Ok::<_, PyErr>(pipes.unbind())
    });
    match begun {
        Ok(pipes) => {
            INSIDE.set(true);
            Some(Beside { pipes, entry: entry.clone() })
        }
        Err(error) => {
            log::warning(py, &format!("SOT_VERIFY: {} runs without plain Python beside it: {error}", name_of(subject)));
            None
        }
    }
}

impl Beside {
    /// The call is not served after all.
    fn give_up(self, py: Python<'_>) {
        INSIDE.set(false);
        let _ = without_hook(py, || self.pipes.bind(py).call_method0("close"));
    }

    /// The captured call has come to this: say how it differs, if it does.
    pub(super) fn end<'py>(
        self,
        py: Python<'py>,
        function: &Bound<'py, PyAny>,
        slots: Slots<'_>,
        outcome: Outcome<'_, 'py>,
    ) {
        INSIDE.set(false);
        let subject = Subject::Function { function, in_frames: false, spec: None };
        // A handler of the program waits until it is its turn again.
        let said = signals::deferring(py, || {
            without_hook(py, || {
                let pipes = self.pipes.bind(py);
                let said = self.compare(py, pipes, function, slots, outcome);
                pipes.call_method0("close")?;
                said
            })
        });
        let Some(said) = said else {
            let _ = without_hook(py, || self.pipes.bind(py).call_method0("close"));
            return;
        };
        match said {
            Ok(None) => STATS.add(&STATS.verified),
            Ok(Some(differs)) => {
                STATS.add(&STATS.verified);
                STATS.add(&STATS.differences);
                log::error(py, "sot.verify", &format!("{} {differs}", name_of(&subject)));
            }
            Err(error) => {
                log::warning(py, &format!("SOT_VERIFY: {} could not be compared: {error}", name_of(&subject)));
            }
        }
    }

    /// In words; `None`: it does not differ.
    fn compare<'py>(
        &self,
        py: Python<'py>,
        pipes: &Bound<'py, PyAny>,
        function: &Bound<'py, PyAny>,
        slots: Slots<'_>,
        outcome: Outcome<'_, 'py>,
    ) -> PyResult<Option<String>> {
        let ours = look(py, function, slots, outcome)?;
        let theirs = pipes.call_method0("told")?;
        if theirs.is_none() {
            return Err(pyo3::exceptions::PyRuntimeError::new_err(
                "plain Python gave no answer in a copy of the process: its threads are not there (OMP_NUM_THREADS=1 may help), or it ended",
            ));
        }
        let found: Vec<(String, String, String)> = named(py, "differences")?.call1((ours, theirs))?.extract()?;
        if found.is_empty() {
            return Ok(None);
        }
        let mut text = String::from("is not what plain Python comes to:");
        for (path, captured, plain) in found {
            text += &format!("\n  {path}: captured {captured}, plain Python {plain}");
        }
        let now: Option<Vec<(String, String)>> = pipes.call_method0("guards_of_now")?.extract()?;
        let Some(now) = now.filter(|now| !now.is_empty()) else {
            text += "\n  no capture could be made now to compare its guards with";
            return Ok(Some(text));
        };
        let known = &self.entry.report.guards;
        let missed = now.into_iter().filter(|(guard, _)| !known.contains(guard)).map(|(_, said)| said);
        let missed: Vec<String> = missed.collect();
        match missed.is_empty() {
            true => text += "\n  its guards are those of a capture that is made now",
            false => text += "\n  a capture that is made now would rely on what no guard of this one checks:",
        }
        for guard in missed.iter().take(MISSED) {
            text += &format!("\n    {guard}");
        }
        if missed.len() > MISSED {
            text += &format!("\n    and {} more", missed.len() - MISSED);
        }
        Ok(Some(text))
    }
}
