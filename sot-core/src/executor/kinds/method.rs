//! Bound methods: a function and its receiver.

use super::*;

impl Operations for MethodVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.class_of_bound(self.function)
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        match name {
            "__self__" => Ok(Some(self.receiver)),
            "__doc__" if matches!(ex.look(self.function)?, VarKind::Function(_)) => {
                ex.find_attribute(self.function, name)
            }
            "__func__" if !ex.binds_by_get(ex.py, self.function) => Ok(Some(self.function)),
            _ => {
                let class = self.class(ex, me)?;
                match ex.class_lookup(&class, name)? {
                    Some(_) => unanswered(self.kind_name(), &format!("attribute {name}")),
                    // What a method lacks it asks of its function.
                    None if !ex.binds_by_get(ex.py, self.function) => ex.find_attribute(self.function, name),
                    None => Ok(None),
                }
            }
        }
    }

    fn call(&self, ex: &mut Executor<'_>, _me: VarId, args: &Args) -> Result<Called, Stop> {
        let called = ex.call(self.function, &args.with_first(self.receiver));
        // What C refuses it refuses in the name of the receiver's class, and not of the one that has the method.
        if let Err(Stop::Raised(exception)) = called
            && ex.binds_by_get(ex.py, self.function)
            && ex.is_exception_of::<PyTypeError>(exception)?
            && !ex.is_owner_of(self.function, self.receiver)?
        {
            return Err(Stop::brk(Reason::WouldRaise, "arguments of a bound method"));
        }
        called
    }

    fn look(&self, ex: &mut Executor<'_>, me: VarId, at: Place) -> Result<(), Stop> {
        if !at.given
            && let Some(object) = ex.known_object(me)
        {
            ex.guard_type(at.tracker, object);
        }
        Ok(())
    }

    fn no_attribute(&self, ex: &mut Executor<'_>, _me: VarId, name: &str) -> Result<Stop, Stop> {
        // It asks its function.
        let VarKind::Function(_) = ex.look(self.function)? else { return no_words(name) };
        let stop = ex.missing_attribute(self.function, name)?;
        ex.tell_name(&stop, name, Some(self.function))?;
        Ok(stop)
    }
}

impl Executor<'_> {
    /// Whether a method of C belongs to the very class of a value.
    fn is_owner_of(&mut self, method: VarId, value: VarId) -> Result<bool, Stop> {
        let VarKind::Builtin(method) = self.look(method)? else { return Ok(false) };
        let owner = self.objects.get(self.py, method.object).getattr("__objclass__");
        let class = self.class_of(value)?;
        Ok(owner.is_ok_and(|owner| owner.is(&class)))
    }
}
