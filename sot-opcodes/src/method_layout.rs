//! On which side of the callable the NULL slot of a two-slot call lies.

use crate::Version;

/// `[NULL, callable]` (3.8 to 3.12) or else `[callable, NULL]` (3.13), where LoadMethod, LoadGlobal and
/// LoadSuperAttr find no method.
#[must_use]
pub const fn null_first(version: Version) -> bool {
    version.minor() < 13
}
