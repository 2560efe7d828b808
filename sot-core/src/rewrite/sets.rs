//! Code that makes sets: by a display of their members where that comes to the same table, else by their history again.

use super::emit::{Callable, Emitter};
use crate::called_by_code;
use crate::captured::{Answers, SetLayout, SetOperand, SetStep};
use crate::stop::{Reason, Stop};
use crate::variables::{SetState, VarId};
use pyo3::types::{PyFrozenSet, PySet, PyString, PyTuple};
use sot_opcodes::{BinaryOp, Local, Op};
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
        match (histories.displays.get(&first).cloned(), histories.layouts.get(&first).cloned()) {
            (Some(members), _) => self.display(&members, frozen)?,
            (None, Some(layout)) => self.lay_out(&layout, frozen)?,
            (None, None) => self.begin_set(first, frozen)?,
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
            self.change_set(change, method, &operands, (before, set))?;
            self.emit(Op::PopTop);
            before = change;
        }
        self.load(set);
        Ok(())
    }

    fn change_set(
        &mut self,
        change: SetState,
        method: &str,
        operands: &[SetOperand],
        known: (SetState, Local),
    ) -> Result<(), Stop> {
        match (self.captured.histories.answers(change).clone(), operands) {
            (Answers::Unequal, [SetOperand::Item(item)]) => {
                let (add, py) = (method == "add", self.py);
                let function = if add { called_by_code::store_hashed(py) } else { called_by_code::delete_hashed(py) };
                self.push_callable(Callable::Object(function.map_err(|e| Stop::internal(&e))?));
                self.load(known.1);
                self.push(*item)?;
                self.push_hash(*item)?;
                if add {
                    self.push_none();
                    self.push_int(0)?;
                }
                self.call(if add { 5 } else { 3 });
                Ok(())
            }
            (answered @ (Answers::Given(_) | Answers::Cut(_)), operands) => {
                let (answers, cut) = match answered {
                    Answers::Cut(answers) => (answers, true),
                    Answers::Given(answers) => (answers, false),
                    Answers::Nothing | Answers::Unequal => return Ok(()),
                };
                self.begin_answered(method)?;
                self.load(known.1);
                for operand in operands {
                    self.push_operand(operand, Some(known))?;
                }
                self.end_answered(1 + operands.len() as u32, &answers, cut)
            }
            _ => {
                self.load(known.1);
                self.call_on_set(method, operands, Some(known))
            }
        }
    }

    /// The hash that code of the program gave; None: C gives it.
    fn push_hash(&mut self, item: VarId) -> Result<(), Stop> {
        match self.captured.hashes.get(&item).copied() {
            Some(hash) => self.push_int(hash as i64)?,
            None => self.push_none(),
        }
        Ok(())
    }

    /// What is done with sets, to the questions of which the answers are known: what comes next are the operands.
    pub(super) fn begin_answered(&mut self, name: &str) -> Result<(), Stop> {
        let function = called_by_code::done_with_answers(self.py).map_err(|e| Stop::internal(&e))?;
        self.push_callable(Callable::Object(function));
        self.push_constant(PyString::intern(self.py, name).as_any());
        Ok(())
    }

    pub(super) fn end_answered(&mut self, operands: u32, answers: &[i64], cut: bool) -> Result<(), Stop> {
        for answer in answers {
            self.push_int(*answer)?;
        }
        self.emit(Op::BuildTuple(answers.len() as u32));
        self.push_int(cut.into())?;
        self.call(operands + 3);
        Ok(())
    }

    fn lay_out(&mut self, layout: &SetLayout, frozen: bool) -> Result<(), Stop> {
        let function = called_by_code::set_with_table(self.py).map_err(|e| Stop::internal(&e))?;
        self.push_callable(Callable::Object(function));
        self.push_int(frozen.into())?;
        for (_, member, _) in &layout.members {
            self.push(*member)?;
        }
        self.emit(Op::BuildTuple(layout.members.len() as u32));
        let (places, hashes) = (layout.members.iter().map(|m| m.0), layout.members.iter().map(|m| m.2));
        let numbers = [places.collect::<Vec<_>>(), layout.lost.clone(), vec![layout.mask, layout.finger]];
        for numbers in numbers {
            let numbers = PyTuple::new(self.py, numbers).map_err(|e| Stop::internal(&e))?;
            self.push_constant(numbers.as_any());
        }
        let hashes = PyTuple::new(self.py, hashes.collect::<Vec<_>>()).map_err(|e| Stop::internal(&e))?;
        self.push_constant(hashes.as_any());
        self.call(6);
        Ok(())
    }

    fn display(&mut self, members: &[VarId], frozen: bool) -> Result<(), Stop> {
        if members.iter().any(|member| self.captured.hashes.contains_key(member)) {
            let function = called_by_code::set_of_hashed(self.py).map_err(|e| Stop::internal(&e))?;
            self.push_callable(Callable::Object(function));
            self.push_int(frozen.into())?;
            for member in members {
                self.push(*member)?;
            }
            self.emit(Op::BuildTuple(members.len() as u32));
            for member in members {
                self.push_hash(*member)?;
            }
            self.emit(Op::BuildTuple(members.len() as u32));
            self.call(3);
            return Ok(());
        }
        if frozen {
            self.push_callable(Callable::Object(self.py.get_type::<PyFrozenSet>().into_any()));
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
        if let Answers::Given(answers) = self.captured.histories.answers(state).clone() {
            return self.begin_set_by_answers(state, frozen, &answers);
        }
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
                self.push_callable(Callable::Object(class.into_any()));
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
            // What has been answered so far is known, and it will be done from the start.
            SetStep::Changing { before } => self.make_set(before),
            SetStep::Changed { .. } => Err(Stop::fallback(Reason::InternalError, "the beginning of a set")),
        }
    }

    fn begin_set_by_answers(&mut self, state: SetState, frozen: bool, answers: &[i64]) -> Result<(), Stop> {
        let step = self.captured.histories.step(state).clone();
        let (name, operands): (&str, Vec<SetOperand>) = match step {
            SetStep::New { of } => (if frozen { "frozenset" } else { "set" }, of.into_iter().collect()),
            SetStep::Made { from, method, operands } => {
                (method, std::iter::once(SetOperand::Set(from)).chain(operands).collect())
            }
            SetStep::Operated { op, left, right } => {
                let name = match op {
                    BinaryOp::Or => "|",
                    BinaryOp::And => "&",
                    BinaryOp::Xor => "^",
                    _ => "-",
                };
                (name, vec![left, right])
            }
            SetStep::Found { .. } | SetStep::Changed { .. } | SetStep::Changing { .. } => {
                return Err(Stop::fallback(Reason::InternalError, "the beginning of a set"));
            }
        };
        self.begin_answered(name)?;
        for operand in &operands {
            self.push_operand(operand, None)?;
        }
        self.end_answered(operands.len() as u32, answers, false)
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
                if keys.iter().any(|key| self.captured.hashes.contains_key(key)) {
                    let entries: Vec<_> = keys.iter().map(|key| (*key, *key)).collect();
                    self.emit(Op::BuildMap(0));
                    self.fill_hashed(&entries)?;
                    return match operand {
                        SetOperand::View(_) => self.call_on_set("keys", &[], None),
                        _ => Ok(()),
                    };
                }
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
