//! The one engine of this process: what is known of code objects, functions and continuations, by weak keys.
//!
//! Nothing here keeps anything alive. A record of a code object goes with the code; a continuation is owned by the
//! rewritten code that asks for it (see [`crate::continuation`]); caches are owned by the entries whose calls fill them,
//! those of frames below included ([`NestedHook`]). So what was captured goes with the function, method
//! or layer that it was captured for, at once or when the collector finds the cycle that they form.
//!
//! Lock discipline: no Python object is made or dropped while the table is locked. Either may run finalizers, and the death
//! of a code object comes back here.

use crate::code_unit::UnitData;
use crate::continuation::{Continuation, FrameKey};
use crate::cpython::Slots;
use crate::cpython::facts;
use crate::cpython::native::{NativeBody, new_native};
use crate::dispatch::{CodeCache, NestedHook};
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCode, PyWeakrefReference};
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// What is known of a code object or function.
#[derive(Default)]
struct Record {
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
struct Engine {
    /// By address, with the weak reference whose callback ends the record.
    records: HashMap<usize, (Py<PyAny>, Record)>,
    /// Addresses by that of the weak reference.
    by_reference: HashMap<usize, usize>,
    continuations: HashMap<Vec<FrameKey>, Weak<Continuation>>,
    /// Caches of all entries and of the frames below them, for `reset`.
    entries: Vec<(Weak<CodeCache>, Weak<NestedHook>)>,
}

static ENGINE: Mutex<Option<Engine>> = Mutex::new(None);

fn engine() -> MutexGuard<'static, Option<Engine>> {
    ENGINE.lock().expect("the engine")
}

/// Ends a record when the object is about to die.
struct Forget;

impl NativeBody for Forget {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(reference) = args.get(py, 0) {
            let old = {
                let mut engine = engine();
                let engine = engine.get_or_insert_default();
                let address = engine.by_reference.remove(&(reference.as_ptr() as usize));
                address.and_then(|address| engine.records.remove(&address))
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
    if let Some((_, record)) = engine().get_or_insert_default().records.get_mut(&address) {
        return change(record);
    }
    // Made without the lock, and so perhaps twice: the first one counts.
    let callback = forget(object.py());
    let Ok(reference) = callback.and_then(|callback| PyWeakrefReference::new_with(object, callback.clone())) else {
        return;
    };
    let reference = reference.into_any().unbind();
    let spare = {
        let mut engine = engine();
        let engine = engine.get_or_insert_default();
        if let Some((_, record)) = engine.records.get_mut(&address) {
            change(record);
            Some(reference)
        } else {
            let mut record = Record::default();
            change(&mut record);
            engine.by_reference.insert(reference.as_ptr() as usize, address);
            engine.records.insert(address, (reference, record));
            None
        }
    };
    drop(spare);
}

/// What is known of a code object or function; the default if nothing is.
fn known<R>(object: &Bound<'_, PyAny>, read: impl FnOnce(&Record) -> R) -> Option<R> {
    let engine = engine();
    let (_, record) = engine.as_ref()?.records.get(&(object.as_ptr() as usize))?;
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

/// The continuation of a shape, if it is still in use.
pub fn continuation(key: &[FrameKey]) -> Option<Arc<Continuation>> {
    engine().as_ref()?.continuations.get(key)?.upgrade()
}

pub fn add_continuation(key: Vec<FrameKey>, continuation: &Arc<Continuation>) {
    engine().get_or_insert_default().continuations.insert(key, Arc::downgrade(continuation));
}

/// A continuation is gone. Another one may have taken its place.
pub fn remove_continuation(key: &[FrameKey]) {
    let mut engine = engine();
    if let Some(engine) = engine.as_mut()
        && engine.continuations.get(key).is_some_and(|c| c.strong_count() == 0)
    {
        engine.continuations.remove(key);
    }
}

pub fn add_entry(cache: &Arc<CodeCache>, hook: &Arc<NestedHook>) {
    let mut engine = engine();
    let entries = &mut engine.get_or_insert_default().entries;
    if entries.len() == entries.capacity() {
        entries.retain(|(cache, _)| cache.strong_count() > 0);
    }
    entries.push((Arc::downgrade(cache), Arc::downgrade(hook)));
}

/// Forget everything that was captured. What rewritten code that is still held refers to stays with it.
pub fn reset() {
    type Live = (Option<Arc<CodeCache>>, Option<Arc<NestedHook>>);
    let entries: Vec<Live> = {
        let mut engine = engine();
        let engine = engine.get_or_insert_default();
        engine.continuations.clear();
        engine.records.values_mut().for_each(|(_, record)| record.served = false);
        engine.entries.iter().map(|(cache, hook)| (cache.upgrade(), hook.upgrade())).collect()
    };
    for (cache, hook) in entries {
        cache.inspect(|cache| cache.clear());
        hook.inspect(|hook| hook.clear());
    }
}

/// Sizes of the tables: records, continuations, entries. For tests.
pub fn sizes() -> [usize; 3] {
    let engine = engine();
    engine.as_ref().map_or([0; 3], |e| {
        let entries = e.entries.iter().filter(|(cache, _)| cache.strong_count() > 0).count();
        [e.records.len(), e.continuations.len(), entries]
    })
}
