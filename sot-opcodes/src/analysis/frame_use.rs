//! What becomes of a frame object that the program asks for.
//!
//! A frame object of a function that goes on says at each moment where the function is and what its variables are. Whoever
//! takes a function apart must know whether somebody is left who may ask. Most do not: they ask at once for the line, the
//! name or the caller, and let go.
//!
//! A *level* says whose frame it is: 0 that of the code itself, 1 its caller's. From [`MANY_FRAMES`] on levels are not told apart.

use crate::effect::{reach, stack_effect};
use crate::{Code, Local, Op, UnaryOp};

/// So many levels out, and further.
pub const MANY_FRAMES: u32 = 4;

/// In so many places no object is looked for.
const PLACES: usize = 1000;

/// What a piece of code does with a frame object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FrameUse {
    /// The frame of this level may be asked later, or for what it alone knows.
    Keeps(u32),
    /// The frame of this level is returned.
    Returns(u32),
}

/// A frame object on the stack before an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
struct At {
    instr: usize,
    /// Slots above it.
    above: u32,
    level: u32,
    /// It has been in a variable: what it says may be old. Frames further out do not move while the code runs.
    stored: bool,
}

/// What becomes of the frame object of a level that is on top of the stack before an instruction, in ascending order. Asking
/// for what never changes (the code, globals, the caller) is no use of it, nor is asking for the line at once.
#[must_use]
pub fn frame_uses(code: &Code, instr: usize, level: u32, stored: bool) -> Vec<FrameUse> {
    let mut found = Vec::new();
    let mut seen = vec![At { instr, above: 0, level: level.min(MANY_FRAMES), stored }];
    let mut next = 0;
    while let Some(at) = seen.get(next).copied() {
        next += 1;
        if next > PLACES {
            found.push(FrameUse::Keeps(at.level));
            break;
        }
        let mut go = |to: At| {
            let to = At { level: to.level.min(MANY_FRAMES), ..to };
            if !seen.contains(&to) {
                seen.push(to);
            }
        };
        let Some(op) = code.instrs.get(at.instr).map(|i| i.op) else { continue };
        let behind = At { instr: at.instr + 1, ..at };
        match (op, at.above) {
            (Op::LoadAttr(name), 0) => match code.names.get(name.0 as usize).map_or("", String::as_str) {
                "f_back" => go(At { level: at.level + 1, ..behind }),
                "f_code" | "f_globals" | "f_builtins" => {}
                "f_lineno" if !at.stored || at.level > 0 => {}
                _ => found.push(FrameUse::Keeps(at.level)),
            },
            (Op::StoreFast(local), 0) => {
                loads(code, local).for_each(|load| go(At { instr: load + 1, stored: true, ..at }));
            }
            (Op::ReturnValue, above) => found.extend((above == 0).then_some(FrameUse::Returns(at.level))),
            (Op::PopTop | Op::PopJumpIf { .. } | Op::Unary(UnaryOp::Not | UnaryOp::ToBool), 0) => {}
            (Op::Is { .. }, 1) if at.instr > 0 && matches!(code.instrs[at.instr - 1].op, Op::LoadConst(_)) => {}
            (Op::JumpIfOrPop { target, .. }, 0) => go(At { instr: code.place(target), ..at }),
            (Op::Copy(n), above) => {
                go(At { above: above.saturating_add(1), ..behind });
                if above == n.saturating_sub(1) {
                    go(At { above: 0, ..behind });
                }
            }
            (Op::Swap(n) | Op::RotN(n), 0) => go(At { above: n.saturating_sub(1), ..behind }),
            (Op::Swap(n), above) => go(At { above: if above == n.saturating_sub(1) { 0 } else { above }, ..behind }),
            (Op::RotN(n), above) => go(At { above: if above < n { above - 1 } else { above }, ..behind }),
            (op, above) => {
                let looks_at_it = stack_effect(&op, false).0.max(reach(&op)) > above;
                if looks_at_it {
                    found.push(FrameUse::Keeps(at.level));
                    continue;
                }
                let moved = |(pops, pushes): (u32, u32)| above.saturating_sub(pops).saturating_add(pushes);
                if op.falls_through() {
                    go(At { above: moved(stack_effect(&op, false)), ..behind });
                }
                if let Some(label) = op.target() {
                    go(At { instr: code.place(label), above: moved(stack_effect(&op, true)), ..at });
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The instructions that load a local.
fn loads(code: &Code, local: Local) -> impl Iterator<Item = usize> + '_ {
    let is = move |op: Op| matches!(op, Op::LoadFast { local: l, .. } | Op::LoadFastAndClear(l) if l == local);
    code.instrs.iter().enumerate().filter(move |(_, instr)| is(instr.op)).map(|(at, _)| at)
}
