//! The number of stack slots before each instruction, and the most there ever are.
//!
//! 3.8 enters a `finally` block with one slot (no exception) or six; both are counted as six, as CPython does,
//! so that one number holds on every path. CALL_FINALLY can enter it with more or less under that: what is given then
//! is the depth of the path that falls into it, and the size counts all.

use super::Covering;
use crate::effect::reach;
use crate::{Code, EncodeError, Label, Op, Region, Version, stack_effect};

/// Slots an exception has on the stack up to 3.10: three of it and three of the one it replaces.
const TRIPLES: u32 = 6;

/// No frame has more slots: a bound for code that nobody runs.
const DEEPEST: u32 = 1 << 20;

/// Result of [`stack_depths`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackDepths {
    /// Before each instruction; `None` where control never gets (or, in 3.8, by CALL_FINALLY alone).
    pub before: Vec<Option<u32>>,
    /// The stack size that a frame of this code needs.
    pub max: u32,
}

/// The regions that the interpreter looks at, if they are sound: none up to 3.10, where SETUP_* is what counts.
pub(crate) fn sound_regions(code: &Code) -> Result<Covering, EncodeError> {
    if code.version < Version::V311 {
        return Ok(Covering::nothing());
    }
    let bad = |r: &Region| r.start >= r.end || r.end > code.instrs.len() || r.depth > DEEPEST;
    match code.regions.iter().position(bad) {
        Some(index) => Err(EncodeError::Region(index)),
        None => Ok(Covering::new(code)),
    }
}

/// `(pops, pushes)` in the counting of this file; `called`: the block state is the one slot of CALL_FINALLY.
fn effect(op: &Op, jump: bool, called: bool) -> (u32, u32) {
    match op {
        Op::BeginFinally => (0, TRIPLES),
        Op::EndFinally => (TRIPLES, 0),
        Op::PopFinally(keep) if !called => (keep.saturating_add(TRIPLES), *keep),
        Op::WithCleanupStart if !called => (1 + TRIPLES, 3 + TRIPLES),
        Op::WithCleanupFinish if !called => (3, 0),
        _ => stack_effect(op, jump),
    }
}

/// Slots that the raw form of an instruction needs for a moment beyond those before and after it.
fn extra(op: &Op, version: Version, backward: bool) -> u32 {
    match op {
        Op::Copy(2) if version < Version::V311 => 1,
        Op::JumpIfOrPop { .. } if version >= Version::V312 || (version == Version::V311 && backward) => 1,
        _ => 0,
    }
}

/// The stack depth before each instruction.
///
/// # Errors
/// When an instruction pops more than there is, two paths disagree, or there are more than 2^20 slots.
pub fn stack_depths(code: &Code) -> Result<StackDepths, EncodeError> {
    let regions = sound_regions(code)?;
    let main = walk(code, &regions)?;
    let before = main.before.into_iter().map(|d| (d != UNSEEN).then_some(d)).collect();
    Ok(StackDepths { before, max: main.max })
}

/// The stack size that a frame needs.
pub(crate) fn max_depth(code: &Code, regions: &Covering) -> Result<u32, EncodeError> {
    walk(code, regions).map(|main| main.max)
}

const UNSEEN: u32 = u32::MAX;

fn walk<'a>(code: &'a Code, regions: &'a Covering) -> Result<Walk<'a>, EncodeError> {
    // A generator of 3.10 starts with the value that is sent into it.
    let start = u32::from(matches!(code.instrs.first().map(|i| i.op), Some(Op::GenStart(_))));
    let mut main = Walk::new(code, regions, None);
    main.run(0, start)?;
    // 3.8: a finally block that is called with more on the stack than it is fallen into with.
    let mut bodies: Vec<Body> = Vec::new();
    let mut calls: Vec<(usize, u32, Option<usize>)> =
        main.calls.drain(..).map(|(to, depth)| (to, depth, None)).collect();
    while let Some((to, entry, caller)) = calls.pop() {
        if main.before.get(to).is_some_and(|d| *d != UNSEEN && *d >= entry)
            || bodies.iter().any(|body| body.at == to && body.entry >= entry)
        {
            continue;
        }
        let callers = std::iter::successors(caller, |index| bodies[*index].caller);
        if let Some(same) = callers.map(|index| &bodies[index]).find(|body| body.at == to) {
            return Err(EncodeError::StackMismatch { at: to, a: same.entry, b: entry });
        }
        // A `with` drops its exit function before the END_FINALLY.
        let with = matches!(code.instrs.get(to).map(|i| i.op), Some(Op::WithCleanupStart));
        let mut body = Walk::new(code, regions, Some(entry - u32::from(with)));
        body.run(to, entry)?;
        main.max = main.max.max(body.max);
        calls.extend(body.calls.into_iter().map(|(to, depth)| (to, depth, Some(bodies.len()))));
        bodies.push(Body { at: to, entry, caller });
    }
    Ok(main)
}

