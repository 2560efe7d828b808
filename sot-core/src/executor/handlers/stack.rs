//! Moving values on the stack.

use super::{Flow, handlers, mismatch};
use crate::executor::Executor;
use crate::stop::{Reason, Stop};
use crate::variables::NullVar;
use sot_opcodes::Op;

handlers! {
    Nop => nop;
    Resume => nop;
    CopyFreeVars => nop;
    PopTop => pop_top;
    PushNull => push_null;
    Copy => copy;
    Swap => swap;
    RotN => rot_n;
}

/// Cells and free variables stand in the frame from its start.
fn nop(_ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    Ok(Flow::Next)
}

fn pop_top(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let dropped = ex.pop()?;
    if ex.dies(dropped) {
        return Err(Stop::brk(Reason::Finalizer, ""));
    }
    Ok(Flow::Next)
}

fn push_null(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let null = ex.virtual_var(NullVar::default());
    ex.push(null);
    Ok(Flow::Next)
}

fn copy(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::Copy(n) = op else { return Err(mismatch()) };
    let value = ex.peek(n as usize)?;
    ex.push(value);
    Ok(Flow::Next)
}

fn swap(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::Swap(n) = op else { return Err(mismatch()) };
    ex.peek(n as usize)?;
    let stack = &mut ex.frame_mut().stack;
    let top = stack.len() - 1;
    stack.swap(top, top + 1 - n as usize);
    Ok(Flow::Next)
}

fn rot_n(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::RotN(n) = op else { return Err(mismatch()) };
    ex.peek(n as usize)?;
    let stack = &mut ex.frame_mut().stack;
    let at = stack.len() - n as usize;
    stack[at..].rotate_right(1);
    Ok(Flow::Next)
}
