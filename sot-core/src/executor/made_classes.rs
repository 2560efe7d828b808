//! Classes that the simulation makes: by a class statement, or a call of `type` with three arguments. Of the metaclass `type`, or that
//! of the abstract classes, on bases whose making runs no code of the program.
//!
//! The body is a frame like any other, whose names live in a dict ([`crate::frame::Frame::names`]); where something in it
//! breaks, the statement as a whole runs as Python. What it leaves is looked at through a *prototype*: a real class of the same
//! names that is made at capture and that nobody but the capture ever sees ([`super::prototypes`]). It is known as one that is made
//! anew ([`super::anew`]): who names it has the capture start over without prototypes.
//!
//! New code makes the class of what the body has left. Where a base is of the program or its libraries, they tell of the class
//! (`__subclasses__`): it is made where the statement stands among the other effects, whether somebody needs it or not. One
//! that stands on nothing but types of C is made where somebody needs it, if its end cannot be seen.

use super::{Awaits, Executor};
use crate::backend::Kind;
use crate::cpython::facts;
use crate::frame::Frame;
use crate::natives::Native;
use crate::objects::is_constant_type;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, Descriptor};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::Mutation;
use std::rc::Rc;

/// The definition of a statement whose bases say what stands for them.
const ON_ENTRIES: &str = "class_on_entries";

fn is_definition(frame: &Frame, name: &str) -> bool {
    frame.is_hidden() && frame.unit.code.name == name
}

/// The class cannot be made here: the statement runs as Python.
pub(super) fn as_it_is(what: &str) -> Stop {
    Stop::fallback(Reason::Builtin, format!("__build_class__: {what}"))
}

/// Whether it is a function that this capture has made.
fn is_made_here(kind: &VarKind) -> bool {
    matches!(kind, VarKind::Function(FunctionVar::Made(made)) if made.object.is_none())
}

/// What a class is made of.
#[derive(Clone, Copy)]
pub(super) struct ClassParts {
    pub name: VarId,
    /// A tuple.
    pub bases: VarId,
    /// A dict.
    pub names: VarId,
}

impl<'py> Executor<'py> {
    /// `__build_class__(body, name, *bases)`, if the class may be plain.
    pub(super) fn enter_class_statement(&mut self, args: &Args) -> Result<Option<Called>, Stop> {
        let [body, name, bases @ ..] = args.positional.as_slice() else { return Ok(None) };
        if self.found.real_classes || self.constant_str(*name).is_none() || !is_made_here(&self.var(*body).kind) {
            return Ok(None);
        }
        for base in bases {
            if matches!(self.look(*base)?, VarKind::Class(_)) {
                continue;
            }
            let mut keywords = Vec::with_capacity(args.keywords.len());
            for (word, given) in &args.keywords {
                keywords.push((self.fold(PyString::intern(self.py, word).as_any())?, *given));
            }
            let keywords = self.virtual_var(DictVar::new(keywords));
            let bases = self.virtual_var(TupleVar::new(bases.to_vec()));
            return self.enter(ON_ENTRIES, &[*body, *name, bases, keywords]).map(Some);
        }
        self.enter_statement([*body, *name], bases, &args.keywords, None)
    }

    /// The same, of classes that stand for the bases which the statement has.
    pub(super) fn enter_statement_on(
        &mut self,
        body: VarId,
        name: VarId,
        [bases, keywords]: [VarId; 2],
        original: VarId,
    ) -> Result<Called, Stop> {
        let (VarKind::Tuple(bases), VarKind::Dict(given)) = (self.look(bases)?, self.look(keywords)?) else {
            return Err(Stop::fallback(Reason::InternalError, "parts of a class"));
        };
        let mut keywords = Vec::with_capacity(given.entries.len());
        for (word, value) in given.entries.iter() {
            keywords.push((self.constant_str(*word).ok_or_else(|| as_it_is("a keyword"))?, *value));
        }
        let entered = self.enter_statement([body, name], &bases.items, &keywords, Some(original))?;
        entered.ok_or_else(|| as_it_is("a base"))
    }

    fn enter_statement(
        &mut self,
        [body, name]: [VarId; 2],
        bases: &[VarId],
        given: &[(String, VarId)],
        original: Option<VarId>,
    ) -> Result<Option<Called>, Stop> {
        let metaclass = given.iter().find(|(word, _)| word == "metaclass").map(|(_, given)| *given);
        let keywords: Vec<_> = given.iter().filter(|(word, _)| word != "metaclass").cloned().collect();
        let Some(way) = self.way_to_make(metaclass, bases)? else { return Ok(None) };
        let bases = self.virtual_var(TupleVar::new(bases.to_vec()));
        let original = match original {
            Some(original) => original,
            None => self.fold_none()?,
        };
        if !way.is_plain() || !keywords.is_empty() {
            return self.enter_told_statement(&way, [body, name, bases, original], &keywords);
        }
        let metaclass = self.pin(&way.metaclass);
        let names = self.virtual_var(DictVar::new(Vec::new()));
        self.enter("class_of", &[metaclass, body, name, bases, names, original]).map(Some)
    }

