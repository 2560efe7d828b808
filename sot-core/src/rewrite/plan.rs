//! How new code ends, and what it needs for that: planned before anything is emitted.

use super::exits::{self, Exit, Item, carried, item};
use crate::awaits::Awaits;
use crate::captured::Captured;
use crate::code_unit::CodeUnit;
use crate::frame::Finally;
use crate::libraries::is_library_file;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use sot_opcodes::{CodeBuilder, JumpCond, Op, method_layout, reach, stack_effect};

/// How the emitted code ends.
pub(super) enum Tail {
    Return(VarId),
    /// An exception that a handler has seen leaves the outermost frame.
    Raise(VarId),
    Break(Box<BreakPlan>),
}

pub(super) struct BreakPlan {
    pub(super) op: Op,
    pub(super) operands: Vec<VarId>,
    pub(super) loc: sot_opcodes::Location,
    pub(super) kind: BreakKind,
    /// Operands that stay on the stack.
    pub(super) kept: usize,
    /// Where an exception of the instruction goes, if the program may see it: the frames as they stand at the instruction.
    pub(super) raised: Option<Exit>,
    /// What `sys.exc_info` shows to the instruction, if frames of the program handle an exception.
    pub(super) handled: Option<VarId>,
    /// What the frames hold, if the instruction raises for sure: the traceback shows it, needed or not.
    pub(super) shown: Vec<VarId>,
    /// Somebody may have this code's own frame object behind the instruction: it holds the locals for as long as that.
    pub(super) gives_frame: bool,
}

pub(super) enum BreakKind {
    /// Always goes on after the instruction; `pushes` results.
    Plain { pushes: usize, exit: Exit },
    /// Leaves the two slots of a method call; run as an attribute access.
    Method { exit: Exit },
    /// A conditional jump that pops its operands.
    Branch { by: Jump, next: Exit, jump: Exit },
    /// FOR_ITER: next has the iterator and the item, end has neither.
    Loop { next: Exit, end: Exit },
    /// `with`, up to 3.10: an attribute access and a call.
    Enter { exit: Exit },
    /// `__exit__` with the exception; the function is the first operand, the exception the second. Without one it is called with
    /// three times None, which is a second result (3.8: later versions have a call of their own there).
    ExitCall { exit: Exit },
    /// `yield from` something that is no simulated generator: who delegates becomes a real generator and asks by itself.
    Delegate { exit: Exit },
    /// CHECK_EG_MATCH: the rest and what matches, which becomes what the frame handles unless it is None; as a third result the
    /// exit has what is handled.
    Match { exit: Exit, handled: VarId },
    /// Never goes on.
    Raise,
}

/// When a branch jumps.
pub(super) enum Jump {
    If(JumpCond),
    /// 3.9 and 3.10: the exception is of none of the classes.
    NotCaught,
}

/// What a `with` of 3.8 that was left by an exception has on the stack when `__exit__` has answered: the previous exception, a
/// NULL, the exception, its class once more, and the answer.
const RAISED_IN_WITH: usize = 3 + 1 + 3 + 2;

/// How many slots of the stack a break instruction may look at.
pub(crate) fn operand_count(op: &Op) -> usize {
    match op {
        Op::Send(_) | Op::YieldFrom => 0,
        Op::JumpIfOrPop { .. } | Op::ForIter(_) | Op::LoadMethod(_) | Op::SetupWith(_) => 1,
        Op::WithExceptStart | Op::WithExceptStartTriple | Op::WithCleanupStart => 7,
        // The callable of a bad `f(*args, **kwargs)` is further down.
        Op::DictMerge(n) => *n as usize + 4,
        Op::BuildMapUnpackWithCall(_) | Op::BuildTupleUnpackWithCall(_) => usize::MAX,
        _ => stack_effect(op, false).0.max(reach(op)) as usize,
    }
}

impl Tail {
    /// The generators that stay frames over a break.
    pub(super) fn generators(&self) -> Vec<VarId> {
        let Tail::Break(plan) = self else { return Vec::new() };
        plan.exits().into_iter().flat_map(|exit| exit.waiting.iter().copied()).collect()
    }

