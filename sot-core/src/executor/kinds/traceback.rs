//! The traceback of an exception, as the program sees it at a moment. It is only handed on: reading it needs real frames.
//!
//! Entries come in front: what was the traceback at a moment is the rest of what it is when all have come.

use super::*;

impl Operations for TracebackVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.types_attribute("TracebackType")
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn getattr(&self, ex: &mut Executor<'_>, _me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        match ex.frame_of_traceback(self.exception).filter(|_| name == "tb_frame") {
            Some(stop) => Err(stop),
            None => unanswered(self.kind_name(), &format!("attribute {name}")),
        }
    }

    fn look(&self, _ex: &mut Executor<'_>, _me: VarId, _at: Place) -> Result<(), Stop> {
        Ok(())
    }
}
