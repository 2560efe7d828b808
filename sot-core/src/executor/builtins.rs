//! Builtin functions and types that are simulated, and those that are folded by calling them on constants.

use super::Executor;
use super::calls::name_of;
use crate::backend::CallKind;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;

/// Functions of `builtins` that have no effect and depend on nothing but constant arguments.
const PURE: &[&str] = &[
    "abs", "ascii", "bin", "chr", "divmod", "format", "hash", "hex", "max", "min", "oct", "ord", "pow", "repr",
    "round", "sorted", "sum",
];
/// Types whose construction from constants gives a constant.
const PURE_TYPES: &[&str] = &["int", "float", "str", "bool", "complex", "bytes", "range", "slice", "frozenset"];
/// Modules whose C functions are pure.
const PURE_MODULES: &[&str] = &["math", "operator", "_operator", "cmath"];

impl<'py> Executor<'py> {
    pub fn call_simulated_builtin(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<Called, Stop> {
        let name: String = callee.getattr("__name__").and_then(|n| n.extract()).unwrap_or_default();
        let module: Option<String> = callee.getattr("__module__").and_then(|m| m.extract()).ok();
        let from_builtins = self.builtins_attribute(&name).is_ok_and(|b| b.is(callee));
        let positional = args.positional.as_slice();
        if from_builtins {
            if args.keywords.is_empty()
                && let Some(result) = self.builtin_function(&name, positional)?
            {
                return Ok(result);
            }
            if PURE.contains(&name.as_str()) {
                return self.fold_call(callee, args).map(Called::Value);
            }
            let reason = match name.as_str() {
                "print" | "input" | "open" | "breakpoint" => Reason::Output,
                // The local names of the frame would be those of the rewritten code.
                "locals" | "vars" | "dir" | "eval" | "exec" => {
                    return Err(Stop::fallback(Reason::FrameInspection, name));
                }
                "globals" => return Err(self.frame_inspection(name)),
                _ => Reason::Builtin,
            };
            return Err(Stop::brk(reason, name));
        }
        if let (Some("sys"), "_getframe" | "_getframemodulename") | (Some("_warnings"), "warn") =
            (module.as_deref(), &*name)
        {
            return Err(self.frame_inspection(name));
        }
        if module.as_deref().is_some_and(|m| PURE_MODULES.contains(&m)) {
            if let Some(operator) = self.tensor_operator(&name, positional)? {
                return Ok(Called::Value(operator));
            }
            return self.fold_call(callee, args).map(Called::Value);
        }
        // A method of a builtin type, found on the type: `object.__init__(self)`, `list.append(l, x)`.
        if let (Some((first, rest)), Ok(owner)) = (positional.split_first(), callee.getattr("__objclass__")) {
            if name == "__init__"
                && owner.is(self.py.get_type::<PyAny>())
                && rest.is_empty()
                && args.keywords.is_empty()
            {
                let none = self.py.None().into_bound(self.py);
                return self.fold(&none).map(Called::Value);
            }
            if self.class_of(*first)?.is(&owner) {
                let rest = Args { positional: rest.to_vec(), keywords: args.keywords.clone() };
                return self.call_bound(*first, &name, &rest);
            }
        }
        Err(Stop::brk(Reason::OpaqueCall, name_of(callee)))
    }

    /// A function that sees who called it: in the outermost frame it may run from rewritten code, which looks the same;
    /// deeper, the frames must be real.
    fn frame_inspection(&self, name: String) -> Stop {
        match self.frames.len() {
            1 => Stop::brk(Reason::FrameInspection, name),
            _ => Stop::fallback(Reason::FrameInspection, name),
        }
    }

    /// An operator given as a function.
    fn tensor_operator(&mut self, name: &str, args: &[VarId]) -> Result<Option<VarId>, Stop> {
        for arg in args {
            if matches!(self.look(*arg)?, VarKind::Tensor(_)) {
                let operator = self.operator(name)?;
                let args = Args::positional(args.to_vec());
                return self.record_call(CallKind::Method, &format!("__{name}__"), Some(&operator), &args).map(Some);
            }
        }
        Ok(None)
    }

    /// Call a pure function on constants.
    pub fn fold_call(&mut self, callee: &Bound<'py, PyAny>, args: &Args) -> Result<VarId, Stop> {
        for arg in &args.positional {
            if matches!(self.look(*arg)?, VarKind::Tensor(_)) {
                let name = name_of(callee);
                let reason = match name.as_str() {
                    "repr" | "str" | "ascii" | "format" => Reason::TensorToHost,
                    _ => Reason::TensorToScalar,
                };
                return Err(Stop::brk(reason, name));
            }
        }
        let (positional, kwargs) = self.convert_arguments(args, |ex, arg| ex.require_plain(arg))?;
        match callee.call(positional, kwargs.as_ref()) {
            Ok(result) => self.fold(&result),
            Err(e) => Err(self.would_raise(&e)),
        }
    }

    fn builtin_function(&mut self, name: &str, args: &[VarId]) -> Result<Option<Called>, Stop> {
        let value = match (name, args) {
            ("len", [value]) => {
                let length = self.length(*value)?;
                self.fold_int(length as i64)?
            }
            ("isinstance", [value, classes]) => {
                let class = self.class_of(*value)?;
                self.is_subclass(&class, *classes)?
            }
            ("issubclass", [class, classes]) => {
                let VarKind::Class(class) = self.look(*class)? else {
                    return Err(Stop::brk(Reason::WouldRaise, "issubclass"));
                };
                let class = self.objects.get(self.py, class.object);
                self.is_subclass(&class, *classes)?
            }
            ("callable", [value]) => {
                let class = self.class_of(*value)?;
                let callable = class
                    .cast::<PyType>()
                    .is_ok_and(|t| facts::type_lookup(t, &PyString::intern(self.py, "__call__")).is_some());
                self.fold_bool(callable)?
            }
            ("getattr", [object, key]) => {
                let name = self.attribute_name(*key)?;
                self.getattr(*object, &name)?
            }
            ("getattr", [object, key, default]) => {
                let name = self.attribute_name(*key)?;
                if self.has_attribute(*object, &name)? { self.getattr(*object, &name)? } else { *default }
            }
            ("hasattr", [object, key]) => {
                let name = self.attribute_name(*key)?;
                let has = self.has_attribute(*object, &name)?;
                self.fold_bool(has)?
            }
            ("setattr", [object, key, value]) => {
                let name = self.attribute_name(*key)?;
                self.setattr(*object, &name, *value)?;
                self.fold_none()?
            }
            ("iter", [value]) => self.iterate(*value)?,
            ("next", [iterator]) => match self.next_item(*iterator)? {
                Some(item) => item,
                None => return Err(Stop::brk(Reason::WouldRaise, "StopIteration")),
            },
            ("next", [iterator, default]) => self.next_item(*iterator)?.unwrap_or(*default),
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
                self.sum(*iterable, zero)?
            }
            ("sum", [iterable, start]) => self.sum(*iterable, *start)?,
            ("abs", [value]) if matches!(self.look(*value)?, VarKind::Tensor(_)) => {
                let abs = self.builtins_attribute("abs")?;
                self.record_call(CallKind::Method, "__abs__", Some(&abs), &Args::positional(args.to_vec()))?
            }
            ("min" | "max" | "sorted", [iterable]) if !self.is_plain(*iterable)? => {
                let items = self.collect(*iterable)?;
                let tuple = self.virtual_var(TupleVar::new(items));
                let callee = self.builtins_attribute(name)?;
                self.fold_call(&callee, &Args::positional(vec![tuple]))?
            }
            ("id", _) => return Err(Stop::brk(Reason::Builtin, "id")),
            _ => return Ok(None),
        };
        Ok(Some(Called::Value(value)))
    }