    pub(super) fn plan_break(py: Python<'_>, captured: &Captured, reason: Reason) -> Result<Tail, Stop> {
        let frame = captured.frame();
        let ip = frame.ip;
        let instruction = frame.unit.code.instrs[ip];
        let op = match () {
            () if captured.failed.is_some() => Op::RaiseVarargs(1),
            // What a continuation begins with is not looked at here.
            () if captured.stops_before => Op::Nop,
            () => instruction.op,
        };
        let looks_at = if captured.stops_before { &op } else { &instruction.op };
        let unit = frame.unit.clone();
        let same_globals = Some(frame.globals) == captured.entry_globals;
        let stack: Vec<VarId> = frame.stack.clone();
        match op {
            // A stand-in has the right globals, but the framework's own functions and the library's are better left alone.
            Op::LoadGlobal(_) | Op::StoreGlobal(_) | Op::DeleteGlobal(_) | Op::ImportName(_)
                if !same_globals && is_library_file(py, &unit.file) =>
            {
                return Err(Stop::fallback(Reason::Reconstruct, "a name of another module"));
            }
            Op::LoadFast { .. } | Op::DeleteFast(_) | Op::LoadDeref(_) | Op::DeleteDeref(_) | Op::ReturnValue => {
                return Err(Stop::fallback(Reason::Reconstruct, "an unbound variable"));
            }
            _ => {}
        }
        let raises = reason == Reason::WouldRaise || matches!(op, Op::RaiseVarargs(_));
        let shown = if raises { captured.held_by_frames_shown() } else { Vec::new() };
        let carried = carried(captured, &stack[stack.len() - operand_count(looks_at).min(stack.len())..]);
        let exit = |ip: usize, stack: Vec<Item>| exits::exit(py, captured, (&carried, &[]), ip, stack);
        let under = |n: usize| -> Result<Vec<Item>, Stop> {
            let keep = stack.len().checked_sub(n).ok_or(Stop::fallback(Reason::InternalError, "stack underflow"))?;
            Ok(stack[..keep].iter().map(|v| item(captured, *v)).collect())
        };
        let operands_of = |n: usize| stack[stack.len() - n..].to_vec();
        let mut kept = 0;
        let (operands, kind) = match op {
            Op::PopJumpIf { cond, target } => {
                let rest = under(1)?;
                let next = exit(ip + 1, rest.clone());
                let jump = exit(unit.code.target(target), rest);
                (operands_of(1), BreakKind::Branch { by: Jump::If(cond), next, jump })
            }
            Op::JumpIfOrPop { cond, target } => {
                let rest = under(1)?;
                let next = exit(ip + 1, rest.clone());
                let mut kept = rest;
                kept.push(item(captured, stack[stack.len() - 1]));
                let jump = exit(unit.code.target(target), kept);
                (operands_of(1), BreakKind::Branch { by: Jump::If(cond), next, jump })
            }
            // Up to 3.8: the truth of what `__exit__` gave says whether the exception goes, with all that the stack has of it.
            Op::WithCleanupFinish => {
                let next = exit(ip + 1, under(2)?);
                let mut silenced = under(RAISED_IN_WITH)?;
                silenced.push(Item::Finally(Finally::Fallen));
                let jump = exit(ip + 1, silenced);
                (operands_of(1), BreakKind::Branch { by: Jump::If(JumpCond::True), next, jump })
            }
            Op::JumpIfNotExcMatch(target) => {
                let rest = under(2)?;
                let next = exit(ip + 1, rest.clone());
                let jump = exit(unit.code.target(target), rest);
                (operands_of(2), BreakKind::Branch { by: Jump::NotCaught, next, jump })
            }
            Op::ForIter(target) => {
                let rest = under(1)?;
                let mut more = rest.clone();
                more.push(item(captured, stack[stack.len() - 1]));
                more.push(Item::Result(0));
                let next = exit(ip + 1, more);
                let end = exit(unit.code.target(target), rest);
                (operands_of(1), BreakKind::Loop { next, end })
            }
            Op::CheckEgMatch => {
                let mut rest = under(2)?;
                rest.extend([Item::Result(0), Item::Result(1)]);
                let mut exit = exit(ip + 1, rest);
                let handled = exit.handle_result(2).ok_or(Stop::fallback(Reason::InternalError, "no handler"))?;
                (operands_of(2), BreakKind::Match { exit, handled })
            }
            Op::Nop if captured.stops_before => (Vec::new(), BreakKind::Plain { pushes: 0, exit: exit(ip, under(0)?) }),
            Op::RaiseVarargs(n) => {
                (captured.failed.map_or_else(|| operands_of(n as usize), |error| vec![error]), BreakKind::Raise)
            }
            Op::Send(_) | Op::YieldFrom => {
                if captured.steps() == 1 {
                    return Err(Stop::fallback(
                        Reason::Generator,
                        "yield from something that is no simulated generator",
                    ));
                }
                let all = under(0)?;
                (Vec::new(), BreakKind::Delegate { exit: exit(ip, all) })
            }
            Op::LoadMethod(_) => {
                let mut rest = under(1)?;
                if method_layout::null_first(unit.code.version) {
                    rest.extend([Item::Null, Item::Result(0)]);
                } else {
                    rest.extend([Item::Result(0), Item::Null]);
                }
                (operands_of(1), BreakKind::Method { exit: exit(ip + 1, rest) })
            }
            Op::SetupWith(_) => {
                let mut rest = under(1)?;
                rest.extend([Item::Result(0), Item::Result(1)]);
                (operands_of(1), BreakKind::Enter { exit: exit(ip + 1, rest) })
            }
            Op::WithExceptStart | Op::WithExceptStartTriple => {
                let (function, exception) = if op == Op::WithExceptStart { (4, 1) } else { (7, 2) };
                let mut rest = under(0)?;
                rest.push(Item::Result(0));
                let operands = vec![captured.peek(function)?, captured.peek(exception)?];
                (operands, BreakKind::ExitCall { exit: exit(ip + 1, rest) })
            }
            // The function goes from under the state of the block.
            Op::WithCleanupStart => {
                let state = item(captured, captured.peek(1)?);
                let raised = !matches!(state, Item::Finally(_));
                let below = if raised { 7 } else { 2 };
                let mut operands = vec![captured.peek(below)?];
                let mut rest = under(below)?;
                if raised {
                    let slots = &stack[stack.len() + 1 - below..];
                    operands.push(slots[4]);
                    rest.extend(slots[..3].iter().map(|v| item(captured, *v)));
                    rest.push(Item::Null);
                    rest.extend(slots[3..].iter().chain([&slots[5]]).map(|v| item(captured, *v)));
                } else {
                    rest.extend([state, Item::Result(1)]);
                }
                rest.push(Item::Result(0));
                (operands, BreakKind::ExitCall { exit: exit(ip + 1, rest) })
            }
            _ => {
                let (pops, pushes) = stack_effect(&op, false);
                let mut rest = under(pops as usize)?;
                rest.extend((0..pushes as usize).map(Item::Result));
                let exit = exit(ip + 1, rest);
                kept = match op {
                    // The message of a bad `f(*args, **kwargs)` names the callable, which is further down.
                    Op::DictMerge(n) => n as usize + 3,
                    Op::BuildMapUnpackWithCall(_) => 2,
                    Op::BuildTupleUnpackWithCall(_) => 1,
                    _ => (reach(&op).max(pops) - pops) as usize,
                };
                kept = kept.min(stack.len() - pops as usize);
                let operands = operands_of(pops as usize + kept);
                if operands.iter().any(|v| matches!(captured.var(*v).kind, VarKind::Previous(_))) {
                    return Err(Stop::fallback(Reason::Reconstruct, op.kind().name()));
                }
                (operands, BreakKind::Plain { pushes: pushes as usize, exit })
            }
        };
        // An AttributeError is told what a frame had asked for, generators that are no objects clean up, and what stands on stacks
        // goes from their tops.
        let (_, below) = captured.frames.split_last().expect("a frame");
        let seen = captured
            .frames
            .iter()
            .any(|f| f.catches() || matches!(f.awaits, Awaits::Next | Awaits::Delegate) || f.generator.is_some())
            || below.iter().any(|f| f.asks_for().is_some() || f.asks_as_given())
            || !carried.is_empty()
            || captured.stacks_hold_several();
        let runs_here = !captured.stops_before && !matches!(kind, BreakKind::Delegate { .. });
        let handled = captured.handled().filter(|_| runs_here);
        let raised = (runs_here && (seen || handled.is_some())).then(|| {
            let pops = stack_effect(&instruction.op, false).0 as usize;
            let rest = stack[..stack.len() - pops].iter().map(|v| item(captured, *v)).collect();
            exits::exit(py, captured, (&carried, &shown), ip, rest)
        });
        // So may the traceback of what a frame of the program handles.
        let handles = captured.frames.iter().any(|frame| !frame.handled.is_empty());
        let gives_frame = reason == Reason::FrameInspection || handles;
        let plan = BreakPlan { op, operands, loc: instruction.loc, kind, kept, raised, handled, shown, gives_frame };
        Ok(Tail::Break(Box::new(plan)))
    }

