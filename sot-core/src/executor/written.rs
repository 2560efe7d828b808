//! Writes that are methods of the program: `__setattr__`, setters of properties, `__set__` of descriptors, `__setitem__`,
//! and what deletes.

use super::{Executor, Flow};
use crate::awaits::Awaits;
use crate::cpython::facts;
use crate::probe;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;

/// A method to call, and its arguments.
type Write = (VarId, Vec<VarId>);

impl<'py> Executor<'py> {
    /// What `object.name = value` calls, or `del object.name`, if that is a method of the program.
    fn write_of_attribute(&mut self, object: VarId, name: &str, value: Option<VarId>) -> Result<Option<Write>, Stop> {
        let VarKind::Instance(_) = self.look(object)? else { return Ok(None) };
        let (own, by_property, of_descriptor) = match value {
            Some(_) => ("__setattr__", "fset", "__set__"),
            None => ("__delattr__", "fdel", "__delete__"),
        };
        if let Some(method) = self.method_of_program(object, own)? {
            let name = self.fold(PyString::intern(self.py, name).as_any())?;
            return Ok(Some((method, [name].into_iter().chain(value).collect())));
        }
        let class = self.class_of(object)?;
        if !self.class_lookup(&class, own)?.is_some_and(|found| self.is_of_object(own, &found)) {
            return Ok(None);
        }
        let Some(descriptor) = self.class_lookup(&class, name)? else { return Ok(None) };
        let args: Vec<VarId> = [object].into_iter().chain(value).collect();
        if probe::is_exact_property(&descriptor) {
            let setter = descriptor.getattr(by_property).map_err(|e| self.internal(&e))?;
            return Ok(facts::is_function(&setter).then(|| (self.pin(&setter), args)));
        }
        match self.class_lookup(descriptor.get_type().as_any(), of_descriptor)? {
            Some(function) if facts::is_function(&function) => {
                let (receiver, function) = (self.pin(&descriptor), self.pin(&function));
                Ok(Some((self.virtual_var(MethodVar { receiver, function }), args)))
            }
            _ => Ok(None),
        }
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
            None => Ok(None),
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
