//! Instances and exceptions that the simulation made, as new code makes them: without the program's own way of making them, which
//! the simulation has gone through.

use super::emit::{Callable, Emitter};
use crate::called_by_code::{Ended, Held, Passed, list_of_class};
use crate::captured::{Attribute, PlainLookup};
use crate::cpython::native::NativeBody;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::user_frames::InlinedFrame;
use crate::variables::*;
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple, PyType};
use sot_opcodes::Op;
use sot_tracker::ObjectId;
use std::rc::Rc;

impl<'py> Emitter<'_, 'py> {
    /// Push an attribute that the interpreter itself asks a value for.
    pub(super) fn push_own(&mut self, owner: VarId, name: &str) -> Result<(), Stop> {
        self.push(owner)?;
        self.load_own(owner, name)
    }

    /// Put such an attribute in the place of its owner, on top of the stack. A `__getattribute__` of the program would notice.
    pub(super) fn load_own(&mut self, owner: VarId, name: &str) -> Result<(), Stop> {
        let whole = self.captured.whole_of(owner).unwrap_or(owner);
        let class = self.captured.known_class(self.py, whole).and_then(|class| class.cast_into::<PyType>().ok());
        let Some(class) = class.filter(type_facts::asks_the_program) else {
            self.load_attr(name);
            return Ok(());
        };
        self.emit(Op::PopTop);
        self.ask_plainly(PlainLookup::of(&class), name, |em| em.push(owner))
    }

    /// The two slots of a call, where one is a method of C that nobody has bound: its receiver and its name. LOAD_METHOD makes both
    /// slots of the receiver.
    pub(super) fn looked_up_for_a_call(&self, slots: &[VarId]) -> Option<(VarId, Rc<str>)> {
        let [first, second, ..] = *slots else { return None };
        let kind = |var: VarId| &self.captured.var(var).kind;
        let (VarKind::Null(_), VarKind::Bound(bound)) = (match (kind(first), kind(second)) {
            (bound @ VarKind::Bound(_), null) => (null, bound),
            both => both,
        }) else {
            return None;
        };
        let whole = self.captured.whole_of(bound.receiver).unwrap_or(bound.receiver);
        let class = self.captured.known_class(self.py, whole).and_then(|class| class.cast_into::<PyType>().ok());
        let asks = class.is_some_and(|class| type_facts::asks_the_program(&class));
        (bound.for_a_call && !asks).then(|| (bound.receiver, bound.name.clone()))
    }

    /// A list of a class of C, with these items.
    pub(super) fn push_list_of_class(&mut self, class: ObjectId, items: &[VarId]) -> Result<(), Stop> {
        let is_int = |item: &VarId| match &self.captured.var(*item).kind {
            VarKind::Constant(item) => {
                self.captured.objects.get_ref(self.py, item.object).is_exact_instance_of::<PyInt>()
            }
            _ => false,
        };
        // A class of numbers takes no others, yet they may be put into a list of it.
        let at_once = items.iter().all(is_int);
        if at_once {
            self.push_callable(class);
        } else {
            let fill = list_of_class(self.py).map_err(|e| Stop::internal(&e))?;
            self.push_callable(Callable::Object(fill));
            self.push_object(class);
        }
        for item in items {
            self.push(*item)?;
        }
        self.emit(Op::BuildList(items.len() as u32));
        self.call(if at_once { 1 } else { 2 });
        Ok(())
    }

    /// The builtin type whose part of an instance this is, if it is one.
    pub(super) fn type_of_part(&self, part: VarId) -> Result<Option<Bound<'py, PyType>>, Stop> {
        if self.captured.whole_of(part).is_none() {
            return Ok(None);
        }
        let of = |object: ObjectId| self.captured.objects.get(self.py, object);
        Ok(Some(match &self.captured.var(part).kind {
            VarKind::List(_) => self.py.get_type::<PyList>(),
            VarKind::Dict(DictVar { class: None, .. }) => self.py.get_type::<PyDict>(),
            VarKind::Dict(DictVar { class: Some(class), .. }) => {
                of(*class).cast_into::<PyType>().map_err(|e| Stop::internal(&e.into()))?
            }
            VarKind::Tuple(_) => self.py.get_type::<PyTuple>(),
            VarKind::Constant(constant) => of(constant.object).get_type(),
            other => return Err(Stop::fallback(Reason::Reconstruct, other.kind_name())),
        }))
    }

    /// An instance of `class` without calling `__init__`, with the attributes that the simulation gave it.
    pub(super) fn new_instance(&mut self, class: ObjectId, part: Option<VarId>, me: VarId) -> Result<(), Stop> {
        let base = match part {
            Some(part) => self.type_of_part(part)?,
            None => None,
        };
        let made = self.captured.objects.get(self.py, class).cast_into::<PyType>().ok();
        let maker = || made.and_then(|class| type_facts::maker_of_instances(&class));
        let base = base.or_else(maker).unwrap_or_else(|| self.py.get_type::<PyAny>());
        let part = part.map(|part| self.captured.var(part).kind.clone());
        let method = |name: &str| base.getattr(name).map(Callable::Object).map_err(|e| Stop::internal(&e));
        self.push_callable(method("__new__")?);
        self.push_known_class(class)?;
        // What cannot change is made at once.
        match &part {
            Some(VarKind::Tuple(tuple)) => {
                for item in tuple.items.iter() {
                    self.push(*item)?;
                }
                self.emit(Op::BuildTuple(tuple.items.len() as u32));
                self.call(2);
            }
            Some(VarKind::Constant(constant)) => {
                self.push_object(constant.object);
                self.call(2);
            }
            _ => self.call(1),
        }
        self.remember(me);
        match &part {
            Some(VarKind::List(list)) if !list.items.is_empty() => {
                self.extend(base.as_any(), me, &list.items)?;
            }
            // An ordered dict that is given many items asks its class for each.
            Some(VarKind::Dict(dict)) if type_facts::is_ordered_dict(&base) => {
                self.set_each(base.as_any(), me, &dict.entries_below())?;
                self.arrange_at(me, dict)?;
            }
            Some(VarKind::Dict(dict)) => {
                if let Some(factory) = dict.factory {
                    self.push_callable(method("__init__")?);
                    self.push(me)?;
                    self.push(factory)?;
                    self.call(2);
                    self.emit(Op::PopTop);
                }
                if self.are_hashed(&dict.entries) {
                    self.fill_hashed_at(me, &dict.entries)?;
                } else if !dict.entries.is_empty() {
                    self.push_callable(method("update")?);
                    self.push(me)?;
                    for (key, value) in dict.entries.iter() {
                        self.push(*key)?;
                        self.push(*value)?;
                    }
                    self.emit(Op::BuildMap(dict.entries.len() as u32));
                    self.call(2);
                    self.emit(Op::PopTop);
                }
            }
            _ => {}
        }
        self.set_attributes(me)?;
        self.push(me)
    }

    /// The attributes that the simulation left a new value with.
    pub(super) fn set_attributes(&mut self, me: VarId) -> Result<(), Stop> {
        for Attribute { name, in_dict, value } in self.captured.virtual_attributes(me) {
            match in_dict {
                true => self.set_in_dict(me, &name, value)?,
                false => self.set_attribute(me, &name, value)?,
            }
        }
        Ok(())
    }

    /// `object.__dict__[name] = value`
    pub(super) fn set_in_dict(&mut self, object: VarId, name: &str, value: VarId) -> Result<(), Stop> {
        self.push(value)?;
        self.push_own(object, "__dict__")?;
        self.push_constant(PyString::intern(self.py, name).as_any());
        self.emit(Op::StoreSubscr);
        Ok(())
    }

    /// The items of a tuple. Of one that was found they are read there: they may have no place of their own any more.
    fn push_items(&mut self, tuple: VarId, items: &TupleVar) -> Result<(), Stop> {
        for (at, item) in items.items.iter().enumerate() {
            if self.captured.found_outside(tuple) {
                self.push(tuple)?;
                self.push_int(at as i64)?;
                self.emit(Op::BinarySubscr);
            } else {
                self.push(*item)?;
            }
        }
        Ok(())
    }

    /// A new exception, with what raising set: the class's own `__new__` and `__init__` of C, then the attributes.
    pub(super) fn new_exception(&mut self, e: &ExceptionVar, me: VarId) -> Result<(), Stop> {
        let Some(args) = e.state.args else {
            return Err(Stop::fallback(Reason::Reconstruct, "an exception without a path"));
        };
        let class = self.captured.objects.get(self.py, e.class);
        let base = class
            .cast::<PyType>()
            .ok()
            .and_then(type_facts::base_of_c)
            .ok_or(Stop::fallback(Reason::InternalError, "no exception"))?;
        let method = |name: &str| base.getattr(name).map_err(|_| Stop::fallback(Reason::InternalError, "no exception"));
        let VarKind::Tuple(items) = self.captured.var(args).kind.clone() else {
            return Err(Stop::fallback(Reason::Reconstruct, "the arguments of an exception"));
        };
        self.push_callable(Callable::Object(method("__new__")?));
        self.push_known_class(e.class)?;
        match e.state.group {
            Some(group) => {
                self.push(group.message)?;
                self.push(group.exceptions)?;
                self.call(3);
            }
            None => {
                self.push_items(args, &items)?;
                self.call(1 + items.items.len() as u32);
            }
        }
        self.remember(me);
        self.push_callable(Callable::Object(method("__init__")?));
        self.push(me)?;
        self.push_items(args, &items)?;
        self.call(1 + items.items.len() as u32);
        self.emit(Op::PopTop);
        // It holds the very tuple, where others have that, too.
        if self.captured.found_outside(args) || self.is_used_twice(args) {
            let set = self.py.get_type::<PyBaseException>().getattr("args").and_then(|args| args.getattr("__set__"));
            self.push_callable(Callable::Object(set.map_err(|e| Stop::internal(&e))?));
            self.push(me)?;
            self.push(args)?;
            self.call(2);
            self.emit(Op::PopTop);
        }
        for (name, value) in &e.state.about {
            self.push(*value)?;
            self.push(me)?;
            self.store_attr(name);
        }
        for Attribute { name, value, .. } in self.captured.virtual_attributes(me) {
            self.push(value)?;
            self.push(me)?;
            self.store_attr(&name);
        }
        if e.state.cause.is_some()
            || e.state.context.is_some()
            || !e.state.passed.is_empty()
            || e.state.traceback.is_some()
        {
            self.to_pass.push(me);
        }
        self.push(me)
    }

    /// Give exceptions that were built what raising them has set, and the tracebacks of the frames that they have passed. What
    /// those hold may hold the exception.
    pub(super) fn pass_frames(&mut self) -> Result<(), Stop> {
        while let Some(exception) = self.to_pass.pop() {
            self.pass_frames_of(exception)?;
        }
        Ok(())
    }

    /// The same of one that is needed at once.
    pub(super) fn pass_frames_now(&mut self, exception: VarId) -> Result<(), Stop> {
        match self.to_pass.iter().position(|other| *other == exception) {
            Some(at) => {
                self.to_pass.remove(at);
                self.pass_frames_of(exception)
            }
            None => Ok(()),
        }
    }

    fn pass_frames_of(&mut self, exception: VarId) -> Result<(), Stop> {
        if let VarKind::Exception(e) = &self.captured.var(exception).kind
            && e.object.is_none()
        {
            let (cause, context) = (e.state.cause, e.state.context);
            if let Some(cause) = cause {
                let push = |me: &mut Self| me.push_or_none(cause);
                self.set_attribute_to(exception, "__cause__", push)?;
            }
            if let Some(context) = context {
                self.set_attribute(exception, "__context__", context)?;
            }
        }
        if let Some(traceback) = self.captured.traceback_set(exception) {
            self.set_attribute(exception, "__traceback__", traceback)?;
        }
        // The entries of frames that it passes come in front of those that it has.
        let ended = self.captured.frames_ended(exception);
        if !ended.is_empty() {
            let held = ended.iter().map(|frame| self.captured.held_at_the_end(&frame.end)).collect();
            let frame = |frame: &EndedFrame| (frame.unit.clone(), frame.end.ip);
            self.show_frames(exception, Ended { frames: ended.iter().map(frame).collect() }, held, true)?;
        }
        let passed = self.captured.frames_passed(exception);
        if passed.is_empty() {
            return Ok(());
        }
        let held = passed.iter().map(|frame| self.captured.held_by_passed(frame)).collect();
        let in_context = match &self.captured.var(exception).kind {
            VarKind::Exception(ExceptionVar { object: None, state, .. }) => {
                state.context_of_caller && state.context.is_none()
            }
            _ => false,
        };
        if in_context {
            // That of the caller, not what a finalizer is being told.
            self.tell(None)?;
        }
        let frame =
            |p: &PassedFrame| InlinedFrame { standing: p.standing.clone(), left_at: p.end.as_ref().map(|e| e.ip) };
        self.show_frames(exception, Passed { frames: passed.iter().map(frame).collect(), in_context }, held, false)
    }

    /// Have the frames of a traceback hold values. `frames` gives them. `whole`: they hold no others.
    fn show_frames(
        &mut self,
        exception: VarId,
        frames: impl NativeBody + 'static,
        held: Vec<Vec<(VarId, bool, u32)>>,
        whole: bool,
    ) -> Result<(), Stop> {
        let places = held.iter().map(|held| held.iter().map(|(_, cell, at)| (*cell, *at)).collect()).collect();
        let values: Vec<VarId> = held.into_iter().flatten().map(|(var, ..)| var).collect();
        let fills = whole || !values.is_empty();
        if fills {
            self.push_native(Held { frames: places, whole })?;
        }
        self.push_native(frames)?;
        self.push(exception)?;
        self.call(1);
        if fills {
            for value in &values {
                self.push(*value)?;
            }
            self.call(1 + values.len() as u32);
        }
        self.emit(Op::PopTop);
        Ok(())
    }
}