/// A finally block as it is called: where, with what depth, and the one it is called from.
struct Body {
    at: usize,
    entry: u32,
    caller: Option<usize>,
}

/// One walk through what can be reached from a place.
struct Walk<'a> {
    code: &'a Code,
    regions: &'a Covering,
    before: Vec<u32>,
    /// Regions whose handler is already to do.
    handled: Vec<bool>,
    max: u32,
    /// In a called finally block: the depth with its return address on top. END_FINALLY at this depth returns.
    returns_at: Option<u32>,
    /// Finally blocks that are called, and with what depth.
    calls: Vec<(usize, u32)>,
    todo: Vec<(usize, u32)>,
}

impl<'a> Walk<'a> {
    fn new(code: &'a Code, regions: &'a Covering, returns_at: Option<u32>) -> Self {
        Self {
            code,
            regions,
            before: vec![UNSEEN; code.instrs.len()],
            handled: vec![false; code.regions.len()],
            max: 0,
            returns_at,
            calls: Vec::new(),
            todo: Vec::new(),
        }
    }

    fn run(&mut self, at: usize, depth: u32) -> Result<(), EncodeError> {
        self.todo.push((at, depth));
        while let Some((mut at, mut depth)) = self.todo.pop() {
            loop {
                if depth > DEEPEST {
                    return Err(EncodeError::TooDeep { at });
                }
                self.max = self.max.max(depth);
                let seen = *self.before.get(at).ok_or(EncodeError::FallsOffEnd)?;
                if seen != UNSEEN {
                    if seen != depth {
                        return Err(EncodeError::StackMismatch { at, a: seen, b: depth });
                    }
                    break;
                }
                match self.step(at, depth)? {
                    Some(next) => (at, depth) = next,
                    None => break,
                }
            }
        }
        Ok(())
    }

    fn target(&self, label: Label) -> Result<usize, EncodeError> {
        self.code.labels.get(label.0 as usize).copied().ok_or(EncodeError::Label(label))
    }

    /// Visits one instruction; returns what it falls through to.
    fn step(&mut self, at: usize, depth: u32) -> Result<Option<(usize, u32)>, EncodeError> {
        let op = self.code.instrs[at].op;
        self.before[at] = depth;
        if let Some(index) = self.regions.at(at)
            && !std::mem::replace(&mut self.handled[index as usize], true)
        {
            let region = self.code.regions[index as usize];
            let handler = self.target(region.handler)?;
            self.todo.push((handler, region.depth.saturating_add(1 + u32::from(region.lasti))));
        }
        if reach(&op) > depth {
            return Err(EncodeError::StackUnderflow { at, op });
        }
        let called = self.returns_at.is_some_and(|base| match op {
            Op::WithCleanupStart => depth == base + 1,
            Op::WithCleanupFinish => depth == base + 2,
            Op::PopFinally(keep) => depth == base.saturating_add(keep),
            _ => false,
        });
        let apply = |at: usize, op: &Op, depth: u32, jump: bool| -> Result<u32, EncodeError> {
            let (pops, pushes) = effect(op, jump, called);
            let under = || EncodeError::StackUnderflow { at, op: *op };
            depth.checked_sub(pops).and_then(|d| d.checked_add(pushes)).ok_or_else(under)
        };
        if let Some(label) = op.target() {
            let to = self.target(label)?;
            let there = apply(at, &op, depth, true)?;
            if matches!(op, Op::CallFinally(_)) {
                self.calls.push((to, there));
            } else {
                self.todo.push((to, there));
            }
            self.max = self.max.max(depth + extra(&op, self.code.version, to <= at));
        } else {
            self.max = self.max.max(depth + extra(&op, self.code.version, false));
        }
        if op == Op::EndFinally && self.returns_at == Some(depth) {
            return Ok(None);
        }
        let after = apply(at, &op, depth, false)?;
        if !op.falls_through() {
            return Ok(None);
        }
        // The tuple of names is an operand, not a slot.
        if matches!(op, Op::LoadConst(_))
            && matches!(self.code.version, Version::V311 | Version::V312)
            && let Some(Op::CallKw { .. }) = self.code.instrs.get(at + 1).map(|i| i.op)
            && self.before[at + 1] == UNSEEN
            && !self.regions.changes_at(at + 1)
        {
            self.before[at + 1] = after;
            return Ok(Some((at + 2, apply(at + 1, &self.code.instrs[at + 1].op, after, false)?)));
        }
        Ok(Some((at + 1, after)))
    }
}
