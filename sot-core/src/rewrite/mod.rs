//! From a finished simulation to new code: [graph call] [side effects] [result, or break and continuation].
//!
//! The new function takes the argument slots of the frame (or the values of the continuation) as positional
//! arguments, keeps the user's name, file and line numbers, and has no handlers of its own: what raises in it raises
//! to the caller as it would have in the user's code.
//!
//! Order of emission, and why: values that are found by a path are loaded first, because the side effects may change
//! what the path leads to; then the graph runs, which changes nothing; then the journal is replayed in program
//! order; then the result is built, or the instruction that could not be simulated runs and its outcome is handed,
//! with all that is still alive, to the continuation.

mod breaks;
mod cells;
mod emit;
mod exits;
mod generators;
mod instances;
mod journal;
mod letting_go;
mod lifetimes;
mod paths;
mod plan;
mod rebuild;
mod resume;
mod rings;
mod sets;
mod shown;
mod stand_in;
mod telling;
#[cfg(test)]
mod tests;
mod uses;

pub use stand_in::{stand_in_for, waiting};

use crate::backend::{Form, GraphBuilder};
use crate::captured::{Captured, Outcome};
use crate::code_unit::assemble;
use crate::frame;
use crate::graph_fn::GraphFunction;
use crate::objects::stable_repr;
use crate::shapes::Shape;
use crate::stop::{Reason, Stop, Why};
use crate::user_frames::Shown;
use crate::variables::{TensorSource, VarId, VarKind};
use emit::Emitter;
use lifetimes::Lifetimes;
use plan::Tail;
pub(crate) use plan::operand_count;
use pyo3::prelude::*;
use pyo3::types::PyCode;
use sot_opcodes::analysis::liveness;
use sot_opcodes::{Code, Local, Op};
use sot_sir::Symbol;
use std::sync::Arc;

/// What the emitted code begins with.
pub struct Head {
    /// Names of the positional arguments: the slots.
    pub arguments: Vec<String>,
    pub freevars: Vec<String>,
    /// Name in listings, where it is not that of the code object: `__resume_fn_3`.
    pub listed_as: Option<String>,
}

/// New code, and what a report says about it.
pub struct Rewritten {
    pub code: Py<PyCode>,
    pub graph: Option<Arc<GraphFunction>>,
    /// The bytecode as text.
    pub text: String,
    /// The callables by which the code asks to go on.
    pub requests: Vec<Py<PyAny>>,
    /// A Python function is called by the break instruction: frames below it may be captured by the hook.
    pub calls_out: bool,
    /// What it stands for in a traceback.
    pub shown: Shown,
    /// So many of its instructions, the first, do nothing that anybody sees.
    pub quiet: usize,
}

/// How new code has the program go on: by callables of whoever serves it.
pub trait GoOn {
    /// The callable that, given the values of a shape, asks to go on there. There is an eager form.
    fn request<'py>(&self, py: Python<'py>, shape: &Shape) -> Result<Bound<'py, PyAny>, Stop>;

    /// The callable that, given the values and an exception, goes on where that leads. `stand_ins`: code of the stand-ins below
    /// which the instruction ran.
    fn raise_into<'py>(
        &self,
        py: Python<'py>,
        shape: &Shape,
        stand_ins: Vec<Py<PyAny>>,
    ) -> Result<Bound<'py, PyAny>, Stop>;
}

/// Why there is no new code.
pub enum Refused {
    Stopped {
        stop: Stop,
        /// The call that made a generator which cannot be kept, to be denied.
        unkept: Option<frame::Site>,
    },
    /// The new code would name what may be another class at the next call.
    NamesAnew,
}

impl From<Stop> for Refused {
    fn from(stop: Stop) -> Refused {
        Refused::Stopped { stop, unkept: None }
    }
}

