//! Attributes and items.

use super::names::name;
use super::{Flow, handlers, mismatch};
use crate::executor::{Awaits, Executor};
use crate::stop::{Reason, Stop};
use crate::variables::{BoundVar, NullVar, SliceVar, SuperVar, VarId, VarKind};
use pyo3::prelude::*;
use sot_opcodes::{Op, method_layout};

handlers! {
    LoadAttr => load_attr;
    StoreAttr => store_attr;
    DeleteAttr => delete_attr;
    LoadMethod => load_method;
    LoadSuperAttr => load_super_attr;
    BinarySubscr => binary_subscr;
    StoreSubscr => store_subscr;
    DeleteSubscr => delete_subscr;
    BinarySlice => binary_slice;
    StoreSlice => store_slice;
}

fn load_attr(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::LoadAttr(id) = op else { return Err(mismatch()) };
    let name = name(ex, id);
    let object = ex.peek(1)?;
    ex.step.tail = Some(Awaits::Attribute);
    let value = ex.getattr(object, &name)?;
    ex.pop()?;
    ex.push(value);
    Ok(Flow::Next)
}

fn store_attr(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::StoreAttr(id) = op else { return Err(mismatch()) };
    let name = name(ex, id);
    let object = ex.pop()?;
    let value = ex.pop()?;
    if let Some(entered) = ex.enter_write(object, &name, Some(value))? {
        return Ok(entered);
    }
    ex.setattr(object, &name, value)?;
    Ok(Flow::Next)
}

fn delete_attr(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::DeleteAttr(id) = op else { return Err(mismatch()) };
    let name = name(ex, id);
    let object = ex.pop()?;
    if let Some(entered) = ex.enter_write(object, &name, None)? {
        return Ok(entered);
    }
    ex.delattr(object, &name)?;
    Ok(Flow::Next)
}

/// Leave the two slots of a method call.
///
/// `of_super`: what `super()` gives is bound, so that a method of C names the class of the instance in what it refuses.
fn push_method(ex: &mut Executor<'_>, found: crate::variables::VarId, of_super: bool) {
    if let VarKind::Method(method) = &ex.var(found).kind
        && !(of_super && ex.binds_by_get(ex.py, method.function))
    {
        let (function, receiver) = (method.function, method.receiver);
        ex.push(function);
        ex.push(receiver);
    } else {
        let found = match &ex.var(found).kind {
            VarKind::Bound(bound) if !of_super && !ex.found_outside(found) => {
                let bound = BoundVar { for_a_call: true, ..bound.clone() };
                ex.virtual_var(bound)
            }
            _ => found,
        };
        push_callable(ex, found);
    }
}

/// Leave a callable in the two slots of a method call.
pub(in crate::executor) fn push_callable(ex: &mut Executor<'_>, callable: crate::variables::VarId) {
    let null = ex.virtual_var(NullVar::default());
    if method_layout::null_first(ex.frame().unit.code.version) {
        ex.push(null);
        ex.push(callable);
    } else {
        ex.push(callable);
        ex.push(null);
    }
}

fn load_method(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::LoadMethod(id) = op else { return Err(mismatch()) };
    let name = name(ex, id);
    let object = ex.peek(1)?;
    ex.step.tail = Some(Awaits::Method);
    let of_super = matches!(ex.var(object).kind, VarKind::Super(_));
    let found = ex.getattr(object, &name)?;
    ex.pop()?;
    push_method(ex, found, of_super);
    Ok(Flow::Next)
}

fn load_super_attr(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::LoadSuperAttr { name: id, two_arg, method } = op else { return Err(mismatch()) };
    let name = name(ex, id);
    let operands = ex.pop_n(3)?;
    let builtin = ex.builtins_attribute("super")?;
    let kind = ex.look(operands[0])?;
    if !ex.pinned(&kind).is_some_and(|callee| callee.is(&builtin)) {
        // Without arguments, it may look for them in the frame.
        return Err(match two_arg {
            true => Stop::brk(Reason::UserCode, "super that is not the builtin"),
            false => Stop::fallback(Reason::FrameInspection, "super that is not the builtin"),
        });
    }
    ex.step.tail = Some(if method { Awaits::Callable } else { Awaits::Push });
    let found = ex.super_attribute(operands[1], operands[2], &name)?;
    ex.step.tail = None;
    let Some(found) = found else {
        let asked = ex.virtual_var(SuperVar { class: operands[1], receiver: operands[2] });
        let stop = ex.missing_attribute(asked, &name)?;
        ex.tell_name(&stop, &name, Some(asked))?;
        return Err(stop);
    };
    if method {
        push_method(ex, found, true)
    } else {
        ex.push(found)
    }
    Ok(Flow::Next)
}

