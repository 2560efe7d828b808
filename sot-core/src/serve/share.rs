//! What was captured of one function, or of the method of one object: whoever wraps it shares it.
//!
//! Invariants
//! - One object that the collector knows ([`Owner`]) owns what was captured; each wrapper has a [`Share`] in it. So cycles through
//!   wrappers are found, however many there are.
//! - When the last wrapper goes, what was captured rests until the next one is made. It goes with its function, at once. Before each
//!   collection of all that is old whatever rests goes, but for functions that a module has under their names: the collector finds
//!   nothing that is held from here.
//! - What rests of a method holds its receiver. So only a few of them rest, none of an object whose death the program could see, and
//!   none that nobody else holds any more when another receiver comes.

use super::cache::CodeCache;
use super::hook::{Hook, NestedHook};
use super::registry;
use crate::cpython::collections::is_collecting;
use crate::cpython::holders::Holders;
use crate::cpython::native::{NativeBody, body_of, new_native};
use crate::cpython::{Slots, facts};
use crate::engine::registries;
use crate::weak_keys::{Keeper, WeakKeyed};
use hashbrown::HashMap;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyString, PyWeakrefMethods, PyWeakrefReference};
use std::any::Any;
use std::ops::Deref;
use std::sync::{Arc, Weak};

/// Methods that rest at most.
const METHODS: usize = 16;

/// The addresses of a function, and of the receiver if it is bound.
type Key = (usize, usize);

/// The owner of what was captured of a method, and what it holds for that.
struct RestingMethod {
    key: Key,
    receiver: Py<PyAny>,
    /// Its address stands in the key.
    _function: Py<PyAny>,
    owner: Py<PyAny>,
}

registries! {
    /// Weak references to owners that live.
    OWNERS: HashMap<Key, Py<PyWeakrefReference>> = "captured functions";
    /// Owners of functions that no wrapper has.
    RESTING: WeakKeyed<Option<Py<PyAny>>> = "captured functions without wrappers";
    /// The same of methods, the one that has rested longest first.
    RESTING_METHODS: Vec<RestingMethod> = "captured methods without wrappers";
    /// By code and globals, functions without cells: what frames of them are served from.
    BY_CODE: HashMap<Key, Weak<OfFunction>> = "captured functions by code";
}

static RESTS: Keeper<Option<Py<PyAny>>> = Keeper::of(&RESTING);

/// What was captured of a function.
pub(super) struct OfFunction {
    pub cache: Arc<CodeCache>,
    /// The code that the cache is of: a function that was given other code is served by that, as it is.
    pub code: Py<PyAny>,
    globals: Py<PyAny>,
    /// Captures frames below calls of wrappers, and owns what it captured.
    pub hook: Hook,
    key: Key,
}

impl OfFunction {
    fn by_code(&self) -> Key {
        (self.code.as_ptr() as usize, self.globals.as_ptr() as usize)
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.code);
        visit(&self.globals);
        self.cache.traverse(visit);
        // While it is installed somebody else holds it, too.
        if Arc::strong_count(&self.hook) == 1 {
            self.hook.traverse(visit);
        }
    }
}

/// The body of the object that owns it.
struct Owner(Arc<OfFunction>);

impl NativeBody for Owner {
    fn call<'py>(&self, _py: Python<'py>, _args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        Err(PyTypeError::new_err("sot: what was captured of a function is not callable"))
    }

    fn name(&self) -> &str {
        "captures"
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.0.traverse(visit);
    }

    fn clear(&self) {
        self.0.cache.clear();
        self.0.hook.clear();
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // Another one may have come in its place.
        let owner = {
            let mut owners = OWNERS.lock();
            let gone = |owner: &Py<PyWeakrefReference>| Python::attach(|py| owner.bind(py).upgrade().is_none());
            owners.get(&self.0.key).is_some_and(gone).then(|| owners.remove(&self.0.key))
        };
        let mut by_code = BY_CODE.lock();
        let ours = by_code.get(&self.0.by_code()).is_some_and(|of| std::ptr::eq(of.as_ptr(), Arc::as_ptr(&self.0)));
        let of = ours.then(|| by_code.remove(&self.0.by_code()));
        drop(by_code);
        drop((owner, of));
    }
}

/// What a wrapper has of its function.
pub(super) struct Share {
    of: Arc<OfFunction>,
    owner: Py<PyAny>,
    function: Py<PyAny>,
    receiver: Option<Py<PyAny>>,
    /// It lies in its receiver: no other wrapper is made when that lets go of it.
    in_receiver: bool,
}

impl Deref for Share {
    type Target = OfFunction;

    fn deref(&self) -> &OfFunction {
        &self.of
    }
}

impl Share {
    /// That of one more wrapper. `in_receiver`: it is to lie in its receiver. An error: it is no function.
    pub(super) fn in_function(
        function: &Bound<'_, PyAny>,
        receiver: Option<&Bound<'_, PyAny>>,
        in_receiver: bool,
    ) -> PyResult<Share> {
        let key = (function.as_ptr() as usize, receiver.map_or(0, |receiver| receiver.as_ptr() as usize));
        let parts = facts::func_parts(function).ok_or_else(|| PyTypeError::new_err("sot: not a function"))?;
        let (of, owner) = match living(function.py(), key).filter(|(of, _)| of.code.is(parts.code)) {
            Some(found) => found,
            None => new_owner(key, &parts, receiver.is_none())?,
        };
        // It rests no more: the wrapper has it.
        let rested = receiver.is_none().then(|| RESTING.lock().get_mut(function).and_then(Option::take));
        let method = {
            let mut methods = RESTING_METHODS.lock();
            methods.iter().position(|method| method.key == key).map(|at| methods.remove(at))
        };
        drop((rested, method));
        let (function, receiver) = (function.clone().unbind(), receiver.map(|receiver| receiver.clone().unbind()));
        Ok(Share { of, owner, function, receiver, in_receiver })
    }

