//! Virtual frames, and what code says about them.

use crate::awaits::Awaits;
use crate::code_unit::CodeUnit;
use crate::cpython::facts;
use crate::objects::VarId;
use crate::stop::Why;
use hashbrown::HashSet;
use pyo3::prelude::*;
use sot_opcodes::analysis::reachable_from;
use sot_opcodes::{Code, CodeFlags, Intrinsic, Local, NameId, Op, Region, calls, handling};
use sot_tracker::ObjectId;
use std::rc::Rc;
use std::sync::Arc;

/// A place in the bytecode: code, by address, and the instruction.
pub type Site = (usize, usize);

/// Where a handler raises again that does nothing but put locals back (3.12+: an inlined comprehension): for a frame
/// that ends with the exception that is the same as no handler. So is the one that the compiler puts around the body of each
/// generator (3.12+): it makes another exception of StopIteration, as earlier versions do without any code.
fn only_restores(code: &Code, handler: usize) -> Option<usize> {
    for (at, instruction) in code.instrs.iter().enumerate().skip(handler) {
        match instruction.op {
            Op::Swap(_) | Op::PopTop | Op::StoreFast(_) | Op::StoreClosure(_) | Op::Nop => {}
            Op::Intrinsic1(Intrinsic::StopIterationError) => {}
            Op::Reraise(_) => return Some(at),
            _ => return None,
        }
    }
    None
}

/// 3.8: how a `finally` block was entered without an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finally {
    /// From above: NULL.
    Fallen,
    /// By CALL_FINALLY, for what comes at an instruction: its address.
    Called(usize),
}

/// One simulated frame.
#[derive(Clone, Debug)]
pub struct Frame {
    pub unit: Arc<CodeUnit>,
    pub globals: ObjectId,
    pub builtins: ObjectId,
    pub locals: Vec<Option<VarId>>,
    /// Cell variables, then free variables.
    pub cells: Vec<Option<VarId>>,
    pub stack: Vec<VarId>,
    /// Index of the current instruction; of one that waits, the instruction that called.
    pub ip: usize,
    /// While a frame above it runs.
    pub awaits: Awaits,
    /// How many values on top of the stack are there for that frame only: the interpreter holds them until the call is over.
    pub held: usize,
    /// Exceptions that are being handled, the innermost last. Each has its slot (or slots) of the previous one on the stack.
    pub handled: Vec<VarId>,
    /// 3.8: how much of the stack lies under each block of `try` and `with` that is open, the outermost first. The code alone does
    /// not say it: a `finally` block stands on one slot, or on the six of an exception.
    pub blocks: Vec<u32>,
    /// The generator that this frame belongs to.
    pub generator: Option<VarId>,
    /// The frame between this one and the caller's, if the simulation left it out.
    pub skipped: Option<Arc<Skipped>>,
    /// Where the exceptions were raised whose handlers say `lasti`, by the height of the stack at their handler (up to 3.10 by
    /// the number of exceptions that were handled): RERAISE makes it the place of the frame again.
    pub lasti: Vec<(usize, usize)>,
    /// The RERAISE that has run, and the place that it has given the frame.
    pub raised_again: Option<(usize, usize)>,
    /// Exceptions that were caught here, and the number of this frame among those that each has passed: their tracebacks hold
    /// it, unless they were cut since.
    pub caught: Rc<Vec<(VarId, u32)>>,
    /// Exceptions that it handled when the capture began: their tracebacks have an entry of it from then.
    pub before: Rc<[VarId]>,
    /// Of the body of a class: the dict of its names, which nobody else has. Of a function that looks at its variables more than
    /// once, up to 3.12: the dict that it is given each time.
    pub names: Option<VarId>,
    /// Of the constructor of a class of the framework: the class, and why it may not be simulated.
    pub makes: Option<Rc<(ObjectId, Why)>>,
}

