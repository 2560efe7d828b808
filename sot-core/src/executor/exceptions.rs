//! Exceptions as values: making them, raising them, and finding who handles them.
//!
//! An operation that raises gives [`Stop::Raised`] with an exception variable. [`Executor::raise`] then looks for a handler,
//! innermost frame first. If a frame has one, frames above it end, and it goes on there. If no frame has one, nothing of the
//! program can see the difference: the instruction runs as Python and raises for real, with Python's own message,
//! traceback and effects. Only an exception that a handler has seen and raised again leaves as [`Outcome::Raise`].
//!
//! [`Outcome::Raise`]: crate::captured::Outcome::Raise

use super::{Awaits, Executor, Frame};
use crate::cpython::facts;
use crate::probe;
use crate::stop::{Reason, Stop};
use crate::user_frames::Site;
use crate::variables::*;
use pyo3::exceptions::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::{Op, handling};
use std::rc::Rc;
use std::sync::Arc;

/// Who goes on after an exception was raised.
pub(super) enum Unwound {
    /// A handler of the program, or the end of a loop: the frame is set up.
    Handled,
    /// Nobody; nothing was changed.
    Uncaught,
}

/// Exception classes of C whose instances are their `args`, whatever the arguments.
fn is_plain_exception(class: &Bound<'_, PyType>) -> bool {
    let py = class.py();
    // These give arguments a meaning: other attributes, another class.
    let special = [
        py.get_type::<PyOSError>(),
        py.get_type::<PyUnicodeError>(),
        py.get_type::<PyImportError>(),
        py.get_type::<PySyntaxError>(),
        py.get_type::<PySystemExit>(),
    ];
    !facts::is_heap_type(class)
        && !special.iter().any(|s| class.is_subclass(s).unwrap_or(true))
        && class.name().is_ok_and(|n| n != "BaseExceptionGroup" && n != "ExceptionGroup")
}

impl<'py> Executor<'py> {
    /// Whether a class is one of exceptions.
    pub fn is_exception_class(&self, class: &Bound<'py, PyType>) -> bool {
        facts::mro(class).iter().any(|c| c.is(self.py.get_type::<PyBaseException>()))
    }