/// Emit code for the outcome of a simulation. `builder`: the backend's graph, to be closed.
pub fn rewrite(
    py: Python<'_>,
    captured: &Captured,
    builder: Option<Box<dyn GraphBuilder>>,
    head: &Head,
    outcome: &Outcome,
    go_on: &dyn GoOn,
) -> Result<Rewritten, Refused> {
    let plan = match outcome {
        Outcome::Return(value) => Tail::Return(*value),
        Outcome::Break(why) => Tail::plan_break(py, captured, why.reason)?,
        Outcome::Raise(exception) => Tail::Raise(*exception),
    };
    let mut roots = plan.roots();
    roots.extend(uses::replay_roots(captured));
    roots.extend(&captured.writing);
    let uses = uses::count(captured, &roots);
    let carried = plan.generators();
    let kept = captured.told().next().map(|_| {
        let roots = [plan.roots(), uses::replay_roots_but_told(captured), captured.writing.clone()].concat();
        uses::count(captured, &roots)
    });
    let kept = kept.as_ref().unwrap_or(&uses);
    if let Some(made) = captured.abandoned_generator(|var| kept.count_of(var) > 0 || carried.contains(&var)) {
        let stop = Stop::fallback(Reason::Generator, "its clean-up runs when it dies");
        return Err(Refused::Stopped { stop, unkept: made });
    }
    if let Some(made) = captured.unmasked(|var| uses.count_of(var) > 0, &carried) {
        let stop = Stop::brk(Reason::OpaqueCall, "an iterator of C that lives on");
        return Err(Refused::Stopped { stop, unkept: made });
    }
    if let Some(made) = captured.kept_by_traceback(&carried) {
        let stop = Stop::fallback(Reason::Generator, "its clean-up runs when a traceback's frame dies");
        return Err(Refused::Stopped { stop, unkept: made });
    }
    let outputs = uses.graph_outputs(captured);
    let graph = finish_graph(py, captured, builder, &outputs)?;
    let lifetimes = Lifetimes::plan(captured, &plan, head.arguments.len());
    let ends = !captured.watched().is_empty() || !lifetimes.used_up.is_empty();
    let mut em = Emitter::new(py, captured, go_on, head, uses, lifetimes);
    let takes_over = graph.is_none() && head.listed_as.is_some() && ends;
    let emitted = emit_all(&mut em, &plan, takes_over, ends, graph.as_ref(), &outputs);
    let quiet = emitted.as_ref().map_or(0, |quiet| *quiet);
    // Whatever else there is to say: it could not serve another call.
    if em.names_anew {
        return Err(Refused::NamesAnew);
    }
    emitted?;
    let calls_out = plan.calls_out(captured);
    let shown = em.shown(outcome);
    let requests = std::mem::take(&mut em.requests);
    let (code, consts) = em.finish();
    // The interpreter takes it for granted from 3.12 on. It happens to the exception of a handler with a name, which is told.
    if let Some(local) = read_after_deletion(&code) {
        let name = code.varnames.get(local.0 as usize).map_or("", |name| name);
        return Err(Stop::fallback(Reason::Reconstruct, format!("{name}, which is read after it was deleted")).into());
    }
    let text = listing(py, &code, &consts, head.listed_as.as_deref());
    let code = assemble(py, &code, &consts).map_err(|e| Stop::fallback(Reason::InternalError, e))?;
    Ok(Rewritten { code: code.unbind(), graph, text, requests, calls_out, shown, quiet })
}

/// Computed tensors that are reached from these values and from what the program has done so far, each once.
pub(crate) fn computed_below(captured: &Captured, mut roots: Vec<VarId>) -> Vec<Symbol> {
    roots.extend(uses::replay_roots(captured));
    uses::count(captured, &roots).graph_outputs(captured)
}

/// A local that new code deletes, and may read behind that before it is bound again.
fn read_after_deletion(code: &Code) -> Option<Local> {
    let deleted = |(at, op): (usize, &Op)| match op {
        Op::DeleteFast(local) => Some((at, *local)),
        _ => None,
    };
    let deleted: Vec<(usize, Local)> = code.instrs.iter().map(|i| &i.op).enumerate().filter_map(deleted).collect();
    if deleted.is_empty() {
        return None;
    }
    let live = liveness(code);
    deleted.into_iter().find(|(at, local)| live.live_before(at + 1).local(*local)).map(|(_, local)| local)
}

