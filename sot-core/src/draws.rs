//! Streams of random numbers of C, and what they are about to give: `random.random()`, `np.random.uniform()`.
//!
//! What a stream gives next follows from its state, which nobody else moves while a frame is under way. So a number that is drawn
//! is known before it is: a copy of the stream gives it, and the stream itself moves where the side effects are replayed. A *draw*
//! is one such call and those of the same frame before it; it is asked as often as somebody wants the number.

use crate::cpython::facts;
use crate::cpython::native::{NativeBody, body_of, new_native};
use crate::cpython::slots::Slots;
use crate::engine::{Registry, registries};
use crate::libraries;
use crate::numbers::varies;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;
use std::any::Any;

/// Whose streams they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stream {
    /// `random.Random`, no class that extends it.
    Python,
    /// `numpy.random.RandomState`
    Numpy,
}

/// Methods that give one int or float, if they are given ints and floats alone.
const OF_PYTHON: &[&str] = &["random", BITS];
const OF_NUMPY: &[&str] = &[
    "beta",
    "binomial",
    "exponential",
    "gamma",
    "normal",
    "poisson",
    "rand",
    "randint",
    "randn",
    "random",
    "random_sample",
    "standard_normal",
    "uniform",
];
pub(crate) const BITS: &str = "getrandbits";
/// What the other methods of `random.Random` make their ints of.
pub(crate) const BELOW: &str = "_randbelow_with_getrandbits";
/// Copies that are kept for the next who asks.
const KEPT: usize = 4;

/// One call of a method of a stream.
pub(crate) struct Drawing {
    pub(crate) name: Py<PyString>,
    pub(crate) args: Py<PyTuple>,
}

/// What kind of stream a value is.
pub(crate) fn stream(value: &Bound<'_, PyAny>) -> Option<Stream> {
    let ty = value.get_type();
    let is = |module: &str, name: &str| Some(facts::imported_value(value.py(), module, name)?.is(&ty));
    match last_name(&ty).as_str() {
        "Random" if is("random", "Random")? => Some(Stream::Python),
        "RandomState" if is("numpy.random.mtrand", "RandomState")? => Some(Stream::Numpy),
        _ => None,
    }
}

/// What a stream of numpy makes its numbers of.
pub(crate) fn generator_of_bits<'py>(kind: Stream, stream: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    match kind {
        Stream::Python => None,
        Stream::Numpy => stream.getattr("_bit_generator").ok(),
    }
}

/// The name of a type without its module, for which no metaclass is asked.
fn last_name(ty: &Bound<'_, PyType>) -> String {
    let name = facts::name_in_messages(ty);
    name.rsplit('.').next().unwrap_or_default().to_owned()
}

/// Whether a method of this name draws a number and does nothing else, if the class of the stream has its own.
pub(crate) fn is_known(stream: Stream, name: &str) -> bool {
    match stream {
        Stream::Python => OF_PYTHON.contains(&name) || name == BELOW,
        Stream::Numpy => OF_NUMPY.contains(&name),
    }
}

/// Whether that is what was found in the class.
pub(crate) fn is_its_own(stream: Stream, method: &Bound<'_, PyAny>, name: &str) -> bool {
    // A class of Python may have been given others.
    match (stream, name) {
        (Stream::Numpy, _) => true,
        (Stream::Python, BELOW) => facts::func_parts(method).is_some_and(|parts| {
            let file = parts.code.getattr("co_filename").and_then(|file| file.extract::<String>());
            file.is_ok_and(|file| libraries::is_standard_library(method.py(), &file))
        }),
        (Stream::Python, _) => !facts::is_function(method) && method.getattr("__objclass__").is_ok(),
    }
}

/// Whether a value is a function that Cython has made, as those of numpy's streams are.
pub(crate) fn is_of_cython(value: &Bound<'_, PyAny>) -> bool {
    last_name(&value.get_type()) == "cython_function_or_method"
}

/// Whether a function of Python is likely to be such a method.
pub(crate) fn may_draw(function: &Bound<'_, PyAny>) -> bool {
    facts::func_parts(function).is_some_and(|parts| {
        parts.code.getattr("co_name").is_ok_and(|name| name.is(pyo3::intern!(function.py(), BELOW)))
    })
}

/// A draw as an object: the last of these calls is its own.
pub(crate) fn draw(kind: Stream, stream: &Bound<'_, PyAny>, calls: Vec<Drawing>) -> PyResult<Py<PyAny>> {
    let class = stream.get_type().unbind();
    new_native(stream.py(), Box::new(Draw { kind, class, stream: stream.clone().unbind(), calls }))
}

