//! Functions that rewritten code calls, beside graphs and those that ask to go on: raising again, handling, tracebacks,
//! generators.

use crate::backend::{Mode, registered};
use crate::code_unit::CodeUnit;
use crate::cpython::native::{NativeBody, new_native};
use crate::cpython::thread::{begin_repr, end_repr, handled_exception, set_handled_exception};
use crate::cpython::traceback::{self, Asker, fill};
use crate::cpython::{Slots, facts};
use crate::iterators;
use crate::numbers;
use crate::user_frames::{self, InlinedFrame};
use pyo3::exceptions::{PyBaseException, PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple};
use sot_opcodes::CodeFlags;
use sot_tracker::Arithmetic;
use std::any::Any;
use std::sync::Arc;

/// A function of rewritten code.
struct Helper {
    name: &'static str,
    run: for<'py> fn(Python<'py>, Slots<'_>) -> PyResult<Bound<'py, PyAny>>,
}

impl NativeBody for Helper {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        (self.run)(py, args)
    }

    fn name(&self) -> &str {
        self.name
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn helper<'py>(py: Python<'py>, cell: &'static PyOnceLock<Py<PyAny>>, helper: Helper) -> PyResult<Bound<'py, PyAny>> {
    Ok(cell.get_or_try_init(py, || new_native(py, Box::new(helper)))?.bind(py).clone())
}

/// `raise_again(exception)`: raises it with the traceback that it has.
pub fn raise_again(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "raise_again",
            run: |py, args| Err(error_of(args.get(py, 0).expect("an exception").to_owned())),
        },
    )
}

/// `instance_dict(object)`: its attributes, or those of a class, whatever its `__dict__` is.
pub(crate) fn instance_dict(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "instance_dict",
            run: |py, args| {
                let object = args.get(py, 0).expect("an object").to_owned();
                match facts::instance_dict(&object).or_else(|| facts::class_dict(&object)) {
                    Some(dict) => Ok(dict.into_any()),
                    None => object.getattr("__dict__"),
                }
            },
        },
    )
}

/// `quiet_class(metaclass, name, bases, names)`: `type.__new__`, but that no base hears of it.
pub(crate) fn quiet_class(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "quiet_class",
            run: |py, args| {
                let [metaclass, name, bases, names] =
                    [0, 1, 2, 3].map(|at| args.get(py, at).expect("four arguments").to_owned());
                crate::cpython::quiet_class(&metaclass, &name, &bases, &names.cast_into()?)
            },
        },
    )
}

/// `list_of_class(class, items)`: a list of a class of C with these items, whatever its constructor takes.
pub(crate) fn list_of_class(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "list_of_class",
            run: |py, args| {
                let [class, items] = [0, 1].map(|at| args.get(py, at).expect("two arguments").to_owned());
                filled(&class, &items)
            },
        },
    )
}

/// A new list of a class of C, with these items.
pub(crate) fn filled<'py>(class: &Bound<'py, PyAny>, items: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let made = class.call1((PyList::empty(py),))?;
    py.get_type::<PyList>().call_method1("extend", (&made, items))?;
    Ok(made)
}

/// `nth_match(pattern, text, number)`: the match of this number that the pattern finds in the text.
pub(crate) fn nth_match(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "nth_match",
            run: |py, args| {
                let [pattern, text, number] = [0, 1, 2].map(|at| args.get(py, at).expect("three arguments").to_owned());
                let found = pattern.call_method1("finditer", (text,))?.try_iter()?.nth(number.extract()?);
                found.ok_or_else(|| PyRuntimeError::new_err("sot: there are fewer matches"))?
            },
        },
    )
}

/// `at_position(iterator, position)`: the iterator, which goes on there.
pub(crate) fn at_position(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "at_position",
            run: |py, args| {
                let [iterator, position] = [0, 1].map(|at| args.get(py, at).expect("two arguments").to_owned());
                facts::set_position(&iterator, position.extract()?)?;
                Ok(iterator)
            },
        },
    )
}

/// What C computes of numbers, whatever the program calls by the names of builtins.
struct Computes(Arithmetic);

