//! Instances of ordinary Python classes. A sourced one is guarded by its class and by each attribute that is read;
//! a virtual one was made by calling a class during the simulation.

use super::*;
use crate::draws;
use pyo3::types::PyType;
use sot_tracker::Check;

/// What a framework asks of a number.
const NUMBER: &[&str] =
    &["__index__", "__int__", "__float__", "__bool__", "__eq__", "__lt__", "__gt__", "__le__", "__ge__"];

impl Operations for InstanceVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.objects.get(ex.py, self.class))
    }

    fn truth(&self, ex: &mut Executor<'_>, me: VarId) -> Result<bool, Stop> {
        ex.truth_by_protocol(me)
    }

    fn length(&self, ex: &mut Executor<'_>, me: VarId) -> Result<usize, Stop> {
        ex.length_by_protocol(me)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let object = self.object.map(|o| ex.objects.get(ex.py, o));
        let class = ex.objects.get(ex.py, self.class);
        if self.object.is_some() {
            ex.is_looked_at_by_framework(&class)?;
        }
        // What a default dict makes items with.
        if name == "default_factory"
            && let Some(part) = self.part
            && let VarKind::Dict(DictVar { factory: Some(factory), class: Some(of), .. }) = ex.look(part)?
        {
            let own = ex.objects.get(ex.py, of).cast_into::<PyType>().map_err(|e| ex.internal(&e.into()))?;
            let own = crate::type_facts::raw(&own, name);
            if ex.class_lookup(&class, name)?.zip(own).is_some_and(|(found, own)| found.is(&own)) {
                return Ok(Some(factory));
            }
        }
        ex.attribute_of_instance(me, object.as_ref(), &class, name)
    }

    fn subscript(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<VarId, Stop> {
        if let (Some(object), true) = (self.object, self.pinned)
            && let Some(item) = ex.mode_by_item(object, key)?
        {
            return Ok(item);
        }
        ex.call_special(me, "__getitem__", vec![key])
    }

    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        ex.iterate_by_protocol(me)
    }

    fn call(&self, ex: &mut Executor<'_>, me: VarId, args: &Args) -> Result<Called, Stop> {
        if let (Some(object), true) = (self.object, self.pinned) {
            let object = ex.objects.get(ex.py, object);
            if draws::is_of_cython(&object)
                && let Some(drawn) = ex.draw_by_function(&object, args)?
            {
                return Ok(Called::Value(drawn));
            }
        }
        if let Some(called) = ex.call_cache(me, args)? {
            return Ok(called);
        }
        if let Some(value) = ex.referent(me, args)? {
            return Ok(Called::Value(value));
        }
        if let Some(value) = ex.scanned(me, args)? {
            return Ok(Called::Value(value));
        }
        let method = ex.special_method(me, "__call__")?;
        ex.call(method, args)
    }

    /// An opaque framework call may look at any of its state, which has no guard; a number has none.
    fn as_argument<'py>(&self, ex: &mut Executor<'py>, me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        let class = ex.objects.get(ex.py, self.class);
        let value = if ex.extends_number(&class) { ex.value_of_c(me, NUMBER)? } else { None };
        match value {
            Some(value) => Ok(value),
            None => unanswered(self.kind_name(), "use as an argument of a framework call"),
        }
    }

    fn look(&self, ex: &mut Executor<'_>, _me: VarId, at: Place) -> Result<(), Stop> {
        let Some(object) = self.object else { return Ok(()) };
        if !self.pinned {
            ex.guard_type(at.tracker, object);
            return Ok(());
        }
        if !at.given {
            ex.guard(at.tracker, Check::Is(object));
        }
        // `o.__class__ = Other` leaves identity as it is.
        let own = ex.constant_tracker(object);
        ex.guard_type(own, object);
        Ok(())
    }

    fn has_an_id(&self, ex: &mut Executor<'_>, me: VarId) -> Result<bool, Stop> {
        // Who waits for its end would see it later.
        let class = ex.class_of(me)?;
        Ok(ex.class_lookup(&class, "__del__")?.is_none())
    }

    fn reversed(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        ex.call_special(me, "__reversed__", vec![])
    }

    fn set_attribute(&self, ex: &mut Executor<'_>, me: VarId, name: &str, new: VarId) -> Result<(), Stop> {
        let class = ex.objects.get(ex.py, self.class);
        ex.is_looked_at_by_framework(&class)?;
        ex.set_by_class(self.class, me, name, new)
    }

    fn set_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId, new: VarId) -> Result<(), Stop> {
        self.write_by_method(ex, me, "__setitem__", vec![key, new])
    }

    fn delete_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<(), Stop> {
        self.write_by_method(ex, me, "__delitem__", vec![key])
    }

    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        // What a `__setattr__` or `__delattr__` of the program ends in.
        let (attribute, new) = match (name, &*args.positional) {
            ("__setattr__", [attribute, new]) if args.keywords.is_empty() => (*attribute, Some(*new)),
            ("__delattr__", [attribute]) if args.keywords.is_empty() => (*attribute, None),
            ("__setattr__" | "__delattr__", _) if args.keywords.is_empty() => {
                return Err(Stop::brk(Reason::WouldRaise, name));
            }
            _ => return method_of_c(self.kind_name(), ex, me, name, args),
        };
        let attribute = ex.constant_str(attribute).ok_or(Stop::brk(Reason::OpaqueValue, "an attribute name"))?;
        // New code writes it by a statement, unless the class has a way of its own.
        let class = ex.class_of(me)?;
        ex.class_lookup(&class, name)?;
        ex.enter_write_by_object(me, &attribute, new)
    }
}

impl InstanceVar {
    /// An item of an instance that extends a container.
    fn write_by_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: Vec<VarId>) -> Result<(), Stop> {
        if self.part.is_none() {
            return Err(Stop::brk(Reason::Mutation, format!("item of {}", self.kind_name())));
        }
        let method = ex.special_method(me, name)?;
        ex.call_tail(method, &Args::positional(args)).map(drop)
    }
}
