//! `isinstance` and `issubclass` where the program answers: a metaclass with a check of its own, an object that is asked in the place
//! of a class (`typing.Sequence`), or a value that says that its class is another one.

use super::Executor;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, Membership};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::Check;

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

    /// `issubclass(class, classes)`, or `isinstance` of a value of exactly that class.
    pub(super) fn is_subclass(
        &mut self,
        class: &Bound<'py, PyAny>,
        classes: VarId,
        of_class: bool,
    ) -> Result<bool, Stop> {
        let ty = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?.clone();
        let kind = self.look(classes)?;
        if let VarKind::Tuple(several) = &kind
            && several.class.is_none()
        {
            for one in several.items.iter() {
                if self.is_subclass(class, *one, of_class)? {
                    return Ok(true);
                }
                continue;
            }
            return Ok(false);
        }
        let candidate = match &kind {
            VarKind::Class(class) => Some(self.objects.get(self.py, class.object)),
            _ => self.pinned(&kind),
        };
        if let Some(union) = &candidate
            && let Some(classes) = self.classes_of_union(union)?
        {
            for one in classes {
                if self.is_subclass(class, one, of_class)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let Some(candidate) = candidate.as_ref().and_then(|c| c.cast::<PyType>().ok()) else {
            return Err(Stop::brk(Reason::Builtin, if of_class { "issubclass" } else { "isinstance" }));
        };
        if !of_class && ty.is(candidate) {
            return Ok(true);
        }
        let method = if of_class { "__subclasscheck__" } else { "__instancecheck__" };
        self.class_lookup(candidate.get_type().as_any(), method)?;
        let membership = type_facts::membership(candidate, method);
        if membership == Membership::User {
            return Err(Stop::brk(Reason::UserCode, method));
        }
        if facts::mro(&ty).iter().any(|c| c.is(candidate)) {
            self.guard_subclass(&ty, candidate, true);
            return Ok(true);
        }
        // A value may say that its class is another one.
        if !of_class && !self.tells_its_class(class)? {
            return Err(Stop::brk(Reason::UserCode, "__class__"));
        }
        let answer = match membership {
            // Abc's answer by registration.
            Membership::Abc => ty.is_subclass(candidate).map_err(|e| self.would_raise(&e))?,
            Membership::Mro | Membership::User => false,
        };
        self.guard_subclass(&ty, candidate, answer);
        Ok(answer)
    }

    /// The answer of `issubclass`. Of a class that cannot change only registration can change it.
    pub(super) fn guard_subclass(&mut self, class: &Bound<'py, PyType>, of: &Bound<'py, PyType>, holds: bool) {
        let (class_anew, of_anew) = (self.made_anew(class), self.made_anew(of));
        // Of a class that the simulation makes nobody but its MRO knows anything.
        let by_name = || facts::mro(class).iter().any(|base| base.is(of));
        if self.is_made_here(of) || holds && self.is_made_here(class) && by_name() {
            return;
        }
        let by_mro = of.get_type().is(self.py.get_type::<PyType>());
        if by_mro && (of_anew.is_some() || class_anew.is_some()) {
            // By their MROs.
            for (id, var) in class_anew.into_iter().chain(of_anew) {
                self.guard_alike(id, var);
            }
            if class_anew.is_none() {
                self.guard_mro(class);
            }
        } else if facts::is_heap_type(class) || facts::is_heap_type(of) {
            let id = self.objects.add(class.as_any());
            let of = self.objects.add(of.as_any());
            let at = self.constant_tracker(id);
            self.guard(at, Check::SubclassOf { of, holds });
        }
    }
}
