//! Exceptions: values like others, made by calling their class or by an operation that raises.
//!
//! A virtual one is its class, its `args` and what raising set (`__cause__`, `__context__`, the frames it passed); it is
//! built when the program hands it out. Of a sourced one only the class is known. Attributes that the program sets are in the
//! journal, as those of instances.

use super::*;
use crate::cpython::facts;
use crate::executor::exceptions::is_plain_exception;
use crate::type_facts;
use pyo3::exceptions::PyBaseException;
use pyo3::types::{PyString, PyTuple, PyType};
use sot_tracker::{Access, Check};

impl Operations for ExceptionVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.objects.get(ex.py, self.class))
    }

    fn truth(&self, ex: &mut Executor<'_>, me: VarId) -> Result<bool, Stop> {
        ex.truth_by_protocol(me)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        if let Some(value) = ex.field_of_exception(me, self, name)? {
            return Ok(Some(value));
        }
        let (class, object) = (ex.objects.get(ex.py, self.class), self.object.map(|o| ex.objects.get(ex.py, o)));
        ex.attribute_of_instance(me, object.as_ref(), &class, name)
    }

    fn look(&self, ex: &mut Executor<'_>, _me: VarId, at: Place) -> Result<(), Stop> {
        if let Some(object) = self.object {
            if at.pinned && !at.given {
                ex.guard(at.tracker, Check::Is(object));
            }
            // `e.__class__ = Other` leaves identity as it is.
            let own = if at.pinned { ex.constant_tracker(object) } else { at.tracker };
            ex.guard_type(own, object);
        }
        Ok(())
    }

    fn has_an_id(&self, _ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        Ok(true)
    }

    fn set_attribute(&self, ex: &mut Executor<'_>, me: VarId, name: &str, new: VarId) -> Result<(), Stop> {
        ex.set_by_class(self.class, me, name, new)
    }
}

