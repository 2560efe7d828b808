//! The graph as a native callable, and the choice of who executes it.
//!
//! A graph can run in two ways with the same meaning: compiled by the backend, or *replayed*, its statements called
//! one by one on the real tensors from native code. Which is faster depends on the size of the graph and on the
//! machine, so it is measured: the first calls alternate between the two, and the faster one stays. A graph whose
//! outputs must share memory as in eager execution is replayed only.
//!
//! A failure of the graph is reported to the dispatcher ([`take_failure`]), which runs the original frame: a graph
//! has changed nothing yet.

use crate::backend::{CallKind, CompiledGraph};
use crate::cpython::native::{NativeBody, new_native};
use crate::cpython::{Slots, call_method_vectorcall, call_slots};
use crate::executor::{Executor, ReplayArg, ReplayCall};
use crate::stop::{Reason, Stop};
use crate::variables::VarId;
use hashbrown::HashMap;
use pyo3::basic::CompareOp;
use pyo3::prelude::*;
use pyo3::types::*;
use smallvec::SmallVec;
use sot_sir::{Module, Sir, Symbol};
use std::any::Any;
use std::cell::Cell;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

thread_local! {
    static FAILED: Cell<bool> = const { Cell::new(false) };
}

/// Whether the exception that is being raised came out of a graph; asking clears it.
pub fn take_failure() -> bool {
    FAILED.replace(false)
}

/// Who runs a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Measuring,
    Compiled,
    Replay,
}

/// Calls of each kind that are timed before the choice.
const ROUNDS: u64 = 4;

enum Value {
    Register(usize),
    Object(Py<PyAny>),
    Tuple(Vec<Value>),
    List(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    Slice(Box<[Value; 3]>),
    Ignore,
}

/// A binary operator, straight from the number protocol.
type Operator = for<'py> fn(&Bound<'py, PyAny>, &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>;

/// The operator that a statement of this name is.
fn operator(name: &str) -> Option<Operator> {
    Some(match name {
        "__add__" => |a, b| a.add(b),
        "__sub__" => |a, b| a.sub(b),
        "__mul__" => |a, b| a.mul(b),
        "__truediv__" => |a, b| a.div(b),
        "__matmul__" => |a, b| a.matmul(b),
        "__lt__" => |a, b| a.rich_compare(b, CompareOp::Lt),
        "__le__" => |a, b| a.rich_compare(b, CompareOp::Le),
        "__eq__" => |a, b| a.rich_compare(b, CompareOp::Eq),
        "__ne__" => |a, b| a.rich_compare(b, CompareOp::Ne),
        "__gt__" => |a, b| a.rich_compare(b, CompareOp::Gt),
        "__ge__" => |a, b| a.rich_compare(b, CompareOp::Ge),
        "__getitem__" => |a, b| a.get_item(b),
        _ => return None,
    })
}

struct Step {
    operator: Option<Operator>,
    callee: Option<Py<PyAny>>,
    method: Option<Py<PyString>>,
    args: Vec<Value>,
    kwargs: Vec<(Py<PyString>, Value)>,
    result: Value,
    /// Registers that no later step needs.
    dead: Vec<usize>,
}

/// Statements on registers.
struct Replay {
    registers: usize,
    inputs: Vec<usize>,
    steps: Vec<Step>,
    outputs: Vec<usize>,
}

/// A graph that rewritten code calls.
pub struct GraphFunction {
    pub sir: Module,
    input_vars: Vec<VarId>,
    compiled: Option<Box<dyn CompiledGraph>>,
    /// Why only replay is exact.
    pub replay_only: Option<String>,
    pub op_count: usize,
    replay: Replay,
    choice: AtomicU8,
    calls: AtomicU64,
    best: [AtomicU64; 2],
    callable: OnceLock<Py<PyAny>>,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

/// Number graphs from zero again.
pub fn reset() {
    NEXT.store(0, Ordering::Relaxed);
}

impl GraphFunction {
    pub(crate) fn new(
        ex: &Executor<'_>,
        inputs: Vec<Symbol>,
        input_vars: Vec<VarId>,
        outputs: Vec<Symbol>,
        compiled: Option<Box<dyn CompiledGraph>>,
        replay_only: Option<String>,
        op_count: usize,
    ) -> Result<GraphFunction, Stop> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let sir = Sir {
            name: format!("SIR_{number}"),
            inputs: inputs.clone(),
            outputs: outputs.clone(),
            statements: ex.graph.statements.clone(),
        };
        let sir = Module::single(sir);
        if cfg!(debug_assertions)
            && let Err(errors) = sot_sir::verify(&sir)
        {
            return Err(Stop::fallback(Reason::InternalError, format!("{errors:?}")));
        }
        let replay = Replay::build(ex, &inputs, &outputs);
        let choice = match compiled {
            Some(_) => Choice::Measuring,
            None => Choice::Replay,
        };
        Ok(GraphFunction {
            sir,
            input_vars,
            compiled,
            replay_only,
            op_count,
            replay,
            choice: AtomicU8::new(choice as u8),
            calls: AtomicU64::new(0),
            best: [AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX)],
            callable: OnceLock::new(),
        })
    }

