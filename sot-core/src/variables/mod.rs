//! Variables: what stands on the simulated stack.
//!
//! A [`Variable`] is a value of the simulated program together with its *tracker*: where the same value is found
//! again when the frame is entered the next time, or that it was computed. The kinds are a closed set, one
//! file each; [`Operations`] are the questions that every kind must answer, so a new kind does not compile until it
//! has answered (or taken the default answer: stop, with a reason).
//!
//! Vocabulary
//! - *Looking* at a variable ([`Executor::look`]) means that the outcome depends on its type (and, by kind, on its
//!   identity, length or keys): it leaves a guard. Moving a variable around does not.
//! - A *sourced* variable stands for an object that existed before the frame; a *virtual* one was made by the
//!   simulation and exists only if the rewritten code builds it.
//! - Mutable virtual state (items of a list, content of a cell, position of an iterator) lives in the variable;
//!   a mutation of a sourced object is in addition recorded in the journal.

mod bound;
mod builtin;
mod cell;
mod class;
mod constant;
mod exception;
mod function;
mod generator;
mod instance;
mod iterator;
mod layer;
mod mapping;
mod method;
mod module;
mod null;
mod previous;
mod sequence;
mod slice;
mod super_object;
mod tensor;
mod traceback;

pub use bound::BoundVar;
pub use builtin::BuiltinVar;
pub use cell::CellVar;
pub use class::ClassVar;
pub use constant::ConstantVar;
pub use exception::{ExceptionState, ExceptionVar};
pub use function::{FunctionVar, MadeFunction};
pub use generator::{GeneratorState, GeneratorVar};
pub use instance::InstanceVar;
pub use iterator::{Iteration, IteratorVar};
pub use layer::LayerVar;
pub use mapping::{DictVar, ViewVar, ViewWhat};
pub use method::MethodVar;
pub use module::ModuleVar;
pub use null::NullVar;
pub use previous::PreviousVar;
pub use sequence::{ListVar, TupleVar};
pub use slice::SliceVar;
pub use super_object::SuperVar;
pub use tensor::{TensorSource, TensorVar};
pub use traceback::TracebackVar;

pub use crate::objects::VarId;

use crate::awaits::Awaits;
use crate::executor::Executor;
use crate::stop::{Reason, Stop};
use enum_dispatch::enum_dispatch;
use pyo3::prelude::*;
use sot_tracker::{ObjectId, TrackerId};

/// A value and where it came from.
#[derive(Clone)]
pub struct Variable {
    pub kind: VarKind,
    pub tracker: TrackerId,
    /// The guards of *looking* have been left.
    pub looked: bool,
    /// The guards of reading the exact value (constants) have been left.
    pub valued: bool,
}

/// Call arguments.
#[derive(Clone, Default)]
pub struct Args {
    pub positional: Vec<VarId>,
    pub keywords: Vec<(String, VarId)>,
}

impl Args {
    pub fn positional(args: Vec<VarId>) -> Args {
        Args { positional: args, keywords: Vec::new() }
    }
    /// With a receiver put in front.
    pub fn with_first(&self, first: VarId) -> Args {
        let mut positional = Vec::with_capacity(self.positional.len() + 1);
        positional.push(first);
        positional.extend_from_slice(&self.positional);
        Args { positional, keywords: self.keywords.clone() }
    }
}

/// What a call came to.
pub enum Called {
    /// The result.
    Value(VarId),
    /// A frame was pushed; what becomes of its return value.
    Entered(Awaits),
}

/// All kinds of values.
#[enum_dispatch]
#[derive(Clone)]
pub enum VarKind {
    Constant(ConstantVar),
    Tensor(TensorVar),
    Tuple(TupleVar),
    List(ListVar),
    Dict(DictVar),
    View(ViewVar),
    Slice(SliceVar),
    Iterator(IteratorVar),
    Function(FunctionVar),
    Method(MethodVar),
    Bound(BoundVar),
    Builtin(BuiltinVar),
    Class(ClassVar),
    Module(ModuleVar),
    Layer(LayerVar),
    Instance(InstanceVar),
    Super(SuperVar),
    Cell(CellVar),
    Generator(GeneratorVar),
    Exception(ExceptionVar),
    Traceback(TracebackVar),
    Null(NullVar),
    Previous(PreviousVar),
}

fn unanswered<T>(kind: &str, question: &str) -> Result<T, Stop> {
    Err(Stop::brk(Reason::ValueKind, format!("{question} of {kind}")))
}

/// The questions that every kind answers. `me` is the variable that is asked.
#[enum_dispatch(VarKind)]
pub trait Operations {
    /// Name of the kind, for messages.
    fn kind_name(&self) -> &'static str;

    /// The exact class of the value.
    fn class<'py>(&self, ex: &mut Executor<'py>, me: VarId) -> Result<Bound<'py, PyAny>, Stop>;

    /// `bool(value)`.
    fn truth(&self, ex: &mut Executor<'_>, me: VarId) -> Result<bool, Stop> {
        let _ = (ex, me);
        unanswered(self.kind_name(), "truth")
    }

    /// `len(value)`.
    fn length(&self, ex: &mut Executor<'_>, me: VarId) -> Result<usize, Stop> {
        let _ = (ex, me);
        unanswered(self.kind_name(), "len()")
    }

    /// `value.name`; `None` where that raises AttributeError, known without running any code.
    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let _ = (ex, me);
        unanswered(self.kind_name(), &format!("attribute {name}"))
    }

    /// `value[key]`.
    fn subscript(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<VarId, Stop> {
        let _ = (ex, me, key);
        unanswered(self.kind_name(), "subscript")
    }

    /// `iter(value)`.
    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        let _ = (ex, me);
        unanswered(self.kind_name(), "iteration")
    }

    /// `value(*args, **kwargs)`.
    fn call(&self, ex: &mut Executor<'_>, me: VarId, args: &Args) -> Result<Called, Stop> {
        let _ = (ex, me, args);
        unanswered(self.kind_name(), "call")
    }

    /// The object behind a sourced variable whose identity is a guarded fact.
    fn pinned(&self) -> Option<ObjectId> {
        None
    }

    /// The object as an argument of a framework call: constants as they are, symbolic values for tensors.
    fn as_argument<'py>(&self, ex: &mut Executor<'py>, me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        let _ = (ex, me);
        unanswered(self.kind_name(), "use as an argument of a framework call")
    }
}
