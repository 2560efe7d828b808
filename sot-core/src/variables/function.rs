//! Python functions: those that existed before the frame, and those that the simulation made.

use super::*;
use crate::code_unit::CodeUnit;
use crate::cpython::facts;
use pyo3::types::PyString;
use sot_tracker::{ObjectId, Tracker};
use std::rc::Rc;
use std::sync::Arc;

#[derive(Clone)]
pub enum FunctionVar {
    /// Pinned by identity, its code and defaults guarded by address.
    Object(ObjectId),
    /// Known by its parts: made by MAKE_FUNCTION in this capture, or found in a slot, where at the next call another function
    /// of the same code may be.
    Made(Rc<MadeFunction>),
}

/// The parts of a function: the operands of MAKE_FUNCTION.
pub struct MadeFunction {
    /// The function, if it existed before the frame.
    pub object: Option<ObjectId>,
    pub unit: Arc<CodeUnit>,
    pub code: ObjectId,
    pub globals: ObjectId,
    pub qualname: Option<VarId>,
    pub defaults: Option<VarId>,
    pub kwdefaults: Option<VarId>,
    pub annotations: Option<VarId>,
    pub closure: Option<VarId>,
}

impl MadeFunction {
    /// Emit `types.FunctionType(code, globals, None, defaults, closure)`, and the parts that it does not take.
    fn rebuild_elsewhere(&self, em: &mut Emitter<'_, '_>, me: VarId) -> Result<(), Stop> {
        let cells = empty_cells(em, self.closure)?;
        let function_type = em.types_attribute("FunctionType")?;
        em.push_callable(function_type);
        em.push_object(self.code);
        em.push_object(self.globals);
        em.push_none();
        for part in [self.defaults, self.closure] {
            match part {
                Some(part) => em.push(part)?,
                None => em.push_none(),
            }
        }
        em.call(5);
        em.remember(me);
        if let Some(kwdefaults) = self.kwdefaults {
            em.push(kwdefaults)?;
            em.push(me)?;
            em.store_attr("__kwdefaults__");
        }
        if let Some(annotations) = self.annotations {
            match em.ex.var(annotations).kind.clone() {
                // From 3.10 on they are names and values in turn.
                VarKind::Tuple(pairs) => {
                    for item in pairs.items.iter() {
                        em.push(*item)?;
                    }
                    em.emit(sot_opcodes::Op::BuildMap(pairs.items.len() as u32 / 2));
                }
                _ => em.push(annotations)?,
            }
            em.push(me)?;
            em.store_attr("__annotations__");
        }
        if let Some(qualname) = self.qualname {
            em.push(qualname)?;
            em.push(me)?;
            em.store_attr("__qualname__");
        }
        fill_cells(em, &cells)?;
        em.push(me)
    }
}

/// Make the cells of a closure that do not exist yet, empty: what is in them may be the function.
fn empty_cells(em: &mut Emitter<'_, '_>, closure: Option<VarId>) -> Result<Vec<VarId>, Stop> {
    let Some(VarKind::Tuple(closure)) = closure.map(|c| em.ex.var(c).kind.clone()) else { return Ok(Vec::new()) };
    let mut made = Vec::new();
    for cell in closure.items.iter().copied() {
        if matches!(em.ex.var(cell).kind, VarKind::Cell(_)) && em.must_be_built_once(cell) {
            let cell_type = em.cell_type()?;
            em.push_callable(cell_type);
            em.call(0);
            em.remember(cell);
            made.push(cell);
        }
    }
    Ok(made)
}

fn fill_cells(em: &mut Emitter<'_, '_>, cells: &[VarId]) -> Result<(), Stop> {
    for cell in cells {
        if let VarKind::Cell(CellVar { content: Some(content), .. }) = em.ex.var(*cell).kind {
            em.push(content)?;
            em.push(*cell)?;
            em.store_attr("cell_contents");
        }
    }
    Ok(())
}

impl Operations for FunctionVar {
    fn kind_name(&self) -> &'static str {
        "a function"
    }

    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        ex.types_attribute("FunctionType")
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        match self {
            FunctionVar::Object(object) => {
                let object = ex.objects.get(ex.py, *object);
                if let "__name__" | "__qualname__" | "__module__" = name {
                    return match facts::field(&object, &PyString::intern(ex.py, name)) {
                        facts::Field::Value(value) => {
                            let base = ex.base_tracker(me);
                            let at = ex.trackers.intern(Tracker::Attr { base, name: name.into() });
                            Ok(Some(ex.wrap(&value, at)))
                        }
                        facts::Field::Empty | facts::Field::NoField => Err(Stop::brk(Reason::WouldRaise, name)),
                    };
                }
                ex.attribute_of_function(me, Some(&object), name)
            }
            FunctionVar::Made(made) => {
                let object = made.object.map(|o| ex.objects.get(ex.py, o));
                ex.attribute_of_function(me, object.as_ref(), name)
            }
        }
    }

    fn call(&self, ex: &mut Executor<'_>, _me: VarId, args: &Args) -> Result<Called, Stop> {
        ex.call_function(self, args)
    }

    fn pinned<'py>(&self, ex: &Executor<'py>) -> Option<Bound<'py, PyAny>> {
        match self {
            FunctionVar::Object(object) => Some(ex.objects.get(ex.py, *object)),
            FunctionVar::Made(_) => None,
        }
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        match self {
            FunctionVar::Object(object) => Ok(ex.objects.get(ex.py, *object)),
            FunctionVar::Made(_) => unanswered(self.kind_name(), "use as an argument of a framework call"),
        }
    }

    fn rebuild(&self, em: &mut Emitter<'_, '_>, me: VarId) -> Result<(), Stop> {
        match self {
            FunctionVar::Object(object) => {
                em.push_object(*object);
                Ok(())
            }
            // MAKE_FUNCTION gives the globals of the running code.
            FunctionVar::Made(made) if Some(made.globals) != em.ex.entry_globals => made.rebuild_elsewhere(em, me),
            FunctionVar::Made(made) => {
                let cells = empty_cells(em, made.closure)?;
                let mut flags = 0;
                for (bit, part) in [(1, made.defaults), (2, made.kwdefaults), (4, made.annotations), (8, made.closure)]
                {
                    if let Some(part) = part {
                        flags |= bit;
                        em.push(part)?;
                    }
                }
                em.push_object(made.code);
                if let Some(qualname) = made.qualname {
                    em.push(qualname)?;
                }
                em.make_function(flags, made.qualname.is_some());
                if cells.is_empty() {
                    return Ok(());
                }
                em.remember(me);
                fill_cells(em, &cells)?;
                em.push(me)
            }
        }
    }
}
