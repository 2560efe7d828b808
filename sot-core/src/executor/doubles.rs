//! Doubles: objects that the interpreter is asked about in the place of the program's own.
//!
//! The double of a constant is the constant, that of a builtin container a copy with doubles in it. Everything else is doubled by
//! an object of a bare class that has the name of its class, and an *untouchable* in the place of each special method that its
//! class has. So the interpreter refuses what it would refuse, in its own words; as soon as it asks for something that only the
//! real value could answer, that is noted, and nothing follows from what it says.
//!
//! Functions are doubled by such as take the same parameters and do nothing; objects that refuse a write by such as lack the same.

use super::Executor;
use super::copies::Copies;
use super::limits::is_long_number;
use crate::code_unit::{HIDDEN_FILE, assemble, function_of};
use crate::cpython::{VERSION, facts};
use crate::objects::is_constant_type;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, Descriptor};
use crate::variables::*;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;
use sot_opcodes::{Code, CodeBuilder, CodeFlags, ConstId, Location, Op, Signature};
use std::sync::atomic::{AtomicBool, Ordering};

/// Modules of C whose functions and types compute, and nothing else.
const HARMLESS: &[&str] =
    &["builtins", "math", "cmath", "_operator", "operator", "itertools", "_functools", "_collections", "collections"];

/// Builtins that do more, or that look at the frame that calls them.
const HARMFUL: &str = "open print input exec eval compile __import__ breakpoint exit quit help globals locals vars dir id \
    __build_class__ super copyright credits license aiter anext";

/// So many doubles are made for one question.
const MOST: usize = 4096;

/// Numbers beyond this may stand for the length of something.
const LARGE: i64 = 1 << 24;

/// Special methods that operators ask for: a class that lacks them must go on lacking them. Calls take no bare doubles but of who
/// is called.
const ASKED: &str = "__add__ __radd__ __iadd__ __and__ __rand__ __iand__ __floordiv__ __rfloordiv__ __ifloordiv__ \
    __lshift__ __rlshift__ __ilshift__ __matmul__ __rmatmul__ __imatmul__ __mod__ __rmod__ __imod__ \
    __mul__ __rmul__ __imul__ __or__ __ror__ __ior__ __pow__ __rpow__ __ipow__ __rshift__ __rrshift__ __irshift__ \
    __sub__ __rsub__ __isub__ __truediv__ __rtruediv__ __itruediv__ __xor__ __rxor__ __ixor__ \
    __neg__ __pos__ __invert__ __bool__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ \
    __contains__ __iter__ __next__ __len__ __length_hint__ __getitem__ __setitem__ __delitem__ __index__ \
    __int__ __float__ __trunc__ __bytes__ __buffer__ __format__ __str__ __repr__ __call__ __enter__ __exit__";

/// Names of classes that are no special methods of their instances.
const NO_METHODS: &str = "__new__ __init__ __init_subclass__ __subclasshook__ __class_getitem__ __slots__ __dict__ __weakref__ \
    __module__ __doc__ __set_name__ __annotations__ __class__ __del__ __qualname__ __match_args__ \
    __firstlineno__ __static_attributes__ __text_signature__ __getattribute__";

/// Something that only the real value could answer was asked.
static TOUCHED: AtomicBool = AtomicBool::new(false);

fn untouchable(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static UNTOUCHABLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = UNTOUCHABLE.get_or_try_init(py, || -> PyResult<Py<PyAny>> {
        let function = PyCFunction::new_closure(py, None, None, |_, _| -> PyResult<()> {
            TOUCHED.store(true, Ordering::Relaxed);
            Err(PyRuntimeError::new_err("touched"))
        })?;
        Ok(function.into_any().unbind())
    })?;
    Ok(made.bind(py))
}

