//! Operators and conversions that are methods of the program: `a + b`, `abs(a)`, `int(a)`, `str(a)`, `f"{a}"`.
//!
//! Their frames are entered, so that a break inside is a break like any other. What the interpreter demands of the result of a
//! conversion it is asked itself, by an object of a class that answers the same (`definitions::answer`).

use super::Executor;
use super::compared::class_name;
use super::handlers::conversion_name;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, Descriptor};
use crate::variables::*;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_opcodes::{BinaryOp, Conversion};

/// An operator with two operands: name of its methods, and how messages write it.
pub(super) struct Methods {
    pub plain: String,
    pub reflected: String,
    pub inplace: Option<String>,
    pub sign: &'static str,
}

/// What is left of an operator when all methods have said NotImplemented.
pub(super) enum Joining {
    /// A method, and what it is given.
    Of(VarId, VarId),
    /// What the sequence says of the other operand.
    Refused(String),
    /// No operand is such a sequence.
    None,
    Unknown,
}

/// Name of the methods of an operator, without underscores, and its sign.
fn named(op: BinaryOp) -> (&'static str, &'static str) {
    match op {
        BinaryOp::Add => ("add", "+"),
        BinaryOp::And => ("and", "&"),
        BinaryOp::FloorDivide => ("floordiv", "//"),
        BinaryOp::Lshift => ("lshift", "<<"),
        BinaryOp::MatrixMultiply => ("matmul", "@"),
        BinaryOp::Multiply => ("mul", "*"),
        BinaryOp::Remainder => ("mod", "%"),
        BinaryOp::Or => ("or", "|"),
        BinaryOp::Power => ("pow", "** or pow()"),
        BinaryOp::Rshift => ("rshift", ">>"),
        BinaryOp::Subtract => ("sub", "-"),
        BinaryOp::TrueDivide => ("truediv", "/"),
        BinaryOp::Xor => ("xor", "^"),
    }
}

impl Methods {
    fn of(name: &str, sign: &'static str, inplace: bool) -> Methods {
        Methods {
            plain: format!("__{name}__"),
            reflected: format!("__r{name}__"),
            inplace: inplace.then(|| format!("__i{name}__")),
            sign,
        }
    }
}

/// Functions of `operator` that look at values only: neither at identity, nor do they change anything.
const PURE_OPERATORS: &[&str] = &["countOf", "index", "indexOf", "length_hint"];

impl<'py> Executor<'py> {
    /// An operator given as a function does what the operator does.
    pub(super) fn operator_function(
        &mut self,
        callee: &Bound<'py, PyAny>,
        name: &str,
        args: &Args,
    ) -> Result<VarId, Stop> {
        if !args.keywords.is_empty() {
            return Err(Stop::brk(Reason::WouldRaise, format!("operator.{name}")));
        }
        match *args.positional.as_slice() {
            [left, right] => {
                if let Some((op, inplace)) = super::handlers::binary_operator(name) {
                    return self.binary(op, inplace, left, right);
                }
                if let Some(op) = super::handlers::compare_operator(name) {
                    return self.compare(op, left, right);
                }
                match name {
                    "getitem" => return self.subscript(left, right),
                    "delitem" => {
                        self.delete_item(left, right)?;
                        return self.fold_none();
                    }
                    "is_" | "is_not" => {
                        let same = self.same_object(left, right)?;
                        return self.fold_bool(same == (name == "is_"));
                    }
                    "iconcat" if self.are_sequences(left, right)? => {
                        return self.binary(sot_opcodes::BinaryOp::Add, true, left, right);
                    }
                    "concat" if self.are_sequences(left, right)? || self.are_texts(left, right)? => {
                        return self.binary(sot_opcodes::BinaryOp::Add, false, left, right);
                    }
                    "contains" => {
                        let found = self.contains(left, right)?;
                        return self.fold_bool(found);
                    }
                    _ => {}
                }
            }
            [container, key, value] if name == "setitem" => {
                self.set_item(container, key, value)?;
                return self.fold_none();
            }
            [value] => match name {
                "not_" | "truth" => {
                    let truth = self.truth(value)?;
                    return self.fold_bool(truth == (name == "truth"));
                }
                "neg" | "pos" | "invert" | "inv" => {
                    return self.unary_operator(if name == "inv" { "invert" } else { name }, value);
                }
                "abs" => {
                    if let Some(Called::Value(result)) = self.builtin_function("abs", &args.positional)? {
                        return Ok(result);
                    }
                    let abs = self.builtins_attribute("abs")?;
                    return self.fold_call(&abs, args);
                }
                _ => {}
            },
            _ => {}
        }
        if PURE_OPERATORS.contains(&name) {
            return self.fold_call(callee, args);
        }
        Err(Stop::brk(Reason::Builtin, format!("operator.{name}")))
    }
}

