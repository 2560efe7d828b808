//! What sets hold, and in which order: by doing the same with real sets.
//!
//! A *shadow* is a real set that went through the same history as a simulated one. Its members stand in for values of the
//! simulation ([`super::members::Member`]): each has the hash and the equality of its value, so that the tables are the same, slot by slot.
//! Shadows are made when somebody asks, of the steps since the last one; a rollback leaves them behind.
//!
//! The hash of an object that is made in the call, or given to it, is an address that the next call does not have. A set that
//! ever held one has no order that could be known, unless it holds no more than one member.

use super::Executor;
use super::members::{Asking, Came, Member, var_of, while_asking};
use crate::captured::{Answers, SetLayout, SetOperand, SetStep};
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::BinaryOp;
use sot_tracker::{Access, Check, ObjectId, TrackerId};
use std::rc::Rc;

/// A real set that went through a history.
struct Shadow {
    set: Py<PyAny>,
    /// Its table is that of the set that it stands for.
    exact: bool,
}

/// What a set holds.
pub(super) struct Content {
    /// By their places.
    pub(super) members: Vec<(usize, VarId)>,
    pub(super) exact: bool,
}

impl Content {
    pub(super) fn vars(&self) -> impl Iterator<Item = VarId> + use<'_> {
        self.members.iter().map(|(_, var)| *var)
    }
}

/// Shadows of the sets of a capture.
#[derive(Default)]
pub(super) struct Shadows {
    pub(super) members: HashMap<VarId, Py<Member>>,
    pub(super) ids: super::ids::Ids,
    /// Something is tried with real sets: these stand in for what has no hash yet.
    pub(super) trying: bool,
    pub(super) tried: HashMap<VarId, Py<Member>>,
    /// Members that are compared by identity, by the objects that they are.
    pub(super) identities: HashMap<ObjectId, VarId>,
    sets: HashMap<SetState, Shadow>,
    contents: HashMap<SetState, Rc<Content>>,
    /// What sets held that existed before the frame, as it lay.
    found: HashMap<SetState, Rc<Found>>,
    constants: HashMap<VarId, SetState>,
    /// Sets as they were when these members of one hash were asked for.
    pub(super) searched: HashMap<VarId, SetState>,
    /// What sets and others were when these operations began.
    pub(super) begun: HashMap<VarId, Vec<SetOperand>>,
    /// Sets from before the frame that run no code of the program when this value, or any, is looked up.
    quiet: HashSet<(SetState, Option<VarId>)>,
}

/// A set, operands, and whether all of their hashes are known.
pub(super) type BeforeStep<'py> = (Option<Bound<'py, PyAny>>, Vec<Bound<'py, PyAny>>, bool);

impl Shadows {
    /// A value has no hash any more: what stood in for it had that.
    pub(super) fn forget(&mut self, var: VarId) {
        self.members.remove(&var);
        self.identities.retain(|_, of| *of != var);
    }
}

impl SetStep {
    /// What real sets make of a step.
    pub(super) fn run<'py>(
        &self,
        py: Python<'py>,
        set: Option<&Bound<'py, PyAny>>,
        operands: &[Bound<'py, PyAny>],
    ) -> PyResult<Bound<'py, PyAny>> {
        match (self, set, operands) {
            (SetStep::New { .. }, ..) => py.get_type::<PySet>().call1(PyTuple::new(py, operands)?),
            (SetStep::Made { method, .. } | SetStep::Changed { method, .. }, Some(set), _) => {
                set.call_method1(*method, PyTuple::new(py, operands)?)
            }
            (SetStep::Operated { op, .. }, _, [left, right]) => match op {
                BinaryOp::Or => left.bitor(right),
                BinaryOp::And => left.bitand(right),
                BinaryOp::Xor => left.bitxor(right),
                _ => left.sub(right),
            },
            _ => Err(pyo3::exceptions::PyRuntimeError::new_err("sot: not a step")),
        }
    }
}

/// A set that existed before the frame.
struct Found {
    members: Vec<(usize, VarId)>,
    lost: Vec<usize>,
    mask: usize,
    finger: usize,
}

