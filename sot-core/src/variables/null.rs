//! The NULL slot that CPython's call protocol keeps on the stack.

use super::*;

#[derive(Clone)]
pub struct NullVar;

impl Operations for NullVar {
    fn kind_name(&self) -> &'static str {
        "NULL"
    }

    fn class<'py>(&self, _ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Err(Stop::fallback(Reason::InternalError, "class of NULL"))
    }
}
