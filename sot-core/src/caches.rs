//! Caches of C (`functools.lru_cache`), and what they remember.
//!
//! One key is looked at, and what the cache has for it is found where a guard or new code follows the path to the question. A
//! result that was remembered is counted where the side effects are replayed, by a call of the cache. So is one that was not, before
//! the function is simulated; and what that comes to is remembered there, by a call of the cache in which the result stands for its
//! function.

use crate::cpython::facts;
use crate::cpython::native::{NativeBody, body_of, new_native};
use crate::cpython::slots::Slots;
use crate::cpython::{
    call_with_function, has_room, information_of_cache, is_unlimited, own_function_of_cache, result_in_cache,
    table_of_cache, take_back_miss,
};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::*;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use crate::cpython::{function_of_cache, is_cache};

/// What a call of a cache is given: it compares by value, or by identity alone.
pub(crate) struct Call<'py> {
    pub(crate) positional: Vec<Bound<'py, PyAny>>,
    pub(crate) keywords: Vec<(Bound<'py, PyString>, Bound<'py, PyAny>)>,
}

impl<'py> Call<'py> {
    /// The key under which a cache keeps the result of this call.
    fn key(&self, cache: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        let (_, typed, mark) = table_of_cache(cache)?;
        if let ([only], [], false) = (&self.positional[..], &self.keywords[..], typed)
            && (only.is_exact_instance_of::<PyString>() || only.is_exact_instance_of::<PyInt>())
        {
            return Some(only.clone());
        }
        let mut parts = self.positional.clone();
        if !self.keywords.is_empty() {
            parts.push(mark);
            parts.extend(self.keywords.iter().flat_map(|(name, value)| [name.clone().into_any(), value.clone()]));
        }
        if typed {
            let values = self.positional.iter().chain(self.keywords.iter().map(|(_, value)| value));
            parts.extend(values.map(|value| value.get_type().into_any()));
        }
        PyTuple::new(cache.py(), parts).ok().map(Bound::into_any)
    }
}

/// Whether a key that is kept equals one that is asked for; `None`: only code could tell.
fn is_equal(kept: &Bound<'_, PyAny>, asked: &Bound<'_, PyAny>) -> Option<bool> {
    if kept.is(asked) {
        return Some(true);
    }
    if let (Ok(kept), Ok(asked)) = (kept.cast_exact::<PyTuple>(), asked.cast_exact::<PyTuple>()) {
        if kept.len() != asked.len() {
            return Some(false);
        }
        for (kept, asked) in kept.iter().zip(asked.iter()) {
            if !is_equal(&kept, &asked)? {
                return Some(false);
            }
        }
        return Some(true);
    }
    let is_plain = |value: &Bound<'_, PyAny>| {
        value.is_none()
            || value.is_exact_instance_of::<PyString>()
            || value.is_exact_instance_of::<PyInt>()
            || value.is_exact_instance_of::<PyFloat>()
            || value.is_exact_instance_of::<PyBool>()
            || value.is_exact_instance_of::<PyBytes>()
            || value.is_exact_instance_of::<PyTuple>()
            // Types of arguments, and what stands before keywords.
            || value.is_exact_instance_of::<PyType>()
            || value.get_type().is(value.py().get_type::<PyAny>())
    };
    (is_plain(kept) && is_plain(asked)).then(|| kept.eq(asked).ok()).flatten()
}

/// What a cache has for a key.
enum Found<'py> {
    Here(Bound<'py, PyAny>),
    Not,
    /// Only a call tells: code compares the key with one that is kept.
    CodeTells,
}

fn found<'py>(cache: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> Found<'py> {
    let (Some((table, _, _)), Ok(hash)) = (table_of_cache(cache), key.hash()) else { return Found::CodeTells };
    for kept in facts::keys_of_hash(&table, key, hash) {
        match is_equal(&kept, key) {
            Some(true) => {
                let held = table.get_item(kept).ok().flatten();
                return held.and_then(|held| result_in_cache(&held)).map_or(Found::CodeTells, Found::Here);
            }
            Some(false) => {}
            None => return Found::CodeTells,
        }
    }
    Found::Not
}

