//! Deques.

use super::*;
use pyo3::types::PyList;

impl Operations for DequeVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.deque_class()
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(!self.items.is_empty())
    }

    fn length(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<usize, Stop> {
        Ok(self.items.len())
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        match (name, self.maxlen) {
            ("maxlen", Some(most)) => ex.fold_int(most as i64).map(Some),
            ("maxlen", None) => ex.fold_none().map(Some),
            _ => ex.attribute_of_builtin(me, name),
        }
    }

    fn subscript(&self, ex: &mut Executor<'_>, _me: VarId, key: VarId) -> Result<VarId, Stop> {
        let at = ex.place_in_deque(self, key)?;
        Ok(self.items[at])
    }

    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        ex.iterate_deque(me, false)
    }

    fn look(&self, ex: &mut Executor<'_>, me: VarId, at: Place) -> Result<(), Stop> {
        match self.object {
            Some(object) => ex.look_deque(me, object, at),
            None => Ok(()),
        }
    }

    fn plain_parts(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<Option<Vec<VarId>>, Stop> {
        Ok(Some(self.items.to_vec()))
    }

    fn has_an_id(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn reversed(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        ex.iterate_deque(me, true)
    }

    fn set_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId, new: VarId) -> Result<(), Stop> {
        ex.set_item_of_deque(me, self, key, new)
    }

    fn delete_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<(), Stop> {
        ex.delete_item_of_deque(me, self, key)
    }

    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        ex.deque_method(me, self, name, args)
    }
}

impl DequeVar {
    /// A real one of plain items.
    pub fn of_plain<'py>(
        &self,
        ex: &mut Executor<'py>,
        items: Vec<Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyAny>, Stop> {
        let class = ex.deque_class()?;
        let items = PyList::new(ex.py, items).map_err(|e| ex.internal(&e))?;
        class.call1((items, self.maxlen)).map_err(|e| ex.internal(&e))
    }
}
