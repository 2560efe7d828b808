//! Containers that contain themselves, directly or by way of others: they are built empty, and filled when all that was to be in them
//! is there, before the program sees any of it. Which they are: [`super::uses::rings`].
//!
//! Objects with attributes, functions with cells and exceptions are such by nature: what they refer to is set once they are there. Yet
//! who is built first may be the container, which leads back to itself by way of them.

use super::emit::{Callable, Emitter};
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};
use sot_opcodes::Op;

impl<'py> Emitter<'_, 'py> {
    /// Push such a container, which is to be filled.
    pub(super) fn begin_ring(&mut self, kind: &VarKind, me: VarId) -> Result<(), Stop> {
        match kind {
            VarKind::List(list) => match list.class {
                Some(class) => {
                    self.push_class_to_call(class)?;
                    self.call(0);
                }
                None => self.emit(Op::BuildList(0)),
            },
            VarKind::Dict(dict) => match dict.class {
                Some(class) => {
                    self.push_callable(class);
                    if let Some(factory) = dict.factory {
                        self.push(factory)?;
                    }
                    self.call(dict.factory.is_some().into());
                }
                None => self.emit(Op::BuildMap(0)),
            },
            VarKind::Deque(deque) => {
                let class = self.attribute_of("collections", "deque")?;
                self.push_callable(class);
                self.emit(Op::BuildList(0));
                match deque.maxlen {
                    Some(most) => self.push_int(most as i64)?,
                    None => self.push_none(),
                }
                self.call(2);
            }
            _ => return Err(Stop::fallback(Reason::InternalError, "what cannot be filled")),
        }
        self.remember(me);
        self.to_fill.push(me);
        self.push(me)
    }

    /// Put into the containers what is in them. What is pushed on the way may begin others.
    pub(super) fn fill_rings(&mut self) -> Result<(), Stop> {
        if self.filling {
            return Ok(());
        }
        self.filling = true;
        while let Some(me) = self.to_fill.pop() {
            self.fill_ring(me)?;
        }
        self.filling = false;
        Ok(())
    }

    fn fill_ring(&mut self, me: VarId) -> Result<(), Stop> {
        let method = |class: &Bound<'py, PyType>, name: &str| {
            class.getattr(name).map(Callable::Object).map_err(|e| Stop::internal(&e))
        };
        match self.captured.var(me).kind.clone() {
            VarKind::List(list) => {
                let extend = method(&self.py.get_type::<PyList>(), "extend")?;
                self.extend_by(extend, me, &list.items)
            }
            VarKind::Deque(deque) => {
                let Callable::Object(class) = self.attribute_of("collections", "deque")? else {
                    return Err(Stop::fallback(Reason::InternalError, "no deque"));
                };
                let extend = class.getattr("extend").map_err(|e| Stop::internal(&e))?;
                self.extend_by(Callable::Object(extend), me, &deque.items)
            }
            VarKind::Dict(dict) if self.are_hashed(&dict.entries) => {
                self.push(me)?;
                self.fill_hashed(&dict.entries)?;
                self.emit(Op::PopTop);
                Ok(())
            }
            VarKind::Dict(dict) => {
                let class = dict.class.map(|class| self.captured.objects.get(self.py, class));
                let class = class.and_then(|class| class.cast_into::<PyType>().ok());
                let class = class.filter(type_facts::is_ordered_dict).unwrap_or_else(|| self.py.get_type::<PyDict>());
                let set = class.getattr("__setitem__").map_err(|e| Stop::internal(&e))?;
                for (key, value) in dict.entries.iter() {
                    self.push_callable(Callable::Object(set.clone()));
                    self.push(me)?;
                    self.push(*key)?;
                    self.push(*value)?;
                    self.call(3);
                    self.emit(Op::PopTop);
                }
                Ok(())
            }
            _ => Err(Stop::fallback(Reason::InternalError, "what cannot be filled")),
        }
    }

    fn extend_by(&mut self, extend: Callable<'py>, me: VarId, items: &[VarId]) -> Result<(), Stop> {
        self.push_callable(extend);
        self.push(me)?;
        for item in items {
            self.push(*item)?;
        }
        self.emit(Op::BuildList(items.len() as u32));
        self.call(2);
        self.emit(Op::PopTop);
        Ok(())
    }
}
