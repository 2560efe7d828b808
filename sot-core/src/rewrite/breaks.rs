//! The end of the emitted code: the result, or the instruction that could not be simulated and its continuations.

use super::emit::{Callable, Emitter};
use super::exits::{Exit, Item, require_generators_above};
use super::plan::{BreakKind, BreakPlan, Jump, Tail};
use super::resume::can_go_on;
use super::stand_in::{self, Answer};
use crate::called_by_code;
use crate::frame::Frame;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use sot_opcodes::calls::callers_clear_frames;
use sot_opcodes::{JumpCond, Label, Local, Op, handling};

impl Tail {
    pub(super) fn emit(&self, em: &mut Emitter<'_, '_>) -> Result<(), Stop> {
        match self {
            Tail::Return(value) => {
                em.push(*value)?;
                em.let_go_in_order()?;
                em.emit(Op::ReturnValue);
                Ok(())
            }
            Tail::Raise(exception) => {
                let raise = called_by_code::raise_again(em.py).map_err(|e| Stop::internal(&e))?;
                em.push_callable(Callable::Object(raise));
                em.push(*exception)?;
                em.let_go_in_order()?;
                em.let_go_of_exceptions(None, &[]);
                em.call(1);
                em.emit(Op::ReturnValue);
                Ok(())
            }
            Tail::Break(plan) => plan.emit(em),
        }
    }
}

impl BreakPlan {
    /// Whether the instruction takes the two slots that LOAD_METHOD leaves.
    pub(super) fn calls(&self) -> bool {
        self.kept == 0 && matches!(self.op, Op::Call { .. } | Op::CallKw { .. })
    }

