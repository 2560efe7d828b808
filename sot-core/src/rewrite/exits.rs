//! What is handed on where emitted code ends at a break: frames, and generators that stay frames while they wait.
//!
//! A generator whose frame is above another one on the stack runs; one that nothing but stacks and variables of frames refers
//! to may go on waiting as a frame. Others become objects before the break instruction runs.

use super::uses;
use crate::awaits::Awaits;
use crate::backend::registered;
use crate::captured::Captured;
use crate::frame::{Finally, Frame};
use crate::shapes::{FrameShape, GeneratorAt, Shape, SlotShape, WaitingShape, uses_super};
use crate::stop::{Reason, Stop};
use crate::variables::*;
use hashbrown::HashSet;
use pyo3::prelude::*;
use sot_opcodes::{Local, Op, handling};
use std::rc::Rc;

/// A value on a stack that a continuation takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Var(VarId),
    /// The n-th result of the break instruction, deepest first.
    Result(usize),
    Null,
    /// 3.8: how a `finally` block was entered without an exception.
    Finally(Finally),
    Previous,
    /// A generator that is no object yet.
    Generator(GeneratorAt),
}

impl Item {
    /// Whether it is a value to be handed on.
    pub(super) fn is_value(&self) -> bool {
        matches!(self, Item::Var(_) | Item::Result(_))
    }

    pub(super) fn var(&self) -> Option<VarId> {
        match self {
            Item::Var(var) => Some(*var),
            Item::Result(_) | Item::Null | Item::Finally(_) | Item::Previous | Item::Generator(_) => None,
        }
    }
}

/// Where the emitted code goes on, for one outcome of the break instruction.
pub(super) struct Exit {
    pub(super) shape: Shape,
    pub(super) items: Vec<Item>,
    /// The generators that wait to be asked, in the order of the shape.
    pub(super) waiting: Vec<VarId>,
}

impl Exit {
    /// What the innermost frame handles is a result of the break instruction; that of now.
    pub(super) fn handle_result(&mut self, result: usize) -> Option<VarId> {
        let (innermost, outer) = self.shape.frames.split_last()?;
        let first: usize = outer.iter().map(FrameShape::values).sum();
        let at = first + innermost.stack_values() + innermost.locals.len() + innermost.handled.checked_sub(1)?;
        let item = self.items.get_mut(at)?;
        std::mem::replace(item, Item::Result(result)).var()
    }

    /// The variables that it hands on.
    pub(super) fn vars(&self) -> impl Iterator<Item = VarId> {
        let items = self.items.iter().filter_map(|item| if let Item::Var(var) = item { Some(*var) } else { None });
        items.chain(self.waiting.iter().copied())
    }
}

/// What a slot of the simulated stack is to a continuation.
pub(super) fn item(captured: &Captured, var: VarId) -> Item {
    match &captured.var(var).kind {
        VarKind::Null(null) => null.finally.map_or(Item::Null, Item::Finally),
        VarKind::Previous(_) => Item::Previous,
        _ => Item::Var(var),
    }
}

/// The index of a generator's frame, if that is on the machine's stack.
fn running(captured: &Captured, var: VarId) -> Option<GeneratorAt> {
    match &captured.var(var).kind {
        VarKind::Generator(g) if matches!(g.state, GeneratorState::Running) => {
            let at = captured.frames.iter().position(|frame| frame.generator == Some(var))?;
            Some(GeneratorAt::Frame(at as u32))
        }
        _ => None,
    }
}

/// The generators that frames of an exit refer to.
struct Generators<'a> {
    /// Those that stay frames while they wait.
    carried: &'a [VarId],
    /// Those of them that were met.
    waiting: Vec<VarId>,
}

