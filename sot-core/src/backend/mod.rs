//! The one open extension point: what a tensor framework tells the translator.
//!
//! A framework team implements [`Backend`] (what its objects are) and [`GraphBuilder`] (how a graph grows).
//! The translator simulates bytecode; whenever an operation on tensors is met it calls
//! [`GraphBuilder::call`] *at once* with symbolic values in place of tensors, so the framework's own graph is
//! built while opcodes are simulated and its shape inference answers the next instruction. There is no
//! second pass. The StatementIR that the translator writes beside it is for reading, tests and replay.
//!
//! Contract
//! - `begin` .. `finish`/drop brackets one capture. Whatever mode the framework needs for building (a static
//!   mode, a program guard) is entered in `begin` and left in `finish` or `Drop`, on every path.
//! - A builder never changes user state: an operation that would is refused with a [`BuildError`].
//! - If running a graph raises, the translator runs the original frame, so a failed run must leave no trace. A graph
//!   that changes anything beside giving outputs (running statistics, the random stream) says so in
//!   [`Finished::effects`], and the translator takes it back.
//! - A compiled graph gives what eager execution gives, bit for bit and attribute for attribute. The translator
//!   compares the two in the first calls ([`CompiledGraph::difference`]) and drops the compiled form where they
//!   differ; but numbers may agree by chance, so what is known to be inexact is [`Form::ReplayOnly`].
//! - Ambient modes that captured code changes ([`Backend::switch`]) are of the simulation alone: the builder is told, a replay
//!   changes them for its statements and puts them back, and rewritten code makes them what they are at the end.
//! - So are flags of tensors that captured code sets ([`Backend::is_flag`]): a replay sets them, and puts back those of its inputs.
//! - Aliasing is the builder's duty: if eager execution would give an output that shares memory with an
//!   input or with another output, the compiled graph must reproduce that, or `finish` answers
//!   [`Form::ReplayOnly`] and the statements are run eagerly one by one (always exact).
//! - Missing abilities default to a break reason, never to a guess.

mod defaults;
mod extents;
mod layers;
pub mod tracing;

use crate::code_unit::records::Promises;
use crate::stop::{Reason, Why};
pub use defaults::{Known, nothing_ambient};
pub use extents::{Extent, FreeAxis};
pub use layers::{LayerCall, LayerStore, Layers};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
pub use smallvec::SmallVec;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What the framework says an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A tensor with data (a parameter is a tensor).
    Tensor,
    /// A layer (module): callable, with parameters and state in instance dicts.
    Layer,
    /// A function of the framework that builds operations when called with symbolic values.
    Api,
    /// A function of the framework whose result depends only on its arguments' meta data and on guarded ambient
    /// state: answered by [`Backend::fold`] (`is_tensor`, `is_grad_enabled`, ...).
    Foldable,
    /// A function of the framework that changes an ambient mode of the thread and does nothing else ([`Backend::switch`]).
    Switch,
    /// A function of the framework whose call is one operation that acts ([`Acts`]) and gives None (`optimizer.step`). It may be given any
    /// objects: those that were there before are passed at run time.
    Acts,
    /// An immutable object of the framework that is compared by identity or `==` (a dtype, a place).
    Constant,
    /// A list of a class of C that extends list, holds numbers and nothing beside them (a shape): written and iterated as a list is. What
    /// its class does otherwise is asked of a new one, which calling the class with a list of the items makes.
    List,
    /// A class whose values are made of constants alone, never change, and have nothing but properties (`finfo`).
    Record,
    /// A class whose constructor is simulated like that of any class. Where it breaks, the call of the class does, for this reason: what
    /// makes a layer is one thing to a program, and runs as a whole.
    Maker(Why),
    /// Must run eagerly.
    Break(Why),
    /// Not the framework's: ordinary Python rules apply.
    Unknown,
}

/// What a graph is specialised on: shape and type of a tensor, and whatever else of it an operation may depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TensorMeta {
    /// Extents; -1 where unknown until run time.
    pub shape: SmallVec<[i64; 6]>,
    /// Its type, in the framework's words.
    pub dtype: Box<str>,
    /// Other facts in the framework's words: the place where it is, whether gradients flow to it. They are compared and shown as they are.
    pub facts: SmallVec<[Box<str>; 2]>,
}

