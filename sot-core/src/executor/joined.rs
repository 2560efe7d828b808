//! `a + b` and `a * n` of sequences where a class has something to say: `class Version(tuple)` with an `__add__`.
//!
//! Lists, tuples and texts are joined and repeated by slots of sequences, and have none of numbers. A class that extends one
//! has slots of numbers as soon as it has one of the two methods, and then both are asked by their names. So the interpreter asks the
//! methods first, on whichever side they are; what C does as a sequence comes last, and only for a class that leaves that method
//! to C.

use super::Executor;
use super::compared::class_name;
use super::operated::{Joining, Methods};
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::{BinaryOp, CompareOp};

impl Methods {
    /// Whether sequences have the operator.
    pub(super) fn joins(&self) -> bool {
        matches!(self.sign, "+" | "*")
    }
}

impl<'py> Executor<'py> {
    /// What a sequence is for C, and the name of its type: of an instance that extends one, the content alone.
    pub(super) fn as_sequence(&mut self, value: VarId) -> Result<Option<(VarId, &'static str)>, Stop> {
        Ok(match self.look(value)? {
            VarKind::Tuple(TupleVar { class: None, .. }) => Some((value, "tuple")),
            VarKind::Tuple(TupleVar { items, .. }) => Some((self.virtual_var(TupleVar::new(items.to_vec())), "tuple")),
            VarKind::List(ListVar { class: None, .. }) => Some((value, "list")),
            VarKind::Constant(_) if self.constant_str(value).is_some() => Some((value, "str")),
            VarKind::Instance(InstanceVar { part: Some(part), .. }) => match self.look(part)? {
                VarKind::Tuple(tuple) => Some((self.virtual_var(TupleVar::new(tuple.items.to_vec())), "tuple")),
                VarKind::List(list) => Some((self.virtual_var(ListVar::new(list.items.to_vec())), "list")),
                VarKind::Constant(_) => match self.constant_str(part) {
                    Some(text) => Some((self.fold(PyString::new(self.py, &text).as_any())?, "str")),
                    None => None,
                },
                _ => None,
            },
            _ => None,
        })
    }

