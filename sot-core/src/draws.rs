//! Streams of random numbers of C, and what they are about to give: `random.random()`, `np.random.uniform()`.
//!
//! What a stream gives next follows from its state, which nobody else moves while a frame is under way. So a number that is drawn
//! is known before it is: a copy of the stream gives it, and the stream itself moves where the side effects are replayed. A *draw*
//! is one such call and those of the same frame before it; it is asked as often as somebody wants the number.

use crate::cpython::facts;
use crate::cpython::native::{NativeBody, body_of, new_native};
use crate::cpython::slots::Slots;
use crate::cpython::streams;
use crate::engine::{Registry, registries};
use crate::libraries;
use crate::numbers::varies;
use hashbrown::HashSet;
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
const OF_PYTHON: &[&str] = &["random", BITS, BELOW, GAUSS, NORMAL];
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
/// The name by which they ask for it.
const RANDBELOW: &str = "_randbelow";
/// Methods of `random.Random` that give the items of a sequence in another order, or some of them.
pub(crate) const SHUFFLE: &str = "shuffle";
pub(crate) const SAMPLE: &str = "sample";
pub(crate) const GAUSS: &str = "gauss";
const NORMAL: &str = "normalvariate";
/// Where that keeps the second of the two numbers that it makes at a time.
pub(crate) const NEXT_OF_GAUSS: &str = "gauss_next";
/// Copies that are kept for the next who asks.
const KEPT: usize = 4;

/// What the methods of `random.Random` that are written in Python ask of the stream, if they are the library's own.
pub(crate) fn asks(name: &str) -> &'static [&'static str] {
    match name {
        BELOW => &[BITS],
        GAUSS | NORMAL => &["random"],
        SHUFFLE | SAMPLE => &[RANDBELOW, BITS],
        _ => &[],
    }
}

/// How many numbers a call may give; `None`: more than anybody would tell apart.
pub(crate) fn outcomes(name: &str, args: &Bound<'_, PyTuple>) -> Option<u64> {
    let given = || args.get_item(0).ok()?.extract::<u64>().ok();
    match name {
        BELOW => given(),
        BITS => 1u64.checked_shl(u32::try_from(given()?).ok()?),
        _ => None,
    }
}

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
        Stream::Python => OF_PYTHON.contains(&name),
        Stream::Numpy => OF_NUMPY.contains(&name),
    }
}

/// Whether that is what was found in the class.
pub(crate) fn is_its_own(stream: Stream, method: &Bound<'_, PyAny>, name: &str) -> bool {
    // A class of Python may have been given others.
    match (stream, name) {
        (Stream::Numpy, _) => true,
        (Stream::Python, BELOW | RANDBELOW | GAUSS | NORMAL | SHUFFLE | SAMPLE) => facts::func_parts(method)
            .is_some_and(|parts| {
                let text = |of: &str| parts.code.getattr(of).and_then(|text| text.extract::<String>());
                let known = if name == RANDBELOW { BELOW } else { name };
                text("co_name").is_ok_and(|own| own == known)
                    && text("co_filename").is_ok_and(|file| libraries::is_standard_library(method.py(), &file))
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
    let Some(parts) = facts::func_parts(function) else { return false };
    let Ok(name) = parts.code.getattr(pyo3::intern!(function.py(), "co_name")) else { return false };
    name.cast::<PyString>()
        .is_ok_and(|name| name.to_str().is_ok_and(|name| matches!(name, BELOW | GAUSS | NORMAL | SHUFFLE | SAMPLE)))
}

/// A draw as an object: the last of these calls is its own.
pub(crate) fn draw(kind: Stream, stream: &Bound<'_, PyAny>, calls: Vec<Drawing>) -> PyResult<Py<PyAny>> {
    let class = stream.get_type().unbind();
    new_native(stream.py(), Box::new(Draw { kind, class, stream: stream.clone().unbind(), calls }))
}

/// The number, or the tuple of numbers, that a draw is about to give; `None`: this is no draw.
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
            let mut drawn = Copied { stream, copy: &copy, gauss: None };
            let mut last = None;
            for call in &self.calls {
                last = Some(drawn.asked(call)?);
            }
            last.ok_or_else(|| PyTypeError::new_err("sot: nothing was drawn"))
        });
        give_back(kind, copy);
        result.and_then(|drawn| {
            let numbers = match drawn.cast_exact::<PyTuple>() {
                Ok(several) => several.iter().all(|number| varies(&number)),
                Err(_) => varies(&drawn),
            };
            match numbers {
                true => Ok(drawn),
                false => Err(PyTypeError::new_err("sot: no number was drawn")),
            }
        })
    }
}

/// The copy of a stream, and what the calls so far have left beside its state.
struct Copied<'a, 'py> {
    stream: &'a Bound<'py, PyAny>,
    copy: &'a Bound<'py, PyAny>,
    /// What the next `gauss` gives, once one has been asked.
    gauss: Option<Option<f64>>,
}

