//! The graph as a native callable, and the choice of who executes it.
//!
//! A graph can run in two ways with the same meaning: compiled by the backend, or *replayed*, its statements called
//! one by one on the real tensors from native code. Replay is eager execution, so it is always exact; it serves the
//! first calls. Every other one of them runs the compiled form as well, on the same inputs and from the same state: it
//! is a candidate as long as it agrees in everything ([`CompiledGraph::difference`]). Which is faster depends on the
//! size of the graph and on the machine, so the first calls are timed, and the faster one stays. A graph whose outputs
//! must share memory as in eager execution is replayed only. Warnings that replay gives, the compiled form gives too
//! ([`crate::heard`]).
//!
//! Failures. An exception out of the graph is reported to the dispatcher ([`take_failure`]), which runs the original
//! frame. What the graph had changed by then is put back first ([`Effects`]), so it is as if the graph had never run.
//! A form that panics or gives another number of outputs than it was built for is not used again: compiled gives way to
//! replay, and where replay is wrong the graph is closed. Exceptions that are no `Exception` (Ctrl-C), and those of signal handlers, came from outside:
//! they go to the user, for whom the call was interrupted before its first instruction.

use crate::backend::{CallKind, CompiledGraph, Effects, Finished};
use crate::captured::{Captured, ReplayArg, ReplayCall};
use crate::cpython::native::{NativeBody, new_native};
use crate::cpython::{Slots, call_method_vectorcall, call_slots, held, signals, trampoline};
use crate::heard::{self, Listening, Warning};
use crate::objects::VarId;
use crate::settings;
use crate::stop::{Reason, Stop};
use hashbrown::HashMap;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyBaseException, PyException, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;
use smallvec::SmallVec;
use sot_sir::{Module, Sir, Symbol};
use std::any::Any;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

thread_local! {
    /// Exceptions that came out of graphs and are on their way to whoever called the rewritten code.
    static FAILED: RefCell<Vec<Py<PyBaseException>>> = const { RefCell::new(Vec::new()) };
}

/// Whether this very exception came out of a graph; asking forgets it. On its way frames are torn down, and their
/// finalizers may run other graphs, which may fail as well.
pub fn take_failure(py: Python<'_>, error: &PyErr) -> bool {
    let found = FAILED.with_borrow_mut(|failed| {
        let at = failed.iter().rposition(|f| f.is(error.value(py)))?;
        Some(failed.remove(at))
    });
    found.is_some()
}

/// Remember an exception that a graph raised.
fn note_failure(py: Python<'_>, error: &PyErr) {
    let old = FAILED.with_borrow_mut(|failed| {
        failed.push(error.value(py).clone().unbind());
        // More than a few mean that somebody swallowed them.
        (failed.len() > 64).then(|| failed.remove(0))
    });
    drop(old);
}

/// Who runs a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Measuring,
    Compiled,
    Replay,
    /// Neither: the original frame runs.
    Closed,
}

/// Calls of each kind that are timed before the choice.
const ROUNDS: u64 = 4;

/// Outputs, in the order of the graph's.
type Outputs<'py> = SmallVec<[Bound<'py, PyAny>; 4]>;

/// Inputs, as backends take them.
type Inputs<'a, 'py> = SmallVec<[Borrowed<'a, 'py, PyAny>; 8]>;

/// Why a run gave no outputs.
enum Failure {
    /// An operation raised.
    Raised(PyErr),
    /// The form that ran is not what it was built to be: a panic, a wrong number of outputs.
    Broken(String),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Failure {
        Failure::Raised(error)
    }
}

impl Failure {
    /// Whether somebody outside asks the program to stop.
    fn interrupts(&self, py: Python<'_>) -> bool {
        matches!(self, Failure::Raised(error)
            if !error.is_instance_of::<PyException>(py) || signals::raised_by_handler(py, error))
    }

