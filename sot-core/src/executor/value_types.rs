//! Members of `enum.IntEnum`, `IntFlag` and the like: constant objects whose class extends a value type of C and leaves an
//! operation to it. C answers then, asked with the very objects, and no code of the program runs.

use super::Executor;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::exceptions::PyTypeError;
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

/// What comparisons ask of their operands.
pub(super) const COMPARED: &[&str] = &["__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"];

/// Special methods of C that ask the content of a value alone, and nothing of its class.
const OF_CONTENT: &[&str] = &[
    "__abs__",
    "__add__",
    "__and__",
    "__bool__",
    "__contains__",
    "__eq__",
    "__float__",
    "__floordiv__",
    "__ge__",
    "__getitem__",
    "__gt__",
    "__index__",
    "__int__",
    "__invert__",
    "__le__",
    "__len__",
    "__lt__",
    "__mod__",
    "__mul__",
    "__ne__",
    "__neg__",
    "__or__",
    "__pos__",
    "__radd__",
    "__repr__",
    "__rmul__",
    "__rsub__",
    "__rtruediv__",
    "__str__",
    "__sub__",
    "__truediv__",
    "__xor__",
];

/// Another object of the same value, or this one where the interpreter has but one.
fn is_copied<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = value.py();
    if let Ok(value) = value.cast_exact::<PyFloat>() {
        return Some(PyFloat::new(py, value.value()).into_any());
    }
    if let Ok(value) = value.cast_exact::<PyString>() {
        return Some(PyString::new(py, value.to_str().ok()?).into_any());
    }
    if value.is_exact_instance_of::<PyInt>() {
        return PyInt::new(py, value.extract::<i64>().ok()?).into_any().into();
    }
    None
}

/// Methods of text that give the text itself back, whatever its class, where there is nothing to do.
const GIVE_THE_OBJECT: &[&str] = &["__format__", "__mod__", "format", "format_map", "partition", "rpartition"];

impl<'py> Executor<'py> {
    /// The object of a value whose class leaves these methods to a value type of C, if it is such a type's or extends one.
    pub(super) fn value_of_c(&mut self, var: VarId, methods: &[&str]) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        let instance = match self.look(var)? {
            VarKind::Constant(_) => return Ok(self.constant_value(var)),
            VarKind::Instance(instance) => instance,
            _ => return Ok(None),
        };
        let class = self.objects.get(self.py, instance.class);
        // Of one that the simulation made C is asked with the value that it extends: only what it says when it refuses tells.
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
        Ok(Some(self.objects.get(self.py, object)))
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
        let result = function.call1((&values[0], &values[1])).map_err(|e| self.refused_by_c(&e, &operands))?;
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
        let result = function.call1((&object,)).map_err(|e| self.refused_by_c(&e, &[value]))?;
        self.result_of_c(&result, &[object], &[value]).map(Some)
    }

    /// What C says of the values that were asked: of one in the place of an instance it says the wrong class where it tells classes.
    pub(super) fn refused_by_c(&mut self, error: &PyErr, operands: &[VarId]) -> Stop {
        let made = |var: &VarId| matches!(&self.var(*var).kind, VarKind::Instance(InstanceVar { object: None, .. }));
        if error.is_instance_of::<PyTypeError>(self.py) && operands.iter().any(made) {
            return Stop::brk(Reason::WouldRaise, "a value that extends a builtin type");
        }
        self.would_raise(error)
    }

    pub(super) fn result_of_c(
        &mut self,
        result: &Bound<'py, PyAny>,
        values: &[Bound<'py, PyAny>],
        operands: &[VarId],
    ) -> Result<VarId, Stop> {
        let at = values.iter().position(|value| value.is(result));
        if let Some(at) = at
            && let VarKind::Instance(InstanceVar { object: None, .. }) = &self.var(operands[at]).kind
        {
            // A value of its own, which C would have made of the instance.
            let own = is_copied(result).ok_or(Stop::brk(Reason::OpaqueValue, "a value made of an instance"))?;
            return self.fold(&own);
        }
        match at {
            Some(at) if !result.is_none() && !result.is_instance_of::<PyBool>() => Ok(operands[at]),
            _ => self.fold(result),
        }
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
            Some(object) => object.is_truthy().map(Some).map_err(|e| self.refused_by_c(&e, &[value])),
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
            Some(object) => object.len().map(Some).map_err(|e| self.refused_by_c(&e, &[value])),
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
        if name.starts_with("__") && !OF_CONTENT.contains(&name) || !base.is_some_and(|base| base.is(owner)) {
            return Ok(None);
        }
        // This very method was found, whatever the class has under that name.
        let Some(object) = self.value_of_c(value, &[])? else { return Ok(None) };
        self.knows_codec(callee, &args.with_first(value).positional, &args.keywords)?;
        let (positional, keywords) = self.convert_arguments(args, Self::require_plain)?;
        let all = std::iter::once(object.clone()).chain(positional.iter());
        let all = PyTuple::new(self.py, all.collect::<Vec<_>>()).map_err(|e| self.internal(&e))?;
        let result = callee.call(all, keywords.as_ref()).map_err(|e| self.refused_by_c(&e, &[value]))?;
        if instance.object.is_none() && GIVE_THE_OBJECT.contains(&name) {
            self.is_not_the_object(&object, &result)?;
        }
        self.result_of_c(&result, &[object], &[value]).map(Some)
    }

    /// C may give back the very object that it is asked, of a class that extends text too. Of one that the simulation made its content was
    /// asked: whether the same text is the object cannot be told then.
    pub(super) fn is_not_the_object(
        &mut self,
        content: &Bound<'py, PyAny>,
        result: &Bound<'py, PyAny>,
    ) -> Result<(), Stop> {
        let is_it = |text: &Bound<'py, PyAny>| {
            content.is_exact_instance_of::<PyString>()
                && text.is_exact_instance_of::<PyString>()
                && text.eq(content).unwrap_or(true)
        };
        let found = match result.cast_exact::<PyTuple>() {
            Ok(parts) => parts.iter().any(|part| is_it(&part)),
            Err(_) => is_it(result),
        };
        match found {
            true => Err(Stop::brk(Reason::OpaqueValue, "a text that may be the object itself")),
            false => Ok(()),
        }
    }

    /// Such a value as an index.
    pub(super) fn index_of_c(&mut self, value: VarId) -> Result<Option<i64>, Stop> {
        let object = self.value_of_c(value, &["__index__"])?;
        Ok(object.filter(|object| object.is_instance_of::<PyInt>()).and_then(|object| object.extract().ok()))
    }
}
