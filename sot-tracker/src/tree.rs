//! Guards that share their paths: each value is fetched once, however many guards speak of it.
//!
//! A [`Node`] is a value; its number is the number of the register that an evaluator keeps it in. Parents come
//! before children in the table. Values that only a `SameAs` or `Distinct` names are nodes, too.
//!
//! The tree carries its own order of evaluation, [`GuardTree::schedule`]: a flat list of [`Step`]s to run from
//! first to last, stopping at the first that fails. How it is made is told in [`schedule`].

use crate::schedule::{self, Step};
use crate::{GuardSet, Names, Node, NodeCheck, NodeId, TrackerId, TrackerTable};
use hashbrown::HashMap;
use std::fmt;

/// A guard needs a value that no path leads to. The translator must not have asked: a computed value follows from
/// others, which are to be guarded instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// Index of the guard.
    pub guard: usize,
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "guard {} is on a computed value", self.guard)
    }
}

impl std::error::Error for Unreachable {}

/// Guards compiled for evaluation.
#[derive(Clone, Debug, Default)]
pub struct GuardTree {
    nodes: Vec<Node>,
    schedule: Vec<Step>,
    by_tracker: HashMap<TrackerId, NodeId>,
}

impl GuardTree {
    /// The tree of all guards of the set.
    pub fn compile(guards: &GuardSet, table: &TrackerTable) -> Result<GuardTree, Unreachable> {
        let mut tree = GuardTree::default();
        for (index, guard) in guards.iter().enumerate() {
            let mut nodes = Vec::new();
            for tracker in guard.trackers() {
                nodes.push(tree.grow(tracker, index, table)?);
            }
            let node = nodes.remove(0);
            let check = NodeCheck { check: guard.check.clone(), guard: index as u32, others: nodes };
            tree.nodes[node.index()].checks.push(check);
        }
        tree.schedule = schedule::schedule(&tree.nodes);
        Ok(tree)
    }

    /// The node of a path; it and those before it on the path are made if they are not there.
    fn grow(&mut self, tracker: TrackerId, guard: usize, table: &TrackerTable) -> Result<NodeId, Unreachable> {
        for step in table.path(tracker) {
            if self.by_tracker.contains_key(&step) {
                continue;
            }
            let found = table.get(step);
            let access = found.access().ok_or(Unreachable { guard })?;
            let (left, right) = found.operands();
            let node_of = |at: Option<TrackerId>| at.map(|at| self.by_tracker[&at]);
            let (parent, operand) = (node_of(found.base().or(left)), node_of(right));
            let id = NodeId(self.nodes.len() as u32);
            for needed in parent.into_iter().chain(operand.filter(|operand| parent != Some(*operand))) {
                self.nodes[needed.index()].children.push(id);
            }
            self.by_tracker.insert(step, id);
            self.nodes.push(Node {
                id,
                tracker: step,
                access,
                parent,
                operand,
                checks: Vec::new(),
                children: Vec::new(),
                first_guard: guard as u32,
            });
        }
        self.node_of(tracker).ok_or(Unreachable { guard })
    }

    /// All nodes, parents before children.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A node of this tree.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// What to do, in order.
    pub fn schedule(&self) -> &[Step] {
        &self.schedule
    }

    /// The node of a path.
    pub fn node_of(&self, tracker: TrackerId) -> Option<NodeId> {
        self.by_tracker.get(&tracker).copied()
    }

    /// Index of the guard to blame if this step fails.
    pub fn guard_of(&self, step: Step) -> usize {
        match step {
            Step::Access(node) => self.node(node).first_guard as usize,
            Step::Check(node, check) => self.node(node).checks[check as usize].guard as usize,
        }
    }

    /// The schedule as text: `n1 = n0.weight` for an access, `n1 is ..` for a check.
    pub fn display<'a>(&'a self, table: &'a TrackerTable, names: &'a dyn Names) -> impl fmt::Display + 'a {
        Text { tree: self, table, names }
    }
}

struct Text<'a> {
    tree: &'a GuardTree,
    table: &'a TrackerTable,
    names: &'a dyn Names,
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let register = |node: NodeId| format!("n{}", node.0);
        // Every path that a check names has a node; the long text is for trees that were put together by hand.
        let path = |tracker: TrackerId| {
            self.tree.node_of(tracker).map_or_else(|| self.table.display(tracker, self.names).to_string(), register)
        };
        for step in self.tree.schedule() {
            match *step {
                Step::Access(id) => {
                    let node = self.tree.node(id);
                    write!(f, "{} = ", register(id))?;
                    let [base, operand] = [node.parent, node.operand].map(|of| of.map(register).unwrap_or_default());
                    node.access.write(f, &base, &operand, self.names)?;
                }
                Step::Check(id, index) => {
                    let check = &self.tree.node(id).checks[index as usize].check;
                    check.write(f, &register(id), self.names, &path)?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
