//! Offsets: the least fixed point of jump operands and the EXTENDED_ARGs they need, then the bytes.

use super::lowerer::{Dest, Lowered, prefixes};
use crate::analysis::Covering;
use crate::exctable::{self, Entry};
use crate::jumps::{self, JumpForm};
use crate::tables::Table;
use crate::tables::raw::Raw;
use crate::{Code, EncodeError};

pub(super) struct Layout {
    pub(super) bytes: Vec<u8>,
    /// Byte offset of each raw instruction (its EXTENDED_ARGs included), and the end.
    offsets: Vec<u32>,
}

impl Layout {
    /// The size in bytes of each raw instruction.
    pub(super) fn sizes(&self, count: usize) -> impl Iterator<Item = u32> + '_ {
        (0..count).map(|i| self.offsets[i + 1] - self.offsets[i])
    }
}

pub(super) fn layout(code: &Code, lowered: &mut Lowered) -> Result<Layout, EncodeError> {
    let Lowered { emits, starts, end_for, jumps } = lowered;
    for jump in &mut *jumps {
        jump.to = match jump.dest {
            Dest::Instr(to) => starts[to as usize],
            Dest::EndFor(to) => end_for.get(to as usize).copied().flatten().unwrap_or(starts[to as usize]),
            Dest::Skip(count) => jump.at + 1 + count,
        };
    }
    let mut offsets = vec![0u32; emits.len() + 1];
    let unit = jumps::unit(code.version);
    loop {
        let mut offset = 0;
        for (start, emit) in offsets.iter_mut().zip(&*emits) {
            *start = offset;
            offset += 2 * (1 + u32::from(emit.prefixes) + u32::from(emit.caches));
        }
        offsets[emits.len()] = offset;
        let mut grown = false;
        for jump in &*jumps {
            let (target, next) = (offsets[jump.to as usize], offsets[jump.at as usize + 1]);
            let distance = match jump.form {
                JumpForm::Absolute => Some(target),
                JumpForm::Forward => target.checked_sub(next),
                JumpForm::Backward => next.checked_sub(target),
            };
            let emit = &mut emits[jump.at as usize];
            let source = emit.source as usize;
            emit.arg = distance.ok_or(EncodeError::Backward { at: source, op: code.instrs[source].op })? / unit;
            let needed = prefixes(emit.arg);
            if needed > emit.prefixes {
                emit.prefixes = needed;
                grown = true;
            }
        }
        if !grown {
            break;
        }
    }
    let mut bytes = Vec::with_capacity(offsets[emits.len()] as usize);
    let extended = Table::of(code.version).write(Raw::ExtendedArg).map_or(0, |(number, _)| number);
    for emit in &*emits {
        let arg = emit.arg.to_be_bytes();
        for byte in &arg[3 - usize::from(emit.prefixes)..3] {
            bytes.extend([extended, *byte]);
        }
        bytes.extend([emit.number, arg[3]]);
        bytes.resize(bytes.len() + 2 * usize::from(emit.caches), 0);
    }
    Ok(Layout { bytes, offsets })
}

/// One entry per run of raw instructions with the same handler.
pub(super) fn exception_table(
    code: &Code,
    regions: &Covering,
    lowered: &Lowered,
    laid: &Layout,
) -> Result<Vec<u8>, EncodeError> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut last: Option<u32> = None;
    for (i, emit) in lowered.emits.iter().enumerate() {
        let Some(index) = regions.at(emit.source as usize) else {
            last = None;
            continue;
        };
        let (start, end) = (laid.offsets[i], laid.offsets[i + 1]);
        let open = entries.last_mut().filter(|e| e.end == start);
        match open {
            Some(entry) if last == Some(index) => entry.end = end,
            _ => {
                let region = &code.regions[index as usize];
                let to = code.labels.get(region.handler.0 as usize).ok_or(EncodeError::Label(region.handler))?;
                let handler = laid.offsets[lowered.starts[*to] as usize];
                let same = |e: &&mut Entry| {
                    e.end == start && (e.handler, e.depth, e.lasti) == (handler, region.depth, region.lasti)
                };
                match entries.last_mut().filter(same) {
                    Some(entry) => entry.end = end,
                    None => entries.push(Entry { start, end, handler, depth: region.depth, lasti: region.lasti }),
                }
            }
        }
        last = Some(index);
    }
    Ok(exctable::write(&entries))
}
