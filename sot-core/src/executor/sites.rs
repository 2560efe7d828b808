//! Where simulated frames stand in the user's program.

use super::{Executor, Frame};
use crate::user_frames::Site;

impl Site {
    /// Where a simulated frame stands. Its variables are left open.
    pub fn of(ex: &Executor<'_>, frame: &Frame) -> Site {
        let globals = ex.objects.get(ex.py, frame.globals).unbind();
        Site { unit: frame.unit.clone(), globals, ip: frame.ip, left_at: None, locals: Vec::new(), cells: Vec::new() }
    }
}
