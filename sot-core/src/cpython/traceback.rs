//! Tracebacks that show the user's frames: entries are added in front, or put in place of others.
//!
//! An entry shows a [`TracebackFrame`]: a frame that never ran (`rebuilt_frame`). Frames are linked as if they had
//! called each other: the outermost was called by the Python code that runs now, and a real frame that follows an entry
//! that was replaced was called by the innermost one of the replacement.

use pyo3::exceptions::PyBaseException;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTraceback;

use super::rebuilt_frame;
pub use super::rebuilt_frame::{Known, TracebackFrame};

/// Who asks for frames to be shown: it tells who called the outermost of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// Native code in the place of the outermost frame: the Python code that runs now is its caller.
    Driver,
    /// Rewritten code, whose frame stands for the outermost one: its caller is the outermost's.
    RewrittenCode,
}

/// One entry of a traceback.
pub struct Entry<'py> {
    entry: Bound<'py, PyTraceback>,
    pub frame: Bound<'py, PyAny>,
    pub code: Bound<'py, PyAny>,
    /// `tb_lasti`
    pub offset: i64,
    /// None: the code says no line there.
    pub line: Option<u32>,
}

impl<'py> Entry<'py> {
    /// Whether it is of the Python code that runs now.
    pub fn runs_now(&self) -> bool {
        rebuilt_frame::current(self.frame.py()).is_some_and(|frame| frame.is(&self.frame))
    }

    /// Whether its frame was made for a traceback, and never runs.
    pub fn never_runs(&self) -> bool {
        rebuilt_frame::never_runs(&self.frame)
    }

    /// Such a frame has come to an instruction: `f_lasti`.
    pub fn stands_at(&self, offset: Option<u32>) {
        rebuilt_frame::stands_at(&self.frame, offset);
    }

    pub fn of(entry: Bound<'py, PyTraceback>) -> Option<Entry<'py>> {
        let frame = entry.getattr("tb_frame").ok()?;
        Some(Entry {
            code: frame.getattr("f_code").ok()?,
            offset: entry.getattr("tb_lasti").ok()?.extract().ok()?,
            line: entry.getattr("tb_lineno").and_then(|line| line.extract()).ok(),
            frame,
            entry,
        })
    }

    /// The outermost entry of an exception's traceback.
    pub fn first(err: &PyErr, py: Python<'py>) -> Option<Entry<'py>> {
        Entry::of(err.traceback(py)?)
    }

    /// The next one, towards where the exception was raised.
    pub fn next(&self) -> Option<Entry<'py>> {
        Entry::of(self.entry.getattr("tb_next").ok()?.cast_into().ok()?)
    }

    /// `f_lasti` of the entry's frame.
    pub fn left_at(&self) -> Option<i64> {
        self.frame.getattr("f_lasti").and_then(|at| at.extract()).ok()
    }

    /// What the entry's frame calls a local variable; `None`: not bound.
    pub fn local(&self, name: &str) -> Option<Bound<'py, PyAny>> {
        self.frame.getattr("f_locals").and_then(|locals| locals.get_item(name)).ok()
    }
}

/// Put frames, outermost first, in front of the traceback, as if the exception had just left them.
pub fn prepend<'py>(py: Python<'py>, err: &PyErr, frames: &[TracebackFrame<'py>], asker: Asker) -> PyResult<()> {
    let traceback = chain(py, frames, err.traceback(py), None, asker)?;
    err.set_traceback(py, traceback);
    Ok(())
}

/// The same for an exception object that nobody is raising: `__traceback__` gets the frames in front.
pub fn with_traceback<'py>(
    exception: &Bound<'py, PyBaseException>,
    frames: &[TracebackFrame<'py>],
    asker: Asker,
) -> PyResult<()> {
    let rest = of_exception(exception);
    let traceback = chain(exception.py(), frames, rest, None, asker)?;
    set_of_exception(exception, traceback)
}

