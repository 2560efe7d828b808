//! Python code of the framework that is simulated like the program's own: functions that write tensors of their own in place or call what
//! they are given, which a program would hide, and helpers.
//!
//! What such code does inside is none of the program's business. Where it breaks, the call that entered it breaks: one break instead
//! of one at each thing that it does, and for a function that was refused the reason is the framework's.

use super::{Executor, Flow};
use crate::engine::registries;
use crate::frame::{Frame, Site};
use crate::stop::{Reason, Stop, Why};
use crate::variables::{Args, Called, FunctionVar};
use hashbrown::HashMap;
use pyo3::prelude::*;
use sot_opcodes::Op;
use std::rc::Rc;

registries! {
    /// Classes whose constructors the framework has written, and how often they have broken, by their addresses: after a few times there is no
    /// use in simulating them again. Those that a program has written may break by what they are given.
    BROKEN: HashMap<usize, u32> = "classes of the framework that are made eagerly";
}

/// So many of them are remembered.
const MOST_BROKEN: usize = 1024;

/// So often one may break by what it is given.
const MOST_BREAKS: u32 = 16;

/// A function of the framework that has refused a call, by its address, and why.
pub(super) type RefusedCall = (usize, Why);

impl<'py> Executor<'py> {
    /// The framework gives a call back. If what stands against it is in its parts and the function is written in Python, the instruction
    /// is run once more, by its body. For other refusals that is no way out: what the framework does not accept as a whole may end the
    /// process when its parts are given the same.
    pub(super) fn refused_by(&mut self, callee: &Bound<'py, PyAny>, stop: Stop) -> Stop {
        if let Stop::Break(why) = &stop
            && self.step.refused_inside
            && crate::cpython::facts::is_function(callee)
        {
            self.step.refused_call = Some((callee.as_ptr() as usize, why.clone()));
        }
        stop
    }

    /// Whether the instruction is run again because a call was refused.
    pub(super) fn runs_by_body(&self) -> bool {
        self.by_body.is_some()
    }

    /// What all tensors have under a name.
    pub(super) fn method_of_tensors(&self, name: &str) -> Option<Bound<'py, PyAny>> {
        self.backend.tensor_class(self.py).and_then(|class| class.getattr(name)).ok()
    }

    /// The call of a function whose body is to be simulated.
    pub(super) fn called_by_body(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Option<Result<Called, Stop>> {
        self.by_body.take_if(|address| *address == callee.as_ptr() as usize)?;
        let function = self.objects.add(callee);
        Some(self.call_function(&FunctionVar::Object(function), args))
    }

    /// Run an instruction again whose call was refused. The stop of the refusal stays where there is no body to enter.
    pub(super) fn run_by_body(&mut self, op: Op, (callee, why): RefusedCall) -> Result<Flow, Stop> {
        let Some(site) = self.frames.last().map(Frame::site) else { return Err(Stop::Break(why)) };
        let before = self.by_body.replace(callee);
        let ran = super::handlers::run(self, op);
        self.by_body = before;
        match ran {
            Ok(Flow::Entered(_)) | Err(Stop::Entered(_)) => {
                self.bodies.insert(site, why);
                ran
            }
            _ => Err(Stop::Break(why)),
        }
    }

    /// A class of the framework is called. One whose constructor has broken breaks at once.
    pub(super) fn made_by_framework(
        &mut self,
        class: &Bound<'py, PyAny>,
        args: &Args,
        why: Why,
    ) -> Result<Called, Stop> {
        if BROKEN.lock().get(&(class.as_ptr() as usize)).is_some_and(|breaks| *breaks >= MOST_BREAKS) {
            return Err(Stop::Break(why));
        }
        let before = self.frames.len();
        let called = self.make_of_class(class, args)?;
        let class = self.objects.add(class);
        if let Some(constructor) = self.frames.get_mut(before) {
            constructor.makes = Some(Rc::new((class, why)));
        }
        Ok(called)
    }

    /// Where a constructor of the framework's breaks, or what it calls: the outermost call of such a class.
    fn call_of_maker(&self) -> Option<(Site, Why)> {
        let mut outermost = None;
        for first in self.given.max(1)..self.frames.len() {
            let Some(making) = &self.frames[first].makes else { continue };
            let (_, why) = &**making;
            outermost = outermost.or_else(|| Some((self.call_below(first)?, why.clone())));
        }
        outermost
    }

    /// A capture ends here: the constructors under way have broken, unless it is for what they were given.
    pub(super) fn note_broken_makers(&self, why: &Why) {
        if matches!(why.reason, Reason::ApiRejected | Reason::WouldRaise) {
            return;
        }
        for frame in self.frames.iter().skip(self.given.max(1)) {
            if let Some(making) = &frame.makes
                && crate::libraries::of_framework(self.py, &frame.unit.code.filename)
            {
                let mut broken = BROKEN.lock();
                if broken.len() >= MOST_BROKEN {
                    broken.clear();
                }
                *broken.entry(self.objects.get_ref(self.py, making.0).as_ptr() as usize).or_default() += 1;
            }
        }
    }

    /// Where the body of a refused function breaks: the call of it, and why that was refused.
    pub(super) fn call_by_body(&self) -> Option<(Site, Why)> {
        if let Some(made) = self.call_of_maker() {
            return Some(made);
        }
        if self.bodies.is_empty() {
            return None;
        }
        let entered = self.given.max(1)..self.frames.len();
        let (first, why) = entered.into_iter().find_map(|i| Some((i, self.bodies.get(&self.frames[i - 1].site())?)))?;
        let paths = self.backend.skip_paths(self.py);
        let inside = self.frames[first..].iter().all(|frame| self.is_of_framework(&paths, frame));
        let site = self.call_below(first).filter(|_| inside)?;
        Some((site, why.clone()))
    }

    /// Where a helper of the framework breaks, or what makes an object of the framework: the call of it. Functions that the backend has
    /// captured in parts are left as they are.
    pub(super) fn call_of_framework(&self) -> Option<Site> {
        let paths = self.backend.skip_paths(self.py);
        let innermost = self.shown_frame()?;
        if !is_below(&paths, innermost) {
            return None;
        }
        let outermost = self.frames.iter().rposition(|frame| !self.is_of_framework(&paths, frame))? + 1;
        let is_whole = |first: usize| {
            let mut makes = false;
            self.frames[first..].iter().filter(|frame| !frame.is_hidden()).all(|frame| {
                makes |= frame.unit.code.name == "__init__";
                makes || !self.backend.is_taken_apart(&frame.unit.file, &frame.unit.code.name)
            })
        };
        let first = (outermost..self.frames.len()).find(|first| is_whole(*first))?;
        self.call_below(first)
    }

    /// Whether a frame runs code of the framework, or of a library on its behalf.
    fn is_of_framework(&self, paths: &[String], frame: &Frame) -> bool {
        frame.is_hidden() || is_below(paths, frame) || crate::libraries::is_standard_library(self.py, &frame.unit.file)
    }

    /// The call that entered the frames from `first` on, if this capture did.
    pub(super) fn call_below(&self, first: usize) -> Option<Site> {
        if first < self.given || first >= self.frames.len() {
            return None;
        }
        let caller = self.frames[..first].iter().rposition(|frame| !frame.is_hidden())?;
        let site = self.frames[caller].site();
        (caller + 1 >= self.given && !self.found.denied.contains_key(&site)).then_some(site)
    }
}

/// Whether the code of a frame is in a file below one of these.
pub(super) fn is_below(paths: &[String], frame: &Frame) -> bool {
    paths.iter().any(|path| frame.unit.file.starts_with(path.as_str()))
}
