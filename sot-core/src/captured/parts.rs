//! What values consist of: what must be there to build one that the simulation made.

use super::Captured;
use crate::frame::Frame;
use crate::shapes::uses_super;
use crate::variables::*;
use hashbrown::HashMap;
use sot_opcodes::Local;
use sot_sideeffect::{Mutation, Target, VarRef};

fn var_of(v: VarRef) -> VarId {
    VarId(v.0)
}

impl Captured {
    /// Whether a variable's value existed before the frame (so that its parts need not be built).
    pub fn found_outside(&self, var: VarId) -> bool {
        self.has_path(self.var(var).tracker)
    }

    /// The variables that building a virtual variable needs.
    pub fn parts(&self, var: VarId) -> Vec<VarId> {
        match self.whole_of(var) {
            Some(whole) => vec![whole],
            None => self.content(var),
        }
    }

    fn content(&self, var: VarId) -> Vec<VarId> {
        self.parts_as(var, &self.var(var).kind)
    }

    /// Who has the part of an instance that a builtin type keeps has the instance: they are one object.
    pub(crate) fn whole(&self, var: VarId) -> VarId {
        self.whole_of(var).unwrap_or(var)
    }

    /// As [`Captured::parts`], when the variable is or was of such a kind.
    pub(crate) fn parts_as(&self, var: VarId, kind: &VarKind) -> Vec<VarId> {
        let mut parts = self.named_parts(var, kind);
        parts.extend(self.class_made_anew(kind));
        for part in &mut parts {
            *part = self.whole(*part);
        }
        parts
    }

    fn named_parts(&self, var: VarId, kind: &VarKind) -> Vec<VarId> {
        match kind {
            VarKind::Tuple(t) => t.items.to_vec(),
            VarKind::List(l) => l.items.to_vec(),
            VarKind::Deque(d) => d.items.to_vec(),
            VarKind::ByteArray(_) => Vec::new(),
            VarKind::Dict(DictVar { owner: Some(owner), object: None, .. }) => vec![*owner],
            VarKind::Dict(d) => d.factory.into_iter().chain(d.entries.iter().flat_map(|e| [e.0, e.1])).collect(),
            VarKind::Set(s) => self.parts_of_set(s),
            VarKind::View(v) => vec![v.dict],
            VarKind::Slice(s) => s.parts.to_vec(),
            VarKind::Iterator(i) => match &i.state {
                Iteration::Sequence { sequence, .. } | Iteration::Reversed { sequence, .. } => vec![*sequence],
                Iteration::Dict { dict, .. } => vec![*dict],
                Iteration::Set { set, .. } => vec![*set],
                Iteration::Tensor { tensor, .. } => vec![*tensor],
                Iteration::Enumerate { inner, .. } => vec![*inner],
                Iteration::Zip { inners, .. } => inners.clone(),
                Iteration::Filter { function, inner } => vec![*function, *inner],
                Iteration::Indexed { sequence, .. } => sequence.iter().copied().collect(),
                Iteration::Called { asked } => asked.iter().flat_map(|(function, last)| [*function, *last]).collect(),
                Iteration::Map { function, inners } => {
                    std::iter::once(*function).chain(inners.iter().copied()).collect()
                }
                Iteration::Range { .. } | Iteration::Real { .. } | Iteration::Exhausted => Vec::new(),
            },
            VarKind::Function(FunctionVar::Made(made)) => {
                let named = self.virtual_attributes(var).into_iter().map(|attribute| attribute.value);
                let first = made.defaults.into_iter().chain(made.kwdefaults);
                let rest = [made.annotations, made.closure, made.qualname].into_iter().flatten();
                first.chain(named).chain(rest).collect()
            }
            VarKind::Class(ClassVar { made: Some(made), .. }) => {
                let names = made.names.iter().flat_map(|(name, value)| [*name, *value]);
                made.after.into_iter().chain([made.metaclass, made.name, made.bases]).chain(names).collect()
            }
            VarKind::Native(n) => {
                let named = self.virtual_attributes(var).into_iter().map(|attribute| attribute.value);
                let made_of = n.positional.iter().copied().chain(n.keywords.iter().map(|(_, value)| *value));
                made_of.chain(named).collect()
            }
            VarKind::Method(m) => vec![m.function, m.receiver],
            VarKind::Bound(b) => vec![b.receiver],
            VarKind::Super(s) => vec![s.class, s.receiver],
            VarKind::Cell(c) => c.content.into_iter().collect(),
            VarKind::Instance(instance) => {
                let mut parts = instance.part.map_or_else(Vec::new, |part| self.content(part));
                parts.extend(self.virtual_attributes(var).into_iter().map(|attribute| attribute.value));
                parts
            }
            VarKind::Generator(g) => self.values(g),
            VarKind::Traceback(t) => vec![t.exception],
            VarKind::Exception(e) => {
                let state = &e.state;
                let mut parts: Vec<VarId> = state.args.iter().copied().collect();
                parts.extend(state.group.iter().flat_map(|group| [group.message, group.exceptions]));
                parts.extend(self.virtual_attributes(var).into_iter().map(|attribute| attribute.value));
                parts.extend(state.cause.flatten());
                parts.extend(state.context);
                parts.extend(state.traceback);
                parts.extend(state.about.iter().map(|(_, value)| *value));
                parts.extend(self.held_by_traceback_of(e));
                parts
            }
            VarKind::Constant(_)
            | VarKind::Tensor(_)
            | VarKind::Function(FunctionVar::Object(_))
            | VarKind::Builtin(_)
            | VarKind::Class(ClassVar { made: None, .. })
            | VarKind::Module(_)
            | VarKind::Layer(_)
            | VarKind::Null(_)
            | VarKind::Previous(_) => Vec::new(),
        }
    }

