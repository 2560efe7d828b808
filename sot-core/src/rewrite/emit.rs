//! The emitter: pushes values of variables, whatever they are.

use super::lifetimes::Lifetimes;
use super::uses::{self, Uses};
use super::{GoOn, Head, computed_symbol};
use crate::called_by_code;
use crate::captured::Captured;
use crate::code_unit::CodeUnit;
use crate::cpython::native::{NativeBody, new_native};
use crate::graph_fn::{GraphFunction, take_over_function};
use crate::iterators::pass_function;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyTuple, PyType};
use sot_opcodes::{Code, CodeBuilder, ConstId, Local, Location, Op, Signature};
use sot_sir::Symbol;
use sot_tracker::{ObjectId, TrackerId};
use std::sync::Arc;

/// Values inside values that are built; the interpreter's stack holds them all.
const MAX_BUILDING: usize = 200;

/// Emits one rewritten function.
pub(super) struct Emitter<'a, 'py> {
    pub(super) py: Python<'py>,
    pub(super) captured: &'a Captured,
    pub(super) b: CodeBuilder,
    consts: Vec<Py<PyAny>>,
    pub(super) const_ids: HashMap<usize, ConstId>,
    /// Variables whose value is in a local of the new code.
    pub(super) temps: HashMap<VarId, Local>,
    pub(super) outputs: HashMap<u32, Local>,
    /// What clocks have said, by its path.
    pub(super) said: HashMap<TrackerId, Local>,
    uses: Uses,
    pub(super) building: HashSet<VarId>,
    /// Containers on a way back to themselves: they are built empty.
    pub(super) rings: HashSet<VarId>,
    /// Those that are still empty.
    pub(super) to_fill: Vec<VarId>,
    /// Sets of sets that are being made again.
    pub(super) nested_sets: usize,
    /// Exceptions that were built, whose tracebacks do not show yet what they have passed.
    pub(super) to_pass: Vec<VarId>,
    pub(super) lifetimes: Lifetimes,
    /// The exception that is being handled, if it is not what was when the code began, and the local of that.
    pub(super) handling: Option<VarId>,
    pub(super) handled_before: Option<Local>,
    next_temp: u32,
    /// See [`super::plan::BreakPlan::gives_frame`].
    pub(super) gives_frame: bool,
    /// Slots up to here are arguments; behind them are the cells of the closure.
    pub(super) arguments: usize,
    pub(super) go_on: &'a dyn GoOn,
    /// The callables by which the code asks to go on.
    pub(super) requests: Vec<Py<PyAny>>,
    /// Code of the stand-ins below which the break instruction runs.
    pub(super) stand_ins: Vec<Py<PyAny>>,
    pub(super) unit: Arc<CodeUnit>,
    /// A constant is a class that may be another at the next call.
    pub(super) names_anew: bool,
    loc: Location,
}

impl<'a, 'py> Emitter<'a, 'py> {
    pub(super) fn new(
        py: Python<'py>,
        captured: &'a Captured,
        go_on: &'a dyn GoOn,
        head: &Head,
        uses: Uses,
        lifetimes: Lifetimes,
    ) -> Emitter<'a, 'py> {
        let unit = captured.entry_unit.clone().expect("an entry");
        let code = &unit.code;
        let mut b = CodeBuilder::new(code.version, code);
        b.set_args(&Signature { positional: head.arguments.clone(), ..Signature::default() });
        b.set_cells(&[], &head.freevars);
        b.prelude();
        let loc = Location::of_line(code.firstlineno);
        Emitter {
            py,
            captured,
            b,
            consts: Vec::new(),
            const_ids: HashMap::new(),
            temps: HashMap::new(),
            outputs: HashMap::new(),
            said: HashMap::new(),
            rings: uses::rings(captured, &uses),
            to_fill: Vec::new(),
            uses,
            building: HashSet::new(),
            nested_sets: 0,
            to_pass: Vec::new(),
            lifetimes,
            handling: None,
            handled_before: None,
            next_temp: 0,
            gives_frame: false,
            arguments: head.arguments.len(),
            go_on,
            requests: Vec::new(),
            stand_ins: Vec::new(),
            unit,
            names_anew: false,
            loc,
        }
    }

    pub(super) fn finish(self) -> (Code, Vec<Py<PyAny>>) {
        (self.b.finish(), self.consts)
    }

    /// How many instructions there are by now.
    pub(super) fn position(&self) -> usize {
        self.b.len()
    }

