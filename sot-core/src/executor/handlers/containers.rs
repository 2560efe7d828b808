//! Building and unpacking containers.

use super::{Flow, handlers, mismatch};
use crate::executor::{Awaits, Executor};
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sot_opcodes::Op;

handlers! {
    BuildTuple => build_tuple;
    BuildList => build_list;
    BuildMap => build_map;
    BuildConstKeyMap => build_const_key_map;
    BuildSlice => build_slice;
    ListAppend => list_append;
    MapAdd => map_add;
    ListExtend => list_extend;
    BuildSet => build_set;
    SetAdd => set_add;
    SetUpdate => set_update;
    BuildSetUnpack => build_set_unpack;
    DictUpdate => dict_update;
    DictMerge => dict_merge;
    ListToTuple => list_to_tuple;
    UnpackSequence => unpack_sequence;
    UnpackEx => unpack_ex;
    BuildTupleUnpack => build_tuple_unpack;
    BuildTupleUnpackWithCall => build_tuple_unpack;
    BuildListUnpack => build_list_unpack;
    BuildMapUnpack => build_map_unpack;
    BuildMapUnpackWithCall => build_map_unpack;
}

fn count(op: Op) -> Result<usize, Stop> {
    match op {
        Op::BuildTuple(n)
        | Op::BuildList(n)
        | Op::BuildMap(n)
        | Op::BuildSet(n)
        | Op::SetAdd(n)
        | Op::SetUpdate(n)
        | Op::BuildSetUnpack(n)
        | Op::BuildConstKeyMap(n)
        | Op::BuildSlice(n)
        | Op::ListAppend(n)
        | Op::MapAdd(n)
        | Op::ListExtend(n)
        | Op::DictUpdate(n)
        | Op::DictMerge(n)
        | Op::UnpackSequence(n)
        | Op::BuildTupleUnpack(n)
        | Op::BuildTupleUnpackWithCall(n)
        | Op::BuildListUnpack(n)
        | Op::BuildMapUnpack(n)
        | Op::BuildMapUnpackWithCall(n) => Ok(n as usize),
        _ => Err(mismatch()),
    }
}

fn build_tuple(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let items = ex.pop_n(count(op)?)?;
    let var = ex.virtual_var(TupleVar::new(items));
    ex.push(var);
    Ok(Flow::Next)
}

fn build_list(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let items = ex.pop_n(count(op)?)?;
    let var = ex.virtual_var(ListVar::new(items));
    ex.push(var);
    Ok(Flow::Next)
}

fn build_map(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let items = ex.pop_n(2 * count(op)?)?;
    if ex.enter_display_by_hash(&items)?.is_some() {
        return Ok(Flow::Entered(Awaits::Push));
    }
    let dict = ex.virtual_var(DictVar::new(Vec::new()));
    for pair in items.chunks_exact(2) {
        ex.set_item(dict, pair[0], pair[1])?;
    }
    ex.push(dict);
    Ok(Flow::Next)
}

fn build_const_key_map(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let keys = ex.pop()?;
    let values = ex.pop_n(count(op)?)?;
    let VarKind::Tuple(keys) = ex.look(keys)? else { return Err(mismatch()) };
    let dict = ex.virtual_var(DictVar::new(Vec::new()));
    for (key, value) in keys.items.iter().zip(values) {
        ex.set_item(dict, *key, value)?;
    }
    ex.push(dict);
    Ok(Flow::Next)
}

fn build_set(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let items = ex.pop_n(count(op)?)?;
    let whole = ex.virtual_var(TupleVar::new(items.clone()));
    let var = match ex.enter_whole("set", &[whole])? {
        Some(Called::Entered(_)) => return Ok(Flow::Entered(Awaits::Push)),
        Some(Called::Value(set)) => set,
        None => ex.set_of_items(items)?,
    };
    ex.push(var);
    Ok(Flow::Next)
}

fn set_add(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let item = ex.pop()?;
    let target = ex.peek(count(op)?)?;
    if ex.enter_member(target, "add", item)?.is_some() {
        return Ok(Flow::Entered(Awaits::Drop));
    }
    ex.add_to_set(target, item)?;
    Ok(Flow::Next)
}

/// `{*a, *b}` in one instruction (3.8): each is put into the set in its turn.
fn build_set_unpack(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let parts = ex.pop_n(count(op)?)?;
    for part in &parts {
        if ex.gives_members_by_code(*part)? {
            let parts = ex.virtual_var(TupleVar::new(parts));
            ex.enter("united_members", &[parts])?;
            return Ok(Flow::Entered(Awaits::Push));
        }
    }
    let set = ex.set_of_items(Vec::new())?;
    for part in parts {
        ex.set_method(set, "update", &Args::positional(vec![part]))?;
    }
    ex.push(set);
    Ok(Flow::Next)
}