/// Contents that are kept at a time.
const KEPT: usize = 16;

/// Members of a given set that are found by their places, each of which a guard counts from the first.
const BY_PATH: usize = 128;

impl<'py> Executor<'py> {
    // ----- states

    /// The state of a set, or of a frozen set that is a constant; `None`: it is something else.
    pub(super) fn set_state(&mut self, var: VarId) -> Result<Option<SetState>, Stop> {
        match self.look(var)? {
            VarKind::Set(set) => Ok(Some(set.state)),
            VarKind::Constant(ConstantVar { object }) => {
                if !self.objects.get_ref(self.py, object).is_exact_instance_of::<PyFrozenSet>() {
                    return Ok(None);
                }
                if let Some(known) = self.shadows.constants.get(&var) {
                    return Ok(Some(*known));
                }
                // Guarded by its identity.
                self.constant_value(var);
                let state = self.histories.add(SetStep::Found { object, var }, true);
                self.shadows.constants.insert(var, state);
                Ok(Some(state))
            }
            _ => Ok(None),
        }
    }

    /// The path to the members of a set that existed before the frame.
    fn path_to_members(&mut self, var: VarId, object: sot_tracker::ObjectId) -> TrackerId {
        let tracker = self.var(var).tracker;
        if self.is_under_constant(tracker) { self.constant_tracker(object) } else { tracker }
    }

    /// The set that a history starts with, if that existed before the frame and its members have not been read.
    pub(super) fn unread(&self, state: SetState) -> Option<SetState> {
        let first = self.histories.first(state);
        let unread = matches!(self.histories.step(first), SetStep::Found { .. });
        (unread && !self.shadows.found.contains_key(&first)).then_some(first)
    }

    /// Read the members of a set that existed before the frame: from here on they are guarded.
    fn read_found(&mut self, state: SetState) -> Result<Rc<Found>, Stop> {
        if let Some(known) = self.shadows.found.get(&state) {
            return Ok(known.clone());
        }
        let SetStep::Found { object, var } = *self.histories.step(state) else {
            return Err(Stop::fallback(Reason::InternalError, "not a set from before"));
        };
        let set = self.objects.get(self.py, object);
        let table = facts::set_table(&set).ok_or(Stop::brk(Reason::OpaqueValue, "a set"))?;
        let asked = table.entries.iter().any(|entry| !type_facts::is_quiet_key(&entry.key));
        if table.entries.iter().any(|entry| entry.key.is_instance_of::<PyTuple>()) {
            self.may_have_found_tuples()?;
        }
        let constant = matches!(self.var(var).kind, VarKind::Constant(_));
        let mut paths = vec![None; table.entries.len()];
        let mut by_path = 0;
        if !constant && self.has_path(self.var(var).tracker) {
            let base = self.path_to_members(var, object);
            // Members that nobody else has will be others at the next call, and the guard would keep them alive.
            let given = self.trackers.get(self.trackers.root(base)).is_slot() || self.is_passing(base);
            let mut members = Vec::with_capacity(table.entries.len());
            for (index, entry) in table.entries.iter().enumerate() {
                let by_code = !type_facts::is_quiet_key(&entry.key);
                if given && !by_code && facts::may_die_soon(&entry.key) {
                    // They hash their addresses, and will lie elsewhere.
                    return Err(Stop::brk(Reason::ValueKind, "a set of objects of this call alone"));
                }
                if given && by_code {
                    if by_path == BY_PATH {
                        return Err(Stop::brk(
                            Reason::ValueKind,
                            "a set of many members that code of the program hashes",
                        ));
                    }
                    by_path += 1;
                    paths[index] = Some(self.trackers.step(base, Access::DictKey(index as u32)));
                    members.push((entry.place, None));
                } else {
                    members.push((entry.place, Some(self.objects.add(&entry.key))));
                }
            }
            // What was once in an empty set (the ids of who is being written) matters to the order of others alone, and is seldom the
            // same at the next call: that order is left open.
            match table.entries.is_empty() && !table.lost.is_empty() {
                true => self.guard(base, Check::Len(0)),
                false => {
                    let (lost, mask, finger) = (table.lost.clone(), table.mask, table.finger);
                    self.guard(base, Check::Table { members, lost, mask, finger });
                }
            }
            if asked {
                let hashes = table.entries.iter().map(|entry| entry.hash as i64).collect();
                self.guard(base, Check::Hashes { hashes, alike: false });
            }
        }
        let mut members = Vec::with_capacity(table.entries.len());
        for (entry, path) in table.entries.iter().zip(paths) {
            let member = match path {
                Some(path) => self.wrap(&entry.key, path),
                None => self.pin(&entry.key),
            };
            if !type_facts::is_quiet_key(&entry.key) && !self.find_hash(member, entry.hash) {
                return Err(Stop::brk(Reason::UserCode, "a member with two hashes"));
            }
            members.push((entry.place, member));
        }
        let found = Rc::new(Found { members, lost: table.lost, mask: table.mask, finger: table.finger });
        self.shadows.found.insert(state, found.clone());
        Ok(found)
    }

