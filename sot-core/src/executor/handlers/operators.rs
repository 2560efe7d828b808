//! Unary, binary and comparison operators, `is`, `in`, and string formatting.

use super::{Flow, handlers, mismatch};
use crate::backend::CallKind;
use crate::executor::copies::Copies;
use crate::executor::value_types;
use crate::executor::{Awaits, Executor};
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sot_opcodes::{BinaryOp, CompareOp, Conversion, Op, UnaryOp};

handlers! {
    Unary => unary;
    Binary => binary;
    Compare => compare;
    Is => is;
    Contains => contains;
    FormatValue => format_value;
    ConvertValue => convert_value;
    BuildString => build_string;
}

fn unary(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::Unary(op) = op else { return Err(mismatch()) };
    let value = ex.pop()?;
    // The truth that a method of the program gives takes the place of the operand.
    let asks = matches!(op, UnaryOp::Not | UnaryOp::ToBool);
    ex.step.tail = Some(if asks { Awaits::Again } else { Awaits::Push });
    let result = match op {
        UnaryOp::Not => {
            let truth = ex.truth(value)?;
            ex.fold_bool(!truth)?
        }
        UnaryOp::ToBool => {
            let truth = ex.truth(value)?;
            ex.fold_bool(truth)?
        }
        UnaryOp::Negative => ex.unary_operator("neg", value)?,
        UnaryOp::Positive => ex.unary_operator("pos", value)?,
        UnaryOp::Invert => ex.unary_operator("invert", value)?,
    };
    ex.push(result);
    Ok(Flow::Next)
}

fn binary(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::Binary { op, inplace } = op else { return Err(mismatch()) };
    let right = ex.pop()?;
    let left = ex.pop()?;
    if let (VarKind::List(ListVar { class: None, .. }), BinaryOp::Add, true) = (ex.look(left)?, op, inplace)
        && ex.enter_extend(left, right, true)?.is_some()
    {
        return Ok(Flow::Entered(Awaits::Push));
    }
    let mut called = ex.enter_set_operator(op, inplace, left, right)?;
    if called.is_none() {
        called = ex.enter_merged(op, inplace, left, right)?;
    }
    if called.is_none() {
        called = ex.enter_binary(op, inplace, left, right)?;
    }
    let result = match called {
        Some(Called::Entered(_)) => return Ok(Flow::Entered(Awaits::Push)),
        Some(Called::Value(result)) => result,
        None => ex.binary(op, inplace, left, right)?,
    };
    ex.push(result);
    Ok(Flow::Next)
}

/// Name in module `operator`, and of the in-place form.
fn operator_names(op: BinaryOp) -> (&'static str, &'static str) {
    match op {
        BinaryOp::Add => ("add", "iadd"),
        BinaryOp::And => ("and_", "iand"),
        BinaryOp::FloorDivide => ("floordiv", "ifloordiv"),
        BinaryOp::Lshift => ("lshift", "ilshift"),
        BinaryOp::MatrixMultiply => ("matmul", "imatmul"),
        BinaryOp::Multiply => ("mul", "imul"),
        BinaryOp::Remainder => ("mod", "imod"),
        BinaryOp::Or => ("or_", "ior"),
        BinaryOp::Power => ("pow", "ipow"),
        BinaryOp::Rshift => ("rshift", "irshift"),
        BinaryOp::Subtract => ("sub", "isub"),
        BinaryOp::TrueDivide => ("truediv", "itruediv"),
        BinaryOp::Xor => ("xor", "ixor"),
    }
}

/// The operator that a function of module `operator` stands for, and whether it is the in-place form.
pub(in crate::executor) fn binary_operator(function: &str) -> Option<(BinaryOp, bool)> {
    let plain = function.trim_end_matches('_');
    BinaryOp::ALL.into_iter().find_map(|op| {
        let (name, inplace) = operator_names(op);
        if plain == name.trim_end_matches('_') {
            return Some((op, false));
        }
        (function == inplace).then_some((op, true))
    })
}

/// The comparison that a function of module `operator` stands for.
pub(in crate::executor) fn compare_operator(function: &str) -> Option<CompareOp> {
    CompareOp::ALL.into_iter().find(|op| compare_name(*op) == function)
}

