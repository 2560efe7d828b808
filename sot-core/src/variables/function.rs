//! Python functions: those that existed before the frame, and those that the simulation made.

use super::*;
use crate::code_unit::CodeUnit;
use sot_tracker::ObjectId;
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

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<VarId, Stop> {
        match self {
            FunctionVar::Object(object) => {
                let object = ex.objects.get(ex.py, *object);
                if let Some(value) = ex.instance_dict_item(me, &object, name)? {
                    return Ok(value);
                }
                if let "__name__" | "__qualname__" | "__module__" = name {
                    let value = object.getattr(name).map_err(|e| ex.would_raise(&e))?;
                    return ex.fold(&value);
                }
                unanswered(self.kind_name(), &format!("attribute {name}"))
            }
            FunctionVar::Made(_) => unanswered(self.kind_name(), &format!("attribute {name}")),
        }
    }

    fn call(&self, ex: &mut Executor<'_>, _me: VarId, args: &Args) -> Result<Called, Stop> {
        ex.call_function(self, args)
    }

    fn pinned<'py>(&self, ex: &Executor<'py>) -> Option<Bound<'py, PyAny>> {
        match self {
            FunctionVar::Object(object) => Some(ex.objects.get(ex.py, *object)),
            FunctionVar::Made(_) => None,
        }
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        match self {
            FunctionVar::Object(object) => Ok(ex.objects.get(ex.py, *object)),
            FunctionVar::Made(_) => unanswered(self.kind_name(), "use as an argument of a framework call"),
        }
    }

    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        match self {
            FunctionVar::Object(object) => {
                em.push_object(*object);
                Ok(())
            }
            FunctionVar::Made(made) => {
                let mut flags = 0;
                for (bit, part) in [(1, made.defaults), (2, made.kwdefaults), (4, made.annotations), (8, made.closure)]
                {
                    if let Some(part) = part {
                        flags |= bit;
                        em.push(part)?;
                    }
                }
                em.push_object(made.code);
                if let Some(qualname) = made.qualname {
                    em.push(qualname)?;
                }
                em.make_function(flags, made.qualname.is_some());
                Ok(())
            }
        }
    }
}
