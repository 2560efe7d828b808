//! `co_flags`. Bits without a name here (`from __future__` features and later additions) are kept.

use crate::Version;

bitflags::bitflags! {
    /// What `co_flags` says of a code object, named as in `inspect.CO_*`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct CodeFlags: u32 {
        /// Locals are in slots.
        const OPTIMIZED = 0x1;
        /// A call makes new locals.
        const NEWLOCALS = 0x2;
        /// Takes `*args`.
        const VARARGS = 0x4;
        /// Takes `**kwargs`.
        const VARKEYWORDS = 0x8;
        /// Defined inside a function.
        const NESTED = 0x10;
        /// A call makes a generator.
        const GENERATOR = 0x20;
        /// No free or cell variables; up to 3.9, recomputed by `CodeType`.
        const NOFREE = 0x40;
        /// A call makes a coroutine.
        const COROUTINE = 0x80;
        /// Decorated with `types.coroutine`: a generator that can be awaited.
        const ITERABLE_COROUTINE = 0x100;
        /// A call makes an asynchronous generator.
        const ASYNC_GENERATOR = 0x200;
        const _ = !0;
    }
}

impl CodeFlags {
    /// Features that were imported from `__future__`: code that is compiled by such code has them, too.
    #[must_use]
    pub const fn of_future(version: Version) -> Self {
        Self::from_bits_retain(if version.minor() < 9 { 0x001f_e000 } else { 0x01fe_0000 })
    }

    /// A call of such code makes an object and does not run the body.
    #[must_use]
    pub const fn is_generator_like(self) -> bool {
        self.intersects(Self::GENERATOR.union(Self::COROUTINE).union(Self::ASYNC_GENERATOR))
    }
}
