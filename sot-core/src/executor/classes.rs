//! Calling classes: virtual instances, named tuples, and the builtin types that are functions in disguise.

use super::{Awaits, Executor};
use crate::cpython::facts;
use crate::probe;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;

impl<'py> Executor<'py> {
    pub fn call_class(&mut self, class: &Bound<'py, PyAny>, args: &Args) -> Result<Called, Stop> {
        let ty = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?.clone();
        if !facts::is_heap_type(&ty) && self.is_exception_class(&ty) {
            let made = self.call_exception_class(&ty, args)?;
            return made.ok_or_else(|| Stop::brk(Reason::OpaqueCall, super::calls::name_of(class)));
        }
        if !facts::is_heap_type(&ty) {
            if let Some(entered) = self.enter_type(class, args)? {
                return Ok(entered);
            }
            return self.call_builtin_type(class, args).map(Called::Value);
        }
        let opaque = || Stop::brk(Reason::OpaqueCall, format!("class {}", super::calls::name_of(class)));
        if !ty.get_type().is(self.py.get_type::<PyType>()) {
            return Err(opaque());
        }
        if probe::is_named_tuple(&ty) {
            return self.call_namedtuple(class, args).map(Called::Value);
        }
        if self.is_exception_class(&ty) {
            return self.call_exception_class(&ty, args)?.ok_or_else(opaque);
        }
        let object_type = self.py.get_type::<PyAny>();
        let same = |name: &str, found: &Option<Bound<'py, PyAny>>| {
            probe::raw(&object_type, name).is_some_and(|own| found.as_ref().is_some_and(|f| f.is(&own)))
        };
        let new = self.class_lookup(class, "__new__")?;
        let plain_new = same("__new__", &new) && facts::makes_plain_instances(&ty);
        // Only instances whose whole state is their dict can be built again.
        if !plain_new
            || !probe::is_of_python_alone(&ty)
            || probe::has(&ty, "__slots__")
            || probe::has(&ty, "__abstractmethods__")
        {
            return Err(opaque());
        }
        // A finalizer would have to run when the last reference goes.
        if self.class_lookup(class, "__del__")?.is_some() {
            return Err(opaque());
        }
        let init = self.class_lookup(class, "__init__")?;
        let class_id = self.objects.add(class);
        let instance = self.virtual_var(InstanceVar {
            class: class_id,
            object: None,
            pinned: false,
            of_program: true,
            may_be_watched: true,
        });
        match init {
            Some(init) if facts::is_function(&init) => {
                let init = self.pin(&init);
                self.construct(instance, init, args)
            }
            init if same("__init__", &init) && args.positional.is_empty() && args.keywords.is_empty() => {
                Ok(Called::Value(instance))
            }
            _ => Err(opaque()),
        }
    }

    /// Call `init(instance, *args)`; the result of the whole is the instance, which waits on the caller's stack.
    pub fn construct(&mut self, instance: VarId, init: VarId, args: &Args) -> Result<Called, Stop> {
        self.push(instance);
        match self.call(init, &args.with_first(instance))? {
            Called::Entered(_) => Ok(Called::Entered(Awaits::None)),
            // Nothing but a Python function can be inlined here.
            Called::Value(_) => Err(Stop::brk(Reason::OpaqueCall, "__init__")),
        }
    }

    fn call_namedtuple(&mut self, class: &Bound<'py, PyAny>, args: &Args) -> Result<VarId, Stop> {
        let new = self.class_lookup(class, "__new__")?;
        let init = self.class_lookup(class, "__init__")?;
        let generated = new.is_some_and(|new| probe::is_generated_new(&new))
            && init
                .zip(probe::raw(&self.py.get_type::<PyAny>(), "__init__"))
                .is_some_and(|(own, plain)| own.is(&plain));
        let opaque = |_| Stop::brk(Reason::OpaqueCall, "a named tuple");
        let fields: Vec<String> = class.getattr("_fields").and_then(|f| f.extract()).map_err(opaque)?;
        let defaults = class.getattr("_field_defaults").map_err(opaque)?;
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
        if class.cast::<PyType>().is_ok_and(probe::is_named_tuple) {
            // Without the class's own `__new__`, which may be the program's.
            let new = self.py.get_type::<PyTuple>().getattr("__new__");
            return new.and_then(|new| new.call1((class, items))).map_err(|e| self.would_raise(&e));
        }
        class.call1(items.clone()).map_err(|e| self.would_raise(&e))
    }
}
