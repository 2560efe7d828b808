//! What is done with sets: methods, operators, comparisons, iteration.

use super::Executor;
use super::copies::Copies;
use crate::captured::{Answers, SetOperand, SetStep};
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::{BinaryOp, CompareOp};
use sot_sideeffect::{Mutation, VarRef};
use std::rc::Rc;

/// Methods that change a set by what others hold.
const UPDATES: &[&str] = &["update", "difference_update", "intersection_update", "symmetric_difference_update"];
/// Methods that make a set of one and what others hold.
const COMBINATIONS: &[&str] = &["union", "difference", "intersection", "symmetric_difference"];

/// The method of the same name, which lasts.
fn lasting(names: &[&'static str], name: &str) -> Option<&'static str> {
    names.iter().find(|known| **known == name).copied()
}

/// Items that are guarded one by one when a set that is not read is asked for them.
const LOOKED_UP: usize = 16;

impl<'py> Executor<'py> {
    // ----- making

    /// What a method or an operator makes of sets.
    fn combined_set(&mut self, step: SetStep, frozen: bool) -> Result<VarId, Stop> {
        self.keep_sources_quiet(&step)?;
        self.virtual_set(step, frozen, Answers::Nothing)
    }

    /// All sets that a step starts from must be quiet, whatever is looked up.
    fn keep_sources_quiet(&mut self, step: &SetStep) -> Result<(), Stop> {
        step.sources().0.into_iter().try_for_each(|state| self.keep_quiet(state, None))
    }

    pub(super) fn virtual_set(&mut self, step: SetStep, frozen: bool, answers: Answers) -> Result<VarId, Stop> {
        let state = self.histories.add_answered(step, frozen, answers);
        self.is_answered(state)?;
        self.note_held_by_set(state);
        Ok(self.virtual_var(SetVar { state, frozen, object: None }))
    }

    /// Where code of the program may be asked, that must be known at once.
    fn is_answered(&mut self, state: SetState) -> Result<(), Stop> {
        if self.hashes.is_empty() || self.shadow(state)?.1 {
            return Ok(());
        }
        // Who hashes its address may come to lie beside anyone.
        match self.content(state)?.vars().any(|member| self.hashes.contains_key(&member)) {
            true => Err(Stop::brk(Reason::UserCode, "__hash__ or __eq__ of a member of a set")),
            false => Ok(()),
        }
    }

    /// `{a, b}`: the items are put in one by one.
    pub fn set_of_items(&mut self, items: Vec<VarId>) -> Result<VarId, Stop> {
        self.are_members(&items)?;
        let of = Some(SetOperand::Items(items.into()));
        self.virtual_set(SetStep::New { of }, false, Answers::Nothing)
    }

    /// `set(iterable)` or `frozenset(iterable)`.
    pub fn make_set(&mut self, frozen: bool, iterable: Option<VarId>) -> Result<VarId, Stop> {
        let Some(iterable) = iterable else {
            return self.virtual_set(SetStep::New { of: None }, frozen, Answers::Nothing);
        };
        if frozen && self.is_frozen_set(iterable)? {
            return Ok(iterable);
        }
        let of = self.set_operand(iterable)?;
        self.virtual_set(SetStep::New { of: Some(of) }, frozen, Answers::Nothing)
    }

    fn is_frozen_set(&mut self, var: VarId) -> Result<bool, Stop> {
        Ok(match self.look(var)? {
            VarKind::Set(set) => set.frozen,
            VarKind::Constant(_) => self.set_state(var)?.is_some(),
            _ => false,
        })
    }

    /// Each of them can be a member.
    fn are_members(&mut self, items: &[VarId]) -> Result<(), Stop> {
        for item in items {
            self.member(*item)?;
        }
        Ok(())
    }

    /// What a method of sets takes: all that can be iterated.
    fn set_operand(&mut self, var: VarId) -> Result<SetOperand, Stop> {
        self.is_no_subclass_of_set(var)?;
        if let Some(state) = self.set_state(var)? {
            return Ok(SetOperand::Set(state));
        }
        let keys = match self.look(var)? {
            VarKind::Dict(DictVar { entries, class: None, .. }) => Some(entries),
            _ => None,
        };
        let items: Rc<[VarId]> = match &keys {
            Some(entries) => entries.iter().map(|entry| entry.0).collect(),
            None => self.collect(var)?.into(),
        };
        self.are_members(&items)?;
        Ok(if keys.is_some() { SetOperand::Keys(items) } else { SetOperand::Items(items) })
    }

    /// What an operator of sets takes: sets, and views of keys. `None`: it is something else.
    fn operator_operand(&mut self, var: VarId) -> Result<Option<SetOperand>, Stop> {
        if let Some(state) = self.set_state(var)? {
            return Ok(Some(SetOperand::Set(state)));
        }
        let VarKind::View(ViewVar { dict, what: ViewWhat::Keys }) = self.look(var)? else { return Ok(None) };
        let VarKind::Dict(DictVar { entries, class: None, .. }) = self.look(dict)? else { return Ok(None) };
        let keys: Rc<[VarId]> = entries.iter().map(|entry| entry.0).collect();
        self.are_members(&keys)?;
        Ok(Some(SetOperand::View(keys)))
    }

    // ----- changing

    /// A method changes a set.
    pub(super) fn change_set(
        &mut self,
        me: VarId,
        method: &'static str,
        operands: Vec<SetOperand>,
        answers: Answers,
    ) -> Result<(), Stop> {
        let replayed = operands.clone();
        let answered = match &answers {
            Answers::Given(answers) if !answers.is_empty() => Some((answers.to_vec(), false)),
            Answers::Cut(answers) => Some((answers.to_vec(), true)),
            Answers::Given(_) | Answers::Nothing | Answers::Unequal => None,
        };
        self.change_set_by(me, method, operands, answers, |ex, object| {
            let args = replayed.iter().map(|operand| ex.replayed(operand)).collect();
            let name = method.into();
            match answered {
                Some((answers, cut)) => Mutation::Answered { object, name, args, answers, cut },
                None => Mutation::Method { object, name, args },
            }
        })
    }

    /// `add` or `discard` of a member that has been hashed and compared.
    pub(super) fn change_member(
        &mut self,
        me: VarId,
        method: &'static str,
        member: VarId,
        recorded: impl FnOnce(VarRef, VarRef) -> Mutation,
    ) -> Result<(), Stop> {
        let operands = vec![SetOperand::Item(member)];
        self.change_set_by(me, method, operands, Answers::Unequal, |_, object| recorded(object, Self::var_ref(member)))
    }

    fn change_set_by(
        &mut self,
        me: VarId,
        method: &'static str,
        operands: Vec<SetOperand>,
        answers: Answers,
        recorded: impl FnOnce(&mut Self, VarRef) -> Mutation,
    ) -> Result<(), Stop> {
        let VarKind::Set(SetVar { state: before, frozen, object }) = self.look(me)? else {
            return Err(Stop::fallback(Reason::InternalError, "not a set"));
        };
        let step = SetStep::Changed { before, method, operands };
        let SetStep::Changed { operands, .. } = &step else { return Ok(()) };
        match (method, operands.as_slice()) {
            ("clear" | "pop", _) => {}
            // It has been read.
            _ if !matches!(answers, Answers::Nothing) => {}
            (_, [SetOperand::Item(item)]) => self.keep_quiet(before, Some(*item))?,
            ("update" | "difference_update", [SetOperand::Items(items)]) if items.len() <= LOOKED_UP => {
                for item in items.iter() {
                    self.keep_quiet(before, Some(*item))?;
                }
            }
            _ => self.keep_sources_quiet(&step)?,
        }
        let state = self.histories.add_answered(step, frozen, answers);
        self.is_answered(state)?;
        if object.is_some() {
            match self.unread(before) {
                None => self.note_members_taken(before, state)?,
                Some(first) if !matches!(method, "add" | "update" | "__ior__") => self.note_unread_taken(first),
                Some(_) => {}
            }
            let mutation = recorded(self, Self::var_ref(me));
            self.journal_record(mutation);
        }
        self.note_held_by_set(state);
        if let VarKind::Set(set) = &mut self.var_mut(me).kind {
            set.state = state;
        }
        Ok(())
    }

    /// A real set that is not read lets go of some of its members.
    fn note_unread_taken(&mut self, first: SetState) {
        let SetStep::Found { object, .. } = *self.histories.step(first) else { return };
        let set = self.objects.get(self.py, object);
        for entry in facts::set_table(&set).into_iter().flat_map(|table| table.entries) {
            if facts::is_heap_type(&entry.key.get_type()) {
                self.note_taken(&entry.key);
            }
        }
    }

    /// Members that a real set lets go of, as far as somebody could see them die.
    fn note_members_taken(&mut self, before: SetState, after: SetState) -> Result<(), Stop> {
        let plain = |ex: &Self, var: VarId| matches!(ex.var(var).kind, VarKind::Constant(_));
        let had = self.content(before)?;
        if had.vars().all(|var| plain(self, var)) {
            return Ok(());
        }
        let has: hashbrown::HashSet<VarId> = self.content(after)?.vars().collect();
        for var in had.vars().filter(|var| !has.contains(var)) {
            if let Some(object) = self.known_object(var) {
                let object = self.objects.get(self.py, object);
                self.note_taken(&object);
            }
        }
        Ok(())
    }

    /// A value that does to a real set what the operand did: of sets as they are now, whatever becomes of them.
    fn replayed(&mut self, operand: &SetOperand) -> VarRef {
        let var = match operand {
            SetOperand::Item(item) => *item,
            SetOperand::Items(items) => self.virtual_var(TupleVar::new(items.clone())),
            SetOperand::Keys(keys) | SetOperand::View(keys) => {
                let entries = keys.iter().map(|key| (*key, *key)).collect();
                self.virtual_var(DictVar::new(entries))
            }
            SetOperand::Set(state) => {
                let (state, frozen) = (*state, self.histories.is_frozen(*state));
                // The journal comes to a set from before the frame when it is as it was then.
                let found = (0..self.vars.len() as u32).map(VarId).find(|var| {
                    matches!(&self.var(*var).kind, VarKind::Set(set) if set.object.is_some() && set.state == state)
                });
                match found {
                    Some(found) => found,
                    None => self.virtual_var(SetVar { state, frozen, object: None }),
                }
            }
        };
        Self::var_ref(var)
    }

    /// Put an item into a set.
    pub fn add_to_set(&mut self, me: VarId, item: VarId) -> Result<(), Stop> {
        self.change_item(me, "add", item, false)
    }

    /// Add or discard an item, unless that changes nothing.
    fn change_item(&mut self, me: VarId, method: &'static str, item: VarId, has: bool) -> Result<(), Stop> {
        let VarKind::Set(set) = self.look(me)? else {
            return Err(Stop::brk(Reason::ValueKind, "a set"));
        };
        self.member(item)?;
        if self.unread(set.state).is_none() && self.set_has(set.state, item)? != has {
            return Ok(());
        }
        self.change_set(me, method, vec![SetOperand::Item(item)], Answers::Nothing)
    }

    // ----- methods

    pub fn set_method(&mut self, me: VarId, name: &str, args: &Args) -> Result<VarId, Stop> {
        let refused = || Stop::brk(Reason::Builtin, format!("set.{name}"));
        let Some(state) = self.set_state(me)? else { return Err(refused()) };
        if !args.keywords.is_empty() {
            return Err(refused());
        }
        let frozen = self.is_frozen_set(me)?;
        match (name, args.positional.as_slice()) {
            ("add", [item]) if !frozen => {
                self.add_to_set(me, *item)?;
                self.fold_none()
            }
            ("discard", [item]) if !frozen => {
                self.change_item(me, "discard", *item, true)?;
                self.fold_none()
            }
            ("remove", [item]) if !frozen => {
                if !self.set_has(state, *item)? {
                    return Err(self.raise_key_error(*item));
                }
                self.change_item(me, "discard", *item, true)?;
                self.fold_none()
            }
            ("pop", []) if !frozen => self.pop_from_set(me, state),
            ("clear", []) if !frozen => {
                self.change_set(me, "clear", Vec::new(), Answers::Nothing)?;
                self.fold_none()
            }
            ("copy", []) if frozen => Ok(me),
            ("copy", []) => {
                let step = SetStep::Made { from: state, method: "copy", operands: Vec::new() };
                self.virtual_set(step, false, Answers::Nothing)
            }
            (name, others) if !frozen && UPDATES.contains(&name) => {
                // `intersection_update` makes a set of its own meanwhile.
                let of_one = matches!(name, "symmetric_difference_update" | "intersection_update");
                if of_one && others.len() != 1 || others.len() > 1 && others.contains(&me) {
                    return Err(refused());
                }
                let method = lasting(UPDATES, name).ok_or_else(refused)?;
                for other in others {
                    self.update_set(me, method, *other)?;
                }
                self.fold_none()
            }
            (name, others) if COMBINATIONS.contains(&name) => {
                if name == "symmetric_difference" && others.len() != 1 {
                    return Err(refused());
                }
                let method = lasting(COMBINATIONS, name).ok_or_else(refused)?;
                let mut operands = Vec::with_capacity(others.len());
                for other in others {
                    operands.push(self.set_operand(*other)?);
                }
                self.combined_set(SetStep::Made { from: state, method, operands }, frozen)
            }
            ("issubset" | "issuperset" | "isdisjoint", [other]) => {
                // Some stop in the middle.
                if name != "issubset" && self.is_lazy_operand(*other)? {
                    return Err(refused());
                }
                let other = self.set_operand(*other)?;
                let answer = self.ask_shadows(&[SetOperand::Set(state), other], |operands| {
                    operands[0].call_method1(name, (&operands[1],))?.is_truthy()
                })?;
                self.fold_bool(answer)
            }
            ("__contains__", [item]) => {
                let has = self.set_has(state, *item)?;
                self.fold_bool(has)
            }
            ("__len__", []) => {
                let length = self.length_of_set(state)?;
                self.fold_int(length as i64)
            }
            _ => Err(refused()),
        }
    }

    /// What is not there at once: taking its items may look at the set.
    fn is_lazy_operand(&mut self, var: VarId) -> Result<bool, Stop> {
        Ok(!matches!(
            self.look(var)?,
            VarKind::Set(_)
                | VarKind::Dict(_)
                | VarKind::View(_)
                | VarKind::List(_)
                | VarKind::Tuple(_)
                | VarKind::Constant(_)
        ))
    }

    fn update_set(&mut self, me: VarId, method: &'static str, other: VarId) -> Result<(), Stop> {
        self.is_no_subclass_of_set(other)?;
        if !self.is_lazy_operand(other)? {
            let operand = self.set_operand(other)?;
            return self.change_set(me, method, vec![operand], Answers::Nothing);
        }
        match method {
            "update" => {
                let iterator = self.iterate(other)?;
                while let Some(item) = self.next_item(iterator)? {
                    self.add_to_set(me, item)?;
                }
                Ok(())
            }
            // It looks at the set item by item, and may lay it out anew at the end.
            "difference_update" => Err(Stop::brk(Reason::Builtin, "set.difference_update")),
            _ => {
                let operand = self.set_operand(other)?;
                self.change_set(me, method, vec![operand], Answers::Nothing)
            }
        }
    }

    fn pop_from_set(&mut self, me: VarId, state: SetState) -> Result<VarId, Stop> {
        let had = self.ordered(state)?;
        if had.members.is_empty() {
            return Err(self.raise_error::<PyKeyError>("pop from an empty set"));
        }
        self.no_thread_comes_between(me)?;
        self.change_set(me, "pop", Vec::new(), Answers::Nothing)?;
        let after = self.set_state(me)?.unwrap_or(state);
        let left: hashbrown::HashSet<VarId> = self.ordered(after)?.vars().collect();
        let popped = had.vars().find(|var| !left.contains(var));
        let popped = popped.ok_or_else(|| Stop::fallback(Reason::InternalError, "what was popped"))?;
        Ok(popped)
    }

    // ----- operators

    /// `left op right` of sets and views of keys; `None`: as ever.
    pub(super) fn set_operator(
        &mut self,
        op: BinaryOp,
        inplace: bool,
        left: VarId,
        right: VarId,
    ) -> Result<Option<VarId>, Stop> {
        let method = match op {
            BinaryOp::Or => "__ior__",
            BinaryOp::And => "__iand__",
            BinaryOp::Xor => "__ixor__",
            BinaryOp::Subtract => "__isub__",
            _ => return Ok(None),
        };
        let simulated = |kind: VarKind| matches!(kind, VarKind::Set(_) | VarKind::View(_));
        if !simulated(self.look(left)?) && !simulated(self.look(right)?) {
            return Ok(None);
        }
        let (Some(first), Some(second)) = (self.operator_operand(left)?, self.operator_operand(right)?) else {
            return Ok(None);
        };
        if let VarKind::Set(SetVar { frozen: false, .. }) = self.look(left)?
            && inplace
        {
            // A view is none to the methods of sets: their type decides.
            let SetOperand::Set(_) = second else { return Ok(None) };
            self.change_set(left, method, vec![second], Answers::Nothing)?;
            return Ok(Some(left));
        }
        let frozen = match first {
            SetOperand::Set(state) => self.histories.is_frozen(state),
            _ => false,
        };
        let views = [&first, &second].iter().any(|operand| matches!(operand, SetOperand::View(_)));
        let frozen_operand = |ex: &Self, operand: &SetOperand| match operand {
            SetOperand::Set(state) => ex.histories.is_frozen(*state),
            _ => false,
        };
        // Views treat sets in a way that they do not treat frozen ones, which have no shadows of their own type.
        if views && (frozen || frozen_operand(self, &second)) {
            return Ok(None);
        }
        self.combined_set(SetStep::Operated { op, left: first, right: second }, frozen).map(Some)
    }

    /// `left op right` of sets and views of keys; `None`: as ever.
    pub(super) fn compare_sets(&mut self, op: CompareOp, left: VarId, right: VarId) -> Result<Option<VarId>, Stop> {
        let simulated = |kind: &VarKind| matches!(kind, VarKind::Set(_) | VarKind::View(_));
        let (left_kind, right_kind) = (self.look(left)?, self.look(right)?);
        if !simulated(&left_kind) && !simulated(&right_kind) {
            return Ok(None);
        }
        let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
        let (Some(first), Some(second)) = (self.operator_operand(left)?, self.operator_operand(right)?) else {
            let is_set = |kind: &VarKind| matches!(kind, VarKind::Set(_));
            let plain = |kind: &VarKind| {
                matches!(kind, VarKind::Constant(_) | VarKind::Tuple(_) | VarKind::List(_) | VarKind::Dict(_))
            };
            // A set equals sets alone.
            if equality && (is_set(&left_kind) && plain(&right_kind) || plain(&left_kind) && is_set(&right_kind)) {
                return self.fold_bool(op == CompareOp::Ne).map(Some);
            }
            return Ok(None);
        };
        let answer = self.ask_shadows(&[first, second], |operands| {
            let [a, b] = operands else { return Ok(false) };
            match op {
                CompareOp::Eq => a.eq(b),
                CompareOp::Ne => a.ne(b),
                CompareOp::Lt => a.lt(b),
                CompareOp::Le => a.le(b),
                CompareOp::Gt => a.gt(b),
                CompareOp::Ge => a.ge(b),
            }
        })?;
        self.fold_bool(answer).map(Some)
    }

    // ----- iteration

    pub(super) fn iterate_set(&mut self, set: VarId, start: SetState) -> Result<VarId, Stop> {
        let used = Some(self.ordered(start)?.members.len());
        Ok(self.virtual_var(IteratorVar::new(Iteration::Set { set, start, place: 0, given: 0, used })))
    }

    /// The next item of an iterator over a set.
    pub(super) fn next_of_set(&mut self, iterator: VarId, state: Iteration) -> Result<Option<VarId>, Stop> {
        let Iteration::Set { set, start, place, given, used } = state else { return Ok(None) };
        let Some(now) = self.set_state(set)? else {
            return Err(Stop::brk(Reason::ValueKind, "iteration of a set"));
        };
        let content = self.ordered(now)?;
        if used != Some(content.members.len()) {
            self.set_iteration(iterator, Iteration::Set { set, start, place, given, used: None });
            return Err(self.raise_error::<PyRuntimeError>("Set changed size during iteration"));
        }
        let at = content.members.partition_point(|(at, _)| *at < place);
        let Some((at, member)) = content.members.get(at).copied() else {
            let empty = self.virtual_set(SetStep::New { of: None }, false, Answers::Nothing)?;
            let start = self.set_state(empty)?.unwrap_or(SetState::UNSEEN);
            let used = Some(0);
            self.set_iteration(iterator, Iteration::Set { set: empty, start, place: 0, given: 0, used });
            return Ok(None);
        };
        let next = Iteration::Set { set, start, place: at + 1, given: given + 1, used };
        self.set_iteration(iterator, next);
        Ok(Some(member))
    }

    // ----- as objects

    /// A set of these members, for whoever does not ask for their order.
    pub(super) fn members_in_some_order(&mut self, state: SetState) -> Result<Bound<'py, PyAny>, Stop> {
        let content = self.content(state)?;
        let mut members = Vec::with_capacity(content.members.len());
        for var in content.vars() {
            members.push(self.plain_copy(var, &mut Copies::default())?);
        }
        Ok(PySet::new(self.py, members).map_err(|e| self.internal(&e))?.into_any())
    }

    /// A real set of plain members, in the same order.
    pub(super) fn plain_set(
        &mut self,
        state: SetState,
        frozen: bool,
        copies: &mut Copies<'py>,
    ) -> Result<Bound<'py, PyAny>, Stop> {
        let content = self.ordered(state)?;
        let mut members = Vec::with_capacity(content.members.len());
        for var in content.vars() {
            members.push(self.plain_copy(var, copies)?);
        }
        let class = if frozen { self.py.get_type::<PyFrozenSet>() } else { self.py.get_type::<PySet>() };
        let set = PyTuple::new(self.py, &members).and_then(|members| class.call1((members,)));
        let set = set.map_err(|e| self.internal(&e))?;
        let order: Vec<Bound<'py, PyAny>> =
            set.try_iter().and_then(|items| items.collect()).map_err(|e| self.internal(&e))?;
        match order.len() == members.len() && order.iter().zip(&members).all(|(a, b)| a.is(b)) {
            true => Ok(set),
            false => Err(Stop::brk(Reason::OpaqueValue, "the order of a set")),
        }
    }
}
