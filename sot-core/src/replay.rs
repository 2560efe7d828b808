//! Replay: the statements of a graph, called one by one on real tensors.
//!
//! What runs are the statements that are printed: [`sot_sir`]'s own. Python's side of them is beside them, by statement:
//! who is called ([`Action`]), and the objects that literals and labels stand for, in the order in which the text of the
//! operands names them (arguments, keywords, result). A symbol is a register of its own number.

use crate::backend::{Acts, Extent, Kind, Mode, TensorMeta, registered};
use crate::captured::{Callee, Captured, Claim, What};
use crate::cpython::{Slots, call_method_vectorcall, call_slots, module, signals};
use crate::watch::{self, Ended, Progress};
use hashbrown::HashMap;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::*;
use smallvec::SmallVec;
use sot_sir::{Operand, Sir, Statement, StatementKind, Symbol};
use std::sync::atomic::{AtomicBool, Ordering};

/// Outputs, in the order of the graph's.
pub(crate) type Outputs<'py> = SmallVec<[Bound<'py, PyAny>; 4]>;

/// Why a graph is closed whose framework was wrong about shapes.
pub(crate) const WRONG_SHAPE: &str = "the framework has inferred another shape";

/// Why a run gave no outputs.
pub(crate) enum Failure {
    /// An operation raised.
    Raised(PyErr),
    /// The form that ran is not what it was built to be: a panic, a wrong number of outputs.
    Broken(String),
    /// An operation was not to be run, and none before has acted.
    Untouched(PyErr),
    /// Either of the first two, behind an operation that acts.
    Acted(PyErr, Progress),
}

/// Whether an exception is none of the operation's that was under way: Ctrl-C, or a signal handler's.
pub(crate) fn from_outside(py: Python<'_>, error: &PyErr) -> bool {
    !error.is_instance_of::<PyException>(py) || signals::raised_by_handler(py, error)
}

/// How far a run that failed has come.
pub enum Came {
    /// It is as if it had never begun.
    Nowhere,
    /// Some of its operations have acted.
    Behind(Progress),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Failure {
        Failure::Raised(error)
    }
}

impl Failure {
    /// Whether somebody outside asks the program to stop.
    pub(crate) fn interrupts(&self, py: Python<'_>) -> bool {
        matches!(self, Failure::Raised(error) | Failure::Acted(error, _) if from_outside(py, error))
    }

    /// The same, of a run that has acted before.
    fn behind(self, at: usize, registers: Registers<'_>) -> Failure {
        let values = registers.into_iter().map(|value| value.map(Bound::unbind)).collect();
        Failure::Acted(self.into_error().0, Progress { at, values, ended: Ended::Failed, rest: None })
    }

    /// Whether the run has changed what stays changed.
    pub(crate) fn has_acted(&self) -> bool {
        matches!(self, Failure::Acted(..))
    }

    pub(crate) fn into_error(self) -> (PyErr, Came) {
        match self {
            Failure::Raised(error) | Failure::Untouched(error) => (error, Came::Nowhere),
            Failure::Broken(why) => (PyRuntimeError::new_err(format!("sot: a graph is closed: {why}")), Came::Nowhere),
            Failure::Acted(error, progress) => (error, Came::Behind(progress)),
        }
    }
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

/// Whether a callable is a function of module `operator`.
fn is_of_operators(callee: &Bound<'_, PyAny>) -> bool {
    let own = module(callee.py(), "_operator").ok();
    callee.is_exact_instance_of::<PyCFunction>()
        && own.is_some_and(|own| callee.getattr("__self__").is_ok_and(|of| of.is(&own)))
}

/// Who is called.
enum Action {
    Object(Py<PyAny>),
    /// An operator function, of two operands.
    Operator(Operator),
    /// A method of the first operand.
    Method(Py<PyString>),
    /// No call: an attribute of the operand.
    Attribute(Py<PyString>),
    /// An ambient mode of the framework becomes the operand.
    Mode(Mode),
    /// A flag of the first operand becomes the second.
    Flag(Py<PyString>),
}

/// What the program was told of a result.
enum Fact {
    Attribute(Py<PyString>, Py<PyAny>),
    Dtype(Box<str>),
}

impl Fact {
    fn of(py: Python<'_>, captured: &Captured, what: &What) -> Fact {
        match what {
            What::Attribute(name, object) => {
                Fact::Attribute(PyString::intern(py, name).unbind(), captured.objects.get(py, *object).unbind())
            }
            What::Dtype(dtype) => Fact::Dtype(dtype.clone()),
        }
    }

