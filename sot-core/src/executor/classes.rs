//! Calling classes: virtual instances, named tuples, and the builtin types that are functions in disguise.

use super::{Awaits, Executor};
use crate::backend::Kind;
use crate::cpython::facts;
use crate::natives::Native;
use crate::objects_of_c;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::{Check, ObjectId};

impl<'py> Executor<'py> {
    pub fn call_class(&mut self, class: &Bound<'py, PyAny>, args: &Args) -> Result<Called, Stop> {
        self.may_simulate(class)?;
        match self.backend.classify(class) {
            Kind::Break(why) => Err(Stop::Break(why)),
            Kind::Record => self.make_native(Native::Record, class, args).map(Called::Value),
            Kind::Maker(why) => self.made_by_framework(class, args, why),
            _ => self.make_of_class(class, args),
        }
    }

    /// The same of any class whose constructor may be simulated.
    pub(super) fn make_of_class(&mut self, class: &Bound<'py, PyAny>, args: &Args) -> Result<Called, Stop> {
        let ty = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?.clone();
        if let Some(native) = crate::natives::native(&ty) {
            return self.make_native(native, class, args).map(Called::Value);
        }
        if let Some(limits) = self.limits_of_numpy(class, args)? {
            return Ok(Called::Value(limits));
        }
        if let Some(reference) = self.refer_weakly(class, args)? {
            return Ok(Called::Value(reference));
        }
        if let Some(encoder) = self.make_encoder(class, args)? {
            return Ok(Called::Value(encoder));
        }
        if objects_of_c::known(&ty).is_some()
            && let Some(made) = self.make_object(class, args)?
        {
            return Ok(Called::Value(made));
        }
        if let Some(made) = self.bound_by_hand(class, args)? {
            return Ok(Called::Value(made));
        }
        if let Some(entered) = self.enter_of_iterators(class, args)? {
            return Ok(entered);
        }
        if let Some(made) = self.call_itertools(class, args)? {
            return Ok(Called::Value(made));
        }
        if let Some(made) = self.call_bytearray(class, args)? {
            return Ok(Called::Value(made));
        }
        if let Some(made) = self.call_deque(class, args)? {
            return Ok(made);
        }
        if let Some(kind) = type_facts::dict_of_c(&ty) {
            return self.make_dict_of_c(kind, class, args);
        }
        if !facts::is_heap_type(&ty) && self.is_exception_class(&ty) {
            let made = self.call_exception_class(&ty, args)?;
            return made.ok_or_else(|| Stop::brk(Reason::OpaqueCall, super::calls::name_of(class)));
        }
        if ty.is(type_facts::namespace(self.py)) {
            return self.instantiate(&ty, args);
        }
        if !facts::is_heap_type(&ty) {
            if let Some(made) = self.call_descriptor_class(&ty, args)? {
                return Ok(Called::Value(made));
            }
            if let Some(made) = self.call_to_make_class(class, args)? {
                return Ok(made);
            }
            if (ty.is(self.py.get_type::<PyFloat>()) || ty.is(self.py.get_type::<PyInt>())) && self.hold_arrays(args) {
                return self.call_for_array(class, args).map(Called::Value);
            }
            if let Some(number) = self.call_of_numpy(class, args)? {
                return Ok(Called::Value(number));
            }
            if let Some(entered) = self.enter_type(class, args)? {
                return Ok(entered);
            }
            return self.call_builtin_type(class, args).map(Called::Value);
        }
        let id = self.objects.add(class);
        if self.asks_metaclass(id) {
            let meta = self.metaclass(id);
            match self.class_lookup(&meta, "__call__")? {
                Some(call) if facts::is_function(&call) => {
                    let (call, class) = (self.pin(&call), self.pin(class));
                    return self.call(call, &args.with_first(class));
                }
                Some(call) if self.is_call_of_type(&call) => {}
                // A class is bound to nothing, and is called as it is: a typed dict makes dicts.
                Some(call) if call.is_exact_instance_of::<PyType>() => {
                    let call = self.pin(&call);
                    return self.call(call, args);
                }
                _ => return Err(opaque_class(class)),
            }
        }
        self.instantiate(&ty, args)
    }

