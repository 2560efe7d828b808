//! Callables without bytecode: C functions, method descriptors, functions of the framework and other opaque
//! callables. What a call comes to is decided by the framework first, then by the table of simulated builtins.

use super::*;

impl Operations for BuiltinVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.objects.get_ref(ex.py, self.object).get_type().into_any())
    }

    fn truth(&self, ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        let object = ex.objects.get(ex.py, self.object);
        if ex.is_plain_callable(&object) { Ok(true) } else { unanswered(self.kind_name(), "truth") }
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let object = ex.objects.get(ex.py, self.object);
        if let ("__name__" | "__qualname__" | "__module__", true) = (name, ex.is_plain_callable(&object)) {
            let value = object.getattr(name).map_err(|e| ex.would_raise(&e))?;
            return ex.fold(&value).map(Some);
        }
        // A callable of C without a dict has what its type has.
        if ex.is_plain_callable(&object) && ex.class_lookup(object.get_type().as_any(), name)?.is_none() {
            return Ok(None);
        }
        let _ = me;
        unanswered(self.kind_name(), &format!("attribute {name}"))
    }

    fn call(&self, ex: &mut Executor<'_>, _me: VarId, args: &Args) -> Result<Called, Stop> {
        let callee = ex.objects.get(ex.py, self.object);
        ex.call_builtin(&callee, args)
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.objects.get(ex.py, self.object))
    }

    fn look(&self, ex: &mut Executor<'_>, _me: VarId, at: Place) -> Result<(), Stop> {
        ex.look_at_identity(Nature::pinned(self), at, false);
        Ok(())
    }
}
