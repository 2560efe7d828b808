//! Groups of exceptions as the interpreter has them (3.11+): their classes, their parts, and in what its versions differ.

use crate::code_unit::records;
use crate::cpython::facts;
use crate::type_facts;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;

/// What the interpreter's groups of exceptions are, and how it goes about them (3.11+).
pub(crate) struct Groups<'py> {
    /// `BaseExceptionGroup` and `ExceptionGroup`.
    pub base: Bound<'py, PyType>,
    pub ordinary: Bound<'py, PyType>,
    /// Parts may be asked for by any callable, not by functions alone.
    pub asks_any_callable: bool,
    /// What is said of what they cannot be asked for by.
    pub refusal: &'static str,
    /// The group that `except*` makes of an exception that is none has a traceback.
    pub naked_have_tracebacks: bool,
}

struct GroupFacts {
    base: Py<PyType>,
    ordinary: Py<PyType>,
    asks_any_callable: bool,
    refusal: String,
    naked_have_tracebacks: bool,
}

/// Asks the interpreter: versions of one minor number differ.
const ASK_GROUPS: &std::ffi::CStr = c"
def ask(callable):
    group = ExceptionGroup('', [ValueError()])
    try:
        group.split(callable)
        any_callable = True
    except TypeError:
        any_callable = False
    try:
        group.split(0)
    except TypeError as e:
        refusal = str(e)
    try:
        raise ValueError
    except* ValueError as e:
        naked = e.__traceback__ is not None
    return any_callable, refusal, naked
";

static GROUPS: PyOnceLock<GroupFacts> = PyOnceLock::new();

/// Ask the interpreter, which runs code: not in the middle of a capture.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    if py.version_info() < (3, 11) {
        return Ok(());
    }
    GROUPS.get_or_try_init(py, || ask(py)).map(drop)
}

fn ask(py: Python<'_>) -> PyResult<GroupFacts> {
    let builtins = crate::cpython::module(py, "builtins")?;
    let names = PyDict::new(py);
    py.run(ASK_GROUPS, Some(&names), None)?;
    let ask = names.get_item("ask")?.ok_or_else(|| PyKeyError::new_err("ask"))?;
    records::never_capture(&ask.getattr("__code__")?.cast_into()?);
    let answers = ask.call1((builtins.getattr("callable")?,))?;
    let (asks_any_callable, refusal, naked_have_tracebacks) = answers.extract()?;
    Ok(GroupFacts {
        base: builtins.getattr("BaseExceptionGroup")?.cast_into::<PyType>()?.unbind(),
        ordinary: builtins.getattr("ExceptionGroup")?.cast_into::<PyType>()?.unbind(),
        asks_any_callable,
        refusal,
        naked_have_tracebacks,
    })
}

/// `None`: the interpreter has no groups.
pub(crate) fn groups(py: Python<'_>) -> Option<Groups<'_>> {
    let known = GROUPS.get(py)?;
    Some(Groups {
        base: known.base.bind(py).clone(),
        ordinary: known.ordinary.bind(py).clone(),
        asks_any_callable: known.asks_any_callable,
        refusal: &known.refusal,
        naked_have_tracebacks: known.naked_have_tracebacks,
    })
}

impl<'py> Groups<'py> {
    /// Whether an attribute of a class is the one that groups have.
    pub(crate) fn is_own(&self, name: &str, found: &Bound<'_, PyAny>) -> bool {
        type_facts::raw(&self.base, name).is_some_and(|own| own.is(found))
    }

    pub(crate) fn has(&self, exception: &Bound<'_, PyAny>) -> bool {
        facts::mro(&exception.get_type()).iter().any(|class| class.is(&self.base))
    }

    /// The exceptions in a group, whatever its class makes of the name. `None`: it is no group.
    pub(crate) fn parts(&self, exception: &Bound<'py, PyAny>) -> Option<Bound<'py, PyTuple>> {
        let field = self.has(exception).then(|| type_facts::raw(&self.base, "exceptions")).flatten()?;
        let parts = field.call_method1("__get__", (exception, exception.get_type())).ok()?;
        parts.cast_into::<PyTuple>().ok()
    }

    /// How many groups are in each other, as far as that is asked.
    pub(crate) fn depth(&self, exception: &Bound<'py, PyAny>, most: usize) -> usize {
        match self.parts(exception) {
            Some(_) if most == 0 => 1,
            Some(parts) => 1 + parts.iter().map(|part| self.depth(&part, most - 1)).max().unwrap_or(0),
            None => 0,
        }
    }
}
