//! Calls: binding arguments, inlining Python functions, framework functions and layers.

use super::kinds::Operations;
use super::{Awaits, Executor, Frame};
use crate::backend::{CallKind, Kind, LayerCall, Surroundings};
use crate::code_unit::CodeUnit;
use crate::control;
use crate::cpython::{entry, facts};
use crate::draws;
use crate::frame::Skipped;
use crate::libraries::comes_with_python;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::{Code, CodeFlags};
use sot_tracker::{Access, Check, FunctionPart, ObjectId, TrackerId};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The parts of a function that a call needs.
pub(super) struct FunctionParts {
    unit: std::sync::Arc<CodeUnit>,
    pub(super) globals: ObjectId,
    defaults: Vec<VarId>,
    kwdefaults: Vec<(String, VarId)>,
    closure: Vec<VarId>,
}

/// Arguments as Python has them: positional, by name.
type GivenArguments<'py> = (Bound<'py, PyTuple>, Option<Bound<'py, PyDict>>);

impl<'py> Executor<'py> {
    /// Call a Python function: push a frame.
    pub fn call_function(&mut self, function: &FunctionVar, args: &Args) -> Result<Called, Stop> {
        let existing;
        let callee = match function {
            FunctionVar::Object(object) => {
                let object = self.objects.get(self.py, *object);
                self.may_simulate(&object)?;
                if let Some(other) = self.backend.stands_in_for(&object) {
                    // It is what it is as long as that is what it was.
                    self.function_object_parts(&object)?;
                    let other = FunctionVar::Object(self.objects.add(&other));
                    return self.call_function(&other, args);
                }
                if draws::may_draw(&object)
                    && let Some(drawn) = self.draw_by_function(&object, args)?
                {
                    return Ok(Called::Value(drawn));
                }
                if let Some(pattern) = self.compiled_pattern(&object, args)? {
                    return Ok(Called::Value(pattern));
                }
                if let Some(set) = self.set_by_layer_writer(&object, args)? {
                    return Ok(Called::Value(set));
                }
                existing = Some(object.clone());
                self.function_object_parts(&object)?
            }
            FunctionVar::Made(made) => {
                existing = made.object.map(|o| self.objects.get(self.py, o));
                if let Some(object) = &existing {
                    self.may_simulate(object)?;
                }
                self.made_function_parts(&made.clone())?
            }
        };
        let code = &callee.unit.code;
        if callee.unit.keeps_its_frame(self.py, comes_with_python) {
            return Err(Stop::brk(Reason::FrameInspection, code.name.clone()));
        }
        let generator_like = code.is_generator_like();
        let globals = self.objects.get(self.py, callee.globals);
        if let Some(module) = control::ignoring(&self.ignored, &globals) {
            return Err(Stop::brk(Reason::IgnoredModule, module));
        }
        let builtins = self.builtins_of(&globals, existing.as_ref())?;
        let mut frame = Frame::new(callee.unit.clone(), callee.globals, builtins);
        if !self.bind(&callee, args, &mut frame)? {
            return Err(self.refused_arguments(function, &callee, args)?);
        }
        self.bind_cells(&callee.closure, &mut frame);
        if generator_like {
            let name = callee.unit.code.name.clone();
            let qualname = match (&existing, function) {
                (Some(function), _) => function.getattr("__qualname__").and_then(|name| name.extract::<String>()).ok(),
                (None, FunctionVar::Made(made)) => made.qualname.and_then(|name| self.constant_str(name)),
                (None, FunctionVar::Object(_)) => None,
            };
            let renamed = matches!(function, FunctionVar::Made(made) if made.renamed);
            if renamed
                || existing.is_some_and(|function| !facts::is_named_as_its_code(&function))
                || qualname.is_some_and(|qualname| !callee.unit.names_generators(&qualname))
            {
                return Err(Stop::brk(Reason::Generator, format!("{name}, which has another name")));
            }
            match function {
                FunctionVar::Object(object) => {
                    let at = self.constant_tracker(*object);
                    self.guard_names(*object, at);
                }
                FunctionVar::Made(made) => {
                    if let Some((object, at)) = made.object.and_then(|object| Some((object, self.place_of(object)?))) {
                        self.guard_names(object, at);
                    }
                }
            }
            if frame.unit.code.flags.contains(CodeFlags::COROUTINE) {
                self.origins_are_not_kept()?;
            } else if frame.unit.code.flags.contains(CodeFlags::ASYNC_GENERATOR) {
                self.nobody_hears_of_async_generators()?;
            }
            let generator = self.new_generator(frame).ok_or(Stop::brk(Reason::Generator, name))?;
            return Ok(Called::Value(generator));
        }
        self.push_frame(frame)?;
        Ok(Called::Entered(Awaits::Push))
    }

