//! Class statements whose class the simulation makes: a plain one, of `type`, on `object`, an exception of C, or another such class.
//!
//! The body is a frame like any other, whose names live in a dict ([`crate::frame::Frame::names`]); where something in it
//! breaks, the statement as a whole runs as Python. What it leaves is looked at through a *prototype*: a real class of the same
//! names that is made at capture and that nobody but the capture ever sees. Each value in it stands for a variable, as does the
//! prototype itself for the class, so that whatever looks things up in classes finds them there. It is known as one that is made
//! anew ([`super::anew`]): who names it has the capture start over without prototypes. New code makes the class where
//! somebody needs it, of what the body has left.

use super::{Awaits, Executor};
use crate::cpython::facts;
use crate::natives::Native;
use crate::objects::is_constant_type;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use std::rc::Rc;

/// The class cannot be made here: the statement runs as Python.
fn as_it_is(what: &str) -> Stop {
    Stop::fallback(Reason::Builtin, format!("__build_class__: {what}"))
}

/// Whether it is a function that this capture has made.
fn is_made_here(kind: &VarKind) -> bool {
    matches!(kind, VarKind::Function(FunctionVar::Made(made)) if made.object.is_none())
}

impl<'py> Executor<'py> {
    /// `__build_class__(body, name, *bases)`, if the class may be plain.
    pub(super) fn enter_class_statement(&mut self, args: &Args) -> Result<Option<Called>, Stop> {
        let [body, name, bases @ ..] = args.positional.as_slice() else { return Ok(None) };
        if !args.keywords.is_empty() || self.found.real_classes || self.constant_str(*name).is_none() {
            return Ok(None);
        }
        if !is_made_here(&self.var(*body).kind) {
            return Ok(None);
        }
        for base in bases {
            let VarKind::Class(base) = self.look(*base)? else { return Ok(None) };
            let class = self.objects.get(self.py, base.object).cast_into::<PyType>();
            let class = class.map_err(|e| self.internal(&e.into()))?;
            let plain = class.is(self.py.get_type::<PyAny>())
                || !facts::is_heap_type(&class) && self.is_exception_class(&class);
            // Making the prototype would run it.
            let told = crate::probe::raw(&class, "__init_subclass__");
            let told_of_object = crate::probe::raw(&self.py.get_type::<PyAny>(), "__init_subclass__");
            let tells = !told.zip(told_of_object).is_some_and(|(told, of_object)| told.is(&of_object));
            if base.made.is_none() && !plain || tells {
                return Ok(None);
            }
        }
        let bases = self.virtual_var(TupleVar::new(bases.to_vec()));
        let names = self.virtual_var(DictVar::new(Vec::new()));
        self.enter("class_of", &[*body, *name, bases, names]).map(Some)
    }

    /// The body of a class begins.
    pub(super) fn enter_class_body(&mut self, body: VarId, names: VarId) -> Result<Called, Stop> {
        let VarKind::Function(function) = self.look(body)? else {
            return Err(Stop::fallback(Reason::InternalError, "no body"));
        };
        match self.call_function(&function, &Args::default())? {
            Called::Entered(Awaits::Push) => {
                self.frame_mut().names = Some(names);
                Ok(Called::Entered(Awaits::Push))
            }
            _ => Err(as_it_is("an odd body")),
        }
    }

    /// The call that made a class, if its body, or what that calls, is under way.
    pub(super) fn class_statement_under_way(&self) -> Option<crate::frame::Site> {
        let body = self.frames.iter().position(|frame| frame.names.is_some())?;
        let caller = self.frames[..body].iter().rfind(|frame| !frame.is_hidden())?;
        let site = (caller.unit.address(), caller.ip);
        (!self.found.denied.contains_key(&site)).then_some(site)
    }