    fn emit(&self, em: &mut Emitter<'_, '_>) -> Result<(), Stop> {
        em.gives_frame = self.gives_frame;
        em.let_go_at_tail()?;
        self.shared_before(em)?;
        for var in &self.shown {
            em.have(*var)?;
        }
        em.begin_writing()?;
        if let BreakKind::Match { handled, .. } = self.kind {
            em.have(handled)?;
        }
        em.tell(self.handled)?;
        // Of an inlined function's break the code's own frame shows where it waits.
        em.set_location(if em.captured.frames.len() > 1 { stand_in::outermost(em) } else { self.loc });
        let mut protected = self.raised.is_some().then(|| Protected::begin(em));
        let below = stand_in::wanted(em, self);
        if below {
            stand_in::run_below(em, self)?;
        } else if !matches!(self.kind, BreakKind::Enter { .. } | BreakKind::ExitCall { .. }) {
            // The names of keywords belong to the instruction.
            let names = matches!(self.op, Op::CallKw { .. });
            let (mut operands, names) = self.operands.split_at(self.operands.len() - usize::from(names));
            while let Some((operand, rest)) = operands.split_first() {
                if self.calls()
                    && let Some((receiver, name)) = em.looked_up_for_a_call(operands)
                {
                    em.push(receiver)?;
                    let name = em.b.name(&name);
                    em.emit(Op::LoadMethod(name));
                    operands = &rest[1..];
                    continue;
                }
                operands = rest;
                match &em.captured.var(*operand).kind {
                    // It is dropped afterwards, and nothing drops a NULL.
                    VarKind::Null(_) if self.kept > 0 => em.push_none(),
                    _ => em.push(*operand)?,
                }
            }
            em.let_go_of_operands();
            for names in names {
                let names = em.captured.plain_value(em.py, *names);
                let names = names.ok_or(Stop::fallback(Reason::InternalError, "names of keywords"))?;
                em.push_constant(&names);
            }
        }
        let mut end = |em: &mut Emitter<'_, '_>| {
            if let Some(protected) = &mut protected {
                protected.end(em);
            }
        };
        // On each of the ways out.
        let handling = em.handling;
        let over = |em: &mut Emitter<'_, '_>| {
            em.handling = handling;
            em.tell(None)
        };
        match &self.kind {
            BreakKind::Plain { pushes, exit } => {
                if !below {
                    let unit = em.captured.frame().unit.clone();
                    for op in self.translated(&unit, &mut em.b)? {
                        em.emit(op);
                    }
                }
                end(em);
                let results = match stand_in::answer(self) {
                    Answer::Results(n) if below => {
                        let answer = store_results(em, 1);
                        unpack(em, answer[0], n)
                    }
                    _ => store_results(em, if below { 1 } else { *pushes }),
                };
                // Nothing else is left by a stand-in.
                (0..if below { 0 } else { self.kept }).for_each(|_| em.emit(Op::PopTop));
                over(em)?;
                leave(em, exit, &results)?;
            }
            BreakKind::Method { exit } => {
                let Op::LoadMethod(name) = self.op else {
                    return Err(Stop::fallback(Reason::InternalError, "not a method load"));
                };
                if !below {
                    let name = em.captured.frame().unit.code.names[name.0 as usize].clone();
                    em.load_attr(&name);
                }
                end(em);
                let results = store_results(em, 1);
                over(em)?;
                leave(em, exit, &results)?;
            }
            BreakKind::Enter { exit } => {
                let [manager] = self.operands[..] else {
                    return Err(Stop::fallback(Reason::InternalError, "not a with"));
                };
                em.push(manager)?;
                em.let_go_of_operands();
                // Its block is the continuation's.
                let raised = em.b.new_label();
                em.emit(Op::SetupWith(raised));
                em.emit(Op::PopBlock);
                end(em);
                let results = store_results(em, 2);
                over(em)?;
                leave(em, exit, &results)?;
                em.b.bind(raised);
                em.emit(if handling::finally_has_state(em.unit.code.version) {
                    Op::EndFinally
                } else {
                    Op::ReraiseTriple(0)
                });
                em.push_none();
                em.emit(Op::ReturnValue);
            }
            BreakKind::ExitCall { exit } => {
                let (function, exception) = match self.operands[..] {
                    [function] => (function, None),
                    [function, exception] => (function, Some(exception)),
                    _ => return Err(Stop::fallback(Reason::InternalError, "not an exit")),
                };
                em.push(function)?;
                for op in sot_opcodes::calls::callable_on_top(em.unit.code.version) {
                    em.emit(op);
                }
                match exception {
                    Some(exception) => {
                        em.push_class(exception)?;
                        em.push(exception)?;
                        em.push_own(exception, "__traceback__")?;
                    }
                    None => (0..3).for_each(|_| em.push_none()),
                }
                em.let_go_of_operands();
                em.call(3);
                end(em);
                let mut results = store_results(em, 1);
                if exception.is_none() {
                    em.push_none();
                    results.push(em.new_temp());
                    em.store(results[1]);
                }
                over(em)?;
                leave(em, exit, &results)?;
            }
            BreakKind::Branch { by, next, jump } => {
                let target: Label = em.b.new_label();
                em.emit(match by {
                    // What stands in for the frame says the contrary.
                    Jump::If(JumpCond::True) if below => Op::PopJumpIf { cond: JumpCond::False, target },
                    Jump::If(JumpCond::False) if below => Op::PopJumpIf { cond: JumpCond::True, target },
                    Jump::If(cond) => Op::PopJumpIf { cond: *cond, target },
                    Jump::NotCaught => Op::JumpIfNotExcMatch(target),
                });
                end(em);
                over(em)?;
                leave(em, next, &[])?;
                em.b.bind(target);
                end(em);
                over(em)?;
                leave(em, jump, &[])?;
            }
            BreakKind::Loop { next, end: after } => {
                let target: Label = em.b.new_label();
                let results = if below {
                    end(em);
                    let answer = em.new_temp();
                    em.store(answer);
                    em.load(answer);
                    em.push_none();
                    em.emit(Op::Is { invert: false });
                    em.emit(Op::PopJumpIf { cond: JumpCond::True, target });
                    unpack(em, answer, 1)
                } else {
                    em.emit(Op::ForIter(target));
                    end(em);
                    let results = store_results(em, 1);
                    em.emit(Op::PopTop);
                    results
                };
                over(em)?;
                leave(em, next, &results)?;
                em.b.bind(target);
                if !below {
                    end(em);
                }
                over(em)?;
                leave(em, after, &[])?;
            }
            BreakKind::Match { exit, handled } => {
                if !below {
                    em.emit(self.op);
                }
                end(em);
                let mut results = if below {
                    let answer = store_results(em, 1);
                    unpack(em, answer[0], 2)
                } else {
                    store_results(em, 2)
                };
                let handles = em.new_temp();
                em.push(*handled)?;
                em.store(handles);
                let nothing: Label = em.b.new_label();
                em.load(results[1]);
                em.push_none();
                em.emit(Op::Is { invert: false });
                em.emit(Op::PopJumpIf { cond: JumpCond::True, target: nothing });
                em.load(results[1]);
                em.store(handles);
                em.b.bind(nothing);
                results.push(handles);
                over(em)?;
                leave(em, exit, &results)?;
            }
            BreakKind::Delegate { exit } => {
                end(em);
                over(em)?;
                leave(em, exit, &[])?;
            }
            BreakKind::Raise => {
                em.let_go_of_exceptions(self.raised.as_ref(), &self.shown);
                em.emit(self.op);
                end(em);
            }
        }
        if let (Some(protected), Some(raised)) = (protected, &self.raised) {
            let exception = protected.handler(em);
            em.handling = handling;
            leave_raised(em, raised, exception)?;
        }
        Ok(())
    }

    /// Build, before the instruction runs, every virtual value that an exit needs as well: the instruction may
    /// change what it was given, and both arms of a branch must find the same objects.
    fn shared_before(&self, em: &mut Emitter<'_, '_>) -> Result<(), Stop> {
        for exit in self.exits() {
            for item in &exit.items {
                if let Item::Var(var) = item
                    && em.must_be_built_once(*var)
                {
                    em.push(*var)?;
                    em.remember(*var);
                }
            }
        }
        Ok(())
    }
}