    /// What it is about, if it is not so.
    fn differs(&self, tensor: &Bound<'_, PyAny>) -> Option<String> {
        let py = tensor.py();
        match self {
            Fact::Attribute(name, told) => {
                let told = told.bind(py);
                let same = tensor.getattr(name).and_then(|real| Ok(real.is(told) || real.eq(told)?));
                (!same.unwrap_or(false)).then(|| name.to_string())
            }
            Fact::Dtype(told) => {
                let meta = registered()?.tensor_meta(tensor);
                (!meta.is_ok_and(|meta| meta.dtype == *told)).then(|| "dtype".to_owned())
            }
        }
    }
}

/// Modes as they were before a run, and are again when this is dropped, whatever came of the run.
struct KeptModes<'py> {
    before: SmallVec<[(Mode, Bound<'py, PyAny>); 1]>,
}

impl<'py> KeptModes<'py> {
    fn keep(py: Python<'py>, modes: &[Mode]) -> PyResult<KeptModes<'py>> {
        let mut before = SmallVec::new();
        if let Some(backend) = registered() {
            for mode in modes {
                before.push((*mode, backend.mode(py, *mode)?));
            }
        }
        Ok(KeptModes { before })
    }

    /// As they were before the run, until what this gives is dropped.
    fn exchanged(&self, py: Python<'py>) -> PyResult<KeptModes<'py>> {
        let mut now = KeptModes { before: SmallVec::new() };
        let Some(backend) = registered() else { return Ok(now) };
        for (mode, value) in &self.before {
            now.before.push((*mode, backend.mode(py, *mode)?));
            backend.set_mode(*mode, value)?;
        }
        Ok(now)
    }
}

impl KeptModes<'_> {
    /// All are tried; the first error is told.
    fn give_back(&mut self) -> PyResult<()> {
        let mut done = Ok(());
        for (mode, value) in self.before.drain(..) {
            done = done.and(match registered() {
                Some(backend) => backend.set_mode(mode, &value),
                None => Err(crate::backend::none_registered()),
            });
        }
        done
    }
}

impl Drop for KeptModes<'_> {
    fn drop(&mut self) {
        // A panic goes through, which is what is told.
        let _ = self.give_back();
    }
}

/// A tensor, the name of a flag, and its value.
type FlagOf<'a, 'py> = (Bound<'py, PyAny>, &'a Py<PyString>, Bound<'py, PyAny>);

/// Flags of inputs as they were before a run, and are again when this is dropped.
struct KeptFlags<'a, 'py> {
    before: SmallVec<[FlagOf<'a, 'py>; 1]>,
}

impl<'a, 'py> KeptFlags<'a, 'py> {
    fn keep(py: Python<'py>, flags: &'a [(usize, Py<PyString>)], args: Slots<'_>) -> PyResult<KeptFlags<'a, 'py>> {
        let mut before = SmallVec::new();
        for (position, name) in flags {
            if let Some(tensor) = args.get(py, *position) {
                before.push((tensor.to_owned(), name, tensor.getattr(name.bind(py))?));
            }
        }
        Ok(KeptFlags { before })
    }

    /// As they were before the run, until what this gives is dropped.
    fn exchanged(&self, py: Python<'py>) -> PyResult<KeptFlags<'a, 'py>> {
        let mut now = KeptFlags { before: SmallVec::new() };
        for (tensor, name, value) in &self.before {
            now.before.push((tensor.clone(), *name, tensor.getattr(name.bind(py))?));
            tensor.setattr(name.bind(py), value)?;
        }
        Ok(now)
    }
}

impl KeptFlags<'_, '_> {
    /// All are tried; the first error is told.
    fn give_back(&mut self) -> PyResult<()> {
        let mut done = Ok(());
        for (tensor, name, value) in self.before.drain(..) {
            done = done.and(tensor.setattr(name.bind(tensor.py()), value));
        }
        done
    }
}

impl Drop for KeptFlags<'_, '_> {
    fn drop(&mut self) {
        // A panic goes through, which is what is told.
        let _ = self.give_back();
    }
}

/// What a run changes and gives back.
struct Entered<'a, 'py> {
    modes: KeptModes<'py>,
    flags: KeptFlags<'a, 'py>,
}

impl<'py> Entered<'_, 'py> {
    /// Do something as if the run had not changed anything yet: guards are about the start of the call, and so are captures of it.
    fn as_before<R>(&self, py: Python<'py>, then: impl FnOnce() -> R) -> PyResult<R> {
        let mut modes = self.modes.exchanged(py)?;
        let mut flags = self.flags.exchanged(py)?;
        let done = then();
        flags.give_back().and(modes.give_back())?;
        Ok(done)
    }
}

/// Python's side of a statement.
struct Step {
    action: Action,
    keywords: Vec<Py<PyString>>,
    objects: Vec<Py<PyAny>>,
    /// What the program was told of shapes of the result.
    claims: Vec<Claim>,
    /// What else it was told.
    told: Vec<(Symbol, Fact)>,
    /// Registers that no later statement needs.
    dead: Vec<Symbol>,
    acts: Acts,
    expects: Option<TensorMeta>,
}

impl Step {
    /// Whether its result is as the capture took it for.
    fn is_as_expected(&self, statement: &Statement, registers: &Registers<'_>) -> bool {
        let Some(meta) = &self.expects else { return true };
        let mut results = statement.result.symbols().into_iter().map(|symbol| registers[symbol.0 as usize].as_ref());
        let is_like = |value: Option<&Bound<'_, PyAny>>| {
            value.is_some_and(|value| registered().is_some_and(|backend| backend.is_like(value, meta)))
        };
        results.all(is_like)
    }
}

/// Whether a tensor has the shape that the program was told.
fn is_shape(tensor: &Bound<'_, PyAny>, extents: &[Extent], measured: &Measured<'_>) -> bool {
    let Some(backend) = registered() else { return true };
    let real = |axis| backend.extent(tensor, axis);
    let agrees = |(axis, extent): (usize, &Extent)| match extent {
        Extent::Fixed => real(axis).is_some(),
        extent => real(axis) == measured.extent(extent),
    };
    if extents.iter().enumerate().all(agrees) && real(extents.len()).is_none() {
        return true;
    }
    // A framework may not know how to find them fast.
    let agrees = |(extent, real): (&Extent, &i64)| match extent {
        Extent::Fixed => true,
        extent => measured.extent(extent).is_none_or(|extent| extent == *real),
    };
    let shape = backend.tensor_meta(tensor).map(|meta| meta.shape);
    shape.is_ok_and(|shape| shape.len() == extents.len() && extents.iter().zip(&shape).all(agrees))
}

/// What extents are computed of: tensors by their number in the graph, and numbers of the program by theirs.
struct Measured<'py> {
    inputs: HashMap<usize, Bound<'py, PyAny>>,
    own: HashMap<usize, Bound<'py, PyAny>>,
}