impl NativeBody for Computes {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let [left, right] = [0, 1].map(|at| args.get(py, at).map(|operand| operand.to_owned()));
        let result = left.and_then(|left| numbers::computed(self.0, &left, right.as_ref()));
        // Guards have said that there is one.
        result.ok_or_else(|| PyRuntimeError::new_err(format!("sot: no {} of these operands", self.0.sign())))
    }

    fn name(&self) -> &str {
        self.0.sign()
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `abs(n)`, `float(n)`, `format(n, spec)` and the like, of numbers.
pub(crate) fn computes(py: Python<'_>, op: Arithmetic) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTIONS: [PyOnceLock<Py<PyAny>>; Arithmetic::ALL.len()] =
        [const { PyOnceLock::new() }; Arithmetic::ALL.len()];
    let function = FUNCTIONS[op as usize].get_or_try_init(py, || new_native(py, Box::new(Computes(op))))?;
    Ok(function.bind(py).clone())
}

/// Answers each call with the same object.
struct Answer(Py<PyAny>);

impl NativeBody for Answer {
    fn call<'py>(&self, py: Python<'py>, _args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.0.bind(py).clone())
    }

    fn name(&self) -> &str {
        "answer"
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.0);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Makes an ambient mode of the framework what it is called with.
struct SetMode(Mode);

impl NativeBody for SetMode {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let backend = registered().ok_or_else(crate::backend::none_registered)?;
        if let Some(value) = args.get(py, 0) {
            backend.set_mode(self.0, &value)?;
        }
        Ok(py.None().into_bound(py))
    }

    fn name(&self) -> &str {
        "set_mode"
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `set_mode(value)`: the mode of the framework is this from now on.
pub(crate) fn set_mode(py: Python<'_>, mode: Mode) -> PyResult<Bound<'_, PyAny>> {
    Ok(new_native(py, Box::new(SetMode(mode)))?.into_bound(py))
}

/// `answers(object)`: a callable that answers each call with it.
pub(crate) fn answers(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "answers",
            run: |py, args| {
                let answer = Answer(args.get(py, 0).expect("an object").to_owned().unbind());
                Ok(new_native(py, Box::new(answer))?.into_bound(py))
            },
        },
    )
}

/// `handle(exception)`: from now on it is what is being handled. Returns what was before.
pub fn handle(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "handle",
            run: |py, args| {
                let before = handled_exception(py);
                let exception = args.get(py, 0).map(|e| e.to_owned()).filter(|e| !e.is_none());
                set_handled_exception(py, exception);
                Ok(before.unwrap_or_else(|| py.None().into_bound(py)))
            },
        },
    )
}

/// `begin_writing(container)`: until `end_writing` of it, its `repr` tells that it holds itself.
pub fn begin_writing(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "begin_writing",
            run: |py, args| {
                begin_repr(args.get(py, 0).expect("a container"))?;
                Ok(py.None().into_bound(py))
            },
        },
    )
}

/// `end_writing(container)`.
pub fn end_writing(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "end_writing",
            run: |py, args| {
                end_repr(args.get(py, 0).expect("a container"));
                Ok(py.None().into_bound(py))
            },
        },
    )
}

/// `backwards_from(sequence, index)`: as `reversed(sequence)` that is to give this item next; nobody is asked for a length.
pub fn backwards_from(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "backwards_from",
            run: |py, args| {
                let [sequence, index] = [0, 1].map(|at| args.get(py, at).expect("two arguments").to_owned());
                facts::backwards_from(&sequence, index.extract()?)
            },
        },
    )
}

/// `ended_by_index()`: an iterator by number that has come to its end.
pub fn ended_by_index(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(py, &FUNCTION, Helper { name: "ended_by_index", run: |py, _| crate::cpython::facts::ended_by_index(py) })
}

/// `ended_calls()`: an iterator of calls that has come to its end.
pub fn ended_calls(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(py, &FUNCTION, Helper { name: "ended_calls", run: |py, _| iterators::ended_calls(py) })
}

