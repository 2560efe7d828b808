//! Where simulated frames stand in the user's program.

use super::Captured;
use crate::frame::Frame;
use crate::user_frames::Site;
use pyo3::prelude::*;

impl Captured {
    /// Where a simulated frame stands. Its variables are left open.
    pub fn site_of(&self, py: Python<'_>, frame: &Frame) -> Site {
        let globals = self.objects.get(py, frame.globals).unbind();
        Site { unit: frame.unit.clone(), globals, ip: frame.ip, left_at: None, locals: Vec::new(), cells: Vec::new() }
    }
}
