//! Stand-ins: real frames for the user's frames that inlining left out.
//!
//! What runs eagerly may look at the frames that called it, or let C code do so (`warnings.warn(stacklevel=2)`, the
//! caller that a logger reports, the place of numpy's RuntimeWarning). So the break instruction of an inlined function,
//! and the eager form of a continuation with several frames, run below one small function for each frame that Python
//! would have there: of the user's name, file, line and globals.
//!
//! The stand-in of a frame that waits for a call takes a callable and a tuple of arguments, and calls it. The stand-in of
//! the innermost frame takes the instruction's operands and runs it. Neither has locals of its own while it waits; the stand-in of a
//! frame whose values are at hand is given those of its variables that are alive, for who looks at `f_locals`.

use super::emit::{Callable, Emitter};
use super::plan::{BreakKind, BreakPlan, Jump};
use crate::code_unit::{CodeUnit, assemble, function_of};
use crate::iterators::pass_function;
use crate::objects::is_constant_type;
use crate::stop::{Reason, Stop};
use crate::variables::{VarId, VarKind};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sot_opcodes::{Code, CodeBuilder, ConstId, JumpCond, Local, Location, Op, Signature, UnaryOp, calls};

fn location(unit: &CodeUnit, ip: usize) -> Location {
    let known = unit.code.instrs.get(ip).map(|instruction| instruction.loc).filter(|loc| loc.line.is_some());
    known.unwrap_or(Location::of_line(unit.line(ip)))
}

/// The function that stands in for a frame that waits at `ip` for a call. `locals`: variables that it is given behind the callable and its
/// arguments, by number.
pub fn waiting<'py>(
    py: Python<'py>,
    unit: &CodeUnit,
    ip: usize,
    globals: &Bound<'py, PyAny>,
    locals: &[u32],
) -> PyResult<Bound<'py, PyAny>> {
    let code = waiting_code(&unit.code, location(unit, ip), locals);
    let code = assemble(py, &code, &[]).map_err(PyRuntimeError::new_err)?;
    function_of(py, &code, globals, None)
}

/// Its code: `___callee(*___arguments)`, without either.
pub(super) fn waiting_code(like: &Code, loc: Location, locals: &[u32]) -> Code {
    let mut b = CodeBuilder::new(like.version, like);
    let shown = locals.iter().map(|local| like.varnames[*local as usize].clone());
    let positional = ["___callee".into(), "___arguments".into()].into_iter().chain(shown).collect();
    b.set_args(&Signature { positional, ..Signature::default() });
    b.prelude();
    b.push_callable(Op::LoadFast { local: Local(0), check: false }, loc);
    b.emit(Op::LoadFast { local: Local(1), check: false }, loc);
    // Nobody shall see them in `f_locals`.
    b.emit_all([Op::DeleteFast(Local(0)), Op::DeleteFast(Local(1))], loc);
    b.call_ex(false, loc);
    b.emit(Op::ReturnValue, loc);
    b.finish()
}

/// Let code show as a frame that waits at `ip`.
pub fn stand_in_for(code: &mut Code, unit: &CodeUnit, ip: usize) {
    code.name.clone_from(&unit.code.name);
    code.qualname.clone_from(&unit.code.qualname);
    code.filename.clone_from(&unit.code.filename);
    code.firstlineno = unit.code.firstlineno;
    let loc = location(unit, ip);
    code.instrs.iter_mut().for_each(|instruction| instruction.loc = loc);
}

/// Whether an instruction can run in a frame of its own: it depends on its operands and globals alone, and may call
/// something.
fn movable(op: Op) -> bool {
    matches!(
        op,
        Op::Call { .. }
            | Op::CallKw { .. }
            | Op::CallEx { .. }
            | Op::LoadGlobal(_)
            | Op::StoreGlobal(_)
            | Op::DeleteGlobal(_)
            | Op::ImportName(_)
            | Op::LoadAttr(_)
            | Op::LoadMethod(_)
            | Op::StoreAttr(_)
            | Op::DeleteAttr(_)
            | Op::BinarySubscr
            | Op::StoreSubscr
            | Op::DeleteSubscr
            | Op::BinarySlice
            | Op::StoreSlice
            | Op::Unary(_)
            | Op::Binary { .. }
            | Op::Compare { .. }
            | Op::Contains { .. }
            | Op::FormatValue { .. }
            | Op::GetIter
            | Op::GetYieldFromIter
            | Op::BuildSet(_)
            | Op::BuildMap(_)
            | Op::BuildConstKeyMap(_)
            | Op::SetAdd(_)
            | Op::MapAdd(_)
            | Op::ListExtend(_)
            | Op::SetUpdate(_)
            | Op::DictUpdate(_)
            | Op::DictMerge(_)
            | Op::BuildTupleUnpack(_)
            | Op::BuildListUnpack(_)
            | Op::BuildSetUnpack(_)
            | Op::BuildMapUnpack(_)
            | Op::UnpackSequence(_)
            | Op::UnpackEx { .. }
            | Op::ForIter(_)
    )
}

