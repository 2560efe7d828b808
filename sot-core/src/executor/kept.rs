//! What the framework keeps beside tensors, and its own operations change: gradients ([`Attr::Kept`](crate::backend::Attr::Kept)).
//!
//! It is read by a statement of the graph, where the program reads it. What it is then is known by a guard, before the first operation
//! that acts. That guard is on the start of the frame alone: what the program reads later is what operations have left, and the run looks
//! whether it is what the capture took it for; where it is not, the program goes on there by a break.

use super::Executor;
use crate::backend::{Acts, Attr, CallKind, TensorMeta};
use crate::captured::CapturedCheck;
use crate::cpython::facts;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sot_tracker::{Access, Check};

impl Executor<'_> {
    /// Read such an attribute. `expected`: what it is behind an operation that acts.
    pub(super) fn kept_of_tensor(
        &mut self,
        me: VarId,
        name: &str,
        expected: Option<TensorMeta>,
    ) -> Result<VarId, Stop> {
        let is_changed = self.graph.acts_on_state();
        let meta = match (is_changed, expected) {
            (false, _) if !self.is_sourced_tensor(me) => None,
            (false, _) => self.kept_at_the_start(me, name)?,
            (true, Some(meta)) => Some(meta),
            (true, None) => return Err(Stop::brk(Reason::TensorAttribute, name)),
        };
        let Some(meta) = meta else { return self.fold(&self.py.None().into_bound(self.py)) };
        if meta.shape.iter().any(|extent| *extent < 0) {
            return Err(Stop::brk(Reason::TensorAttribute, name));
        }
        let value = self.tensor_value(me)?;
        let kept = self.builder()?.kept(&value, name, &meta).map_err(|error| self.refused(error))?;
        self.record_attribute(me, name, &kept, Some(meta))
    }

    /// Set one, if it is one.
    pub(super) fn set_kept(&mut self, me: VarId, name: &str, new: VarId) -> Result<bool, Stop> {
        let value = self.tensor_value(me)?;
        if self.may_act() < Acts::OnState || !matches!(self.tensor_attribute(&value, name)?, Attr::Kept { .. }) {
            return Ok(false);
        }
        let text = self.fold(PyString::new(self.py, name).as_any())?;
        self.record_call(CallKind::Method, "__setattr__", None, &Args::positional(vec![me, text, new]))?;
        Ok(true)
    }

    /// What it was when the frame began.
    fn kept_at_the_start(&mut self, me: VarId, name: &str) -> Result<Option<TensorMeta>, Stop> {
        let refused = || Stop::brk(Reason::TensorAttribute, name);
        let known = match self.found.is_of_half_done() {
            true => Some(self.found.kept.get(self.kept.len()).cloned().ok_or_else(refused)?),
            false => None,
        };
        let kept = match known {
            Some(kept) => kept,
            None => {
                let VarKind::Tensor(TensorVar { source: TensorSource::Object(object) }) = self.var(me).kind else {
                    return Err(refused());
                };
                let tensor = self.objects.get(self.py, object);
                let facts::Field::Value(value) = facts::field(&tensor, &PyString::intern(self.py, name)) else {
                    return Err(refused());
                };
                let base = self.base_tracker(me);
                let place = self.trackers.step(base, Access::Attr(name.into()));
                self.of_the_start.insert(place);
                self.unchanged_by_acts.insert(place);
                if value.is_none() {
                    let found = self.wrap(&value, place);
                    self.constant_value(found);
                    None
                } else {
                    // Another object at each read: only what it is like can be known.
                    let meta = self.backend.tensor_meta(&value).map_err(|_| refused())?;
                    if !self.backend.is_like(&value, &meta) {
                        return Err(refused());
                    }
                    let check = self.backend.tensor_check(&value).map_err(|e| self.internal(&e))?;
                    let number = self.tensor_checks.len() as u32;
                    self.tensor_checks.push(CapturedCheck { check: check.into(), meta: meta.clone() });
                    self.guard(place, Check::Tensor(number));
                    Some(meta)
                }
            }
        };
        self.kept.push(kept.clone());
        Ok(kept)
    }
}
