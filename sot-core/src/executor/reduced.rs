//! `object.__reduce_ex__(2)` and higher: how an instance is taken apart, which is what `copy` puts together again.

use super::Executor;
use crate::cpython::facts;
use crate::stop::Stop;
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::{Mutation, Target};
use sot_tracker::ObjectId;

impl<'py> Executor<'py> {
    /// A method of `object`, or of an exception.
    pub(super) fn method_of_object(
        &mut self,
        owner: &Bound<'py, PyAny>,
        name: &str,
        value: VarId,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        if name == "__reduce_ex__"
            && owner.is(self.py.get_type::<PyAny>())
            && let Some(entered) = self.enter_taken_apart(value, args)?
        {
            return Ok(Some(entered));
        }
        self.method_of_exception(owner, name, value, args)
    }

    /// `object.__reduce_ex__(value, protocol)`, of an instance that leaves all of it to `object`; `None`: it does not.
    pub(super) fn enter_taken_apart(&mut self, value: VarId, args: &Args) -> Result<Option<Called>, Stop> {
        let ([protocol], []) = (args.positional.as_slice(), args.keywords.as_slice()) else { return Ok(None) };
        let VarKind::Instance(instance) = self.look(value)? else { return Ok(None) };
        if self.constant_int(*protocol).is_none_or(|protocol| protocol < 2) {
            return Ok(None);
        }
        let class = self.objects.get(self.py, instance.class);
        let Ok(class) = class.cast_into::<PyType>() else { return Ok(None) };
        let part = match instance.part {
            Some(part) => Some(self.look(part)?),
            None => None,
        };
        let (is_list, is_dict) = match part {
            None => (false, false),
            Some(VarKind::List(_)) => (true, false),
            Some(VarKind::Dict(DictVar { class: None, .. })) => (false, true),
            Some(_) => return Ok(None),
        };
        let object = self.py.get_type::<PyAny>();
        let base = match (is_list, is_dict) {
            (true, _) => self.py.get_type::<PyList>(),
            (_, true) => self.py.get_type::<PyDict>(),
            _ => object.clone(),
        };
        // Of what C makes, C says whether it can be taken apart.
        if !facts::is_written_class(&class) || !type_facts::base_of_c(&class).is_some_and(|of_c| of_c.is(&base)) {
            return Ok(None);
        }
        self.guard_mro(&class);
        let plain =
            self.class_lookup(class.as_any(), "__getattribute__")?.zip(type_facts::raw(&object, "__getattribute__"));
        if self.class_lookup(class.as_any(), "__reduce__")?.is_some_and(|own| facts::is_function(&own))
            && plain.is_some_and(|(found, own)| found.is(&own))
        {
            // That of the program is asked in its place.
            let reduce = self.getattr(value, "__reduce__")?;
            return self.call(reduce, &Args::default()).map(Some);
        }
        for name in ["__reduce__", "__getstate__", "__getattribute__", "__getnewargs_ex__", "__getnewargs__"] {
            let (found, own) = (self.class_lookup(class.as_any(), name)?, type_facts::raw(&base, name));
            let same = match (&found, &own) {
                (Some(found), Some(own)) => found.is(own),
                (found, own) => found.is_none() && own.is_none(),
            };
            if !same {
                return Ok(None);
            }
        }
        // Up to 3.10 it was asked for `__getstate__`.
        if type_facts::raw(&object, "__getstate__").is_none()
            && self.class_lookup(class.as_any(), "__getattr__")?.is_some()
        {
            return Ok(None);
        }
        let Some(names) = self.slot_names(&class)? else { return Ok(None) };
        let has_dict = self.class_lookup(class.as_any(), "__dict__")?.is_some();
        // Up to 3.10 an instance has no dict before somebody asks for it or sets an attribute, and then no state.
        let may_lack_it = has_dict && self.py.version_info() < (3, 11);
        if may_lack_it && instance.object.is_some_and(|object| self.object_may_lack_a_dict(object)) {
            return Ok(None);
        }
        let has_dict =
            has_dict && !(may_lack_it && instance.object.is_none() && self.lacks_a_dict(value, &instance)?);
        let make = self.of_copyreg("__newobj__")?;
        let class = self.pin(class.as_any());
        let (has_dict, is_list, is_dict) =
            (self.fold_bool(has_dict)?, self.fold_bool(is_list)?, self.fold_bool(is_dict)?);
        self.enter("reduced", &[value, class, make, names, has_dict, is_list, is_dict]).map(Some)
    }

    /// What C asks the module for at each call.
    fn of_copyreg(&mut self, name: &str) -> Result<VarId, Stop> {
        let module = crate::cpython::module(self.py, "copyreg").map_err(|e| self.internal(&e))?;
        let module = self.pin(&module);
        self.getattr(module, name)
    }

    /// Whether an object from before has no attributes, so that it may have no dict for them, either.
    fn object_may_lack_a_dict(&self, object: ObjectId) -> bool {
        let object = self.objects.get_ref(self.py, object);
        facts::lacks_dict_yet(object) || facts::instance_dict(object).is_none_or(|dict| dict.is_empty())
    }

    /// Whether nobody has asked an instance that the simulation made for its dict, or set an attribute in it.
    fn lacks_a_dict(&mut self, value: VarId, instance: &InstanceVar) -> Result<bool, Stop> {
        if instance.names.is_some() {
            return Ok(false);
        }
        let changes = self.journal.changes_of(Target::Object(Self::var_ref(value)));
        let names: Vec<_> = changes
            .filter_map(|entry| match &entry.mutation {
                Mutation::SetAttr { name, .. } => Some(name.to_string()),
                _ => None,
            })
            .collect();
        for name in names {
            if !self.is_outside_dict(value, &name)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The names of a class's slots: the class remembers them once it was asked. `None`: it has some, and does not yet.
    fn slot_names(&mut self, class: &Bound<'py, PyType>) -> Result<Option<VarId>, Stop> {
        let known = facts::class_dict(class).and_then(|own| own.get_item("__slotnames__").ok()?);
        let found = self.class_lookup(class.as_any(), "__slotnames__")?;
        if let Some(names) = known.as_ref().and_then(|known| known.cast_exact::<PyList>().ok()) {
            if !found.is_some_and(|found| found.is(names)) {
                return Ok(None);
            }
            return Ok(Some(self.pin(names.as_any())));
        }
        for base in facts::mro(class) {
            let Ok(base) = base.cast_into::<PyType>() else { return Ok(None) };
            let slots = facts::class_dict(&base).is_some_and(|own| own.contains("__slots__").unwrap_or(true));
            if facts::is_heap_type(&base) && slots {
                return Ok(None);
            }
        }
        // It would look for them, find none, and remember that.
        let function = self.of_copyreg("_slotnames")?;
        let class = self.pin(class.as_any());
        let VarKind::Function(FunctionVar::Object(asked)) = self.look(function)? else { return Ok(None) };
        let own = facts::func_parts(self.objects.get_ref(self.py, asked)).is_some_and(|parts| {
            let name =
                parts.globals.cast::<PyDict>().ok().and_then(|globals| facts::value_of_name(&globals, "__name__"));
            name.is_some_and(|name| name.extract::<&str>().is_ok_and(|name| name == "copyreg"))
        });
        if !own {
            return Ok(None);
        }
        self.journal_record(Mutation::Method {
            object: Self::var_ref(function),
            name: "__call__".to_owned(),
            args: vec![Self::var_ref(class)],
        });
        Ok(Some(self.virtual_var(TupleVar::new(Vec::new()))))
    }
}
