//! The supported minor versions of CPython, as data: no table or format is chosen by the build.

use std::fmt;

/// A minor version of CPython.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// 3.8
    V38,
    /// 3.9
    V39,
    /// 3.10
    V310,
    /// 3.11
    V311,
    /// 3.12
    V312,
    /// 3.13
    V313,
}

impl Version {
    /// All of them, oldest first.
    pub const ALL: [Self; 6] = [Self::V38, Self::V39, Self::V310, Self::V311, Self::V312, Self::V313];

    /// The version of `3.minor`, if supported.
    #[must_use]
    pub fn from_minor(minor: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.minor() == minor)
    }

    /// `11` of 3.11.
    #[must_use]
    pub const fn minor(self) -> u8 {
        match self {
            Self::V38 => 8,
            Self::V39 => 9,
            Self::V310 => 10,
            Self::V311 => 11,
            Self::V312 => 12,
            Self::V313 => 13,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "3.{}", self.minor())
    }
}