/// The whole of the new code, in the order in which it runs. Gives how many instructions do nothing that anybody sees: what raises
/// there is none of the program's doing, and it may run as if there had been no new code.
fn emit_all(
    em: &mut Emitter<'_, '_>,
    plan: &Tail,
    takes_over: bool,
    ends: bool,
    graph: Option<&Arc<GraphFunction>>,
    outputs: &[Symbol],
) -> Result<usize, Stop> {
    em.prologue()?;
    if takes_over {
        em.take_over()?;
    }
    if let Some(graph) = graph {
        em.call_graph(graph, outputs)?;
    }
    em.ask_clocks(true)?;
    let quiet = em.position();
    em.pass_exceptions()?;
    em.replay_journal()?;
    // What lets go of values may have the program's code run.
    let changes_nothing = !ends && em.position() == quiet && matches!(plan, Tail::Return(_));
    plan.emit(em)?;
    let moves_state = takes_over || graph.is_some_and(|graph| graph.has_effects());
    Ok(match (moves_state, changes_nothing) {
        (true, _) => 0,
        (false, true) => em.position(),
        (false, false) => quiet,
    })
}

/// Close the backend's graph. `None`: nothing that was computed is needed.
fn finish_graph(
    py: Python<'_>,
    captured: &Captured,
    builder: Option<Box<dyn GraphBuilder>>,
    outputs: &[Symbol],
) -> Result<Option<Arc<GraphFunction>>, Stop> {
    let Some(builder) = builder else { return Ok(None) };
    if outputs.is_empty() && captured.graph.is_empty() {
        return Ok(None);
    }
    let used = used_inputs(captured);
    let (tensors, numbers): (Vec<usize>, Vec<usize>) = used.iter().partition(|at| **at < captured.graph.inputs.len());
    let values: Vec<Py<PyAny>> =
        outputs.iter().map(|s| captured.objects.get(py, captured.graph.values[&s.0]).unbind()).collect();
    let mut finished = builder
        .finish(py, &tensors, &values)
        .map_err(|e| Stop::Fallback(Why { reason: Reason::BackendFailed, ..e.told(py) }))?;
    let all: Vec<_> = captured.graph.all_inputs().collect();
    if numbers.iter().any(|at| captured.graph.examples.contains(&all[*at].symbol.0)) {
        // It was built with an example of each.
        finished.form = Form::ReplayOnly("a number that varies is an operand".to_owned());
    }
    let (inputs, input_vars) = used.iter().map(|at| (all[*at].symbol, all[*at].var)).unzip();
    let graph = GraphFunction::new(py, captured, inputs, input_vars, outputs.to_vec(), finished)?;
    Ok(Some(Arc::new(graph)))
}

/// The inputs that statements use, by number.
fn used_inputs(captured: &Captured) -> Vec<usize> {
    let mut uses = hashbrown::HashSet::new();
    for statement in &captured.graph.statements {
        uses.extend(statement.uses().into_iter().map(|s| s.0));
    }
    // The builder computes extents from the tensors themselves.
    for (_, inputs) in captured.graph.extents.iter().filter(|(symbol, _)| uses.contains(*symbol)).collect::<Vec<_>>() {
        uses.extend(inputs.iter().map(|input| captured.graph.inputs[*input].symbol.0));
    }
    for extent in captured.graph.claims.iter().flat_map(|claim| &claim.extents) {
        uses.extend(extent.inputs().into_iter().map(|input| captured.graph.inputs[input].symbol.0));
        uses.extend(extent.numbers().into_iter().map(|number| captured.graph.own[number].symbol.0));
    }
    let all = captured.graph.all_inputs().enumerate();
    all.filter(|(_, input)| uses.contains(&input.symbol.0)).map(|(at, _)| at).collect()
}

/// A code object as text, under another name if it has one for readers.
pub fn listing(py: Python<'_>, code: &Code, consts: &[Py<PyAny>], listed_as: Option<&str>) -> String {
    let texts = const_texts(py, consts);
    match listed_as {
        None => sot_opcodes::text::diffable(code, Some(&texts)),
        Some(name) => {
            let mut named = code.clone();
            named.name = name.to_owned();
            named.qualname = name.to_owned();
            sot_opcodes::text::diffable(&named, Some(&texts))
        }
    }
}

/// Constants as stable text: no addresses.
fn const_texts(py: Python<'_>, consts: &[Py<PyAny>]) -> Vec<String> {
    consts.iter().map(|c| stable_repr(c.bind(py))).collect()
}

/// Whether a variable is a computed tensor.
fn computed_symbol(captured: &Captured, var: VarId) -> Option<Symbol> {
    match &captured.var(var).kind {
        VarKind::Tensor(t) => match t.source {
            TensorSource::Computed { symbol, .. } => Some(symbol),
            TensorSource::Object(_) => None,
        },
        _ => None,
    }
}