/// Index of the innermost frame of the program: what a hidden one above it runs eagerly runs in its name.
fn shown(em: &Emitter<'_, '_>) -> usize {
    em.captured.frames.iter().rposition(|frame| !frame.is_hidden()).unwrap_or_default()
}

/// Whether the break instruction is to run below stand-ins.
pub(super) fn wanted(em: &Emitter<'_, '_>, plan: &BreakPlan) -> bool {
    shown(em) > 0 && (plan.kept == 0 || plan.pushes() == 0) && (movable(plan.op) || asks_for_truth(em, plan))
}

/// Whether an instruction asks for the truth of what code may answer, or warn of. Of a tensor, the framework tells it alone.
fn asks_for_truth(em: &Emitter<'_, '_>, plan: &BreakPlan) -> bool {
    let BreakKind::Branch { by: Jump::If(JumpCond::True | JumpCond::False), .. } = plan.kind else { return false };
    plan.operands.iter().all(|operand| !matches!(em.captured.var(*operand).kind, VarKind::Tensor(_)))
}

/// What the innermost stand-in returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// The instruction has no result.
    None,
    Result,
    /// Its results in a tuple, the topmost last.
    Results(u32),
    /// A tuple of the next item, or None at the end.
    Next,
}

pub(super) fn answer(plan: &BreakPlan) -> Answer {
    match plan.pushes() {
        _ if matches!(plan.op, Op::ForIter(_)) => Answer::Next,
        _ if matches!(plan.kind, BreakKind::Branch { .. }) => Answer::Result,
        0 => Answer::None,
        1 => Answer::Result,
        more => Answer::Results(more as u32),
    }
}

/// Where the outermost frame waits: the location of code that runs for a break in an inlined function.
pub(super) fn outermost(em: &Emitter<'_, '_>) -> Location {
    em.captured.frames.first().map_or_else(Location::default, |frame| location(&frame.unit, frame.ip))
}

/// Run the break instruction below stand-ins. Leaves an [`Answer`] on the stack.
pub(super) fn run_below(em: &mut Emitter<'_, '_>, plan: &BreakPlan) -> Result<(), Stop> {
    let last = shown(em);
    let shown_frames = em.captured.frames[1..=last].iter().filter(|frame| !frame.is_hidden());
    let waiting_frames: usize = shown_frames.map(|frame| 1 + usize::from(frame.skipped.is_some())).sum::<usize>() - 1;
    // Who holds the operands meanwhile, a tuple or the stack of a call, lets go of the last one first, or not; a call by C code
    // begins with its first.
    let ends_last_first =
        waiting_frames > 0 || calls::drops_from_the_top(em.unit.code.version, &Op::Call { argc: 0, two: false });
    let reversed = ends_last_first && matches!(plan.op, Op::CallEx { .. });
    let (innermost, given) = innermost(em, plan, reversed)?;
    let mut stand_ins = Vec::with_capacity(last);
    for (depth, frame) in em.captured.frames.iter().enumerate().take(last + 1).skip(1) {
        if frame.is_hidden() {
            continue;
        }
        let py = em.py;
        let mut wait =
            |unit: &CodeUnit, ip: usize, globals: &Bound<'_, PyAny>| match waiting(py, unit, ip, globals, &[]) {
                Ok(made) => {
                    stand_ins.push(made.unbind());
                    Ok(())
                }
                Err(error) => Err(Stop::internal(&error)),
            };
        if let Some(skipped) = &frame.skipped {
            wait(&skipped.unit, skipped.ip, skipped.globals.bind(py))?;
        }
        if depth < last {
            wait(&frame.unit, frame.ip, &em.captured.objects.get(py, frame.globals))?;
        }
    }
    stand_ins.push(innermost.unbind());
    let stand_ins: Vec<_> = stand_ins.into_iter().map(|made| made.into_bound(em.py)).collect();
    let between = stand_ins.len() - 1;
    for made in &stand_ins {
        let code = made.getattr("__code__").map_err(|e| Stop::internal(&e))?;
        em.stand_ins.push(code.unbind());
    }
    // outer(next, (.., (innermost, (operands..))))
    let mut made = stand_ins.into_iter();
    let first = made.next().expect("the innermost at least");
    em.push_callable(Callable::Object(first));
    for next in made {
        em.push_constant(&next);
    }
    for operand in &given {
        em.push(*operand)?;
    }
    em.let_go_of_operands();
    match between {
        0 => em.call(given.len() as u32),
        _ => {
            em.emit(Op::BuildTuple(given.len() as u32));
            for _ in 1..between {
                em.emit(Op::BuildTuple(2));
            }
            em.call(2);
        }
    }
    Ok(())
}

