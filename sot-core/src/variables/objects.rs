//! Single objects.

use super::*;
use sot_sir::Symbol;

/// An immutable value that is compared by value.
#[derive(Clone, Debug)]
pub struct ConstantVar {
    pub object: ObjectId,
}

impl Nature for ConstantVar {
    fn kind_name(&self) -> &'static str {
        "a constant"
    }

    fn pinned(&self) -> Option<ObjectId> {
        None
    }
}

/// A tensor: a value that the graph computes.
#[derive(Clone, Debug)]
pub struct TensorVar {
    pub source: TensorSource,
}

/// Where a tensor comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TensorSource {
    /// A tensor that existed before the frame.
    Object(ObjectId),
    /// The result of a statement: symbolic value and symbol.
    Computed { value: ObjectId, symbol: Symbol },
}

impl Nature for TensorVar {
    fn kind_name(&self) -> &'static str {
        "a tensor"
    }
}

/// An instance of an ordinary Python class.
#[derive(Clone, Debug)]
pub struct InstanceVar {
    pub class: ObjectId,
    /// The object, if it existed before the frame.
    pub object: Option<ObjectId>,
    /// Its identity is a guarded fact: it was found under another pinned object.
    pub pinned: bool,
    /// Its class is made by code of Python, not by C.
    pub of_program: bool,
    /// Values of its class may have finalizers of the program, or weak references.
    pub may_be_watched: bool,
    /// What the builtin type keeps that its class extends, if the simulation made it.
    pub part: Option<VarId>,
    /// Its `__dict__`, if the simulation made it and somebody asked.
    pub names: Option<VarId>,
}

impl Nature for InstanceVar {
    fn kind_name(&self) -> &'static str {
        "an instance"
    }

    fn pinned(&self) -> Option<ObjectId> {
        self.object.filter(|_| self.pinned)
    }

    fn existed(&self) -> bool {
        self.object.is_some()
    }
}

/// A layer of the framework: pinned by identity.
#[derive(Clone, Debug)]
pub struct LayerVar {
    pub object: ObjectId,
}

impl Nature for LayerVar {
    fn kind_name(&self) -> &'static str {
        "a layer"
    }

    fn pinned(&self) -> Option<ObjectId> {
        Some(self.object)
    }

    fn existed(&self) -> bool {
        true
    }
}

/// A Python module: pinned by identity.
#[derive(Clone, Debug)]
pub struct ModuleVar {
    pub object: ObjectId,
}

impl Nature for ModuleVar {
    fn kind_name(&self) -> &'static str {
        "a module"
    }

    fn pinned(&self) -> Option<ObjectId> {
        Some(self.object)
    }
}
