//! Members of `enum.IntEnum`, `IntFlag` and the like: constant objects whose class extends a value type of C and leaves an
//! operation to it. C answers then, asked with the very objects, and no code of the program runs.

use super::Executor;
use super::copies::Copies;
use crate::cpython::{VERSION, facts};
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;

/// What functions of `builtins`, and constructors, ask of their only argument.
const ASKED: &[(&str, &[&str])] = &[
    ("abs", &["__abs__"]),
    ("bin", &["__index__"]),
    ("chr", &["__index__"]),
    ("float", &["__float__", "__index__"]),
    ("hex", &["__index__"]),
    ("int", &["__int__", "__index__", "__trunc__"]),
    ("neg", &["__neg__"]),
    ("invert", &["__invert__"]),
    ("oct", &["__index__"]),
    ("ord", &[]),
    ("pos", &["__pos__"]),
    ("range", &["__index__"]),
    ("round", &["__round__"]),
];

/// What functions of `builtins` ask of each of their arguments, or of their items.
const ASKED_OF_ALL: &[(&str, &[&str])] = &[
    ("divmod", &["__divmod__", "__rdivmod__"]),
    ("hash", &["__hash__"]),
    ("max", COMPARED),
    ("min", COMPARED),
    ("pow", &["__pow__", "__rpow__"]),
    ("sorted", COMPARED),
];

/// What comparisons ask of their operands.
pub(super) const COMPARED: &[&str] = &["__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"];

/// Special methods of C that tell of the class of a value, or of the memory that it takes, and not of its content alone.
const OF_CLASS: &[&str] = &[
    "__class__",
    "__delattr__",
    "__dir__",
    "__getattribute__",
    "__getstate__",
    "__init__",
    "__init_subclass__",
    "__new__",
    "__reduce__",
    "__reduce_ex__",
    "__setattr__",
    "__sizeof__",
    "__subclasshook__",
];

