//! Containers, and what is made of them.

use super::*;
use std::rc::Rc;

/// A dict.
#[derive(Clone, Debug)]
pub struct DictVar {
    /// In insertion order; as an ordered dict has them.
    pub entries: Rc<Vec<(VarId, VarId)>>,
    /// The keys of a new ordered dict in the order of the dict below it, where that is another one: moving a key does not touch it.
    pub below: Option<Rc<Vec<VarId>>>,
    /// A subclass of C (`OrderedDict`, `defaultdict`); `None` for dict itself.
    pub class: Option<ObjectId>,
    /// The dict itself, if it existed before the frame.
    pub object: Option<ObjectId>,
    /// What a `defaultdict` makes missing values with.
    pub factory: Option<VarId>,
    /// How often the simulation removed keys: a key that comes back is in another place.
    pub removed: u32,
    /// The value that the simulation made whose `__dict__` it is.
    pub owner: Option<VarId>,
}

/// A state of a set: a step in the histories of the capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct SetState(pub u32);

impl SetState {
    /// Of a set that existed before the frame, and that nobody has looked at.
    pub const UNSEEN: SetState = SetState(u32::MAX);
}

/// A set or frozen set.
#[derive(Clone, Debug)]
pub struct SetVar {
    pub state: SetState,
    pub frozen: bool,
    /// The set itself, if it existed before the frame.
    pub object: Option<ObjectId>,
}

impl Nature for SetVar {
    fn kind_name(&self) -> &'static str {
        "a set"
    }

    fn existed(&self) -> bool {
        self.object.is_some()
    }
}

/// A `collections.deque`. What one from before the frame holds, and at most, is known once it was looked at.
#[derive(Clone, Debug, Default)]
pub struct DequeVar {
    pub items: Rc<Vec<VarId>>,
    pub maxlen: Option<usize>,
    /// How often its length, or the places of its items, changed: iterators that began before do not go on.
    pub changes: u32,
    /// The deque itself, if it existed before the frame.
    pub object: Option<ObjectId>,
}

/// A `bytearray` that the simulation made.
#[derive(Clone, Debug)]
pub struct ByteArrayVar {
    pub bytes: Rc<[u8]>,
}

impl Nature for ByteArrayVar {
    fn kind_name(&self) -> &'static str {
        "a bytearray"
    }
}

impl Nature for DequeVar {
    fn kind_name(&self) -> &'static str {
        "a deque"
    }

    fn existed(&self) -> bool {
        self.object.is_some()
    }
}

/// What a view shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ViewWhat {
    Keys,
    Values,
    Items,
}

/// `d.keys()`, `d.values()`, `d.items()`.
#[derive(Clone, Debug)]
pub struct ViewVar {
    pub dict: VarId,
    pub what: ViewWhat,
}

impl Nature for DictVar {
    fn kind_name(&self) -> &'static str {
        "a dict"
    }

    fn existed(&self) -> bool {
        self.object.is_some()
    }
}

impl Nature for ViewVar {
    fn kind_name(&self) -> &'static str {
        "a dict view"
    }
}

/// A tuple, or one of a subclass without behaviour of its own (named tuples, a framework's shapes).
#[derive(Clone, Debug)]
pub struct TupleVar {
    pub items: Rc<[VarId]>,
    /// A subclass of tuple with this class (a named tuple); `None` for tuple itself.
    pub class: Option<ObjectId>,
}

/// A list, or one of a subclass without behaviour of its own.
#[derive(Clone, Debug)]
pub struct ListVar {
    pub items: Rc<Vec<VarId>>,
    /// A subclass of list; `None` for list itself.
    pub class: Option<ObjectId>,
    /// The list itself, if it existed before the frame.
    pub object: Option<ObjectId>,
}

impl TupleVar {
    pub fn new(items: impl Into<Rc<[VarId]>>) -> TupleVar {
        TupleVar { items: items.into(), class: None }
    }
}

impl ListVar {
    pub fn new(items: Vec<VarId>) -> ListVar {
        ListVar { items: Rc::new(items), class: None, object: None }
    }
}

impl Nature for TupleVar {
    fn kind_name(&self) -> &'static str {
        "a tuple"
    }
}

impl Nature for ListVar {
    fn kind_name(&self) -> &'static str {
        "a list"
    }

    fn existed(&self) -> bool {
        self.object.is_some()
    }
}

/// A slice object.
#[derive(Clone, Debug)]
pub struct SliceVar {
    /// start, stop, step
    pub parts: [VarId; 3],
}

impl Nature for SliceVar {
    fn kind_name(&self) -> &'static str {
        "a slice"
    }
}
