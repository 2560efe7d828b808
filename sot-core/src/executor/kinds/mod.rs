//! What each kind of value answers to the machine: one file a kind.
//!
//! The kinds are a closed set ([`VarKind`]); [`Operations`] are the questions that every kind must answer, so a new kind does
//! not compile until it has answered (or taken the default answer: stop, with a reason).

mod bound;
mod builtin;
mod byte_array;
mod cell;
mod class;
mod constant;
mod deque;
mod exception;
mod function;
mod generator;
mod instance;
mod iterator;
mod layer;
mod mapping;
mod method;
mod module;
mod native;
mod null;
mod previous;
mod sequence;
mod set;
mod slice;
mod super_object;
mod tensor;
mod traceback;

pub(super) use mapping::KeyIndex;

use super::Executor;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;

fn unanswered<T>(kind: &str, question: &str) -> Result<T, Stop> {
    Err(Stop::brk(Reason::ValueKind, format!("{question} of {kind}")))
}

/// The questions that every kind answers. `me` is the variable that is asked.
pub(super) trait Operations: Nature {
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

    /// The object as an argument of a framework call: constants as they are, symbolic values for tensors.
    fn as_argument<'py>(&self, ex: &mut Executor<'py>, me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        let _ = (ex, me);
        unanswered(self.kind_name(), "use as an argument of a framework call")
    }
}

/// The answer of whichever kind it is.
macro_rules! asked {
    ($kind:expr, $of:ident => $answer:expr) => {
        match $kind {
            VarKind::Constant($of) => $answer,
            VarKind::Tensor($of) => $answer,
            VarKind::Tuple($of) => $answer,
            VarKind::List($of) => $answer,
            VarKind::Dict($of) => $answer,
            VarKind::Set($of) => $answer,
            VarKind::Deque($of) => $answer,
            VarKind::ByteArray($of) => $answer,
            VarKind::View($of) => $answer,
            VarKind::Slice($of) => $answer,
            VarKind::Iterator($of) => $answer,
            VarKind::Function($of) => $answer,
            VarKind::Method($of) => $answer,
            VarKind::Bound($of) => $answer,
            VarKind::Builtin($of) => $answer,
            VarKind::Native($of) => $answer,
            VarKind::Class($of) => $answer,
            VarKind::Module($of) => $answer,
            VarKind::Layer($of) => $answer,
            VarKind::Instance($of) => $answer,
            VarKind::Super($of) => $answer,
            VarKind::Cell($of) => $answer,
            VarKind::Generator($of) => $answer,
            VarKind::Exception($of) => $answer,
            VarKind::Traceback($of) => $answer,
            VarKind::Null($of) => $answer,
            VarKind::Previous($of) => $answer,
        }
    };
}

impl Operations for VarKind {
    fn class<'py>(&self, ex: &mut Executor<'py>, me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        asked!(self, kind => kind.class(ex, me))
    }

    fn truth(&self, ex: &mut Executor<'_>, me: VarId) -> Result<bool, Stop> {
        asked!(self, kind => kind.truth(ex, me))
    }

    fn length(&self, ex: &mut Executor<'_>, me: VarId) -> Result<usize, Stop> {
        asked!(self, kind => kind.length(ex, me))
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        asked!(self, kind => kind.getattr(ex, me, name))
    }

    fn subscript(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<VarId, Stop> {
        asked!(self, kind => kind.subscript(ex, me, key))
    }

    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        asked!(self, kind => kind.iterate(ex, me))
    }

    fn call(&self, ex: &mut Executor<'_>, me: VarId, args: &Args) -> Result<Called, Stop> {
        asked!(self, kind => kind.call(ex, me, args))
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        asked!(self, kind => kind.as_argument(ex, me))
    }
}
