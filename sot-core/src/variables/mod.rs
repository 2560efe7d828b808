//! Variables: what stands on the simulated stack.
//!
//! A [`Variable`] is a value of the simulated program together with its *tracker*: where the same value is found
//! again when the frame is entered the next time, or that it was computed. The kinds are a closed set. Here is what they are: data,
//! that may be read by whoever has it; what they answer to the machine is in `executor/kinds`, how they are built by new code in
//! `rewrite/rebuild.rs`.
//!
//! Vocabulary
//! - *Looking* at a variable (`Executor::look`) means that the outcome depends on its type (and, by kind, on its
//!   identity, length or keys): it leaves a guard. Moving a variable around does not.
//! - A *sourced* variable stands for an object that existed before the frame; a *virtual* one was made by the
//!   simulation and exists only if the rewritten code builds it.
//! - Mutable virtual state (items of a list, content of a cell, position of an iterator) lives in the variable;
//!   a mutation of a sourced object is in addition recorded in the journal.

mod callables;
mod containers;
mod frames;
mod iteration;
mod objects;

pub use callables::{
    BoundVar, BuiltinVar, ClassVar, FunctionVar, MadeClass, MadeFunction, MethodVar, NativeVar, SuperVar,
};
pub use containers::{
    ByteArrayVar, DequeVar, DictVar, ListVar, SetState, SetVar, SliceVar, TupleVar, ViewVar, ViewWhat,
};
pub use frames::{
    CellVar, EndedFrame, ExceptionState, ExceptionVar, FrameEnd, GeneratorState, GeneratorVar, GroupParts, NullVar,
    PassedFrame, PreviousVar, TracebackVar,
};
pub use iteration::{ENDED, Iteration, IteratorVar};
pub use objects::{ConstantVar, InstanceVar, LayerVar, ModuleVar, TensorSource, TensorVar};

pub use crate::objects::VarId;

use crate::awaits::Awaits;
use enum_dispatch::enum_dispatch;
use sot_tracker::{ObjectId, TrackerId};

/// A value and where it came from.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub enum VarKind {
    Constant(ConstantVar),
    Tensor(TensorVar),
    Tuple(TupleVar),
    List(ListVar),
    Dict(DictVar),
    Set(SetVar),
    Deque(DequeVar),
    ByteArray(ByteArrayVar),
    View(ViewVar),
    Slice(SliceVar),
    Iterator(IteratorVar),
    Function(FunctionVar),
    Method(MethodVar),
    Bound(BoundVar),
    Builtin(BuiltinVar),
    Native(NativeVar),
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

/// What a kind is by nature.
#[enum_dispatch(VarKind)]
pub trait Nature {
    /// Name of the kind, for messages.
    fn kind_name(&self) -> &'static str;

    /// Whether it stands for a mutable object that was there before the frame.
    fn existed(&self) -> bool {
        false
    }

    /// The object behind a sourced variable whose identity is a guarded fact.
    fn pinned(&self) -> Option<ObjectId> {
        None
    }
}
