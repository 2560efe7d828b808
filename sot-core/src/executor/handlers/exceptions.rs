//! Raising, handling, and the blocks of `try` and `with`.
//!
//! What the stack holds while an exception is handled differs by version (one slot or three, 3.8's `finally` states) and is
//! kept slot for slot; who handles what is decided by `executor::exceptions` alike for all.

use super::{Flow, handlers, mismatch};
use crate::cpython::facts;
use crate::executor::{Awaits, Executor};
use crate::frame::Finally;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::PyType;
use sot_opcodes::{Op, handling};

handlers! {
    RaiseVarargs => raise_varargs;
    Reraise => reraise;
    ReraiseTriple => reraise_triple;
    PushExcInfo => push_exc_info;
    PopExcept => pop_except;
    PopExceptTriple => pop_except_triple;
    CheckExcMatch => check_exc_match;
    JumpIfNotExcMatch => jump_if_not_exc_match;
    CheckEgMatch => check_eg_match;
    PrepReraiseStar => prep_reraise_star;
    BeforeWith => before_with;
    SetupWith => before_with;
    WithExceptStart => with_except_start;
    WithExceptStartTriple => with_except_start_triple;
    SetupFinally => setup_finally;
    PopBlock => pop_block;
    BeginFinally => begin_finally;
    CallFinally => call_finally;
    EndFinally => end_finally;
    PopFinally => pop_finally;
    WithCleanupStart => with_cleanup_start;
    WithCleanupFinish => with_cleanup_finish;
}

/// The exception that `raise value` raises: the value itself, or an instance of it. `Err`: what awaits the frame that makes it,
/// after which the instruction runs again with the instance in the place of the class.
fn instance(ex: &mut Executor<'_>, value: VarId) -> Result<Result<VarId, Awaits>, Stop> {
    match ex.look(value)? {
        VarKind::Exception(_) => Ok(Ok(value)),
        VarKind::Class(class) => {
            let class = ex.objects.get(ex.py, class.object);
            let class = class.cast_into::<PyType>().map_err(|_| mismatch())?;
            if !ex.is_exception_class(&class) {
                return Err(Stop::brk(Reason::WouldRaise, "raise"));
            }
            match ex.call(value, &Args::default())? {
                Called::Value(made) => Ok(Ok(made)),
                Called::Entered(Awaits::None) => Ok(Err(Awaits::NoneAgain)),
                Called::Entered(_) => Ok(Err(Awaits::Again)),
            }
        }
        other => Err(Stop::brk(Reason::WouldRaise, format!("raise of {}", other.kind_name()))),
    }
}

/// An operand of `raise`.
enum Raised {
    /// An exception, None, or a class of C.
    Plain,
    /// A class of exceptions: making an instance may be a frame.
    ByCode,
    /// A class that may make something else.
    ByAnyCode,
    Wrong,
}

fn raised(ex: &mut Executor<'_>, value: VarId) -> Result<Raised, Stop> {
    Ok(match ex.look(value)? {
        VarKind::Exception(_) => Raised::Plain,
        VarKind::Constant(_) if ex.constant_value(value).is_some_and(|value| value.is_none()) => Raised::Plain,
        VarKind::Class(class) => {
            let class = ex.objects.get(ex.py, class.object);
            match class.cast_into::<PyType>() {
                Ok(class) if !ex.is_exception_class(&class) => Raised::Wrong,
                Ok(class) if facts::is_heap_type(&class) => match ex.makes_anything(&class)? {
                    true => Raised::ByAnyCode,
                    false => Raised::ByCode,
                },
                _ => Raised::Plain,
            }
        }
        _ => Raised::Wrong,
    })
}

