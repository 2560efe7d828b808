//! Locals, globals, cells and constants.

use super::{Flow, handlers, mismatch};
use crate::executor::Executor;
use crate::frame::Frame;
use crate::stop::{Reason, Stop};
use crate::variables::{CellVar, NullVar, VarId, VarKind};
use pyo3::exceptions::{PyNameError, PyUnboundLocalError};
use sot_opcodes::{Cell, Local, NameId, Op, handling};

handlers! {
    LoadConst => load_const;
    LoadFast => load_fast;
    LoadFastAndClear => load_fast_and_clear;
    StoreFast => store_fast;
    DeleteFast => delete_fast;
    LoadGlobal => load_global;
    StoreGlobal => store_global;
    DeleteGlobal => delete_global;
    LoadDeref => load_deref;
    StoreDeref => store_deref;
    DeleteDeref => delete_deref;
    LoadClosure => load_closure;
    MakeCell => make_cell;
    LoadClosureAndClear => load_closure_and_clear;
    StoreClosure => store_closure;
    LoadAssertionError => load_assertion_error;
}

pub(super) fn name(ex: &Executor<'_>, id: NameId) -> String {
    ex.frame().unit.code.names[id.0 as usize].clone()
}

fn load_const(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::LoadConst(id) = op else { return Err(mismatch()) };
    let value = ex.frame().unit.clone().constant(ex.py, id);
    let var = ex.pin(&value);
    ex.push(var);
    Ok(Flow::Next)
}

fn load_fast(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::LoadFast { local, check } = op else { return Err(mismatch()) };
    let frame = ex.frame();
    let found = match cell_in_place_of(frame, local) {
        Some(index) => frame.cells[index].filter(|found| !is_empty_cell(ex, *found)),
        None => frame.locals[local.0 as usize],
    };
    match found {
        Some(var) => ex.push(var),
        None if check => return Err(unbound_local(ex, local)),
        // An unchecked load of an unbound local pushes NULL.
        None => {
            let null = ex.virtual_var(NullVar::default());
            ex.push(null);
        }
    }
    Ok(Flow::Next)
}

/// The cell that has the name of a local variable, and its place: an inlined comprehension keeps a plain variable of that name there (3.12+),
/// whatever argument the cell was made of.
fn cell_in_place_of(frame: &Frame, local: Local) -> Option<usize> {
    let code = &frame.unit.code;
    code.cellvars.iter().position(|name| *name == code.varnames[local.0 as usize])
}

/// Whether what lies in the place of a cell stands for nothing there.
fn is_empty_cell(ex: &Executor<'_>, var: VarId) -> bool {
    matches!(ex.var(var).kind, VarKind::Cell(CellVar { content: None, object: None, known: true }))
}

/// UnboundLocalError, as the interpreter words it.
fn unbound_local(ex: &mut Executor<'_>, local: Local) -> Stop {
    let code = &ex.frame().unit.code;
    let name = &code.varnames[local.0 as usize];
    let text = handling::unbound_local(code.version, name);
    ex.raise_error::<PyUnboundLocalError>(&text)
}

/// What the interpreter says of an empty cell: one of the function's own, or of another's.
fn unbound_cell(ex: &mut Executor<'_>, index: usize) -> Result<Stop, Stop> {
    let unit = ex.frame().unit.clone();
    let code = &unit.code;
    match index.checked_sub(code.cellvars.len()) {
        None => {
            Ok(ex.raise_error::<PyUnboundLocalError>(&handling::unbound_local(code.version, &code.cellvars[index])))
        }
        Some(free) => {
            let name = &code.freevars[free];
            let stop = ex.raise_error::<PyNameError>(&handling::unbound_free(code.version, name));
            ex.tell_name(&stop, name, None)?;
            Ok(stop)
        }
    }
}

fn load_fast_and_clear(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::LoadFastAndClear(Local(local)) = op else { return Err(mismatch()) };
    let var = match ex.frame_mut().locals[local as usize].take() {
        Some(var) => var,
        None => ex.virtual_var(NullVar::default()),
    };
    ex.push(var);
    Ok(Flow::Next)
}

fn store_fast(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::StoreFast(Local(local)) = op else { return Err(mismatch()) };
    let value = ex.pop()?;
    // A saved local of an inlined comprehension may have been unbound: NULL goes back as unbound.
    let value = (!matches!(ex.var(value).kind, VarKind::Null(_))).then_some(value);
    bind_fast(ex, local, value);
    Ok(Flow::Next)
}

