//! Locks of C (`threading.Lock`, `threading.RLock`): whether one is held, and by whom.

use crate::cpython::module;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lock {
    /// It is held or not.
    Plain,
    /// Its thread may take it again.
    Recursive,
}

/// What kind of lock the values of a class are.
pub(crate) fn lock(class: &Bound<'_, PyType>) -> Option<Lock> {
    static CLASSES: PyOnceLock<Vec<(Py<PyAny>, Lock)>> = PyOnceLock::new();
    let py = class.py();
    let classes = CLASSES.get_or_init(py, || {
        let known = [("LockType", Lock::Plain), ("RLock", Lock::Recursive)];
        let found = known.into_iter().filter_map(|(name, lock)| {
            let class = module(py, "_thread").and_then(|module| module.getattr(name)).ok()?;
            Some((class.unbind(), lock))
        });
        found.collect()
    });
    classes.iter().find(|(known, _)| class.is(known)).map(|(_, lock)| *lock)
}

/// How often a lock is held: -1 where another thread holds it that may take it again; `None`: this is no lock.
pub(crate) fn held<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = value.py();
    let count = match lock(&value.get_type())? {
        Lock::Plain => i64::from(value.call_method0("locked").ok()?.is_truthy().ok()?),
        Lock::Recursive => {
            // Nothing else tells.
            let text = crate::cpython::signals::asking(py, || Ok(value.repr()?.to_string()))?;
            let number = |name: &str| -> Option<i64> {
                text.split_whitespace().find_map(|word| word.strip_prefix(name))?.parse().ok()
            };
            let (owner, count) = (number("owner=")?, number("count=")?);
            let owned: bool = value.call_method0("_is_owned").ok()?.is_truthy().ok()?;
            if owned || owner == 0 { count } else { -1 }
        }
    };
    Some(PyInt::new(py, count).into_any())
}
