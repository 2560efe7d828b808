//! What was captured of functions that no wrapper stands for at the moment: it rests until the next one is made.
//!
//! Invariants
//! - It goes with its function, at once. Before each collection of all that is old whatever rests goes, but for functions that a
//!   module has under their names: the collector finds nothing that is held from here.
//! - The same of a method and its receiver. Nothing rests that holds the receiver, as what was captured of a layer's method does.

use crate::cpython::facts;
use crate::cpython::holders::Holders;
use crate::cpython::native::body_of;
use crate::engine::registries;
use crate::weak_keys::{Keeper, WeakKeyed};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// What rests of an object's methods: the function, and the owner of what was captured.
type Methods = Vec<(Py<PyAny>, Py<PyAny>)>;

registries! {
    /// Owners of what was captured, by function.
    FUNCTIONS: WeakKeyed<Option<Py<PyAny>>> = "captured functions without wrappers";
    /// The same of methods, by receiver.
    METHODS: WeakKeyed<Methods> = "receivers of captured methods without wrappers";
}

static OF_FUNCTIONS: Keeper<Option<Py<PyAny>>> = Keeper::of(&FUNCTIONS);
static OF_METHODS: Keeper<Methods> = Keeper::of(&METHODS);

/// Whether what was captured holds an object.
fn holds(owner: &Bound<'_, PyAny>, object: &Bound<'_, PyAny>) -> bool {
    let holders = Holders::count(owner.py(), |visit| {
        if let Some(body) = body_of(owner) {
            body.traverse(visit);
        }
    });
    holders.hold(object.as_ptr() as usize)
}

/// Keep the owner of what was captured.
pub(super) fn keep(function: &Bound<'_, PyAny>, receiver: Option<&Bound<'_, PyAny>>, owner: Bound<'_, PyAny>) {
    let Some(receiver) = receiver else {
        let before = OF_FUNCTIONS.change(function, |resting| resting.replace(owner.unbind()));
        return drop(before);
    };
    if !holds(&owner, receiver) {
        let method = (function.clone().unbind(), owner.unbind());
        OF_METHODS.change(receiver, |methods| methods.push(method));
    }
}

/// It rests no more: a wrapper has it.
pub(super) fn wake(function: &Bound<'_, PyAny>, receiver: Option<&Bound<'_, PyAny>>) {
    let Some(receiver) = receiver else {
        let rested = FUNCTIONS.lock().get_mut(function).and_then(Option::take);
        return drop(rested);
    };
    let method = {
        let mut table = METHODS.lock();
        table.get_mut(receiver).and_then(|methods| {
            let at = methods.iter().position(|(known, _)| known.is(function))?;
            Some(methods.remove(at))
        })
    };
    drop(method);
}

/// Whether a module has the function under its name.
fn is_of_module(function: &Bound<'_, PyAny>) -> bool {
    let py = function.py();
    let found = || {
        let parts = facts::func_parts(function)?;
        let name = parts.globals.cast::<PyDict>().ok()?.get_item("__name__").ok()??;
        let modules = crate::cpython::module(py, "sys").ok()?.getattr("modules").ok()?;
        let module = modules.cast::<PyDict>().ok()?.get_item(name).ok()??;
        let dict = facts::module_dict(&module)?;
        dict.get_item(parts.code.getattr("co_name").ok()?.cast::<PyString>().ok()?).ok()?
    };
    let stands_for =
        |found: &Bound<'_, PyAny>| crate::cpython::entry_parts(found).is_some_and(|of| of.func.is(function));
    found().is_some_and(|found| found.is(function) || stands_for(&found))
}

/// All that is old is about to be collected: what rests goes, but for what a module has.
pub(super) fn before_collection(py: Python<'_>) {
    let methods: Vec<_> = METHODS.lock().values_mut().map(std::mem::take).collect();
    let objects = FUNCTIONS.lock().objects(py);
    let local: Vec<_> = objects.into_iter().filter(|object| !is_of_module(object)).collect();
    let functions: Vec<_> =
        local.iter().filter_map(|object| FUNCTIONS.lock().get_mut(object).and_then(Option::take)).collect();
    drop((methods, functions, local));
}

/// Nothing rests any more.
pub(super) fn wake_all() {
    let methods: Vec<_> = METHODS.lock().values_mut().map(std::mem::take).collect();
    let functions: Vec<_> = FUNCTIONS.lock().values_mut().filter_map(Option::take).collect();
    drop((methods, functions));
}