/// An object of a bare class that is called as `class` and is asked for nothing that this one would answer.
fn bare<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let object = py.get_type::<PyAny>();
    let touch = untouchable(py)?;
    let namespace = PyDict::new(py);
    for name in ["__getattribute__", "__repr__", "__str__", "__eq__", "__ne__", "__hash__", "__dir__", "__reduce_ex__"]
    {
        namespace.set_item(name, touch)?;
    }
    // The nearest class decides.
    let mro: Vec<Bound<'py, PyAny>> = facts::mro(class).iter().collect();
    let dict_of = py.get_type::<PyType>().getattr("__dict__")?.get_item("__dict__")?;
    for base in mro.iter().rev().filter(|base| !base.is(&object)) {
        let own = dict_of.call_method1("__get__", (base,))?;
        for item in own.call_method0("items")?.try_iter()? {
            let (name, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = item?.extract()?;
            let Ok(text) = name.extract::<String>() else { continue };
            if text.starts_with("__")
                && text.ends_with("__")
                && !NO_METHODS.split_whitespace().any(|other| other == text)
            {
                namespace.set_item(name, if value.is_none() { &value } else { touch })?;
            }
        }
    }
    namespace.set_item("__module__", "builtins")?;
    namespace.set_item("__slots__", PyTuple::empty(py))?;
    let made = facts::unlisted_class(py, facts::name_in_messages(class), PyTuple::empty(py), namespace)?;
    made.call0()
}

/// The objects of a rehearsal.
pub(super) struct Cast<'py> {
    pub(super) copies: Copies<'py>,
    /// How many doubles there are.
    size: usize,
    /// They are arguments of a call: C may ask whether one is of a kind of its own (a type, a cell, an exception), or for a special
    /// method that no operator asks for. What a bare object says to that is nothing.
    for_call: bool,
    /// Copies that could be changed, and what is in them.
    before: Vec<(Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>)>,
}

/// What is in a container that can be changed.
fn content<'py>(container: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    match container.cast::<PyDict>() {
        Ok(dict) => Ok(dict.iter().flat_map(|(key, value)| [key, value]).collect()),
        Err(_) => container.try_iter()?.collect(),
    }
}

impl<'py> Cast<'py> {
    pub(super) fn new(for_call: bool) -> Cast<'py> {
        Cast { copies: Copies::default(), size: 0, for_call, before: Vec::new() }
    }

    /// A double that is no argument itself.
    pub(super) fn apart<T>(&mut self, double: impl FnOnce(&mut Cast<'py>) -> T) -> T {
        let for_call = std::mem::replace(&mut self.for_call, false);
        let made = double(self);
        self.for_call = for_call;
        made
    }

    /// What is said of the doubles begins.
    pub(super) fn begin(&self) {
        TOUCHED.store(false, Ordering::Relaxed);
    }

    /// Whether nothing was asked that only the real values could answer, and no double was changed.
    pub(super) fn is_untouched(&self) -> bool {
        let unchanged = self.before.iter().all(|(container, before)| {
            content(container)
                .is_ok_and(|now| now.len() == before.len() && now.iter().zip(before).all(|(a, b)| a.is(b)))
        });
        unchanged && !TOUCHED.load(Ordering::Relaxed)
    }
}

impl<'py> Executor<'py> {
    /// A function that is called as another one, takes anything, and must not be entered.
    pub(super) fn named_function(&mut self, function: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        let mut names = Vec::new();
        for name in ["__name__", "__qualname__", "__module__"] {
            let value = self.getattr(function, name)?;
            names.push((name, self.require_plain(value)?));
        }
        // Up to 3.9 it is the code that is named.
        let code = self.code_name(function)?;
        let mut b = CodeBuilder::empty(VERSION, &code, HIDDEN_FILE, 1);
        b.set_args(&Signature { varargs: Some("a".into()), varkeywords: Some("k".into()), ..Signature::default() });
        b.prelude();
        b.emit(Op::LoadConst(ConstId(0)), Location::of_line(1));
        b.emit(Op::ReturnValue, Location::of_line(1));
        let made = self.function_of_code(b, &[self.py.None()])?;
        for (name, value) in names {
            made.setattr(name, value).map_err(|e| self.internal(&e))?;
        }
        Ok(made)
    }

