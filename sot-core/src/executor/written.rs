//! Writes that are methods of the program: `__setattr__`, setters of properties, `__set__` of descriptors, `__setitem__`,
//! and what deletes.

use super::{Executor, Flow};
use crate::awaits::Awaits;
use crate::backend::Kind;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;

/// Whether a class extends a builtin type, whose methods it may have for its hooks.
pub(super) fn extends_builtin(class: &Bound<'_, PyAny>) -> bool {
    class.cast::<PyType>().is_ok_and(|class| type_facts::extends(class).is_some())
}

/// A method to call, and its arguments.
type Write = (VarId, Vec<VarId>);

impl<'py> Executor<'py> {
    /// What `object.name = value` calls, or `del object.name`, if that is a method of the program.
    fn write_of_attribute(&mut self, object: VarId, name: &str, value: Option<VarId>) -> Result<Option<Write>, Stop> {
        let own = if value.is_some() { "__setattr__" } else { "__delattr__" };
        match self.look(object)? {
            VarKind::Instance(_) => {}
            VarKind::Layer(_) if value.is_some() => return self.write_of_layer(object, name, value),
            _ => return Ok(None),
        }
        if let Some(method) = self.method_of_program(object, own)? {
            let name = self.fold(PyString::intern(self.py, name).as_any())?;
            return Ok(Some((method, [name].into_iter().chain(value).collect())));
        }
        let class = self.class_of(object)?;
        match self.class_lookup(&class, own)? {
            Some(found) if self.is_of_object(own, &found) => self.write_by_descriptor(object, name, value),
            // `__setattr__ = dict.__setitem__`
            Some(found) if type_facts::is_method_of_c(&found) && extends_builtin(&class) => {
                let name = self.fold(PyString::intern(self.py, name).as_any())?;
                Ok(Some((self.pin(&found), [object, name].into_iter().chain(value).collect())))
            }
            _ => Ok(None),
        }
    }

    /// What `layer.name = value` calls, if its class has a method of the program for that.
    fn write_of_layer(&mut self, layer: VarId, name: &str, value: Option<VarId>) -> Result<Option<Write>, Stop> {
        let class = self.class_of(layer)?;
        let (own, writer) = (self.class_lookup(&class, "__setattr__")?, self.backend.layers().writer(self.py));
        let (Some(own), Some(writer)) = (own, writer) else { return Ok(None) };
        if own.is(&writer) || !facts::is_function(&own) {
            return Ok(None);
        }
        let method = self.special_method(layer, "__setattr__")?;
        let name = self.fold(PyString::intern(self.py, name).as_any())?;
        Ok(Some((method, [name].into_iter().chain(value).collect())))
    }

    /// What `object.__setattr__` calls, or its `__delattr__`, if that is a method of the program.
    fn write_by_descriptor(&mut self, object: VarId, name: &str, value: Option<VarId>) -> Result<Option<Write>, Stop> {
        let (by_property, of_descriptor) = match value {
            Some(_) => ("fset", "__set__"),
            None => ("fdel", "__delete__"),
        };
        let class = self.class_of(object)?;
        let Some(descriptor) = self.class_lookup(&class, name)? else { return Ok(None) };
        let args: Vec<VarId> = [object].into_iter().chain(value).collect();
        if type_facts::is_exact_property(&descriptor) {
            let setter = self.part_of_descriptor(&descriptor, by_property)?;
            // One of the framework's is a change of a mode.
            let called = facts::is_function(&setter) || self.backend.classify(&setter) == Kind::Switch;
            return Ok(called.then(|| (self.pin(&setter), args)));
        }
        match self.class_lookup(descriptor.get_type().as_any(), of_descriptor)? {
            Some(function) if facts::is_function(&function) => {
                let (receiver, function) = (self.plain_attribute(&descriptor), self.pin(&function));
                // It may be given another class.
                self.look(receiver)?;
                Ok(Some((self.virtual_var(MethodVar { receiver, function }), args)))
            }
            _ => Ok(None),
        }
    }

    /// `object.__setattr__(object, name, value)`, or `object.__delattr__(object, name)`.
    pub(super) fn enter_write_by_object(
        &mut self,
        object: VarId,
        name: &str,
        value: Option<VarId>,
    ) -> Result<Called, Stop> {
        if let Some((method, args)) = self.write_by_descriptor(object, name, value)? {
            let args = self.virtual_var(TupleVar::new(args));
            return self.enter("done", &[method, args]);
        }
        match value {
            Some(value) => self.set_by_object(object, name, value)?,
            None => self.delete_by_object(object, name)?,
        }
        self.fold_none().map(Called::Value)
    }

    /// `object.name = value`, or `del object.name`, by a method of the program.
    pub(super) fn enter_write(
        &mut self,
        object: VarId,
        name: &str,
        value: Option<VarId>,
    ) -> Result<Option<Flow>, Stop> {
        match self.write_of_attribute(object, name, value)? {
            Some(write) => self.enter_dropping(write).map(Some),
            None => Ok(None),
        }
    }

    /// `setattr` or `delattr` of a method of the program.
    pub(super) fn enter_write_by_name(
        &mut self,
        object: VarId,
        name: VarId,
        value: Option<VarId>,
    ) -> Result<Option<Called>, Stop> {
        let Some(name) = self.constant_str(name) else { return Ok(None) };
        let Some((method, args)) = self.write_of_attribute(object, &name, value)? else { return Ok(None) };
        let args = self.virtual_var(TupleVar::new(args));
        self.enter("done", &[method, args]).map(Some)
    }

    /// `container[key] = value`, or `del container[key]`, by a method of the program.
    pub(super) fn enter_write_of_item(
        &mut self,
        container: VarId,
        key: VarId,
        value: Option<VarId>,
    ) -> Result<Option<Flow>, Stop> {
        let name = if value.is_some() { "__setitem__" } else { "__delitem__" };
        match self.method_of_program(container, name)? {
            Some(method) => self.enter_dropping((method, [key].into_iter().chain(value).collect())).map(Some),
            None => match value {
                Some(value) => self.enter_slice(container, key, value),
                None => Ok(None),
            },
        }
    }

    /// Call a method whose result nobody looks at.
    fn enter_dropping(&mut self, (method, args): Write) -> Result<Flow, Stop> {
        match self.call(method, &Args::positional(args))? {
            Called::Value(_) => Ok(Flow::Next),
            Called::Entered(Awaits::Push) => Ok(Flow::Entered(Awaits::Drop)),
            Called::Entered(_) => Err(Stop::brk(Reason::UserCode, "a class in the place of a method")),
        }
    }
}
