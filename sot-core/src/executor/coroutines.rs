//! What definitions of coroutines call: checks of what methods of the program give where something is awaited.

use super::compared::class_name;
use super::searched::Helper;
use super::{Awaits, Executor};
use crate::process;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::exceptions::{PyRuntimeError, PyStopAsyncIteration, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use sot_opcodes::CodeFlags;

const GIVES_A_COROUTINE: &str = "__await__() returned a coroutine";

pub(super) const HELPERS: &[Helper] = &[
    ("checked_awaited", |args| Ok(checked(&args.get_item(0)?)?.unbind())),
    ("awaited_in_turn", |args| {
        let item = args.get_item(0)?;
        let awaited = awaited(&item).map_err(|cause| {
            let class = crate::cpython::facts::name_in_messages(&item.get_type());
            let text = format!("'async for' received an invalid object from __anext__: {class}");
            let error = PyTypeError::new_err(text);
            let cause = crate::called_by_code::with_traceback(item.py(), &cause);
            if let Ok(cause) = cause {
                let value = error.value(item.py());
                let _ = value.setattr("__cause__", &cause);
                let _ = value.setattr("__context__", &cause);
            }
            error
        });
        Ok(awaited?.unbind())
    }),
    ("checked_async", |args| {
        let value = args.get_item(0)?;
        match type_facts::raw(&value.get_type(), "__anext__") {
            Some(_) => Ok(value.unbind()),
            None => {
                let class = crate::cpython::facts::name_in_messages(&value.get_type());
                Err(PyTypeError::new_err(no_async_iterator(&class)))
            }
        }
    }),
    // No frame that asks them runs for real.
    ("async_send", |_| Err(PyRuntimeError::new_err("a step of an async generator"))),
    ("async_goes_on", |_| Err(PyRuntimeError::new_err("a step of an async generator"))),
    ("async_throw", |_| Err(PyRuntimeError::new_err("a step of an async generator"))),
    ("async_waits", |_| Err(PyRuntimeError::new_err("a step of an async generator"))),
    ("async_awaits", |_| Err(PyRuntimeError::new_err("a step of an async generator"))),
];

fn no_async_iterator(class: &str) -> String {
    format!("'async for' received an object from __aiter__ that does not implement __anext__: {class}")
}

fn no_iterator(class: &str) -> String {
    format!("__await__() returned non-iterator of type '{class}'")
}

/// Whether `await` takes an object as it is.
fn is_awaitable(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let types = crate::cpython::module(value.py(), "types")?;
    let class = value.get_type();
    if class.is(types.getattr("CoroutineType")?) {
        return Ok(true);
    }
    if !class.is(types.getattr("GeneratorType")?) {
        return Ok(false);
    }
    let flags = value.getattr("gi_code")?.getattr("co_flags")?.extract()?;
    Ok(CodeFlags::from_bits_retain(flags).contains(CodeFlags::ITERABLE_COROUTINE))
}

/// What an `__await__` gave.
fn checked<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if is_awaitable(given)? {
        return Err(PyTypeError::new_err(GIVES_A_COROUTINE));
    }
    let class = given.get_type();
    if type_facts::raw(&class, "__next__").is_none() {
        return Err(PyTypeError::new_err(no_iterator(&crate::cpython::facts::name_in_messages(&class))));
    }
    Ok(given.clone())
}

/// What is awaited in the place of an object.
fn awaited<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if is_awaitable(value)? {
        return Ok(value.clone());
    }
    let class = value.get_type();
    if type_facts::raw(&class, "__await__").is_none() {
        let name = crate::cpython::facts::name_in_messages(&class);
        return Err(PyTypeError::new_err(format!("object {name} can't be used in 'await' expression")));
    }
    checked(&class.getattr("__await__")?.call1((value,))?)
}

impl<'py> Executor<'py> {
    /// A coroutine may be told by which frames it was made: those that make the real one are others.
    pub(super) fn origins_are_not_kept(&mut self) -> Result<(), Stop> {
        if self.without_origins {
            return Ok(());
        }
        let kept = || Stop::brk(Reason::Generator, "a coroutine that knows its origin");
        let sys = crate::cpython::module(self.py, "sys");
        let depth = sys.and_then(|sys| sys.getattr("get_coroutine_origin_tracking_depth"));
        let question = depth.and_then(|depth| process::question(&depth, None));
        let question = question.map_err(|e| self.internal(&e))?.into_bound(self.py);
        let answer = process::answer(&question).filter(|depth| depth.eq(0).unwrap_or(false)).ok_or_else(kept)?;
        let answer = self.answered_by_path(&question, &answer);
        self.constant_value(answer);
        self.without_origins = true;
        Ok(())
    }