fn store_results(em: &mut Emitter<'_, '_>, n: usize) -> Vec<Local> {
    let results: Vec<Local> = (0..n).map(|_| em.new_temp()).collect();
    for local in results.iter().rev() {
        em.store(*local);
    }
    results
}

/// The items of a tuple.
fn unpack(em: &mut Emitter<'_, '_>, tuple: Local, n: u32) -> Vec<Local> {
    em.load(tuple);
    em.emit(Op::DeleteFast(tuple));
    em.emit(Op::UnpackSequence(n));
    let items: Vec<Local> = (0..n).map(|_| em.new_temp()).collect();
    items.iter().for_each(|item| em.store(*item));
    items
}

/// Every frame of the exit can go on as plain Python, whatever the frames above it come to.
fn require_eager_form(em: &Emitter<'_, '_>, exit: &Exit) -> Result<(), Stop> {
    require_generators_above(exit)?;
    match can_go_on(em.py, &exit.shape) {
        true => Ok(()),
        false => Err(Stop::fallback(Reason::Reconstruct, "a block that cannot be entered again")),
    }
}

/// Return the request to go on: `return continuation(values...)`.
fn leave(em: &mut Emitter<'_, '_>, exit: &Exit, results: &[Local]) -> Result<(), Stop> {
    require_eager_form(em, exit)?;
    let callable = em.go_on.request(em.py, &exit.shape)?;
    em.requests.push(callable.clone().unbind());
    em.push_callable(Callable::Object(callable));
    let mut count = 0;
    for item in &exit.items {
        match item {
            Item::Var(var) => em.push(*var)?,
            Item::Result(n) => em.load(results[*n]),
            Item::Null | Item::Finally(_) | Item::Previous | Item::Generator(_) => continue,
        }
        count += 1;
    }
    if em.gives_frame {
        em.empty_locals();
    }
    em.call(count);
    em.emit(Op::ReturnValue);
    Ok(())
}

/// As `leave`, for an exception of the break instruction.
fn leave_raised(em: &mut Emitter<'_, '_>, exit: &Exit, exception: Local) -> Result<(), Stop> {
    require_eager_form(em, exit)?;
    let goes_on = em.captured.frames.iter().any(Frame::catches);
    // What ends on the way of the exception does so before that is handled.
    let told = em.handling.is_some() && goes_on;
    match em.handled_before.filter(|_| told) {
        Some(before) => em.load(before),
        None => em.tell(None)?,
    }
    let stand_ins = em.stand_ins.iter().map(|code| code.clone_ref(em.py)).collect();
    let raise = em.go_on.raise_into(em.py, &exit.shape, stand_ins)?;
    em.push_callable(Callable::Object(raise));
    let mut count = 0;
    for item in &exit.items {
        if let Item::Var(var) = item {
            em.push(*var)?;
            count += 1;
        }
    }
    // The list is the only one that holds them: who takes them out of it lets go of them when it wants to.
    em.emit(Op::BuildList(count));
    em.load(exception);
    // A traceback may hold this frame, and with it what it holds: where nobody handles the exception it is the user's frame.
    match goes_on && (told || callers_clear_frames(em.unit.code.version)) {
        true => em.empty_locals(),
        false => {
            // Who unwinds the frames lets go of what stands on their stacks.
            if em.captured.stacks_hold_several() {
                em.empty_all_but_variables();
            }
            em.emit(Op::DeleteFast(exception));
        }
    }
    em.call(2);
    if told {
        let answer = store_results(em, 2);
        em.handled_before = Some(answer[0]);
        em.tell(None)?;
        em.load(answer[1]);
    }
    em.emit(Op::ReturnValue);
    Ok(())
}

/// A stretch of emitted code whose exceptions go to a handler behind it.
struct Protected {
    start: Label,
    end: Option<Label>,
    handler: Label,
}

impl Protected {
    /// Nothing is on the stack here.
    fn begin(em: &mut Emitter<'_, '_>) -> Protected {
        let (start, handler) = (em.b.new_label(), em.b.new_label());
        em.b.bind(start);
        if handling::has_blocks(em.unit.code.version) {
            em.emit(Op::SetupFinally(handler));
        }
        Protected { start, end: None, handler }
    }

    /// The instruction has run, on one of its ways out.
    fn end(&mut self, em: &mut Emitter<'_, '_>) {
        if handling::has_blocks(em.unit.code.version) {
            em.emit(Op::PopBlock);
        } else if self.end.is_none() {
            let end = em.b.new_label();
            em.b.bind(end);
            self.end = Some(end);
        }
    }

    /// The handler: leaves the exception in a local.
    fn handler(self, em: &mut Emitter<'_, '_>) -> Local {
        em.b.bind(self.handler);
        let exception = em.new_temp();
        if handling::has_blocks(em.unit.code.version) {
            em.emit(Op::PopTop);
            em.store(exception);
            em.emit(Op::PopTop);
            em.emit(Op::PopExceptTriple);
        } else {
            if let Some(end) = self.end {
                em.b.push_region(self.start, end, self.handler, 0, false);
            }
            em.store(exception);
        }
        exception
    }
}