    /// `type(name, bases, names)`
    pub(super) fn call_to_make_class(
        &mut self,
        class: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        let [name, bases, names] = *args.positional.as_slice() else { return Ok(None) };
        if self.found.real_classes || !class.is(self.py.get_type::<PyType>()) {
            return Ok(None);
        }
        let (VarKind::Tuple(given), VarKind::Dict(dict)) = (self.look(bases)?, self.look(names)?) else {
            return Ok(None);
        };
        if given.class.is_some()
            || dict.class.is_some()
            || dict.owner.is_some()
            || self.found_outside(names)
            || self.constant_str(name).is_none()
        {
            return Ok(None);
        }
        let items = given.items.to_vec();
        let Some(way) = self.way_to_make(None, &items)? else { return Ok(None) };
        if !way.is_plain() || !args.keywords.is_empty() {
            // Of bases with another metaclass `type` asks that one.
            return match way.metaclass.is(class) {
                true => {
                    let metaclass = self.pin(class);
                    self.call_new_of_type(&args.with_first(metaclass))
                }
                false => Ok(None),
            };
        }
        if dict
            .entries
            .iter()
            .any(|(key, _)| self.constant_str(*key).is_none_or(|key| key == "__classcell__" || key == "__qualname__"))
        {
            return Ok(None);
        }
        let metaclass = self.pin(&way.metaclass);
        // Of bases with another metaclass `type` makes that one's.
        let made = self.class_made(metaclass, None, ClassParts { name, bases, names }, false);
        made.map(|made| Some(Called::Value(made))).or_else(|stop| match stop {
            Stop::Fallback(why) if why.reason == Reason::Builtin => Ok(None),
            stop => Err(stop),
        })
    }

