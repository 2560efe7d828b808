//! Warnings of which nobody hears: the filters ignore them, or their line has given them before. A call of `warnings.warn` that gives such
//! a one has no effect but this:
//!
//! What was given before is written down in a dict of the module that warns (`__warningregistry__`), and counts until somebody changes the
//! filters, which C counts ("version"). A warning that finds a count of before empties the dict, even if it is ignored then. Nobody may ask for that count but by a warning: [`version`] gives one that can be heard of by nobody.

use crate::cpython::native::{NativeBody, new_native};
use crate::cpython::slots::Slots;
use crate::cpython::{module, warnings};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple, PyType};
use std::any::Any;

/// A warning as C gives it for a line of Python.
pub(crate) struct Warning {
    pub(crate) text: Py<PyAny>,
    /// A class of C.
    pub(crate) category: Py<PyAny>,
    pub(crate) line: u32,
    /// Of the code that warns.
    pub(crate) globals: Py<PyDict>,
}

/// What giving a warning comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Somebody may hear of it.
    Heard,
    /// Nobody does, and nothing happens.
    Nothing,
    /// Nobody does; what was given before is forgotten.
    Forgets,
}

impl Warning {
    /// What giving it would come to now.
    pub(crate) fn outcome(&self, py: Python<'_>) -> Outcome {
        self.ask(py).unwrap_or(Outcome::Heard)
    }

    fn ask(&self, py: Python<'_>) -> PyResult<Outcome> {
        let globals = self.globals.bind(py);
        // C makes one where there is none.
        let (Some(registry), Some(filters)) = (self.registry(py)?, warnings::filters(py)) else {
            return Ok(Outcome::Heard);
        };
        let Some(now) = version(py, &filters)? else { return Ok(Outcome::Heard) };
        let then = registry.get_item(intern!(py, "version"))?;
        let counts = then.is_some_and(|then| then.is_exact_instance_of::<PyInt>() && then.eq(now).unwrap_or(false));
        if counts {
            let said = registry.get_item((&self.text, &self.category, self.line))?;
            if said.map_or(Ok(false), |said| said.is_truthy())? {
                return Ok(Outcome::Nothing);
            }
        }
        Ok(match (self.is_ignored(&filters, globals)?, counts) {
            (true, true) => Outcome::Nothing,
            (true, false) => Outcome::Forgets,
            (false, _) => Outcome::Heard,
        })
    }

    /// Where it is written down what was given before.
    pub(crate) fn registry<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let registry = self.globals.bind(py).get_item(intern!(py, "__warningregistry__"))?;
        Ok(registry.and_then(|registry| registry.cast_into_exact::<PyDict>().ok()))
    }

    fn forget(&self, py: Python<'_>) -> PyResult<()> {
        let (Outcome::Forgets, Some(registry)) = (self.outcome(py), self.registry(py)?) else { return Ok(()) };
        let arguments = PyDict::new(py);
        arguments.set_item(intern!(py, "registry"), registry)?;
        arguments.set_item(intern!(py, "module"), self.globals.bind(py).get_item(intern!(py, "__name__"))?)?;
        let warn = module(py, "_warnings")?.getattr("warn_explicit")?;
        warn.call((&self.text, &self.category, intern!(py, "sot"), self.line), Some(&arguments)).map(drop)
    }

    /// Whether the first filter that is meant for it ignores it.
    fn is_ignored(&self, filters: &Bound<'_, PyList>, globals: &Bound<'_, PyDict>) -> PyResult<bool> {
        let py = filters.py();
        let Some(name) = globals.get_item(intern!(py, "__name__"))? else { return Ok(false) };
        for filter in filters.iter() {
            let Some([action, text, category, of_module, line]) = parts(&filter) else { return Ok(false) };
            let line: u32 = line.extract()?;
            if matches(&text, self.text.bind(py))?
                && self.category.bind(py).cast::<PyType>()?.is_subclass(&category)?
                && matches(&of_module, &name)?
                && (line == 0 || line == self.line)
            {
                return action.eq(intern!(py, "ignore"));
            }
        }
        Ok(false)
    }

    pub(crate) fn clone_ref(&self, py: Python<'_>) -> Warning {
        let Warning { text, category, line, globals } = self;
        let (text, category, globals) = (text.clone_ref(py), category.clone_ref(py), globals.clone_ref(py));
        Warning { text, category, line: *line, globals }
    }

    pub(crate) fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.text);
        visit(&self.category);
        visit(self.globals.as_any());
    }
}