impl<'py> Executor<'py> {
    pub fn unary_operator(&mut self, name: &str, value: VarId) -> Result<VarId, Stop> {
        let operator = self.operator(name)?;
        let args = Args::positional(vec![value]);
        if let Some(result) = self.operator_of_arrays(name, &[value])? {
            return Ok(result);
        }
        match self.look(value)? {
            VarKind::Tensor(_) => self.record_call(CallKind::Method, &format!("__{name}__"), Some(&operator), &args),
            VarKind::Instance(_) => {
                if let Some(result) = self.asked_of_c(&operator, name, value)? {
                    return Ok(result);
                }
                let method = self.special_method(value, &format!("__{name}__"))?;
                self.call_tail(method, &Args::default())
            }
            _ => self.fold_call(&operator, &args),
        }
    }

    /// `left op right`
    pub fn binary(&mut self, op: BinaryOp, inplace: bool, left: VarId, right: VarId) -> Result<VarId, Stop> {
        let (name, inplace_name) = operator_names(op);
        let (left_kind, right_kind) = (self.look(left)?, self.look(right)?);
        let args = Args::positional(vec![left, right]);
        if let Some(result) = self.operator_of_arrays(if inplace { inplace_name } else { name }, &[left, right])? {
            return Ok(result);
        }
        self.may_meet_scalar(left, right)?;
        let of_class =
            |kind: &VarKind| matches!(kind, VarKind::Instance(_) | VarKind::Tuple(TupleVar { class: Some(_), .. }));
        if of_class(&left_kind) || of_class(&right_kind) {
            let (first, second) = (self.as_its_sequence(op, left)?, self.as_its_sequence(op, right)?);
            // A list that grows in place is the very object, and asks whatever it takes items from for an iterator.
            let first = first.filter(|first| !(inplace && matches!(self.var(*first).kind, VarKind::List(_))));
            let grows = inplace && op == BinaryOp::Add && matches!(left_kind, VarKind::List(_));
            let second = second.filter(|_| !grows);
            let (left, right) = (first.unwrap_or(left), second.unwrap_or(right));
            // What refuses the other operand names the class of the instance.
            if (first.is_some() || second.is_some()) && self.makes_sequence(op, left, right)? {
                return self.binary(op, inplace, left, right);
            }
            if !inplace
                && op == BinaryOp::Or
                && let Some(merged) = self.merged_instances(left, right)?
            {
                return Ok(merged);
            }
        }
        if matches!(left_kind, VarKind::Tensor(_)) || matches!(right_kind, VarKind::Tensor(_)) {
            let used = if inplace { inplace_name } else { name };
            let operator = self.operator(used)?;
            let shown = format!("__{}__", used.trim_end_matches('_'));
            return self.record_call(CallKind::Method, &shown, Some(&operator), &args);
        }
        if let Some(shape) = self.shape_of_operator(op, inplace, left, right)? {
            return Ok(shape);
        }
        match (&left_kind, &right_kind, op) {
            (VarKind::Tuple(a), VarKind::Tuple(b), BinaryOp::Add) if a.class.is_none() && b.class.is_none() => {
                // Python gives the other tuple back, too.
                if a.items.is_empty() || b.items.is_empty() {
                    return Ok(if a.items.is_empty() { right } else { left });
                }
                let items: Vec<VarId> = a.items.iter().chain(b.items.iter()).copied().collect();
                return Ok(self.virtual_var(TupleVar::new(items)));
            }
            (VarKind::List(a), VarKind::List(b), BinaryOp::Add)
                if !inplace && a.class.is_none() && b.class.is_none() =>
            {
                let items: Vec<VarId> = a.items.iter().chain(b.items.iter()).copied().collect();
                return Ok(self.virtual_var(ListVar::new(items)));
            }
            (VarKind::List(ListVar { class: Some(_), .. }), _, _)
            | (VarKind::List(_), VarKind::List(ListVar { class: Some(_), .. }), _)
                if inplace =>
            {
                // A class of C may make a new list: whether it does is asked of copies.
                let operator = self.operator(inplace_name)?;
                let result = self.fold_call_with(&operator, &args, &mut Copies::default())?;
                return match result == left {
                    true => Err(Stop::brk(Reason::Mutation, "an in-place operator")),
                    false => Ok(result),
                };
            }
            (VarKind::List(list), _, BinaryOp::Add) if inplace => {
                self.adds_not_from_the_right(right)?;
                self.list_method(left, list, "extend", &Args::positional(vec![right]))?;
                return Ok(left);
            }
            (VarKind::List(list), VarKind::Constant(_), BinaryOp::Multiply) if inplace && list.class.is_none() => {
                self.repeat_in_place(left, list, right)?;
                return Ok(left);
            }
            (VarKind::List(a), VarKind::Constant(_), BinaryOp::Multiply) if a.class.is_none() => {
                return self.repeat(&a.items, right, false);
            }
            (VarKind::Constant(_), VarKind::List(a), BinaryOp::Multiply) if a.class.is_none() => {
                return self.repeat(&a.items, left, false);
            }
            (VarKind::Tuple(a), VarKind::Constant(_), BinaryOp::Multiply) if a.class.is_none() => {
                return match self.index_value(right)? {
                    Some(1) => Ok(left),
                    _ => self.repeat(&a.items, right, true),
                };
            }
            (VarKind::Constant(_), VarKind::Tuple(a), BinaryOp::Multiply) if a.class.is_none() => {
                return match self.index_value(left)? {
                    Some(1) => Ok(right),
                    _ => self.repeat(&a.items, left, true),
                };
            }
            _ => {}
        }
        if let (VarKind::Dict(a), VarKind::Dict(b), BinaryOp::Or) = (&left_kind, &right_kind, op)
            && a.class.is_none()
            && b.class.is_none()
            && type_facts::has(&self.py.get_type::<PyDict>(), "__or__")
        {
            if !inplace {
                return self.merged_dicts(a, b);
            }
            self.dict_method(left, a, "update", &Args::positional(vec![right]))?;
            return Ok(left);
        }
        if let (VarKind::Dict(a), true, BinaryOp::Or) = (&left_kind, inplace, op)
            && a.class.is_none()
            && type_facts::has(&self.py.get_type::<PyDict>(), "__ior__")
            && matches!(right_kind, VarKind::List(_) | VarKind::Tuple(_) | VarKind::View(_))
            && !self.gives_keys_by_code(right)?
        {
            self.dict_method(left, a, "update", &Args::positional(vec![right]))?;
            return Ok(left);
        }
        if let Some(made) = self.set_operator(op, inplace, left, right)? {
            return Ok(made);
        }
        if let VarKind::List(_) | VarKind::Dict(_) | VarKind::Set(_) | VarKind::Deque(_) = left_kind
            && inplace
        {
            return Err(Stop::brk(Reason::Mutation, "an in-place operator"));
        }
        if let VarKind::ByteArray(_) = left_kind
            && inplace
        {
            let operator = self.operator(inplace_name)?;
            return self.bytearray_in_place(operator, left, right);
        }
        if op == BinaryOp::Or
            && (matches!(left_kind, VarKind::Class(_)) || matches!(right_kind, VarKind::Class(_)))
            && let Some(union) = self.union_of_types(left, right)?
        {
            return Ok(union);
        }
        self.fits(left, right)?;
        // What it raises names the operator.
        let operator = self.operator(if inplace { inplace_name } else { name })?;
        let formats = op == BinaryOp::Remainder && self.is_text(left)?;
        if formats && let Some(text) = self.percent_of_varying(left, right)? {
            return Ok(text);
        }
        if !formats && (matches!(left_kind, VarKind::Instance(_)) || matches!(right_kind, VarKind::Instance(_))) {
            let plain = name.trim_end_matches('_');
            // Text is repeated by an index.
            let methods =
                [format!("__{plain}__"), format!("__r{plain}__"), format!("__i{plain}__"), "__index__".to_owned()];
            let methods: Vec<&str> = methods.iter().map(String::as_str).collect();
            if let Some(result) = self.operated_by_c(&operator, &methods, [left, right])? {
                return Ok(result);
            }
        }
        self.fold_call(&operator, &args)
    }