    /// A generator is named after its function.
    fn guard_names(&mut self, function: ObjectId, base: TrackerId) {
        let object = self.objects.get(self.py, function);
        for name in ["__name__", "__qualname__"] {
            if let Ok(text) = object.getattr(name) {
                let at = self.trackers.step(base, Access::Attr(name.into()));
                let text = self.objects.add(&text);
                self.guard(at, Check::Equals(text));
            }
        }
    }

    /// Stop at a call of what the program wants to be left alone.
    pub fn may_simulate(&self, callable: &Bound<'py, PyAny>) -> Result<(), Stop> {
        control::asked(callable).map_or(Ok(()), |why| Err(control::stop(why)))
    }

    /// Nor is that captured as a frame of its own.
    pub fn may_capture(&self, function: &Bound<'py, PyAny>, globals: &Bound<'py, PyAny>) -> Result<(), Stop> {
        if let Some(why) = control::asked_of_frame(function) {
            return Err(Stop::Fallback(why));
        }
        if let Some(module) = control::ignoring(&self.ignored, globals) {
            return Err(Stop::fallback(Reason::IgnoredModule, module));
        }
        match self.backend.classify(function) {
            Kind::Break(why) if why.reason == Reason::Disabled => Err(Stop::Fallback(why)),
            _ => Ok(()),
        }
    }

    /// The builtins dict that a frame of this function, or with these globals, has. Functions keep theirs from 3.10 on;
    /// before, each frame asks its globals.
    pub fn builtins_of(
        &mut self,
        globals: &Bound<'py, PyAny>,
        function: Option<&Bound<'py, PyAny>>,
    ) -> Result<ObjectId, Stop> {
        let name = pyo3::intern!(self.py, "__builtins__");
        if let Some(facts::Field::Value(own)) = function.map(|f| facts::field(f, name)) {
            return Ok(self.objects.add(&own));
        }
        let id = self.objects.add(globals);
        let at = self.constant_tracker(id);
        let dict = globals.cast::<PyDict>().map_err(|e| self.internal(&e.into()))?;
        let module = match self.dict_item(dict, at, "__builtins__")? {
            Some(found) => {
                self.look_identity(found)?;
                dict.get_item(name).ok().flatten()
            }
            None => None,
        };
        let module = match module {
            Some(module) => module,
            None => crate::cpython::module(self.py, "builtins").map_err(|e| self.internal(&e))?.into_any(),
        };
        let dict = if module.is_instance_of::<PyDict>() {
            module
        } else {
            module.getattr("__dict__").map_err(|e| self.internal(&e))?
        };
        Ok(self.objects.add(&dict))
    }

    /// The builtins that a function found in a slot keeps.
    pub(super) fn own_builtins(&mut self, made: &MadeFunction) -> Option<ObjectId> {
        let object = self.objects.get(self.py, made.object?);
        match facts::field(&object, pyo3::intern!(self.py, "__builtins__")) {
            facts::Field::Value(own) => Some(self.objects.add(&own)),
            facts::Field::Empty | facts::Field::NoField => None,
        }
    }

