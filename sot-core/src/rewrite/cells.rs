//! Cells of closures that new code makes: empty at first, since what is in one may be the function that holds it.

use super::emit::Emitter;
use crate::stop::Stop;
use crate::variables::*;

/// Make the cells of a closure that do not exist yet, empty: what is in them may be the function.
pub(super) fn empty_cells(em: &mut Emitter<'_, '_>, closure: Option<VarId>) -> Result<Vec<VarId>, Stop> {
    let Some(VarKind::Tuple(closure)) = closure.map(|c| em.captured.var(c).kind.clone()) else { return Ok(Vec::new()) };
    let mut made = Vec::new();
    for cell in closure.items.iter().copied() {
        if matches!(em.captured.var(cell).kind, VarKind::Cell(_)) && em.must_be_built_once(cell) {
            let cell_type = em.cell_type()?;
            em.push_callable(cell_type);
            em.call(0);
            em.remember(cell);
            made.push(cell);
        }
    }
    Ok(made)
}

/// Put into such cells what is in them.
pub(super) fn fill_cells(em: &mut Emitter<'_, '_>, cells: &[VarId]) -> Result<(), Stop> {
    for cell in cells {
        if let VarKind::Cell(CellVar { content: Some(content), .. }) = em.captured.var(*cell).kind {
            em.push(content)?;
            em.push(*cell)?;
            em.store_attr("cell_contents");
        }
    }
    Ok(())
}
