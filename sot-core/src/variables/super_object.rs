//! `super()` objects: attribute lookup that starts after a class.

use super::*;

#[derive(Clone)]
pub struct SuperVar {
    pub class: VarId,
    pub receiver: VarId,
}

impl Operations for SuperVar {
    fn kind_name(&self) -> &'static str {
        "a super object"
    }

    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.builtins_attribute("super")
    }

    fn getattr(&self, ex: &mut Executor<'_>, _me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        ex.super_attribute(self.class, self.receiver, name)
    }
}