impl Generators<'_> {
    /// Where the generator is, if it is no object.
    fn at(&mut self, captured: &Captured, var: VarId) -> Option<GeneratorAt> {
        if !self.carried.contains(&var) {
            return running(captured, var);
        }
        let known = self.waiting.iter().position(|other| *other == var);
        let at = known.unwrap_or_else(|| {
            self.waiting.push(var);
            self.waiting.len() - 1
        });
        Some(GeneratorAt::Waiting(at as u32))
    }

    /// The items of a stack or of variables, with generators by their frames.
    fn replace(&mut self, captured: &Captured, item: &Item) -> Item {
        item.var().and_then(|var| self.at(captured, var)).map_or(*item, Item::Generator)
    }

    /// The shape of a frame that stands at `ip`. Its values are appended to `items`.
    fn frame(
        &mut self,
        py: Python<'_>,
        captured: &Captured,
        frame: &Frame,
        (ip, awaits, held): (usize, Option<Awaits>, usize),
        (stack, locals): (&[Item], Vec<u32>),
        items: &mut Vec<Item>,
    ) -> FrameShape {
        let stack: Vec<Item> = stack.iter().map(|item| self.replace(captured, item)).collect();
        let bound = |l: u32| frame.locals[l as usize].expect("bound");
        let at: Vec<Option<GeneratorAt>> = locals.iter().map(|l| self.at(captured, bound(*l))).collect();
        let generators = locals.iter().zip(&at).filter_map(|(l, at)| Some((*l, (*at)?))).collect();
        let locals: Vec<u32> = locals.iter().zip(&at).filter(|(_, at)| at.is_none()).map(|(l, _)| *l).collect();
        items.extend(stack.iter().filter(|i| i.is_value()));
        items.extend(locals.iter().map(|l| Item::Var(bound(*l))));
        // Levels that the stack has lost are over.
        let slots = handling::slots(frame.unit.code.version);
        // What opens a block leaves the block's slot, and what it gives the block above that.
        let mut blocks = frame.blocks.clone();
        if handling::finally_has_state(frame.unit.code.version) && frame.unit.open_blocks(ip) > blocks.len() {
            blocks.push(stack.len().saturating_sub(1) as u32);
        }
        let handled = (stack.iter().filter(|i| **i == Item::Previous).count() / slots).min(frame.handled.len());
        items.extend(frame.handled[..handled].iter().map(|e| Item::Var(*e)));
        items.extend(frame.cells.iter().flatten().map(|c| Item::Var(*c)));
        FrameShape {
            unit: frame.unit.clone(),
            globals: captured.objects.get(py, frame.globals).unbind(),
            builtins: captured.objects.get(py, frame.builtins).unbind(),
            ip,
            awaits,
            stack: stack
                .iter()
                .map(|i| match i {
                    Item::Var(_) | Item::Result(_) => SlotShape::Value,
                    Item::Null => SlotShape::Null,
                    Item::Finally(state) => SlotShape::Finally(*state),
                    Item::Previous => SlotShape::Previous,
                    Item::Generator(at) => SlotShape::Generator(*at),
                })
                .collect(),
            held,
            locals,
            handled,
            apart: None,
            blocks,
            cells: frame.cells.iter().flatten().count(),
            skipped: frame.skipped.clone(),
            generator: frame.generator.is_some(),
            generators,
        }
    }
}

/// The suspended frame of a generator that could stay one over a break. No continuation has that of an async generator.
fn waiting_frame(captured: &Captured, var: VarId) -> Option<(&Rc<Frame>, bool)> {
    match &captured.var(var).kind {
        VarKind::Generator(generator) if generator.is_async() => None,
        VarKind::Generator(GeneratorVar { state: GeneratorState::New(frame), .. }) => Some((frame, false)),
        VarKind::Generator(GeneratorVar { state: GeneratorState::Suspended(frame), .. }) => Some((frame, true)),
        _ => None,
    }
}

/// Generators that wait to be asked and that nothing but stacks and variables of frames refers to: they stay frames over
/// the break. `operands`: what the break instruction sees.
pub(super) fn carried(captured: &Captured, operands: &[VarId]) -> Vec<VarId> {
    let mut found: Vec<VarId> = Vec::new();
    let mut others: Vec<VarId> = operands.to_vec();
    others.extend(uses::replay_roots(captured));
    let frames = captured.frames.iter().map(|frame| (frame, (0..frame.locals.len() as u32).collect()));
    let mut work: Vec<(&Frame, Vec<u32>)> = frames.collect();
    while let Some((frame, locals)) = work.pop() {
        others.extend(frame.handled.iter().chain(frame.cells.iter().flatten()));
        let variables = locals.into_iter().filter_map(|l| frame.locals[l as usize]);
        for var in frame.stack.iter().copied().chain(variables) {
            match waiting_frame(captured, var) {
                Some((frame, _)) if !found.contains(&var) => {
                    found.push(var);
                    work.push((frame, captured.locals_of_object(frame)));
                }
                Some(_) => {}
                None => others.push(var),
            }
        }
    }
    if found.is_empty() {
        return found;
    }
    let seen = all_within(captured, others);
    found.retain(|var| !seen.contains(var));
    found
}

