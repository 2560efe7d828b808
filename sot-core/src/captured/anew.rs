//! Classes that are made anew for each call, by the same code: in a slot, or as the class of what is there, may be another
//! one next time.
//!
//! Such a class is found by its path, as all that was found in it, and guarded by what it is like
//! ([`Check::Alike`]). Neither a guard nor new code may name it, and no path may start at it: who does so has
//! not asked whether it is one, and the capture starts over with classes that are known by their identity.

use super::Captured;
use crate::cpython::facts;
use crate::variables::*;
use hashbrown::HashSet;
use pyo3::prelude::*;
use pyo3::types::PyType;
use sot_tracker::{Access, Check, ObjectId, Tracker, TrackerId};

impl Captured {
    pub(crate) fn is_made_anew(&self, object: ObjectId) -> bool {
        self.anew.contains_key(&object)
    }

    /// Whether it is the prototype of a class that the simulation makes.
    pub(crate) fn is_prototype(&self, var: VarId) -> bool {
        matches!(&self.var(var).kind, VarKind::Class(ClassVar { made: Some(_), .. }))
    }

    /// Classes that the simulation has made: as each refers to itself, it lives on when nobody has it, until the collector comes.
    pub(super) fn prototypes(&self) -> impl Iterator<Item = VarId> + '_ {
        self.anew.values().copied().filter(|var| self.is_prototype(*var))
    }

    /// Whether new code makes the class whatever becomes of it.
    fn is_listed(&self, class: VarId) -> bool {
        matches!(&self.var(class).kind, VarKind::Class(ClassVar { made: Some(made), .. }) if made.listed)
    }

    pub(crate) fn has_prototypes(&self) -> bool {
        self.prototypes().next().is_some()
    }

    /// Where a class is found: itself, if it is the same at each call.
    pub(crate) fn class_tracker(&mut self, class: ObjectId) -> TrackerId {
        match self.anew.get(&class) {
            Some(var) => self.var(*var).tracker,
            None => self.constant_tracker(class),
        }
    }

    /// The variable of a class that building a value needs.
    pub(crate) fn class_made_anew(&self, kind: &VarKind) -> Option<VarId> {
        if self.anew.is_empty() {
            return None;
        }
        let class = match kind {
            VarKind::Instance(instance) => Some(instance.class),
            VarKind::Exception(exception) => Some(exception.class),
            VarKind::Tuple(tuple) => tuple.class,
            VarKind::List(list) => list.class,
            _ => None,
        };
        self.anew.get(&class?).copied()
    }

    /// An object is named where it has to be the same at each call.
    pub(crate) fn note_named(&mut self, object: ObjectId) {
        self.names_anew |= self.is_made_anew(object);
    }

    /// A guard is left.
    pub(super) fn note_if_anew(&mut self, tracker: TrackerId, check: &Check) {
        if self.anew.is_empty() || matches!(check, Check::Alike(_)) {
            return;
        }
        let mut named = Vec::new();
        check.map(|object| named.push(*object), |_| (), |_| ());
        for step in self.trackers.path(tracker) {
            if let Tracker::Root(Access::Constant(object)) | Tracker::Step { access: Access::DictItem(object), .. } =
                self.trackers.get(step)
            {
                named.push(*object);
            }
        }
        for object in named {
            self.note_named(object);
        }
    }

    /// A class refers to itself: what it holds lives on, when nobody has it any more, until the collector comes. Where somebody
    /// could notice that, new code has to make the class.
    pub(crate) fn keep_classes_real(&mut self) {
        let mut work: Vec<VarId> = self.prototypes().filter(|class| !self.is_listed(*class)).collect();
        let mut seen: HashSet<VarId> = work.iter().copied().collect();
        while let Some(held) = work.pop() {
            let Variable { kind, looked, tracker, .. } = self.var(held);
            let missed = match (self.found_outside(held), kind) {
                (true, VarKind::Cell(cell)) => {
                    work.extend(cell.content.into_iter().filter(|content| seen.insert(*content)));
                    !cell.known && !self.is_under_constant(*tracker)
                }
                (true, _) => !looked && !self.is_fixed(*tracker) || self.watched.vars.contains(&held),
                (false, VarKind::Function(_) | VarKind::Native(_)) => false,
                (false, _) => self.takes_weak_references(held),
            };
            if missed {
                self.names_anew = true;
                return;
            }
            if !self.found_outside(held) {
                work.extend(self.parts(held).into_iter().filter(|part| seen.insert(*part)));
            }
        }
    }

    /// Classes that are made anew are told apart from each other, and from those of the same name that are not.
    pub(super) fn guard_classes(&mut self, py: Python<'_>) {
        let mut group = Vec::new();
        let mut names = Vec::new();
        let is_class = |var: VarId| matches!(self.var(var).kind, VarKind::Class(_));
        let mut classes: Vec<(ObjectId, VarId)> =
            self.anew.iter().map(|(object, var)| (*object, *var)).filter(|(_, var)| is_class(*var)).collect();
        classes.sort_unstable();
        for (object, var) in classes {
            let tracker = self.var(var).tracker;
            if self.guards.contains(tracker, &Check::Alike(object)) {
                group.push(tracker);
                let class = self.objects.get(py, object);
                names.extend(class.cast::<PyType>().map(facts::name_in_messages));
            }
        }
        if group.is_empty() {
            return;
        }
        let mut namesakes = Vec::new();
        for object in self.objects.all() {
            let object = object.bind(py);
            let class = object.cast::<PyType>().map_or_else(|_| object.get_type(), Clone::clone);
            for base in facts::mro(&class).iter() {
                let anew = self.objects.find(&base).is_some_and(|id| self.is_made_anew(id));
                let of_name = |class: &Bound<'_, PyType>| {
                    facts::is_heap_type(class) && names.contains(&facts::name_in_messages(class))
                };
                if !anew && base.cast::<PyType>().is_ok_and(of_name) {
                    namesakes.push(base.unbind());
                }
            }
        }
        let Some((first, rest)) = group.split_first().filter(|_| group.len() + namesakes.len() > 1) else { return };
        let mut others = rest.to_vec();
        for namesake in namesakes {
            let id = self.objects.add(namesake.bind(py));
            let at = self.constant_tracker(id);
            if !others.contains(&at) {
                others.push(at);
            }
        }
        self.guard(*first, Check::Distinct { others, group: rest.len() });
    }
}