    fn type_of_sequence(&self, base: &str) -> Bound<'py, PyType> {
        match base {
            "tuple" => self.py.get_type::<PyTuple>(),
            "list" => self.py.get_type::<PyList>(),
            "bytes" => self.py.get_type::<PyBytes>(),
            _ => self.py.get_type::<PyString>(),
        }
    }

    /// The same, and constants of bytes: they join and repeat, but no class of the program keeps them as a part.
    fn as_operand(&mut self, value: VarId) -> Result<Option<(VarId, &'static str)>, Stop> {
        if let VarKind::Constant(_) = self.look(value)?
            && self.constant_value(value).is_some_and(|value| value.is_exact_instance_of::<PyBytes>())
        {
            return Ok(Some((value, "bytes")));
        }
        self.as_sequence(value)
    }

    /// Whether what a class has under a name is the method of the builtin type.
    pub(super) fn is_of_c(&self, base: &str, name: &str, found: &Bound<'py, PyAny>) -> bool {
        type_facts::raw(&self.type_of_sequence(base), name).is_some_and(|own| own.is(found))
    }

    /// Whether an instance has a method of the program for an operator.
    pub(super) fn overrides(&mut self, value: VarId, methods: &Methods) -> Result<bool, Stop> {
        let VarKind::Instance(_) = self.look(value)? else { return Ok(false) };
        let names = [Some(methods.plain.as_str()), Some(methods.reflected.as_str()), methods.inplace.as_deref()];
        self.has_one_of(value, names.into_iter().flatten())
    }

    /// Whether it has the slot of numbers.
    pub(super) fn overrides_as_number(&mut self, value: VarId, methods: &Methods) -> Result<bool, Stop> {
        let VarKind::Instance(_) = self.look(value)? else { return Ok(false) };
        self.has_one_of(value, [methods.plain.as_str(), methods.reflected.as_str()].into_iter())
    }

    /// Whether the class of a value has a method of the program under a name.
    pub(super) fn has_of_program(&mut self, value: VarId, name: &str) -> Result<bool, Stop> {
        self.has_one_of(value, [name].into_iter())
    }

    /// Whether both are texts of C.
    pub(super) fn are_texts(&mut self, left: VarId, right: VarId) -> Result<bool, Stop> {
        let constants = matches!((self.look(left)?, self.look(right)?), (VarKind::Constant(_), VarKind::Constant(_)));
        Ok(constants && self.constant_str(left).is_some() && self.constant_str(right).is_some())
    }

    fn is_given_an_instance(&mut self, args: &Args) -> Result<bool, Stop> {
        Ok(match *args.positional.as_slice() {
            [only] => matches!(self.look(only)?, VarKind::Instance(_)),
            _ => false,
        })
    }

    fn has_one_of<'n>(&mut self, value: VarId, names: impl Iterator<Item = &'n str>) -> Result<bool, Stop> {
        let class = self.class_of(value)?;
        for name in names {
            if self.class_lookup(&class, name)?.is_some_and(|found| facts::is_function(&found)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `a += b` of a class that leaves `__iadd__` to C's list: of all that lists do, this is a slot of numbers as well, which is asked
    /// before any `__add__`.
    pub(super) fn grown_in_place(&mut self, left: VarId, right: VarId) -> Result<Option<Called>, Stop> {
        let VarKind::Instance(InstanceVar { part: Some(part), .. }) = self.look(left)? else { return Ok(None) };
        if !matches!(self.look(part)?, VarKind::List(_)) {
            return Ok(None);
        }
        let class = self.class_of(left)?;
        match self.class_lookup(&class, "__iadd__")? {
            Some(found) if self.is_of_c("list", "__iadd__", &found) => {
                self.joined_by_c(left, part, "__iadd__", right).map(Called::Value).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// What C does with the operands as sequences.
    pub(super) fn join_at_last(&mut self, methods: &Methods, left: VarId, right: VarId) -> Result<Joining, Stop> {
        let (of_left, of_right) = (self.as_operand(left)?, self.as_operand(right)?);
        let (left_is_asked, right_is_asked) =
            (self.overrides_as_number(left, methods)?, self.overrides_as_number(right, methods)?);
        let is_instance = matches!(self.look(left)?, VarKind::Instance(_));
        if let (Some(name), Some((_, base))) = (&methods.inplace, of_left)
            && is_instance
        {
            let class = self.class_of(left)?;
            match self.class_lookup(&class, name)? {
                Some(found) if self.is_of_c(base, name, &found) => {
                    // Asked by its name it would say this in other words.
                    if methods.sign == "*" && self.index_value(right)?.is_none() {
                        return self.no_count(right);
                    }
                    return self.joining(left, base, name, right);
                }
                Some(found) if !facts::is_function(&found) => return Ok(Joining::Unknown),
                _ => {}
            }
        }
        if methods.sign == "+" {
            let Some((_, base)) = of_left.filter(|_| !left_is_asked) else { return Ok(Joining::None) };
            return match of_right {
                Some((_, other)) if other == base => self.joining(left, base, &methods.plain, right),
                _ => {
                    let class = self.class_of(right)?;
                    if base == "bytes" {
                        return match self.class_lookup(&class, "__buffer__")? {
                            Some(_) => Ok(Joining::Unknown),
                            None => Ok(Joining::Refused(format!("can't concat {} to bytes", class_name(&class)))),
                        };
                    }
                    let class = class_name(&class);
                    Ok(Joining::Refused(format!("can only concatenate {base} (not \"{class}\") to {base}")))
                }
            };
        }
        let right_repeats = methods.inplace.is_none() || !is_instance;
        let (sequence, base, count) = match (of_left, of_right) {
            (Some((_, base)), _) if !left_is_asked => (left, base, right),
            (_, Some((_, base))) if !right_is_asked && right_repeats => (right, base, left),
            _ => return Ok(Joining::None),
        };
        if self.index_value(count)?.is_some() {
            return self.joining(sequence, base, &methods.plain, count);
        }
        self.no_count(count)
    }

    /// What repeats says of what is no int.
    pub(super) fn no_count(&mut self, count: VarId) -> Result<Joining, Stop> {
        let class = self.class_of(count)?;
        if self.class_lookup(&class, "__index__")?.is_some() {
            return Ok(Joining::Unknown);
        }
        Ok(Joining::Refused(format!("can't multiply sequence by non-int of type '{}'", class_name(&class))))
    }

    fn joining(&mut self, receiver: VarId, base: &str, name: &str, other: VarId) -> Result<Joining, Stop> {
        let Some(function) = type_facts::raw(&self.type_of_sequence(base), name) else { return Ok(Joining::Unknown) };
        let function = self.pin(&function);
        Ok(Joining::Of(self.virtual_var(MethodVar { receiver, function }), other))
    }

    /// A special method of C that a container is asked for by its name: `items.__len__()`, `list.__add__(items, more)`.
    pub(super) fn call_special_of_c(
        &mut self,
        receiver: VarId,
        name: &str,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        if !name.starts_with("__") || !args.keywords.is_empty() {
            return Ok(None);
        }
        let of_dict = matches!(self.look(receiver)?, VarKind::Dict(_));
        let of_list = match self.look(receiver)? {
            VarKind::List(ListVar { class: None, .. }) => true,
            VarKind::Dict(DictVar { class: None, .. }) | VarKind::Iterator(_) => false,
            VarKind::Tuple(TupleVar { class: None, .. })
                if self.is_plain(receiver)? && !self.is_given_an_instance(args)? =>
            {
                return Ok(None);
            }
            VarKind::Tuple(TupleVar { class: None, .. }) => true,
            VarKind::Constant(_) => {
                // Of an instance that extends text, the content is joined.
                let joins = matches!((name, &*args.positional), ("__add__", [other])
                    if matches!(self.look(*other)?, VarKind::Instance(_)) && self.as_sequence(*other)?.is_some());
                if joins && self.as_sequence(receiver)?.is_some() {
                    let result = self.joined_by_c(receiver, receiver, name, args.positional[0])?;
                    return Ok(Some(Called::Value(result)));
                }
                return Ok(None);
            }
            _ => return Ok(None),
        };
        let builtin = match (name, args.positional.as_slice()) {
            ("__len__", []) => "len",
            ("__iter__", []) => "iter",
            ("__next__", []) => "next",
            ("__reversed__", []) if !matches!(self.look(receiver)?, VarKind::Tuple(_)) => "reversed",
            ("__getitem__", [key]) => return self.subscript(receiver, *key).map(Called::Value).map(Some),
            ("__setitem__", [key, value]) if of_list => {
                self.set_item(receiver, *key, *value)?;
                return self.fold_none().map(Called::Value).map(Some);
            }
            ("__setitem__", [key, value]) if of_dict => {
                self.set_item(receiver, *key, *value)?;
                return self.fold_none().map(Called::Value).map(Some);
            }
            ("__delitem__", [key]) if of_dict => {
                self.delete_item(receiver, *key)?;
                return self.fold_none().map(Called::Value).map(Some);
            }
            ("__eq__" | "__ne__" | "__lt__" | "__le__" | "__gt__" | "__ge__", [other]) if of_list || of_dict => {
                return self.compared_by_name(receiver, name, *other);
            }
            ("__or__", [other])
                if of_dict && matches!(self.look(*other)?, VarKind::Dict(DictVar { class: None, .. })) =>
            {
                return match self.enter_merged(BinaryOp::Or, false, receiver, *other)? {
                    Some(entered) => Ok(Some(entered)),
                    None => self.binary(BinaryOp::Or, false, receiver, *other).map(Called::Value).map(Some),
                };
            }
            ("__repr__", []) if of_list || of_dict => "repr",
            ("__delitem__", [key]) if of_list => {
                self.delete_item(receiver, *key)?;
                return self.fold_none().map(Called::Value).map(Some);
            }
            ("__contains__", [item]) if of_list => {
                if let Some(entered) = self.enter_contains(receiver, *item, false)? {
                    return Ok(Some(entered));
                }
                let found = self.contains(receiver, *item)?;
                return self.fold_bool(found).map(Called::Value).map(Some);
            }
            ("__add__" | "__mul__" | "__rmul__" | "__iadd__" | "__imul__", [other]) if of_list => {
                return self.joined_by_c(receiver, receiver, name, *other).map(Called::Value).map(Some);
            }
            _ => return Ok(None),
        };
        let builtin = self.builtin(builtin)?;
        self.call(builtin, &Args::positional(vec![receiver])).map(Some)
    }

    /// A comparison of a list, a tuple or a dict that is called by its name.
    fn compared_by_name(&mut self, me: VarId, name: &str, other: VarId) -> Result<Option<Called>, Stop> {
        let Some(op) = super::handlers::compare_operator(name.trim_matches('_')) else { return Ok(None) };
        let (own, given) = (self.look(me)?, self.look(other)?);
        let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
        let same_type = match (&own, &given) {
            (VarKind::List(_), VarKind::List(other)) => other.class.is_none(),
            (VarKind::Tuple(_), VarKind::Tuple(other)) => other.class.is_none(),
            (VarKind::Dict(_), VarKind::Dict(other)) if equality => other.class.is_none(),
            (VarKind::Iterator(_), _) => return Ok(None),
            (_, VarKind::Constant(_) | VarKind::List(_) | VarKind::Tuple(_) | VarKind::Dict(_) | VarKind::Set(_)) => {
                let exact = !matches!(
                    &given,
                    VarKind::List(ListVar { class: Some(_), .. })
                        | VarKind::Tuple(TupleVar { class: Some(_), .. })
                        | VarKind::Dict(DictVar { class: Some(_), .. })
                );
                let nothing = self.py.NotImplemented().into_bound(self.py);
                return if exact { self.fold(&nothing).map(Called::Value).map(Some) } else { Ok(None) };
            }
            _ => false,
        };
        if !same_type {
            return Ok(None);
        }
        match self.enter_compare(op, me, other, false)? {
            Some(compared) => Ok(Some(compared)),
            None => self.compare(op, me, other).map(Called::Value).map(Some),
        }
    }

    /// A method of C that joins or repeats, of a sequence or an instance that extends one. `part`: what is written.
    pub(super) fn joined_by_c(&mut self, me: VarId, part: VarId, name: &str, other: VarId) -> Result<VarId, Stop> {
        let refused = || Stop::brk(Reason::WouldRaise, name.to_owned());
        let (first, base) = self.as_sequence(me)?.ok_or_else(refused)?;
        match (name, self.look(part)?) {
            ("__iadd__", VarKind::List(_)) => {
                if self.iterates_by_code(other)? {
                    return Err(Stop::brk(Reason::UserCode, name.to_owned()));
                }
                self.extend_at_once(part, other)?;
                Ok(me)
            }
            ("__imul__", VarKind::List(list)) => {
                self.index_value(other)?.ok_or_else(refused)?;
                self.repeat_in_place(part, &list, other)?;
                Ok(me)
            }
            ("__add__", _) => match self.as_sequence(other)? {
                Some((second, kind)) if kind == base => self.binary(BinaryOp::Add, false, first, second),
                _ => Err(refused()),
            },
            ("__mul__" | "__rmul__", _) => {
                self.index_value(other)?.ok_or_else(refused)?;
                self.binary(BinaryOp::Multiply, false, first, other)
            }
            _ => Err(refused()),
        }
    }
}