    /// Call an exception class: a virtual exception. `None`: not one that is simulated.
    pub fn call_exception_class(&mut self, class: &Bound<'py, PyType>, args: &Args) -> Result<Option<Called>, Stop> {
        let Some(base) = probe::base_of_c(class).filter(is_plain_exception) else { return Ok(None) };
        let any = class.as_any();
        let own = |name: &str| base.getattr(name).ok();
        let new = self.class_lookup(any, "__new__")?;
        let init = self.class_lookup(any, "__init__")?;
        // What `BaseException.__new__` and `__init__` do is known; a class that has others is not.
        let from_base = |found: &Option<Bound<'py, PyAny>>, name: &str| {
            let wanted = own(name);
            found.as_ref().zip(wanted).is_some_and(|(f, w)| f.is(&w) || name == "__new__" && f.eq(&w).unwrap_or(false))
        };
        if !from_base(&new, "__new__") || self.class_lookup(any, "__del__")?.is_some() {
            return Ok(None);
        }
        let tuple = self.virtual_var(TupleVar::new(args.positional.clone()));
        let id = self.objects.add(any);
        let state = ExceptionState { args: Some(tuple), ..ExceptionState::default() };
        let exception = self.virtual_var(ExceptionVar { class: id, object: None, state: Rc::new(state) });
        match init {
            Some(init) if facts::is_function(&init) => {
                let init = self.pin(&init);
                self.construct(exception, init, args).map(Some)
            }
            init if from_base(&init, "__init__") && args.keywords.is_empty() => Ok(Some(Called::Value(exception))),
            _ => Ok(None),
        }
    }

    pub fn is_exception(&self, var: VarId) -> bool {
        matches!(&self.var(var).kind, VarKind::Exception(_))
    }

    /// Whether a variable is an exception that this capture has made.
    pub fn is_new_exception(&self, var: VarId) -> bool {
        matches!(&self.var(var).kind, VarKind::Exception(ExceptionVar { object: None, .. }))
    }

    /// The traceback as it is now.
    pub fn traceback_of(&mut self, exception: VarId) -> VarId {
        let (passed, cuts) = match &self.var(exception).kind {
            VarKind::Exception(e) => (e.state.passed.len(), e.state.cuts.len()),
            _ => (0, 0),
        };
        self.virtual_var(TracebackVar { exception, passed, cuts })
    }

    /// Up to 3.10 what is raised again has the traceback with which it came to its handler.
    pub fn set_traceback(&mut self, exception: VarId, traceback: VarId) {
        match self.var(traceback).kind {
            VarKind::Traceback(TracebackVar { exception: of, passed, .. }) if of == exception => {
                self.cut_traceback(exception, passed);
            }
            _ => self.change_exception(exception, |state| {
                state.passed.clear();
                state.traceback = Some(traceback);
                state.cuts.push(None);
            }),
        }
    }

    /// As `set_traceback`, by `raise` alone.
    pub fn set_handled_traceback(&mut self, exception: VarId) {
        let handles = self.frames.iter().rfind(|frame| !frame.handled.is_empty());
        let caught = handles.and_then(|frame| frame.caught.iter().rfind(|(caught, _)| *caught == exception));
        if let Some((_, at)) = caught {
            self.cut_traceback(exception, at + 1);
        }
    }

    pub(super) fn cut_traceback(&mut self, exception: VarId, kept: usize) {
        if kept >= self.frames_passed(exception).len() {
            return;
        }
        for frame in &mut self.frames {
            if frame.caught.iter().any(|(caught, at)| *caught == exception && *at >= kept) {
                Rc::make_mut(&mut frame.caught).retain(|(caught, at)| *caught != exception || *at < kept);
            }
        }
        self.change_exception(exception, |state| {
            state.passed.truncate(kept);
            state.cuts.push(Some(kept));
        });
    }

    /// `BaseException.__init__(self, *args)`.
    pub fn init_exception(&mut self, me: VarId, args: Vec<VarId>) {
        let tuple = self.virtual_var(TupleVar::new(args));
        self.change_exception(me, |state| state.args = Some(tuple));
    }

    pub(super) fn change_exception(&mut self, exception: VarId, change: impl FnOnce(&mut ExceptionState)) {
        if let VarKind::Exception(e) = &mut self.var_mut(exception).kind {
            change(Rc::make_mut(&mut e.state));
        }
    }

    /// The exception that a simulated operation raised, as a variable; otherwise the instruction has to run as Python.
    pub fn would_raise(&mut self, error: &PyErr) -> Stop {
        let value = error.value(self.py).clone().into_any();
        let class = value.get_type();
        let unknown = || Stop::brk(Reason::WouldRaise, class.name().map(|n| n.to_string()).unwrap_or_default());
        if !is_plain_exception(&class) {
            return unknown();
        }
        // What it says beside its arguments (of AttributeError and NameError) would be lost.
        if value.getattr("name").is_ok_and(|name| !name.is_none()) {
            return unknown();
        }
        let Ok(args) = value.getattr("args") else { return unknown() };
        let Ok(args) = args.cast_into::<PyTuple>() else { return unknown() };
        let mut items = Vec::with_capacity(args.len());
        for arg in args.iter() {
            match self.fold(&arg) {
                Ok(item) => items.push(item),
                Err(_) => return unknown(),
            }
        }
        self.raised(&class, items)
    }

    /// An exception of a class of C with these `args`.
    pub fn raised(&mut self, class: &Bound<'py, PyType>, args: Vec<VarId>) -> Stop {
        let args = self.virtual_var(TupleVar::new(args));
        let class = self.objects.add(class.as_any());
        let state = ExceptionState { args: Some(args), ..ExceptionState::default() };
        let exception = self.virtual_var(ExceptionVar { class, object: None, state: Rc::new(state) });
        // Who raises while an exception is handled has that as the context.
        self.set_context(exception);
        Stop::Raised(exception)
    }

    /// An exception of a class of C with a message.
    pub fn raise_error<E: pyo3::type_object::PyTypeInfo>(&mut self, message: &str) -> Stop {
        let text = PyString::new(self.py, message).into_any();
        match self.fold(&text) {
            Ok(text) => self.raised(&self.py.get_type::<E>(), vec![text]),
            Err(stop) => stop,
        }
    }

    /// What looking up `name` (in `object`) raised says so, if it does not yet, as the interpreter adds it since 3.10:
    /// tracebacks make suggestions from it.
    pub fn tell_name(&mut self, stop: &Stop, name: &str, object: Option<VarId>) -> Result<(), Stop> {
        let Stop::Raised(exception) = stop else { return Ok(()) };
        let VarKind::Exception(ExceptionVar { object: None, state, .. }) = &self.var(*exception).kind else {
            return Ok(());
        };
        let told =
            |part: &str| state.about.iter().any(|(what, _)| *what == part) || self.has_own_attribute(*exception, part);
        if self.py.version_info() < (3, 10) || told("name") || told("obj") {
            return Ok(());
        }
        let name = self.fold(&PyString::new(self.py, name).into_any())?;
        self.change_exception(*exception, |state| {
            state.about.push(("name", name));
            state.about.extend(object.map(|object| ("obj", object)));
        });
        Ok(())
    }

    /// An AttributeError has come instead of an attribute that a frame asked for: it is told, unless it knows.
    fn tell_what_was_asked(&mut self, exception: VarId, frame: usize) -> Result<(), Stop> {
        let frame = &self.frames[frame];
        let (Some(name), Some(object)) = (frame.asks_for().map(str::to_owned), frame.stack.last().copied()) else {
            return Ok(());
        };
        let method = frame.awaits == Awaits::Method;
        let class = self.class_of(object)?;
        if self.is_attribute_error(exception)? && class.cast::<PyType>().is_ok_and(|c| facts::tells_names(c, method)) {
            self.tell_name(&Stop::Raised(exception), &name, Some(object))?;
        }
        Ok(())
    }

    /// Whether the program has set an attribute of a virtual exception.
    fn has_own_attribute(&self, exception: VarId, name: &str) -> bool {
        !matches!(self.journal.attr(Self::var_ref(exception), name), sot_sideeffect::Overlay::Untouched)
    }

    /// `KeyError(key)`.
    pub fn raise_key_error(&mut self, key: VarId) -> Stop {
        self.raised(&self.py.get_type::<PyKeyError>(), vec![key])
    }

    /// The class of an exception variable, which is guarded: what follows from it is decided for this class alone.
    fn exception_class(&mut self, exception: VarId) -> Result<Option<Bound<'py, PyType>>, Stop> {
        Ok(match self.look(exception)? {
            VarKind::Exception(e) => self.objects.get(self.py, e.class).cast_into::<PyType>().ok(),
            _ => None,
        })
    }

    pub fn is_stop_iteration(&mut self, exception: VarId) -> Result<bool, Stop> {
        let class = self.exception_class(exception)?;
        Ok(class.is_some_and(|c| facts::mro(&c).iter().any(|c| c.is(self.py.get_type::<PyStopIteration>()))))
    }

    /// Whether an exception is one of a class, or of a tuple of classes: by their MRO, as handlers decide.
    pub fn exception_matches(&mut self, exception: VarId, classes: VarId) -> Result<bool, Stop> {
        // Up to 3.10 the class stands for the exception.
        let own = match self.look(exception)? {
            VarKind::Exception(e) => self.objects.get(self.py, e.class),
            VarKind::Class(c) => self.objects.get(self.py, c.object),
            other => return Err(Stop::brk(Reason::ValueKind, format!("handling of {}", other.kind_name()))),
        };
        let own = own.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        let candidates = match self.look(classes)? {
            VarKind::Tuple(t) => t.items.to_vec(),
            _ => vec![classes],
        };
        let mut matches = false;
        for candidate in candidates {
            let VarKind::Class(class) = self.look(candidate)? else {
                return Err(Stop::brk(Reason::WouldRaise, "catching what is no exception class"));
            };
            let class = self.objects.get(self.py, class.object);
            let class = class.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
            if !self.is_exception_class(&class) {
                return Err(Stop::brk(Reason::WouldRaise, "catching what is no exception class"));
            }
            // All are looked at before one counts.
            matches |= facts::mro(&own).iter().any(|c| c.is(&class));
        }
        Ok(matches)
    }

    /// `raise exception`: what is being handled becomes its context.
    pub fn set_context(&mut self, exception: VarId) {
        if let Some(context) = self.handled() {
            self.chain_context(exception, context);
        }
    }

    fn chain_context(&mut self, exception: VarId, context: VarId) {
        if context == exception {
            return;
        }
        match &self.var(exception).kind {
            VarKind::Exception(ExceptionVar { object: None, .. }) => {
                // A cycle would be cut: the exception may be in the context's own chain.
                self.cut_context(context, exception);
                self.change_exception(exception, |state| state.context = Some(context));
            }
            VarKind::Exception(_) => self.journal_record(sot_sideeffect::Mutation::SetAttr {
                object: Self::var_ref(exception),
                name: "__context__".into(),
                value: Self::var_ref(context),
            }),
            _ => {}
        }
    }

    /// Whether raising an exception from before would have to look for it in a chain of contexts that only exists at run time:
    /// it is taken out there, before what is handled becomes its own context.
    pub fn may_close_a_circle(&self, exception: VarId) -> bool {
        let real = |var: VarId| matches!(&self.var(var).kind, VarKind::Exception(e) if e.object.is_some());
        let mut at = self.handled().filter(|context| *context != exception && real(exception));
        for _ in 0..1000 {
            let Some(context) = at else { return false };
            if real(context) {
                return true;
            }
            at = match &self.var(context).kind {
                VarKind::Exception(e) => e.state.context,
                _ => None,
            };
        }
        true
    }

    /// Take `exception` out of the chain of contexts that begins at `first`.
    fn cut_context(&mut self, first: VarId, exception: VarId) {
        let mut at = first;
        for _ in 0..1000 {
            let next = match &self.var(at).kind {
                VarKind::Exception(e) => e.state.context,
                _ => None,
            };
            match next {
                Some(next) if next == exception => {
                    self.change_exception(at, |state| state.context = None);
                    return;
                }
                Some(next) => at = next,
                None => return,
            }
        }
    }

    /// `raise exception from cause`.
    pub fn set_cause(&mut self, exception: VarId, cause: Option<VarId>) -> Result<(), Stop> {
        match &self.var(exception).kind {
            VarKind::Exception(ExceptionVar { object: None, .. }) => {
                self.change_exception(exception, |state| state.cause = Some(cause));
                Ok(())
            }
            _ => Err(Stop::brk(Reason::Mutation, "the cause of an exception")),
        }
    }

    /// An exception has come to a frame, which handles it (`stays`) or ends.
    fn passed(&mut self, exception: VarId, frame: usize, stays: bool) {
        if self.frames[frame].is_hidden() {
            return;
        }
        let site = Arc::new(self.site_of(self.py, &self.frames[frame]));
        let end = (!stays).then(|| Rc::new(self.end_of(&self.frames[frame])));
        let at = self.frames_passed(exception).len();
        self.change_exception(exception, |state| state.passed.push(PassedFrame { site, end }));
        if stays && at < self.frames_passed(exception).len() {
            Rc::make_mut(&mut self.frames[frame].caught).push((exception, at));
        }
    }

    fn passed_skipped(&mut self, exception: VarId, left: Option<&Frame>) {
        if let Some(skipped) = left.and_then(|frame| frame.skipped.as_ref()) {
            let site = Arc::new(Site::of_skipped(self.py, skipped));
            self.change_exception(exception, |state| state.passed.push(PassedFrame { site, end: None }));
        }
    }

    /// A frame ends, or the capture does: exceptions that were caught in it show what it has come to.
    fn show_end(&mut self, caught: &[(VarId, usize)], end: FrameEnd) {
        let end = Rc::new(end);
        for (exception, at) in caught {
            let end = end.clone();
            self.change_exception(*exception, |state| {
                if let Some(passed) = state.passed.get_mut(*at) {
                    passed.end = Some(end);
                }
            });
        }
    }

    /// The capture ends while frames go on that tracebacks hold. What they let go of later, and would be seen to die, is left
    /// out, and so are exceptions, which would hold themselves.
    pub(super) fn show_frames_that_go_on(&mut self) {
        for at in 0..self.frames.len() {
            let caught = self.frames[at].caught.clone();
            if caught.is_empty() {
                continue;
            }
            let mut end = self.end_of(&self.frames[at]);
            let stays = |(_, var): &(u32, VarId)| {
                let kind = &self.var(*var).kind;
                !matches!(kind, VarKind::Generator(_)) && !self.may_be_seen_to_die(*var) && !self.holds_exception(*var)
            };
            end.locals.retain(stays);
            end.cells.retain(stays);
            self.show_end(&caught, end);
        }
    }

    /// Find who handles an exception that the innermost frame raises, in frames from `floor` on. `again`: by RERAISE, which
    /// leaves no second entry in the traceback.
    pub(super) fn raise(&mut self, exception: VarId, floor: usize, again: bool) -> Result<Unwound, Stop> {
        let innermost = self.frames.len() - 1;
        // Whoever asks for an item, and the frame of a generator: to them StopIteration is another thing than the rest.
        let told_apart = |frame: &Frame| frame.generator.is_some() || frame.awaits == Awaits::Next;
        let stops = self.frames[floor..].iter().any(told_apart) && self.is_stop_iteration(exception)?;
        let thrown = self.thrown.take().filter(|(thrown, _)| *thrown == exception);
        let mut at = None;
        for i in (floor..=innermost).rev() {
            let frame = &self.frames[i];
            let ends_loop = i < innermost && stops && frame.awaits == Awaits::Next;
            if ends_loop || frame.catches() {
                at = Some((i, ends_loop));
                break;
            }
            if frame.generator.is_some() && stops {
                // Another exception leaves the generator.
                if floor == 0 && !self.frames[..i].iter().any(Frame::catches) {
                    return Ok(Unwound::Uncaught);
                }
                let exception = self.leave_generator(exception, i, again)?;
                return match self.frames.len() > floor {
                    true => self.raise(exception, floor, false),
                    false => Err(Stop::Raised(exception)),
                };
            }
        }
        if at.is_none() && floor == 0 {
            return Ok(Unwound::Uncaught);
        }
        if !again {
            // What an operation raises while another exception is handled has that as its context.
            if let Some((_, context)) = thrown {
                if let Some(context) = context {
                    self.chain_context(exception, context);
                }
            } else if matches!(&self.var(exception).kind, VarKind::Exception(e) if e.object.is_none() && e.state.context.is_none())
            {
                self.set_context(exception);
            }
        }
        let Some((at, ends_loop)) = at else {
            // Whoever asked, in the middle of an instruction, goes on with it.
            self.leave_down_to(exception, floor, again);
            return Ok(Unwound::Uncaught);
        };
        let dropped = self.dropped_by_raise(at, exception);
        if !again {
            self.passed(exception, innermost, innermost == at);
        }
        while self.frames.len() - 1 > at {
            let left = self.leave_frame();
            let now = self.frames.len() - 1;
            self.tell_what_was_asked(exception, now)?;
            self.passed_skipped(exception, left.as_ref());
            if !(now == at && ends_loop) {
                self.passed(exception, now, now == at);
            }
        }
        if ends_loop {
            self.end_loop()?;
        } else {
            self.enter_handler(exception)?;
        }
        self.note_dropped(dropped, &[]);
        Ok(Unwound::Handled)
    }

    /// StopIteration leaves frames down to that of a generator, which lets it out as the cause of a RuntimeError.
    fn leave_generator(&mut self, exception: VarId, at: usize, again: bool) -> Result<VarId, Stop> {
        self.leave_down_to(exception, at, again);
        let Stop::Raised(other) = self.raise_error::<PyRuntimeError>(crate::awaits::STOPPED_IN_GENERATOR) else {
            return Err(Stop::fallback(Reason::InternalError, "no exception"));
        };
        self.change_exception(other, |state| (state.cause, state.context) = (Some(Some(exception)), Some(exception)));
        Ok(other)
    }

    /// An exception that nobody handles, and that no instruction can raise for real, leaves the generators that let none of
    /// its class out.
    pub(super) fn leave_generators(&mut self, exception: VarId, again: bool) -> Result<VarId, Stop> {
        let at = self.frames.iter().rposition(|frame| frame.generator.is_some());
        let (exception, again) = match at {
            Some(at) if self.is_stop_iteration(exception)? => (self.leave_generator(exception, at, again)?, false),
            _ => (exception, again),
        };
        if !self.frames.is_empty() {
            self.leave_down_to(exception, 0, again);
        }
        Ok(exception)
    }

    /// An exception leaves frames, the last of them that at `last`. `again`: the innermost has an entry in the traceback.
    fn leave_down_to(&mut self, exception: VarId, last: usize, again: bool) {
        if !again {
            self.passed(exception, self.frames.len() - 1, false);
        }
        loop {
            let left = self.leave_frame();
            if self.frames.len() == last {
                return;
            }
            // What cannot be told is not known to anybody.
            let _ = self.tell_what_was_asked(exception, self.frames.len() - 1);
            self.passed_skipped(exception, left.as_ref());
            self.passed(exception, self.frames.len() - 1, false);
        }
    }

    /// The innermost frame ends, by a result or an exception.
    pub(super) fn leave_frame(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        if !frame.caught.is_empty() {
            let end = self.end_of(&frame);
            self.show_end(&frame.caught, end);
        }
        if let Some(generator) = frame.generator {
            self.finish_generator(generator);
        }
        Some(frame)
    }

    /// The innermost frame goes on in the handler that covers its instruction.
    pub(super) fn enter_handler(&mut self, exception: VarId) -> Result<(), Stop> {
        let region = self.frame().handler().ok_or(Stop::fallback(Reason::InternalError, "no handler"))?;
        let version = self.frame().unit.code.version;
        let target = self.frame().unit.code.target(region.handler);
        self.frame_mut().stack.truncate(region.depth as usize);
        if handling::has_blocks(version) {
            // The blocks of handlers above the region end; from 3.11 on the code says so itself.
            let previous = |v: &&VarId| matches!(self.var(**v).kind, VarKind::Previous(_));
            let levels = self.frame().stack.iter().filter(previous).count() / 3;
            self.frame_mut().handled.truncate(levels);
            self.frame_mut().remember_place(levels);
            let class =
                self.exception_class(exception)?.ok_or(Stop::fallback(Reason::InternalError, "no exception"))?;
            for _ in 0..3 {
                let previous = self.virtual_var(PreviousVar);
                self.push(previous);
            }
            let traceback = self.traceback_of(exception);
            let class = self.pin(class.as_any());
            self.push(traceback);
            self.push(exception);
            self.push(class);
            self.frame_mut().handled.push(exception);
        } else {
            if region.lasti {
                self.frame_mut().remember_place(region.depth as usize);
                let zero = self.fold_int(0)?;
                self.push(zero);
            }
            self.push(exception);
        }
        self.frame_mut().ip = target;
        Ok(())
    }

    /// FOR_ITER of the innermost frame is exhausted.
    pub(super) fn end_loop(&mut self) -> Result<(), Stop> {
        let ip = self.frame().ip;
        let Op::ForIter(label) = self.frame().unit.code.instrs[ip].op else {
            return Err(Stop::fallback(Reason::InternalError, "no loop"));
        };
        self.pop()?;
        let target = self.frame().unit.code.target(label);
        self.frame_mut().ip = target;
        Ok(())
    }

    /// `str()` or `repr()` of a new exception; `None` for other values.
    pub fn text_of_exception(&mut self, value: VarId, method: &str) -> Result<Option<VarId>, Stop> {
        let VarKind::Exception(e) = self.look(value)? else { return Ok(None) };
        let Some(args) = e.state.args.filter(|_| e.object.is_none()) else { return Ok(None) };
        let class = self.objects.get(self.py, e.class);
        let Some(found) = self.class_lookup(&class, method)? else { return Ok(None) };
        if facts::is_function(&found) {
            let function = self.pin(&found);
            let text = self.call_now(function, &Args::positional(vec![value]))?;
            return match self.constant_str(text) {
                Some(_) => Ok(Some(text)),
                None => Err(Stop::brk(Reason::WouldRaise, method)),
            };
        }
        let Some(base) = class.cast::<PyType>().ok().and_then(probe::base_of_c) else { return Ok(None) };
        if !base.getattr(method).is_ok_and(|own| own.is(&found)) {
            return Ok(None);
        }
        // What C writes depends on the class and the arguments alone.
        let args = self.require_plain(args)?.cast_into::<PyTuple>().map_err(|e| self.internal(&e.into()))?;
        let made = base.getattr("__new__").and_then(|new| {
            let all: Vec<_> = std::iter::once(class.clone()).chain(args.iter()).collect();
            new.call1(PyTuple::new(self.py, all)?)
        });
        let text = made.and_then(|made| found.call1((made,))).map_err(|e| self.would_raise(&e))?;
        self.fold(&text).map(Some)
    }

    /// `exception.name`.
    pub fn attribute_of_exception(&mut self, me: VarId, e: &ExceptionVar, name: &str) -> Result<Option<VarId>, Stop> {
        let class = self.objects.get(self.py, e.class);
        if e.object.is_none() {
            let ours = self.py.get_type::<PyBaseException>();
            let found = self.class_lookup(&class, name)?;
            let of_base = found.is_some_and(|f| ours.getattr(name).is_ok_and(|own| own.is(&f)));
            let about = e.state.about.iter().find(|(what, _)| *what == name);
            let value = match name {
                _ if about.is_some() => about.map(|(_, value)| *value),
                "args" if of_base => e.state.args,
                "__cause__" if of_base => Some(e.state.cause.flatten().map_or_else(|| self.fold_none(), Ok)?),
                "__context__" if of_base => Some(e.state.context.map_or_else(|| self.fold_none(), Ok)?),
                "__suppress_context__" if of_base => Some(self.fold_bool(e.state.cause.is_some())?),
                "__traceback__" if of_base && e.state.passed.is_empty() => Some(self.fold_none()?),
                "__traceback__" if of_base => Some(self.traceback_of(me)),
                _ => None,
            };
            if let Some(value) = value {
                return Ok(Some(value));
            }
            if name == "value" && self.is_stop_iteration(me)? {
                let VarKind::Tuple(args) = self.look(e.state.args.expect("virtual"))? else {
                    return Err(Stop::fallback(Reason::InternalError, "args"));
                };
                return args.items.first().map_or_else(|| self.fold_none(), |v| Ok(*v)).map(Some);
            }
        }
        let object = e.object.map(|o| self.objects.get(self.py, o));
        self.attribute_of_instance(me, object.as_ref(), &class, name)
    }
}