    fn into_error(self) -> PyErr {
        match self {
            Failure::Raised(error) => error,
            Failure::Broken(why) => PyRuntimeError::new_err(format!("sot: a graph is closed: {why}")),
        }
    }
}

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
    /// Why only replay is exact, said by the backend or found out.
    replay_only: OnceLock<String>,
    effects: Option<Box<dyn Effects>>,
    /// What a replay warns of; set by the first proof.
    warnings: OnceLock<Vec<Warning>>,
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
        py: Python<'_>,
        captured: &Captured,
        inputs: Vec<Symbol>,
        input_vars: Vec<VarId>,
        outputs: Vec<Symbol>,
        finished: Finished,
    ) -> Result<GraphFunction, Stop> {
        let Finished { compiled, replay_only, op_count, effects } = finished;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let sir = Sir {
            name: format!("SIR_{number}"),
            inputs: inputs.clone(),
            outputs: outputs.clone(),
            statements: captured.graph.statements.clone(),
        };
        let sir = Module::single(sir);
        if cfg!(debug_assertions)
            && let Err(errors) = sot_sir::verify(&sir)
        {
            return Err(Stop::fallback(Reason::InternalError, format!("{errors:?}")));
        }
        let replay = Replay::build(py, captured, &inputs, &outputs);
        let choice = match compiled {
            Some(_) => Choice::Measuring,
            None => Choice::Replay,
        };
        Ok(GraphFunction {
            sir,
            input_vars,
            compiled,
            replay_only: replay_only.map(OnceLock::from).unwrap_or_default(),
            effects,
            warnings: OnceLock::new(),
            op_count,
            replay,
            choice: AtomicU8::new(choice as u8),
            calls: AtomicU64::new(0),
            best: [AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX)],
            callable: OnceLock::new(),
        })
    }

    /// Names the calls of rewritten code that runs this graph.
    pub fn mark(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self) as usize
    }

    pub fn input_vars(&self) -> &[VarId] {
        &self.input_vars
    }

    pub fn choice(&self) -> Choice {
        match self.choice.load(Ordering::Relaxed) {
            0 => Choice::Measuring,
            1 => Choice::Compiled,
            2 => Choice::Replay,
            _ => Choice::Closed,
        }
    }

    /// Why the compiled form is not used although it may be faster; in words.
    pub fn replay_only(&self) -> Option<&str> {
        self.replay_only.get().map(String::as_str)
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

    fn run<'py>(&self, py: Python<'py>, args: Slots<'_>) -> Result<Outputs<'py>, Failure> {
        match self.choice() {
            Choice::Compiled => {
                let inputs = inputs(py, args);
                let result = self.undone_if_it_fails(py, &inputs, || {
                    for warning in self.warnings.get().into_iter().flatten() {
                        warning.repeat(py)?;
                    }
                    self.run_compiled(py, &inputs)
                });
                if let Err(Failure::Broken(why)) = &result {
                    self.drop_compiled(py, why);
                }
                result
            }
            Choice::Replay => self.run_replay(py, args),
            Choice::Measuring => self.measure(py, args),
            Choice::Closed => Err(Failure::Broken("it was not what it was built to be".to_owned())),
        }
    }

    /// The state is as before if `run` fails.
    fn undone_if_it_fails<'py>(
        &self,
        py: Python<'py>,
        inputs: &Inputs<'_, 'py>,
        run: impl FnOnce() -> Result<Outputs<'py>, Failure>,
    ) -> Result<Outputs<'py>, Failure> {
        let Some(effects) = &self.effects else { return run() };
        let before = effects.save(py, inputs)?;
        let result = run();
        if result.is_err() {
            effects.restore(py, inputs, &before)?;
        }
        result
    }

    fn run_compiled<'py>(&self, py: Python<'py>, inputs: &Inputs<'_, 'py>) -> Result<Outputs<'py>, Failure> {
        let compiled = self.compiled.as_ref().ok_or_else(|| Failure::Broken("there is no compiled form".to_owned()))?;
        let outputs = trampoline(|| compiled.run(py, inputs)).map_err(|panic| Failure::Broken(panic.to_string()))??;
        let (got, wanted) = (outputs.len(), self.replay.outputs.len());
        if got != wanted {
            return Err(Failure::Broken(format!("the compiled graph gave {got} outputs instead of {wanted}")));
        }
        Ok(outputs)
    }

    fn run_replay<'py>(&self, py: Python<'py>, args: Slots<'_>) -> Result<Outputs<'py>, Failure> {
        let run =
            || trampoline(|| self.replay.run(py, args)).unwrap_or_else(|panic| Err(Failure::Broken(panic.to_string())));
        let result = match &self.effects {
            None => run(),
            Some(_) => self.undone_if_it_fails(py, &inputs(py, args), run),
        };
        if let Err(Failure::Broken(why)) = &result {
            let _ = self.replay_only.set(why.clone());
            self.choice.store(Choice::Closed as u8, Ordering::Relaxed);
        }
        result
    }

    /// One of the first calls: replay serves it, and times are taken.
    fn measure<'py>(&self, py: Python<'py>, args: Slots<'_>) -> Result<Outputs<'py>, Failure> {
        let call = self.calls.load(Ordering::Relaxed);
        let inputs = inputs(py, args);
        // Every second call proves the compiled form.
        let proves = !call.is_multiple_of(2);
        let before = match &self.effects {
            Some(effects) if proves => Some(effects.save(py, &inputs)?),
            _ => None,
        };
        let listening = proves.then(|| Listening::start(py)).transpose()?;
        let start = Instant::now();
        let outputs = self.run_replay(py, args)?;
        let mut elapsed = start.elapsed().as_nanos() as u64;
        if let Some(listening) = listening {
            let heard = listening.finish();
            match self.hears(py, heard).and_then(|()| self.prove(py, &inputs, before.as_ref(), &outputs)) {
                Ok(time) => elapsed = time,
                Err(failure) if failure.interrupts(py) => {
                    if let (Some(effects), Some(before)) = (&self.effects, &before) {
                        effects.restore(py, &inputs, before)?;
                    }
                    return Err(failure);
                }
                Err(failure) => {
                    let why = match failure {
                        Failure::Raised(error) => format!("the compiled graph raised where eager does not: {error}"),
                        Failure::Broken(why) => why,
                    };
                    self.drop_compiled(py, &why);
                    return Ok(outputs);
                }
            }
        }
        // The first call of each kind pays for set-up.
        if call >= 2 {
            self.best[usize::from(!proves)].fetch_min(elapsed, Ordering::Relaxed);
        }
        // Calls that failed do not count: there is always one of each kind after the other.
        if self.calls.fetch_add(1, Ordering::Relaxed) + 1 >= 2 * ROUNDS {
            let [compiled, replay] = [&self.best[0], &self.best[1]].map(|b| b.load(Ordering::Relaxed));
            let compile = compiled <= replay || !settings::by_measurement();
            let choice = if compile { Choice::Compiled } else { Choice::Replay };
            // Another thread may have found out more meanwhile.
            let (from, to) = (Choice::Measuring as u8, choice as u8);
            let chosen = self.choice.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok();
            if let (Choice::Replay, true, Some(compiled)) = (choice, chosen, &self.compiled) {
                compiled.retire(py);
            }
        }
        Ok(outputs)
    }

    /// A replay gave these warnings: the same ones at each call, or compiled calls could not give them.
    fn hears(&self, py: Python<'_>, heard: Option<Vec<Warning>>) -> Result<(), Failure> {
        let heard = heard.ok_or_else(|| Failure::Broken("an operation warns in a way of its own".to_owned()))?;
        if let Err(heard) = self.warnings.set(heard)
            && !heard::same(py, &heard, self.warnings.get().map_or(&[], Vec::as_slice))?
        {
            return Err(Failure::Broken("an operation warns of something else each time".to_owned()));
        }
        Ok(())
    }

    /// Run the compiled form from the state `before` and compare it with what replay gave. Gives the time that it took,
    /// and leaves the state as replay left it.
    fn prove<'py>(
        &self,
        py: Python<'py>,
        inputs: &Inputs<'_, 'py>,
        before: Option<&Bound<'py, PyAny>>,
        eager: &Outputs<'py>,
    ) -> Result<u64, Failure> {
        let compiled = self.compiled.as_ref().ok_or_else(|| Failure::Broken("there is no compiled form".to_owned()))?;
        let stateful = self.effects.as_ref().zip(before);
        let after = match stateful {
            Some((effects, before)) => {
                let after = effects.save(py, inputs)?;
                effects.restore(py, inputs, before)?;
                Some(after)
            }
            None => None,
        };
        let start = Instant::now();
        let outputs = self.run_compiled(py, inputs);
        let elapsed = start.elapsed().as_nanos() as u64;
        if let (Some((effects, _)), Some(after)) = (stateful, &after) {
            let reached = effects.save(py, inputs);
            effects.restore(py, inputs, after)?;
            if outputs.is_ok() && !effects.same(&reached?, after)? {
                return Err(Failure::Broken("the compiled graph leaves another state than eager".to_owned()));
            }
        }
        match compiled.difference(py, &outputs?, eager)? {
            Some(difference) => Err(Failure::Broken(format!("the compiled graph differs from eager: {difference}"))),
            None => Ok(elapsed),
        }
    }

    /// From now on replay serves.
    fn drop_compiled(&self, py: Python<'_>, why: &str) {
        let _ = self.replay_only.set(why.to_owned());
        self.choice.store(Choice::Replay as u8, Ordering::Relaxed);
        if let Some(compiled) = &self.compiled {
            compiled.retire(py);
        }
    }
}

