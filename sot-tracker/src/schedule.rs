//! The order of evaluation of a guard tree.
//!
//! What is fixed (safety: an access may presume what was checked before it)
//! - A value is fetched after its parent and its operand, and checked after it was fetched.
//! - Nothing goes *into* a value before all checks on that value itself have passed, except those that also need
//!   other values (`SameAs`, `Distinct`).
//! - If the type of a value is a node (`TypeOf`), its checks pass before anything else goes into the value.
//! - `SameAs` and `Distinct` come when all values they name were fetched.
//!
//! What is free is ordered greedily: paths from slots before paths from constants, then the step with the lowest
//! [rank](crate::cost), an access counting as its own cost plus the lowest rank that it leads to, then by number.
//! The same set always gives the same schedule.

use crate::{Access, Check, Node, NodeId, cost};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Fill the node's register from its parent's.
    Access(NodeId),
    /// Answer the node's check of this index.
    Check(NodeId, u32),
}

/// Rank of an access that leads to no check of its own (only others compare with it).
const RANK_OF_NOTHING: u32 = 8;

pub(crate) fn schedule(nodes: &[Node]) -> Vec<Step> {
    let mut scheduler = Scheduler::new(nodes);
    for node in nodes.iter().filter(|n| n.parent.is_none()) {
        scheduler.push(Step::Access(node.id));
    }
    let mut steps = Vec::new();
    while let Some(Reverse((_, _, step))) = scheduler.ready.pop() {
        steps.push(step);
        match step {
            Step::Access(node) => scheduler.fetched(node),
            Step::Check(node, check) => scheduler.passed(node, check),
        }
    }
    steps
}

struct Scheduler<'a> {
    nodes: &'a [Node],
    /// From a slot: 0, from a constant: 1.
    stage: Vec<u8>,
    rank: Vec<u32>,
    /// Checks on the value itself that have not passed yet.
    own_checks: Vec<usize>,
    /// Values that an access still waits for.
    needs: Vec<usize>,
    /// Checks on other nodes that wait for this one.
    waiting: Vec<Vec<(NodeId, u32)>>,
    /// For each check, values it waits for.
    missing: Vec<Vec<usize>>,
    ready: BinaryHeap<Reverse<(u8, u32, Step)>>,
}

fn is_own(check: &Check) -> bool {
    check.others().is_empty()
}

impl<'a> Scheduler<'a> {
    fn new(nodes: &'a [Node]) -> Scheduler<'a> {
        let mut rank = vec![u32::MAX; nodes.len()];
        let mut stage = vec![0; nodes.len()];
        for node in nodes {
            stage[node.id.index()] = match node.parent {
                Some(parent) => stage[parent.index()],
                None => u8::from(matches!(node.access, Access::Constant(_))),
            };
        }
        for node in nodes.iter().rev() {
            let checks = node.checks.iter().map(|c| cost::rank(&c.check));
            let children = node.children.iter().map(|c| rank[c.index()]);
            let lowest = checks.chain(children).min().unwrap_or(RANK_OF_NOTHING);
            rank[node.id.index()] = lowest.saturating_add(cost::of_access(&node.access));
        }
        let mut scheduler = Scheduler {
            nodes,
            stage,
            rank,
            own_checks: nodes.iter().map(|n| n.checks.iter().filter(|c| is_own(&c.check)).count()).collect(),
            needs: nodes
                .iter()
                .map(|n| usize::from(n.parent.is_some()) + usize::from(n.operand.is_some_and(|o| n.parent != Some(o))))
                .collect(),
            waiting: vec![Vec::new(); nodes.len()],
            missing: nodes.iter().map(|n| vec![0; n.checks.len()]).collect(),
            ready: BinaryHeap::new(),
        };
        for node in nodes {
            for (index, check) in node.checks.iter().enumerate().filter(|(_, c)| !is_own(&c.check)) {
                scheduler.missing[node.id.index()][index] = 1 + check.others.len();
                for needed in check.others.iter().chain(std::iter::once(&node.id)) {
                    scheduler.waiting[needed.index()].push((node.id, index as u32));
                }
            }
        }
        scheduler
    }

    fn push(&mut self, step: Step) {
        let (node, rank) = match step {
            Step::Access(node) => (node, self.rank[node.index()]),
            Step::Check(node, check) => (node, cost::rank(&self.nodes[node.index()].checks[check as usize].check)),
        };
        self.ready.push(Reverse((self.stage[node.index()], rank, step)));
    }

    fn fetched(&mut self, id: NodeId) {
        let nodes = self.nodes;
        for (index, _) in nodes[id.index()].checks.iter().enumerate().filter(|(_, c)| is_own(&c.check)) {
            self.push(Step::Check(id, index as u32));
        }
        for (node, check) in std::mem::take(&mut self.waiting[id.index()]) {
            let missing = &mut self.missing[node.index()][check as usize];
            *missing -= 1;
            if *missing == 0 {
                self.push(Step::Check(node, check));
            }
        }
        if self.own_checks[id.index()] == 0 {
            self.open(id);
        }
    }

    fn passed(&mut self, id: NodeId, check: u32) {
        if is_own(&self.nodes[id.index()].checks[check as usize].check) {
            self.own_checks[id.index()] -= 1;
            if self.own_checks[id.index()] == 0 {
                self.open(id);
            }
        }
    }

    /// One of the values that an access needs is there, and good.
    fn is_given(&mut self, id: NodeId) {
        self.needs[id.index()] -= 1;
        if self.needs[id.index()] == 0 {
            self.push(Step::Access(id));
        }
    }

    /// The value itself is known to be good: go into it, its type first.
    fn open(&mut self, id: NodeId) {
        let nodes = self.nodes;
        let node = &nodes[id.index()];
        let is_type = |child: &&NodeId| nodes[child.index()].access == Access::TypeOf;
        match node.children.iter().find(is_type) {
            Some(class) => self.is_given(*class),
            None => node.children.iter().for_each(|c| self.is_given(*c)),
        }
        if let (Access::TypeOf, Some(parent)) = (&node.access, node.parent) {
            let siblings = &nodes[parent.index()].children;
            siblings.iter().filter(|c| !is_type(c)).for_each(|c| self.is_given(*c));
        }
    }
}
