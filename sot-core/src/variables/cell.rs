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

    fn rebuild(&self, em: &mut Emitter<'_, '_>, me: VarId) -> Result<(), Stop> {
        // Built empty first, so that a function that refers to itself through the cell can be built.
        let cell_type = em.cell_type()?;
        em.push_callable(cell_type);
        em.call(0);
        if let Some(content) = self.content {
            em.remember(me);
            em.push(content)?;
            em.push(me)?;
            em.store_attr("cell_contents");
            em.push(me)?;
        }
        Ok(())
    }
}
