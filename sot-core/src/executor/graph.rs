//! The graph under construction: the backend's builder, StatementIR beside it, and what replay needs.
//!
//! An operation on tensors is appended to the backend's graph at once ([`Executor::record_call`]); its symbolic
//! results become variables. StatementIR is the readable form of the same; [`ReplayCall`] is the form that runs the
//! statements one by one on real tensors.

use super::Executor;
use crate::backend::{Attr, BuildError, CallKind, GraphBuilder, Kind, OpCall, TensorMeta};
use crate::captured::{GraphInput, ReplayArg, ReplayCall};
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_sir::{Literal, ObjectRef, Operand, Statement, StatementKind, Symbol};

fn stop(error: BuildError) -> Stop {
    Stop::Break(error.why)
}

impl<'py> Executor<'py> {
    fn builder(&mut self) -> Result<&mut Box<dyn GraphBuilder>, Stop> {
        if self.builder.is_none() {
            if let Some(why) = self.backend.unavailable(self.py) {
                return Err(Stop::Fallback(why));
            }
            self.builder = Some(self.backend.begin(self.py).map_err(|e| self.internal(&e))?);
        }
        Ok(self.builder.as_mut().expect("a builder"))
    }

    pub fn take_builder(&mut self) -> Option<Box<dyn GraphBuilder>> {
        self.builder.take()
    }

    /// The symbolic value of a tensor variable; a sourced tensor becomes an input.
    pub fn tensor_value(&mut self, var: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        let VarKind::Tensor(tensor) = self.look(var)? else {
            return Err(Stop::fallback(Reason::InternalError, "not a tensor"));
        };
        match tensor.source {
            TensorSource::Computed { value, .. } => Ok(self.objects.get(self.py, value)),
            TensorSource::Object(object) => {
                if let Some(input) = self.graph.inputs.iter().find(|i| i.var == var) {
                    let value = self.graph.values[&input.symbol.0];
                    return Ok(self.objects.get(self.py, value));
                }
                let tensor = self.objects.get(self.py, object);
                let value = self.builder()?.input(&tensor).map_err(stop)?;
                let symbol = self.graph.fresh_symbol();
                let id = self.objects.add(&value);
                self.graph.values.insert(symbol.0, id);
                self.graph.by_value.insert(value.as_ptr() as usize, var);
                self.graph.inputs.push(GraphInput { var, symbol });
                Ok(value)
            }
        }
    }

    /// The symbol of a tensor variable that is part of the graph.
    pub fn tensor_symbol(&self, var: VarId) -> Option<Symbol> {
        match &self.var(var).kind {
            VarKind::Tensor(TensorVar { source: TensorSource::Computed { symbol, .. } }) => Some(*symbol),
            _ => self.graph.inputs.iter().find(|i| i.var == var).map(|i| i.symbol),
        }
    }

    pub fn value_meta(&mut self, value: &Bound<'py, PyAny>) -> Result<TensorMeta, Stop> {
        let meta = self.builder()?.meta(value);
        meta.map_err(|e| self.internal(&e))
    }

