//! What is versioned: each write makes a new version of exactly one slot.

use sot_tracker::ObjectId;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A Variable of the translator's arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VarRef(pub u32);

impl fmt::Display for VarRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

/// The object that a mutation changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    Object(VarRef),
    Globals(ObjectId),
    /// An ambient mode of the framework, by its number.
    Mode(u32),
}

/// The part of it that is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slot {
    Attr(VarRef, String),
    /// The item of the dict of an object's attributes, where its class has a descriptor of that name.
    InDict(VarRef, String),
    Global(ObjectId, String),
    Cell(VarRef),
    /// Items of a list, dict, set or other container, as a whole.
    Content(VarRef),
    /// Position of an iterator; whether a container is being written.
    Position(VarRef),
    /// The value of an ambient mode.
    Mode(u32),
}

impl Slot {
    /// The object that the slot belongs to.
    pub fn target(&self) -> Target {
        self.key().target()
    }
}

/// A slot that is borrowed, so that a lookup by `&str` allocates nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SlotKey<'a> {
    Attr(VarRef, &'a str),
    InDict(VarRef, &'a str),
    Global(ObjectId, &'a str),
    Cell(VarRef),
    Content(VarRef),
    Position(VarRef),
    Mode(u32),
}

impl Slot {
    pub(crate) fn key(&self) -> SlotKey<'_> {
        match self {
            Slot::Attr(object, name) => SlotKey::Attr(*object, name),
            Slot::InDict(object, name) => SlotKey::InDict(*object, name),
            Slot::Global(globals, name) => SlotKey::Global(*globals, name),
            Slot::Cell(cell) => SlotKey::Cell(*cell),
            Slot::Content(object) => SlotKey::Content(*object),
            Slot::Position(iterator) => SlotKey::Position(*iterator),
            Slot::Mode(mode) => SlotKey::Mode(*mode),
        }
    }
}

impl SlotKey<'_> {
    /// The object that the slot belongs to.
    pub(crate) fn target(self) -> Target {
        match self {
            SlotKey::Attr(object, _)
            | SlotKey::InDict(object, _)
            | SlotKey::Cell(object)
            | SlotKey::Content(object)
            | SlotKey::Position(object) => Target::Object(object),
            SlotKey::Global(globals, _) => Target::Globals(globals),
            SlotKey::Mode(mode) => Target::Mode(mode),
        }
    }

    pub(crate) fn to_slot(self) -> Slot {
        match self {
            SlotKey::Attr(object, name) => Slot::Attr(object, name.to_owned()),
            SlotKey::InDict(object, name) => Slot::InDict(object, name.to_owned()),
            SlotKey::Global(globals, name) => Slot::Global(globals, name.to_owned()),
            SlotKey::Cell(cell) => Slot::Cell(cell),
            SlotKey::Content(object) => Slot::Content(object),
            SlotKey::Position(object) => Slot::Position(object),
            SlotKey::Mode(mode) => Slot::Mode(mode),
        }
    }
}

impl Hash for Slot {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl hashbrown::Equivalent<Slot> for SlotKey<'_> {
    fn equivalent(&self, slot: &Slot) -> bool {
        *self == slot.key()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Object(object) => write!(f, "{object}"),
            Target::Globals(globals) => write!(f, "globals_{}", globals.0),
            Target::Mode(mode) => write!(f, "mode_{mode}"),
        }
    }
}