    /// What C joins or repeats in the place of an instance whose class leaves this operator to a tuple or a list that it extends, of a
    /// named tuple, and of a number that repeats.
    fn as_its_sequence(&mut self, op: BinaryOp, value: VarId) -> Result<Option<VarId>, Stop> {
        let methods: &[&str] = match op {
            BinaryOp::Add => &["__add__", "__radd__", "__iadd__"],
            BinaryOp::Multiply => &["__mul__", "__rmul__", "__imul__"],
            _ => return Ok(None),
        };
        let kind = self.look(value)?;
        if matches!(kind, VarKind::Constant(_)) {
            return Ok(None);
        }
        let Some((content, _)) = self.as_sequence(value)? else {
            let is_number = op == BinaryOp::Multiply && matches!(kind, VarKind::Instance(_));
            let methods = ["__mul__", "__rmul__", "__imul__", "__index__"];
            let number = if is_number { self.value_of_c(value, &methods)? } else { None };
            return match number.and_then(|number| number.extract::<i64>().ok()) {
                Some(number) => self.fold_int(number).map(Some),
                None => Ok(None),
            };
        };
        let base = match self.look(content)? {
            VarKind::Tuple(_) => self.py.get_type::<pyo3::types::PyTuple>(),
            VarKind::List(_) => self.py.get_type::<pyo3::types::PyList>(),
            _ => return Ok(None),
        };
        let class = self.class_of(value)?;
        Ok((content != value && self.leaves_to(&class, &base, methods)?).then_some(content))
    }