    /// The class that a body has left: of what it gives back, its name, its bases, and the names of the body.
    pub(super) fn class_made(&mut self, cell: VarId, name: VarId, bases: VarId, names: VarId) -> Result<VarId, Stop> {
        let (VarKind::Tuple(given), VarKind::Dict(names)) = (self.look(bases)?, self.look(names)?) else {
            return Err(Stop::fallback(Reason::InternalError, "parts of a class"));
        };
        let py = self.py;
        let namespace = PyDict::new(py);
        let mut stand_for: Vec<(VarId, Bound<'py, PyAny>)> = Vec::new();
        for (key, value) in names.entries.iter() {
            let key = self.constant_str(*key).ok_or_else(|| as_it_is("a key"))?;
            if key == "__classcell__" {
                continue;
            }
            let known = stand_for.iter().find(|(var, _)| var == value).map(|(_, object)| object.clone());
            let object = match known {
                Some(object) => object,
                None => self.prototype_of(*value, &mut stand_for)?,
            };
            if let VarKind::Tuple(_) | VarKind::List(_) | VarKind::Dict(_) = self.look(*value)?
                && !self.found_outside(*value)
            {
                // The class keeps them, whatever they are ([`crate::captured::Captured::keep_classes_real`]).
                for part in self.parts(*value) {
                    self.look(part)?;
                }
            }
            let odd =
                key == "__slots__" && !(object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyString>());
            if odd {
                return Err(as_it_is("slots"));
            }
            namespace.set_item(key, object).map_err(|e| self.internal(&e))?;
        }
        let mut of = Vec::with_capacity(given.items.len());
        for base in given.items.iter() {
            let VarKind::Class(base) = self.look(*base)? else { return Err(as_it_is("a base")) };
            of.push(self.objects.get(py, base.object));
        }
        let text = self.constant_str(name).ok_or_else(|| as_it_is("a name"))?;
        let of = PyTuple::new(py, of).map_err(|e| self.internal(&e))?;
        let prototype = py.get_type::<PyType>().call1((text, of, &namespace)).map_err(|_| as_it_is("it raises"))?;
        let object = self.objects.add(&prototype);
        let made = MadeClass { name, bases, names: names.entries.to_vec() };
        let class = self.virtual_var(ClassVar { object, anew: true, made: Some(Rc::new(made)) });
        stand_for.push((class, prototype.clone()));
        for (var, object) in stand_for {
            self.stands_for(&object, var);
        }
        // What `type` has added is of this class alone, and no value of the program's.
        for (name, object) in facts::class_dict(&prototype).into_iter().flatten() {
            let given = namespace.get_item(&name).ok().flatten().is_some_and(|given| given.is(&object));
            if !given && !is_constant_type(&object.get_type()) && !object.is_none() {
                let object_id = self.objects.add(&object);
                let odd = self.virtual_var(BuiltinVar { object: object_id });
                self.stands_for(&object, odd);
            }
        }
        if let VarKind::Cell(_) = self.look(cell)? {
            self.store_cell(cell, Some(class))?;
        }
        Ok(class)
    }

    fn stands_for(&mut self, object: &Bound<'py, PyAny>, var: VarId) {
        let id = self.objects.add(object);
        self.captured.anew.insert(id, var);
        self.known.insert(object.as_ptr() as usize, var);
    }

    /// `class.__name__`, `class.__mro__` and the like, of a prototype: the same object each time.
    pub(super) fn part_of_prototype(&mut self, part: &Bound<'py, PyAny>) -> Result<VarId, Stop> {
        let Ok(classes) = part.cast_exact::<PyTuple>() else { return self.fold(part) };
        if let Some((_, known)) = self.made_anew(part) {
            return Ok(known);
        }
        let classes: Vec<VarId> = classes.iter().map(|class| self.pin(&class)).collect();
        let classes = self.virtual_var(TupleVar::new(classes));
        self.stands_for(part, classes);
        Ok(classes)
    }

    /// What stands in a prototype for a value: itself, if it is the same at each call, else something of its kind.
    fn prototype_of(
        &mut self,
        value: VarId,
        stand_for: &mut Vec<(VarId, Bound<'py, PyAny>)>,
    ) -> Result<Bound<'py, PyAny>, Stop> {
        let py = self.py;
        let kind = self.look(value)?;
        let tracker = self.var(value).tracker;
        let fixed = !self.has_path(tracker) || self.is_under_constant(tracker);
        let object = match &kind {
            VarKind::Constant(constant) if fixed => {
                self.constant_value(value);
                let object = self.objects.get(py, constant.object);
                return match is_constant_type(&object.get_type()) || object.is_none() {
                    true => Ok(object),
                    false => Err(as_it_is("a constant")),
                };
            }
            VarKind::Class(class) => {
                let class = self.objects.get(py, class.object);
                return match crate::probe::has(&class.get_type(), "__set_name__") {
                    true => Err(as_it_is("a class that is told its name")),
                    false => Ok(class),
                };
            }
            VarKind::Function(FunctionVar::Object(function)) => return Ok(self.objects.get(py, *function)),
            VarKind::Function(FunctionVar::Made(made)) if made.object.is_none() => {
                let code = self.objects.get(py, made.code);
                let cells = made.unit.code.freevars.len();
                let cell = || -> PyResult<Bound<'py, PyAny>> {
                    crate::cpython::module(py, "types")?.getattr("CellType")?.call0()
                };
                let function = || -> PyResult<Bound<'py, PyAny>> {
                    let cells = (0..cells).map(|_| cell()).collect::<PyResult<Vec<_>>>()?;
                    let cells = (!cells.is_empty()).then(|| PyTuple::new(py, cells)).transpose()?;
                    let class = crate::cpython::module(py, "types")?.getattr("FunctionType")?;
                    class.call1((code, self.objects.get(py, made.globals), py.None(), py.None(), cells))
                };
                function().map_err(|e| self.internal(&e))?
            }
            VarKind::Native(NativeVar { native: Native::Descriptor, class, positional, .. }) => {
                let mut parts = Vec::with_capacity(positional.len());
                for part in positional.iter() {
                    let known = stand_for.iter().find(|(var, _)| var == part).map(|(_, object)| object.clone());
                    parts.push(match known {
                        Some(object) => object,
                        None => self.prototype_of(*part, stand_for)?,
                    });
                }
                let parts = PyTuple::new(py, parts).map_err(|e| self.internal(&e))?;
                self.objects.get(py, *class).call1(parts).map_err(|e| self.internal(&e))?
            }
            VarKind::Tuple(TupleVar { class: None, .. }) if self.is_fixed(tracker) => {
                let tuple = self.known_object(value).ok_or_else(|| as_it_is("a tuple"))?;
                return Ok(self.objects.get(py, tuple));
            }
            VarKind::Tuple(tuple) if tuple.class.is_none() && fixed && !tuple.items.is_empty() => {
                let mut items = Vec::with_capacity(tuple.items.len());
                for item in tuple.items.iter() {
                    match self.look(*item)? {
                        VarKind::Constant(_) | VarKind::Class(_) => items.push(self.prototype_of(*item, stand_for)?),
                        _ => return Err(as_it_is("a tuple")),
                    }
                }
                PyTuple::new(py, items).map_err(|e| self.internal(&e))?.into_any()
            }
            VarKind::List(ListVar { class: None, object: None, .. }) => PyList::empty(py).into_any(),
            VarKind::Dict(DictVar { class: None, object: None, owner: None, .. }) => PyDict::new(py).into_any(),
            VarKind::Constant(_) | VarKind::Tensor(TensorVar { source: TensorSource::Computed { .. } }) => {
                py.get_type::<PyAny>().call0().map_err(|e| self.internal(&e))?
            }
            kind => return Err(as_it_is(kind.kind_name())),
        };
        stand_for.push((value, object.clone()));
        Ok(object)
    }

    /// `property(get)` and the like in the body of a class.
    pub(super) fn call_descriptor_class(
        &mut self,
        class: &Bound<'py, PyType>,
        args: &Args,
    ) -> Result<Option<VarId>, Stop> {
        if self.frame().names.is_none() || !args.keywords.is_empty() || args.positional.is_empty() {
            return Ok(None);
        }
        let name = class.name().map(|name| name.to_string()).unwrap_or_default();
        let most = match name.as_str() {
            "property" => 3,
            "staticmethod" | "classmethod" => 1,
            _ => return Ok(None),
        };
        let known = self.builtins_attribute(&name).is_ok_and(|builtin| builtin.is(class));
        if !known || args.positional.len() > most {
            return Ok(None);
        }
        for part in &args.positional {
            if !is_made_here(&self.look(*part)?) {
                return Ok(None);
            }
        }
        let class = self.objects.add(class.as_any());
        let (native, positional, keywords) = (Native::Descriptor, args.positional.clone().into(), Rc::new([]));
        Ok(Some(self.virtual_var(NativeVar { native, class, object: None, positional, keywords, pinned: false })))
    }
}
