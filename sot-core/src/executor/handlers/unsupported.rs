//! Instructions that are not simulated: they run as Python behind a break, or, where that cannot be (they speak of the
//! frame itself, or belong to coroutines), the frame does, or the call that led here.

use super::{Flow, handlers};
use crate::executor::Executor;
use crate::stop::{Reason, Stop};
use sot_opcodes::{Intrinsic, Op};

handlers! {
    LoadBuildClass => load_build_class;
    Intrinsic1 => intrinsic;
    Intrinsic2 => python;
    ReturnGenerator => run;
    CleanupThrow => run;
    ImportStar => run;
    PrintExpr => run;
    EndAsyncForTriple => run;
    SetupAsyncWith => run;
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

/// A class statement: what makes the class is a call like others, of the builtin that has this name now.
fn load_build_class(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let var = ex.load_builtin("__build_class__")?;
    ex.push(var);
    Ok(Flow::Next)
}

pub(super) fn run(_ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    Err(Stop::fallback(Reason::Opcode, op.kind().name()))
}

#[cfg(test)]
mod tests {
    use sot_opcodes::OpKind;
    use std::collections::BTreeMap;

    /// Why each of the instructions above is not simulated. Class bodies and modules are no functions: their names live in a
    /// dict that others see. Coroutines are run by somebody else's loop.
    const WHY: &[(&str, &[&str])] = &[
        ("it speaks of the names of a module", &["ImportStar"]),
        ("it pushes what makes classes", &["LoadBuildClass"]),
        ("only the interactive interpreter has it", &["PrintExpr"]),
        ("the call makes the generator, whose frame begins behind it", &["ReturnGenerator"]),
        ("it belongs to a coroutine", &["EndAsyncForTriple", "SetupAsyncWith", "CleanupThrow"]),
        ("it makes parameters of types: it breaks, but for the end of a generator", &["Intrinsic1", "Intrinsic2"]),
    ];

    /// The kinds whose handlers are above.
    fn listed() -> Vec<&'static str> {
        let source = include_str!("unsupported.rs");
        let list = source.split_once("handlers! {").and_then(|(_, rest)| rest.split_once('}')).expect("a list").0;
        list.lines().filter_map(|line| line.trim().split_once(" => ")).map(|(kind, _)| kind).collect()
    }

    #[test]
    fn each_instruction_is_simulated_or_has_a_reason() {
        let mut reasons: BTreeMap<&str, &str> = BTreeMap::new();
        for (why, kinds) in WHY {
            for kind in *kinds {
                assert!(reasons.insert(kind, why).is_none(), "{kind} has two reasons");
            }
        }
        for kind in listed() {
            assert!(reasons.remove(kind).is_some(), "{kind} is not simulated, and nobody says why");
        }
        assert_eq!(reasons.into_keys().collect::<Vec<_>>(), Vec::<&str>::new(), "simulated by now");
        // Whatever a version's decoder yields is one of these kinds, each with one handler (`handlers::tests`).
        let named: Vec<String> = OpKind::ALL.iter().map(|kind| format!("{kind:?}")).collect();
        for kind in listed() {
            assert!(named.iter().any(|name| name == kind), "{kind} is no instruction");
        }
    }
}