    pub(super) fn function_object_parts(&mut self, object: &Bound<'py, PyAny>) -> Result<FunctionParts, Stop> {
        let parts = facts::func_parts(object).ok_or(Stop::fallback(Reason::InternalError, "not a function"))?;
        let id = self.objects.add(object);
        let base = self.constant_tracker(id);
        let code = self.objects.add(&parts.code);
        let trackers = [FunctionPart::Code, FunctionPart::Defaults, FunctionPart::KwDefaults]
            .map(|part| self.trackers.step(base, Access::FunctionPart(part)));
        let [at_code, at_defaults, at_kwdefaults] = trackers;
        let values = [Some(&parts.code), parts.defaults.as_ref(), parts.kwdefaults.as_ref()];
        for (tracker, value) in trackers.iter().zip(values) {
            if *tracker != at_code && value.is_some_and(|value| self.is_passing_object(value, *tracker)) {
                self.note_passing(*tracker);
                continue;
            }
            let value = match value {
                Some(value) => self.objects.add(value),
                None => {
                    let none = self.py.None().into_bound(self.py);
                    self.objects.add(&none)
                }
            };
            self.guard(*tracker, Check::Is(value));
        }
        let unit = CodeUnit::of(&self.objects.get(self.py, code))?;
        let defaults = match &parts.defaults {
            Some(d) if self.is_passing(at_defaults) => {
                let defaults = self.wrap(d, at_defaults);
                match self.look(defaults)? {
                    VarKind::Tuple(tuple) => tuple.items.to_vec(),
                    _ => Vec::new(),
                }
            }
            Some(d) => {
                d.cast::<PyTuple>().map(|d| d.iter().map(|v| self.pin_for_good(&v)).collect()).unwrap_or_default()
            }
            None => Vec::new(),
        };
        let mut kwdefaults = Vec::new();
        if let Some(dict) = &parts.kwdefaults
            && let Ok(dict) = dict.cast::<PyDict>()
        {
            if self.known.get(&(dict.as_ptr() as usize)).is_some_and(|known| self.is_written(*known)) {
                return Err(Stop::brk(Reason::Mutation, "defaults of a function that were written to"));
            }
            let tracker = if self.is_passing(at_kwdefaults) {
                at_kwdefaults
            } else {
                let id = self.objects.add(dict.as_any());
                self.constant_tracker(id)
            };
            for key in dict.keys() {
                let key: String = key.extract().map_err(|e| self.internal(&e))?;
                if let Some(value) = self.dict_item(&dict, tracker, &key)? {
                    kwdefaults.push((key, value));
                }
            }
        }
        let closure = match &parts.closure {
            Some(c) => {
                c.cast::<PyTuple>().map(|c| c.iter().map(|v| self.pin_for_good(&v)).collect()).unwrap_or_default()
            }
            None => Vec::new(),
        };
        let globals = self.objects.add(&parts.globals);
        Ok(FunctionParts { unit, globals, defaults, kwdefaults, closure })
    }

    /// The name of a function's code.
    pub(super) fn code_name(&mut self, function: VarId) -> Result<String, Stop> {
        Ok(match self.look(function)? {
            VarKind::Function(FunctionVar::Object(object)) => {
                let object = self.objects.get(self.py, object);
                self.function_object_parts(&object)?.unit.code.name.clone()
            }
            VarKind::Function(FunctionVar::Made(made)) => made.unit.code.name.clone(),
            other => return Err(Stop::fallback(Reason::InternalError, other.kind_name())),
        })
    }

    fn made_function_parts(&mut self, made: &Rc<MadeFunction>) -> Result<FunctionParts, Stop> {
        let items = |ex: &mut Self, var: Option<VarId>| -> Result<Vec<VarId>, Stop> {
            match var.map(|v| ex.look(v)).transpose()? {
                Some(VarKind::Tuple(t)) => Ok(t.items.to_vec()),
                Some(_) => Err(Stop::fallback(Reason::InternalError, "operands of MAKE_FUNCTION")),
                None => Ok(Vec::new()),
            }
        };
        let defaults = match made.defaults {
            Some(d) if matches!(self.look(d)?, VarKind::Constant(_)) => Vec::new(),
            other => items(self, other)?,
        };
        let closure = items(self, made.closure)?;
        let mut kwdefaults = Vec::new();
        if let Some(kw) = made.kwdefaults
            && let VarKind::Dict(dict) = self.look(kw)?
        {
            for (key, value) in dict.entries.iter() {
                if let Some(key) = self.constant_str(*key) {
                    kwdefaults.push((key, *value));
                }
            }
        }
        Ok(FunctionParts { unit: made.unit.clone(), globals: made.globals, defaults, kwdefaults, closure })
    }

