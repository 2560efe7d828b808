//! Attributes of Python functions: their parts, and what is in their dicts.

use super::Executor;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::{Mutation, Overlay};
use sot_tracker::{Access, Check, FunctionPart};
use std::rc::Rc;

impl<'py> Executor<'py> {
    /// `function.name` of a function from before the frame.
    pub(super) fn attribute_of_function(
        &mut self,
        me: VarId,
        function: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        let base = self.base_tracker(me);
        match name {
            "__name__" | "__qualname__" | "__module__" | "__doc__" | "__annotations__" | "__type_params__" => {
                let key = PyString::intern(self.py, name);
                match facts::field(function, &key) {
                    facts::Field::Value(value) => {
                        let at = self.trackers.step(base, Access::Attr(name.into()));
                        return Ok(Some(self.wrap(&value, at)));
                    }
                    facts::Field::Empty => return Err(Stop::brk(Reason::WouldRaise, name)),
                    facts::Field::NoField => {}
                }
            }
            "__code__" | "__defaults__" | "__kwdefaults__" | "__closure__" => {
                return self.part_of_function(me, function, name);
            }
            "__globals__" => {
                let parts = facts::func_parts(function).ok_or_else(|| unanswered(name))?;
                let at = self.trackers.step(base, Access::FunctionPart(FunctionPart::Globals));
                return Ok(Some(self.wrap(&parts.globals, at)));
            }
            // Who asks has it made.
            "__dict__" => {
                let dict = function.getattr("__dict__").map_err(|e| self.internal(&e))?;
                let at = self.trackers.step(base, Access::InstanceDict);
                return self.dict_of_written(me, &dict, at).map(Some);
            }
            _ => {}
        }
        let class = self.class_of(me)?;
        let of_type = self.class_lookup(&class, name)?;
        let first = match &of_type {
            Some(found) => self.is_data_descriptor(found)?,
            None => false,
        };
        if !first && let Some(value) = self.instance_dict_item(me, function, name)? {
            return Ok(Some(value));
        }
        match of_type {
            Some(_) if name == "__get__" => Ok(Some(self.virtual_var(BoundVar::new(me, name)))),
            Some(_) => Err(unanswered(name)),
            None => Ok(None),
        }
    }

    /// `function.__get__(value, class)`
    pub(super) fn bind_function(&mut self, function: VarId, args: &Args) -> Result<Called, Stop> {
        let wrong = || Stop::brk(Reason::WouldRaise, "__get__");
        let ([value, class @ ..], []) = (args.positional.as_slice(), args.keywords.as_slice()) else {
            return Err(wrong());
        };
        if class.len() > 1 {
            return Err(wrong());
        }
        if !self.is_none(*value)? {
            return Ok(Called::Value(self.virtual_var(MethodVar { receiver: *value, function })));
        }
        match class {
            [class] if !self.is_none(*class)? => Ok(Called::Value(function)),
            _ => Err(wrong()),
        }
    }

    /// A part of a function from before the frame that it is called by.
    fn part_of_function(&mut self, me: VarId, function: &Bound<'py, PyAny>, name: &str) -> Result<Option<VarId>, Stop> {
        let kind = self.look(me)?;
        let parts = facts::func_parts(function).ok_or_else(|| unanswered(name))?;
        let base = self.base_tracker(me);
        if name == "__code__" {
            let code = self.objects.add(&parts.code);
            let at = self.trackers.step(base, Access::FunctionPart(FunctionPart::Code));
            self.guard(at, Check::Is(code));
            return Ok(Some(self.pin(&parts.code)));
        }
        let (part, value) = match name {
            "__defaults__" => (FunctionPart::Defaults, &parts.defaults),
            "__kwdefaults__" => (FunctionPart::KwDefaults, &parts.kwdefaults),
            _ => (FunctionPart::Closure, &parts.closure),
        };
        if let (VarKind::Function(FunctionVar::Made(made)), Some(_)) = (kind, value) {
            return Ok(match part {
                FunctionPart::Defaults => made.defaults,
                FunctionPart::KwDefaults => made.kwdefaults,
                _ => made.closure,
            });
        }
        let at = self.trackers.step(base, Access::FunctionPart(part));
        if let (FunctionPart::KwDefaults, Some(dict)) = (part, value) {
            // A call looks at the dict itself.
            if self.is_passing_object(dict, at) {
                return Err(unanswered(name));
            }
            let object = self.objects.add(dict);
            self.guard(at, Check::Is(object));
            return Ok(Some(self.pin(dict)));
        }
        let none = self.py.None().into_bound(self.py);
        let value = value.as_ref().map_or(none, |value| (**value).clone());
        Ok(Some(self.wrap(&value, at)))
    }

    /// `function.name` of a function that the simulation made; what was set since is known.
    pub(super) fn attribute_of_made_function(
        &mut self,
        me: VarId,
        made: &Rc<MadeFunction>,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        let part = |ex: &mut Self, part: Option<VarId>| part.map_or_else(|| ex.fold_none(), Ok).map(Some);
        match name {
            "__defaults__" => return part(self, made.defaults),
            "__kwdefaults__" => return part(self, made.kwdefaults),
            "__closure__" => return part(self, made.closure),
            "__globals__" => {
                let globals = self.objects.get(self.py, made.globals);
                let at = self.constant_tracker(made.globals);
                return Ok(Some(self.wrap(&globals, at)));
            }
            "__code__" => {
                let code = self.objects.get(self.py, made.code);
                return Ok(Some(self.pin(&code)));
            }
            "__qualname__" if made.qualname.is_some() => return Ok(made.qualname),
            "__name__" | "__qualname__" | "__doc__" => {
                let value = self.of_any_function(made, name).map_err(|e| self.internal(&e))?;
                return self.fold(&value).map(Some);
            }
            "__module__" => return self.module_of_made_function(made).map(Some),
            "__annotations__" => return self.annotations_of_made_function(me, made).map(Some),
            _ => {}
        }
        let class = self.class_of(me)?;
        match self.class_lookup(&class, name)? {
            Some(found) if name == "__dict__" => self.attribute_dict(me, &found),
            Some(_) if name == "__type_params__" => Ok(Some(self.virtual_var(TupleVar::new(Vec::new())))),
            Some(_) => Err(unanswered(name)),
            None => Ok(None),
        }
    }

