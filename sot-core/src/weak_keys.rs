//! Tables of what is known of objects, which keep none of them alive: a record goes when its object dies.
//!
//! The object must be one that takes weak references. The callback of that which a table has ends the record.

use crate::cpython::Slots;
use crate::cpython::native::{NativeBody, new_native};
use crate::engine::{self, Registry};
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
use std::any::Any;

/// Records by the address of their object.
pub(crate) struct WeakKeyed<R> {
    /// With the weak reference whose callback ends the record.
    records: HashMap<usize, (Py<PyAny>, R)>,
    /// Addresses by that of the weak reference.
    by_reference: HashMap<usize, usize>,
}

impl<R> Default for WeakKeyed<R> {
    fn default() -> WeakKeyed<R> {
        WeakKeyed { records: HashMap::new(), by_reference: HashMap::new() }
    }
}

impl<R: Send + 'static> engine::Table for WeakKeyed<R> {
    fn entries(&self) -> usize {
        self.records.len()
    }
}

impl<R> WeakKeyed<R> {
    pub(crate) fn get(&self, object: &Bound<'_, PyAny>) -> Option<&R> {
        self.records.get(&(object.as_ptr() as usize)).map(|(_, record)| record)
    }

    pub(crate) fn get_mut(&mut self, object: &Bound<'_, PyAny>) -> Option<&mut R> {
        self.records.get_mut(&(object.as_ptr() as usize)).map(|(_, record)| record)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut R> {
        self.records.values_mut().map(|(_, record)| record)
    }

    /// Those that live, of which something is known.
    pub(crate) fn objects<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyAny>> {
        let alive = |reference: &Py<PyAny>| reference.bind(py).cast::<PyWeakrefReference>().ok()?.upgrade();
        self.records.values().filter_map(|(reference, _)| alive(reference)).collect()
    }

    fn take(&mut self, reference: usize) -> Option<(Py<PyAny>, R)> {
        let address = self.by_reference.remove(&reference)?;
        self.records.remove(&address)
    }
}

/// A table of weak keys, and what its weak references call. `table` is asked for it, as a static cannot refer to itself.
pub(crate) struct Keeper<R: Send + 'static> {
    table: &'static Registry<WeakKeyed<R>>,
    callback: PyOnceLock<Py<PyAny>>,
}

impl<R: Default + Send + 'static> Keeper<R> {
    pub(crate) const fn of(table: &'static Registry<WeakKeyed<R>>) -> Keeper<R> {
        Keeper { table, callback: PyOnceLock::new() }
    }

    /// Change the record of an object, which is made if there is none. `None`: the object takes no weak references.
    pub(crate) fn change<T>(&self, object: &Bound<'_, PyAny>, change: impl FnOnce(&mut R) -> T) -> Option<T> {
        if let Some(record) = self.table.lock().get_mut(object) {
            return Some(change(record));
        }
        let py = object.py();
        // Made without the lock, and so perhaps twice: the first one counts.
        let callback = self.callback.get_or_try_init(py, || new_native(py, Box::new(Forget(self.table)))).ok()?;
        let reference = PyWeakrefReference::new_with(object, callback.clone_ref(py)).ok()?.into_any().unbind();
        let address = object.as_ptr() as usize;
        let (spare, changed) = {
            let mut table = self.table.lock();
            if let Some(record) = table.get_mut(object) {
                let changed = change(record);
                (Some(reference), changed)
            } else {
                let mut record = R::default();
                let changed = change(&mut record);
                table.by_reference.insert(reference.as_ptr() as usize, address);
                table.records.insert(address, (reference, record));
                (None, changed)
            }
        };
        drop(spare);
        Some(changed)
    }
}

/// Ends a record when the object is about to die.
struct Forget<R: Send + 'static>(&'static Registry<WeakKeyed<R>>);

impl<R: Send + 'static> NativeBody for Forget<R> {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(reference) = args.get(py, 0) {
            let old = self.0.lock().take(reference.as_ptr() as usize);
            drop(old);
        }
        Ok(py.None().into_bound(py))
    }

    fn name(&self) -> &str {
        "forget"
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}
