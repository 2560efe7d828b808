//! Instructions that are not simulated: the frame runs as plain Python, or the call that led here does.

use super::{Flow, handlers};
use crate::executor::Executor;
use crate::stop::{Reason, Stop};
use sot_opcodes::Op;

handlers! {
    DeleteGlobal => run;
    LoadName => run;
    StoreName => run;
    DeleteName => run;
    LoadClosureAndClear => run;
    StoreClosure => run;
    LoadClassDeref => run;
    LoadFromDictOrDeref => run;
    LoadFromDictOrGlobals => run;
    LoadLocals => run;
    LoadBuildClass => run;
    SetupAnnotations => run;
    DeleteAttr => run;
    StoreSlice => run;
    BuildSet => run;
    SetAdd => run;
    SetUpdate => run;
    BuildSetUnpack => run;
    JumpIfNotExcMatch => run;
    Intrinsic1 => run;
    Intrinsic2 => run;
    ReturnGenerator => run;
    GenStart => run;
    YieldValue => run;
    YieldFrom => run;
    GetYieldFromIter => run;
    Send => run;
    EndSend => run;
    GetAwaitable => run;
    GetAiter => run;
    GetAnext => run;
    BeforeAsyncWith => run;
    EndAsyncFor => run;
    AsyncGenWrap => run;
    CleanupThrow => run;
    ImportStar => run;
    PrintExpr => run;
    Reraise => run;
    PopExcept => run;
    PushExcInfo => run;
    CheckExcMatch => run;
    CheckEgMatch => run;
    PrepReraiseStar => run;
    BeforeWith => run;
    WithExceptStart => run;
    PopExceptTriple => run;
    ReraiseTriple => run;
    WithExceptStartTriple => run;
    EndAsyncForTriple => run;
    SetupWith => run;
    SetupAsyncWith => run;
    CallFinally => run;
    BeginFinally => run;
    EndFinally => run;
    PopFinally => run;
    WithCleanupStart => run;
    WithCleanupFinish => run;
    MatchClass => run;
    MatchMapping => run;
    MatchSequence => run;
    MatchKeys => run;
    MatchClassTest => run;
    MatchKeysTest => run;
    CopyDictWithoutKeys => run;
}

pub(super) fn run(_ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    Err(Stop::fallback(Reason::Opcode, op.kind().name()))
}
