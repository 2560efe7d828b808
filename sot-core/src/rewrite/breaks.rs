//! The end of the emitted code: the result, or the instruction that could not be simulated and its continuations.

use super::emit::{Callee, Emitter};
use crate::continuation::{self, FrameShape, Shape};
use crate::executor::Executor;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use sot_opcodes::{JumpCond, Label, Local, Op, method_layout, stack_effect};
use std::sync::Arc;

/// A value on a stack that a continuation takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Var(VarId),
    /// The n-th result of the break instruction, deepest first.
    Result(usize),
    Null,
}

/// Where the emitted code goes on, for one outcome of the break instruction.
struct Exit {
    shape: Shape,
    items: Vec<Item>,
}

/// How the emitted code ends.
pub(super) enum Tail {
    Return(VarId),
    Break(Box<BreakPlan>),
}

pub(super) struct BreakPlan {
    op: Op,
    operands: Vec<VarId>,
    loc: sot_opcodes::Location,
    kind: BreakKind,
}

enum BreakKind {
    /// Always goes on after the instruction; `pushes` results.
    Plain { pushes: usize, exit: Exit },
    /// Leaves the two slots of a method call; run as an attribute access.
    Method { exit: Exit },
    /// A conditional jump that pops its operand; `keep`: the operand stays on the stack when jumping.
    Branch { cond: JumpCond, next: Exit, jump: Exit },
    /// FOR_ITER: next has the iterator and the item, end has neither.
    Loop { next: Exit, end: Exit },
    /// Never goes on.
    Raise,
}

/// The state of all frames when the innermost goes on at `ip` with `stack`.
fn exit(ex: &mut Executor<'_>, ip: usize, inner_stack: Vec<Item>) -> Exit {
    let depth = ex.frames.len();
    let mut frames = Vec::with_capacity(depth);
    let mut items = Vec::new();
    for (i, frame) in ex.frames.iter().enumerate() {
        let innermost = i + 1 == depth;
        // Outer frames wait in the middle of their call: the result will be pushed, and they go on behind it.
        let at = if innermost { ip } else { frame.ip + 1 };
        let stack: Vec<Item> = if innermost {
            inner_stack.clone()
        } else {
            frame
                .stack
                .iter()
                .map(|v| if matches!(ex.var(*v).kind, VarKind::Null(_)) { Item::Null } else { Item::Var(*v) })
                .collect()
        };
        let live = frame.unit.liveness();
        let locals: Vec<u32> = (0..frame.locals.len() as u32)
            .filter(|l| {
                let kept =
                    live.live_before(at).local(Local(*l)) || *l == 0 && continuation::uses_super(&frame.unit.code);
                frame.locals[*l as usize].is_some() && kept
            })
            .collect();
        items.extend(stack.iter().filter(|i| **i != Item::Null));
        items.extend(locals.iter().map(|l| Item::Var(frame.locals[*l as usize].expect("bound"))));
        items.extend(frame.cells.iter().flatten().map(|c| Item::Var(*c)));
        frames.push(FrameShape {
            unit: frame.unit.clone(),
            globals: ex.objects.get(ex.py, frame.globals).unbind(),
            ip: at,
            nulls: stack.iter().map(|i| *i == Item::Null).collect(),
            locals,
            cells: frame.cells.iter().flatten().count(),
        });
    }
    Exit { shape: Shape { frames }, items }
}