    /// Where an object was found.
    fn place_of(&self, object: ObjectId) -> Option<TrackerId> {
        let found = |var: &VarId| self.sourced.get(var).copied() == Some(object);
        (0..self.vars.len() as u32).map(VarId).find(found).map(|var| self.var(var).tracker)
    }

    fn qualname_at(&mut self, function: ObjectId, base: TrackerId) -> Result<Option<String>, Stop> {
        let value = self.objects.get(self.py, function).getattr("__qualname__").map_err(|e| self.internal(&e))?;
        let at = self.trackers.step(base, Access::Attr("__qualname__".into()));
        let name = self.wrap(&value, at);
        self.look(name)?;
        Ok(self.constant_str(name))
    }

    /// What the interpreter says of arguments that do not fit: any other function with the same parameters refuses them alike.
    fn refused_arguments(&mut self, function: &FunctionVar, callee: &FunctionParts, args: &Args) -> Result<Stop, Stop> {
        let code = &callee.unit.code;
        let qualname = match function {
            FunctionVar::Object(object) => {
                let base = self.constant_tracker(*object);
                self.qualname_at(*object, base)?
            }
            FunctionVar::Made(made) if made.renamed => None,
            FunctionVar::Made(made) => match (made.object, made.qualname) {
                (Some(object), _) if !facts::is_named_as_its_code(&self.objects.get(self.py, object)) => None,
                (None, Some(name)) => self.constant_str(name),
                // Code knows its own only since 3.11.
                (Some(object), _) if self.py.version_info() >= (3, 10) && code.qualname.is_empty() => {
                    match self.place_of(object) {
                        Some(base) => self.qualname_at(object, base)?,
                        None => None,
                    }
                }
                _ => Some(code.qualname.clone()).filter(|name| !name.is_empty() || self.py.version_info() < (3, 10)),
            },
        };
        let wrong = Stop::brk(Reason::WouldRaise, format!("arguments of {}()", code.name));
        let Some(qualname) = qualname else { return Ok(wrong) };
        let kwdefaults: Vec<&str> = callee.kwdefaults.iter().map(|(name, _)| name.as_str()).collect();
        let like = self.function_with_parameters(code, &qualname, callee.defaults.len(), &kwdefaults)?;
        let none = self.py.None();
        let keywords = PyDict::new(self.py);
        for (name, _) in &args.keywords {
            keywords.set_item(name, &none).map_err(|e| self.internal(&e))?;
        }
        let positional = PyTuple::new(self.py, args.positional.iter().map(|_| &none)).map_err(|e| self.internal(&e))?;
        Ok(match like.call(positional, Some(&keywords)) {
            Err(error) => self.would_raise(&error),
            Ok(_) => wrong,
        })
    }

    /// Put arguments into the argument slots, by Python's rules. `false`: they do not fit.
    fn bind(&mut self, callee: &FunctionParts, args: &Args, frame: &mut Frame) -> Result<bool, Stop> {
        let bound = self.bind_in(callee, args, frame)?;
        self.step.refused = (!bound).then(|| refused(&callee.unit.code, args));
        Ok(bound)
    }