impl Measured<'_> {
    /// What an extent is. `None`: nobody can tell.
    fn extent(&self, extent: &Extent) -> Option<i64> {
        let of_input = |input, axis| registered()?.extent(self.inputs.get(&input)?, axis);
        let of_number = |number| self.own.get(&number)?.extract().ok();
        extent.value(&of_input, &of_number)
    }
}

/// Python's side of a graph.
pub(crate) struct Replay {
    registers: usize,
    /// The modes that statements change.
    modes: Vec<Mode>,
    /// The flags of inputs that statements set, by the position of the input.
    flags: Vec<(usize, Py<PyString>)>,
    /// The number of each input in the graph, if it is a tensor.
    numbers: Vec<Option<usize>>,
    /// The number of each input among the extents that are numbers of the program.
    own: Vec<Option<usize>>,
    steps: Vec<Step>,
    /// Whether a run has been asked for what the program was told.
    asked: AtomicBool,
    /// The first statement that acts.
    pub(crate) first_act: Option<usize>,
    pub(crate) acts_on_state: bool,
    /// Tensors of the leaf layers that it calls, where it acts on more than memory.
    of_leaves: Vec<Py<PyAny>>,
}

/// The values of symbols, by number.
type Registers<'py> = SmallVec<[Option<Bound<'py, PyAny>>; 32]>;

