//! Making exceptions, their classes, and what is told of them.

use crate::awaits::Awaits;
use crate::cpython::{facts, warnings};
use crate::executor::Executor;
use crate::executor::copies::Copies;
use crate::groups;
use crate::numbers;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::exceptions::*;
use pyo3::prelude::*;
use pyo3::types::*;
use std::rc::Rc;

/// Exception classes of C whose instances are their `args`, whatever the arguments.
pub(in crate::executor) fn is_plain_exception(class: &Bound<'_, PyType>) -> bool {
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

/// Which attributes an exception of a class of C has beside its arguments; `None`: some that nobody can give it again.
fn what_it_tells(class: &Bound<'_, PyType>) -> Option<&'static [&'static str]> {
    let py = class.py();
    let is = |other: Bound<'_, PyType>| class.is_subclass(&other).unwrap_or(false);
    let late = py.version_info() >= (3, 10);
    match () {
        () if facts::is_heap_type(class) => None,
        () if is(py.get_type::<PyUnicodeError>()) && !class.is(py.get_type::<PyUnicodeError>()) => {
            Some(&["encoding", "object", "start", "end", "reason"])
        }
        () if is(py.get_type::<PyAttributeError>()) && late => Some(&["name", "obj"]),
        () if is(py.get_type::<PyNameError>()) && late => Some(&["name"]),
        () if class.is(py.get_type::<PyImportError>()) => Some(&["msg", "name", "path", "name_from"]),
        () => is_plain_exception(class).then_some(&[]),
    }
}

/// Whether a class of exceptions has this from the class of C that it extends.
fn is_of_base(class: &Bound<'_, PyType>, name: &str, found: &Bound<'_, PyAny>) -> bool {
    let own = type_facts::base_of_c(class).and_then(|base| base.getattr(name).ok());
    own.is_some_and(|own| found.is(&own) || name == "__new__" && found.eq(&own).unwrap_or(false))
}

impl<'py> Executor<'py> {
    /// Whether a class is one of exceptions.
    pub fn is_exception_class(&self, class: &Bound<'py, PyType>) -> bool {
        facts::mro(class).iter().any(|c| c.is(self.py.get_type::<PyBaseException>()))
    }

    /// Call an exception class: a virtual exception. `None`: not one that is simulated.
    pub fn call_exception_class(&mut self, class: &Bound<'py, PyType>, args: &Args) -> Result<Option<Called>, Stop> {
        if let Some(new) = self.class_lookup(class.as_any(), "__new__")?
            && let Some(entered) = self.made_by(&new, class.as_any(), args)?
        {
            return Ok(Some(entered));
        }
        let new = self.class_lookup(class.as_any(), "__new__")?;
        if !new.is_some_and(|new| is_of_base(class, "__new__", &new)) {
            return Ok(None);
        }
        match self.new_exception(class, args)? {
            Some(exception) => self.init_of_exception(exception, args),
            None => Ok(None),
        }
    }

    /// An exception that is not initialised: what `__new__` of C makes. `None`: not simulated.
    fn new_exception(&mut self, class: &Bound<'py, PyType>, args: &Args) -> Result<Option<VarId>, Stop> {
        if self.class_lookup(class.as_any(), "__del__")?.is_some() {
            return Ok(None);
        }
        let Some(base) = type_facts::base_of_c(class) else { return Ok(None) };
        if groups::groups(self.py).is_some_and(|groups| groups.base.is(&base)) {
            return self.new_group(class, args);
        }
        // Of one argument OSError makes nothing.
        let plain = is_plain_exception(&base)
            || base.is(class) && base.is_subclass_of::<PyOSError>().unwrap_or(false) && args.positional.len() < 2;
        if !plain {
            return Ok(None);
        }
        let args = self.tuple_of_arguments(args.positional.clone());
        let class = self.objects.add(class.as_any());
        let state = ExceptionState { args: Some(args), ..ExceptionState::default() };
        Ok(Some(self.virtual_var(ExceptionVar { class, object: None, state: Rc::new(state) })))
    }

    /// `__init__` of an exception that was made. `None`: not one that is simulated.
    pub(in crate::executor) fn init_of_exception(
        &mut self,
        exception: VarId,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        let Some(class) = self.exception_class(exception)? else { return Ok(None) };
        match self.class_lookup(class.as_any(), "__init__")? {
            Some(init) if facts::is_function(&init) => {
                let init = self.pin(&init);
                self.construct(exception, init, args).map(Some)
            }
            Some(init)
                if self.is_new_exception(exception)
                    && args.keywords.is_empty()
                    && is_of_base(&class, "__init__", &init) =>
            {
                self.init_exception(exception, args.positional.clone());
                Ok(Some(Called::Value(exception)))
            }
            _ => Ok(None),
        }
    }

    /// `BaseException.__new__(class, *args)`, or that of another class of C.
    pub(in crate::executor) fn call_new_of_exception(
        &mut self,
        callee: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<Option<VarId>, Stop> {
        let Some((class, rest)) = args.positional.split_first() else { return Ok(None) };
        if type_facts::descriptor(callee) != type_facts::Descriptor::BuiltinFunction
            || !callee.getattr("__name__").is_ok_and(|name| name.eq("__new__").unwrap_or(false))
        {
            return Ok(None);
        }
        let VarKind::Class(class) = self.look(*class)? else { return Ok(None) };
        let class = self.objects.get(self.py, class.object);
        let class = class.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        self.guard_mro(&class);
        if !self.is_exception_class(&class) || !is_of_base(&class, "__new__", callee) {
            return Ok(None);
        }
        self.new_exception(&class, &Args { positional: rest.to_vec(), keywords: args.keywords.clone() })
    }

    /// `sys.exc_info()` or `sys.exception()`, where a frame of the capture handles something. Up to 3.10 the interpreter keeps the
    /// traceback by itself.
    pub(in crate::executor) fn tell_handled(&mut self, name: &str) -> Result<Option<VarId>, Stop> {
        let Some(exception) = self.handled().filter(|_| self.is_handled_with_its_own()) else { return Ok(None) };
        if name == "exception" {
            return Ok(Some(exception));
        }
        let class = self.class_of(exception)?;
        let class = self.pin(&class);
        let traceback = self.set_by_raising(exception, "__traceback__")?;
        Ok(Some(self.virtual_var(TupleVar::new(vec![class, exception, traceback]))))
    }

    pub fn is_exception(&self, var: VarId) -> bool {
        matches!(&self.var(var).kind, VarKind::Exception(_))
    }

    /// Whether a variable is an exception that this capture has made.
    pub fn is_new_exception(&self, var: VarId) -> bool {
        matches!(&self.var(var).kind, VarKind::Exception(ExceptionVar { object: None, .. }))
    }

    /// `BaseException.__init__(self, *args)`.
    pub fn init_exception(&mut self, me: VarId, args: Vec<VarId>) {
        let tuple = self.tuple_of_arguments(args);
        self.change_exception(me, |state| state.args = Some(tuple));
    }

    /// The tuple of these arguments: the one that the call spreads, if those are all of its items.
    pub(in crate::executor) fn tuple_of_arguments(&mut self, args: Vec<VarId>) -> VarId {
        let items = |tuple: &VarId| match &self.var(*tuple).kind {
            VarKind::Tuple(tuple) => tuple.items.iter().eq(args.iter()),
            _ => false,
        };
        match self.step.spread.filter(items) {
            Some(tuple) => tuple,
            None => self.virtual_var(TupleVar::new(args)),
        }
    }

    /// The same of an exception that existed before the frame: behind a break in its own `__init__`. `false`: not simulated.
    pub(in crate::executor) fn init_from_before(
        &mut self,
        me: VarId,
        owner: &Bound<'py, PyAny>,
        args: &[VarId],
    ) -> Result<bool, Stop> {
        let VarKind::Exception(ExceptionVar { class, object: Some(_), .. }) = self.look(me)? else { return Ok(false) };
        let Ok(owner) = owner.cast::<PyType>() else { return Ok(false) };
        let more = [
            self.py.get_type::<PyStopIteration>(),
            self.py.get_type::<PyAttributeError>(),
            self.py.get_type::<PyNameError>(),
        ];
        if !is_plain_exception(owner) || more.iter().any(|other| owner.is_subclass(other).unwrap_or(true)) {
            return Ok(false);
        }
        let class = self.objects.get(self.py, class);
        for name in ["args", "__setattr__"] {
            let own = type_facts::raw(&self.py.get_type::<PyBaseException>(), name);
            if !self.class_lookup(&class, name)?.zip(own).is_some_and(|(found, own)| found.is(&own)) {
                return Ok(false);
            }
        }
        let args = self.virtual_var(TupleVar::new(args.to_vec()));
        self.journal_record(sot_sideeffect::Mutation::SetAttr {
            object: Self::var_ref(me),
            name: "args".into(),
            value: Self::var_ref(args),
        });
        Ok(true)
    }

    pub(in crate::executor) fn change_exception(&mut self, exception: VarId, change: impl FnOnce(&mut ExceptionState)) {
        if let VarKind::Exception(e) = &mut self.var_mut(exception).kind {
            change(Rc::make_mut(&mut e.state));
        }
    }

    /// What C makes of these values. What it would warn of runs as Python.
    pub(in crate::executor) fn told_by_c<T>(
        &mut self,
        values: &[&Bound<'py, PyAny>],
        copies: &Copies<'py>,
        ask: impl FnOnce() -> PyResult<T>,
    ) -> Result<T, Stop> {
        let quiet = values.iter().all(|value| warnings::never_warns_of(value));
        let ask = || numbers::under_any_limit(self.py, ask);
        let told = if quiet { ask() } else { warnings::as_errors(self.py, ask) };
        told.map_err(|e| self.raised_by(&e, copies))
    }

    /// The exception that a simulated operation raised, as a variable; otherwise the instruction has to run as Python.
    pub fn would_raise(&mut self, error: &PyErr) -> Stop {
        self.raised_by(error, &Copies::default())
    }

    /// The same of an operation on copies: what the exception holds of them is what they are copies of.
    pub(in crate::executor) fn raised_by(&mut self, error: &PyErr, copies: &Copies<'py>) -> Stop {
        let value = error.value(self.py).clone().into_any();
        let class = value.get_type();
        if error.is_instance_of::<PyWarning>(self.py) {
            // By `as_errors`, or since the program makes errors of warnings.
            let text = value.str().map(|text| text.to_string()).unwrap_or_default();
            return Stop::brk(Reason::GivesWarning, text);
        }
        if numbers::met_a_limit(self.py, error) {
            return Stop::brk(Reason::Builtin, "as many digits as a program may refuse to read or write");
        }
        let unknown = || Stop::brk(Reason::WouldRaise, class.name().map(|n| n.to_string()).unwrap_or_default());
        let Some(about) = what_it_tells(&class) else { return unknown() };
        if error.cause(self.py).is_some() || self.has_context_of_c(&value) {
            return unknown();
        }
        let Ok(args) = value.getattr("args") else { return unknown() };
        let Ok(args) = args.cast_into::<PyTuple>() else { return unknown() };
        let mut items = Vec::with_capacity(args.len());
        for arg in args.iter() {
            match self.told(&arg, copies) {
                Some(item) => items.push(item),
                None => return unknown(),
            }
        }
        let mut told = Vec::new();
        for name in about {
            let Ok(part) = value.getattr(*name) else { continue };
            if part.is_none() && matches!(*name, "name" | "obj" | "path" | "name_from") {
                continue;
            }
            match self.told(&part, copies) {
                Some(part) => told.push((*name, part)),
                None => return unknown(),
            }
        }
        let stop = self.raised(&class, items);
        if let Stop::Raised(exception) = stop {
            self.change_exception(exception, |state| state.about = told);
        }
        stop
    }

    /// Whether an exception has another one as its context than what the thread handles.
    fn has_context_of_c(&self, exception: &Bound<'py, PyAny>) -> bool {
        let Ok(context) = exception.getattr("__context__") else { return true };
        let handled =
            || crate::cpython::module(self.py, "sys").and_then(|sys| sys.call_method0("exc_info")?.get_item(1));
        !context.is_none() && !handled().is_ok_and(|handled| handled.is(&context))
    }

    /// A part of an exception that C made.
    fn told(&mut self, part: &Bound<'py, PyAny>, copies: &Copies<'py>) -> Option<VarId> {
        if let Some(var) = copies.var_of(part) {
            return Some(var);
        }
        let plain = part.is_none() || crate::objects::is_constant_type(&part.get_type());
        let plain = plain || part.is_exact_instance_of::<PyTuple>() || part.is_exact_instance_of::<PyList>();
        plain.then(|| self.fold(part).ok()).flatten()
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
    pub(super) fn tell_what_was_asked(&mut self, exception: VarId, frame: usize) -> Result<(), Stop> {
        let frame = &self.frames[frame];
        let method = frame.awaits == Awaits::Method;
        let asked = match frame.locals[..] {
            [Some(object), Some(name), ..] if frame.asks_as_given() => {
                self.constant_str(name).map(|name| (name, object))
            }
            _ => frame.asks_for().map(str::to_owned).zip(frame.stack.last().copied()),
        };
        let Some((name, object)) = asked else { return Ok(()) };
        let class = self.class_of(object)?;
        if self.is_attribute_error(exception)? && class.cast::<PyType>().is_ok_and(|c| facts::tells_names(c, method)) {
            self.tell_name(&Stop::Raised(exception), &name, Some(object))?;
        }
        Ok(())
    }

    /// `exception.args = tuple`, of an exception that the simulation made and that is its arguments. `false`: it is another one, or
    /// what is given has to be made a tuple.
    pub(in crate::executor) fn store_arguments(
        &mut self,
        exception: VarId,
        descriptor: &Bound<'py, PyAny>,
        args: VarId,
    ) -> Result<bool, Stop> {
        let VarKind::Exception(ExceptionVar { class, object: None, state }) = self.look(exception)? else {
            return Ok(false);
        };
        let of_all = self.py.get_type::<PyBaseException>().getattr("args").is_ok_and(|own| own.is(descriptor));
        let class = self.objects.get(self.py, class).cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        let plain = type_facts::base_of_c(&class).is_some_and(|base| is_plain_exception(&base));
        if !of_all || !plain || state.group.is_some() || state.args.is_none() || self.is_stop_iteration(exception)? {
            return Ok(false);
        }
        if !self.is_exact_tuple(args)? {
            return Ok(false);
        }
        self.change_exception(exception, |state| state.args = Some(args));
        Ok(true)
    }

    /// Whether the program has set an attribute of a virtual exception.
    fn has_own_attribute(&self, exception: VarId, name: &str) -> bool {
        !matches!(self.journal.attr(Self::var_ref(exception), name), sot_sideeffect::Overlay::Untouched)
    }

    /// `KeyError(key)`.
    pub fn raise_key_error(&mut self, key: VarId) -> Stop {
        self.raised(&self.py.get_type::<PyKeyError>(), vec![key])
    }

    /// The KeyError of C that gives the key as the value of the exception, and not as its argument: the items of a tuple are the
    /// arguments, None stands for no argument, and an exception is raised itself.
    pub(in crate::executor) fn raise_key_as_value(&mut self, key: VarId) -> Stop {
        let args = match self.look(key) {
            Ok(VarKind::Tuple(tuple)) => {
                let stop = self.raised(&self.py.get_type::<PyKeyError>(), tuple.items.to_vec());
                if let (Stop::Raised(exception), None) = (&stop, tuple.class) {
                    // It is the very tuple.
                    self.change_exception(*exception, |state| state.args = Some(key));
                }
                return stop;
            }
            Ok(VarKind::Constant(_)) if self.constant_value(key).is_some_and(|key| key.is_none()) => Vec::new(),
            Ok(VarKind::Exception(_) | VarKind::Instance(InstanceVar { part: Some(_), .. })) => {
                return Stop::brk(Reason::WouldRaise, "KeyError");
            }
            Ok(_) => vec![key],
            Err(stop) => return stop,
        };
        self.raised(&self.py.get_type::<PyKeyError>(), args)
    }

    /// The class of an exception variable, which is guarded: what follows from it is decided for this class alone.
    pub(super) fn exception_class(&mut self, exception: VarId) -> Result<Option<Bound<'py, PyType>>, Stop> {
        Ok(match self.look(exception)? {
            VarKind::Exception(e) => self.objects.get(self.py, e.class).cast_into::<PyType>().ok(),
            _ => None,
        })
    }

    pub fn is_stop_iteration(&mut self, exception: VarId) -> Result<bool, Stop> {
        let class = self.exception_class(exception)?;
        Ok(class.is_some_and(|c| facts::mro(&c).iter().any(|c| c.is(self.py.get_type::<PyStopIteration>()))))
    }

    pub fn ends_async_iteration(&mut self, exception: VarId) -> Result<bool, Stop> {
        let class = self.exception_class(exception)?;
        Ok(class.is_some_and(|c| facts::mro(&c).iter().any(|c| c.is(self.py.get_type::<PyStopAsyncIteration>()))))
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
        self.guard_mro(&own);
        let candidates = match self.look(classes)? {
            VarKind::Tuple(t) => t.items.to_vec(),
            _ => vec![classes],
        };
        let mut matches = false;
        for candidate in candidates {
            // All are looked at before one counts.
            let class = self.caught_class(candidate)?;
            matches |= facts::mro(&own).iter().any(|c| c.is(&class));
        }
        Ok(matches)
    }

    /// A class that a handler names.
    pub(super) fn caught_class(&mut self, class: VarId) -> Result<Bound<'py, PyType>, Stop> {
        if let VarKind::Class(class) = self.look(class)? {
            let class = self.objects.get(self.py, class.object);
            let class = class.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
            if self.is_exception_class(&class) {
                return Ok(class);
            }
        }
        let text = "catching classes that do not inherit from BaseException is not allowed";
        Err(self.raise_error::<PyTypeError>(text))
    }
}
