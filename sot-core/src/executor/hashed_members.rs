//! Members of sets whose `__hash__` or `__eq__` is code of the program.
//!
//! One that is put into a set, taken out or looked up is found by a definition, as a key is (`definitions_of_keys.py`): it is hashed
//! once, and compared with the members of its hash in the order in which the set's table has them. What is done with whole sets (they are made
//! of something, united, compared ..) real sets of answerers do, as ever (`sets`): where one asks a question that nobody has
//! answered yet, it is answered by frames of their own, and the sets do it again from the start, with one answer more.

use super::Executor;
use super::hashed::fallback;
use super::members::{AskedHashes, Asking, Came, Question, var_of, while_asking};
use crate::captured::{Answers, SetOperand, SetStep};
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::{BinaryOp, CompareOp};
use sot_sideeffect::Mutation;
use std::rc::Rc;

/// Questions that one operation may ask.
const QUESTIONS: usize = 64;

/// What is done with whole sets.
#[derive(Clone, Copy)]
enum Whole {
    Make {
        frozen: bool,
    },
    /// A method that makes another set.
    Combine(&'static str),
    /// A method that changes the set; an operator that does gives the set.
    Change {
        method: &'static str,
        operator: bool,
    },
    Operate(BinaryOp),
    /// A method that tells something.
    Tell(&'static str),
    Compare(CompareOp),
}

/// Each by its name.
const WHOLES: &[(&str, Whole)] = &[
    ("set", Whole::Make { frozen: false }),
    ("frozenset", Whole::Make { frozen: true }),
    ("union", Whole::Combine("union")),
    ("difference", Whole::Combine("difference")),
    ("intersection", Whole::Combine("intersection")),
    ("symmetric_difference", Whole::Combine("symmetric_difference")),
    ("update", Whole::Change { method: "update", operator: false }),
    ("difference_update", Whole::Change { method: "difference_update", operator: false }),
    ("intersection_update", Whole::Change { method: "intersection_update", operator: false }),
    ("symmetric_difference_update", Whole::Change { method: "symmetric_difference_update", operator: false }),
    ("|=", Whole::Change { method: "__ior__", operator: true }),
    ("&=", Whole::Change { method: "__iand__", operator: true }),
    ("^=", Whole::Change { method: "__ixor__", operator: true }),
    ("-=", Whole::Change { method: "__isub__", operator: true }),
    ("|", Whole::Operate(BinaryOp::Or)),
    ("&", Whole::Operate(BinaryOp::And)),
    ("^", Whole::Operate(BinaryOp::Xor)),
    ("-", Whole::Operate(BinaryOp::Subtract)),
    ("issubset", Whole::Tell("issubset")),
    ("issuperset", Whole::Tell("issuperset")),
    ("isdisjoint", Whole::Tell("isdisjoint")),
    ("==", Whole::Compare(CompareOp::Eq)),
    ("!=", Whole::Compare(CompareOp::Ne)),
    ("<", Whole::Compare(CompareOp::Lt)),
    ("<=", Whole::Compare(CompareOp::Le)),
    (">", Whole::Compare(CompareOp::Gt)),
    (">=", Whole::Compare(CompareOp::Ge)),
];

impl Whole {
    fn of(name: &str) -> Option<Whole> {
        WHOLES.iter().find(|(known, _)| *known == name).map(|(_, whole)| *whole)
    }

    /// What it comes to as a step of a set's history; `None`: it tells something.
    fn step(self, operands: &[SetOperand]) -> Option<SetStep> {
        let set = match operands.first() {
            Some(SetOperand::Set(state)) => Some(*state),
            _ => None,
        };
        Some(match (self, operands) {
            (Whole::Make { .. }, operands) => SetStep::New { of: operands.first().cloned() },
            (Whole::Combine(method), [_, rest @ ..]) => SetStep::Made { from: set?, method, operands: rest.to_vec() },
            (Whole::Change { method, .. }, [_, rest @ ..]) => {
                SetStep::Changed { before: set?, method, operands: rest.to_vec() }
            }
            (Whole::Operate(op), [left, right]) => SetStep::Operated { op, left: left.clone(), right: right.clone() },
            _ => return None,
        })
    }
}

fn by_code() -> Stop {
    Stop::brk(Reason::UserCode, "__hash__ or __eq__ of a member of a set")
}

impl<'py> Executor<'py> {
    // ----- one member

    /// Whether looking a value up in a set runs code of the program.
    pub(super) fn is_member_by_code(&mut self, state: SetState, item: VarId) -> Result<bool, Stop> {
        if self.is_hashed_by_code(item)? {
            return Ok(true);
        }
        let Some(hash) = self.quiet_hash(item)? else {
            return match self.is_beside_one_by_code(state, item)? {
                true => Err(by_code()),
                false => Ok(false),
            };
        };
        if let Some(first) = self.unread(state)
            && let SetStep::Found { object, .. } = *self.histories.step(first)
        {
            let set = self.objects.get(self.py, object);
            let alike = facts::members_of_hash(&set, hash).unwrap_or_default();
            if !alike.iter().all(type_facts::is_quiet_key) {
                self.content(first)?;
            }
        }
        if self.hashes.is_empty() || self.unread(state).is_some() {
            return Ok(false);
        }
        let content = self.content(state)?;
        Ok(content.vars().any(|member| self.hashes.get(&member) == Some(&hash)))
    }

    /// Whether a member that code of the program compares has the hash of this object, which is its address.
    fn is_beside_one_by_code(&mut self, state: SetState, item: VarId) -> Result<bool, Stop> {
        let Some(object) = self.known_object(item) else { return Ok(false) };
        let object = self.objects.get(self.py, object);
        if !type_facts::compares_by_identity(&object.get_type()) {
            return Ok(false);
        }
        let hash = object.hash().map_err(|e| self.internal(&e))?;
        if let Some(first) = self.unread(state)
            && let SetStep::Found { object, .. } = *self.histories.step(first)
        {
            let alike = facts::members_of_hash(&self.objects.get(self.py, object), hash).unwrap_or_default();
            return Ok(!alike.iter().all(type_facts::is_quiet_key));
        }
        if self.hashes.is_empty() {
            return Ok(false);
        }
        let content = self.content(state)?;
        Ok(content.vars().any(|member| self.hashes.get(&member) == Some(&hash)))
    }

    /// `add`, `discard`, `remove` and `in`, by their definitions; `None`: as ever.
    pub(super) fn enter_member(&mut self, set: VarId, name: &str, item: VarId) -> Result<Option<Called>, Stop> {
        let Some(state) = self.set_state(set)? else { return Ok(None) };
        let definition = match (name, self.look(set)?) {
            ("add", VarKind::Set(SetVar { frozen: false, .. })) => "add_by_hash",
            ("discard", VarKind::Set(SetVar { frozen: false, .. })) => "discard_by_hash",
            ("remove", VarKind::Set(SetVar { frozen: false, .. })) => "remove_by_hash",
            ("__contains__", _) => "has_by_hash",
            _ => return Ok(None),
        };
        if !self.is_member_by_code(state, item)? {
            return Ok(None);
        }
        if name == "__contains__" {
            let (yes, no) = (self.fold_bool(true)?, self.fold_bool(false)?);
            return self.enter(definition, &[set, item, yes, no]).map(Some);
        }
        self.enter(definition, &[set, item]).map(Some)
    }

    /// Methods of sets, if they run code of the program; `None`: as ever.
    pub(super) fn enter_set_method(&mut self, me: VarId, name: &str, args: &[VarId]) -> Result<Option<Called>, Stop> {
        if let [item] = args
            && let Some(entered) = self.enter_member(me, name, *item)?
        {
            return Ok(Some(entered));
        }
        for other in args {
            self.is_no_subclass_of_set(*other)?;
        }
        let frozen = match self.set_state(me)? {
            Some(state) => self.histories.is_frozen(state),
            None => return Ok(None),
        };
        match Whole::of(name) {
            Some(Whole::Change { operator: false, .. }) if frozen => Ok(None),
            Some(Whole::Change { operator: false, .. } | Whole::Combine(_) | Whole::Tell(_)) => {
                let operands: Vec<VarId> = std::iter::once(me).chain(args.iter().copied()).collect();
                let entered = self.enter_whole(name, &operands)?;
                match (name, args) {
                    ("update", [other]) if entered.is_none() && self.gives_items_by_code(*other)? => {
                        self.enter("update_set", &[me, *other]).map(Some)
                    }
                    ("update", [_, _, ..]) if entered.is_none() && !self.hashes.is_empty() => {
                        let others = self.virtual_var(TupleVar::new(args.to_vec()));
                        self.enter("update_by_each", &[me, others]).map(Some)
                    }
                    _ => Ok(entered),
                }
            }
            _ => Ok(None),
        }
    }

    /// Whether code of the program has hashed all that a dict or set holds, as far as it is asked at all.
    pub(super) fn gives_hashed_items(&mut self, whole: VarId) -> Result<bool, Stop> {
        let items: Vec<VarId> = match (self.look(whole)?, self.set_state(whole)?) {
            (VarKind::Dict(dict), _) => dict.entries.iter().map(|entry| entry.0).collect(),
            (_, Some(state)) => self.ordered(state)?.vars().collect(),
            _ => return Ok(false),
        };
        for item in items {
            if !self.hashes.contains_key(&item) && !self.is_quiet_item(item)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The members of a set, each with the hash that code of the program gave, in its order.
    fn entries_of_set(&mut self, state: SetState) -> Result<VarId, Stop> {
        let none = self.fold_none()?;
        let mut entries = Vec::new();
        for member in self.ordered(state)?.vars() {
            let hash = match self.hashes.get(&member).copied() {
                Some(hash) => self.fold_int(hash as i64)?,
                None => none,
            };
            entries.push(self.virtual_var(TupleVar::new(vec![member, hash, none])));
        }
        let entries = self.virtual_var(TupleVar::new(entries));
        self.shadows.searched.insert(entries, state);
        Ok(entries)
    }

    /// Whether something that a set display takes the items of runs code of the program, or they do.
    pub(super) fn gives_members_by_code(&mut self, part: VarId) -> Result<bool, Stop> {
        self.is_no_subclass_of_set(part)?;
        Ok(!self.hashes.is_empty() || self.iterates_by_code(part)? || self.gives_items_by_code(part)?)
    }

    /// An operator on sets, if it runs code of the program; `None`: as ever.
    pub(super) fn enter_set_operator(
        &mut self,
        op: BinaryOp,
        inplace: bool,
        left: VarId,
        right: VarId,
    ) -> Result<Option<Called>, Stop> {
        let Some(state) = self.set_state(left)? else { return Ok(None) };
        if self.set_state(right)?.is_none() {
            return Ok(None);
        }
        let inplace = inplace && !self.histories.is_frozen(state);
        let name = match (op, inplace) {
            (BinaryOp::Or, false) => "|",
            (BinaryOp::Or, true) => "|=",
            (BinaryOp::And, false) => "&",
            (BinaryOp::And, true) => "&=",
            (BinaryOp::Xor, false) => "^",
            (BinaryOp::Xor, true) => "^=",
            (BinaryOp::Subtract, false) => "-",
            (BinaryOp::Subtract, true) => "-=",
            _ => return Ok(None),
        };
        self.enter_whole(name, &[left, right])
    }

    /// A comparison of sets, if it runs code of the program; `None`: as ever.
    pub(super) fn enter_compare_sets(
        &mut self,
        op: CompareOp,
        left: VarId,
        right: VarId,
    ) -> Result<Option<Called>, Stop> {
        if self.set_state(left)?.is_none() || self.set_state(right)?.is_none() {
            return Ok(None);
        }
        let compares = |whole: &Whole| matches!(whole, Whole::Compare(known) if *known == op);
        match WHOLES.iter().find(|(_, whole)| compares(whole)) {
            Some((name, _)) => self.enter_whole(name, &[left, right]),
            None => Ok(None),
        }
    }

    /// The members of a set that a look-up compares with a key of this hash, in its order.
    pub(super) fn members_alike(&mut self, state: SetState, hash: VarId) -> Result<VarId, Stop> {
        let hash = self.known_hash(hash)?;
        let (set, exact) = self.shadow(state)?;
        let alike = facts::members_of_hash(&set, hash).ok_or_else(|| fallback("a shadow"))?;
        let alike: Vec<VarId> = alike.iter().filter_map(var_of).collect();
        if !exact && !alike.is_empty() {
            // Where they lie depends on addresses.
            return Err(fallback("the order of members of one hash"));
        }
        let others = self.virtual_var(TupleVar::new(alike));
        self.shadows.searched.insert(others, state);
        Ok(others)
    }

    /// Whether a comparison has changed a set.
    pub(super) fn members_moved(&mut self, state: SetState, hash: VarId, others: VarId) -> Result<VarId, Stop> {
        if let Some(searched) = self.shadows.searched.get(&others) {
            return match *searched == state {
                true => self.fold_bool(false),
                false => Err(fallback("a set that changes while its members are compared")),
            };
        }
        let now = self.members_alike(state, hash)?;
        let (VarKind::Tuple(now), VarKind::Tuple(then)) = (self.look(now)?, self.look(others)?) else {
            return Err(fallback("members of one hash"));
        };
        let mut moved = now.items.len() != then.items.len();
        for (now, then) in now.items.iter().zip(then.items.iter()) {
            moved |= !self.is_one_key(*now, *then);
        }
        self.fold_bool(moved)
    }

    /// A helper of the definitions, for a set.
    pub(super) fn call_member_helper(&mut self, name: &str, args: &[VarId]) -> Result<Option<Called>, Stop> {
        let state = match args.first() {
            Some(set) => self.set_state(*set)?,
            None => None,
        };
        let value = match (name, state, args) {
            ("alike", Some(state), [_, _, hash]) => self.members_alike(state, *hash)?,
            ("moved", Some(state), [_, _, hash, others]) => self.members_moved(state, *hash, *others)?,
            // They are listed as they are met.
            ("all_met", Some(_), [_, _, _, others]) => *others,
            ("put_member", Some(_), [set, key, hash]) => {
                let hash = self.known_hash(*hash)?;
                if self.is_hashed_by_code(*key)? && !self.store_hash(*key, hash) {
                    return Err(fallback("a member whose hash has changed"));
                }
                let recorded =
                    |object, key| Mutation::StoreHashed { object, key, hash: hash as i64, value: key, found: None };
                self.change_member(*set, "add", *key, recorded)?;
                self.fold_none()?
            }
            ("drop_member", Some(_), [set, place, hash]) => {
                let hash = self.known_hash(*hash)? as i64;
                let VarKind::Tuple(place) = self.look(*place)? else { return Err(fallback("a place")) };
                let found = *place.items.first().ok_or_else(|| fallback("a member"))?;
                let recorded = |object, found| Mutation::DeleteHashed { object, found, hash };
                self.change_member(*set, "discard", found, recorded)?;
                self.fold_none()?
            }
            ("entries_of", Some(state), [_]) => self.entries_of_set(state)?,
            ("unchanged", Some(state), [_, entries]) => match self.shadows.searched.get(entries) {
                Some(then) if *then != state => return Err(fallback("a set that changes while it is read")),
                _ => self.fold_none()?,
            },
            ("asked", _, [operation, log]) => self.asked(*operation, *log)?,
            ("answered", _, [operation, log]) => self.answered(*operation, *log)?,
            ("cut_short", _, [operation, log]) => {
                let Operation { operands, taken, answers, whole } = self.operation(*operation, *log)?;
                if let (Whole::Change { method, .. }, Some(me)) = (whole, operands.first()) {
                    self.change_set(*me, method, taken[1..].to_vec(), Answers::Cut(answers))?;
                }
                self.fold_none()?
            }
            ("frozen_as", Some(state), [_]) => self.frozen_as(state)?,
            _ => return Ok(None),
        };
        Ok(Some(Called::Value(value)))
    }

    // ----- whole sets

    /// Something that is done with whole sets, if it runs code of the program; `None`: as ever.
    pub(super) fn enter_whole(&mut self, name: &str, operands: &[VarId]) -> Result<Option<Called>, Stop> {
        let Some(whole) = Whole::of(name) else { return Ok(None) };
        let Some(taken) = self.taken_by_whole(whole, operands)? else { return Ok(None) };
        let mut by_code = false;
        for operand in taken.iter() {
            by_code |= self.is_operand_by_code(operand)?;
        }
        // Sets from before may have been read by then.
        if !by_code && self.hashes.is_empty() {
            return Ok(None);
        }
        let came = self.tried(whole, &taken, Rc::from([]))?.0;
        if let Came::To(told) = came {
            return self
                .done_with(whole, operands, taken, Answers::Nothing, told)
                .map(|value| Some(Called::Value(value)));
        }
        let name = self.fold(PyString::new(self.py, name).as_any())?;
        let operation = std::iter::once(name).chain(operands.iter().copied()).collect::<Vec<_>>();
        let operation = self.virtual_var(TupleVar::new(operation));
        let log = self.virtual_var(TupleVar::new(Vec::new()));
        self.enter("done_by_asking", &[operation, log]).map(Some)
    }

    fn is_operand_by_code(&mut self, operand: &SetOperand) -> Result<bool, Stop> {
        if let SetOperand::Set(state) = operand {
            if let Some(first) = self.unread(*state)
                && let SetStep::Found { object, .. } = *self.histories.step(first)
                && !type_facts::has_quiet_members(&self.objects.get(self.py, object))
            {
                self.content(first)?;
            }
            return Ok(false);
        }
        for item in operand.items() {
            if self.is_hashed_by_code(*item)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What is done takes these; `None`: something else, or not all of it is there at once.
    fn taken_by_whole(&mut self, whole: Whole, operands: &[VarId]) -> Result<Option<Vec<SetOperand>>, Stop> {
        let mut taken = Vec::with_capacity(operands.len());
        for (at, var) in operands.iter().copied().enumerate() {
            if let Some(state) = self.set_state(var)? {
                taken.push(SetOperand::Set(state));
                continue;
            }
            let of_sets = matches!(whole, Whole::Operate(_) | Whole::Compare(_) | Whole::Change { operator: true, .. });
            let operand = match self.look(var)? {
                _ if at == 0 && !matches!(whole, Whole::Make { .. }) => return Ok(None),
                _ if of_sets => return Ok(None),
                VarKind::Dict(DictVar { entries, class: None, removed: 0, .. }) => {
                    SetOperand::Keys(entries.iter().map(|entry| entry.0).collect())
                }
                // Item by item: each is put in before the next one is hashed.
                _ if matches!(whole, Whole::Change { method: "update", .. }) => return Ok(None),
                VarKind::Tuple(TupleVar { items, class: None }) => SetOperand::Items(items),
                VarKind::List(ListVar { items, class: None, .. }) => SetOperand::Items(items.as_slice().into()),
                // Nothing in it is asked by itself.
                VarKind::Constant(_) if self.hashes.is_empty() => return Ok(None),
                VarKind::View(_) | VarKind::Constant(_) => match self.can_iterate(var)? {
                    true => SetOperand::Items(self.collect(var)?.into()),
                    false => return Ok(None),
                },
                _ => return Ok(None),
            };
            taken.push(operand);
        }
        let one = matches!(whole, Whole::Change { method: "symmetric_difference_update" | "intersection_update", .. })
            || matches!(whole, Whole::Combine("symmetric_difference") | Whole::Tell(_));
        Ok((!one || taken.len() == 2).then_some(taken))
    }

    /// What real sets make of it, as far as these answers go; and who was asked for a hash.
    fn tried(
        &mut self,
        whole: Whole,
        taken: &[SetOperand],
        answers: Rc<[i64]>,
    ) -> Result<(Came<Option<bool>>, AskedHashes), Stop> {
        self.shadows.trying = true;
        let came = self.try_whole(whole, taken, answers);
        self.shadows.trying = false;
        self.shadows.tried.clear();
        came
    }

    fn try_whole(
        &mut self,
        whole: Whole,
        taken: &[SetOperand],
        answers: Rc<[i64]>,
    ) -> Result<(Came<Option<bool>>, AskedHashes), Stop> {
        let py = self.py;
        let step = whole.step(taken);
        let (mut set, mut operands, exact) = match &step {
            Some(step) => self.before_step(step)?,
            None => {
                let (operands, exact) = self.shadows_of(taken)?;
                (None, operands, exact)
            }
        };
        if let (Whole::Change { .. }, Some(changed)) = (whole, &set) {
            let copy = copy_of(changed).map_err(|e| self.internal(&e))?.ok_or_else(by_code)?;
            for operand in operands.iter_mut().filter(|operand| operand.is(changed)) {
                *operand = copy.clone();
            }
            set = Some(copy);
        }
        self.copied += operands.iter().chain(&set).map(|set| set.len().unwrap_or(0)).sum::<usize>();
        let tell = || match (&step, whole, operands.as_slice()) {
            (Some(step), ..) => step.run(py, set.as_ref(), &operands).map(|_| None),
            (None, Whole::Compare(op), [left, right]) => match op {
                CompareOp::Eq => left.eq(right),
                CompareOp::Ne => left.ne(right),
                CompareOp::Lt => left.lt(right),
                CompareOp::Le => left.le(right),
                CompareOp::Gt => left.gt(right),
                CompareOp::Ge => left.ge(right),
            }
            .map(Some),
            (None, Whole::Tell(method), [set, other]) => set.call_method1(method, (other,))?.is_truthy().map(Some),
            _ => Err(pyo3::exceptions::PyRuntimeError::new_err("sot: operands")),
        };
        let (came, hashes) = while_asking(Asking::Answered(answers), tell).map_err(|e| self.internal(&e))?;
        if !exact && matches!(came, Came::Question(_)) {
            return Err(by_code());
        }
        Ok((came, hashes))
    }

    fn operation(&mut self, operation: VarId, log: VarId) -> Result<Operation, Stop> {
        let unknown = || fallback("an operation with sets");
        let VarKind::Tuple(parts) = self.look(operation)? else { return Err(unknown()) };
        let [name, operands @ ..] = &*parts.items else { return Err(unknown()) };
        self.look(*name)?;
        let name = self.constant_str(*name).ok_or_else(unknown)?;
        let whole = Whole::of(&name).ok_or_else(unknown)?;
        if let (Whole::Change { .. }, Some(set)) = (whole, operands.first())
            && let VarKind::Set(SetVar { state, .. }) = self.look(*set)?
            && let SetStep::Changing { before } = *self.histories.step(state)
        {
            self.set_state_of(*set, before);
        }
        let taken = self.taken_by_whole(whole, operands)?.ok_or_else(by_code)?;
        for operand in &taken {
            self.is_operand_by_code(operand)?;
        }
        let VarKind::Tuple(log) = self.look(log)? else { return Err(unknown()) };
        let mut answers = Vec::with_capacity(log.items.len());
        for answer in log.items.iter() {
            self.look(*answer)?;
            let answer = self.constant_value(*answer).ok_or_else(unknown)?;
            answers.push(answer.extract::<i64>().map_err(|e| self.internal(&e))?);
        }
        Ok(Operation { whole, operands: operands.to_vec(), taken, answers: answers.into() })
    }

    /// What is asked after these answers; nothing: it can be done.
    fn asked(&mut self, operation: VarId, log: VarId) -> Result<VarId, Stop> {
        let Operation { whole, operands, taken, answers } = self.operation(operation, log)?;
        if *self.shadows.begun.entry(operation).or_insert_with(|| taken.clone()) != taken {
            return Err(fallback("a set that changes while its members are compared"));
        }
        let answered = answers.len();
        let question = match self.tried(whole, &taken, answers)?.0 {
            // Each is answered, and all that came before is done again.
            Came::Question(_) if answered >= QUESTIONS => {
                return Err(Stop::brk(Reason::UserCode, "an operation on sets that asks their members many times"));
            }
            Came::To(_) => Vec::new(),
            Came::Question(Question::Hash(of)) => vec![of],
            Came::Question(Question::Equal(a, b)) => vec![a, b],
        };
        if let (Whole::Change { .. }, Some(SetOperand::Set(before)), [set, ..]) = (whole, taken.first(), &operands[..])
            && !question.is_empty()
        {
            let state = self.histories.add(SetStep::Changing { before: *before }, false);
            if let Some(held) = self.histories.held.get(before).cloned() {
                self.histories.held.insert(state, held);
            }
            self.set_state_of(*set, state);
        }
        Ok(self.virtual_var(TupleVar::new(question)))
    }

    fn set_state_of(&mut self, set: VarId, state: SetState) {
        if let VarKind::Set(set) = &mut self.var_mut(set).kind {
            set.state = state;
        }
    }

    /// It is done, with these answers.
    fn answered(&mut self, operation: VarId, log: VarId) -> Result<VarId, Stop> {
        let Operation { whole, operands, taken, answers } = self.operation(operation, log)?;
        let (Came::To(told), hashes) = self.tried(whole, &taken, answers.clone())? else { return Err(by_code()) };
        for (var, hash) in hashes {
            if !self.store_hash(var, hash) {
                return Err(fallback("a member whose hash has changed"));
            }
        }
        // One object may have several names.
        for item in taken.iter().flat_map(|operand| operand.items().to_vec()) {
            let same = self.known_object(item).and_then(|object| self.shadows.identities.get(&object).copied());
            if let Some(hash) = same.and_then(|same| self.hashes.get(&same).copied())
                && !self.store_hash(item, hash)
            {
                return Err(fallback("a member whose hash has changed"));
            }
        }
        self.done_with(whole, &operands, taken, Answers::Given(answers), told)
    }

    fn done_with(
        &mut self,
        whole: Whole,
        operands: &[VarId],
        taken: Vec<SetOperand>,
        answers: Answers,
        told: Option<bool>,
    ) -> Result<VarId, Stop> {
        if let Some(told) = told {
            return self.fold_bool(told);
        }
        let first = |ex: &Self| match taken.first() {
            Some(SetOperand::Set(state)) => ex.histories.is_frozen(*state),
            _ => false,
        };
        match whole {
            Whole::Change { method, operator } => {
                let me = *operands.first().ok_or_else(by_code)?;
                self.change_set(me, method, taken[1..].to_vec(), answers)?;
                if operator { Ok(me) } else { self.fold_none() }
            }
            Whole::Make { frozen: true } if first(self) => operands.first().copied().ok_or_else(by_code),
            _ => {
                let frozen = match whole {
                    Whole::Make { frozen } => frozen,
                    _ => first(self),
                };
                let step = whole.step(&taken).ok_or_else(by_code)?;
                self.virtual_set(step, frozen, answers)
            }
        }
    }

    /// A frozen set to which the same was added one by one.
    fn frozen_as(&mut self, state: SetState) -> Result<VarId, Stop> {
        let members = self.display(state).ok_or_else(by_code)?;
        let step = SetStep::New { of: Some(SetOperand::Items(members)) };
        self.virtual_set(step, true, Answers::Unequal)
    }
}

/// An operation that a definition asks for.
struct Operation {
    whole: Whole,
    operands: Vec<VarId>,
    taken: Vec<SetOperand>,
    answers: Rc<[i64]>,
}

/// A set with the same table.
fn copy_of<'py>(set: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(table) = facts::set_table(set) else { return Ok(None) };
    let members: Vec<_> = table.entries.into_iter().map(|entry| (entry.place, entry.key, entry.hash)).collect();
    let copy = facts::set_with_table(set.py(), &members, &table.lost, table.mask, table.finger)?;
    Ok(copy.map(Bound::into_any))
}
