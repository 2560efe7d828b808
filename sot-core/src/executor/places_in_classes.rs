//! Attributes of classes that are known by their place, in the dict of the class that has them: what dies, and what somebody exchanges.

use super::Executor;
use crate::cpython::facts;
use crate::stop::Stop;
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};
use sot_tracker::{Access, Check, TrackerId};

impl<'py> Executor<'py> {
    /// Whether an attribute of a class is an object that could be seen to die, which belongs to the dict of the class that has
    /// it; guarded there, then.
    pub(super) fn is_passing_attribute(
        &mut self,
        class: &Bound<'py, PyType>,
        name: &Bound<'py, PyString>,
        found: &Bound<'py, PyAny>,
    ) -> Result<bool, Stop> {
        // What a descriptor of C binds is found by no path.
        let binds_by_c = ["__get__", "__set__", "__delete__"]
            .into_iter()
            .any(|name| type_facts::raw(&found.get_type(), name).is_some_and(|found| !facts::is_function(&found)));
        if binds_by_c {
            return Ok(false);
        }
        let may_pass = facts::is_heap_type(&found.get_type())
            || facts::is_plain_container(found)
            || found.is_exact_instance_of::<PyTuple>();
        let passes = may_pass && self.death_runs_code(found);
        // What is known of it may be guarded at another place, which may hold another object at the next call.
        let known = self.known.get(&(found.as_ptr() as usize)).copied();
        let known_elsewhere = known.is_some_and(|known| self.is_passing(self.var(known).tracker));
        if !passes && !known_elsewhere && !self.is_rewritten_in_class(class, name) {
            return Ok(false);
        }
        let Some(place) = self.place_in_class(class, name, found)? else { return Ok(false) };
        self.note_passing(place);
        self.guard_present(place);
        let var = self.wrap(found, place);
        self.look(var)?;
        // It may be known by another path.
        self.found_anew.insert(found.as_ptr() as usize, place);
        Ok(true)
    }

    /// The path to an attribute in the dict of the class that has it. That those before it in the MRO do not is guarded.
    pub(super) fn place_in_class(
        &mut self,
        class: &Bound<'py, PyType>,
        name: &Bound<'py, PyString>,
        found: &Bound<'py, PyAny>,
    ) -> Result<Option<TrackerId>, Stop> {
        let mro = facts::mro(class);
        let has = |c: &Bound<'py, PyAny>| facts::class_dict(c).and_then(|dict| dict.get_item(name).ok().flatten());
        let Some(owner) = mro.iter().position(|c| has(&c).is_some_and(|own| own.is(found))) else { return Ok(None) };
        let key = self.objects.add(name.as_any());
        self.guard_mro(class);
        let mut dicts = Vec::with_capacity(owner + 1);
        for class in mro.iter().take(owner + 1) {
            let id = self.objects.add(&class);
            let base = self.constant_tracker(id);
            self.note_overridden(base, &class);
            dicts.push(self.trackers.step(base, Access::InstanceDict));
        }
        let Some(base) = dicts.pop() else { return Ok(None) };
        for dict in dicts {
            self.guard(dict, Check::Lacks(key));
        }
        Ok(Some(self.trackers.step(base, Access::DictItem(key))))
    }

    /// An attribute that is read off a class as it is.
    pub(super) fn plain_attribute(&mut self, found: &Bound<'py, PyAny>) -> VarId {
        if let Some(at) = self.found_anew.get(&(found.as_ptr() as usize)) {
            return self.wrap(found, *at);
        }
        match self.known.get(&(found.as_ptr() as usize)) {
            Some(&known) if self.is_passing(self.var(known).tracker) => known,
            _ => self.pin(found),
        }
    }
}
