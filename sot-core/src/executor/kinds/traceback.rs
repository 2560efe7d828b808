//! The traceback of an exception, as the program sees it at a moment. It is only handed on, and tells its line: reading more of it needs
//! real frames.
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
        if name == "tb_lineno"
            && let Some(line) = self.line(ex)
        {
            return ex.fold_int(i64::from(line)).map(Some);
        }
        match ex.frame_of_traceback(self.exception).filter(|_| name == "tb_frame") {
            Some(stop) => Err(stop),
            None => unanswered(self.kind_name(), &format!("attribute {name}")),
        }
    }

    fn look(&self, _ex: &mut Executor<'_>, _me: VarId, _at: Place) -> Result<(), Stop> {
        Ok(())
    }
}

impl TracebackVar {
    /// The line of its first entry, if that is of this capture and the traceback has not been cut since.
    fn line(&self, ex: &Executor<'_>) -> Option<u32> {
        let VarKind::Exception(exception) = &ex.var(self.exception).kind else { return None };
        let head = exception.state.passed.get(self.passed.checked_sub(1)?)?;
        let standing = &head.standing;
        (exception.state.cuts.len() == self.cuts).then(|| standing.unit.line_of(standing.ip)).flatten()
    }
}
