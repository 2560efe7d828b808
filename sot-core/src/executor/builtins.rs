//! Builtin functions and types that are simulated, and those that are folded by calling them on constants.

use super::calls::name_of;
use super::copies::Copies;
use super::kinds::Operations;
use super::{Awaits, Executor};
use crate::backend::CallKind;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, Descriptor};
use crate::variables::*;
use pyo3::exceptions::{PyBaseException, PyOSError, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::*;

/// Functions of `builtins` that have no effect and depend on nothing but constant arguments.
const PURE: &[&str] = &[
    "abs", "ascii", "bin", "chr", "divmod", "format", "hash", "hex", "max", "min", "oct", "ord", "pow", "repr",
    "round", "sorted", "sum",
];
/// Types whose construction from constants gives a constant.
const PURE_TYPES: &[&str] = &["int", "float", "str", "bool", "complex", "bytes", "range", "slice"];
/// Modules whose C functions are pure.
const PURE_MODULES: &[&str] = &["math", "cmath"];

impl<'py> Executor<'py> {
    pub fn call_simulated_builtin(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<Called, Stop> {
        let name: String = callee.getattr("__name__").and_then(|n| n.extract()).unwrap_or_default();
        let module: Option<String> = callee.getattr("__module__").and_then(|m| m.extract()).ok();
        let from_builtins = self.builtins_attribute(&name).is_ok_and(|b| b.is(callee));
        let positional = args.positional.as_slice();
        if let Some(helped) = self.call_helper(callee, positional)? {
            return Ok(helped);
        }
        if let Some(made) = self.call_maker(callee, args)? {
            return Ok(made);
        }
        if from_builtins {
            if let ("len", [container], []) = (&*name, positional, &*args.keywords) {
                let length = match self.var(*container).kind {
                    VarKind::Tensor(_) => self.length_of_tensor(*container)?,
                    _ => self.varying_length(*container)?,
                };
                if let Some(length) = length {
                    return Ok(Called::Value(length));
                }
            }
            if let Some(entered) = self.enter_function(&name, args)? {
                return Ok(entered);
            }
            if args.keywords.is_empty()
                && let Some(result) = self.builtin_function(&name, positional)?
            {
                return Ok(result);
            }
            if matches!(&*name, "abs" | "round") && self.hold_arrays(args) {
                return self.call_for_array(callee, args).map(Called::Value);
            }
            if PURE.contains(&name.as_str()) {
                return self.fold_call(callee, args).map(Called::Value);
            }
            if let Some(looked) = self.look_at_names(callee, &name, args)? {
                return Ok(looked);
            }
            if name == "globals" && positional.is_empty() && args.keywords.is_empty() && !self.frame().is_hidden() {
                let globals = self.objects.get(self.py, self.frame().globals);
                return Ok(Called::Value(self.pin(&globals)));
            }
            if name == "print"
                && let Some(printed) = self.print_to_object(callee, args)?
            {
                return Ok(Called::Value(printed));
            }
            let reason = match name.as_str() {
                "print" | "input" | "open" | "breakpoint" => Reason::Output,
                // A stand-in has its frame's globals.
                "globals" => Reason::FrameInspection,
                _ => Reason::Builtin,
            };
            return Err(Stop::brk(reason, name));
        }
        if let "from_iterable" | "tee" = name.as_str()
            && let Some(made) = self.call_of_itertools(callee, args)?
        {
            return Ok(Called::Value(made));
        }
        match (module.as_deref(), &*name) {
            (Some("sys"), "exc_info" | "exception") if args.keywords.is_empty() && positional.is_empty() => {
                if let Some(told) = self.tell_handled(&name)? {
                    return Ok(Called::Value(told));
                }
            }
            (Some("_warnings"), "_filters_mutated") if args.keywords.is_empty() && positional.is_empty() => {
                if let Some(none) = self.filters_are_changed(callee)? {
                    return Ok(Called::Value(none));
                }
            }
            (Some("sys"), "settrace" | "setprofile") => return Err(self.events_begin(name)),
            (Some("sys"), "_getframe") => {
                return match self.frame_asked_at_once(positional) {
                    Some(frame) if args.keywords.is_empty() => Ok(Called::Value(frame)),
                    _ => Err(self.frame_inspection(name, positional)),
                };
            }
            (Some("_warnings"), "warn") => return self.call_warn(callee, args).map(Called::Value),
            // It sees names, which those of stand-ins are as well.
            (Some("sys"), "_getframemodulename") => return Err(Stop::brk(Reason::FrameInspection, name)),
            _ => {}
        }
        if let Some(result) = self.call_of_numpy(callee, args)? {
            return Ok(Called::Value(result));
        }
        if module.as_deref().is_some_and(|m| PURE_MODULES.contains(&m)) {
            return self.fold_call(callee, args).map(Called::Value);
        }
        if let Some(of) = module.as_deref()
            && let Some(called) = self.call_of_c_module(callee, of, &name, args)?
        {
            return Ok(called);
        }
        if self.is_pure_class_method(callee, &name) {
            return self.fold_call(callee, args).map(Called::Value);
        }
        if name == "fromkeys"
            && let Some(entered) = self.enter_from_keys(callee, args)?
        {
            return Ok(entered);
        }
        if (module.as_deref(), &*name) == (Some("_collections"), "_count_elements")
            && let Some(entered) = self.enter_count_elements(args)?
        {
            return Ok(entered);
        }
        if (module.as_deref(), &*name) == (Some("_functools"), "reduce")
            && let Some(entered) = self.enter_reduce(callee, args)?
        {
            return Ok(entered);
        }
        if let Some("operator" | "_operator") = module.as_deref() {
            let name = name.strip_prefix("__").and_then(|n| n.strip_suffix("__")).unwrap_or(&name);
            if args.keywords.is_empty()
                && let Some(entered) = self.enter_operator_function(name, positional)?
            {
                return Ok(entered);
            }
            return self.operator_function(callee, name, args).map(Called::Value);
        }
        // A method of a builtin type, found on the type: `object.__init__(self)`, `list.append(l, x)`. One that is bound already, as
        // `(1).__add__`, knows that type as well.
        if type_facts::is_method_of_c(callee)
            && let (Some((first, rest)), Ok(owner)) = (positional.split_first(), callee.getattr("__objclass__"))
        {
            let given = Args { positional: rest.to_vec(), keywords: args.keywords.clone() };
            if let Some(called) = self.method_of_object_of_c(callee, &owner, &name, *first, &given)? {
                return Ok(called);
            }
            if name == "__init__"
                && owner.is(self.py.get_type::<PyAny>())
                && rest.is_empty()
                && args.keywords.is_empty()
            {
                let none = self.py.None().into_bound(self.py);
                return self.fold(&none).map(Called::Value);
            }
            if name == "__init__"
                && args.keywords.is_empty()
                && self.is_new_exception(*first)
                && !owner.is(self.py.get_type::<PyOSError>())
            {
                self.init_exception(*first, rest.to_vec());
                return self.fold_none().map(Called::Value);
            }
            if name == "__init__" && args.keywords.is_empty() && self.init_from_before(*first, &owner, rest)? {
                return self.fold_none().map(Called::Value);
            }
            if let Some(drawn) = self.draw_by_function(callee, args)? {
                return Ok(Called::Value(drawn));
            }
            if let Some(called) = self.method_of_object(&owner, &name, *first, &given)? {
                return Ok(called);
            }
            if let ("with_traceback", [traceback]) = (&*name, rest)
                && owner.is(self.py.get_type::<PyBaseException>())
                && self.is_exception(*first)
                && self.store_traceback(*first, *traceback)?
            {
                return Ok(Called::Value(*first));
            }
            if let ("__getattribute__", [key], true) = (name.as_str(), rest, args.keywords.is_empty())
                && let Some(found) = self.enter_default_lookup(*first, &owner, *key)?
            {
                return Ok(found);
            }
            if let Some(result) = self.method_of_value(callee, &owner, &name, *first, &given)? {
                return Ok(Called::Value(result));
            }
            if let Some(part) = self.part_of(*first, &owner, &name)? {
                let rest = Args { positional: rest.to_vec(), keywords: args.keywords.clone() };
                return self.call_on_part(*first, part, &name, &rest);
            }
            let of_object = owner.is(self.py.get_type::<PyAny>());
            let writes = matches!(name.as_str(), "__setattr__" | "__delattr__")
                && of_object
                && matches!(self.look(*first)?, VarKind::Instance(_));
            if writes || self.class_of(*first)?.is(&owner) {
                // A program may have put another method in its place, and calls by name are calls of that.
                if matches!(self.look(*first)?, VarKind::Tensor(_))
                    && !self.class_lookup(&owner, &name)?.is_some_and(|found| found.is(callee))
                {
                    return Err(Stop::brk(Reason::OpaqueCall, name));
                }
                return self.call_bound(*first, &name, &given);
            }
        }
        Err(Stop::brk(Reason::OpaqueCall, name_of(callee)))
    }

    /// Call a pure function on constants.
    pub fn fold_call(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<VarId, Stop> {
        if let ([value], true) = (args.positional.as_slice(), args.keywords.is_empty())
            && matches!(self.look(*value)?, VarKind::Instance(_))
            && let Some(result) = self.asked_of_c(callee, &name_of(callee), *value)?
        {
            return Ok(result);
        }
        self.require_written_by_c(callee, args)?;
        if let Some(mut copies) = self.images_asked(&name_of(callee), &args.positional)? {
            return self.fold_call_with(callee, args, &mut copies);
        }
        if args.keywords.is_empty()
            && let Some(result) = self.fold_constants(callee, &args.positional)?
        {
            return Ok(result);
        }
        self.fold_call_with(callee, args, &mut Copies::default())
    }

    /// The usual case of `fold_call`: one or two constants.
    fn fold_constants(&mut self, callee: &Bound<'py, PyAny>, args: &[VarId]) -> Result<Option<VarId>, Stop> {
        if let Some(computed) = self.computed_of_varying(callee, args)? {
            return Ok(Some(computed));
        }
        let mut values: smallvec::SmallVec<[Bound<'py, PyAny>; 2]> = smallvec::SmallVec::new();
        if args.len() > 2 || args.iter().any(|arg| self.is_scalar_of_numpy(*arg)) {
            return Ok(None);
        }
        for arg in args {
            if !matches!(self.look(*arg)?, VarKind::Constant(_)) {
                return Ok(None);
            }
            match self.constant_value(*arg) {
                Some(value) => values.push(value),
                None => return Ok(None),
            }
        }
        let none = Copies::default();
        let result = match values.as_slice() {
            [one] => self.told_by_c(&[one], &none, || callee.call1((one,)))?,
            [one, two] => {
                self.knows_codec(callee, args, &[])?;
                self.told_by_c(&[one, two], &none, || callee.call1((one, two)))?
            }
            _ => return Ok(None),
        };
        if !result.is_none() && !result.is_instance_of::<PyBool>() {
            // What was given comes back as what it was given.
            if let Some(at) = values.iter().position(|value| value.is(&result)) {
                return Ok(Some(args[at]));
            }
        }
        self.fold(&result).map(Some)
    }

    /// Call a pure method of a value made of constants.
    pub fn fold_method(&mut self, me: VarId, name: &str, args: &Args) -> Result<VarId, Stop> {
        let mut copies = Copies::default();
        let value = self.plain_copy(me, &mut copies)?;
        let method = value.getattr(name).map_err(|e| self.would_raise(&e))?;
        self.asks_for_no_locale(name, &value, args)?;
        // A method that is inherited says which class has it if it is given too much, unless it has been bound.
        if !self.is_called_bound()
            && let Some(found) = type_facts::raw(&value.get_type(), name)
            && found.getattr("__objclass__").is_ok_and(|owner| !owner.is(value.get_type()))
            && type_facts::descriptor(&found) == Descriptor::Method
        {
            return self.fold_call_with(&found, &args.with_first(me), &mut copies);
        }
        self.fold_call_with(&method, args, &mut copies)
    }

    pub(super) fn fold_call_with(
        &mut self,
        callee: &Bound<'py, PyAny>,
        args: &Args,
        copies: &mut Copies<'py>,
    ) -> Result<VarId, Stop> {
        let keywords = args.keywords.iter().map(|(_, value)| value);
        for arg in args.positional.iter().chain(keywords) {
            if matches!(self.look(*arg)?, VarKind::Tensor(_)) {
                let name = name_of(callee);
                let reason = match name.as_str() {
                    "repr" | "str" | "ascii" | "format" => Reason::TensorToHost,
                    _ => Reason::TensorToScalar,
                };
                return Err(Stop::brk(reason, name));
            }
        }
        self.knows_codec(callee, &args.positional, &args.keywords)?;
        let (positional, kwargs) = self.convert_arguments(args, |ex, arg| ex.plain_copy(arg, copies))?;
        let result = match self.asks_numpy(callee, args) {
            true => self.ask_numpy(callee, &positional, kwargs.as_ref())?,
            false => self.told_by_c(&[callee], copies, || callee.call(positional, kwargs.as_ref()))?,
        };
        self.fold_result(&result, copies)
    }

    pub(super) fn builtin_function(&mut self, name: &str, args: &[VarId]) -> Result<Option<Called>, Stop> {
        let value = match (name, args) {
            ("len", [value]) => {
                let length = self.length(*value)?;
                self.fold_int(length as i64)?
            }
            ("isinstance", [value, classes]) => {
                let class = self.class_of(*value)?;
                let answer = self.is_subclass(&class, *classes, false)?;
                self.fold_bool(answer)?
            }
            ("issubclass", [class, classes]) => {
                let VarKind::Class(class) = self.look(*class)? else {
                    return Err(Stop::brk(Reason::WouldRaise, "issubclass"));
                };
                let class = self.objects.get(self.py, class.object);
                let answer = self.is_subclass(&class, *classes, true)?;
                self.fold_bool(answer)?
            }
            ("id", [value]) => match self.id_of(*value)? {
                Some(id) => id,
                None => return Ok(None),
            },
            ("callable", [value]) => {
                let class = self.class_of(*value)?;
                let callable = self.class_lookup(&class, "__call__")?.is_some();
                self.fold_bool(callable)?
            }
            ("getattr", [object, key]) => {
                let name = self.attribute_name(*key)?;
                let tells = self.getattr_tells(*object)?;
                self.step.tail = Some(Awaits::Push);
                let value = self.getattr(*object, &name);
                self.step.tail = None;
                match value {
                    // The definition tells what was asked for.
                    Err(Stop::Entered(_)) if tells && !self.by_definition => return Err(Stop::Calls),
                    Err(Stop::Entered(awaits)) => return Ok(Some(Called::Entered(awaits))),
                    value => value?,
                }
            }
            ("getattr", [object, key, default]) => {
                let name = self.attribute_name(*key)?;
                self.attribute_unless_missing(*object, &name)?.unwrap_or(*default)
            }
            ("hasattr", [object, key]) => {
                let name = self.attribute_name(*key)?;
                let found = self.attribute_unless_missing(*object, &name)?;
                self.fold_bool(found.is_some())?
            }
            ("setattr", [object, key, value]) => {
                let name = self.attribute_name(*key)?;
                self.setattr(*object, &name, *value)?;
                self.fold_none()?
            }
            ("delattr", [object, key]) => {
                let name = self.attribute_name(*key)?;
                self.delattr(*object, &name)?;
                self.fold_none()?
            }
            // What a definition iterates over, nobody else sees.
            ("iter", [value]) if self.has_items_by_index(*value)? => match self.frame().is_hidden() {
                true if !self.has_iterators() => self.items_by_index(*value)?,
                _ => self.iterate_by_index(*value),
            },
            ("iter", [value]) if self.is_asked(*value)? => {
                let method = self.special_method(*value, "__iter__")?;
                return match self.call(method, &Args::default())? {
                    Called::Entered(Awaits::Push) => Ok(Some(Called::Entered(Awaits::Iterator))),
                    Called::Entered(_) => Err(Stop::brk(Reason::UserCode, "a class in the place of a method")),
                    Called::Value(iterator) => {
                        self.check_iterator(iterator)?;
                        Ok(Some(Called::Value(iterator)))
                    }
                };
            }
            ("iter", [function, last]) => self.iterate_calls(*function, *last)?,
            ("iter", [value]) => self.iterate(*value)?,
            ("next", [iterator]) => match self.look_to_advance(*iterator)? {
                VarKind::Generator(generator) if !generator.is_iterator() => {
                    return Err(Stop::brk(Reason::WouldRaise, "next() of what is awaited"));
                }
                VarKind::Generator(_) => return self.ask(*iterator, None).map(Some),
                VarKind::Instance(_) => {
                    let next = self.special_method(*iterator, "__next__")?;
                    return self.call(next, &Args::default()).map(Some);
                }
                _ => match self.enter_next(*iterator)? {
                    Some(entered) => return Ok(Some(entered)),
                    None => match self.next_item(*iterator)? {
                        Some(item) => item,
                        None => return Err(self.raised(&self.py.get_type::<PyStopIteration>(), Vec::new())),
                    },
                },
            },
            ("next", [iterator, default]) => self.advance(*iterator)?.unwrap_or(*default),
            ("all" | "any", [iterable]) => {
                let stop_at = name == "any";
                let iterator = self.iterate(*iterable)?;
                let mut result = !stop_at;
                while let Some(item) = self.next_item(iterator)? {
                    if self.truth(item)? == stop_at {
                        result = stop_at;
                        break;
                    }
                }
                self.fold_bool(result)?
            }
            ("sum", [iterable]) => {
                let zero = self.fold_int(0)?;
                let sum = self.sum(*iterable, zero);
                self.unless_half_used(*iterable, sum)?
            }
            ("sum", [iterable, start]) => {
                let sum = self.sum(*iterable, *start);
                self.unless_half_used(*iterable, sum)?
            }
            ("abs", [value]) if matches!(self.look(*value)?, VarKind::Tensor(_)) => {
                let abs = self.builtins_attribute("abs")?;
                self.record_call(CallKind::Method, "__abs__", Some(&abs), &Args::positional(args.to_vec()))?
            }
            ("min" | "max" | "sorted", [iterable]) if self.is_lazy(*iterable)? => {
                let items = if name == "sorted" { self.collect_sized(*iterable)? } else { self.collect(*iterable)? };
                let tuple = self.virtual_var(TupleVar::new(items));
                let callee = self.builtins_attribute(name)?;
                let found = self.fold_call(&callee, &Args::positional(vec![tuple]));
                match name {
                    // All items are taken before the first is compared.
                    "sorted" => found?,
                    _ => self.unless_half_used(*iterable, found)?,
                }
            }
            ("id", _) => return Err(Stop::brk(Reason::Builtin, "id")),
            _ => return Ok(None),
        };
        Ok(Some(Called::Value(value)))
    }

    /// `value.name`; `None` where that raises AttributeError, whoever raises it.
    fn attribute_unless_missing(&mut self, object: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        match self.find_attribute(object, name) {
            Err(Stop::Raised(exception)) if self.is_attribute_error(exception)? => Ok(None),
            other => other,
        }
    }

    /// What a builtin came to that asks for one item after the other: where it raises, the iterator stands behind the item that it did
    /// not like, and here it is at its end.
    fn unless_half_used(&mut self, iterable: VarId, result: Result<VarId, Stop>) -> Result<VarId, Stop> {
        match result {
            Err(Stop::Raised(_)) if matches!(self.look(iterable)?, VarKind::Iterator(_)) => {
                Err(Stop::brk(Reason::WouldRaise, "an iterator that is half used"))
            }
            result => result,
        }
    }

    /// Whether items have to be taken from it before a pure function can have them.
    fn is_lazy(&mut self, iterable: VarId) -> Result<bool, Stop> {
        let kind = self.look(iterable)?;
        // Of a dict the keys alone are asked for.
        Ok(!matches!(kind, VarKind::Constant(_) | VarKind::Tuple(_) | VarKind::List(_)))
    }

    fn sum(&mut self, iterable: VarId, start: VarId) -> Result<VarId, Stop> {
        if self.is_text(start)? {
            return Err(Stop::brk(Reason::WouldRaise, "sum() of text"));
        }
        let items = self.collect(iterable)?;
        if let Some(sum) = self.sum_of_varying(start, &items)? {
            return Ok(sum);
        }
        // The numbers at the beginning are added by Python itself, which may compensate for rounding.
        let number = |ex: &mut Self, var: VarId| -> Result<bool, Stop> {
            Ok(matches!(ex.look(var)?, VarKind::Constant(_))
                && ex.constant_value(var).is_some_and(|v| {
                    v.is_exact_instance_of::<PyInt>()
                        || v.is_exact_instance_of::<PyFloat>()
                        || v.is_exact_instance_of::<PyBool>()
                        || v.is_exact_instance_of::<PyComplex>()
                }))
        };
        let (mut total, mut taken) = (start, 0);
        if number(self, start)? {
            while taken < items.len() && number(self, items[taken])? {
                taken += 1;
            }
            if taken > 0 {
                let numbers = self.virtual_var(TupleVar::new(items[..taken].to_vec()));
                let sum = self.builtins_attribute("sum")?;
                total = self.fold_call(&sum, &Args::positional(vec![numbers, start]))?;
            }
        }
        for item in &items[taken..] {
            total = self.binary(sot_opcodes::BinaryOp::Add, false, total, *item)?;
        }
        Ok(total)
    }

    fn attribute_name(&mut self, key: VarId) -> Result<String, Stop> {
        self.constant_str(key).ok_or(Stop::brk(Reason::OpaqueValue, "an attribute name"))
    }

    pub fn fold_int(&mut self, value: i64) -> Result<VarId, Stop> {
        let value = PyInt::new(self.py, value).into_any();
        self.fold(&value)
    }

    pub fn fold_bool(&mut self, value: bool) -> Result<VarId, Stop> {
        let value = PyBool::new(self.py, value).to_owned().into_any();
        self.fold(&value)
    }

    pub fn fold_none(&mut self) -> Result<VarId, Stop> {
        let none = self.py.None().into_bound(self.py);
        self.fold(&none)
    }

    /// Calling a type that is written in C.
    pub fn call_builtin_type(&mut self, class: &Bound<'py, PyAny>, args: &Args) -> Result<VarId, Stop> {
        let name: String = class.getattr("__name__").and_then(|n| n.extract()).unwrap_or_default();
        if !self.builtins_attribute(&name).is_ok_and(|b| b.is(class)) {
            return Err(Stop::brk(Reason::OpaqueCall, name));
        }
        let positional = args.positional.as_slice();
        match (name.as_str(), positional, args.keywords.as_slice()) {
            ("tuple", [], []) => Ok(self.virtual_var(TupleVar::new(Vec::new()))),
            ("tuple", [iterable], []) if self.is_exact_tuple(*iterable)? => Ok(*iterable),
            ("tuple", [iterable], []) => {
                let items = self.collect_sized(*iterable)?;
                Ok(self.virtual_var(TupleVar::new(items)))
            }
            ("list", [], []) => Ok(self.virtual_var(ListVar::new(Vec::new()))),
            ("list", [iterable], []) => {
                if let VarKind::Instance(_) | VarKind::Layer(_) = self.look(*iterable)?
                    && type_facts::list_asks_for_the_length_first(self.py)
                {
                    let class = self.class_of(*iterable)?;
                    if self.class_lookup(&class, "__len__")?.is_some() {
                        self.length(*iterable)?;
                    }
                }
                let items = self.collect_sized(*iterable)?;
                Ok(self.virtual_var(ListVar::new(items)))
            }
            ("dict", [], keywords) => {
                let mut entries = Vec::with_capacity(keywords.len());
                for (name, value) in keywords {
                    let key = PyString::intern(self.py, name).into_any();
                    entries.push((self.fold(&key)?, *value));
                }
                Ok(self.virtual_var(DictVar::new(entries)))
            }
            ("dict", [source], keywords) => {
                let (entries, pairs) = match self.look(*source)? {
                    VarKind::Dict(_) | VarKind::Instance(_) | VarKind::Native(_) => match self.plain_pairs(*source)? {
                        Some(entries) => {
                            self.are_told_apart_by_hash(&entries)?;
                            (entries, Vec::new())
                        }
                        None => return Err(Stop::brk(Reason::Builtin, "dict of an iterable")),
                    },
                    VarKind::Constant(_)
                    | VarKind::Tuple(_)
                    | VarKind::List(_)
                    | VarKind::Set(_)
                    | VarKind::Iterator(_)
                    | VarKind::View(_) => (Vec::new(), self.pairs_of(*source)?),
                    _ => return Err(Stop::brk(Reason::Builtin, "dict of an iterable")),
                };
                let dict = self.virtual_var(DictVar::new(entries));
                for (key, value) in pairs {
                    self.set_item(dict, key, value)?;
                }
                for (name, value) in keywords {
                    let key = PyString::intern(self.py, name).into_any();
                    let key = self.fold(&key)?;
                    self.set_item(dict, key, *value)?;
                }
                Ok(dict)
            }
            ("slice", [stop], []) => {
                let none = self.fold_none()?;
                Ok(self.virtual_var(SliceVar { parts: [none, *stop, none] }))
            }
            ("slice", [start, stop, rest @ ..], []) if rest.len() < 2 => {
                let step = match rest {
                    [step] => *step,
                    _ => self.fold_none()?,
                };
                Ok(self.virtual_var(SliceVar { parts: [*start, *stop, step] }))
            }
            ("set" | "frozenset", [], []) => self.make_set(name == "frozenset", None),
            ("set" | "frozenset", [iterable], []) => self.make_set(name == "frozenset", Some(*iterable)),
            ("bool", [value], []) => {
                let truth = self.truth(*value)?;
                self.fold_bool(truth)
            }
            ("int" | "float", [value], []) if matches!(self.look(*value)?, VarKind::Tensor(_)) => {
                Err(Stop::brk(Reason::TensorToScalar, name))
            }
            ("str" | "repr", [value], []) if matches!(self.look(*value)?, VarKind::Tensor(_)) => {
                Err(Stop::brk(Reason::TensorToHost, name))
            }
            ("enumerate", [iterable], rest) if rest.len() <= 1 => {
                let count = match rest {
                    [(key, start)] if key == "start" => self.constant_int(*start),
                    [] => Some(0),
                    _ => None,
                };
                let count = count.ok_or(Stop::brk(Reason::OpaqueValue, "enumerate"))?;
                let inner = self.iterate_openly(*iterable)?;
                Ok(self.virtual_var(IteratorVar::new(Iteration::Enumerate { inner, count: Some(count) })))
            }
            ("enumerate", [iterable, start], []) => {
                let count = self.constant_int(*start).ok_or(Stop::brk(Reason::OpaqueValue, "enumerate"))?;
                let inner = self.iterate_openly(*iterable)?;
                Ok(self.virtual_var(IteratorVar::new(Iteration::Enumerate { inner, count: Some(count) })))
            }
            ("zip", iterables, []) => {
                let mut inners = Vec::with_capacity(iterables.len());
                for iterable in iterables {
                    inners.push(self.iterate_openly(*iterable)?);
                }
                Ok(self.virtual_var(IteratorVar::new(Iteration::Zip { inners, strict: false })))
            }
            ("zip", iterables, [(name, strict)])
                if name == "strict"
                    && self.py.version_info() >= (3, 10)
                    && matches!(self.look(*strict)?, VarKind::Constant(_)) =>
            {
                let strict = self.truth(*strict)?;
                let mut inners = Vec::with_capacity(iterables.len());
                for iterable in iterables {
                    inners.push(self.iterate_openly(*iterable)?);
                }
                Ok(self.virtual_var(IteratorVar::new(Iteration::Zip { inners, strict })))
            }
            ("map", [function, iterables @ ..], []) if !iterables.is_empty() => {
                let mut inners = Vec::with_capacity(iterables.len());
                for iterable in iterables {
                    inners.push(self.iterate_openly(*iterable)?);
                }
                Ok(self.virtual_var(IteratorVar::new(Iteration::Map { function: *function, inners })))
            }
            ("filter", [function, iterable], []) => {
                let inner = self.iterate_openly(*iterable)?;
                Ok(self.virtual_var(IteratorVar::new(Iteration::Filter { function: *function, inner })))
            }
            ("reversed", [sequence], []) => self.reversed(*sequence),
            ("type", [value], []) => {
                let class = self.class_of(*value)?;
                Ok(self.pin(&class))
            }
            ("super", [class, receiver], []) => {
                self.super_start(*class, *receiver)?;
                Ok(self.virtual_var(SuperVar { class: *class, receiver: *receiver }))
            }
            ("super", [], []) => self.zero_argument_super(),
            ("object", [], []) => {
                let class = self.objects.add(class);
                let (object, part) = (None, None);
                let made = InstanceVar {
                    class,
                    object,
                    pinned: false,
                    of_program: false,
                    may_be_watched: false,
                    part,
                    names: None,
                };
                Ok(self.virtual_var(made))
            }
            (name, _, _) if PURE_TYPES.contains(&name) => self.fold_call(class, args),
            _ => Err(Stop::brk(Reason::Builtin, name)),
        }
    }

    pub fn is_exact_tuple(&mut self, var: VarId) -> Result<bool, Stop> {
        Ok(matches!(self.look(var)?, VarKind::Tuple(t) if t.class.is_none()))
    }

    pub(super) fn reversed(&mut self, sequence: VarId) -> Result<VarId, Stop> {
        self.look(sequence)?.reversed(self, sequence)
    }

    /// `super()`: the cell `__class__` and the first argument of the frame.
    fn zero_argument_super(&mut self) -> Result<VarId, Stop> {
        // What `super()` finds in the frame would not be in the rewritten code's.
        let in_frame = || Stop::fallback(Reason::FrameInspection, "super()");
        let refused = |stop| match stop {
            Stop::Break(_) => in_frame(),
            other => other,
        };
        let frame = self.frame();
        let code = &frame.unit.code;
        let at = code.cellvars.iter().chain(&code.freevars).position(|n| n == "__class__");
        let cell = at.and_then(|at| frame.cells[at]);
        let first = match code.cellvars.iter().position(|n| Some(n) == code.varnames.first()) {
            Some(at) => {
                let cell = frame.cells[at];
                match cell {
                    Some(cell) => Some(self.load_cell(cell).map_err(refused)?),
                    None => None,
                }
            }
            None => frame.locals.first().copied().flatten(),
        };
        match (cell, first) {
            (Some(cell), Some(receiver)) => {
                let class = self.load_cell(cell).map_err(refused)?;
                self.super_start(class, receiver).map_err(refused)?;
                Ok(self.virtual_var(SuperVar { class, receiver }))
            }
            _ => Err(in_frame()),
        }
    }
}