/// The objects of a statement, each taken in its turn.
type Objects<'a> = std::slice::Iter<'a, Py<PyAny>>;

impl Replay {
    pub(crate) fn build(py: Python<'_>, captured: &Captured, sir: &Sir) -> Replay {
        let symbols = sir.statements.iter().flat_map(|s| s.uses().into_iter().chain(s.result.symbols()));
        let last = symbols.chain(sir.inputs.iter().copied()).map(|symbol| symbol.0 as usize + 1).max();
        let behind = captured.graph.behind.iter();
        let mut facts: HashMap<usize, Vec<(Symbol, Fact)>> = HashMap::new();
        for told in &captured.graph.told {
            facts.entry(told.behind).or_default().push((told.of, Fact::of(py, captured, &told.what)));
        }
        let mut last_uses = sir.last_uses();
        // What the program holds at a statement that may fail is there until then.
        for (at, dead) in last_uses.clone().into_iter().enumerate() {
            for symbol in dead {
                if let Some(until) = captured.graph.held.get(&symbol.0).filter(|until| **until > at) {
                    last_uses[at].retain(|other| *other != symbol);
                    last_uses[(*until).min(sir.statements.len() - 1)].push(symbol);
                }
            }
        }
        let statements = sir.statements.iter().enumerate().zip(behind).zip(last_uses);
        let steps = statements.map(|(((at, statement), behind), dead)| Step {
            action: Action::of(py, captured, statement, behind.callee),
            keywords: statement.kwargs.iter().map(|(name, _)| PyString::intern(py, name).unbind()).collect(),
            claims: {
                let symbols = statement.result.symbols();
                captured.graph.claims.iter().filter(|claim| symbols.contains(&claim.of)).cloned().collect()
            },
            told: facts.remove(&at).unwrap_or_default(),
            objects: behind.objects.iter().map(|id| captured.objects.get(py, *id).unbind()).collect(),
            dead,
            acts: behind.acts,
            expects: behind.expects.clone(),
        });
        let (mut modes, mut flagged): (Vec<Mode>, Vec<usize>) = (Vec::new(), Vec::new());
        for behind in &captured.graph.behind {
            match behind.callee {
                Callee::Mode { mode, .. } if !modes.contains(&mode) => modes.push(mode),
                Callee::Flag { flag, .. } if !flagged.contains(&flag) => flagged.push(flag),
                _ => {}
            }
        }
        let input = |flag: &usize| {
            let flag = &captured.flags[*flag];
            let symbol = captured.graph.inputs.iter().find(|input| input.var == flag.tensor)?.symbol;
            let position = sir.inputs.iter().position(|input| *input == symbol)?;
            Some((position, PyString::intern(py, &flag.name).unbind()))
        };
        let flags = flagged.iter().filter_map(input).collect();
        let number = |symbol: &Symbol| captured.graph.inputs.iter().position(|input| input.symbol == *symbol);
        let numbers = sir.inputs.iter().map(number).collect();
        let own = |symbol: &Symbol| captured.graph.own.iter().position(|input| input.symbol == *symbol);
        let own = sir.inputs.iter().map(own).collect();
        Replay {
            registers: last.unwrap_or(0),
            modes,
            flags,
            numbers,
            own,
            steps: steps.collect(),
            asked: AtomicBool::new(false),
            first_act: captured.graph.first_act(),
            acts_on_state: captured.graph.acts_on_state(),
            of_leaves: if captured.graph.acts_on_state() { tensors_of_leaves(py, captured, sir) } else { Vec::new() },
        }
    }