fn raise_varargs(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::RaiseVarargs(count) = op else { return Err(mismatch()) };
    if count == 0 {
        // What is handled outside of the captured frames is only known at run time.
        let Some(exception) = ex.handled() else { return Err(Stop::brk(Reason::WouldRaise, "raise")) };
        if handling::has_blocks(ex.frame().unit.code.version) {
            ex.set_handled_traceback(exception);
        }
        return Err(Stop::Raised(exception));
    }
    let cause = if count == 2 { Some(ex.pop()?) } else { None };
    let value = ex.pop()?;
    if let Some(cause) = cause {
        match (raised(ex, value)?, raised(ex, cause)?) {
            (Raised::Wrong, _) | (_, Raised::Wrong) => return Err(Stop::brk(Reason::WouldRaise, "raise .. from")),
            // Some versions let a cause be what is no exception.
            (_, Raised::ByAnyCode) => return Err(Stop::brk(Reason::UserCode, "raise .. from")),
            (Raised::ByCode | Raised::ByAnyCode, _) | (_, Raised::ByCode) => {
                ex.enter("raise_made", &[value, cause])?;
                return Ok(Flow::Entered(Awaits::Drop));
            }
            (Raised::Plain, Raised::Plain) => {}
        }
    }
    if cause.is_none() && matches!(raised(ex, value)?, Raised::ByAnyCode) {
        ex.enter("raise_instance", &[value])?;
        return Ok(Flow::Entered(Awaits::Drop));
    }
    let exception = match instance(ex, value)? {
        Ok(exception) => exception,
        Err(awaits) => return Ok(Flow::Entered(awaits)),
    };
    if !matches!(ex.look(exception)?, VarKind::Exception(_)) {
        return Err(Stop::brk(Reason::WouldRaise, "raise"));
    }
    if ex.may_close_a_circle(exception) {
        return Err(Stop::brk(Reason::WouldRaise, "an exception that may be a context of what is handled"));
    }
    if let Some(cause) = cause {
        ex.look(cause)?;
        let none = ex.constant_value(cause).is_some_and(|v| v.is_none());
        let cause = if none { None } else { instance(ex, cause)?.ok() };
        if !none && cause.is_none() {
            return Err(Stop::brk(Reason::UserCode, "raise .. from"));
        }
        ex.set_cause(exception, cause)?;
    }
    ex.set_context(exception);
    Err(Stop::Raised(exception))
}

fn reraise(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::Reraise(under) = op else { return Err(mismatch()) };
    let exception = ex.pop()?;
    if under > 0 {
        let height = ex.frame().stack.len().saturating_sub(under as usize);
        ex.frame_mut().return_to_place(height);
    }
    Err(Stop::Raised(exception))
}

/// Type, value and traceback are on the stack, the type on top.
fn reraise_triple(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let parts = ex.pop_n(3)?;
    if let Op::ReraiseTriple(1..) = op {
        let height = ex.frame().handled.len().saturating_sub(1);
        ex.frame_mut().return_to_place(height);
    }
    ex.set_traceback(parts[1], parts[0]);
    Err(Stop::Raised(parts[1]))
}

fn push_exc_info(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let exception = ex.pop()?;
    let previous = ex.virtual_var(PreviousVar::default());
    ex.push(previous);
    ex.push(exception);
    ex.frame_mut().handled.push(exception);
    Ok(Flow::Next)
}

fn pop_except(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    ex.pop()?;
    ex.frame_mut().handled.pop();
    Ok(Flow::Next)
}

fn pop_except_triple(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    ex.pop_n(3)?;
    ex.frame_mut().handled.pop();
    Ok(Flow::Next)
}

fn check_exc_match(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let classes = ex.pop()?;
    let exception = ex.peek(1)?;
    let matches = ex.exception_matches(exception, classes)?;
    let result = ex.fold_bool(matches)?;
    ex.push(result);
    Ok(Flow::Next)
}

fn jump_if_not_exc_match(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::JumpIfNotExcMatch(label) = op else { return Err(mismatch()) };
    let classes = ex.pop()?;
    let exception = ex.pop()?;
    if ex.exception_matches(exception, classes)? {
        return Ok(Flow::Next);
    }
    Ok(Flow::Jump(ex.frame().unit.code.target(label)))
}

fn check_eg_match(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let classes = ex.pop()?;
    let exception = ex.pop()?;
    match ex.matched(exception, classes)? {
        Some([matched, rest]) => {
            push_matched(ex, matched, rest)?;
            Ok(Flow::Next)
        }
        None => Ok(Flow::Entered(Awaits::Matched)),
    }
}

/// The arm of `except*` handles what matches.
pub(in crate::executor) fn push_matched(ex: &mut Executor<'_>, matched: VarId, rest: VarId) -> Result<(), Stop> {
    let handled = match ex.look(matched)? {
        VarKind::Exception(_) => true,
        VarKind::Constant(_) if ex.constant_value(matched).is_some_and(|value| value.is_none()) => false,
        other => return Err(Stop::fallback(Reason::ValueKind, format!("handling of {}", other.kind_name()))),
    };
    ex.push(rest);
    ex.push(matched);
    if handled && let Some(last) = ex.frame_mut().handled.last_mut() {
        *last = matched;
    }
    Ok(())
}

fn prep_reraise_star(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let arms = ex.pop()?;
    let original = ex.pop()?;
    match ex.raised_of_arms(original, arms)? {
        Called::Value(raised) => {
            ex.push(raised);
            Ok(Flow::Next)
        }
        Called::Entered(awaits) => Ok(Flow::Entered(awaits)),
    }
}

