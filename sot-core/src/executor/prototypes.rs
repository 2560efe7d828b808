//! Prototypes of classes that the simulation makes ([`super::made_classes`]): real classes, made at capture, which nobody but the
//! capture sees. Each value in one stands for a variable, as does the prototype itself for the class, so that whatever looks things
//! up in classes finds them there. What is found behind the prototypes of an MRO, in a class that is there at each call, is guarded.

use super::Executor;
use super::made_classes::as_it_is;
use crate::captured::Attribute;
use crate::cpython::facts;
use crate::natives::Native;
use crate::objects::is_constant_type;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::Overlay;
use sot_tracker::{Access, Check};

impl<'py> Executor<'py> {
    pub(super) fn stands_for(&mut self, object: &Bound<'py, PyAny>, var: VarId) {
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

    /// `class.__doc__` and the like of a prototype, which the metaclass reads.
    pub(super) fn told_of_prototype(&mut self, class: &Bound<'py, PyType>, name: &str) -> Result<Option<VarId>, Stop> {
        let Some((_, var)) = self.made_anew(class) else { return Ok(None) };
        let VarKind::Class(ClassVar { made: Some(made), .. }) = self.var(var).kind.clone() else { return Ok(None) };
        let mut own = made.names.iter().filter(|(key, _)| self.constant_str(*key).is_some_and(|key| key == name));
        let own = own.next().map(|(_, value)| *value);
        if let Overlay::Set(written) = self.journal.attr(Self::var_ref(var), name) {
            return Ok(Some(VarId(written.0)));
        }
        match (name, own) {
            ("__annotations__", Some(value)) => Ok(Some(value)),
            ("__doc__", Some(value)) if matches!(self.look(value)?, VarKind::Constant(_)) => Ok(Some(value)),
            ("__doc__", None) => self.fold_none().map(Some),
            ("__dict__", _) => {
                let shown = self.class_lookup(class.get_type().as_any(), name)?;
                let own = type_facts::raw(&self.py.get_type::<PyType>(), name);
                match shown.zip(own).is_some_and(|(shown, own)| shown.is(&own)) {
                    true => self.proxy_of_prototype(var).map(Some),
                    false => Ok(None),
                }
            }
            ("__base__", _) => {
                let base = class.getattr(name).map_err(|e| self.internal(&e))?;
                Ok(Some(self.pin(&base)))
            }
            _ => Ok(None),
        }
    }

    /// What stands in a prototype for a value: itself, if it is the same at each call, else something of its kind.
    pub(super) fn prototype_of(
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
                return match crate::type_facts::has(&class.get_type(), "__set_name__") {
                    true => Err(as_it_is("a class that is told its name")),
                    false => Ok(class),
                };
            }
            // A method or a function of C (`__setattr__ = dict.__setitem__`).
            VarKind::Builtin(builtin) if fixed => {
                let builtin = self.objects.get(py, builtin.object);
                use type_facts::Descriptor::{BuiltinFunction, Method, Wrapper};
                return match type_facts::descriptor(&builtin) {
                    BuiltinFunction | Method | Wrapper => Ok(builtin),
                    _ => Err(as_it_is("a builtin")),
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
                let function = function().map_err(|e| self.internal(&e))?;
                for Attribute { name, value: set, .. } in self.virtual_attributes(value) {
                    // Who makes abstract classes asks for it.
                    if name == "__isabstractmethod__" {
                        let set = self.constant_value(set).ok_or_else(|| as_it_is("an abstract method"))?;
                        function.setattr(name, set).map_err(|e| self.internal(&e))?;
                    }
                }
                function
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
                        // Nobody asks it: who reads the tuple is given what it stands for.
                        VarKind::Instance(_) => {
                            items.push(py.get_type::<PyAny>().call0().map_err(|e| self.internal(&e))?);
                        }
                        _ => return Err(as_it_is("a tuple")),
                    }
                }
                PyTuple::new(py, items).map_err(|e| self.internal(&e))?.into_any()
            }
            VarKind::List(ListVar { class: None, object: None, .. }) => PyList::empty(py).into_any(),
            VarKind::Dict(DictVar { class: None, object: None, owner: None, .. }) => PyDict::new(py).into_any(),
            VarKind::Set(SetVar { frozen: false, object: None, .. }) => {
                PySet::empty(py).map_err(|e| self.internal(&e))?.into_any()
            }
            VarKind::Constant(_) | VarKind::Tensor(_) => {
                py.get_type::<PyAny>().call0().map_err(|e| self.internal(&e))?
            }
            VarKind::List(ListVar { class: None, .. }) => PyList::empty(py).into_any(),
            VarKind::Instance(_) if self.is_left_alone_by_classes(value)? => {
                py.get_type::<PyAny>().call0().map_err(|e| self.internal(&e))?
            }
            VarKind::Instance(InstanceVar { object: None, part: None, .. }) => self.prototype_of_descriptor(value)?,
            kind => return Err(as_it_is(kind.kind_name())),
        };
        stand_for.push((value, object.clone()));
        Ok(object)
    }

    /// What stands for a descriptor that the frame has made, and whose methods are the program's: another one of its class, which knows
    /// nothing. Nobody tells it its name ([`crate::cpython::unlisted_quiet_class`]), nor asks it.
    fn prototype_of_descriptor(&mut self, value: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        let class = self.class_of(value)?;
        for name in ["__isabstractmethod__", "__getattr__", "__del__"] {
            if self.class_lookup(&class, name)?.is_some() {
                return Err(as_it_is("an instance"));
            }
        }
        for name in ["__set_name__", "__get__", "__set__", "__delete__"] {
            if self.class_lookup(&class, name)?.is_some_and(|found| !facts::is_function(&found)) {
                return Err(as_it_is("an instance"));
            }
        }
        let looks = self.class_lookup(&class, "__getattribute__")?;
        let new = type_facts::raw(&self.py.get_type::<PyAny>(), "__new__");
        let (Some(looks), Some(new)) = (looks, new) else { return Err(as_it_is("an instance")) };
        let plain = class.cast::<PyType>().is_ok_and(|class| type_facts::maker_of_instances(class).is_some());
        if !plain || !self.is_of_object("__getattribute__", &looks) {
            return Err(as_it_is("an instance"));
        }
        new.call1((class,)).map_err(|_| as_it_is("an instance"))
    }

    /// Whether a class that has the value as an attribute neither tells it its name nor asks it when it is looked up.
    fn is_left_alone_by_classes(&mut self, value: VarId) -> Result<bool, Stop> {
        let class = self.class_of(value)?;
        for name in ["__set_name__", "__get__", "__set__", "__delete__", "__isabstractmethod__", "__getattr__"] {
            if self.class_lookup(&class, name)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What looking a name up on a prototype found behind it, guarded.
    pub(super) fn guard_look_up_of_prototype(
        &mut self,
        class: &Bound<'py, PyType>,
        name: &Bound<'py, PyString>,
    ) -> Result<(), Stop> {
        let mut asked = Vec::new();
        let mut behind = Vec::new();
        let mut found = None;
        for base in facts::mro(class).iter() {
            let made = base.cast::<PyType>().is_ok_and(|base| self.is_made_here(base));
            if !made {
                behind.push(base.clone());
            }
            if found.is_some() {
                continue;
            }
            if !made {
                asked.push(base.clone());
            }
            let own = facts::class_dict(&base).and_then(|dict| dict.get_item(name).ok().flatten());
            found = own.map(|own| (made, own));
        }
        let Some(first) = asked.first().cloned() else { return Ok(()) };
        let ty = first.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
        if !matches!(found, Some((true, _)))
            && facts::mro(ty).iter().map(|base| base.as_ptr()).eq(behind.iter().map(|base| base.as_ptr()))
        {
            return self.class_lookup(&first, &name.to_string_lossy()).map(drop);
        }
        let key = self.objects.add(name.as_any());
        for base in asked {
            if facts::class_dict(&base).is_none() {
                continue;
            }
            let id = self.objects.add(&base);
            if let Some((_, var)) = self.made_anew(&base) {
                self.guard_alike(id, var);
            }
            let at = self.class_tracker(id);
            self.note_overridden(at, &base);
            let dict = self.trackers.step(at, Access::InstanceDict);
            match type_facts::own(&base, &name.to_string_lossy()) {
                Some(own) => {
                    let may_pass = facts::is_heap_type(&own.get_type()) || facts::is_plain_container(&own);
                    if may_pass && self.death_runs_code(&own) {
                        return Err(Stop::brk(Reason::UserCode, "an attribute of one of several bases"));
                    }
                    let place = self.trackers.step(dict, Access::DictItem(key));
                    if self.is_made_anew(id) {
                        self.guard_found(&own, place)?;
                    } else {
                        let own = self.objects.add(&own);
                        self.guard(place, Check::Is(own));
                    }
                }
                None => {
                    self.guard(dict, Check::Lacks(key));
                }
            }
        }
        Ok(())
    }
}