/// The error that raises an exception. One whose `__traceback__` was set to None has none.
pub fn error_of(exception: Bound<'_, PyAny>) -> PyErr {
    let py = exception.py();
    let cleared =
        exception.cast::<PyBaseException>().is_ok_and(|exception| traceback::of_exception(exception).is_none());
    let error = PyErr::from_value(exception);
    if cleared {
        error.set_traceback(py, None);
    }
    error
}

/// The exception of an error, its `__traceback__` being that of the error.
pub fn with_traceback<'py>(py: Python<'py>, error: &PyErr) -> PyResult<Bound<'py, PyAny>> {
    let exception = error.value(py).clone();
    traceback::set_of_exception(&exception, error.traceback(py))?;
    Ok(exception.into_any())
}

/// `passed(exception)`: it has left frames in which it was caught; its traceback gets their entries. Gives their frames.
pub struct Passed {
    /// Innermost first.
    pub frames: Vec<InlinedFrame>,
    /// Whether its context is what is being handled, if anything is.
    pub in_context: bool,
}

impl NativeBody for Passed {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let error = error_of(args.get(py, 0).expect("an exception").to_owned());
        if self.in_context
            && let Some(context) = handled_exception(py)
        {
            traceback::put_in_context(error.value(py), context);
        }
        // A traceback that shows other frames is no reason to lose the exception.
        let frames = user_frames::left_inlined(py, &error, self.frames.iter().rev(), Asker::RewrittenCode);
        with_traceback(py, &error)?;
        Ok(PyTuple::new(py, frames.unwrap_or_default().into_iter().rev())?.into_any())
    }

    fn name(&self) -> &str {
        "passed"
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `ended(exception)`: frames have ended that its traceback has entries of from before. Gives their frames; None: it has none.
pub struct Ended {
    /// Each with the instruction at which it has ended.
    pub frames: Vec<(Arc<CodeUnit>, usize)>,
}

impl NativeBody for Ended {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let exception = args.get(py, 0).expect("an exception").to_owned();
        let frames = exception.cast::<PyBaseException>().map_or_else(
            |_| Vec::new(),
            |exception| user_frames::ended_before(exception, self.frames.iter().map(|(unit, ip)| (&**unit, *ip))),
        );
        Ok(PyTuple::new(py, frames)?.into_any())
    }

    fn name(&self) -> &str {
        "ended"
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `held(frames, values...)`: what these frames of a traceback hold. It may hold the exception, which is made before.
pub struct Held {
    /// Whether they hold nothing else.
    pub whole: bool,
    /// Of each frame the variables whose values follow, in this order: whether it is a cell, and the index.
    pub frames: Vec<Vec<(bool, u32)>>,
}

impl NativeBody for Held {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let frames = args.get(py, 0).expect("frames").to_owned().cast_into::<PyTuple>()?;
        let mut values = (1..args.len()).map_while(|at| args.get(py, at));
        for (places, frame) in self.frames.iter().zip(frames) {
            let (mut locals, mut cells) = (Vec::new(), Vec::new());
            for ((cell, at), value) in places.iter().zip(&mut values) {
                let known = if *cell { &mut cells } else { &mut locals };
                known.push((*at, value.to_owned()));
            }
            if !frame.is_none() {
                fill(&frame, &locals, &cells, self.whole)?;
            }
        }
        Ok(py.None().into_bound(py))
    }

    fn name(&self) -> &str {
        "held"
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `start(generator)`: runs it to its first yield, at which it then waits.
pub fn start_generator(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "start",
            run: |py, args| {
                let generator = args.get(py, 0).expect("a generator").to_owned();
                asked(&generator)?;
                Ok(generator)
            },
        },
    )
}

/// Ask a generator, or a coroutine or an async generator, which have no `__next__`, for what it yields next.
pub fn asked<'py>(generator: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = generator.py();
    let none = py.None();
    let send = pyo3::intern!(py, "send");
    if !generator.get_type().is(crate::cpython::module(py, "types")?.getattr("AsyncGeneratorType")?) {
        return generator.call_method1(send, (none,));
    }
    match generator.call_method0("__anext__")?.call_method1(send, (none,)) {
        Err(error) if error.is_instance_of::<PyStopIteration>(py) => Ok(error.value(py).getattr("value")?),
        other => other,
    }
}

