//! Questions about normalised code: blocks, reachability, liveness, stack depth and layout.
//!
//! They answer for code that `encode` would refuse, too: a label, local or cell that does not exist leads nowhere and is
//! nothing; only depth and layout, which have no answer then, return an error.

mod block_stack;
mod blocks;
mod depth;
mod frame_use;
mod layout;
mod liveness;

pub use block_stack::{block_regions, blocks_at, open_blocks};
pub use blocks::{Block, basic_blocks, reachable, reachable_from};
pub use depth::{StackDepths, stack_depths};
pub(crate) use depth::{max_depth, sound_regions};
pub use frame_use::{FrameUse, MANY_FRAMES, frame_uses};
pub use layout::{Slot, StackLayouts, stack_layouts};
pub use liveness::{LiveSet, Liveness, liveness};

use crate::Code;

/// For each instruction the region whose handler gets its exceptions: the shortest that covers it.
pub(crate) struct Covering {
    /// Empty if there is no region.
    of: Vec<Option<u32>>,
}

impl Covering {
    /// No instruction is covered.
    pub(crate) const fn nothing() -> Self {
        Self { of: Vec::new() }
    }

    pub(crate) fn new(code: &Code) -> Self {
        if code.regions.is_empty() {
            return Self::nothing();
        }
        let mut of: Vec<Option<u32>> = vec![None; code.instrs.len()];
        let size = |index: u32| code.regions[index as usize].end - code.regions[index as usize].start;
        for (index, region) in code.regions.iter().enumerate() {
            if let Some(slots) = of.get_mut(region.start..region.end) {
                for slot in slots {
                    if slot.is_none_or(|old| size(index as u32) <= size(old)) {
                        *slot = Some(index as u32);
                    }
                }
            }
        }
        Self { of }
    }

    /// The region of an instruction.
    pub(crate) fn at(&self, instr: usize) -> Option<u32> {
        self.of.get(instr).copied().flatten()
    }

    /// An instruction and the one before it have different regions.
    pub(crate) fn changes_at(&self, instr: usize) -> bool {
        instr > 0 && instr < self.of.len() && self.of[instr] != self.of[instr - 1]
    }
}
