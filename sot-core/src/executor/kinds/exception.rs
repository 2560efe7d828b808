//! Exceptions: values like others, made by calling their class or by an operation that raises.
//!
//! A virtual one is its class, its `args` and what raising set (`__cause__`, `__context__`, the frames it passed); it is
//! built when the program hands it out. Of a sourced one only the class is known. Attributes that the program sets are in the
//! journal, as those of instances.

use super::*;

impl Operations for ExceptionVar {
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
