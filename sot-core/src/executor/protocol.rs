//! Small protocols over kinds: truth, length, special methods, plain values.

use super::Executor;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

impl<'py> Executor<'py> {
    pub fn truth(&mut self, var: VarId) -> Result<bool, Stop> {
        self.look(var)?.truth(self, var)
    }

    pub fn length(&mut self, var: VarId) -> Result<usize, Stop> {
        self.look(var)?.length(self, var)
    }

    pub fn iterate(&mut self, var: VarId) -> Result<VarId, Stop> {
        self.look(var)?.iterate(self, var)
    }

    pub fn subscript(&mut self, var: VarId, key: VarId) -> Result<VarId, Stop> {
        self.look(var)?.subscript(self, var, key)
    }

    pub fn call(&mut self, callee: VarId, args: &Args) -> Result<Called, Stop> {
        self.look(callee)?.call(self, callee, args)
    }

    pub fn class_of(&mut self, var: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        self.look(var)?.class(self, var)
    }

    /// As an argument of a framework call.
    pub fn argument(&mut self, var: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        self.look(var)?.as_argument(self, var)
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

    /// A value without any tensor in it, as the Python object that it is: for folding.
    pub fn require_plain(&mut self, var: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        if self.is_plain(var)? {
            self.argument(var)
        } else {
            Err(Stop::brk(Reason::OpaqueValue, "a value that is not constant"))
        }
    }

    /// Whether a value is made of constants only.
    pub fn is_plain(&mut self, var: VarId) -> Result<bool, Stop> {
        let parts = match self.look(var)? {
            VarKind::Constant(_) => return Ok(true),
            VarKind::Tuple(t) => {
                if t.class.is_some() {
                    return Ok(false);
                }
                t.items.to_vec()
            }
            VarKind::List(l) => l.items.to_vec(),
            VarKind::Slice(s) => s.parts.to_vec(),
            VarKind::Dict(d) => d.entries.iter().flat_map(|e| [e.0, e.1]).collect(),
            VarKind::Class(c) => {
                let class = self.objects.get(self.py, c.object);
                return Ok(class.cast::<pyo3::types::PyType>().is_ok_and(|t| !facts::is_heap_type(t)));
            }
            VarKind::Tensor(_)
            | VarKind::View(_)
            | VarKind::Iterator(_)
            | VarKind::Function(_)
            | VarKind::Method(_)
            | VarKind::Bound(_)
            | VarKind::Builtin(_)
            | VarKind::Module(_)
            | VarKind::Layer(_)
            | VarKind::Instance(_)
            | VarKind::Super(_)
            | VarKind::Cell(_)
            | VarKind::Null(_) => return Ok(false),
        };
        for part in parts {
            if !self.is_plain(part)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A dict key: a constant, or a tuple of such, or a pinned object that is compared by identity.
    pub fn require_key(&mut self, var: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        let kind = self.look(var)?;
        match &kind {
            VarKind::Constant(_) | VarKind::Tuple(_) => self.require_plain(var),
            VarKind::Function(_) | VarKind::Builtin(_) | VarKind::Module(_) => match kind.pinned(self) {
                Some(object) => Ok(object),
                None => Err(Stop::brk(Reason::ValueKind, "a dict key")),
            },
            _ => Err(Stop::brk(Reason::ValueKind, format!("{} as a dict key", kind.kind_name()))),
        }
    }

    /// A constant int as an index; `None` if it is something else.
    pub fn index_value(&mut self, var: VarId) -> Result<Option<i64>, Stop> {
        match self.look(var)? {
            VarKind::Constant(_) => Ok(self.constant_int(var)),
            VarKind::Tensor(_) => Err(Stop::brk(Reason::TensorToScalar, "an index")),
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
            Some(_) => Err(Stop::brk(Reason::UserCode, name)),
            None => Ok(None),
        }
    }

    pub fn special_method(&mut self, me: VarId, name: &str) -> Result<VarId, Stop> {
        self.special_method_if_any(me, name)?.ok_or(Stop::brk(Reason::WouldRaise, name))
    }

    /// Call a special method and simulate it to its end.
    pub fn call_special(&mut self, me: VarId, name: &str, args: Vec<VarId>) -> Result<VarId, Stop> {
        let method = self.special_method(me, name)?;
        self.call_now(method, &Args::positional(args))
    }

    /// `bool()` of an instance: `__bool__`, then `__len__`, then true.
    pub fn truth_by_protocol(&mut self, me: VarId) -> Result<bool, Stop> {
        if let Some(method) = self.special_method_if_any(me, "__bool__")? {
            let result = self.call_now(method, &Args::default())?;
            return self.truth(result);
        }
        if let Some(method) = self.special_method_if_any(me, "__len__")? {
            let result = self.call_now(method, &Args::default())?;
            return self.truth(result);
        }
        Ok(true)
    }

    /// `iter()` of an instance: what `__iter__` gives is the iterator, and is not asked again.
    pub fn iterate_by_protocol(&mut self, me: VarId) -> Result<VarId, Stop> {
        let iterator = self.call_special(me, "__iter__", vec![])?;
        match self.look(iterator)? {
            VarKind::Iterator(_) | VarKind::Instance(_) => Ok(iterator),
            other => Err(Stop::brk(Reason::WouldRaise, format!("__iter__ gave {}", other.kind_name()))),
        }
    }

    pub fn length_by_protocol(&mut self, me: VarId) -> Result<usize, Stop> {
        let result = self.call_special(me, "__len__", vec![])?;
        let length = self.constant_int(result).and_then(|n| usize::try_from(n).ok());
        length.ok_or(Stop::brk(Reason::WouldRaise, "__len__"))
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
        self.py.import("types").and_then(|m| m.getattr(name)).map_err(|e| self.internal(&e))
    }

    pub fn builtins_attribute(&self, name: &str) -> Result<Bound<'py, PyAny>, Stop> {
        self.py.import("builtins").and_then(|m| m.getattr(name)).map_err(|e| self.internal(&e))
    }

    pub fn cell_type(&self) -> Result<Bound<'py, PyAny>, Stop> {
        self.types_attribute("CellType")
    }

    /// A function of module `operator`.
    pub fn operator(&self, name: &str) -> Result<Bound<'py, PyAny>, Stop> {
        self.py.import("operator").and_then(|m| m.getattr(name)).map_err(|e| self.internal(&e))
    }
}
