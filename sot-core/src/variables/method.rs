//! Bound methods: a function and its receiver.

use super::*;

#[derive(Clone)]
pub struct MethodVar {
    pub receiver: VarId,
    pub function: VarId,
}

impl Operations for MethodVar {
    fn kind_name(&self) -> &'static str {
        "a method"
    }

    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.types_attribute("MethodType")
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn getattr(&self, ex: &mut Executor<'_>, _me: VarId, name: &str) -> Result<VarId, Stop> {
        match name {
            "__self__" => Ok(self.receiver),
            "__func__" => Ok(self.function),
            _ => ex.getattr(self.function, name),
        }
    }

    fn call(&self, ex: &mut Executor<'_>, _me: VarId, args: &Args) -> Result<Called, Stop> {
        ex.call(self.function, &args.with_first(self.receiver))
    }

    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        let method_type = em.types_attribute("MethodType")?;
        em.push_callable(method_type);
        em.push(self.function)?;
        em.push(self.receiver)?;
        em.call(2);
        Ok(())
    }
}
