//! Code that makes sets: by a display of their members where that comes to the same table, else by their history again.

use super::emit::{Callee, Emitter};
use crate::captured::{SetOperand, SetStep};
use crate::stop::{Reason, Stop};
use crate::variables::{SetState, VarId};
use pyo3::types::{PyFrozenSet, PySet};
use sot_opcodes::{Local, Op};
use sot_sideeffect::{Target, VarRef};

/// Steps that are done again for one set.
const MOST: usize = 10_000;

/// Sets that are made of sets that are made of sets.
const DEEPEST: usize = 100;

impl Emitter<'_, '_> {
    /// Push a set in this state.
    pub(super) fn make_set(&mut self, state: SetState) -> Result<(), Stop> {
        let histories = &self.captured.histories;
        let (first, changes) = histories.changes(state);
        if changes.len() > MOST || self.nested_sets > DEEPEST {
            return Err(Stop::fallback(Reason::Reconstruct, "a set with a long history"));
        }
        self.nested_sets += 1;
        self.make_set_of(first, changes)?;
        self.nested_sets -= 1;
        Ok(())
    }

    fn make_set_of(&mut self, first: SetState, changes: Vec<SetState>) -> Result<(), Stop> {
        let histories = &self.captured.histories;
        let frozen = histories.is_frozen(first);
        match histories.displays.get(&first).cloned() {
            Some(members) => self.display(&members, frozen)?,
            None => self.begin_set(first, frozen)?,
        }
        if changes.is_empty() {
            return Ok(());
        }
        let set = self.new_temp();
        self.store(set);
        let mut before = first;
        for change in changes {
            let SetStep::Changed { method, operands, .. } = self.captured.histories.step(change).clone() else {
                continue;
            };
            self.load(set);
            self.call_on_set(method, &operands, Some((before, set)))?;
            self.emit(Op::PopTop);
            before = change;
        }
        self.load(set);
        Ok(())
    }

    fn display(&mut self, members: &[VarId], frozen: bool) -> Result<(), Stop> {
        if frozen {
            self.push_callable(Callee::Object(self.py.get_type::<PyFrozenSet>().into_any()));
        }
        for member in members {
            self.push(*member)?;
        }
        if frozen {
            self.emit(Op::BuildTuple(members.len() as u32));
            self.call(1);
        } else {
            self.emit(Op::BuildSet(members.len() as u32));
        }
        Ok(())
    }

    /// What a history starts with.
    fn begin_set(&mut self, state: SetState, frozen: bool) -> Result<(), Stop> {
        match self.captured.histories.step(state).clone() {
            SetStep::Found { var, .. } => {
                let target = Target::Object(VarRef(var.0));
                if self.captured.journal.entries().iter().any(|entry| entry.mutation.target() == target) {
                    return Err(Stop::fallback(Reason::Reconstruct, "a set as it was before it changed"));
                }
                self.push(var)
            }
            SetStep::New { of } => {
                let class = match frozen {
                    true => self.py.get_type::<PyFrozenSet>(),
                    false => self.py.get_type::<PySet>(),
                };
                self.push_callable(Callee::Object(class.into_any()));
                if let Some(operand) = &of {
                    self.push_operand(operand, None)?;
                }
                self.call(u32::from(of.is_some()));
                Ok(())
            }
            SetStep::Made { from, method, operands } => {
                self.make_set(from)?;
                let set = self.new_temp();
                self.store(set);
                self.load(set);
                self.call_on_set(method, &operands, Some((from, set)))
            }
            SetStep::Operated { op, left, right } => {
                self.push_operand(&left, None)?;
                let set = self.new_temp();
                self.store(set);
                self.load(set);
                let same = match left {
                    SetOperand::Set(state) => Some((state, set)),
                    _ => None,
                };
                self.push_operand(&right, same)?;
                self.emit(Op::Binary { op, inplace: false });
                Ok(())
            }
            SetStep::Changed { .. } => Err(Stop::fallback(Reason::InternalError, "the beginning of a set")),
        }
    }

    /// Call a method of the set on top. `known`: a state that is in a local already.
    fn call_on_set(
        &mut self,
        method: &str,
        operands: &[SetOperand],
        known: Option<(SetState, Local)>,
    ) -> Result<(), Stop> {
        self.load_attr(method);
        for op in sot_opcodes::calls::callable_on_top(self.unit.code.version) {
            self.emit(op);
        }
        for operand in operands {
            self.push_operand(operand, known)?;
        }
        self.call(operands.len() as u32);
        Ok(())
    }

    fn push_operand(&mut self, operand: &SetOperand, known: Option<(SetState, Local)>) -> Result<(), Stop> {
        match operand {
            SetOperand::Item(item) => self.push(*item),
            SetOperand::Items(items) => {
                for item in items.iter() {
                    self.push(*item)?;
                }
                self.emit(Op::BuildTuple(items.len() as u32));
                Ok(())
            }
            SetOperand::Keys(keys) | SetOperand::View(keys) => {
                for key in keys.iter() {
                    self.push(*key)?;
                    self.push_none();
                }
                self.emit(Op::BuildMap(keys.len() as u32));
                if matches!(operand, SetOperand::View(_)) {
                    self.call_on_set("keys", &[], None)?;
                }
                Ok(())
            }
            SetOperand::Set(state) => match known {
                Some((same, local)) if same == *state => {
                    self.load(local);
                    Ok(())
                }
                _ => self.make_set(*state),
            },
        }
    }
}