impl Frame {
    pub fn new(unit: Arc<CodeUnit>, globals: ObjectId, builtins: ObjectId) -> Frame {
        let locals = vec![None; unit.code.varnames.len()];
        let cells = vec![None; unit.code.cellvars.len() + unit.code.freevars.len()];
        Frame {
            unit,
            globals,
            builtins,
            locals,
            cells,
            stack: Vec::new(),
            ip: 0,
            awaits: Awaits::Push,
            held: 0,
            handled: Vec::new(),
            blocks: Vec::new(),
            generator: None,
            skipped: None,
            lasti: Vec::new(),
            raised_again: None,
            caught: Rc::default(),
            before: Rc::default(),
            names: None,
            makes: None,
        }
    }

    /// Become a copy of another frame, in the memory that is there.
    pub(crate) fn copy_from(&mut self, other: &Frame) {
        let Frame {
            unit,
            globals,
            builtins,
            locals,
            cells,
            stack,
            ip,
            awaits,
            held,
            handled,
            blocks,
            generator,
            skipped,
            lasti,
            raised_again,
            caught,
            before,
            names,
            makes,
        } = other;
        if !Arc::ptr_eq(&self.unit, unit) {
            self.unit = unit.clone();
        }
        (self.globals, self.builtins, self.ip, self.awaits, self.held, self.generator) =
            (*globals, *builtins, *ip, *awaits, *held, *generator);
        self.names = *names;
        self.makes.clone_from(makes);
        self.locals.clone_from(locals);
        self.cells.clone_from(cells);
        self.stack.clone_from(stack);
        self.handled.clone_from(handled);
        self.blocks.clone_from(blocks);
        self.skipped.clone_from(skipped);
        self.lasti.clone_from(lasti);
        self.raised_again = *raised_again;
        self.caught.clone_from(caught);
        self.before.clone_from(before);
    }

    /// Whether it is the body of a class, whose variables are in a dict.
    pub fn is_class_body(&self) -> bool {
        self.names.is_some() && !self.unit.code.flags.contains(CodeFlags::OPTIMIZED)
    }

    /// The call that the frame waits for is over.
    pub fn let_go_of_operands(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.stack.truncate(self.stack.len().saturating_sub(held));
    }

    /// A block begins on what the stack holds now.
    pub fn open_block(&mut self) {
        if handling::finally_has_state(self.unit.code.version) {
            self.blocks.push(self.stack.len() as u32);
        }
    }

    /// An exception at the current instruction goes to the handler of this region: how much of the stack stays.
    pub fn leave_for(&mut self, region: &Region) -> usize {
        depth_in_handler(&self.unit, self.ip, &mut self.blocks, region)
    }

