//! How the operand of a jump names its target, per opcode and version.

use crate::Version;
use crate::tables::raw::Raw;

/// What is added to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JumpForm {
    /// From the start of the code.
    Absolute,
    /// From the next instruction (behind the caches), forward.
    Forward,
    /// From the next instruction (behind the caches), backward.
    Backward,
}

/// Bytes per unit of a jump operand.
pub(crate) const fn unit(version: Version) -> u32 {
    if version.minor() < 10 { 1 } else { 2 }
}

/// The form of a jump; `None` for what is no jump.
pub(crate) fn form(raw: Raw, version: Version) -> Option<JumpForm> {
    let forward_from = |minor: u8| if version.minor() < minor { JumpForm::Absolute } else { JumpForm::Forward };
    Some(match raw {
        Raw::JumpAbsolute | Raw::JumpIfNotExcMatch => JumpForm::Absolute,
        Raw::JumpIfFalseOrPop
        | Raw::JumpIfTrueOrPop
        | Raw::PopJumpIfFalse
        | Raw::PopJumpIfTrue
        | Raw::PopJumpIfNone
        | Raw::PopJumpIfNotNone => forward_from(11),
        Raw::JumpForward
        | Raw::ForIter
        | Raw::Send
        | Raw::SetupFinally
        | Raw::SetupWith
        | Raw::SetupAsyncWith
        | Raw::CallFinally
        | Raw::PopJumpForwardIfFalse
        | Raw::PopJumpForwardIfTrue
        | Raw::PopJumpForwardIfNone
        | Raw::PopJumpForwardIfNotNone => JumpForm::Forward,
        Raw::JumpBackward
        | Raw::JumpBackwardNoInterrupt
        | Raw::PopJumpBackwardIfFalse
        | Raw::PopJumpBackwardIfTrue
        | Raw::PopJumpBackwardIfNone
        | Raw::PopJumpBackwardIfNotNone => JumpForm::Backward,
        _ => return None,
    })
}
