//! What a captured function did to the world, one variant for each way of changing an object.
//!
//! Operands are [`VarRef`]s into the translator's arena of Variables: this crate never sees an object. Two
//! different `VarRef`s are two different objects, and `Globals` are never also a `VarRef` of a journal.

use crate::{Slot, Target, VarRef};
use sot_tracker::ObjectId;
use std::fmt;

/// One change of one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mutation {
    /// `object.name = value`
    SetAttr {
        object: VarRef,
        name: String,
        value: VarRef,
    },
    /// `del object.name`
    DelAttr {
        object: VarRef,
        name: String,
    },
    /// `object[key] = value` of a list, a dict or anything else.
    SetItem {
        object: VarRef,
        key: VarRef,
        value: VarRef,
    },
    /// `del object[key]`
    DelItem {
        object: VarRef,
        key: VarRef,
    },
    /// `global name; name = value`
    SetGlobal {
        globals: ObjectId,
        name: String,
        value: VarRef,
    },
    /// `global name; del name`
    DelGlobal {
        globals: ObjectId,
        name: String,
    },
    /// `nonlocal x; x = value`
    SetCell {
        cell: VarRef,
        value: VarRef,
    },
    /// `nonlocal x; del x`
    ClearCell {
        cell: VarRef,
    },
    ListAppend {
        object: VarRef,
        value: VarRef,
    },
    ListInsert {
        object: VarRef,
        index: i64,
        value: VarRef,
    },
    ListPop {
        object: VarRef,
        index: i64,
    },
    ListExtend {
        object: VarRef,
        values: Vec<VarRef>,
    },
    ListClear {
        object: VarRef,
    },
    ListReverse {
        object: VarRef,
    },
    DictClear {
        object: VarRef,
    },
    DictPop {
        object: VarRef,
        key: VarRef,
    },
    /// `object[key] = value` of a key that has been hashed, or a member that is put into a set: beside `found`, the key that it was found to equal, or `None`: none.
    StoreHashed {
        object: VarRef,
        key: VarRef,
        hash: i64,
        value: VarRef,
        found: Option<VarRef>,
    },
    /// `del object[found]` of a key that was stored with this hash, or a member that is taken out of a set.
    DeleteHashed {
        object: VarRef,
        found: VarRef,
        hash: i64,
    },
    /// `object.move_to_end(found, last)` of a key that an ordered dict has.
    MoveHashed {
        object: VarRef,
        found: VarRef,
        last: bool,
    },
    /// A method of C that changes its object: `object.name(*args)`, whose result is known.
    Method {
        object: VarRef,
        name: String,
        args: Vec<VarRef>,
    },
    /// As `Method`, of a set: code of the program was asked for hashes, and whether members are equal, and said this. `cut`: then it raised
    /// an exception.
    Answered {
        object: VarRef,
        name: String,
        args: Vec<VarRef>,
        answers: Vec<i64>,
        cut: bool,
    },
    /// The iterator yielded `item`; `None`: it was asked once more and has ended for good.
    IterAdvance {
        iterator: VarRef,
        item: Option<VarRef>,
    },
    /// The `repr` of a container has come to its end.
    Written {
        object: VarRef,
    },
    /// A class that the simulation has made exists from here on, and its bases tell of it.
    ClassMade {
        class: VarRef,
    },
    /// An ambient mode of the framework becomes `value`.
    SetMode {
        mode: u32,
        value: VarRef,
    },
}