impl<'py> Executor<'py> {
    /// The frame of `left op right`, if that is a method of the program.
    pub(super) fn enter_binary(
        &mut self,
        op: BinaryOp,
        inplace: bool,
        left: VarId,
        right: VarId,
    ) -> Result<Option<Called>, Stop> {
        let (left_kind, right_kind) = (self.look(left)?, self.look(right)?);
        if self.is_made_array(left) || self.is_made_array(right) {
            return self.binary(op, inplace, left, right).map(|result| Some(Called::Value(result)));
        }
        if let (BinaryOp::Remainder, VarKind::Constant(_)) = (op, &left_kind)
            && let Some(entered) = self.enter_percent(left, right)?
        {
            return Ok(Some(entered));
        }
        if !matches!(left_kind, VarKind::Instance(_)) && !matches!(right_kind, VarKind::Instance(_)) {
            return Ok(None);
        }
        // Sequences are joined and repeated, text is formatted, and some change in place: by rules of their own.
        let sequence = |ex: &mut Self, kind: &VarKind, var: VarId| -> Result<bool, Stop> {
            Ok(match kind {
                VarKind::Tuple(_) | VarKind::List(_) => true,
                VarKind::Constant(_) => ex.is_text(var)?,
                _ => false,
            })
        };
        let (name, sign) = named(op);
        let methods = Methods::of(name, sign, inplace);
        let joins = matches!(op, BinaryOp::Add | BinaryOp::Multiply);
        let of_left = match op {
            BinaryOp::Add | BinaryOp::Multiply | BinaryOp::Remainder => sequence(self, &left_kind, left)?,
            _ => inplace && matches!(left_kind, VarKind::Dict(_)),
        };
        if inplace
            && op == BinaryOp::Add
            && let Some(grown) = self.grown_in_place(left, right)?
        {
            return Ok(Some(grown));
        }
        if of_left || op == BinaryOp::Multiply && sequence(self, &right_kind, right)? {
            if inplace && matches!(left_kind, VarKind::Instance(_)) && !self.overrides(left, &methods)? {
                // Whoever has slots of sequences is asked alone, and classes of the program have them.
                return Err(Stop::brk(Reason::WouldRaise, "*="));
            }
            let grows = inplace && matches!(left_kind, VarKind::List(_));
            if !joins || grows || !self.overrides(left, &methods)? && !self.overrides_as_number(right, &methods)? {
                return Ok(None);
            }
        }
        self.enter_operator(methods, left, right)
    }

