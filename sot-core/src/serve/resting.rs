//! What was captured of functions that no wrapper stands for at the moment: it rests until the next one is made.
//!
//! Invariants
//! - It goes with its function, at once. Before each collection of all that is old whatever rests goes, but for functions that a
//!   module has under their names: the collector finds nothing that is held from here.
//! - What rests of a method holds its receiver. So only a few of them rest, none of an object whose death the program could see, and
//!   none that nobody else holds any more when another receiver comes.

use crate::cpython::facts;
use crate::cpython::holders::Holders;
use crate::cpython::native::body_of;
use crate::engine::registries;
use crate::weak_keys::{Keeper, WeakKeyed};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Methods that rest at most.
const METHODS: usize = 16;

/// The owner of what was captured of a method, and what it holds for that.
struct Method {
    receiver: Py<PyAny>,
    function: Py<PyAny>,
    owner: Py<PyAny>,
}

registries! {
    /// Owners of what was captured, by function.
    FUNCTIONS: WeakKeyed<Option<Py<PyAny>>> = "captured functions without wrappers";
    /// The same of methods, the one that has rested longest first.
    METHODS_AT_REST: Vec<Method> = "captured methods without wrappers";
}

static KEEPER: Keeper<Option<Py<PyAny>>> = Keeper::of(&FUNCTIONS);

/// Keep the owner of what was captured.
pub(super) fn keep(function: &Bound<'_, PyAny>, receiver: Option<&Bound<'_, PyAny>>, owner: Py<PyAny>) {
    let Some(receiver) = receiver else {
        let before = KEEPER.change(function, |resting| resting.replace(owner));
        return drop(before);
    };
    if facts::own_death_is_seen(receiver) {
        return;
    }
    let method = Method { receiver: receiver.clone().unbind(), function: function.clone().unbind(), owner };
    let longest = {
        let mut methods = METHODS_AT_REST.lock();
        methods.push(method);
        (methods.len() > METHODS).then(|| methods.remove(0))
    };
    drop(longest);
}

/// It rests no more: a wrapper has it.
pub(super) fn wake(function: &Bound<'_, PyAny>, receiver: Option<&Bound<'_, PyAny>>) {
    let Some(receiver) = receiver else {
        let rested = FUNCTIONS.lock().get_mut(function).and_then(Option::take);
        return drop(rested);
    };
    let method = {
        let mut methods = METHODS_AT_REST.lock();
        let at = methods.iter().position(|method| method.receiver.is(receiver) && method.function.is(function));
        at.map(|at| methods.remove(at))
    };
    drop(method);
}

/// Methods whose receivers nobody else holds rest no more.
pub(super) fn drop_lonely_methods(py: Python<'_>) {
    let resting: Vec<Method> = std::mem::take(&mut *METHODS_AT_REST.lock());
    if resting.is_empty() {
        return;
    }
    let holders = Holders::count(py, |visit| {
        for method in &resting {
            visit(&method.receiver);
            if let Some(body) = body_of(method.owner.bind(py)) {
                body.traverse(visit);
            }
        }
    });
    let (lonely, others): (Vec<_>, Vec<_>) =
        resting.into_iter().partition(|method| holders.alone_hold(method.receiver.as_ptr() as usize));
    METHODS_AT_REST.lock().splice(0..0, others);
    drop(lonely);
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
    let methods = std::mem::take(&mut *METHODS_AT_REST.lock());
    let objects = FUNCTIONS.lock().objects(py);
    let local: Vec<_> = objects.into_iter().filter(|object| !is_of_module(object)).collect();
    let functions: Vec<_> =
        local.iter().filter_map(|object| FUNCTIONS.lock().get_mut(object).and_then(Option::take)).collect();
    drop((methods, functions, local));
}

/// Nothing rests any more.
pub(super) fn wake_all() {
    let methods = std::mem::take(&mut *METHODS_AT_REST.lock());
    let functions: Vec<_> = FUNCTIONS.lock().values_mut().filter_map(Option::take).collect();
    drop((methods, functions));
}