    /// `mark`: names the calls of the graph.
    pub(crate) fn run<'py>(
        &self,
        py: Python<'py>,
        sir: &Sir,
        args: Slots<'_>,
        mark: usize,
    ) -> Result<Outputs<'py>, Failure> {
        if self.acts_on_state && watch::of(mark).is_none() {
            return Err(Failure::Broken("nobody would go on behind an operation".to_owned()));
        }
        let modes = KeptModes::keep(py, &self.modes)?;
        let mut entered = Entered { modes, flags: KeptFlags::keep(py, &self.flags, args)? };
        let outputs = self.run_statements(py, sir, (args, &entered), mark);
        // Where it cannot be as it was, the graph has failed: then the program runs as plain Python, and meets the error itself.
        let given_back = entered.flags.give_back().and(entered.modes.give_back());
        let outputs = outputs?;
        given_back?;
        Ok(outputs)
    }

    /// What extents of this call are computed of.
    fn measured<'py>(&self, py: Python<'py>, args: Slots<'_>) -> Measured<'py> {
        let by_number = |numbers: &[Option<usize>]| {
            let numbered = numbers.iter().enumerate();
            numbered.filter_map(|(at, number)| Some(((*number)?, args.get(py, at)?.to_owned()))).collect()
        };
        Measured { inputs: by_number(&self.numbers), own: by_number(&self.own) }
    }

    fn run_statements<'py>(
        &self,
        py: Python<'py>,
        sir: &Sir,
        (args, entered): (Slots<'_>, &Entered<'_, 'py>),
        mark: usize,
    ) -> Result<Outputs<'py>, Failure> {
        let mut registers = Registers::new();
        registers.resize(self.registers, None);
        for (i, input) in sir.inputs.iter().enumerate() {
            registers[input.0 as usize] = args.get(py, i).map(|a| a.to_owned());
        }
        let mut measured = None;
        let asks = !self.asked.load(Ordering::Relaxed);
        for (at, (statement, step)) in sir.statements.iter().zip(&self.steps).enumerate() {
            let ran = match step.acts {
                Acts::Nothing | Acts::OnMemory => step.run(py, statement, &mut registers),
                Acts::OnState | Acts::OnAnything => {
                    self.run_watched(py, (at, statement), &mut registers, (args, entered, mark))
                }
            };
            match (ran, self.first_act) {
                (Ok(()), _) => {}
                (Err(failure @ Failure::Acted(..)), _) => return Err(failure),
                (Err(Failure::Untouched(error)), _) => return Err(Failure::Raised(error)),
                // Some write a part before they fail.
                (Err(failure), Some(act)) if at >= act => return Err(failure.behind(at, registers)),
                (Err(failure), _) => return Err(failure),
            }
            if !step.is_as_expected(statement, &registers) {
                if let Some(watch) = watch::of(mark) {
                    watch.gives_way();
                }
                let error = PyRuntimeError::new_err("sot: nobody has read an attribute of a graph");
                if self.first_act.is_none_or(|act| at < act) {
                    return Err(Failure::Raised(error));
                }
                return Err(Failure::Acted(error, progress_at(&registers, at, Ended::Before)));
            }
            for Claim { of, extents } in &step.claims {
                if let Some(tensor) = &registers[of.0 as usize]
                    && !is_shape(tensor, extents, measured.get_or_insert_with(|| self.measured(py, args)))
                {
                    let what = format!("{WRONG_SHAPE} of {}", statement.name);
                    return Err(self.told_wrong(what, at, &registers));
                }
            }
            for (of, fact) in step.told.iter().filter(|_| asks) {
                if let Some(what) = registers[of.0 as usize].as_ref().and_then(|tensor| fact.differs(tensor)) {
                    let what = format!("the framework has inferred another {what} of {}", statement.name);
                    return Err(self.told_wrong(what, at, &registers));
                }
            }
            for symbol in &step.dead {
                registers[symbol.0 as usize] = None;
            }
        }
        self.asked.store(true, Ordering::Relaxed);
        Ok(sir.outputs.iter().map(|output| registers[output.0 as usize].clone().expect("an output")).collect())
    }

    /// What a run comes to where the program was told something wrong of a result: behind an operation that acts it goes on from there.
    fn told_wrong(&self, what: String, at: usize, registers: &Registers<'_>) -> Failure {
        let broken = Failure::Broken(what);
        match self.first_act.is_some_and(|act| act <= at) {
            true => Failure::Acted(broken.into_error().0, progress_at(registers, at + 1, Ended::Behind)),
            false => broken,
        }
    }

    /// Run what may change what the capture has read.
    fn run_watched<'py>(
        &self,
        py: Python<'py>,
        (at, statement): (usize, &Statement),
        registers: &mut Registers<'py>,
        (args, entered, mark): (Slots<'_>, &Entered<'_, 'py>, usize),
    ) -> Result<(), Failure> {
        let step = &self.steps[at];
        let unwatched = || Failure::Broken("nobody watches an operation".to_owned());
        let watch = watch::of(mark).ok_or_else(unwatched)?;
        if step.acts == Acts::OnAnything && self.calls_out(py, step, statement, registers, args) {
            watch.gives_way();
            let error = PyRuntimeError::new_err("sot: nobody has run an operation of a graph");
            // Before the first that acts it is as if the run had never begun.
            return Err(match self.first_act == Some(at) {
                true => Failure::Untouched(error),
                false => Failure::Acted(error, progress_at(registers, at, Ended::Before)),
            });
        }
        entered.as_before(py, || watch.begins(py))?;
        step.run(py, statement, registers)?;
        if entered.as_before(py, || watch.is_as_it_was(py))? {
            return Ok(());
        }
        let mut progress = progress_at(registers, at + 1, Ended::Behind);
        progress.rest = entered.as_before(py, || watch.goes_on(py, &progress))?;
        if progress.rest.is_none() {
            // What it holds itself is not what it was (a gradient that is cleared), or another thread has done something.
            return Ok(());
        }
        let error = PyRuntimeError::new_err("sot: nobody has gone on behind an operation of a graph");
        Err(Failure::Acted(error, progress))
    }

    /// Whether an operation will call functions of the program.
    fn calls_out<'py>(
        &self,
        py: Python<'py>,
        step: &Step,
        statement: &Statement,
        registers: &Registers<'py>,
        args: Slots<'_>,
    ) -> bool {
        let on = match statement.args.first() {
            Some(Operand::Symbol(on)) => registers[on.0 as usize].as_ref(),
            _ => None,
        };
        let callee = match &step.action {
            Action::Object(callee) => Some(callee.bind(py)),
            _ => None,
        };
        let tensors = self.numbers.iter().enumerate().filter(|(_, number)| number.is_some());
        let given = tensors.filter_map(|(at, _)| args.get(py, at).map(|tensor| tensor.to_owned()));
        let reached: Vec<_> = given.chain(self.of_leaves.iter().map(|tensor| tensor.bind(py).clone())).collect();
        let by_itself = |on| registered().is_some_and(|backend| backend.acts_by_itself(callee, on, &reached));
        !on.is_some_and(by_itself)
    }

    pub(crate) fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.of_leaves.iter().for_each(&mut *visit);
        for step in &self.steps {
            if let Action::Object(callee) = &step.action {
                visit(callee);
            }
            step.objects.iter().for_each(&mut *visit);
            for (_, fact) in &step.told {
                if let Fact::Attribute(_, object) = fact {
                    visit(object);
                }
            }
        }
    }
}

