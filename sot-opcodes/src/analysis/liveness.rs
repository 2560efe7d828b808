//! Which locals and cells are still needed before each instruction.
//!
//! A local is live when its value may be read before it is written again, handlers included. A cell is live
//! when the cell itself may be used again: a write to its contents does not end that, MAKE_CELL does. What
//! looks at a frame from outside (`locals()`, a debugger) is not counted.

use super::Covering;
use crate::{Cell, Code, Local, Op};

/// Result of [`liveness`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Liveness {
    locals: usize,
    cells: usize,
    /// 64-bit words per instruction.
    stride: usize,
    words: Vec<u64>,
}

/// The locals and cells that are live at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveSet<'a> {
    locals: usize,
    cells: usize,
    words: &'a [u64],
}

impl LiveSet<'_> {
    fn bit(&self, index: usize) -> bool {
        self.words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// This local is live.
    #[must_use]
    pub fn local(&self, local: Local) -> bool {
        (local.0 as usize) < self.locals && self.bit(local.0 as usize)
    }

    /// This cell is live.
    #[must_use]
    pub fn cell(&self, cell: Cell) -> bool {
        (cell.0 as usize) < self.cells && self.bit(self.locals + cell.0 as usize)
    }

    /// The live locals, ascending.
    pub fn locals(self) -> impl Iterator<Item = Local> {
        (0..self.locals).filter(move |i| self.bit(*i)).map(|i| Local(i as u32))
    }

    /// The live cells, ascending.
    pub fn cells(self) -> impl Iterator<Item = Cell> {
        (0..self.cells).filter(move |i| self.bit(self.locals + i)).map(|i| Cell(i as u32))
    }
}

impl Liveness {
    /// What is live before an instruction; nothing is at the end.
    #[must_use]
    pub fn live_before(&self, instr: usize) -> LiveSet<'_> {
        let words = self.words.get(instr * self.stride..(instr + 1) * self.stride).unwrap_or(&[]);
        LiveSet { locals: self.locals, cells: self.cells, words }
    }
}

/// What an instruction does to a set that is computed backward.
enum Change {
    Use(usize),
    Write(usize),
    /// Uses one and ends another: a local that becomes the contents of a cell.
    WriteUse(usize, usize),
    /// Free variables arrive.
    WriteFrom(usize),
}

/// The live locals and cells of a code object.
#[must_use]
pub fn liveness(code: &Code) -> Liveness {
    let (locals, cells) = (code.varnames.len(), code.cellvars.len() + code.freevars.len());
    let stride = (locals + cells).div_ceil(64).max(1);
    let count = code.instrs.len();
    let handlers = Covering::new(code);
    let mut words = vec![0u64; (count + 1) * stride];
    let mut set = vec![0u64; stride];
    loop {
        let mut changed = false;
        for at in (0..count).rev() {
            let op = code.instrs[at].op;
            set.fill(0);
            let join = |set: &mut [u64], from: usize| {
                let other = words.chunks_exact(stride).nth(from).unwrap_or(&[]);
                set.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
            };
            if op.falls_through() {
                join(&mut set, at + 1);
            }
            if let Some(label) = op.target() {
                join(&mut set, code.place(label));
            }
            match change(code, &op, locals, cells) {
                None => {}
                Some(Change::Use(bit)) => set[bit / 64] |= 1 << (bit % 64),
                Some(Change::Write(bit)) => set[bit / 64] &= !(1 << (bit % 64)),
                Some(Change::WriteUse(write, read)) => {
                    set[write / 64] &= !(1 << (write % 64));
                    set[read / 64] |= 1 << (read % 64);
                }
                Some(Change::WriteFrom(first)) => {
                    (first..locals + cells).for_each(|bit| set[bit / 64] &= !(1 << (bit % 64)));
                }
            }
            // It may raise before it writes.
            if let Some(region) = handlers.at(at) {
                join(&mut set, code.place(code.regions[region as usize].handler));
            }
            let here = &mut words[at * stride..(at + 1) * stride];
            if *here != *set {
                here.copy_from_slice(&set);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    Liveness { locals, cells, stride, words }
}

/// What an instruction does; nothing, if it is about a local or cell that the code does not have.
fn change(code: &Code, op: &Op, locals: usize, cells: usize) -> Option<Change> {
    let local = |local: Local| Some(local.0 as usize).filter(|index| *index < locals);
    let cell = |cell: Cell| Some(cell.0 as usize).filter(|index| *index < cells).map(|index| locals + index);
    match *op {
        Op::LoadFast { local: id, .. } | Op::DeleteFast(id) | Op::LoadFastAndClear(id) => local(id).map(Change::Use),
        Op::StoreFast(id) => local(id).map(Change::Write),
        Op::LoadDeref(id)
        | Op::StoreDeref(id)
        | Op::DeleteDeref(id)
        | Op::LoadClosure(id)
        | Op::LoadClosureAndClear(id)
        | Op::LoadClassDeref(id)
        | Op::LoadFromDictOrDeref(id) => cell(id).map(Change::Use),
        Op::StoreClosure(id) => cell(id).map(Change::Write),
        Op::MakeCell(id) => cell(id).map(|bit| {
            let name = code.cellvars.get(id.0 as usize);
            match code.varnames.iter().position(|v| Some(v) == name) {
                Some(local) => Change::WriteUse(bit, local),
                None => Change::Write(bit),
            }
        }),
        Op::CopyFreeVars(_) => Some(Change::WriteFrom(locals + code.cellvars.len())),
        _ => None,
    }
}