    /// Who keeps a list of async generators is told of each, and of its end.
    pub(super) fn nobody_hears_of_async_generators(&mut self) -> Result<(), Stop> {
        if self.unheard_async {
            return Ok(());
        }
        let heard = || Stop::brk(Reason::Generator, "an async generator that somebody hears of");
        for hook in 0..2 {
            let hooks = crate::cpython::module(self.py, "sys").and_then(|sys| sys.getattr("get_asyncgen_hooks"));
            let question = hooks.and_then(|hooks| process::question(&hooks, Some(hook)));
            let question = question.map_err(|e| self.internal(&e))?.into_bound(self.py);
            let answer = process::answer(&question).filter(|hook| hook.is_none()).ok_or_else(heard)?;
            let answer = self.answered_by_path(&question, &answer);
            self.constant_value(answer);
        }
        self.unheard_async = true;
        Ok(())
    }

    pub(super) fn async_generator_method(&mut self, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        match (name, args.positional.as_slice()) {
            ("__aiter__", []) => Ok(Called::Value(me)),
            ("__anext__", []) => {
                let none = self.fold_none()?;
                self.async_step(me, none).map(Called::Value)
            }
            ("asend", [sent]) => self.async_step(me, *sent).map(Called::Value),
            ("aclose", []) => self.in_disguise("_async_close__counted", &[me]).map(Called::Value),
            ("athrow", [exception]) => self.in_disguise("_async_throw__counted", &[me, *exception]).map(Called::Value),
            _ => Err(Stop::brk(Reason::Builtin, format!("async_generator.{name}"))),
        }
    }

    /// What one step of an async generator is awaited by.
    pub(super) fn async_step(&mut self, generator: VarId, sent: VarId) -> Result<VarId, Stop> {
        self.in_disguise("_async_step__counted", &[generator, sent])
    }

    /// A step asks its generator: at first with what it was made with, then with what is sent to it while the generator awaits.
    fn async_send(&mut self, generator: VarId, sent: VarId, first: bool) -> Result<Called, Stop> {
        let VarKind::Generator(asked) = self.look(generator)? else {
            return Err(Stop::fallback(Reason::InternalError, "no async generator"));
        };
        let sent = self.unless_none(Some(sent))?;
        let at_await = matches!(&asked.state, GeneratorState::Suspended(frame) if frame.delegate().is_some());
        match &asked.state {
            GeneratorState::Finished => {
                return Err(self.raised(&self.py.get_type::<PyStopAsyncIteration>(), Vec::new()));
            }
            GeneratorState::New(_) if sent.is_some() => {
                return Err(Stop::fallback(Reason::WouldRaise, "a value for a new async generator"));
            }
            GeneratorState::New(_) | GeneratorState::Suspended(_) if first != at_await => {}
            // Another step has begun, or it has ended in another way.
            _ => return Err(Stop::fallback(Reason::WouldRaise, "an async generator that is running")),
        }
        match self.resume(generator, sent)? {
            true => Ok(Called::Entered(Awaits::Push)),
            false => Err(Stop::fallback(Reason::InternalError, "an async generator that has ended")),
        }
    }