/// The innermost frame's stand-in, and the operands that it takes.
/// `reversed`: from the last one to the first.
fn innermost<'py>(
    em: &mut Emitter<'_, 'py>,
    plan: &BreakPlan,
    reversed: bool,
) -> Result<(Bound<'py, PyAny>, Vec<VarId>), Stop> {
    let py = em.py;
    let running = em.captured.frame().unit.clone();
    let frame = &em.captured.frames[shown(em)];
    let unit = frame.unit.clone();
    let globals = em.captured.objects.get(py, frame.globals);
    let loc = location(&unit, frame.ip);
    // Plain values only: the collector does not see what the constants of code hold.
    let constant = |em: &Emitter<'_, 'py>, var: VarId| {
        let object = em.constant_object(var).map(|id| em.captured.objects.get(py, id))?;
        let plain =
            is_constant_type(&object.get_type()) || object.is_none() || object.is_exact_instance_of::<PyTuple>();
        plain.then_some(object)
    };
    let is_null = |em: &Emitter<'_, 'py>, var: VarId| matches!(em.captured.var(var).kind, VarKind::Null(_));
    let unbound = |at: usize| match plan.calls() {
        true => em.looked_up_for_a_call(&plan.operands[at..]),
        false => None,
    };
    let mut given: Vec<VarId> = Vec::new();
    let mut at = 0;
    while let Some(operand) = plan.operands.get(at) {
        if let Some((receiver, _)) = unbound(at) {
            given.push(receiver);
            at += 1;
        } else if !is_null(em, *operand) && constant(em, *operand).is_none() {
            given.push(*operand);
        }
        at += 1;
    }
    let last = given.len().saturating_sub(1) as u32;

    let mut b = CodeBuilder::new(unit.code.version, &unit.code);
    let positional = (0..given.len()).map(|i| format!("___operand_{i}")).collect();
    b.set_args(&Signature { positional, ..Signature::default() });
    b.prelude();
    let mut consts: Vec<Py<PyAny>> = Vec::new();
    let mut next = 0;
    let mut unbind = Vec::new();
    let mut operands = plan.operands.iter().enumerate();
    while let Some((at, operand)) = operands.next() {
        let method = unbound(at).map(|(_, name)| b.name(&name));
        if method.is_some() {
            operands.next();
        }
        let object = match is_null(em, *operand) {
            _ if method.is_some() => None,
            // It is dropped afterwards, and nothing drops a NULL.
            true if plan.kept > 0 => Some(py.None().into_bound(py)),
            true if calls::can_push_null(unit.code.version) => {
                b.emit(Op::PushNull, loc);
                continue;
            }
            true => Some(pass_function(py).map_err(|e| Stop::internal(&e))?),
            false => constant(em, *operand),
        };
        match object {
            Some(object) => {
                b.emit(Op::LoadConst(ConstId(consts.len() as u32)), loc);
                consts.push(object.unbind());
            }
            None => {
                let local = Local(if reversed { last - next } else { next });
                b.emit(Op::LoadFast { local, check: false }, loc);
                b.emit_all(method.map(Op::LoadMethod), loc);
                unbind.push(Op::DeleteFast(local));
                next += 1;
            }
        }
    }
    // The names of a keyword call must stay directly before it.
    if !matches!(plan.op, Op::CallKw { .. }) {
        b.emit_all(unbind, loc);
    }
    let none = ConstId(consts.len() as u32);
    consts.push(py.None());
    let answer = answer(plan);
    if answer == Answer::Next {
        let end = b.new_label();
        b.emit_all([Op::ForIter(end), Op::BuildTuple(1), Op::Swap(2), Op::PopTop, Op::ReturnValue], loc);
        b.bind(end);
    } else if let BreakKind::Branch { .. } = plan.kind {
        // Whoever called it jumps.
        b.emit(Op::Unary(UnaryOp::Not), loc);
    } else {
        let ops = plan.translated(&running, &mut b)?;
        b.emit_all(ops, loc);
    }
    match answer {
        Answer::Result => {}
        Answer::Results(n) => b.emit(Op::BuildTuple(n), loc),
        Answer::None | Answer::Next => {
            b.emit_all((0..plan.kept).map(|_| Op::PopTop), loc);
            b.emit(Op::LoadConst(none), loc);
        }
    }
    b.emit(Op::ReturnValue, loc);
    let internal = |e: String| Stop::fallback(Reason::InternalError, e);
    let code = assemble(py, &b.finish(), &consts).map_err(internal)?;
    let function = function_of(py, &code, &globals, None).map_err(|e| internal(e.to_string()))?;
    if reversed {
        given.reverse();
    }
    Ok((function, given))
}