/// What plain Python has in the place of a generator of this code that is an object now. One in disguise stays what it is: it
/// only crosses a break where nobody but a loop has it ([`Captured::unmasked`]).
///
/// [`Captured::unmasked`]: crate::captured::Captured::unmasked
pub fn plain_generator<'py>(unit: &CodeUnit, generator: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match unit.hidden && unit.disguise().is_none() {
        true => iterator_of_items(&generator),
        false => Ok(generator),
    }
}

/// The iterator over the items of the `sequence` of a hidden generator, which waits, behind the one at `index`, if it has given
/// any.
fn iterator_of_items<'py>(generator: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let frame = generator.getattr("gi_frame")?;
    if frame.is_none() {
        return Ok(PyTuple::empty(generator.py()).try_iter()?.into_any());
    }
    let locals = frame.getattr("f_locals")?;
    let iterator = locals.get_item("sequence")?.try_iter()?.into_any();
    if let Ok(index) = locals.get_item("index") {
        iterator.call_method1("__setstate__", (index.extract::<usize>()? + 1,))?;
    }
    Ok(iterator)
}

/// `iterator(generator)`: [`iterator_of_items`].
pub fn iterator_function(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "iterator",
            run: |py, args| {
                let generator = args.get(py, 0).expect("a generator").to_owned();
                iterator_of_items(&generator)
            },
        },
    )
}

/// A generator or a coroutine that has ended, and is called what one of this code is called.
pub fn finished<'py>(code: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = code.py();
    let flags = CodeFlags::from_bits_retain(code.getattr("co_flags")?.extract()?);
    if flags.intersects(CodeFlags::COROUTINE | CodeFlags::ASYNC_GENERATOR) {
        return finished_and_awaited(code, flags);
    }
    let generator = py.eval(c"(None for _ in ())", None, None)?;
    generator.call_method0("close")?;
    named_after(code, &generator)?;
    Ok(generator)
}

fn named_after(code: &Bound<'_, PyAny>, generator: &Bound<'_, PyAny>) -> PyResult<()> {
    let name = code.getattr("co_name")?;
    let qualname = code.getattr("co_qualname").unwrap_or_else(|_| name.clone());
    generator.setattr("__name__", name)?;
    generator.setattr("__qualname__", qualname)?;
    Ok(())
}

/// The same of a coroutine or an async generator.
fn finished_and_awaited<'py>(code: &Bound<'py, PyAny>, flags: CodeFlags) -> PyResult<Bound<'py, PyAny>> {
    let py = code.py();
    let names = PyDict::new(py);
    let missing = || PyRuntimeError::new_err("no coroutine");
    let is_async = flags.contains(CodeFlags::ASYNC_GENERATOR);
    let made = match is_async {
        true => {
            py.run(c"async def made():\n    return\n    yield", Some(&names), None)?;
            names.get_item("made")?.ok_or_else(missing)?.call0()?
        }
        false => {
            py.run(c"async def made(): pass", Some(&names), None)?;
            names.get_item("made")?.ok_or_else(missing)?.call0()?
        }
    };
    match is_async {
        true => {
            let ended = made.call_method0("__anext__")?.call_method1("send", (py.None(),));
            debug_assert!(ended.is_err());
        }
        false => drop(made.call_method0("close")?),
    }
    named_after(code, &made)?;
    Ok(made)
}

/// `finished(code)`: a generator of this code that has ended.
pub fn finished_generator(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(
        py,
        &FUNCTION,
        Helper {
            name: "finished",
            run: |py, args| {
                let code = args.get(py, 0).expect("a code object").to_owned();
                finished(&code)
            },
        },
    )
}

/// `key_at(dict, index)`: its key in this place, or the member of a set.
pub fn key_at(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(py, &FUNCTION, Helper { name: "key_at", run: |py, args| Ok(entry_at(py, args)?.0) })
}

/// `value_at(dict, index)`: the value of its key in this place.
pub fn value_at(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    helper(py, &FUNCTION, Helper { name: "value_at", run: |py, args| Ok(entry_at(py, args)?.1) })
}

