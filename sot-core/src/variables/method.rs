//! Bound methods: a function and its receiver.

use super::*;

#[derive(Clone)]
pub struct MethodVar {
    pub receiver: VarId,
    pub function: VarId,
}

impl MethodVar {
    /// Whether it is a method of a class written in C.
    fn of_c(&self, ex: &Executor<'_>) -> bool {
        matches!(&ex.var(self.function).kind, VarKind::Builtin(b) if ex.binds_by_get(b.object))
    }
}

impl Operations for MethodVar {
    fn kind_name(&self) -> &'static str {
        "a method"
    }

    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.class_of_bound(self.function)
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        match name {
            "__self__" => Ok(Some(self.receiver)),
            "__func__" if !self.of_c(ex) => Ok(Some(self.function)),
            _ => {
                let class = self.class(ex, me)?;
                match ex.class_lookup(&class, name)? {
                    Some(_) => unanswered(self.kind_name(), &format!("attribute {name}")),
                    // What a method lacks it asks of its function.
                    None if !self.of_c(ex) => ex.find_attribute(self.function, name),
                    None => Ok(None),
                }
            }
        }
    }

    fn call(&self, ex: &mut Executor<'_>, _me: VarId, args: &Args) -> Result<Called, Stop> {
        ex.call(self.function, &args.with_first(self.receiver))
    }

    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        if self.of_c(em.ex) {
            // A method of C binds as another type of object.
            em.push(self.function)?;
            return em.bind_pushed(self.receiver);
        }
        let method_type = em.types_attribute("MethodType")?;
        em.push_callable(method_type);
        em.push(self.function)?;
        em.push(self.receiver)?;
        em.call(2);
        Ok(())
    }
}