    pub fn input_vars(&self) -> &[VarId] {
        &self.input_vars
    }

    pub fn choice(&self) -> Choice {
        match self.choice.load(Ordering::Relaxed) {
            0 => Choice::Measuring,
            1 => Choice::Compiled,
            _ => Choice::Replay,
        }
    }

    /// The backend's text of the graph.
    pub fn backend_text(&self, py: Python<'_>) -> String {
        self.compiled.as_ref().map(|c| c.text(py)).unwrap_or_default()
    }

    /// The Python callable.
    pub fn callable<'py>(self: &Arc<Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(callable) = self.callable.get() {
            return Ok(callable.bind(py).clone());
        }
        let callable = new_native(py, Box::new(Body { graph: self.clone(), name: self.sir.sirs[0].name.clone() }))?;
        Ok(callable.into_bound(py))
    }

    fn run<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        match self.choice() {
            Choice::Compiled => self.run_compiled(py, args),
            Choice::Replay => self.replay.run(py, args),
            Choice::Measuring => {
                let call = self.calls.fetch_add(1, Ordering::Relaxed);
                let compiled = call.is_multiple_of(2);
                let start = Instant::now();
                let result = if compiled { self.run_compiled(py, args) } else { self.replay.run(py, args) }?;
                // The first call of each kind pays for set-up.
                if call >= 2 {
                    let elapsed = start.elapsed().as_nanos() as u64;
                    self.best[usize::from(!compiled)].fetch_min(elapsed, Ordering::Relaxed);
                }
                if call + 1 >= 2 * ROUNDS {
                    let [compiled, replay] = [&self.best[0], &self.best[1]].map(|b| b.load(Ordering::Relaxed));
                    let choice = if compiled <= replay { Choice::Compiled } else { Choice::Replay };
                    self.choice.store(choice as u8, Ordering::Relaxed);
                }
                Ok(result)
            }
        }
    }

    fn run_compiled<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let Some(compiled) = &self.compiled else { return self.replay.run(py, args) };
        let inputs: SmallVec<[Borrowed<'_, 'py, PyAny>; 8]> = (0..args.len()).filter_map(|i| args.get(py, i)).collect();
        let mut outputs = compiled.run(py, &inputs)?;
        match outputs.len() {
            0 => Ok(py.None().into_bound(py)),
            1 => Ok(outputs.remove(0)),
            _ => Ok(PyTuple::new(py, outputs)?.into_any()),
        }
    }
}

struct Body {
    graph: Arc<GraphFunction>,
    name: String,
}

