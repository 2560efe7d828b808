//! `int | float` and `list[int]` as values in a body: objects of C that say which classes they are made of, and that nobody changes.
//! Such a one is made once and stands for those of all calls, as other immutable values do.

use super::Executor;
use crate::stop::Stop;
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;

impl<'py> Executor<'py> {
    /// Whether an object is such a one. Up to 3.9 (3.8) there are no unions (no aliases).
    pub(super) fn is_alias(&self, object: &Bound<'py, PyAny>) -> bool {
        let ty = object.get_type();
        ["UnionType", "GenericAlias"].iter().any(|name| self.types_attribute(name).is_ok_and(|known| known.is(&ty)))
    }

    /// A part of such an object: a class, None, an ellipsis, text, another such object, or a tuple of those.
    fn part_of_alias(&mut self, part: VarId) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        let kind = self.look(part)?;
        match &kind {
            VarKind::Class(ClassVar { object, anew: false, made: None }) => {
                Ok(Some(self.objects.get(self.py, *object)))
            }
            VarKind::Constant(_) => {
                let value = self.constant_value(part);
                let plain = |value: &Bound<'py, PyAny>| {
                    value.is_none()
                        || value.is_exact_instance_of::<PyString>()
                        || value.is(self.py.Ellipsis().bind(self.py))
                };
                Ok(value.filter(plain))
            }
            VarKind::Tuple(TupleVar { items, class: None }) => {
                let mut parts = Vec::with_capacity(items.len());
                for item in items.iter() {
                    match self.nested(|ex| ex.part_of_alias(*item))? {
                        Some(part) => parts.push(part),
                        None => return Ok(None),
                    }
                }
                Ok(Some(PyTuple::new(self.py, parts).map_err(|e| self.internal(&e))?.into_any()))
            }
            _ => Ok(self.pinned(&kind).filter(|object| self.is_alias(object))),
        }
    }

    /// `left | right` of classes; `None`: it is none, or the program says what it is.
    pub(super) fn union_of_types(&mut self, left: VarId, right: VarId) -> Result<Option<VarId>, Stop> {
        let of_type = type_facts::raw(&self.py.get_type::<PyType>(), "__or__");
        let mut parts = Vec::with_capacity(2);
        for operand in [left, right] {
            let Some(part) = self.part_of_alias(operand)? else { return Ok(None) };
            match self.look(operand)? {
                VarKind::Class(_) => {
                    for name in ["__or__", "__ror__", "__eq__", "__hash__"] {
                        let of_type = type_facts::raw(&self.py.get_type::<PyType>(), name);
                        let found = self.class_lookup(part.get_type().as_any(), name)?;
                        if !found.zip(of_type).is_some_and(|(found, of_type)| found.is(&of_type)) {
                            return Ok(None);
                        }
                    }
                }
                VarKind::Constant(_) if !part.is_none() => return Ok(None),
                VarKind::Tuple(_) => return Ok(None),
                _ => {}
            }
            parts.push(part);
        }
        if of_type.is_none() || parts.iter().all(|part| part.is_none()) {
            return Ok(None);
        }
        let union = self.operator("or_")?.call1((&parts[0], &parts[1])).map_err(|e| self.would_raise(&e))?;
        Ok(Some(self.pin(&union)))
    }

    /// `class[key]` of a class whose `__class_getitem__` is that of C; `None`: it is not.
    pub(super) fn parametrised_by_c(
        &mut self,
        class: &Bound<'py, PyAny>,
        found: &Bound<'py, PyAny>,
        key: VarId,
    ) -> Result<Option<VarId>, Stop> {
        let of_c = found.get_type().name().is_ok_and(|name| name == "classmethod_descriptor");
        let module = found.getattr("__objclass__").and_then(|owner| owner.getattr("__module__"));
        let known = module
            .is_ok_and(|module| ["builtins", "collections"].iter().any(|known| module.eq(known).unwrap_or(false)));
        if !of_c || !known {
            return Ok(None);
        }
        let Some(key) = self.part_of_alias(key)? else { return Ok(None) };
        let alias = class.get_item(key).map_err(|e| self.would_raise(&e))?;
        Ok(self.is_alias(&alias).then(|| self.pin(&alias)))
    }

    /// The classes of a union, for `isinstance`; `None`: it is none, or one of its parts is no class.
    pub(super) fn classes_of_union(&mut self, union: &Bound<'py, PyAny>) -> Result<Option<Vec<VarId>>, Stop> {
        // Of others a metaclass of the program may be asked.
        if !self.types_attribute("UnionType").is_ok_and(|known| known.is(union.get_type())) {
            return Ok(None);
        }
        let parts = union.getattr("__args__").ok();
        let Some(parts) = parts.and_then(|parts| parts.cast_into::<PyTuple>().ok()) else { return Ok(None) };
        if parts.iter().any(|part| !part.is_instance_of::<PyType>() || self.is_alias(&part)) {
            return Ok(None);
        }
        Ok(Some(parts.iter().map(|part| self.pin(&part)).collect()))
    }
}
