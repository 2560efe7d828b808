//! The call protocol of each version, as instructions to insert around what pushes the callable.

use crate::{ConstId, Op, Version, method_layout};

/// `op` pushes the callable; with it come the NULL slot that a two-slot call wants from 3.11 on.
#[must_use]
pub fn push_callable(version: Version, op: Op) -> Vec<Op> {
    match version {
        Version::V38 | Version::V39 | Version::V310 => vec![op],
        _ if method_layout::null_first(version) => vec![Op::PushNull, op],
        _ => vec![op, Op::PushNull],
    }
}

/// What turns the one callable on top of the stack into the slots that a call wants.
#[must_use]
pub fn callable_on_top(version: Version) -> Vec<Op> {
    match version {
        Version::V38 | Version::V39 | Version::V310 => Vec::new(),
        _ if method_layout::null_first(version) => vec![Op::PushNull, Op::Swap(2)],
        _ => vec![Op::PushNull],
    }
}

/// The call that goes with `push_callable`.
#[must_use]
pub const fn call(version: Version, argc: u32) -> Op {
    Op::Call { argc, two: two_slots(version) }
}

/// As `call`, the last arguments being keywords; `argc` counts all.
#[must_use]
pub fn call_kw(version: Version, argc: u32, names: ConstId) -> Vec<Op> {
    vec![Op::LoadConst(names), Op::CallKw { argc, two: two_slots(version) }]
}

/// The call of `push_callable`, a tuple, and with `kwargs` a dict.
#[must_use]
pub const fn call_ex(version: Version, kwargs: bool) -> Op {
    Op::CallEx { kwargs, null: two_slots(version) }
}

/// A plain call finds two slots under its arguments.
#[must_use]
pub const fn two_slots(version: Version) -> bool {
    version.minor() >= 11
}

/// A frame begins with RESUME, and with COPY_FREE_VARS where it has free variables.
#[must_use]
pub const fn has_resume(version: Version) -> bool {
    version.minor() >= 11
}

/// What makes a function of the parts and the code on the stack (defaults, kwdefaults, annotations, closure, code, and up
/// to 3.10 the qualified name); `flags` say which parts are there.
#[must_use]
pub fn make_function(version: Version, flags: u32, qualname: bool) -> Vec<Op> {
    if version < Version::V313 {
        return vec![Op::MakeFunction { flags, qualname }];
    }
    let parts = [8, 4, 2, 1].into_iter().filter(|bit| flags & bit != 0);
    std::iter::once(Op::MakeFunction { flags: 0, qualname: false }).chain(parts.map(Op::SetFunctionAttribute)).collect()
}

/// Whether a frame that has ended keeps its values until its caller clears it.
#[must_use]
pub fn callers_clear_frames(version: Version) -> bool {
    version == Version::V311
}

/// Whether a call of a Python function hands the references to its arguments over to the new frame. Otherwise the caller holds
/// them as well until the call is over: on its stack up to 3.10; 3.11 calls with `*args` by C code.
#[must_use]
pub fn hands_arguments_over(version: Version, op: &Op) -> bool {
    match op {
        Op::Call { .. } | Op::CallKw { .. } => version >= Version::V311,
        Op::CallEx { .. } => version >= Version::V312,
        _ => false,
    }
}

/// Whether a method that is looked up and called at once is bound first: by a star always, and up to 3.10 by keywords too, as
/// LOAD_METHOD goes with positional arguments only.
#[must_use]
pub fn binds_methods(version: Version, op: &Op) -> bool {
    match op {
        Op::CallKw { .. } => version < Version::V311,
        Op::CallEx { .. } => true,
        _ => false,
    }
}

/// Whether a caller that holds the operands of a call drops the last one first: from the top of its stack.
#[must_use]
pub fn drops_from_the_top(version: Version, op: &Op) -> bool {
    version < Version::V311 && matches!(op, Op::Call { .. } | Op::CallKw { .. })
}

/// Whether the cell of an argument stands in the place of the argument, as all variables of a frame stand in one row.
#[must_use]
pub fn keeps_cells_in_place(version: Version) -> bool {
    version >= Version::V311
}

/// Whether code can push the NULL slot of a call. Up to 3.10 only LOAD_METHOD can.
#[must_use]
pub const fn can_push_null(version: Version) -> bool {
    two_slots(version)
}
