//! Basic blocks and what can be reached.

use super::{Covering, blocks_at};
use crate::Code;

/// A run of instructions that is entered at its start only and left at its end (or by an exception).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The first instruction.
    pub start: usize,
    /// Behind the last instruction.
    pub end: usize,
    /// Indices of the blocks that may follow, handlers not included, ascending.
    pub successors: Vec<usize>,
    /// The block that handles exceptions of this one.
    pub handler: Option<usize>,
}

/// The basic blocks, in order. All instructions of a block have the same handler.
#[must_use]
pub fn basic_blocks(code: &Code) -> Vec<Block> {
    let count = code.instrs.len();
    let handlers = Covering::new(code);
    let mut leads = vec![false; count + 1];
    leads[0] = true;
    for (at, instr) in code.instrs.iter().enumerate() {
        if let Some(label) = instr.op.target() {
            leads[code.place(label).min(count)] = true;
            leads[at + 1] = true;
        }
        if !instr.op.falls_through() || handlers.changes_at(at + 1) {
            leads[at + 1] = true;
        }
    }
    for region in &code.regions {
        leads[code.place(region.handler).min(count)] = true;
    }
    let starts: Vec<usize> = (0..count).filter(|i| leads[*i]).collect();
    let block_of = |instr: usize| starts.binary_search(&instr).ok();
    let mut blocks = Vec::with_capacity(starts.len());
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(count);
        let last = code.instrs[end - 1].op;
        let mut successors: Vec<usize> = Vec::new();
        if last.falls_through() && end < count {
            successors.push(index + 1);
        }
        successors.extend(last.target().and_then(|label| block_of(code.place(label))));
        successors.sort_unstable();
        successors.dedup();
        let handler = handlers.at(start).and_then(|r| block_of(code.place(code.regions[r as usize].handler)));
        blocks.push(Block { start, end, successors, handler });
    }
    blocks
}

/// For each instruction whether control can get there from the start, by jumps and by exceptions.
#[must_use]
pub fn reachable(code: &Code) -> Vec<bool> {
    reached(code, vec![0])
}

/// As [`reachable`], from this instruction, with the handlers that wait there.
#[must_use]
pub fn reachable_from(code: &Code, at: usize) -> Vec<bool> {
    let waiting = blocks_at(code, at).into_iter().map(|(handler, _)| code.place(handler));
    reached(code, std::iter::once(at).chain(waiting).collect())
}

fn reached(code: &Code, mut todo: Vec<usize>) -> Vec<bool> {
    let handlers = Covering::new(code);
    let mut seen = vec![false; code.instrs.len()];
    while let Some(at) = todo.pop() {
        let Some(instr) = code.instrs.get(at) else { continue };
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        if instr.op.falls_through() {
            todo.push(at + 1);
        }
        todo.extend(instr.op.target().map(|label| code.place(label)));
        todo.extend(handlers.at(at).map(|r| code.place(code.regions[r as usize].handler)));
    }
    seen
}
