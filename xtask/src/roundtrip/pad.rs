//! A NOP before each instruction, so that every jump, handler and table must be made anew.
//!
//! Not where CPython looks at neighbours:
//! - in the prelude; between SEND, YIELD_VALUE and RESUME; between GET_AWAITABLE and the call before it; between a call
//!   and its names;
//! - before SEND, since a jump back to it makes no line event;
//! - before END_ASYNC_FOR, which makes no line event in 3.12;
//! - before END_ASYNC_FOR and WITH_CLEANUP_START, by which 3.8 knows the block when a debugger jumps (else it crashes).
//!
//! Nor between two that one raw instruction stands for.

use sot_opcodes::{Code, Instr, Op};

pub(super) fn pad(mut code: Code) -> Code {
    let prelude = code.prelude_len();
    let mut moved = Vec::with_capacity(code.instrs.len() + 1);
    let mut padded: Vec<Instr> = Vec::with_capacity(code.instrs.len() * 2);
    for (at, instr) in code.instrs.iter().enumerate() {
        moved.push(padded.len());
        let joined = padded.last().is_some_and(|last| last.offset == instr.offset);
        if at >= prelude && !joined && !keeps_its_neighbour(&instr.op) {
            padded.push(Instr::new(Op::Nop, instr.loc));
        }
        padded.push(*instr);
    }
    moved.push(padded.len());
    code.instrs = padded;
    for place in &mut code.labels {
        *place = moved[*place];
    }
    for region in &mut code.regions {
        (region.start, region.end) = (moved[region.start], moved[region.end]);
    }
    code
}

fn keeps_its_neighbour(op: &Op) -> bool {
    matches!(
        op,
        Op::Call { two: false, .. }
            | Op::CallKw { .. }
            | Op::Resume(_)
            | Op::Send(_)
            | Op::EndAsyncFor
            | Op::EndAsyncForTriple
            | Op::WithCleanupStart
            | Op::EndSend
            | Op::YieldValue(_)
            | Op::GetAwaitable(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sot_opcodes::{ConstId, Location, NameId};

    #[test]
    fn labels_move_along_and_the_prelude_stays() {
        let mut code = super::super::recode::tests::nothing();
        let new = |op, offset| Instr { op, loc: Location::default(), offset };
        code.instrs = vec![
            new(Op::Resume(0), 0),
            new(Op::PushNull, 2),
            new(Op::LoadGlobal(NameId(0)), 2),
            new(Op::LoadConst(ConstId(0)), 4),
            new(Op::ReturnValue, 6),
        ];
        code.labels = vec![3];
        let padded = pad(code);
        let ops: Vec<Op> = padded.instrs.iter().map(|instr| instr.op).collect();
        assert_eq!(
            ops,
            [
                Op::Resume(0),
                Op::Nop,
                Op::PushNull,
                Op::LoadGlobal(NameId(0)),
                Op::Nop,
                Op::LoadConst(ConstId(0)),
                Op::Nop,
                Op::ReturnValue
            ]
        );
        assert_eq!(padded.labels, [4]);
    }
}
