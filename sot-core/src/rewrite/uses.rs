//! How often each variable is needed by the emitted code, and which it needs at all.

use super::computed_symbol;
use crate::executor::Executor;
use crate::variables::*;
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
    pub(super) fn graph_outputs(&self, ex: &Executor<'_>) -> Vec<Symbol> {
        self.order.iter().filter_map(|v| computed_symbol(ex, *v)).collect()
    }
}

/// Count the uses of all that is reachable from the roots.
pub(super) fn count(ex: &Executor<'_>, roots: &[VarId]) -> Uses {
    let mut uses = Uses::default();
    let mut work: Vec<VarId> = roots.iter().rev().copied().collect();
    while let Some(var) = work.pop() {
        let count = uses.counts.entry(var).or_insert(0);
        *count += 1;
        if *count > 1 {
            continue;
        }
        uses.order.push(var);
        if !found_outside(ex, var) {
            work.extend(parts(ex, var).into_iter().rev());
        }
    }
    uses
}

/// Whether a variable's value existed before the frame (so that its parts need not be built).
pub(super) fn found_outside(ex: &Executor<'_>, var: VarId) -> bool {
    ex.has_path(ex.var(var).tracker)
}

/// The variables that building a virtual variable needs.
pub fn parts(ex: &Executor<'_>, var: VarId) -> Vec<VarId> {
    match &ex.var(var).kind {
        VarKind::Tuple(t) => t.items.to_vec(),
        VarKind::List(l) => l.items.to_vec(),
        VarKind::Dict(d) => d.entries.iter().flat_map(|e| [e.0, e.1]).collect(),
        VarKind::View(v) => vec![v.dict],
        VarKind::Slice(s) => s.parts.to_vec(),
        VarKind::Iterator(i) => match &i.state {
            Iteration::Sequence { sequence, .. } | Iteration::Reversed { sequence, .. } => vec![*sequence],
            Iteration::Dict { dict, .. } => vec![*dict],
            Iteration::Tensor { tensor, .. } => vec![*tensor],
            Iteration::Enumerate { inner, .. } => vec![*inner],
            Iteration::Zip { inners } => inners.clone(),
            Iteration::Filter { function, inner } => vec![*function, *inner],
            Iteration::Map { function, inners } => std::iter::once(*function).chain(inners.iter().copied()).collect(),
            Iteration::Range { .. } | Iteration::Real { .. } | Iteration::Exhausted => Vec::new(),
        },
        VarKind::Function(FunctionVar::Made(made)) => {
            [made.defaults, made.kwdefaults, made.annotations, made.closure, made.qualname]
                .into_iter()
                .flatten()
                .collect()
        }
        VarKind::Method(m) => vec![m.function, m.receiver],
        VarKind::Bound(b) => vec![b.receiver],
        VarKind::Super(s) => vec![s.class, s.receiver],
        VarKind::Cell(c) => c.content.into_iter().collect(),
        VarKind::Instance(_) => ex.virtual_attributes(var).into_iter().map(|(_, value)| value).collect(),
        VarKind::Generator(g) => super::generators::values(ex, g),
        VarKind::Traceback(t) => vec![t.exception],
        VarKind::Exception(e) => {
            let state = &e.state;
            let mut parts: Vec<VarId> = state.args.iter().copied().collect();
            parts.extend(ex.virtual_attributes(var).into_iter().map(|(_, value)| value));
            parts.extend(state.cause.flatten());
            parts.extend(state.context);
            parts.extend(state.about.iter().map(|(_, value)| *value));
            parts
        }
        VarKind::Constant(_)
        | VarKind::Tensor(_)
        | VarKind::Function(FunctionVar::Object(_))
        | VarKind::Builtin(_)
        | VarKind::Class(_)
        | VarKind::Module(_)
        | VarKind::Layer(_)
        | VarKind::Null(_)
        | VarKind::Previous(_) => Vec::new(),
    }
}
