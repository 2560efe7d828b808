//! Typed u32 ids: a tracker of a [`TrackerTable`](crate::TrackerTable), an object of the translator's table, a
//! node of a [`GuardTree`](crate::GuardTree).

/// A path, interned: equal ids are equal paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackerId(pub u32);

/// An object that the translator keeps alive. The same object has one id, so identity is equality of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// A node of a guard tree: also the number of its value register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl TrackerId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ObjectId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl NodeId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
