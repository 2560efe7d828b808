//! The graph under construction: the backend's builder, StatementIR beside it.
//!
//! An operation on tensors is appended to the backend's graph at once ([`Executor::record_call`]); its symbolic
//! results become variables. StatementIR is the readable form of the same, and the one that is replayed on real tensors, with the
//! objects [`Behind`] it.

use super::Executor;
use crate::backend::{Acts, Attr, BuildError, CallKind, Given, GraphBuilder, Kind, OpCall, TensorMeta};
use crate::captured::{Behind, Callee, GraphInput};
use crate::stop::{Reason, Stop};
use crate::type_facts::Descriptor;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use smallvec::SmallVec;
use sot_sideeffect::Mutation;
use sot_sir::{Literal, ObjectRef, Operand, Statement, StatementKind, Symbol};
use sot_tracker::ObjectId;
use std::rc::Rc;

/// Parts of the arguments of an operation that are searched for numbers.
const MOST_SEARCHED: usize = 256;

impl<'py> Executor<'py> {
    /// The framework refuses: the graph breaks, unless it is for extents that vary.
    pub(super) fn refused(&mut self, error: BuildError) -> Stop {
        self.step.refused_inside = error.inside;
        let why = error.told(self.py);
        // Memory from outside is not the graph's, whatever its extents are.
        match self.extents_vary() && why.reason != Reason::InplaceTensor {
            true => self.needs_fixed_extents(why),
            false => Stop::Break(why),
        }
    }

