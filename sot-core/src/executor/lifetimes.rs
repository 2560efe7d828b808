//! When simulated frames let go of values whose death the program could see.
//!
//! Rewritten code holds what it was given in its own locals. That does no harm to most values, but one that has a
//! finalizer or a weak reference must die where eager drops it: before the next effect, and before the instruction that
//! breaks. Such values are *watched*; before each effect the simulation notes which of them no frame holds any more.

use super::Executor;
use crate::captured::SEARCHED;
use crate::cpython::facts;
use crate::objects::is_constant_type;
use crate::variables::{VarId, VarKind, Variable};
use hashbrown::HashSet;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};
use smallvec::SmallVec;
use sot_sideeffect::{Mutation, Target, VarRef};
use sot_tracker::{Check, TrackerId};

impl<'py> Executor<'py> {
    /// Watch a variable that was wrapped just now, if its death could be seen.
    pub(super) fn watch(&mut self, var: VarId, object: &Bound<'_, PyAny>, tracker: TrackerId) {
        let may_hold = !matches!(
            self.var(var).kind,
            VarKind::Constant(_)
                | VarKind::ByteArray(_)
                | VarKind::Class(_)
                | VarKind::Module(_)
                | VarKind::Layer(_)
                | VarKind::Function(_)
                | VarKind::Method(_)
                | VarKind::Bound(_)
                | VarKind::Cell(_)
        );
        let given = self.trackers.get(self.trackers.root(tracker)).is_slot();
        // Those below a slot belong to what is found there.
        let in_slot = self.trackers.get(tracker).is_slot();
        let may_hold = may_hold
            || in_slot
                && matches!(
                    self.var(var).kind,
                    VarKind::Function(_) | VarKind::Method(_) | VarKind::Bound(_) | VarKind::Cell(_)
                );
        if may_hold && (given || self.is_passing(tracker)) && facts::death_is_seen(object) {
            self.watched.vars.push(var);
            self.watched.open.push(var);
        }
        self.watch_slot(var, tracker);
    }

    /// A journal entry follows: what was given, and held nothing whose death could be seen, may be given such a thing now, or what lies
    /// below it. It is watched from here on, so that it lets go of that where the frame lets go of it.
    pub(super) fn note_filled(&mut self, mutation: &Mutation) {
        let Target::Object(VarRef(target)) = mutation.target() else { return };
        // The part of an instance that a builtin type keeps is found where the instance is.
        let target = self.whole(VarId(target));
        let root = self.trackers.root(self.var(target).tracker);
        let Some(slot) = self.trackers.get(root).as_slot() else { return };
        let in_slot = self.watched.other_slots.iter().filter(|(_, other)| *other == slot).map(|(var, _)| *var);
        let holders = in_slot.chain([target]).filter(|holder| !self.watched.vars.contains(holder));
        let holders: SmallVec<[VarId; 2]> = holders.collect();
        let fills = |value: &VarRef| value.0 != target.0 && self.may_live_on(VarId(value.0));
        if holders.is_empty() || !mutation.operands().iter().any(fills) {
            return;
        }
        for holder in holders {
            if self.watched.vars.contains(&holder) {
                continue;
            }
            self.watched.vars.push(holder);
            self.watched.open.push(holder);
            let (slots, others) = self.watched.other_slots.drain(..).partition(|(var, _)| *var == holder);
            self.watched.other_slots = others;
            self.watched.slots.extend::<Vec<_>>(slots);
        }
        self.watched.open.sort_unstable();
        self.watched.forget_settled();
    }

    /// A variable was found in an argument slot, perhaps once more.
    pub(super) fn watch_slot(&mut self, var: VarId, tracker: TrackerId) {
        let Some(slot) = self.trackers.get(tracker).as_slot() else { return };
        let watched = match self.watched.vars.contains(&var) {
            true => &mut self.watched.slots,
            false => &mut self.watched.other_slots,
        };
        watched.push((var, slot));
    }

    /// Whether the death of an object right now runs code of the program or clears a weak reference that it may look at.
    pub(super) fn death_runs_code(&self, object: &Bound<'py, PyAny>) -> bool {
        facts::death_runs_code(object, |object| self.kept_for_nobody(object))
    }