    fn sum(&mut self, iterable: VarId, start: VarId) -> Result<VarId, Stop> {
        let mut total = start;
        for item in self.collect(iterable)? {
            total = self.binary(sot_opcodes::BinaryOp::Add, false, total, item)?;
        }
        Ok(total)
    }

    fn attribute_name(&mut self, key: VarId) -> Result<String, Stop> {
        self.constant_str(key).ok_or(Stop::brk(Reason::OpaqueValue, "an attribute name"))
    }

    /// Whether the attribute is there. Only where the answer follows from dicts and classes.
    fn has_attribute(&mut self, object: VarId, name: &str) -> Result<bool, Stop> {
        match self.getattr(object, name) {
            Ok(_) => Ok(true),
            Err(Stop::Break(why)) if why.reason == Reason::WouldRaise => Ok(false),
            Err(other) => Err(other),
        }
    }

    fn is_subclass(&mut self, class: &Bound<'py, PyAny>, classes: VarId) -> Result<VarId, Stop> {
        let class = class.cast::<PyType>().map_err(|e| self.internal(&e.into()))?.clone();
        let candidates = match self.look(classes)? {
            VarKind::Tuple(t) => t.items.to_vec(),
            _ => vec![classes],
        };
        let plain_meta = self.py.get_type::<PyType>();
        for candidate in candidates {
            let kind = self.look(candidate)?;
            if let VarKind::Tuple(_) = kind {
                return Err(Stop::brk(Reason::Builtin, "isinstance with nested tuples"));
            }
            let Some(candidate) = kind.pinned(self) else {
                return Err(Stop::brk(Reason::Builtin, "isinstance"));
            };
            let Ok(candidate) = candidate.cast::<PyType>() else {
                return Err(Stop::brk(Reason::Builtin, "isinstance"));
            };
            let by_mro = class.mro().iter().any(|c| c.is(candidate));
            if by_mro {
                return self.fold_bool(true);
            }
            // A metaclass may answer otherwise; abc's answer by registration, which the framework's and the standard
            // library's classes only grow at import.
            let meta = candidate.get_type();
            if !meta.is(&plain_meta) && meta.getattr("__instancecheck__").is_ok() {
                let answer = match class.is_subclass(candidate) {
                    Ok(answer) if is_abc(&meta) => answer,
                    _ => return Err(Stop::brk(Reason::UserCode, "__instancecheck__")),
                };
                if answer {
                    return self.fold_bool(true);
                }
            }
        }
        self.fold_bool(false)
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
            ("tuple", [iterable], []) => {
                let items = self.collect(*iterable)?;
                Ok(self.virtual_var(TupleVar::new(items)))
            }
            ("list", [], []) => Ok(self.virtual_var(ListVar::new(Vec::new()))),
            ("list", [iterable], []) => {
                let items = self.collect(*iterable)?;
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
            ("dict", [source], []) => match self.look(*source)? {
                VarKind::Dict(dict) => {
                    let entries = dict.entries.to_vec();
                    Ok(self.virtual_var(DictVar::new(entries)))
                }
                _ => Err(Stop::brk(Reason::Builtin, "dict of an iterable")),
            },
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
                let inner = self.iterate(*iterable)?;
                Ok(self.virtual_var(IteratorVar::new(Iteration::Enumerate { inner, count })))
            }
            ("enumerate", [iterable, start], []) => {
                let count = self.constant_int(*start).ok_or(Stop::brk(Reason::OpaqueValue, "enumerate"))?;
                let inner = self.iterate(*iterable)?;
                Ok(self.virtual_var(IteratorVar::new(Iteration::Enumerate { inner, count })))
            }
            ("zip", iterables, []) => {
                let mut inners = Vec::with_capacity(iterables.len());
                for iterable in iterables {
                    inners.push(self.iterate(*iterable)?);
                }
                Ok(self.virtual_var(IteratorVar::new(Iteration::Zip { inners })))
            }
            ("map", [function, iterables @ ..], []) if !iterables.is_empty() => {
                let mut inners = Vec::with_capacity(iterables.len());
                for iterable in iterables {
                    inners.push(self.iterate(*iterable)?);
                }
                Ok(self.virtual_var(IteratorVar::new(Iteration::Map { function: *function, inners })))
            }
            ("reversed", [sequence], []) => {
                let index = self.length(*sequence)?;
                match self.look(*sequence)? {
                    VarKind::Tuple(_) | VarKind::List(_) => {
                        let state = Iteration::Reversed { sequence: *sequence, index };
                        Ok(self.virtual_var(IteratorVar::new(state)))
                    }
                    _ => {
                        let mut items = self.collect(*sequence)?;
                        items.reverse();
                        self.iterate_snapshot(items)
                    }
                }
            }
            ("type", [value], []) => {
                let class = self.class_of(*value)?;
                Ok(self.pin(&class))
            }
            ("super", [class, receiver], []) => Ok(self.virtual_var(SuperVar { class: *class, receiver: *receiver })),
            ("super", [], []) => self.zero_argument_super(),
            ("object", [], []) => Err(Stop::brk(Reason::OpaqueCall, name)),
            (name, _, _) if PURE_TYPES.contains(&name) => self.fold_call(class, args),
            _ => Err(Stop::brk(Reason::Builtin, name)),
        }
    }

    /// `super()`: the cell `__class__` and the first argument of the frame.
    fn zero_argument_super(&mut self) -> Result<VarId, Stop> {
        let frame = self.frame();
        let code = &frame.unit.code;
        let at = code.cellvars.iter().chain(&code.freevars).position(|n| n == "__class__");
        let cell = at.and_then(|at| frame.cells[at]);
        let first = match code.cellvars.iter().position(|n| Some(n) == code.varnames.first()) {
            Some(at) => {
                let cell = frame.cells[at];
                match cell {
                    Some(cell) => Some(self.load_cell(cell)?),
                    None => None,
                }
            }
            None => frame.locals.first().copied().flatten(),
        };
        match (cell, first) {
            (Some(cell), Some(receiver)) => {
                let class = self.load_cell(cell)?;
                Ok(self.virtual_var(SuperVar { class, receiver }))
            }
            // What `super()` finds in the frame would not be in the rewritten code's.
            _ => Err(Stop::fallback(Reason::FrameInspection, "super()")),
        }
    }
}

fn is_abc(meta: &Bound<'_, PyType>) -> bool {
    meta.getattr("__module__").and_then(|m| m.extract::<String>()).is_ok_and(|m| m == "abc")
}