    /// Slots before the arguments of a call: that of the receiver.
    pub(super) fn slots_before(&self) -> usize {
        usize::from(self.receiver.is_some())
    }

    pub(super) fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.owner);
        visit(&self.function);
        self.receiver.iter().for_each(visit);
    }

    /// Let it rest, if there is something.
    fn rest(&self, owner: Bound<'_, PyAny>) {
        let py = owner.py();
        let is_empty = self.of.cache.len() == 0 && self.of.cache.closed().is_none();
        // What the collector takes apart is not to be held.
        if is_empty || self.in_receiver || is_collecting(py) {
            return;
        }
        let owner = owner.unbind();
        let Some(receiver) = &self.receiver else {
            let before = RESTS.change(self.function.bind(py), |resting| resting.replace(owner));
            return drop(before);
        };
        if facts::own_death_is_seen(receiver.bind(py)) {
            return;
        }
        let (receiver, _function) = (receiver.clone_ref(py), self.function.clone_ref(py));
        let longest = {
            let mut methods = RESTING_METHODS.lock();
            methods.push(RestingMethod { key: self.of.key, receiver, _function, owner });
            (methods.len() > METHODS).then(|| methods.remove(0))
        };
        drop(longest);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        Python::attach(|py| {
            let owner = self.owner.bind(py).clone();
            // Nobody but these two.
            if facts::is_held_by_at_most(&owner, 0) {
                self.rest(owner);
            }
        });
    }
}

fn of_owner(owner: &Bound<'_, PyAny>) -> Option<Arc<OfFunction>> {
    Some(body_of(owner)?.as_any().downcast_ref::<Owner>()?.0.clone())
}

/// The owner that lives, if there is one.
fn living(py: Python<'_>, key: Key) -> Option<(Arc<OfFunction>, Py<PyAny>)> {
    let reference = OWNERS.lock().get(&key).map(|owner| owner.clone_ref(py))?;
    let owner = reference.bind(py).upgrade()?;
    Some((of_owner(&owner)?, owner.unbind()))
}

fn new_owner(
    key: Key,
    parts: &facts::FunctionParts<'_, '_>,
    is_function: bool,
) -> PyResult<(Arc<OfFunction>, Py<PyAny>)> {
    let py = parts.code.py();
    drop_lonely_methods(py);
    let (cache, hook) = (Arc::new(CodeCache::default()), NestedHook::new());
    registry::add_entry(&cache, &hook);
    let (code, globals) = (parts.code.to_owned().unbind(), parts.globals.to_owned().unbind());
    let of = Arc::new(OfFunction { cache, code, globals, hook, key });
    let owner = new_native(py, Box::new(Owner(of.clone())))?;
    let reference = PyWeakrefReference::new(owner.bind(py))?.unbind();
    let before = OWNERS.lock().insert(key, reference);
    let other =
        (is_function && parts.closure.is_none()).then(|| BY_CODE.lock().insert(of.by_code(), Arc::downgrade(&of)));
    drop((before, other));
    Ok((of, owner))
}

/// The cache from which frames of a function without cells are served, if somebody has wrapped it.
pub(super) fn cache_of_code(code: &Bound<'_, PyCode>, globals: &Bound<'_, PyDict>) -> Option<Arc<CodeCache>> {
    let key = (code.as_ptr() as usize, globals.as_ptr() as usize);
    let found = BY_CODE.lock().get(&key)?.upgrade()?;
    Some(found.cache.clone())
}

/// Methods whose receivers nobody else holds rest no more.
fn drop_lonely_methods(py: Python<'_>) {
    let resting: Vec<RestingMethod> = std::mem::take(&mut *RESTING_METHODS.lock());
    if resting.is_empty() {
        return;
    }
    let holders = Holders::count(py, |visit| {
        for method in &resting {
            visit(&method.receiver);
            if let Some(of) = of_owner(method.owner.bind(py)) {
                of.traverse(visit);
            }
        }
    });
    let (lonely, others): (Vec<_>, Vec<_>) =
        resting.into_iter().partition(|method| holders.alone_hold(method.receiver.as_ptr() as usize));
    RESTING_METHODS.lock().splice(0..0, others);
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
    found().is_some_and(|found| {
        found.is(function) || crate::cpython::entry_parts(&found).is_some_and(|of| of.func.is(function))
    })
}

/// All that is old is about to be collected: what rests goes, but for what a module has.
pub(super) fn before_collection(py: Python<'_>) {
    let methods = std::mem::take(&mut *RESTING_METHODS.lock());
    let objects = RESTING.lock().objects(py);
    let local: Vec<_> = objects.into_iter().filter(|object| !is_of_module(object)).collect();
    let functions: Vec<_> =
        local.iter().filter_map(|object| RESTING.lock().get_mut(object).and_then(Option::take)).collect();
    drop((methods, functions, local));
}

/// Nothing rests any more.
pub(super) fn wake_all() {
    let methods = std::mem::take(&mut *RESTING_METHODS.lock());
    let functions: Vec<_> = RESTING.lock().values_mut().filter_map(Option::take).collect();
    drop((methods, functions));
}