    /// How often the table of objects and the slots hold an object for nobody.
    fn kept_for_nobody(&self, object: &Bound<'py, PyAny>) -> usize {
        self.objects.find(object).map_or(0, |_| 1 + self.slots_for_nobody(object))
    }

    /// As `death_runs_code`, of a value: one without an object may run anything.
    fn end_runs_code(&self, var: VarId) -> bool {
        let object = self.known_object(var).map(|object| self.objects.get(self.py, object));
        object.is_none_or(|object| self.death_runs_code(&object))
    }

    /// The slots that hold an object whose frames let go of it: they hold it for nobody.
    pub(super) fn slots_for_nobody(&self, object: &Bound<'py, PyAny>) -> usize {
        let same = |var: &VarId| self.known_object(*var).is_some_and(|o| self.objects.get_ref(self.py, o).is(object));
        let slots: Vec<VarId> = self.watched.slots.iter().map(|(var, _)| *var).filter(same).collect();
        if slots.is_empty() {
            return 0;
        }
        let held = self.held_by_frames(&slots);
        slots.iter().filter(|var| !held.contains(*var)).count()
    }

    /// An effect follows, with these operands, or the capture is over: note what no frame holds any more.
    pub(super) fn note_released(&mut self, operands: &[VarId], effect_follows: bool) {
        let is_left = |var: &&VarId| {
            (self.is_unseen(**var) || self.may_come_to_hold(**var)) && !self.watched.let_go.contains(*var)
        };
        let unseen: Vec<VarId> = self.received.iter().filter(is_left).copied().collect();
        let now = (self.watched.taken_by_steps.len(), self.watched.vars.len());
        // Steps are noted while something is open.
        match self.watched.open.is_empty() {
            true if unseen.is_empty() || !effect_follows => return,
            false if self.watched.settled == now => return,
            _ => self.watched.settled = now,
        }
        let asked: Vec<VarId> = self.watched.open.iter().chain(&unseen).copied().collect();
        let held = self.held_by_frames_and(operands, &asked);
        let released: Vec<VarId> = self.watched.open.iter().filter(|var| !held.contains(*var)).copied().collect();
        if effect_follows || !released.is_empty() {
            // What nobody looked at has ended somewhere among them, or before the effect.
            for var in unseen.into_iter().filter(|var| !held.contains(var)) {
                self.guard_class_of_ended(var);
                self.guard_unseen_end(var);
                self.captured.watched.let_go.insert(var);
            }
        }
        if !released.is_empty() {
            self.note_ends(released);
        }
    }

    /// A local lets go of what it was given, where ends of other values could be seen. Of a value that nobody has looked at any other
    /// may be in its place at the next call, whose end is to be seen here: that it is of the same class is guarded.
    pub(super) fn note_let_go(&mut self, before: VarId) {
        if !self.watched().is_empty() {
            self.guard_class_of_ended(before);
        }
    }

    fn guard_class_of_ended(&mut self, var: VarId) {
        if self.is_unseen(var)
            && let Some(object) = self.known_object(var)
        {
            let tracker = self.var(var).tracker;
            self.guard_type(tracker, object);
        }
    }

    /// Whether an argument whose end is not seen may hold something at another call whose end is.
    fn may_come_to_hold(&self, var: VarId) -> bool {
        let Variable { tracker, kind, .. } = self.var(var);
        let is_alone = matches!(
            kind,
            VarKind::Constant(_)
                | VarKind::ByteArray(_)
                | VarKind::Class(_)
                | VarKind::Module(_)
                | VarKind::Layer(_)
                | VarKind::Tensor(_)
        );
        !is_alone && self.trackers.get(*tracker).is_slot() && !self.watched.vars.contains(&var)
    }

    /// Nobody saw the end of an argument before an effect. At another call it may hold what somebody sees the end of, and that is to be seen
    /// before the effect.
    fn guard_unseen_end(&mut self, var: VarId) {
        let object = self.known_object(var).map(|object| self.objects.get(self.py, object));
        let ends_unseen = |object| !facts::death_runs_finalizers(&object, |object| self.kept_for_nobody(object));
        if self.may_come_to_hold(var) && object.is_some_and(ends_unseen) {
            let tracker = self.var(var).tracker;
            self.guard(tracker, Check::EndsUnseen);
        }
    }

