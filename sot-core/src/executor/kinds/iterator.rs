//! Iterators: positions in the values they run over.
//!
//! A virtual iterator holds the variable it runs over and is rebuilt, at its position, if it must exist. A
//! sourced one (`Iteration::Real`, found by a continuation on the stack of its loop) is an exact builtin list,
//! tuple or range iterator: its next item is known by peeking, and taking an item is recorded in the journal, so
//! that the rewritten code advances the real iterator. The first item taken is guarded by itself (has-next and,
//! when used, the item), so a loop that breaks each time round is captured once; further items pin the position.

use super::*;
use sot_tracker::{Access, Check};

impl Operations for IteratorVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        match self.state {
            Iteration::Enumerate { .. } => ex.builtins_attribute("enumerate"),
            Iteration::Zip { .. } => ex.builtins_attribute("zip"),
            Iteration::Map { .. } => ex.builtins_attribute("map"),
            Iteration::Filter { .. } => ex.builtins_attribute("filter"),
            Iteration::Indexed { backwards: true, .. } => ex.builtins_attribute("reversed"),
            Iteration::Indexed { .. } => {
                let ended = crate::cpython::facts::ended_by_index(ex.py).map_err(|e| ex.internal(&e))?;
                Ok(ended.get_type().into_any())
            }
            Iteration::Called { .. } => {
                let ended = crate::iterators::ended_calls(ex.py).map_err(|e| ex.internal(&e))?;
                Ok(ended.get_type().into_any())
            }
            Iteration::Real { object, .. } => Ok(ex.objects.get_ref(ex.py, object).get_type().into_any()),
            Iteration::Sequence { sequence, .. } => ex.class_of_iterator(sequence, "iter"),
            Iteration::Reversed { sequence, .. } => ex.class_of_iterator(sequence, "reversed"),
            Iteration::Set { .. } => {
                let empty = pyo3::types::PySet::empty(ex.py).and_then(|set| Ok(set.try_iter()?.get_type()));
                Ok(empty.map_err(|e| ex.internal(&e))?.into_any())
            }
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

    fn look(&self, ex: &mut Executor<'_>, me: VarId, at: Place) -> Result<(), Stop> {
        let Some(object) = ex.known_object(me) else { return Ok(()) };
        ex.guard_type(at.tracker, object);
        let parts = match &self.state {
            Iteration::Map { inners, .. } => 1 + inners.len(),
            Iteration::Zip { inners, .. } => inners.len(),
            _ => return Ok(()),
        };
        let source = ex.trackers.step(at.tracker, Access::IterSource);
        ex.guard(source, Check::Len(parts));
        Ok(())
    }
}
