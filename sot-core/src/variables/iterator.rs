//! Iterators: positions in the values they run over.
//!
//! A virtual iterator holds the variable it runs over and is rebuilt, at its position, if it must exist. A
//! sourced one (`Iteration::Real`, found by a continuation on the stack of its loop) is an exact builtin list,
//! tuple or range iterator: its next item is known by peeking, and taking an item is recorded in the journal, so
//! that the rewritten code advances the real iterator. The first item taken is guarded by itself (has-next and,
//! when used, the item), so a loop that breaks each time round is captured once; further items pin the position.

use super::*;
use sot_opcodes::Op;
use sot_tracker::ObjectId;

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
    /// Over what a dict held when the iteration began; `length` is the dict's at that time.
    Snapshot {
        sequence: VarId,
        index: usize,
        dict: VarId,
        length: usize,
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
    /// Existed before the frame; `taken` items were taken by the simulation.
    Real {
        object: ObjectId,
        taken: usize,
        exhausted: bool,
    },
    Exhausted,
}

impl IteratorVar {
    pub fn new(state: Iteration) -> IteratorVar {
        IteratorVar { state }
    }
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
            Iteration::Real { object, .. } => Ok(ex.objects.get_ref(ex.py, object).get_type().into_any()),
            Iteration::Sequence { .. }
            | Iteration::Snapshot { .. }
            | Iteration::Reversed { .. }
            | Iteration::Tensor { .. }
            | Iteration::Range { .. }
            | Iteration::Exhausted => unanswered(self.kind_name(), "class"),
        }
    }

    fn truth(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn iterate(&self, _ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        Ok(me)
    }

    fn rebuild(&self, em: &mut Emitter<'_, '_>, _me: VarId) -> Result<(), Stop> {
        match &self.state {
            Iteration::Sequence { sequence, index } | Iteration::Snapshot { sequence, index, .. } => {
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
                em.push(*inner)?;
                em.push_int(*count)?;
                em.call(2);
                Ok(())
            }
            Iteration::Zip { inners } => {
                let callee = em.builtins_attribute("zip")?;
                em.push_callable(callee);
                for inner in inners {
                    em.push(*inner)?;
                }
                em.call(inners.len() as u32);
                Ok(())
            }
            Iteration::Map { function, inners } => {
                let callee = em.builtins_attribute("map")?;
                em.push_callable(callee);
                em.push(*function)?;
                for inner in inners {
                    em.push(*inner)?;
                }
                em.call(1 + inners.len() as u32);
                Ok(())
            }
            Iteration::Exhausted => {
                em.emit(Op::BuildTuple(0));
                em.emit(Op::GetIter);
                Ok(())
            }
            Iteration::Reversed { .. } => Err(Stop::fallback(Reason::Reconstruct, "a reversed iterator")),
            Iteration::Tensor { .. } => Err(Stop::fallback(Reason::Reconstruct, "an iterator over a tensor")),
            Iteration::Real { .. } => Err(Stop::fallback(Reason::Reconstruct, "an iterator without a path")),
        }
    }
}
