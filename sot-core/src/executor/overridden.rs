//! Attribute reads that are methods of the program: `__getattribute__` of classes and metaclasses, and `__get__` of descriptors.
//!
//! Each is simulated as a call. What such a `__getattribute__` ends in, that of `object` or `type`, is the look-up of
//! [`super::attributes`] without the hook `__getattr__`, which is asked by whoever asked for the attribute.

use super::Executor;
use crate::captured::PlainLookup;
use crate::cpython::facts::{self, GetattrKind};
use crate::frame::ASKS_AS_GIVEN;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, Descriptor};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::handling;
use sot_sideeffect::Overlay;
use sot_tracker::{Access, Check, TrackerId};

impl<'py> Executor<'py> {
    /// The `__getattribute__` of the program that reads attributes of a value, if its class has one.
    pub(super) fn own_lookup(&mut self, var: VarId) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        let kind = self.look(var)?;
        if !matches!(kind, VarKind::Instance(_) | VarKind::Layer(_) | VarKind::Class(_) | VarKind::Exception(_)) {
            return Ok(None);
        }
        let class = self.class_of(var)?;
        let ty = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
        match facts::getattr_kind(ty) {
            GetattrKind::Generic | GetattrKind::Type => Ok(None),
            GetattrKind::Module | GetattrKind::Custom => {
                Ok(self.class_lookup(&class, "__getattribute__")?.filter(facts::is_function))
            }
        }
    }

    /// `value.name`, where `own` reads it, and a `__getattr__` what that does not find.
    pub(super) fn attribute_by_method(
        &mut self,
        me: VarId,
        own: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<VarId, Stop> {
        let own = self.pin(own);
        let key = self.fold(PyString::intern(self.py, name).as_any())?;
        let class = self.class_of(me)?;
        match self.class_lookup(&class, "__getattr__")? {
            Some(hook) if facts::is_function(&hook) => {
                let hook = self.pin(&hook);
                let tail = self.step.tail.take();
                self.enter("attribute_by", &[own, hook, me, key])?;
                self.entered_tail(tail)
            }
            Some(_) => Err(Stop::brk(Reason::UserCode, "__getattr__")),
            None => self.call_tail(own, &Args::positional(vec![me, key])),
        }
    }

    /// Whether reading an attribute is code of the program.
    pub(super) fn attribute_by_code(&mut self, object: VarId, name: VarId) -> Result<bool, Stop> {
        let Some(name) = self.constant_str(name) else { return Ok(false) };
        if self.own_lookup(object)?.is_some() {
            return Ok(true);
        }
        if self.by_definition {
            return Ok(true);
        }
        let VarKind::Instance(_) = self.look(object)? else { return Ok(false) };
        let class = self.class_of(object)?;
        if let Some(found) = self.class_lookup(&class, &name)?
            && (self.getter_of(&found)?.is_some() || self.get_of_program(&found)?.is_some())
        {
            return Ok(true);
        }
        Ok(self.class_lookup(&class, "__getattr__")?.is_some_and(|found| facts::is_function(&found)))
    }

    /// Whether the `getattr` that the innermost frame calls tells an AttributeError what was asked for: C does so for the program and in
    /// its own name, but for what takes an attribute only if it is there. (And the definition of `getattr` tells already.)
    pub(super) fn getattr_tells(&mut self, object: VarId) -> Result<bool, Stop> {
        let frame = self.frame();
        if !frame.is_hidden() {
            return Ok(true);
        }
        let since_3_13 = self.py.version_info() >= (3, 13);
        Ok(match frame.unit.code.name.as_str() {
            ASKS_AS_GIVEN | "attribute_or" | "has_attribute" | "reduced" => false,
            "match_class" => !since_3_13,
            "method_called" if since_3_13 => {
                let class = self.class_of(object)?;
                class.cast::<PyType>().is_ok_and(|class| facts::tells_names(class, true))
            }
            _ => true,
        })
    }

    /// `owner.__getattribute__(value, key)`, where that is `object`'s or `type`'s. `None`: it is another.
    pub(super) fn enter_default_lookup(
        &mut self,
        value: VarId,
        owner: &Bound<'py, PyAny>,
        key: VarId,
    ) -> Result<Option<Called>, Stop> {
        let ty = owner.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
        let fitting = match (self.look(value)?, facts::getattr_kind(ty)) {
            (VarKind::Instance(_) | VarKind::Layer(_) | VarKind::Exception(_), GetattrKind::Generic) => {
                // `object` does it for all, others for their own.
                let class = self.class_of(value)?;
                owner.is(self.py.get_type::<PyAny>())
                    || class.cast::<PyType>().is_ok_and(|class| facts::mro(class).iter().any(|base| base.is(owner)))
            }
            (VarKind::Class(_), GetattrKind::Type) => owner.is(self.py.get_type::<PyType>()),
            _ => false,
        };
        let (true, Some(name)) = (fitting, self.constant_str(key)) else { return Ok(None) };
        self.step.tail = Some(super::Awaits::Push);
        let found = self.attribute_by_object(value, &name);
        self.step.tail = None;
        match found {
            Ok(Some(found)) => Ok(Some(Called::Value(found))),
            Ok(None) => {
                let stop = self.missing_attribute(value, &name)?;
                self.tell_name(&stop, &name, Some(value))?;
                Err(stop)
            }
            Err(Stop::Entered(awaits)) => Ok(Some(Called::Entered(awaits))),
            Err(stop) => Err(stop),
        }
    }

    /// What `object`, or `type`, finds under a name. `None`: it raises AttributeError.
    fn attribute_by_object(&mut self, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        if let Overlay::Set(value) = self.journal.attr(Self::var_ref(me), name) {
            return Ok(Some(VarId(value.0)));
        }
        let class = self.class_of(me)?;
        if name == "__class__"
            && let Some(found) = self.class_lookup(&class, name)?
            && type_facts::raw(&self.py.get_type::<PyAny>(), name).is_some_and(|own| own.is(&found))
        {
            return Ok(Some(self.pin(&class)));
        }
        let object = match self.look(me)? {
            VarKind::Class(found) => {
                let found = self.objects.get(self.py, found.object);
                return self.attribute_of_class(me, &found, name, false);
            }
            VarKind::Instance(instance) => instance.object,
            VarKind::Layer(layer) => Some(layer.object),
            VarKind::Exception(e) => {
                if let Some(value) = self.field_of_exception(me, &e, name)? {
                    return Ok(Some(value));
                }
                e.object
            }
            _ => return Err(Stop::brk(Reason::UserCode, "__getattribute__")),
        };
        let object = object.map(|object| self.objects.get(self.py, object));
        self.nested(|ex| ex.attribute_by_default(me, object.as_ref(), &class, name, false))
    }

    /// A path goes on below an object: new code that follows it must not ask a `__getattribute__` of the program, of
    /// its class or metaclass, nor a `__dict__` that is another one.
    pub(super) fn note_overridden(&mut self, base: TrackerId, object: &Bound<'py, PyAny>) {
        let ty = object.get_type();
        if type_facts::asks_the_program(&ty) || !type_facts::reads_own_dict(&ty) {
            self.captured.overridden.insert(base, PlainLookup::of(&ty));
        }
    }

    /// What reads the value of a property, or of a subclass that reads as properties do.
    pub(super) fn getter_of(&mut self, descriptor: &Bound<'py, PyAny>) -> Result<Option<VarId>, Stop> {
        if !type_facts::is_exact_property(descriptor) {
            if !type_facts::extends_property(descriptor) {
                return Ok(None);
            }
            let of_property = type_facts::raw(&type_facts::property(self.py), "__get__");
            let get = self.class_lookup(descriptor.get_type().as_any(), "__get__")?;
            if !get.zip(of_property).is_some_and(|(get, own)| get.is(&own)) {
                return Ok(None);
            }
            let property = self.plain_attribute(descriptor);
            self.look(property)?;
        }
        match facts::field(descriptor, &PyString::intern(self.py, "fget")) {
            facts::Field::Value(getter) => {
                self.guard_part(descriptor, "fget", &getter);
                // One that is initialised with None has none.
                Ok((!getter.is_none()).then(|| self.pin(&getter)))
            }
            facts::Field::Empty | facts::Field::NoField => Ok(None),
        }
    }

    /// A part of a property, a static method or a class method, which may be initialised once more (`p.__init__(other)`).
    fn guard_part(&mut self, descriptor: &Bound<'py, PyAny>, name: &str, part: &Bound<'py, PyAny>) {
        let id = self.objects.add(descriptor);
        if self.captured.anew.contains_key(&id) {
            return;
        }
        let base = self.constant_tracker(id);
        let at = self.trackers.step(base, Access::Attr(name.into()));
        let part = self.objects.add(part);
        self.guard(at, Check::Is(part));
    }

    /// Such a part, read and guarded.
    pub(super) fn part_of_descriptor(
        &mut self,
        descriptor: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<Bound<'py, PyAny>, Stop> {
        let part = descriptor.getattr(name).map_err(|e| self.internal(&e))?;
        self.guard_part(descriptor, name, &part);
        Ok(part)
    }

    /// What a static method or a class method wraps.
    pub(super) fn wrapped_function(&mut self, method: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Stop> {
        self.part_of_descriptor(method, "__func__")
    }

    /// The `__get__` of the program that a class attribute is bound by.
    pub(super) fn get_of_program(&mut self, descriptor: &Bound<'py, PyAny>) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        match type_facts::descriptor(descriptor) {
            Descriptor::Other => {
                let get = self.class_lookup(descriptor.get_type().as_any(), "__get__")?;
                Ok(get.filter(facts::is_function))
            }
            _ => Ok(None),
        }
    }

    /// `descriptor.__get__(me, class)`, where that is a method of the program. Without `me` it is `None`; without a class it is
    /// that of `me`.
    pub(super) fn attribute_by_get(
        &mut self,
        descriptor: &Bound<'py, PyAny>,
        me: Option<VarId>,
        class: Option<&Bound<'py, PyAny>>,
    ) -> Result<Option<VarId>, Stop> {
        let Some(get) = self.get_of_program(descriptor)? else { return Ok(None) };
        let descriptor = self.plain_attribute(descriptor);
        // It may be given another class.
        self.look(descriptor)?;
        let class = match (class, me) {
            (Some(class), _) => class.clone(),
            (None, Some(me)) => self.class_of(me)?,
            (None, None) => return Ok(None),
        };
        let instance = match me {
            Some(me) => me,
            None => self.fold_none()?,
        };
        let (get, class) = (self.pin(&get), self.pin(&class));
        self.call_tail(get, &Args::positional(vec![descriptor, instance, class])).map(Some)
    }

    /// An attribute that code of the program reads, by a getter or a `__get__`, where a `__getattr__` answers for what that
    /// raises AttributeError for. `None`: no code reads it.
    pub(super) fn attribute_or_hook(
        &mut self,
        me: VarId,
        class: &Bound<'py, PyAny>,
        descriptor: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        let (getter, get) = (self.getter_of(descriptor)?, self.get_of_program(descriptor)?);
        if getter.is_none() && get.is_none() {
            return Ok(None);
        }
        let (reading, arguments) = match (getter, get) {
            (Some(getter), _) => (getter, vec![me]),
            (None, Some(get)) => {
                let descriptor = self.plain_attribute(descriptor);
                self.look(descriptor)?;
                (self.pin(&get), vec![descriptor, me, self.pin(class)])
            }
            (None, None) => return Ok(None),
        };
        self.read_or_hook(me, class, name, reading, arguments).map(Some)
    }

    /// The `__getattr__` of the program that a class has.
    fn hook_of(&mut self, class: &Bound<'py, PyAny>) -> Result<VarId, Stop> {
        let hook = self.class_lookup(class, "__getattr__")?.filter(facts::is_function);
        let hook = hook.ok_or(Stop::brk(Reason::UserCode, "__getattr__"))?;
        Ok(self.pin(&hook))
    }

    /// What code of the program reads; the `__getattr__` of the class of `me` answers where that raises AttributeError.
    pub(super) fn read_or_hook(
        &mut self,
        me: VarId,
        class: &Bound<'py, PyAny>,
        name: &str,
        reading: VarId,
        arguments: Vec<VarId>,
    ) -> Result<VarId, Stop> {
        let hook = self.hook_of(class)?;
        let arguments = self.virtual_var(TupleVar::new(arguments));
        let name = self.fold(PyString::intern(self.py, name).as_any())?;
        let tail = self.step.tail.take();
        self.enter("read_or", &[reading, arguments, hook, me, name])?;
        self.entered_tail(tail)
    }

    /// `Class.name` where the class has a descriptor of the program, and the metaclass a `__getattr__` that answers for it.
    pub(super) fn attribute_of_class_or_hook(
        &mut self,
        me: VarId,
        class: &Bound<'py, PyAny>,
        meta: &Bound<'py, PyType>,
        descriptor: &Bound<'py, PyAny>,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        let Some(get) = self.get_of_program(descriptor)? else { return Ok(None) };
        let descriptor = self.plain_attribute(descriptor);
        // It may be given another class.
        self.look(descriptor)?;
        let (get, nothing, class) = (self.pin(&get), self.fold_none()?, self.pin(class));
        self.read_or_hook(me, meta.as_any(), name, get, vec![descriptor, nothing, class]).map(Some)
    }

    /// `Class.name` that the metaclass has, bound to the class. `hook`: its `__getattr__` answers for what raises AttributeError.
    pub(super) fn attribute_of_metaclass(
        &mut self,
        me: VarId,
        meta: &Bound<'py, PyType>,
        found: &Bound<'py, PyAny>,
        name: &str,
        hook: bool,
    ) -> Result<VarId, Stop> {
        if hook
            && type_facts::has(meta, "__getattr__")
            && let Some(value) = self.attribute_or_hook(me, meta.as_any(), found, name)?
        {
            return Ok(value);
        }
        if let Some(getter) = self.getter_of(found)? {
            return self.call_tail(getter, &Args::positional(vec![me]));
        }
        match type_facts::descriptor(found) {
            Descriptor::Method | Descriptor::Wrapper | Descriptor::Member | Descriptor::GetSet => {
                Err(Stop::brk(Reason::UserCode, format!("metaclass attribute {name}")))
            }
            _ => self.bind_class_attribute(me, meta.as_any(), found, name),
        }
    }

    /// A class method that wraps something else than a function.
    pub(super) fn bind_what_is_no_function(
        &mut self,
        class: &Bound<'py, PyAny>,
        wrapped: &Bound<'py, PyAny>,
    ) -> Result<VarId, Stop> {
        if let Some(getter) = self.getter_in_class_method(wrapped)? {
            let class = self.pin(class);
            return self.call_tail(getter, &Args::positional(vec![class]));
        }
        Err(Stop::brk(Reason::UserCode, "a class method of something that is not a function"))
    }

    /// The getter of a property that a class method wraps, where class methods bind what they wrap.
    fn getter_in_class_method(&mut self, wrapped: &Bound<'py, PyAny>) -> Result<Option<VarId>, Stop> {
        let version = self.frame().unit.code.version;
        if !type_facts::is_exact_property(wrapped) || !handling::class_methods_bind_descriptors(version) {
            return Ok(None);
        }
        let getter = self.part_of_descriptor(wrapped, "fget")?;
        Ok(Some(self.pin(&getter)))
    }

    /// The same, if an attribute of a class is such a class method.
    pub(super) fn getter_of_class(&mut self, found: &Bound<'py, PyAny>) -> Result<Option<VarId>, Stop> {
        if type_facts::descriptor(found) != Descriptor::ClassMethod {
            return Ok(None);
        }
        let wrapped = self.wrapped_function(found)?;
        self.getter_in_class_method(&wrapped)
    }
}
