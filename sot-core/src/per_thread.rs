//! Values that belong to the thread or the context that asks: `threading.local`, `contextvars.ContextVar`.
//!
//! What one holds is asked for anew wherever a guard or new code follows the path to it. A context variable that is set and set back in
//! one capture is so where the side effects are replayed, by a *setter*, which keeps the token.

use crate::cpython::facts;
use crate::cpython::native::{NativeBody, body_of, new_native};
use crate::cpython::slots::Slots;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::*;
use std::any::Any;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PerThread {
    /// It has attributes, in a dict for each thread.
    Local,
    /// It has one value.
    Variable,
}

/// What of the kind the values of a class are, if it is the one of C.
pub(crate) fn per_thread(class: &Bound<'_, PyType>) -> Option<PerThread> {
    if facts::is_class_of_context_variables(class) {
        return Some(PerThread::Variable);
    }
    // A class of the program may have any name.
    if !facts::is_named_below(class, "_thread._local") {
        return None;
    }
    facts::imported_value(class.py(), "_thread", "_local")?.is(class).then_some(PerThread::Local)
}

/// What it holds here and now: the dict of attributes, or the value; `None`: there is no value, or this is neither.
pub(crate) fn held<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    match per_thread(&value.get_type())? {
        PerThread::Local => value.getattr("__dict__").ok(),
        PerThread::Variable => value.call_method0("get").ok(),
    }
}

/// Sets a context variable to what it is given, and given nothing takes that back with the token that it has got for it.
struct Setter {
    variable: Py<PyAny>,
    /// The same capture does so. A token holds what was there before: nobody else keeps one.
    takes_back: AtomicBool,
    /// Of who has not taken it back, by thread: one may come between others.
    tokens: Mutex<Vec<(ThreadId, Py<PyAny>)>>,
}

/// A setter of a context variable, for one call of `set` in a capture.
pub(crate) fn setter(variable: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let body = Setter {
        variable: variable.clone().unbind(),
        takes_back: AtomicBool::new(false),
        tokens: Mutex::new(Vec::new()),
    };
    new_native(variable.py(), Box::new(body))
}

/// Whether an object is a setter of this variable.
pub(crate) fn is_setter_of(object: &Bound<'_, PyAny>, variable: &Bound<'_, PyAny>) -> bool {
    let setter = body_of(object).and_then(|body| body.as_any().downcast_ref::<Setter>());
    setter.is_some_and(|setter| setter.variable.is(variable))
}

/// What this setter has set is taken back by the capture that it belongs to.
pub(crate) fn takes_back(object: &Bound<'_, PyAny>) {
    if let Some(setter) = body_of(object).and_then(|body| body.as_any().downcast_ref::<Setter>()) {
        setter.takes_back.store(true, Ordering::Relaxed);
    }
}

impl Setter {
    fn tokens(&self) -> std::sync::MutexGuard<'_, Vec<(ThreadId, Py<PyAny>)>> {
        self.tokens.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl NativeBody for Setter {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let (variable, me) = (self.variable.bind(py), thread::current().id());
        if let Some(value) = args.get(py, 0) {
            let token = variable.call_method1("set", (value,))?.unbind();
            if self.takes_back.load(Ordering::Relaxed) {
                self.tokens().push((me, token));
            }
            return Ok(py.None().into_bound(py));
        }
        let token = {
            let mut tokens = self.tokens();
            let at = tokens.iter().rposition(|(thread, _)| *thread == me);
            at.map(|at| tokens.remove(at).1)
        };
        let token = token.ok_or_else(|| PyRuntimeError::new_err("sot: nothing was set"))?;
        variable.call_method1("reset", (token,))
    }

    fn name(&self) -> &str {
        "set"
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.variable);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