impl Tail {
    pub(super) fn plan_break(ex: &mut Executor<'_>) -> Result<Tail, Stop> {
        let frame = ex.frame();
        let ip = frame.ip;
        let instruction = frame.unit.code.instrs[ip];
        let op = instruction.op;
        let unit = frame.unit.clone();
        let stack: Vec<VarId> = frame.stack.clone();
        let same_globals = Some(frame.globals) == ex.entry_globals;
        match op {
            Op::LoadGlobal(_) | Op::StoreGlobal(_) | Op::ImportName(_) if !same_globals => {
                return Err(Stop::fallback(Reason::Reconstruct, "a name of another module"));
            }
            Op::LoadFast { .. } | Op::DeleteFast(_) | Op::LoadDeref(_) | Op::DeleteDeref(_) | Op::ReturnValue => {
                return Err(Stop::fallback(Reason::Reconstruct, "an unbound variable"));
            }
            _ => {}
        }
        let item = |ex: &Executor<'_>, v: &VarId| {
            if matches!(ex.var(*v).kind, VarKind::Null(_)) { Item::Null } else { Item::Var(*v) }
        };
        let under = |ex: &Executor<'_>, n: usize| -> Result<Vec<Item>, Stop> {
            let keep = stack.len().checked_sub(n).ok_or(Stop::fallback(Reason::InternalError, "stack underflow"))?;
            Ok(stack[..keep].iter().map(|v| item(ex, v)).collect())
        };
        let operands_of = |n: usize| stack[stack.len() - n..].to_vec();
        let (operands, kind) = match op {
            Op::PopJumpIf { cond, target } => {
                let rest = under(ex, 1)?;
                let next = exit(ex, ip + 1, rest.clone());
                let jump = exit(ex, unit.code.target(target), rest);
                (operands_of(1), BreakKind::Branch { cond, next, jump })
            }
            Op::JumpIfOrPop { cond, target } => {
                let rest = under(ex, 1)?;
                let next = exit(ex, ip + 1, rest.clone());
                let mut kept = rest;
                kept.push(item(ex, &stack[stack.len() - 1]));
                let jump = exit(ex, unit.code.target(target), kept);
                (operands_of(1), BreakKind::Branch { cond, next, jump })
            }
            Op::ForIter(target) => {
                let rest = under(ex, 1)?;
                let mut more = rest.clone();
                more.push(item(ex, &stack[stack.len() - 1]));
                more.push(Item::Result(0));
                let next = exit(ex, ip + 1, more);
                let end = exit(ex, unit.code.target(target), rest);
                (operands_of(1), BreakKind::Loop { next, end })
            }
            Op::RaiseVarargs(n) => (operands_of(n as usize), BreakKind::Raise),
            Op::LoadMethod(_) => {
                let mut rest = under(ex, 1)?;
                if method_layout::null_first(unit.code.version) {
                    rest.extend([Item::Null, Item::Result(0)]);
                } else {
                    rest.extend([Item::Result(0), Item::Null]);
                }
                (operands_of(1), BreakKind::Method { exit: exit(ex, ip + 1, rest) })
            }
            _ => {
                let (pops, pushes) = stack_effect(&op, false);
                let mut rest = under(ex, pops as usize)?;
                rest.extend((0..pushes as usize).map(Item::Result));
                let exit = exit(ex, ip + 1, rest);
                (operands_of(pops as usize), BreakKind::Plain { pushes: pushes as usize, exit })
            }
        };
        Ok(Tail::Break(Box::new(BreakPlan { op, operands, loc: instruction.loc, kind })))
    }

    /// Variables that the tail needs.
    pub(super) fn roots(&self) -> Vec<VarId> {
        let Tail::Break(plan) = self else {
            let Tail::Return(value) = self else { return Vec::new() };
            return vec![*value];
        };
        let exits: Vec<&Exit> = match &plan.kind {
            BreakKind::Plain { exit, .. } | BreakKind::Method { exit } => vec![exit],
            BreakKind::Branch { next, jump, .. } => vec![next, jump],
            BreakKind::Loop { next, end } => vec![next, end],
            BreakKind::Raise => Vec::new(),
        };
        // Counted twice on purpose: what both the instruction and a continuation see must be one object.
        let mut roots = plan.operands.clone();
        for exit in exits {
            roots.extend(exit.items.iter().filter_map(|i| match i {
                Item::Var(v) => Some(*v),
                Item::Result(_) | Item::Null => None,
            }));
        }
        roots
    }

    /// Whether the break instruction may call Python functions.
    pub(super) fn calls_out(&self, ex: &Executor<'_>) -> bool {
        let Tail::Break(plan) = self else { return false };
        if !matches!(plan.op, Op::Call { .. } | Op::CallKw { .. } | Op::CallEx { .. }) {
            return false;
        }
        plan.operands.iter().any(|v| {
            matches!(
                ex.var(*v).kind,
                VarKind::Function(_)
                    | VarKind::Method(_)
                    | VarKind::Instance(_)
                    | VarKind::Layer(_)
                    | VarKind::Class(_)
            )
        })
    }

    pub(super) fn emit(&self, em: &mut Emitter<'_, '_>) -> Result<(), Stop> {
        match self {
            Tail::Return(value) => {
                em.push(*value)?;
                em.emit(Op::ReturnValue);
                Ok(())
            }
            Tail::Break(plan) => plan.emit(em),
        }
    }
}

