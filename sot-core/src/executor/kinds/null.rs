//! The NULL slot that CPython's call protocol keeps on the stack.

use super::*;

impl Operations for NullVar {
    fn class<'py>(&self, _ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Err(Stop::fallback(Reason::InternalError, "class of NULL"))
    }
}