/// How far a run has come that ends at a statement without an error of its own.
fn progress_at(registers: &Registers<'_>, at: usize, ended: Ended) -> Progress {
    let values = registers.iter().map(|value| value.as_ref().map(|value| value.clone().unbind())).collect();
    Progress { at, values, ended, rest: None }
}

/// The tensors in what leaf layers hold.
fn tensors_of_leaves(py: Python<'_>, captured: &Captured, sir: &Sir) -> Vec<Py<PyAny>> {
    let Some(backend) = registered() else { return Vec::new() };
    let mut tensors = Vec::new();
    for (statement, behind) in sir.statements.iter().zip(&captured.graph.behind) {
        if let (StatementKind::Layer, Callee::Object(layer)) = (statement.kind, behind.callee) {
            let state = backend.layers().leaf_state(&captured.objects.get(py, layer)).unwrap_or_default();
            let held = state.iter().flat_map(|dict| dict.values());
            tensors.extend(held.filter(|value| backend.classify(value) == Kind::Tensor).map(Bound::unbind));
        }
    }
    tensors
}

impl Step {
    fn run<'py>(&self, py: Python<'py>, statement: &Statement, registers: &mut Registers<'py>) -> Result<(), Failure> {
        let mut objects = self.objects.iter();
        let mut values: SmallVec<[Bound<'py, PyAny>; 8]> = SmallVec::with_capacity(statement.args.len());
        for arg in &statement.args {
            values.push(value(py, arg, registers, &mut objects)?);
        }
        let result = if let (Action::Operator(operator), [left, right]) = (&self.action, values.as_slice()) {
            operator(left, right)?
        } else if self.keywords.is_empty() {
            self.action.call(py, &values)?
        } else {
            let kwargs = PyDict::new(py);
            for (name, (_, operand)) in self.keywords.iter().zip(&statement.kwargs) {
                kwargs.set_item(name, value(py, operand, registers, &mut objects)?)?;
            }
            self.action.call_with(py, values, &kwargs)?
        };
        store(&statement.result, result, registers, &mut objects)
    }
}

