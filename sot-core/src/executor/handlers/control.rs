//! Jumps, loops, calls, functions and return.

use super::containers::{callee_under, keyword_names};
use super::{Flow, handlers, mismatch};
use crate::code_unit::CodeUnit;
use crate::executor::{Awaits, Executor};
use crate::stop::{Reason, Stop};
use crate::variables::*;
use sot_opcodes::{JumpCond, Op};
use std::rc::Rc;

handlers! {
    Jump => jump;
    PopJumpIf => pop_jump_if;
    JumpIfOrPop => jump_if_or_pop;
    GetIter => get_iter;
    ForIter => for_iter;
    Call => call;
    CallKw => call_kw;
    CallEx => call_ex;
    MakeFunction => make_function;
    SetFunctionAttribute => set_function_attribute;
    ReturnValue => return_value;
}

fn target(ex: &Executor<'_>, label: sot_opcodes::Label) -> usize {
    ex.frame().unit.code.target(label)
}

fn jump(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::Jump { target: label, .. } = op else { return Err(mismatch()) };
    Ok(Flow::Jump(target(ex, label)))
}

fn holds(ex: &mut Executor<'_>, cond: JumpCond, value: VarId) -> Result<bool, Stop> {
    Ok(match cond {
        JumpCond::True => ex.truth(value)?,
        JumpCond::False => !ex.truth(value)?,
        JumpCond::None => ex.is_none(value)?,
        JumpCond::NotNone => !ex.is_none(value)?,
    })
}

fn pop_jump_if(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::PopJumpIf { cond, target: label } = op else { return Err(mismatch()) };
    let value = ex.pop()?;
    ex.step.tail = Some(Awaits::Again);
    Ok(if holds(ex, cond, value)? { Flow::Jump(target(ex, label)) } else { Flow::Next })
}

fn jump_if_or_pop(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::JumpIfOrPop { .. } = op else { return Err(mismatch()) };
    let value = ex.peek(1)?;
    ex.step.tail = Some(Awaits::Decides);
    let truth = ex.truth(value)?;
    decide(ex, truth)?;
    Ok(Flow::Placed)
}

/// The truth of the operand of a JUMP_IF_TRUE_OR_POP, or its like, is known: it stays with the jump.
pub(in crate::executor) fn decide(ex: &mut Executor<'_>, truth: bool) -> Result<(), Stop> {
    let ip = ex.frame().ip;
    let Op::JumpIfOrPop { cond, target: label } = ex.frame().unit.code.instrs[ip].op else { return Err(mismatch()) };
    if truth == (cond == JumpCond::True) {
        ex.frame_mut().ip = target(ex, label);
    } else {
        ex.pop()?;
        ex.frame_mut().ip += 1;
    }
    Ok(())
}

fn get_iter(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let value = ex.pop()?;
    if ex.has_items_by_index(value)? {
        let iterator = ex.items_by_index(value)?;
        ex.push(iterator);
        return Ok(Flow::Next);
    }
    ex.step.tail = Some(Awaits::Iterator);
    let iterator = ex.iterate(value)?;
    ex.step.tail = None;
    ex.push(iterator);
    Ok(Flow::Next)
}

fn for_iter(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::ForIter(label) = op else { return Err(mismatch()) };
    let iterator = ex.peek(1)?;
    match ex.look(iterator)? {
        VarKind::Generator(_) => {
            ex.not_shared(iterator)?;
            if ex.resume(iterator, None)? {
                return Ok(Flow::Entered(Awaits::Next));
            }
        }
        VarKind::Instance(_) => {
            // What is no iterator must not come to a FOR_ITER that is run.
            let next = ex.special_method_if_any(iterator, "__next__")?;
            let next = next.ok_or(Stop::fallback(Reason::WouldRaise, "iteration over what is no iterator"))?;
            ex.step.tail = Some(Awaits::Next);
            let item = ex.call_tail(next, &Args::default())?;
            ex.push(item);
            return Ok(Flow::Next);
        }
        VarKind::Iterator(IteratorVar { state: Iteration::Map { function, inners } })
            if matches!(ex.look(function)?, VarKind::Function(_)) && !ex.any_steps_by_code(&inners)? =>
        {
            return mapped(ex, function, &inners, target(ex, label));
        }
        VarKind::Iterator(_) => {
            if let Some(Called::Entered(_)) = ex.enter_next(iterator)? {
                return Ok(Flow::Entered(Awaits::Next));
            }
        }
        // A stream, which is its own iterator.
        VarKind::Native(native) if ex.gives_lines(&native)? => {}
        other => return Err(Stop::fallback(Reason::ValueKind, format!("iteration over {}", other.kind_name()))),
    }
    match ex.next_item(iterator)? {
        Some(item) => {
            ex.push(item);
            Ok(Flow::Next)
        }
        None => {
            ex.pop()?;
            Ok(Flow::Jump(target(ex, label)))
        }
    }
}

/// FOR_ITER of `map(function, ..)`: what a call of the function gives is the next item.
fn mapped(ex: &mut Executor<'_>, function: VarId, inners: &[VarId], end: usize) -> Result<Flow, Stop> {
    let mut items = Vec::with_capacity(inners.len());
    for inner in inners {
        match ex.next_item(*inner)? {
            Some(item) => items.push(item),
            None => {
                ex.pop()?;
                return Ok(Flow::Jump(end));
            }
        }
    }
    match ex.call(function, &Args::positional(items))? {
        Called::Entered(Awaits::Push) => Ok(Flow::Entered(Awaits::Next)),
        Called::Entered(_) => Err(Stop::fallback(Reason::InternalError, "the call of a function")),
        Called::Value(item) => {
            ex.push(item);
            Ok(Flow::Next)
        }
    }
}