fn entry_at<'py>(py: Python<'py>, args: Slots<'_>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let index: usize = argument(py, args, 1)?.extract()?;
    let whole = argument(py, args, 0)?;
    let Ok(dict) = whole.cast::<PyDict>() else {
        let member = facts::set_entry(&whole, index).map(|entry| (entry.key, py.None().into_bound(py)));
        return member.ok_or_else(|| PyRuntimeError::new_err("sot: no such member"));
    };
    dict.iter().nth(index).ok_or_else(|| PyRuntimeError::new_err("sot: no such entry"))
}

fn argument<'py>(py: Python<'py>, args: Slots<'_>, at: usize) -> PyResult<Bound<'py, PyAny>> {
    args.get(py, at).map(|arg| arg.to_owned()).ok_or_else(|| PyRuntimeError::new_err("sot: too few arguments"))
}

/// `store_hashed(dict, key, hash, value, found)`: as `dict[key] = value` once the key has been hashed and compared: it is in the
/// dict, or equals none that is. A set is given a member.
pub fn store_hashed(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let run: for<'py> fn(Python<'py>, Slots<'_>) -> PyResult<Bound<'py, PyAny>> = |py, args| {
        let (key, hash, value) = (argument(py, args, 1)?, argument(py, args, 2)?, argument(py, args, 3)?);
        if let Ok(set) = argument(py, args, 0)?.cast::<pyo3::types::PySet>() {
            let hash = if hash.is_none() { key.hash()? } else { hash.extract()? };
            facts::add_hashed(set, &key, hash)?;
            return Ok(py.None().into_bound(py));
        }
        let dict = argument(py, args, 0)?.cast_into::<PyDict>()?;
        let found = argument(py, args, 4)?.is_truthy()?.then(|| key.clone());
        facts::store_hashed(&dict, found.as_ref(), &key, hash.extract()?, &value)?;
        Ok(py.None().into_bound(py))
    };
    helper(py, &FUNCTION, Helper { name: "store_hashed", run })
}

/// `delete_hashed(dict, key, hash)`: as `del dict[key]` of a key that it has, and was stored with this hash. It gives the value, so that
/// the key goes first, with the call.
pub fn delete_hashed(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let run: for<'py> fn(Python<'py>, Slots<'_>) -> PyResult<Bound<'py, PyAny>> = |py, args| {
        let (key, hash) = (argument(py, args, 1)?, argument(py, args, 2)?);
        if let Ok(set) = argument(py, args, 0)?.cast::<pyo3::types::PySet>() {
            let hash = if hash.is_none() { key.hash()? } else { hash.extract()? };
            facts::discard_hashed(set, &key, hash)?;
            return Ok(py.None().into_bound(py));
        }
        let value = facts::delete_hashed(argument(py, args, 0)?.cast::<PyDict>()?, &key, hash.extract()?)?;
        Ok(value.unwrap_or_else(|| py.None().into_bound(py)))
    };
    helper(py, &FUNCTION, Helper { name: "delete_hashed", run })
}

/// `move_hashed(dict, key, last)`: as `dict.move_to_end(key, last)` of a key that the ordered dict has.
pub fn move_hashed(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let run: for<'py> fn(Python<'py>, Slots<'_>) -> PyResult<Bound<'py, PyAny>> = |py, args| {
        let (key, last) = (argument(py, args, 1)?, argument(py, args, 2)?.is_truthy()?);
        facts::move_ordered(argument(py, args, 0)?.cast::<PyDict>()?, &key, last);
        Ok(py.None().into_bound(py))
    };
    helper(py, &FUNCTION, Helper { name: "move_hashed", run })
}

/// `arrange(dict, places)`: the ordered dict, with the keys that the dict below has at these places moved to the end, in turn.
pub fn arrange(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let run: for<'py> fn(Python<'py>, Slots<'_>) -> PyResult<Bound<'py, PyAny>> = |py, args| {
        let dict = argument(py, args, 0)?.cast_into::<PyDict>()?;
        let keys: Vec<_> = dict.iter().map(|(key, _)| key).collect();
        for at in argument(py, args, 1)?.try_iter()? {
            if let Some(key) = keys.get(at?.extract::<usize>()?) {
                facts::move_ordered(&dict, key, true);
            }
        }
        Ok(dict.into_any())
    };
    helper(py, &FUNCTION, Helper { name: "arrange", run })
}

