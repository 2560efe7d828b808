//! Small protocols over kinds: truth, length, special methods, plain values.

use super::copies::Copies;
use super::kinds::Operations;
use super::{Awaits, Executor};
use crate::called_by_code::filled;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, Descriptor};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyList, PyTuple, PyType};
use sot_opcodes::Op;

impl<'py> Executor<'py> {
    pub fn truth(&mut self, var: VarId) -> Result<bool, Stop> {
        if let Some(length) = self.varying_length(var)? {
            return self.truth(length);
        }
        self.nested(|ex| ex.look(var)?.truth(ex, var))
    }

    pub fn length(&mut self, var: VarId) -> Result<usize, Stop> {
        self.nested(|ex| ex.look(var)?.length(ex, var))
    }

    pub fn iterate(&mut self, var: VarId) -> Result<VarId, Stop> {
        if self.is_long(var) {
            let frame = self.frame();
            let is_loop = !frame.is_hidden() && matches!(frame.unit.code.instrs[frame.ip].op, Op::GetIter);
            return Err(self.refuse_long(var, is_loop));
        }
        if let Some(iterator) = self.iterate_in_turn(var) {
            return Ok(iterator);
        }
        self.nested(|ex| ex.look(var)?.iterate(ex, var))
    }

    pub fn subscript(&mut self, var: VarId, key: VarId) -> Result<VarId, Stop> {
        if let Some(found) = self.subscript_by_key(var, key)? {
            return Ok(found);
        }
        self.nested(|ex| ex.look(var)?.subscript(ex, var, key))
    }

    pub fn call(&mut self, callee: VarId, args: &Args) -> Result<Called, Stop> {
        self.nested(|ex| ex.look(callee)?.call(ex, callee, args))
    }

    pub fn class_of(&mut self, var: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        self.nested(|ex| ex.look(var)?.class(ex, var))
    }

    /// As an argument of a framework call.
    pub fn argument(&mut self, var: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        if self.takes_numbers.contains(&var) {
            return self.number_as_operand(var);
        }
        if self.objects_taken.contains(&var)
            && let Some(object) = self.known_object(var)
        {
            return Ok(self.objects.get(self.py, object));
        }
        self.nested(|ex| ex.look(var)?.as_argument(ex, var))
    }

    /// Call arguments as Python objects, each made by `convert`.
    pub fn convert_arguments(
        &mut self,
        args: &Args,
        mut convert: impl FnMut(&mut Self, VarId) -> Result<Bound<'py, PyAny>, Stop>,
    ) -> Result<(Bound<'py, PyTuple>, Option<Bound<'py, PyDict>>), Stop> {
        let mut positional = Vec::with_capacity(args.positional.len());
        for arg in &args.positional {
            positional.push(convert(self, *arg)?);
        }
        let positional = PyTuple::new(self.py, positional).map_err(|e| self.internal(&e))?;
        if args.keywords.is_empty() {
            return Ok((positional, None));
        }
        let keywords = PyDict::new(self.py);
        for (name, value) in &args.keywords {
            let value = convert(self, *value)?;
            keywords.set_item(name, value).map_err(|e| self.internal(&e))?;
        }
        Ok((positional, Some(keywords)))
    }

    /// A value made of constants only, as the Python object that it is: for folding.
    pub fn require_plain(&mut self, var: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        self.plain_copy(var, &mut Copies::default())
    }