impl TensorMeta {
    /// Of a framework where nothing but shape and type matters.
    pub fn new(shape: impl IntoIterator<Item = i64>, dtype: &str) -> TensorMeta {
        TensorMeta { shape: shape.into_iter().collect(), dtype: dtype.into(), facts: SmallVec::new() }
    }

    /// With one more fact; an empty one is none.
    #[must_use]
    pub fn with(mut self, fact: &str) -> TensorMeta {
        if !fact.is_empty() {
            self.facts.push(fact.into());
        }
        self
    }
}

impl fmt::Display for TensorMeta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.dtype)?;
        for (i, d) in self.shape.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            if *d < 0 { f.write_str("?")? } else { write!(f, "{d}")? }
        }
        f.write_str("]")?;
        self.facts.iter().try_for_each(|fact| write!(f, " {fact}"))
    }
}

/// A native check that an object is a tensor with the meta data seen at capture (exact type included).
pub trait TensorCheck: Send + Sync {
    /// Whether it is one. Asked at each call, of any object.
    fn matches(&self, tensor: Borrowed<'_, '_, PyAny>) -> bool;
}

/// A native check that the framework's ambient state (grad mode, amp, default dtype, ...) is that of the capture.
pub trait AmbientCheck: Send + Sync {
    /// Whether it is.
    fn matches(&self, py: Python<'_>) -> bool;
    /// One line per fact, for `explain`.
    fn describe(&self) -> Vec<String>;
}

/// What a program can tell of a tensor, by name.
pub type Parts<'py> = Vec<(&'static str, Bound<'py, PyAny>)>;

/// An ambient mode that captured code may change, by a number of the backend's own: an index of [`Backend::modes`].
pub type Mode = u32;

/// What a [`Kind::Switch`] call does.
pub struct Switch<'py> {
    /// The mode that it changes.
    pub mode: Mode,
    /// What the mode becomes. Values of a mode are immutable, and equal ones are one object.
    pub value: Bound<'py, PyAny>,
    /// What the call gives: a constant.
    pub gives: Bound<'py, PyAny>,
}

/// What the answer about a call may depend on, beside its arguments: the place in the program that the simulation is at.
pub struct Surroundings<'a, 'py> {
    /// Whether an object is a symbolic value.
    pub is_value: &'a dyn Fn(&Bound<'py, PyAny>) -> bool,
    /// What a mode is here.
    pub mode: &'a dyn Fn(Mode) -> PyResult<Bound<'py, PyAny>>,
    /// Whether the framework's own code asks.
    pub of_framework: bool,
}

/// What an operation is, as the four statements of StatementIR see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// `callee(*args)`, callee a framework function.
    Api,
    /// `args[0].name(*args[1:])`, or an operator: then `callee` is the function of module `operator`.
    Method,
    /// `callee(*args)`, callee a leaf layer.
    Layer,
}

/// What an operation changes that the graph has not made, and that stays changed: from the least to the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Acts {
    /// It changes nothing.
    #[default]
    Nothing,
    /// The memory of tensors.
    OnMemory,
    /// What the framework keeps, too: gradients, the state of an optimizer. No code of the program runs.
    OnState,
    /// It may call functions of the program, which may do anything (hooks).
    OnAnything,
}

/// How an argument of an operation is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given<'a> {
    /// By its position.
    At(usize),
    /// By its name.
    Named(&'a str),
}

/// One operation to append.
pub struct OpCall<'a, 'py> {
    /// How it is called.
    pub kind: CallKind,
    /// For messages and StatementIR: `framework.add`, `reshape`, `__add__`, `Conv2D`.
    pub name: &'a str,
    /// `None` for a method that is looked up on `args[0]`.
    pub callee: Option<&'a Bound<'py, PyAny>>,
    /// Python values with symbolic values in place of tensors, containers included.
    pub args: &'a Bound<'py, PyTuple>,
    /// The same, by name.
    pub kwargs: Option<&'a Bound<'py, PyDict>>,
    /// How far it may act ([`GraphBuilder::acts`]).
    pub may_act: Acts,
}

