//! Calls of clocks, which new code asks ([`crate::clocks`]). A number that one says is found by its path, as those that are drawn are.

use super::Executor;
use crate::captured::{Clock, Drawn};
use crate::clocks;
use crate::settings;
use crate::stop::Stop;
use crate::variables::*;
use pyo3::prelude::*;
use sot_tracker::Access;

impl<'py> Executor<'py> {
    /// A call without arguments of a function of C. `None`: it is no clock, or one that runs as Python.
    pub(super) fn ask_clock(
        &mut self,
        callee: &Bound<'py, PyAny>,
        module: &str,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        let frame = self.frame();
        let site = (frame.unit.address(), frame.ip);
        // Plain Python beside the captured call would be told another time.
        if !clocks::is_clock(module, name) || settings::verifies() || self.found.relied_on.contains(&site) {
            return Ok(None);
        }
        // Not every system has each.
        let Ok(now) = callee.call0() else { return Ok(None) };
        let reading = clocks::reading(self.py, name).map_err(|e| Stop::internal(&e))?.into_bound(self.py);
        let reading = self.objects.add(&reading);
        let base = self.constant_tracker(reading);
        let said = self.trackers.step(base, Access::IterSource);
        let number = self.drawn_at(said, &now, Drawn { site, outcomes: None });
        let function = self.objects.add(callee);
        let behind = self.captured.graph.statements.len();
        self.captured.clocks.push(Clock { said, function, site, behind });
        Ok(Some(number))
    }
}
