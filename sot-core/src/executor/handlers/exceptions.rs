//! Exceptions. Raising is left to Python: the instruction runs in the rewritten code.

use super::{Flow, handlers};
use crate::executor::Executor;
use crate::stop::{Reason, Stop};
use sot_opcodes::Op;

handlers! {
    RaiseVarargs => raise_varargs;
    SetupFinally => enter_block;
    PopBlock => leave_block;
}

fn raise_varargs(_ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    Err(Stop::brk(Reason::WouldRaise, "raise"))
}

/// Up to 3.10 a protected region is entered by an instruction. As long as nothing raises it has no effect; whether
/// a stop inside can be realised is asked of the code's regions.
fn enter_block(_ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    Ok(Flow::Next)
}

fn leave_block(_ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    Ok(Flow::Next)
}