/// `exception.__traceback__`; no attribute of the program's making is asked.
pub fn of_exception<'py>(exception: &Bound<'py, PyBaseException>) -> Option<Bound<'py, PyTraceback>> {
    // SAFETY: an exception of the attached thread; the result is a new reference or NULL.
    let found =
        unsafe { Bound::from_owned_ptr_or_opt(exception.py(), ffi::PyException_GetTraceback(exception.as_ptr())) };
    found?.cast_into().ok()
}

/// The traceback of what may be an exception.
pub fn of_object<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    object.cast::<PyBaseException>().ok().and_then(of_exception).map(Bound::into_any)
}

/// `exception.__traceback__ = traceback`, in the same way.
pub fn set_of_exception(
    exception: &Bound<'_, PyBaseException>,
    traceback: Option<Bound<'_, PyTraceback>>,
) -> PyResult<()> {
    let py = exception.py();
    let traceback = traceback.map_or_else(|| py.None().into_bound(py), Bound::into_any);
    // SAFETY: an exception, and a traceback or None, of the attached thread.
    match unsafe { ffi::PyException_SetTraceback(exception.as_ptr(), traceback.as_ptr()) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(py)),
    }
}

/// A new exception is raised while another one is handled, or None.
pub fn put_in_context(exception: &Bound<'_, PyBaseException>, context: Bound<'_, PyAny>) {
    if context.is_instance_of::<PyBaseException>() && !context.is(exception) {
        // SAFETY: two exceptions of the attached thread; the reference to the second is handed over.
        unsafe { ffi::PyException_SetContext(exception.as_ptr(), context.into_ptr()) }
    }
}

/// Put frames, outermost first, in the place of the traceback's entries up to and with `last`.
pub fn replace_head<'py>(
    py: Python<'py>,
    err: &PyErr,
    last: &Entry<'py>,
    frames: &[TracebackFrame<'py>],
) -> PyResult<()> {
    let rest = last.next();
    let traceback = chain(py, frames, rest.as_ref().map(|rest| rest.entry.clone()), Some(last), Asker::Driver)?;
    err.set_traceback(py, traceback);
    Ok(())
}

/// A traceback of the frames, followed by `rest`. `instead`: whom the first frame of `rest` takes for its caller.
fn chain<'py>(
    py: Python<'py>,
    frames: &[TracebackFrame<'py>],
    rest: Option<Bound<'py, PyTraceback>>,
    instead: Option<&Entry<'py>>,
    asker: Asker,
) -> PyResult<Option<Bound<'py, PyTraceback>>> {
    let caller = rebuilt_frame::current(py);
    let mut back = match asker {
        Asker::Driver => caller.clone(),
        Asker::RewrittenCode => caller.as_ref().and_then(|frame| frame.getattr("f_back").ok()).filter(|f| !f.is_none()),
    };
    let mut built = Vec::with_capacity(frames.len());
    for shown in frames {
        let frame = rebuilt_frame::build(py, shown, back.as_ref())?;
        back = Some(frame.clone());
        built.push(frame);
    }
    if let (Some(rest), Some(innermost)) = (&rest, built.last().or(back.as_ref())) {
        let rest = rest.getattr("tb_frame")?;
        for caller in instead.map(|entry| &entry.frame).into_iter().chain(&caller) {
            rebuilt_frame::relink(&rest, caller, innermost);
        }
    }
    let mut traceback = rest;
    for (shown, frame) in frames.iter().zip(built).rev() {
        let offset = shown.offset.map_or(-1, i64::from);
        // What C code writes where there is no line.
        let line = shown.line.map_or(-1, i64::from);
        let entry = py.get_type::<PyTraceback>().call1((traceback, frame, offset, line))?;
        traceback = Some(entry.cast_into::<PyTraceback>()?);
    }
    Ok(traceback)
}

/// More variables are known of a frame that an entry was made for. `whole`: no others are bound.
pub fn fill<'py>(frame: &Bound<'py, PyAny>, locals: &[Known<'py>], cells: &[Known<'py>], whole: bool) -> PyResult<()> {
    rebuilt_frame::fill(frame, locals, cells, whole)
}
