//! Resume functions: the original code, entered in the middle.
//!
//! `__resume_fn_k(stack values..., locals...)` puts the values back where they were and jumps to the offset. It is the
//! eager form of a continuation's frame. Cells become free variables, so that the frame shares the cells it had.

use crate::awaits::Awaits;
use crate::called_by_code;
use crate::code_unit::assemble;
use crate::code_unit::resumed::ASKS;
use crate::frame::{Finally, depth_in_handler, handler_at};
use crate::iterators::pass_function;
use crate::shapes::{FrameShape, Shape, SlotShape, uses_super};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use sot_opcodes::analysis::{block_regions, blocks_at};
use sot_opcodes::{
    Cell, Code, CodeFlags, CompareOp, ConstId, Instr, JumpCond, Label, Local, Location, Op, Region, handling,
};

/// The code of a frame's resume function. Its positional arguments are the values on the stack, the live locals and the
/// handled exceptions, in the order of the shape; its free variables are the frame's cells. It keeps the user's name, so
/// that tracebacks show the user's function.
///
/// An exception that is being handled is handled again before the slots above it are put back: from 3.11 on by PUSH_EXC_INFO
/// alone, before by raising it under a block, whose handler is where the set-up goes on. Blocks of `try` that are open at the
/// offset are opened again, each under the slots that stand on it.
///
/// 3.8 has no instruction that makes the stack what it is behind the call of `__exit__` at the end of a `with`: the call is
/// made once more, to a function that answers what the real one did. A `finally` block that was called is called again, and what it
/// returns to jumps to where it would have returned.
pub(super) fn resume_code(frame: &Stand<'_>, helpers: Helpers) -> Result<Code, String> {
    set_up(frame, helpers, Entry::Function)
}

/// The code of a generator that goes on where a frame stands: at its start, or, if it has `started`, at a yield of its own, at
/// which the caller has it wait before anybody sees it. `none`: the constant None.
pub(super) fn generator_code(
    frame: &Stand<'_>,
    helpers: Helpers,
    none: ConstId,
    started: bool,
) -> Result<Code, String> {
    set_up(frame, helpers, if started { Entry::Yield(none) } else { Entry::Start })
}

/// The code of a generator that goes on where a frame stands as soon as it is asked for an item.
pub(super) fn generator_within_code(frame: &Stand<'_>, helpers: Helpers) -> Result<Code, String> {
    set_up(frame, helpers, Entry::Within)
}

/// Constants that set-up code calls, behind those of the original code.
#[derive(Clone, Copy)]
pub(super) struct Helpers {
    /// Stands for a NULL slot where none can be pushed (see `Emitter::push_null`).
    pub(super) pass: ConstId,
    /// Up to 3.10: `type`.
    pub(super) class_of: ConstId,
    /// 3.8: makes a callable that answers with what it is given.
    pub(super) answers: ConstId,
    /// An empty cell.
    pub(super) empty: ConstId,
}

impl Helpers {
    pub(super) fn appended(
        py: Python<'_>,
        version: sot_opcodes::Version,
        consts: &mut Vec<Py<PyAny>>,
    ) -> PyResult<Helpers> {
        let next = consts.len() as u32 + 1;
        consts.push(crate::cpython::module(py, "types")?.getattr("CellType")?.call0()?.unbind());
        if !sot_opcodes::calls::can_push_null(version) {
            consts.push(pass_function(py)?.unbind());
        }
        if handling::has_blocks(version) {
            consts.push(py.get_type::<PyType>().into_any().unbind());
        }
        if handling::finally_has_state(version) {
            consts.push(called_by_code::answers(py)?.unbind());
        }
        let [empty, pass, class_of, answers] = [0, 1, 2, 3].map(|at| ConstId(next + at - 1));
        Ok(Helpers { pass, class_of, answers, empty })
    }
}

