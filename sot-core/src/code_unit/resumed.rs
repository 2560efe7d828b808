//! How resumed code ([`crate::rewrite`]) lies beside the code of the program that it is made of: a prologue, then the instructions
//! of the program, some of them behind a question.

use sot_opcodes::{Code, Op};

/// Instructions that ask whether a cell is empty.
pub(crate) const ASKS: usize = 6;

/// The user's instruction at which resumed code stands, of so many. What asks before one belongs to it; the prologue is nobody's.
pub(crate) fn user_instruction(resumed: &Code, users: usize, at: usize) -> Option<usize> {
    // The user's instructions come last.
    let mut end = resumed.instrs.len();
    for user in (0..users).rev() {
        let own = end.checked_sub(1)?;
        let asked = match resumed.instrs[own].op {
            Op::LoadDeref(cell) | Op::DeleteDeref(cell) => own.checked_sub(ASKS).filter(|first| {
                // No code of a user compares a cell.
                let asks = &resumed.instrs[*first..own];
                asks[0].op == Op::LoadClosure(cell) && matches!(asks[2].op, Op::Compare { .. })
            }),
            _ => None,
        };
        end = asked.unwrap_or(own);
        if (end..=own).contains(&at) {
            return Some(user);
        }
    }
    None
}
