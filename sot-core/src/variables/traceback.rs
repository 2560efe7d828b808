//! The traceback of an exception, as the program sees it at a moment. It is only handed on: reading it needs real frames.

use super::*;

#[derive(Clone)]
pub struct TracebackVar {
    pub exception: VarId,
}

impl Operations for TracebackVar {
    fn kind_name(&self) -> &'static str {
        "a traceback"
    }

    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.types_attribute("TracebackType")
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }
}