impl Action {
    fn of(py: Python<'_>, captured: &Captured, statement: &Statement, callee: Callee) -> Action {
        let name = || PyString::intern(py, &statement.name).unbind();
        match callee {
            Callee::Method => Action::Method(name()),
            Callee::Attribute => Action::Attribute(name()),
            Callee::Mode { mode, .. } => Action::Mode(mode),
            Callee::Flag { flag, .. } => Action::Flag(PyString::intern(py, &captured.flags[flag].name).unbind()),
            Callee::Object(id) => {
                let callee = captured.objects.get(py, id);
                let binary = statement.kind == StatementKind::Method && statement.args.len() == 2;
                // A method of this name may be one that the class has no longer.
                match operator(&statement.name).filter(|_| binary && is_of_operators(&callee)) {
                    Some(operator) => Action::Operator(operator),
                    None => Action::Object(callee.unbind()),
                }
            }
        }
    }

    fn call<'py>(&self, py: Python<'py>, values: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Action::Object(callee) => call_slots(py, callee.bind(py), Slots::from_bound(values)),
            Action::Operator(operator) => operator(&values[0], &values[1]),
            Action::Method(name) => call_method_vectorcall(&values[0], name.bind(py), Slots::from_bound(&values[1..])),
            Action::Attribute(name) => values[0].getattr(name),
            Action::Mode(mode) => {
                let backend = registered().ok_or_else(crate::backend::none_registered)?;
                backend.set_mode(*mode, &values[0])?;
                Ok(py.None().into_bound(py))
            }
            Action::Flag(name) => {
                values[0].setattr(name.bind(py), &values[1])?;
                Ok(py.None().into_bound(py))
            }
        }
    }

    fn call_with<'py>(
        &self,
        py: Python<'py>,
        mut values: SmallVec<[Bound<'py, PyAny>; 8]>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Action::Object(callee) => callee.bind(py).call(PyTuple::new(py, values)?, Some(kwargs)),
            Action::Method(name) | Action::Attribute(name) => {
                let receiver = values.remove(0);
                receiver.getattr(name)?.call(PyTuple::new(py, values)?, Some(kwargs))
            }
            Action::Operator(_) | Action::Mode(_) | Action::Flag(_) => unreachable!("an operator takes no keywords"),
        }
    }
}

