//! Caches of C (`functools.lru_cache`), and what they remember.
//!
//! One key is looked at, and what the cache has for it is found where a guard or new code follows the path to the question. A
//! result that was remembered is counted where the side effects are replayed, by a call of the cache.

use crate::cpython::facts;
use crate::cpython::native::{NativeBody, body_of, new_native};
use crate::cpython::slots::Slots;
use crate::cpython::{result_in_cache, table_of_cache};
use pyo3::prelude::*;
use pyo3::types::*;
use std::any::Any;

pub(crate) use crate::cpython::is_cache;

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
    };
    (is_plain(kept) && is_plain(asked)).then(|| kept.eq(asked).ok()).flatten()
}

fn found<'py>(cache: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let (table, _, _) = table_of_cache(cache)?;
    let hash = key.hash().ok()?;
    for kept in facts::keys_of_hash(&table, key, hash) {
        if is_equal(&kept, key)? {
            return result_in_cache(&table.get_item(kept).ok()??);
        }
    }
    None
}

/// What a cache has for a call.
pub(crate) enum Memory {
    /// The result of the call, where it is remembered.
    Result,
    /// That it is not.
    Nothing,
    /// Nobody asks for more than that it is counted.
    Count,
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

/// What it is answered now; `None`: nothing is remembered, or this is no such question.
pub(crate) fn answer<'py>(question: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let asked = body_of(question)?.as_any().downcast_ref::<Asked>()?;
    let py = question.py();
    let found = found(asked.cache.bind(py), asked.key.bind(py));
    match asked.what {
        Memory::Result => found,
        Memory::Nothing => Some(PyBool::new(py, found.is_none()).to_owned().into_any()),
        Memory::Count => None,
    }
}

impl NativeBody for Asked {
    /// What is remembered is asked for, as the program did. Where another thread has cleared the cache meanwhile there is nothing
    /// to count any more.
    fn call<'py>(&self, py: Python<'py>, _args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let cache = self.cache.bind(py);
        if found(cache, self.key.bind(py)).is_some() {
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
