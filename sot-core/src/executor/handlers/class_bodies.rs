//! Names of a class body, which live in a dict. Code of modules has them, too, and runs as it is.

use super::{Flow, handlers, mismatch, names, unsupported};
use crate::executor::Executor;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::types::PyString;
use sot_opcodes::{NameId, Op};

handlers! {
    LoadName => load_name;
    StoreName => store_name;
    DeleteName => delete_name;
    LoadClassDeref => load_class_deref;
    LoadFromDictOrDeref => load_from_dict_or_deref;
    LoadFromDictOrGlobals => load_from_dict_or_globals;
    LoadLocals => load_locals;
    SetupAnnotations => setup_annotations;
}

/// What the body has given a name.
fn own(ex: &mut Executor<'_>, names: VarId, name: &str) -> Result<Option<VarId>, Stop> {
    let VarKind::Dict(dict) = ex.look(names)? else {
        return Err(Stop::fallback(Reason::InternalError, "names of a class"));
    };
    let own = dict.entries.iter().find(|(key, _)| ex.constant_str(*key).is_some_and(|key| key == name));
    Ok(own.map(|(_, value)| *value))
}

/// A name of the body, or else a global one.
fn from_names_or_globals(ex: &mut Executor<'_>, all: VarId, id: NameId) -> Result<Flow, Stop> {
    let name = names::name(ex, id);
    let value = match own(ex, all, &name)? {
        Some(value) => value,
        None => ex.load_global(&name)?,
    };
    ex.push(value);
    Ok(Flow::Next)
}

fn load_name(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let (Op::LoadName(id), Some(all)) = (op, ex.frame().names) else { return unsupported::run(ex, op) };
    from_names_or_globals(ex, all, id)
}

fn store_name(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let (Op::StoreName(id), Some(all)) = (op, ex.frame().names) else { return unsupported::run(ex, op) };
    let key = PyString::intern(ex.py, &names::name(ex, id));
    let key = ex.fold(key.as_any())?;
    let value = ex.pop()?;
    ex.set_item(all, key, value)?;
    Ok(Flow::Next)
}

fn delete_name(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let (Op::DeleteName(id), Some(all)) = (op, ex.frame().names) else { return unsupported::run(ex, op) };
    let name = names::name(ex, id);
    if own(ex, all, &name)?.is_none() {
        return Err(Stop::fallback(Reason::WouldRaise, name));
    }
    let key = PyString::intern(ex.py, &name);
    let key = ex.fold(key.as_any())?;
    ex.delete_item(all, key)?;
    Ok(Flow::Next)
}

/// The name of a cell.
fn name_of_cell(ex: &Executor<'_>, index: usize) -> String {
    let code = &ex.frame().unit.code;
    match index.checked_sub(code.cellvars.len()) {
        None => code.cellvars[index].clone(),
        Some(free) => code.freevars[free].clone(),
    }
}

fn from_names_or_cell(ex: &mut Executor<'_>, names: VarId, index: u32) -> Result<Flow, Stop> {
    let name = name_of_cell(ex, index as usize);
    let value = match own(ex, names, &name)? {
        Some(value) => value,
        None => {
            let cell = ex.frame().cells[index as usize];
            let cell = cell.ok_or(Stop::fallback(Reason::InternalError, "a missing cell"))?;
            ex.cell_content(cell)?.ok_or(Stop::fallback(Reason::WouldRaise, name))?
        }
    };
    ex.push(value);
    Ok(Flow::Next)
}

fn load_class_deref(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let (Op::LoadClassDeref(index), Some(names)) = (op, ex.frame().names) else { return unsupported::run(ex, op) };
    from_names_or_cell(ex, names, index.0)
}

fn load_from_dict_or_deref(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::LoadFromDictOrDeref(index) = op else { return Err(mismatch()) };
    if ex.frame().names.is_none() || ex.frame().names != ex.frame().stack.last().copied() {
        return unsupported::run(ex, op);
    }
    let names = ex.pop()?;
    from_names_or_cell(ex, names, index.0)
}

fn load_from_dict_or_globals(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::LoadFromDictOrGlobals(id) = op else { return Err(mismatch()) };
    if ex.frame().names.is_none() || ex.frame().names != ex.frame().stack.last().copied() {
        return unsupported::run(ex, op);
    }
    let all = ex.pop()?;
    from_names_or_globals(ex, all, id)
}

fn load_locals(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Some(names) = ex.frame().names else { return unsupported::run(ex, op) };
    ex.push(names);
    Ok(Flow::Next)
}

fn setup_annotations(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Some(names) = ex.frame().names else { return unsupported::run(ex, op) };
    if own(ex, names, "__annotations__")?.is_none() {
        let key = PyString::intern(ex.py, "__annotations__");
        let key = ex.fold(key.as_any())?;
        let annotations = ex.virtual_var(DictVar::new(Vec::new()));
        ex.set_item(names, key, annotations)?;
    }
    Ok(Flow::Next)
}