impl<'py> Executor<'py> {
    /// The object of a value whose class leaves these methods to a value type of C, if it is such a type's or extends one.
    pub(super) fn value_of_c(&mut self, var: VarId, methods: &[&str]) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        let instance = match self.look(var)? {
            VarKind::Constant(_) => return Ok(self.constant_value(var)),
            VarKind::Instance(instance) => instance,
            _ => return Ok(None),
        };
        let class = self.objects.get(self.py, instance.class);
        // Of one that the simulation made C is asked with the value that it extends.
        let part = instance.part.filter(|_| instance.object.is_none());
        let part = part.and_then(|part| match &self.var(part).kind {
            VarKind::Constant(value) => Some(value.object),
            _ => None,
        });
        let Some(object) = instance.object.or(part) else { return Ok(None) };
        if part.is_none() && !instance.pinned && !type_facts::is_enumeration(&class) && !self.is_in_a_cell(var) {
            return Ok(None);
        }
        let ty = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
        let Some(base) = type_facts::base_of_c(ty).filter(|base| self.is_value_type(base)) else { return Ok(None) };
        self.guard_mro(ty);
        for method in methods {
            let (own, of_c) = (self.class_lookup(&class, method)?, type_facts::raw(&base, method));
            let left_to_c = match (&own, &of_c) {
                (Some(own), Some(of_c)) => own.is(of_c),
                (None, None) => true,
                _ => false,
            };
            if !left_to_c {
                return Ok(None);
            }
        }
        if part.is_none() {
            // A member is one object.
            self.look_identity(var)?;
        }
        let object = self.objects.get(self.py, object);
        if part.is_some() {
            return self.image_of(&class, &object).map(Some);
        }
        Ok(Some(object))
    }

    /// What C is asked about in the place of an instance that the simulation made: an object of the same content, whose class has
    /// the same name and extends the same type. So C says of the class what it says of that of the instance, and gives this
    /// object where it would give the instance.
    pub(super) fn image_of(
        &mut self,
        class: &Bound<'py, PyAny>,
        content: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyAny>, Stop> {
        let base = content.get_type();
        if content.cast_exact::<PyFloat>().is_ok_and(|number| number.value().is_nan()) {
            // It is hashed by its identity (3.10+), which no other object has.
            return Err(Stop::brk(Reason::OpaqueValue, "a NaN of a class that extends float"));
        }
        let made = || -> PyResult<Bound<'py, PyAny>> {
            let name = class.cast::<PyType>().map(facts::name_in_messages).unwrap_or_default();
            let bases = PyTuple::new(self.py, [&base])?;
            let class = facts::unlisted_class(self.py, name, bases, PyDict::new(self.py))?;
            base.getattr("__new__")?.call1((class, content))
        };
        made().map_err(|e| self.internal(&e))
    }

    /// The instance of which this is the part, if its content is a value of C: as an object that C is asked about.
    pub(super) fn image_of_whole(&mut self, part: VarId) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        let Some(whole) = self.whole_of(part) else { return Ok(None) };
        let (class, Some(content)) = (self.class_of(whole)?, self.constant_value(part)) else { return Ok(None) };
        self.image_of(&class, &content).map(Some)
    }

    fn is_value_type(&self, ty: &Bound<'py, PyType>) -> bool {
        let py = self.py;
        [py.get_type::<PyInt>(), py.get_type::<PyFloat>(), py.get_type::<PyString>(), py.get_type::<PyBytes>()]
            .iter()
            .any(|value| value.is(ty))
    }

    /// Whether a class extends a number of C.
    pub(super) fn extends_number(&self, class: &Bound<'py, PyAny>) -> bool {
        let base = class.cast::<PyType>().ok().and_then(type_facts::base_of_c);
        base.is_some_and(|base| base.is(self.py.get_type::<PyInt>()) || base.is(self.py.get_type::<PyFloat>()))
    }

    /// `left op right` of such values, where that is the answer of C. `None`: it is not.
    pub(super) fn operated_by_c(
        &mut self,
        function: &Bound<'py, PyAny>,
        methods: &[&str],
        operands: [VarId; 2],
    ) -> Result<Option<VarId>, Stop> {
        let mut values = Vec::with_capacity(2);
        for operand in operands {
            match self.value_of_c(operand, methods)? {
                Some(value) => values.push(value),
                None => return Ok(None),
            }
        }
        let result = function.call1((&values[0], &values[1])).map_err(|e| self.would_raise(&e))?;
        self.result_of_c(&result, &values, &operands).map(Some)
    }

    /// `function(value)` of such a value.
    pub(super) fn asked_of_c(
        &mut self,
        function: &Bound<'py, PyAny>,
        name: &str,
        value: VarId,
    ) -> Result<Option<VarId>, Stop> {
        let VarKind::Instance(instance) = self.look(value)? else { return Ok(None) };
        // Up to 3.9 a range keeps the very object that it was given.
        if name == "range" && instance.object.is_none() && self.py.version_info() < (3, 10) {
            return Ok(None);
        }
        let Some((_, methods)) = ASKED.iter().find(|(known, _)| *known == name) else { return Ok(None) };
        let Some(object) = self.value_of_c(value, methods)? else { return Ok(None) };
        let result = function.call1((&object,)).map_err(|e| self.would_raise(&e))?;
        self.result_of_c(&result, &[object], &[value]).map(Some)
    }

    /// What C makes of values, as a variable: a value that it gives back is what it was given as.
    pub(super) fn result_of_c(
        &mut self,
        result: &Bound<'py, PyAny>,
        values: &[Bound<'py, PyAny>],
        operands: &[VarId],
    ) -> Result<VarId, Stop> {
        let mut copies = Copies::default();
        for (value, operand) in values.iter().zip(operands) {
            copies.add(*operand, value);
        }
        self.fold_result(result, &copies)
    }

    /// Objects in the place of such values among the arguments of a pure function, and among the items of lists and tuples that are
    /// arguments; `None`: there are none, or it would ask for more than C answers.
    pub(super) fn images_asked(&mut self, name: &str, args: &[VarId]) -> Result<Option<Copies<'py>>, Stop> {
        let Some((_, methods)) = ASKED_OF_ALL.iter().find(|(known, _)| *known == name) else { return Ok(None) };
        let mut copies = Copies::default();
        for arg in args {
            let items: Vec<VarId> = match &self.var(*arg).kind {
                VarKind::List(ListVar { items, class: None, .. }) => items.to_vec(),
                VarKind::Tuple(TupleVar { items, class: None }) => items.to_vec(),
                _ => vec![*arg],
            };
            for item in items {
                if !matches!(self.var(item).kind, VarKind::Instance(_)) {
                    continue;
                }
                match self.value_of_c(item, methods)? {
                    Some(object) => copies.add(item, &object),
                    None => return Ok(None),
                }
            }
        }
        Ok((!copies.objects.is_empty()).then_some(copies))
    }

    /// The truth of such a value.
    pub(super) fn truth_of_c(&mut self, value: VarId) -> Result<Option<bool>, Stop> {
        if !matches!(self.look(value)?, VarKind::Instance(_)) {
            return Ok(None);
        }
        let class = self.class_of(value)?;
        // Who has a `__bool__` is not asked for its length.
        let asked: &[&str] = match self.class_lookup(&class, "__bool__")? {
            Some(_) => &["__bool__"],
            None => &["__bool__", "__len__"],
        };
        match self.value_of_c(value, asked)? {
            Some(object) => object.is_truthy().map(Some).map_err(|e| self.would_raise(&e)),
            None => Ok(None),
        }
    }

    /// The length of such a value, or of an array.
    pub(super) fn length_of_c(&mut self, value: VarId) -> Result<Option<usize>, Stop> {
        if self.is_array_of_numpy(value)? {
            let shape = self.getattr(value, "shape")?;
            let VarKind::Tuple(shape) = self.look(shape)? else {
                return Err(Stop::fallback(Reason::InternalError, "a shape"));
            };
            let first = shape.items.first().ok_or_else(|| Stop::brk(Reason::WouldRaise, "__len__"))?;
            let length = self.constant_int(*first).and_then(|n| usize::try_from(n).ok());
            return length.map(Some).ok_or_else(|| Stop::brk(Reason::WouldRaise, "__len__"));
        }
        match self.value_of_c(value, &["__len__"])? {
            Some(object) => object.len().map(Some).map_err(|e| self.would_raise(&e)),
            None => Ok(None),
        }
    }

    /// `owner.name(value, *args)`, a method of C that has no effect.
    pub(super) fn method_of_value(
        &mut self,
        callee: &Bound<'py, PyAny>,
        owner: &Bound<'py, PyAny>,
        name: &str,
        value: VarId,
        args: &Args,
    ) -> Result<Option<VarId>, Stop> {
        let VarKind::Instance(instance) = self.look(value)? else { return Ok(None) };
        let class = self.objects.get(self.py, instance.class);
        let base = class.cast::<PyType>().ok().and_then(type_facts::base_of_c);
        if Self::tells_of_class(name)
            || self.asks_for_text(name, args)
            || name == "__iter__"
            || !base.is_some_and(|base| base.is(owner))
        {
            return Ok(None);
        }
        // This very method was found, whatever the class has under that name.
        let Some(object) = self.value_of_c(value, &[])? else { return Ok(None) };
        self.asked_on_copy(callee, name, value, &object, args).map(Some)
    }

    /// A method of C of a value, asked on an object in its place.
    pub(super) fn asked_on_copy(
        &mut self,
        method: &Bound<'py, PyAny>,
        name: &str,
        value: VarId,
        object: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<VarId, Stop> {
        self.asks_for_no_locale(name, object, args)?;
        let mut copies = Copies::default();
        copies.add(value, object);
        if self.is_called_bound() {
            // It is bound then, and says of which class the value is if it is given too much.
            let bound = method.call_method1("__get__", (object,)).map_err(|e| self.internal(&e))?;
            return self.fold_call_with(&bound, args, &mut copies);
        }
        self.fold_call_with(method, &args.with_first(value), &mut copies)
    }

    /// Whether what is called now has been bound for the call: so is all that is called by a star.
    pub(super) fn is_called_bound(&self) -> bool {
        let frame = self.frame();
        !frame.is_hidden() && sot_opcodes::calls::binds_methods(VERSION, &frame.unit.code.instrs[frame.ip].op)
    }

    /// Whether a method of C asks for the text of the value, which its class may write: formatting by nothing.
    pub(super) fn asks_for_text(&mut self, name: &str, args: &Args) -> bool {
        if name != "__format__" {
            return false;
        }
        let spec = args.positional.first().and_then(|spec| self.constant_str(*spec));
        spec.is_none_or(|spec| spec.is_empty())
    }

    /// Whether a special method of C tells of the class of a value, and not of its content alone.
    pub(super) fn tells_of_class(name: &str) -> bool {
        OF_CLASS.contains(&name)
    }

    /// Such a value as an index.
    pub(super) fn index_of_c(&mut self, value: VarId) -> Result<Option<i64>, Stop> {
        let object = self.value_of_c(value, &["__index__"])?;
        Ok(object.filter(|object| object.is_instance_of::<PyInt>()).and_then(|object| object.extract().ok()))
    }
}
