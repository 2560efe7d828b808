//! What a read finds in the journal before it looks at the real object.

use crate::VarRef;

/// Answer of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overlay {
    /// The last write stored this.
    Set(VarRef),
    /// The last write removed it: a read raises.
    Deleted,
    /// Never written: look at the real object.
    Untouched,
}
