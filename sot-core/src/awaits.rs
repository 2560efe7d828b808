//! Pending operations: what frames do with the results that they wait for. Part of a continuation's shape.

use sot_opcodes::CodeFlags;

/// What becomes of the result of the call that a frame waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Awaits {
    /// It is pushed; the frame goes on behind the instruction.
    #[default]
    Push,
    /// It is dropped; the frame goes on behind the instruction.
    Drop,
    /// As `Drop`; a result other than None is a TypeError (`__init__`).
    None,
    /// As `None`, and the instruction runs again: what was constructed takes the place of an operand.
    NoneAgain,
    /// It is pushed, and the instruction runs again: it takes the place of an operand.
    Again,
    /// GET_ITER: as `Push`, after a check that it is an iterator.
    Iterator,
    /// FOR_ITER: it is the next item; StopIteration ends the loop.
    Next,
    /// SEND, YIELD_FROM, of a generator: an item is handed on, the result ends the delegation.
    Send,
    /// The same, of what has a `__next__`: the result is handed on, StopIteration ends the delegation.
    Delegate,
    /// `__bool__`: as `Again`, after a check that it is a bool.
    Bool,
    /// `__bool__`, of JUMP_IF_TRUE_OR_POP and its like: after a check that it is a bool, it says what becomes of the operand.
    Decides,
    /// LOAD_ATTR: it takes the place of the object, which an AttributeError that comes instead is told about.
    Attribute,
    /// LOAD_METHOD: as `Attribute`, and it is the callable of two slots.
    Method,
    /// LOAD_SUPER_ATTR: it is pushed as the callable of two slots.
    Callable,
    /// CHECK_EG_MATCH: a pair, of which the first, what matches, becomes what is handled unless it is None; the second, the
    /// rest, is pushed, and then the first.
    Matched,
    /// MATCH_CLASS, MATCH_KEYS of 3.10: it is pushed, and then whether it is something else than None.
    Told,
}

/// What StopIteration becomes that would leave the frame of a generator or a coroutine of these flags.
pub fn stopped_in(flags: CodeFlags) -> &'static str {
    if flags.contains(CodeFlags::ASYNC_GENERATOR) {
        return "async generator raised StopIteration";
    }
    match flags.contains(CodeFlags::COROUTINE) {
        true => "coroutine raised StopIteration",
        false => "generator raised StopIteration",
    }
}