    /// Variables that the tail needs.
    pub(super) fn roots(&self) -> Vec<VarId> {
        let plan = match self {
            Tail::Break(plan) => plan,
            Tail::Return(value) | Tail::Raise(value) => return vec![*value],
        };
        // Counted twice on purpose: what both the instruction and a continuation see must be one object.
        let mut roots = plan.operands.clone();
        roots.extend(plan.handled);
        if let BreakKind::Match { handled, .. } = plan.kind {
            roots.extend([handled, handled]);
        }
        roots.extend(&plan.shown);
        for exit in plan.exits() {
            roots.extend(exit.items.iter().filter_map(Item::var));
        }
        roots
    }

    /// Variables that are handed on, whatever becomes of the break instruction.
    pub(super) fn kept(&self) -> Vec<VarId> {
        let Tail::Break(plan) = self else { return self.roots() };
        let items = plan.exits().into_iter().flat_map(|exit| &exit.items);
        items.filter_map(Item::var).chain(plan.handled).chain(plan.shown.iter().copied()).collect()
    }

    /// Whether the break instruction may call Python functions.
    pub(super) fn calls_out(&self, captured: &Captured) -> bool {
        let Tail::Break(plan) = self else { return false };
        if !matches!(plan.op, Op::Call { .. } | Op::CallKw { .. } | Op::CallEx { .. }) {
            return false;
        }
        plan.operands.iter().any(|v| {
            matches!(
                captured.var(*v).kind,
                VarKind::Function(_)
                    | VarKind::Method(_)
                    | VarKind::Instance(_)
                    | VarKind::Layer(_)
                    | VarKind::Class(_)
            )
        })
    }
}