    pub(super) fn location(&self) -> Location {
        self.loc
    }

    /// Source location of what is emitted next.
    pub(super) fn set_location(&mut self, loc: Location) {
        self.loc = loc;
    }

    pub(super) fn emit(&mut self, op: Op) {
        self.b.emit(op, self.loc);
    }

    pub(super) fn push_null(&mut self) {
        if sot_opcodes::calls::can_push_null(self.unit.code.version) {
            self.emit(Op::PushNull);
            return;
        }
        // In the place of a NULL a callable that passes the call on does the same.
        if let Ok(pass) = pass_function(self.py) {
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

    /// Variables whose value is in a local that is no argument.
    pub(super) fn temps(&self) -> impl Iterator<Item = (VarId, Local)> {
        self.temps.iter().map(|(var, local)| (*var, *local))
    }

    /// The local was deleted.
    pub(super) fn forget_temp(&mut self, var: VarId, local: Local) {
        if self.temps.get(&var) == Some(&local) {
            self.temps.remove(&var);
        }
    }

    /// The frame takes its arguments over: nobody needs them for the original code, since no graph can fail.
    pub(super) fn take_over(&mut self) -> Result<(), Stop> {
        let callable = take_over_function(self.py).map_err(|e| Stop::internal(&e))?;
        self.push_callable(Callable::Object(callable));
        self.call(0);
        self.emit(Op::PopTop);
        Ok(())
    }

    /// Declare that a variable's value is in a local.
    pub(super) fn bind(&mut self, var: VarId, local: Local) {
        self.temps.insert(var, local);
    }

    pub(super) fn const_of(&mut self, object: &Bound<'py, PyAny>) -> ConstId {
        if let Some(id) = self.captured.objects.find(object) {
            self.names_anew |= self.captured.is_made_anew(id);
        }
        let next = ConstId(self.consts.len() as u32);
        *self.const_ids.entry(object.as_ptr() as usize).or_insert_with(|| {
            self.consts.push(object.clone().unbind());
            next
        })
    }

    pub(super) fn push_constant(&mut self, object: &Bound<'py, PyAny>) {
        let id = self.const_of(object);
        self.emit(Op::LoadConst(id));
    }

    pub(super) fn push_object(&mut self, object: ObjectId) {
        let object = self.captured.objects.get(self.py, object);
        self.push_constant(&object);
    }

    /// Push a class that a value is to have.
    pub(super) fn push_known_class(&mut self, class: ObjectId) -> Result<(), Stop> {
        match self.captured.anew.get(&class) {
            Some(var) => self.push(*var)?,
            None => self.push_object(class),
        }
        Ok(())
    }

    /// The same, to be called.
    pub(super) fn push_class_to_call(&mut self, class: ObjectId) -> Result<(), Stop> {
        if self.captured.is_made_anew(class) {
            self.push_known_class(class)?;
            self.pushed_is_callable();
        } else {
            self.push_callable(class);
        }
        Ok(())
    }

    pub(super) fn push_none(&mut self) {
        let none = self.py.None().into_bound(self.py);
        self.push_constant(&none);
    }

    pub(super) fn push_int(&mut self, value: i64) -> Result<(), Stop> {
        let value = PyInt::new(self.py, value).into_any();
        self.push_constant(&value);
        Ok(())
    }

    /// Push a callable object for `call`.
    pub(super) fn push_callable(&mut self, callee: impl Into<Callable<'py>>) {
        let callee = match callee.into() {
            Callable::Id(id) => self.captured.objects.get(self.py, id),
            Callable::Object(object) => object,
        };
        let id = self.const_of(&callee);
        self.b.push_callable(Op::LoadConst(id), self.loc);
    }

    pub(super) fn call(&mut self, argc: u32) {
        self.b.call(argc, self.loc);
    }

    /// As `call`, where the last arguments have names.
    pub(super) fn call_with_names(&mut self, argc: u32, names: &[&str]) -> Result<(), Stop> {
        if names.is_empty() {
            self.call(argc);
            return Ok(());
        }
        let names = names.iter().map(|name| PyString::intern(self.py, name));
        let names = PyTuple::new(self.py, names.collect::<Vec<_>>()).map_err(|e| Stop::internal(&e))?;
        let names = self.const_of(names.as_any());
        self.b.call_kw(argc, names, self.loc);
        Ok(())
    }

    pub(super) fn load_attr(&mut self, name: &str) {
        let name = self.b.name(name);
        self.emit(Op::LoadAttr(name));
    }

    pub(super) fn store_attr(&mut self, name: &str) {
        let name = self.b.name(name);
        self.emit(Op::StoreAttr(name));
    }

    /// `object.name = value`, as `object` does it: a `__setattr__` of the program was simulated.
    pub(super) fn set_attribute(&mut self, object: VarId, name: &str, value: VarId) -> Result<(), Stop> {
        self.set_attribute_to(object, name, |me| me.push(value))
    }

    /// The same, for a value that `push` pushes.
    pub(super) fn set_attribute_to(
        &mut self,
        object: VarId,
        name: &str,
        push: impl FnOnce(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let by_class = self.class_of_instance(object).is_none_or(|class| {
            type_facts::sets_attributes_as_object(&class) || crate::per_thread::per_thread(&class).is_some()
        });
        if by_class && self.writer_of_layer(object).is_none() {
            push(self)?;
            self.push(object)?;
            self.store_attr(name);
            return Ok(());
        }
        let set = match self.writer_of_layer(object) {
            Some(writer) => writer,
            None => self.py.get_type::<PyAny>().getattr("__setattr__").map_err(|e| Stop::internal(&e))?,
        };
        self.push_callable(Callable::Object(set));
        self.push(object)?;
        self.push_constant(PyString::intern(self.py, name).as_any());
        push(self)?;
        self.call(3);
        self.emit(Op::PopTop);
        Ok(())
    }

    /// `del object.name`, as `object` does it.
    pub(super) fn delete_attribute(&mut self, object: VarId, name: &str) -> Result<(), Stop> {
        if self.class_of_instance(object).is_none_or(|class| type_facts::deletes_attributes_as_object(&class)) {
            self.push(object)?;
            let name = self.b.name(name);
            self.emit(Op::DeleteAttr(name));
            return Ok(());
        }
        let delete = self.py.get_type::<PyAny>().getattr("__delattr__").map_err(|e| Stop::internal(&e))?;
        self.push_callable(Callable::Object(delete));
        self.push(object)?;
        self.push_constant(PyString::intern(self.py, name).as_any());
        self.call(2);
        self.emit(Op::PopTop);
        Ok(())
    }

    /// What sets attributes of layers, of one whose class has a method of the program before that.
    fn writer_of_layer(&self, object: VarId) -> Option<Bound<'py, PyAny>> {
        let VarKind::Layer(LayerVar { object, .. }) = &self.captured.var(object).kind else { return None };
        let class = self.captured.objects.get_ref(self.py, *object).get_type();
        let writer = crate::backend::registered()?.layers().writer(self.py)?;
        type_facts::raw(&class, "__setattr__").is_some_and(|own| !own.is(&writer)).then_some(writer)
    }

    fn class_of_instance(&self, object: VarId) -> Option<Bound<'_, PyType>> {
        match &self.captured.var(object).kind {
            VarKind::Instance(InstanceVar { class, .. }) | VarKind::Exception(ExceptionVar { class, .. }) => {
                self.captured.objects.get(self.py, *class).cast_into::<PyType>().ok()
            }
            _ => None,
        }
    }

    /// Make a function of the parts on the stack.
    pub(super) fn make_function(&mut self, flags: u32, qualname: bool) {
        for op in sot_opcodes::calls::make_function(self.unit.code.version, flags, qualname) {
            self.emit(op);
        }
    }

    /// Push `receiver.name(*args)`.
    pub(super) fn call_method(&mut self, receiver: VarId, name: &str, args: &[VarId]) -> Result<(), Stop> {
        self.push_own(receiver, name)?;
        self.call_pushed(args)
    }

    /// Call what is on top of the stack.
    pub(super) fn call_pushed(&mut self, args: &[VarId]) -> Result<(), Stop> {
        self.pushed_is_callable();
        for arg in args {
            self.push(*arg)?;
        }
        self.call(args.len() as u32);
        Ok(())
    }

    /// What is on top of the stack will be called.
    pub(super) fn pushed_is_callable(&mut self) {
        for op in sot_opcodes::calls::callable_on_top(self.unit.code.version) {
            self.emit(op);
        }
    }

    /// Bind the descriptor that was pushed last: `descriptor.__get__(receiver, type(receiver))`. CPython's own descriptors
    /// are not safe without the type: some methods crash.
    pub(super) fn bind_pushed(&mut self, receiver: VarId) -> Result<(), Stop> {
        self.load_attr("__get__");
        self.pushed_is_callable();
        self.push(receiver)?;
        self.push_class(receiver)?;
        self.call(2);
        Ok(())
    }

    /// Push the class of a value.
    pub(super) fn push_class(&mut self, of: VarId) -> Result<(), Stop> {
        match self.captured.known_class(self.py, of) {
            Some(class) => match self.captured.objects.find(&class) {
                Some(id) => self.push_known_class(id)?,
                None => self.push_constant(&class),
            },
            None => {
                let callee = self.builtins_attribute("type")?;
                self.push_callable(callee);
                self.push(of)?;
                self.call(1);
            }
        }
        Ok(())
    }

    pub(super) fn attribute_of(&self, module: &str, name: &str) -> Result<Callable<'py>, Stop> {
        let found = crate::cpython::module(self.py, module).and_then(|m| m.getattr(name));
        found.map(Callable::Object).map_err(|e| Stop::internal(&e))
    }