    /// The methods are asked in the interpreter's order, until one does not say NotImplemented.
    fn enter_operator(&mut self, methods: Methods, left: VarId, right: VarId) -> Result<Option<Called>, Stop> {
        self.may_meet_scalar(left, right)?;
        let (left_class, right_class) = (self.class_of(left)?, self.class_of(right)?);
        let derived = self.derives(&right_class, &left_class)?;
        let mut attempts = Vec::new();
        let mut order = vec![(left, &left_class, methods.plain.as_str(), right)];
        if !left_class.is(&right_class) {
            order.push((right, &right_class, methods.reflected.as_str(), left));
        }
        if derived {
            let own = self.class_lookup(&right_class, &methods.reflected)?;
            let inherited = self.class_lookup(&left_class, &methods.reflected)?;
            // Here C asks the classes themselves, as `getattr` does, and not only their MROs.
            if self.hears_of_lookup(&right_class, own.is_none())?
                || own.is_some() && self.hears_of_lookup(&left_class, inherited.is_none())?
            {
                return Err(Stop::brk(
                    Reason::UserCode,
                    format!("a metaclass that is asked for {}", methods.reflected),
                ));
            }
            let overloads = match (&own, &inherited) {
                (Some(own), Some(inherited)) => !own.is(inherited),
                (own, _) => own.is_some(),
            };
            if overloads {
                order.reverse();
            }
        }
        let older = self.py.version_info() < (3, 10);
        if let Some(name) = &methods.inplace {
            // Older ones ask nobody else where there is one for `**=`.
            if older && name == "__ipow__" && self.class_lookup(&left_class, name)?.is_some() {
                order.clear();
            }
            order.insert(0, (left, &left_class, name.as_str(), right));
        }
        let mut of_sequences = None;
        for operand in [left, right] {
            if let VarKind::Instance(_) = self.look(operand)?
                && self.as_sequence(operand)?.is_some()
            {
                of_sequences = Some(of_sequences.unwrap_or(false) || self.overrides(operand, &methods)?);
            }
        }
        if of_sequences == Some(false) && !self.overrides(left, &methods)? && !self.overrides(right, &methods)? {
            return Ok(None);
        }
        let is_text = |sequence: Option<(VarId, &str)>| sequence.is_some_and(|(_, base)| base == "str");
        if methods.sign == "%" && is_text(self.as_sequence(left)?) && is_text(self.as_sequence(right)?) {
            // Behind a method of the program the text on the right formats, too.
            return Err(Stop::brk(Reason::UserCode, "% of two texts"));
        }
        let not_inverted = self.fold_bool(false)?;
        let mut refusal = None;
        for (me, class, name, other) in order {
            let sequence = self.as_sequence(me)?.map(|(_, base)| base);
            if methods.joins() && sequence.is_some() {
                let given = name == methods.plain || name == methods.reflected;
                if given && !self.overrides_as_number(me, &methods)? {
                    continue;
                }
            }
            match self.look(me)? {
                // Dicts have no operators of their own but `|`.
                VarKind::Instance(InstanceVar { part: Some(part), .. })
                    if matches!(self.look(part)?, VarKind::Dict(_))
                        && (methods.sign != "|" || self.has_of_program(me, name)?) => {}
                VarKind::Instance(_)
                    if sequence.is_none() && !self.extends_object(class)? && !self.extends_number(class) =>
                {
                    return Ok(None);
                }
                _ => {}
            }
            let method = match self.look(me)? {
                VarKind::Instance(_) => match self.class_lookup(class, name)? {
                    Some(found) if facts::is_function(&found) => self.special_method(me, name)?,
                    // The list itself grows when all others have refused.
                    Some(_) if sequence.is_some() && methods.inplace.as_deref() == Some(name) => continue,
                    Some(found) if sequence.is_some_and(|base| self.is_of_c(base, name, &found)) => {
                        let function = self.pin(&found);
                        self.virtual_var(MethodVar { receiver: me, function })
                    }
                    // What C says comes after what the program says.
                    Some(found)
                        if !attempts.is_empty()
                            && matches!(
                                type_facts::descriptor(&found),
                                Descriptor::Method | Descriptor::Wrapper | Descriptor::BuiltinFunction
                            ) =>
                    {
                        let function = self.pin(&found);
                        self.virtual_var(MethodVar { receiver: me, function })
                    }
                    Some(_) => return Ok(None),
                    None => continue,
                },
                VarKind::Constant(_) if self.class_lookup(class, name)?.is_none() => continue,
                // Complex numbers, which once had no floor, refuse everybody.
                VarKind::Constant(_)
                    if class.is(self.py.get_type::<PyComplex>()) && matches!(methods.sign, "//" | "%" | "divmod()") =>
                {
                    if attempts.is_empty() {
                        return Err(Stop::brk(Reason::WouldRaise, methods.plain));
                    }
                    self.virtual_var(BoundVar::new(me, name))
                }
                // Bytes repeat as a sequence: an object of a class of the program has slots of sequences, too, and is asked alone where it
                // is to change.
                VarKind::Constant(_)
                    if me == right && methods.plain == "__mul__" && class.is(self.py.get_type::<PyBytes>()) =>
                {
                    match self.no_count(left)? {
                        _ if methods.inplace.is_some() => continue,
                        Joining::Refused(text) => {
                            refusal = Some(text);
                            continue;
                        }
                        _ if attempts.is_empty() => return Ok(None),
                        _ => self.virtual_var(BoundVar::new(me, name)),
                    }
                }
                // Values of C say NotImplemented to an instance of the program, unless it is of a subclass.
                VarKind::Constant(_) if self.extends_number(if me == left { &right_class } else { &left_class }) => {
                    if attempts.is_empty() {
                        return Ok(None);
                    }
                    self.virtual_var(BoundVar::new(me, name))
                }
                // A dict takes any other one.
                VarKind::Dict(_) if methods.sign == "|" && self.class_lookup(class, name)?.is_some() => {
                    match self.class_lookup(if me == left { &right_class } else { &left_class }, "keys")? {
                        None => continue,
                        Some(_) if attempts.is_empty() => return Ok(None),
                        Some(_) => self.virtual_var(BoundVar::new(me, name)),
                    }
                }
                VarKind::Constant(_) | VarKind::Tuple(_) | VarKind::List(_) | VarKind::Dict(_) => continue,
                VarKind::Tensor(_) if self.class_lookup(class, name)?.is_none() => continue,
                VarKind::Tensor(_) if me == right && !attempts.is_empty() => self.virtual_var(BoundVar::new(me, name)),
                _ => return Ok(None),
            };
            attempts.push(self.virtual_var(TupleVar::new(vec![method, other, not_inverted])));
        }
        if methods.joins() {
            match self.join_at_last(&methods, left, right)? {
                Joining::Of(method, other) => {
                    attempts.push(self.virtual_var(TupleVar::new(vec![method, other, not_inverted])));
                }
                Joining::Refused(text) => refusal = Some(text),
                Joining::None => {}
                Joining::Unknown => return Ok(None),
            }
        }
        if attempts.is_empty() {
            // The interpreter words it, if anybody sees it.
            return Err(Stop::brk(Reason::WouldRaise, methods.plain));
        }
        let sign = match methods.inplace {
            // Older ones tell of `**` where `**=` was asked.
            Some(_) if !older || methods.plain != "__pow__" => {
                format!("{}=", methods.sign.split(' ').next().unwrap_or_default())
            }
            _ => methods.sign.to_owned(),
        };
        let (left_name, right_name) = (class_name(&left_class), class_name(&right_class));
        let text = || format!("unsupported operand type(s) for {sign}: '{left_name}' and '{right_name}'");
        let text = refusal.unwrap_or_else(text);
        let text = self.fold(PyString::new(self.py, &text).as_any())?;
        let attempts = self.virtual_var(TupleVar::new(attempts));
        self.enter("ordered", &[attempts, text]).map(Some)
    }

