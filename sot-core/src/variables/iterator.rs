//! Iterators: positions in the values they run over.
//!
//! A virtual iterator holds the variable it runs over and is rebuilt, at its position, if it must exist. A
//! sourced one (`Iteration::Real`, found by a continuation on the stack of its loop) is an exact builtin list,
//! tuple or range iterator: its next item is known by peeking, and taking an item is recorded in the journal, so
//! that the rewritten code advances the real iterator. The first item taken is guarded by itself (has-next and,
//! when used, the item), so a loop that breaks each time round is captured once; further items pin the position.

use super::*;
use crate::cpython::facts;
use pyo3::types::PyType;
use sot_opcodes::Op;
use sot_tracker::ObjectId;
use std::rc::Rc;

#[derive(Clone)]
pub struct IteratorVar {
    pub state: Iteration,
}

#[derive(Clone)]
pub enum Iteration {
    /// Over a tuple or list variable; a list may grow meanwhile.
    Sequence {
        sequence: VarId,
        index: usize,
    },
    /// Over a dict. Values are read when their turn comes; keys must stay what they were when last looked at.
    Dict {
        dict: VarId,
        what: ViewWhat,
        backwards: bool,
        index: usize,
        seen: Rc<Vec<(VarId, VarId)>>,
        removed: u32,
    },
    Reversed {
        sequence: VarId,
        index: usize,
    },
    /// Over the first dimension of a tensor.
    Tensor {
        tensor: VarId,
        index: usize,
        length: usize,
    },
    Range {
        next: i64,
        stop: i64,
        step: i64,
    },
    Enumerate {
        inner: VarId,
        count: i64,
    },
    Zip {
        inners: Vec<VarId>,
    },
    Map {
        function: VarId,
        inners: Vec<VarId>,
    },
    Filter {
        function: VarId,
        inner: VarId,
    },
    /// Existed before the frame; `taken` items were taken by the simulation.
    Real {
        object: ObjectId,
        taken: usize,
        exhausted: bool,
    },
    /// Over the first dimension of a tensor, to its end.
    Exhausted,
}

impl IteratorVar {
    pub fn new(state: Iteration) -> IteratorVar {
        IteratorVar { state }
    }
}

/// `enumerate`, `zip`, `map` and `filter` ask what they are given for its iterator. That was done when the original was made, and an
/// iterator whose class is the program's would notice the second time.
fn push_inner(em: &mut Emitter<'_, '_>, inner: VarId) -> Result<(), Stop> {
    if matches!(em.ex.var(inner).kind, VarKind::Instance(_)) {
        let class = em.ex.class_of(inner)?;
        if class.cast::<PyType>().is_ok_and(|class| facts::is_heap_type(class)) {
            return Err(Stop::fallback(Reason::Reconstruct, "what combines an iterator of the program"));
        }
    }
    em.push(inner)
}

impl Operations for IteratorVar {
    fn kind_name(&self) -> &'static str {
        "an iterator"
    }

    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        match self.state {
            Iteration::Enumerate { .. } => ex.builtins_attribute("enumerate"),
            Iteration::Zip { .. } => ex.builtins_attribute("zip"),
            Iteration::Map { .. } => ex.builtins_attribute("map"),
            Iteration::Filter { .. } => ex.builtins_attribute("filter"),
            Iteration::Real { object, .. } => Ok(ex.objects.get_ref(ex.py, object).get_type().into_any()),
            Iteration::Sequence { sequence, .. } => ex.class_of_iterator(sequence, "iter"),
            Iteration::Reversed { sequence, .. } => ex.class_of_iterator(sequence, "reversed"),
            Iteration::Dict { .. } | Iteration::Tensor { .. } | Iteration::Range { .. } | Iteration::Exhausted => {
                unanswered(self.kind_name(), "class")
            }
        }
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        ex.attribute_of_builtin(me, name)
    }

    fn iterate(&self, _ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        Ok(me)
    }

    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        match &self.state {
            Iteration::Dict { dict, what, backwards, index, seen, removed } => {
                let VarKind::Dict(now) = em.ex.var(*dict).kind.clone() else {
                    return Err(Stop::fallback(Reason::Reconstruct, "an iterator over a view"));
                };
                if !now.same_keys(seen, *removed) {
                    return Err(Stop::fallback(Reason::Reconstruct, "an iterator over a dict that changed"));
                }
                let reversed = em.builtins_attribute("reversed")?;
                if *backwards {
                    em.push_callable(reversed);
                }
                match what {
                    ViewWhat::Keys => em.push(*dict)?,
                    ViewWhat::Values => em.call_method(*dict, "values", &[])?,
                    ViewWhat::Items => em.call_method(*dict, "items", &[])?,
                }
                match backwards {
                    true => em.call(1),
                    false => em.emit(Op::GetIter),
                }
                em.skip_items(*index)
            }
            Iteration::Reversed { sequence, index } => {
                let length = match em.ex.var(*sequence).kind.clone() {
                    VarKind::Tuple(t) => t.items.len(),
                    VarKind::List(l) => l.items.len(),
                    _ => usize::MAX,
                };
                if *index > length {
                    return Err(Stop::fallback(Reason::Reconstruct, "a reversed iterator over a list that shrank"));
                }
                let reversed = em.builtins_attribute("reversed")?;
                em.push_callable(reversed);
                em.push(*sequence)?;
                em.call(1);
                em.set_iterator_state(*index as i64 - 1)
            }
            Iteration::Sequence { sequence, index } => {
                em.push(*sequence)?;
                em.emit(Op::GetIter);
                if *index > 0 {
                    em.set_iterator_state(*index as i64)?;
                }
                Ok(())
            }
            Iteration::Range { next, stop, step } => {
                em.push_int_call("range", &[*next, *stop, *step])?;
                em.emit(Op::GetIter);
                Ok(())
            }
            Iteration::Enumerate { inner, count } => {
                let callee = em.builtins_attribute("enumerate")?;
                em.push_callable(callee);
                push_inner(em, *inner)?;
                em.push_int(*count)?;
                em.call(2);
                Ok(())
            }
            Iteration::Zip { inners } => {
                let callee = em.builtins_attribute("zip")?;
                em.push_callable(callee);
                for inner in inners {
                    push_inner(em, *inner)?;
                }
                em.call(inners.len() as u32);
                Ok(())
            }
            Iteration::Map { function, inners } => {
                let callee = em.builtins_attribute("map")?;
                em.push_callable(callee);
                em.push(*function)?;
                for inner in inners {
                    push_inner(em, *inner)?;
                }
                em.call(1 + inners.len() as u32);
                Ok(())
            }
            Iteration::Filter { function, inner } => {
                let callee = em.builtins_attribute("filter")?;
                em.push_callable(callee);
                em.push(*function)?;
                push_inner(em, *inner)?;
                em.call(2);
                Ok(())
            }
            Iteration::Exhausted => {
                em.emit(Op::BuildTuple(0));
                em.emit(Op::GetIter);
                Ok(())
            }
            Iteration::Tensor { .. } => Err(Stop::fallback(Reason::Reconstruct, "an iterator over a tensor")),
            Iteration::Real { .. } => Err(Stop::fallback(Reason::Reconstruct, "an iterator without a path")),
        }
    }
}