    /// The shadow of a set that existed before the frame.
    fn shadow_of_found(&mut self, state: SetState) -> Result<Shadow, Stop> {
        let found = self.read_found(state)?;
        let mut members = Vec::with_capacity(found.members.len());
        let mut known = true;
        for (place, var) in &found.members {
            let member = self.stored_member(*var)?;
            known &= member.get().known();
            let hash = member.get().hash();
            members.push((*place, member.into_any(), hash));
        }
        if found.members.is_empty() && !found.lost.is_empty() {
            return Ok(Shadow {
                exact: false,
                set: PySet::empty(self.py).map_err(|e| self.internal(&e))?.into_any().unbind(),
            });
        }
        if !known {
            // An object that was given, and is a member by another name: its address was no matter, and its place is another one.
            let members: Vec<_> = members.into_iter().map(|(_, member, _)| member).collect();
            let py = self.py;
            let set = self.ask_nobody(Asking::Unequal, || PySet::new(py, &members))?;
            return Ok(Shadow { exact: false, set: set.into_any().unbind() });
        }
        let set = facts::set_with_table(self.py, &members, &found.lost, found.mask, found.finger);
        let set = set.map_err(|e| self.internal(&e))?.ok_or(Stop::brk(Reason::OpaqueValue, "the table of a set"))?;
        Ok(Shadow { exact: true, set: set.into_any().unbind() })
    }

    /// The shadow of a state.
    pub(super) fn shadow(&mut self, state: SetState) -> Result<(Bound<'py, PyAny>, bool), Stop> {
        self.nested(|ex| {
            let mut changes = Vec::new();
            let mut first = state;
            while !ex.shadows.sets.contains_key(&first) {
                let SetStep::Changed { before, .. } = *ex.histories.step(first) else {
                    let made = ex.new_shadow(first)?;
                    ex.shadows.sets.insert(first, made);
                    break;
                };
                changes.push(first);
                first = before;
            }
            let mut at = first;
            for change in changes.into_iter().rev() {
                let step = ex.histories.step(change).clone();
                let SetStep::Changed { method, operands, .. } = &step else { continue };
                let (method, asking) = (*method, ex.asking(change));
                let (operands, exact) = ex.shadows_of(operands)?;
                // The shadow moves on with the set.
                let (set, of_set) = match ex.shadows.sets.remove(&at) {
                    Some(Shadow { set, exact }) => (set.into_bound(ex.py), exact),
                    None => ex.shadow(at)?,
                };
                ex.shadows.sets.remove(&at);
                let cut = matches!(asking, Asking::Cut(_));
                let run = || match step.run(set.py(), Some(&set), &operands) {
                    Err(_) if cut => Ok(()),
                    changed => changed.map(drop),
                };
                ex.ask_nobody(asking, run)?;
                ex.copied += usize::from(method != "add" && method != "discard") * set.len().unwrap_or(0);
                ex.shadows.sets.insert(change, Shadow { set: set.unbind(), exact: exact && of_set });
                at = change;
            }
            let shadow = &ex.shadows.sets[&state];
            Ok((shadow.set.bind(ex.py).clone(), shadow.exact))
        })
    }

