//! Attribute access, following `object.__getattribute__` and `type.__getattribute__` without running user code.
//!
//! Every fact that the lookup used is guarded: what the class's MRO gives for the name, that the instance dict has
//! the name, or lacks it. Properties and `__getattr__` written in Python are simulated like any call.

use super::{Executor, probe};
use crate::cpython::facts::{self, GetattrKind};
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::Overlay;
use sot_tracker::{Check, Tracker};

impl<'py> Executor<'py> {
    /// `value.name`.
    pub fn getattr(&mut self, var: VarId, name: &str) -> Result<VarId, Stop> {
        match self.journal.attr(Self::var_ref(var), name) {
            Overlay::Set(value) => return Ok(VarId(value.0)),
            Overlay::Deleted => return Err(Stop::brk(Reason::WouldRaise, format!("attribute {name} was deleted"))),
            Overlay::Untouched => {}
        }
        let kind = self.look(var)?;
        if name == "__class__" {
            let class = kind.class(self, var)?;
            return Ok(self.pin(&class));
        }
        kind.getattr(self, var, name)
    }

    /// What looking `name` up on the MRO of `class` finds, guarded.
    pub fn class_lookup(&mut self, class: &Bound<'py, PyAny>, name: &str) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        let ty = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
        let key = PyString::intern(self.py, name);
        let found = facts::type_lookup(ty, &key);
        // A class that cannot change needs no guard.
        if facts::is_heap_type(ty) {
            let id = self.objects.add(class);
            let tracker = self.constant_tracker(id);
            let found = found.as_ref().map(|f| self.objects.add(f));
            self.guard(tracker, Check::ClassLookup { name: name.into(), found });
        }
        Ok(found)
    }

    /// The item `name` of the instance dict of a sourced object; guarded whether it is there or not.
    pub fn instance_dict_item(
        &mut self,
        var: VarId,
        object: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        let Some(dict) = facts::instance_dict(object) else { return Ok(None) };
        let base = self.base_tracker(var);
        let tracker = self.trackers.intern(Tracker::InstanceDict(base));
        self.dict_item(&dict, tracker, name)
    }

    /// The item `name` of a dict found at `tracker`, guarded.
    pub fn dict_item(
        &mut self,
        dict: &Bound<'py, PyDict>,
        tracker: sot_tracker::TrackerId,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        let key = PyString::intern(self.py, name);
        let id = self.objects.add(key.as_any());
        match dict.get_item(&key).map_err(|e| self.internal(&e))? {
            Some(value) => {
                let at = self.trackers.intern(Tracker::DictItem { base: tracker, key: id });
                Ok(Some(self.wrap(&value, at)))
            }
            None => {
                self.guard(tracker, Check::Lacks(id));
                Ok(None)
            }
        }
    }