    pub fn tensor_attribute(&mut self, value: &Bound<'py, PyAny>, name: &str) -> Result<Attr<'py>, Stop> {
        let at = self.user_frames();
        self.builder()?.getattr(value, name, &at).map_err(stop)
    }

    /// Whether the tensor class has a plain method of this name.
    pub fn is_tensor_method(&self, name: &str) -> bool {
        let Ok(class) = self.backend.tensor_class(self.py) else { return false };
        let Ok(class) = class.cast_into::<PyType>() else { return false };
        let found = crate::cpython::facts::type_lookup(&class, &PyString::intern(self.py, name));
        found.is_some_and(|f| crate::cpython::facts::is_function(&f) || self.is_plain_callable(&f))
    }

    /// Append an operation and give its result.
    pub fn record_call(
        &mut self,
        kind: CallKind,
        name: &str,
        callee: Option<&Bound<'py, PyAny>>,
        args: &Args,
    ) -> Result<VarId, Stop> {
        if kind == CallKind::Method {
            // The class may be given another method of this name.
            let class = self.backend.tensor_class(self.py).map_err(|e| self.internal(&e))?;
            self.class_lookup(&class, name)?;
        }
        // Enter building mode first: arguments may have to be converted in it.
        self.builder()?;
        let (tuple, kwargs) = self.convert_arguments(args, |ex, arg| ex.argument(arg))?;
        let at = self.user_frames();
        let op = OpCall { kind, name, callee, args: &tuple, kwargs: kwargs.as_ref() };
        let result = self.builder()?.call(&op, &at).map_err(stop)?;
        let (result_var, pattern) = self.wrap_result(&result)?;
        let callee = callee.map(|c| self.objects.add(c));
        let mut replay_args = Vec::with_capacity(args.positional.len());
        for arg in &args.positional {
            replay_args.push(self.replay_arg(*arg)?);
        }
        let mut replay_kwargs = Vec::with_capacity(args.keywords.len());
        for (name, value) in &args.keywords {
            replay_kwargs.push((name.clone(), self.replay_arg(*value)?));
        }
        let call = ReplayCall {
            kind,
            name: name.to_owned(),
            callee,
            args: replay_args,
            kwargs: replay_kwargs,
            result: pattern,
        };
        let statement = self.statement(&call);
        self.graph.statements.push(statement);
        self.graph.calls.push(call);
        Ok(result_var)
    }

    /// An attribute that appended an operation (`x.T`).
    pub fn record_attribute(&mut self, me: VarId, name: &str, result: &Bound<'py, PyAny>) -> Result<VarId, Stop> {
        let (var, pattern) = self.wrap_result(result)?;
        let getattr = self.builtins_attribute("getattr")?;
        let callee = Some(self.objects.add(&getattr));
        let key = PyString::intern(self.py, name);
        let key = self.objects.add(key.as_any());
        let receiver = self.replay_arg(me)?;
        let call = ReplayCall {
            kind: CallKind::Method,
            name: name.to_owned(),
            callee,
            args: vec![receiver, ReplayArg::Object(key)],
            kwargs: Vec::new(),
            result: pattern,
        };
        let mut statement = self.statement(&call);
        statement.args.truncate(1);
        self.graph.statements.push(statement);
        self.graph.calls.push(call);
        Ok(var)
    }

    /// The structure that the framework returned, as variables, and as a pattern of symbols.
    fn wrap_result(&mut self, result: &Bound<'py, PyAny>) -> Result<(VarId, ReplayArg), Stop> {
        self.nested(|ex| ex.wrap_result_of(result))
    }

    fn wrap_result_of(&mut self, result: &Bound<'py, PyAny>) -> Result<(VarId, ReplayArg), Stop> {
        if self.builder()?.is_value(result) {
            if let Some(known) = self.graph.var_of(result) {
                // Returned as it came: the statement defines nothing new.
                let id = self.objects.add(result);
                return Ok((known, ReplayArg::Object(id)));
            }
            let symbol = self.graph.fresh_symbol();
            let value = self.objects.add(result);
            let var = self.virtual_var(TensorVar { source: TensorSource::Computed { value, symbol } });
            self.graph.values.insert(symbol.0, value);
            self.graph.by_value.insert(result.as_ptr() as usize, var);
            return Ok((var, ReplayArg::Symbol(symbol)));
        }
        if let Ok(tuple) = result.cast::<PyTuple>() {
            let class =
                (!result.is_exact_instance_of::<PyTuple>()).then(|| self.objects.add(result.get_type().as_any()));
            let (vars, patterns) = self.wrap_results(tuple.iter())?;
            let var = self.virtual_var(TupleVar { items: vars.into(), class });
            return Ok((var, ReplayArg::Tuple(patterns)));
        }
        if let Ok(list) = result.cast_exact::<PyList>() {
            let (vars, patterns) = self.wrap_results(list.iter())?;
            return Ok((self.virtual_var(ListVar::new(vars)), ReplayArg::List(patterns)));
        }
        if let Ok(dict) = result.cast_exact::<PyDict>() {
            let (mut entries, mut patterns) = (Vec::new(), Vec::new());
            for (key, value) in dict.iter() {
                let key_id = self.objects.add(&key);
                let key = self.fold(&key)?;
                let (value, pattern) = self.wrap_result(&value)?;
                entries.push((key, value));
                patterns.push((ReplayArg::Object(key_id), pattern));
            }
            return Ok((self.virtual_var(DictVar::new(entries)), ReplayArg::Dict(patterns)));
        }
        let var = self.fold(result)?;
        let id = self.objects.add(result);
        Ok((var, ReplayArg::Object(id)))
    }

    fn wrap_results(
        &mut self,
        items: impl Iterator<Item = Bound<'py, PyAny>>,
    ) -> Result<(Vec<VarId>, Vec<ReplayArg>), Stop> {
        let mut vars = Vec::new();
        let mut patterns = Vec::new();
        for item in items {
            let (var, pattern) = self.wrap_result(&item)?;
            vars.push(var);
            patterns.push(pattern);
        }
        Ok((vars, patterns))
    }

    fn replay_arg(&mut self, var: VarId) -> Result<ReplayArg, Stop> {
        self.nested(|ex| ex.replay_arg_of(var))
    }

    fn replay_arg_of(&mut self, var: VarId) -> Result<ReplayArg, Stop> {
        if let Some(symbol) = self.tensor_symbol(var) {
            return Ok(ReplayArg::Symbol(symbol));
        }
        Ok(match self.look(var)? {
            VarKind::Tuple(t) if t.class.is_none() => ReplayArg::Tuple(self.replay_args(&t.items)?),
            VarKind::List(l) if l.class.is_none() => ReplayArg::List(self.replay_args(&l.items)?),
            VarKind::Slice(s) => {
                let parts = self.replay_args(&s.parts)?;
                let parts: [ReplayArg; 3] = parts.try_into().expect("three parts");
                ReplayArg::Slice(Box::new(parts))
            }
            VarKind::Dict(d) => {
                let mut entries = Vec::with_capacity(d.entries.len());
                for (key, value) in d.entries.iter() {
                    entries.push((self.replay_arg(*key)?, self.replay_arg(*value)?));
                }
                ReplayArg::Dict(entries)
            }
            _ => {
                let object = self.argument(var)?;
                ReplayArg::Object(self.objects.add(&object))
            }
        })
    }

    fn replay_args(&mut self, vars: &[VarId]) -> Result<Vec<ReplayArg>, Stop> {
        vars.iter().map(|v| self.replay_arg(*v)).collect()
    }

    fn statement(&self, call: &ReplayCall) -> Statement {
        let kind = match call.kind {
            CallKind::Api => StatementKind::Api,
            CallKind::Method => StatementKind::Method,
            CallKind::Layer => StatementKind::Layer,
        };
        Statement {
            kind,
            name: call.name.clone(),
            callee: match call.kind {
                CallKind::Layer => call.callee.map(|c| ObjectRef(c.0)),
                CallKind::Api | CallKind::Method => None,
            },
            args: call.args.iter().map(|a| self.operand(a)).collect(),
            kwargs: call.kwargs.iter().map(|(n, a)| (n.clone(), self.operand(a))).collect(),
            result: self.operand(&call.result),
        }
    }

    fn operand(&self, arg: &ReplayArg) -> Operand {
        match arg {
            ReplayArg::Symbol(symbol) => Operand::Symbol(*symbol),
            ReplayArg::Tuple(items) => Operand::Tuple(items.iter().map(|i| self.operand(i)).collect()),
            ReplayArg::List(items) => Operand::List(items.iter().map(|i| self.operand(i)).collect()),
            ReplayArg::Dict(entries) => {
                Operand::Dict(entries.iter().map(|(k, v)| (self.operand(k), self.operand(v))).collect())
            }
            ReplayArg::Slice(parts) => {
                Operand::Slice(Box::new([self.operand(&parts[0]), self.operand(&parts[1]), self.operand(&parts[2])]))
            }
            ReplayArg::Object(id) => {
                let object = self.objects.get_ref(self.py, *id);
                match literal(object) {
                    Some(literal) => Operand::Literal(literal),
                    None => Operand::Object {
                        object: ObjectRef(id.0),
                        label: label(object, matches!(self.backend.classify(object), Kind::Constant)),
                    },
                }
            }
        }
    }
}

fn literal(object: &Bound<'_, PyAny>) -> Option<Literal> {
    if object.is_none() {
        Some(Literal::None)
    } else if object.is(object.py().Ellipsis()) {
        Some(Literal::Ellipsis)
    } else if object.is_exact_instance_of::<PyBool>() {
        object.extract().ok().map(Literal::Bool)
    } else if object.is_exact_instance_of::<PyInt>() {
        object.extract().ok().map(Literal::Int)
    } else if object.is_exact_instance_of::<PyFloat>() {
        object.extract().ok().map(Literal::Float)
    } else if object.is_exact_instance_of::<PyString>() {
        object.extract().ok().map(Literal::Str)
    } else {
        None
    }
}

/// A stable name of an object for StatementIR: no addresses, no user code.
fn label(object: &Bound<'_, PyAny>, constant: bool) -> String {
    if constant && let Ok(text) = object.str() {
        return text.to_string();
    }
    crate::objects::stable_repr(object)
}