fn binary_subscr(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let key = ex.pop()?;
    let container = ex.peek(1)?;
    if let Some(value) = ex.subscript_by_key(container, key)? {
        ex.pop()?;
        ex.push(value);
        return Ok(Flow::Next);
    }
    if ex.enter_index(container, key)?.is_some() {
        return Ok(Flow::Entered(Awaits::Again));
    }
    ex.pop()?;
    if ex.enter_item_by_hash(container, key)?.is_some() {
        return Ok(Flow::Entered(Awaits::Push));
    }
    ex.step.tail = Some(Awaits::Push);
    let value = ex.subscript(container, key)?;
    ex.push(value);
    Ok(Flow::Next)
}

fn store_subscr(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let key = ex.pop()?;
    let (container, value) = (ex.peek(1)?, ex.peek(2)?);
    if ex.store_by_key(container, key, Some(value))? {
        ex.pop_n(2)?;
        return Ok(Flow::Next);
    }
    if ex.enter_index(container, key)?.is_some() {
        return Ok(Flow::Entered(Awaits::Again));
    }
    ex.pop()?;
    let value = ex.pop()?;
    store_item(ex, container, key, value)
}

fn store_item(ex: &mut Executor<'_>, container: VarId, key: VarId, value: VarId) -> Result<Flow, Stop> {
    if let Some(entered) = ex.enter_write_of_item(container, key, Some(value))? {
        return Ok(entered);
    }
    if ex.enter_write_by_hash(container, key, Some(value))?.is_some() {
        return Ok(Flow::Entered(Awaits::Drop));
    }
    ex.step.tail = awaited_by_write(ex, container)?;
    ex.set_item(container, key, value)?;
    Ok(Flow::Next)
}

/// What becomes of the result where a method of C writes, which may come to code of the program.
fn awaited_by_write(ex: &mut Executor<'_>, container: VarId) -> Result<Option<Awaits>, Stop> {
    Ok(matches!(ex.look(container)?, VarKind::Instance(_)).then_some(Awaits::Drop))
}

fn delete_subscr(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let key = ex.pop()?;
    let container = ex.peek(1)?;
    if ex.store_by_key(container, key, None)? {
        ex.pop()?;
        return Ok(Flow::Next);
    }
    if ex.enter_index(container, key)?.is_some() {
        return Ok(Flow::Entered(Awaits::Again));
    }
    ex.pop()?;
    if let Some(entered) = ex.enter_write_of_item(container, key, None)? {
        return Ok(entered);
    }
    if ex.enter_write_by_hash(container, key, None)?.is_some() {
        return Ok(Flow::Entered(Awaits::Drop));
    }
    ex.step.tail = awaited_by_write(ex, container)?;
    ex.delete_item(container, key)?;
    Ok(Flow::Next)
}

fn binary_slice(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let operands = ex.pop_n(3)?;
    let step = ex.fold_none()?;
    let slice = ex.virtual_var(SliceVar { parts: [operands[1], operands[2], step] });
    if let Some(items) = ex.slice_in_part(operands[0], slice)? {
        ex.push(items);
        return Ok(Flow::Next);
    }
    ex.step.tail = Some(Awaits::Push);
    let value = ex.subscript(operands[0], slice)?;
    ex.push(value);
    Ok(Flow::Next)
}

fn store_slice(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let operands = ex.pop_n(4)?;
    let step = ex.fold_none()?;
    let slice = ex.virtual_var(SliceVar { parts: [operands[2], operands[3], step] });
    store_item(ex, operands[1], slice, operands[0])
}