impl BreakPlan {
    fn emit(&self, em: &mut Emitter<'_, '_>) -> Result<(), Stop> {
        self.shared_before(em)?;
        em.set_location(self.loc);
        for operand in &self.operands {
            em.push(*operand)?;
        }
        match &self.kind {
            BreakKind::Plain { pushes, exit } => {
                let op = self.translated(em)?;
                for op in op {
                    em.emit(op);
                }
                let results = store_results(em, *pushes);
                leave(em, exit, &results)
            }
            BreakKind::Method { exit } => {
                let Op::LoadMethod(name) = self.op else {
                    return Err(Stop::fallback(Reason::InternalError, "not a method load"));
                };
                let name = em.ex.frame().unit.code.names[name.0 as usize].clone();
                em.load_attr(&name);
                let results = store_results(em, 1);
                leave(em, exit, &results)
            }
            BreakKind::Branch { cond, next, jump } => {
                let target: Label = em.b.new_label();
                em.emit(Op::PopJumpIf { cond: *cond, target });
                leave(em, next, &[])?;
                em.b.bind(target);
                leave(em, jump, &[])
            }
            BreakKind::Loop { next, end } => {
                let target: Label = em.b.new_label();
                em.emit(Op::ForIter(target));
                let results = store_results(em, 1);
                em.emit(Op::PopTop);
                leave(em, next, &results)?;
                em.b.bind(target);
                leave(em, end, &[])
            }
            BreakKind::Raise => {
                em.emit(self.op);
                Ok(())
            }
        }
    }

    /// Build, before the instruction runs, every virtual value that an exit needs as well: the instruction may
    /// change what it was given, and both arms of a branch must find the same objects.
    fn shared_before(&self, em: &mut Emitter<'_, '_>) -> Result<(), Stop> {
        let exits: Vec<&Exit> = match &self.kind {
            BreakKind::Plain { exit, .. } | BreakKind::Method { exit } => vec![exit],
            BreakKind::Branch { next, jump, .. } => vec![next, jump],
            BreakKind::Loop { next, end } => vec![next, end],
            BreakKind::Raise => Vec::new(),
        };
        for exit in exits {
            for item in &exit.items {
                if let Item::Var(var) = item
                    && em.must_be_built_once(*var)
                {
                    em.push(*var)?;
                    em.remember(*var);
                }
            }
        }
        Ok(())
    }

    /// The instruction, with names of the new code.
    fn translated(&self, em: &mut Emitter<'_, '_>) -> Result<Vec<Op>, Stop> {
        let unit = em.ex.frame().unit.clone();
        let name = |em: &mut Emitter<'_, '_>, id: sot_opcodes::NameId| em.b.name(&unit.code.names[id.0 as usize]);
        Ok(match self.op {
            Op::LoadGlobal(id) => vec![Op::LoadGlobal(name(em, id))],
            Op::LoadAttr(id) => vec![Op::LoadAttr(name(em, id))],
            Op::StoreAttr(id) => vec![Op::StoreAttr(name(em, id))],
            Op::DeleteAttr(id) => vec![Op::DeleteAttr(name(em, id))],
            Op::ImportName(id) => vec![Op::ImportName(name(em, id))],
            Op::ImportFrom(id) => vec![Op::ImportFrom(name(em, id))],
            Op::LoadSuperAttr { name: id, two_arg, method: false } => {
                vec![Op::LoadSuperAttr { name: name(em, id), two_arg, method: false }]
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

fn store_results(em: &mut Emitter<'_, '_>, n: usize) -> Vec<Local> {
    let results: Vec<Local> = (0..n).map(|_| em.new_temp()).collect();
    for local in results.iter().rev() {
        em.store(*local);
    }
    results
}

/// Return the request to go on: `return continuation(values...)`.
fn leave(em: &mut Emitter<'_, '_>, exit: &Exit, results: &[Local]) -> Result<(), Stop> {
    let continuation: Arc<continuation::Continuation> = continuation::of(em.ex.py, &exit.shape);
    // The eager form must exist before a program depends on it.
    continuation.resume(em.ex.py).map_err(|e| Stop::fallback(Reason::Reconstruct, e.to_string()))?;
    let callable: Bound<'_, PyAny> = continuation.callable(em.ex.py).map_err(|e| em.ex.internal(&e))?;
    em.continuations.push(continuation);
    em.push_callable(Callee::Object(callable));
    let mut count = 0;
    for item in &exit.items {
        match item {
            Item::Var(var) => em.push(*var)?,
            Item::Result(n) => em.load(results[*n]),
            Item::Null => continue,
        }
        count += 1;
    }
    em.call(count);
    em.emit(Op::ReturnValue);
    Ok(())
}