    fn new_shadow(&mut self, state: SetState) -> Result<Shadow, Stop> {
        let step = self.histories.step(state).clone();
        if let SetStep::Found { .. } = step {
            return self.shadow_of_found(state);
        }
        let (set, operands, exact) = self.before_step(&step)?;
        let (py, asking) = (self.py, self.asking(state));
        let set = self.ask_nobody(asking, || step.run(py, set.as_ref(), &operands))?;
        self.copied += set.len().unwrap_or(0);
        Ok(Shadow { set: set.unbind(), exact })
    }

    /// What a step starts from: a set, and operands; and whether all of their hashes are known.
    pub(super) fn before_step(&mut self, step: &SetStep) -> Result<BeforeStep<'py>, Stop> {
        Ok(match step {
            SetStep::Found { .. } => return Err(Stop::fallback(Reason::InternalError, "a set from before")),
            SetStep::Changing { .. } => {
                return Err(Stop::fallback(Reason::UserCode, "a set that is seen while it is being changed"));
            }
            SetStep::New { of } => {
                let (of, exact) = self.shadows_of(of.as_slice())?;
                (None, of, exact)
            }
            SetStep::Made { from, operands, .. } | SetStep::Changed { before: from, operands, .. } => {
                let (set, of_set) = self.shadow(*from)?;
                let (operands, exact) = self.shadows_of(operands)?;
                (Some(set), operands, exact && of_set)
            }
            SetStep::Operated { left, right, .. } => {
                let (operands, exact) = self.shadows_of(&[left.clone(), right.clone()])?;
                (None, operands, exact)
            }
        })
    }

    /// What code of the program said to a step.
    fn asking(&self, state: SetState) -> Asking {
        match self.histories.answers(state) {
            Answers::Nothing => Asking::Refused,
            Answers::Unequal => Asking::Unequal,
            Answers::Given(answers) => Asking::Answered(answers.clone()),
            Answers::Cut(answers) => Asking::Cut(answers.clone()),
        }
    }

    /// Do something with shadows that needs no code of the program beside what is known.
    fn ask_nobody<T>(&self, asking: Asking, run: impl FnOnce() -> PyResult<T>) -> Result<T, Stop> {
        match while_asking(asking, run).map_err(|e| self.internal(&e))?.0 {
            Came::To(value) => Ok(value),
            Came::Question(_) => Err(Stop::brk(Reason::UserCode, "__hash__ or __eq__ of a member of a set")),
        }
    }

    /// What operands stand for, and whether all of their hashes are known.
    pub(super) fn shadows_of(&mut self, operands: &[SetOperand]) -> Result<(Vec<Bound<'py, PyAny>>, bool), Stop> {
        let (mut objects, mut exact) = (Vec::with_capacity(operands.len()), true);
        for operand in operands {
            let mut members = |ex: &mut Self, items: &[VarId]| -> Result<Vec<Bound<'py, Member>>, Stop> {
                let mut members = Vec::with_capacity(items.len());
                for item in items {
                    let member = ex.stored_member(*item)?;
                    exact &= member.get().known();
                    members.push(member);
                }
                Ok(members)
            };
            let object = match operand {
                SetOperand::Item(item) => members(self, &[*item])?.remove(0).into_any(),
                SetOperand::Items(items) => {
                    let members = members(self, items)?;
                    PyTuple::new(self.py, members).map_err(|e| self.internal(&e))?.into_any()
                }
                SetOperand::Keys(items) | SetOperand::View(items) => {
                    let dict = PyDict::new(self.py);
                    let (keys, none) = (members(self, items)?, self.py.None());
                    let fill = || keys.iter().try_for_each(|key| dict.set_item(key, &none));
                    self.ask_nobody(Asking::Unequal, fill)?;
                    match operand {
                        SetOperand::View(_) => dict.call_method0("keys").map_err(|e| self.internal(&e))?,
                        _ => dict.into_any(),
                    }
                }
                SetOperand::Set(state) => {
                    let (set, of_set) = self.shadow(*state)?;
                    exact &= of_set;
                    set
                }
            };
            objects.push(object);
        }
        Ok((objects, exact))
    }

    // ----- questions

    /// What a set holds.
    pub(super) fn content(&mut self, state: SetState) -> Result<Rc<Content>, Stop> {
        if let Some(known) = self.shadows.contents.get(&state) {
            return Ok(known.clone());
        }
        let content = match self.histories.step(state) {
            SetStep::Found { .. } => Content { members: self.read_found(state)?.members.clone(), exact: true },
            _ => {
                let (set, exact) = self.shadow(state)?;
                let table = facts::set_table(&set).ok_or_else(|| Stop::fallback(Reason::InternalError, "a shadow"))?;
                let member = |entry: &facts::SetEntry<'_>| Some((entry.place, var_of(&entry.key)?));
                Content { members: table.entries.iter().filter_map(member).collect(), exact }
            }
        };
        if self.shadows.contents.len() >= KEPT {
            self.shadows.contents.clear();
        }
        self.copied += content.members.len();
        let content = Rc::new(content);
        self.shadows.contents.insert(state, content.clone());
        Ok(content)
    }

    /// As [`Executor::content`], for who asks for the order.
    pub(super) fn ordered(&mut self, state: SetState) -> Result<Rc<Content>, Stop> {
        let content = self.content(state)?;
        match content.exact || content.members.len() <= 1 {
            true => Ok(content),
            false => {
                Err(Stop::brk(Reason::OpaqueValue, "the order of a set of objects that this call made or was given"))
            }
        }
    }

    pub(super) fn length_of_set(&mut self, state: SetState) -> Result<usize, Stop> {
        if let SetStep::Found { object, var } = *self.histories.step(state)
            && self.unread(state).is_some()
        {
            let set = self.objects.get(self.py, object);
            let length = facts::set_table(&set).map(|table| table.entries.len());
            let length = length.ok_or(Stop::brk(Reason::OpaqueValue, "a set"))?;
            if matches!(self.var(var).kind, VarKind::Set(_)) && self.has_path(self.var(var).tracker) {
                let base = self.path_to_members(var, object);
                self.guard(base, Check::Len(length));
            }
            return Ok(length);
        }
        let (set, _) = self.shadow(state)?;
        set.len().map_err(|e| self.internal(&e))
    }

    /// Whether a value is a member. Of a set that existed before the frame nothing else is read.
    pub(super) fn set_has(&mut self, state: SetState, item: VarId) -> Result<bool, Stop> {
        if let Some(first) = self.unread(state)
            && matches!(self.look(item)?, VarKind::Constant(_))
        {
            let member = self.member(item)?;
            if let Some(has) = self.unread_set_has(state, first, &member)? {
                return Ok(has);
            }
        }
        // The set first: an object that is found there is known by its address.
        let (set, _) = self.shadow(state)?;
        let member = self.member(item)?;
        self.ask_nobody(Asking::Refused, || set.contains(member))
    }

    fn unread_set_has(
        &mut self,
        state: SetState,
        first: SetState,
        member: &Bound<'py, Member>,
    ) -> Result<Option<bool>, Stop> {
        let (_, changes) = self.histories.changes(state);
        for change in changes.into_iter().rev() {
            let SetStep::Changed { method, operands, .. } = self.histories.step(change).clone() else {
                return Ok(None);
            };
            let ("add" | "discard", [SetOperand::Item(item)]) = (method, operands.as_slice()) else { return Ok(None) };
            let other = self.stored_member(*item)?;
            if self.ask_nobody(Asking::Refused, || other.eq(member))? {
                return Ok(Some(method == "add"));
            }
        }
        let SetStep::Found { object, var } = *self.histories.step(first) else { return Ok(None) };
        let VarKind::Set(_) = self.var(var).kind else { return Ok(None) };
        let set = self.objects.get(self.py, object);
        let Some(value) = member.get().equal_to(self.py) else { return Ok(None) };
        let Some(is) = type_facts::is_quiet_member(&set, &value) else { return Ok(None) };
        if self.has_path(self.var(var).tracker) {
            let key = self.objects.add(&value);
            let base = self.path_to_members(var, object);
            self.guard(base, Check::Member { key, is });
        }
        Ok(Some(is))
    }

    /// What is done to a set, or with it, that existed before the frame and is not read must run no code of the program. `key`: the
    /// only value that is looked up.
    pub(super) fn keep_quiet(&mut self, state: SetState, key: Option<VarId>) -> Result<(), Stop> {
        let Some(first) = self.unread(state).filter(|first| !self.shadows.quiet.contains(&(*first, key))) else {
            return Ok(());
        };
        let SetStep::Found { object, var } = *self.histories.step(first) else { return Ok(()) };
        let set = self.objects.get(self.py, object);
        // Who has no hash that is known may lie where any member does.
        let value = match key {
            Some(key) => {
                let member = self.member(key)?;
                member.get().equal_to(self.py).filter(|_| member.get().known())
            }
            None => None,
        };
        let is_quiet = match &value {
            Some(value) => type_facts::is_quiet_member(&set, value).is_some(),
            None => type_facts::has_quiet_members(&set),
        };
        if !is_quiet {
            // From here on it is known who is asked.
            return self.read_found(first).map(drop);
        }
        if self.has_path(self.var(var).tracker) {
            let base = self.path_to_members(var, object);
            let key = value.map(|value| self.objects.add(&value));
            self.guard(base, Check::Quiet { key });
        }
        self.shadows.quiet.insert((first, key));
        Ok(())
    }

    /// A set has come to a state: what it holds, where it was ever given something whose death could be seen. Its history may
    /// hold more.
    pub(super) fn note_held_by_set(&mut self, state: SetState) {
        let (states, items) = self.histories.step(state).sources();
        let constant = |ex: &Self, var: VarId| matches!(ex.var(var).kind, VarKind::Constant(_));
        let holds = states.iter().any(|before| self.histories.held.contains_key(before))
            || items.iter().any(|item| !constant(self, *item));
        let is_found = matches!(self.histories.step(self.histories.first(state)), SetStep::Found { .. });
        if !holds || is_found {
            return;
        }
        let held: Rc<[VarId]> = match self.histories.step(state) {
            SetStep::Changed { before, method: "add", .. } => {
                let before = self.histories.held.get(before).into_iter().flat_map(|held| held.iter().copied());
                before.chain(items).collect()
            }
            _ => match self.content(state) {
                Ok(content) => content.vars().collect(),
                Err(_) => return,
            },
        };
        self.histories.held.insert(state, held);
    }

    /// What a function or method of real sets gives for the shadows of these.
    pub(super) fn ask_shadows(
        &mut self,
        operands: &[SetOperand],
        ask: impl FnOnce(&[Bound<'py, PyAny>]) -> PyResult<bool>,
    ) -> Result<bool, Stop> {
        let (operands, _) = self.shadows_of(operands)?;
        self.ask_nobody(Asking::Refused, || ask(&operands))
    }

    // ----- the end

    /// The capture is over: which sets a display of their members comes to.
    pub(super) fn settle_sets(&mut self) {
        let made: Vec<SetState> = (0..self.vars.len() as u32)
            .filter_map(|index| match &self.var(VarId(index)).kind {
                VarKind::Set(SetVar { state, object: None, .. }) => Some(*state),
                _ => None,
            })
            .collect();
        let mut work = made;
        let mut seen = HashSet::new();
        while let Some(state) = work.pop() {
            if !seen.insert(state) {
                continue;
            }
            match self.display(state) {
                Some(members) => {
                    self.histories.displays.insert(state, members);
                }
                None => {
                    if let Some(layout) = self.layout(state) {
                        self.histories.layouts.insert(state, Rc::new(layout));
                    }
                    work.extend(self.histories.beginnings(state));
                }
            }
        }
    }

    /// The members in an order in which they must be put into an empty set, for the same table.
    pub(super) fn display(&mut self, state: SetState) -> Option<Rc<[VarId]>> {
        // What came one by one and stayed comes one by one again, whatever the hashes.
        let (first, changes) = self.histories.changes(state);
        let mut added: Option<Vec<VarId>> = match self.histories.step(first) {
            SetStep::New { of: None, .. } => Some(Vec::new()),
            SetStep::New { of: Some(SetOperand::Items(items)), .. } => Some(items.to_vec()),
            _ => self.histories.displays.get(&first).map(|members| members.to_vec()),
        };
        for change in changes {
            let SetStep::Changed { method, operands, .. } = self.histories.step(change) else { return None };
            match (*method, operands.as_slice(), &mut added) {
                ("add", [SetOperand::Item(item)], Some(added)) => added.push(*item),
                ("update", [SetOperand::Items(items)], Some(added)) => added.extend(items.iter().copied()),
                ("clear", _, added) => *added = Some(Vec::new()),
                _ => added = None,
            }
        }
        if let Some(added) = &added {
            let members = self.shadow(state).ok().and_then(|(set, _)| self.first_of_each(&set, added));
            return members.map(Rc::from);
        }
        for other in self.histories.involved(state) {
            if let SetStep::Found { var, .. } = *self.histories.step(other)
                && self.unread(other).is_some()
            {
                // What was not read is asked for its copies when they are made, unless it has changed by then.
                if !self.is_written(var) {
                    return None;
                }
                self.read_found(other).ok()?;
            }
        }
        let (set, exact) = self.shadow(state).ok()?;
        if !exact {
            return None;
        }
        let table = facts::set_table(&set)?;
        let members: Vec<Bound<'py, PyAny>> = table.entries.iter().map(|entry| entry.key.clone()).collect();
        let again = PyTuple::new(self.py, &members).ok()?;
        let again = self.ask_nobody(Asking::Unequal, || again.py().get_type::<PySet>().call1((&again,))).ok()?;
        let again = facts::set_table(&again)?;
        let same = (again.mask, again.finger, &again.lost) == (table.mask, table.finger, &table.lost)
            && again.entries.iter().zip(&table.entries).all(|(a, b)| a.place == b.place && a.key.is(&b.key));
        same.then(|| members.iter().filter_map(var_of).collect())
    }

    /// The table of a set whose history cannot be gone through again, since it starts with one that has changed, or that
    /// asked code of the program.
    fn layout(&mut self, state: SetState) -> Option<SetLayout> {
        let again = self.histories.involved(state).into_iter().all(|other| match self.histories.step(other) {
            SetStep::Found { var, .. } => !self.is_written(*var),
            _ => matches!(self.histories.answers(other), Answers::Nothing | Answers::Unequal),
        });
        let (set, exact) = if again { return None } else { self.shadow(state).ok()? };
        let table = facts::set_table(&set).filter(|_| exact)?;
        let members = table.entries.iter().map(|entry| Some((entry.place, var_of(&entry.key)?, entry.hash)));
        let members = members.collect::<Option<Vec<_>>>()?;
        Some(SetLayout { members, lost: table.lost, mask: table.mask, finger: table.finger })
    }

    /// Those that went into a set, in the order in which they came.
    fn first_of_each(&self, set: &Bound<'py, PyAny>, added: &[VarId]) -> Option<Vec<VarId>> {
        let inside: HashSet<VarId> = facts::set_table(set)?.entries.iter().filter_map(|e| var_of(&e.key)).collect();
        // An object has one member under all of its names.
        let name = |var: VarId| self.shadows.members.get(&var).map_or(var, |member| member.get().var());
        let mut seen = HashSet::new();
        Some(added.iter().copied().filter(|var| inside.contains(&name(*var)) && seen.insert(name(*var))).collect())
    }
}