impl FrameShape {
    /// The frame's resume function and its constants.
    pub(crate) fn resume(&self, py: Python<'_>) -> PyResult<(sot_opcodes::Code, Vec<Py<PyAny>>)> {
        let mut consts: Vec<Py<PyAny>> = self.unit.consts.iter().map(|c| c.clone_ref(py)).collect();
        let helpers = Helpers::appended(py, self.unit.code.version, &mut consts)?;
        let frame = self.with_real_generators(py);
        let mut stand = Stand::of(&frame);
        if let Some(apart) = &self.apart {
            stand.apart = Some((apart.level, ConstId(consts.len() as u32)));
            consts.push(apart.traceback.clone_ref(py));
        }
        let code = match self.generator {
            true => generator_within_code(&stand, helpers),
            false => resume_code(&stand, helpers),
        };
        Ok((code.map_err(PyRuntimeError::new_err)?, consts))
    }
}

/// Where a frame stands, without Python: its code and the layout of its values.
#[derive(Clone, Copy)]
pub(super) struct Stand<'a> {
    pub(super) code: &'a Code,
    pub(super) ip: usize,
    pub(super) stack: &'a [SlotShape],
    pub(super) locals: &'a [u32],
    pub(super) handled: usize,
    /// Which of what is handled has a traceback beside it that is not its own, and the constant of that.
    pub(super) apart: Option<(usize, ConstId)>,
    pub(super) blocks: &'a [u32],
}

