//! Operations that change what the graph has not made ([`GraphBuilder::acts`](crate::backend::GraphBuilder::acts)).
//!
//! What they did stays done. So a run that fails behind one is no run that never was: the program goes on at the operation that failed,
//! by a capture of the same call that ends there by raising the error ([`Found::failed`](super::Found), `serve/half_done.rs`). That is only possible where
//! a break is one at the very instruction of each operation from the first that acts on; in any other frame the capture starts over,
//! and such an operation is a break itself.

use super::Executor;
use crate::rewrite::computed_below;
use crate::stop::{Reason, Stop};
use crate::variables::VarId;

impl Executor<'_> {
    /// Whether an operation may act, as far as is known before it is built.
    pub(super) fn may_act(&self) -> bool {
        !self.found.never_acts && self.found.general.is_none() && !self.extents_vary()
    }

    /// What new code is to raise where a run has failed.
    pub(super) fn note_failed(&mut self) {
        let error = self.found.failed.as_ref().map(|failed| failed.error.bind(self.py).clone());
        self.failed_with = error.map(|error| self.pin(&error));
    }

    /// An operation is built, and will be a statement of the graph unless the program stops there.
    pub(super) fn is_to_be_recorded(&mut self, acts: bool) -> Result<(), Stop> {
        if self.found.failed.as_ref().is_some_and(|failed| self.graph.len() >= failed.at) {
            self.captured.failed = self.failed_with;
            return Err(Stop::brk(Reason::BackendFailed, "a run of the graph has failed here"));
        }
        self.acted |= acts;
        if self.acted && !self.breaks_here() {
            self.captured.needs_no_acts = true;
            return Err(Stop::brk(
                Reason::InplaceTensor,
                "behind a write to memory that may not be the function's own",
            ));
        }
        if self.acted {
            self.note_what_is_held();
        }
        Ok(())
    }

    /// What the program holds at this operation is there if it fails; everything else dies when eager would have it die.
    fn note_what_is_held(&mut self) {
        let mut roots: Vec<VarId> = Vec::new();
        for frame in &self.captured.frames {
            roots.extend(frame.locals.iter().chain(&frame.cells).flatten());
            roots.extend(frame.stack.iter().chain(&frame.handled).chain(&frame.names));
        }
        let statement = self.captured.graph.len();
        for symbol in computed_below(&self.captured, roots) {
            self.captured.graph.held.insert(symbol.0, statement);
        }
    }

    /// Whether a break at this instruction would be one there.
    fn breaks_here(&mut self) -> bool {
        let plain = |frame: &crate::frame::Frame| !frame.is_hidden() && frame.generator.is_none();
        !self.by_definition
            && self.by_body.is_none()
            && self.frames.iter().all(plain)
            && self.frames_can_be_left()
            && self.looks_at_names_again().is_none()
            && self.call_by_body().is_none()
            && self.call_that_breaks_instead().is_none()
    }
}
