//! Attribute access, following `object.__getattribute__` and `type.__getattribute__` without running user code.
//!
//! Every fact that the lookup used is guarded: what the class's MRO gives for the name, that the instance dict has
//! the name, or lacks it. Properties and `__getattr__` written in Python are simulated like any call.

use super::Executor;
use super::kinds::Operations;
use super::written::extends_builtin;
use crate::backend::Kind;
use crate::cpython::facts::{self, GetattrKind};
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, Descriptor};
use crate::variables::*;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::Op;
use sot_sideeffect::Overlay;
use sot_tracker::{Access, Check};

impl<'py> Executor<'py> {
    /// `value.name`.
    pub fn getattr(&mut self, var: VarId, name: &str) -> Result<VarId, Stop> {
        let stop = match self.find_attribute(var, name) {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => match self.attribute_by_framework(var, name)? {
                Some(found) => return Ok(found),
                None => self.missing_attribute(var, name)?,
            },
            Err(stop) => stop,
        };
        if let Stop::Raised(exception) = stop
            && self.is_attribute_error(exception)?
        {
            self.tell_name(&stop, name, Some(var))?;
        }
        Err(stop)
    }

    /// `value.name`; `None` where Python raises AttributeError, known by a lookup that ran no code at all. What code
    /// of the program raises is not `None`: only the code itself can say what it raises.
    pub fn find_attribute(&mut self, var: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        if !self.frames_asked.is_empty()
            && let Some(part) = self.part_of_frame(var, name)?
        {
            return Ok(Some(part));
        }
        if let Some(appender) = self.appender_of_unseen(var, name) {
            return Ok(Some(appender));
        }
        if let Some(method) = self.method_of_unseen_dict(var, name) {
            return Ok(Some(method));
        }
        if let Some(found) = self.attribute_of_thread(var, name)? {
            return Ok(found);
        }
        if let Some(own) = self.own_lookup(var)? {
            return self.attribute_by_method(var, &own, name).map(Some);
        }
        match self.journal.attr(Self::var_ref(var), name) {
            // What its metaclass has may come first.
            Overlay::Set(_) if matches!(self.var(var).kind, VarKind::Class(_)) => {}
            Overlay::Set(value) => {
                let class = self.class_of(var)?;
                self.require_generic_lookup(&class)?;
                return Ok(Some(VarId(value.0)));
            }
            // The instance has none; its class may.
            Overlay::Deleted | Overlay::Untouched => {}
        }
        let kind = self.look(var)?;
        if name == "__class__" {
            let class = kind.class(self, var)?;
            if self.tells_its_class(&class)? {
                return Ok(Some(self.pin(&class)));
            }
        }
        self.nested(|ex| kind.getattr(ex, var, name))
    }

    /// What the `__getattr__` of a layer comes to, which is known to find nothing: it is simulated for the words in which it says so, and for
    /// its frame, which the traceback shows. `None`: there is none.
    fn attribute_by_framework(&mut self, var: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let (VarKind::Layer(LayerVar { object }) | VarKind::Instance(InstanceVar { object: Some(object), .. })) =
            self.var(var).kind
        else {
            return Ok(None);
        };
        let layer = self.objects.get(self.py, object);
        if self.backend.layers().attr_dicts(&layer).is_empty() {
            return Ok(None);
        }
        let class = self.class_of(var)?;
        self.attribute_by_getattr(var, &class, name)
    }

    pub fn is_attribute_error(&mut self, exception: VarId) -> Result<bool, Stop> {
        self.is_exception_of::<pyo3::exceptions::PyAttributeError>(exception)
    }

    /// Whether an exception is of a class of C, or of one that extends it.
    pub fn is_exception_of<E: pyo3::type_object::PyTypeInfo>(&mut self, exception: VarId) -> Result<bool, Stop> {
        let class = self.class_of(exception)?;
        let of_c = self.py.get_type::<E>();
        Ok(class.cast::<PyType>().is_ok_and(|c| facts::mro(c).iter().any(|c| c.is(&of_c))))
    }