impl<'a> Stand<'a> {
    pub(super) fn of(shape: &'a FrameShape) -> Stand<'a> {
        let FrameShape { unit, ip, stack, locals, handled, blocks, .. } = shape;
        Stand { code: &unit.code, ip: *ip, stack, locals, handled: *handled, apart: None, blocks }
    }

    fn stack_values(&self) -> usize {
        self.stack.iter().filter(|slot| **slot == SlotShape::Value).count()
    }

    /// Whether the slot begins what stands on the stack behind the call of `__exit__`: the state of the block, what the call
    /// had first, and its answer.
    fn left_with(&self, at: usize) -> Option<LeftWith> {
        use crate::frame::Finally::Fallen;
        use SlotShape::{Finally, Null, Previous, Value};
        if !matches!(self.code.instrs[self.ip].op, Op::WithCleanupFinish) {
            return None;
        }
        match self.stack[at..] {
            [Finally(Fallen), Value, Value] => Some(LeftWith { raised: false, values: 2 }),
            [Previous, Previous, Previous, Null, Value, Value, Value, Value, Value] => {
                Some(LeftWith { raised: true, values: 5 })
            }
            _ => None,
        }
    }

    fn first_local_first(&self) -> bool {
        self.locals.first() == Some(&0) && self.code.argcount > 0 && uses_super(self.code)
    }

    /// Whether the values are given as `*args`: the frame has no positional arguments, and `super()` would say so.
    fn takes_one_tuple(&self) -> bool {
        self.code.argcount == 0 && uses_super(self.code)
    }

    /// With its columns: who asks a generator where it waits is told them.
    fn location(&self) -> Location {
        let known = self.code.instrs.get(self.ip).map(|instr| instr.loc).filter(|loc| loc.line.is_some());
        known.unwrap_or(Location::of_line(self.code.firstlineno))
    }
}

/// A `with` of 3.8 whose `__exit__` has been called.
struct LeftWith {
    /// The block raised: then its state is the exception.
    raised: bool,
    /// Values among its slots, the answer last.
    values: u32,
}

/// How the frame is entered.
enum Entry {
    Function,
    /// A generator that has not come to a yield yet.
    Within,
    /// A new generator.
    Start,
    /// A generator that waits at a yield.
    Yield(ConstId),
}

fn set_up(frame: &Stand<'_>, helpers: Helpers, entry: Entry) -> Result<Code, String> {
    let mut code = frame.code.clone();
    let mut blocks = blocks_at(&code, frame.ip);
    if handling::finally_has_state(code.version) {
        // None are known of code that control never gets to, as behind a `raise`.
        blocks.iter_mut().zip(frame.blocks).for_each(|((_, depth), known)| *depth = *known);
    }

    // Arguments come first among the locals: give the live locals the slots behind the stack values.
    let stack = frame.stack_values();
    let old_names = std::mem::take(&mut code.varnames);
    let mut names: Vec<String> = Vec::new();
    let mut moved = vec![u32::MAX; old_names.len()];
    let mut first_stack = 0;
    let given = (stack + frame.locals.len() + frame.handled) as u32;
    if frame.takes_one_tuple() {
        names.push("___values".to_owned());
        first_stack = 1;
    }
    if frame.first_local_first() {
        moved[0] = 0;
        names.push(old_names[0].clone());
        first_stack = 1;
    }
    names.extend((0..stack).map(|i| format!("___stack_{i}")));
    let mut place = |old: u32, names: &mut Vec<String>| {
        if moved[old as usize] == u32::MAX {
            moved[old as usize] = names.len() as u32;
            names.push(old_names[old as usize].clone());
        }
    };
    frame.locals.iter().for_each(|old| place(*old, &mut names));
    let first_handled = names.len() as u32;
    names.extend((0..frame.handled).map(|i| format!("___handled_{i}")));
    (0..old_names.len() as u32).for_each(|old| place(old, &mut names));
    let own_traceback = Local(names.len() as u32);
    names.extend(frame.apart.map(|_| "___traceback".to_owned()));
    code.varnames = names;
    code.argcount = given;
    code.posonlyargcount = 0;
    code.kwonlyargcount = 0;
    code.flags.remove(CodeFlags::VARARGS | CodeFlags::VARKEYWORDS);
    if frame.takes_one_tuple() {
        code.argcount = 0;
        code.flags.insert(CodeFlags::VARARGS);
    }

    // The frame's cells are given: free variables, in the same numbering, of which an empty one is told by another name.
    let cells = std::mem::take(&mut code.cellvars);
    // Where an inlined comprehension has a plain variable of the name of a cell, that lies in the slot of the cell (3.12+).
    let in_cell: Vec<Option<Cell>> =
        old_names.iter().map(|name| cells.iter().position(|cell| cell == name).map(|cell| Cell(cell as u32))).collect();
    let frees = std::mem::take(&mut code.freevars);
    code.freevars = cells.into_iter().chain(frees).collect();
    // An inlined comprehension makes cells of its own (3.12+), behind the prelude.
    let prelude = code.prelude_len();
    for (at, instr) in code.instrs.iter_mut().enumerate() {
        instr.op = match instr.op {
            Op::LoadFast { local: Local(l), check } => match in_cell[l as usize] {
                Some(cell) => Op::LoadClosure(cell),
                None => Op::LoadFast { local: Local(moved[l as usize]), check },
            },
            Op::LoadFastAndClear(Local(l)) => Op::LoadFastAndClear(Local(moved[l as usize])),
            Op::StoreFast(Local(l)) => Op::StoreFast(Local(moved[l as usize])),
            Op::DeleteFast(Local(l)) => Op::DeleteFast(Local(moved[l as usize])),
            Op::MakeCell(_) | Op::CopyFreeVars(_) if at < prelude => Op::Nop,
            other => other,
        };
    }

    let here = frame.location();
    let mut put = Prologue { code: &mut code, ops: Vec::new(), bound: Vec::new(), here };
    if sot_opcodes::calls::has_resume(put.code.version) {
        if !put.code.freevars.is_empty() {
            put.op(Op::CopyFreeVars(put.code.freevars.len() as u32));
        }
        if !matches!(entry, Entry::Function) {
            put.op(Op::ReturnGenerator);
        }
        match entry {
            Entry::Function => put.op(Op::Resume(0)),
            // The frame stands behind that instruction.
            Entry::Start => {}
            Entry::Within | Entry::Yield(_) => {
                put.op(Op::PopTop);
                put.op(Op::Resume(0));
            }
        }
    }
    let starts = match (&entry, frame.code.instrs[0].op) {
        (Entry::Start | Entry::Within | Entry::Yield(_), op @ Op::GenStart(_)) => Some(op),
        _ => None,
    };
    if let Some(start) = starts {
        put.op(start);
    }
    if frame.takes_one_tuple() {
        put.load(0);
        put.op(Op::DeleteFast(Local(0)));
        put.op(Op::UnpackSequence(given));
        (1..=given).for_each(|at| put.op(Op::StoreFast(Local(at))));
    }
    let mut next = first_stack;
    let mut handled = first_handled;
    let apart = |handled: u32| match frame.apart {
        Some((level, traceback)) if level as u32 == handled - first_handled => Some((traceback, own_traceback)),
        _ => None,
    };
    let mut at = 0;
    let mut open = blocks.iter().peekable();
    loop {
        while let Some((handler, _)) = open.next_if(|(_, depth)| *depth as usize == at) {
            put.op(Op::SetupFinally(*handler));
        }
        let Some(slot) = frame.stack.get(at) else { break };
        if let Some(with) = frame.left_with(at) {
            let last = next + with.values - 1;
            put.op(Op::LoadConst(helpers.answers));
            put.load(last);
            put.op(Op::Call { argc: 1, two: false });
            if with.raised {
                put.handle_again(handled, apart(handled), helpers.class_of);
                handled += 1;
                (next..next + 3).for_each(|part| put.load(part));
            } else {
                put.op(Op::BeginFinally);
            }
            (next..=last).for_each(|value| put.op(Op::DeleteFast(Local(value))));
            at = frame.stack.len();
            continue;
        }
        match slot {
            SlotShape::Finally(Finally::Fallen) => put.op(Op::BeginFinally),
            SlotShape::Finally(Finally::Called(back)) => {
                let (onwards, returns) = (put.code.new_label(0), put.code.new_label(*back));
                put.op(Op::CallFinally(onwards));
                put.op(Op::Jump { target: returns, no_interrupt: false });
                put.bound.push((onwards, put.ops.len()));
            }
            SlotShape::Null if sot_opcodes::calls::can_push_null(put.code.version) => put.op(Op::PushNull),
            SlotShape::Null => put.op(Op::LoadConst(helpers.pass)),
            SlotShape::Generator(_) => return Err("a generator that is no object".to_owned()),
            SlotShape::Value => {
                // The frame's variables are the user's again, and what it drops is gone.
                put.load(next);
                put.op(Op::DeleteFast(Local(next)));
                next += 1;
            }
            SlotShape::Previous if !handling::has_blocks(put.code.version) => {
                put.load(handled);
                put.op(Op::PushExcInfo);
                put.op(Op::PopTop);
                put.op(Op::DeleteFast(Local(handled)));
                handled += 1;
            }
            SlotShape::Previous => {
                put.handle_again(handled, apart(handled), helpers.class_of);
                handled += 1;
                at += 2;
            }
        }
        at += 1;
    }
    if open.next().is_some() {
        return Err("a block that stands on nothing".to_owned());
    }
    // The call is made once more.
    let called_again = (0..frame.stack.len()).any(|at| frame.left_with(at).is_some());
    let mut ip = frame.ip - usize::from(called_again);
    let mut waits = None;
    match entry {
        Entry::Function | Entry::Within => {}
        Entry::Start => ip += usize::from(starts.is_some()),
        Entry::Yield(none) => {
            let there = put.code.instrs[ip].op;
            let before = ip.checked_sub(1).map(|at| put.code.instrs[at].op);
            let after = put.code.instrs.get(ip + 1).map(|i| i.op);
            put.op(Op::LoadConst(none));
            // Whom the frame delegates to, the interpreter finds by what stands around the yield.
            match (there, before) {
                (Op::YieldFrom, _) => {
                    waits = Some(put.ops.len()..put.ops.len() + 1);
                    put.op(Op::YieldValue(0));
                    put.op(there);
                    ip += 1;
                }
                (_, Some(Op::Send(over))) if handling::throw_returns_to_send(put.code.version) => {
                    let (yields, ended) = (put.code.new_label(0), put.code.new_label(0));
                    let onwards = put.code.new_label(ip + 1);
                    put.op(Op::Jump { target: yields, no_interrupt: false });
                    put.op(Op::Send(ended));
                    put.bound.push((yields, put.ops.len()));
                    let first = put.ops.len();
                    put.op(there);
                    put.op(after.unwrap_or(Op::Resume(2)));
                    put.op(Op::Jump { target: onwards, no_interrupt: false });
                    // What is thrown in has ended the other one.
                    put.bound.push((ended, put.ops.len()));
                    put.op(Op::EndSend);
                    // An exception of the other one is raised just before that.
                    waits = Some(first..put.ops.len());
                    ip = put.code.target(over) + 1;
                }
                _ => {
                    if put.code.flags.contains(CodeFlags::ASYNC_GENERATOR) {
                        put.op(Op::AsyncGenWrap);
                    }
                    let first = put.ops.len();
                    put.op(there);
                    // Signals that arrive while it waits are handled behind it.
                    waits = Some(first..first + 2);
                    if sot_opcodes::calls::has_resume(put.code.version) {
                        put.op(after.filter(|op| matches!(op, Op::Resume(_))).unwrap_or(Op::Resume(1)));
                    }
                    ip += 1;
                }
            }
        }
    }
    let Prologue { ops: mut prologue, bound, .. } = put;
    let length = prologue.len() + 1;
    for (i, label) in code.labels.iter_mut().enumerate() {
        *label = match bound.iter().find(|(bound, _)| bound.0 as usize == i) {
            Some((_, at)) => *at,
            None => *label + length,
        };
    }
    for region in &mut code.regions {
        region.start += length;
        region.end += length;
    }
    if let Some(waits) = waits {
        // What is thrown in arrives here, as it would at the yield.
        let covering = handler_at(frame.code, frame.ip).filter(|_| !handling::has_blocks(code.version));
        code.regions.extend(covering.map(|region| Region { start: waits.start, end: waits.end, ..region }));
    }
    let target = code.new_label(ip + length);
    prologue.push(Instr::new(Op::Jump { target, no_interrupt: false }, here));
    code.instrs.splice(0..0, prologue);
    tell_own_cells(&mut code, frame.code.cellvars.len(), helpers.empty);
    if handling::has_blocks(code.version) {
        code.regions = block_regions(&code);
    }
    Ok(code)
}

/// Of an empty cell of its own a function says what it says of a local: so does a local of that name, which is never bound.
/// A cell is equal to an empty one if it is empty, and nobody is asked for that.
fn tell_own_cells(code: &mut Code, own: usize, empty: ConstId) {
    let mut places = Vec::with_capacity(code.instrs.len() + 1);
    let mut bound = Vec::new();
    let mut told = Vec::with_capacity(code.instrs.len());
    for instr in std::mem::take(&mut code.instrs) {
        places.push(told.len());
        if let Op::LoadDeref(cell) | Op::DeleteDeref(cell) = instr.op
            && (cell.0 as usize) < own
        {
            let name = code.freevars[cell.0 as usize].clone();
            let (local, target) = (code.local_id(&name), code.new_label(0));
            let asks: [Op; ASKS] = [
                Op::LoadClosure(cell),
                Op::LoadConst(empty),
                Op::Compare { op: CompareOp::Eq, to_bool: false },
                Op::PopJumpIf { cond: JumpCond::False, target },
                Op::LoadFast { local, check: true },
                Op::PopTop,
            ];
            told.extend(asks.map(|op| Instr::new(op, instr.loc)));
            bound.push((target, told.len()));
        }
        told.push(instr);
    }
    places.push(told.len());
    code.instrs = told;
    code.labels.iter_mut().for_each(|label| *label = places[*label]);
    for (label, place) in bound {
        code.labels[label.0 as usize] = place;
    }
    for region in &mut code.regions {
        (region.start, region.end) = (places[region.start], places[region.end]);
    }
}

/// What comes before the jump to the offset.
struct Prologue<'a> {
    code: &'a mut Code,
    ops: Vec<Instr>,
    /// Labels of the prologue itself, by their place in it.
    bound: Vec<(Label, usize)>,
    here: Location,
}