    /// Whether C makes a tuple or a list of these operands, one of which is one.
    fn makes_sequence(&mut self, op: BinaryOp, left: VarId, right: VarId) -> Result<bool, Stop> {
        let is_tuple = |kind: &VarKind| matches!(kind, VarKind::Tuple(tuple) if tuple.class.is_none());
        let is_list = |kind: &VarKind| matches!(kind, VarKind::List(list) if list.class.is_none());
        Ok(match (self.look(left)?, self.look(right)?) {
            (left, right) if op == BinaryOp::Add => {
                is_tuple(&left) && is_tuple(&right) || is_list(&left) && is_list(&right)
            }
            (sequence, VarKind::Constant(_)) if is_tuple(&sequence) || is_list(&sequence) => {
                self.index_value(right)?.is_some()
            }
            (VarKind::Constant(_), sequence) if is_tuple(&sequence) || is_list(&sequence) => {
                self.index_value(left)?.is_some()
            }
            _ => false,
        })
    }

    /// `left | right` of dicts, or of instances whose classes leave reading and this operator to the dict that they extend.
    fn merged_instances(&mut self, left: VarId, right: VarId) -> Result<Option<VarId>, Stop> {
        let dict = self.py.get_type::<pyo3::types::PyDict>();
        if !type_facts::has(&dict, "__or__") {
            return Ok(None);
        }
        let mut entries = Vec::with_capacity(2);
        for operand in [left, right] {
            let class = self.class_of(operand)?;
            let is_dict = match self.look(operand)? {
                VarKind::Dict(DictVar { class: None, .. }) => true,
                VarKind::Instance(InstanceVar { part: Some(part), .. }) => {
                    matches!(self.look(part)?, VarKind::Dict(DictVar { class: None, .. }))
                        && self.leaves_to(&class, &dict, &["__or__", "__ror__"])?
                }
                _ => false,
            };
            let pairs = if is_dict { self.plain_pairs(operand)? } else { None };
            match pairs {
                Some(pairs) => entries.push(DictVar::new(pairs)),
                None => return Ok(None),
            }
        }
        self.merged_dicts(&entries[0], &entries[1]).map(Some)
    }

    fn repeat(&mut self, items: &[VarId], count: VarId, tuple: bool) -> Result<VarId, Stop> {
        let count = self.index_value(count)?.ok_or(Stop::brk(Reason::WouldRaise, "repetition"))?;
        let repeated = self.repeated(items, usize::try_from(count).unwrap_or(0))?;
        Ok(if tuple { self.virtual_var(TupleVar::new(repeated)) } else { self.virtual_var(ListVar::new(repeated)) })
    }

    fn repeated(&self, items: &[VarId], count: usize) -> Result<Vec<VarId>, Stop> {
        if count.saturating_mul(items.len()) > 1_000_000 {
            return Err(Stop::brk(Reason::Builtin, "a huge repetition"));
        }
        Ok((0..count).flat_map(|_| items.iter().copied()).collect())
    }

