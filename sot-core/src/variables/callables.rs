//! What is called: functions, methods, builtins, classes.

use super::*;
use crate::code_unit::CodeUnit;
use crate::natives::Native;
use crate::stop::Why;
use std::rc::Rc;
use std::sync::Arc;

/// A Python function: one that existed before the frame, or that the simulation made.
#[derive(Clone, Debug)]
pub enum FunctionVar {
    /// Pinned by identity, its code and defaults guarded by address.
    Object(ObjectId),
    /// Known by its parts: made by MAKE_FUNCTION in this capture, or found in a slot, where at the next call another function
    /// of the same code may be.
    Made(Rc<MadeFunction>),
}

/// The parts of a function: the operands of MAKE_FUNCTION.
#[derive(Clone, Debug)]
pub struct MadeFunction {
    /// The function, if it existed before the frame.
    pub object: Option<ObjectId>,
    pub unit: Arc<CodeUnit>,
    pub code: ObjectId,
    pub globals: ObjectId,
    pub qualname: Option<VarId>,
    pub defaults: Option<VarId>,
    pub kwdefaults: Option<VarId>,
    pub annotations: Option<VarId>,
    pub closure: Option<VarId>,
    /// Its `__dict__`, if the simulation made it and somebody asked.
    pub names: Option<VarId>,
    /// `__name__` or `__qualname__` was set.
    pub renamed: bool,
}

impl Nature for FunctionVar {
    fn kind_name(&self) -> &'static str {
        "a function"
    }

    fn pinned(&self) -> Option<ObjectId> {
        match self {
            FunctionVar::Object(object) => Some(*object),
            FunctionVar::Made(_) => None,
        }
    }

    fn existed(&self) -> bool {
        match self {
            FunctionVar::Object(_) => true,
            FunctionVar::Made(made) => made.object.is_some(),
        }
    }
}

/// A bound method: a function and its receiver.
#[derive(Clone, Debug)]
pub struct MethodVar {
    pub receiver: VarId,
    pub function: VarId,
}

impl Nature for MethodVar {
    fn kind_name(&self) -> &'static str {
        "a method"
    }
}

/// A method of a builtin value by name: `items.append`.
#[derive(Clone, Debug)]
pub struct BoundVar {
    pub receiver: VarId,
    pub name: std::rc::Rc<str>,
    /// Calling it must run as Python, for this reason.
    pub blocked: Option<Why>,
    /// It was looked up for a call (LOAD_METHOD), so that nobody has bound it: what refuses the arguments names the class that has it.
    pub for_a_call: bool,
}

impl BoundVar {
    pub fn new(receiver: VarId, name: &str) -> BoundVar {
        BoundVar { receiver, name: name.into(), blocked: None, for_a_call: false }
    }
}

impl Nature for BoundVar {
    fn kind_name(&self) -> &'static str {
        "a method of a builtin value"
    }
}

/// A callable without bytecode, or an opaque one.
#[derive(Clone, Debug)]
pub struct BuiltinVar {
    pub object: ObjectId,
}

impl Nature for BuiltinVar {
    fn kind_name(&self) -> &'static str {
        "a builtin"
    }

    fn pinned(&self) -> Option<ObjectId> {
        Some(self.object)
    }
}

/// A callable of C that is made of what its constructor is given.
#[derive(Clone, Debug)]
pub struct NativeVar {
    pub native: Native,
    pub class: ObjectId,
    /// The value, if it existed before the frame.
    pub object: Option<ObjectId>,
    /// What the call was given. Of a partial: its function, the tuple of its arguments, the dict of its keywords.
    pub positional: Rc<[VarId]>,
    pub keywords: Rc<[(String, VarId)]>,
    /// Its identity is a guarded fact: it is a getter that was found under another pinned object.
    pub pinned: bool,
}

impl Nature for NativeVar {
    fn kind_name(&self) -> &'static str {
        "a native callable"
    }

    fn pinned(&self) -> Option<ObjectId> {
        self.object.filter(|_| self.pinned)
    }
}

/// A class: pinned by identity, or one of many that the same code makes, found by its path or made in this capture.
#[derive(Clone, Debug)]
pub struct ClassVar {
    /// Of one that the simulation makes: its prototype.
    pub object: ObjectId,
    pub anew: bool,
    pub made: Option<Rc<MadeClass>>,
}

/// What a class statement gives to `type`, or another such metaclass.
#[derive(Debug)]
pub struct MadeClass {
    pub metaclass: VarId,
    /// Whom it concerns was told by the simulation.
    pub quiet: bool,
    /// New code makes it whether somebody needs it or not.
    pub listed: bool,
    /// The one before it that is listed: bases tell of them in this order.
    pub after: Option<VarId>,
    pub name: VarId,
    /// A tuple.
    pub bases: VarId,
    /// What its body has left.
    pub names: Vec<(VarId, VarId)>,
}

impl Nature for ClassVar {
    fn kind_name(&self) -> &'static str {
        "a class"
    }

    fn pinned(&self) -> Option<ObjectId> {
        (!self.anew).then_some(self.object)
    }

    fn existed(&self) -> bool {
        self.made.is_none()
    }
}

/// A `super()` object.
#[derive(Clone, Debug)]
pub struct SuperVar {
    pub class: VarId,
    pub receiver: VarId,
}

impl Nature for SuperVar {
    fn kind_name(&self) -> &'static str {
        "a super object"
    }
}