impl Prologue<'_> {
    fn op(&mut self, op: Op) {
        self.ops.push(Instr::new(op, self.here));
    }

    fn load(&mut self, local: u32) {
        self.op(Op::LoadFast { local: Local(local), check: false });
    }

    /// Up to 3.10: the exception comes to a block once more, as one that is raised again does, and its handler goes on, leaving the
    /// three slots of the previous one. A `raise` would give it another context, and take it out of those of others. `apart`: the
    /// traceback that it is handled with, if that is not its own, and a local for its own meanwhile.
    fn handle_again(&mut self, exception: u32, apart: Option<(ConstId, Local)>, class_of: ConstId) {
        let traceback = self.code.name_id("__traceback__");
        let handler = self.code.new_label(0);
        if let Some((_, own)) = apart {
            self.load(exception);
            self.op(Op::LoadAttr(traceback));
            self.op(Op::StoreFast(own));
        }
        self.op(Op::SetupFinally(handler));
        let has_state = handling::finally_has_state(self.code.version);
        if has_state {
            // What it is taken to take as well, though the block ends before.
            (0..3).for_each(|_| self.load(exception));
        }
        match apart {
            Some((traceback, _)) => self.op(Op::LoadConst(traceback)),
            None => {
                self.load(exception);
                self.op(Op::LoadAttr(traceback));
            }
        }
        self.load(exception);
        self.op(Op::LoadConst(class_of));
        self.load(exception);
        self.op(Op::Call { argc: 1, two: false });
        if has_state {
            // It may go on behind it, for all that the code says.
            self.op(Op::EndFinally);
            self.load(exception);
            self.op(Op::ReturnValue);
        } else {
            self.op(Op::ReraiseTriple(0));
        }
        self.bound.push((handler, self.ops.len()));
        for _ in 0..3 {
            self.op(Op::PopTop);
        }
        if let Some((_, Local(own))) = apart {
            self.load(own);
            self.load(exception);
            self.op(Op::StoreAttr(traceback));
            self.op(Op::DeleteFast(Local(own)));
        }
        self.op(Op::DeleteFast(Local(exception)));
    }
}

