//! The one table that owns the Python objects of a capture.
//!
//! Variables, trackers, guards, the journal and StatementIR name objects by number ([`ObjectId`]), so they are
//! plain data; whoever needs the object looks it up here. An object has one number however often it is added.

use hashbrown::HashMap;
use pyo3::prelude::*;
use sot_tracker::ObjectId;

/// Objects of one capture, numbered in order of first use.
#[derive(Default)]
pub struct ObjectTable {
    objects: Vec<Py<PyAny>>,
    by_address: HashMap<usize, ObjectId>,
}

impl ObjectTable {
    /// The number of `object`, which is kept alive from now on.
    pub fn add(&mut self, object: &Bound<'_, PyAny>) -> ObjectId {
        let next = ObjectId(self.objects.len() as u32);
        *self.by_address.entry(object.as_ptr() as usize).or_insert_with(|| {
            self.objects.push(object.clone().unbind());
            next
        })
    }

    /// The number of an object that was added before.
    pub fn find(&self, object: &Bound<'_, PyAny>) -> Option<ObjectId> {
        self.by_address.get(&(object.as_ptr() as usize)).copied()
    }

    pub fn get<'py>(&self, py: Python<'py>, id: ObjectId) -> Bound<'py, PyAny> {
        self.objects[id.0 as usize].bind(py).clone()
    }

    pub fn get_ref<'a, 'py>(&'a self, py: Python<'py>, id: ObjectId) -> &'a Bound<'py, PyAny> {
        self.objects[id.0 as usize].bind(py)
    }
}