/// Look up both methods on the class, leave `__exit__`, call `__enter__`.
fn before_with(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let manager = ex.pop()?;
    let enter = ex.special_method(manager, "__enter__")?;
    let exit = ex.special_method(manager, "__exit__")?;
    ex.push(exit);
    if let Op::SetupWith(_) = op {
        ex.frame_mut().open_block();
    }
    call(ex, enter, Vec::new())
}

fn call(ex: &mut Executor<'_>, callee: VarId, args: Vec<VarId>) -> Result<Flow, Stop> {
    match ex.call(callee, &Args::positional(args))? {
        Called::Value(value) => {
            ex.push(value);
            Ok(Flow::Next)
        }
        Called::Entered(awaits) => Ok(Flow::Entered(awaits)),
    }
}

/// Type, exception and traceback, as `__exit__` gets them.
fn exit_arguments(ex: &mut Executor<'_>, exception: VarId) -> Result<Vec<VarId>, Stop> {
    let class = ex.class_of(exception)?;
    let class = ex.pin(&class);
    let traceback = ex.traceback_of(exception);
    Ok(vec![class, exception, traceback])
}

fn with_except_start(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let (exit, exception) = (ex.peek(4)?, ex.peek(1)?);
    let arguments = exit_arguments(ex, exception)?;
    call(ex, exit, arguments)
}

fn with_except_start_triple(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let (exit, exception) = (ex.peek(7)?, ex.peek(2)?);
    let arguments = exit_arguments(ex, exception)?;
    call(ex, exit, arguments)
}

/// A block of 3.8 to 3.10 begins: the code's regions say the same.
fn setup_finally(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    ex.frame_mut().open_block();
    Ok(Flow::Next)
}

/// It ends.
fn pop_block(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    ex.frame_mut().blocks.pop();
    Ok(Flow::Next)
}

// ----- `finally` of 3.8: NULL, the address to return to, or the six slots of an exception

fn begin_finally(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let state = ex.virtual_var(NullVar { finally: Some(Finally::Fallen) });
    ex.push(state);
    Ok(Flow::Next)
}

fn call_finally(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::CallFinally(label) = op else { return Err(mismatch()) };
    let state = Finally::Called(ex.frame().ip + 1);
    let state = ex.virtual_var(NullVar { finally: Some(state) });
    ex.push(state);
    Ok(Flow::Jump(ex.frame().unit.code.target(label)))
}

/// How a `finally` block was entered, if not by an exception.
fn entry(ex: &Executor<'_>, top: VarId) -> Option<Finally> {
    match &ex.var(top).kind {
        VarKind::Null(null) => null.finally,
        _ => None,
    }
}

fn end_finally(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let top = ex.peek(1)?;
    match entry(ex, top) {
        Some(Finally::Fallen) => ex.pop().map(|_| Flow::Next),
        Some(Finally::Called(back)) => ex.pop().map(|_| Flow::Jump(back)),
        None => reraise_triple(ex, op),
    }
}

fn pop_finally(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::PopFinally(keep) = op else { return Err(mismatch()) };
    let kept = if keep > 0 { Some(ex.pop()?) } else { None };
    let top = ex.peek(1)?;
    if entry(ex, top).is_some() {
        ex.pop()?;
    } else {
        ex.pop_n(6)?;
        ex.frame_mut().handled.pop();
    }
    if let Some(kept) = kept {
        ex.push(kept);
    }
    Ok(Flow::Next)
}

/// The exit function goes from under the state of the block; what it is called with goes on top.
fn with_cleanup_start(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let top = ex.peek(1)?;
    let none = ex.fold_none()?;
    if entry(ex, top).is_some() {
        let state = ex.pop()?;
        let exit = ex.pop()?;
        ex.push(state);
        ex.push(none);
        return call(ex, exit, vec![none; 3]);
    }
    let mut slots = ex.pop_n(7)?;
    let exit = slots.remove(0);
    let (class, exception) = (slots[5], slots[4]);
    let null = ex.virtual_var(NullVar::default());
    slots.insert(3, null);
    ex.frame_mut().stack.extend(slots);
    ex.push(class);
    let arguments = exit_arguments(ex, exception)?;
    call(ex, exit, arguments)
}

fn with_cleanup_finish(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let result = ex.pop()?;
    let raised = ex.peek(1)?;
    ex.look(raised)?;
    let fallen = ex.constant_value(raised).is_some_and(|v| v.is_none());
    // The truth comes in the place of the result.
    ex.step.tail = Some(Awaits::Again);
    if fallen || !ex.truth(result)? {
        ex.pop()?;
        return Ok(Flow::Next);
    }
    // The exception is silenced: its class, its slots, the NULL under them and the previous exception go.
    ex.pop_n(8)?;
    ex.frame_mut().handled.pop();
    begin_finally(ex, Op::BeginFinally)
}
