//! Groups of exceptions: making them, what they say and hold, and which of them `except*` takes for one that was raised again.
//!
//! Their parts are found by a definition (`definitions_of_groups.py`), since a group of the program may derive others in a way of
//! its own.

use crate::executor::Executor;
use crate::groups::{self, Groups};
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::exceptions::{PyBaseException, PyException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::*;
use std::rc::Rc;

/// Groups in groups that the simulation follows. The interpreter may refuse more of them.
const MAX_DEPTH: usize = 60;

impl<'py> Executor<'py> {
    /// `BaseExceptionGroup.__new__(class, message, exceptions)`. `None`: not a call that is simulated.
    pub(super) fn new_group(&mut self, class: &Bound<'py, PyType>, args: &Args) -> Result<Option<VarId>, Stop> {
        let (Some(groups), [message, exceptions], true) =
            (groups::groups(self.py), args.positional.as_slice(), args.keywords.is_empty())
        else {
            return Ok(None);
        };
        let (message, exceptions) = (*message, *exceptions);
        self.look(message)?;
        if !self.constant_value(message).is_some_and(|text| text.is_instance_of::<PyString>()) {
            return Ok(None);
        }
        let (tuple, items) = match self.look(exceptions)? {
            VarKind::Tuple(TupleVar { items, class: None }) => (Some(exceptions), items.to_vec()),
            VarKind::Tuple(TupleVar { items, .. }) => (None, items.to_vec()),
            VarKind::List(ListVar { items, class: None, .. }) => (None, items.to_vec()),
            _ => return Ok(None),
        };
        let tuple = tuple.unwrap_or_else(|| self.virtual_var(TupleVar::new(items.clone())));
        if items.is_empty() {
            let text = "second argument (exceptions) must be a non-empty sequence";
            return Err(self.raise_error::<PyValueError>(text));
        }
        let (ordinary, mut depth, mut others) = (self.py.get_type::<PyException>(), 1, false);
        for (at, item) in items.iter().enumerate() {
            let Some(class) = self.exception_class(*item)? else {
                let text = format!("Item {at} of second argument (exceptions) is not an exception");
                return Err(self.raise_error::<PyValueError>(&text));
            };
            others |= !class.is_subclass(&ordinary).unwrap_or(false);
            depth = depth.max(1 + self.depth_of_group(*item)?);
        }
        if depth > MAX_DEPTH {
            return Err(Stop::brk(Reason::Depth, "groups in groups"));
        }
        let is_ordinary = class.is_subclass(&ordinary).unwrap_or(false);
        let class = match () {
            () if class.is(&groups.base) && !others => groups.ordinary.clone(),
            () if class.is(&groups.ordinary) && others => {
                return Err(self.raise_error::<PyTypeError>("Cannot nest BaseExceptions in an ExceptionGroup"));
            }
            () if is_ordinary && others => {
                let name = class.name().map(|name| name.to_string()).unwrap_or_default();
                return Err(self.raise_error::<PyTypeError>(&format!("Cannot nest BaseExceptions in '{name}'")));
            }
            () => class.clone(),
        };
        let args = self.virtual_var(TupleVar::new(vec![message, exceptions]));
        let group = Some(GroupParts { message, exceptions: tuple, depth });
        let class = self.objects.add(class.as_any());
        let state = ExceptionState { args: Some(args), group, ..ExceptionState::default() };
        Ok(Some(self.virtual_var(ExceptionVar { class, object: None, state: Rc::new(state) })))
    }

    /// A group that the interpreter makes of these exceptions.
    fn group_of(&mut self, message: VarId, exceptions: VarId) -> Result<VarId, Stop> {
        let base = groups::groups(self.py).ok_or(Stop::fallback(Reason::InternalError, "no groups"))?.base;
        let made = self.new_group(&base, &Args::positional(vec![message, exceptions]))?;
        made.ok_or(Stop::brk(Reason::OpaqueCall, "BaseExceptionGroup"))
    }

    fn depth_of_group(&mut self, exception: VarId) -> Result<usize, Stop> {
        let VarKind::Exception(e) = self.look(exception)? else { return Ok(0) };
        Ok(match (e.state.group, e.object, groups::groups(self.py)) {
            (Some(group), ..) => group.depth,
            (_, Some(object), Some(groups)) => groups.depth(&self.objects.get(self.py, object), MAX_DEPTH),
            _ => 0,
        })
    }

    pub(in crate::executor) fn is_group(&mut self, exception: VarId) -> Result<bool, Stop> {
        let Some(groups) = groups::groups(self.py) else { return Ok(false) };
        let class = self.exception_class(exception)?;
        Ok(class.is_some_and(|class| class.is_subclass(&groups.base).unwrap_or(false)))
    }

    /// `message` or `exceptions` of a group, whatever its class makes of the name.
    pub(in crate::executor) fn field_of_group(&mut self, group: VarId, name: &str) -> Result<VarId, Stop> {
        let (VarKind::Exception(e), Some(groups)) = (self.look(group)?, groups::groups(self.py)) else {
            return Err(Stop::fallback(Reason::InternalError, "no group"));
        };
        if let Some(parts) = e.state.group {
            return Ok(if name == "message" { parts.message } else { parts.exceptions });
        }
        let object = e.object.map(|object| self.objects.get(self.py, object));
        let class = self.objects.get(self.py, e.class);
        let found = self.class_lookup(&class, name)?;
        match found.filter(|found| groups.is_own(name, found)) {
            Some(found) => self.read_data_descriptor(group, object.as_ref(), &found, name),
            None => Err(Stop::brk(Reason::UserCode, name)),
        }
    }

    /// Whether a class has this from the class of all groups.
    pub(in crate::executor) fn is_field_of_groups(
        &mut self,
        class: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<bool, Stop> {
        let found = self.class_lookup(class, name)?;
        Ok(found.zip(groups::groups(self.py)).is_some_and(|(found, groups)| groups.is_own(name, &found)))
    }

    /// The parts of a group, a tuple; `None`: it is none.
    pub(in crate::executor) fn parts_of_group(&mut self, exception: VarId) -> Result<Option<VarId>, Stop> {
        match self.is_group(exception)? {
            true => self.field_of_group(exception, "exceptions").map(Some),
            false => Ok(None),
        }
    }

    /// Methods that exceptions have from C. `None`: not one that is simulated.
    pub(in crate::executor) fn method_of_exception(
        &mut self,
        owner: &Bound<'py, PyAny>,
        name: &str,
        me: VarId,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        let (Some(groups), true) = (groups::groups(self.py), args.keywords.is_empty()) else { return Ok(None) };
        if !matches!(self.look(me)?, VarKind::Exception(_)) {
            return Ok(None);
        }
        match (name, args.positional.as_slice()) {
            ("add_note", [note]) if owner.is(self.py.get_type::<PyBaseException>()) => {
                let class = self.class_of(*note)?.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
                if !class.is_subclass_of::<PyString>().unwrap_or(false) {
                    let class = class.name().map(|name| name.to_string()).unwrap_or_default();
                    return Err(self.raise_error::<PyTypeError>(&format!("note must be a str, not '{class}'")));
                }
                self.enter("add_note", &[me, *note]).map(Some)
            }
            ("derive", [exceptions]) if owner.is(&groups.base) => {
                let message = self.field_of_group(me, "message")?;
                self.group_of(message, *exceptions).map(|group| Some(Called::Value(group)))
            }
            ("split" | "subgroup", [matcher]) if owner.is(&groups.base) => {
                let Some(way) = self.way_to_match(&groups, *matcher)? else {
                    return Err(self.raise_error::<PyTypeError>(groups.refusal));
                };
                if self.depth_of_group(me)? > MAX_DEPTH {
                    return Err(Stop::brk(Reason::Depth, "groups in groups"));
                }
                self.enter_parts(me, *matcher, way, name == "split", None).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn enter_parts(
        &mut self,
        group: VarId,
        matcher: VarId,
        way: i64,
        with_rest: bool,
        raised: Option<VarId>,
    ) -> Result<Called, Stop> {
        let (way, with_rest) = (self.fold_int(way)?, self.fold_bool(with_rest)?);
        let raised = raised.map_or_else(|| self.fold_none(), Ok)?;
        self.enter("parts_of_group", &[group, matcher, way, with_rest, raised])
    }

    /// How a group is asked for parts: by classes (0), or by a function (1). `None`: not at all.
    fn way_to_match(&mut self, groups: &Groups<'py>, matcher: VarId) -> Result<Option<i64>, Stop> {
        let is_class = |ex: &mut Self, var: VarId| -> Result<bool, Stop> {
            let VarKind::Class(class) = ex.look(var)? else { return Ok(false) };
            let class = ex.objects.get(ex.py, class.object);
            Ok(class.cast::<PyType>().is_ok_and(|class| ex.is_exception_class(class)))
        };
        Ok(match self.look(matcher)? {
            VarKind::Function(_) => Some(1),
            VarKind::Class(_) => is_class(self, matcher)?.then_some(0),
            VarKind::Tuple(TupleVar { items, class: None }) => {
                for item in items.iter() {
                    if !is_class(self, *item)? {
                        return Ok(None);
                    }
                }
                Some(0)
            }
            VarKind::Method(_) | VarKind::Bound(_) if groups.asks_any_callable => Some(1),
            VarKind::Constant(_) | VarKind::List(_) | VarKind::Method(_) | VarKind::Bound(_) => None,
            _ => return Err(Stop::brk(Reason::OpaqueValue, "what parts of a group are asked for")),
        })
    }

    /// CHECK_EG_MATCH: what of an exception is of the classes, and the rest. `None`: a frame was pushed that finds out.
    pub(in crate::executor) fn matched(
        &mut self,
        exception: VarId,
        classes: VarId,
    ) -> Result<Option<[VarId; 2]>, Stop> {
        let none = self.fold_none()?;
        self.refuse_groups(classes)?;
        self.look(exception)?;
        if self.constant_value(exception).is_some_and(|value| value.is_none()) {
            return Ok(Some([none, none]));
        }
        let (matches, group) = (self.exception_matches(exception, classes)?, self.is_group(exception)?);
        if matches && group {
            return Ok(Some([exception, none]));
        }
        if matches {
            if groups::groups(self.py).is_some_and(|groups| groups.naked_have_tracebacks) {
                return Err(Stop::brk(Reason::Opcode, "an exception that is no group"));
            }
            let items = self.virtual_var(TupleVar::new(vec![exception]));
            let text = self.fold(PyString::new(self.py, "").as_any())?;
            return Ok(Some([self.group_of(text, items)?, none]));
        }
        if !group {
            return Ok(Some([none, exception]));
        }
        self.enter("matched_in_group", &[exception, classes])?;
        Ok(None)
    }

    /// `except*` is not for groups.
    fn refuse_groups(&mut self, classes: VarId) -> Result<(), Stop> {
        let several = match self.look(classes)? {
            VarKind::Tuple(tuple) => tuple.items.to_vec(),
            _ => vec![classes],
        };
        let Some(groups) = groups::groups(self.py) else { return Ok(()) };
        let mut refused = false;
        for class in &several {
            refused |= self.caught_class(*class)?.is_subclass(&groups.base).unwrap_or(false);
        }
        match refused {
            true => Err(self.raise_error::<PyTypeError>(
                "catching ExceptionGroup with except* is not allowed. Use except instead.",
            )),
            false => Ok(()),
        }
    }

    /// PREP_RERAISE_STAR: what is raised of what came of the arms of `except*`, or None.
    pub(in crate::executor) fn raised_of_arms(&mut self, original: VarId, arms: VarId) -> Result<Called, Stop> {
        let VarKind::List(arms) = self.look(arms)? else {
            return Err(Stop::fallback(Reason::InternalError, "no list"));
        };
        let Some(first) = arms.items.first().copied() else { return self.fold_none().map(Called::Value) };
        if !self.is_group(original)? {
            return Ok(Called::Value(first));
        }
        let (mut raised, mut again) = (Vec::new(), Vec::new());
        for exception in arms.items.iter().copied() {
            self.look(exception)?;
            if self.constant_value(exception).is_some_and(|value| value.is_none()) {
                continue;
            }
            match self.is_raised_again(exception, original)? {
                true => self.leaves_of(exception, &mut again)?,
                false => raised.push(exception),
            }
        }
        if !again.is_empty() {
            if self.depth_of_group(original)? > MAX_DEPTH {
                return Err(Stop::brk(Reason::Depth, "groups in groups"));
            }
            let again = self.virtual_var(TupleVar::new(again));
            let raised = self.virtual_var(ListVar::new(raised));
            return self.enter_parts(original, again, 2, false, Some(raised));
        }
        match *raised.as_slice() {
            [] => self.fold_none().map(Called::Value),
            [one] => Ok(Called::Value(one)),
            _ => {
                let text = self.fold(PyString::new(self.py, "").as_any())?;
                let raised = self.virtual_var(ListVar::new(raised));
                self.group_of(text, raised).map(Called::Value)
            }
        }
    }

    /// The exceptions of a group that are no groups.
    fn leaves_of(&mut self, exception: VarId, leaves: &mut Vec<VarId>) -> Result<(), Stop> {
        let Some(parts) = self.parts_of_group(exception)? else {
            leaves.push(exception);
            return Ok(());
        };
        let VarKind::Tuple(parts) = self.look(parts)? else {
            return Err(Stop::fallback(Reason::InternalError, "no tuple"));
        };
        self.nested(|ex| parts.items.iter().try_for_each(|part| ex.leaves_of(*part, leaves)))
    }

    /// Whether an exception has the traceback, the cause and the context of another one, as those have that were split off it and
    /// not raised since.
    fn is_raised_again(&mut self, exception: VarId, original: VarId) -> Result<bool, Stop> {
        if exception == original {
            return Ok(true);
        }
        if !self.have_one_traceback(exception, original)? {
            return Ok(false);
        }
        for name in ["__cause__", "__context__"] {
            let (one, other) = (self.set_by_raising(exception, name)?, self.set_by_raising(original, name)?);
            if !self.same_object(one, other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Helpers of the definitions of exceptions.
    pub(in crate::executor) fn helped_with_exceptions(
        &mut self,
        name: &'static str,
        args: &[VarId],
    ) -> Result<VarId, Stop> {
        let answer = match (name, args) {
            ("is_exception", [value]) => matches!(self.look(*value)?, VarKind::Exception(_)),
            ("is_group", [value]) => self.is_group(*value)?,
            ("is_of", [exception, classes]) => self.exception_matches(*exception, *classes)?,
            ("is_among", [exception, several]) => {
                let VarKind::Tuple(several) = self.look(*several)? else {
                    return Err(Stop::fallback(Reason::InternalError, name));
                };
                several.items.contains(exception)
            }
            ("is_sequence", [value]) => match self.look(*value)? {
                VarKind::List(_) | VarKind::Tuple(_) => true,
                VarKind::Dict(_) | VarKind::Set(_) => false,
                VarKind::Constant(_) => {
                    self.constant_value(*value).is_some_and(|value| value.cast::<PySequence>().is_ok())
                }
                _ => return Err(Stop::brk(Reason::OpaqueValue, "notes")),
            },
            ("parts_of", [exception]) => {
                return self.parts_of_group(*exception)?.map_or_else(|| self.fold_none(), Ok);
            }
            ("take_after", [made, group]) => {
                self.take_after(*made, *group)?;
                return self.fold_none();
            }
            _ => return Err(Stop::fallback(Reason::InternalError, name)),
        };
        self.fold_bool(answer)
    }

    /// What was split off a group takes its traceback, context and cause.
    pub(in crate::executor) fn take_after(&mut self, made: VarId, group: VarId) -> Result<(), Stop> {
        if !self.is_new_exception(made) {
            return Err(Stop::brk(Reason::Mutation, "an exception from before"));
        }
        if made == group {
            return Ok(());
        }
        let [traceback, cause, context] = ["__traceback__", "__cause__", "__context__"];
        let traceback = self.set_by_raising(group, traceback)?;
        let (cause, context) = (self.set_by_raising(group, cause)?, self.set_by_raising(group, context)?);
        if let Some(traceback) = self.unless_none(Some(traceback))? {
            self.set_traceback(made, traceback);
        }
        let (cause, context) = (self.unless_none(Some(cause))?, self.unless_none(Some(context))?);
        self.change_exception(made, |state| {
            state.context = context;
            state.cause = Some(cause);
        });
        Ok(())
    }
}
