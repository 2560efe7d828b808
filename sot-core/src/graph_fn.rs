//! The graph as a native callable, and the choice of who executes it.
//!
//! A graph can run in two ways with the same meaning: compiled by the backend, or *replayed*, its statements called
//! one by one on the real tensors from native code. Replay is eager execution, so it is always exact; it serves the
//! first calls, and until a compiled form may be worth making. Every other call from then on runs the compiled form as well, on the same inputs and from the same state: it
//! is a candidate as long as it agrees in everything ([`CompiledGraph::difference`]). Which is faster depends on the
//! size of the graph and on the machine, so these calls are timed, and the faster one stays: replay, unless the other
//! is a twentieth faster ([`crate::graph_trial`]). A graph whose outputs
//! must share memory as in eager execution is replayed only. Warnings that replay gives, the compiled form gives too
//! ([`crate::heard`]).
//!
//! Failures. An exception out of the graph is reported to the dispatcher ([`take_failure`]), which runs the original
//! frame. What the graph had changed by then is put back first ([`Effects`]), so it is as if the graph had never run.
//! A form that panics or gives another number of outputs than it was built for is not used again: compiled gives way to
//! replay, and where replay is wrong the graph is closed. Exceptions that are no `Exception` (Ctrl-C), and those of signal handlers, came from outside:
//! they go to the user, for whom the call was interrupted before its first instruction, or, where operations have acted, at the one that
//! was under way.

use crate::backend::{CompiledGraph, Effects, Finished, Form, registered};
use crate::captured::Captured;
use crate::cpython::native::{NativeBody, new_native};
use crate::cpython::{Slots, held, signals, trampoline};
use crate::graph_trial::{GraphTrial, Took};
use crate::heard::{self, Listening, Warning};
use crate::objects::VarId;
use crate::replay::{Came, Failure, Outputs, Replay};
use crate::settings;
use crate::stats::count;
use crate::stop::{Reason, Stop};
use crate::watch::Ended;
use hashbrown::HashSet;
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;
use smallvec::SmallVec;
use sot_sir::{Module, Sir, Symbol};
use std::any::Any;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

thread_local! {
    /// Exceptions that came out of graphs and are on their way to whoever called the rewritten code, and how far they have come.
    static FAILED: RefCell<Vec<(Py<PyBaseException>, Came)>> = const { RefCell::new(Vec::new()) };
    /// The outputs of a graph that is not to be run again, and its mark.
    static DONE: RefCell<Option<(usize, Vec<Py<PyAny>>)>> = const { RefCell::new(None) };
    /// What a signal handler has raised behind a graph that has acted: the new code has to do first what the program has done by then.
    static PUT_OFF: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// What is to be raised where new code that has acted has come to its end.
pub fn take_put_off() -> Option<PyErr> {
    PUT_OFF.take()
}

/// How far this very exception's graph has come, if it came out of one; asking forgets it. On its way frames are torn down, and their
/// finalizers may run other graphs, which may fail as well.
pub fn take_failure(py: Python<'_>, error: &PyErr) -> Option<Came> {
    let found = FAILED.with_borrow_mut(|failed| {
        let at = failed.iter().rposition(|(f, _)| f.is(error.value(py)))?;
        Some(failed.remove(at))
    });
    found.map(|(_, came)| came)
}

/// Remember an exception that a graph raised.
fn note_failure(py: Python<'_>, error: &PyErr, came: Came) {
    let old = FAILED.with_borrow_mut(|failed| {
        failed.push((error.value(py).clone().unbind(), came));
        // More than a few mean that somebody swallowed them.
        (failed.len() > 64).then(|| failed.remove(0))
    });
    drop(old);
}

/// The next run of the graph with this mark was made before, and came to these outputs, while `run` is under way.
pub fn with_outputs<R>(mark: usize, outputs: Vec<Py<PyAny>>, run: impl FnOnce() -> R) -> R {
    let before = DONE.replace(Some((mark, outputs)));
    let result = run();
    drop(DONE.replace(before));
    result
}

/// The outputs of a run that was made before.
fn outputs_of_earlier_run<'py>(py: Python<'py>, mark: usize) -> Option<Outputs<'py>> {
    let done = DONE.with_borrow_mut(|done| done.take_if(|(of, _)| *of == mark));
    done.map(|(_, outputs)| outputs.into_iter().map(|output| output.into_bound(py)).collect())
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