fn build_slice(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let mut parts = ex.pop_n(count(op)?)?;
    if parts.len() == 2 {
        parts.push(ex.fold_none()?);
    }
    let var = ex.virtual_var(SliceVar { parts: [parts[0], parts[1], parts[2]] });
    ex.push(var);
    Ok(Flow::Next)
}

fn list_append(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let value = ex.pop()?;
    let target = ex.peek(count(op)?)?;
    let VarKind::List(list) = ex.look(target)? else {
        return Err(Stop::brk(Reason::ValueKind, "list append"));
    };
    ex.list_method(target, &list, "append", &Args::positional(vec![value]))?;
    Ok(Flow::Next)
}

fn map_add(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let value = ex.pop()?;
    let key = ex.pop()?;
    let target = ex.peek(count(op)?)?;
    if ex.enter_write_by_hash(target, key, Some(value))?.is_some() {
        return Ok(Flow::Entered(Awaits::Drop));
    }
    ex.set_item(target, key, value)?;
    Ok(Flow::Next)
}

fn list_extend(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let iterable = ex.pop()?;
    if ex.enter_list(iterable, false)?.is_some() {
        return Ok(Flow::Entered(Awaits::Again));
    }
    let target = ex.peek(count(op)?)?;
    ex.extend_at_once(target, iterable)?;
    Ok(Flow::Next)
}

fn set_update(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let iterable = ex.pop()?;
    let target = ex.peek(count(op)?)?;
    match ex.enter_whole("update", &[target, iterable])? {
        Some(Called::Entered(_)) => return Ok(Flow::Entered(Awaits::Drop)),
        Some(Called::Value(_)) => return Ok(Flow::Next),
        None => {}
    }
    if ex.enter_items_of_set(target, iterable)?.is_some() {
        return Ok(Flow::Entered(Awaits::Again));
    }
    ex.set_method(target, "update", &Args::positional(vec![iterable]))?;
    Ok(Flow::Next)
}

fn dict_entries(ex: &mut Executor<'_>, mapping: VarId) -> Result<Vec<(VarId, VarId)>, Stop> {
    match ex.look(mapping)? {
        VarKind::Dict(dict) => Ok(dict.entries.to_vec()),
        VarKind::Instance(InstanceVar { part: Some(_), .. }) => {
            let pairs = ex.plain_pairs(mapping)?;
            pairs.ok_or(Stop::brk(Reason::ValueKind, "unpacking of an instance"))
        }
        VarKind::Native(_) => {
            let pairs = ex.plain_pairs(mapping)?;
            pairs.ok_or(Stop::brk(Reason::ValueKind, "unpacking of a native value"))
        }
        other => Err(Stop::brk(Reason::ValueKind, format!("unpacking of {}", other.kind_name()))),
    }
}

fn dict_update(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let mapping = ex.pop()?;
    let target = ex.peek(count(op)?)?;
    let nothing = ex.virtual_var(DictVar::new(Vec::new()));
    if ex.enter_merge(target, mapping, nothing)?.is_some() || ex.enter_mapping(target, mapping)?.is_some() {
        return Ok(Flow::Entered(Awaits::Again));
    }
    for (key, value) in dict_entries(ex, mapping)? {
        ex.set_entry(target, key, value)?;
    }
    Ok(Flow::Next)
}

/// The callable, which may be under a NULL.
pub(super) fn callee_under(ex: &mut Executor<'_>, at: usize) -> Result<VarId, Stop> {
    let callee = ex.peek(at)?;
    match ex.var(callee).kind {
        VarKind::Null(_) => ex.peek(at + 1),
        _ => Ok(callee),
    }
}

/// As `dict_update`, but a key that is there already is an error (`f(**a, **b)`).
fn dict_merge(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let mapping = ex.pop()?;
    let target = ex.peek(count(op)?)?;
    let callee = callee_under(ex, count(op)? + 2)?;
    let left = ex.virtual_var(DictVar::new(Vec::new()));
    if ex.enter_keywords(target, mapping, callee, left)?.is_some() {
        return Ok(Flow::Entered(Awaits::Again));
    }
    let VarKind::Dict(dict) = ex.look(target)? else { return Err(mismatch()) };
    let entries = dict_entries(ex, mapping)?;
    for (key, _) in &entries {
        if dict.position(ex, *key)?.is_some() {
            return Err(Stop::brk(Reason::WouldRaise, "a keyword given twice"));
        }
    }
    for (key, value) in entries {
        ex.set_item(target, key, value)?;
    }
    Ok(Flow::Next)
}

