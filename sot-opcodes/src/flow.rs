//! Where control goes after an instruction.

use crate::{Label, Op};

impl Op {
    /// The label it may jump to; for SETUP_* the handler.
    #[must_use]
    pub const fn target(&self) -> Option<Label> {
        match *self {
            Self::Jump { target, .. }
            | Self::PopJumpIf { target, .. }
            | Self::JumpIfOrPop { target, .. }
            | Self::JumpIfNotExcMatch(target)
            | Self::ForIter(target)
            | Self::Send(target)
            | Self::SetupFinally(target)
            | Self::SetupWith(target)
            | Self::SetupAsyncWith(target)
            | Self::CallFinally(target) => Some(target),
            _ => None,
        }
    }

    /// The same instruction with another label; unchanged if it has none.
    #[must_use]
    pub const fn with_target(self, label: Label) -> Self {
        match self {
            Self::Jump { no_interrupt, .. } => Self::Jump { target: label, no_interrupt },
            Self::PopJumpIf { cond, .. } => Self::PopJumpIf { cond, target: label },
            Self::JumpIfOrPop { cond, .. } => Self::JumpIfOrPop { cond, target: label },
            Self::JumpIfNotExcMatch(_) => Self::JumpIfNotExcMatch(label),
            Self::ForIter(_) => Self::ForIter(label),
            Self::Send(_) => Self::Send(label),
            Self::SetupFinally(_) => Self::SetupFinally(label),
            Self::SetupWith(_) => Self::SetupWith(label),
            Self::SetupAsyncWith(_) => Self::SetupAsyncWith(label),
            Self::CallFinally(_) => Self::CallFinally(label),
            other => other,
        }
    }

    /// The next instruction can be reached from this one. (It is reached from `CallFinally` when the block returns.)
    #[must_use]
    pub const fn falls_through(&self) -> bool {
        !matches!(
            self,
            Self::Jump { .. } | Self::ReturnValue | Self::RaiseVarargs(_) | Self::Reraise(_) | Self::ReraiseTriple(_)
        )
    }

    /// It reads or ends a local or a cell, and raises when that is unbound.
    #[must_use]
    pub const fn names_a_variable(&self) -> bool {
        matches!(self, Self::LoadFast { .. } | Self::DeleteFast(_) | Self::LoadDeref(_) | Self::DeleteDeref(_))
    }

    /// An exception that was raised before is raised again: the frame leaves no second entry in its traceback.
    #[must_use]
    pub const fn raises_again(&self) -> bool {
        matches!(
            self,
            Self::RaiseVarargs(0) | Self::Reraise(_) | Self::ReraiseTriple(_) | Self::EndFinally | Self::EndAsyncFor
        )
    }

    /// The target is the handler of a block that begins here, not a jump.
    #[must_use]
    pub const fn is_setup(&self) -> bool {
        matches!(self, Self::SetupFinally(_) | Self::SetupWith(_) | Self::SetupAsyncWith(_))
    }
}