/// How far the choice of who runs a graph has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Replay serves, until the compiled form may be worth making.
    Waits,
    /// The next calls try it.
    Tries,
    Chosen(Choice),
}

/// Inputs, as backends take them.
type Inputs<'a, 'py> = SmallVec<[Borrowed<'a, 'py, PyAny>; 8]>;

/// A graph that rewritten code calls.
pub struct GraphFunction {
    pub sir: Module,
    input_vars: Vec<VarId>,
    /// So many of the inputs, the first, are tensors; the others are numbers that only a replay is given.
    tensors: usize,
    /// Which of their extents vary, and for which the compiled form was proved.
    varying: ProvedExtents,
    compiled: Option<Box<dyn CompiledGraph>>,
    /// Why only replay is exact, said by the backend or found out.
    replay_only: OnceLock<String>,
    effects: Option<Box<dyn Effects>>,
    /// What a replay warns of; set by the first proof.
    warnings: OnceLock<Vec<Warning>>,
    pub op_count: usize,
    replay: Replay,
    choice: AtomicU8,
    trial: GraphTrial,
    callable: OnceLock<Py<PyAny>>,
}

impl GraphFunction {
    /// Bytes that it holds, without what the framework has made of it.
    pub fn bytes(&self) -> usize {
        // Beside each statement stands what is called, for replays.
        let statements = self.sir.sirs.iter().map(|sir| sir.bytes() + sir.statements.len() * A_STEP).sum::<usize>();
        size_of::<GraphFunction>() + statements
    }
}

/// What a step of a replay is taken to hold.
const A_STEP: usize = 128;

/// Combinations of extents that are remembered as proved.
const COMBINATIONS: usize = 4096;
/// Combinations that are proved before it is asked whether they are met again: to prove one takes as long as both forms, so where none is,
/// replay alone is faster.
const UNMET: u64 = 256;

/// The extents of inputs that vary. Whether the compiled form gives what eager does may depend on them, and so may what was inferred of
/// shapes: the first call with each combination proves it.
#[derive(Default)]
struct ProvedExtents {
    /// Positions among the inputs, and axes.
    axes: Vec<(usize, usize)>,
    seen: Mutex<HashSet<SmallVec<[i64; 4]>>>,
    /// Calls with extents that were proved before.
    met: AtomicU64,
}

/// What is known of the extents of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extents {
    Proved,
    ToProve,
    /// They will not be met again, as things go.
    Passing,
}

impl ProvedExtents {
    fn of(py: Python<'_>, captured: &Captured, inputs: &[VarId]) -> ProvedExtents {
        let axes_of = |var: &VarId| {
            let tensor = captured.sourced.get(var)?;
            captured.free_axes.get(&(captured.objects.get_ref(py, *tensor).as_ptr() as usize))
        };
        let of_input = |(at, var)| axes_of(var).into_iter().flatten().map(move |axis| (at, *axis));
        let axes: Vec<_> = inputs.iter().enumerate().flat_map(of_input).collect();
        ProvedExtents { axes, ..ProvedExtents::default() }
    }

    /// The extents of these inputs; `None`: none varies, or somebody cannot be asked.
    fn of_inputs(&self, inputs: &Inputs<'_, '_>) -> Option<SmallVec<[i64; 4]>> {
        if self.axes.is_empty() {
            return None;
        }
        let backend = registered()?;
        self.axes.iter().map(|(at, axis)| backend.extent(&inputs[*at].to_owned(), *axis)).collect()
    }

    /// Whether a call with these inputs has proved the compiled form.
    fn known(&self, inputs: &Inputs<'_, '_>) -> Extents {
        if self.axes.is_empty() {
            return Extents::Proved;
        }
        let Some(extents) = self.of_inputs(inputs) else { return Extents::ToProve };
        let Ok(seen) = self.seen.lock() else { return Extents::Proved };
        if seen.contains(&extents) {
            count(&self.met);
            return Extents::Proved;
        }
        let allowed = UNMET + 2 * self.met.load(Ordering::Relaxed);
        if (seen.len() as u64) < allowed.min(COMBINATIONS as u64) { Extents::ToProve } else { Extents::Passing }
    }

