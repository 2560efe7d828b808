//! Raw instructions: EXTENDED_ARG folded into the operand, caches skipped, special forms read as what they stand for.

use crate::tables::Table;
use crate::tables::raw::Raw;
use crate::{DecodeError, RawCode};

/// One raw instruction. Offsets are in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    pub(super) raw: Raw,
    pub(super) arg: u32,
    /// Where its opcode is: what `f_lasti` says.
    pub(super) at: u32,
    /// Where the next one begins, behind the caches.
    pub(super) next: u32,
}

pub(super) struct Units {
    pub(super) list: Vec<Unit>,
    /// Index of the instruction that begins (with its EXTENDED_ARGs) at each pair of bytes; `NONE` inside instructions.
    begins: Vec<u32>,
    size: u32,
}

const NONE: u32 = u32::MAX;

impl Units {
    pub(super) fn read(raw: &RawCode) -> Result<Self, DecodeError> {
        let code = raw.code.as_slice();
        let table = Table::of(raw.version);
        let mut list: Vec<Unit> = Vec::with_capacity(code.len() / 2);
        let mut begins = vec![NONE; code.len() / 2];
        let (mut at, mut start, mut arg) = (0usize, 0u32, 0u32);
        while at < code.len() {
            let offset = at as u32;
            let &[opcode, low] = code.get(at..at + 2).ok_or(DecodeError::Truncated { offset })? else {
                return Err(DecodeError::Truncated { offset });
            };
            let (op, caches) = table.read(opcode).ok_or(DecodeError::UnknownOpcode { offset, opcode })?;
            // How many caches follow depends on what the interpreter has put aside for it.
            if matches!(op, Raw::InstrumentedLine | Raw::InstrumentedInstruction | Raw::EnterExecutor) {
                return Err(DecodeError::Internal { offset, name: op.name() });
            }
            arg |= u32::from(low);
            at += 2;
            if op == Raw::ExtendedArg {
                if arg >= 1 << 23 {
                    return Err(DecodeError::BadOperand { offset, name: op.name(), arg });
                }
                arg <<= 8;
                if at >= code.len() {
                    return Err(DecodeError::Truncated { offset });
                }
                continue;
            }
            at += usize::from(caches) * 2;
            if at > code.len() {
                return Err(DecodeError::Truncated { offset });
            }
            begins[start as usize / 2] = list.len() as u32;
            list.push(Unit { raw: op, arg, at: offset, next: at as u32 });
            (start, arg) = (at as u32, 0);
        }
        Ok(Self { list, begins, size: code.len() as u32 })
    }

    /// The instruction that begins at an offset.
    pub(super) fn at(&self, offset: u32) -> Option<usize> {
        if !offset.is_multiple_of(2) {
            return None;
        }
        let index = *self.begins.get(offset as usize / 2)?;
        (index != NONE).then_some(index as usize)
    }

    /// As `at`, the end of the code included.
    pub(super) fn at_or_end(&self, offset: u32) -> Option<usize> {
        if offset == self.size { Some(self.list.len()) } else { self.at(offset) }
    }
}
