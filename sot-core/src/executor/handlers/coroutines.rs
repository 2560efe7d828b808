//! Coroutines: what is awaited, `async with`, `async for`. The rest of an `await` is a `yield from`.
//!
//! Where the version has instructions of its own for coroutines the frame, or the call that led here, runs as Python.

use super::unsupported::run;
use super::{Flow, handlers};
use crate::cpython::facts;
use crate::executor::Executor;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::exceptions::{PyStopAsyncIteration, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use sot_opcodes::{Op, handling};

handlers! {
    GetAwaitable => get_awaitable;
    GetAiter => get_aiter;
    GetAnext => get_anext;
    BeforeAsyncWith => before_async_with;
    EndAsyncFor => end_async_for;
    AsyncGenWrap => async_gen_wrap;
}

fn is_simulated(ex: &Executor<'_>) -> bool {
    handling::coroutines_are_generators(ex.frame().unit.code.version)
}

fn pushed(ex: &mut Executor<'_>, called: Called) -> Flow {
    match called {
        Called::Value(value) => {
            ex.push(value);
            Flow::Next
        }
        Called::Entered(awaits) => Flow::Entered(awaits),
    }
}

fn name_of(class: &Bound<'_, PyAny>) -> String {
    class.cast::<PyType>().map(facts::name_in_messages).unwrap_or_default()
}

fn get_awaitable(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::GetAwaitable(of) = op else { return Err(super::mismatch()) };
    if !is_simulated(ex) {
        return run(ex, op);
    }
    let value = ex.pop()?;
    let Some(called) = ex.awaited(value)? else {
        let class = ex.class_of(value)?;
        let name = name_of(&class);
        let text = match of {
            1 => format!("'async with' received an object from __aenter__ that does not implement __await__: {name}"),
            2 => format!("'async with' received an object from __aexit__ that does not implement __await__: {name}"),
            _ => format!("object {name} can't be used in 'await' expression"),
        };
        return Err(ex.raise_error::<PyTypeError>(&text));
    };
    Ok(pushed(ex, called))
}

fn get_aiter(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    if !is_simulated(ex) {
        return run(ex, op);
    }
    let value = ex.pop()?;
    if let VarKind::Generator(generator) = ex.look(value)?
        && generator.is_async()
    {
        ex.push(value);
        return Ok(Flow::Next);
    }
    let class = ex.class_of(value)?;
    match ex.class_lookup(&class, "__aiter__")? {
        None => {
            let name = name_of(&class);
            let text = format!("'async for' requires an object with __aiter__ method, got {name}");
            Err(ex.raise_error::<PyTypeError>(&text))
        }
        Some(found) if facts::is_function(&found) => {
            let method = ex.special_method(value, "__aiter__")?;
            let called = ex.enter("async_iterator", &[method])?;
            Ok(pushed(ex, called))
        }
        Some(_) => run(ex, op),
    }
}

/// The iterator stays under what it gives.
fn get_anext(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    if !is_simulated(ex) {
        return run(ex, op);
    }
    let iterator = ex.peek(1)?;
    if let VarKind::Generator(generator) = ex.look(iterator)?
        && generator.is_async()
    {
        let none = ex.fold_none()?;
        let step = ex.async_step(iterator, none)?;
        ex.push(step);
        return Ok(Flow::Next);
    }
    let class = ex.class_of(iterator)?;
    match ex.class_lookup(&class, "__anext__")? {
        Some(found) if facts::is_function(&found) => {
            let method = ex.special_method(iterator, "__anext__")?;
            let called = ex.enter("awaited_item", &[method])?;
            Ok(pushed(ex, called))
        }
        _ => run(ex, op),
    }
}

fn before_async_with(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    if !is_simulated(ex) {
        return run(ex, op);
    }
    let manager = ex.pop()?;
    let class = ex.class_of(manager)?;
    for (name, missed) in [("__aenter__", ""), ("__aexit__", " (missed __aexit__ method)")] {
        match ex.class_lookup(&class, name)? {
            Some(found) if facts::is_function(&found) => {}
            Some(_) => return run(ex, op),
            None => {
                let name = name_of(&class);
                let text =
                    format!("'{name}' object does not support the asynchronous context manager protocol{missed}");
                return Err(ex.raise_error::<PyTypeError>(&text));
            }
        }
    }
    let enter = ex.special_method(manager, "__aenter__")?;
    let exit = ex.special_method(manager, "__aexit__")?;
    ex.push(exit);
    let called = ex.call(enter, &Args::default())?;
    Ok(pushed(ex, called))
}

/// What has come from the iterator is its end, or raised again.
fn end_async_for(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    if !is_simulated(ex) {
        return run(ex, op);
    }
    let exception = ex.pop()?;
    let class = ex.py.get_type::<PyStopAsyncIteration>();
    let class = ex.pin(class.as_any());
    if !ex.exception_matches(exception, class)? {
        return Err(Stop::Raised(exception));
    }
    ex.pop()?;
    Ok(Flow::Next)
}

/// What comes behind it yields an item; any other yield hands on what is awaited.
fn async_gen_wrap(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    if !is_simulated(ex) {
        return run(ex, op);
    }
    Ok(Flow::Next)
}

impl<'py> Executor<'py> {
    /// What `await` asks in the place of a value. `None`: it cannot be awaited.
    pub(in crate::executor) fn awaited(&mut self, value: VarId) -> Result<Option<Called>, Stop> {
        if let VarKind::Generator(generator) = self.look(value)?
            && (generator.disguise().is_none() || generator.is_async_step())
        {
            if generator.is_async_step() {
                return Ok(Some(Called::Value(value)));
            }
            // One that waits does so for what it awaits itself.
            if generator.is_coroutine() && matches!(generator.state, GeneratorState::Suspended(_)) {
                let text = "coroutine is being awaited already";
                return Err(self.raise_error::<pyo3::exceptions::PyRuntimeError>(text));
            }
            return Ok(generator.is_awaitable().then_some(Called::Value(value)));
        }
        let class = self.class_of(value)?;
        // Of those from before the frame some are awaitable.
        if class.is(self.types_attribute("GeneratorType")?) {
            return Err(Stop::fallback(Reason::Generator, "await of a generator"));
        }
        match self.class_lookup(&class, "__await__")? {
            None => Ok(None),
            Some(found) if facts::is_function(&found) => {
                let method = self.special_method(value, "__await__")?;
                self.enter("awaited", &[method]).map(Some)
            }
            Some(_) => Err(Stop::fallback(Reason::Generator, "await of what C answers for")),
        }
    }
}
