//! The emitter: pushes values of variables, whatever they are.

use super::uses::{Uses, found_outside};
use super::{Head, computed_symbol};
use crate::code_unit::CodeUnit;
use crate::continuation::Continuation;
use crate::executor::Executor;
use crate::graph_fn::GraphFunction;
use crate::iterators::pass_function;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use pyo3::types::PyInt;
use sot_opcodes::{Code, CodeBuilder, ConstId, Local, Location, Op, Signature};
use sot_sir::Symbol;
use sot_tracker::{ObjectId, Tracker};
use std::sync::Arc;

/// Emits one rewritten function.
pub struct Emitter<'a, 'py> {
    pub ex: &'a mut Executor<'py>,
    pub(super) b: CodeBuilder,
    consts: Vec<Py<PyAny>>,
    const_ids: HashMap<usize, ConstId>,
    /// Variables whose value is in a local of the new code.
    temps: HashMap<VarId, Local>,
    outputs: HashMap<u32, Local>,
    uses: Uses,
    building: HashSet<VarId>,
    next_temp: u32,
    /// Slots up to here are arguments; behind them are the cells of the closure.
    pub(super) arguments: usize,
    pub(super) continuations: Vec<Arc<Continuation>>,
    pub(super) unit: Arc<CodeUnit>,
    loc: Location,
}

impl<'a, 'py> Emitter<'a, 'py> {
    pub(super) fn new(ex: &'a mut Executor<'py>, head: &Head, uses: Uses) -> Emitter<'a, 'py> {
        let unit = ex.entry_unit.clone().expect("an entry");
        let code = &unit.code;
        let mut b = CodeBuilder::new(code.version, code);
        b.set_args(&Signature { positional: head.arguments.clone(), ..Signature::default() });
        b.set_cells(&[], &head.freevars);
        b.prelude();
        let loc = Location::of_line(code.firstlineno);
        Emitter {
            ex,
            b,
            consts: Vec::new(),
            const_ids: HashMap::new(),
            temps: HashMap::new(),
            outputs: HashMap::new(),
            uses,
            building: HashSet::new(),
            next_temp: 0,
            arguments: head.arguments.len(),
            continuations: Vec::new(),
            unit,
            loc,
        }
    }

    pub(super) fn finish(self) -> (Code, Vec<Py<PyAny>>) {
        (self.b.finish(), self.consts)
    }

    /// Source location of what is emitted next.
    pub(super) fn set_location(&mut self, loc: Location) {
        self.loc = loc;
    }

    pub fn emit(&mut self, op: Op) {
        self.b.emit(op, self.loc);
    }

    pub fn push_null(&mut self) {
        if sot_opcodes::calls::can_push_null(self.unit.code.version) {
            self.emit(Op::PushNull);
            return;
        }
        // In the place of a NULL a callable that passes the call on does the same.
        if let Ok(pass) = pass_function(self.ex.py) {
            self.push_constant(&pass);
        }
    }

    pub(super) fn new_temp(&mut self) -> Local {
        self.next_temp += 1;
        self.b.local(&format!("___sot_{}", self.next_temp - 1))
    }

    pub(super) fn load(&mut self, local: Local) {
        self.emit(Op::LoadFast { local, check: false });
    }

    pub(super) fn store(&mut self, local: Local) {
        self.emit(Op::StoreFast(local));
    }

    /// Declare that a variable's value is in a local.
    pub(super) fn bind(&mut self, var: VarId, local: Local) {
        self.temps.insert(var, local);
    }

    pub(super) fn const_of(&mut self, object: &Bound<'py, PyAny>) -> ConstId {
        let next = ConstId(self.consts.len() as u32);
        *self.const_ids.entry(object.as_ptr() as usize).or_insert_with(|| {
            self.consts.push(object.clone().unbind());
            next
        })
    }

    pub fn push_constant(&mut self, object: &Bound<'py, PyAny>) {
        let id = self.const_of(object);
        self.emit(Op::LoadConst(id));
    }

    pub fn push_object(&mut self, object: ObjectId) {
        let object = self.ex.objects.get(self.ex.py, object);
        self.push_constant(&object);
    }

    pub fn push_int(&mut self, value: i64) -> Result<(), Stop> {
        let value = PyInt::new(self.ex.py, value).into_any();
        self.push_constant(&value);
        Ok(())
    }

