//! How often each variable is needed by the emitted code, and which it needs at all.

use super::computed_symbol;
use crate::captured::Captured;
use crate::variables::{DictVar, TensorSource, VarId, VarKind};
use hashbrown::{HashMap, HashSet};
use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use sot_sideeffect::{Mutation, Target, VarRef};
use sot_sir::Symbol;

/// Use counts of everything reachable from the roots, in order of first use.
#[derive(Default)]
pub(super) struct Uses {
    counts: HashMap<VarId, usize>,
    order: Vec<VarId>,
}

impl Uses {
    pub(super) fn count_of(&self, var: VarId) -> usize {
        self.counts.get(&var).copied().unwrap_or(0)
    }

    pub(super) fn order(&self) -> &[VarId] {
        &self.order
    }

    /// Computed tensors that the emitted code needs, each once.
    pub(super) fn graph_outputs(&self, captured: &Captured) -> Vec<Symbol> {
        self.order.iter().filter_map(|v| computed_symbol(captured, *v)).collect()
    }
}

/// Count the uses of all that is reachable from the roots.
pub(super) fn count(captured: &Captured, roots: &[VarId]) -> Uses {
    let mut uses = Uses::default();
    let mut work: Vec<VarId> = roots.iter().rev().copied().collect();
    while let Some(var) = work.pop() {
        let count = uses.counts.entry(var).or_insert(0);
        *count += 1;
        if *count > 1 {
            continue;
        }
        uses.order.push(var);
        if !captured.found_outside(var) {
            work.extend(captured.parts(var).into_iter().rev());
        }
    }
    uses
}

/// Whether a value can be built before what is in it.
fn can_be_filled(kind: &VarKind) -> bool {
    matches!(kind, VarKind::List(_) | VarKind::Deque(_) | VarKind::Dict(DictVar { owner: None, .. }))
}

/// Containers that are on a way back to themselves.
pub(super) fn rings(captured: &Captured, uses: &Uses) -> HashSet<VarId> {
    let is_made = |var: &&VarId| {
        let plain = matches!(captured.var(**var).kind, VarKind::Constant(_) | VarKind::Tensor(_) | VarKind::Null(_));
        !plain && !captured.found_outside(**var)
    };
    let wanted: Vec<VarId> = uses.order().iter().filter(is_made).copied().collect();
    // What is on a way back to itself is met twice.
    let again = wanted.iter().any(|var| uses.count_of(*var) > 1);
    if !again || !wanted.iter().any(|var| can_be_filled(&captured.var(*var).kind)) {
        return HashSet::new();
    }
    let mut graph = DiGraph::<VarId, ()>::with_capacity(wanted.len(), wanted.len());
    let nodes: HashMap<VarId, _> = wanted.iter().map(|var| (*var, graph.add_node(*var))).collect();
    for var in &wanted {
        for part in captured.parts(*var) {
            if let Some(to) = nodes.get(&part) {
                graph.add_edge(nodes[var], *to, ());
            }
        }
    }
    let is_ring = |component: &Vec<_>| component.len() > 1 || graph.contains_edge(component[0], component[0]);
    let rings = tarjan_scc(&graph).into_iter().filter(is_ring).flatten();
    rings.map(|node| graph[node]).filter(|var| can_be_filled(&captured.var(*var).kind)).collect()
}

pub(super) fn var(v: VarRef) -> VarId {
    VarId(v.0)
}

/// Whether an entry changes an object that the simulation made (its final state is built instead).
pub(super) fn is_built_in(captured: &Captured, mutation: &Mutation) -> bool {
    match (mutation, mutation.target()) {
        (Mutation::Written { .. } | Mutation::ClassMade { .. }, _) | (_, Target::Globals(_) | Target::Mode(_)) => false,
        (_, Target::Object(object)) => match &captured.var(var(object)).kind {
            VarKind::Iterator(_) | VarKind::Class(_) | VarKind::Module(_) => false,
            // One of the graph has its flags from it.
            VarKind::Tensor(tensor) => matches!(tensor.source, TensorSource::Computed { .. }),
            _ => !captured.is_sourced_container(var(object)),
        },
    }
}

/// What the replay of the journal needs.
pub(super) fn replay_roots(captured: &Captured) -> Vec<VarId> {
    roots_of_steps(captured).concat()
}

/// What each step of the replay needs: first the exceptions that have passed frames, then each entry. What finalizers are told is
/// needed when the values are let go of, before the step that follows.
pub(super) fn roots_of_steps(captured: &Captured) -> Vec<Vec<VarId>> {
    let mut steps = replayed(captured);
    for (step, told) in captured.told() {
        steps[step].push(told);
    }
    steps
}

/// What the replay needs for its own sake. An exception that is built to be told about an end has been over by then, and what its
/// traceback holds with it.
pub(super) fn replay_roots_but_told(captured: &Captured) -> Vec<VarId> {
    replayed(captured).concat()
}

fn replayed(captured: &Captured) -> Vec<Vec<VarId>> {
    let passed = captured.exceptions_passed();
    let passed = passed
        .into_iter()
        .flat_map(|e| std::iter::once(e).chain(captured.held_by_traceback(e)).chain(captured.traceback_set(e)))
        .collect();
    let entries = captured.journal.entries().iter().map(|entry| roots_of(captured, &entry.mutation));
    std::iter::once(passed).chain(entries).collect()
}

fn roots_of(captured: &Captured, mutation: &Mutation) -> Vec<VarId> {
    let mut roots = Vec::new();
    if let Target::Object(object) = mutation.target() {
        if is_built_in(captured, mutation) {
            return roots;
        }
        roots.push(var(object));
    }
    match mutation {
        // The item is what the iterator yields; it need not be built.
        Mutation::IterAdvance { .. } => {}
        other => roots.extend(other.operands().into_iter().map(var)),
    }
    roots
}
