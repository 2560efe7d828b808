//! What a captured function did to the world, one variant for each way of changing an object.
//!
//! Operands are [`VarRef`]s into the translator's arena of Variables: this crate never sees an object. Two
//! different `VarRef`s are two different objects, and `Globals` are never also a `VarRef` of a journal.

use crate::slot::SlotKey;
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
        /// It was taken out of the object's own dict, which is what replays it: interpreters up to 3.10 share the keys of dicts among the
        /// instances of a class until an attribute is deleted.
        by_dict: bool,
    },
    /// `object.__dict__[name] = value` of a name for which the class of the object has a descriptor, which is not asked.
    SetInDict {
        object: VarRef,
        name: String,
        value: VarRef,
    },
    /// `del object.__dict__[name]` of such a name.
    DelInDict {
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

/// What a mutation writes and takes, whatever it does.
struct Parts<'a> {
    slot: SlotKey<'a>,
    /// The value that a later read of the slot finds.
    stored: Option<VarRef>,
    /// What is needed beside the object, in its order: these, then `others`.
    taken: [Option<VarRef>; 2],
    others: &'a [VarRef],
}

impl Mutation {
    /// The one list of all ways to change an object.
    fn parts(&self) -> Parts<'_> {
        let nothing = |slot| Parts { slot, stored: None, taken: [None; 2], others: &[] };
        let stores =
            |slot, value: &VarRef| Parts { stored: Some(*value), taken: [Some(*value), None], ..nothing(slot) };
        let takes = |object: &VarRef, taken| Parts { taken, ..nothing(SlotKey::Content(*object)) };
        match self {
            Mutation::SetAttr { object, name, value } => stores(SlotKey::Attr(*object, name), value),
            Mutation::DelAttr { object, name, .. } => nothing(SlotKey::Attr(*object, name)),
            Mutation::SetInDict { object, name, value } => stores(SlotKey::InDict(*object, name), value),
            Mutation::DelInDict { object, name } => nothing(SlotKey::InDict(*object, name)),
            Mutation::SetGlobal { globals, name, value } => stores(SlotKey::Global(*globals, name), value),
            Mutation::DelGlobal { globals, name } => nothing(SlotKey::Global(*globals, name)),
            Mutation::SetCell { cell, value } => stores(SlotKey::Cell(*cell), value),
            Mutation::ClearCell { cell } => nothing(SlotKey::Cell(*cell)),
            Mutation::SetMode { mode, value } => stores(SlotKey::Mode(*mode), value),
            Mutation::IterAdvance { iterator: object, .. }
            | Mutation::Written { object }
            | Mutation::ClassMade { class: object } => nothing(SlotKey::Position(*object)),
            Mutation::SetItem { object, key, value } => takes(object, [Some(*key), Some(*value)]),
            Mutation::DelItem { object, key } | Mutation::DictPop { object, key } => takes(object, [Some(*key), None]),
            Mutation::StoreHashed { object, key, value, found, .. } => {
                takes(object, [Some(found.unwrap_or(*key)), Some(*value)])
            }
            Mutation::DeleteHashed { object, found, .. } | Mutation::MoveHashed { object, found, .. } => {
                takes(object, [Some(*found), None])
            }
            Mutation::ListAppend { object, value } | Mutation::ListInsert { object, value, .. } => {
                takes(object, [Some(*value), None])
            }
            Mutation::ListPop { object, .. }
            | Mutation::ListClear { object }
            | Mutation::ListReverse { object }
            | Mutation::DictClear { object } => takes(object, [None; 2]),
            Mutation::ListExtend { object, values: others }
            | Mutation::Method { object, args: others, .. }
            | Mutation::Answered { object, args: others, .. } => Parts { others, ..takes(object, [None; 2]) },
        }
    }

    /// Whose slot is written.
    pub fn target(&self) -> Target {
        self.parts().slot.target()
    }

    /// Which slot is written.
    pub fn slot(&self) -> Slot {
        self.parts().slot.to_slot()
    }

    /// The value that a later read of an attribute, global, cell or mode finds; `None` after a deletion and for other slots.
    pub fn stored(&self) -> Option<VarRef> {
        self.parts().stored
    }

    /// Variables that must be at hand to replay the mutation: the target if it is one, then the operands.
    pub fn operands(&self) -> Vec<VarRef> {
        let Parts { slot, taken, others, .. } = self.parts();
        let target = match slot.target() {
            Target::Object(object) => Some(object),
            Target::Globals(_) | Target::Mode(_) => None,
        };
        target.into_iter().chain(taken.into_iter().flatten()).chain(others.iter().copied()).collect()
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |values: &[VarRef]| values.iter().map(VarRef::to_string).collect::<Vec<_>>().join(", ");
        let at = self.target();
        match self {
            Mutation::SetAttr { name, value, .. } => write!(f, "{at}.{name} = {value}"),
            Mutation::DelAttr { name, by_dict: false, .. } => write!(f, "del {at}.{name}"),
            Mutation::SetInDict { name, value, .. } => write!(f, "{at}.__dict__[{name:?}] = {value}"),
            Mutation::DelAttr { name, .. } | Mutation::DelInDict { name, .. } => {
                write!(f, "del {at}.__dict__[{name:?}]")
            }
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
