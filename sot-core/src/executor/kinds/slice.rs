//! Slice objects.

use super::*;
use pyo3::types::PySlice;

impl Operations for SliceVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.py.get_type::<PySlice>().into_any())
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        match name {
            "start" => Ok(Some(self.parts[0])),
            "stop" => Ok(Some(self.parts[1])),
            "step" => Ok(Some(self.parts[2])),
            _ => ex.attribute_of_builtin(me, name),
        }
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        let mut parts = Vec::with_capacity(3);
        for part in self.parts {
            parts.push(ex.argument(part)?);
        }
        crate::type_facts::slice_of(ex.py, &parts).map_err(|e| ex.internal(&e))
    }

    fn look(&self, ex: &mut Executor<'_>, me: VarId, at: Place) -> Result<(), Stop> {
        ex.look_at_object(me, at, at.pinned);
        Ok(())
    }

    fn plain_parts(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<Option<Vec<VarId>>, Stop> {
        Ok(Some(self.parts.to_vec()))
    }

    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        ex.slice_method(me, name, args).map(Called::Value)
    }
}
