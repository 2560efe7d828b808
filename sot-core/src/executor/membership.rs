//! `isinstance` and `issubclass` where the program answers: a metaclass with a check of its own, an object that is asked in the place
//! of a class (`typing.Sequence`), or a value that says that its class is another one.

use super::Executor;
use crate::cpython::facts;
use crate::stop::Stop;
use crate::type_facts::{self, Membership};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;

impl<'py> Executor<'py> {
    /// The frame of `isinstance(value, class)`, or `issubclass`, if that runs code of the program.
    pub(super) fn enter_membership(
        &mut self,
        value: VarId,
        class: VarId,
        of_value: bool,
    ) -> Result<Option<Called>, Stop> {
        if let VarKind::Tuple(TupleVar { items, class: None }) = self.look(class)? {
            for item in items.iter() {
                if self.is_checked_by_code(value, *item, of_value)? {
                    let check = self.builtin(if of_value { "isinstance" } else { "issubclass" })?;
                    return self.enter("member_of_any", &[check, value, class]).map(Some);
                }
            }
            return Ok(None);
        }
        if !self.is_checked_by_code(value, class, of_value)? {
            return Ok(None);
        }
        let method = if of_value { "__instancecheck__" } else { "__subclasscheck__" };
        let VarKind::Class(candidate) = self.look(class)? else {
            let method = self.special_method(class, method)?;
            return self.enter("truth_of", &[method, value]).map(Some);
        };
        let candidate = self.objects.get(self.py, candidate.object);
        match self.class_lookup(candidate.get_type().as_any(), method)? {
            Some(found) if self.is_code(&found) && self.membership(&candidate, method)? == Membership::User => {
                let method = self.special_method(class, method)?;
                self.enter("truth_of", &[method, value]).map(Some)
            }
            _ => self.enter("instance_by_its_word", &[value, class]).map(Some),
        }
    }

    fn is_code(&self, method: &Bound<'py, PyAny>) -> bool {
        facts::is_function(method) || self.wraps_function(method)
    }

    fn membership(&self, class: &Bound<'py, PyAny>, method: &str) -> Result<Membership, Stop> {
        let class = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
        Ok(type_facts::membership(class, method))
    }

    /// Whether the answer for one class, or for one of a tuple of them, is code of the program.
    fn is_checked_by_code(&mut self, value: VarId, class: VarId, of_value: bool) -> Result<bool, Stop> {
        let method = if of_value { "__instancecheck__" } else { "__subclasscheck__" };
        let candidate = match self.look(class)? {
            VarKind::Class(candidate) => self.objects.get(self.py, candidate.object),
            VarKind::Tuple(TupleVar { items, class: None }) => {
                return self.nested(|ex| {
                    for item in items.iter() {
                        if ex.is_checked_by_code(value, *item, of_value)? {
                            return Ok(true);
                        }
                    }
                    Ok(false)
                });
            }
            VarKind::Instance(_) => {
                let asked = self.class_of(class)?;
                return Ok(self.class_lookup(&asked, method)?.is_some_and(|found| self.is_code(&found)));
            }
            _ => return Ok(false),
        };
        let own = self.class_of(value)?;
        if of_value && own.is(&candidate) {
            return Ok(false);
        }
        match self.membership(&candidate, method)? {
            Membership::User => {
                let found = self.class_lookup(candidate.get_type().as_any(), method)?;
                Ok(found.is_some_and(|found| self.is_code(&found)))
            }
            Membership::Mro if of_value && matches!(self.look(value)?, VarKind::Instance(_)) => {
                // Its class is asked first.
                let own = own.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
                self.guard_mro(own);
                let is_one = facts::mro(own).iter().any(|base| base.is(&candidate));
                let name = PyString::intern(self.py, "__class__").into_any();
                let name = self.fold(&name)?;
                Ok(!is_one && !self.tells_its_class(own.as_any())? && self.attribute_by_code(value, name)?)
            }
            Membership::Mro | Membership::Abc => Ok(false),
        }
    }
}
