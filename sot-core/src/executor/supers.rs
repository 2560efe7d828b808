//! `super(..)`: where it looks, and what it finds there.

use super::Executor;
use super::kinds::Operations;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, Descriptor};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::Op;

impl<'py> Executor<'py> {
    /// Whether `super(class, receiver)` looks in the MRO of the receiver itself (a class) or of its class; stops where
    /// Python raises.
    pub fn super_start(
        &mut self,
        class: VarId,
        receiver: VarId,
    ) -> Result<(Bound<'py, PyAny>, Bound<'py, PyType>, bool), Stop> {
        let wrong = || Stop::brk(Reason::WouldRaise, "super()");
        let VarKind::Class(after) = self.look(class)? else { return Err(wrong()) };
        let after = self.objects.get(self.py, after.object);
        let kind = self.look(receiver)?;
        let within = |own: &Bound<'py, PyAny>| {
            let own = own.cast::<PyType>().ok()?.clone();
            facts::mro(&own).iter().any(|c| c.is(&after)).then_some(own)
        };
        if let VarKind::Class(c) = &kind
            && let Some(own) = within(&self.objects.get(self.py, c.object))
        {
            return Ok((after, own, true));
        }
        let own = kind.class(self, receiver)?;
        match within(&own) {
            Some(own) => Ok((after, own, false)),
            None => Err(wrong()),
        }
    }

    /// Whether an instruction is `super()`, which looks in the frame that it is an instruction of: it is no break.
    pub(super) fn calls_super_of_the_frame(&self, op: &Op) -> bool {
        let Op::Call { argc: 0, .. } = op else { return false };
        let Ok(class) = self.builtins_attribute("super") else { return false };
        let is_super = |var: &VarId| {
            self.known_object(*var).is_some_and(|object| self.objects.get_ref(self.py, object).is(&class))
        };
        // Beside a place that is empty for functions, below it or above.
        self.frame().stack.iter().rev().take(2).any(is_super)
    }

    /// `super(class, receiver).name`.
    pub fn super_attribute(&mut self, class: VarId, receiver: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let (after, own, is_class) = self.super_start(class, receiver)?;
        // Which classes come after, and in what order.
        self.guard_mro(&own);
        let mro = facts::mro(&own);
        let at = mro.iter().position(|c| c.is(&after)).unwrap_or(mro.len());
        for base in mro.iter().skip(at + 1) {
            // Each class up to the one that has it must keep lacking or having it; its own lookup sees both.
            self.class_lookup(&base, name)?;
            let Some(found) = type_facts::own(&base, name) else { continue };
            if is_class {
                return match type_facts::descriptor(&found) {
                    Descriptor::ClassMethod => self.bind_class_method(own.as_any(), &found).map(Some),
                    Descriptor::StaticMethod => {
                        let function = self.wrapped_function(&found)?;
                        Ok(Some(self.pin(&function)))
                    }
                    // Not by its name: the class may have another one by that.
                    Descriptor::CClassMethod if matches!(name, "__init_subclass__" | "__prepare__") => {
                        let (receiver, function) = (self.pin(own.as_any()), self.pin(&found));
                        Ok(Some(self.virtual_var(MethodVar { receiver, function })))
                    }
                    Descriptor::Function | Descriptor::BuiltinFunction => Ok(Some(self.pin(&found))),
                    _ => Err(Stop::brk(Reason::ValueKind, "super() in a class method")),
                };
            }
            return self.bind_class_attribute(receiver, own.as_any(), &found, name).map(Some);
        }
        let super_type = self.builtins_attribute("super")?;
        match self.class_lookup(&super_type, name)? {
            Some(_) => Err(Stop::brk(Reason::ValueKind, format!("attribute {name} of a super object"))),
            None => Ok(None),
        }
    }
}