impl Mutation {
    /// Whose slot is written.
    pub fn target(&self) -> Target {
        match self {
            Mutation::SetGlobal { globals, .. } | Mutation::DelGlobal { globals, .. } => Target::Globals(*globals),
            Mutation::SetCell { cell, .. } | Mutation::ClearCell { cell } => Target::Object(*cell),
            Mutation::IterAdvance { iterator, .. } => Target::Object(*iterator),
            Mutation::ClassMade { class } => Target::Object(*class),
            Mutation::SetMode { mode, .. } => Target::Mode(*mode),
            Mutation::SetAttr { object, .. }
            | Mutation::DelAttr { object, .. }
            | Mutation::SetItem { object, .. }
            | Mutation::DelItem { object, .. }
            | Mutation::ListAppend { object, .. }
            | Mutation::ListInsert { object, .. }
            | Mutation::ListPop { object, .. }
            | Mutation::ListExtend { object, .. }
            | Mutation::ListClear { object }
            | Mutation::ListReverse { object }
            | Mutation::DictClear { object }
            | Mutation::DictPop { object, .. }
            | Mutation::StoreHashed { object, .. }
            | Mutation::DeleteHashed { object, .. }
            | Mutation::MoveHashed { object, .. }
            | Mutation::Method { object, .. }
            | Mutation::Answered { object, .. }
            | Mutation::Written { object } => Target::Object(*object),
        }
    }

    /// Which slot is written.
    pub fn slot(&self) -> Slot {
        match self {
            Mutation::SetAttr { object, name, .. } | Mutation::DelAttr { object, name } => {
                Slot::Attr(*object, name.clone())
            }
            Mutation::SetGlobal { globals, name, .. } | Mutation::DelGlobal { globals, name } => {
                Slot::Global(*globals, name.clone())
            }
            Mutation::SetCell { cell, .. } | Mutation::ClearCell { cell } => Slot::Cell(*cell),
            Mutation::IterAdvance { iterator, .. } => Slot::Position(*iterator),
            Mutation::Written { object } | Mutation::ClassMade { class: object } => Slot::Position(*object),
            Mutation::SetMode { mode, .. } => Slot::Mode(*mode),
            Mutation::SetItem { object, .. }
            | Mutation::DelItem { object, .. }
            | Mutation::ListAppend { object, .. }
            | Mutation::ListInsert { object, .. }
            | Mutation::ListPop { object, .. }
            | Mutation::ListExtend { object, .. }
            | Mutation::ListClear { object }
            | Mutation::ListReverse { object }
            | Mutation::DictClear { object }
            | Mutation::DictPop { object, .. }
            | Mutation::StoreHashed { object, .. }
            | Mutation::DeleteHashed { object, .. }
            | Mutation::MoveHashed { object, .. }
            | Mutation::Method { object, .. }
            | Mutation::Answered { object, .. } => Slot::Content(*object),
        }
    }

    /// The value that a later read of an attribute, global, cell or mode finds; `None` after a deletion and for other slots.
    pub fn stored(&self) -> Option<VarRef> {
        match self {
            Mutation::SetAttr { value, .. }
            | Mutation::SetGlobal { value, .. }
            | Mutation::SetCell { value, .. }
            | Mutation::SetMode { value, .. } => Some(*value),
            Mutation::DelAttr { .. }
            | Mutation::DelGlobal { .. }
            | Mutation::ClearCell { .. }
            | Mutation::SetItem { .. }
            | Mutation::DelItem { .. }
            | Mutation::ListAppend { .. }
            | Mutation::ListInsert { .. }
            | Mutation::ListPop { .. }
            | Mutation::ListExtend { .. }
            | Mutation::ListClear { .. }
            | Mutation::ListReverse { .. }
            | Mutation::DictClear { .. }
            | Mutation::DictPop { .. }
            | Mutation::StoreHashed { .. }
            | Mutation::DeleteHashed { .. }
            | Mutation::MoveHashed { .. }
            | Mutation::Method { .. }
            | Mutation::Answered { .. }
            | Mutation::IterAdvance { .. }
            | Mutation::Written { .. }
            | Mutation::ClassMade { .. } => None,
        }
    }