fn list_to_tuple(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let list = ex.pop()?;
    let items = ex.collect(list)?;
    let var = ex.virtual_var(TupleVar::new(items));
    ex.push(var);
    Ok(Flow::Next)
}

fn unpack_sequence(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let value = ex.pop()?;
    if ex.enter_at_most(value, count(op)? + 1)?.is_some() {
        return Ok(Flow::Entered(Awaits::Again));
    }
    let items = ex.collect_at_most(value, count(op)? + 1)?;
    if items.len() != count(op)? {
        return Err(wrong_count(ex, items.len(), count(op)?, false));
    }
    for item in items.into_iter().rev() {
        ex.push(item);
    }
    Ok(Flow::Next)
}

/// ValueError of unpacking, as the interpreter words it.
fn wrong_count(ex: &mut Executor<'_>, got: usize, expected: usize, at_least: bool) -> Stop {
    let text = if got > expected {
        format!("too many values to unpack (expected {expected})")
    } else {
        let least = if at_least { "at least " } else { "" };
        format!("not enough values to unpack (expected {least}{expected}, got {got})")
    };
    ex.raise_error::<PyValueError>(&text)
}

fn unpack_ex(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::UnpackEx { before, after } = op else { return Err(mismatch()) };
    let (before, after) = (before as usize, after as usize);
    let value = ex.pop()?;
    if ex.enter_unpacked(value, before)?.is_some() {
        return Ok(Flow::Entered(Awaits::Again));
    }
    let mut items = ex.collect(value)?;
    if items.len() < before + after {
        return Err(wrong_count(ex, items.len(), before + after, true));
    }
    let tail = items.split_off(items.len() - after);
    let middle = items.split_off(before);
    for item in tail.into_iter().rev() {
        ex.push(item);
    }
    let middle = ex.virtual_var(ListVar::new(middle));
    ex.push(middle);
    for item in items.into_iter().rev() {
        ex.push(item);
    }
    Ok(Flow::Next)
}

/// All items of the operands; `None`: a frame was entered that gives the whole.
fn joined(ex: &mut Executor<'_>, op: Op, make: &str) -> Result<Option<Vec<VarId>>, Stop> {
    let parts = ex.pop_n(count(op)?)?;
    if ex.enter_joined(&parts, make)?.is_some() {
        return Ok(None);
    }
    let mut items = Vec::new();
    for part in parts {
        items.extend(ex.collect_sized(part)?);
    }
    Ok(Some(items))
}

fn build_tuple_unpack(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Some(items) = joined(ex, op, "tuple")? else { return Ok(Flow::Entered(Awaits::Push)) };
    let var = ex.virtual_var(TupleVar::new(items));
    ex.push(var);
    Ok(Flow::Next)
}

fn build_list_unpack(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Some(items) = joined(ex, op, "list")? else { return Ok(Flow::Entered(Awaits::Push)) };
    let var = ex.virtual_var(ListVar::new(items));
    ex.push(var);
    Ok(Flow::Next)
}

fn build_map_unpack(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let with_call = matches!(op, Op::BuildMapUnpackWithCall(_));
    let parts = ex.pop_n(count(op)?)?;
    let callee = if with_call { Some(ex.peek(2)?) } else { None };
    if !with_call && ex.enter_united(&parts)?.is_some() || ex.enter_display(&parts, callee)?.is_some() {
        return Ok(Flow::Entered(Awaits::Push));
    }
    let result = ex.virtual_var(DictVar::new(Vec::new()));
    for part in parts {
        for (key, value) in dict_entries(ex, part)? {
            if with_call
                && let VarKind::Dict(dict) = ex.look(result)?
                && dict.position(ex, key)?.is_some()
            {
                return Err(Stop::brk(Reason::WouldRaise, "a keyword given twice"));
            }
            ex.set_entry(result, key, value)?;
        }
    }
    ex.push(result);
    Ok(Flow::Next)
}

/// The names of a `CallKw`.
pub(super) fn keyword_names(ex: &mut Executor<'_>, names: VarId) -> Result<Vec<String>, Stop> {
    let names = ex.require_plain(names)?;
    let names = names.cast::<PyTuple>().map_err(|_| mismatch())?;
    names.iter().map(|n| n.extract::<String>().map_err(|_| mismatch())).collect()
}