    fn bind_in(&mut self, callee: &FunctionParts, args: &Args, frame: &mut Frame) -> Result<bool, Stop> {
        let code = &callee.unit.code;
        let argcount = code.argcount as usize;
        let kwonly = code.kwonlyargcount as usize;
        let given = args.positional.len();
        for (i, value) in args.positional.iter().take(argcount).enumerate() {
            frame.locals[i] = Some(*value);
        }
        let mut next = argcount + kwonly;
        if code.flags.contains(CodeFlags::VARARGS) {
            let extra: Vec<VarId> = args.positional.iter().skip(argcount).copied().collect();
            frame.locals[next] = Some(self.virtual_var(TupleVar::new(extra)));
            next += 1;
        } else if given > argcount {
            return Ok(false);
        }
        let mut extra_keywords = Vec::new();
        for (name, value) in &args.keywords {
            let names = &code.varnames[code.posonlyargcount as usize..argcount + kwonly];
            match names.iter().position(|n| n == name) {
                Some(at) => {
                    let at = at + code.posonlyargcount as usize;
                    if frame.locals[at].replace(*value).is_some() {
                        return Ok(false);
                    }
                }
                None => extra_keywords.push((name.clone(), *value)),
            }
        }
        if code.flags.contains(CodeFlags::VARKEYWORDS) {
            let mut entries = Vec::with_capacity(extra_keywords.len());
            for (name, value) in extra_keywords {
                let key = PyString::intern(self.py, &name).into_any();
                entries.push((self.fold(&key)?, value));
            }
            frame.locals[next] = Some(self.virtual_var(DictVar::new(entries)));
        } else if !extra_keywords.is_empty() {
            return Ok(false);
        }
        let first_default = argcount.saturating_sub(callee.defaults.len());
        for i in 0..argcount {
            if frame.locals[i].is_none() {
                let default = i.checked_sub(first_default).and_then(|d| callee.defaults.get(d));
                let Some(default) = default else { return Ok(false) };
                frame.locals[i] = Some(*default);
            }
        }
        for i in argcount..argcount + kwonly {
            if frame.locals[i].is_none() {
                let name = &code.varnames[i];
                let default = callee.kwdefaults.iter().find(|(n, _)| n == name);
                let Some((_, default)) = default else { return Ok(false) };
                frame.locals[i] = Some(*default);
            }
        }
        Ok(true)
    }

    /// Free variables come from the closure; cell variables are new, filled with the argument of that name if any.
    pub fn bind_cells(&mut self, closure: &[VarId], frame: &mut Frame) {
        let code = &frame.unit.clone().code;
        for (i, name) in code.cellvars.iter().enumerate() {
            let argument = code.varnames[..code.arg_slots()].iter().position(|v| v == name);
            let content = argument.and_then(|a| frame.locals[a]);
            frame.cells[i] = Some(self.virtual_var(CellVar { content, object: None, known: true }));
        }
        for (i, cell) in closure.iter().enumerate() {
            frame.cells[code.cellvars.len() + i] = Some(*cell);
        }
    }

    /// Call a callable without bytecode.
    pub fn call_builtin(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<Called, Stop> {
        if let Some(parts) = entry::entry_parts(callee) {
            // A function that is itself an entry: simulate what it wraps.
            let function = self.pin(parts.func.bind(self.py));
            return match parts.self_obj {
                Some(receiver) => {
                    let receiver = self.pin(receiver.bind(self.py));
                    if let Some(name) = parts.stands_for {
                        // Its class may be given another one.
                        let class = self.class_of(receiver)?;
                        let found = self.class_lookup(&class, &name.bind(self.py).to_string())?;
                        if found.is_none_or(|found| !found.is(&parts.func)) {
                            return Err(Stop::brk(Reason::OpaqueCall, name_of(callee)));
                        }
                    }
                    self.call(function, &args.with_first(receiver))
                }
                None => self.call(function, args),
            };
        }
        self.may_simulate(callee)?;
        match self.backend.classify(callee) {
            Kind::Api => {
                if let Some(called) = self.called_by_body(callee, args) {
                    return called;
                }
                let name = api_name(callee);
                let recorded = self.record_call(CallKind::Api, &name, Some(callee), args);
                return recorded.map(Called::Value).map_err(|stop| self.refused_by(callee, stop));
            }
            Kind::Foldable => return self.call_foldable(callee, args).map(Called::Value),
            Kind::Switch => return self.call_switch(callee, args).map(Called::Value),
            Kind::Acts => return self.call_acting(callee, args).map(Called::Value),
            Kind::Break(why) => return Err(control::stop(why)),
            Kind::Tensor
            | Kind::Layer
            | Kind::Constant
            | Kind::List
            | Kind::Record
            | Kind::Maker(_)
            | Kind::Unknown => {}
        }
        self.call_simulated_builtin(callee, args)
    }

    /// Arguments of a function of the framework that builds nothing. `orders`: it may ask for the order of sets.
    pub(super) fn arguments_of_answered(&mut self, args: &Args, orders: bool) -> Result<GivenArguments<'py>, Stop> {
        let mut whole = Vec::with_capacity(args.positional.len());
        for arg in &args.positional {
            // An object that only its type matters for may be anything.
            let kind = self.look(*arg)?;
            let object = match (&kind, orders) {
                (VarKind::Set(set), false) => Some(self.members_in_some_order(set.state)?),
                _ => kind.pinned().or_else(|| self.known_object(*arg)).map(|o| self.objects.get(self.py, o)),
            };
            whole.push((*arg, object.filter(|_| !matches!(kind, VarKind::Constant(_) | VarKind::Tensor(_)))));
        }
        self.convert_arguments(args, |ex, arg| match whole.iter().find(|(var, _)| *var == arg) {
            Some((_, Some(object))) => Ok(object.clone()),
            _ => ex.argument(arg),
        })
    }

