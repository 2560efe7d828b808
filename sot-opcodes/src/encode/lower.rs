//! `Op`s to raw instructions: joins neighbours that one raw instruction says, places END_FOR, orders jumps.
//!
//! Neighbours are joined when they have the same offset and location (both from one raw instruction, or both
//! synthesized) and nothing jumps between them.

use super::lowerer::{Dest, Lowered, Lowerer, resolve};
use super::single;
use crate::analysis::Covering;
use crate::jumps::JumpForm;
use crate::slots::Slots;
use crate::tables::Table;
use crate::tables::raw::Raw;
use crate::{Code, EncodeError, Op, Version};

pub(super) fn lower(code: &Code, regions: &Covering) -> Result<Lowered, EncodeError> {
    let count = code.instrs.len();
    let mut entry: Vec<bool> = (0..=count).map(|i| regions.changes_at(i)).collect();
    let mut end_for = Vec::new();
    for (at, instr) in code.instrs.iter().enumerate() {
        if let Some(label) = instr.op.target() {
            let to = resolve(code, label)?;
            entry[to] = true;
            if matches!(instr.op, Op::ForIter(_)) && code.version >= Version::V312 {
                end_for.resize(count + 1, None);
                end_for[to].get_or_insert(at as u32);
            }
        }
    }
    for region in &code.regions {
        entry[resolve(code, region.handler)?] = true;
    }
    let mut lowerer = Lowerer {
        code,
        version: code.version,
        slots: Slots::new(code.version, &code.varnames, &code.cellvars, code.freevars.len()),
        table: Table::of(code.version),
        entry,
        out: Lowered {
            emits: Vec::with_capacity(count + count / 8),
            starts: Vec::with_capacity(count + 1),
            end_for,
            jumps: Vec::new(),
        },
        at: 0,
    };
    while lowerer.at < count {
        lowerer.end_for()?;
        let start = lowerer.out.emits.len() as u32;
        let used = match lowerer.joined()? {
            0 => {
                single::lower(&mut lowerer)?;
                1
            }
            used => used,
        };
        lowerer.out.starts.resize(lowerer.at + used, start);
        lowerer.at += used;
    }
    let end = lowerer.out.emits.len() as u32;
    lowerer.out.starts.push(end);
    Ok(lowerer.out)
}

impl Lowerer<'_> {
    /// Before the target of a FOR_ITER of 3.12+: what the interpreter skips, jumped over if it could be run into.
    fn end_for(&mut self) -> Result<(), EncodeError> {
        let Some(source) = self.out.end_for.get(self.at).copied().flatten() else { return Ok(()) };
        let run_into = self.at == 0 || self.code.instrs[self.at - 1].op.falls_through();
        if run_into {
            self.jump_at(Raw::JumpForward, JumpForm::Forward, Dest::Instr(self.at as u32), source)?;
        }
        self.out.end_for[self.at] = Some(self.out.emits.len() as u32);
        self.emit_at(Raw::EndFor, 0, source)?;
        if self.version >= Version::V313 {
            self.emit_at(Raw::PopTop, 0, source)?;
        }
        Ok(())
    }

    /// The op `ahead` of the current one, if it is only reached from here and belongs together with it.
    fn next(&self, ahead: usize) -> Option<Op> {
        let (here, there) = (self.instr(), self.code.instrs.get(self.at + ahead)?);
        let joined = (self.at + 1..=self.at + ahead).all(|i| !self.entry[i]);
        (joined && here.offset == there.offset && here.loc == there.loc).then_some(there.op)
    }

    /// Lowers several instructions that one raw instruction says; returns how many.
    fn joined(&mut self) -> Result<usize, EncodeError> {
        let version = self.version;
        let first = self.instr().op;
        let begins_one = match first {
            Op::LoadConst(_) | Op::PushNull | Op::LoadGlobal(_) => version >= Version::V311,
            Op::Copy(2) | Op::CheckExcMatch => version < Version::V311,
            Op::LoadFast { .. } | Op::StoreFast(_) | Op::LoadClosure(_) | Op::StoreClosure(_) => {
                version >= Version::V313
            }
            _ => false,
        };
        let Some(next) = self.code.instrs.get(self.at + 1).map(|i| i.op).filter(|_| begins_one) else { return Ok(0) };
        match (first, next) {
            // One operand, whatever the offsets.
            (Op::LoadConst(names), Op::CallKw { argc, two: true })
                if matches!(version, Version::V311 | Version::V312) && !self.entry[self.at + 1] =>
            {
                self.emit(Raw::KwNames, names.0)?;
                self.at += 1;
                let done = single::call(self, argc);
                self.at -= 1;
                done?;
                return Ok(2);
            }
            _ if self.next(1).is_none() => return Ok(0),
            (Op::PushNull, Op::LoadGlobal(name)) if matches!(version, Version::V311 | Version::V312) => {
                let name = single::name_arg(self, name)?;
                self.emit(Raw::LoadGlobal, name << 1 | 1)?;
            }
            (Op::LoadGlobal(name), Op::PushNull) if version >= Version::V313 => {
                let name = single::name_arg(self, name)?;
                self.emit(Raw::LoadGlobal, name << 1 | 1)?;
            }
            (Op::LoadConst(value), Op::ReturnValue) if version >= Version::V312 => {
                self.emit(Raw::ReturnConst, value.0)?;
            }
            (Op::Copy(2), Op::Copy(2)) if version < Version::V311 => self.emit(Raw::DupTopTwo, 0)?,
            (Op::CheckExcMatch, Op::Swap(2)) if version == Version::V38 && self.next(2) == Some(Op::PopTop) => {
                self.emit(Raw::CompareOp, 10)?;
                return Ok(3);
            }
            (first, second) if version >= Version::V313 => {
                let raw = match (single::fast(self, first), single::fast(self, second)) {
                    (Some((false, a)), Some((false, b))) => Some((Raw::LoadFastLoadFast, a, b)),
                    (Some((true, a)), Some((false, b))) => Some((Raw::StoreFastLoadFast, a, b)),
                    (Some((true, a)), Some((true, b))) => Some((Raw::StoreFastStoreFast, a, b)),
                    _ => None,
                };
                match raw {
                    Some((raw, a, b)) if a < 16 && b < 16 => self.emit(raw, a << 4 | b)?,
                    _ => return Ok(0),
                }
            }
            _ => return Ok(0),
        }
        Ok(2)
    }
}