impl<'py> Copied<'_, 'py> {
    /// The call, of the copy. No code of the program runs, nor any of Python.
    fn asked(&mut self, call: &Drawing) -> PyResult<Bound<'py, PyAny>> {
        let py = self.copy.py();
        let (name, args) = (call.name.bind(py), call.args.bind(py));
        match name.to_str()? {
            BELOW if args.len() == 1 => self.below(&args.get_item(0)?),
            GAUSS if args.len() == 2 => {
                let z = self.gauss()?;
                args.get_item(0)?.add(PyFloat::new(py, z).mul(args.get_item(1)?)?)
            }
            NORMAL if args.len() == 2 => {
                let z = self.normal()?;
                args.get_item(0)?.add(PyFloat::new(py, z).mul(args.get_item(1)?)?)
            }
            SHUFFLE => {
                let mut items: Vec<_> = args.get_item(0)?.cast_into::<PyTuple>()?.iter().collect();
                for at in (1..items.len()).rev() {
                    let other = self.index_below(at + 1)?;
                    items.swap(at, other);
                }
                Ok(PyTuple::new(py, items)?.into_any())
            }
            SAMPLE => self.sample(&args.get_item(0)?, args.get_item(1)?.extract()?),
            BELOW | GAUSS | NORMAL => Err(PyTypeError::new_err("sot: other arguments")),
            _ => self.copy.getattr(name)?.call1(args),
        }
    }

    fn below(&self, end: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let bits = end.call_method0("bit_length")?;
        if !end.gt(0)? || bits.extract::<usize>()? > 64 {
            return Err(PyTypeError::new_err("sot: not below that"));
        }
        loop {
            let number = self.copy.call_method1(BITS, (&bits,))?;
            if number.lt(end)? {
                return Ok(number);
            }
        }
    }

    fn index_below(&self, end: usize) -> PyResult<usize> {
        self.below(end.into_pyobject(self.copy.py())?.as_any())?.extract()
    }

    fn random(&self) -> PyResult<f64> {
        self.copy.call_method0("random")?.extract()
    }

    fn gauss(&mut self) -> PyResult<f64> {
        let kept = match self.gauss {
            Some(kept) => kept,
            None => kept_by_gauss(self.stream)?,
        };
        if let Some(kept) = kept {
            self.gauss = Some(None);
            return Ok(kept);
        }
        let py = self.copy.py();
        let angle = self.random()? * number_of_library(py, "TWOPI")?;
        let radius = of_math(py, "_sqrt", -2.0 * of_math(py, "_log", 1.0 - self.random()?)?)?;
        self.gauss = Some(Some(of_math(py, "_sin", angle)? * radius));
        Ok(of_math(py, "_cos", angle)? * radius)
    }

    fn normal(&self) -> PyResult<f64> {
        let py = self.copy.py();
        let magic = number_of_library(py, "NV_MAGICCONST")?;
        loop {
            let first = self.random()?;
            let second = 1.0 - self.random()?;
            let z = magic * (first - 0.5) / second;
            if z * z / 4.0 <= -of_math(py, "_log", second)? {
                return Ok(z);
            }
        }
    }

    fn sample(&self, population: &Bound<'py, PyAny>, count: usize) -> PyResult<Bound<'py, PyAny>> {
        let (py, size) = (self.copy.py(), population.len()?);
        if count > size {
            return Err(PyTypeError::new_err("sot: a sample larger than the population"));
        }
        let mut result = Vec::with_capacity(count);
        if size <= table_of_sample(py, count)? {
            let mut pool: Vec<usize> = (0..size).collect();
            for drawn in 0..count {
                let at = self.index_below(size - drawn)?;
                result.push(population.get_item(pool[at])?);
                pool[at] = pool[size - drawn - 1];
            }
        } else {
            let mut selected = HashSet::new();
            while result.len() < count {
                let at = self.index_below(size)?;
                if selected.insert(at) {
                    result.push(population.get_item(at)?);
                }
            }
        }
        Ok(PyTuple::new(py, result)?.into_any())
    }
}
/// Up to how many items `sample` copies the whole.
fn table_of_sample(py: Python<'_>, count: usize) -> PyResult<usize> {
    if count <= 5 {
        return Ok(21);
    }
    let log = function_of_library(py, "_log")?.call1((count * 3, 4))?.extract::<f64>()?;
    function_of_library(py, "_ceil")?;
    Ok(21 + 4usize.saturating_pow(log.ceil() as u32))
}

/// What module `random` has under a name, which a program may exchange.
fn named_by_library<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let names = facts::imported(py, "random").and_then(|module| facts::module_dict(&module));
    let found = names.and_then(|names| names.get_item(name).ok().flatten());
    found.ok_or_else(|| PyTypeError::new_err("sot: another module random"))
}

/// A function of module `math`, by its name in module `random`.
fn function_of_library<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let function = named_by_library(py, name)?;
    let is_of_c = function.is_exact_instance_of::<PyCFunction>()
        && function.getattr("__self__")?.is_exact_instance_of::<PyModule>()
        && function.getattr("__name__")?.eq(name.trim_start_matches('_'))?;
    if is_of_c { Ok(function) } else { Err(PyTypeError::new_err("sot: another function")) }
}

fn of_math(py: Python<'_>, name: &str, number: f64) -> PyResult<f64> {
    function_of_library(py, name)?.call1((number,))?.extract()
}

/// A number that module `random` keeps.
fn number_of_library(py: Python<'_>, name: &str) -> PyResult<f64> {
    Ok(named_by_library(py, name)?.cast_exact::<PyFloat>()?.value())
}

/// What the stream has kept of the last `gauss`.
fn kept_by_gauss(stream: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    let unknown = || PyTypeError::new_err("sot: what gauss has kept");
    let names = facts::instance_dict(stream).ok_or_else(unknown)?;
    let kept = names.get_item(NEXT_OF_GAUSS)?.ok_or_else(unknown)?;
    match kept.is_none() {
        true => Ok(None),
        false => kept.cast_exact::<PyFloat>().map(|kept| Some(kept.value())).map_err(|_| unknown()),
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
            if class.cast::<PyType>().is_ok_and(|class| streams::copy_state(class, from, to)) {
                return Ok(());
            }
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