    /// Stop if reading an attribute of an instance runs a `__getattribute__` of the program.
    fn require_generic_lookup(&mut self, class: &Bound<'py, PyAny>) -> Result<(), Stop> {
        let ty = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?.clone();
        // A class with a `__getattr__` written in Python has CPython's slot function instead of the generic one. Whoever
        // has the generic one may be given another.
        let own = self.class_lookup(class, "__getattribute__")?;
        if facts::getattr_kind(&ty) != GetattrKind::Generic
            && !own.is_some_and(|own| {
                // Builtin types have one of their own, which does the same.
                let base = type_facts::base_of_c(&ty).filter(|base| facts::getattr_kind(base) == GetattrKind::Generic);
                let of_base = base.and_then(|base| type_facts::raw(&base, "__getattribute__"));
                self.is_of_object("__getattribute__", &own) || of_base.is_some_and(|of_base| of_base.is(&own))
            })
        {
            return Err(Stop::brk(Reason::UserCode, format!("__getattribute__ of {}", facts::name_in_messages(&ty))));
        }
        Ok(())
    }

    /// `value.name` for a value of a builtin type, without a dict of its own.
    pub fn attribute_of_builtin(&mut self, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let class = self.class_of(me)?;
        let Some(found) = self.class_lookup(&class, name)? else { return Ok(None) };
        match type_facts::descriptor(&found) {
            Descriptor::Method | Descriptor::Wrapper => Ok(Some(self.virtual_var(BoundVar::new(me, name)))),
            Descriptor::GetSet | Descriptor::Member | Descriptor::TupleGetter => {
                Err(Stop::brk(Reason::ValueKind, format!("attribute {name}")))
            }
            Descriptor::Property => self.read_data_descriptor(me, None, &found, name).map(Some),
            _ => self.bind_class_attribute(me, &class, &found, name).map(Some),
        }
    }

