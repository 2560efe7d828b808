//! Evaluation, for whoever can follow one access and answer one check.
//!
//! [`GuardTree::evaluate`] runs a schedule; [`Guard::evaluate`] walks one path by itself. They agree, and the second
//! says what the first means:
//! - An access gives a value, finds the slot or cell empty, or finds nothing at all. The last fails the guard, and so
//!   does an access into an empty slot or cell.
//! - [`Check::Unbound`] holds of empty alone, every other check needs values, its own and the others.
//!
//! A native evaluator follows the schedule on its own registers; this module is the reference it is tested against,
//! and good enough where speed does not matter.

use crate::{Access, Check, Guard, GuardTree, NodeId, Step, TrackerId, TrackerTable};
use hashbrown::HashMap;

/// What an access found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accessed<V> {
    Value(V),
    /// The slot or cell is there and empty. Of other accesses it counts as missing.
    Empty,
    /// There is no such thing: wrong type, no such key, out of range, exhausted.
    Missing,
}

/// Follows accesses and answers checks. Must not run user code.
pub trait World {
    /// A value in a register.
    type Value: Clone;
    /// Take one step. `base` is `None` for roots only.
    /// `operand`: the second number of an operation on two.
    fn access(
        &mut self,
        access: &Access,
        base: Option<&Self::Value>,
        operand: Option<&Self::Value>,
    ) -> Accessed<Self::Value>;
    /// Answer a check other than [`Check::Unbound`]. `others` are the values of [`Check::others`], in that order.
    fn check(&mut self, check: &Check, value: &Self::Value, others: &[Self::Value]) -> bool;
}

/// Why a tree said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The step that failed.
    pub step: Step,
    /// Index of the guard to blame.
    pub guard: usize,
}

/// `None`: missing.
fn follow<W: World>(
    world: &mut W,
    access: &Access,
    base: Option<&Accessed<W::Value>>,
    operand: Option<&Accessed<W::Value>>,
) -> Option<Accessed<W::Value>> {
    fn there<V>(found: Option<&Accessed<V>>) -> Option<Option<&V>> {
        match found {
            None => Some(None),
            Some(Accessed::Value(value)) => Some(Some(value)),
            Some(Accessed::Empty | Accessed::Missing) => None,
        }
    }
    let found = world.access(access, there(base)?, there(operand)?);
    match found {
        Accessed::Value(_) => Some(found),
        Accessed::Empty if access.may_be_empty() => Some(found),
        Accessed::Empty | Accessed::Missing => None,
    }
}

fn answer<'v, W: World>(
    world: &mut W,
    check: &Check,
    value: &Accessed<W::Value>,
    others: impl Iterator<Item = &'v Accessed<W::Value>>,
) -> bool
where
    W::Value: 'v,
{
    match (check, value) {
        (Check::Unbound, Accessed::Empty) => true,
        (Check::Unbound, Accessed::Value(_) | Accessed::Missing) | (_, Accessed::Empty | Accessed::Missing) => false,
        (_, Accessed::Value(value)) => {
            let others: Option<Vec<W::Value>> = others
                .map(|o| match o {
                    Accessed::Value(other) => Some(other.clone()),
                    Accessed::Empty | Accessed::Missing => None,
                })
                .collect();
            others.is_some_and(|others| world.check(check, value, &others))
        }
    }
}

impl GuardTree {
    /// Whether all guards hold, or which does not.
    pub fn evaluate<W: World>(&self, world: &mut W) -> Result<(), Miss> {
        let mut registers: Vec<Accessed<W::Value>> = vec![Accessed::Missing; self.nodes().len()];
        for step in self.schedule() {
            let passed = match *step {
                Step::Access(id) => {
                    let node = self.node(id);
                    let register = |id: Option<NodeId>| id.map(|id| &registers[id.index()]);
                    let found = follow(world, &node.access, register(node.parent), register(node.operand));
                    let passed = found.is_some();
                    registers[id.index()] = found.unwrap_or(Accessed::Missing);
                    passed
                }
                Step::Check(id, index) => {
                    let check = &self.node(id).checks[index as usize];
                    let others = check.others.iter().map(|o| &registers[o.index()]);
                    answer(world, &check.check, &registers[id.index()], others)
                }
            };
            if !passed {
                return Err(Miss { step: *step, guard: self.guard_of(*step) });
            }
        }
        Ok(())
    }
}

impl TrackerTable {
    /// Follow a whole path; `None` if it breaks off (or was computed).
    pub fn fetch<W: World>(&self, id: TrackerId, world: &mut W) -> Option<Accessed<W::Value>> {
        let mut found: HashMap<TrackerId, Accessed<W::Value>> = HashMap::new();
        for step in self.path(id) {
            let tracker = self.get(step);
            let (left, right) = tracker.operands();
            let register = |id: Option<TrackerId>| id.map(|id| &found[&id]);
            let value = follow(world, &tracker.access()?, register(tracker.base().or(left)), register(right))?;
            found.insert(step, value);
        }
        found.remove(&id)
    }
}

impl Guard {
    /// Whether this guard by itself holds.
    pub fn evaluate<W: World>(&self, table: &TrackerTable, world: &mut W) -> bool {
        let Some(own) = table.fetch(self.tracker, world) else { return false };
        // A place may give another object each time (the number of a line).
        let others: Option<Vec<_>> = (self.check.others().iter())
            .map(|other| if *other == self.tracker { Some(own.clone()) } else { table.fetch(*other, world) })
            .collect();
        others.is_some_and(|others| answer(world, &self.check, &own, others.iter()))
    }
}