    /// Push a callable object for `call`.
    pub fn push_callable(&mut self, callee: impl Into<Callee<'py>>) {
        let callee = match callee.into() {
            Callee::Id(id) => self.ex.objects.get(self.ex.py, id),
            Callee::Object(object) => object,
        };
        let id = self.const_of(&callee);
        self.b.push_callable(Op::LoadConst(id), self.loc);
    }

    pub fn call(&mut self, argc: u32) {
        self.b.call(argc, self.loc);
    }

    pub fn load_attr(&mut self, name: &str) {
        let name = self.b.name(name);
        self.emit(Op::LoadAttr(name));
    }

    pub fn store_attr(&mut self, name: &str) {
        let name = self.b.name(name);
        self.emit(Op::StoreAttr(name));
    }

    /// Make a function of the parts on the stack.
    pub fn make_function(&mut self, flags: u32, qualname: bool) {
        for op in sot_opcodes::calls::make_function(self.unit.code.version, flags, qualname) {
            self.emit(op);
        }
    }

    /// Push `receiver.name(*args)`.
    pub fn call_method(&mut self, receiver: VarId, name: &str, args: &[VarId]) -> Result<(), Stop> {
        self.push(receiver)?;
        self.load_attr(name);
        for op in sot_opcodes::calls::callable_on_top(self.unit.code.version) {
            self.emit(op);
        }
        for arg in args {
            self.push(*arg)?;
        }
        self.call(args.len() as u32);
        Ok(())
    }

