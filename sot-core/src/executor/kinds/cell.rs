//! Cells: variables shared between a function and the functions inside it.

use super::*;

impl Operations for CellVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.cell_type()
    }
}