impl NativeBody for Body {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let result = self.graph.run(py, args);
        if result.is_err() {
            FAILED.set(true);
        }
        result
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        // Held once by the callable, once by the report: only a sole owner may say what it holds.
        if Arc::strong_count(&self.graph) == 1 {
            if let Some(compiled) = &self.graph.compiled {
                compiled.traverse(visit);
            }
            self.graph.replay.traverse(visit);
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Replay {
    fn build(ex: &Executor<'_>, inputs: &[Symbol], outputs: &[Symbol]) -> Replay {
        let mut numbers: HashMap<u32, usize> = HashMap::new();
        let mut number = |s: Symbol| {
            let next = numbers.len();
            *numbers.entry(s.0).or_insert(next)
        };
        let input_registers: Vec<usize> = inputs.iter().map(|s| number(*s)).collect();
        let mut steps: Vec<Step> = Vec::with_capacity(ex.graph.calls.len());
        for call in &ex.graph.calls {
            steps.push(Self::step(ex, call, &mut number));
        }
        let output_registers: Vec<usize> = outputs.iter().map(|s| number(*s)).collect();
        let registers = numbers.len();
        // What is not an output dies after its last use.
        let mut seen = vec![false; registers];
        for register in &output_registers {
            seen[*register] = true;
        }
        for step in steps.iter_mut().rev() {
            let mut used = Vec::new();
            step.args
                .iter()
                .chain(step.kwargs.iter().map(|k| &k.1))
                .chain([&step.result])
                .for_each(|v| v.registers(&mut used));
            for register in used {
                if !std::mem::replace(&mut seen[register], true) {
                    step.dead.push(register);
                }
            }
        }
        Replay { registers, inputs: input_registers, steps, outputs: output_registers }
    }

    fn step(ex: &Executor<'_>, call: &ReplayCall, number: &mut dyn FnMut(Symbol) -> usize) -> Step {
        let py = ex.py;
        Step {
            operator: (call.kind == CallKind::Method && call.callee.is_some() && call.args.len() == 2)
                .then(|| operator(&call.name))
                .flatten(),
            callee: call.callee.map(|c| ex.objects.get(py, c).unbind()),
            method: (call.kind == CallKind::Method && call.callee.is_none())
                .then(|| PyString::intern(py, &call.name).unbind()),
            args: call.args.iter().map(|a| Value::of(ex, a, number)).collect(),
            kwargs: call
                .kwargs
                .iter()
                .map(|(n, a)| (PyString::intern(py, n).unbind(), Value::of(ex, a, number)))
                .collect(),
            result: Value::pattern(ex, &call.result, number),
            dead: Vec::new(),
        }
    }

    fn run<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        let mut registers: SmallVec<[Option<Bound<'py, PyAny>>; 32]> = SmallVec::new();
        registers.resize(self.registers, None);
        for (i, register) in self.inputs.iter().enumerate() {
            registers[*register] = args.get(py, i).map(|a| a.to_owned());
        }
        for step in &self.steps {
            let mut values: SmallVec<[Bound<'py, PyAny>; 8]> = SmallVec::with_capacity(step.args.len());
            for arg in &step.args {
                values.push(arg.get(py, &registers)?);
            }
            let result = if let (Some(operator), [left, right]) = (step.operator, values.as_slice()) {
                operator(left, right)?
            } else if step.kwargs.is_empty() {
                match (&step.callee, &step.method) {
                    (Some(callee), _) => call_slots(py, callee.bind(py), Slots::from_bound(&values))?,
                    (None, Some(method)) => {
                        call_method_vectorcall(&values[0], method.bind(py), Slots::from_bound(&values[1..]))?
                    }
                    (None, None) => unreachable!("a step calls something"),
                }
            } else {
                let kwargs = PyDict::new(py);
                for (name, value) in &step.kwargs {
                    kwargs.set_item(name, value.get(py, &registers)?)?;
                }
                match &step.callee {
                    Some(callee) => callee.bind(py).call(PyTuple::new(py, values)?, Some(&kwargs))?,
                    None => {
                        let method = step.method.as_ref().expect("a method");
                        let receiver = values.remove(0);
                        receiver.getattr(method)?.call(PyTuple::new(py, values)?, Some(&kwargs))?
                    }
                }
            };
            step.result.store(result, &mut registers)?;
            for register in &step.dead {
                registers[*register] = None;
            }
        }
        let output = |register: &usize| registers[*register].clone().expect("an output");
        match self.outputs.as_slice() {
            [] => Ok(py.None().into_bound(py)),
            [one] => Ok(output(one)),
            many => Ok(PyTuple::new(py, many.iter().map(output))?.into_any()),
        }
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        for step in &self.steps {
            if let Some(callee) = &step.callee {
                visit(callee);
            }
            for value in step.args.iter().chain(step.kwargs.iter().map(|k| &k.1)) {
                value.traverse(visit);
            }
        }
    }
}

impl Value {
    fn of(ex: &Executor<'_>, arg: &ReplayArg, number: &mut dyn FnMut(Symbol) -> usize) -> Value {
        match arg {
            ReplayArg::Symbol(s) => Value::Register(number(*s)),
            ReplayArg::Object(o) => Value::Object(ex.objects.get(ex.py, *o).unbind()),
            ReplayArg::Tuple(items) => Value::Tuple(items.iter().map(|i| Value::of(ex, i, number)).collect()),
            ReplayArg::List(items) => Value::List(items.iter().map(|i| Value::of(ex, i, number)).collect()),
            ReplayArg::Dict(entries) => {
                Value::Dict(entries.iter().map(|(k, v)| (Value::of(ex, k, number), Value::of(ex, v, number))).collect())
            }
            ReplayArg::Slice(parts) => Value::Slice(Box::new([
                Value::of(ex, &parts[0], number),
                Value::of(ex, &parts[1], number),
                Value::of(ex, &parts[2], number),
            ])),
        }
    }

    fn pattern(ex: &Executor<'_>, arg: &ReplayArg, number: &mut dyn FnMut(Symbol) -> usize) -> Value {
        match arg {
            ReplayArg::Symbol(s) => Value::Register(number(*s)),
            ReplayArg::Tuple(items) | ReplayArg::List(items) => {
                Value::Tuple(items.iter().map(|i| Value::pattern(ex, i, number)).collect())
            }
            ReplayArg::Dict(entries) => Value::Dict(
                entries.iter().map(|(k, v)| (Value::of(ex, k, number), Value::pattern(ex, v, number))).collect(),
            ),
            ReplayArg::Object(_) | ReplayArg::Slice(_) => Value::Ignore,
        }
    }

    fn registers(&self, into: &mut Vec<usize>) {
        match self {
            Value::Register(r) => into.push(*r),
            Value::Tuple(items) | Value::List(items) => items.iter().for_each(|i| i.registers(into)),
            Value::Dict(entries) => entries.iter().for_each(|(k, v)| {
                k.registers(into);
                v.registers(into);
            }),
            Value::Slice(parts) => parts.iter().for_each(|p| p.registers(into)),
            Value::Object(_) | Value::Ignore => {}
        }
    }

    fn get<'py>(&self, py: Python<'py>, registers: &[Option<Bound<'py, PyAny>>]) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Value::Register(r) => registers[*r].clone().expect("defined before used"),
            Value::Object(o) => o.bind(py).clone(),
            Value::Tuple(items) => {
                let items = items.iter().map(|i| i.get(py, registers)).collect::<PyResult<Vec<_>>>()?;
                PyTuple::new(py, items)?.into_any()
            }
            Value::List(items) => {
                let items = items.iter().map(|i| i.get(py, registers)).collect::<PyResult<Vec<_>>>()?;
                PyList::new(py, items)?.into_any()
            }
            Value::Dict(entries) => {
                let dict = PyDict::new(py);
                for (key, value) in entries {
                    dict.set_item(key.get(py, registers)?, value.get(py, registers)?)?;
                }
                dict.into_any()
            }
            Value::Slice(parts) => {
                let slice = py.get_type::<PySlice>();
                slice.call1((
                    parts[0].get(py, registers)?,
                    parts[1].get(py, registers)?,
                    parts[2].get(py, registers)?,
                ))?
            }
            Value::Ignore => py.None().into_bound(py),
        })
    }

    fn store<'py>(&self, value: Bound<'py, PyAny>, registers: &mut [Option<Bound<'py, PyAny>>]) -> PyResult<()> {
        match self {
            Value::Register(r) => registers[*r] = Some(value),
            Value::Tuple(items) => {
                for (i, item) in items.iter().enumerate() {
                    item.store(value.get_item(i)?, registers)?;
                }
            }
            Value::Dict(entries) => {
                for (key, item) in entries {
                    let Value::Object(key) = key else { continue };
                    item.store(value.get_item(key)?, registers)?;
                }
            }
            Value::List(_) | Value::Slice(_) | Value::Object(_) | Value::Ignore => {}
        }
        Ok(())
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        match self {
            Value::Object(o) => visit(o),
            Value::Tuple(items) | Value::List(items) => items.iter().for_each(|i| i.traverse(visit)),
            Value::Dict(entries) => entries.iter().for_each(|(k, v)| {
                k.traverse(visit);
                v.traverse(visit);
            }),
            Value::Slice(parts) => parts.iter().for_each(|p| p.traverse(visit)),
            Value::Register(_) | Value::Ignore => {}
        }
    }
}