impl BreakPlan {
    pub(super) fn exits(&self) -> Vec<&Exit> {
        let mut exits = match &self.kind {
            BreakKind::Plain { exit, .. }
            | BreakKind::Method { exit }
            | BreakKind::Enter { exit }
            | BreakKind::ExitCall { exit }
            | BreakKind::Match { exit, .. }
            | BreakKind::Delegate { exit } => vec![exit],
            BreakKind::Branch { next, jump, .. } => vec![next, jump],
            BreakKind::Loop { next, end } => vec![next, end],
            BreakKind::Raise => Vec::new(),
        };
        exits.extend(&self.raised);
        exits
    }

    /// How many results the instruction leaves.
    pub(super) fn pushes(&self) -> usize {
        match &self.kind {
            BreakKind::Plain { pushes, .. } => *pushes,
            BreakKind::Method { .. } | BreakKind::Loop { .. } | BreakKind::ExitCall { .. } => 1,
            BreakKind::Enter { .. } | BreakKind::Match { .. } => 2,
            BreakKind::Branch { .. } | BreakKind::Delegate { .. } | BreakKind::Raise => 0,
        }
    }

    /// The instruction of `unit`, with names of the new code.
    pub(super) fn translated(&self, unit: &CodeUnit, b: &mut CodeBuilder) -> Result<Vec<Op>, Stop> {
        let name = |b: &mut CodeBuilder, id: sot_opcodes::NameId| b.name(&unit.code.names[id.0 as usize]);
        Ok(match self.op {
            Op::LoadGlobal(id) => vec![Op::LoadGlobal(name(b, id))],
            // As a method's: without its receiver.
            Op::LoadAttr(id) | Op::LoadMethod(id) => vec![Op::LoadAttr(name(b, id))],
            Op::DeleteGlobal(id) => vec![Op::DeleteGlobal(name(b, id))],
            Op::StoreGlobal(id) => vec![Op::StoreGlobal(name(b, id))],
            Op::StoreAttr(id) => vec![Op::StoreAttr(name(b, id))],
            Op::DeleteAttr(id) => vec![Op::DeleteAttr(name(b, id))],
            Op::ImportName(id) => vec![Op::ImportName(name(b, id))],
            Op::ImportFrom(id) => vec![Op::ImportFrom(name(b, id))],
            // The class and the instance are on the stack; `super()` without them would look for `__class__` and for the
            // first argument in the rewritten frame.
            Op::LoadSuperAttr { name: id, two_arg: _, method: false } => {
                vec![Op::LoadSuperAttr { name: name(b, id), two_arg: true, method: false }]
            }
            Op::LoadConst(_)
            | Op::LoadName(_)
            | Op::StoreName(_)
            | Op::DeleteName(_)
            | Op::StoreFast(_)
            | Op::LoadClosure(_)
            | Op::StoreDeref(_)
            | Op::LoadSuperAttr { .. } => {
                return Err(Stop::fallback(Reason::Reconstruct, self.op.kind().name()));
            }
            // The names of a keyword call are an operand of the instruction where the interpreter has it so: they must
            // be a constant directly before it.
            Op::CallKw { .. } => vec![self.op],
            other => vec![other],
        })
    }
}
