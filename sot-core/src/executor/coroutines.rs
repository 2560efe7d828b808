//! What definitions of coroutines call: checks of what methods of the program give where something is awaited.

use super::Executor;
use super::compared::class_name;
use super::searched::Helper;
use crate::process;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::exceptions::PyTypeError;
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
