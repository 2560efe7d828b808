//! The slot that keeps, while an exception is handled, which one was handled before (up to 3.10 three slots). Its content is
//! the frame's business: the program cannot see it.

use super::*;

impl Operations for PreviousVar {
    fn class<'py>(&self, _ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Err(Stop::fallback(Reason::InternalError, "class of a previous exception"))
    }

    fn look(&self, _ex: &mut Executor<'_>, _me: VarId, _at: Place) -> Result<(), Stop> {
        Ok(())
    }

    fn no_attribute(&self, _ex: &mut Executor<'_>, _me: VarId, name: &str) -> Result<Stop, Stop> {
        no_words(name)
    }
}