    /// One of these helpers.
    pub(super) fn call_coroutine_helper(&mut self, name: &str, args: &[VarId]) -> Result<Option<Called>, Stop> {
        match (name, args) {
            ("checked_awaited", [given]) => {
                match self.look(*given)? {
                    VarKind::Generator(generator) if generator.is_awaitable() => {
                        return Err(self.raise_error::<PyTypeError>(GIVES_A_COROUTINE));
                    }
                    VarKind::Generator(_) | VarKind::Iterator(_) => return Ok(Some(Called::Value(*given))),
                    _ => {}
                }
                let class = self.class_of(*given)?;
                if self.is_from_before_and_may_be_awaited(&class)? {
                    return Err(Stop::fallback(Reason::Generator, "__await__"));
                }
                match self.class_lookup(&class, "__next__")? {
                    Some(_) => Ok(Some(Called::Value(*given))),
                    None => Err(self.raise_error::<PyTypeError>(&no_iterator(&class_name(&class)))),
                }
            }
            ("awaited_in_turn", [item]) => match self.look(*item)? {
                VarKind::Generator(generator) if generator.is_awaitable() => match generator.state {
                    GeneratorState::New(_) => Ok(Some(Called::Value(*item))),
                    _ => Err(Stop::fallback(Reason::Generator, "__anext__")),
                },
                // Its own errors are told as causes of another one.
                _ if self.makes_a_generator(*item, "__await__")? => {
                    let method = self.special_method(*item, "__await__")?;
                    self.call(method, &Args::default()).map(Some)
                }
                _ => Err(Stop::fallback(Reason::Generator, "__anext__")),
            },
            ("checked_async", [given]) => {
                let class = self.class_of(*given)?;
                match self.class_lookup(&class, "__anext__")? {
                    Some(_) => Ok(Some(Called::Value(*given))),
                    None => Err(self.raise_error::<PyTypeError>(&no_async_iterator(&class_name(&class)))),
                }
            }
            ("async_send", [generator, sent, first]) => {
                let first = self.truth(*first)?;
                self.async_send(*generator, *sent, first).map(Some)
            }
            // It counts as closed from now on, for some who ask.
            ("async_goes_on", _) => {
                Err(Stop::fallback(Reason::WouldRaise, "an async generator that is closed and goes on"))
            }
            ("async_throw", [generator, exception]) => {
                let state = match &self.var(*generator).kind {
                    VarKind::Generator(generator) => generator.state.clone(),
                    _ => return Err(Stop::fallback(Reason::InternalError, "no async generator")),
                };
                match state {
                    GeneratorState::Suspended(frame) if frame.delegate().is_none() => {
                        let exception = self.thrown(*exception, &[])?;
                        self.resume_raising(*generator, exception, Awaits::Push).map(Some)
                    }
                    _ => Err(Stop::fallback(Reason::WouldRaise, "athrow() into what does not wait")),
                }
            }
            ("async_waits", [generator]) => {
                // One that is new ends at once, and one that has ended is not asked.
                let state = match &self.var(*generator).kind {
                    VarKind::Generator(generator) => generator.state.clone(),
                    _ => return Err(Stop::fallback(Reason::InternalError, "no async generator")),
                };
                let waits = match state {
                    GeneratorState::New(_) => {
                        self.finish_generator(*generator);
                        false
                    }
                    GeneratorState::Suspended(_) => true,
                    GeneratorState::Finished => false,
                    GeneratorState::Running => {
                        return Err(Stop::fallback(Reason::WouldRaise, "an async generator that is running"));
                    }
                };
                self.fold_bool(waits).map(|waits| Some(Called::Value(waits)))
            }
            ("async_awaits", [generator]) => {
                let awaits = match &self.var(*generator).kind {
                    VarKind::Generator(generator) => generator.frame().is_some_and(|frame| frame.delegate().is_some()),
                    _ => false,
                };
                self.fold_bool(awaits).map(|awaits| Some(Called::Value(awaits)))
            }
            _ => Ok(None),
        }
    }

    fn is_from_before_and_may_be_awaited(&self, class: &Bound<'py, PyAny>) -> Result<bool, Stop> {
        Ok(class.is(self.types_attribute("GeneratorType")?) || class.is(self.types_attribute("CoroutineType")?))
    }

    /// Whether a method of its class, asked for nothing else, gives a plain generator and raises nothing.
    fn makes_a_generator(&mut self, value: VarId, name: &str) -> Result<bool, Stop> {
        let class = self.class_of(value)?;
        if class.cast::<PyType>().is_err() {
            return Ok(false);
        }
        let Some(found) = self.class_lookup(&class, name)?.filter(crate::cpython::facts::is_function) else {
            return Ok(false);
        };
        let code = found.getattr(PyString::intern(self.py, "__code__")).map_err(|e| self.internal(&e))?;
        let number = |name: &str| code.getattr(name).and_then(|value| value.extract::<u32>());
        let flags = number("co_flags").map(CodeFlags::from_bits_retain).map_err(|e| self.internal(&e))?;
        let others = CodeFlags::COROUTINE | CodeFlags::ITERABLE_COROUTINE | CodeFlags::ASYNC_GENERATOR;
        let takes = (number("co_argcount"), number("co_kwonlyargcount"));
        Ok(flags.contains(CodeFlags::GENERATOR) && !flags.intersects(others) && matches!(takes, (Ok(1), Ok(0))))
    }
}
