//! Classes whose making runs code of the program: a metaclass has a `__new__`, an `__init__`, a `__prepare__` or a `__call__` of its
//! own, or a base hears of its subclasses (`__init_subclass__`).
//!
//! What `type` does in between is a definition (`told_class`): the prototype is made, its base is told. New code makes such a class
//! *quietly* ([`crate::cpython::quiet_class`]), since what the program does with it is simulated: in the graph, in the journal. `ABCMeta`
//! is a metaclass like any other here; what C does for it (`_abc_init`) is an entry of the journal.

use super::Executor;
use super::made_classes::{ClassParts, as_it_is};
use super::state::Undo;
use crate::cpython::facts;
use crate::objects::is_constant_type;
use crate::stop::Stop;
use crate::type_facts::{self, Descriptor};
use crate::variables::*;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sideeffect::Mutation;

/// How a class on some bases is made.
pub(super) struct WayToMake<'py> {
    pub metaclass: Bound<'py, PyAny>,
    /// A base hears of it.
    pub told: bool,
}

impl WayToMake<'_> {
    /// Whether no code of the program runs.
    pub(super) fn is_plain(&self) -> bool {
        !self.told && (is_type(&self.metaclass) || type_facts::is_abc_meta(&self.metaclass))
    }
}

fn is_type(class: &Bound<'_, PyAny>) -> bool {
    class.is(class.py().get_type::<PyType>())
}

/// What `type` has under a name.
fn of_type<'py>(py: Python<'py>, name: &str) -> Option<Bound<'py, PyAny>> {
    type_facts::raw(&py.get_type::<PyType>(), name)
}

impl<'py> Executor<'py> {
    /// Whether a metaclass of the program is asked for an attribute of a class. `lacks`: the class has none of that name.
    pub(super) fn hears_of_lookup(&mut self, class: &Bound<'py, PyAny>, lacks: bool) -> Result<bool, Stop> {
        let id = self.objects.add(class);
        if !self.asks_metaclass(id) {
            return Ok(false);
        }
        let meta = self.metaclass(id);
        let of_type = type_facts::raw(&self.py.get_type::<PyType>(), "__getattribute__");
        let own = self.class_lookup(&meta, "__getattribute__")?;
        Ok(!own.zip(of_type).is_some_and(|(own, of_type)| own.is(&of_type))
            || lacks && self.class_lookup(&meta, "__getattr__")?.is_some())
    }

    /// Whether a class has what `type` has under a name, guarded.
    fn has_from_type(&mut self, class: &Bound<'py, PyAny>, name: &str) -> Result<bool, Stop> {
        let found = self.class_lookup(class, name)?;
        Ok(match (found, of_type(self.py, name)) {
            (Some(found), Some(own)) => found.is(&own),
            (None, None) => true,
            _ => false,
        })
    }

