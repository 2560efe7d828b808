//! Containers that contain themselves, directly or by way of others: they are built empty, and filled when all that was to be in them
//! is there, before the program sees any of it.
//!
//! Objects with attributes, functions with cells and exceptions are such by nature: what they refer to is set once they are there. Yet
//! who is built first may be the container, which leads back to itself by way of them.

use super::emit::{Callee, Emitter};
use super::uses::Uses;
use crate::captured::Captured;
use crate::probe;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use hashbrown::{HashMap, HashSet};
use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};
use sot_opcodes::Op;

/// Whether a value can be built before what is in it.
fn can_be_filled(kind: &VarKind) -> bool {
    matches!(kind, VarKind::List(_) | VarKind::Deque(_) | VarKind::Dict(DictVar { owner: None, .. }))
}

/// The containers to build empty.
pub(super) fn find(captured: &Captured, uses: &Uses) -> HashSet<VarId> {
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

impl<'py> Emitter<'_, 'py> {
    /// Push such a container, which is to be filled.
    pub(super) fn begin_ring(&mut self, kind: &VarKind, me: VarId) -> Result<(), Stop> {
        match kind {
            VarKind::List(list) => match list.class {
                Some(class) => {
                    self.push_class_to_call(class)?;
                    self.call(0);
                }
                None => self.emit(Op::BuildList(0)),
            },
            VarKind::Dict(dict) => match dict.class {
                Some(class) => {
                    self.push_callable(class);
                    if let Some(factory) = dict.factory {
                        self.push(factory)?;
                    }
                    self.call(dict.factory.is_some().into());
                }
                None => self.emit(Op::BuildMap(0)),
            },
            VarKind::Deque(deque) => {
                let class = self.attribute_of("collections", "deque")?;
                self.push_callable(class);
                self.emit(Op::BuildList(0));
                match deque.maxlen {
                    Some(most) => self.push_int(most as i64)?,
                    None => self.push_none(),
                }
                self.call(2);
            }
            _ => return Err(Stop::fallback(Reason::InternalError, "what cannot be filled")),
        }
        self.remember(me);
        self.to_fill.push(me);
        self.push(me)
    }

    /// Put into the containers what is in them. What is pushed on the way may begin others.
    pub(super) fn fill_rings(&mut self) -> Result<(), Stop> {
        if self.filling {
            return Ok(());
        }
        self.filling = true;
        while let Some(me) = self.to_fill.pop() {
            self.fill_ring(me)?;
        }
        self.filling = false;
        Ok(())
    }

    fn fill_ring(&mut self, me: VarId) -> Result<(), Stop> {
        let method = |class: &Bound<'py, PyType>, name: &str| {
            class.getattr(name).map(Callee::Object).map_err(|e| Stop::internal(&e))
        };
        match self.captured.var(me).kind.clone() {
            VarKind::List(list) => {
                let extend = method(&self.py.get_type::<PyList>(), "extend")?;
                self.extend_by(extend, me, &list.items)
            }
            VarKind::Deque(deque) => {
                let Callee::Object(class) = self.attribute_of("collections", "deque")? else {
                    return Err(Stop::fallback(Reason::InternalError, "no deque"));
                };
                let extend = class.getattr("extend").map_err(|e| Stop::internal(&e))?;
                self.extend_by(Callee::Object(extend), me, &deque.items)
            }
            VarKind::Dict(dict) if self.are_hashed(&dict.entries) => {
                self.push(me)?;
                self.fill_hashed(&dict.entries)?;
                self.emit(Op::PopTop);
                Ok(())
            }
            VarKind::Dict(dict) => {
                let class = dict.class.map(|class| self.captured.objects.get(self.py, class));
                let class = class.and_then(|class| class.cast_into::<PyType>().ok());
                let class = class.filter(probe::is_ordered_dict).unwrap_or_else(|| self.py.get_type::<PyDict>());
                let set = class.getattr("__setitem__").map_err(|e| Stop::internal(&e))?;
                for (key, value) in dict.entries.iter() {
                    self.push_callable(Callee::Object(set.clone()));
                    self.push(me)?;
                    self.push(*key)?;
                    self.push(*value)?;
                    self.call(3);
                    self.emit(Op::PopTop);
                }
                Ok(())
            }
            _ => Err(Stop::fallback(Reason::InternalError, "what cannot be filled")),
        }
    }

    fn extend_by(&mut self, extend: Callee<'py>, me: VarId, items: &[VarId]) -> Result<(), Stop> {
        self.push_callable(extend);
        self.push(me)?;
        for item in items {
            self.push(*item)?;
        }
        self.emit(Op::BuildList(items.len() as u32));
        self.call(2);
        self.emit(Op::PopTop);
        Ok(())
    }
}
