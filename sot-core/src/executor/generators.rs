//! Generators: their frames come and go on the machine's stack.
//!
//! A frame that is resumed delivers to the frame below it: a yield what that one awaits, a return the end of its loop, the
//! result of its `yield from`, or StopIteration.

use super::flow::Flow;
use super::{Awaits, Executor, Frame};
use crate::cpython::facts;
use crate::frame::Site;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::exceptions::{PyGeneratorExit, PyRuntimeError, PyStopAsyncIteration, PyStopIteration, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use sot_opcodes::{CodeFlags, Op, handling};
use std::rc::Rc;

/// What a coroutine says that is asked behind its end.
const REUSED: &str = "cannot reuse already awaited coroutine";

impl<'py> Executor<'py> {
    /// A generator, a coroutine or an async generator, for a frame whose arguments are bound. `None`: the version runs what awaits in
    /// its own way.
    pub(super) fn new_generator(&mut self, mut frame: Frame) -> Option<VarId> {
        let code = &frame.unit.code;
        let others = CodeFlags::COROUTINE | CodeFlags::ITERABLE_COROUTINE | CodeFlags::ASYNC_GENERATOR;
        if code.flags.intersects(others) && !handling::coroutines_are_generators(code.version) {
            return None;
        }
        if let Some(at) = code.instrs.iter().position(|i| matches!(i.op, Op::ReturnGenerator)) {
            frame.ip = at + 1;
        }
        let made = match frame.unit.code.flags.contains(CodeFlags::COROUTINE) {
            true => self.call_to_lose_a_coroutine(),
            false => self.frames.last().map(Frame::site),
        };
        let unit = frame.unit.clone();
        let generator =
            self.virtual_var(GeneratorVar { unit, state: GeneratorState::New(Rc::new(frame)), made, delegated: false });
        self.note_generator(generator);
        Some(generator)
    }

    /// What is denied where a coroutine that is being made gets lost: a warning says so, and names the line of the frame that loses it.
    /// So all frames that were entered are real then. `None`: this capture began in several of them.
    fn call_to_lose_a_coroutine(&self) -> Option<Site> {
        let outermost = self.frames.first().filter(|frame| self.given == 1 && !frame.is_hidden())?;
        Some(outermost.site())
    }

    pub fn set_generator(&mut self, generator: VarId, state: GeneratorState) {
        if let VarKind::Generator(g) = &mut self.var_mut(generator).kind {
            g.state = state;
        }
    }

    /// A generator's frame has ended.
    pub(super) fn finish_generator(&mut self, generator: VarId) {
        self.set_generator(generator, GeneratorState::Finished);
    }

    /// What is asked from outside while another generator waits for it: that one may have died since, and ended it.
    pub(super) fn not_shared(&self, generator: VarId) -> Result<(), Stop> {
        let waits = |v: &Variable| match &v.kind {
            VarKind::Generator(GeneratorVar { state: GeneratorState::Suspended(frame), .. }) => {
                frame.delegate() == Some(generator)
            }
            _ => false,
        };
        match &self.var(generator).kind {
            VarKind::Generator(g) if g.delegated && self.vars.iter().any(waits) => {
                Err(Stop::brk(Reason::Generator, "a generator that another one waits for"))
            }
            _ => Ok(()),
        }
    }

    /// Put the frame of a generator on the stack. `false`: it has ended before.
    pub(super) fn resume(&mut self, generator: VarId, sent: Option<VarId>) -> Result<bool, Stop> {
        let VarKind::Generator(g) = self.var(generator).kind.clone() else {
            return Err(Stop::fallback(Reason::InternalError, "not a generator"));
        };
        let none = self.fold_none()?;
        let mut frame = match &g.state {
            GeneratorState::Finished => {
                self.asked_behind_its_end(&g);
                return Ok(false);
            }
            GeneratorState::Running => return Err(Stop::brk(Reason::WouldRaise, "a generator that is running")),
            GeneratorState::New(frame) => {
                if sent.is_some() {
                    return Err(Stop::brk(Reason::WouldRaise, "a value for a new generator"));
                }
                let mut frame = Frame::clone(frame);
                // What starts it is a value like one that is sent, and popped at once.
                if handling::generator_starts_with_a_value(frame.unit.code.version) {
                    frame.stack.push(none);
                }
                frame
            }
            GeneratorState::Suspended(frame) => {
                let mut frame = Frame::clone(frame);
                frame.stack.push(sent.unwrap_or(none));
                // A `yield from` of 3.8 to 3.10 asks again.
                if !matches!(frame.unit.code.instrs[frame.ip].op, Op::YieldFrom) {
                    frame.ip += 1;
                }
                frame
            }
        };
        frame.generator = Some(generator);
        self.push_frame(frame)?;
        self.set_generator(generator, GeneratorState::Running);
        Ok(true)
    }

    /// The exception that `throw` is given: type, value and traceback. The last two may be None or left out, and a traceback is
    /// the one that the value has.
    pub(super) fn thrown(&mut self, exception: VarId, rest: &[VarId]) -> Result<VarId, Stop> {
        let unknown = || Stop::brk(Reason::Generator, "throw()");
        let mut given = [None; 2];
        for (given, value) in given.iter_mut().zip(rest) {
            *given = self.unless_none(Some(*value))?;
        }
        let [value, traceback] = given;
        // From 3.12 on there is a warning.
        if !rest.is_empty() && self.py.version_info() >= (3, 12) {
            return Err(unknown());
        }
        if let Some(traceback) = traceback
            && !self.is_traceback_of(traceback, value.unwrap_or(exception))?
        {
            return Err(unknown());
        }
        let class = match self.look(exception)? {
            VarKind::Exception(_) if value.is_some() => {
                return Err(self.raise_error::<PyTypeError>("instance exception may not have a separate value"));
            }
            VarKind::Exception(_) => return Ok(exception),
            VarKind::Class(class) => self.objects.get(self.py, class.object).cast_into::<PyType>(),
            _ => return Err(unknown()),
        };
        let class = class.ok().filter(|class| self.is_exception_class(class)).ok_or_else(unknown)?;
        let args = match value.map(|value| self.look(value)).transpose()? {
            None => Vec::new(),
            Some(VarKind::Exception(e)) => {
                let own =
                    self.objects.get(self.py, e.class).cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
                if facts::mro(&own).iter().any(|c| c.is(&class)) {
                    let value = value.expect("given");
                    // Without its traceback it begins another one.
                    if traceback.is_none() && !self.shortens_traceback(value, 0) {
                        return Err(unknown());
                    }
                    return Ok(value);
                }
                value.into_iter().collect()
            }
            Some(VarKind::Tuple(args)) => args.items.to_vec(),
            Some(_) => value.into_iter().collect(),
        };
        match self.call_exception_class(&class, &Args::positional(args))? {
            Some(Called::Value(exception)) => Ok(exception),
            _ => Err(unknown()),
        }
    }

    /// Put the frame on the stack where it stands, to raise an exception there.
    pub(super) fn resume_raising(
        &mut self,
        generator: VarId,
        exception: VarId,
        awaits: Awaits,
    ) -> Result<Called, Stop> {
        let VarKind::Generator(g) = self.var(generator).kind.clone() else {
            return Err(Stop::fallback(Reason::InternalError, "not a generator"));
        };
        match &g.state {
            GeneratorState::Running => Err(Stop::brk(Reason::WouldRaise, "a generator that is running")),
            GeneratorState::Finished if g.is_coroutine() => Err(self.raise_error::<PyRuntimeError>(REUSED)),
            GeneratorState::Finished => {
                self.step.thrown = Some((exception, None));
                Err(Stop::Raised(exception))
            }
            // Up to 3.10 no instruction is on the line where it seems to happen.
            GeneratorState::New(frame) if frame.ip == 0 => {
                Err(Stop::brk(Reason::Generator, "throw() into a new generator"))
            }
            GeneratorState::New(frame) | GeneratorState::Suspended(frame) => {
                let delegate = frame.delegate().filter(|_| matches!(g.state, GeneratorState::Suspended(_)));
                let ends = delegate.is_some() && self.is_generator_exit(exception)?;
                let to = match delegate {
                    Some(to) => self.asks_to_raise(to, ends)?,
                    None => None,
                };
                if delegate.is_some() {
                    if let (Some(to), true) = (to, ends) {
                        return self.close_and_throw(generator, frame, to, exception, awaits);
                    }
                    if let (Some(_), true) = (to, self.frame().closes_delegate()) {
                        return Err(Stop::fallback(Reason::Generator, "a delegate that does not end"));
                    }
                    // 3.12+: whoever waits takes it for the end of what it waits for.
                    if to.is_none() && self.is_stop_iteration(exception)? {
                        return Err(Stop::brk(Reason::Generator, "throw() of StopIteration into yield from"));
                    }
                }
                let caller = self.frames.len() - 1;
                self.frames[caller].awaits = awaits;
                if let Some(to) = to {
                    // What it handles becomes the context of what comes out of the other one.
                    if !frame.handled.is_empty() {
                        return Err(Stop::brk(Reason::Generator, "throw() into yield from of a handler"));
                    }
                    let frame = Frame::clone(frame);
                    self.push_delegating(generator, frame)?;
                    return self.resume_raising(to, exception, Awaits::Send);
                }
                // What it handles is the context, since 3.9; what its caller handles is not.
                let context = frame.handled.last().copied().filter(|_| self.py.version_info() >= (3, 9));
                if context.is_some() && !self.is_new_exception(exception) {
                    return Err(Stop::brk(Reason::Generator, "throw() of an exception that is older"));
                }
                self.step.thrown = Some((exception, context));
                let mut frame = Frame::clone(frame);
                // Up to 3.12 it stands at the instruction that has made it, of which `new_generator` is past.
                if matches!(g.state, GeneratorState::New(_)) && self.py.version_info() < (3, 13) {
                    frame.ip -= 1;
                }
                if delegate.is_some() {
                    self.push_delegating(generator, frame)?;
                    return Err(Stop::Raised(exception));
                }
                frame.generator = Some(generator);
                self.push_frame(frame)?;
                self.set_generator(generator, GeneratorState::Running);
                Err(Stop::Raised(exception))
            }
        }
    }

    /// The frame of a generator that delegates goes on where it asked last.
    fn push_delegating(&mut self, generator: VarId, mut frame: Frame) -> Result<(), Stop> {
        if !matches!(frame.unit.code.instrs[frame.ip].op, Op::YieldFrom) {
            frame.ip -= 1;
        }
        frame.generator = Some(generator);
        self.push_frame(frame)?;
        self.set_generator(generator, GeneratorState::Running);
        Ok(())
    }

    /// What a generator delegates to, if that is given what is thrown into it. `None`: it has no `throw`, nor a `close`, or has ended.
    /// `ends`: it is closed instead.
    fn asks_to_raise(&mut self, to: VarId, ends: bool) -> Result<Option<VarId>, Stop> {
        match self.look(to)? {
            VarKind::Generator(g) if g.is_async_step() => {
                Err(Stop::brk(Reason::Generator, "throw() into a step of an async generator"))
            }
            VarKind::Generator(g) if g.disguise().is_some() => Ok(None),
            VarKind::Generator(g) => match g.state {
                GeneratorState::Finished if g.is_coroutine() && !ends => {
                    Err(Stop::brk(Reason::Generator, "throw() into await of what has ended"))
                }
                GeneratorState::Finished => Ok(None),
                GeneratorState::Running => Err(Stop::brk(Reason::WouldRaise, "a generator that is running")),
                GeneratorState::New(_) | GeneratorState::Suspended(_) => Ok(Some(to)),
            },
            VarKind::Iterator(iterator) if !matches!(iterator.state, Iteration::Real { .. }) => Ok(None),
            _ => Err(Stop::brk(Reason::Generator, "throw() into yield from")),
        }
    }

    fn is_generator_exit(&mut self, exception: VarId) -> Result<bool, Stop> {
        let class = self.class_of(exception)?.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        let end = self.py.get_type::<PyGeneratorExit>();
        Ok(facts::mro(&class).iter().any(|base| base.is(&end)))
    }

    /// GeneratorExit is not handed on: what is delegated to is closed, and what that raises takes its place.
    fn close_and_throw(
        &mut self,
        generator: VarId,
        frame: &Frame,
        to: VarId,
        exception: VarId,
        awaits: Awaits,
    ) -> Result<Called, Stop> {
        if !frame.handled.is_empty() || awaits != Awaits::Push {
            return Err(Stop::brk(Reason::Generator, "GeneratorExit into yield from"));
        }
        let close = self.virtual_var(BoundVar::new(to, "close"));
        let throw = self.virtual_var(BoundVar::new(generator, "throw"));
        self.enter("close_and_throw", &[close, throw, exception])
    }

    /// The innermost frame yields: it leaves the stack and waits in its generator.
    pub(super) fn suspend(&mut self) -> Result<(), Stop> {
        let frame = self.frames.pop().ok_or(Stop::fallback(Reason::InternalError, "no frame"))?;
        let generator = frame.generator.ok_or(Stop::fallback(Reason::Generator, "yield"))?;
        self.set_generator(generator, GeneratorState::Suspended(Rc::new(frame)));
        Ok(())
    }

    /// The frame of a generator has returned: tell the innermost frame, which asked for an item.
    pub(super) fn deliver_end(&mut self, generator: VarId, value: VarId) -> Result<(), Stop> {
        if matches!(&self.var(generator).kind, VarKind::Generator(generator) if generator.is_async()) {
            return Err(self.raised(&self.py.get_type::<PyStopAsyncIteration>(), Vec::new()));
        }
        match self.frame().awaits {
            Awaits::Next => self.end_loop(),
            Awaits::Send => self.end_delegation(value),
            _ => Err(self.stop_iteration(value)?),
        }
    }

    /// What the innermost frame delegates to has ended, with this result.
    pub(super) fn end_delegation(&mut self, value: VarId) -> Result<(), Stop> {
        let ip = self.frame().ip;
        match self.frame().unit.code.instrs[ip].op {
            Op::Send(label) => {
                self.push(value);
                let target = self.frame().unit.code.target(label);
                self.frame_mut().ip = target;
            }
            _ => {
                self.pop()?;
                self.push(value);
                self.frame_mut().ip += 1;
            }
        }
        Ok(())
    }

    /// `StopIteration(value)`, without the value if it is None.
    pub(super) fn stop_iteration(&mut self, value: VarId) -> Result<Stop, Stop> {
        let args = if self.is_none(value)? { Vec::new() } else { vec![value] };
        Ok(self.raised(&self.py.get_type::<PyStopIteration>(), args))
    }

    /// Of what has ended the answer is its end; a coroutine must not be asked any more.
    fn has_ended(&mut self, generator: VarId) -> Result<(), Stop> {
        match &self.var(generator).kind {
            VarKind::Generator(g) if g.is_coroutine() => Err(self.raise_error::<PyRuntimeError>(REUSED)),
            _ => Ok(()),
        }
    }

    /// A method of a generator.
    pub(super) fn generator_method(&mut self, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        if matches!(&self.var(me).kind, VarKind::Generator(generator) if generator.is_async()) {
            return self.async_generator_method(me, name, args);
        }
        match (name, args.positional.as_slice()) {
            ("__iter__", []) => Ok(Called::Value(me)),
            ("__next__", []) => self.ask(me, None),
            ("send", [value]) => {
                let none = self.is_none(*value)?;
                self.ask(me, (!none).then_some(*value))
            }
            ("throw", [exception, rest @ ..]) if rest.len() <= 2 => {
                let exception = self.thrown(*exception, rest)?;
                self.resume_raising(me, exception, Awaits::Push)
            }
            ("close", []) => match &self.var(me).kind {
                VarKind::Generator(g) if g.frame().is_none_or(|f| !f.catches() && !self.delegates(f)) => {
                    if matches!(g.state, GeneratorState::Running) {
                        return Err(Stop::brk(Reason::WouldRaise, "a generator that is running"));
                    }
                    self.finish_generator(me);
                    self.fold_none().map(Called::Value)
                }
                VarKind::Generator(g) if !matches!(g.state, GeneratorState::Running) => {
                    let g = g.clone();
                    if let Some(to) = g.frame().and_then(|frame| frame.delegate()) {
                        self.asks_to_raise(to, true)?;
                    }
                    let what = if g.is_coroutine() { "coroutine" } else { "generator" };
                    let ignored = PyString::new(self.py, &format!("{what} ignored GeneratorExit")).into_any();
                    let ignored = self.fold(&ignored)?;
                    let throw = self.virtual_var(BoundVar::new(me, "throw"));
                    self.enter("close", &[throw, ignored])
                }
                _ => Err(Stop::brk(Reason::Generator, "close()")),
            },
            _ => Err(Stop::brk(Reason::Builtin, format!("generator.{name}"))),
        }
    }

    /// The next item of a generator, for the instruction that is being simulated.
    pub(super) fn ask(&mut self, generator: VarId, sent: Option<VarId>) -> Result<Called, Stop> {
        self.not_shared(generator)?;
        if self.resume(generator, sent)? {
            return Ok(Called::Entered(Awaits::Push));
        }
        self.has_ended(generator)?;
        Err(self.raised(&self.py.get_type::<PyStopIteration>(), Vec::new()))
    }
}

/// `yield from` and `await`: ask what is delegated to.
pub(super) fn delegate(ex: &mut Executor<'_>, sent: VarId, receiver: VarId) -> Result<Delegated, Stop> {
    let none = ex.is_none(sent)?;
    if let VarKind::Generator(g) = ex.look(receiver)? {
        if g.disguise().is_some() && !g.is_async_step() && !none {
            return Err(Stop::brk(Reason::Generator, "send() to what is no generator"));
        }
        if let VarKind::Generator(g) = &mut ex.var_mut(receiver).kind {
            g.delegated = true;
        }
        return Ok(match ex.resume(receiver, (!none).then_some(sent))? {
            true => Delegated::Flow(Flow::Entered(Awaits::Send)),
            false => {
                ex.has_ended(receiver)?;
                Delegated::Ended(ex.fold_none()?)
            }
        });
    }
    if !none {
        return Err(Stop::brk(Reason::Generator, "send() to what is no generator"));
    }
    if let VarKind::Instance(_) = ex.look(receiver)? {
        let next = ex.special_method(receiver, "__next__")?;
        ex.step.tail = Some(Awaits::Delegate);
        return match ex.call_tail(next, &Args::default()) {
            // What it says at its end is the result.
            Err(Stop::Raised(exception)) if ex.is_stop_iteration(exception)? => {
                Ok(Delegated::Ended(ex.getattr(exception, "value")?))
            }
            other => other.map(Delegated::Item),
        };
    }
    if ex.enter_next(receiver)?.is_some() {
        return Ok(Delegated::Flow(Flow::Entered(Awaits::Delegate)));
    }
    match ex.next_item(receiver)? {
        Some(item) => Ok(Delegated::Item(item)),
        None => Ok(Delegated::Ended(ex.fold_none()?)),
    }
}

/// What asking came to.
pub(super) enum Delegated {
    Flow(Flow),
    Item(VarId),
    Ended(VarId),
}
