//! How each version keeps exceptions and generators on the stack: what code that sets a frame up has to know.

use crate::Version;

/// Protected regions are blocks that SETUP_* pushes and POP_BLOCK pops (up to 3.10); later they are a table.
#[must_use]
pub const fn has_blocks(version: Version) -> bool {
    version.minor() < 11
}

/// Slots that an exception takes on the stack, and so does the one that was handled before it.
#[must_use]
pub const fn slots(version: Version) -> usize {
    if has_blocks(version) { 3 } else { 1 }
}

/// A `finally` block has a state on the stack that is no exception: NULL or a return address (3.8).
#[must_use]
pub const fn finally_has_state(version: Version) -> bool {
    version.minor() == 8
}

/// What starts a generator is on its stack, and popped by its first instructions (3.10+).
#[must_use]
pub const fn generator_starts_with_a_value(version: Version) -> bool {
    version.minor() >= 10
}

/// An exception that is thrown into a generator, and ends what that delegates to, goes on at the SEND before its yield.
#[must_use]
pub const fn throw_returns_to_send(version: Version) -> bool {
    version.minor() == 11
}

/// What a coroutine awaits is asked by SEND, as what a generator delegates to is (3.11+): the simulation runs them alike.
#[must_use]
pub const fn coroutines_are_generators(version: Version) -> bool {
    version.minor() >= 11
}

/// A class method binds what it wraps by that's own `__get__` (3.9 to 3.12), so that it may wrap a property.
#[must_use]
pub const fn class_methods_bind_descriptors(version: Version) -> bool {
    matches!(version.minor(), 9..=12)
}

/// An ordered dict that is cleared has been changed for its iterators (3.13); before, its size alone has.
#[must_use]
pub const fn clearing_is_a_mutation(version: Version) -> bool {
    version.minor() >= 13
}

/// `locals()` is a new dict at each call (3.13); before, it is the frame's only one.
#[must_use]
pub const fn locals_are_snapshots(version: Version) -> bool {
    version.minor() >= 13
}

/// An argument that is a cell is among the arguments for `locals()` (3.11+); before, it is among the cells.
#[must_use]
pub const fn cell_arguments_are_locals(version: Version) -> bool {
    version.minor() >= 11
}

/// Who ends a loop, or answers otherwise, by an exception that nobody handles lets go of its traceback (up to 3.11); later the exception
/// has that itself.
#[must_use]
pub const fn tracebacks_come_with_handlers(version: Version) -> bool {
    version.minor() < 12
}

/// The text of UnboundLocalError.
#[must_use]
pub fn unbound_local(version: Version, name: &str) -> String {
    if version.minor() < 11 {
        format!("local variable '{name}' referenced before assignment")
    } else {
        format!("cannot access local variable '{name}' where it is not associated with a value")
    }
}

/// The text of NameError about a free variable.
#[must_use]
pub fn unbound_free(version: Version, name: &str) -> String {
    if version.minor() < 11 {
        format!("free variable '{name}' referenced before assignment in enclosing scope")
    } else {
        format!("cannot access free variable '{name}' where it is not associated with a value in enclosing scope")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_ended_with_3_10() {
        let versions = [Version::V38, Version::V39, Version::V310, Version::V311, Version::V312, Version::V313];
        assert_eq!(versions.map(slots), [3, 3, 3, 1, 1, 1]);
        assert_eq!(versions.map(finally_has_state), [true, false, false, false, false, false]);
        assert_eq!(versions.map(class_methods_bind_descriptors), [false, true, true, true, true, false]);
        assert_eq!(versions.map(locals_are_snapshots), [false, false, false, false, false, true]);
        assert_eq!(versions.map(cell_arguments_are_locals), [false, false, false, true, true, true]);
        assert_eq!(versions.map(coroutines_are_generators), [false, false, false, true, true, true]);
        assert_eq!(versions.map(generator_starts_with_a_value), [false, false, true, true, true, true]);
    }
}