    pub(super) fn builder(&mut self) -> Result<&mut Box<dyn GraphBuilder>, Stop> {
        if self.builder.is_none() {
            if let Some(why) = self.backend.unavailable(self.py) {
                return Err(Stop::Fallback(why));
            }
            self.builder = Some(self.backend.begin(self.py).map_err(|e| self.internal(&e))?);
        }
        Ok(self.builder.as_mut().expect("a builder"))
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
                let axes = self.captured.free_axes.get(&(tensor.as_ptr() as usize)).cloned();
                let builder = self.builder()?;
                let value = match &axes {
                    Some(axes) => builder.input_that_varies(&tensor, axes),
                    None => builder.input(&tensor),
                };
                let value = value.map_err(|error| self.refused(error))?;
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

    /// An example of a number that varies, which becomes an input of the graph.
    pub(super) fn number_as_operand(&mut self, var: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        let VarKind::Constant(ConstantVar { object }) = self.look(var)? else {
            return Err(Stop::fallback(Reason::InternalError, "a number that is none"));
        };
        let symbol = self.symbol_of_number(var);
        // The graph is built with an example.
        self.graph.examples.insert(symbol.0);
        Ok(self.objects.get(self.py, object))
    }

    /// The symbol of a number that varies, which is made if there is none.
    pub(super) fn symbol_of_number(&mut self, var: VarId) -> Symbol {
        self.number_symbol(var).unwrap_or_else(|| {
            let symbol = self.graph.fresh_symbol();
            self.graph.numbers.push(GraphInput { var, symbol });
            symbol
        })
    }

    /// The symbol of a number that varies, if it has one.
    fn number_symbol(&self, var: VarId) -> Option<Symbol> {
        let known = self.graph.numbers.iter().find(|input| input.var == var);
        known.map(|input| input.symbol).filter(|_| !self.var(var).valued)
    }

    pub fn value_meta(&mut self, value: &Bound<'py, PyAny>) -> Result<TensorMeta, Stop> {
        let meta = self.builder()?.meta(value);
        meta.map_err(|e| self.internal(&e))
    }

    pub fn tensor_attribute(&mut self, value: &Bound<'py, PyAny>, name: &str) -> Result<Attr<'py>, Stop> {
        let at = self.user_frames();
        self.builder()?;
        self.tell_modes()?;
        self.tell_flags()?;
        let attribute = self.builder()?.getattr(value, name, &at).map_err(|error| self.refused(error))?;
        match attribute {
            // What is read of data breaks anyhow.
            Attr::Break(why) if why.reason == Reason::TensorAttribute && self.extents_vary() => {
                Err(self.needs_fixed_extents(why))
            }
            attribute => Ok(attribute),
        }
    }

    /// Whether the tensor class has a plain method of this name.
    pub fn is_tensor_method(&self, name: &str) -> bool {
        let Ok(class) = self.backend.tensor_class(self.py) else { return false };
        let Ok(class) = class.cast_into::<PyType>() else { return false };
        let found = crate::cpython::facts::type_lookup(&class, &PyString::intern(self.py, name));
        found.is_some_and(|f| crate::cpython::facts::is_function(&f) || self.is_plain_callable(&f))
    }

    /// Whether the class of tensors has a name from a class of the interpreter (`__dir__`): it binds as one of C.
    pub fn is_tensor_method_of_c(&self, name: &str) -> bool {
        let Ok(class) = self.backend.tensor_class(self.py) else { return false };
        let Ok(class) = class.cast_into::<PyType>() else { return false };
        crate::type_facts::raw(&class, name).is_some_and(|found| {
            matches!(crate::type_facts::descriptor(&found), Descriptor::Method | Descriptor::Wrapper)
        })
    }

    /// The arguments of an operation that are numbers of run time, and that it takes as such wherever they are.
    fn numbers_taken(&mut self, kind: CallKind, name: &str, args: &Args) -> SmallVec<[VarId; 2]> {
        let mut taken = SmallVec::new();
        // One that is also given elsewhere, as in a slice, is what it is there.
        let mut elsewhere: Vec<VarId> = Vec::new();
        let positional = args.positional.iter().enumerate().map(|(at, arg)| (Given::At(at), arg));
        let named = args.keywords.iter().map(|(name, arg)| (Given::Named(name), arg));
        for (at, arg) in positional.chain(named) {
            if self.is_varying(*arg) && self.backend.takes_at_run_time(kind, name, at) {
                taken.push(*arg);
                continue;
            }
            if !self.backend.takes_number(self.py, kind, name, at) {
                elsewhere.push(*arg);
                continue;
            }
            // What is an extent of an input is passed as such, which a compiled form takes, too.
            let extents = self.may_take_extents() && self.backend.takes_extents(self.py, kind, name, at);
            let items = self.items_of_index(*arg);
            for number in items.iter().flat_map(|items| items.iter()).chain(items.is_none().then_some(arg)) {
                if !self.is_varying_number(*number) {
                    elsewhere.push(*number);
                } else if !(extents && self.is_extent(*number)) {
                    taken.push(*number);
                }
            }
        }
        if taken.is_empty() {
            return taken;
        }
        let mut next = 0;
        while let Some(other) = elsewhere.get(next).copied().filter(|_| next < MOST_SEARCHED) {
            next += 1;
            elsewhere.extend(self.captured.parts(other));
        }
        if next == MOST_SEARCHED {
            return SmallVec::new();
        }
        taken.retain(|arg| !elsewhere.contains(arg));
        taken
    }

    /// The arguments of an operation that are objects from before, and that it is given when it runs.
    fn objects_given(&mut self, kind: CallKind, name: &str, args: &Args) -> Result<SmallVec<[VarId; 2]>, Stop> {
        let mut given = SmallVec::new();
        for (at, arg) in args.positional.iter().enumerate() {
            if self.backend.takes_at_run_time(kind, name, Given::At(at))
                && matches!(self.look(*arg)?, VarKind::Instance(_))
                && let Some(object) = self.known_object(*arg)
            {
                self.is_known_by_it_alone(*arg, object)?;
                given.push(*arg);
            }
        }
        Ok(given)
    }

    /// What an object keeps that an operation is given may not be known by another path: somebody might look at it behind the operation.
    fn is_known_by_it_alone(&mut self, owner: VarId, object: ObjectId) -> Result<(), Stop> {
        let ways = [self.var(owner).tracker, self.constant_tracker(object)];
        let object = self.objects.get(self.py, object);
        for (_, part) in crate::cpython::facts::instance_dict(&object).iter().flat_map(|parts| parts.iter()) {
            let Some(known) = self.known.get(&(part.as_ptr() as usize)) else { continue };
            let path = self.trackers.path(self.var(*known).tracker);
            if !path.iter().any(|step| ways.contains(step)) {
                return Err(Stop::brk(Reason::Mutation, "what an operation changes"));
            }
        }
        Ok(())
    }

    /// What such objects keep in dicts the program may have added to, which new code does behind the graph: too late, if the operation adds to
    /// them as well. So behind its other arguments it is given the keys that are to be there already, in their order.
    fn with_keys_added(&mut self, objects: &[VarId], args: &Args) -> Result<Option<Args>, Stop> {
        let mut keys: Vec<(String, VarId)> = Vec::new();
        let added = self.journal.entries().iter().filter_map(|entry| match &entry.mutation {
            Mutation::SetItem { object, key, .. } => Some((VarId(object.0), VarId(key.0))),
            _ => None,
        });
        let added: Vec<_> = if objects.is_empty() { Vec::new() } else { added.collect() };
        for object in objects.iter().filter_map(|var| self.known_object(*var)).collect::<Vec<_>>() {
            let object = self.objects.get(self.py, object);
            let parts = crate::cpython::facts::instance_dict(&object).into_iter().flat_map(|parts| parts.values());
            for part in parts.filter_map(|part| part.cast_into::<PyDict>().ok()) {
                for (written, key) in &added {
                    let written = self.known_object(*written);
                    let is_part = written.is_some_and(|written| self.objects.get_ref(self.py, written).is(&part));
                    if is_part
                        && let Some(text) = self.constant_str(*key)
                        && !part.contains(&text).unwrap_or(true)
                        && !keys.iter().any(|(known, _)| *known == text)
                    {
                        keys.push((text, *key));
                    }
                }
            }
        }
        if keys.is_empty() {
            return Ok(None);
        }
        let keys = self.virtual_var(TupleVar::new(keys.into_iter().map(|(_, key)| key).collect::<Vec<_>>()));
        let positional = args.positional.iter().copied().chain([keys]).collect();
        Ok(Some(Args { positional, keywords: args.keywords.clone() }))
    }

    /// Code of the program does not look at what operations change.
    pub(super) fn is_looked_at_by_framework(&self, class: &Bound<'py, PyAny>) -> Result<(), Stop> {
        match self.backend.is_kept_apart(class) && !self.is_framework_asking() {
            true => Err(Stop::brk(Reason::FrameworkFunction, "what operations of the graph change is looked at")),
            false => Ok(()),
        }
    }

    /// The items of a tuple or list that was made or looked at (`x[:, n]`).
    fn items_of_index(&self, var: VarId) -> Option<Rc<[VarId]>> {
        match &self.var(var).kind {
            VarKind::Tuple(TupleVar { items, class: None }) => Some(items.iter().copied().collect()),
            VarKind::List(ListVar { items, class: None, .. }) => Some(items.iter().copied().collect()),
            _ => None,
        }
    }

    /// The arguments of an operation in which it takes extents that vary. One that is also given elsewhere is a number in both places.
    fn taking_extents(&self, kind: CallKind, name: &str, args: &Args) -> SmallVec<[VarId; 4]> {
        if !self.may_take_extents() {
            return SmallVec::new();
        }
        let takes = |at: Given<'_>| self.backend.takes_extents(self.py, kind, name, at);
        let positional = args.positional.iter().enumerate().map(|(at, arg)| (*arg, takes(Given::At(at))));
        let named = args.keywords.iter().map(|(name, arg)| (*arg, takes(Given::Named(name))));
        let (taking, others): (Vec<_>, Vec<_>) = positional.chain(named).partition(|(_, takes)| *takes);
        let is_other = |arg: &VarId| others.iter().any(|(other, _)| other == arg);
        taking.into_iter().map(|(arg, _)| arg).filter(|arg| !is_other(arg)).collect()
    }

    /// Append an operation and give its result.
    pub fn record_call(
        &mut self,
        kind: CallKind,
        name: &str,
        callee: Option<&Bound<'py, PyAny>>,
        args: &Args,
    ) -> Result<VarId, Stop> {
        let before = (std::mem::replace(&mut self.takes_extents, false), std::mem::take(&mut self.takes_numbers));
        let objects = self.objects_given(kind, name, args)?;
        let with_keys = self.with_keys_added(&objects, args)?;
        let args = with_keys.as_ref().unwrap_or(args);
        let others = (!objects.is_empty()).then(|| std::mem::replace(&mut self.objects_taken, objects));
        let recorded = self.record_call_of(kind, name, callee, args);
        if let Some(others) = others {
            self.objects_taken = others;
        }
        (self.takes_extents, self.takes_numbers) = before;
        recorded
    }

    fn record_call_of(
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
        self.modules_are_as_they_are()?;
        // Enter building mode first: arguments may have to be converted in it.
        self.builder()?;
        self.tell_modes()?;
        self.takes_numbers = self.numbers_taken(kind, name, args);
        let extents = self.taking_extents(kind, name, args);
        let (tuple, kwargs) = self.convert_arguments(args, |ex, arg| {
            ex.takes_extents = extents.contains(&arg);
            ex.argument(arg)
        })?;
        self.takes_extents = false;
        self.tell_flags()?;
        let at = self.user_frames();
        let op = OpCall { kind, name, callee, args: &tuple, kwargs: kwargs.as_ref(), may_act: self.may_act() };
        let result = self.builder()?.call(&op, &at).map_err(|error| self.refused(error))?;
        let acts = self.builder()?.acts();
        self.may_act_so(acts, name)?;
        let mut of_result = Vec::new();
        let (result_var, pattern) = self.wrap_result(&result, &mut of_result)?;
        let writes = result.is_none() || args.positional.first() == Some(&result_var);
        let is_write = writes && !self.backend.may_do_nothing(name);
        if is_write && self.captured.flags.iter().any(|flag| args.positional.first() == Some(&flag.tensor)) {
            // A write may set the flag again.
            return Err(Stop::brk(Reason::InplaceTensor, format!("{name} of a tensor whose flag was set")));
        }
        if pattern.symbols().is_empty() && !writes {
            // An answer about its arguments (`dim`), which is true of these shapes.
            self.claim_all(args)?;
        }
        let callee = callee.map(|c| self.objects.add(c));
        let mut objects = Vec::new();
        let mut operands = Vec::with_capacity(args.positional.len());
        for arg in &args.positional {
            self.takes_extents = extents.contains(arg);
            operands.push(self.operand(*arg, &mut objects)?);
        }
        let mut keywords = Vec::with_capacity(args.keywords.len());
        for (name, value) in &args.keywords {
            self.takes_extents = extents.contains(value);
            keywords.push((name.clone(), self.operand(*value, &mut objects)?));
        }
        objects.append(&mut of_result);
        let statement = Statement {
            kind: match kind {
                CallKind::Api => StatementKind::Api,
                CallKind::Method => StatementKind::Method,
                CallKind::Layer => StatementKind::Layer,
            },
            name: name.to_owned(),
            // Of the others the name says who it is.
            callee: callee.filter(|_| kind == CallKind::Layer).map(|c| ObjectRef(c.0)),
            args: operands,
            kwargs: keywords,
            result: pattern,
        };
        self.record_modes()?;
        self.record_flags_of_inputs();
        self.is_to_be_recorded(acts)?;
        let behind = Behind::new(callee.map_or(Callee::Method, Callee::Object), objects);
        self.graph.push(statement, Behind { acts, ..behind });
        Ok(result_var)
    }

    /// An attribute that appended an operation (`x.T`). `expects`: as what a run is to find it.
    pub fn record_attribute(
        &mut self,
        me: VarId,
        name: &str,
        result: &Bound<'py, PyAny>,
        expects: Option<TensorMeta>,
    ) -> Result<VarId, Stop> {
        let (mut objects, mut of_result) = (Vec::new(), Vec::new());
        let (var, pattern) = self.wrap_result(result, &mut of_result)?;
        let receiver = self.operand(me, &mut objects)?;
        objects.append(&mut of_result);
        let statement =
            Statement { args: vec![receiver], result: pattern, ..Statement::new(StatementKind::Method, name) };
        self.record_modes()?;
        self.record_flags_of_inputs();
        self.is_to_be_recorded(Acts::Nothing)?;
        self.graph.push(statement, Behind { expects, ..Behind::new(Callee::Attribute, objects) });
        Ok(var)
    }

    /// The structure that the framework returned, as variables, and as a pattern of symbols. `objects`: those that the
    /// pattern names, in order.
    fn wrap_result(
        &mut self,
        result: &Bound<'py, PyAny>,
        objects: &mut Vec<ObjectId>,
    ) -> Result<(VarId, Operand), Stop> {
        self.nested(|ex| ex.wrap_result_of(result, objects))
    }

    fn wrap_result_of(
        &mut self,
        result: &Bound<'py, PyAny>,
        objects: &mut Vec<ObjectId>,
    ) -> Result<(VarId, Operand), Stop> {
        if self.builder()?.is_value(result) {
            if let Some(known) = self.graph.var_of(result) {
                // Returned as it came: the statement defines nothing new.
                let none = self.py.None().into_bound(self.py);
                return Ok((known, self.constant(&none, objects)));
            }
            let symbol = self.graph.fresh_symbol();
            let value = self.objects.add(result);
            let var = self.virtual_var(TensorVar { source: TensorSource::Computed { value, symbol } });
            self.graph.values.insert(symbol.0, value);
            self.graph.by_value.insert(result.as_ptr() as usize, var);
            return Ok((var, Operand::Symbol(symbol)));
        }
        if let Ok(tuple) = result.cast::<PyTuple>() {
            let class =
                (!result.is_exact_instance_of::<PyTuple>()).then(|| self.objects.add(result.get_type().as_any()));
            let (vars, patterns) = self.wrap_results(tuple.iter(), objects)?;
            let var = self.virtual_var(TupleVar { items: vars.into(), class });
            return Ok((var, Operand::Tuple(patterns)));
        }
        if let Ok(list) = result.cast_exact::<PyList>() {
            let (vars, patterns) = self.wrap_results(list.iter(), objects)?;
            return Ok((self.virtual_var(ListVar::new(vars)), Operand::List(patterns)));
        }
        if let Ok(dict) = result.cast_exact::<PyDict>() {
            let (mut entries, mut patterns) = (Vec::new(), Vec::new());
            for (key, value) in dict.iter() {
                let named = self.constant(&key, objects);
                let key = self.fold(&key)?;
                let (value, pattern) = self.wrap_result(&value, objects)?;
                entries.push((key, value));
                patterns.push((named, pattern));
            }
            return Ok((self.virtual_var(DictVar::new(entries)), Operand::Dict(patterns)));
        }
        let var = self.fold(result)?;
        Ok((var, self.constant(result, objects)))
    }

    fn wrap_results(
        &mut self,
        items: impl Iterator<Item = Bound<'py, PyAny>>,
        objects: &mut Vec<ObjectId>,
    ) -> Result<(Vec<VarId>, Vec<Operand>), Stop> {
        let mut vars = Vec::new();
        let mut patterns = Vec::new();
        for item in items {
            let (var, pattern) = self.wrap_result(&item, objects)?;
            vars.push(var);
            patterns.push(pattern);
        }
        Ok((vars, patterns))
    }

    /// A variable as an operand. `objects`: those that it names, in order.
    fn operand(&mut self, var: VarId, objects: &mut Vec<ObjectId>) -> Result<Operand, Stop> {
        self.nested(|ex| ex.operand_of(var, objects))
    }

    fn operand_of(&mut self, var: VarId, objects: &mut Vec<ObjectId>) -> Result<Operand, Stop> {
        if let Some(symbol) = self.tensor_symbol(var) {
            return Ok(Operand::Symbol(symbol));
        }
        if (self.takes_extents || self.takes_numbers.contains(&var))
            && let Some(symbol) = self.number_symbol(var)
        {
            return Ok(Operand::Symbol(symbol));
        }
        if self.objects_taken.contains(&var) {
            return Ok(Operand::Symbol(self.symbol_of_number(var)));
        }
        Ok(match self.look(var)? {
            VarKind::Tuple(t) if t.class.is_none() => Operand::Tuple(self.operands(&t.items, objects)?),
            // A shape is as good as a list of its extents.
            VarKind::List(l) if l.class.is_none() || self.holds_extents(&l.items) => {
                Operand::List(self.operands(&l.items, objects)?)
            }
            VarKind::Slice(s) => {
                let parts = self.operands(&s.parts, objects)?;
                let parts: [Operand; 3] = parts.try_into().expect("three parts");
                Operand::Slice(Box::new(parts))
            }
            VarKind::Dict(d) => {
                self.hashes_by_c(&d)?;
                let mut entries = Vec::with_capacity(d.entries.len());
                for (key, value) in d.entries.iter() {
                    entries.push((self.operand(*key, objects)?, self.operand(*value, objects)?));
                }
                Operand::Dict(entries)
            }
            _ => {
                let object = self.argument(var)?;
                self.constant(&object, objects)
            }
        })
    }

    fn operands(&mut self, vars: &[VarId], objects: &mut Vec<ObjectId>) -> Result<Vec<Operand>, Stop> {
        vars.iter().map(|v| self.operand(*v, objects)).collect()
    }

    /// An object as an operand: a literal, or a label.
    pub(super) fn constant(&mut self, object: &Bound<'py, PyAny>, objects: &mut Vec<ObjectId>) -> Operand {
        let id = self.objects.add(object);
        objects.push(id);
        match literal(object) {
            Some(literal) => Operand::Literal(literal),
            None => {
                Operand::object(ObjectRef(id.0), label(object, matches!(self.backend.classify(object), Kind::Constant)))
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