    pub(super) fn types_attribute(&self, name: &str) -> Result<Callable<'py>, Stop> {
        self.attribute_of("types", name)
    }

    pub(super) fn builtins_attribute(&self, name: &str) -> Result<Callable<'py>, Stop> {
        crate::cpython::builtin(self.py, name).map(Callable::Object).map_err(|e| Stop::internal(&e))
    }

    pub(super) fn cell_type(&self) -> Result<Callable<'py>, Stop> {
        self.types_attribute("CellType")
    }

    /// Push `name(*numbers)` of builtins.
    pub(super) fn push_int_call(&mut self, name: &str, numbers: &[i64]) -> Result<(), Stop> {
        let callee = self.builtins_attribute(name)?;
        self.push_callable(callee);
        for number in numbers {
            self.push_int(*number)?;
        }
        self.call(numbers.len() as u32);
        Ok(())
    }

    /// The iterator on top of the stack is at its start: set it to a position.
    pub(super) fn set_iterator_state(&mut self, position: i64) -> Result<(), Stop> {
        let temp = self.new_temp();
        self.store(temp);
        let at = called_by_code::at_position(self.py).map_err(|e| Stop::internal(&e))?;
        self.push_callable(Callable::Object(at));
        self.load(temp);
        self.push_int(position)?;
        self.call(2);
        Ok(())
    }

    /// Take items from the iterator on top of the stack.
    pub(super) fn skip_items(&mut self, count: usize) -> Result<(), Stop> {
        if count == 0 {
            return Ok(());
        }
        let temp = self.new_temp();
        self.store(temp);
        // `next(islice(iterator, count - 1, count), None)` takes exactly that many. There may be fewer by now: a collection may let a
        // weak set go of members.
        let islice = crate::cpython::module(self.py, "itertools").and_then(|m| m.getattr("islice"));
        let islice = islice.map_err(|e| Stop::internal(&e))?;
        let next = self.builtins_attribute("next")?;
        self.push_callable(next);
        self.push_callable(Callable::Object(islice));
        self.load(temp);
        self.push_int(count as i64 - 1)?;
        self.push_int(count as i64)?;
        self.call(3);
        self.push_none();
        self.call(2);
        self.emit(Op::PopTop);
        self.load(temp);
        Ok(())
    }

    pub(super) fn push_graph_output(&mut self, symbol: Symbol) -> Result<(), Stop> {
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
    pub(super) fn remember(&mut self, var: VarId) {
        let temp = self.new_temp();
        self.store(temp);
        self.bind(var, temp);
    }

    pub(super) fn push_native(&mut self, body: impl NativeBody) -> Result<(), Stop> {
        let native = new_native(self.py, Box::new(body)).map_err(|e| Stop::internal(&e))?;
        self.push_callable(Callable::Object(native.into_bound(self.py)));
        Ok(())
    }

    pub(super) fn push_or_none(&mut self, var: Option<VarId>) -> Result<(), Stop> {
        match var {
            Some(var) => self.push(var),
            None => {
                let none = self.py.None().into_bound(self.py);
                self.push_constant(&none);
                Ok(())
            }
        }
    }

    /// Push the value of a variable.
    pub(super) fn push(&mut self, var: VarId) -> Result<(), Stop> {
        if let Some(local) = self.temps.get(&var) {
            let local = *local;
            self.load(local);
            return Ok(());
        }
        if let Some(whole) = self.captured.whole_of(var) {
            return self.push(whole);
        }
        if let Some(object) = self.constant_object(var) {
            self.push_object(object);
            return Ok(());
        }
        if let Some(symbol) = computed_symbol(self.captured, var) {
            return self.push_graph_output(symbol);
        }
        let tracker = self.captured.var(var).tracker;
        if self.captured.found_outside(var) {
            return self.push_path(tracker);
        }
        if !self.building.insert(var) {
            return Err(Stop::fallback(Reason::Reconstruct, "a value that contains itself"));
        }
        let kind = self.captured.var(var).kind.clone();
        if self.building.len() > MAX_BUILDING {
            return Err(Stop::fallback(Reason::Reconstruct, "a value that is nested too deeply"));
        }
        self.rebuild(&kind, var)?;
        self.building.remove(&var);
        // What is used twice is one object.
        if self.uses.count_of(var) > 1 && !self.temps.contains_key(&var) && !matches!(kind, VarKind::Null(_)) {
            let temp = self.new_temp();
            self.store(temp);
            self.bind(var, temp);
            self.load(temp);
        }
        // Before anybody sees it, but when nothing is half built.
        if self.building.is_empty() {
            self.fill_rings()?;
            self.pass_frames()?;
        }
        Ok(())
    }

    /// Whether more than one place of what is built holds a value.
    pub(super) fn is_used_twice(&self, var: VarId) -> bool {
        self.uses.count_of(var) > 1
    }

    /// Whether a variable is virtual and has an identity that the program could see.
    pub(super) fn must_be_built_once(&self, var: VarId) -> bool {
        !self.temps.contains_key(&var)
            && self.constant_object(var).is_none()
            && computed_symbol(self.captured, var).is_none()
            && !self.captured.found_outside(var)
            && !matches!(self.captured.var(var).kind, VarKind::Null(_))
    }

    /// The object that a variable is known to be, by guard or by nature: it can be embedded as a constant.
    pub(super) fn constant_object(&self, var: VarId) -> Option<ObjectId> {
        let variable = self.captured.var(var);
        if let Some(object) = self.captured.trackers.get(variable.tracker).as_constant() {
            return Some(object);
        }
        match &variable.kind {
            VarKind::Constant(c) if variable.valued => {
                // An equal value from elsewhere is as good, but not the same object.
                (!self.captured.has_path(variable.tracker)).then_some(c.object)
            }
            // What was found under a pinned object and looked at is pinned by identity, but for what is guarded by its type
            // and its parts.
            VarKind::Constant(_) | VarKind::Iterator(_) | VarKind::Cell(_) | VarKind::Method(_) | VarKind::Bound(_) => {
                None
            }
            kind if variable.looked
                && (kind.pinned().is_some()
                    || self.captured.has_path(variable.tracker)
                        && self.captured.is_under_constant(variable.tracker)) =>
            {
                self.captured.known_object(var)
            }
            _ => None,
        }
    }

    /// Load what paths lead to before anything changes.
    pub(super) fn prologue(&mut self) -> Result<(), Stop> {
        self.ask_clocks(false)?;
        let mut wanted: Vec<VarId> = self.uses.order().to_vec();
        wanted.extend(self.captured.graph.all_inputs().map(|i| i.var));
        for var in wanted {
            if self.temps.contains_key(&var) || !self.captured.found_outside(var) || self.constant_object(var).is_some()
            {
                continue;
            }
            let tracker = self.captured.var(var).tracker;
            if self.captured.trackers.get(tracker).is_slot() || self.captured.is_said_by_clock(tracker, true) {
                continue;
            }
            self.push_path(tracker)?;
            self.remember(var);
        }
        Ok(())
    }

    /// Keep what the clocks say that the program asks before the graph, or behind it.
    pub(super) fn ask_clocks(&mut self, behind: bool) -> Result<(), Stop> {
        for clock in self.captured.clocks.iter().filter(|clock| (clock.behind > 0) == behind) {
            self.push_callable(clock.function);
            self.call(0);
            let said = self.new_temp();
            self.store(said);
            self.said.insert(clock.said, said);
        }
        Ok(())
    }

    /// Call the graph and keep its outputs in locals.
    pub(super) fn call_graph(&mut self, graph: &Arc<GraphFunction>, outputs: &[Symbol]) -> Result<(), Stop> {
        let callable = graph.callable(self.py).map_err(|e| Stop::internal(&e))?;
        self.push_callable(Callable::Object(callable));
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
pub(super) enum Callable<'py> {
    Id(ObjectId),
    Object(Bound<'py, PyAny>),
}

impl From<ObjectId> for Callable<'_> {
    fn from(id: ObjectId) -> Self {
        Callable::Id(id)
    }
}
