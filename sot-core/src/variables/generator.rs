//! Generators: each owns the frame that it will go on in.
//!
//! The frame is the simulation's while the generator is virtual: asking for an item puts it on the machine's stack, a
//! yield takes it off again. Handed out, a generator becomes a real one that goes on where the frame stands.

use super::*;
use crate::frame::Frame;
use std::rc::Rc;

#[derive(Clone)]
pub struct GeneratorVar {
    pub state: GeneratorState,
    /// The call that made it: the place to deny where it cannot be kept. `None`: an earlier capture has made it.
    pub made: Option<(usize, usize)>,
    /// Whether another one has ever delegated to it.
    pub delegated: bool,
}

#[derive(Clone)]
pub enum GeneratorState {
    /// Not started: the frame stands at its first instruction.
    New(Rc<Frame>),
    /// The frame stands at the yield.
    Suspended(Rc<Frame>),
    Running,
    Finished,
}

impl GeneratorVar {
    /// The frame, unless it runs or has ended.
    pub fn frame(&self) -> Option<&Rc<Frame>> {
        match &self.state {
            GeneratorState::New(frame) | GeneratorState::Suspended(frame) => Some(frame),
            GeneratorState::Running | GeneratorState::Finished => None,
        }
    }
}

impl Operations for GeneratorVar {
    fn kind_name(&self) -> &'static str {
        "a generator"
    }

    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.types_attribute("GeneratorType")
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        match name {
            "send" | "throw" | "close" | "__next__" | "__iter__" => Ok(Some(ex.virtual_var(BoundVar::new(me, name)))),
            _ => unanswered(self.kind_name(), &format!("attribute {name}")),
        }
    }

    fn iterate(&self, _ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        Ok(me)
    }
}
