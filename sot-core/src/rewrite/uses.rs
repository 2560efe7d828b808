//! How often each variable is needed by the emitted code, and which it needs at all.

use super::computed_symbol;
use crate::captured::Captured;
use crate::variables::VarId;
use hashbrown::HashMap;
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