impl<'a> OpCall<'a, '_> {
    /// Its name without the modules that a function is in: `add` of `framework.add`.
    pub fn bare_name(&self) -> &'a str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }
}

/// A line of the user's program, innermost last: for the framework's own error messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFrame {
    /// As the code has it.
    pub file: std::sync::Arc<str>,
    /// Its name.
    pub function: std::sync::Arc<str>,
    /// From 1.
    pub line: u32,
}

/// The framework refused; the translator breaks the graph here.
#[derive(Debug)]
pub struct BuildError {
    /// For reports and counters.
    pub why: Why,
    /// The exception that the framework raised, if any: kept for reports, never shown to the user's program.
    pub cause: Option<Box<PyErr>>,
    /// What stands against the call is in what the function does inside, and not in what it is given: where it is written in Python, its
    /// body is simulated instead.
    pub inside: bool,
}

impl BuildError {
    /// A refusal without an exception of the framework.
    pub fn new(why: Why) -> BuildError {
        BuildError { why, cause: None, inside: false }
    }

    /// The operation `name` is refused, with this text.
    pub fn rejected(name: &str, text: impl fmt::Display) -> BuildError {
        BuildError::new(Why::new(Reason::ApiRejected, format!("{name}: {text}")))
    }

    /// Why, with what is behind it, for reports.
    pub(crate) fn told(self, py: Python<'_>) -> Why {
        let told = |error: Box<PyErr>| {
            let (class, text) = (error.get_type(py), error.value(py).to_string());
            let name = class.qualname().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
            let module = class.module().map_or_else(|_| "builtins".to_owned(), |module| module.to_string());
            let name = if module == "builtins" { name } else { format!("{module}.{name}") };
            if text.is_empty() { name.into() } else { format!("{name}: {text}").into() }
        };
        Why { cause: self.cause.map(told), ..self.why }
    }

    /// The framework raised while it was asked for the operation `name`.
    pub fn raised(py: Python<'_>, name: &str, cause: PyErr) -> BuildError {
        let refused = BuildError::rejected(name, cause.value(py));
        BuildError { cause: Some(Box::new(cause)), ..refused }
    }
}

/// The framework raised: so may eager execution.
impl From<PyErr> for BuildError {
    fn from(cause: PyErr) -> BuildError {
        let text = Python::attach(|py| cause.value(py).to_string());
        BuildError { cause: Some(Box::new(cause)), ..BuildError::new(Why::new(Reason::ApiRejected, text)) }
    }
}

