//! Where programs go on after a break, without what was captured of it: a shape, and its eager form.

use crate::code_unit::{assemble, records};
use crate::rewrite::{stand_in_for, waiting as stand_in};
use crate::shapes::{FrameShape, Shape, resume_name};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyCode;
use std::sync::OnceLock;

/// A point where programs go on.
pub struct ResumePoint {
    pub number: u32,
    pub shape: Shape,
    /// Code of the innermost frame's resume function, or why there is none.
    resume: PyOnceLock<Result<Py<PyCode>, String>>,
    /// Functions that stand in for the outer frames while the innermost runs eagerly.
    stand_ins: OnceLock<Vec<StandIn>>,
}

/// A function that stands in for a frame that waits.
pub struct StandIn {
    pub function: Py<PyAny>,
    /// The frame, by its number, whose live variables it is given; `None`: it is given none.
    pub of: Option<usize>,
}

impl ResumePoint {
    pub fn new(number: u32, shape: Shape) -> ResumePoint {
        ResumePoint { number, shape, resume: PyOnceLock::new(), stand_ins: OnceLock::new() }
    }

    /// `__resume_fn_3`
    pub fn name(&self) -> String {
        resume_name(self.number)
    }

    /// Code of the innermost frame's resume function.
    pub fn resume<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCode>> {
        let frame = self.shape.frames.last().expect("a frame");
        let code = self.resume.get_or_init(py, || {
            let (mut code, consts) = frame.resume(py).map_err(|e| e.to_string())?;
            if let Some(caller) = self.in_name_of() {
                stand_in_for(&mut code, &caller.unit, caller.ip);
            }
            let code = assemble(py, &code, &consts)?;
            records::never_capture(&code);
            Ok(code.unbind())
        });
        match code {
            Ok(code) => Ok(code.bind(py).clone()),
            Err(e) => Err(PyRuntimeError::new_err(format!("sot: no resume function: {e}"))),
        }
    }

    /// A hidden frame runs in the name of the frame that shows for it: its caller's.
    pub fn in_name_of(&self) -> Option<&FrameShape> {
        let frames = &self.shape.frames;
        frames.last().filter(|frame| frame.unit.hidden)?;
        frames.iter().rfind(|frame| !frame.unit.hidden)
    }

    /// The innermost frame's resume function as text.
    pub fn resume_listing(&self, py: Python<'_>) -> String {
        let frame = self.shape.frames.last().expect("a frame");
        match frame.resume(py) {
            Ok((code, consts)) => crate::rewrite::listing(py, &code, &consts, Some(&self.name())),
            Err(error) => error.to_string(),
        }
    }

    /// The functions that stand in for the outer frames, outermost first.
    pub fn stand_ins(&self, py: Python<'_>) -> PyResult<&[StandIn]> {
        if let Some(made) = self.stand_ins.get() {
            return Ok(made);
        }
        let mut made = Vec::new();
        let runs = self.shape.frames.len() - 1;
        let runs = self.shape.frames[..=runs].iter().rposition(|frame| !frame.unit.hidden).unwrap_or(runs);
        for (depth, frame) in self.shape.frames.iter().enumerate().take(runs + 1) {
            if frame.unit.hidden {
                continue;
            }
            if let Some(skipped) = frame.skipped.as_ref().filter(|_| depth > 0) {
                let function = stand_in(py, &skipped.unit, skipped.ip, skipped.globals.bind(py), &[])?;
                made.push(StandIn { function: function.unbind(), of: None });
            }
            if depth < runs {
                let function = stand_in(py, &frame.unit, frame.ip, frame.globals.bind(py), &frame.locals)?;
                made.push(StandIn { function: function.unbind(), of: Some(depth) });
            }
        }
        Ok(self.stand_ins.get_or_init(|| made))
    }

    /// Visit each reference held, once. The code of the resume function holds nothing of the program but its code's constants.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.shape.traverse(visit);
        self.stand_ins.get().into_iter().flatten().for_each(|stand_in| visit(&stand_in.function));
    }

    /// How many there are, if any frame has run below them.
    pub fn stand_ins_made(&self) -> usize {
        self.stand_ins.get().map_or(0, Vec::len)
    }
}