    /// Locals that the frame of a generator still needs.
    pub fn live_locals(&self, frame: &Frame) -> Vec<u32> {
        let live = frame.unit.liveness().live_before(frame.ip);
        // What is dead but could be seen to die lives as long as eager's frame holds it.
        let kept = |l: &u32| {
            frame.locals[*l as usize].is_some_and(|var| {
                live.local(Local(*l)) || *l == 0 && uses_super(&frame.unit.code) || self.lives_on(var)
            })
        };
        (0..frame.locals.len() as u32).filter(kept).collect()
    }

    /// Whether a value that no code needs is easily there for who looks: it is an object already, a constant, or a container.
    pub(crate) fn is_at_hand(&self, var: VarId) -> bool {
        use VarKind::{Constant, Dict, List, Set, Tuple};
        let kind = &self.var(var).kind;
        self.found_outside(var) || matches!(kind, Constant(_) | List(_) | Tuple(_) | Dict(_) | Set(_))
    }

    /// Whether the frame of a generator that waits shows a value in a variable, needed or not.
    pub(crate) fn is_seen_in_generators(&self, var: VarId) -> bool {
        self.is_at_hand(var) || matches!(self.var(var).kind, VarKind::Tensor(_))
    }

    /// Locals that the frame of a generator has when it waits, as an object or to become one: also those that it does not need. Who looks
    /// at its frame sees them, and they live as long as it does.
    pub(crate) fn locals_of_object(&self, frame: &Frame) -> Vec<u32> {
        let mut locals = self.live_locals(frame);
        let seen = |var: VarId| self.is_seen_in_generators(var);
        let others = frame.locals.iter().enumerate().filter(|(_, var)| !frame.is_hidden() && var.is_some_and(seen));
        locals.extend(others.map(|(local, _)| local as u32));
        locals.sort_unstable();
        locals.dedup();
        locals
    }

    /// What building a generator needs: stack, locals, handled exceptions, cells, in the order of a continuation's values.
    pub fn values(&self, generator: &GeneratorVar) -> Vec<VarId> {
        let Some(frame) = generator.frame() else { return Vec::new() };
        let is_value = |v: &&VarId| !matches!(self.var(**v).kind, VarKind::Null(_) | VarKind::Previous(_));
        let mut values: Vec<VarId> = frame.stack.iter().filter(is_value).copied().collect();
        values.extend(self.locals_of_object(frame).into_iter().filter_map(|l| frame.locals[l as usize]));
        values.extend(&frame.handled);
        values.extend(frame.cells.iter().flatten());
        values
    }

    /// Final attributes of an instance that the simulation made, in the order in which they were first set.
    pub fn virtual_attributes(&self, instance: VarId) -> Vec<Attribute> {
        let mut attributes: Vec<(&str, bool, Option<VarId>)> = Vec::new();
        let mut places: HashMap<(&str, bool), usize> = HashMap::new();
        for entry in self.journal.changes_of(Target::Object(VarRef(instance.0))) {
            let (name, in_dict, value) = match &entry.mutation {
                Mutation::SetAttr { name, value, .. } => (&**name, false, Some(var_of(*value))),
                Mutation::SetInDict { name, value, .. } => (&**name, true, Some(var_of(*value))),
                Mutation::DelAttr { name, .. } => (&**name, false, None),
                Mutation::DelInDict { name, .. } => (&**name, true, None),
                _ => continue,
            };
            match (places.get(&(name, in_dict)).copied(), value) {
                (Some(at), Some(value)) => attributes[at].2 = Some(value),
                (None, Some(value)) => {
                    places.insert((name, in_dict), attributes.len());
                    attributes.push((name, in_dict, Some(value)));
                }
                // One that comes back is the last.
                (Some(at), None) => {
                    places.remove(&(name, in_dict));
                    attributes[at].2 = None;
                }
                (None, None) => {}
            }
        }
        let attribute = |(name, in_dict, value): (&str, bool, Option<VarId>)| {
            Some(Attribute { name: name.to_owned(), in_dict, value: value? })
        };
        attributes.into_iter().filter_map(attribute).collect()
    }
}

/// An attribute of a value that the simulation made.
pub struct Attribute {
    pub name: String,
    /// It is an item of the dict of attributes, under a name for which the class has a descriptor.
    pub in_dict: bool,
    pub value: VarId,
}
