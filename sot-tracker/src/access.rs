//! One read on the way to a value: what an evaluator does with the value at hand, without running user code.
//!
//! A closed set. A [`Tracker`](crate::Tracker) says what the read starts from; here is what is read.
//!
//! Only [`Access::Slot`] and [`Access::CellContent`] can give "empty"; any other access either gives a value or
//! is missing, and an access into "empty" is missing.

use crate::{Arithmetic, ObjectId};
use std::fmt;

/// A field of a function object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FunctionPart {
    Code,
    Globals,
    Defaults,
    KwDefaults,
    Closure,
}

impl FunctionPart {
    /// Name of the attribute.
    pub fn as_str(self) -> &'static str {
        match self {
            FunctionPart::Code => "__code__",
            FunctionPart::Globals => "__globals__",
            FunctionPart::Defaults => "__defaults__",
            FunctionPart::KwDefaults => "__kwdefaults__",
            FunctionPart::Closure => "__closure__",
        }
    }
}

/// One step from a value to another. `O`: an object, `N`: a name, in the form that the evaluator wants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Access<O = ObjectId, N = String> {
    /// Argument slot of the frame, or value slot of a continuation. May be empty.
    Slot(u32),
    /// Always this very object.
    Constant(O),
    /// Ordinary attribute of an instance, module or class, found without user code.
    Attr(N),
    /// `base.__dict__`
    InstanceDict,
    /// `base[key]` of a dict.
    DictItem(O),
    /// The index-th key of a dict, or member of a set, in order.
    DictKey(u32),
    /// The value of the index-th key of a dict.
    DictValue(u32),
    /// Item of a list or tuple; negative from the end.
    SeqItem(i64),
    /// Content of a cell. May be empty.
    CellContent,
    /// Field of a function.
    FunctionPart(FunctionPart),
    /// `type(base)`
    TypeOf,
    /// `base.__self__` of a bound method.
    MethodSelf,
    /// `base.__func__` of a bound method.
    MethodFunction,
    /// The item that an exact builtin iterator would yield next; the iterator does not move.
    IterPeek,
    /// The item that comes behind so many others, of an exact iterator of a list, a tuple or a range; the iterator does not move.
    IterAhead(u32),
    /// The sequence under an exact builtin iterator.
    IterSource,
    /// The list, dict or set that an exact builtin iterator runs over. Only guards ask.
    IterOver,
    /// One of the iterators that an `enumerate` or a `zip` advances. Only guards ask.
    IterUnder(u32),
    /// Of one or two numbers. The second one is another value, which the evaluator has, too.
    Arithmetic(Arithmetic),
}

impl<O, N> Access<O, N> {
    /// Whether the access can find nothing without the guard having failed.
    pub fn may_be_empty(&self) -> bool {
        match self {
            Access::Slot(_) | Access::CellContent => true,
            Access::Constant(_)
            | Access::Attr(_)
            | Access::InstanceDict
            | Access::DictItem(_)
            | Access::DictKey(_)
            | Access::DictValue(_)
            | Access::SeqItem(_)
            | Access::FunctionPart(_)
            | Access::TypeOf
            | Access::MethodSelf
            | Access::MethodFunction
            | Access::IterPeek
            | Access::IterAhead(_)
            | Access::IterSource
            | Access::IterOver
            | Access::IterUnder(_)
            | Access::Arithmetic(_) => false,
        }
    }

    /// The same with objects and names in another form.
    pub fn map<P, M>(&self, mut object: impl FnMut(&O) -> P, mut name: impl FnMut(&N) -> M) -> Access<P, M> {
        match self {
            Access::Slot(slot) => Access::Slot(*slot),
            Access::Constant(o) => Access::Constant(object(o)),
            Access::Attr(n) => Access::Attr(name(n)),
            Access::InstanceDict => Access::InstanceDict,
            Access::DictItem(key) => Access::DictItem(object(key)),
            Access::DictKey(index) => Access::DictKey(*index),
            Access::DictValue(index) => Access::DictValue(*index),
            Access::SeqItem(index) => Access::SeqItem(*index),
            Access::CellContent => Access::CellContent,
            Access::FunctionPart(part) => Access::FunctionPart(*part),
            Access::TypeOf => Access::TypeOf,
            Access::MethodSelf => Access::MethodSelf,
            Access::MethodFunction => Access::MethodFunction,
            Access::IterPeek => Access::IterPeek,
            Access::IterAhead(taken) => Access::IterAhead(*taken),
            Access::IterSource => Access::IterSource,
            Access::IterOver => Access::IterOver,
            Access::IterUnder(which) => Access::IterUnder(*which),
            Access::Arithmetic(op) => Access::Arithmetic(*op),
        }
    }
}

impl Access {
    /// Write the access applied to the text of its base (empty for a root). `operand`: the second number of an operation.
    pub fn write(&self, f: &mut dyn fmt::Write, base: &str, operand: &str, names: &dyn crate::Names) -> fmt::Result {
        match self {
            Access::Slot(slot) => f.write_str(&names.slot(*slot)),
            Access::Constant(object) => f.write_str(&names.object(*object)),
            Access::Attr(name) => write!(f, "{base}.{name}"),
            Access::InstanceDict => write!(f, "{base}.__dict__"),
            Access::DictItem(key) => write!(f, "{base}[{}]", names.object(*key)),
            Access::DictKey(index) => write!(f, "list({base})[{index}]"),
            Access::DictValue(index) => write!(f, "list({base}.values())[{index}]"),
            Access::SeqItem(index) => write!(f, "{base}[{index}]"),
            Access::CellContent => write!(f, "{base}.cell_contents"),
            Access::FunctionPart(part) => write!(f, "{base}.{}", part.as_str()),
            Access::TypeOf => write!(f, "type({base})"),
            Access::MethodSelf => write!(f, "{base}.__self__"),
            Access::MethodFunction => write!(f, "{base}.__func__"),
            Access::IterPeek => write!(f, "peek({base})"),
            Access::IterAhead(taken) => write!(f, "peek({base}, {taken})"),
            Access::IterSource => write!(f, "source({base})"),
            Access::IterOver => write!(f, "over({base})"),
            Access::IterUnder(which) => write!(f, "under({base}, {which})"),
            Access::Arithmetic(op) => op.write(f, base, operand),
        }
    }
}
