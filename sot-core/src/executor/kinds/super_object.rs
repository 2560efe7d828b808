//! `super()` objects: attribute lookup that starts after a class.

use super::*;

impl Operations for SuperVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.builtins_attribute("super")
    }

    fn getattr(&self, ex: &mut Executor<'_>, _me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        ex.super_attribute(self.class, self.receiver, name)
    }

    fn look(&self, _ex: &mut Executor<'_>, _me: VarId, _at: Place) -> Result<(), Stop> {
        Ok(())
    }
}