impl Executor<'_> {
    /// `str()` or `repr()` of an exception. `None`: not one that is simulated.
    pub(in crate::executor) fn enter_text_of_exception(
        &mut self,
        value: VarId,
        builtin: &str,
    ) -> Result<Option<Called>, Stop> {
        let VarKind::Exception(e) = self.look(value)? else { return Ok(None) };
        let method = if builtin == "str" { "__str__" } else { "__repr__" };
        let class = self.objects.get(self.py, e.class);
        let Some(found) = self.class_lookup(&class, method)? else { return Ok(None) };
        if facts::is_function(&found) {
            return self.enter_answer(builtin, value, &[method], &[]);
        }
        let Ok(class) = class.cast_into::<PyType>() else { return Ok(None) };
        let Some(base) =
            type_facts::base_of_c(&class).filter(|base| base.getattr(method).is_ok_and(|own| own.is(&found)))
        else {
            return Ok(None);
        };
        let of_all = self.py.get_type::<PyBaseException>().getattr(method).is_ok_and(|own| own.is(&found));
        if !of_all && self.is_group(value)? {
            let (message, exceptions) =
                (self.field_of_group(value, "message")?, self.field_of_group(value, "exceptions")?);
            let (message, VarKind::Tuple(exceptions)) = (self.require_plain(message)?, self.look(exceptions)?) else {
                return Err(Stop::fallback(Reason::InternalError, "no tuple"));
            };
            let (count, plural) = (exceptions.items.len(), if exceptions.items.len() > 1 { "s" } else { "" });
            // Of text of the program C asks what it says.
            let message = message.str().map_err(|e| self.would_raise(&e))?;
            let text = format!("{} ({count} sub-exception{plural})", message.to_string_lossy());
            return self.fold(PyString::new(self.py, &text).as_any()).map(|text| Some(Called::Value(text)));
        }
        let args = match e.state.args {
            Some(args) => args,
            None if of_all || is_plain_exception(&base) => self.given_field(value, "args")?,
            None => return Ok(None),
        };
        if of_all && !self.is_plain(args)? {
            let name = class.name().map_err(|e| self.internal(&e))?;
            let name = self.fold(name.as_any())?;
            return match builtin {
                "str" => self.enter("str_of_exception", &[args]).map(Some),
                _ => self.enter("repr_of_exception", &[name, args]).map(Some),
            };
        }
        // What C writes depends on the class and the arguments alone.
        let args = self.require_plain(args)?.cast_into::<PyTuple>().map_err(|e| self.internal(&e.into()))?;
        // One that ends at once: the program must not hear of it.
        let class = match self.class_lookup(class.as_any(), "__del__")? {
            Some(_) => {
                let (name, names) = (facts::name_in_messages(&class), pyo3::types::PyDict::new(self.py));
                let bases = PyTuple::new(self.py, [&base]).map_err(|e| self.internal(&e))?;
                facts::unlisted_class(self.py, name, bases, names).map_err(|e| self.internal(&e))?
            }
            None => class.into_any(),
        };
        let made = base.getattr("__new__").and_then(|new| {
            let all: Vec<_> = std::iter::once(class).chain(args.iter()).collect();
            let made = new.call1(PyTuple::new(self.py, all)?)?;
            let all: Vec<_> = std::iter::once(made.clone()).chain(args.iter()).collect();
            base.getattr("__init__")?.call1(PyTuple::new(self.py, all)?)?;
            Ok(made)
        });
        let text = made.and_then(|made| found.call1((made,))).map_err(|e| self.would_raise(&e))?;
        self.fold(&text).map(|text| Some(Called::Value(text)))
    }

    /// `__traceback__`, `__cause__` or `__context__` of an exception, whatever its class makes of the name; None if there is none.
    pub(in crate::executor) fn set_by_raising(&mut self, exception: VarId, name: &str) -> Result<VarId, Stop> {
        let VarKind::Exception(e) = self.look(exception)? else {
            return Err(Stop::fallback(Reason::InternalError, "no exception"));
        };
        let set = match name {
            "__traceback__" if !e.state.passed.is_empty() => return Ok(self.traceback_of(exception)),
            "__traceback__" => return self.traceback_below(exception),
            _ if e.object.is_some() => return self.given_field(exception, name),
            "__cause__" => e.state.cause.flatten(),
            _ if e.state.context.is_none() && e.state.context_of_caller => return self.handled_by_callers(),
            _ => e.state.context,
        };
        set.map_or_else(|| self.fold_none(), Ok)
    }

    /// The traceback of an exception without the entries of frames of this capture.
    pub(in crate::executor) fn traceback_below(&mut self, exception: VarId) -> Result<VarId, Stop> {
        match self.look(exception)? {
            VarKind::Exception(e) if e.state.traceback.is_some() => Ok(e.state.traceback.expect("just asked")),
            VarKind::Exception(e) if e.object.is_some() => self.given_field(exception, "__traceback__"),
            _ => self.fold_none(),
        }
    }

    /// A field that exceptions have in C, of one that existed before the frame.
    fn given_field(&mut self, me: VarId, name: &str) -> Result<VarId, Stop> {
        let VarKind::Exception(ExceptionVar { class, object: Some(object), .. }) = self.look(me)? else {
            return Err(Stop::fallback(Reason::InternalError, "no exception from before"));
        };
        if let sot_sideeffect::Overlay::Set(value) = self.journal.attr(Self::var_ref(me), name) {
            return Ok(VarId(value.0));
        }
        let (class, object) = (self.objects.get(self.py, class), self.objects.get(self.py, object));
        let own = type_facts::raw(&self.py.get_type::<PyBaseException>(), name);
        let found = self.class_lookup(&class, name)?;
        if !found.zip(own).is_some_and(|(found, own)| found.is(&own)) {
            return Err(Stop::brk(Reason::UserCode, format!("descriptor {name}")));
        }
        let facts::Field::Value(value) = facts::field(&object, &PyString::intern(self.py, name)) else {
            return Err(Stop::brk(Reason::OpaqueValue, name));
        };
        let base = self.base_tracker(me);
        self.note_overridden(base, &object);
        let tracker = self.trackers.step(base, Access::Attr(name.into()));
        Ok(self.wrap(&value, tracker))
    }

    /// `exception.name`, where that is what all exceptions have in C.
    pub(in crate::executor) fn field_of_exception(
        &mut self,
        me: VarId,
        e: &ExceptionVar,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        let class = self.objects.get(self.py, e.class);
        if e.object.is_none() {
            let ours = self.py.get_type::<PyBaseException>();
            let found = self.class_lookup(&class, name)?;
            let of_base = found.is_some_and(|f| ours.getattr(name).is_ok_and(|own| own.is(&f)));
            let about = e.state.about.iter().find(|(what, _)| *what == name);
            let value = match name {
                _ if about.is_some() => about.map(|(_, value)| *value),
                "args" if of_base => e.state.args,
                "message" | "exceptions" if e.state.group.is_some() && self.is_field_of_groups(&class, name)? => {
                    Some(self.field_of_group(me, name)?)
                }
                "__cause__" | "__context__" | "__traceback__" if of_base => Some(self.set_by_raising(me, name)?),
                "__suppress_context__" if of_base => Some(self.fold_bool(e.state.cause.is_some())?),
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
        let cause = self.journal.attr(Self::var_ref(me), "__cause__");
        if name == "__suppress_context__" && !matches!(cause, sot_sideeffect::Overlay::Untouched) {
            return self.fold_bool(true).map(Some);
        }
        if e.object.is_some() && matches!(name, "args" | "__cause__" | "__context__" | "__traceback__") {
            return match name {
                "args" => self.given_field(me, name),
                _ => self.set_by_raising(me, name),
            }
            .map(Some);
        }
        Ok(None)
    }
}