    /// Whether this is an argument that nobody has looked at, and that anything may be in the place of at another call.
    fn is_unseen(&self, var: VarId) -> bool {
        let Variable { tracker, looked, .. } = self.var(var);
        !looked && self.trackers.get(*tracker).is_slot() && !self.watched.vars.contains(&var)
    }

    /// A frame lets go of its locals in their order, which matters where two ends could be seen.
    pub(super) fn note_end_of_locals(&mut self) {
        if !self.watched().is_empty() {
            let locals: Vec<VarId> = self.frame().locals.iter().flatten().copied().collect();
            locals.into_iter().for_each(|local| self.note_let_go(local));
        }
    }

    /// Whether an argument whose death could be seen is held by no frame any more. What it was found in may hold a part of
    /// an argument.
    pub(super) fn has_died(&mut self) -> bool {
        if self.watched.dropped {
            return true;
        }
        let now = (self.watched.taken_by_steps.len(), self.watched.vars.len(), self.journal.len());
        if self.watched.all_alive == now {
            return false;
        }
        let died = self.finds_a_dead_argument();
        if !died {
            self.watched.all_alive = now;
        }
        died
    }

    fn finds_a_dead_argument(&self) -> bool {
        let at_hand = |var: &VarId| self.frames.iter().any(|f| f.stack.contains(var) || f.locals.contains(&Some(*var)));
        // Asked first: most values have other holders, and then nothing is searched.
        let last = |var: &VarId| {
            self.known_object(*var).is_none_or(|object| {
                // What is being handled is given more than once, and the tuple of a call with a star, each time as another variable.
                let same = |(other, _): &&(VarId, u32)| other == var || self.known_object(*other) == Some(object);
                let slots = self.watched.slots.iter().filter(same).count();
                let object = self.objects.get(self.py, object);
                facts::is_held_by_at_most(&object, slots.max(1) + self.taken_of(&object))
            })
        };
        let slots = self.watched.slots.iter().map(|(var, _)| *var);
        let given: Vec<VarId> = slots.filter(|var| !at_hand(var)).collect();
        if !given.iter().any(last) {
            return false;
        }
        let held = self.held_by_frames(&given);
        let dead: Vec<VarId> = given.into_iter().filter(|var| !held.contains(var)).collect();
        if !dead.iter().any(last) {
            return false;
        }
        let objects = dead.iter().map(|var| self.known_object(*var).map(|object| self.objects.get(self.py, object)));
        // One without an object may run anything. The others may hold each other, as an exception what its frames were given.
        let Some(objects) = objects.collect::<Option<Vec<_>>>() else { return true };
        facts::deaths_run_code(objects, |object| self.kept_for_nobody(object) + self.taken_of(object))
    }

    /// A journal entry follows: note whether it takes the last reference to a real value whose death could be seen.
    pub(super) fn note_overwritten(&mut self, mutation: &Mutation) {
        for old in self.overwritten(mutation) {
            self.note_taken(&old);
        }
    }

    /// A journal entry follows that takes a reference to a real value.
    pub(super) fn note_taken(&mut self, old: &Bound<'py, PyAny>) {
        if old.is_none() || !self.death_runs_code(old) && !self.ends_with_the_dead(old) {
            return;
        }
        if facts::is_held_by_at_most(old, 1 + self.slots_for_nobody(old) + self.taken_of(old)) {
            self.watched.dropped = true;
        }
        self.watched.taken.push(old.as_ptr() as usize);
    }

    /// Whether what dies with a real value has its other references from arguments that no frame holds any more, as an exception from
    /// the one that was raised while it was handled.
    fn ends_with_the_dead(&self, old: &Bound<'py, PyAny>) -> bool {
        let given: Vec<VarId> = self.watched.slots.iter().map(|(var, _)| *var).collect();
        if given.is_empty() || !facts::death_is_seen(old) {
            return false;
        }
        let held = self.held_by_frames(&given);
        let dead = given.iter().filter(|var| !held.contains(*var));
        let dead = dead.filter_map(|var| self.known_object(*var)).map(|object| self.objects.get(self.py, object));
        facts::death_beside_runs_code(old, dead.collect(), |object| {
            self.kept_for_nobody(object) + self.taken_of(object)
        })
    }

    /// How many references to a real value the journal takes.
    fn taken_of(&self, object: &Bound<'_, PyAny>) -> usize {
        let address = object.as_ptr() as usize;
        self.watched.taken.iter().filter(|taken| **taken == address).count()
    }