/// Whether each of these frames has an eager form wherever it may go on: behind its call, and in its handler. Asked before
/// a program depends on it; from 3.11 on, where no block has to be set up again, it always has.
pub(super) fn can_go_on(py: Python<'_>, shape: &Shape) -> bool {
    let resumes = |frame: FrameShape| {
        let made = frame.resume(py).map_err(|e| e.to_string());
        made.and_then(|(code, consts)| assemble(py, &code, &consts)).is_ok()
    };
    shape.waiting.iter().all(|waiting| waiting.code(py).is_ok())
        && shape.frames.iter().filter(|f| handling::has_blocks(f.unit.code.version)).all(|frame| {
            let behind = frame.awaits.is_none_or(|awaits| {
                // What raises is not gone on behind of, and there the blocks may be others.
                if awaits == Awaits::Drop && !frame.unit.code.instrs[frame.ip].op.falls_through() {
                    return true;
                }
                if let (Awaits::Decides, Op::JumpIfOrPop { target, .. }) = (awaits, frame.unit.code.instrs[frame.ip].op)
                {
                    let mut jumped = frame.with_real_generators(py);
                    (jumped.awaits, jumped.ip) = (None, frame.unit.code.target(target));
                    jumped.stack.truncate(jumped.stack.len() - std::mem::take(&mut jumped.held));
                    if !resumes(jumped) {
                        return false;
                    }
                }
                let mut next = frame.with_real_generators(py);
                next.awaits = None;
                next.stack.truncate(next.stack.len() - std::mem::take(&mut next.held));
                match awaits {
                    Awaits::Push | Awaits::Next | Awaits::Iterator | Awaits::Delegate => {
                        next.stack.push(SlotShape::Value);
                        next.ip += 1;
                    }
                    // In the place of the object.
                    Awaits::Attribute | Awaits::Method => next.ip += 1,
                    Awaits::Callable => {
                        next.stack.push(SlotShape::Value);
                        next.ip += 1;
                    }
                    Awaits::Drop | Awaits::None => next.ip += 1,
                    Awaits::Decides => {
                        next.stack.pop();
                        next.ip += 1;
                    }
                    Awaits::NoneAgain => {}
                    Awaits::Again | Awaits::Bool | Awaits::Send => next.stack.push(SlotShape::Value),
                    Awaits::Matched | Awaits::Told => {
                        next.stack.extend([SlotShape::Value; 2]);
                        next.ip += 1;
                    }
                }
                if let Awaits::Method | Awaits::Callable = awaits {
                    next.stack.push(SlotShape::Null);
                }
                resumes(next)
            });
            let handler = handler_at(&frame.unit.code, frame.ip).is_none_or(|region| {
                let mut next = frame.with_real_generators(py);
                next.awaits = None;
                let depth = depth_in_handler(&frame.unit, frame.ip, &mut next.blocks, &region);
                next.ip = frame.unit.code.target(region.handler);
                next.held = 0;
                next.stack.truncate(depth);
                next.handled = next.stack.iter().filter(|s| **s == SlotShape::Previous).count() / 3 + 1;
                next.stack.extend([SlotShape::Previous; 3]);
                next.stack.extend([SlotShape::Value; 3]);
                resumes(next)
            });
            behind && handler
        })
}