    pub fn types_attribute(&self, name: &str) -> Result<Callee<'py>, Stop> {
        self.ex.types_attribute(name).map(Callee::Object)
    }

    pub fn builtins_attribute(&self, name: &str) -> Result<Callee<'py>, Stop> {
        self.ex.builtins_attribute(name).map(Callee::Object)
    }

    pub fn cell_type(&self) -> Result<Callee<'py>, Stop> {
        self.types_attribute("CellType")
    }

    /// Push `name(*numbers)` of builtins.
    pub fn push_int_call(&mut self, name: &str, numbers: &[i64]) -> Result<(), Stop> {
        let callee = self.builtins_attribute(name)?;
        self.push_callable(callee);
        for number in numbers {
            self.push_int(*number)?;
        }
        self.call(numbers.len() as u32);
        Ok(())
    }

    /// The iterator on top of the stack is at its start: set it to a position.
    pub fn set_iterator_state(&mut self, position: i64) -> Result<(), Stop> {
        let temp = self.new_temp();
        self.store(temp);
        self.load(temp);
        self.load_attr("__setstate__");
        for op in sot_opcodes::calls::callable_on_top(self.unit.code.version) {
            self.emit(op);
        }
        self.push_int(position)?;
        self.call(1);
        self.emit(Op::PopTop);
        self.load(temp);
        Ok(())
    }

    pub fn push_graph_output(&mut self, symbol: Symbol) -> Result<(), Stop> {
        match self.outputs.get(&symbol.0) {
            Some(local) => {
                let local = *local;
                self.load(local);
                Ok(())
            }
            None => Err(Stop::fallback(Reason::InternalError, format!("{symbol} is no output of the graph"))),
        }
    }

    /// The value on top of the stack becomes that of a variable, and stays in a local.
    pub fn remember(&mut self, var: VarId) {
        let temp = self.new_temp();
        self.store(temp);
        self.bind(var, temp);
    }

    /// An instance of `class` without calling `__init__`, with the attributes that the simulation gave it.
    pub fn new_instance(&mut self, class: ObjectId, me: VarId) -> Result<(), Stop> {
        let object_type = self.builtins_attribute("object")?;
        let Callee::Object(object_type) = object_type else {
            return Err(Stop::fallback(Reason::InternalError, "object"));
        };
        let new = object_type.getattr("__new__").map_err(|e| self.ex.internal(&e))?;
        self.push_callable(Callee::Object(new));
        self.push_object(class);
        self.call(1);
        self.remember(me);
        for (name, value) in self.ex.virtual_attributes(me) {
            self.push(value)?;
            self.push(me)?;
            self.store_attr(&name);
        }
        self.push(me)
    }

    /// Push the value of a variable.
    pub fn push(&mut self, var: VarId) -> Result<(), Stop> {
        if let Some(local) = self.temps.get(&var) {
            let local = *local;
            self.load(local);
            return Ok(());
        }
        if let Some(object) = self.constant_object(var) {
            self.push_object(object);
            return Ok(());
        }
        if let Some(symbol) = computed_symbol(self.ex, var) {
            return self.push_graph_output(symbol);
        }
        let tracker = self.ex.var(var).tracker;
        if found_outside(self.ex, var) {
            return self.push_path(tracker);
        }
        if !self.building.insert(var) {
            return Err(Stop::fallback(Reason::Reconstruct, "a value that contains itself"));
        }
        let kind = self.ex.var(var).kind.clone();
        kind.rebuild(self, var)?;
        self.building.remove(&var);
        // What is used twice is one object.
        if self.uses.count_of(var) > 1 && !self.temps.contains_key(&var) && !matches!(kind, VarKind::Null(_)) {
            let temp = self.new_temp();
            self.store(temp);
            self.bind(var, temp);
            self.load(temp);
        }
        Ok(())
    }

    /// Whether a variable is virtual and has an identity that the program could see.
    pub(super) fn must_be_built_once(&self, var: VarId) -> bool {
        !self.temps.contains_key(&var)
            && self.constant_object(var).is_none()
            && computed_symbol(self.ex, var).is_none()
            && !found_outside(self.ex, var)
            && !matches!(self.ex.var(var).kind, VarKind::Null(_))
    }

    /// The object that a variable is known to be, by guard or by nature: it can be embedded as a constant.
    fn constant_object(&self, var: VarId) -> Option<ObjectId> {
        let variable = self.ex.var(var);
        if let Tracker::Constant(object) = self.ex.trackers.get(variable.tracker) {
            return Some(*object);
        }
        match &variable.kind {
            VarKind::Constant(c) if variable.valued => {
                // An equal value from elsewhere is as good, but not the same object.
                (!self.ex.has_path(variable.tracker)).then_some(c.object)
            }
            // What was found under a pinned object and looked at is pinned by identity, iterators' items excepted.
            VarKind::Constant(_) => None,
            kind if variable.looked
                && (kind.pinned(self.ex).is_some()
                    || self.ex.has_path(variable.tracker) && self.ex.is_under_constant(variable.tracker)) =>
            {
                self.ex.known_object(var)
            }
            _ => None,
        }
    }

    /// Load what paths lead to before anything changes.
    pub(super) fn prologue(&mut self) -> Result<(), Stop> {
        let mut wanted: Vec<VarId> = self.uses.order().to_vec();
        wanted.extend(self.ex.graph.inputs.iter().map(|i| i.var));
        for var in wanted {
            if self.temps.contains_key(&var) || !found_outside(self.ex, var) || self.constant_object(var).is_some() {
                continue;
            }
            let tracker = self.ex.var(var).tracker;
            if matches!(self.ex.trackers.get(tracker), Tracker::Slot(_)) {
                continue;
            }
            self.push_path(tracker)?;
            self.remember(var);
        }
        Ok(())
    }

    /// Call the graph and keep its outputs in locals.
    pub(super) fn call_graph(&mut self, graph: &Arc<GraphFunction>, outputs: &[Symbol]) -> Result<(), Stop> {
        let callable = graph.callable(self.ex.py).map_err(|e| self.ex.internal(&e))?;
        self.push_callable(Callee::Object(callable));
        let inputs = graph.input_vars().to_vec();
        for var in &inputs {
            self.push(*var)?;
        }
        self.call(inputs.len() as u32);
        match outputs {
            [] => self.emit(Op::PopTop),
            [one] => {
                let temp = self.new_temp();
                self.store(temp);
                self.outputs.insert(one.0, temp);
            }
            many => {
                self.emit(Op::UnpackSequence(many.len() as u32));
                for symbol in many {
                    let temp = self.new_temp();
                    self.store(temp);
                    self.outputs.insert(symbol.0, temp);
                }
            }
        }
        Ok(())
    }
}

/// A callable as the emitter takes it.
pub enum Callee<'py> {
    Id(ObjectId),
    Object(Bound<'py, PyAny>),
}

impl From<ObjectId> for Callee<'_> {
    fn from(id: ObjectId) -> Self {
        Callee::Id(id)
    }
}
