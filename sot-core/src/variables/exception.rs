//! Exceptions: values like others, made by calling their class or by an operation that raises.
//!
//! A virtual one is its class, its `args` and what raising set (`__cause__`, `__context__`, the frames it passed); it is
//! built when the program hands it out. Of a sourced one only the class is known. Attributes that the program sets are in the
//! journal, as those of instances.

use super::*;
use sot_tracker::ObjectId;
use std::rc::Rc;

#[derive(Clone)]
pub struct ExceptionVar {
    pub class: ObjectId,
    /// The exception, if it existed before the frame.
    pub object: Option<ObjectId>,
    pub state: Rc<ExceptionState>,
}

/// What is known of a virtual exception.
#[derive(Clone, Default)]
pub struct ExceptionState {
    /// `args`, a tuple; `None` for a sourced one.
    pub args: Option<VarId>,
    /// `__cause__`; setting it also sets `__suppress_context__`.
    pub cause: Option<Option<VarId>>,
    pub context: Option<VarId>,
    /// What an AttributeError or NameError says it is about: its attributes `name` and `obj`.
    pub about: Vec<(&'static str, VarId)>,
    /// Frames that it left, innermost first: the entries of its traceback.
    pub passed: Vec<std::sync::Arc<crate::user_frames::Site>>,
}

impl Operations for ExceptionVar {
    fn kind_name(&self) -> &'static str {
        "an exception"
    }

    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.objects.get(ex.py, self.class))
    }

    fn truth(&self, ex: &mut Executor<'_>, me: VarId) -> Result<bool, Stop> {
        ex.truth_by_protocol(me)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        ex.attribute_of_exception(me, self, name)
    }
}