/// The next object of a statement.
fn next<'py>(py: Python<'py>, objects: &mut Objects<'_>) -> Bound<'py, PyAny> {
    objects.next().expect("an object for each literal and label").bind(py).clone()
}

/// The value of an operand.
fn value<'py>(
    py: Python<'py>,
    operand: &Operand,
    registers: &[Option<Bound<'py, PyAny>>],
    objects: &mut Objects<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let values = |items: &[Operand], objects: &mut Objects<'_>| {
        items.iter().map(|item| value(py, item, registers, objects)).collect::<PyResult<Vec<_>>>()
    };
    Ok(match operand {
        Operand::Symbol(symbol) => registers[symbol.0 as usize].clone().expect("defined before used"),
        Operand::Literal(_) | Operand::Object { .. } => next(py, objects),
        Operand::Tuple(items) => PyTuple::new(py, values(items, objects)?)?.into_any(),
        Operand::List(items) => PyList::new(py, values(items, objects)?)?.into_any(),
        Operand::Dict(entries) => {
            let dict = PyDict::new(py);
            for (key, item) in entries {
                let key = value(py, key, registers, objects)?;
                dict.set_item(key, value(py, item, registers, objects)?)?;
            }
            dict.into_any()
        }
        Operand::Slice(parts) => py.get_type::<PySlice>().call1(PyTuple::new(py, values(&parts[..], objects)?)?)?,
    })
}

/// Take a result apart. Another structure than at capture means that this is not the graph that was captured.
fn store<'py>(
    pattern: &Operand,
    result: Bound<'py, PyAny>,
    registers: &mut [Option<Bound<'py, PyAny>>],
    objects: &mut Objects<'_>,
) -> Result<(), Failure> {
    let count = |wanted: usize| match result.len() {
        Ok(got) if got == wanted => Ok(()),
        Ok(got) => Err(Failure::Broken(format!("an operation gave {got} results instead of {wanted}"))),
        Err(_) => Err(Failure::Broken(format!("an operation gave one result instead of {wanted}"))),
    };
    let missing = |_: PyErr| Failure::Broken("an operation gave other results".to_owned());
    match pattern {
        Operand::Symbol(symbol) => registers[symbol.0 as usize] = Some(result),
        Operand::Tuple(items) | Operand::List(items) => {
            count(items.len())?;
            for (i, item) in items.iter().enumerate() {
                store(item, result.get_item(i).map_err(missing)?, registers, objects)?;
            }
        }
        Operand::Dict(entries) => {
            count(entries.len())?;
            for (_, item) in entries {
                // Keys of a result are constants.
                let key = next(result.py(), objects);
                store(item, result.get_item(key).map_err(missing)?, registers, objects)?;
            }
        }
        // It is what it was at capture.
        Operand::Literal(_) | Operand::Object { .. } => {
            objects.next();
        }
        Operand::Slice(_) => {}
    }
    Ok(())
}
