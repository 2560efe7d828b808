//! Protected regions of 3.8 to 3.10, derived from SETUP_* and POP_BLOCK.
//!
//! Only blocks that SETUP_* pushed are followed; the block that a running handler has lies under them and catches
//! nothing. An instruction belongs to the innermost block that is on the block stack before it.

use super::stack_depths;
use crate::{Code, Label, Op, Region};

/// A block on top of another one.
#[derive(Clone, Copy)]
struct Block {
    under: Option<u32>,
    /// The SETUP_* instruction.
    setup: usize,
}

/// The blocks of a code object, and which is the innermost before each instruction.
struct Stacks {
    blocks: Vec<Block>,
    before: Vec<Option<Option<u32>>>,
}

fn stacks(code: &Code) -> Stacks {
    let mut blocks: Vec<Block> = Vec::new();
    let mut of_setup: Vec<Option<u32>> = vec![None; code.instrs.len()];
    let mut before: Vec<Option<Option<u32>>> = vec![None; code.instrs.len()];
    let mut todo = vec![(0, None)];
    while let Some((at, top)) = todo.pop() {
        let (Some(instr), Some(slot @ None)) = (code.instrs.get(at), before.get_mut(at)) else { continue };
        *slot = Some(top);
        let mut after = top;
        match instr.op {
            op if op.is_setup() => {
                let block = *of_setup[at].get_or_insert_with(|| {
                    blocks.push(Block { under: top, setup: at });
                    blocks.len() as u32 - 1
                });
                after = Some(block);
            }
            Op::PopBlock => after = top.and_then(|block| blocks[block as usize].under),
            _ => {}
        }
        todo.extend(instr.op.target().map(|label| (code.place(label), top)));
        if instr.op.falls_through() {
            todo.push((at + 1, after));
        }
    }
    Stacks { blocks, before }
}

/// The blocks that SETUP_* instructions have put on the block stack before an instruction, the outermost first: their
/// handlers, and the depth of the value stack under each. Only up to 3.10 are there any.
#[must_use]
pub fn blocks_at(code: &Code, at: usize) -> Vec<(Label, u32)> {
    if !code.instrs.iter().any(|i| i.op.is_setup()) {
        return Vec::new();
    }
    let depths = stack_depths(code).map(|d| d.before).unwrap_or_default();
    let Stacks { blocks, before } = stacks(code);
    let mut top = before.get(at).copied().flatten().flatten();
    let mut found = Vec::new();
    while let Some(block) = top {
        let Block { under, setup } = blocks[block as usize];
        let op = code.instrs[setup].op;
        let depth = depths.get(setup).copied().flatten().unwrap_or(0);
        let depth = depth.saturating_sub(u32::from(matches!(op, Op::SetupAsyncWith(_))));
        found.extend(op.target().map(|handler| (handler, depth)));
        top = under;
    }
    found.reverse();
    found
}

/// How many blocks SETUP_* instructions have put on the block stack before each instruction.
#[must_use]
pub fn open_blocks(code: &Code) -> Vec<u32> {
    if !code.instrs.iter().any(|i| i.op.is_setup()) {
        return vec![0; code.instrs.len()];
    }
    let Stacks { blocks, before } = stacks(code);
    let under = |block: &u32| blocks[*block as usize].under;
    before.iter().map(|top| std::iter::successors(top.flatten(), under).count() as u32).collect()
}

/// The regions in which a SETUP_* has put a handler on the block stack; in order, not overlapping.
#[must_use]
pub fn block_regions(code: &Code) -> Vec<Region> {
    if !code.instrs.iter().any(|i| i.op.is_setup()) {
        return Vec::new();
    }
    let depths = stack_depths(code).map(|d| d.before).unwrap_or_default();
    let Stacks { blocks, before } = stacks(code);
    let mut regions: Vec<Region> = Vec::new();
    let mut last: Option<u32> = None;
    for (at, top) in before.iter().enumerate() {
        let top = top.flatten();
        if let Some(block) = top {
            let setup = blocks[block as usize].setup;
            let op = code.instrs[setup].op;
            match regions.last_mut() {
                Some(region) if last == top => region.end = at + 1,
                _ => {
                    let depth = depths.get(setup).copied().flatten().unwrap_or(0);
                    regions.extend(op.target().map(|handler| Region {
                        start: at,
                        end: at + 1,
                        handler,
                        depth: depth.saturating_sub(u32::from(matches!(op, Op::SetupAsyncWith(_)))),
                        lasti: false,
                    }));
                }
            }
        }
        last = top;
    }
    regions
}
