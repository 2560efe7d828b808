//! The NULL slot that CPython's call protocol keeps on the stack.

use super::*;

impl Operations for NullVar {
    fn class<'py>(&self, _ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Err(Stop::fallback(Reason::InternalError, "class of NULL"))
    }

    fn look(&self, _ex: &mut Executor<'_>, _me: VarId, _at: Place) -> Result<(), Stop> {
        Ok(())
    }

    fn no_attribute(&self, _ex: &mut Executor<'_>, _me: VarId, name: &str) -> Result<Stop, Stop> {
        no_words(name)
    }
}
