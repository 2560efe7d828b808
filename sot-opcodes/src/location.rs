//! Where in the source an instruction comes from.

/// Lines are 1-based, columns 0-based byte offsets. Columns exist from 3.11 on; no line: an artificial instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Location {
    pub line: Option<u32>,
    pub end_line: Option<u32>,
    pub col: Option<u32>,
    pub end_col: Option<u32>,
}

impl Location {
    /// A line without columns.
    #[must_use]
    pub const fn of_line(line: u32) -> Self {
        Self { line: Some(line), end_line: Some(line), col: None, end_col: None }
    }
}
