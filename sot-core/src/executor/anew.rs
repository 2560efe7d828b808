//! Classes that are made anew for each call ([`crate::captured`]): which they are, and what looking into one leaves.
//!
//! A class is taken for one that the same code makes again and again if it was found in a slot, or is the class of what was, and
//! no module leads to it by its name. Then it is found by its path from the slot, and guarded by what it is like and what was
//! read of it: its MRO, by the name of each look-up the first of its own bases that has it, and what is there: a
//! constant by its value, a function by its code, anything else as what is given in a slot is. What a look-up finds in a base
//! that is the same at each call is guarded by identity, as always.
//!
//! Whatever has no such guard here is no reason to be wrong: it marks the capture ([`crate::captured::Captured::note_named`]),
//! which starts over with classes that are known by their identity.

use super::Executor;
use crate::backend::Kind;
use crate::cpython::facts;
use crate::objects::is_constant_type;
use crate::stop::Stop;
use crate::type_facts::{self, Descriptor};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::{Access, Check, FunctionPart, ObjectId, TrackerId};

/// Whether a module leads to an object by its qualified name: it is made once. Runs no code of the program.
fn is_found_by_name(object: &Bound<'_, PyAny>, module: &Bound<'_, PyAny>, name: &str) -> bool {
    let py = object.py();
    let module = module.cast_exact::<PyString>().ok().and_then(|module| module.to_str().ok());
    let mut at = module.and_then(|module| facts::imported(py, module));
    for part in name.split('.') {
        at = at.and_then(|at| {
            let dict = facts::class_dict(&at).or_else(|| facts::module_dict(&at))?;
            facts::value_of_name(&dict, part)
        });
    }
    at.is_some_and(|found| found.is(object))
}

fn text_of(object: &Bound<'_, PyAny>, name: &str) -> Option<String> {
    match facts::field(object, &PyString::intern(object.py(), name)) {
        facts::Field::Value(text) => text.extract().ok(),
        facts::Field::Empty | facts::Field::NoField => None,
    }
}

/// A function of which a program has one.
fn is_function_of_a_module(function: &Bound<'_, PyAny>) -> bool {
    let py = function.py();
    let (facts::Field::Value(module), Some(name)) =
        (facts::field(function, pyo3::intern!(py, "__module__")), text_of(function, "__qualname__"))
    else {
        return false;
    };
    is_found_by_name(function, &module, &name)
}

impl<'py> Executor<'py> {
    /// Whether a class that was found at a path, or as the class of what is there, may be another one at the next call.
    pub(super) fn may_be_made_anew(&self, class: &Bound<'py, PyType>, tracker: TrackerId) -> bool {
        let given = self.has_path(tracker) && !self.is_under_constant(tracker) && !self.is_passing(tracker);
        given && !self.found.by_identity && self.is_of_those_made_anew(class)
    }

    /// Whether nothing tells that a class is the same at each call.
    fn is_of_those_made_anew(&self, class: &Bound<'py, PyType>) -> bool {
        if !facts::is_written_class(class) || self.objects.find(class).is_some() {
            return false;
        }
        if !self.has_plain_metaclass(class)
            || !facts::has_mro(class)
            || facts::finds_names_by_code(class)
            || self.is_of_a_module(class)
        {
            return false;
        }
        // Those that are made anew come before all others.
        let mro = facts::mro(class);
        let mut own = mro.iter().map(|base| {
            base.cast::<PyType>().is_ok_and(|base| {
                facts::is_written_class(base) && !self.is_of_a_module(base) && !self.is_known_for_good(base)
            })
        });
        own.by_ref().take_while(|anew| *anew).for_each(drop);
        !own.any(|anew| anew)
            && mro.get_item(0).is_ok_and(|first| first.is(class))
            && matches!(self.backend.classify(class), Kind::Unknown)
    }

    /// Whether a class is known as such a one, or would be if it were found at a path.
    pub(super) fn is_class_made_anew(&self, class: &Bound<'py, PyType>, tracker: TrackerId) -> bool {
        self.made_anew(class).is_some() || self.may_be_made_anew(class, tracker)
    }

