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
pub(super) use sequence::{Picked, pick};

use super::Executor;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use sot_tracker::TrackerId;

fn unanswered<T>(kind: &str, question: &str) -> Result<T, Stop> {
    Err(Stop::brk(Reason::ValueKind, format!("{question} of {kind}")))
}

/// Items of a dict or a list from before the frame that are looked at: each call would check all of them, and tables of this size are
/// there to be changed.
pub(super) const MANY: usize = 4096;

/// A method that no simulation knows.
fn method_of_c(kind: &str, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
    match ex.method_of_instance_of_c(me, name, args)? {
        Some(called) => Ok(called),
        None => Err(Stop::brk(Reason::Builtin, format!("{name} of {kind}"))),
    }
}

/// What says that an attribute is missing where nobody knows the words.
fn no_words(name: &str) -> Result<Stop, Stop> {
    Err(Stop::brk(Reason::WouldRaise, format!("attribute {name}")))
}

impl<'py> Executor<'py> {
    /// The words of a real object that lacks the attribute.
    fn words_of(&mut self, found: PyResult<Bound<'py, PyAny>>, name: &str) -> Result<Stop, Stop> {
        match found {
            Err(error) if error.is_instance_of::<PyAttributeError>(self.py) => {
                let text = error.value(self.py).to_string();
                Ok(self.raise_error::<PyAttributeError>(&text))
            }
            _ => no_words(name),
        }
    }
}

/// Where a value is looked at for the first time.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub tracker: TrackerId,
    /// The path is the object itself.
    pub given: bool,
    /// The path leads through constant objects, so that what is found is guarded by its identity.
    pub pinned: bool,
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

    /// `value.name(*args, **kwargs)`, of a value whose methods are C's.
    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        method_of_c(self.kind_name(), ex, me, name, args)
    }

    /// `reversed(value)`.
    fn reversed(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        let _ = (ex, me);
        Err(Stop::brk(Reason::Builtin, format!("reversed() of {}", self.kind_name())))
    }

    /// `value.name = new`
    fn set_attribute(&self, ex: &mut Executor<'_>, me: VarId, name: &str, new: VarId) -> Result<(), Stop> {
        let _ = (ex, me, name, new);
        Err(Stop::brk(Reason::Mutation, format!("attribute of {}", self.kind_name())))
    }

    /// `value[key] = new`
    fn set_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId, new: VarId) -> Result<(), Stop> {
        let _ = (ex, me, key, new);
        Err(Stop::brk(Reason::Mutation, format!("item of {}", self.kind_name())))
    }

    /// `del value[key]`
    fn delete_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<(), Stop> {
        let _ = (ex, me, key);
        Err(Stop::brk(Reason::Mutation, format!("item of {}", self.kind_name())))
    }

    /// AttributeError, as the interpreter words it where a look-up, which ran no code at all, has found nothing; a break where a
    /// class of the framework words it.
    fn no_attribute(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Stop, Stop> {
        ex.no_attribute_of_object(me, name)
    }

    /// The guards that the first look at a value leaves: on its type, and by kind on its identity, length or keys.
    fn look(&self, ex: &mut Executor<'_>, me: VarId, at: Place) -> Result<(), Stop>;

    /// The parts of a value that may be made of constants only; `None`: it is not.
    fn plain_parts(&self, ex: &mut Executor<'_>, me: VarId) -> Result<Option<Vec<VarId>>, Stop> {
        let _ = (ex, me);
        Ok(None)
    }

    /// Whether the value is one object as long as it lives, whose id the program may ask for.
    fn has_an_id(&self, ex: &mut Executor<'_>, me: VarId) -> Result<bool, Stop> {
        let _ = (ex, me);
        Ok(false)
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

    fn call_method(&self, ex: &mut Executor<'_>, me: VarId, name: &str, args: &Args) -> Result<Called, Stop> {
        asked!(self, kind => kind.call_method(ex, me, name, args))
    }

    fn reversed(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        asked!(self, kind => kind.reversed(ex, me))
    }

    fn set_attribute(&self, ex: &mut Executor<'_>, me: VarId, name: &str, new: VarId) -> Result<(), Stop> {
        asked!(self, kind => kind.set_attribute(ex, me, name, new))
    }

    fn set_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId, new: VarId) -> Result<(), Stop> {
        asked!(self, kind => kind.set_item(ex, me, key, new))
    }

    fn delete_item(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<(), Stop> {
        asked!(self, kind => kind.delete_item(ex, me, key))
    }

    fn no_attribute(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Stop, Stop> {
        asked!(self, kind => kind.no_attribute(ex, me, name))
    }

    fn look(&self, ex: &mut Executor<'_>, me: VarId, at: Place) -> Result<(), Stop> {
        asked!(self, kind => kind.look(ex, me, at))
    }

    fn plain_parts(&self, ex: &mut Executor<'_>, me: VarId) -> Result<Option<Vec<VarId>>, Stop> {
        asked!(self, kind => kind.plain_parts(ex, me))
    }

    fn has_an_id(&self, ex: &mut Executor<'_>, me: VarId) -> Result<bool, Stop> {
        asked!(self, kind => kind.has_an_id(ex, me))
    }
}