    /// A function that takes the parameters of `code`, and does nothing.
    pub(super) fn function_with_parameters(
        &self,
        code: &Code,
        qualname: &str,
        defaults: usize,
        kwdefaults: &[&str],
    ) -> Result<Bound<'py, PyAny>, Stop> {
        let (positional, kwonly) = (code.argcount as usize, code.kwonlyargcount as usize);
        let mut names = code.varnames.iter().cloned();
        let positional = names.by_ref().take(positional).collect();
        let kwonly = names.by_ref().take(kwonly).collect();
        let mut next_if = |flag| if code.flags.contains(flag) { names.next() } else { None };
        let signature = Signature {
            positional,
            posonly: code.posonlyargcount,
            kwonly,
            varargs: next_if(CodeFlags::VARARGS),
            varkeywords: next_if(CodeFlags::VARKEYWORDS),
        };
        let mut b = CodeBuilder::empty(VERSION, &code.name, HIDDEN_FILE, 1);
        b.set_args(&signature);
        b.prelude();
        b.emit_all([Op::LoadConst(ConstId(0)), Op::ReturnValue], Location::of_line(1));
        let none = self.py.None();
        let made = self.function_of_code(b, std::slice::from_ref(&none))?;
        let given = PyTuple::new(self.py, (0..defaults).map(|_| &none)).map_err(|e| self.internal(&e))?;
        let given_by_name = PyDict::new(self.py);
        let named = kwdefaults.iter().try_for_each(|name| given_by_name.set_item(name, &none));
        let set = named
            .and_then(|()| made.setattr("__qualname__", qualname))
            .and_then(|()| made.setattr("__defaults__", given))
            .and_then(|()| made.setattr("__kwdefaults__", given_by_name));
        set.map_err(|e| self.internal(&e)).map(|()| made)
    }

    /// What an object without code of its own for it says that is refused a write: `value` is to be set, or the attribute to be
    /// deleted. `None`: it is not refused.
    pub(super) fn refused_write(&mut self, object: VarId, name: &str, sets: bool) -> Result<Option<Stop>, Stop> {
        let class = self.class_of(object)?.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        let found = self.class_lookup(class.as_any(), name)?;
        let refused = |ex: &Self| -> PyResult<(Bound<'py, PyAny>, PyResult<()>)> {
            let py = ex.py;
            let namespace = PyDict::new(py);
            if !type_facts::has_dict(&class) {
                namespace.set_item("__slots__", PyTuple::empty(py))?;
            }
            // As `type` itself reads it: a metaclass is not asked.
            let own = py.get_type::<PyType>().getattr("__dict__")?.get_item("__qualname__")?;
            namespace.set_item("__qualname__", own.call_method1("__get__", (&class,))?)?;
            // A field of a named tuple refuses whatever it is asked of.
            let refuses = |found: &&Bound<'py, PyAny>| {
                type_facts::is_exact_property(found) || type_facts::descriptor(found) == Descriptor::TupleGetter
            };
            let property = found.as_ref().filter(refuses);
            if property.is_none() && found.is_some() {
                namespace.set_item(name, py.None())?;
            }
            let like = facts::unlisted_class(py, facts::name_in_messages(&class), PyTuple::empty(py), namespace)?;
            let like = like.call0()?;
            let done = match (property, sets) {
                (Some(property), true) => property.call_method1("__set__", (&like, py.None())).map(drop),
                (Some(property), false) => property.call_method1("__delete__", (&like,)).map(drop),
                (None, true) => like.setattr(name, py.None()),
                (None, false) => like.delattr(name),
            };
            Ok((like, done))
        };
        if let Some(found) = &found {
            let by_code = match type_facts::is_exact_property(found) {
                true => {
                    let by_code = !self.part_of_descriptor(found, if sets { "fset" } else { "fdel" })?.is_none();
                    // Made again it has no name that the refusal could tell; of that its other parts speak.
                    let others = if by_code { &[][..] } else { &["fget", "fset", "fdel"] };
                    others.iter().try_for_each(|part| self.part_of_descriptor(found, part).map(drop))?;
                    by_code
                }
                false if type_facts::descriptor(found) == Descriptor::TupleGetter => false,
                // Nobody else knows what it says.
                false => self.is_data_descriptor(found)?,
            };
            if by_code {
                return Ok(None);
            }
        }
        // Since 3.13 what the error says of name and object depends on how the object keeps its attributes.
        if found.is_none() && self.py.version_info() >= (3, 13) {
            // So it does on whether the class leaves all writes to `object`.
            let mut in_other_words = !sets && type_facts::has_dict(&class);
            for writes in ["__setattr__", "__delattr__"] {
                let found = self.class_lookup(class.as_any(), writes)?;
                in_other_words |= !found.is_some_and(|own| type_facts::writes_as_object(&own));
            }
            if in_other_words {
                return Err(Stop::brk(Reason::WouldRaise, format!("a write of {name}")));
            }
        }
        let (like, done) = refused(self).map_err(|e| self.internal(&e))?;
        let Err(error) = done else { return Ok(None) };
        let mut copies = Copies::default();
        copies.add(object, &like);
        Ok(Some(self.raised_by(&error, &copies)))
    }

    pub(super) fn function_of_code(
        &self,
        builder: CodeBuilder,
        consts: &[Py<PyAny>],
    ) -> Result<Bound<'py, PyAny>, Stop> {
        let internal = |e: String| Stop::fallback(Reason::InternalError, e);
        let code = assemble(self.py, &builder.finish(), consts).map_err(internal)?;
        let globals = PyDict::new(self.py);
        let builtins = crate::cpython::module(self.py, "builtins").map_err(|e| self.internal(&e))?;
        globals.set_item("__builtins__", builtins.dict()).map_err(|e| self.internal(&e))?;
        function_of(self.py, &code, globals.as_any(), None).map_err(|e| internal(e.to_string()))
    }

    /// Whether a value's double is of its very type.
    pub(super) fn is_doubled_by_its_like(&mut self, var: VarId) -> Result<bool, Stop> {
        Ok(match self.look(var)? {
            VarKind::Constant(_) => {
                let class = self.class_of(var)?;
                let none = self.constant_value(var).is_some_and(|value| value.is_none());
                none || class.cast::<PyType>().is_ok_and(is_constant_type)
            }
            VarKind::Tuple(TupleVar { class: None, .. })
            | VarKind::List(ListVar { class: None, .. })
            | VarKind::Dict(DictVar { class: None, .. })
            | VarKind::Set(_)
            | VarKind::Deque(_)
            | VarKind::ByteArray(_)
            | VarKind::Slice(_) => true,
            VarKind::Class(class) => {
                let class = self.objects.get(self.py, class.object);
                class.cast::<PyType>().is_ok_and(|class| !facts::is_heap_type(class))
            }
            _ => false,
        })
    }

    /// What stands for a value.
    pub(super) fn double(&mut self, var: VarId, cast: &mut Cast<'py>) -> Result<Bound<'py, PyAny>, Stop> {
        if let Some(made) = cast.copies.get(var) {
            return Ok(made);
        }
        cast.size += 1;
        if cast.size > MOST {
            return Err(Stop::brk(Reason::OpaqueValue, "a large value"));
        }
        self.nested(|ex| ex.double_of(var, cast))
    }

    fn double_of(&mut self, var: VarId, cast: &mut Cast<'py>) -> Result<Bound<'py, PyAny>, Stop> {
        let changes = |cast: &mut Cast<'py>, made: &Bound<'py, PyAny>| -> Result<(), Stop> {
            let content = content(made).map_err(|e| Stop::internal(&e))?;
            cast.before.push((made.clone(), content));
            Ok(())
        };
        let object = match self.look(var)? {
            VarKind::Constant(_) if self.is_doubled_by_its_like(var)? => {
                let value = self.constant_value(var).ok_or(Stop::fallback(Reason::InternalError, "no constant"))?;
                let length = value.cast::<PyRange>().is_ok().then(|| value.len().unwrap_or(usize::MAX) as i64);
                let number = value.is_exact_instance_of::<PyInt>().then(|| value.extract::<i64>().unwrap_or(i64::MAX));
                if length.or(number).is_some_and(|size| size.unsigned_abs() > LARGE as u64) {
                    return Err(Stop::brk(Reason::OpaqueValue, "a large number"));
                }
                if cast.for_call && is_long_number(&value) {
                    return Err(Stop::brk(Reason::OpaqueValue, "a long text"));
                }
                value
            }
            VarKind::Tuple(TupleVar { class: None, items, .. }) => {
                let items = items.iter().map(|item| self.double(*item, cast)).collect::<Result<Vec<_>, _>>()?;
                PyTuple::new(self.py, items).map_err(|e| self.internal(&e))?.into_any()
            }
            VarKind::List(ListVar { class: None, items, .. }) => {
                let list = PyList::empty(self.py);
                cast.copies.add(var, list.as_any());
                for item in items.iter() {
                    let item = self.double(*item, cast)?;
                    list.append(item).map_err(|e| self.internal(&e))?;
                }
                changes(cast, list.as_any())?;
                list.into_any()
            }
            VarKind::Dict(DictVar { class: None, entries, .. }) => {
                let dict = PyDict::new(self.py);
                cast.copies.add(var, dict.as_any());
                for (key, value) in entries.iter() {
                    let (key, value) = (self.plain_copy(*key, &mut cast.copies)?, self.double(*value, cast)?);
                    dict.set_item(key, value).map_err(|e| self.internal(&e))?;
                }
                changes(cast, dict.as_any())?;
                dict.into_any()
            }
            VarKind::Set(set) => {
                let made = self.plain_set(set.state, set.frozen, &mut cast.copies)?;
                changes(cast, &made)?;
                made
            }
            VarKind::Deque(deque) => {
                let items = deque.items.iter().map(|item| self.double(*item, cast)).collect::<Result<Vec<_>, _>>()?;
                let made = deque.of_plain(self, items)?;
                changes(cast, &made)?;
                made
            }
            VarKind::ByteArray(array) => {
                let made = PyByteArray::new(self.py, &array.bytes).into_any();
                changes(cast, &made)?;
                made
            }
            VarKind::Slice(slice) => {
                let mut parts = Vec::with_capacity(3);
                for part in slice.parts {
                    parts.push(self.double(part, cast)?);
                }
                type_facts::slice_of(self.py, &parts).map_err(|e| self.internal(&e))?
            }
            VarKind::Class(class) if self.is_doubled_by_its_like(var)? => self.objects.get(self.py, class.object),
            VarKind::Builtin(builtin) if is_harmless(&self.objects.get(self.py, builtin.object)) => {
                self.objects.get(self.py, builtin.object)
            }
            _ if cast.for_call => return Err(Stop::brk(Reason::OpaqueValue, "a value that C may know by its kind")),
            kind => self.bare_double(var, &kind)?,
        };
        cast.copies.add(var, &object);
        Ok(object)
    }

    fn bare_double(&mut self, var: VarId, kind: &VarKind) -> Result<Bound<'py, PyAny>, Stop> {
        let class = self.class_of(var)?;
        let class = class.cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        // What is one of C's own kinds to C, no object of another class can stand for.
        let of_c = match kind {
            VarKind::Tuple(_) | VarKind::List(_) | VarKind::Dict(_) => true,
            VarKind::Instance(_) if class.is(self.py.get_type::<PyAny>()) => false,
            VarKind::Instance(_) => !facts::is_written_class(&class) || !self.extends_object(class.as_any())?,
            _ => false,
        };
        if of_c {
            return Err(Stop::brk(Reason::OpaqueValue, "a value that extends a builtin type"));
        }
        self.bare_of(&class)
    }

    pub(super) fn bare_of(&mut self, class: &Bound<'py, PyType>) -> Result<Bound<'py, PyAny>, Stop> {
        if facts::is_heap_type(class) {
            for name in ASKED.split_whitespace() {
                self.class_lookup(class.as_any(), name)?;
            }
        }
        bare(class).map_err(|e| self.internal(&e))
    }
}

/// Whether a callable of C computes, and does nothing else.
pub(super) fn is_harmless(callable: &Bound<'_, PyAny>) -> bool {
    let py = callable.py();
    let text = |name: &str| callable.getattr(name).and_then(|value| value.extract::<String>());
    // Types of C say that they are builtin where no module has them.
    let is_there = |module: &str, name: &str| {
        facts::imported(py, module).and_then(|module| module.getattr(name).ok()).is_some_and(|found| found.is(callable))
    };
    let of_c = callable.is_instance_of::<PyCFunction>()
        || callable.cast::<PyType>().is_ok_and(|c| !facts::is_written_class(c));
    let (Ok(module), Ok(name)) = (text("__module__"), text("__name__")) else { return false };
    of_c && HARMLESS.contains(&module.as_str())
        && !HARMFUL.split_whitespace().any(|other| other == name)
        && is_there(&module, &name)
}