    /// `list *= count`: its items once more and once more, or none.
    pub(in crate::executor) fn repeat_in_place(&mut self, me: VarId, list: &ListVar, count: VarId) -> Result<(), Stop> {
        let count = self.index_value(count)?.ok_or(Stop::brk(Reason::WouldRaise, "repetition"))?;
        let more = match usize::try_from(count) {
            Ok(1) => return Ok(()),
            Ok(count) if count > 0 => self.repeated(&list.items, count - 1)?,
            _ => return self.list_method(me, list, "clear", &Args::default()).map(drop),
        };
        let more = self.virtual_var(TupleVar::new(more));
        self.list_method(me, list, "extend", &Args::positional(vec![more])).map(drop)
    }

    /// Whether two values are the same object, where that is known.
    pub fn same_object(&mut self, a: VarId, b: VarId) -> Result<bool, Stop> {
        if a == b {
            return Ok(true);
        }
        let (kind_a, kind_b) = (self.look(a)?, self.look(b)?);
        if let (VarKind::Constant(_), VarKind::Constant(_)) = (&kind_a, &kind_b) {
            if self.is_other_than_varying(a, b) {
                return Ok(false);
            }
            let (value_a, value_b) = (self.constant_value(a), self.constant_value(b));
            let (value_a, value_b) = (value_a.expect("a constant"), value_b.expect("a constant"));
            let singleton = |v: &Bound<'_, PyAny>| {
                v.is_none()
                    || v.is_instance_of::<pyo3::types::PyBool>()
                    || v.is(v.py().NotImplemented())
                    || v.is(v.py().Ellipsis())
            };
            if singleton(&value_a) || singleton(&value_b) || !value_a.get_type().is(value_b.get_type()) {
                return Ok(value_a.is(&value_b));
            }
            let nan = |v: &Bound<'_, PyAny>| v.eq(v).is_ok_and(|same| !same);
            let perhaps_one = value_a.is(&value_b) || nan(&value_a) && nan(&value_b);
            if !perhaps_one && !value_a.eq(&value_b).map_err(|e| self.would_raise(&e))? {
                return Ok(false);
            }
            return Ok(self.same_constant(a, b, value_a.is(&value_b)));
        }
        if let (Some(a), Some(b)) = (self.pinned(&kind_a), self.pinned(&kind_b)) {
            return Ok(a.is(&b));
        }
        // A constant is no container.
        let is_constant = |k: &VarKind| matches!(k, VarKind::Constant(_));
        if is_constant(&kind_a) != is_constant(&kind_b) {
            return Ok(false);
        }
        if let Some(same) = self.same_sourced_object(a, b) {
            return Ok(same);
        }
        let is_traceback = |k: &VarKind| matches!(k, VarKind::Traceback(_));
        if is_traceback(&kind_a) || is_traceback(&kind_b) {
            return self.same_traceback(a, b);
        }
        if let (VarKind::Tensor(_), VarKind::Tensor(_)) = (&kind_a, &kind_b) {
            // An operation may return its own argument.
            return Err(Stop::brk(Reason::OpaqueValue, "identity of a computed tensor"));
        }
        // An instance of exactly one class is none of another.
        let typed = |k: &VarKind| matches!(k, VarKind::Tuple(_) | VarKind::Instance(_));
        if typed(&kind_a) && typed(&kind_b) && !self.class_of(a)?.is(&self.class_of(b)?) {
            return Ok(false);
        }
        let fresh = |ex: &Self, v: VarId| !ex.has_path(ex.var(v).tracker) && ex.known_object(v).is_none();
        // A virtual mutable object is nothing but itself, and so is a bound method, which is made anew by each look-up.
        let immutable = |k: &VarKind| {
            matches!(k, VarKind::Tuple(_) | VarKind::Bound(_) | VarKind::Set(SetVar { frozen: true, .. }))
        };
        if !immutable(&kind_a) && !immutable(&kind_b) && (fresh(self, a) || fresh(self, b)) {
            return Ok(false);
        }
        if !self.class_of(a)?.is(&self.class_of(b)?) {
            return Ok(false);
        }
        // One tuple has the same items.
        if let (VarKind::Tuple(first), VarKind::Tuple(second)) = (&kind_a, &kind_b) {
            if first.items.len() != second.items.len() {
                return Ok(false);
            }
            for (first, second) in first.items.iter().zip(second.items.iter()) {
                if !self.nested(|ex| ex.same_object(*first, *second))? {
                    return Ok(false);
                }
            }
        }
        Err(Stop::brk(Reason::ValueKind, format!("identity of {} and {}", kind_a.kind_name(), kind_b.kind_name())))
    }
}

