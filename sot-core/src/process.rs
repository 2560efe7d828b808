//! What functions of C say about the process: its number, its thread, its limits; whether it has one thread, whether somebody would hear
//! of a warning, what a mode of the framework is, and which names a class has.
//!
//! Such a call has no effect, and nothing that captured code does changes the answer. It is asked where a guard or new code follows
//! the path to it.

use crate::backend::{Mode, none_registered, registered};
use crate::cpython::native::{NativeBody, body_of, new_native};
use crate::cpython::slots::Slots;
use crate::cpython::thread;
use crate::type_facts;
use crate::unheard::{Outcome, Warning};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::*;
use std::any::Any;

/// Functions without arguments, by module and name.
const ASKED: &[(&str, &str)] = &[
    // Numbers how often somebody has registered with an abstract class, which is left to Python.
    ("_abc", "get_cache_token"),
    ("_thread", "get_ident"),
    ("_thread", "get_native_id"),
    ("nt", "getcwd"),
    ("nt", "getpid"),
    ("nt", "getppid"),
    ("posix", "getcwd"),
    ("posix", "getpid"),
    ("posix", "getppid"),
    ("posix", "getuid"),
    ("sys", "exc_info"),
    ("sys", "exception"),
    ("sys", "getdefaultencoding"),
    ("sys", "getfilesystemencoding"),
    ("sys", "getrecursionlimit"),
    ("sys", "getswitchinterval"),
    ("sys", "is_finalizing"),
];

/// Whether a function of C is one of them.
pub(crate) fn is_asked(module: &str, name: &str) -> bool {
    ASKED.contains(&(module, name))
}

/// The question as an object. `item`: of a tuple that is the answer, this is wanted.
pub(crate) fn question(function: &Bound<'_, PyAny>, item: Option<usize>) -> PyResult<Py<PyAny>> {
    new_native(function.py(), Box::new(Question::Function(function.clone().unbind(), item)))
}

/// The question whether no other thread runs Python code in this interpreter.
pub(crate) fn is_alone(py: Python<'_>) -> PyResult<Py<PyAny>> {
    new_native(py, Box::new(Question::Alone))
}

/// The question whether giving a warning comes to this.
pub(crate) fn comes_to(py: Python<'_>, warning: Warning, outcome: Outcome) -> PyResult<Py<PyAny>> {
    new_native(py, Box::new(Question::Warned(warning, outcome)))
}

/// The question which names a class and its bases have: each once, with zeros between them. Nobody answers where some are no names.
pub(crate) fn names_of_class(class: &Bound<'_, PyType>) -> PyResult<Py<PyAny>> {
    new_native(class.py(), Box::new(Question::Names(class.clone().unbind())))
}

/// The question what a mode of the framework is in this thread.
pub(crate) fn what_mode_is(py: Python<'_>, mode: Mode) -> PyResult<Py<PyAny>> {
    new_native(py, Box::new(Question::Mode(mode)))
}

/// What it is answered now; `None`: this is no question.
pub(crate) fn answer<'py>(question: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let body = body_of(question)?.as_any().downcast_ref::<Question>()?;
    body.ask(question.py()).ok()
}

enum Question {
    Function(Py<PyAny>, Option<usize>),
    Alone,
    Warned(Warning, Outcome),
    Mode(Mode),
    Names(Py<PyType>),
}

impl Question {
    fn ask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Question::Function(function, item) => {
                let answer = function.bind(py).call0()?;
                item.map_or(Ok(answer.clone()), |item| answer.get_item(item))
            }
            Question::Alone => Ok(PyBool::new(py, thread::is_alone(py)).to_owned().into_any()),
            Question::Mode(mode) => registered().ok_or_else(none_registered)?.mode(py, *mode),
            Question::Names(class) => {
                let names = type_facts::names(class.bind(py)).ok_or_else(|| PyTypeError::new_err("keys"))?;
                Ok(PyString::new(py, &names.join("\0")).into_any())
            }
            Question::Warned(warning, outcome) => {
                Ok(PyBool::new(py, warning.outcome(py) == *outcome).to_owned().into_any())
            }
        }
    }
}

impl NativeBody for Question {
    fn call<'py>(&self, py: Python<'py>, _args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        self.ask(py)
    }

    fn name(&self) -> &str {
        "question"
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        match self {
            Question::Function(function, _) => visit(function),
            Question::Alone | Question::Mode(_) => {}
            Question::Names(class) => visit(class.as_any()),
            Question::Warned(warning, _) => warning.traverse(visit),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
