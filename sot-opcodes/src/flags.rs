//! `co_flags`. Bits without a name here (`from __future__` features and later additions) are kept.

bitflags::bitflags! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct CodeFlags: u32 {
        const OPTIMIZED = 0x1;
        const NEWLOCALS = 0x2;
        const VARARGS = 0x4;
        const VARKEYWORDS = 0x8;
        const NESTED = 0x10;
        const GENERATOR = 0x20;
        /// No free or cell variables; up to 3.9, recomputed by `CodeType`.
        const NOFREE = 0x40;
        const COROUTINE = 0x80;
        const ITERABLE_COROUTINE = 0x100;
        const ASYNC_GENERATOR = 0x200;
        const _ = !0;
    }
}

impl CodeFlags {
    /// A call of such code makes an object and does not run the body.
    #[must_use]
    pub const fn is_generator_like(self) -> bool {
        self.intersects(Self::GENERATOR.union(Self::COROUTINE).union(Self::ASYNC_GENERATOR))
    }
}