    /// All that the frame holds.
    pub fn values(&self) -> impl Iterator<Item = VarId> + '_ {
        let places = self.locals.iter().chain(&self.cells).flatten();
        self.stack.iter().chain(&self.handled).chain(places).chain(&self.names).copied()
    }

    /// What the frame holds when it ends, in the order in which the interpreter lets go of it.
    pub fn values_at_end(&self) -> Vec<VarId> {
        let mut values = self.locals_at_end();
        values.extend(self.stack.iter().chain(&self.handled).chain(&self.names));
        values
    }

    /// Its variables in that order. An argument that is a cell has its cell in its place from 3.11 on.
    pub fn locals_at_end(&self) -> Vec<VarId> {
        let code = &self.unit.code;
        let mut cells = self.cells.clone();
        let mut values = Vec::with_capacity(self.locals.len() + cells.len());
        for (at, local) in self.locals.iter().enumerate() {
            let cell =
                code.varnames[..code.arg_slots()].get(at).and_then(|name| code.cellvars.iter().position(|c| c == name));
            values.extend(match cell {
                Some(cell) if calls::keeps_cells_in_place(code.version) => cells[cell].take(),
                Some(_) => None,
                None => *local,
            });
        }
        values.extend(cells.into_iter().flatten());
        // What stands for C lets go of what it got last at first, and of its arguments in the end.
        if self.is_hidden() && self.generator.is_none() {
            values.reverse();
        }
        values
    }

    /// The instruction that the frame says it is at.
    pub fn place(&self) -> usize {
        self.raised_again.filter(|(at, _)| *at == self.ip).map_or(self.ip, |(_, place)| place)
    }

    /// An exception comes to a handler that stands on so much, and says where it was raised.
    pub fn remember_place(&mut self, height: usize) {
        let place = self.place();
        self.lasti.retain(|(other, _)| *other < height);
        self.lasti.push((height, place));
    }

    /// RERAISE: the frame is again where the exception was raised whose handler stands on so much.
    pub fn return_to_place(&mut self, height: usize) {
        let place = self.lasti.iter().find(|(other, _)| *other == height).map(|(_, place)| (self.ip, *place));
        self.raised_again = place;
    }

    /// Where it stands.
    pub fn site(&self) -> Site {
        (self.unit.address(), self.ip)
    }

    /// Whether the frame is one of a definition: plain Python has none in its place.
    pub fn is_hidden(&self) -> bool {
        self.unit.hidden
    }

    /// Where an exception at the current instruction goes.
    pub fn handler(&self) -> Option<Region> {
        handler_at(&self.unit.code, self.ip)
    }

    /// Whether an exception at the current instruction would be seen by the program in this frame.
    pub fn catches(&self) -> bool {
        catches_at(&self.unit.code, self.ip)
    }

    /// Whether the program could notice an exception at some instruction of the frame's code.
    pub fn may_catch(&self) -> bool {
        self.unit.may_catch(|code| (0..code.instrs.len()).any(|ip| catches_at(code, ip)))
    }

    /// The name that this frame asks the object on top of its stack for, while a frame above it finds the answer.
    pub fn asks_for(&self) -> Option<&str> {
        asks_for(&self.unit.code, self.ip, self.awaits)
    }

    /// Whether the frame is that of the definition of `getattr`, which asks for what its arguments say.
    pub fn asks_as_given(&self) -> bool {
        asks_as_given(&self.unit)
    }

    /// Whether the frame yields at once what it is given: a `yield from` of 3.8 to 3.10 that has asked a `__next__`.
    pub fn yields_what_it_awaits(&self) -> bool {
        self.awaits == Awaits::Delegate && matches!(self.unit.code.instrs[self.ip].op, Op::YieldFrom)
    }

    /// Whether the frame is that of the definition that closes what a generator delegates to.
    pub fn closes_delegate(&self) -> bool {
        self.unit.hidden && self.unit.code.name == "close_and_throw"
    }

    /// What a suspended frame delegates to: the receiver of its `yield from`.
    pub fn delegate(&self) -> Option<VarId> {
        let instrs = &self.unit.code.instrs;
        let up_to_3_10 = matches!(instrs[self.ip].op, Op::YieldFrom);
        let later = self.ip > 0 && matches!(instrs[self.ip - 1].op, Op::Send(_));
        (up_to_3_10 || later).then(|| self.stack.last().copied()).flatten()
    }
}

/// Whether an exception at an instruction would be seen by the program in its frame.
pub fn catches_at(code: &Code, ip: usize) -> bool {
    let mut at = ip;
    // Handlers are within other regions, but for code that no compiler makes never in a circle.
    for _ in 0..=code.regions.len() {
        let Some(region) = handler_at(code, at) else { return false };
        let handler = code.target(region.handler);
        // 3.12+: what comes back from a `yield from` leaves it, but for a StopIteration that is thrown, which nobody simulates.
        let through = matches!(code.instrs.get(handler).map(|i| i.op), Some(Op::CleanupThrow));
        match if through { Some(handler) } else { only_restores(code, handler) } {
            Some(next) => at = next,
            None => return true,
        }
    }
    true
}

/// A variable that is put back while an exception leaves its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PutBack {
    pub local: u32,
    /// The slot of the stack, counted from its bottom, that has what it is again.
    pub slot: usize,
    /// How many slots are left of the stack by then.
    pub depth: usize,
}

