//! Deques that the simulation made.

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

    fn look(&self, _ex: &mut Executor<'_>, _me: VarId, _at: Place) -> Result<(), Stop> {
        Ok(())
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
        let at = ex.place_in_deque(self, key)?;
        let mut items = self.items.to_vec();
        items[at] = new;
        ex.replace_deque(me, items, false);
        Ok(())
    }

    fn delete_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<(), Stop> {
        let at = ex.place_in_deque(self, key)?;
        let mut items = self.items.to_vec();
        items.remove(at);
        ex.replace_deque(me, items, true);
        Ok(())
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
