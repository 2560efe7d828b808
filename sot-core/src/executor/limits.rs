//! What bounds a simulation: values that contain themselves, or are nested without end, and signals.
//!
//! The program decides how deep its values are, so nothing may follow them on the stack of this thread without
//! counting: every question that a value passes on to its parts goes through [`Executor::nested`]. A value that is too
//! deep is a break, like any other that cannot be known: Python itself does the operation, and raises its own
//! `RecursionError` where that is what it does.

use super::Executor;
use super::kinds::Operations;
use crate::cpython::signals;
use crate::stop::{Reason, Stop};
use crate::variables::{Args, VarId, VarKind};
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};
use sot_opcodes::Op;

/// Questions inside questions.
const MAX_NESTED: u32 = 400;
/// Steps of the longest path from the frame to a value: a list that is walked by `node = node.next`.
const MAX_PATH: u32 = 400;
/// Parts of a value that is made of constants, each counted as often as it is written out: so many for each of them.
const MAX_COPIES: u64 = 16;
/// A value of so many parts is never too large.
const SMALL: u64 = 10_000;
/// Numbers of more digits (or bits) may be read and written by Python code (3.12+), which a program can change.
const DIGITS: usize = 4096;
/// Instructions between two looks for signals.
const SIGNAL_INTERVAL: usize = 16;

fn too_deep(what: &str) -> Stop {
    Stop::brk(Reason::Depth, what)
}

/// Whether C might leave it to a module of Python to read a number from this, or to write it.
pub(super) fn is_long_number(value: &Bound<'_, PyAny>) -> bool {
    match value.cast_exact::<PyString>() {
        Ok(text) => text.len().is_ok_and(|length| length > DIGITS),
        Err(_) => {
            let bits = || value.call_method0("bit_length").and_then(|bits| bits.extract::<usize>());
            value.is_exact_instance_of::<PyInt>() && value.extract::<i64>().is_err() && bits().is_ok_and(|n| n > DIGITS)
        }
    }
}

impl Executor<'_> {
    /// `int`, `str` and their like are given no number that Python code reads or writes.
    pub(super) fn require_written_by_c(&mut self, callee: &Bound<'_, PyAny>, args: &Args) -> Result<(), Stop> {
        let reads = callee.is(self.py.get_type::<PyInt>());
        for arg in &args.positional {
            let VarKind::Constant(constant) = &self.var(*arg).kind else { continue };
            let value = self.objects.get(self.py, constant.object);
            if (reads || !value.is_exact_instance_of::<PyString>()) && is_long_number(&value) {
                return Err(Stop::brk(Reason::OpaqueValue, "a large number"));
            }
        }
        Ok(())
    }

    /// Ask a part of a value.
    pub fn nested<R>(&mut self, ask: impl FnOnce(&mut Self) -> Result<R, Stop>) -> Result<R, Stop> {
        if self.nested_too_deeply() {
            return Err(too_deep("a value that is nested without end, or contains itself"));
        }
        self.nesting += 1;
        let result = ask(self);
        self.nesting -= 1;
        result
    }

    pub fn nested_too_deeply(&self) -> bool {
        self.nesting >= MAX_NESTED
    }

    /// Asked before each instruction.
    pub(super) fn may_go_on(&mut self, op: &Op) -> Result<(), Stop> {
        if signals::interrupted(self.py, self.steps().is_multiple_of(SIGNAL_INTERVAL)) {
            return Err(Stop::fallback(Reason::Interrupted, ""));
        }
        // At instructions that make paths longer; there the program can go on with the value in its hands.
        let lengthens = matches!(
            op,
            Op::LoadAttr(_)
                | Op::LoadMethod(_)
                | Op::BinarySubscr
                | Op::Call { .. }
                | Op::CallKw { .. }
                | Op::CallEx { .. }
                | Op::ForIter(_)
        );
        if could_tell(op) && self.has_died() {
            return Err(Stop::brk(Reason::Finalizer, ""));
        }
        if lengthens { self.may_go_deeper() } else { Ok(()) }
    }

    /// Asked where paths become longer.
    pub(super) fn may_go_deeper(&self) -> Result<(), Stop> {
        match self.trackers.longest_path() > MAX_PATH {
            true => Err(too_deep("a path of many steps")),
            false => Ok(()),
        }
    }

    /// Whether a value is made of constants only. What contains itself is not, nor what is out of all proportion when
    /// it is written out.
    pub fn is_plain(&mut self, var: VarId) -> Result<bool, Stop> {
        // Parts before wholes: the size of each value that is done, and the values that are open.
        let mut sizes: HashMap<VarId, u64> = HashMap::new();
        let mut open: HashSet<VarId> = HashSet::new();
        let mut work = vec![var];
        while let Some(&at) = work.last() {
            if sizes.contains_key(&at) {
                work.pop();
                continue;
            }
            let Some(parts) = self.look(at)?.plain_parts(self, at)? else { return Ok(false) };
            if open.insert(at) {
                if open.len() - sizes.len() > MAX_NESTED as usize {
                    return Err(too_deep("a value that is nested without end"));
                }
                for part in &parts {
                    if open.contains(part) && !sizes.contains_key(part) {
                        return Err(too_deep("a value that contains itself"));
                    }
                }
                work.extend(parts.iter().rev().filter(|part| !sizes.contains_key(*part)));
            } else {
                let size =
                    parts.iter().fold(1u64, |sum, part| sum.saturating_add(sizes.get(part).copied().unwrap_or(1)));
                if size > SMALL.max(MAX_COPIES * sizes.len() as u64) {
                    return Err(too_deep("a value whose parts are shared many times"));
                }
                sizes.insert(at, size);
                work.pop();
            }
        }
        Ok(true)
    }
}

/// Whether an instruction may find out what a finalizer did, and can run as Python by itself. Others move what the frame has
/// in its hands, or belong to the frame: they yield, return, and handle exceptions.
fn could_tell(op: &Op) -> bool {
    matches!(
        op,
        Op::LoadGlobal(_)
            | Op::StoreGlobal(_)
            | Op::DeleteGlobal(_)
            | Op::LoadAttr(_)
            | Op::LoadMethod(_)
            | Op::StoreAttr(_)
            | Op::DeleteAttr(_)
            | Op::BinarySubscr
            | Op::BinarySlice
            | Op::StoreSubscr
            | Op::DeleteSubscr
            | Op::Unary(_)
            | Op::Binary { .. }
            | Op::Compare { .. }
            | Op::Contains { .. }
            | Op::PopJumpIf { .. }
            | Op::GetIter
            | Op::ForIter(_)
            | Op::UnpackSequence(_)
            | Op::ListExtend(_)
            | Op::FormatValue { .. }
            | Op::Call { .. }
            | Op::CallKw { .. }
            | Op::CallEx { .. }
            | Op::ImportName(_)
            | Op::ImportFrom(_)
    )
}