    /// Whether making a class on this base is simulated, and whether the base hears of it.
    pub(super) fn may_be_base(&mut self, class: &Bound<'py, PyType>) -> Result<Option<bool>, Stop> {
        if self.is_made_here(class) || class.is(self.py.get_type::<PyAny>()) {
            return self.hears_of_subclasses(class);
        }
        if !facts::has_mro(class) {
            return Ok(None);
        }
        let mro = facts::mro(class);
        let of_framework = |base: Bound<'py, PyAny>| {
            !matches!(self.backend.classify(&base), Kind::Unknown | Kind::Maker(_))
                && facts::class_dict(&base).is_some()
        };
        if mro.iter().any(of_framework) || facts::finds_names_by_code(class) {
            return Ok(None);
        }
        self.guard_mro(class);
        let Some(hears) = self.hears_of_subclasses(class)? else { return Ok(None) };
        // A type that is abstract asks what has its abstract names.
        let Some(names) = self.class_lookup(class.as_any(), "__abstractmethods__")? else { return Ok(Some(hears)) };
        let Ok(names) = names.cast_exact::<PyFrozenSet>() else { return Ok(None) };
        for name in names.iter() {
            let Ok(name) = name.extract::<String>() else { return Ok(None) };
            let found = self.class_lookup(class.as_any(), &name)?;
            let known = found.is_some_and(|found| {
                use Descriptor::{ClassMethod, Function, Property, StaticMethod};
                matches!(type_facts::descriptor(&found), Function | Property | ClassMethod | StaticMethod)
            });
            if !known {
                return Ok(None);
            }
        }
        Ok(Some(hears))
    }

    /// Whether a class is the prototype of one that the simulation makes.
    pub(super) fn is_made_here(&self, class: &Bound<'py, PyType>) -> bool {
        self.made_anew(class).is_some_and(|(_, var)| self.is_prototype(var))
    }

    /// The body of a class begins.
    pub(super) fn enter_class_body(&mut self, body: VarId, names: VarId) -> Result<Called, Stop> {
        let VarKind::Function(function) = self.look(body)? else {
            return Err(Stop::fallback(Reason::InternalError, "no body"));
        };
        match self.call_function(&function, &Args::default())? {
            Called::Entered(Awaits::Push) => {
                self.frame_mut().names = Some(names);
                Ok(Called::Entered(Awaits::Push))
            }
            _ => Err(as_it_is("an odd body")),
        }
    }

    /// The call that made a class, if its body, or what that calls, is under way.
    pub(super) fn class_statement_under_way(&self) -> Option<crate::frame::Site> {
        // What `__prepare__` gives is to be local 6.
        self.statement_of(|frame| {
            frame.is_class_body()
                || is_definition(frame, ON_ENTRIES)
                || is_definition(frame, "class_prepared_by") && frame.locals.get(6).is_some_and(Option::is_none)
        })
    }

    /// The same, of a class on bases that are no classes.
    pub(super) fn class_on_entries_under_way(&self) -> Option<crate::frame::Site> {
        self.statement_of(|frame| is_definition(frame, ON_ENTRIES))
    }

    fn statement_of(&self, begins: impl Fn(&Frame) -> bool) -> Option<crate::frame::Site> {
        let body = self.frames.iter().position(begins)?;
        let caller = self.frames[..body].iter().rfind(|frame| !frame.is_hidden())?;
        let site = (caller.unit.address(), caller.ip);
        (!self.found.denied.contains_key(&site)).then_some(site)
    }

    /// The class that a body has left: of what it gives back, its name, its bases, and the names of the body.
    pub(super) fn class_made(
        &mut self,
        metaclass: VarId,
        cell: Option<VarId>,
        parts: ClassParts,
        quiet: bool,
    ) -> Result<VarId, Stop> {
        let ClassParts { name, bases, names } = parts;
        let (VarKind::Tuple(given), VarKind::Dict(names)) = (self.look(bases)?, self.look(names)?) else {
            return Err(Stop::fallback(Reason::InternalError, "parts of a class"));
        };
        let py = self.py;
        let namespace = PyDict::new(py);
        let mut stand_for: Vec<(VarId, Bound<'py, PyAny>)> = Vec::new();
        for (key, value) in names.entries.iter() {
            let key = self.constant_str(*key).ok_or_else(|| as_it_is("a key"))?;
            if key == "__classcell__" {
                // Another than that of the body, which the program has put there, is refused.
                if cell != Some(*value) {
                    return Err(as_it_is("a cell of its own"));
                }
                continue;
            }
            let known = stand_for.iter().find(|(var, _)| var == value).map(|(_, object)| object.clone());
            let object = match known {
                Some(object) => object,
                None => self.prototype_of(*value, &mut stand_for)?,
            };
            if let VarKind::Tuple(_) | VarKind::List(_) | VarKind::Dict(_) | VarKind::Set(_) = self.look(*value)?
                && !self.found_outside(*value)
            {
                // The class keeps them, whatever they are ([`crate::captured::Captured::keep_classes_real`]).
                for part in self.parts(*value) {
                    self.look(part)?;
                }
            }
            let odd =
                key == "__slots__" && !(object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyString>());
            match object.cast::<PyList>() {
                Ok(slots) if odd => self.fill_slots(*value, slots)?,
                _ if odd => return Err(as_it_is("slots")),
                _ => {}
            }
            // Those who are asked for members of its bases would ask it.
            if key == "__subclasshook__" {
                return Err(as_it_is("a hook"));
            }
            namespace.set_item(key, object).map_err(|e| self.internal(&e))?;
        }
        let mut of = Vec::with_capacity(given.items.len());
        for base in given.items.iter() {
            let VarKind::Class(base) = self.look(*base)? else { return Err(as_it_is("a base")) };
            of.push(self.objects.get(py, base.object));
        }
        let text = self.constant_str(name).ok_or_else(|| as_it_is("a name"))?;
        let of = PyTuple::new(py, of).map_err(|e| self.internal(&e))?;
        let VarKind::Class(kind) = self.look(metaclass)? else {
            return Err(Stop::fallback(Reason::InternalError, "no metaclass"));
        };
        let kind = self.objects.get(py, kind.object);
        let mut entries: Vec<(VarId, VarId)> = Vec::with_capacity(names.entries.len() + 1);
        for (key, value) in names.entries.iter() {
            if self.constant_str(*key).is_none_or(|key| key != "__classcell__") {
                entries.push((*key, *value));
            }
        }
        if namespace.get_item("__module__").ok().flatten().is_none() {
            // `type` asks the frame that calls it.
            let module = self.load_global("__name__")?;
            if self.constant_str(module).is_none() {
                return Err(as_it_is("a module without a name"));
            }
            let key = self.fold(pyo3::intern!(py, "__module__").as_any())?;
            let object = self.prototype_of(module, &mut stand_for)?;
            namespace.set_item("__module__", object).map_err(|e| self.internal(&e))?;
            entries.push((key, module));
        }
        let prototype = match quiet {
            true => crate::cpython::unlisted_quiet_class(&kind, &text, &of, &namespace),
            false => facts::unlisted_class_of(&kind, text, of, namespace.clone()),
        };
        let prototype = prototype.map_err(|_| as_it_is("it raises"))?;
        let object = self.objects.add(&prototype);
        let told = |base: Bound<'py, PyAny>| {
            base.cast::<PyType>().is_ok_and(|base| facts::is_heap_type(base) && !self.is_made_here(base))
        };
        let mro = prototype.cast::<PyType>().map(facts::mro).map_err(|e| self.internal(&e.into()))?;
        let listed = self.found.listed_classes || mro.iter().skip(1).any(told);
        let made_before = self.journal.entries().iter().rev().find_map(|entry| match entry.mutation {
            Mutation::ClassMade { class } => Some(VarId(class.0)),
            _ => None,
        });
        let after = made_before.filter(|_| listed);
        let made = MadeClass { metaclass, quiet, listed, after, name, bases, names: entries };
        let class = self.virtual_var(ClassVar { object, anew: true, made: Some(Rc::new(made)) });
        stand_for.push((class, prototype.clone()));
        for (var, object) in stand_for {
            self.stands_for(&object, var);
        }
        // What `type` has added is of this class alone, and no value of the program's.
        for (name, object) in facts::class_dict(&prototype).into_iter().flatten() {
            let given = namespace.get_item(&name).ok().flatten().is_some_and(|given| given.is(&object));
            if !given && !is_constant_type(&object.get_type()) && !object.is_none() {
                let object_id = self.objects.add(&object);
                let odd = self.virtual_var(BuiltinVar { object: object_id });
                self.stands_for(&object, odd);
            }
        }
        if listed {
            self.journal_record(Mutation::ClassMade { class: Self::var_ref(class) });
        }
        if let Some(cell) = cell
            && let VarKind::Cell(_) = self.look(cell)?
        {
            self.store_cell(cell, Some(class))?;
        }
        Ok(class)
    }

    /// The names in a list of slots.
    fn fill_slots(&mut self, slots: VarId, prototype: &Bound<'py, PyList>) -> Result<(), Stop> {
        let VarKind::List(list) = self.look(slots)? else { return Err(as_it_is("slots")) };
        for item in list.items.iter() {
            let name = self.constant_str(*item).ok_or_else(|| as_it_is("slots"))?;
            prototype.append(name).map_err(|e| self.internal(&e))?;
        }
        Ok(())
    }

    /// `value.setter(function)` and the like of a property that was made here.
    pub(super) fn property_changed(&mut self, property: VarId, name: &str, args: &Args) -> Result<VarId, Stop> {
        let unknown = || Stop::brk(Reason::ValueKind, "a method of a descriptor");
        let ([function], VarKind::Native(native)) = (args.positional.as_slice(), self.look(property)?) else {
            return Err(unknown());
        };
        let place = match name {
            "getter" => 0,
            "setter" => 1,
            "deleter" => 2,
            _ => return Err(unknown()),
        };
        if !args.keywords.is_empty() || !is_made_here(&self.look(*function)?) {
            return Err(unknown());
        }
        let mut parts = native.positional.to_vec();
        while parts.len() <= place {
            parts.push(self.fold_none()?);
        }
        parts[place] = *function;
        Ok(self.virtual_var(NativeVar { positional: parts.into(), ..native }))
    }

    /// What a property that was made here has, and what makes others of it.
    pub(super) fn attribute_of_property(
        &mut self,
        property: VarId,
        native: &NativeVar,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        let class = self.objects.get(self.py, native.class);
        let place = match name {
            "fget" => 0,
            "fset" => 1,
            "fdel" => 2,
            "getter" | "setter" | "deleter" if class.is(type_facts::property(self.py)) => {
                return Ok(Some(self.virtual_var(BoundVar::new(property, name))));
            }
            _ => 3,
        };
        if place > 2 || !class.is(type_facts::property(self.py)) {
            return Err(Stop::brk(Reason::ValueKind, "attribute of a descriptor"));
        }
        match native.positional.get(place) {
            Some(part) => Ok(Some(*part)),
            None => self.fold_none().map(Some),
        }
    }

    /// `property(get)` and the like in the body of a class.
    pub(super) fn call_descriptor_class(
        &mut self,
        class: &Bound<'py, PyType>,
        args: &Args,
    ) -> Result<Option<VarId>, Stop> {
        if !self.frame().is_class_body() || !args.keywords.is_empty() || args.positional.is_empty() {
            return Ok(None);
        }
        let name = class.name().map(|name| name.to_string()).unwrap_or_default();
        let most = match name.as_str() {
            "property" => 3,
            "staticmethod" | "classmethod" => 1,
            _ => return Ok(None),
        };
        let known = self.builtins_attribute(&name).is_ok_and(|builtin| builtin.is(class));
        if !known || args.positional.len() > most {
            return Ok(None);
        }
        for part in &args.positional {
            if !is_made_here(&self.look(*part)?) {
                return Ok(None);
            }
        }
        let class = self.objects.add(class.as_any());
        let (native, positional, keywords) = (Native::Descriptor, args.positional.clone().into(), Rc::new([]));
        Ok(Some(self.virtual_var(NativeVar { native, class, object: None, positional, keywords, pinned: false })))
    }
}