/// What a cache has for a call.
pub(crate) enum Memory {
    /// The result of the call, where it is remembered.
    Result,
    /// That it is not.
    Nothing,
    /// Nobody asks for more than that it is counted.
    Count,
    /// Whether so many results more are remembered without one that is let go of.
    Room(usize),
    /// As `Count`, of a call that is not remembered: its function is about to be called.
    Missed,
    /// The call has come to what is given.
    Keep,
}

struct Asked {
    cache: Py<PyAny>,
    key: Py<PyAny>,
    positional: Py<PyTuple>,
    keywords: Option<Py<PyDict>>,
    what: Memory,
}

/// A question about a call of a cache, as an object; `None`: it cannot be asked without running code.
pub(crate) fn question(cache: &Bound<'_, PyAny>, call: &Call<'_>, what: Memory) -> Option<Py<PyAny>> {
    let py = cache.py();
    let key = call.key(cache)?;
    let positional = PyTuple::new(py, &call.positional).ok()?;
    let keywords = match call.keywords.is_empty() {
        true => None,
        false => Some(call.keywords.clone().into_py_dict(py).ok()?.unbind()),
    };
    let (cache, key, positional) = (cache.clone().unbind(), key.unbind(), positional.unbind());
    new_native(py, Box::new(Asked { cache, key, positional, keywords, what })).ok()
}

/// How often a cache was asked for what it remembers, and for what it does not, and how much that is; `None`: this is no cache.
pub(crate) fn counts<'py>(cache: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let information = information_of_cache(cache)?;
    let counts = (information.hits, information.misses, information.length);
    counts.into_pyobject(cache.py()).ok().map(Bound::into_any)
}

/// The class of what a cache tells of itself, and how many results it remembers at most, where `functools` has made it.
pub(crate) fn kind_of_information<'py>(cache: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Option<usize>)> {
    let information = information_of_cache(cache)?;
    let own = facts::imported_value(cache.py(), "functools", "_CacheInfo")?;
    own.is(&information.class).then_some((own, information.most))
}

/// What a question adds to the counts of this cache, once it is told.
pub(crate) fn adds_to_counts(question: &Bound<'_, PyAny>, cache: &Bound<'_, PyAny>) -> [i64; 3] {
    let asked = body_of(question).and_then(|body| body.as_any().downcast_ref::<Asked>());
    match asked.filter(|asked| asked.cache.is(cache)).map(|asked| &asked.what) {
        Some(Memory::Count) => [1, 0, 0],
        Some(Memory::Missed) => [0, 1, 0],
        Some(Memory::Keep) => [0, 0, 1],
        _ => [0; 3],
    }
}

/// What it is answered now; `None`: nothing is remembered, only code can tell, or this is no such question.
pub(crate) fn answer<'py>(question: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let asked = body_of(question)?.as_any().downcast_ref::<Asked>()?;
    let py = question.py();
    let found = found(asked.cache.bind(py), asked.key.bind(py));
    match asked.what {
        Memory::Result => match found {
            Found::Here(result) => Some(result),
            Found::Not | Found::CodeTells => None,
        },
        Memory::Nothing => Some(PyBool::new(py, matches!(found, Found::Not)).to_owned().into_any()),
        Memory::Room(more) => Some(PyBool::new(py, has_room(asked.cache.bind(py), more)).to_owned().into_any()),
        Memory::Count | Memory::Missed | Memory::Keep => None,
    }
}

/// Whether a question counts what its cache does not remember, if it is a question about this cache.
pub(crate) fn is_miss_of(question: &Bound<'_, PyAny>, cache: &Bound<'_, PyAny>) -> bool {
    let asked = body_of(question).and_then(|body| body.as_any().downcast_ref::<Asked>());
    asked.is_some_and(|asked| asked.cache.is(cache) && matches!(asked.what, Memory::Missed))
}

/// Whether a question is what the result of this call is given to; `None`: only code could tell whether it is this call.
pub(crate) fn keeps_same(question: &Bound<'_, PyAny>, call: &Bound<'_, PyAny>) -> Option<bool> {
    let py = question.py();
    let asked = |question| Some(body_of(question)?.as_any().downcast_ref::<Asked>());
    let (Some(Some(kept)), Some(Some(call))) = (asked(question), asked(call)) else { return Some(false) };
    match matches!(kept.what, Memory::Keep) && kept.cache.is(&call.cache) {
        true => is_equal(kept.key.bind(py), call.key.bind(py)),
        false => Some(false),
    }
}

