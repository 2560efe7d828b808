//! Raw instructions before layout, and what appends them.

use crate::jumps::{self, JumpForm};
use crate::slots::Slots;
use crate::tables::Table;
use crate::tables::raw::Raw;
use crate::{Code, EncodeError, Instr, Label, Version};

/// EXTENDED_ARGs that an operand needs.
pub(super) const fn prefixes(arg: u32) -> u8 {
    match arg {
        0..=0xff => 0,
        0x100..=0xffff => 1,
        0x1_0000..=0xff_ffff => 2,
        _ => 3,
    }
}

/// Where a raw jump goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dest {
    /// The first raw instruction of an instruction.
    Instr(u32),
    /// The END_FOR before an instruction.
    EndFor(u32),
    /// Over this many of the following raw instructions.
    Skip(u32),
}

/// One raw instruction before layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Emit {
    pub(super) number: u8,
    pub(super) caches: u8,
    /// EXTENDED_ARGs before it.
    pub(super) prefixes: u8,
    pub(super) arg: u32,
    /// The instruction it belongs to: whose location it has and whose region covers it.
    pub(super) source: u32,
}

/// A raw jump before layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawJump {
    /// The raw instruction.
    pub(super) at: u32,
    pub(super) form: JumpForm,
    pub(super) dest: Dest,
    /// The raw instruction it goes to; set by the layout.
    pub(super) to: u32,
}

pub(super) struct Lowered {
    pub(super) emits: Vec<Emit>,
    /// First raw instruction of each instruction, and the end.
    pub(super) starts: Vec<u32>,
    /// The END_FOR before each instruction, where one is; empty if there is none.
    pub(super) end_for: Vec<Option<u32>>,
    pub(super) jumps: Vec<RawJump>,
}

pub(super) struct Lowerer<'a> {
    pub(super) code: &'a Code,
    pub(super) version: Version,
    pub(super) slots: Slots,
    pub(super) table: &'static Table,
    /// Something other than the predecessor leads here, or the handler changes.
    pub(super) entry: Vec<bool>,
    pub(super) out: Lowered,
    /// The instruction being lowered.
    pub(super) at: usize,
}

/// The instruction of a label; the end is no instruction.
pub(super) fn resolve(code: &Code, label: Label) -> Result<usize, EncodeError> {
    let to = code.labels.get(label.0 as usize).copied().filter(|to| *to < code.instrs.len());
    to.ok_or(EncodeError::Label(label))
}

impl Lowerer<'_> {
    pub(super) fn instr(&self) -> &Instr {
        &self.code.instrs[self.at]
    }

    pub(super) fn unsupported(&self) -> EncodeError {
        EncodeError::Unsupported { at: self.at, op: self.instr().op, version: self.version }
    }

    pub(super) fn bad_operand(&self) -> EncodeError {
        EncodeError::BadOperand { at: self.at, op: self.instr().op }
    }

    /// The opcode exists in this version.
    pub(super) fn has(&self, raw: Raw) -> bool {
        self.table.write(raw).is_some()
    }

    pub(super) fn emit(&mut self, raw: Raw, arg: u32) -> Result<(), EncodeError> {
        self.emit_at(raw, arg, self.at as u32)
    }

    pub(super) fn emit_jump(&mut self, raw: Raw, dest: Dest) -> Result<(), EncodeError> {
        let form = jumps::form(raw, self.version).ok_or_else(|| self.unsupported())?;
        if let (JumpForm::Forward, Dest::Instr(to)) = (form, dest)
            && to as usize <= self.at
        {
            return Err(EncodeError::Backward { at: self.at, op: self.instr().op });
        }
        self.jump_at(raw, form, dest, self.at as u32)
    }

    pub(super) fn jump_at(&mut self, raw: Raw, form: JumpForm, dest: Dest, source: u32) -> Result<(), EncodeError> {
        self.out.jumps.push(RawJump { at: self.out.emits.len() as u32, form, dest, to: 0 });
        self.emit_at(raw, 0, source)
    }

    pub(super) fn emit_at(&mut self, raw: Raw, arg: u32, source: u32) -> Result<(), EncodeError> {
        let (number, caches) = self.table.write(raw).ok_or_else(|| self.unsupported())?;
        if arg > i32::MAX as u32 {
            return Err(self.bad_operand());
        }
        self.out.emits.push(Emit { number, caches, prefixes: prefixes(arg), arg, source });
        Ok(())
    }

    /// The instruction that a label of the current one names.
    pub(super) fn dest(&self, label: Label) -> Result<u32, EncodeError> {
        Ok(resolve(self.code, label)? as u32)
    }
}