    /// How a class on these bases is made. `None`: as Python does it.
    pub(super) fn way_to_make(
        &mut self,
        given: Option<VarId>,
        bases: &[VarId],
    ) -> Result<Option<WayToMake<'py>>, Stop> {
        let mut metaclass = self.py.get_type::<PyType>().into_any();
        if let Some(given) = given {
            let VarKind::Class(given) = self.look(given)? else { return Ok(None) };
            metaclass = self.objects.get(self.py, given.object);
        }
        let mut told = false;
        for base in bases {
            let VarKind::Class(base) = self.look(*base)? else { return Ok(None) };
            let class = self.objects.get(self.py, base.object);
            let Ok(ty) = class.cast::<PyType>() else { return Ok(None) };
            let meta = self.metaclass(base.object);
            let is_below = |a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>| {
                a.cast::<PyType>().is_ok_and(|a| facts::mro(a).iter().any(|base| base.is(b)))
            };
            if !is_below(&metaclass, &meta) {
                if !is_below(&meta, &metaclass) {
                    return Ok(None);
                }
                metaclass = meta;
            }
            match self.may_be_base(ty)? {
                Some(hears) => told |= hears,
                None => return Ok(None),
            }
        }
        let way = WayToMake { metaclass, told };
        Ok(self.is_known_metaclass(&way)?.then_some(way))
    }

    fn is_known_metaclass(&mut self, way: &WayToMake<'py>) -> Result<bool, Stop> {
        let metaclass = &way.metaclass;
        if is_type(metaclass) {
            return Ok(true);
        }
        if type_facts::is_abc_meta(metaclass) {
            for name in ["__new__", "__init__", "__call__", "mro", "__prepare__"] {
                self.class_lookup(metaclass, name)?;
            }
            return Ok(true);
        }
        let Ok(ty) = metaclass.cast::<PyType>() else { return Ok(false) };
        let base = self.py.get_type::<PyType>();
        if !facts::is_written_class(ty)
            || !facts::mro(ty).iter().any(|class| class.is(&base))
            || facts::finds_names_by_code(ty)
        {
            return Ok(false);
        }
        self.guard_mro(ty);
        Ok(self.has_from_type(metaclass, "mro")? && self.has_from_type(metaclass, "__del__")?)
    }

    /// `__build_class__(body, name, *bases, metaclass=metaclass, **keywords)`, where code of the program makes the class.
    pub(super) fn enter_told_statement(
        &mut self,
        way: &WayToMake<'py>,
        [body, name, bases, original]: [VarId; 4],
        keywords: &[(String, VarId)],
    ) -> Result<Option<Called>, Stop> {
        let mut entries = Vec::with_capacity(keywords.len());
        for (word, value) in keywords {
            entries.push((self.fold(PyString::intern(self.py, word).as_any())?, *value));
        }
        let keywords = self.virtual_var(DictVar::new(entries));
        let prepared = !self.has_from_type(&way.metaclass, "__prepare__")?;
        let metaclass = self.pin(&way.metaclass);
        if prepared {
            return self.enter("class_prepared_by", &[metaclass, body, name, bases, keywords, original]).map(Some);
        }
        let names = self.virtual_var(DictVar::new(Vec::new()));
        self.enter("class_by", &[metaclass, body, name, bases, keywords, names, original]).map(Some)
    }

    /// What a `__prepare__` gave is where the body's names go.
    pub(super) fn plain_names(&mut self, names: VarId) -> Result<VarId, Stop> {
        match self.look(names)? {
            VarKind::Dict(dict) if dict.class.is_none() && dict.owner.is_none() && !self.found_outside(names) => {
                Ok(names)
            }
            _ => Err(as_it_is("where names go")),
        }
    }

    /// The values in the body of a class that are told their names: who tells each, the value, and the name. `metaclass`: which makes the
    /// class, if that is to be `type`.
    pub(super) fn told_names(&mut self, metaclass: VarId, names: VarId) -> Result<VarId, Stop> {
        let VarKind::Dict(dict) = self.look(names)? else { return Err(as_it_is("names")) };
        let mut told = Vec::new();
        for (key, value) in dict.entries.iter() {
            let VarKind::Instance(_) = self.look(*value)? else { continue };
            let class = self.class_of(*value)?;
            let Some(tell) = self.class_lookup(&class, "__set_name__")? else { continue };
            let name = self.constant_str(*key).ok_or_else(|| as_it_is("a key"))?;
            if !facts::is_function(&tell) || name.starts_with("__") {
                return Err(as_it_is("an instance"));
            }
            let tell = self.pin(&tell);
            told.push(self.virtual_var(TupleVar::new(vec![tell, *value, *key])));
        }
        let makes = self.look(metaclass)?;
        if !told.is_empty()
            && let VarKind::Class(metaclass) = makes
            && !is_type(&self.objects.get(self.py, metaclass.object))
        {
            return Err(as_it_is("an instance"));
        }
        Ok(self.virtual_var(TupleVar::new(told)))
    }

    /// What a metaclass gave for a class statement: its `__class__` is that.
    pub(super) fn class_checked(&mut self, made: VarId, cell: VarId) -> Result<VarId, Stop> {
        if let VarKind::Cell(_) = self.look(cell)?
            && self.cell_content(cell)? != Some(made)
        {
            return Err(as_it_is("a __class__ of its own"));
        }
        match self.look(made)? {
            VarKind::Class(_) => Ok(made),
            _ => Err(as_it_is("a metaclass that makes no class")),
        }
    }

    /// `type.__new__(metaclass, name, bases, names, **keywords)`.
    pub(super) fn call_new_of_type(&mut self, args: &Args) -> Result<Option<Called>, Stop> {
        let [metaclass, name, bases, names] = *args.positional.as_slice() else { return Ok(None) };
        let VarKind::Class(given) = self.look(metaclass)? else { return Ok(None) };
        let given = self.objects.get(self.py, given.object);
        if self.found.real_classes || self.constant_str(name).is_none() || !self.are_names_of_class(names)? {
            return Ok(None);
        }
        let VarKind::Tuple(tuple) = self.look(bases)? else { return Ok(None) };
        if tuple.class.is_some() {
            return Ok(None);
        }
        let Some(way) = self.way_to_make(Some(metaclass), &tuple.items)? else { return Ok(None) };
        if !way.metaclass.is(&given) {
            return Ok(None);
        }
        let names = self.with_a_module(names)?;
        let mut entries = Vec::with_capacity(args.keywords.len());
        for (word, value) in &args.keywords {
            entries.push((self.fold(PyString::intern(self.py, word).as_any())?, *value));
        }
        let keywords = self.virtual_var(DictVar::new(entries));
        self.enter("told_class", &[metaclass, name, bases, names, keywords]).map(Some)
    }

    /// Whether a dict is one that the capture has made, with names alone.
    fn are_names_of_class(&mut self, names: VarId) -> Result<bool, Stop> {
        let VarKind::Dict(dict) = self.look(names)? else { return Ok(false) };
        Ok(dict.class.is_none()
            && dict.owner.is_none()
            && !self.found_outside(names)
            && dict.entries.iter().all(|(key, _)| self.constant_str(*key).is_some()))
    }

    /// The names as `type` copies them; where they do not say which module the class is of, the frame that calls does.
    fn with_a_module(&mut self, names: VarId) -> Result<VarId, Stop> {
        let VarKind::Dict(dict) = self.look(names)? else { return Err(as_it_is("names")) };
        let mut entries = dict.entries.to_vec();
        if !entries.iter().any(|(key, _)| self.constant_str(*key).is_some_and(|key| key == "__module__")) {
            if self.frame().is_hidden() {
                return Err(as_it_is("a module"));
            }
            let module = self.load_global("__name__")?;
            entries.push((self.fold(pyo3::intern!(self.py, "__module__").as_any())?, module));
        }
        Ok(self.virtual_var(DictVar::new(entries)))
    }

    /// The class that `type.__new__` makes, before anybody is told.
    pub(super) fn quiet_class_made(&mut self, metaclass: VarId, parts: ClassParts) -> Result<VarId, Stop> {
        let VarKind::Dict(names) = self.look(parts.names)? else { return Err(as_it_is("names")) };
        let own = names.entries.iter().find(|(key, _)| self.constant_str(*key).is_some_and(|k| k == "__classcell__"));
        let cell = own.map(|(_, cell)| *cell);
        if let Some(cell) = cell {
            match self.look(cell)? {
                VarKind::Cell(cell) if cell.object.is_none() => {}
                _ => return Err(as_it_is("a cell of its own")),
            }
        }
        self.class_made(metaclass, cell, parts, true)
    }

    /// What `type` does besides making instances: `type.__new__(..)`, `type.__init__(..)`, `type.__prepare__(..)`; the
    /// `__init_subclass__` of `object`; `_abc._abc_init(class)`.
    pub(super) fn call_of_type(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<Option<Called>, Stop> {
        let is = |name: &str| of_type(self.py, name).is_some_and(|own| own.is(callee));
        if is("__new__") {
            return match self.call_new_of_type(args)? {
                // It asks the frame that calls it for the module of the class.
                None if self.frame().is_hidden() => Err(as_it_is("type.__new__")),
                made => Ok(made),
            };
        }
        let Some((first, rest)) = args.positional.split_first() else { return Ok(None) };
        let first = *first;
        let done = if is("__init__") {
            rest.len() == 3
        } else if is("__prepare__") {
            if !matches!(self.look(first)?, VarKind::Class(_)) {
                return Ok(None);
            }
            return Ok(Some(Called::Value(self.virtual_var(DictVar::new(Vec::new())))));
        } else if self.is_of_object("__init_subclass__", callee) {
            rest.is_empty() && args.keywords.is_empty()
        } else if rest.is_empty() && args.keywords.is_empty() && self.is_abc_init(callee) {
            return self.abstract_begun(first).map(|begun| begun.map(Called::Value));
        } else {
            return Ok(None);
        };
        if !done || !matches!(self.look(first)?, VarKind::Class(_)) {
            return Ok(None);
        }
        self.fold_none().map(|none| Some(Called::Value(none)))
    }

    fn is_abc_init(&self, callee: &Bound<'py, PyAny>) -> bool {
        let init = || crate::cpython::module(self.py, "_abc")?.getattr("_abc_init");
        callee.is_instance_of::<PyCFunction>() && init().is_ok_and(|init| init.is(callee))
    }

    /// `_abc._abc_init(class)`: what is abstract in a class is found out.
    fn abstract_begun(&mut self, var: VarId) -> Result<Option<VarId>, Stop> {
        let VarKind::Class(ClassVar { object, made: Some(_), .. }) = self.look(var)? else { return Ok(None) };
        let prototype = self.objects.get(self.py, object);
        let before = facts::class_dict(&prototype).map(|dict| dict.keys());
        if type_facts::own(&prototype, "_abc_impl").is_some() {
            return Ok(None);
        }
        let module = crate::cpython::module(self.py, "_abc").map_err(|e| self.internal(&e))?.clone();
        module.call_method1("_abc_init", (&prototype,)).map_err(|_| as_it_is("it raises"))?;
        for (name, object) in facts::class_dict(&prototype).into_iter().flatten() {
            if before.as_ref().is_some_and(|before| before.contains(&name).unwrap_or(false)) {
                continue;
            }
            if !is_constant_type(&object.get_type()) {
                let id = self.objects.add(&object);
                let odd = self.virtual_var(BuiltinVar { object: id });
                self.stands_for(&object, odd);
            }
            let (class, name) = (prototype.clone().unbind(), name.to_string());
            self.undo.push(Undo::Prototype { class, name, before: None });
        }
        let module = self.pin(module.as_any());
        self.journal_record(Mutation::Method {
            object: Self::var_ref(module),
            name: "_abc_init".to_owned(),
            args: vec![Self::var_ref(var)],
        });
        self.fold_none().map(Some)
    }

    /// Whether a class that stands on one hears of the program's: `None`: who knows.
    pub(super) fn hears_of_subclasses(&mut self, class: &Bound<'py, PyType>) -> Result<Option<bool>, Stop> {
        let Some(told) = self.class_lookup(class.as_any(), "__init_subclass__")? else { return Ok(None) };
        if self.is_of_object("__init_subclass__", &told) {
            return Ok(Some(false));
        }
        let by_function = type_facts::descriptor(&told) == Descriptor::ClassMethod
            && facts::is_function(&self.wrapped_function(&told)?);
        Ok(by_function.then_some(true))
    }
}

/// `plain_names(names)` and `class_checked(made, cell)`, as `__build_class__` says it.
pub(super) fn checked(args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let (made, cell) = (args.get_item(0)?, args.get_item(1)?);
    if cell.is_none() || !made.is_instance_of::<PyType>() {
        return Ok(made.unbind());
    }
    let name = made.getattr("__name__")?.repr()?;
    match facts::cell_contents(&cell) {
        Some(content) if content.is(&made) => Ok(made.unbind()),
        Some(content) => Err(PyTypeError::new_err(format!(
            "__class__ set to {} defining {name} as {}",
            content.repr()?,
            made.repr()?
        ))),
        None => Err(PyRuntimeError::new_err(format!(
            "__class__ not set defining {name} as {}. Was __classcell__ propagated to type.__new__?",
            made.repr()?
        ))),
    }
}
