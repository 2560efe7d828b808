//! Objects that stand for variables while a pure function is called on them.

use crate::variables::VarId;
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use sot_tracker::ObjectId;

/// Objects that were made of variables, to call a pure function on them.
#[derive(Default)]
pub struct Copies<'py> {
    pub(super) objects: HashMap<VarId, Bound<'py, PyAny>>,
    /// By address, which the objects above keep valid.
    vars: HashMap<usize, VarId>,
    /// Tuples whose items are being copied: one that contains itself cannot be made in one piece.
    /// One tuple may be several variables: by object, where there is one.
    pub(super) open: HashSet<(Option<ObjectId>, Option<VarId>)>,
}

impl<'py> Copies<'py> {
    pub(super) fn get(&self, var: VarId) -> Option<Bound<'py, PyAny>> {
        self.objects.get(&var).cloned()
    }

    pub(super) fn add(&mut self, var: VarId, object: &Bound<'py, PyAny>) {
        self.vars.entry(object.as_ptr() as usize).or_insert(var);
        self.objects.insert(var, object.clone());
    }

    /// The variable that an object stands for; singletons stand for nothing.
    pub(super) fn var_of(&self, object: &Bound<'py, PyAny>) -> Option<VarId> {
        let singleton = object.is_none() || object.is_instance_of::<pyo3::types::PyBool>();
        (!singleton).then(|| self.vars.get(&(object.as_ptr() as usize)).copied()).flatten()
    }
}
