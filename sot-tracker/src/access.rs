//! A [`Tracker`](crate::Tracker) without its base: what an evaluator does with the value at hand.
//!
//! Only [`Access::Slot`] and [`Access::CellContent`] can give "empty"; any other access either gives a value or
//! is missing, and an access into "empty" is missing.

use crate::{FunctionPart, ObjectId};
use std::fmt;

/// One step from a value to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    Slot(u32),
    Constant(ObjectId),
    Attr(String),
    InstanceDict,
    DictItem(ObjectId),
    DictKey(u32),
    SeqItem(i64),
    CellContent,
    FunctionPart(FunctionPart),
    TypeOf,
    MethodSelf,
    MethodFunction,
    IterPeek,
    IterSource,
}

impl Access {
    /// Whether a path starts here: the access needs no value.
    pub fn is_root(&self) -> bool {
        match self {
            Access::Slot(_) | Access::Constant(_) => true,
            Access::Attr(_)
            | Access::InstanceDict
            | Access::DictItem(_)
            | Access::DictKey(_)
            | Access::SeqItem(_)
            | Access::CellContent
            | Access::FunctionPart(_)
            | Access::TypeOf
            | Access::MethodSelf
            | Access::MethodFunction
            | Access::IterPeek
            | Access::IterSource => false,
        }
    }

    /// Whether the access can find nothing without the guard having failed.
    pub fn may_be_empty(&self) -> bool {
        match self {
            Access::Slot(_) | Access::CellContent => true,
            Access::Constant(_)
            | Access::Attr(_)
            | Access::InstanceDict
            | Access::DictItem(_)
            | Access::DictKey(_)
            | Access::SeqItem(_)
            | Access::FunctionPart(_)
            | Access::TypeOf
            | Access::MethodSelf
            | Access::MethodFunction
            | Access::IterPeek
            | Access::IterSource => false,
        }
    }

    /// Write the access applied to the text of its base (empty for a root).
    pub fn write(&self, f: &mut dyn fmt::Write, base: &str, names: &dyn crate::Names) -> fmt::Result {
        match self {
            Access::Slot(slot) => f.write_str(&names.slot(*slot)),
            Access::Constant(object) => f.write_str(&names.object(*object)),
            Access::Attr(name) => write!(f, "{base}.{name}"),
            Access::InstanceDict => write!(f, "{base}.__dict__"),
            Access::DictItem(key) => write!(f, "{base}[{}]", names.object(*key)),
            Access::DictKey(index) => write!(f, "list({base})[{index}]"),
            Access::SeqItem(index) => write!(f, "{base}[{index}]"),
            Access::CellContent => write!(f, "{base}.cell_contents"),
            Access::FunctionPart(part) => write!(f, "{base}.{}", part.as_str()),
            Access::TypeOf => write!(f, "type({base})"),
            Access::MethodSelf => write!(f, "{base}.__self__"),
            Access::MethodFunction => write!(f, "{base}.__func__"),
            Access::IterPeek => write!(f, "peek({base})"),
            Access::IterSource => write!(f, "source({base})"),
        }
    }
}