    /// `object.__getattribute__(value, name)` and its fallbacks. `object`: the instance, if it exists already.
    pub fn attribute_of_instance(
        &mut self,
        me: VarId,
        object: Option<&Bound<'py, PyAny>>,
        class: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<VarId, Stop> {
        let ty = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?.clone();
        if facts::getattr_kind(&ty) != GetattrKind::Generic {
            // A class with a `__getattr__` written in Python has CPython's slot function instead of the generic one.
            let own = self.class_lookup(class, "__getattribute__")?;
            let generic = self.py.get_type::<PyAny>().getattr("__getattribute__").map_err(|e| self.internal(&e))?;
            if !own.is_some_and(|own| own.is(&generic)) {
                return Err(Stop::brk(Reason::UserCode, format!("__getattribute__ of {}", type_name(&ty))));
            }
        }
        let found = self.class_lookup(class, name)?;
        if let Some(descriptor) = &found
            && probe::is_data_descriptor(descriptor)
        {
            return self.read_data_descriptor(me, object, descriptor, name);
        }
        if let Some(object) = object
            && let Some(value) = self.instance_dict_item(me, object, name)?
        {
            return Ok(value);
        }
        if let Some(found) = found {
            return self.bind_class_attribute(me, class, &found, name);
        }
        if let Some(object) = object {
            for dict_name in self.backend.clone().layer_attr_dicts(object) {
                let Some(var) = self.instance_dict_item(me, object, dict_name)? else { continue };
                self.look_identity(var)?;
                let Some(dict) = self.known_object(var) else { continue };
                let tracker = self.constant_tracker(dict);
                let dict = self.objects.get(self.py, dict);
                let Ok(dict) = dict.cast::<PyDict>() else { continue };
                if let Some(value) = self.dict_item(dict, tracker, name)? {
                    return Ok(value);
                }
            }
            if !self.backend.layer_attr_dicts(object).is_empty() {
                return Err(Stop::brk(Reason::WouldRaise, format!("attribute {name}")));
            }
        }
        match self.class_lookup(class, "__getattr__")? {
            Some(getter) if facts::is_function(&getter) => {
                let getter = self.pin(&getter);
                let key = PyString::intern(self.py, name).into_any();
                let key = self.fold(&key)?;
                self.call_now(getter, &Args::positional(vec![me, key]))
            }
            Some(_) => Err(Stop::brk(Reason::UserCode, format!("__getattr__ of {}", type_name(&ty)))),
            None => Err(Stop::brk(Reason::WouldRaise, format!("attribute {name}"))),
        }
    }

    /// Guard the identity of a sourced container without looking into it: single items are guarded by whoever reads them.
    pub fn look_identity(&mut self, var: VarId) -> Result<(), Stop> {
        let tracker = self.var(var).tracker;
        if let Some(object) = self.known_object(var)
            && !matches!(self.trackers.get(tracker), Tracker::Constant(_))
        {
            self.guard(tracker, Check::Is(object));
        }
        Ok(())
    }

    fn read_data_descriptor(
        &mut self,
        me: VarId,
        object: Option<&Bound<'py, PyAny>>,
        descriptor: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<VarId, Stop> {
        if probe::is_exact_property(descriptor) {
            let getter = descriptor.getattr("fget").map_err(|e| self.internal(&e))?;
            let getter = self.pin(&getter);
            return self.call_now(getter, &Args::positional(vec![me]));
        }
        if let Some(object) = object {
            if name == "__dict__"
                && let Some(dict) = facts::instance_dict(object)
            {
                let base = self.base_tracker(me);
                let tracker = self.trackers.intern(Tracker::InstanceDict(base));
                return Ok(self.wrap(dict.as_any(), tracker));
            }
            // A slot of `__slots__`: a plain read.
            if probe::is_member_descriptor(descriptor) {
                let value = object.getattr(name).map_err(|e| self.would_raise(&e))?;
                let base = self.base_tracker(me);
                let tracker = self.trackers.intern(Tracker::Attr { base, name: name.into() });
                return Ok(self.wrap(&value, tracker));
            }
        }
        Err(Stop::brk(Reason::UserCode, format!("descriptor {name}")))
    }

    /// What reading a non-data attribute of the class through an instance gives.
    fn bind_class_attribute(
        &mut self,
        me: VarId,
        class: &Bound<'py, PyAny>,
        found: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<VarId, Stop> {
        if facts::is_function(found) {
            let function = self.pin(found);
            return Ok(self.virtual_var(MethodVar { receiver: me, function }));
        }
        if crate::cpython::entry_parts(found).is_some_and(|parts| parts.self_obj.is_none()) {
            // A translated method: an entry binds as the function does that it stands for.
            let function = self.pin(found);
            return Ok(self.virtual_var(MethodVar { receiver: me, function }));
        }
        let kind = found.get_type().name().map(|n| n.to_string()).unwrap_or_default();
        match kind.as_str() {
            "staticmethod" => {
                let function = found.getattr("__func__").map_err(|e| self.internal(&e))?;
                Ok(self.pin(&function))
            }
            "classmethod" => {
                let function = found.getattr("__func__").map_err(|e| self.internal(&e))?;
                let (receiver, function) = (self.pin(class), self.pin(&function));
                Ok(self.virtual_var(MethodVar { receiver, function }))
            }
            "method_descriptor" | "wrapper_descriptor" | "builtin_function_or_method" => {
                if kind == "builtin_function_or_method" {
                    return Ok(self.pin(found));
                }
                let function = self.pin(found);
                Ok(self.virtual_var(MethodVar { receiver: me, function }))
            }
            _ if found.get_type().hasattr("__get__").unwrap_or(true) && !found.is_instance_of::<PyType>() => {
                Err(Stop::brk(Reason::UserCode, format!("descriptor {name}")))
            }
            _ => Ok(self.pin(found)),
        }
    }

    /// A class attribute read through an instance that has no dict of its own (named tuples).
    pub fn class_attribute(&mut self, class: &Bound<'py, PyAny>, me: VarId, name: &str) -> Result<VarId, Stop> {
        match self.class_lookup(class, name)? {
            Some(found) => self.bind_class_attribute(me, class, &found, name),
            None => Err(Stop::brk(Reason::WouldRaise, format!("attribute {name}"))),
        }
    }

    /// `Class.name`.
    pub fn attribute_of_class(&mut self, class: &Bound<'py, PyAny>, name: &str) -> Result<VarId, Stop> {
        let ty = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?.clone();
        if let "__name__" | "__qualname__" | "__module__" | "__mro__" | "__bases__" = name {
            let value = class.getattr(name).map_err(|e| self.would_raise(&e))?;
            return match name {
                "__mro__" | "__bases__" => Ok(self.pin(&value)),
                _ => self.fold(&value),
            };
        }
        let meta = ty.get_type();
        if facts::getattr_kind(&meta) != GetattrKind::Type {
            return Err(Stop::brk(Reason::UserCode, format!("metaclass of {}", type_name(&ty))));
        }
        if self.class_lookup(meta.as_any(), name)?.is_some_and(|d| probe::is_data_descriptor(&d)) {
            return Err(Stop::brk(Reason::UserCode, format!("metaclass attribute {name}")));
        }
        let Some(found) = self.class_lookup(class, name)? else {
            return Err(Stop::brk(Reason::WouldRaise, format!("attribute {name}")));
        };
        let kind = found.get_type().name().map(|n| n.to_string()).unwrap_or_default();
        match kind.as_str() {
            "staticmethod" => {
                let function = found.getattr("__func__").map_err(|e| self.internal(&e))?;
                Ok(self.pin(&function))
            }
            "classmethod" => {
                let function = found.getattr("__func__").map_err(|e| self.internal(&e))?;
                let (receiver, function) = (self.pin(class), self.pin(&function));
                Ok(self.virtual_var(MethodVar { receiver, function }))
            }
            "classmethod_descriptor" => {
                let bound = class.getattr(name).map_err(|e| self.would_raise(&e))?;
                Ok(self.pin(&bound))
            }
            "function"
            | "method_descriptor"
            | "wrapper_descriptor"
            | "builtin_function_or_method"
            | "property"
            | "member_descriptor"
            | "getset_descriptor"
            | "type" => Ok(self.pin(&found)),
            _ if found.get_type().hasattr("__get__").unwrap_or(true) && !found.is_instance_of::<PyType>() => {
                Err(Stop::brk(Reason::UserCode, format!("descriptor {name}")))
            }
            _ => Ok(self.pin(&found)),
        }
    }

    /// `super(class, receiver).name`.
    pub fn super_attribute(&mut self, class: VarId, receiver: VarId, name: &str) -> Result<VarId, Stop> {
        let VarKind::Class(after) = self.look(class)? else {
            return Err(Stop::brk(Reason::ValueKind, "super() of something that is not a class"));
        };
        let after = self.objects.get(self.py, after.object);
        let kind = self.look(receiver)?;
        let (own, is_class) = match &kind {
            VarKind::Class(c) => (self.objects.get(self.py, c.object), true),
            _ => (kind.class(self, receiver)?, false),
        };
        let own = own.cast::<PyType>().map_err(|e| self.internal(&e.into()))?.clone();
        let mro = own.mro();
        let Some(at) = mro.iter().position(|c| c.is(&after)) else {
            return Err(Stop::brk(Reason::WouldRaise, "super()"));
        };
        for base in mro.iter().skip(at + 1) {
            // Each class up to the one that has it must keep lacking or having it; its own lookup sees both.
            let dict = base.getattr("__dict__").map_err(|e| self.internal(&e))?;
            self.class_lookup(&base, name)?;
            let Ok(found) = dict.get_item(name) else { continue };
            if is_class {
                return match found.get_type().name().map(|n| n.to_string()).unwrap_or_default().as_str() {
                    "classmethod" => {
                        let function = found.getattr("__func__").map_err(|e| self.internal(&e))?;
                        let function = self.pin(&function);
                        Ok(self.virtual_var(MethodVar { receiver, function }))
                    }
                    _ => Err(Stop::brk(Reason::ValueKind, "super() in a class method")),
                };
            }
            if probe::is_exact_property(&found) {
                return self.read_data_descriptor(receiver, None, &found, name);
            }
            return self.bind_class_attribute(receiver, own.as_any(), &found, name);
        }
        Err(Stop::brk(Reason::WouldRaise, format!("attribute {name}")))
    }

    /// Index of a field of a named tuple class.
    pub fn namedtuple_field(&mut self, class: &Bound<'py, PyAny>, name: &str) -> Option<usize> {
        let fields = class.getattr("_fields").ok()?;
        fields.cast::<PyTuple>().ok()?.iter().position(|f| f.extract::<String>().is_ok_and(|f| f == name))
    }
}

fn type_name(ty: &Bound<'_, PyType>) -> String {
    ty.name().map(|n| n.to_string()).unwrap_or_default()
}
