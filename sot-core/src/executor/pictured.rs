//! Pictures of the simulated state, which show that a rollback leaves nothing behind. Only with debug assertions.
//!
//! A picture is text of all that [`super::state`] calls state. It is dear, so it is taken at some marks of small simulations
//! only: at every one of a simulation's first steps, where what it is about is, and then at every eighth.

use super::Executor;
use crate::variables::VarId;

const FIRST_STEPS: usize = 32;
const EVERY: usize = 8;
/// No simulation with more variables is pictured.
const MOST_VARIABLES: usize = 128;

pub(super) struct Picture {
    /// What had been looked at by then.
    variables: Vec<(VarId, String)>,
    frames: Vec<String>,
    rest: String,
}

impl Executor<'_> {
    pub(super) fn picture(&self) -> Option<Picture> {
        let wanted = self.steps < FIRST_STEPS || self.steps.is_multiple_of(EVERY);
        (wanted && self.vars.len() <= MOST_VARIABLES).then(|| self.take_picture(self.vars.len()))
    }

    fn take_picture(&self, variables: usize) -> Picture {
        let shown = (0..variables as u32).map(VarId).filter(|var| !self.learned.contains(var));
        let mut claimed: Vec<usize> = self.claimed.iter().copied().collect();
        claimed.sort_unstable();
        let mut hashes: Vec<_> = self.hashes.iter().filter(|(key, _)| !self.found_hashes.contains(*key)).collect();
        hashes.sort_unstable();
        let mut gaps: Vec<_> = self.gaps.iter().collect();
        gaps.sort_unstable();
        let watched = &self.watched;
        Picture {
            variables: shown.map(|var| (var, format!("{:?}", self.var(var).kind))).collect(),
            frames: self.frames.iter().map(|frame| format!("{frame:?}")).collect(),
            rest: format!(
                "journal {}, graph {}, claimed {claimed:?}, hashes {hashes:?}, gaps {gaps:?}, released {:?} {:?}, taken {:?} {:?}, \
                 dropped {}, generators {:?}",
                self.journal.len(),
                self.graph.len(),
                watched.released,
                watched.dropping,
                watched.taken_by_steps,
                watched.taken,
                watched.dropped,
                watched.generators,
            ),
        }
    }

    /// A rollback has made the state what the picture shows, but for what was learned since.
    pub(super) fn compare_with(&self, before: Option<&Picture>) {
        let Some(before) = before else { return };
        let count = before.variables.last().map_or(0, |(var, _)| var.0 as usize + 1);
        let now = self.take_picture(count);
        let mut after = now.variables.iter();
        for (var, was) in before.variables.iter().filter(|(var, _)| !self.learned.contains(var)) {
            let is = after.find(|(other, _)| other == var).map(|(_, is)| is);
            assert_eq!(is, Some(was), "a rollback has left variable {var:?} changed");
        }
        assert_eq!(now.frames, before.frames, "a rollback has left frames changed");
        assert_eq!(now.rest, before.rest, "a rollback has left something behind");
    }
}