    /// Whether a metaclass is known for all classes that the same code makes, or is made anew as they are, and gives them attributes as
    /// `type` does.
    fn has_plain_metaclass(&self, class: &Bound<'py, PyType>) -> bool {
        let meta = class.get_type();
        let known = || {
            facts::is_written_class(&meta)
                && (self.is_of_a_module(&meta)
                    || self.objects.find(&meta).is_some()
                    || self.is_of_those_made_anew(&meta))
        };
        // A `__getattr__` is asked last, by whoever reads an attribute.
        let plain = || {
            let own = type_facts::raw(&self.py.get_type::<PyType>(), "__getattribute__");
            type_facts::raw(&meta, "__getattribute__").zip(own).is_some_and(|(found, own)| found.is(&own))
        };
        meta.is(self.py.get_type::<PyType>())
            || (facts::getattr_kind(&meta) == facts::GetattrKind::Type || plain()) && known()
    }

    /// Whether a class was met where it is the same at each call.
    fn is_known_for_good(&self, class: &Bound<'py, PyType>) -> bool {
        self.objects.find(class).is_some_and(|id| !self.is_made_anew(id))
    }

    fn is_of_a_module(&self, class: &Bound<'py, PyType>) -> bool {
        let Some(name) = text_of(class, "__qualname__") else { return false };
        let module = facts::class_dict(class).and_then(|dict| facts::value_of_name(&dict, "__module__"));
        module.is_some_and(|module| is_found_by_name(class, &module, &name))
    }

    /// A class, found at `var`'s path, is one of many: so are those of its bases that no module leads to.
    pub(super) fn class_is_made_anew(&mut self, class: &Bound<'py, PyAny>, id: ObjectId, var: VarId) {
        self.captured.anew.insert(id, var);
        let base = self.var(var).tracker;
        let Ok(class) = class.cast::<PyType>() else { return };
        self.note_overridden(base, class.as_any());
        let meta = class.get_type();
        let at = self.trackers.step(base, Access::TypeOf);
        if self.may_be_made_anew(&meta, at) {
            self.wrap(meta.as_any(), at);
        }
        let at = self.trackers.step(base, Access::Attr("__mro__".into()));
        for (index, base) in facts::mro(class).iter().enumerate().skip(1) {
            let at = self.trackers.step(at, Access::SeqItem(index as i64));
            if base.cast::<PyType>().is_ok_and(|base| self.may_be_made_anew(base, at)) {
                self.wrap(&base, at);
            }
        }
    }

    /// What is found in a slot has a class that is one of many.
    pub(super) fn note_class_of(&mut self, object: &Bound<'py, PyAny>, tracker: TrackerId) {
        let class = object.get_type();
        if self.may_be_made_anew(&class, tracker) && matches!(self.backend.classify(object), Kind::Unknown) {
            let at = self.trackers.step(tracker, Access::TypeOf);
            self.wrap(class.as_any(), at);
        }
    }

    /// The variable of a class that is made anew.
    pub(super) fn made_anew(&self, class: &Bound<'py, PyAny>) -> Option<(ObjectId, VarId)> {
        if self.anew.is_empty() {
            return None;
        }
        let id = self.objects.find(class)?;
        self.anew.get(&id).map(|var| (id, *var))
    }

    /// The type of what is at a path is one that is made anew: as it was.
    pub(super) fn guard_class_of(&mut self, tracker: TrackerId, class: ObjectId, var: VarId) {
        let at = self.trackers.step(tracker, Access::TypeOf);
        let known = self.var(var).tracker;
        if at != known {
            self.guard(at, Check::SameAs(known));
        }
        self.guard_alike(class, var);
    }

