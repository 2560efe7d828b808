//! What each stack slot is, before each instruction: what lies under a break.
//!
//! A slot's kind is what is known on every path: where paths differ it is `Value` or `MaybeNull`. The depth is
//! that of `stack_depths`; in 3.8 the six slots of `Finally` are one (NULL or a return address) when there is no exception.

use crate::{Code, EncodeError, Op, Version, method_layout, stack_effect};

/// The kind of a stack slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// An ordinary object.
    Value,
    /// No object.
    Null,
    /// An object or none: half of what LoadMethod leaves, or a local that an inlined comprehension saved.
    MaybeNull,
    /// What GET_ITER or GET_AITER left: the iterator of a loop.
    Iterator,
    /// The exit function of a `with`.
    Exit,
    /// The exception being handled (up to 3.10: traceback, value or type).
    Exception,
    /// What `sys.exc_info` had before (up to 3.10: traceback, value or type).
    PreviousException,
    /// The offset of the instruction that raised, for RERAISE.
    LastInstruction,
    /// 3.8: the state of a `finally` block.
    Finally,
}

impl Slot {
    /// What is known when a slot is one or the other.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Finally, Self::Exception | Self::PreviousException)
            | (Self::Exception | Self::PreviousException, Self::Finally) => Self::Finally,
            (Self::Null | Self::MaybeNull, _) | (_, Self::Null | Self::MaybeNull) => Self::MaybeNull,
            _ => Self::Value,
        }
    }
}

/// Stacks that share their lower parts: a node is a slot on top of another stack, node 0 the empty one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackLayouts {
    nodes: Vec<(u32, Slot)>,
    before: Vec<Option<u32>>,
}

const EMPTY: u32 = 0;

impl StackLayouts {
    /// The slots before an instruction, bottom first; `None` where control never gets.
    #[must_use]
    pub fn before(&self, instr: usize) -> Option<Vec<Slot>> {
        self.before.get(instr).copied().flatten().map(|top| self.slots(top))
    }

    fn slots(&self, mut top: u32) -> Vec<Slot> {
        let mut slots = Vec::new();
        while top != EMPTY {
            let (under, slot) = self.nodes[top as usize];
            slots.push(slot);
            top = under;
        }
        slots.reverse();
        slots
    }

    fn push(&mut self, top: u32, slot: Slot) -> u32 {
        self.nodes.push((top, slot));
        self.nodes.len() as u32 - 1
    }

    fn push_all(&mut self, top: u32, slots: &[Slot]) -> u32 {
        slots.iter().fold(top, |top, slot| self.push(top, *slot))
    }

    fn pop(&self, top: u32) -> Option<(u32, Slot)> {
        (top != EMPTY).then(|| self.nodes[top as usize])
    }

    fn drop(&self, top: u32, count: u32) -> Option<u32> {
        (0..count).try_fold(top, |top, _| Some(self.pop(top)?.0))
    }

    /// The stack cut to a depth.
    fn cut(&self, top: u32, depth: u32) -> Option<u32> {
        let have = self.slots(top).len() as u32;
        self.drop(top, have.checked_sub(depth)?)
    }

    /// The join of two stacks, `None` if one is deeper; the first again when it says no more than the join.
    fn join(&mut self, a: u32, b: u32) -> Option<u32> {
        let (mut x, mut y) = (a, b);
        let mut above = Vec::new();
        let mut same = true;
        while x != y {
            let ((under_x, slot_x), (under_y, slot_y)) = (self.pop(x)?, self.pop(y)?);
            let joined = slot_x.join(slot_y);
            same &= joined == slot_x;
            above.push(joined);
            (x, y) = (under_x, under_y);
        }
        if same {
            return Some(a);
        }
        above.reverse();
        Some(self.push_all(x, &above))
    }
}

/// The kinds of all stack slots before each instruction.
///
/// # Errors
/// As `stack_depths`.
pub fn stack_layouts(code: &Code) -> Result<StackLayouts, EncodeError> {
    // Whatever is wrong with the depths is told here; what follows is bounded by them.
    let regions = super::sound_regions(code)?;
    super::max_depth(code, &regions)?;
    let count = code.instrs.len();
    let mut all = StackLayouts { nodes: vec![(EMPTY, Slot::Value)], before: vec![None; count] };
    let sent = matches!(code.instrs.first().map(|i| i.op), Some(Op::GenStart(_)));
    let start = if sent { all.push(EMPTY, Slot::Value) } else { EMPTY };
    let mut todo = vec![(0, start)];
    while let Some((at, top)) = todo.pop() {
        let Some(instr) = code.instrs.get(at) else { return Err(EncodeError::FallsOffEnd) };
        let top = match all.before[at] {
            None => top,
            Some(old) => {
                let depths = |all: &StackLayouts| (all.slots(old).len() as u32, all.slots(top).len() as u32);
                let (a, b) = depths(&all);
                let joined = all.join(old, top).ok_or(EncodeError::StackMismatch { at, a, b })?;
                if joined == old {
                    continue;
                }
                joined
            }
        };
        all.before[at] = Some(top);
        let op = instr.op;
        let under = EncodeError::StackUnderflow { at, op };
        if let Some(index) = regions.at(at) {
            let region = &code.regions[index as usize];
            if let Some(mut kept) = all.cut(top, region.depth) {
                if region.lasti {
                    kept = all.push(kept, Slot::LastInstruction);
                }
                let entry = all.push(kept, Slot::Exception);
                todo.push((code.place(region.handler), entry));
            }
        }
        // What CALL_FINALLY has under its return address is another matter than what the block is fallen into with.
        if let Some(label) = op.target().filter(|_| !matches!(op, Op::CallFinally(_))) {
            let there = after(&mut all, code.version, top, &op, true).ok_or(under)?;
            todo.push((code.place(label), there));
        }
        if op.falls_through() {
            let next = after(&mut all, code.version, top, &op, false).ok_or(under)?;
            todo.push((at + 1, next));
        }
    }
    Ok(all)
}

