//! Instructions that are not simulated: they run as Python behind a break, or, where that cannot be (they speak of the
//! frame itself, or belong to coroutines), the frame does, or the call that led here.

use super::{Flow, handlers};
use crate::executor::Executor;
use crate::stop::{Reason, Stop};
use sot_opcodes::{Intrinsic, Op};

handlers! {
    DeleteGlobal => python;
    LoadName => run;
    StoreName => run;
    DeleteName => run;
    LoadClosureAndClear => run;
    StoreClosure => run;
    LoadClassDeref => run;
    LoadFromDictOrDeref => run;
    LoadFromDictOrGlobals => run;
    LoadLocals => run;
    LoadBuildClass => load_build_class;
    SetupAnnotations => run;
    StoreSlice => python;
    BuildSet => python;
    SetAdd => python;
    BuildSetUnpack => python;
    Intrinsic1 => intrinsic;
    Intrinsic2 => python;
    ReturnGenerator => run;
    GetAwaitable => run;
    GetAiter => run;
    GetAnext => run;
    BeforeAsyncWith => run;
    EndAsyncFor => run;
    AsyncGenWrap => run;
    CleanupThrow => run;
    ImportStar => run;
    PrintExpr => run;
    CheckEgMatch => run;
    PrepReraiseStar => python;
    EndAsyncForTriple => run;
    SetupAsyncWith => run;
    MatchClass => python;
    MatchMapping => python;
    MatchSequence => python;
    MatchKeys => python;
    MatchClassTest => python;
    MatchKeysTest => python;
    CopyDictWithoutKeys => python;
}

/// The instruction runs as Python, and the capture goes on behind it.
fn python(_ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    Err(Stop::brk(Reason::Opcode, op.kind().name()))
}

fn intrinsic(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    match op {
        // 3.12+: an exception leaves a generator; only StopIteration becomes another one.
        Op::Intrinsic1(Intrinsic::StopIterationError) => {
            let exception = ex.peek(1)?;
            if ex.is_stop_iteration(exception)? {
                return Err(Stop::brk(Reason::WouldRaise, "StopIteration in a generator"));
            }
            Ok(Flow::Next)
        }
        Op::Intrinsic1(Intrinsic::ImportStar | Intrinsic::Print) => run(ex, op),
        _ => python(ex, op),
    }
}

/// A class statement: what makes the class is a call like others.
fn load_build_class(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let build = ex.builtins_attribute("__build_class__")?;
    let var = ex.pin(&build);
    ex.push(var);
    Ok(Flow::Next)
}

pub(super) fn run(_ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    Err(Stop::fallback(Reason::Opcode, op.kind().name()))
}