    /// Whether a class is another one's subclass, and not that class: its methods are asked first.
    pub(super) fn derives(&mut self, class: &Bound<'py, PyAny>, of: &Bound<'py, PyAny>) -> Result<bool, Stop> {
        if class.is(of) {
            return Ok(false);
        }
        let class = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
        self.guard_mro(class);
        Ok(facts::mro(class).iter().any(|c| c.is(of)))
    }

    /// Whether a class of the program has no behaviour of C but that of `object`.
    pub(super) fn extends_object(&mut self, class: &Bound<'py, PyAny>) -> Result<bool, Stop> {
        let class = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?;
        self.guard_mro(class);
        Ok(type_facts::is_of_python_alone(class))
    }

    /// The method `name` of the program that an instance has.
    pub(super) fn method_of_program(&mut self, value: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        if !self.is_asked(value)? {
            return Ok(None);
        }
        let class = self.class_of(value)?;
        match self.class_lookup(&class, name)? {
            Some(found) if facts::is_function(&found) => self.special_method(value, name).map(Some),
            _ => Ok(None),
        }
    }

    /// The frame of the method `name` of the program that an instance has.
    pub(super) fn enter_special(&mut self, value: VarId, name: &str, args: Vec<VarId>) -> Result<Option<Called>, Stop> {
        match self.method_of_program(value, name)? {
            Some(method) => self.call(method, &Args::positional(args)).map(Some),
            None => Ok(None),
        }
    }

