//! Where jumps and handlers go, and which instructions the normal form leaves out.
//!
//! 3.12+: FOR_ITER names an END_FOR (3.13: and a POP_TOP) which it skips itself. The label is bound behind
//! them. They are dropped if nothing else gets there; else they stay as the pops that they are.
//! 3.11: the target of SEND gets an `EndSend`, which only SEND reaches.

use super::{Label, Unit, Units};
use crate::exctable::Entry;
use crate::jumps::{self, JumpForm};
use crate::tables::raw::Raw;
use crate::{DecodeError, RawCode, Version};

#[derive(Clone, Copy, Default)]
struct Mark {
    /// A label here (at the instruction, behind an inserted `EndSend`).
    target: Option<Label>,
    /// A label at the inserted `EndSend`.
    end_send: Option<Label>,
    dropped: bool,
}

pub(super) struct Targets {
    /// One per unit and one for the end.
    marks: Vec<Mark>,
    /// The target (a unit) of each jump, `FOR_ITER` already moved behind the END_FOR.
    of_unit: Vec<u32>,
    pub(super) count: u32,
}

impl Targets {
    pub(super) fn find(raw: &RawCode, units: &Units, table: &[Entry]) -> Result<Self, DecodeError> {
        let list = &units.list;
        let placeholder = Some(Label(0));
        let mut marks = vec![Mark::default(); list.len() + 1];
        let mut of_unit = vec![0; list.len()];
        let mut loops = Vec::new();
        for (index, unit) in list.iter().enumerate() {
            let Some((form, offset)) = target_offset(raw.version, unit) else { continue };
            let bad = DecodeError::BadTarget { offset: unit.at, target: offset };
            let to = u32::try_from(offset).ok().and_then(|o| units.at(o)).ok_or(bad)?;
            if form == JumpForm::Backward && to > index {
                return Err(bad);
            }
            of_unit[index] = to as u32;
            match unit.raw {
                Raw::ForIter if raw.version >= Version::V312 => loops.push((index, to)),
                Raw::Send if raw.version == Version::V311 => marks[to].end_send = placeholder,
                _ => marks[to].target = placeholder,
            }
        }
        for entry in table {
            let to = units.at(entry.handler).ok_or(DecodeError::BadExceptionTable)?;
            marks[to].target = placeholder;
        }
        let skipped: &[Raw] = if raw.version >= Version::V313 { &[Raw::EndFor, Raw::PopTop] } else { &[Raw::EndFor] };
        for &(index, to) in &loops {
            let shape = DecodeError::BadShape { offset: list[index].at, name: "FOR_ITER" };
            let found = list.get(to..to + skipped.len()).ok_or(shape)?;
            if !found.iter().map(|u| u.raw).eq(skipped.iter().copied()) {
                return Err(shape);
            }
            let free = (to..to + skipped.len()).all(|i| marks[i].target.is_none())
                && to.checked_sub(1).is_some_and(|before| !falls_through(list[before].raw));
            of_unit[index] = (to + skipped.len()) as u32;
            for mark in &mut marks[to..to + skipped.len()] {
                mark.dropped = free;
            }
        }
        for &(index, _) in &loops {
            marks[of_unit[index] as usize].target = placeholder;
        }
        // An `EndSend` that could be run into is jumped over.
        for i in 1..list.len() {
            if marks[i].end_send.is_some() && falls_through(list[i - 1].raw) {
                marks[i].target = placeholder;
            }
        }
        let mut count = 0;
        for mark in &mut marks {
            for label in [&mut mark.end_send, &mut mark.target].into_iter().flatten() {
                *label = Label(count);
                count += 1;
            }
        }
        Ok(Self { marks, of_unit, count })
    }

    /// The label at a unit (or the end).
    pub(super) fn label(&self, unit: usize) -> Option<Label> {
        self.marks[unit].target
    }

    /// The label of the `EndSend` to insert before a unit.
    pub(super) fn end_send(&self, unit: usize) -> Option<Label> {
        self.marks[unit].end_send
    }

    pub(super) fn dropped(&self, unit: usize) -> bool {
        self.marks[unit].dropped
    }

    /// Anything that gets here other than from the instruction before.
    pub(super) fn is_entry(&self, unit: usize) -> bool {
        self.marks.get(unit).is_some_and(|m| m.target.is_some() || m.end_send.is_some())
    }

    /// Where the jump at a unit goes.
    pub(super) fn of_jump(&self, version: Version, units: &[Unit], unit: usize) -> Option<Label> {
        let mark = self.marks[self.of_unit[unit] as usize];
        if version == Version::V311 && units[unit].raw == Raw::Send { mark.end_send } else { mark.target }
    }

    /// The label of the instruction at a byte offset.
    pub(super) fn label_at(&self, units: &Units, offset: u32) -> Option<Label> {
        units.at(offset).and_then(|unit| self.marks[unit].target)
    }
}

pub(super) fn falls_through(raw: Raw) -> bool {
    !matches!(
        raw,
        Raw::JumpForward
            | Raw::JumpAbsolute
            | Raw::JumpBackward
            | Raw::JumpBackwardNoInterrupt
            | Raw::ReturnValue
            | Raw::ReturnConst
            | Raw::RaiseVarargs
            | Raw::Reraise
    )
}

fn target_offset(version: Version, unit: &Unit) -> Option<(JumpForm, i64)> {
    let distance = i64::from(unit.arg) * i64::from(jumps::unit(version));
    let form = jumps::form(unit.raw, version)?;
    let target = match form {
        JumpForm::Absolute => distance,
        JumpForm::Forward => i64::from(unit.next) + distance,
        JumpForm::Backward => i64::from(unit.next) - distance,
    };
    Some((form, target))
}
