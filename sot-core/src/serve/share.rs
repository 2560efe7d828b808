//! What was captured of one function, or of the method of one object: whoever wraps it shares it.
//!
//! Invariants
//! - One object that the collector knows ([`Owner`]) owns what was captured; each wrapper has a [`Share`] in it. So cycles through
//!   wrappers are found, however many there are.
//! - When the last wrapper goes, what was captured rests until the next one is made ([`resting`]).

use super::by_code;
use super::cache::CodeCache;
use super::hook::{Hook, NestedHook};
use super::{registry, resting};
use crate::cpython::collections::is_collecting;
use crate::cpython::native::{NativeBody, body_of, new_native};
use crate::cpython::{Slots, facts};
use crate::engine::registries;
use hashbrown::HashMap;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};
use std::any::Any;
use std::ops::Deref;
use std::sync::Arc;

/// The addresses of a function, and of the receiver if it is bound.
type Key = (usize, usize);

registries! {
    /// Weak references to owners that live.
    OWNERS: HashMap<Key, Py<PyWeakrefReference>> = "captured functions";
}

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
        let known = Python::attach(|py| OWNERS.lock().get(&self.0.key).map(|owner| owner.clone_ref(py)));
        let gone = known.as_ref().is_some_and(|owner| Python::attach(|py| owner.bind(py).upgrade().is_none()));
        let owner = gone.then(|| OWNERS.lock().remove(&self.0.key));
        by_code::remove(self.0.by_code(), &self.0.cache);
        drop((owner, known));
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
        resting::wake(function, receiver);
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
        resting::keep(self.function.bind(py), self.receiver.as_ref().map(|it| it.bind(py)), owner);
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
    let (cache, hook) = (Arc::new(CodeCache::default()), NestedHook::new());
    registry::add_entry(&cache, &hook);
    let (code, globals) = (parts.code.to_owned().unbind(), parts.globals.to_owned().unbind());
    let of = Arc::new(OfFunction { cache, code, globals, hook, key });
    let owner = new_native(py, Box::new(Owner(of.clone())))?;
    let reference = PyWeakrefReference::new(owner.bind(py))?.unbind();
    let before = OWNERS.lock().insert(key, reference);
    drop(before);
    by_code::add(of.by_code(), &of.cache, is_function && parts.closure.is_none());
    Ok((of, owner))
}