    /// The class at its path is like this one, with such an MRO.
    pub(super) fn guard_alike(&mut self, class: ObjectId, var: VarId) {
        let base = self.var(var).tracker;
        if self.is_prototype(var) || self.guards.contains(base, &Check::Alike(class)) {
            return;
        }
        let object = self.objects.get(self.py, class);
        let meta = object.get_type();
        self.guard(base, Check::Alike(class));
        match self.made_anew(meta.as_any()) {
            Some((meta, var)) => self.guard_class_of(base, meta, var),
            None => {
                let meta = self.objects.add(meta.as_any());
                self.guard(base, Check::TypeIs(meta));
            }
        }
        let Ok(class) = object.cast::<PyType>() else { return };
        let mro = facts::mro(class);
        let at = self.trackers.step(base, Access::Attr("__mro__".into()));
        self.guard(at, Check::Len(mro.len()));
        for (index, base) in mro.iter().enumerate().skip(1) {
            let at = self.trackers.step(at, Access::SeqItem(index as i64));
            match self.made_anew(&base) {
                Some((class, var)) => {
                    let known = self.var(var).tracker;
                    if known != at {
                        self.guard(at, Check::SameAs(known));
                    }
                    self.guard_alike(class, var);
                }
                None => {
                    let base = self.objects.add(&base);
                    self.guard(at, Check::Is(base));
                }
            }
        }
    }

    /// What looking a name up on a class that is made anew found, guarded.
    pub(super) fn guard_look_up(
        &mut self,
        class: &Bound<'py, PyType>,
        (id, var): (ObjectId, VarId),
        name: &Bound<'py, PyString>,
        found: Option<&Bound<'py, PyAny>>,
    ) -> Result<(), Stop> {
        if self.is_prototype(var) {
            return self.guard_look_up_of_prototype(class, name);
        }
        self.guard_alike(id, var);
        let key = self.objects.add(name.as_any());
        let mut lacking = Vec::new();
        for base in facts::mro(class).iter() {
            let Some((_, var)) = self.made_anew(&base) else { break };
            let at = self.var(var).tracker;
            self.note_overridden(at, &base);
            let dict = self.trackers.step(at, Access::InstanceDict);
            let own = facts::class_dict(&base).and_then(|dict| dict.get_item(name).ok().flatten());
            let Some(own) = own else {
                lacking.push(dict);
                continue;
            };
            for dict in lacking {
                self.guard(dict, Check::Lacks(key));
            }
            let place = self.trackers.step(dict, Access::DictItem(key));
            if is_constant_type(&own.get_type()) || own.is_none() || own.is_exact_instance_of::<PyTuple>() {
                self.found_anew.insert(own.as_ptr() as usize, place);
            }
            if self.is_varying_at(place, &own) {
                // Something else may bind.
                let own = self.objects.add(&own);
                self.guard_type(place, own);
                return Ok(());
            }
            return self.guard_found(&own, place);
        }
        let at = self.var(var).tracker;
        let found = found.map(|found| self.objects.add(found));
        let name = name.to_string();
        self.guard(at, Check::ClassLookup { name, found });
        Ok(())
    }

    /// Whether code is of no file: a text that the program compiles, perhaps at each call.
    pub(super) fn is_compiled_anew(&self, code: ObjectId) -> bool {
        let code = self.objects.get_ref(self.py, code);
        let file = code.getattr("co_filename").and_then(|name| name.extract::<String>());
        file.is_ok_and(|name| name.starts_with('<'))
    }

    fn guard_is(&mut self, place: TrackerId, object: &Bound<'py, PyAny>) {
        let id = self.objects.add(object);
        self.guard(place, Check::Is(id));
    }

