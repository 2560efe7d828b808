//! Python functions: those that existed before the frame, and those that the simulation made.

use super::*;
use crate::code_unit::CodeUnit;
use crate::cpython::facts;
use pyo3::types::PyString;
use sot_tracker::{ObjectId, Tracker};
use std::rc::Rc;
use std::sync::Arc;

#[derive(Clone)]
pub enum FunctionVar {
    /// Pinned by identity, its code and defaults guarded by address.
    Object(ObjectId),
    /// Known by its parts: made by MAKE_FUNCTION in this capture, or found in a slot, where at the next call another function
    /// of the same code may be.
    Made(Rc<MadeFunction>),
}

/// The parts of a function: the operands of MAKE_FUNCTION.
pub struct MadeFunction {
    /// The function, if it existed before the frame.
    pub object: Option<ObjectId>,
    pub unit: Arc<CodeUnit>,
    pub code: ObjectId,
    pub globals: ObjectId,
    pub qualname: Option<VarId>,
    pub defaults: Option<VarId>,
    pub kwdefaults: Option<VarId>,
    pub annotations: Option<VarId>,
    pub closure: Option<VarId>,
}

impl Operations for FunctionVar {
    fn kind_name(&self) -> &'static str {
        "a function"
    }

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
                if let "__name__" | "__qualname__" | "__module__" = name {
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

    fn pinned(&self) -> Option<ObjectId> {
        match self {
            FunctionVar::Object(object) => Some(*object),
            FunctionVar::Made(_) => None,
        }
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        match self {
            FunctionVar::Object(object) => Ok(ex.objects.get(ex.py, *object)),
            FunctionVar::Made(_) => unanswered(self.kind_name(), "use as an argument of a framework call"),
        }
    }
}