fn inputs<'a, 'py>(py: Python<'py>, args: Slots<'a>) -> Inputs<'a, 'py> {
    (0..args.len()).filter_map(|i| args.get(py, i)).collect()
}

/// Outputs as rewritten code takes them.
fn pack<'py>(py: Python<'py>, mut outputs: Outputs<'py>) -> PyResult<Bound<'py, PyAny>> {
    match outputs.len() {
        0 => Ok(py.None().into_bound(py)),
        1 => Ok(outputs.remove(0)),
        _ => Ok(PyTuple::new(py, outputs)?.into_any()),
    }
}

struct Body {
    graph: Arc<GraphFunction>,
    name: String,
}

impl NativeBody for Body {
    fn call<'py>(&self, py: Python<'py>, args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        match self.graph.run(py, args) {
            Ok(outputs) => {
                // Nothing can fail back to the original code any more.
                held::release(self.graph.mark());
                pack(py, outputs)
            }
            Err(failure) => {
                let interrupts = failure.interrupts(py);
                let error = failure.into_error();
                if !interrupts {
                    note_failure(py, &error);
                }
                Err(error)
            }
        }
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
            if let Some(effects) = &self.graph.effects {
                effects.traverse(visit);
            }
            self.graph.warnings.get().into_iter().flatten().for_each(|w| w.traverse(visit));
            self.graph.replay.traverse(visit);
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Replay {
    fn build(py: Python<'_>, captured: &Captured, inputs: &[Symbol], outputs: &[Symbol]) -> Replay {
        let mut numbers: HashMap<u32, usize> = HashMap::new();
        let mut number = |s: Symbol| {
            let next = numbers.len();
            *numbers.entry(s.0).or_insert(next)
        };
        let input_registers: Vec<usize> = inputs.iter().map(|s| number(*s)).collect();
        let mut steps: Vec<Step> = Vec::with_capacity(captured.graph.calls.len());
        for call in &captured.graph.calls {
            steps.push(Self::step(py, captured, call, &mut number));
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

    fn step(py: Python<'_>, captured: &Captured, call: &ReplayCall, number: &mut dyn FnMut(Symbol) -> usize) -> Step {
        Step {
            operator: (call.kind == CallKind::Method && call.callee.is_some() && call.args.len() == 2)
                .then(|| operator(&call.name))
                .flatten(),
            callee: call.callee.map(|c| captured.objects.get(py, c).unbind()),
            method: (call.kind == CallKind::Method && call.callee.is_none())
                .then(|| PyString::intern(py, &call.name).unbind()),
            args: call.args.iter().map(|a| Value::of(py, captured, a, number)).collect(),
            kwargs: call
                .kwargs
                .iter()
                .map(|(n, a)| (PyString::intern(py, n).unbind(), Value::of(py, captured, a, number)))
                .collect(),
            result: Value::pattern(py, captured, &call.result, number),
            dead: Vec::new(),
        }
    }

    fn run<'py>(&self, py: Python<'py>, args: Slots<'_>) -> Result<Outputs<'py>, Failure> {
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
        Ok(self.outputs.iter().map(|register| registers[*register].clone().expect("an output")).collect())
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
    fn of(py: Python<'_>, captured: &Captured, arg: &ReplayArg, number: &mut dyn FnMut(Symbol) -> usize) -> Value {
        match arg {
            ReplayArg::Symbol(s) => Value::Register(number(*s)),
            ReplayArg::Object(o) => Value::Object(captured.objects.get(py, *o).unbind()),
            ReplayArg::Tuple(items) => Value::Tuple(items.iter().map(|i| Value::of(py, captured, i, number)).collect()),
            ReplayArg::List(items) => Value::List(items.iter().map(|i| Value::of(py, captured, i, number)).collect()),
            ReplayArg::Dict(entries) => Value::Dict(
                entries
                    .iter()
                    .map(|(k, v)| (Value::of(py, captured, k, number), Value::of(py, captured, v, number)))
                    .collect(),
            ),
            ReplayArg::Slice(parts) => Value::Slice(Box::new([
                Value::of(py, captured, &parts[0], number),
                Value::of(py, captured, &parts[1], number),
                Value::of(py, captured, &parts[2], number),
            ])),
        }
    }

    fn pattern(py: Python<'_>, captured: &Captured, arg: &ReplayArg, number: &mut dyn FnMut(Symbol) -> usize) -> Value {
        match arg {
            ReplayArg::Symbol(s) => Value::Register(number(*s)),
            ReplayArg::Tuple(items) | ReplayArg::List(items) => {
                Value::Tuple(items.iter().map(|i| Value::pattern(py, captured, i, number)).collect())
            }
            ReplayArg::Dict(entries) => Value::Dict(
                entries
                    .iter()
                    .map(|(k, v)| (Value::of(py, captured, k, number), Value::pattern(py, captured, v, number)))
                    .collect(),
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

    /// Take a result apart. Another structure than at capture means that this is not the graph that was captured.
    fn store<'py>(&self, value: Bound<'py, PyAny>, registers: &mut [Option<Bound<'py, PyAny>>]) -> Result<(), Failure> {
        let count = |wanted: usize| match value.len() {
            Ok(got) if got == wanted => Ok(()),
            Ok(got) => Err(Failure::Broken(format!("an operation gave {got} results instead of {wanted}"))),
            Err(_) => Err(Failure::Broken(format!("an operation gave one result instead of {wanted}"))),
        };
        let missing = |_: PyErr| Failure::Broken("an operation gave other results".to_owned());
        match self {
            Value::Register(r) => registers[*r] = Some(value),
            Value::Tuple(items) => {
                count(items.len())?;
                for (i, item) in items.iter().enumerate() {
                    item.store(value.get_item(i).map_err(missing)?, registers)?;
                }
            }
            Value::Dict(entries) => {
                count(entries.len())?;
                for (key, item) in entries {
                    let Value::Object(key) = key else { continue };
                    item.store(value.get_item(key).map_err(missing)?, registers)?;
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

/// `take_over()`: the frame that calls it needs no original code to fail back to, and owns its arguments alone.
struct TakeOver;

impl NativeBody for TakeOver {
    fn call<'py>(&self, py: Python<'py>, _args: Slots<'_>) -> PyResult<Bound<'py, PyAny>> {
        held::release_newest();
        Ok(py.None().into_bound(py))
    }

    fn name(&self) -> &str {
        "take_over"
    }

    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// What rewritten code without a graph calls first.
pub fn take_over_function(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let function = FUNCTION.get_or_try_init(py, || new_native(py, Box::new(TakeOver)))?;
    Ok(function.bind(py).clone())
}