/// The variables that are put back while an exception at an instruction leaves the frame (3.12+: those of comprehensions), in this
/// order. The last of a variable counts.
pub fn put_back(code: &Code, ip: usize) -> Vec<PutBack> {
    let (mut at, mut restored) = (ip, Vec::new());
    // What an exception finds on the stack, and what it lays on it.
    let mut stack: Vec<Option<usize>> =
        (0..handler_at(code, ip).map_or(0, |region| region.depth as usize)).map(Some).collect();
    for _ in 0..=code.regions.len() {
        let Some(region) = handler_at(code, at) else { break };
        let handler = code.target(region.handler);
        let Some(next) = only_restores(code, handler) else { break };
        let depth = region.depth as usize;
        stack.truncate(depth);
        stack.extend(std::iter::repeat_n(None, 1 + usize::from(region.lasti)));
        for instruction in &code.instrs[handler..next] {
            match instruction.op {
                Op::Swap(n) => {
                    let top = stack.len();
                    match top.checked_sub(n as usize) {
                        Some(other) if n > 0 => stack.swap(top - 1, other),
                        _ => return restored,
                    }
                }
                Op::PopTop | Op::StoreClosure(_) => drop(stack.pop()),
                Op::StoreFast(Local(local)) => {
                    restored.extend(stack.pop().flatten().map(|slot| PutBack { local, slot, depth }));
                }
                _ => {}
            }
        }
        at = next;
    }
    restored
}

/// How much of the stack stays when an exception at an instruction goes to the handler of a region. `blocks`: those that are open at
/// the instruction, as `Frame::blocks` has them, and afterwards those that are open in the handler.
pub fn depth_in_handler(unit: &CodeUnit, ip: usize, blocks: &mut Vec<u32>, region: &Region) -> usize {
    // What opens a block may raise before that.
    blocks.truncate(unit.open_blocks(ip));
    blocks.pop().unwrap_or(region.depth) as usize
}

/// The innermost region that covers an instruction.
pub fn handler_at(code: &Code, ip: usize) -> Option<Region> {
    code.regions.iter().filter(|r| (r.start..r.end).contains(&ip)).min_by_key(|r| r.end - r.start).copied()
}

/// The variables that a frame may bind or delete from an instruction on. What is in the others lives as long as the frame does, and
/// as what holds it.
pub fn written_from(code: &Code, ip: usize) -> HashSet<u32> {
    let reached = code.instrs.iter().zip(reachable_from(code, ip)).filter(|(_, reached)| *reached);
    let written = reached.filter_map(|(instruction, _)| match instruction.op {
        Op::StoreFast(local) | Op::DeleteFast(local) | Op::LoadFastAndClear(local) => Some(local.0),
        _ => None,
    });
    written.collect()
}

/// The attribute that an instruction asks for, whose answer is awaited.
pub fn asks_for(code: &Code, ip: usize, awaits: Awaits) -> Option<&str> {
    let (Awaits::Attribute | Awaits::Method) = awaits else { return None };
    match code.instrs[ip].op {
        Op::LoadAttr(name) | Op::LoadMethod(name) => code.names.get(name.0 as usize).map(String::as_str),
        _ => None,
    }
}

/// Whether the frames of some code ask for an attribute on behalf of `getattr`: of their first variable, by the name in the second.
pub fn asks_as_given(unit: &CodeUnit) -> bool {
    unit.hidden && unit.code.name == ASKS_AS_GIVEN
}

/// The definition of `getattr`.
pub const ASKS_AS_GIVEN: &str = "attribute_by_name";

/// A frame that the simulation leaves out because its code does nothing but make the call: a layer's `__call__`.
#[derive(Debug)]
pub struct Skipped {
    pub unit: Arc<CodeUnit>,
    pub globals: Py<PyAny>,
    /// The instruction that makes the call.
    pub ip: usize,
}

impl Skipped {
    /// The frame of a function that ends by calling a method of this name.
    pub fn of(function: &Bound<'_, PyAny>, method: &str) -> Option<Skipped> {
        let (code, globals) = {
            let parts = facts::func_parts(function)?;
            (parts.code.to_owned(), parts.globals.to_owned().unbind())
        };
        let unit = CodeUnit::of(&code).ok()?;
        let named = |id: NameId| unit.code.names[id.0 as usize] == method;
        let found = |op: Op| matches!(op, Op::LoadAttr(id) | Op::LoadMethod(id) if named(id));
        let at = unit.code.instrs.iter().position(|instruction| found(instruction.op))?;
        let call = |op: Op| matches!(op, Op::Call { .. } | Op::CallKw { .. } | Op::CallEx { .. });
        let ip = at + unit.code.instrs[at..].iter().position(|instruction| call(instruction.op))?;
        Some(Skipped { unit, globals, ip })
    }
}