    /// As [`Executor::require_plain`]; what is one variable becomes one object, and stays known as that variable.
    pub fn plain_copy(&mut self, var: VarId, copies: &mut Copies<'py>) -> Result<Bound<'py, PyAny>, Stop> {
        self.nested(|ex| ex.plain_copy_of(var, copies))
    }

    fn plain_copy_of(&mut self, var: VarId, copies: &mut Copies<'py>) -> Result<Bound<'py, PyAny>, Stop> {
        if let Some(made) = copies.objects.get(&var) {
            return Ok(made.clone());
        }
        let opaque = || Stop::brk(Reason::OpaqueValue, "a value that is not constant");
        let object = match self.look(var)? {
            VarKind::Constant(_) => self.constant_value(var).ok_or_else(opaque)?,
            VarKind::Tuple(t) if t.class.is_none() => {
                let object = self.known_object(var);
                let tuple = (object, object.is_none().then_some(var));
                if !copies.open.insert(tuple) {
                    return Err(Stop::brk(Reason::Depth, "a tuple that contains itself"));
                }
                let mut items = Vec::with_capacity(t.items.len());
                for item in t.items.iter() {
                    items.push(self.plain_copy(*item, copies)?);
                }
                copies.open.remove(&tuple);
                PyTuple::new(self.py, items).map_err(|e| self.internal(&e))?.into_any()
            }
            VarKind::Tuple(TupleVar { items, class: Some(class) }) if self.is_record_of_c(class) => {
                for item in items.iter() {
                    self.plain_copy(*item, copies)?;
                }
                let object = self.known_object(var).ok_or_else(opaque)?;
                self.objects.get(self.py, object)
            }
            VarKind::List(l) => {
                let list = PyList::empty(self.py);
                if l.class.is_none() {
                    // Known before its items: it may be one of them.
                    copies.add(var, list.as_any());
                }
                for item in l.items.iter() {
                    let item = self.plain_copy(*item, copies)?;
                    list.append(item).map_err(|e| self.internal(&e))?;
                }
                match l.class {
                    None => list.into_any(),
                    Some(class) => {
                        let class = self.objects.get(self.py, class);
                        filled(&class, list.as_any()).map_err(|e| self.internal(&e))?
                    }
                }
            }
            VarKind::Dict(d) => {
                let factory = match d.factory {
                    Some(factory) => Some(self.plain_copy(factory, copies)?),
                    None => None,
                };
                let dict = PyDict::new(self.py);
                if d.class.is_none() {
                    copies.add(var, dict.as_any());
                }
                for (key, value) in d.entries.iter() {
                    let (key, value) = (self.plain_copy(*key, copies)?, self.plain_copy(*value, copies)?);
                    dict.set_item(key, value).map_err(|e| self.would_raise(&e))?;
                }
                match d.class {
                    None => dict.into_any(),
                    Some(class) => {
                        let class = self.objects.get(self.py, class);
                        let made = match factory {
                            Some(factory) => class.call1((factory, dict)),
                            None => class.call1((dict,)),
                        };
                        made.map_err(|e| self.would_raise(&e))?
                    }
                }
            }
            VarKind::Set(s) => self.plain_set(s.state, s.frozen, copies)?,
            VarKind::Deque(d) => {
                let mut items = Vec::with_capacity(d.items.len());
                for item in d.items.iter() {
                    items.push(self.plain_copy(*item, copies)?);
                }
                d.of_plain(self, items)?
            }
            VarKind::ByteArray(array) => PyByteArray::new(self.py, &array.bytes).into_any(),
            VarKind::Slice(s) => {
                let mut parts = Vec::with_capacity(3);
                for part in s.parts {
                    parts.push(self.plain_copy(part, copies)?);
                }
                type_facts::slice_of(self.py, &parts).map_err(|e| self.internal(&e))?
            }
            VarKind::Class(c) => {
                let class = self.objects.get(self.py, c.object);
                if !class.cast::<PyType>().is_ok_and(|t| !facts::is_heap_type(t)) {
                    return Err(opaque());
                }
                class
            }
            _ => return Err(opaque()),
        };
        copies.add(var, &object);
        Ok(object)
    }

    /// The result of a pure function on such copies: what was given to it is what it was given.
    pub fn fold_result(&mut self, object: &Bound<'py, PyAny>, copies: &Copies<'py>) -> Result<VarId, Stop> {
        self.nested(|ex| ex.fold_result_of(object, copies))
    }

    fn fold_result_of(&mut self, object: &Bound<'py, PyAny>, copies: &Copies<'py>) -> Result<VarId, Stop> {
        if let Some(var) = copies.var_of(object) {
            return Ok(var);
        }
        if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            let items = tuple.iter().map(|i| self.fold_result(&i, copies)).collect::<Result<Vec<_>, _>>()?;
            return Ok(self.virtual_var(TupleVar::new(items)));
        }
        if let Ok(list) = object.cast_exact::<PyList>() {
            let items = list.iter().map(|i| self.fold_result(&i, copies)).collect::<Result<Vec<_>, _>>()?;
            return Ok(self.virtual_var(ListVar::new(items)));
        }
        if let Ok(dict) = object.cast_exact::<PyDict>() {
            let mut entries = Vec::with_capacity(dict.len());
            for (key, value) in dict.iter() {
                entries.push((self.fold_result(&key, copies)?, self.fold_result(&value, copies)?));
            }
            return Ok(self.virtual_var(DictVar::new(entries)));
        }
        if let Ok(array) = object.cast_exact::<PyByteArray>() {
            return self.bytearray_of(array);
        }
        self.fold(object)
    }

    /// A dict key: a constant, or a tuple of such, or what stands in for an object that is compared by identity.
    pub fn require_key(&mut self, var: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        let kind = self.look(var)?;
        if self.is_id_of(var).is_some() {
            return self.key_of_id(var).map(Bound::into_any);
        }
        let plain = matches!(kind, VarKind::Constant(_)) || matches!(kind, VarKind::Tuple(_)) && self.is_plain(var)?;
        if plain {
            let key = self.require_plain(var)?;
            // A tuple of lists is no key.
            key.hash().map_err(|e| self.would_raise(&e))?;
            self.keep_unequal(var);
            return Ok(key);
        }
        // Text or a number of a class that leaves hashing and comparing to C is a key as C sees it.
        if matches!(kind, VarKind::Instance(_))
            && let Some(value) = self.value_of_c(var, &["__hash__", "__eq__"])?
        {
            return Ok(value);
        }
        let member = self.member(var)?;
        Ok(member.get().equal_to(self.py).unwrap_or_else(|| member.into_any()))
    }

    /// A constant int as an index; `None` if it is something else.
    pub fn index_value(&mut self, var: VarId) -> Result<Option<i64>, Stop> {
        match self.look(var)? {
            VarKind::Constant(_) => Ok(self.constant_int(var)),
            VarKind::Tensor(_) => Err(Stop::brk(Reason::TensorToScalar, "an index")),
            VarKind::Instance(_) => self.index_of_c(var),
            _ => Ok(None),
        }
    }

    /// A method of the class, bound; `None` if the class has none.
    pub fn special_method_if_any(&mut self, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let class = self.class_of(me)?;
        match self.class_lookup(&class, name)? {
            Some(function) if facts::is_function(&function) => {
                let function = self.pin(&function);
                Ok(Some(self.virtual_var(MethodVar { receiver: me, function })))
            }
            Some(method) if matches!(self.look(me)?, VarKind::Instance(InstanceVar { part: Some(_), .. })) => {
                if !type_facts::is_method_of_c(&method) {
                    return Err(Stop::brk(Reason::UserCode, name));
                }
                let function = self.pin(&method);
                Ok(Some(self.virtual_var(MethodVar { receiver: me, function })))
            }
            Some(method) if type_facts::is_method_of_c(&method) && self.is_simulated_object(me)? => {
                let function = self.pin(&method);
                Ok(Some(self.virtual_var(MethodVar { receiver: me, function })))
            }
            Some(method) if type_facts::is_method_of_c(&method) && self.value_of_c(me, &[name])?.is_some() => {
                let function = self.pin(&method);
                Ok(Some(self.virtual_var(MethodVar { receiver: me, function })))
            }
            Some(found) if self.wraps_function(&found) => match type_facts::descriptor(&found) {
                Descriptor::ClassMethod => self.bind_class_method(&class, &found).map(Some),
                _ => {
                    let function = self.wrapped_function(&found)?;
                    Ok(Some(self.pin(&function)))
                }
            },
            Some(_) => Err(Stop::brk(Reason::UserCode, name)),
            None => Ok(None),
        }
    }

    /// Whether this is a static or class method of a function: a special method may be one.
    pub(super) fn wraps_function(&self, found: &Bound<'py, PyAny>) -> bool {
        matches!(type_facts::descriptor(found), Descriptor::ClassMethod | Descriptor::StaticMethod)
            && found.getattr("__func__").is_ok_and(|function| facts::is_function(&function))
    }

    pub fn special_method(&mut self, me: VarId, name: &str) -> Result<VarId, Stop> {
        self.special_method_if_any(me, name)?.ok_or(Stop::brk(Reason::WouldRaise, name))
    }

    /// Call a special method and simulate it to its end.
    pub fn call_special(&mut self, me: VarId, name: &str, args: Vec<VarId>) -> Result<VarId, Stop> {
        let method = self.special_method(me, name)?;
        self.call_tail(method, &Args::positional(args))
    }

    /// `bool()` of an instance: `__bool__`, then `__len__`, then true.
    pub fn truth_by_protocol(&mut self, me: VarId) -> Result<bool, Stop> {
        if let Some(truth) = self.truth_of_c(me)? {
            return Ok(truth);
        }
        if let Some(method) = self.special_method_if_any(me, "__bool__")? {
            if self.step.tail.is_some() {
                let decides = self.step.tail == Some(Awaits::Decides);
                self.step.tail = Some(if decides { Awaits::Decides } else { Awaits::Bool });
            }
            let result = self.call_tail(method, &Args::default())?;
            self.check_truth(result)?;
            return self.truth(result);
        }
        if let Some(method) = self.special_method_if_any(me, "__len__")? {
            let tail =
                self.step.tail.take().map(|awaits| if awaits == Awaits::Decides { awaits } else { Awaits::Bool });
            self.enter("truth_of_length", &[method])?;
            return self.entered_tail(tail);
        }
        Ok(true)
    }

    /// `iter()` of an instance: what `__iter__` gives is the iterator, and is not asked again.
    pub fn iterate_by_protocol(&mut self, me: VarId) -> Result<VarId, Stop> {
        let iterator = self.call_special(me, "__iter__", vec![])?;
        self.check_iterator(iterator)?;
        Ok(iterator)
    }

    pub fn length_by_protocol(&mut self, me: VarId) -> Result<usize, Stop> {
        if let Some(length) = self.length_of_c(me)? {
            return Ok(length);
        }
        let result = self.call_special(me, "__len__", vec![])?;
        let length = self.constant_int(result).and_then(|n| usize::try_from(n).ok());
        length.ok_or(Stop::brk(Reason::WouldRaise, "__len__"))
    }

    /// The type of `iter(sequence)` or `reversed(sequence)` for a builtin sequence.
    pub fn class_of_iterator(&mut self, sequence: VarId, function: &str) -> Result<Bound<'py, PyAny>, Stop> {
        let sample = match self.look(sequence)? {
            VarKind::List(_) => PyList::empty(self.py).into_any(),
            VarKind::Tuple(_) => PyTuple::empty(self.py).into_any(),
            VarKind::Native(_) => self.array_to_ask(sequence)?,
            // Text of a class of the program is never the compact kind.
            VarKind::Constant(_) => match self.image_of_whole(sequence)? {
                Some(image) => image,
                None => self.require_plain(sequence)?,
            },
            _ => return Err(Stop::brk(Reason::ValueKind, "class of an iterator")),
        };
        let function = self.builtins_attribute(function)?;
        Ok(function.call1((sample,)).map_err(|e| self.would_raise(&e))?.get_type().into_any())
    }

    /// A callable whose truth and names are those of a plain C callable.
    pub fn is_plain_callable(&self, object: &Bound<'py, PyAny>) -> bool {
        object.is_callable()
            && object.get_type().name().is_ok_and(|n| {
                matches!(
                    n.to_string().as_str(),
                    "builtin_function_or_method"
                        | "method_descriptor"
                        | "wrapper_descriptor"
                        | "method-wrapper"
                        | "classmethod_descriptor"
                )
            })
    }

    pub fn types_attribute(&self, name: &str) -> Result<Bound<'py, PyAny>, Stop> {
        crate::cpython::module(self.py, "types").and_then(|m| m.getattr(name)).map_err(|e| self.internal(&e))
    }

    pub fn builtins_attribute(&self, name: &str) -> Result<Bound<'py, PyAny>, Stop> {
        crate::cpython::builtin(self.py, name).map_err(|e| self.internal(&e))
    }

    pub fn cell_type(&self) -> Result<Bound<'py, PyAny>, Stop> {
        self.types_attribute("CellType")
    }

    /// A function of module `operator`.
    pub fn operator(&self, name: &str) -> Result<Bound<'py, PyAny>, Stop> {
        crate::cpython::operator(self.py, name).map_err(|e| self.internal(&e))
    }
}
