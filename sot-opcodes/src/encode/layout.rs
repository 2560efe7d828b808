//! Offsets: the least fixed point of jump operands and the EXTENDED_ARGs they need, then the bytes.

use super::lower::{Dest, Lowered};
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

/// EXTENDED_ARGs that an operand needs.
const fn prefixes(arg: u32) -> u8 {
    match arg {
        0..=0xff => 0,
        0x100..=0xffff => 1,
        0x1_0000..=0xff_ffff => 2,
        _ => 3,
    }
}

pub(super) fn layout(code: &Code, lowered: &Lowered) -> Result<Layout, EncodeError> {
    let emits = &lowered.emits;
    let mut args: Vec<u32> = emits.iter().map(|e| e.arg).collect();
    let mut prefix: Vec<u8> = args.iter().map(|a| prefixes(*a)).collect();
    let mut offsets = vec![0u32; emits.len() + 1];
    let jumps: Vec<(usize, JumpForm, usize)> = emits
        .iter()
        .enumerate()
        .filter_map(|(at, emit)| {
            let (form, dest) = emit.jump?;
            let to = match dest {
                Dest::Instr(to) => lowered.starts[to as usize],
                Dest::EndFor(to) => lowered.end_for[to as usize].unwrap_or(lowered.starts[to as usize]),
                Dest::Skip(count) => at as u32 + 1 + count,
            };
            Some((at, form, to as usize))
        })
        .collect();
    let unit = jumps::unit(code.version);
    loop {
        let mut offset = 0;
        for (i, emit) in emits.iter().enumerate() {
            offsets[i] = offset;
            offset += 2 * (1 + u32::from(prefix[i]) + u32::from(emit.caches));
        }
        offsets[emits.len()] = offset;
        let mut grown = false;
        for &(at, form, to) in &jumps {
            let (target, next) = (offsets[to], offsets[at + 1]);
            let distance = match form {
                JumpForm::Absolute => Some(target),
                JumpForm::Forward => target.checked_sub(next),
                JumpForm::Backward => next.checked_sub(target),
            };
            let source = emits[at].source as usize;
            let backward = || EncodeError::Backward { at: source, op: code.instrs[source].op };
            args[at] = distance.ok_or_else(backward)? / unit;
            let needed = prefixes(args[at]);
            if needed > prefix[at] {
                prefix[at] = needed;
                grown = true;
            }
        }
        if !grown {
            break;
        }
    }
    let mut bytes = Vec::with_capacity(offsets[emits.len()] as usize);
    let extended = Table::of(code.version).write(Raw::ExtendedArg).map_or(0, |(number, _)| number);
    for (i, emit) in emits.iter().enumerate() {
        let arg = args[i].to_be_bytes();
        for byte in &arg[3 - usize::from(prefix[i])..3] {
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
    regions: &[Option<u32>],
    lowered: &Lowered,
    laid: &Layout,
) -> Result<Vec<u8>, EncodeError> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut last: Option<u32> = None;
    for (i, emit) in lowered.emits.iter().enumerate() {
        let Some(index) = regions[emit.source as usize] else {
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
