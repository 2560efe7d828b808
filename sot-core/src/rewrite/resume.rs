//! Resume functions: the original code, entered in the middle.
//!
//! `__resume_fn_k(stack values..., locals...)` puts the values back where they were and jumps to the offset. It is the
//! eager form of a continuation's frame. Cells become free variables, so that the frame shares the cells it had.

use crate::continuation::FrameShape;
use sot_opcodes::{Code, CodeFlags, ConstId, Instr, Local, Location, Op};

/// The code of a frame's resume function. Its positional arguments are the values on the stack (NULL slots left
/// out) and the live locals, in the order of the shape; its free variables are the frame's cells. It keeps the user's
/// name, so that tracebacks show the user's function.
/// `pass`: the constant that stands for a NULL slot where none can be pushed (see `Emitter::push_null`).
pub fn resume_code(frame: &FrameShape, pass: ConstId) -> Code {
    let mut code = frame.unit.code.clone();

    // Arguments come first among the locals: give the live locals the slots behind the stack values.
    let stack = frame.nulls.iter().filter(|null| !**null).count();
    let old_names = std::mem::take(&mut code.varnames);
    let mut names: Vec<String> = Vec::new();
    let mut moved = vec![u32::MAX; old_names.len()];
    let mut first_stack = 0;
    if frame.first_local_first() {
        moved[0] = 0;
        names.push(old_names[0].clone());
        first_stack = 1;
    }
    names.extend((0..stack).map(|i| format!("___stack_{i}")));
    let dead = (0..old_names.len() as u32).filter(|l| !frame.locals.contains(l));
    for old in frame.locals.iter().copied().chain(dead) {
        if moved[old as usize] != u32::MAX {
            continue;
        }
        moved[old as usize] = names.len() as u32;
        names.push(old_names[old as usize].clone());
    }
    code.varnames = names;
    code.argcount = (stack + frame.locals.len()) as u32;
    code.posonlyargcount = 0;
    code.kwonlyargcount = 0;
    code.flags.remove(CodeFlags::VARARGS | CodeFlags::VARKEYWORDS);

    // The frame's cells are given: free variables, in the same numbering.
    let cells = std::mem::take(&mut code.cellvars);
    let frees = std::mem::take(&mut code.freevars);
    code.freevars = cells.into_iter().chain(frees).collect();
    for instr in &mut code.instrs {
        instr.op = match instr.op {
            Op::LoadFast { local: Local(l), check } => Op::LoadFast { local: Local(moved[l as usize]), check },
            Op::LoadFastAndClear(Local(l)) => Op::LoadFastAndClear(Local(moved[l as usize])),
            Op::StoreFast(Local(l)) => Op::StoreFast(Local(moved[l as usize])),
            Op::DeleteFast(Local(l)) => Op::DeleteFast(Local(moved[l as usize])),
            Op::MakeCell(_) | Op::CopyFreeVars(_) => Op::Nop,
            other => other,
        };
    }

    let here = Location::of_line(frame.unit.line(frame.ip));
    let mut prologue = Vec::new();
    let mut put = |op: Op| prologue.push(Instr::new(op, here));
    if sot_opcodes::calls::has_resume(code.version) {
        if !code.freevars.is_empty() {
            put(Op::CopyFreeVars(code.freevars.len() as u32));
        }
        put(Op::Resume(0));
    }
    let mut next = first_stack;
    for null in &frame.nulls {
        if *null {
            put(match sot_opcodes::calls::can_push_null(code.version) {
                true => Op::PushNull,
                false => Op::LoadConst(pass),
            });
        } else {
            put(Op::LoadFast { local: Local(next), check: false });
            next += 1;
        }
    }
    let length = prologue.len() + 1;
    for label in &mut code.labels {
        *label += length;
    }
    for region in &mut code.regions {
        region.start += length;
        region.end += length;
    }
    let target = code.new_label(frame.ip + length);
    prologue.push(Instr::new(Op::Jump { target, no_interrupt: false }, here));
    code.instrs.splice(0..0, prologue);
    code
}
