//! Methods of builtin values by name: `items.append`, `"{}".format`, `x.reshape`. The receiver's kind decides what a
//! call comes to.

use super::*;
use sot_tracker::{Access, Check};

impl Operations for BoundVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        match ex.look(self.receiver)? {
            VarKind::Tensor(_) if !ex.is_tensor_method_of_c(&self.name) => ex.types_attribute("MethodType"),
            kind => {
                let owner = kind.class(ex, self.receiver)?;
                ex.bound_class(&owner, &self.name)
            }
        }
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        if let VarKind::Tensor(_) = ex.look(self.receiver)? {
            return unanswered(self.kind_name(), &format!("attribute {name}"));
        }
        match name {
            "__self__" => Ok(Some(self.receiver)),
            "__name__" => {
                let own = pyo3::types::PyString::intern(ex.py, &self.name).into_any();
                ex.fold(&own).map(Some)
            }
            _ => ex.attribute_of_builtin(me, name),
        }
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn call(&self, ex: &mut Executor<'_>, _me: VarId, args: &Args) -> Result<Called, Stop> {
        match &self.blocked {
            Some(why) => Err(Stop::Break(why.clone())),
            None => ex.call_bound(self.receiver, &self.name.clone(), args),
        }
    }

    fn look(&self, ex: &mut Executor<'_>, me: VarId, at: Place) -> Result<(), Stop> {
        if let Some(object) = ex.known_object(me) {
            ex.guard_type(at.tracker, object);
            let name = pyo3::types::PyString::intern(ex.py, &self.name).into_any();
            let name = ex.objects.add(&name);
            let own = ex.trackers.step(at.tracker, Access::Attr("__name__".into()));
            ex.guard(own, Check::Equals(name));
        }
        Ok(())
    }
}