    /// A call with these inputs has proved it.
    fn are_proved(&self, inputs: &Inputs<'_, '_>) {
        if let (Some(extents), Ok(mut seen)) = (self.of_inputs(inputs), self.seen.lock())
            && seen.len() < COMBINATIONS
        {
            seen.insert(extents);
        }
    }
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
        let Finished { form, op_count, effects } = finished;
        let (compiled, replay_only) = match form {
            Form::Compiled(compiled) => (Some(compiled), None),
            Form::ReplayOnly(why) => (None, Some(why)),
        };
        let is_tensor = |symbol: &&Symbol| captured.graph.inputs.iter().any(|input| input.symbol == **symbol);
        let tensors = inputs.iter().take_while(is_tensor).count();
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
        let replay = Replay::build(py, captured, &sir.sirs[0]);
        let choice = match compiled {
            Some(_) => Choice::Measuring,
            None => Choice::Replay,
        };
        let varying = ProvedExtents::of(py, captured, &input_vars);
        Ok(GraphFunction {
            sir,
            trial: GraphTrial::new(!varying.axes.is_empty()),
            varying,
            input_vars,
            tensors,
            compiled,
            replay_only: replay_only.map(OnceLock::from).unwrap_or_default(),
            effects,
            warnings: OnceLock::new(),
            op_count,
            replay,
            choice: AtomicU8::new(choice as u8),
            callable: OnceLock::new(),
        })
    }

    /// Whether a run changes something beside its results: what random numbers come next, say.
    pub fn has_effects(&self) -> bool {
        self.effects.is_some() || self.acts()
    }

    /// Whether operations of it act: what they change stays changed.
    pub fn acts(&self) -> bool {
        self.replay.first_act.is_some()
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
                match self.varying.known(&inputs) {
                    Extents::Proved => {}
                    Extents::ToProve => return self.replay_and_prove(py, args, &inputs).map(|(outputs, _)| outputs),
                    Extents::Passing => return self.run_replay(py, args),
                }
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
        // What has acted stays done, and so does all that was before it.
        if matches!(&result, Err(failure) if !failure.has_acted()) {
            effects.restore(py, inputs, &before)?;
        }
        result
    }

    fn run_compiled<'py>(&self, py: Python<'py>, inputs: &Inputs<'_, 'py>) -> Result<Outputs<'py>, Failure> {
        let compiled = self.compiled.as_ref().ok_or_else(|| Failure::Broken("there is no compiled form".to_owned()))?;
        let outputs = trampoline(|| compiled.run(py, &inputs[..self.tensors]))
            .map_err(|panic| Failure::Broken(panic.to_string()))??;
        let (got, wanted) = (outputs.len(), self.sir.sirs[0].outputs.len());
        if got != wanted {
            return Err(Failure::Broken(format!("the compiled graph gave {got} outputs instead of {wanted}")));
        }
        Ok(outputs)
    }

    fn run_replay<'py>(&self, py: Python<'py>, args: Slots<'_>) -> Result<Outputs<'py>, Failure> {
        let run = || {
            trampoline(|| self.replay.run(py, &self.sir.sirs[0], args, std::ptr::from_ref(self) as usize))
                .unwrap_or_else(|panic| Err(Failure::Broken(panic.to_string())))
        };
        let result = match &self.effects {
            None => run(),
            Some(_) => self.undone_if_it_fails(py, &inputs(py, args), run),
        };
        if let Err(Failure::Broken(why)) = &result {
            let _ = self.replay_only.set(why.clone());
        }
        let ends = |failure: &Failure| match failure {
            Failure::Raised(_) | Failure::Untouched(_) => false,
            Failure::Broken(_) => true,
            // Where it has not failed, whoever watches says whether it may run again.
            Failure::Acted(_, progress) => progress.ended == Ended::Failed && !failure.interrupts(py),
        };
        if result.as_ref().is_err_and(ends) {
            self.choice.store(Choice::Closed as u8, Ordering::Relaxed);
        }
        result
    }

    /// Replay serves, and the compiled form is compared with it. Gives the times that both took; `None`: this one is dropped.
    fn replay_and_prove<'py>(
        &self,
        py: Python<'py>,
        args: Slots<'_>,
        inputs: &Inputs<'_, 'py>,
    ) -> Result<(Outputs<'py>, Option<Took>), Failure> {
        let before = self.effects.as_ref().map(|effects| effects.save(py, inputs)).transpose()?;
        let listening = Listening::start(py)?;
        let start = Instant::now();
        let outputs = self.run_replay(py, args)?;
        let replay = nanoseconds_since(start);
        let heard = listening.finish();
        match self.hears(py, heard).and_then(|()| self.prove(py, inputs, before.as_ref(), &outputs)) {
            Ok(compiled) => {
                self.varying.are_proved(inputs);
                Ok((outputs, Some(Took::Both { replay, compiled })))
            }
            Err(failure) if failure.interrupts(py) => {
                if let (Some(effects), Some(before)) = (&self.effects, &before) {
                    effects.restore(py, inputs, before)?;
                }
                Err(failure)
            }
            Err(failure) => {
                let why = match failure {
                    Failure::Raised(error) | Failure::Untouched(error) | Failure::Acted(error, _) => {
                        format!("the compiled graph raised where eager does not: {error}")
                    }
                    Failure::Broken(why) => why,
                };
                self.drop_compiled(py, &why);
                Ok((outputs, None))
            }
        }
    }

    /// Whether the next call tries the compiled form.
    fn tries(&self) -> bool {
        let making = self.compiled.as_ref().map(|compiled| compiled.making_takes()).unwrap_or_default();
        !settings::graphs_by_measurement() || self.trial.is_due(making)
    }

    /// How far the choice has come.
    pub fn stage(&self) -> Stage {
        match self.choice() {
            Choice::Measuring if self.tries() => Stage::Tries,
            Choice::Measuring => Stage::Waits,
            choice => Stage::Chosen(choice),
        }
    }

    /// One of the first calls: replay serves it, and times are taken.
    fn measure<'py>(&self, py: Python<'py>, args: Slots<'_>) -> Result<Outputs<'py>, Failure> {
        let tries = self.tries();
        let (outputs, took) = if tries && self.trial.runs_both() {
            let (outputs, took) = self.replay_and_prove(py, args, &inputs(py, args))?;
            let Some(took) = took else { return Ok(outputs) };
            (outputs, took)
        } else {
            let start = Instant::now();
            let outputs = self.run_replay(py, args)?;
            (outputs, Took::Replay(nanoseconds_since(start)))
        };
        match took {
            Took::Replay(took) if !tries => self.trial.replayed(took),
            took => {
                if let Some(faster) = self.trial.record(took) {
                    self.choose(py, faster || !settings::graphs_by_measurement());
                }
            }
        }
        Ok(outputs)
    }

    fn choose(&self, py: Python<'_>, compile: bool) {
        let choice = if compile { Choice::Compiled } else { Choice::Replay };
        // Another thread may have found out more meanwhile.
        let (from, to) = (Choice::Measuring as u8, choice as u8);
        let chosen = self.choice.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if let (Choice::Replay, true, Some(compiled)) = (choice, chosen, &self.compiled) {
            compiled.retire(py);
        }
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
        let elapsed = nanoseconds_since(start);
        if let (Some((effects, _)), Some(after)) = (stateful, &after) {
            let reached = effects.save(py, inputs);
            effects.restore(py, inputs, after)?;
            if outputs.is_ok() && !effects.same(&reached?, after)? {
                return Err(Failure::Broken("the compiled graph leaves another state than eager".to_owned()));
            }
        }
        let outputs = outputs?;
        let difference = trampoline(|| compiled.difference(py, &outputs, eager));
        match difference.map_err(|panic| Failure::Broken(panic.to_string()))?? {
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

fn nanoseconds_since(start: Instant) -> u64 {
    start.elapsed().as_nanos() as u64
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
        let run = || {
            let outputs = match outputs_of_earlier_run(py, self.graph.mark()) {
                Some(outputs) => outputs,
                None => {
                    let run = self.graph.run(py, args);
                    if self.graph.acts() {
                        crate::watch::end_run(self.graph.mark());
                    }
                    run?
                }
            };
            Ok(pack(py, outputs)?)
        };
        match trampoline(run).unwrap_or_else(|panic| Err(Failure::Raised(panic.into_error(py, "a graph")))) {
            Ok(outputs) => {
                // What a handler raises now is raised where the program would go on with what is still held for it.
                if let Err(error) = signals::due(py) {
                    if !self.graph.acts() {
                        return Err(error);
                    }
                    drop(PUT_OFF.replace(Some(error)));
                }
                // Nothing can fail back to the original code any more.
                held::release(self.graph.mark());
                Ok(outputs)
            }
            Err(failure) => {
                // Where nothing has come of it, the call was interrupted before its first instruction.
                let goes_on = failure.has_acted() || !failure.interrupts(py);
                let (error, came) = failure.into_error();
                if goes_on {
                    note_failure(py, &error, came);
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