/// Names of what refers to an object without holding it.
const REFERS_WEAKLY: [&str; 8] =
    ["weakref", "_weakref", "ref", "proxy", "finalize", "WeakValueDictionary", "WeakKeyDictionary", "WeakSet"];

/// Tensors in variables, or held for a call, that are objects anyway: from before, or given to what runs at the break. Others may have
/// borrowed their memory in ways that nobody sees (an object of C that was asked for its pointer), or refer to them weakly, so they live as
/// long as their frames hold them, where a frame names such a way. One that the graph alone has is not made for that.
fn tensors_at_hand(captured: &Captured) -> HashSet<VarId> {
    let borrows =
        |name: &str| REFERS_WEAKLY.contains(&name) || registered().is_some_and(|backend| backend.borrows_memory(name));
    if !captured.frames.iter().any(|frame| frame.unit.code.names.iter().any(|name| borrows(name))) {
        return HashSet::new();
    }
    let is_tensor = |var: &VarId| matches!(captured.var(*var).kind, VarKind::Tensor(_));
    let locals = captured.frames.iter().flat_map(|frame| frame.locals.iter().flatten());
    let held = captured.frames.iter().flat_map(|frame| &frame.stack[frame.stack.len() - frame.held..]);
    let tensors = locals.chain(held).copied().filter(is_tensor);
    let (from_before, computed): (Vec<VarId>, Vec<VarId>) = tensors.partition(|var| captured.found_outside(*var));
    let mut found: HashSet<VarId> = from_before.into_iter().collect();
    if let Some(frame) = captured.frames.last().filter(|_| !computed.is_empty()) {
        let given = all_within(captured, frame.stack.clone());
        found.extend(computed.into_iter().filter(|var| given.contains(var)));
    }
    found
}

/// What dead locals hold and what goes on may fill: it reaches containers or instances of the capture that they are, or hold, and may put
/// something there whose end could be seen. That ends with the frame.
fn filled_by_what_goes_on(captured: &Captured, ip: usize, inner_stack: &[Item]) -> HashSet<VarId> {
    use VarKind::*;
    let (mut dead, mut work) = (Vec::new(), Vec::new());
    work.extend(inner_stack.iter().filter_map(|item| match item {
        Item::Var(var) => Some(*var),
        _ => None,
    }));
    for (i, frame) in captured.frames.iter().enumerate() {
        let innermost = i + 1 == captured.frames.len();
        // What the instruction of the break gives, if anybody takes it, may hold its operands.
        let gives = innermost && inner_stack.iter().any(|item| matches!(item, Item::Result(_)));
        if !innermost || gives && !matches!(frame.unit.code.instrs[ip].op, Op::PopTop) {
            work.extend(&frame.stack);
        }
        let live = frame.unit.liveness().live_before(if innermost { ip } else { frame.ip });
        for (local, var) in frame.locals.iter().enumerate().filter_map(|(local, var)| Some((local, (*var)?))) {
            match live.local(Local(local as u32)) {
                true => work.push(var),
                false if !captured.found_outside(var) => dead.push(var),
                false => {}
            }
        }
    }
    if dead.is_empty() {
        return HashSet::new();
    }
    let reached = all_within(captured, work);
    let may_be_filled = |var: &VarId| {
        let is_container = matches!(captured.var(*var).kind, List(_) | Dict(_) | Set(_) | Deque(_) | Instance(_));
        is_container && !captured.found_outside(*var) && reached.contains(var)
    };
    dead.into_iter().filter(|var| all_within(captured, vec![*var]).iter().any(may_be_filled)).collect()
}

/// Values and all that the capture has put into them.
fn all_within(captured: &Captured, mut work: Vec<VarId>) -> HashSet<VarId> {
    let mut seen = HashSet::new();
    while let Some(var) = work.pop() {
        if seen.insert(var) && !captured.found_outside(var) {
            work.extend(captured.parts(var));
        }
    }
    seen
}