    /// What was found in a class that is made anew.
    pub(super) fn guard_found(&mut self, found: &Bound<'py, PyAny>, place: TrackerId) -> Result<(), Stop> {
        let ty = found.get_type();
        if found
            .cast_exact::<PyFrozenSet>()
            .is_ok_and(|set| set.iter().all(|item| item.is_exact_instance_of::<PyString>()))
        {
            let id = self.objects.add(found);
            self.guard(place, Check::Alike(id));
            return Ok(());
        }
        if is_constant_type(&ty) || found.is_none() {
            let id = self.objects.add(found);
            self.guard(place, Check::Equals(id));
            return Ok(());
        }
        if let Ok(tuple) = found.cast_exact::<PyTuple>() {
            let of_tuple = self.objects.add(ty.as_any());
            self.guard(place, Check::TypeIs(of_tuple));
            self.guard(place, Check::Len(tuple.len()));
            for (index, item) in tuple.iter().enumerate() {
                let at = self.trackers.step(place, Access::SeqItem(index as i64));
                if is_constant_type(&item.get_type()) || item.is_exact_instance_of::<PyTuple>() {
                    self.nested(|ex| ex.guard_found(&item, at))?;
                } else {
                    self.guard_is(at, &item);
                }
            }
            return Ok(());
        }
        let parts: &[&str] = match type_facts::descriptor(found) {
            Descriptor::Function if is_function_of_a_module(found) => {
                self.guard_is(place, found);
                return Ok(());
            }
            Descriptor::Method | Descriptor::Wrapper | Descriptor::CClassMethod | Descriptor::BuiltinFunction => {
                self.guard_is(place, found);
                return Ok(());
            }
            Descriptor::Function if type_facts::is_generated_new(found) => {
                return self.look_at_generated_new(found, place);
            }
            Descriptor::Other if type_facts::extends_property(found) => &["fget", "fset", "fdel"],
            Descriptor::Function | Descriptor::Plain | Descriptor::Other => return self.look_at_found(found, place),
            Descriptor::StaticMethod | Descriptor::ClassMethod => &["__func__"],
            Descriptor::Property => &["fget", "fset", "fdel"],
            Descriptor::Member | Descriptor::GetSet => &["__name__"],
            Descriptor::TupleGetter => &[],
        };
        let id = self.objects.add(found);
        let var = self.wrap(found, place);
        self.guard_type(place, id);
        if type_facts::place_of_field(found).is_some() {
            self.guard(place, Check::Alike(id));
        }
        self.captured.anew.insert(id, var);
        for name in parts {
            let at = self.trackers.step(place, Access::Attr((*name).into()));
            match facts::field(found, &PyString::intern(self.py, name)) {
                facts::Field::Value(part) => self.nested(|ex| ex.guard_found(&part, at))?,
                facts::Field::Empty | facts::Field::NoField => self.captured.names_anew = true,
            }
        }
        Ok(())
    }

    /// The `__new__` of a named tuple, which nobody looks into: its code and the dict of its names are made with it.
    fn look_at_generated_new(&mut self, found: &Bound<'py, PyAny>, place: TrackerId) -> Result<(), Stop> {
        let Some((code, globals)) = facts::func_parts(found).map(|p| (p.code.to_owned(), p.globals.to_owned())) else {
            return Ok(());
        };
        let id = self.objects.add(found);
        let var = self.wrap(found, place);
        self.captured.anew.insert(id, var);
        let code = self.objects.add(code.as_any());
        let at = self.trackers.step(place, Access::FunctionPart(FunctionPart::Code));
        self.guard(at, Check::Alike(code));
        let at = self.trackers.step(place, Access::FunctionPart(FunctionPart::Globals));
        let Ok(globals) = globals.cast_into::<PyDict>() else { return Ok(()) };
        self.guard(at, Check::Len(globals.len()));
        let name = pyo3::intern!(self.py, "_tuple_new");
        if let Some(new) = globals.get_item(name).ok().flatten() {
            let key = self.objects.add(name.as_any());
            let at = self.trackers.step(at, Access::DictItem(key));
            self.guard_is(at, &new);
        }
        Ok(())
    }

    /// A function, a container or an instance: as what is given in a slot.
    fn look_at_found(&mut self, found: &Bound<'py, PyAny>, place: TrackerId) -> Result<(), Stop> {
        let var = self.wrap(found, place);
        self.look(var)?;
        let Variable { kind, tracker, .. } = self.var(var);
        let by_identity = kind.pinned().is_some() || self.is_under_constant(*tracker);
        if !by_identity {
            let id = self.objects.add(found);
            self.captured.anew.insert(id, var);
        }
        Ok(())
    }
}
