//! What is being handled while rewritten code runs: finalizers, callbacks of weak references and generators that are closed see it.
//!
//! It is set where it changes, before what may let go of a value whose death the program could see, and before the instruction of
//! a break. On each way out it is again what it was when the code began.

use super::emit::{Callable, Emitter};
use crate::called_by_code;
use crate::stop::Stop;
use crate::variables::VarId;
use sot_opcodes::Op;

impl Emitter<'_, '_> {
    /// Let this exception be what is being handled; `None`: what was when the code began.
    pub(super) fn tell(&mut self, exception: Option<VarId>) -> Result<(), Stop> {
        if self.handling == exception {
            return Ok(());
        }
        if let Some(exception) = exception {
            self.have(exception)?;
        }
        let handle = called_by_code::handle(self.py).map_err(|e| Stop::internal(&e))?;
        self.push_callable(Callable::Object(handle));
        match (exception, self.handled_before) {
            (Some(exception), _) => self.push(exception)?,
            (None, Some(before)) => self.load(before),
            (None, None) => self.push_none(),
        }
        self.call(1);
        match self.handled_before {
            Some(_) => self.emit(Op::PopTop),
            None => {
                let before = self.new_temp();
                self.store(before);
                self.handled_before = Some(before);
            }
        }
        self.handling = exception;
        Ok(())
    }

    /// The value can be pushed more than once.
    pub(super) fn have(&mut self, var: VarId) -> Result<(), Stop> {
        if self.source(var).is_some() {
            return Ok(());
        }
        self.push(var)?;
        // It may have come to a local on its way: two would hold it for longer.
        match self.source(var) {
            Some(_) => self.emit(Op::PopTop),
            None => self.remember(var),
        }
        Ok(())
    }
}