/// The state of all frames when the innermost goes on at `ip` with `stack`. `shown`: variables that are handed on, needed
/// or not.
pub(super) fn exit(
    py: Python<'_>,
    captured: &Captured,
    (carried, shown): (&[VarId], &[VarId]),
    ip: usize,
    inner_stack: Vec<Item>,
) -> Exit {
    let depth = captured.frames.len();
    let mut frames = Vec::with_capacity(depth);
    let mut items = Vec::new();
    let mut generators = Generators { carried, waiting: Vec::new() };
    let filled = filled_by_what_goes_on(captured, ip, &inner_stack);
    let at_hand = tensors_at_hand(captured);
    for (i, frame) in captured.frames.iter().enumerate() {
        let innermost = i + 1 == depth;
        // Outer frames wait at their call. What its result or an exception makes of them may use what is alive before it.
        let at = if innermost { ip } else { frame.ip };
        // What a frame holds while it waits is needed only where that could be seen.
        let (values, held) = frame.stack.split_at(frame.stack.len() - if innermost { 0 } else { frame.held });
        let held = held.iter().copied().filter(|var| captured.lives_on(*var) || at_hand.contains(var));
        let held: Vec<VarId> = held.collect();
        let stack: Vec<Item> = match innermost {
            true => inner_stack.clone(),
            false => values.iter().chain(&held).map(|v| item(captured, *v)).collect(),
        };
        let live = frame.unit.liveness();
        let all = frame.unit.asks_for_locals() || captured.looked_at.get(i).is_some_and(|looked_at| *looked_at);
        let locals: Vec<u32> = (0..frame.locals.len() as u32)
            .filter(|l| {
                // What is dead but could be seen to die lives as long as eager's frame holds it.
                let kept = |var: VarId| {
                    all || live.live_before(at).local(Local(*l))
                        || *l == 0 && uses_super(&frame.unit.code)
                        || captured.lives_on(var)
                        || filled.contains(&var)
                        || at_hand.contains(&var)
                        // A generator's frame is there as long as anybody could ask for more, and cleans up afterwards.
                        || running(captured, var).is_some()
                        || carried.contains(&var)
                        || shown.contains(&var)
                        // Once it waits, somebody may look at it: it holds what it will hold then.
                        || frame.generator.is_some() && !frame.is_hidden() && captured.is_seen_in_generators(var)
                };
                frame.locals[*l as usize].is_some_and(kept)
            })
            .collect();
        let place = (at, (!innermost).then_some(frame.awaits), held.len());
        frames.push(generators.frame(py, captured, frame, place, (&stack, locals), &mut items));
    }
    let mut waiting = Vec::new();
    while let Some(var) = generators.waiting.get(waiting.len()) {
        let (frame, started) = waiting_frame(captured, *var).expect("it was found to wait");
        let stack: Vec<Item> = frame.stack.iter().map(|v| item(captured, *v)).collect();
        let locals = captured.locals_of_object(frame);
        let shape = generators.frame(py, captured, frame, (frame.ip, None, 0), (&stack, locals), &mut items);
        waiting.push(WaitingShape::new(FrameShape { generator: true, skipped: None, ..shape }, started));
    }
    Exit { shape: Shape { frames, waiting }, items, waiting: generators.waiting }
}

/// Frames of an exit refer to generators that run above them only: those become real before the frame goes on.
pub(super) fn require_generators_above(exit: &Exit) -> Result<(), Stop> {
    let runs = |frame: &FrameShape, from: usize| {
        frame.generators().any(|of| matches!(of, GeneratorAt::Frame(of) if of as usize <= from))
    };
    let below = exit.shape.frames.iter().enumerate().any(|(at, frame)| runs(frame, at));
    if below || exit.shape.waiting.iter().any(|waiting| runs(&waiting.frame, usize::MAX)) {
        return Err(Stop::fallback(Reason::Reconstruct, "a generator that is running"));
    }
    // One that waits can be made when those that it refers to have been made.
    let mut left: Vec<u32> = (0..exit.shape.waiting.len() as u32).collect();
    while !left.is_empty() {
        let before = left.len();
        let others = left.clone();
        left.retain(|at| {
            let held = exit.shape.waiting[*at as usize].frame.generators();
            held.into_iter().any(|of| matches!(of, GeneratorAt::Waiting(of) if others.contains(&of)))
        });
        if left.len() == before {
            return Err(Stop::fallback(Reason::Reconstruct, "a value that contains itself"));
        }
    }
    Ok(())
}