/// A local is bound to another value, or to none.
fn bind_fast(ex: &mut Executor<'_>, local: u32, value: Option<VarId>) {
    let before = std::mem::replace(&mut ex.frame_mut().locals[local as usize], value);
    if let Some(before) = before.filter(|before| Some(*before) != value) {
        ex.note_let_go(before);
    }
}

fn delete_fast(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::DeleteFast(Local(local)) = op else { return Err(mismatch()) };
    if ex.frame().locals[local as usize].is_none() {
        return Err(unbound_local(ex, Local(local)));
    }
    bind_fast(ex, local, None);
    Ok(Flow::Next)
}

fn load_global(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::LoadGlobal(id) = op else { return Err(mismatch()) };
    let name = name(ex, id);
    let value = ex.load_global(&name)?;
    ex.push(value);
    Ok(Flow::Next)
}

fn store_global(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::StoreGlobal(id) = op else { return Err(mismatch()) };
    let name = name(ex, id);
    let value = ex.pop()?;
    ex.store_global(&name, value)?;
    Ok(Flow::Next)
}

fn delete_global(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::DeleteGlobal(id) = op else { return Err(mismatch()) };
    let name = name(ex, id);
    ex.delete_global(&name)?;
    Ok(Flow::Next)
}

fn cell(ex: &Executor<'_>, index: u32) -> Result<crate::variables::VarId, Stop> {
    ex.frame().cells[index as usize].ok_or(Stop::fallback(Reason::InternalError, "a missing cell"))
}

fn load_deref(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::LoadDeref(index) = op else { return Err(mismatch()) };
    let cell = cell(ex, index.0)?;
    match ex.cell_content(cell)? {
        Some(value) => ex.push(value),
        None => return Err(unbound_cell(ex, index.0 as usize)?),
    }
    Ok(Flow::Next)
}

fn store_deref(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::StoreDeref(index) = op else { return Err(mismatch()) };
    let cell = cell(ex, index.0)?;
    let value = ex.pop()?;
    ex.store_cell(cell, Some(value))?;
    Ok(Flow::Next)
}

fn delete_deref(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::DeleteDeref(index) = op else { return Err(mismatch()) };
    let cell = cell(ex, index.0)?;
    if ex.cell_content(cell)?.is_none() {
        return Err(unbound_cell(ex, index.0 as usize)?);
    }
    ex.store_cell(cell, None)?;
    Ok(Flow::Next)
}

fn load_closure(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::LoadClosure(index) = op else { return Err(mismatch()) };
    let cell = cell(ex, index.0)?;
    ex.push(cell);
    Ok(Flow::Next)
}

/// The cells of a frame are made with it; those of a comprehension that is inlined are made where it begins, around what is in their
/// places: nothing, or, where a variable of an outer function has that name, too, its cell.
fn make_cell(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::MakeCell(Cell(index)) = op else { return Err(mismatch()) };
    let frame = ex.frame();
    if frame.ip >= frame.unit.code.prelude_len() {
        let content = frame.cells[index as usize].filter(|found| !is_empty_cell(ex, *found));
        let cell = ex.virtual_var(CellVar { content, object: None, known: true });
        ex.frame_mut().cells[index as usize] = Some(cell);
    }
    Ok(Flow::Next)
}

fn load_closure_and_clear(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::LoadClosureAndClear(index) = op else { return Err(mismatch()) };
    // A continuation has one cell for each place: this one stands for none.
    let none = ex.virtual_var(CellVar { content: None, object: None, known: true });
    let cell = match ex.frame_mut().cells[index.0 as usize].replace(none) {
        Some(cell) => cell,
        None => ex.virtual_var(NullVar::default()),
    };
    ex.push(cell);
    Ok(Flow::Next)
}

fn store_closure(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::StoreClosure(index) = op else { return Err(mismatch()) };
    let cell = ex.pop()?;
    let cell = (!matches!(ex.var(cell).kind, VarKind::Null(_))).then_some(cell);
    ex.frame_mut().cells[index.0 as usize] = cell;
    Ok(Flow::Next)
}

fn load_assertion_error(ex: &mut Executor<'_>, _op: Op) -> Result<Flow, Stop> {
    let class = ex.builtins_attribute("AssertionError")?;
    let var = ex.pin(&class);
    ex.push(var);
    Ok(Flow::Next)
}
