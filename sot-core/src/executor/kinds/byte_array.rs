//! Byte arrays that the simulation made.

use super::*;
use pyo3::types::PyByteArray;

impl Operations for ByteArrayVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.py.get_type::<PyByteArray>().into_any())
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(!self.bytes.is_empty())
    }

    fn length(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<usize, Stop> {
        Ok(self.bytes.len())
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        ex.attribute_of_builtin(me, name)
    }

    fn subscript(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<VarId, Stop> {
        ex.bytearray_method(me, "__getitem__", &Args::positional(vec![key]))
    }

    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        Ok(ex.virtual_var(IteratorVar::new(Iteration::Sequence { sequence: me, index: 0 })))
    }

    fn look(&self, _ex: &mut Executor<'_>, _me: VarId, _at: Place) -> Result<(), Stop> {
        Ok(())
    }

    fn plain_parts(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<Option<Vec<VarId>>, Stop> {
        Ok(Some(Vec::new()))
    }

    fn has_an_id(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn set_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId, new: VarId) -> Result<(), Stop> {
        ex.bytearray_method(me, "__setitem__", &Args::positional(vec![key, new])).map(drop)
    }

    fn delete_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<(), Stop> {
        ex.bytearray_method(me, "__delitem__", &Args::positional(vec![key])).map(drop)
    }

    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        ex.bytearray_method(me, name, args).map(Called::Value)
    }
}
