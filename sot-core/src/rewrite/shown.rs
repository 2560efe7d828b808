//! Where the emitted code has the user's variables, should it raise.

use super::computed_symbol;
use super::emit::Emitter;
use crate::captured::Outcome;
use crate::frame::Frame;
use crate::user_frames::{Shown, Source, Standing};
use crate::variables::{FrameEnd, VarId, VarKind};
use sot_opcodes::Local;

impl Emitter<'_, '_> {
    /// What the code stands for in a traceback. To be asked when all of it was emitted.
    pub(super) fn shown(&self, outcome: &Outcome) -> Shown {
        let frames = match outcome {
            Outcome::Break(_) => self.captured.frames.as_slice(),
            // It has passed them all before, and its traceback shows them.
            Outcome::Raise(_) | Outcome::Return(_) => &[],
        };
        let py = self.py;
        let skipped = |frame: &Frame| frame.skipped.as_ref().map(|skipped| Standing::of_skipped(py, skipped));
        let mut at_end: Vec<Standing> = Vec::with_capacity(frames.len());
        for (depth, frame) in frames.iter().enumerate() {
            at_end.extend(skipped(frame).filter(|_| depth > 0));
            if !frame.is_hidden() {
                at_end.push(self.standing(frame));
            }
        }
        let globals = self.captured.entry_globals.map(|globals| self.captured.objects.get(self.py, globals).unbind());
        let elsewhere = globals.map(|globals| Standing {
            unit: self.unit.clone(),
            globals,
            ip: 0,
            locals: Vec::new(),
            cells: Vec::new(),
        });
        let stand_ins = self.stand_ins.iter().map(|code| code.clone_ref(self.py)).collect();
        Shown { at_end, always: matches!(outcome, Outcome::Raise(_)), elsewhere, stand_ins }
    }

    fn standing(&self, frame: &Frame) -> Standing {
        let known = |bound: Vec<(u32, VarId)>| -> Vec<(u32, Source)> {
            bound.into_iter().filter_map(|(index, var)| Some((index, self.source(var)?))).collect()
        };
        let FrameEnd { locals, cells, .. } = self.captured.end_of_left(frame);
        Standing { locals: known(locals), cells: known(cells), ..self.captured.standing_of(self.py, frame) }
    }

    /// Where a variable's value is while the code runs. It is looked up, never built.
    pub(super) fn source(&self, var: VarId) -> Option<Source> {
        if matches!(self.captured.var(var).kind, VarKind::Null(_)) {
            return None;
        }
        if let Some(Local(local)) = self.temps.get(&var) {
            return Some(Source::Local(*local));
        }
        if let Some(symbol) = computed_symbol(self.captured, var) {
            return self.outputs.get(&symbol.0).map(|Local(local)| Source::Local(*local));
        }
        if let Some(slot) = self.captured.trackers.get(self.captured.var(var).tracker).as_slot()
            && self.captured.found_outside(var)
        {
            return Some(match slot.checked_sub(self.arguments as u32) {
                None => Source::Local(slot),
                Some(cell) => Source::Closure(cell),
            });
        }
        let object = self.captured.objects.get(self.py, self.constant_object(var)?);
        if let Some(id) = self.const_ids.get(&(object.as_ptr() as usize)) {
            return Some(Source::InCode(id.0));
        }
        // What may be large and is nobody's constant is not kept alive for the sake of tracebacks.
        match self.captured.var(var).kind {
            VarKind::Constant(_)
            | VarKind::Builtin(_)
            | VarKind::Class(_)
            | VarKind::Module(_)
            | VarKind::Function(_) => Some(Source::Constant(object.unbind())),
            _ => None,
        }
    }
}
