//! Cells: variables shared between a function and the functions inside it.

use super::*;

impl Operations for CellVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.cell_type()
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        match name {
            "cell_contents" => ex.load_cell(me).map(Some),
            _ => unanswered(self.kind_name(), &format!("attribute {name}")),
        }
    }

    fn look(&self, ex: &mut Executor<'_>, _me: VarId, at: Place) -> Result<(), Stop> {
        if let Some(object) = self.object
            && !at.given
        {
            ex.guard_type(at.tracker, object);
        }
        Ok(())
    }

    fn no_attribute(&self, _ex: &mut Executor<'_>, _me: VarId, name: &str) -> Result<Stop, Stop> {
        no_words(name)
    }

    fn has_an_id(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }
}
