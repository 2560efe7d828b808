//! Sets and frozen sets.

use super::*;
use pyo3::types::{PyFrozenSet, PySet};

impl Operations for SetVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(match self.frozen {
            true => ex.py.get_type::<PyFrozenSet>().into_any(),
            false => ex.py.get_type::<PySet>().into_any(),
        })
    }

    fn truth(&self, ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(ex.length_of_set(self.state)? > 0)
    }

    fn length(&self, ex: &mut Executor<'_>, _me: VarId) -> Result<usize, Stop> {
        ex.length_of_set(self.state)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        ex.attribute_of_builtin(me, name)
    }

    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        ex.iterate_set(me, self.state)
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.require_plain(me)
    }
}