/// An object that gives a warning when it is called, if nothing comes of that but that others are forgotten.
pub(crate) fn forgetting(py: Python<'_>, warning: Warning) -> PyResult<Py<PyAny>> {
    new_native(py, Box::new(Forgetting(warning)))
}

struct Forgetting(Warning);

impl NativeBody for Forgetting {
    fn call<'py>(&self, py: Python<'py>, _args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        self.0.forget(py)?;
        Ok(py.None().into_bound(py))
    }

    fn name(&self) -> &str {
        "forgetting"
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.0.traverse(visit);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The parts of a filter, if asking it runs no code of the program.
fn parts<'py>(filter: &Bound<'py, PyAny>) -> Option<[Bound<'py, PyAny>; 5]> {
    let filter = filter.cast_exact::<PyTuple>().ok()?;
    let parts: [Bound<'py, PyAny>; 5] = filter.iter().collect::<Vec<_>>().try_into().ok()?;
    let [action, text, category, of_module, line] = &parts;
    let is_text = |part: &Bound<'py, PyAny>| part.is_exact_instance_of::<PyString>();
    let is_pattern = |part: &Bound<'py, PyAny>| part.is_none() || is_text(part) || is_compiled(part);
    let plain = is_text(action)
        && is_pattern(text)
        && category.get_type().is(filter.py().get_type::<PyType>())
        && is_pattern(of_module)
        && line.is_exact_instance_of::<PyInt>();
    plain.then_some(parts)
}

/// Whether an object is a pattern of `re`, whose class nobody can extend.
fn is_compiled(object: &Bound<'_, PyAny>) -> bool {
    module(object.py(), "re").and_then(|re| re.getattr("Pattern")).is_ok_and(|class| object.get_type().is(&class))
}

fn matches(pattern: &Bound<'_, PyAny>, text: &Bound<'_, PyAny>) -> PyResult<bool> {
    match pattern {
        pattern if pattern.is_none() => Ok(true),
        pattern if pattern.is_exact_instance_of::<PyString>() => pattern.eq(text),
        pattern => Ok(!pattern.call_method1(intern!(pattern.py(), "match"), (text,))?.is_none()),
    }
}

/// How often the filters were changed, as C counts; `None`: they are such that it would be heard.
///
/// A warning that was given before is forgotten if the count is another one; C notes the new count, and asks the filters. They are asked
/// for no class here: C refuses.
fn version<'py>(py: Python<'py>, filters: &Bound<'py, PyList>) -> PyResult<Option<Bound<'py, PyAny>>> {
    static GIVEN: PyOnceLock<(Py<PyDict>, Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();
    if filters.is_empty() || parts(&filters.get_item(0)?).is_none() {
        return Ok(None);
    }
    let (given, no_class, warn) = GIVEN.get_or_try_init(py, || {
        let no_class = module(py, "builtins")?.getattr("len")?.unbind();
        let warn = module(py, "_warnings")?.getattr("warn_explicit")?.unbind();
        Ok::<_, PyErr>((PyDict::new(py).unbind(), no_class, warn))
    })?;
    let (given, text) = (given.bind(py), intern!(py, "sot"));
    let arguments = PyDict::new(py);
    arguments.set_item(intern!(py, "registry"), given)?;
    if warn.bind(py).call((text, no_class, text, 1), Some(&arguments)).is_err() {
        given.set_item((text, no_class, 1), true)?;
    }
    given.get_item(intern!(py, "version"))
}
