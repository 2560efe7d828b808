//! Attributes that the program writes and deletes of classes that the simulation makes ([`super::made_classes`]).
//!
//! The prototype is given what stands for the value, as the class would be given the value: so look-ups find it, and what the
//! interpreter keeps of a class besides its names (slots, its name) follows. A rollback takes it back. New code makes the class of what
//! its body has left, and writes to it where the journal says.

use super::Executor;
use super::state::Undo;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, Descriptor};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::Mutation;

/// Parts of a class that `type` keeps and lets the program replace.
const PARTS: [&str; 4] = ["__doc__", "__module__", "__name__", "__qualname__"];

/// Names that something was asked for when the class, or an instance of it, was made, or when a value was put into another class.
const ASKED_BEFORE: [&str; 7] =
    ["__del__", "__get__", "__set__", "__delete__", "__subclasshook__", "__set_name__", "__slots__"];

impl<'py> Executor<'py> {
    /// `class.name = value`, or `del class.name`.
    pub(super) fn write_to_made_class(&mut self, var: VarId, name: &str, value: Option<VarId>) -> Result<(), Stop> {
        let refused = || Stop::brk(Reason::Mutation, "attribute of a class");
        let VarKind::Class(class) = self.look(var)? else { return Err(refused()) };
        let prototype = self.objects.get(self.py, class.object);
        let ty = prototype.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
        let meta = self.metaclass(class.object);
        let writes = if value.is_some() { "__setattr__" } else { "__delattr__" };
        let own = self.class_lookup(&meta, writes)?;
        let generic = type_facts::raw(&self.py.get_type::<PyType>(), writes);
        if !own.zip(generic).is_some_and(|(own, generic)| own.is(&generic)) {
            return Err(Stop::brk(Reason::UserCode, writes));
        }
        if ASKED_BEFORE.contains(&name) {
            return Err(refused());
        }
        let before = if PARTS.contains(&name) {
            let of_type = type_facts::raw(&self.py.get_type::<PyType>(), name);
            let found = self.class_lookup(&meta, name)?;
            let text = value.and_then(|value| self.constant_str(value));
            if !found.zip(of_type).is_some_and(|(found, own)| found.is(&own)) || text.is_none() {
                return Err(refused());
            }
            Some(prototype.getattr(name).map_err(|e| self.internal(&e))?)
        } else {
            if let Some(found) = self.class_lookup(&meta, name)?
                && self.is_data_descriptor(&found)?
            {
                return Err(refused());
            }
            type_facts::own(&prototype, name)
        };
        // What a slot holds is found by the descriptor that was there when it was made.
        if before.as_ref().is_some_and(|old| type_facts::descriptor(old) == Descriptor::Member)
            || facts::finds_names_by_code(ty)
        {
            return Err(refused());
        }
        if before.is_none() && value.is_none() {
            return Err(Stop::brk(Reason::WouldRaise, "attribute of a class"));
        }
        let object = match value {
            Some(value) => Some(self.stand_in_for(value)?),
            None => None,
        };
        let put = self.put_on_prototype(&prototype, name, object.as_ref());
        // A name that no class can have, say: the program sees what it raises.
        put.map_err(|_| Stop::brk(Reason::WouldRaise, format!("{name} of a class")))?;
        self.undo.push(Undo::Prototype {
            class: prototype.unbind(),
            name: name.to_owned(),
            before: before.map(Bound::unbind),
        });
        let object = Self::var_ref(var);
        self.journal_record(match value {
            Some(value) => Mutation::SetAttr { object, name: name.into(), value: Self::var_ref(value) },
            None => Mutation::DelAttr { object, name: name.into(), by_dict: false },
        });
        Ok(())
    }

    /// What a prototype is given for a value that is written to its class.
    fn stand_in_for(&mut self, value: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        let mut stand_for = Vec::new();
        let object = match self.prototype_of(value, &mut stand_for) {
            Ok(object) => object,
            Err(Stop::Fallback(_)) if self.is_given_as_it_is(value)? => {
                let object = self.py.get_type::<PyAny>().call0().map_err(|e| self.internal(&e))?;
                stand_for = vec![(value, object.clone())];
                object
            }
            Err(Stop::Fallback(_)) => return Err(Stop::brk(Reason::Mutation, "attribute of a class")),
            Err(stop) => return Err(stop),
        };
        for (var, object) in stand_for {
            self.stands_for(&object, var);
        }
        Ok(object)
    }

    fn put_on_prototype(
        &self,
        prototype: &Bound<'py, PyAny>,
        name: &str,
        object: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let plain = self.py.get_type::<PyType>();
        let name = PyString::intern(self.py, name);
        match object {
            Some(object) => plain.call_method1("__setattr__", (prototype, name, object)),
            None => plain.call_method1("__delattr__", (prototype, name)),
        }
        .map(drop)
    }
}

impl Executor<'_> {
    pub(super) fn take_back_on_prototype(&self, class: &Py<PyAny>, name: &str, before: Option<Py<PyAny>>) {
        let before = before.map(|before| before.into_bound(self.py));
        // It was so before.
        let _ = self.put_on_prototype(class.bind(self.py), name, before.as_ref());
    }
}