    /// A function of module `operator` whose work is a method of the program.
    pub(super) fn enter_operator_function(&mut self, name: &str, args: &[VarId]) -> Result<Option<Called>, Stop> {
        if let ("call", [callee, rest @ ..]) = (name, args) {
            return self.call(*callee, &Args::positional(rest.to_vec())).map(Some);
        }
        match *args {
            [left, right] => {
                if let Some((op, inplace)) = super::handlers::binary_operator(name) {
                    return self.enter_binary(op, inplace, left, right);
                }
                if let Some(op) = super::handlers::compare_operator(name) {
                    return self.enter_compare(op, left, right, false);
                }
                match name {
                    "contains" => self.enter_contains(left, right, false),
                    "getitem" if self.by_definition => {
                        let method = self.special_method(left, "__getitem__")?;
                        self.call(method, &Args::positional(vec![right])).map(Some)
                    }
                    "getitem" => self.enter_special(left, "__getitem__", vec![right]),
                    "delitem" => self.enter_done(left, "__delitem__", vec![right]),
                    _ => Ok(None),
                }
            }
            [container, key, value] if name == "setitem" => self.enter_done(container, "__setitem__", vec![key, value]),
            [value] => match name {
                "not_" | "truth" => self.enter_truth(value, name == "not_"),
                "abs" => self.enter_question("abs", args),
                "neg" | "pos" | "invert" | "inv" => {
                    let name = if name == "inv" { "invert" } else { name };
                    self.enter_special(value, &format!("__{name}__"), Vec::new())
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// The frame of a method of an instance whose result nobody looks at.
    fn enter_done(&mut self, value: VarId, name: &str, args: Vec<VarId>) -> Result<Option<Called>, Stop> {
        let method = match self.method_of_program(value, name)? {
            Some(method) => method,
            None if self.by_definition => self.special_method(value, name)?,
            None => return Ok(None),
        };
        let args = self.virtual_var(TupleVar::new(args));
        self.enter("done", &[method, args]).map(Some)
    }

    /// Builtin functions that ask one method of their argument.
    pub(super) fn enter_question(&mut self, name: &str, args: &[VarId]) -> Result<Option<Called>, Stop> {
        match (name, args) {
            ("abs", [value]) => self.enter_special(*value, "__abs__", Vec::new()),
            ("round", [value, rest @ ..]) if rest.len() <= 1 => {
                let Some(method) = self.method_of_program(*value, "__round__")? else { return Ok(None) };
                let digits = self.unless_none(rest.first().copied())?;
                self.call(method, &Args::positional(digits.into_iter().collect())).map(Some)
            }
            ("divmod", [left, right]) => match (self.look(*left)?, self.look(*right)?) {
                (VarKind::Instance(_), _) | (_, VarKind::Instance(_)) => {
                    self.enter_operator(Methods::of("divmod", "divmod()", false), *left, *right)
                }
                _ => Ok(None),
            },
            ("pow", [left, right]) => self.enter_binary(BinaryOp::Power, false, *left, *right),
            ("hash", [value]) if self.has_no_hash(*value)? => {
                let class = self.class_of(*value)?;
                Err(self.raise_error::<PyTypeError>(&format!("unhashable type: '{}'", class_name(&class))))
            }
            ("hash", [value]) if let Some(tuple) = self.hashed_as_a_tuple(*value)? => {
                let hash = self.builtins_attribute("hash")?;
                self.fold_call(&hash, &Args::positional(vec![tuple])).map(|hash| Some(Called::Value(hash)))
            }
            ("hash", [value]) => self.enter_answer("hash", *value, &["__hash__"], &[]),
            ("repr", [value]) if !matches!(self.look(*value)?, VarKind::Instance(_)) => {
                self.enter_text_of_container(*value)
            }
            ("repr" | "ascii", [value]) => match self.written_by_c(name, *value, None)? {
                Some(text) => Ok(Some(text)),
                None => self.enter_answer(name, *value, &["__repr__"], &[]),
            },
            ("format", [value]) => {
                let spec = self.fold(PyString::new(self.py, "").as_any())?;
                self.enter_format(*value, spec)
            }
            ("format", [value, spec]) => {
                self.is_written_without_locale(*spec)?;
                self.enter_format(*value, *spec)
            }
            _ => Ok(None),
        }
    }

    /// Builtin types that ask one method of their argument.
    pub(super) fn enter_conversion(&mut self, name: &str, value: VarId) -> Result<Option<Called>, Stop> {
        if let Some(text) = self.written_by_c(name, value, None)? {
            return Ok(Some(text));
        }
        let methods: &[&str] = match name {
            "str" if self.is_exception(value) => return self.enter_text_of_exception(value, "str"),
            "str" if !matches!(self.look(value)?, VarKind::Instance(_)) => return self.enter_text_of_container(value),
            "str" => &["__str__", "__repr__"],
            "int" => &["__int__", "__index__"],
            "float" => &["__float__", "__index__"],
            _ => return Ok(None),
        };
        self.enter_answer(name, value, methods, &[])
    }

    /// What a builtin makes of the answer of the first of these methods that the class of an instance has. What it has from
    /// `object` asks the next one.
    pub(super) fn enter_answer(
        &mut self,
        builtin: &str,
        value: VarId,
        methods: &[&str],
        args: &[VarId],
    ) -> Result<Option<Called>, Stop> {
        let builtin = self.builtin(builtin)?;
        self.enter_answer_for(builtin, value, methods, args)
    }

    /// As `enter_answer`, of any callable of C.
    pub(super) fn enter_answer_for(
        &mut self,
        builtin: VarId,
        value: VarId,
        methods: &[&str],
        args: &[VarId],
    ) -> Result<Option<Called>, Stop> {
        let (VarKind::Instance(_) | VarKind::Exception(_)) = self.look(value)? else { return Ok(None) };
        let class = self.class_of(value)?;
        for name in methods {
            let by_default = self.py.get_type::<PyAny>().getattr(*name).ok();
            match self.class_lookup(&class, name)? {
                Some(found) if facts::is_function(&found) => {
                    let method = self.special_method(value, name)?;
                    let name = self.fold(PyString::new(self.py, name).as_any())?;
                    let class = self.fold(PyString::new(self.py, &class_name(&class)).as_any())?;
                    let args = self.virtual_var(TupleVar::new(args.to_vec()));
                    return self.enter("answer_of", &[method, args, builtin, name, class]).map(Some);
                }
                Some(found) if by_default.is_some_and(|own| own.is(&found)) => {}
                // The text that another method of C writes, as members of enumerations have it.
                Some(found) if matches!(*name, "__str__" | "__repr__" | "__format__") && args.is_empty() => {
                    return self.written_by_method(&found, value);
                }
                Some(_) => return Ok(None),
                None => {}
            }
        }
        Ok(None)
    }

    /// What the answer of a method is where it is of the type that is demanded.
    pub(super) fn answer(&mut self, result: VarId, builtin: VarId, name: VarId) -> Result<VarId, Stop> {
        let name = self.constant_str(name).unwrap_or_default();
        self.look(result)?;
        if name == "__hash__" {
            return self.hash_of_answer(result);
        }
        let kind = self.look(builtin)?;
        let builtin = kind
            .pinned()
            .map(|builtin| self.objects.get(self.py, builtin))
            .ok_or(Stop::fallback(Reason::InternalError, "no builtin"))?;
        let is = |ex: &Self, name: &str| ex.builtins_attribute(name).is_ok_and(|b| b.is(&builtin));
        if self.is_varying(result) {
            // It is known to be of the builtin type itself.
            let fits = match name.as_str() {
                "__int__" => self.is_varying_int(result),
                "__float__" => self.is_varying_number(result) && !self.is_varying_int(result),
                "__str__" | "__repr__" | "__format__" => !self.is_varying_number(result) && !is(self, "ascii"),
                _ => false,
            };
            if fits {
                return Ok(result);
            }
        }
        let answer = self.constant_value(result);
        let index = self.operator("index")?;
        let exact = answer.as_ref().is_some_and(|answer| match name.as_str() {
            "__int__" => answer.is_exact_instance_of::<PyInt>(),
            "__index__" if index.is(&builtin) => {
                answer.is_exact_instance_of::<PyInt>() && answer.extract::<isize>().is_ok()
            }
            "__index__" => answer.is_exact_instance_of::<PyInt>() && is(self, "int"),
            "__float__" => answer.is_exact_instance_of::<PyFloat>(),
            "__length_hint__" => {
                answer.is_exact_instance_of::<PyInt>() && answer.extract::<i64>().is_ok_and(|n| n >= 0)
            }
            _ => answer.cast_exact::<PyString>().is_ok_and(|text| !is(self, "ascii") || text.to_string().is_ascii()),
        });
        if exact { Ok(result) } else { Err(Stop::brk(Reason::WouldRaise, name)) }
    }

    /// Whether the class of an instance says that it has no hash, or has lost it to an `__eq__` of its own.
    fn has_no_hash(&mut self, value: VarId) -> Result<bool, Stop> {
        let VarKind::Instance(_) = self.look(value)? else { return Ok(false) };
        let class = self.class_of(value)?;
        Ok(self.class_lookup(&class, "__hash__")?.is_some_and(|found| found.is_none()))
    }

    /// What C hashes in the place of an instance that leaves this to a tuple that it extends.
    fn hashed_as_a_tuple(&mut self, value: VarId) -> Result<Option<VarId>, Stop> {
        let VarKind::Instance(InstanceVar { part: Some(part), .. }) = self.look(value)? else { return Ok(None) };
        let VarKind::Tuple(TupleVar { items, class: None }) = self.look(part)? else { return Ok(None) };
        let (class, tuple) = (self.class_of(value)?, self.py.get_type::<PyTuple>());
        let leaves = self.leaves_to(&class, &tuple, &["__hash__"])? && self.is_plain(part)?;
        Ok(leaves.then(|| self.virtual_var(TupleVar::new(items.to_vec()))))
    }

    /// The text of a value that this method of C writes; `None`: it does not, or not for such a value.
    fn written_by_method(&mut self, method: &Bound<'py, PyAny>, value: VarId) -> Result<Option<Called>, Stop> {
        let (Ok(owner), Ok(name)) = (method.getattr("__objclass__"), method.getattr("__name__")) else {
            return Ok(None);
        };
        let name: String = name.extract().map_err(|e| self.internal(&e))?;
        if !type_facts::is_method_of_c(method) {
            return Ok(None);
        }
        let Some(text) = self.method_of_value(method, &owner, &name, value, &Args::default())? else { return Ok(None) };
        // Whoever asks for ASCII would write others anew.
        let written = self.constant_str(text).is_some_and(|text| text.is_ascii());
        Ok(written.then_some(Called::Value(text)))
    }

    /// `format(value, spec)` of an instance.
    pub(super) fn enter_format(&mut self, value: VarId, spec: VarId) -> Result<Option<Called>, Stop> {
        let (VarKind::Instance(_) | VarKind::Exception(_)) = self.look(value)? else {
            return match self.constant_str(spec).is_some_and(|spec| spec.is_empty()) {
                true => self.enter_text_of_container(value),
                false => Ok(None),
            };
        };
        if let Some(text) = self.written_by_c("format", value, Some(spec))? {
            return Ok(Some(text));
        }
        // Text and numbers of C ask for the text where nobody says how they are written, as `object` does.
        if matches!(self.look(value)?, VarKind::Instance(_))
            && self.constant_str(spec).is_some_and(|spec| spec.is_empty())
            && self.value_of_c(value, &["__format__"])?.is_some()
        {
            return self.enter_conversion("str", value);
        }
        // What is no text is refused before anybody is asked.
        let text = self.py.get_type::<PyString>();
        if !self.class_of(spec)?.is(&text) {
            return Ok(None);
        }
        let class = self.class_of(value)?;
        let found = self.class_lookup(&class, "__format__")?;
        let by_default = self.py.get_type::<PyAny>().getattr("__format__").map_err(|e| self.internal(&e))?;
        match found {
            Some(found) if found.is(&by_default) && self.constant_str(spec).is_some_and(|spec| spec.is_empty()) => {
                self.enter_conversion("str", value)
            }
            _ => self.enter_answer("format", value, &["__format__"], &[spec]),
        }
    }

    /// A field of an f-string.
    pub(super) fn enter_field(
        &mut self,
        conversion: Option<Conversion>,
        value: VarId,
        spec: Option<VarId>,
    ) -> Result<Option<Called>, Stop> {
        let (VarKind::Instance(_) | VarKind::Exception(_) | VarKind::List(_) | VarKind::Tuple(_) | VarKind::Dict(_)) =
            self.look(value)?
        else {
            return Ok(None);
        };
        if conversion.is_some() && !matches!(self.look(value)?, VarKind::Instance(_)) && !self.writes_by_code(value)? {
            return Ok(None);
        }
        let spec = match spec {
            Some(spec) => spec,
            None => self.fold(PyString::new(self.py, "").as_any())?,
        };
        let Some(conversion) = conversion else { return self.enter_format(value, spec) };
        let convert = self.builtin(conversion_name(conversion))?;
        self.enter("converted", &[convert, value, spec]).map(Some)
    }

    /// `str`, `repr` or `ascii` of a field of an f-string.
    pub(super) fn enter_converted(&mut self, conversion: Conversion, value: VarId) -> Result<Option<Called>, Stop> {
        match conversion {
            Conversion::Str => self.enter_conversion("str", value),
            _ => self.enter_question(conversion_name(conversion), &[value]),
        }
    }
}
