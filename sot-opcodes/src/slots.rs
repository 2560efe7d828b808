//! How operands name cells: `Cell` is an index into cellvars ++ freevars, the raw operand depends on the version.
//!
//! Up to 3.10 they are the same. From 3.11 on cells share one index space with the locals ("localsplus"): first the
//! locals, then the cells that are not also locals, then the free variables; a cell that is also a local (an
//! argument, or a variable of an inlined comprehension) has the local's index.

use crate::{Cell, Local, Version};

/// The maps between `Cell` / `Local` and raw operands of one code object.
pub(crate) struct Slots {
    pub(crate) locals: u32,
    /// The raw operand of each cell.
    of_cell: Vec<u32>,
    /// The cell of each raw operand.
    cells: Vec<Option<Cell>>,
}

impl Slots {
    pub(crate) fn new(version: Version, varnames: &[String], cellvars: &[String], freevars: usize) -> Self {
        let count = cellvars.len() + freevars;
        let mut of_cell = Vec::with_capacity(count);
        if version < Version::V311 {
            of_cell.extend(0..count as u32);
        } else {
            let mut next = varnames.len() as u32;
            for name in cellvars {
                if let Some(local) = varnames.iter().position(|v| v == name) {
                    of_cell.push(local as u32);
                } else {
                    of_cell.push(next);
                    next += 1;
                }
            }
            of_cell.extend((0..freevars as u32).map(|i| next + i));
        }
        let mut cells = vec![None; of_cell.iter().max().map_or(0, |m| *m as usize + 1)];
        for (cell, slot) in of_cell.iter().enumerate() {
            cells[*slot as usize] = Some(Cell(cell as u32));
        }
        Self { locals: varnames.len() as u32, of_cell, cells }
    }

    pub(crate) fn local(&self, arg: u32) -> Option<Local> {
        (arg < self.locals).then_some(Local(arg))
    }

    pub(crate) fn cell(&self, arg: u32) -> Option<Cell> {
        self.cells.get(arg as usize).copied().flatten()
    }

    /// The raw operand of a cell.
    pub(crate) fn operand(&self, cell: Cell) -> Option<u32> {
        self.of_cell.get(cell.0 as usize).copied()
    }
}