    fn call_foldable(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<VarId, Stop> {
        let (tuple, kwargs) = self.arguments_of_answered(args, true)?;
        self.claim_all(args)?;
        let asked = RefCell::new(Vec::new());
        let is_value = |o: &Bound<'py, PyAny>| self.graph.var_of(o).is_some();
        let mode = |mode| {
            asked.borrow_mut().push(mode);
            self.mode_object(mode)
        };
        let at = Surroundings { is_value: &is_value, mode: &mode, of_framework: self.is_framework_asking() };
        let kept = |result: &Bound<'py, PyAny>| {
            facts::is_heap_type(&result.get_type()) && self.backend.classify(result) == Kind::Unknown
        };
        let answer = self.backend.fold(callee, &tuple, kwargs.as_ref(), &at);
        let asked = asked.take();
        let is_kept = answer.as_ref().is_some_and(kept);
        for mode in asked {
            self.guard_mode(mode)?;
        }
        match answer {
            Some(result) if self.backend.classify(result.get_type().as_any()) == Kind::Record => {
                match args.keywords.len() {
                    0 | 1 => Ok(self.made_record(callee, &result, args)),
                    _ => Err(Stop::brk(Reason::FrameworkFunction, api_name(callee))),
                }
            }
            // What the framework keeps is the object itself; the ambient state knows it.
            Some(result) if is_kept => Ok(self.pin(&result)),
            Some(result) => self.fold(&result),
            None => Err(Stop::brk(Reason::FrameworkFunction, api_name(callee))),
        }
    }

    /// Call a layer.
    pub fn call_layer(&mut self, me: VarId, layer: &Bound<'py, PyAny>, args: &Args) -> Result<Called, Stop> {
        match self.layer_call_now(layer)? {
            LayerCall::Leaf => {
                let class = layer.get_type().into_any();
                self.guard_leaf_class(&class)?;
                let state = self.backend.layers().leaf_state(layer).map_err(|e| self.internal(&e))?;
                for dict in state {
                    self.snapshot(&dict)?;
                }
                let name = class.getattr("__name__").and_then(|n| n.extract::<String>()).unwrap_or_default();
                self.record_call(CallKind::Layer, &name, Some(layer), args).map(Called::Value)
            }
            LayerCall::Method => {
                let class = layer.get_type().into_any();
                let method = self.backend.layers().method();
                let skipped = self.class_lookup(&class, "__call__")?.and_then(|call| Skipped::of(&call, method));
                let state = self.backend.layers().call_state(layer).map_err(|e| self.internal(&e))?;
                for dict in state {
                    self.snapshot(&dict)?;
                }
                let method = self.getattr(me, method)?;
                let called = self.call(method, args)?;
                if let Called::Entered(_) = called {
                    self.frame_mut().skipped = skipped.map(Arc::new);
                }
                Ok(called)
            }
            LayerCall::Simulate => {
                let method = self.special_method(me, "__call__")?;
                self.call(method, args)
            }
            LayerCall::Break(why) => Err(Stop::Break(why)),
        }
    }