    /// Variables that must be at hand to replay the mutation: the target if it is one, then the operands.
    pub fn operands(&self) -> Vec<VarRef> {
        match self {
            Mutation::SetAttr { object, value, .. } => vec![*object, *value],
            Mutation::SetItem { object, key, value } => vec![*object, *key, *value],
            Mutation::DelItem { object, key } | Mutation::DictPop { object, key } => vec![*object, *key],
            Mutation::SetGlobal { value, .. } | Mutation::SetMode { value, .. } => vec![*value],
            Mutation::DelGlobal { .. } => Vec::new(),
            Mutation::StoreHashed { object, key, value, found, .. } => [*object, found.unwrap_or(*key), *value].into(),
            Mutation::DeleteHashed { object, found, .. } | Mutation::MoveHashed { object, found, .. } => {
                vec![*object, *found]
            }
            Mutation::SetCell { cell, value } => vec![*cell, *value],
            Mutation::ClearCell { cell } => vec![*cell],
            Mutation::DelAttr { object, .. } => vec![*object],
            Mutation::ListAppend { object, value } | Mutation::ListInsert { object, value, .. } => {
                vec![*object, *value]
            }
            Mutation::ListPop { object, .. }
            | Mutation::ListClear { object }
            | Mutation::ListReverse { object }
            | Mutation::DictClear { object } => vec![*object],
            Mutation::ListExtend { object, values } => std::iter::once(*object).chain(values.iter().copied()).collect(),
            Mutation::Method { object, args, .. } | Mutation::Answered { object, args, .. } => {
                std::iter::once(*object).chain(args.iter().copied()).collect()
            }
            Mutation::IterAdvance { iterator, .. } => vec![*iterator],
            Mutation::Written { object } | Mutation::ClassMade { class: object } => vec![*object],
        }
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |values: &[VarRef]| values.iter().map(VarRef::to_string).collect::<Vec<_>>().join(", ");
        let at = self.target();
        match self {
            Mutation::SetAttr { name, value, .. } => write!(f, "{at}.{name} = {value}"),
            Mutation::DelAttr { name, .. } => write!(f, "del {at}.{name}"),
            Mutation::SetItem { key, value, .. } => write!(f, "{at}[{key}] = {value}"),
            Mutation::DelItem { key, .. } => write!(f, "del {at}[{key}]"),
            Mutation::SetGlobal { name, value, .. } => write!(f, "{at}[{name:?}] = {value}"),
            Mutation::DelGlobal { name, .. } => write!(f, "del {at}[{name:?}]"),
            Mutation::SetCell { value, .. } => write!(f, "{at}.cell_contents = {value}"),
            Mutation::ClearCell { .. } => write!(f, "del {at}.cell_contents"),
            Mutation::ListAppend { value, .. } => write!(f, "{at}.append({value})"),
            Mutation::ListInsert { index, value, .. } => write!(f, "{at}.insert({index}, {value})"),
            Mutation::ListPop { index, .. } => write!(f, "{at}.pop({index})"),
            Mutation::ListExtend { values, .. } => write!(f, "{at}.extend([{}])", list(values)),
            Mutation::ListClear { .. } | Mutation::DictClear { .. } => {
                write!(f, "{at}.clear()")
            }
            Mutation::ListReverse { .. } => write!(f, "{at}.reverse()"),
            Mutation::DictPop { key, .. } => write!(f, "{at}.pop({key})"),
            Mutation::StoreHashed { key, value, found: None, .. } => write!(f, "{at}[{key}] = {value} (new)"),
            Mutation::StoreHashed { value, found: Some(found), .. } => write!(f, "{at}[{found}] = {value} (found)"),
            Mutation::DeleteHashed { found, .. } => write!(f, "del {at}[{found}] (found)"),
            Mutation::MoveHashed { found, last, .. } => write!(f, "{at}.move_to_end({found}, {last}) (found)"),
            Mutation::Method { name, args, .. } => write!(f, "{at}.{name}({})", list(args)),
            Mutation::Answered { name, args, answers, .. } => {
                write!(f, "{at}.{name}({}) ({} answers)", list(args), answers.len())
            }
            Mutation::IterAdvance { item: Some(item), .. } => write!(f, "next({at}) -> {item}"),
            Mutation::IterAdvance { item: None, .. } => write!(f, "next({at}) ends"),
            Mutation::Written { .. } => write!(f, "repr({at}) ends"),
            Mutation::ClassMade { .. } => write!(f, "class {at} is made"),
            Mutation::SetMode { value, .. } => write!(f, "{at} = {value}"),
        }
    }
}