    /// A generator was made.
    pub(crate) fn note_generator(&mut self, generator: VarId) {
        self.watched.generators.push(generator);
    }

    /// A journal entry follows: a generator that cleans up and is stored in a real object ends when that lets go of it and no
    /// frame holds it, which only real ones can tell.
    pub(super) fn note_stored(&mut self, mutation: &Mutation) {
        let captured = &mut self.captured;
        let mut generators = std::mem::take(&mut captured.watched.generators);
        generators.retain(|generator| !captured.has_finished(*generator));
        let may_be_stored = generators.iter().any(|generator| captured.may_clean_up(*generator));
        captured.watched.generators = generators;
        if !may_be_stored {
            return;
        }
        let virtual_target = match mutation.target() {
            Target::Object(target) => !self.has_path(self.var(VarId(target.0)).tracker),
            Target::Globals(_) => false,
            // What it holds are constants.
            Target::Mode(_) => return,
        };
        if virtual_target {
            return;
        }
        let mut seen = HashSet::new();
        let mut work: Vec<VarId> = mutation.operands().iter().map(|var| VarId(var.0)).collect();
        while let Some(var) = work.pop() {
            if seen.len() > SEARCHED || self.may_clean_up(var) {
                self.watched.dropped = true;
                return;
            }
            if seen.insert(var) && !self.has_path(self.var(var).tracker) {
                work.extend(self.parts(var));
            }
        }
    }