impl Asked {
    /// Call the cache with this in the place of what its function comes to, or with an exception in it. Who else calls the cache meanwhile
    /// (a finalizer) is answered by the function. Whether the cache has asked what stands there.
    fn call_with(&self, py: Python<'_>, result: Option<Py<PyAny>>) -> PyResult<bool> {
        let cache = self.cache.bind(py);
        let own = own_function_of_cache(cache).map(Bound::unbind);
        let (given, raises) = (self.positional.clone_ref(py), result.is_none());
        let named = self.keywords.as_ref().map(|keywords| keywords.clone_ref(py));
        let asked = Arc::new(AtomicBool::new(false));
        let is_asked = asked.clone();
        let stand_in = PyCFunction::new_closure(py, None, None, move |args, keywords| -> PyResult<Py<PyAny>> {
            let py = args.py();
            let given = given.bind(py);
            let same = |(arg, given): (Bound<'_, PyAny>, Bound<'_, PyAny>)| arg.is(&given);
            let names = |keywords: Option<&Bound<'_, PyDict>>| keywords.map_or(0, |keywords| keywords.len());
            let named = named.as_ref().map(|named| named.bind(py));
            let is_named = names(keywords) == names(named)
                && named.is_none_or(|named| {
                    named.iter().all(|(name, given)| {
                        let arg = keywords.and_then(|keywords| keywords.get_item(name).ok().flatten());
                        arg.is_some_and(|arg| arg.is(&given))
                    })
                });
            let is_given = is_named && args.len() == given.len() && args.iter().zip(given.iter()).all(same);
            asked.fetch_or(is_given, Ordering::Relaxed);
            match (is_given, &own, &result) {
                (false, Some(own), _) => own.bind(py).call(args, keywords).map(Bound::unbind),
                (_, _, Some(result)) => Ok(result.clone_ref(py)),
                _ => Err(PyRuntimeError::new_err("counted")),
            }
        })?;
        let keywords = self.keywords.as_ref().map(|keywords| keywords.bind(py));
        let called = call_with_function(cache, stand_in.as_any(), self.positional.bind(py), keywords);
        match called {
            Err(error) if !(raises && error.is_instance_of::<PyRuntimeError>(py)) => Err(error),
            _ => Ok(is_asked.load(Ordering::Relaxed)),
        }
    }
}

impl NativeBody for Asked {
    /// What is remembered is asked for, as the program did. Where another thread has cleared the cache meanwhile there is nothing
    /// to count any more.
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let cache = self.cache.bind(py);
        match (&self.what, args.get(py, 0)) {
            (Memory::Missed, _) => {
                self.call_with(py, None)?;
                return Ok(py.None().into_bound(py));
            }
            (Memory::Keep, Some(result)) => {
                // Where somebody has called it with the same meanwhile, a cache with a limit remembers that: this one, too, is no answer any
                // more. One without a limit remembers what comes last.
                match (found(cache, self.key.bind(py)), table_of_cache(cache)) {
                    (Found::Not, _) => {
                        let asked = self.call_with(py, Some(result.to_owned().unbind()))?;
                        if asked {
                            take_back_miss(cache);
                        }
                    }
                    (Found::Here(_), Some((table, ..))) if is_unlimited(cache) => {
                        table.set_item(self.key.bind(py), result.to_owned())?;
                    }
                    _ => {}
                }
                return Ok(py.None().into_bound(py));
            }
            _ => {}
        }
        if let Found::Here(_) = found(cache, self.key.bind(py)) {
            cache.call(self.positional.bind(py), self.keywords.as_ref().map(|keywords| keywords.bind(py)))?;
        }
        Ok(py.None().into_bound(py))
    }

    fn name(&self) -> &str {
        "cached"
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.cache);
        visit(&self.key);
        visit(self.positional.as_any());
        if let Some(keywords) = &self.keywords {
            visit(keywords.as_any());
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