/// The stack after an instruction.
fn after(all: &mut StackLayouts, version: Version, top: u32, op: &Op, jump: bool) -> Option<u32> {
    const TRIPLES: [Slot; 6] = [
        Slot::PreviousException,
        Slot::PreviousException,
        Slot::PreviousException,
        Slot::Exception,
        Slot::Exception,
        Slot::Exception,
    ];
    let finally = [Slot::Finally; 6];
    Some(match *op {
        Op::PushNull => all.push(top, Slot::Null),
        Op::Copy(n) => {
            let (_, slot) = all.pop(all.drop(top, n.checked_sub(1)?)?)?;
            all.push(top, slot)
        }
        Op::Swap(n) | Op::RotN(n) => {
            let mut slots = Vec::new();
            let mut under = top;
            for _ in 0..n {
                let (next, slot) = all.pop(under)?;
                slots.push(slot);
                under = next;
            }
            slots.reverse();
            match (op, slots.len()) {
                (_, 0) => {}
                (Op::Swap(_), len) => slots.swap(0, len - 1),
                _ => slots.rotate_right(1),
            }
            all.push_all(under, &slots)
        }
        Op::LoadFastAndClear(_) | Op::LoadClosureAndClear(_) => all.push(top, Slot::MaybeNull),
        Op::LoadMethod(_) | Op::LoadSuperAttr { method: true, .. } => {
            let under = all.drop(top, stack_effect(op, jump).0)?;
            let pair = if method_layout::null_first(version) {
                [Slot::MaybeNull, Slot::Value]
            } else {
                [Slot::Value, Slot::MaybeNull]
            };
            all.push_all(under, &pair)
        }
        Op::GetIter | Op::GetAiter | Op::GetYieldFromIter => {
            let under = all.drop(top, 1)?;
            all.push(under, Slot::Iterator)
        }
        Op::BeforeWith | Op::BeforeAsyncWith => {
            let under = all.drop(top, 1)?;
            all.push_all(under, &[Slot::Exit, Slot::Value])
        }
        Op::SetupWith(_) => {
            let under = all.drop(top, 1)?;
            let exit = all.push(under, Slot::Exit);
            all.push_all(exit, if jump { &TRIPLES } else { &[Slot::Value] })
        }
        Op::SetupFinally(_) if jump => all.push_all(top, &TRIPLES),
        Op::SetupAsyncWith(_) if jump => {
            let under = all.drop(top, 1)?;
            all.push_all(under, &TRIPLES)
        }
        Op::PushExcInfo => {
            let under = all.drop(top, 1)?;
            all.push_all(under, &[Slot::PreviousException, Slot::Exception])
        }
        Op::CheckExcMatch => {
            let under = all.drop(top, 1)?;
            all.push(under, Slot::Value)
        }
        Op::BeginFinally => all.push_all(top, &finally),
        Op::EndFinally => all.drop(top, 6)?,
        Op::PopFinally(keep) => {
            let under = all.drop(top, keep.checked_add(6)?)?;
            (0..keep).fold(under, |top, _| all.push(top, Slot::Value))
        }
        Op::WithCleanupStart => {
            let under = all.drop(top, 7)?;
            // On the path with an exception one more slot stays until the block ends.
            let state = all.push_all(under, &finally);
            all.push_all(state, &[Slot::Finally, Slot::Value, Slot::Value])
        }
        Op::WithCleanupFinish => all.drop(top, 3)?,
        // The operands that stay under what is pushed.
        Op::Send(_) => {
            let under = all.drop(top, 1)?;
            all.push(under, Slot::Value)
        }
        _ => {
            let (pops, pushes) = stack_effect(op, jump);
            let under = all.drop(top, pops)?;
            (0..pushes).fold(under, |top, _| all.push(top, Slot::Value))
        }
    })
}