/// What reading an attribute of a symbolic tensor gives.
pub enum Attr<'py> {
    /// A value that follows from guarded meta data; immutable.
    Constant(Bound<'py, PyAny>),
    /// A new mutable object at each read (a shape that is a list): a list or list subclass of constants.
    Fresh(Bound<'py, PyAny>),
    /// A new mutable object at each read, or a tuple, of the extents of a value some of which vary: `example` holds what they
    /// are at this call, as eager has it.
    Extents {
        /// What they are at this call.
        example: Bound<'py, PyAny>,
        /// How each is known.
        known_by: SmallVec<[Extent; 6]>,
    },
    /// A method; calling it appends a `call_method` statement.
    Method,
    /// An operation (`x.T`) that was appended; a symbolic value. Replayed as `getattr(x, name)`.
    Value(Bound<'py, PyAny>),
    /// An ordinary Python function of the tensor class that is simulated like any other function
    /// (bound to the tensor).
    Inline(Bound<'py, PyAny>),
    /// What C keeps beside the data of the tensor behind an input, and gives without an effect: it may be another one at each call, and
    /// no graph changes it.
    Field,
    /// What Python's own look-up finds: a property of the class, which is simulated, or an entry of the instance's dict.
    Default,
    /// What the framework keeps beside the tensor behind an input, and its own operations change ([`Acts::OnState`]): a gradient. It is None,
    /// or a tensor, of another object at each read; C gives it without an effect. Read when the graph runs ([`GraphBuilder::kept`]).
    Kept {
        /// How it is behind such an operation of this graph, if it is a tensor then and that can be told.
        expected: Option<TensorMeta>,
    },
    /// Only known at run time.
    Break(Why),
}

/// A graph under construction.
pub trait GraphBuilder {
    /// Add an input. Returns the symbolic value, which stands for `tensor` in calls. Inputs are numbered in order.
    fn input<'py>(&mut self, tensor: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, BuildError>;
    /// As [`GraphBuilder::input`], of a tensor whose extents along these axes may be others at each call, though at least 2. Whatever
    /// is refused from then on, or asks for such an extent of a value ([`Attr::Break`]), is asked once more in a graph whose extents
    /// are all fixed.
    fn input_that_varies<'py>(
        &mut self,
        _tensor: &Bound<'py, PyAny>,
        _axes: &[usize],
    ) -> Result<Bound<'py, PyAny>, BuildError> {
        Err(BuildError::new(Why::new(Reason::ApiRejected, "extents that vary")))
    }
    /// A number of the program that may be another one at each call, though at least 2, and is `now` in this one: from now on it may be
    /// an [`Extent`], by the number that is given back, and each graph with such a one is [`Form::ReplayOnly`]. What is refused
    /// from then on is asked once more in a graph without. `None`: extents are those of tensors alone.
    fn number_that_varies(&mut self, _py: Python<'_>, _now: i64) -> Option<usize> {
        None
    }
    /// How the extents of a value are known, where one of them varies. `None`: none does, or it is not known how.
    fn extents(&mut self, _value: &Bound<'_, PyAny>) -> Option<SmallVec<[Extent; 6]>> {
        None
    }
    /// What stands for an extent that varies, as an argument of operations that take extents ([`Backend::takes_extents`]). It is
    /// computed in the graph. `None`: they take numbers alone.
    fn extent<'py>(&mut self, _py: Python<'py>, _extent: &Extent) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// Append an operation. The result may be any structure of tuples, lists and dicts of symbolic values and constants.
    ///
    /// An operation that writes its first operand in place gives that same value back, or `None` where it gives nothing
    /// (`__setitem__`). The value stands for the tensor from then on as before, so it must keep its shape and type, and the graph is
    /// [`Form::ReplayOnly`] unless the compiled form writes the same memory. Where the memory is not one that the graph has made,
    /// it is refused unless it may act ([`OpCall::may_act`]).
    fn call<'py>(&mut self, op: &OpCall<'_, 'py>, at: &[UserFrame]) -> Result<Bound<'py, PyAny>, BuildError>;
    /// How the operation that was appended last *acts*: changes what the graph has not made, as a write to the memory of an
    /// input does. A graph with such operations is only replayed, in the order of the program, and what it has done stays done: a
    /// run that fails behind one is not repeated, the program goes on at the operation that failed. Behind one that acts on more than
    /// memory it is asked whether all that the capture has read is as it was; else the program goes on there.
    fn acts(&self) -> Acts {
        Acts::Nothing
    }
    /// Read an attribute of a symbolic value.
    fn getattr<'py>(
        &mut self,
        _value: &Bound<'py, PyAny>,
        name: &str,
        _at: &[UserFrame],
    ) -> Result<Attr<'py>, BuildError> {
        Ok(Attr::Break(Why::new(Reason::TensorAttribute, name)))
    }
    /// A symbolic value for what an attribute of the value of an input gives, which has said [`Attr::Kept`]: another at each read.
    fn kept<'py>(
        &mut self,
        _value: &Bound<'py, PyAny>,
        name: &str,
        _meta: &TensorMeta,
    ) -> Result<Bound<'py, PyAny>, BuildError> {
        Err(BuildError::new(Why::new(Reason::TensorAttribute, name)))
    }
    /// An ambient mode has another value for all that follows. The real mode stays as it is.
    fn switch(&mut self, mode: Mode, _value: &Bound<'_, PyAny>) -> Result<(), BuildError> {
        let why = Why::new(Reason::AmbientMode, format!("mode {mode} changes within a graph"));
        Err(BuildError::new(why))
    }
    /// The flag of a tensor ([`Backend::is_flag`]) has another value for all that follows. The tensor behind an input stays as it is.
    fn set_flag(&mut self, _tensor: &Bound<'_, PyAny>, name: &str, _on: bool) -> Result<(), BuildError> {
        Err(BuildError::new(Why::new(Reason::TensorAttribute, name)))
    }
    /// The class of the tensor that a symbolic value stands for, if it is another one than [`Backend::tensor_class`].
    fn class_of<'py>(&self, _value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// Whether an object is a symbolic value of this builder.
    fn is_value(&self, obj: &Bound<'_, PyAny>) -> bool;
    /// Meta data of a symbolic value.
    fn meta(&self, value: &Bound<'_, PyAny>) -> PyResult<TensorMeta>;
    /// Close the graph. `inputs`: numbers of the inputs that are passed at run time, in that order; the others are
    /// unused. Leaves the building mode whatever the outcome.
    fn finish(self: Box<Self>, py: Python<'_>, inputs: &[usize], outputs: &[Py<PyAny>])
    -> Result<Finished, BuildError>;
}

/// The form in which a closed graph runs.
pub enum Form {
    /// As the framework has compiled it, where that turns out to be faster.
    Compiled(Box<dyn CompiledGraph>),
    /// Its statements are called one by one, which is always exact: nothing else is, or there is no compiled form, for this reason.
    ReplayOnly(String),
}

/// A closed graph.
pub struct Finished {
    /// How it runs.
    pub form: Form,
    /// Operations in the framework's graph.
    pub op_count: usize,
    /// What a run, compiled or replayed, changes beside giving outputs; `None` for a pure graph.
    pub effects: Option<Box<dyn Effects>>,
}

impl Finished {
    /// A pure graph that is compiled.
    pub fn compiled(graph: impl CompiledGraph + 'static, op_count: usize) -> Finished {
        Finished { form: Form::Compiled(Box::new(graph)), op_count, effects: None }
    }

    /// A pure graph that is only replayed, and why.
    pub fn replay_only(why: impl Into<String>, op_count: usize) -> Finished {
        Finished { form: Form::ReplayOnly(why.into()), op_count, effects: None }
    }

    /// With these effects.
    #[must_use]
    pub fn with_effects(self, effects: Option<Box<dyn Effects>>) -> Finished {
        Finished { effects, ..self }
    }
}

/// What a run of a graph changes beside giving outputs. Pure graphs have none and pay nothing.
pub trait Effects: Send + Sync {
    /// Take down all that a run on these inputs may change.
    fn save<'py>(&self, py: Python<'py>, inputs: &[Borrowed<'_, 'py, PyAny>]) -> PyResult<Bound<'py, PyAny>>;
    /// Put it back: the same objects with the content that they had.
    fn restore<'py>(
        &self,
        py: Python<'py>,
        inputs: &[Borrowed<'_, 'py, PyAny>],
        saved: &Bound<'py, PyAny>,
    ) -> PyResult<()>;
    /// Whether what was taken down twice is the same.
    fn same<'py>(&self, a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> PyResult<bool>;
    /// Objects kept alive, for Python's cycle collector.
    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}
}