    /// What looking `name` up on the MRO of `class` finds, guarded.
    pub fn class_lookup(&mut self, class: &Bound<'py, PyAny>, name: &str) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        let ty = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
        if !facts::has_mro(ty) {
            return Err(Stop::brk(Reason::UserCode, "a class that is still being made"));
        }
        if facts::finds_names_by_code(ty) {
            return Err(Stop::brk(Reason::UserCode, "a class with keys that are no names"));
        }
        if self.written_to_class(class, name)?.is_some() {
            return Err(Stop::brk(Reason::Mutation, format!("{name} of a class that was written to")));
        }
        let key = PyString::intern(self.py, name);
        let found = facts::type_lookup(ty, &key);
        if let Some(found) = &found
            && type_facts::is_borrowed(found, ty, &key)
        {
            return Err(Stop::brk(Reason::UserCode, format!("{name}, which another class or name has made")));
        }
        // What was found elsewhere may be the same object.
        if let Some(found) = found.as_ref().filter(|_| !self.found_anew.is_empty()) {
            self.found_anew.remove(&(found.as_ptr() as usize));
        }
        if let Some(known) = self.made_anew(class) {
            self.guard_look_up(ty, known, &key, found.as_ref())?;
            return Ok(found);
        }
        // A class that cannot change needs no guard.
        if facts::is_heap_type(ty) {
            if let Some(found) = &found
                && self.is_passing_attribute(ty, &key, found)?
            {
                return Ok(Some(found.clone()));
            }
            if let Some(found) = &found
                && self.is_varying_attribute(ty, &key, found)?
            {
                return Ok(Some(found.clone()));
            }
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
        if self.journal.attr(Self::var_ref(var), name) == Overlay::Deleted {
            return Ok(None);
        }
        match self.journal.in_dict(Self::var_ref(var), name) {
            Overlay::Set(value) => return Ok(Some(VarId(value.0))),
            Overlay::Deleted => return Ok(None),
            Overlay::Untouched => {}
        }
        self.dict_below(&dict, Some(var), false)?;
        if name == crate::draws::NEXT_OF_GAUSS {
            self.keeps_of_gauss(var)?;
        }
        if !self.journal.is_empty()
            && let Some(id) = self.objects.find(dict.as_any())
        {
            // A module's dict is also the globals of its functions.
            match self.journal.global(id, name) {
                Overlay::Set(value) => return Ok(Some(VarId(value.0))),
                Overlay::Deleted => return Ok(None),
                Overlay::Untouched => {}
            }
        }
        let base = self.base_tracker(var);
        self.note_overridden(base, object);
        let tracker = self.trackers.step(base, Access::InstanceDict);
        if !dict.is_exact_instance_of::<PyDict>() {
            // New code reads its items by their keys, as the interpreter does not.
            let class = dict.get_type();
            let own = type_facts::raw(&self.py.get_type::<PyDict>(), "__getitem__");
            if !self.class_lookup(class.as_any(), "__getitem__")?.zip(own).is_some_and(|(found, own)| found.is(&own)) {
                return Err(Stop::brk(Reason::UserCode, "a __dict__ with a __getitem__ of its own"));
            }
            let dict = self.objects.add(dict.as_any());
            self.guard_type(tracker, dict);
        }
        self.dict_item(&dict, tracker, name)
    }

    /// Reading a name in a dict compares it with keys: those that are no plain strings may have code of the program do it.
    pub(super) fn has_names_only(&mut self, dict: &Bound<'py, PyDict>) -> Result<(), Stop> {
        let address = dict.as_ptr() as usize;
        if !self.dicts_of_names.contains(&address) {
            if !dict.iter().all(|(key, _)| key.is_exact_instance_of::<PyString>()) {
                return Err(Stop::brk(Reason::UserCode, "a dict of names with other keys"));
            }
            self.dicts_of_names.insert(address);
        }
        Ok(())
    }

    /// The item `name` of a dict found at `tracker`, guarded.
    pub fn dict_item(
        &mut self,
        dict: &Bound<'py, PyDict>,
        tracker: sot_tracker::TrackerId,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        if self.content_changed(dict.as_any()) {
            return Err(Stop::brk(Reason::Mutation, format!("{name} of a dict that was changed")));
        }
        self.has_names_only(dict)?;
        let key = PyString::intern(self.py, name);
        let id = self.objects.add(key.as_any());
        match dict.get_item(&key).map_err(|e| self.internal(&e))? {
            Some(value) => {
                let at = self.trackers.step(tracker, Access::DictItem(id));
                // Even if nobody looks at it, it must be found here and nowhere else.
                self.guard_present(at);
                if self.is_rewritten(dict, name) {
                    self.note_passing(at);
                }
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
    ) -> Result<Option<VarId>, Stop> {
        self.require_generic_lookup(class)?;
        self.attribute_by_default(me, object, class, name, true)
    }

    /// The same, whoever asks. `hook`: a `__getattr__` answers for what is missing.
    pub(super) fn attribute_by_default(
        &mut self,
        me: VarId,
        object: Option<&Bound<'py, PyAny>>,
        class: &Bound<'py, PyAny>,
        name: &str,
        hook: bool,
    ) -> Result<Option<VarId>, Stop> {
        if let Some(written) = self.written_to_class(class, name)? {
            let own = match object {
                Some(object) => self.instance_dict_item(me, object, name)?,
                None => None,
            };
            if own.is_none()
                && let VarKind::Function(_) = self.var(written).kind
            {
                return Ok(Some(self.virtual_var(MethodVar { receiver: me, function: written })));
            }
            return Ok(Some(own.unwrap_or(written)));
        }
        let found = self.class_lookup(class, name)?;
        let mut failed = false;
        if let Some(descriptor) = &found
            && self.is_data_descriptor(descriptor)?
        {
            if type_facts::is_slot(descriptor) && self.is_empty_slot(me, name)? {
                let found = if hook { self.attribute_by_getattr(me, class, name)? } else { None };
                return match found {
                    Some(found) => Ok(Some(found)),
                    None => Err(self.empty_slot(class, descriptor)?),
                };
            }
            // Where there is a `__getattr__`, it answers for a getter that raises AttributeError.
            failed = hook && class.cast::<PyType>().is_ok_and(|ty| type_facts::has(ty, "__getattr__"));
            if !failed {
                return self.read_data_descriptor(me, object, descriptor, name).map(Some);
            }
            if let Some(found) = self.attribute_or_hook(me, class, descriptor, name)? {
                return Ok(Some(found));
            }
            match self.read_data_descriptor(me, object, descriptor, name) {
                Err(Stop::Raised(exception)) if self.is_attribute_error(exception)? => {}
                other => return other.map(Some),
            }
        }
        if !failed
            && let Some(object) = object
            && let Some(value) = self.instance_dict_item(me, object, name)?
        {
            return Ok(Some(value));
        }
        if let Some(found) = found.filter(|_| !failed) {
            let hooked = hook && class.cast::<PyType>().is_ok_and(|ty| type_facts::has(ty, "__getattr__"));
            if hooked
                && self.get_of_program(&found)?.is_some()
                && let Some(found) = self.attribute_or_hook(me, class, &found, name)?
            {
                return Ok(Some(found));
            }
            if hooked && let Some(getter) = self.getter_of_class(&found)? {
                let class_itself = self.pin(class);
                return self.read_or_hook(me, class, name, getter, vec![class_itself]).map(Some);
            }
            return self.bind_class_attribute(me, class, &found, name).map(Some);
        }
        if !hook {
            return Ok(None);
        }
        if let Some(object) = object
            && !self.backend.layers().attr_dicts(object).is_empty()
        {
            // The framework's own fallback, as long as the class has no other.
            self.class_lookup(class, "__getattr__")?;
            for dict_name in self.backend.clone().layers().attr_dicts(object) {
                let Some(var) = self.instance_dict_item(me, object, dict_name)? else { continue };
                self.look_identity(var)?;
                let Some(dict) = self.known_object(var) else { continue };
                let tracker = self.constant_tracker(dict);
                let dict = self.objects.get(self.py, dict);
                let Ok(dict) = dict.cast::<PyDict>() else { continue };
                if let Some(value) = self.dict_item(dict, tracker, name)? {
                    return Ok(Some(value));
                }
            }
            return Ok(None);
        }
        self.attribute_by_getattr(me, class, name)
    }

    /// AttributeError of a slot that is empty: another instance is asked, in which it is, too.
    fn empty_slot(&mut self, class: &Bound<'py, PyAny>, slot: &Bound<'py, PyAny>) -> Result<Stop, Stop> {
        let unknown = || Stop::brk(Reason::WouldRaise, "a slot that is empty");
        if self.class_lookup(class, "__del__")?.is_some() {
            return Err(unknown());
        }
        let new = self.py.get_type::<PyAny>().getattr("__new__").map_err(|e| self.internal(&e))?;
        let sample = new.call1((class,)).map_err(|_| unknown())?;
        match slot.call_method1("__get__", (sample, class)) {
            Err(error) => {
                let text = error.value(self.py).to_string();
                Ok(self.raise_error::<PyAttributeError>(&text))
            }
            Ok(_) => Err(unknown()),
        }
    }

    /// What is left where neither the class nor the instance has the attribute.
    pub(super) fn attribute_by_getattr(
        &mut self,
        me: VarId,
        class: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        match self.class_lookup(class, "__getattr__")? {
            // `__getattr__ = dict.__getitem__`, too.
            Some(getter)
                if facts::is_function(&getter) || type_facts::is_method_of_c(&getter) && extends_builtin(class) =>
            {
                let getter = self.pin(&getter);
                let key = PyString::intern(self.py, name).into_any();
                let key = self.fold(&key)?;
                self.call_tail(getter, &Args::positional(vec![me, key])).map(Some)
            }
            Some(_) => Err(Stop::brk(Reason::UserCode, "__getattr__")),
            None => Ok(None),
        }
    }

    /// Guard the identity of a sourced container without looking into it: single items are guarded by whoever reads them.
    pub fn look_identity(&mut self, var: VarId) -> Result<(), Stop> {
        let tracker = self.var(var).tracker;
        if let Some(object) = self.known_object(var)
            && !self.trackers.get(tracker).is_constant()
        {
            self.guard(tracker, Check::Is(object));
        }
        Ok(())
    }

    pub fn read_data_descriptor(
        &mut self,
        me: VarId,
        object: Option<&Bound<'py, PyAny>>,
        descriptor: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<VarId, Stop> {
        if let Some(getter) = self.getter_of(descriptor)? {
            return self.call_tail(getter, &Args::positional(vec![me]));
        }
        if let Some(value) = self.attribute_by_get(descriptor, Some(me), None)? {
            return Ok(value);
        }
        if let Some(object) = object {
            if self.is_asked_of_numpy(me) && crate::numpy::is_field_of_dtype(object, name) {
                let value = object.getattr(name).map_err(|e| self.would_raise(&e))?;
                return match value.is_instance_of::<PyType>() {
                    true => Ok(self.pin_for_good(&value)),
                    false => self.fold(&value),
                };
            }
            if name == "__dict__"
                && type_facts::reads_own_dict(&object.get_type())
                && let Some(dict) = facts::instance_dict(object)
            {
                let base = self.base_tracker(me);
                self.note_overridden(base, object);
                let tracker = self.trackers.step(base, Access::InstanceDict);
                return self.dict_of_written(me, dict.as_any(), tracker);
            }
            if name == "__weakref__" && self.refers_nobody(me, object, descriptor)? {
                return self.fold_none();
            }
            // A slot of `__slots__`, a field of a named tuple: a plain read, asked of the descriptor itself: a `__getattr__` of
            // the class must not run.
            let value = match type_facts::descriptor(descriptor) {
                Descriptor::GetSet if crate::numpy::is_field_of_array(object, name) => {
                    match facts::field(object, &PyString::intern(self.py, name)) {
                        facts::Field::Value(value) => Some(value),
                        _ => None,
                    }
                }
                Descriptor::Member => match facts::field(object, &PyString::intern(self.py, name)) {
                    facts::Field::Value(value) => Some(value),
                    _ => None,
                },
                Descriptor::TupleGetter => {
                    let value = descriptor.call_method1("__get__", (object, object.get_type()));
                    Some(value.map_err(|e| self.would_raise(&e))?)
                }
                _ => None,
            };
            if let Some(value) = value {
                let base = self.base_tracker(me);
                self.note_overridden(base, object);
                let tracker = self.trackers.step(base, Access::Attr(name.into()));
                // What an array says of itself is there, and made anew at each question.
                if !crate::numpy::is_field_of_array(object, name) {
                    self.guard_present(tracker);
                }
                self.note_item_read(tracker);
                return Ok(self.wrap(&value, tracker));
            }
        }
        if name == "__dict__"
            && let Some(dict) = self.attribute_dict(me, descriptor)?
        {
            return Ok(dict);
        }
        self.field_of_part(me, descriptor)?.ok_or_else(|| Stop::brk(Reason::UserCode, format!("descriptor {name}")))
    }

    /// What reading a non-data attribute of the class through an instance gives.
    pub fn bind_class_attribute(
        &mut self,
        me: VarId,
        class: &Bound<'py, PyAny>,
        found: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<VarId, Stop> {
        if crate::cpython::entry_parts(found).is_some_and(|parts| parts.self_obj.is_none()) {
            // A translated method: an entry binds as the function does that it stands for.
            let function = self.pin(found);
            return Ok(self.virtual_var(MethodVar { receiver: me, function }));
        }
        self.class_lookup(found.get_type().as_any(), "__get__")?;
        if crate::caches::is_cache(found) {
            let function = self.pin(found);
            return Ok(self.virtual_var(MethodVar { receiver: me, function }));
        }
        match type_facts::descriptor(found) {
            Descriptor::Function | Descriptor::Method | Descriptor::Wrapper => {
                let function = self.pin(found);
                Ok(self.virtual_var(MethodVar { receiver: me, function }))
            }
            Descriptor::StaticMethod => {
                let function = self.wrapped_function(found)?;
                Ok(self.pin(&function))
            }
            Descriptor::ClassMethod => self.bind_class_method(class, found),
            Descriptor::CClassMethod => self.bound_to_class(class, found, name),
            Descriptor::BuiltinFunction | Descriptor::Plain => Ok(self.plain_attribute(found)),
            Descriptor::Property | Descriptor::Other if self.getter_of(found)?.is_some() => {
                self.read_data_descriptor(me, None, found, name)
            }
            Descriptor::Property
            | Descriptor::Member
            | Descriptor::GetSet
            | Descriptor::TupleGetter
            | Descriptor::Other => match self.attribute_by_get(found, Some(me), Some(class))? {
                Some(value) => Ok(value),
                None => match self.function_of_framework(found) {
                    Some(function) => Ok(self.virtual_var(MethodVar { receiver: me, function })),
                    None => Err(Stop::brk(Reason::UserCode, format!("descriptor {name}"))),
                },
            },
        }
    }

    /// The function of C that a method of a class of C is, if the framework knows it.
    fn function_of_framework(&mut self, found: &Bound<'py, PyAny>) -> Option<VarId> {
        let function = type_facts::function_of_instance_method(found)?;
        (self.backend.classify(&function) != Kind::Unknown).then(|| self.pin(&function))
    }

    /// `Class.name`, if it is a constant of the framework that the class, one of C, keeps for its own: a member of an enumeration. How its
    /// metaclass looks it up is the framework's affair.
    fn constant_of_class(&mut self, class: &Bound<'py, PyAny>, name: &str) -> Result<Option<VarId>, Stop> {
        let Some(found) = self.class_lookup(class, name)? else { return Ok(None) };
        let kept = found.get_type().is(class) && self.backend.classify(&found) == Kind::Constant;
        Ok((kept && class.getattr(name).is_ok_and(|read| read.is(&found))).then(|| self.plain_attribute(&found)))
    }

    /// A class method, bound. What it wraps may be a descriptor itself.
    pub(super) fn bind_class_method(
        &mut self,
        class: &Bound<'py, PyAny>,
        method: &Bound<'py, PyAny>,
    ) -> Result<VarId, Stop> {
        let function = self.wrapped_function(method)?;
        if !facts::is_function(&function) && crate::cpython::entry_parts(&function).is_none() {
            return self.bind_what_is_no_function(class, &function);
        }
        let (receiver, function) = (self.pin(class), self.pin(&function));
        Ok(self.virtual_var(MethodVar { receiver, function }))
    }

    /// `Class.name`. `hook`: a `__getattr__` of the metaclass answers for what is missing.
    pub fn attribute_of_class(
        &mut self,
        me: VarId,
        class: &Bound<'py, PyAny>,
        name: &str,
        hook: bool,
    ) -> Result<Option<VarId>, Stop> {
        let ty = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?.clone();
        let id = self.objects.add(class);
        let meta = self.metaclass(id).cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        // The metaclass may be given another way to look attributes up.
        let own = self.class_lookup(meta.as_any(), "__getattribute__")?;
        if facts::getattr_kind(&meta) != GetattrKind::Type {
            // A metaclass with a `__getattr__` alone looks up as `type` does, until nothing is found.
            let plain = type_facts::raw(&self.py.get_type::<PyType>(), "__getattribute__");
            if hook && !own.zip(plain).is_some_and(|(own, plain)| own.is(&plain)) {
                if let Some(constant) = self.constant_of_class(class, name)? {
                    return Ok(Some(constant));
                }
                return Err(Stop::brk(Reason::UserCode, format!("metaclass of {}", facts::name_in_messages(&ty))));
            }
        }
        let of_meta = self.class_lookup(meta.as_any(), name)?;
        // What can be set but not asked comes after what the class has.
        if let Some(descriptor) = &of_meta
            && self.is_data_descriptor(descriptor)?
            && self.class_lookup(descriptor.get_type().as_any(), "__get__")?.is_some()
        {
            if self.is_made_here(&ty)
                && let Some(value) = self.told_of_prototype(&ty, name)?
            {
                return Ok(Some(value));
            }
            if let "__name__" | "__qualname__" | "__module__" | "__mro__" | "__bases__" = name
                && let Descriptor::GetSet | Descriptor::Member = type_facts::descriptor(descriptor)
            {
                let value = descriptor.call_method1("__get__", (class, &meta)).map_err(|e| self.would_raise(&e))?;
                return self.class_part(&ty, name, &value).map(Some);
            }
            if let Some(told) = self.told_by_type(me, &ty, descriptor, name)? {
                return Ok(told);
            }
            return self.attribute_of_metaclass(me, &meta, descriptor, name, hook).map(Some);
        }
        if let Some(written) = self.written_to_class(class, name)? {
            return Ok(Some(written));
        }
        let Some(found) = self.class_lookup(class, name)? else {
            return match of_meta {
                Some(found) => self.attribute_of_metaclass(me, &meta, &found, name, hook).map(Some),
                None if hook => self.attribute_by_getattr(me, meta.as_any(), name),
                None => Ok(None),
            };
        };
        self.class_lookup(found.get_type().as_any(), "__get__")?;
        match type_facts::descriptor(&found) {
            Descriptor::StaticMethod => {
                let function = self.wrapped_function(&found)?;
                Ok(Some(self.pin(&function)))
            }
            // What it wraps may be asked for its `__get__`, which raises.
            Descriptor::ClassMethod
                if hook
                    && type_facts::has(&meta, "__getattr__")
                    && !found.getattr("__func__").is_ok_and(|f| facts::is_function(&f)) =>
            {
                Err(Stop::brk(Reason::UserCode, "a class method of something that is not a function"))
            }
            Descriptor::ClassMethod => self.bind_class_method(class, &found).map(Some),
            Descriptor::CClassMethod => self.bound_to_class(class, &found, name).map(Some),
            Descriptor::GetSet if name == "__dict__" => Err(Stop::brk(Reason::UserCode, format!("descriptor {name}"))),
            Descriptor::Function
            | Descriptor::Method
            | Descriptor::Wrapper
            | Descriptor::BuiltinFunction
            | Descriptor::Property
            | Descriptor::Member
            | Descriptor::GetSet
            | Descriptor::TupleGetter
            | Descriptor::Plain => Ok(Some(self.plain_attribute(&found))),
            Descriptor::Other if crate::caches::is_cache(&found) => Ok(Some(self.plain_attribute(&found))),
            // A property gives itself.
            Descriptor::Other if self.getter_of(&found)?.is_some() => Ok(Some(self.plain_attribute(&found))),
            Descriptor::Other if hook && type_facts::has(&meta, "__getattr__") => {
                let value = self.attribute_of_class_or_hook(me, class, &meta, &found, name)?;
                value.map(Some).ok_or(Stop::brk(Reason::UserCode, format!("descriptor {name}")))
            }
            Descriptor::Other => match self.attribute_by_get(&found, None, Some(class))? {
                Some(value) => Ok(Some(value)),
                None => Err(Stop::brk(Reason::UserCode, format!("descriptor {name}"))),
            },
        }
    }

    /// Whether a name of a class is a field or computed property in C.
    pub fn is_field(&self, ty: &Bound<'py, PyType>, name: &str) -> bool {
        type_facts::raw(ty, name)
            .is_some_and(|f| matches!(type_facts::descriptor(&f), Descriptor::GetSet | Descriptor::Member))
    }

    /// The type of `value.name` for a method of a class written in C.
    pub fn bound_class(&self, owner: &Bound<'py, PyAny>, name: &str) -> Result<Bound<'py, PyAny>, Stop> {
        let found = owner.cast::<PyType>().ok().and_then(|ty| type_facts::raw(ty, name));
        let wrapper = found.is_some_and(|f| type_facts::descriptor(&f) == Descriptor::Wrapper);
        self.types_attribute(if wrapper { "MethodWrapperType" } else { "BuiltinMethodType" })
    }

    fn method_of_c(&self, object: sot_tracker::ObjectId) -> Option<Descriptor> {
        let kind = type_facts::descriptor(self.objects.get_ref(self.py, object));
        matches!(kind, Descriptor::Method | Descriptor::Wrapper).then_some(kind)
    }

    /// The type of a method of this function.
    pub fn class_of_bound(&self, function: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        let of_c = match &self.var(function).kind {
            VarKind::Builtin(builtin) => self.method_of_c(builtin.object),
            _ => None,
        };
        self.types_attribute(match of_c {
            Some(Descriptor::Wrapper) => "MethodWrapperType",
            Some(_) => "BuiltinMethodType",
            None => "MethodType",
        })
    }

    /// Stop if reading an attribute of a module does not begin with its dict.
    pub fn require_module_lookup(&mut self, module: &Bound<'py, PyAny>) -> Result<(), Stop> {
        if facts::module_dict(module).is_none() {
            // To look one up would make the dict, which the program would see.
            return Err(Stop::brk(Reason::UserCode, "a module that was made without names"));
        }
        let class = module.get_type();
        let own = self.class_lookup(class.as_any(), "__getattribute__")?;
        if facts::getattr_kind(&class) == GetattrKind::Module {
            return Ok(());
        }
        let plain = type_facts::raw(&self.py.get_type::<PyModule>(), "__getattribute__");
        match own.zip(plain).is_some_and(|(own, plain)| own.is(&plain)) {
            true => Ok(()),
            false => Err(Stop::brk(Reason::UserCode, "__getattribute__ of a module")),
        }
    }

    /// `module.name` where the module's dict lacks the name.
    pub fn missing_of_module(
        &mut self,
        me: VarId,
        module: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        let class = module.get_type();
        if facts::getattr_kind(&class) != GetattrKind::Module || self.class_lookup(class.as_any(), name)?.is_some() {
            return Err(Stop::brk(Reason::UserCode, format!("module attribute {name}")));
        }
        let Some(getter) = self.instance_dict_item(me, module, "__getattr__")? else { return Ok(None) };
        let key = PyString::intern(self.py, name).into_any();
        let key = self.fold(&key)?;
        let frame = self.frame();
        if matches!(frame.unit.code.instrs[frame.ip].op, Op::ImportFrom(_)) {
            let tail = self.step.tail.take();
            self.enter("imported", &[getter, key, me])?;
            return self.entered_tail(tail);
        }
        self.call_tail(getter, &Args::positional(vec![key])).map(Some)
    }

    /// `__name__`, `__mro__` and the like of a class, guarded.
    fn class_part(&mut self, class: &Bound<'py, PyType>, name: &str, value: &Bound<'py, PyAny>) -> Result<VarId, Stop> {
        if self.made_anew(class).is_some_and(|(_, var)| self.is_prototype(var)) {
            return self.part_of_prototype(value);
        }
        if name == "__mro__" && self.made_anew(class).is_none() {
            self.guard_mro(class);
            return Ok(self.pin(value));
        }
        if !facts::is_heap_type(class) {
            return if name == "__bases__" { Ok(self.pin(value)) } else { self.fold(value) };
        }
        let id = self.objects.add(class.as_any());
        let base = self.class_tracker(id);
        self.note_overridden(base, class.as_any());
        let at = self.trackers.step(base, Access::Attr(name.into()));
        let var = self.wrap(value, at);
        if let "__bases__" | "__mro__" = name {
            self.look(var)?;
        }
        Ok(var)
    }

    /// Whether `value.__class__` is `type(value)` for values of a class, guarded.
    pub fn tells_its_class(&mut self, class: &Bound<'py, PyAny>) -> Result<bool, Stop> {
        let ty = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
        self.class_lookup(class, "__getattribute__")?;
        self.class_lookup(class, "__class__")?;
        Ok(type_facts::tells_its_class(ty))
    }

    /// Whether values of a class are equal only if they are the same, guarded.
    pub fn compares_by_identity(&mut self, class: &Bound<'py, PyType>) -> Result<bool, Stop> {
        for name in ["__eq__", "__ne__", "__hash__"] {
            self.class_lookup(class.as_any(), name)?;
        }
        Ok(type_facts::compares_by_identity(class))
    }

    /// Whether a class attribute takes part in attribute access before the instance dict, guarded.
    pub fn is_data_descriptor(&mut self, object: &Bound<'py, PyAny>) -> Result<bool, Stop> {
        let ty = object.get_type().into_any();
        let sets = self.class_lookup(&ty, "__set__")?.is_some();
        Ok(self.class_lookup(&ty, "__delete__")?.is_some() || sets)
    }
}
