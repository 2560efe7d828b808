//! What happens after an instruction.

use crate::awaits::Awaits;
use crate::variables::VarId;

/// Where the machine goes on.
pub enum Flow {
    Next,
    /// Go on at an instruction of the same frame.
    Jump(usize),
    /// A frame was pushed; what becomes of its result.
    Entered(Awaits),
    /// The frame that goes on stands where it goes on: in a handler, say.
    Placed,
    /// The frame, one of a generator, yields.
    Yield(VarId),
    /// The frame returns.
    Return(VarId),
}
