//! Calling classes: virtual instances, named tuples, and the builtin types that are functions in disguise.

use super::Executor;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;

impl<'py> Executor<'py> {
    pub fn call_class(&mut self, class: &Bound<'py, PyAny>, args: &Args) -> Result<Called, Stop> {
        let ty = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?.clone();
        if !facts::is_heap_type(&ty) {
            return self.call_builtin_type(class, args).map(Called::Value);
        }
        let opaque = || Stop::brk(Reason::OpaqueCall, format!("class {}", super::calls::name_of(class)));
        if !ty.get_type().is(self.py.get_type::<PyType>()) {
            return Err(opaque());
        }
        if ty.is_subclass_of::<PyTuple>().unwrap_or(false) && class.hasattr("_fields").unwrap_or(false) {
            return self.call_namedtuple(class, args).map(Called::Value);
        }
        let object_type = self.py.get_type::<PyAny>();
        let same = |name: &str, found: &Option<Bound<'py, PyAny>>| {
            object_type.getattr(name).is_ok_and(|own| found.as_ref().is_some_and(|f| f.is(&own)))
        };
        let new = self.class_lookup(class, "__new__")?;
        let plain_new = match &new {
            Some(new) => object_type.getattr("__new__").is_ok_and(|own| new.is(&own)),
            None => false,
        };
        // Only instances whose whole state is their dict can be built again.
        let base_ok =
            ty.mro().iter().all(|c| c.cast::<PyType>().is_ok_and(|t| facts::is_heap_type(t) || t.is(&object_type)));
        if !plain_new || !base_ok || class.getattr("__slots__").is_ok() {
            return Err(opaque());
        }
        // A finalizer would have to run when the last reference goes.
        if self.class_lookup(class, "__del__")?.is_some() {
            return Err(opaque());
        }
        let init = self.class_lookup(class, "__init__")?;
        let class_id = self.objects.add(class);
        let instance = self.virtual_var(InstanceVar { class: class_id, object: None, pinned: false });
        match init {
            Some(init) if facts::is_function(&init) => {
                let init = self.pin(&init);
                self.call_now(init, &args.with_first(instance))?;
                Ok(Called::Value(instance))
            }
            init if same("__init__", &init) && args.positional.is_empty() && args.keywords.is_empty() => {
                Ok(Called::Value(instance))
            }
            _ => Err(opaque()),
        }
    }

    fn call_namedtuple(&mut self, class: &Bound<'py, PyAny>, args: &Args) -> Result<VarId, Stop> {
        let fields: Vec<String> = class.getattr("_fields").and_then(|f| f.extract()).map_err(|e| self.internal(&e))?;
        let new = self.class_lookup(class, "__new__")?;
        // `collections.namedtuple` makes `__new__` with the field names as its arguments; anything else is a user's.
        let generated = new.is_some_and(|n| {
            n.getattr("__code__")
                .and_then(|c| c.getattr("co_filename"))
                .and_then(|f| f.extract::<String>())
                .is_ok_and(|f| f.starts_with("<string>") || f.starts_with("namedtuple_"))
                || facts::is_function(&n)
                    && n.getattr("__code__")
                        .and_then(|c| c.getattr("co_argcount"))
                        .and_then(|c| c.extract::<usize>())
                        .is_ok_and(|c| c == fields.len() + 1)
        });
        let defaults = class.getattr("_field_defaults").map_err(|e| self.internal(&e))?;
        if !generated || args.positional.len() > fields.len() {
            return Err(Stop::brk(Reason::OpaqueCall, "a named tuple"));
        }
        let mut items: Vec<Option<VarId>> = args.positional.iter().copied().map(Some).collect();
        items.resize(fields.len(), None);
        for (name, value) in &args.keywords {
            match fields.iter().position(|f| f == name) {
                Some(at) if items[at].is_none() => items[at] = Some(*value),
                _ => return Err(Stop::brk(Reason::WouldRaise, "arguments of a named tuple")),
            }
        }
        let mut filled = Vec::with_capacity(items.len());
        for (item, field) in items.into_iter().zip(&fields) {
            filled.push(match item {
                Some(item) => item,
                None => match defaults.get_item(field) {
                    Ok(default) => self.pin(&default),
                    Err(_) => return Err(Stop::brk(Reason::WouldRaise, "arguments of a named tuple")),
                },
            });
        }
        let class = self.objects.add(class);
        Ok(self.virtual_var(TupleVar { items: filled.into(), class: Some(class) }))
    }

    /// A named tuple with converted items, for a framework call.
    pub fn rebuild_tuple_class(
        &mut self,
        class: sot_tracker::ObjectId,
        items: &Bound<'py, PyTuple>,
    ) -> Result<Bound<'py, PyAny>, Stop> {
        let class = self.objects.get(self.py, class);
        class.call1(items.clone()).map_err(|e| self.internal(&e))
    }
}