    /// The class of a class, guarded where it is not `type`: a class may be given another one.
    pub(super) fn metaclass(&mut self, class: ObjectId) -> Bound<'py, PyAny> {
        let meta = self.objects.get_ref(self.py, class).get_type().into_any();
        if let Some(var) = self.anew.get(&class).copied() {
            self.guard_alike(class, var);
            return meta;
        }
        if !meta.is(self.py.get_type::<PyType>()) {
            let of = self.objects.add(&meta);
            let at = self.constant_tracker(class);
            self.guard(at, Check::TypeIs(of));
        }
        meta
    }

    /// The class keeps its MRO.
    pub fn guard_mro(&mut self, class: &Bound<'py, PyType>) {
        if let Some((id, var)) = self.made_anew(class) {
            self.guard_alike(id, var);
        } else if facts::is_heap_type(class) {
            let classes = facts::mro(class).iter().map(|c| self.objects.add(&c)).collect();
            let id = self.objects.add(class.as_any());
            let at = self.constant_tracker(id);
            self.guard(at, Check::Mro(classes));
        }
    }

    /// Whether operators that are given a class may be answered by the program.
    pub(super) fn asks_metaclass(&mut self, class: ObjectId) -> bool {
        !self.metaclass(class).is(self.py.get_type::<PyType>())
    }

    /// Whether a value is an instance, a layer, or a class that has a metaclass of its own: operators ask its class for methods.
    pub(super) fn is_asked(&mut self, value: VarId) -> Result<bool, Stop> {
        if self.is_long(value) {
            return Ok(false);
        }
        Ok(match self.look(value)? {
            VarKind::Instance(_) | VarKind::Layer(_) => true,
            VarKind::Class(class) => self.asks_metaclass(class.object),
            _ => false,
        })
    }

    /// `class[key]`, where no metaclass answers.
    pub(super) fn parametrised(&mut self, me: VarId, class: ObjectId, key: VarId) -> Result<VarId, Stop> {
        let unanswered = || Stop::brk(Reason::ValueKind, "subscript of a class");
        let class = self.objects.get(self.py, class);
        let found = self.class_lookup(&class, "__class_getitem__")?.ok_or_else(unanswered)?;
        let function = match type_facts::descriptor(&found) {
            type_facts::Descriptor::ClassMethod => self.wrapped_function(&found)?,
            _ => return self.parametrised_by_c(&class, &found, key)?.ok_or_else(unanswered),
        };
        if !facts::is_function(&function) {
            return Err(unanswered());
        }
        let function = self.pin(&function);
        self.call_tail(function, &Args::positional(vec![me, key]))
    }

    /// Whether it is `type.__call__`.
    fn is_call_of_type(&self, found: &Bound<'py, PyAny>) -> bool {
        type_facts::raw(&self.py.get_type::<PyType>(), "__call__").is_some_and(|call| call.is(found))
    }

    /// `types.MethodType(function, receiver)`
    fn bound_by_hand(&mut self, class: &Bound<'py, PyAny>, args: &Args) -> Result<Option<VarId>, Stop> {
        let [function, receiver] = *args.positional.as_slice() else { return Ok(None) };
        if !args.keywords.is_empty() || !self.types_attribute("MethodType")?.is(class) {
            return Ok(None);
        }
        if !matches!(self.look(function)?, VarKind::Function(_)) || self.unless_none(Some(receiver))?.is_none() {
            return Ok(None);
        }
        Ok(Some(self.virtual_var(MethodVar { receiver, function })))
    }

    /// `type.__call__(class, *args)`
    fn instantiate(&mut self, ty: &Bound<'py, PyType>, args: &Args) -> Result<Called, Stop> {
        let class = ty.as_any();
        let opaque = || opaque_class(class);
        let new = self.class_lookup(class, "__new__")?.ok_or_else(opaque)?;
        if type_facts::is_named_tuple(ty) && type_facts::is_generated_new(&new) {
            return self.call_namedtuple(class, args).map(Called::Value);
        }
        if self.is_exception_class(ty) {
            return self.call_exception_class(ty, args)?.ok_or_else(opaque);
        }
        if let Some(entered) = self.made_by(&new, class, args)? {
            return Ok(entered);
        }
        let init = self.class_lookup(class, "__init__")?;
        let instance = match self.instantiate_extended(ty, &new, args)? {
            Some(made) => made,
            None if self.is_of_namespaces("__new__", &new) => self.plain_instance(ty)?,
            None if !self.is_of_object("__new__", &new) || !facts::makes_plain_instances(ty) => return Err(opaque()),
            None => self.plain_instance(ty)?,
        };
        if let (VarKind::Instance(InstanceVar { part: Some(part), .. }), Some(init)) = (self.look(instance)?, &init)
            && !facts::is_function(init)
        {
            let base = self.class_of(part)?.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
            // Those that cannot change have taken it all by now.
            if !self.is_of_object("__init__", init) {
                if !type_facts::raw(&base, "__init__").is_some_and(|own| own.is(init)) {
                    return Err(opaque());
                }
                return match self.call_on_part(instance, part, "__init__", args)? {
                    Called::Value(_) => Ok(Called::Value(instance)),
                    Called::Entered(Awaits::Push) => {
                        // Under the frame that was pushed.
                        let caller = self.frames.len() - 2;
                        self.frames[caller].stack.push(instance);
                        Ok(Called::Entered(Awaits::None))
                    }
                    Called::Entered(_) => Err(opaque()),
                };
            }
            return Ok(Called::Value(instance));
        }
        match init {
            Some(init) if facts::is_function(&init) => {
                let init = self.pin(&init);
                self.construct(instance, init, args)
            }
            Some(init)
                if self.is_of_object("__init__", &init) && args.positional.is_empty() && args.keywords.is_empty() =>
            {
                Ok(Called::Value(instance))
            }
            Some(init) if self.is_of_namespaces("__init__", &init) => {
                self.init_of_namespace(instance, args)?;
                Ok(Called::Value(instance))
            }
            _ => Err(opaque()),
        }
    }

    /// Whether code of the program says what a call of a class gives.
    pub(super) fn makes_anything(&mut self, class: &Bound<'py, PyType>) -> Result<bool, Stop> {
        let new = self.class_lookup(class.as_any(), "__new__")?;
        let id = self.objects.add(class.as_any());
        Ok(self.asks_metaclass(id)
            || new.is_some_and(|new| type_facts::descriptor(&new) == type_facts::Descriptor::StaticMethod))
    }

    /// The frame of `class(*args)` where `__new__` of the class is a function. `None`: it is none.
    pub(super) fn made_by(
        &mut self,
        new: &Bound<'py, PyAny>,
        class: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        let of_type = type_facts::raw(&self.py.get_type::<PyType>(), "__new__").is_some_and(|own| own.is(new));
        if !of_type && type_facts::descriptor(new) != type_facts::Descriptor::StaticMethod {
            return Ok(None);
        }
        let new = if of_type { new.clone() } else { self.wrapped_function(new)? };
        if !of_type && !facts::is_function(&new) {
            return Err(opaque_class(class));
        }
        let (new, class) = (self.pin(&new), self.pin(class));
        let positional = self.tuple_of_arguments(args.positional.clone());
        let mut keywords = Vec::with_capacity(args.keywords.len());
        for (name, value) in &args.keywords {
            keywords.push((self.fold(PyString::intern(self.py, name).as_any())?, *value));
        }
        let keywords = self.virtual_var(DictVar::new(keywords));
        self.enter("made_by", &[new, class, positional, keywords]).map(Some)
    }

    /// What makes instances, called by its name: `type.__call__(class, ..)`, `object.__new__(class)`, `SimpleNamespace.__init__(..)`.
    pub(super) fn call_maker(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<Option<Called>, Stop> {
        if let Some(made) = self.call_new_of_base(callee, args)? {
            return Ok(Some(Called::Value(made)));
        }
        if let Some(made) = self.call_new_of_exception(callee, args)? {
            return Ok(Some(Called::Value(made)));
        }
        if let Some(called) = self.call_of_type(callee, args)? {
            return Ok(Some(called));
        }
        if self.is_of_namespaces("__init__", callee)
            && let Some((me, rest)) = args.positional.split_first()
            && self.class_of(*me)?.cast::<PyType>().is_ok_and(type_facts::is_namespace)
        {
            let rest = Args { positional: rest.to_vec(), keywords: args.keywords.clone() };
            self.init_of_namespace(*me, &rest)?;
            return self.fold_none().map(|none| Some(Called::Value(none)));
        }
        let (by_call, by_new) = (self.is_call_of_type(callee), self.is_of_object("__new__", callee));
        let given = args.positional.split_first().filter(|_| by_call || by_new && args.keywords.is_empty());
        let Some((class, rest)) = given else { return Ok(None) };
        let VarKind::Class(class) = self.look(*class)? else { return Ok(None) };
        let ty = self.objects.get(self.py, class.object).cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        if !facts::is_heap_type(&ty) {
            return Ok(None);
        }
        match rest {
            _ if by_call => {
                let rest = Args { positional: rest.to_vec(), keywords: args.keywords.clone() };
                self.instantiate(&ty, &rest).map(Some)
            }
            [] if !type_facts::is_namespace(&ty) => self.plain_instance(&ty).map(|made| Some(Called::Value(made))),
            _ => Ok(None),
        }
    }

    fn is_init_of_type(&self, init: &Bound<'py, PyAny>) -> bool {
        type_facts::raw(&self.py.get_type::<PyType>(), "__init__").is_some_and(|own| own.is(init))
    }

    /// Whether a class has a method from `object`.
    pub(super) fn is_of_object(&self, name: &str, found: &Bound<'py, PyAny>) -> bool {
        type_facts::raw(&self.py.get_type::<PyAny>(), name).is_some_and(|own| own.is(found))
    }

    /// `object.__new__(class)`
    pub(super) fn plain_instance(&mut self, ty: &Bound<'py, PyType>) -> Result<VarId, Stop> {
        let class = ty.as_any();
        // Only instances whose whole state is attributes can be built again.
        if type_facts::maker_of_instances(ty).is_none() {
            return Err(opaque_class(class));
        }
        // Who is abstract may change.
        self.class_lookup(class, "__abstractmethods__")?;
        if facts::is_abstract(ty) {
            // In C's words, which runs no code of the program for that.
            let is_plain = |names: &Bound<'_, PyAny>| {
                let names = names.cast_exact::<PyFrozenSet>();
                names.is_ok_and(|names| names.iter().all(|name| name.is_exact_instance_of::<PyString>()))
            };
            let new = type_facts::raw(&self.py.get_type::<PyAny>(), "__new__");
            let new = new.filter(|_| type_facts::raw(ty, "__abstractmethods__").as_ref().is_some_and(is_plain));
            return Err(match new.map(|new| new.call1((ty,))) {
                Some(Err(refused)) if refused.is_instance_of::<PyTypeError>(self.py) => {
                    let words = refused.value(self.py).to_string();
                    self.raise_error::<PyTypeError>(&words)
                }
                _ => Stop::brk(Reason::WouldRaise, "an instance of an abstract class"),
            });
        }
        // A finalizer would have to run when the last reference goes.
        if self.class_lookup(class, "__del__")?.is_some() {
            return Err(opaque_class(class));
        }
        let (of_program, may_be_watched) = (facts::is_heap_type(ty), facts::death_could_be_seen(ty));
        let class = self.objects.add(class);
        Ok(self.virtual_var(InstanceVar {
            class,
            object: None,
            pinned: false,
            of_program,
            may_be_watched,
            part: None,
            names: None,
        }))
    }

    /// What a class's own `__new__` gave, `made`, is initialised if it is of the class: `constructed(made, class, args, keywords)`.
    pub(super) fn constructed(&mut self, made: VarId, class: VarId, args: &Args) -> Result<Called, Stop> {
        let of_class = {
            let (own, class) = (self.class_of(made)?, self.look(class)?);
            let VarKind::Class(class) = class else { return Err(Stop::fallback(Reason::InternalError, "no class")) };
            let class = self.objects.get(self.py, class.object);
            let own = own.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
            self.guard_mro(&own);
            facts::mro(&own).iter().any(|base| base.is(&class)).then_some(own)
        };
        let Some(own) = of_class else { return Ok(Called::Value(made)) };
        if self.is_exception(made) {
            return self.init_of_exception(made, args)?.ok_or_else(|| opaque_class(own.as_any()));
        }
        match self.class_lookup(own.as_any(), "__init__")? {
            Some(init) if facts::is_function(&init) => {
                let init = self.pin(&init);
                self.construct(made, init, args)
            }
            // It takes whatever a `__new__` of the program has taken.
            Some(init) if self.is_of_object("__init__", &init) => Ok(Called::Value(made)),
            // And that of classes what a `__new__` of theirs has.
            Some(init) if self.is_init_of_type(&init) && args.positional.len() == 3 => Ok(Called::Value(made)),
            _ => Err(opaque_class(own.as_any())),
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
        let generated = new.as_ref().is_some_and(type_facts::is_generated_new)
            && init
                .zip(type_facts::raw(&self.py.get_type::<PyAny>(), "__init__"))
                .is_some_and(|(own, plain)| own.is(&plain));
        let opaque = |_| Stop::brk(Reason::OpaqueCall, "a named tuple");
        let fields: Vec<String> = class.getattr("_fields").and_then(|f| f.extract()).map_err(opaque)?;
        for read in ["_fields", "_field_defaults"] {
            self.class_lookup(class, read)?;
        }
        let defaults = class.getattr("_field_defaults").map_err(opaque)?;
        let Some(new) = new.filter(|_| generated && args.positional.len() <= fields.len()) else {
            return Err(Stop::brk(Reason::OpaqueCall, "a named tuple"));
        };
        self.guard_generated_new(class, new, &defaults)?;
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
                    Ok(default) => self.default_of_field(&defaults, field, &default)?,
                    Err(_) => return Err(Stop::brk(Reason::WouldRaise, "arguments of a named tuple")),
                },
            });
        }
        let class = self.objects.add(class);
        Ok(self.virtual_var(TupleVar { items: filled.into(), class: Some(class) }))
    }

    /// The constructor of a named tuple is as it was made, and the class has the methods that a tuple has.
    fn guard_generated_new(
        &mut self,
        class: &Bound<'py, PyAny>,
        new: Bound<'py, PyAny>,
        field_defaults: &Bound<'py, PyAny>,
    ) -> Result<(), Stop> {
        if self.made_anew(class).is_some() {
            return Ok(());
        }
        let opaque = || Stop::brk(Reason::OpaqueCall, "a named tuple");
        for method in ["__len__", "__iter__", "__getitem__", "__contains__", "__bool__"] {
            let of_tuple = type_facts::raw(&self.py.get_type::<PyTuple>(), method);
            let same = match (self.class_lookup(class, method)?, of_tuple) {
                (Some(own), Some(of_tuple)) => own.is(&of_tuple),
                (own, of_tuple) => own.is_none() && of_tuple.is_none(),
            };
            if !same {
                return Err(opaque());
            }
        }
        let new = match type_facts::descriptor(&new) {
            type_facts::Descriptor::StaticMethod => self.wrapped_function(&new)?,
            _ => new,
        };
        let parts = self.function_object_parts(&new)?;
        let defaults = facts::func_parts(&new).and_then(|parts| parts.defaults);
        let defaults = defaults.and_then(|d| d.to_owned().cast_into::<PyTuple>().ok());
        let given = defaults.map(|d| d.iter().collect::<Vec<_>>()).unwrap_or_default();
        let fields =
            field_defaults.call_method0("values").and_then(|values| values.try_iter()?.collect::<PyResult<Vec<_>>>());
        let as_it_was_made = fields.is_ok_and(|fields| {
            fields.len() == given.len() && fields.iter().zip(&given).all(|(field, given)| field.is(given))
        });
        // It calls `tuple.__new__` by a name of its own.
        let globals = self.objects.get(self.py, parts.globals);
        let globals = globals.cast::<PyDict>().map_err(|_| opaque())?;
        let tracker = self.constant_tracker(parts.globals);
        let made_by = self.dict_item(globals, tracker, "_tuple_new")?.ok_or_else(opaque)?;
        let kind = self.look(made_by)?;
        let of_tuple = self.py.get_type::<PyTuple>().getattr("__new__").map_err(|e| self.internal(&e))?;
        let plain = self.pinned(&kind).is_some_and(|found| found.eq(&of_tuple).unwrap_or(false));
        match as_it_was_made && plain {
            true => Ok(()),
            false => Err(opaque()),
        }
    }

    /// What a field has that is not given: an item of a dict that is the class's.
    fn default_of_field(
        &mut self,
        defaults: &Bound<'py, PyAny>,
        field: &str,
        default: &Bound<'py, PyAny>,
    ) -> Result<VarId, Stop> {
        let Some((_, defaults)) = self.made_anew(defaults) else { return Ok(self.pin_for_good(default)) };
        if let VarKind::Dict(dict) = self.look(defaults)? {
            for (name, value) in dict.entries.iter() {
                if self.constant_str(*name).is_some_and(|name| name == field) {
                    return Ok(*value);
                }
            }
        }
        Err(Stop::brk(Reason::OpaqueCall, "a named tuple"))
    }

    /// Index of a field of a named tuple class, if the class leaves reading it to the field's own descriptor.
    pub fn namedtuple_field(&mut self, class: &Bound<'py, PyAny>, name: &str) -> Result<Option<usize>, Stop> {
        let found = self.class_lookup(class, name)?;
        Ok(found.and_then(|getter| type_facts::place_of_field(&getter)))
    }

    /// A named tuple with converted items, for a framework call.
    pub fn rebuild_tuple_class(
        &mut self,
        class: sot_tracker::ObjectId,
        items: &Bound<'py, PyTuple>,
    ) -> Result<Bound<'py, PyAny>, Stop> {
        let class = self.objects.get(self.py, class);
        if class.cast::<PyType>().is_ok_and(type_facts::is_named_tuple) {
            // Without the class's own `__new__`, which may be the program's.
            let new = self.py.get_type::<PyTuple>().getattr("__new__");
            return new.and_then(|new| new.call1((class, items))).map_err(|e| self.would_raise(&e));
        }
        class.call1(items.clone()).map_err(|e| self.would_raise(&e))
    }
}

fn opaque_class(class: &Bound<'_, PyAny>) -> Stop {
    Stop::brk(Reason::OpaqueCall, format!("class {}", super::calls::name_of(class)))
}
