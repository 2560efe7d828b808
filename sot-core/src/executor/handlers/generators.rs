//! Generators: yielding, and delegating to another iterator.

use super::{Flow, handlers, mismatch};
use crate::executor::generators::{Delegated, delegate};
use crate::executor::{Awaits, Executor};
use crate::stop::{Reason, Stop};
use crate::variables::VarKind;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sot_opcodes::{CodeFlags, Op};

handlers! {
    GenStart => gen_start;
    YieldValue => yield_value;
    YieldFrom => yield_from;
    GetYieldFromIter => get_yield_from_iter;
    Send => send;
    EndSend => end_send;
}

/// 3.10: pops what started it.
fn gen_start(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    ex.pop().map(|_| Flow::Next)
}

fn yield_value(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let value = ex.pop()?;
    if ex.frame().generator.is_none() {
        return Err(Stop::fallback(Reason::Generator, "yield"));
    }
    Ok(Flow::Yield(value))
}

/// Up to 3.10: the receiver stays under what is sent; the frame stands here until the receiver ends.
fn yield_from(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let sent = ex.pop()?;
    let receiver = ex.peek(1)?;
    match delegate(ex, sent, receiver)? {
        Delegated::Flow(flow) => Ok(flow),
        Delegated::Item(item) => Ok(Flow::Yield(item)),
        Delegated::Ended(value) => {
            ex.pop()?;
            ex.push(value);
            Ok(Flow::Next)
        }
    }
}

fn get_yield_from_iter(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let value = ex.pop()?;
    let is_coroutine = match ex.known_object(value) {
        Some(object) => ex.objects.get(ex.py, object).get_type().is(ex.types_attribute("CoroutineType")?),
        None => matches!(&ex.var(value).kind, VarKind::Generator(generator) if generator.is_coroutine()),
    };
    let takes_it = ex.frame().unit.code.flags.contains(CodeFlags::ITERABLE_COROUTINE);
    if is_coroutine && takes_it {
        // Of one from before it is not known where it stands.
        if ex.known_object(value).is_some() {
            return Err(Stop::fallback(Reason::Generator, "yield from a coroutine that C answers for"));
        }
        ex.push(value);
        return Ok(Flow::Next);
    }
    if is_coroutine && !takes_it {
        ex.look(value)?;
        let text = "cannot 'yield from' a coroutine object in a non-coroutine generator";
        return Err(ex.raise_error::<PyTypeError>(text));
    }
    ex.step.tail = Some(Awaits::Iterator);
    let iterator = ex.iterate_openly(value)?;
    ex.step.tail = None;
    ex.push(iterator);
    Ok(Flow::Next)
}

fn send(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::Send(label) = op else { return Err(mismatch()) };
    let sent = ex.pop()?;
    let receiver = ex.peek(1)?;
    match delegate(ex, sent, receiver)? {
        Delegated::Flow(flow) => Ok(flow),
        Delegated::Item(item) => {
            ex.push(item);
            Ok(Flow::Next)
        }
        Delegated::Ended(value) => {
            ex.push(value);
            Ok(Flow::Jump(ex.frame().unit.code.target(label)))
        }
    }
}

fn end_send(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let value = ex.pop()?;
    ex.pop()?;
    ex.push(value);
    Ok(Flow::Next)
}
