//! What is known of code objects and functions, by weak keys.
//!
//! Nothing here keeps anything alive: a record goes with its object.
//! The death of a code object comes back here ([`crate::engine`]).

use super::UnitData;
use crate::cpython::Slots;
use crate::cpython::facts;
use crate::cpython::native::{NativeBody, new_native};
use crate::engine::{self, registries};
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCode, PyWeakrefReference};
use std::any::Any;
use std::sync::Arc;

/// What the program promises of a code object, and wants to be told if it is not so.
#[derive(Clone, Copy, Default)]
pub struct Promises {
    pub no_break: bool,
    pub no_fallback: bool,
}

impl Promises {
    pub fn join(self, other: Promises) -> Promises {
        Promises { no_break: self.no_break || other.no_break, no_fallback: self.no_fallback || other.no_fallback }
    }
}

/// What is known of a code object or function.
#[derive(Default)]
struct Record {
    promises: Promises,
    /// Rewritten code and resume functions: never captured.
    generated: bool,
    /// An entry serves it: the hook does not capture it a second time.
    served: bool,
    /// `sot.disable`.
    disabled: bool,
    /// Whether its file is one of those that are never captured, once that was asked.
    library: Option<bool>,
    unit: Option<Arc<UnitData>>,
}

#[derive(Default)]
struct Table {
    /// By address, with the weak reference whose callback ends the record.
    records: HashMap<usize, (Py<PyAny>, Record)>,
    /// Addresses by that of the weak reference.
    by_reference: HashMap<usize, usize>,
}

impl engine::Table for Table {
    fn entries(&self) -> usize {
        self.records.len()
    }
}

registries! {
    TABLE: Table = "code objects and functions";
}

/// Ends a record when the object is about to die.
struct Forget;

impl NativeBody for Forget {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(reference) = args.get(py, 0) {
            let old = {
                let mut table = TABLE.lock();
                let table = &mut *table;
                let address = table.by_reference.remove(&(reference.as_ptr() as usize));
                address.and_then(|address| table.records.remove(&address))
            };
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

fn forget(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static FORGET: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(FORGET.get_or_try_init(py, || new_native(py, Box::new(Forget)))?.bind(py))
}

/// Change the record of a code object or function, which is made if there is none.
fn change(object: &Bound<'_, PyAny>, change: impl FnOnce(&mut Record)) {
    let address = object.as_ptr() as usize;
    if let Some((_, record)) = TABLE.lock().records.get_mut(&address) {
        return change(record);
    }
    // Made without the lock, and so perhaps twice: the first one counts.
    let callback = forget(object.py());
    let Ok(reference) = callback.and_then(|callback| PyWeakrefReference::new_with(object, callback.clone())) else {
        return;
    };
    let reference = reference.into_any().unbind();
    let spare = {
        let mut table = TABLE.lock();
        let table = &mut *table;
        if let Some((_, record)) = table.records.get_mut(&address) {
            change(record);
            Some(reference)
        } else {
            let mut record = Record::default();
            change(&mut record);
            table.by_reference.insert(reference.as_ptr() as usize, address);
            table.records.insert(address, (reference, record));
            None
        }
    };
    drop(spare);
}

/// What is known of a code object or function; the default if nothing is.
fn known<R>(object: &Bound<'_, PyAny>, read: impl FnOnce(&Record) -> R) -> Option<R> {
    let table = TABLE.lock();
    let (_, record) = table.records.get(&(object.as_ptr() as usize))?;
    Some(read(record))
}

/// Rewritten code: the hook never captures its frames.
pub fn never_capture(code: &Bound<'_, PyCode>) {
    change(code.as_any(), |record| record.generated = true);
}

/// An entry serves this code.
pub fn serve(code: &Bound<'_, PyCode>) {
    change(code.as_any(), |record| record.served = true);
}

/// Never capture or inline this function.
pub fn disable(function: &Bound<'_, PyAny>) {
    change(function, |record| record.disabled = true);
    // Where only the code is at hand, it answers for the function.
    if let Some(parts) = facts::func_parts(function) {
        change(&parts.code, |record| record.disabled = true);
    }
}

/// The program promises something of this code.
pub fn promise(code: &Bound<'_, PyAny>, promises: Promises) {
    change(code, |record| record.promises = record.promises.join(promises));
}

pub fn promises(code: &Bound<'_, PyAny>) -> Promises {
    known(code, |record| record.promises).unwrap_or_default()
}

pub fn is_disabled(object: &Bound<'_, PyAny>) -> bool {
    known(object, |record| record.disabled).unwrap_or(false)
}

/// Whether the hook may capture frames of this code. `library`: whether its file is one that is never captured.
pub fn may_capture(code: &Bound<'_, PyCode>, library: impl FnOnce() -> bool) -> bool {
    let found = known(code.as_any(), |record| (record.generated || record.served, record.library));
    match found {
        Some((true, _)) => false,
        Some((false, Some(library))) => !library,
        Some((false, None)) | None => {
            let library = library();
            change(code.as_any(), |record| record.library = Some(library));
            !library
        }
    }
}

/// The decoded form of a code object, if it was decoded.
pub fn unit(code: &Bound<'_, PyAny>) -> Option<Arc<UnitData>> {
    known(code, |record| record.unit.clone()).flatten()
}

pub fn set_unit(code: &Bound<'_, PyAny>, unit: &Arc<UnitData>) {
    change(code, |record| record.unit = Some(unit.clone()));
}

/// No entry serves any code any more.
pub fn unserve_all() {
    TABLE.lock().records.values_mut().for_each(|(_, record)| record.served = false);
}