    /// A key as an object, if its hash, and whether it equals another, asks nobody.
    fn quiet_key(&self, var: VarId) -> Option<Bound<'py, PyAny>> {
        let py = self.py;
        let real = || self.known_object(var).map(|object| self.objects.get(py, object));
        match &self.var(var).kind {
            VarKind::Constant(constant) => Some(self.objects.get(py, constant.object)),
            VarKind::Function(_) | VarKind::Builtin(_) | VarKind::Module(_) => real(),
            VarKind::Class(_) => real().filter(|class| {
                crate::type_facts::agree(&class.get_type(), &py.get_type::<PyType>(), &["__hash__", "__eq__"])
            }),
            VarKind::Tuple(tuple) if tuple.class.is_none() && self.found_outside(var) => real().filter(|real| {
                real.cast::<PyTuple>().is_ok_and(|items| items.iter().all(|item| is_constant_type(&item.get_type())))
            }),
            VarKind::Tuple(tuple) if tuple.class.is_none() => {
                let items: Option<Vec<_>> = tuple.items.iter().map(|item| self.quiet_key(*item)).collect();
                Some(PyTuple::new(py, items?).ok()?.into_any())
            }
            _ => None,
        }
    }

    /// Whether the class of an instance says nothing of what its instances equal.
    fn equals_itself_alone(&self, var: VarId) -> bool {
        let class = self.known_object(var).map(|object| self.objects.get(self.py, object).get_type());
        class.is_some_and(|class| crate::type_facts::agree(&class, &self.py.get_type::<PyAny>(), &["__eq__"]))
    }

    /// Real values that a mutation takes out of a real object.
    fn overwritten(&self, mutation: &Mutation) -> Vec<Bound<'py, PyAny>> {
        let py = self.py;
        let real = |var: &VarRef| self.known_object(VarId(var.0)).map(|object| self.objects.get(py, object));
        let items = |object: &VarRef, key: &VarRef| -> Option<Vec<Bound<'py, PyAny>>> {
            // As it lies, whatever a class that extends list or dict says of its items.
            let container = real(object)?;
            match &self.var(VarId(key.0)).kind {
                VarKind::Constant(key) => {
                    let key = self.objects.get(py, key.object);
                    if let Ok(dict) = container.cast::<PyDict>() {
                        return Some(vec![dict.get_item(key).ok()??]);
                    }
                    let list = container.cast::<PyList>().ok()?;
                    let index: isize = key.extract().ok()?;
                    let at = if index < 0 { index.checked_add_unsigned(list.len())? } else { index };
                    Some(vec![list.get_item(usize::try_from(at).ok()?).ok()?])
                }
                VarKind::Slice(_) => {
                    let list = container.cast::<PyList>().ok()?;
                    let slice = self.plain_value(py, VarId(key.0))?;
                    let items = py.get_type::<PyList>().call_method1("__getitem__", (list, slice)).ok()?;
                    Some(items.cast::<PyList>().ok()?.iter().collect())
                }
                kind => {
                    let dict = container.cast::<PyDict>().ok()?;
                    if let Some(key) = self.quiet_key(VarId(key.0)) {
                        return Some(vec![dict.get_item(key).ok()??]);
                    }
                    if let Some(value) = real(key).and_then(|key| facts::value_of_key(dict, &key)) {
                        return Some(vec![value]);
                    }
                    match kind {
                        // It was made here, and is no key yet.
                        VarKind::Function(_) => None,
                        VarKind::Instance(_) if self.equals_itself_alone(VarId(key.0)) => None,
                        // Any of the values may be the one.
                        _ => Some(dict.values().iter().collect()),
                    }
                }
            }
        };
        match mutation {
            Mutation::SetAttr { object, name, .. } | Mutation::DelAttr { object, name, .. } => {
                let old = |object: Bound<'py, PyAny>| {
                    if crate::type_facts::raw(&object.get_type(), name)
                        .is_some_and(|found| crate::type_facts::is_slot(&found))
                    {
                        return match facts::field(&object, &PyString::intern(py, name)) {
                            facts::Field::Value(value) => Some(value),
                            facts::Field::Empty | facts::Field::NoField => None,
                        };
                    }
                    if let Some(held) = crate::per_thread::held(&object) {
                        return held.cast::<PyDict>().ok()?.get_item(name).ok()?;
                    }
                    if facts::lacks_dict_yet(&object) {
                        return None;
                    }
                    facts::instance_dict(&object)?.get_item(name).ok()?
                };
                real(object).and_then(old).into_iter().collect()
            }
            Mutation::SetInDict { object, name, .. } | Mutation::DelInDict { object, name } => {
                let old = |object: Bound<'py, PyAny>| facts::instance_dict(&object)?.get_item(name).ok()?;
                real(object).and_then(old).into_iter().collect()
            }
            Mutation::SetGlobal { globals, name, .. } | Mutation::DelGlobal { globals, name } => {
                let globals = self.objects.get(py, *globals);
                globals.cast_into::<PyDict>().ok().and_then(|dict| dict.get_item(name).ok()?).into_iter().collect()
            }
            Mutation::SetItem { object, key, .. }
            | Mutation::DelItem { object, key }
            | Mutation::DictPop { object, key } => items(object, key).unwrap_or_default(),
            Mutation::SetCell { cell, .. } | Mutation::ClearCell { cell } => {
                real(cell).and_then(|cell| facts::cell_contents(&cell)).into_iter().collect()
            }
            Mutation::ListClear { object } | Mutation::DictClear { object } => match real(object) {
                Some(container) => match container.cast::<PyDict>() {
                    Ok(dict) => dict.values().iter().collect(),
                    Err(_) => container.cast::<PyList>().map(|list| list.iter().collect()).unwrap_or_default(),
                },
                None => Vec::new(),
            },
            Mutation::StoreHashed { object, found: Some(found), .. } | Mutation::DeleteHashed { object, found, .. } => {
                let container = real(object);
                let found = real(found);
                let value = container
                    .zip(found)
                    .and_then(|(container, found)| facts::value_of_key(container.cast::<PyDict>().ok()?, &found));
                value.into_iter().collect()
            }
            Mutation::StoreHashed { found: None, .. } => Vec::new(),
            // Who pops knows the item, who calls a method knows what it takes.
            Mutation::ListPop { .. }
            | Mutation::MoveHashed { .. }
            | Mutation::ListAppend { .. }
            | Mutation::ListInsert { .. }
            | Mutation::ListExtend { .. }
            | Mutation::ListReverse { .. }
            | Mutation::Method { .. }
            | Mutation::Answered { .. }
            | Mutation::IterAdvance { .. }
            | Mutation::Written { .. }
            | Mutation::ClassMade { .. }
            | Mutation::SetMode { .. } => Vec::new(),
        }
    }

    /// Whether a value that was taken off the stack is watched, and held by no frame: its end may run the program's code,
    /// which changes what was read before.
    pub(super) fn dies(&self, var: VarId) -> bool {
        self.watched.vars.contains(&var) && !self.held_by_frames(&[var]).contains(&var) && self.end_runs_code(var)
    }
}