/// Take the callable from under the arguments: see the call protocol in `sot_opcodes::Op`.
fn pop_callable(ex: &mut Executor<'_>, two: bool, args: &mut Args) -> Result<VarId, Stop> {
    if !two {
        return ex.pop();
    }
    let second = ex.pop()?;
    let first = ex.pop()?;
    let null = |ex: &Executor<'_>, v: VarId| matches!(ex.var(v).kind, VarKind::Null(_));
    if null(ex, first) {
        Ok(second)
    } else if null(ex, second) {
        Ok(first)
    } else {
        args.positional.insert(0, second);
        Ok(first)
    }
}

fn finish_call(ex: &mut Executor<'_>, callee: VarId, args: &Args) -> Result<Flow, Stop> {
    match ex.call(callee, args)? {
        Called::Value(value) => {
            ex.push(value);
            Ok(Flow::Next)
        }
        Called::Entered(awaits) => Ok(Flow::Entered(awaits)),
    }
}

fn call(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::Call { argc, two } = op else { return Err(mismatch()) };
    let mut args = Args::positional(ex.pop_n(argc as usize)?);
    let callee = pop_callable(ex, two, &mut args)?;
    finish_call(ex, callee, &args)
}

fn call_kw(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::CallKw { argc, two } = op else { return Err(mismatch()) };
    let names = ex.pop()?;
    let names = keyword_names(ex, names)?;
    let mut positional = ex.pop_n(argc as usize)?;
    let values = positional.split_off(positional.len() - names.len());
    let mut args = Args { positional, keywords: names.into_iter().zip(values).collect() };
    let callee = pop_callable(ex, two, &mut args)?;
    finish_call(ex, callee, &args)
}

fn call_ex(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::CallEx { kwargs, null } = op else { return Err(mismatch()) };
    let mut args = Args::default();
    if !kwargs {
        let sequence = ex.pop()?;
        if ex.enter_list(sequence, false)?.is_some() {
            return Ok(Flow::Entered(Awaits::Again));
        }
        ex.push(sequence);
    }
    if kwargs {
        let mapping = ex.pop()?;
        if let VarKind::Instance(_) = ex.look(mapping)? {
            let (table, callee) = (ex.virtual_var(DictVar::new(Vec::new())), callee_under(ex, 2)?);
            if ex.enter_keywords(table, mapping, callee, table)?.is_some() {
                return Ok(Flow::Entered(Awaits::Again));
            }
        }
        let entries = match ex.look(mapping)? {
            VarKind::Dict(dict) => Some(dict.entries.to_vec()),
            VarKind::Native(_) | VarKind::Instance(InstanceVar { part: Some(_), .. }) => ex.plain_pairs(mapping)?,
            _ => None,
        };
        let entries = entries.ok_or(Stop::brk(Reason::ValueKind, "** of something that is not a dict"))?;
        for (key, value) in entries {
            let key = ex.constant_str(key).ok_or(Stop::brk(Reason::WouldRaise, "keywords must be strings"))?;
            args.keywords.push((key, value));
        }
    }
    let sequence = ex.pop()?;
    args.positional = ex.collect_sized(sequence)?;
    ex.step.spread = ex.is_exact_tuple(sequence)?.then_some(sequence);
    let callee = if null { pop_callable(ex, true, &mut args)? } else { ex.pop()? };
    finish_call(ex, callee, &args)
}

fn make_function(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::MakeFunction { flags, qualname } = op else { return Err(mismatch()) };
    let qualname = if qualname { Some(ex.pop()?) } else { None };
    let code = ex.pop()?;
    let code = ex.constant_value(code).ok_or_else(mismatch)?;
    let unit = CodeUnit::of(&code)?;
    let mut part = |bit: u32| if flags & bit != 0 { ex.pop().map(Some) } else { Ok(None) };
    let closure = part(8)?;
    let annotations = part(4)?;
    let kwdefaults = part(2)?;
    let defaults = part(1)?;
    look_at_annotations(ex, annotations)?;
    let globals = ex.frame().globals;
    let code = ex.objects.add(&code);
    let made = MadeFunction {
        object: None,
        unit,
        code,
        globals,
        qualname,
        defaults,
        kwdefaults,
        annotations,
        closure,
        names: None,
        renamed: false,
    };
    let var = ex.virtual_var(FunctionVar::Made(Rc::new(made)));
    ex.push(var);
    Ok(Flow::Next)
}

/// Building the function takes them apart: names and values in turn.
fn look_at_annotations(ex: &mut Executor<'_>, annotations: Option<VarId>) -> Result<(), Stop> {
    annotations.map_or(Ok(()), |annotations| ex.look(annotations).map(drop))
}

/// 3.13: the parts come after the function.
fn set_function_attribute(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::SetFunctionAttribute(flag) = op else { return Err(mismatch()) };
    let function = ex.pop()?;
    let part = Some(ex.pop()?);
    look_at_annotations(ex, part.filter(|_| flag == 4))?;
    let VarKind::Function(FunctionVar::Made(old)) = ex.look(function)? else { return Err(mismatch()) };
    let made = MadeFunction {
        object: None,
        unit: old.unit.clone(),
        code: old.code,
        globals: old.globals,
        qualname: old.qualname,
        defaults: if flag == 1 { part } else { old.defaults },
        kwdefaults: if flag == 2 { part } else { old.kwdefaults },
        annotations: if flag == 4 { part } else { old.annotations },
        closure: if flag == 8 { part } else { old.closure },
        names: None,
        renamed: false,
    };
    let var = ex.virtual_var(FunctionVar::Made(Rc::new(made)));
    ex.push(var);
    Ok(Flow::Next)
}

fn return_value(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    ex.note_end_of_locals();
    ex.pop().map(Flow::Return)
}