pub(in crate::executor) fn compare_name(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Lt => "lt",
        CompareOp::Le => "le",
        CompareOp::Eq => "eq",
        CompareOp::Ne => "ne",
        CompareOp::Gt => "gt",
        CompareOp::Ge => "ge",
    }
}

fn compare(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::Compare { op, to_bool } = op else { return Err(mismatch()) };
    let right = ex.pop()?;
    let left = ex.pop()?;
    let result = match ex.enter_compare(op, left, right, to_bool)? {
        Some(Called::Entered(_)) => return Ok(Flow::Entered(Awaits::Push)),
        Some(Called::Value(result)) => result,
        None => ex.compare(op, left, right)?,
    };
    // The truth of what a framework compared is only known at run time.
    if to_bool && matches!(ex.look(result)?, VarKind::Tensor(_)) {
        return Err(Stop::brk(Reason::BranchOnTensor, ""));
    }
    ex.push(result);
    Ok(Flow::Next)
}

impl Executor<'_> {
    /// `left op right` for a comparison.
    pub fn compare(&mut self, op: CompareOp, left: VarId, right: VarId) -> Result<VarId, Stop> {
        let name = compare_name(op);
        let (left_kind, right_kind) = (self.look(left)?, self.look(right)?);
        let args = Args::positional(vec![left, right]);
        let operator = self.operator(name)?;
        if let Some(result) = self.operator_of_arrays(name, &[left, right])? {
            return Ok(result);
        }
        self.may_meet_scalar(left, right)?;
        if matches!(left_kind, VarKind::Tensor(_)) || matches!(right_kind, VarKind::Tensor(_)) {
            return self.record_call(CallKind::Method, &format!("__{name}__"), Some(&operator), &args);
        }
        if let Some((op, left, right)) = self.compared_by_c(op, left, right)? {
            return self.compare(op, left, right);
        }
        // Classes of a plain metaclass are compared by identity.
        if let (VarKind::Class(a), VarKind::Class(b)) = (&left_kind, &right_kind)
            && let (a, b) = (self.objects.get(self.py, a.object), self.objects.get(self.py, b.object))
            && matches!(op, CompareOp::Eq | CompareOp::Ne)
            && self.compares_by_identity(&a.get_type())?
            && self.compares_by_identity(&b.get_type())?
        {
            return self.fold_bool(a.is(&b) == (op == CompareOp::Eq));
        }
        if (matches!(left_kind, VarKind::Instance(_)) || matches!(right_kind, VarKind::Instance(_)))
            && let Some(result) = self.operated_by_c(&operator, value_types::COMPARED, [left, right])?
        {
            return Ok(result);
        }
        if let Some(answer) = self.compare_sets(op, left, right)? {
            return Ok(answer);
        }
        if let (Some(a), Some(b)) = (self.is_id_of(left), self.is_id_of(right))
            && matches!(op, CompareOp::Eq | CompareOp::Ne)
        {
            return self.fold_bool((a == b) == (op == CompareOp::Eq));
        }
        if matches!(op, CompareOp::Eq | CompareOp::Ne)
            && let Some(equal) = self.equal_by_identity(left, right)?
        {
            return self.fold_bool(equal == (op == CompareOp::Eq));
        }
        self.fold_call(&operator, &args)
    }

    /// `item in container`
    pub fn contains(&mut self, container: VarId, item: VarId) -> Result<bool, Stop> {
        let container = self.shown_by(container)?.unwrap_or(container);
        match self.look(container)? {
            VarKind::Dict(dict) => Ok(dict.position(self, item)?.is_some()),
            VarKind::Set(set) => self.set_has(set.state, item),
            VarKind::View(ViewVar { dict, what }) => match self.look(dict)? {
                VarKind::Dict(dict) => self.view_contains(&dict, what, item),
                _ => Err(Stop::brk(Reason::ValueKind, "in a dict view")),
            },
            VarKind::Instance(_) | VarKind::Layer(_) => {
                let result = self.call_special(container, "__contains__", vec![item])?;
                self.truth(result)
            }
            _ => {
                let mut copies = Copies::default();
                let container = self.plain_copy(container, &mut copies)?;
                let item = self.plain_copy(item, &mut copies)?;
                self.told_by_c(&[&container, &item], &Copies::default(), || container.contains(&item))
            }
        }
    }
}