    /// An attribute that all functions of a code have.
    fn of_any_function(&self, made: &MadeFunction, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let code = self.objects.get(self.py, made.code);
        match name {
            "__name__" => code.getattr("co_name"),
            "__qualname__" => code.getattr("co_qualname"),
            // A docstring is the first constant, which is no text where there is none.
            _ => {
                let none = self.py.None().into_bound(self.py);
                let first = code.getattr("co_consts")?.cast_into::<PyTuple>()?.iter().next();
                Ok(first.filter(|first| first.is_instance_of::<PyString>()).unwrap_or(none))
            }
        }
    }

    /// What its globals had as `__name__` when it was made.
    fn module_of_made_function(&mut self, made: &MadeFunction) -> Result<VarId, Stop> {
        if self.journal.global(made.globals, "__name__") != Overlay::Untouched {
            return Err(unanswered("__module__"));
        }
        let globals = self.objects.get(self.py, made.globals);
        let globals = globals.cast::<PyDict>().map_err(|e| self.internal(&e.into()))?;
        let tracker = self.constant_tracker(made.globals);
        match self.dict_item(globals, tracker, "__name__")? {
            Some(name) => Ok(name),
            None => self.fold_none(),
        }
    }

    /// A dict, the same one each time.
    fn annotations_of_made_function(&mut self, me: VarId, made: &MadeFunction) -> Result<VarId, Stop> {
        let kind = made.annotations.map(|annotations| self.look(annotations)).transpose()?;
        let entries = match kind {
            Some(VarKind::Dict(_)) => return Ok(made.annotations.expect("annotations")),
            // From 3.10 on: names and values in turn.
            Some(VarKind::Tuple(pairs)) => pairs.items.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
            None => Vec::new(),
            Some(_) => return Err(unanswered("__annotations__")),
        };
        let dict = self.virtual_var(DictVar::new(entries));
        let now = MadeFunction { annotations: Some(dict), ..made.clone() };
        self.var_mut(me).kind = FunctionVar::Made(Rc::new(now)).into();
        Ok(dict)
    }

    /// `function.name = value` of a function from before the frame: what it is called by stays what it is.
    pub(super) fn set_in_dict_of_function(&mut self, me: VarId, name: &str, value: VarId) -> Result<(), Stop> {
        let class = self.class_of(me)?;
        let is_part = match self.class_lookup(&class, name)? {
            Some(found) => self.is_data_descriptor(&found)?,
            None => false,
        };
        if !is_part {
            self.own_dict_changes(me)?;
            self.note_own_rewritten(me, name);
        } else if !matches!(name, "__doc__" | "__module__") {
            return Err(Stop::brk(Reason::Mutation, format!("attribute {name} of a function")));
        }
        self.journal_record(Mutation::SetAttr {
            object: Self::var_ref(me),
            name: name.into(),
            value: Self::var_ref(value),
        });
        Ok(())
    }

    /// `function.name = value` of a function that the simulation made.
    pub(super) fn set_function_attribute(
        &mut self,
        me: VarId,
        made: &MadeFunction,
        name: &str,
        value: VarId,
    ) -> Result<(), Stop> {
        let class = self.class_of(me)?;
        let part = match self.class_lookup(&class, name)? {
            Some(found) => self.is_data_descriptor(&found)?,
            None => false,
        };
        if !part {
            self.show_in_dict(me, name, Some(value))?;
        } else {
            let kind = self.look(value)?;
            match (name, kind) {
                ("__doc__" | "__module__", _) => {}
                ("__name__" | "__qualname__", VarKind::Constant(_)) => {
                    let is_text = self.constant_value(value).is_some_and(|v| v.is_exact_instance_of::<PyString>());
                    if !is_text {
                        return Err(Stop::brk(Reason::WouldRaise, format!("attribute {name} of a function")));
                    }
                    let now = MadeFunction { renamed: true, ..made.clone() };
                    self.var_mut(me).kind = FunctionVar::Made(Rc::new(now)).into();
                }
                ("__annotations__", VarKind::Dict(DictVar { class: None, .. })) => {}
                ("__defaults__", VarKind::Tuple(TupleVar { class: None, .. })) => {
                    let now = MadeFunction { defaults: Some(value), ..made.clone() };
                    self.var_mut(me).kind = FunctionVar::Made(Rc::new(now)).into();
                    return Ok(());
                }
                ("__kwdefaults__", VarKind::Dict(DictVar { class: None, .. })) => {
                    let now = MadeFunction { kwdefaults: Some(value), ..made.clone() };
                    self.var_mut(me).kind = FunctionVar::Made(Rc::new(now)).into();
                    return Ok(());
                }
                ("__type_params__", VarKind::Tuple(TupleVar { class: None, .. })) => {}
                _ => return Err(Stop::brk(Reason::Mutation, format!("attribute {name} of a function"))),
            }
        }
        self.journal_record(Mutation::SetAttr {
            object: Self::var_ref(me),
            name: name.into(),
            value: Self::var_ref(value),
        });
        Ok(())
    }
}

fn unanswered(name: &str) -> Stop {
    Stop::brk(Reason::ValueKind, format!("attribute {name} of a function"))
}
