//! Warnings that eager operations give, so that a compiled graph can give them as well.
//!
//! A framework's Python code warns when it runs eagerly; compiled there is no such code. So the replays that prove a
//! compiled graph are listened to, and what was heard is said again at each compiled call: through
//! `warnings.warn_explicit` with the line and the registry of the original, so that filters, "once" and
//! `catch_warnings` do what they do in eager execution.

use crate::replaced::Replaced;
use pyo3::exceptions::PyUserWarning;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::{Arc, Mutex, MutexGuard};

/// One warning, as `warn_explicit` takes it.
pub(crate) struct Warning {
    message: Py<PyAny>,
    category: Py<PyAny>,
    filename: String,
    line: u32,
    /// The globals of the line: they hold the name of the module and the registry.
    globals: Py<PyDict>,
}

impl Warning {
    /// What a call of `warnings.warn` means; `None` if that is not understood.
    fn of(py: Python<'_>, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Option<Warning>> {
        let mut given: [Option<Bound<'_, PyAny>>; 3] = [None, None, None];
        if args.len() > given.len() {
            return Ok(None);
        }
        for (i, value) in args.iter().enumerate() {
            given[i] = Some(value);
        }
        for (key, value) in kwargs.map(|k| k.iter()).into_iter().flatten() {
            let names = ["message", "category", "stacklevel"];
            match names.iter().position(|n| key.eq(n).unwrap_or(false)) {
                Some(i) if given[i].is_none() => given[i] = Some(value),
                // `source` only helps to find leaks of files.
                None if key.eq("source")? => {}
                _ => return Ok(None),
            }
        }
        let [Some(message), category, level] = given else { return Ok(None) };
        let category = match category.filter(|c| !c.is_none()) {
            _ if message.is_instance(&py.get_type::<pyo3::exceptions::PyWarning>())? => message.get_type().into_any(),
            Some(category) => category,
            None => py.get_type::<PyUserWarning>().into_any(),
        };
        let level = level.map_or(Ok(1), |l| l.extract::<i64>())?.max(1) - 1;
        let Ok(frame) = crate::cpython::module(py, "sys")?.call_method1(intern!(py, "_getframe"), (level,)) else {
            return Ok(None);
        };
        Ok(Some(Warning {
            message: message.unbind(),
            category: category.unbind(),
            filename: frame.getattr(intern!(py, "f_code"))?.getattr(intern!(py, "co_filename"))?.extract()?,
            line: frame.getattr(intern!(py, "f_lineno"))?.extract()?,
            globals: frame.getattr(intern!(py, "f_globals"))?.cast_into::<PyDict>()?.unbind(),
        }))
    }

    /// Give it again.
    pub(crate) fn repeat(&self, py: Python<'_>) -> PyResult<()> {
        let globals = self.globals.bind(py);
        let key = intern!(py, "__warningregistry__");
        let registry = match globals.get_item(key)? {
            Some(registry) => registry,
            None => {
                let registry = PyDict::new(py).into_any();
                globals.set_item(key, &registry)?;
                registry
            }
        };
        let module = globals.get_item(intern!(py, "__name__"))?;
        let module = module.unwrap_or_else(|| intern!(py, "<string>").clone().into_any());
        let arguments = (&self.message, &self.category, &self.filename, self.line, module, registry);
        crate::cpython::module(py, "warnings")?.call_method1(intern!(py, "warn_explicit"), arguments).map(drop)
    }

    fn same(&self, other: &Warning, py: Python<'_>) -> PyResult<bool> {
        Ok(self.line == other.line
            && self.filename == other.filename
            && self.category.is(&other.category)
            && self.message.bind(py).str()?.as_any().eq(other.message.bind(py).str()?)?)
    }

    pub(crate) fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.message);
        visit(&self.category);
        visit(self.globals.as_any());
    }
}

/// Whether two runs warned of the same.
pub(crate) fn same(py: Python<'_>, a: &[Warning], b: &[Warning]) -> PyResult<bool> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (a, b) in a.iter().zip(b) {
        if !a.same(b, py)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `None` when something was not understood.
type Heard = Arc<Mutex<Option<Vec<Warning>>>>;

fn lock(heard: &Heard) -> MutexGuard<'_, Option<Vec<Warning>>> {
    heard.lock().unwrap_or_else(|e| e.into_inner())
}

/// While it lives, warnings of this thread are heard; they go their way, too.
pub(crate) struct Listening<'py> {
    _warn: Replaced<'py>,
    heard: Heard,
}

impl<'py> Listening<'py> {
    pub(crate) fn start(py: Python<'py>) -> PyResult<Listening<'py>> {
        let heard: Heard = Arc::new(Mutex::new(Some(Vec::new())));
        let ours = heard.clone();
        let warn = Replaced::new(crate::cpython::module(py, "warnings")?, "warn", move |args, kwargs| {
            let warning = Warning::of(args.py(), args, kwargs).unwrap_or(None);
            let mut heard = lock(&ours);
            match (warning, heard.as_mut()) {
                (Some(warning), Some(list)) => list.push(warning),
                _ => *heard = None,
            }
            None
        })?;
        Ok(Listening { _warn: warn, heard })
    }

    /// All that was heard; `None` if something was not understood.
    pub(crate) fn finish(self) -> Option<Vec<Warning>> {
        lock(&self.heard).take()
    }
}