/// A graph that runs.
pub trait CompiledGraph: Send + Sync {
    /// Run on tensors (in the order of `finish`'s `inputs`) and give the outputs (in the order of `outputs`).
    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: &[Borrowed<'_, 'py, PyAny>],
    ) -> PyResult<SmallVec<[Bound<'py, PyAny>; 4]>>;
    /// By what a program could tell the compiled outputs from those of eager execution: a number, an attribute, whether
    /// gradients flow. Asked in the first calls; as exact as the framework can be. `None`: by nothing. By default what
    /// [`Backend::told_of`] tells of both is compared.
    fn difference<'py>(
        &self,
        _py: Python<'py>,
        compiled: &[Bound<'py, PyAny>],
        eager: &[Bound<'py, PyAny>],
    ) -> PyResult<Option<String>> {
        defaults::difference(compiled, eager)
    }
    /// By how much its first run takes longer than later ones, as far as is known: replay serves until that may pay.
    fn making_takes(&self) -> Duration {
        Duration::ZERO
    }
    /// The graph will be replayed from now on: what runs need may be freed.
    fn retire(&self, _py: Python<'_>) {}
    /// The framework's own text of the graph, for reports.
    fn text(&self, _py: Python<'_>) -> String {
        String::new()
    }
    /// Objects kept alive, for Python's cycle collector.
    fn traverse(&self, _visit: &mut dyn FnMut(&Py<PyAny>)) {}
}

/// A tensor framework. Used as `dyn`; one per process.
pub trait Backend: Send + Sync + 'static {
    /// What an object is. Must be cheap and must not run user code.
    fn classify(&self, obj: &Bound<'_, PyAny>) -> Kind;
    /// Shape, type and whatever else of a tensor an operation may depend on. It runs no code of the program.
    fn tensor_meta(&self, tensor: &Bound<'_, PyAny>) -> PyResult<TensorMeta>;
    /// The type whose instances are tensors, for `isinstance` on a symbolic value: the class of an input tensor is
    /// kept with it, the class of a computed one is this.
    fn tensor_class<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
    /// An empty graph, and the mode in which the framework builds one. [`tracing::Tracing`] is one for frameworks that have none.
    fn begin<'py>(&self, py: Python<'py>) -> PyResult<Box<dyn GraphBuilder>>;

    // Layers, and what is guarded.

    /// The framework's layers, if it has any ([`Kind::Layer`]).
    fn layers(&self) -> &dyn Layers {
        &layers::NoLayers
    }
    /// The check that is made of a tensor at each call. By default its class and meta data are compared, which takes longer than what a
    /// framework can do by itself.
    fn tensor_check(&self, tensor: &Bound<'_, PyAny>) -> PyResult<Box<dyn TensorCheck>> {
        Ok(Box::new(defaults::SameMeta::new(self, tensor)?))
    }
    /// As [`Backend::tensor_check`], of a tensor whose extents along these axes may be any within bounds: one graph serves them all
    /// ([`GraphBuilder::input_that_varies`]). `None`: each extent has a graph of its own.
    fn tensor_check_that_varies(
        &self,
        _tensor: &Bound<'_, PyAny>,
        _axes: &[FreeAxis],
    ) -> Option<PyResult<Box<dyn TensorCheck>>> {
        None
    }
    /// The axes of a tensor that the program has marked as varying, by the framework's own means.
    fn marked_axes(&self, _tensor: &Bound<'_, PyAny>) -> Vec<usize> {
        Vec::new()
    }
    /// The extent of a tensor along an axis, found without Python code; `None`: it is none, or has no such axis.
    fn extent(&self, _tensor: &Bound<'_, PyAny>, _axis: usize) -> Option<i64> {
        None
    }
    /// The ambient state as it is now. Where it is what it was before, give the same check again: a call asks each only once. By default
    /// there is none.
    fn ambient(&self, _py: Python<'_>) -> PyResult<Arc<dyn AmbientCheck>> {
        Ok(nothing_ambient())
    }
    /// Why nothing can be captured right now (the framework is already building a static graph, ...).
    fn unavailable(&self, _py: Python<'_>) -> Option<Why> {
        None
    }
    /// Whether tensors are members of sets and keys by their identity, whatever `==` gives: hashes tell them apart, and run no code
    /// of the user. `false`: a tensor as a member or key breaks the graph.
    fn tensors_hash_by_identity(&self, _py: Python<'_>) -> bool {
        false
    }
    /// Whether tensors of this class have a flag of this name that is read and set as an attribute and changes nothing but what
    /// becomes of later operations on the tensor. Its values are the two bools, and [`TensorCheck`] compares it.
    fn is_flag(&self, _class: &Bound<'_, PyAny>, _name: &str) -> bool {
        false
    }
    /// Whether a number (an exact int or float) as this argument of an operation, or as an item of a tuple or list there, decides nothing but
    /// numbers of its result, or that it is out of range: neither shape nor type, nor whether it is accepted. One that varies between calls is passed at run time then, where
    /// the graph is replayed; else it is a constant of the graph.
    fn takes_number(&self, _py: Python<'_>, _kind: CallKind, _name: &str, _at: Given<'_>) -> bool {
        false
    }
    /// Whether all ints in this argument of an operation, those in containers too, are extents or positions, for which
    /// [`GraphBuilder::extent`] may stand: with the same result as the number, to the last bit.
    fn takes_extents(&self, _py: Python<'_>, _kind: CallKind, _name: &str, _at: Given<'_>) -> bool {
        false
    }
    /// Whether an argument of an operation decides nothing that is known of its result, and may be an object that was there before, or a text
    /// that varies: it is passed at run time then. Where the program has added to a dict that such an object keeps, the keys come behind all
    /// other arguments, as a tuple.
    fn takes_at_run_time(&self, _kind: CallKind, _name: &str, _at: Given<'_>) -> bool {
        false
    }
    /// Whether operations change what instances of a class of the framework keep that they are given at run time
    /// ([`Backend::takes_at_run_time`]): code of the program does not look at them within a capture.
    fn is_kept_apart(&self, _class: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// The function of Python that is simulated where one of the framework's is called: it does the same by operations that graphs have, or
    /// breaks.
    fn stands_in_for<'py>(&self, _function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// Whether what a method of tensors of this name gives uses the memory of the tensor without holding it.
    fn borrows_memory(&self, _name: &str) -> bool {
        false
    }
    /// Whether an operation of this name that gives its first argument itself has done nothing to it (`tensor.astype` of the type that it has).
    fn may_do_nothing(&self, _name: &str) -> bool {
        false
    }
    /// Whether an operation that acts on this object runs no code of the program, as things are now. Asked before each that may
    /// ([`Acts::OnAnything`]). `callee`: the function, where it is none of the object's class alone. `reached`: the tensors that flow into
    /// the graph.
    fn acts_by_itself(
        &self,
        _callee: Option<&Bound<'_, PyAny>>,
        _on: &Bound<'_, PyAny>,
        _reached: &[Bound<'_, PyAny>],
    ) -> bool {
        false
    }
    /// Whether an operation that acts may change this attribute of a tensor, or of an object of the framework.
    fn is_changed_by_acts(&self, _object: &Bound<'_, PyAny>, _name: &str) -> bool {
        true
    }
    /// Whether an operation that acts may read this attribute of an object of the framework.
    fn is_read_by_acts(&self, _object: &Bound<'_, PyAny>, _name: &str) -> bool {
        true
    }
    /// Whether what was read of a tensor when a graph ran ([`Attr::Kept`]) is a tensor as the graph takes it for.
    fn is_like(&self, value: &Bound<'_, PyAny>, meta: &TensorMeta) -> bool {
        matches!(self.classify(value), Kind::Tensor) && self.tensor_meta(value).is_ok_and(|real| real == *meta)
    }
    /// All that a program can tell of a tensor, as parts by name: immutable values of Python that are equal if the program cannot tell
    /// them apart, and other tensors. It runs no code of the program. `None`: this is no tensor. Asked by `SOT_VERIFY=1`, and where a
    /// compiled graph does not say itself by what its outputs differ from those of eager execution.
    fn told_of<'py>(&self, _value: &Bound<'py, PyAny>) -> PyResult<Option<Parts<'py>>> {
        Ok(None)
    }
    /// The result of a [`Kind::Foldable`] function; arguments may contain symbolic values. It may be an object that the framework
    /// keeps, if [`Backend::ambient`] knows when it is another one.
    fn fold<'py>(
        &self,
        _callee: &Bound<'py, PyAny>,
        _args: &Bound<'py, PyTuple>,
        _kwargs: Option<&Bound<'py, PyDict>>,
        _at: &Surroundings<'_, 'py>,
    ) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// Names of the ambient modes that captured code may change, for StatementIR. Each is a fact that
    /// [`Backend::ambient`] checks, unless it says otherwise ([`Backend::is_mode_ambient`]).
    fn modes(&self) -> &'static [&'static str] {
        &[]
    }
    /// Whether [`Backend::ambient`] checks a mode. If not, captures that ask for it have a guard of their own.
    fn is_mode_ambient(&self, _mode: Mode) -> bool {
        true
    }
    /// The mode that an item of an object of the framework is, of the class of which nothing else is known.
    fn mode_of_item(&self, _object: &Bound<'_, PyAny>, _key: &str) -> Option<Mode> {
        None
    }
    /// What a mode is in this thread.
    fn mode<'py>(&self, py: Python<'py>, _mode: Mode) -> PyResult<Bound<'py, PyAny>> {
        Ok(py.None().into_bound(py))
    }
    /// Make a mode of this thread what [`Backend::mode`] gave, or a switch says.
    fn set_mode(&self, _mode: Mode, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        Ok(())
    }
    /// Whether operations depend on a mode while the modes are these: where they do not, neither builders nor replays are told what it
    /// is.
    fn mode_matters<'py>(
        &self,
        _py: Python<'py>,
        _mode: Mode,
        _at: &dyn Fn(Mode) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<bool> {
        Ok(true)
    }
    /// What a call of a [`Kind::Switch`] function does; `None` if it must run eagerly (it raises, say). It does not depend on the order of
    /// sets that are given, which is not known.
    fn switch<'py>(
        &self,
        _callee: &Bound<'py, PyAny>,
        _args: &Bound<'py, PyTuple>,
        _kwargs: Option<&Bound<'py, PyDict>>,
        _at: &Surroundings<'_, 'py>,
    ) -> Option<Switch<'py>> {
        None
    }
    /// Python code under these path prefixes is the framework's: never captured as a frame of its own.
    fn skip_paths(&self, _py: Python<'_>) -> Vec<String> {
        Vec::new()
    }
    /// Whether the graph breaks inside of a function of the framework. Where it does not, the call of the function is the break, as for
    /// the standard library: helpers that do much in Python and nothing on tensors. Nothing below an `__init__` is taken apart.
    fn is_taken_apart(&self, _file: &str, _function: &str) -> bool {
        true
    }
    /// Names of modules whose functions the framework was asked to leave alone, beside those given to `sot.ignore_module`.
    fn ignored_modules(&self, _py: Python<'_>) -> Vec<String> {
        Vec::new()
    }
    /// What the program has promised of a code object, by the framework's own means.
    fn promises(&self, _code: &Bound<'_, PyAny>) -> Promises {
        Promises::default()
    }
    /// All that was captured has been forgotten (`reset`): what the framework keeps for dead graphs may go.
    fn forgotten(&self, _py: Python<'_>) {}
}

static REGISTERED: OnceLock<Arc<dyn Backend>> = OnceLock::new();

/// Set the process's backend. The first one stays.
pub fn register(backend: Arc<dyn Backend>) -> bool {
    REGISTERED.set(backend).is_ok()
}

/// New code asks the framework something, and there is none: it was made by a process that had one.
pub(crate) fn none_registered() -> PyErr {
    PyRuntimeError::new_err("sot: no framework is registered; import the package that registers one")
}

static MODULE: OnceLock<String> = OnceLock::new();

/// The Python functions are in this module, or in the package around it.
pub(crate) fn python_functions_are_in(module: &str) {
    let _ = MODULE.set(module.split('.').next().unwrap_or(module).to_owned());
}

/// A Python function of the translator, as a program calls it: for messages.
pub(crate) fn function_name(function: &str) -> String {
    format!("{}.{function}", MODULE.get().map_or("sot", String::as_str))
}

/// The method that a program writes of a layer ([`Layers::method`]).
pub(crate) fn layer_method() -> &'static str {
    registered().map_or("__call__", |backend| backend.layers().method())
}

/// The process's backend.
pub fn registered() -> Option<&'static Arc<dyn Backend>> {
    REGISTERED.get()
}
