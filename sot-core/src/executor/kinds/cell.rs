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
}
