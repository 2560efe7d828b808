//! Where in the source an instruction comes from.

/// Lines are 1-based, columns 0-based byte offsets. Columns exist from 3.11 on; no line: an artificial instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Location {
    /// First line.
    pub line: Option<u32>,
    /// Last line.
    pub end_line: Option<u32>,
    /// Column of the start on the first line.
    pub col: Option<u32>,
    /// Column behind the end on the last line.
    pub end_col: Option<u32>,
}

impl Location {
    /// CPython can hold it: numbers below the largest `int`, an end line not before the line.
    pub(crate) fn is_sound(&self) -> bool {
        const END: u32 = i32::MAX as u32;
        let fits = |n: Option<u32>| n.unwrap_or(0) < END;
        // All are looked at: one branch.
        fits(self.line)
            & fits(self.end_line)
            & fits(self.col)
            & fits(self.end_col)
            & (self.end_line.unwrap_or(END) >= self.line.unwrap_or(0))
    }

    /// A line without columns.
    #[must_use]
    pub const fn of_line(line: u32) -> Self {
        Self { line: Some(line), end_line: Some(line), col: None, end_col: None }
    }
}
