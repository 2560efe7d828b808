//! Python functions: those that existed before the frame, and those that the simulation made.

use super::*;

impl Operations for FunctionVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.types_attribute("FunctionType")
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        match self {
            FunctionVar::Object(object) => {
                let object = ex.objects.get(ex.py, *object);
                ex.attribute_of_function(me, &object, name)
            }
            FunctionVar::Made(made) => match made.object.map(|o| ex.objects.get(ex.py, o)) {
                Some(object) => ex.attribute_of_function(me, &object, name),
                None => ex.attribute_of_made_function(me, made, name),
            },
        }
    }

    fn call(&self, ex: &mut Executor<'_>, _me: VarId, args: &Args) -> Result<Called, Stop> {
        ex.call_function(self, args)
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        match self {
            FunctionVar::Object(object) => Ok(ex.objects.get(ex.py, *object)),
            FunctionVar::Made(_) => unanswered(self.kind_name(), "use as an argument of a framework call"),
        }
    }

    fn look(&self, ex: &mut Executor<'_>, _me: VarId, at: Place) -> Result<(), Stop> {
        match self {
            FunctionVar::Made(made) => ex.look_at_function(made, at.tracker),
            FunctionVar::Object(object) => ex.look_at_identity(Some(*object), at, false),
        }
        Ok(())
    }

    fn has_an_id(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn set_attribute(&self, ex: &mut Executor<'_>, me: VarId, name: &str, new: VarId) -> Result<(), Stop> {
        match self {
            FunctionVar::Made(made) if made.object.is_none() => ex.set_function_attribute(me, made, name, new),
            _ => ex.set_in_dict_of_function(me, name, new),
        }
    }

    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        match name {
            "__get__" => ex.bind_function(me, args),
            _ => method_of_c(self.kind_name(), ex, me, name, args),
        }
    }
}