fn is(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::Is { invert } = op else { return Err(mismatch()) };
    let right = ex.pop()?;
    let left = ex.pop()?;
    let same = ex.same_object(left, right)?;
    let result = ex.fold_bool(same != invert)?;
    ex.push(result);
    Ok(Flow::Next)
}

fn contains(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::Contains { invert } = op else { return Err(mismatch()) };
    let container = ex.pop()?;
    let item = ex.pop()?;
    let by_key = ex.has_key(container, item)?;
    let found = match by_key {
        Some(found) => Some(found),
        None => ex.has_varying(container, item)?,
    };
    if let Some(found) = found {
        let result = ex.fold_bool(found != invert)?;
        ex.push(result);
        return Ok(Flow::Next);
    }
    if ex.enter_contains(container, item, invert)?.is_some() {
        return Ok(Flow::Entered(Awaits::Push));
    }
    let found = ex.contains(container, item)?;
    let result = ex.fold_bool(found != invert)?;
    ex.push(result);
    Ok(Flow::Next)
}

/// The builtin that a conversion calls.
pub(in crate::executor) fn conversion_name(conversion: Conversion) -> &'static str {
    match conversion {
        Conversion::Str => "str",
        Conversion::Repr => "repr",
        Conversion::Ascii => "ascii",
    }
}

fn convert<'py>(ex: &mut Executor<'py>, conversion: Conversion, value: VarId) -> Result<VarId, Stop> {
    let name = conversion_name(conversion);
    let callee = ex.builtins_attribute(name)?;
    host_text(ex, value)?;
    ex.fold_call(&callee, &Args::positional(vec![value]))
}

/// Text of a tensor needs its values.
fn host_text(ex: &mut Executor<'_>, value: VarId) -> Result<(), Stop> {
    match ex.look(value)? {
        VarKind::Tensor(_) => Err(Stop::brk(Reason::TensorToHost, "formatting a tensor")),
        _ => Ok(()),
    }
}

fn format_value(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::FormatValue { conversion, spec } = op else { return Err(mismatch()) };
    let spec = match spec {
        true => Some(ex.pop()?),
        false => None,
    };
    let mut value = ex.pop()?;
    host_text(ex, value)?;
    match ex.enter_field(conversion, value, spec)? {
        Some(Called::Entered(_)) => return Ok(Flow::Entered(Awaits::Push)),
        Some(Called::Value(text)) => {
            ex.push(text);
            return Ok(Flow::Next);
        }
        None => {}
    }
    if let Some(conversion) = conversion {
        value = convert(ex, conversion, value)?;
    }
    if let Some(spec) = spec {
        ex.is_written_without_locale(spec)?;
    }
    let callee = ex.builtins_attribute("format")?;
    let mut args = vec![value];
    args.extend(spec);
    let result = ex.fold_call(&callee, &Args::positional(args))?;
    ex.push(result);
    Ok(Flow::Next)
}

fn convert_value(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::ConvertValue(conversion) = op else { return Err(mismatch()) };
    let value = ex.pop()?;
    let result = match ex.enter_converted(conversion, value)? {
        Some(Called::Entered(_)) => return Ok(Flow::Entered(Awaits::Push)),
        Some(Called::Value(text)) => text,
        None => convert(ex, conversion, value)?,
    };
    ex.push(result);
    Ok(Flow::Next)
}

fn build_string(ex: &mut Executor<'_>, op: Op) -> Result<Flow, Stop> {
    let Op::BuildString(n) = op else { return Err(mismatch()) };
    let parts = ex.pop_n(n as usize)?;
    if let Some(text) = ex.joined_of_varying(&parts)? {
        ex.push(text);
        return Ok(Flow::Next);
    }
    let mut text = String::new();
    for part in parts {
        text.push_str(&ex.constant_str(part).ok_or(Stop::brk(Reason::OpaqueValue, "text"))?);
    }
    let text = pyo3::types::PyString::new(ex.py, &text).into_any();
    let result = ex.fold(&text)?;
    ex.push(result);
    Ok(Flow::Next)
}
