//! Python functions: those that existed before the frame, and those that the simulation made.

use super::*;
use crate::cpython::facts;
use pyo3::types::PyString;
use sot_tracker::Tracker;

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
                if let "__name__" | "__qualname__" | "__module__" | "__doc__" = name {
                    return match facts::field(&object, &PyString::intern(ex.py, name)) {
                        facts::Field::Value(value) => {
                            let base = ex.base_tracker(me);
                            let at = ex.trackers.intern(Tracker::Attr { base, name: name.into() });
                            Ok(Some(ex.wrap(&value, at)))
                        }
                        facts::Field::Empty | facts::Field::NoField => Err(Stop::brk(Reason::WouldRaise, name)),
                    };
                }
                ex.attribute_of_function(me, Some(&object), name)
            }
            FunctionVar::Made(made) => {
                let object = made.object.map(|o| ex.objects.get(ex.py, o));
                ex.attribute_of_function(me, object.as_ref(), name)
            }
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
}
