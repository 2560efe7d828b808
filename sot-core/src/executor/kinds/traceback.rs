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
}

impl Executor<'_> {
    /// Whether it is the traceback that an exception has now. Up to 3.10 whoever handles it has another one beside it, which it
    /// is raised again with.
    pub(in crate::executor) fn is_traceback_of(&mut self, traceback: VarId, exception: VarId) -> Result<bool, Stop> {
        let passed = self.frames_passed(exception).len();
        Ok(match self.look(traceback)? {
            _ if self.py.version_info() < (3, 11) => false,
            VarKind::Traceback(traceback) => traceback.exception == exception && traceback.passed == passed,
            _ => false,
        })
    }

    /// `exception.__traceback__ = value`, where the traceback is one that the exception has had. `false`: another one.
    pub(in crate::executor) fn store_traceback(&mut self, exception: VarId, value: VarId) -> Result<bool, Stop> {
        let left = match self.look(value)? {
            _ if self.py.version_info() < (3, 11) => return Ok(false),
            VarKind::Traceback(traceback) if traceback.exception == exception => traceback.passed,
            VarKind::Constant(_) if self.constant_value(value).is_some_and(|value| value.is_none()) => 0,
            _ => return Ok(false),
        };
        Ok(self.shortens_traceback(exception, left))
    }

    /// Let an exception that was made here have passed so many frames alone. `false`: somebody may hold the traceback that it
    /// has, or had more.
    pub(in crate::executor) fn shortens_traceback(&mut self, exception: VarId, left: usize) -> bool {
        let passed = self.frames_passed(exception).len();
        let longer = |var: &Variable| matches!(&var.kind, VarKind::Traceback(held) if held.exception == exception && held.passed > left);
        if !self.is_new_exception(exception) {
            // It may have come with a traceback.
            return passed == left && left > 0;
        }
        if passed <= left {
            return passed == left;
        }
        if self.vars.iter().any(longer) {
            return false;
        }
        self.cut_traceback(exception, left);
        true
    }
}