    /// How a layer is called where the capture stands. The backend sees the real layer, not what the journal will have
    /// made of it (a hook that was registered, an attribute that was set): its `__call__` sees both.
    fn layer_call_now(&self, layer: &Bound<'py, PyAny>) -> Result<LayerCall, Stop> {
        let mut call = self.backend.layers().call(layer);
        // A break inside of a leaf would not be seen.
        if call == LayerCall::Leaf
            && let Ok(method) = layer.get_type().getattr(self.backend.layers().method())
            && control::asked(&method).is_some()
        {
            call = LayerCall::Method;
        }
        let state = match call {
            LayerCall::Leaf => self.backend.layers().leaf_state(layer),
            LayerCall::Method => self.backend.layers().call_state(layer),
            LayerCall::Simulate | LayerCall::Break(_) => return Ok(call),
        };
        let state = state.map_err(|e| self.internal(&e))?;
        let stale = !self.journal.is_empty()
            && state
                .iter()
                .any(|dict| self.is_dict_written(dict) || self.is_replaced_in(layer, dict) || self.holds_flagged(dict));
        Ok(if stale { LayerCall::Simulate } else { call })
    }

    /// Guard the whole content of a dict.
    pub fn snapshot(&mut self, dict: &Bound<'py, PyDict>) -> Result<(), Stop> {
        let id = self.objects.add(dict.as_any());
        if !self.snapshots.iter().any(|s| s.dict == id) {
            let copy = dict.copy().map_err(|e| self.internal(&e))?;
            for value in copy.values() {
                // The same tensor with other meta data (frozen, converted) is another fact.
                if matches!(self.backend.classify(&value), Kind::Tensor) {
                    let tensor = self.pin(&value);
                    self.look(tensor)?;
                }
                self.guard_inner_layer(&value)?;
            }
            self.snapshots.push(crate::captured::Snapshot { dict: id, copy: copy.unbind() });
        }
        Ok(())
    }

    /// Call a method of a builtin value.
    pub fn call_bound(&mut self, receiver: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        if self.append_unseen(receiver, name, args)? {
            return self.fold_none().map(Called::Value);
        }
        if let Some(found) = self.call_by_key(receiver, name, args)? {
            return Ok(Called::Value(found));
        }
        if let Some(entered) = self.enter_method(receiver, name, args)? {
            return Ok(entered);
        }
        if let Some(drawn) = self.draw_by_name(receiver, name, args)? {
            return Ok(Called::Value(drawn));
        }
        if let Some(called) = self.call_special_of_c(receiver, name, args)? {
            return Ok(called);
        }
        self.look(receiver)?.call_method(self, receiver, name, args)
    }
}

pub(super) fn name_of(object: &Bound<'_, PyAny>) -> String {
    object
        .getattr("__qualname__")
        .or_else(|_| object.getattr("__name__"))
        .and_then(|n| n.extract::<String>())
        .unwrap_or_else(|_| object.get_type().name().map(|n| n.to_string()).unwrap_or_default())
}

/// `module.name` of a framework function.
pub(super) fn api_name(callee: &Bound<'_, PyAny>) -> String {
    let name = name_of(callee);
    match callee.getattr("__module__").and_then(|m| m.extract::<String>()) {
        Ok(module) => format!("{module}.{name}"),
        Err(_) => name,
    }
}

/// Arguments that a function does not take, in the order in which it lets go of them where it was handed them: positional ones
/// that are too many, from the first keyword that it refuses, and then its variables.
fn refused(code: &Code, args: &Args) -> Vec<VarId> {
    let (argcount, kwonly) = (code.argcount as usize, code.kwonlyargcount as usize);
    let taken = args.positional.len().min(argcount);
    let mut order = args.positional[taken..].to_vec();
    let mut variables: Vec<Option<VarId>> = args.positional[..taken].iter().copied().map(Some).collect();
    variables.resize(argcount + kwonly, None);
    let from = code.posonlyargcount as usize;
    let mut others = args.keywords.iter();
    while let Some((name, value)) = others.next() {
        let at = code.varnames[from..argcount + kwonly].iter().position(|n| n == name).map(|at| at + from);
        match at {
            Some(at) if variables[at].is_none() => variables[at] = Some(*value),
            None if code.flags.contains(CodeFlags::VARKEYWORDS) => variables.push(Some(*value)),
            _ => {
                order.push(*value);
                order.extend(others.by_ref().map(|(_, value)| *value));
            }
        }
    }
    order.extend(variables.into_iter().flatten());
    order
}