/// `fill_hashed(dict, keys, values, hashes)`: the dict, with these keys, of which no two are equal. Those without a hash here are
/// hashed by C.
pub fn fill_hashed(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let run: for<'py> fn(Python<'py>, Slots<'_>) -> PyResult<Bound<'py, PyAny>> = |py, args| {
        let dict = argument(py, args, 0)?.cast_into::<PyDict>()?;
        let (keys, values, hashes) = (argument(py, args, 1)?, argument(py, args, 2)?, argument(py, args, 3)?);
        for at in 0..keys.len()? {
            let (key, value, hash) = (keys.get_item(at)?, values.get_item(at)?, hashes.get_item(at)?);
            let hash = if hash.is_none() { key.hash()? } else { hash.extract()? };
            facts::store_hashed(&dict, None, &key, hash, &value)?;
        }
        Ok(dict.into_any())
    };
    helper(py, &FUNCTION, Helper { name: "fill_hashed", run })
}

/// `set_of_hashed(frozen, members, hashes)`: a set of these, put in one by one, of which no two are equal. Those without a hash here
/// are hashed by C.
pub fn set_of_hashed(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let run: for<'py> fn(Python<'py>, Slots<'_>) -> PyResult<Bound<'py, PyAny>> = |py, args| {
        let (members, hashes) = (argument(py, args, 1)?, argument(py, args, 2)?);
        let mut all = Vec::new();
        for at in 0..members.len()? {
            let hash = hashes.get_item(at)?;
            all.push((members.get_item(at)?, if hash.is_none() { None } else { Some(hash.extract()?) }));
        }
        facts::set_of_hashed(py, &all, argument(py, args, 0)?.is_truthy()?)
    };
    helper(py, &FUNCTION, Helper { name: "set_of_hashed", run })
}

/// `done_with_answers(name, .., answers, cut)`: what is done with sets, to the questions of which these are the answers. `cut`: it
/// ends at the next one.
pub fn done_with_answers(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let run: for<'py> fn(Python<'py>, Slots<'_>) -> PyResult<Bound<'py, PyAny>> = |py, args| {
        let mut all = Vec::new();
        while let Some(arg) = args.get(py, all.len()) {
            all.push(arg.to_owned());
        }
        let (Some(cut), Some(answers), Some(name)) = (all.pop(), all.pop(), all.first()) else {
            return Err(PyRuntimeError::new_err("sot: too few arguments"));
        };
        let name: String = name.extract()?;
        crate::answered::do_with_answers(py, &name, &all[1..], answers.extract()?, cut.is_truthy()?)
    };
    helper(py, &FUNCTION, Helper { name: "done_with_answers", run })
}

/// `set_with_table(frozen, members, places, lost, numbers, hashes)`: a set of this table.
pub fn set_with_table(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let run: for<'py> fn(Python<'py>, Slots<'_>) -> PyResult<Bound<'py, PyAny>> = |py, args| {
        let members: Vec<Bound<'_, PyAny>> = argument(py, args, 1)?.extract()?;
        let places: Vec<usize> = argument(py, args, 2)?.extract()?;
        let (lost, hashes): (Vec<usize>, Vec<isize>) =
            (argument(py, args, 3)?.extract()?, argument(py, args, 5)?.extract()?);
        let (mask, finger) = argument(py, args, 4)?.extract()?;
        let members: Vec<_> =
            places.into_iter().zip(members).zip(hashes).map(|((at, key), hash)| (at, key, hash)).collect();
        let set = facts::set_with_table(py, &members, &lost, mask, finger)?;
        let set = set.ok_or_else(|| PyRuntimeError::new_err("sot: the table of a set"))?;
        if !argument(py, args, 0)?.is_truthy()? {
            return Ok(set.into_any());
        }
        let frozen = facts::new_frozen_set(py)?;
        facts::exchange_tables(&frozen, &set);
        Ok(frozen)
    };
    helper(py, &FUNCTION, Helper { name: "set_with_table", run })
}
