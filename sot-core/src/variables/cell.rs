//! Cells: variables shared between a function and the functions inside it.

use super::*;
use sot_tracker::ObjectId;

#[derive(Clone)]
pub struct CellVar {
    /// The content as the simulation knows it. For a sourced cell, `None` also means "not read yet".
    pub content: Option<VarId>,
    /// The cell itself, if it existed before the frame.
    pub object: Option<ObjectId>,
    /// The content is known (read or written); always true for a virtual cell.
    pub known: bool,
}

impl Operations for CellVar {
    fn kind_name(&self) -> &'static str {
        "a cell"
    }

    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.cell_type()
    }
}