/// The number that a draw is about to give; `None`: this is no draw.
pub(crate) fn drawn<'py>(draw: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let body = body_of(draw)?.as_any().downcast_ref::<Draw>()?;
    body.next(draw.py()).ok()
}

struct Draw {
    kind: Stream,
    /// Of a stream whose class is another one by now, nothing is known.
    class: Py<PyType>,
    stream: Py<PyAny>,
    calls: Vec<Drawing>,
}

impl Draw {
    /// What a copy of the stream gives.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (kind, stream) = (self.kind, self.stream.bind(py));
        if !stream.get_type().is(&self.class) {
            return Err(PyTypeError::new_err("sot: no stream"));
        }
        let copy = taken(py, kind)?;
        let result = copy_state(kind, stream, &copy).and_then(|()| {
            let mut last = None;
            for call in &self.calls {
                last = Some(asked(&copy, call)?);
            }
            last.ok_or_else(|| PyTypeError::new_err("sot: nothing was drawn"))
        });
        give_back(kind, copy);
        result.and_then(|number| match varies(&number) {
            true => Ok(number),
            false => Err(PyTypeError::new_err("sot: no number was drawn")),
        })
    }
}

/// The call, of a copy. No code of the program runs, nor any of Python.
fn asked<'py>(copy: &Bound<'py, PyAny>, call: &Drawing) -> PyResult<Bound<'py, PyAny>> {
    let py = copy.py();
    let (name, args) = (call.name.bind(py), call.args.bind(py));
    if name.to_str()? != BELOW {
        return copy.getattr(name)?.call1(args);
    }
    let end = args.get_item(0)?;
    let bits = end.call_method0("bit_length")?;
    let (below, least) = (end.gt(0)?, bits.extract::<usize>()?);
    if !below || args.len() != 1 || least > 64 {
        return Err(PyTypeError::new_err("sot: not below that"));
    }
    loop {
        let number = copy.call_method1("getrandbits", (&bits,))?;
        if number.lt(&end)? {
            return Ok(number);
        }
    }
}

registries! {
    /// Streams that nobody uses at the moment.
    PYTHON: Vec<Py<PyAny>> = "spare streams of random";
    NUMPY: Vec<Py<PyAny>> = "spare streams of numpy";
}

fn copies(kind: Stream) -> &'static Registry<Vec<Py<PyAny>>> {
    match kind {
        Stream::Python => &PYTHON,
        Stream::Numpy => &NUMPY,
    }
}

/// A stream that nobody else has.
fn taken(py: Python<'_>, kind: Stream) -> PyResult<Bound<'_, PyAny>> {
    if let Some(copy) = copies(kind).lock().pop() {
        return Ok(copy.into_bound(py));
    }
    match kind {
        // The one of C: it has all that is asked for.
        Stream::Python => random_of_c(py)?.call0(),
        Stream::Numpy => crate::cpython::module(py, "numpy.random.mtrand")?.getattr("RandomState")?.call1((0,)),
    }
}

fn give_back(kind: Stream, copy: Bound<'_, PyAny>) {
    let mut kept = copies(kind).lock();
    if kept.len() < KEPT {
        kept.push(copy.unbind());
    }
}

fn random_of_c(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class =
        CLASS.get_or_try_init(py, || crate::cpython::module(py, "_random")?.getattr("Random").map(Bound::unbind))?;
    Ok(class.bind(py).clone())
}

fn copy_state(kind: Stream, from: &Bound<'_, PyAny>, to: &Bound<'_, PyAny>) -> PyResult<()> {
    match kind {
        Stream::Python => {
            let class = random_of_c(from.py())?;
            let state = class.call_method1("getstate", (from,))?;
            class.call_method1("setstate", (to, state))?;
        }
        Stream::Numpy => {
            let whole = [("legacy", false)].into_py_dict(from.py())?;
            let state = from.call_method("get_state", (), Some(&whole))?;
            to.call_method1("set_state", (state,))?;
        }
    }
    Ok(())
}

impl NativeBody for Draw {
    fn call<'py>(&self, py: Python<'py>, _args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        self.next(py)
    }

    fn name(&self) -> &str {
        "draw"
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.stream);
        visit(self.class.as_any());
        for call in &self.calls {
            visit(call.name.as_any());
            visit(call.args.as_any());
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
